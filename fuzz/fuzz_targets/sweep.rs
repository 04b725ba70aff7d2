//! Sweep files: read, counted, their first and last points evaluated, searched and written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::{
    fit::Prices,
    sweep::{Cells, Condition, Evaluator, Objective, Options, Plan, Search, Subject, Values, columns, csv},
};
use wavecast_fuzz::{CATALOG, said};

/// Points that are evaluated at either end.
const POINTS: u64 = 12;

fuzz_target!(|text: &str| {
    drop(Values::parse(text, text.len() % 2 == 0).map(|values| (values.text(0), values.text(values.len() - 1))));
    drop(text.parse::<Condition>());
    let plan = match Plan::parse("fuzz.toml", text, &Options::default()) {
        Ok(plan) => plan,
        Err(error) => return drop(said(error)),
    };
    // Blocks are simulated one by one: their number is the user's own affair.
    if matches!(plan.subject, Subject::Simulation(_)) {
        return;
    }
    let (prices, names) = (Prices::default(), columns(&plan));
    let mut evaluator = Evaluator::new(&plan, &CATALOG, &prices);
    let inputs = 1 + plan.axes().count();
    for rows in [0..POINTS.min(plan.rows()), plan.rows().saturating_sub(POINTS)..plan.rows()] {
        let batch = evaluator.rows(rows);
        let number = |name: &str, row| {
            let place = names.iter().position(|c| c.name == name).expect("a column of results");
            batch.cells[place].number(row)
        };
        for row in 0..batch.rows {
            let (low, time, high) = (number("low_us", row), number("predicted_us", row), number("high_us", row));
            if let (Some(low), Some(time), Some(high)) = (low, time, high) {
                assert!(time.is_finite() && time > 0.0 && low <= time * (1.0 + 1e-9) && time <= high * (1.0 + 1e-9));
            }
            let Some(Cells::Text(errors)) = batch.cells.last() else { panic!("the last column is the error") };
            assert_eq!(errors.get(row).is_empty(), time.is_some());
        }
        let mut search = Search::new(&names, inputs);
        search.best = Objective::new("time", &names).ok().map(|time| (time, vec![1.min(inputs - 1)]));
        let found = search.look(&batch);
        assert_eq!(found.rows, batch.rows as u64);
        assert!(!String::from_utf8(csv::rows(&batch, inputs)).expect("CSV is text").contains("inf"));
    }
});
