//! The tables, in Markdown.

use wavecast::{
    units::significant,
    validate::{Score, quantile},
};

use super::{
    fit::{OWN, Point, SHARED},
    rows::Board,
    study::{Answer, Pair, Transfer},
};

fn print(head: &[&str], rows: &[Vec<String>]) {
    println!("| {} |", head.join(" | "));
    println!("|{}", "---|".repeat(head.len()));
    for row in rows {
        println!("| {} |", row.join(" | "));
    }
}

fn score<'a>(answers: impl IntoIterator<Item = &'a Answer>, time: impl Fn(&Answer) -> f64) -> Score {
    Score::of(&answers.into_iter().map(|answer| (time(answer), answer.row.measured)).collect::<Vec<_>>())
}

fn model<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Score {
    score(answers, |answer| answer.plan.time)
}

fn inside(answers: &[Answer]) -> String {
    one(answers.iter().filter(|answer| answer.in_band).count() as f64 * 100.0 / answers.len().max(1) as f64)
}

fn one(value: f64) -> String {
    format!("{value:.1}")
}

fn both(score: &Score) -> String {
    format!("{} / {}", one(score.mape), one(score.median))
}

/// The median of some errors.
fn median(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    one(quantile(&values, 0.5))
}

/// Errors of held-out rows, beside those of the table's constants and of a roofline fitted to the same rows.
pub fn accuracy(boards: &[Board], found: &[(Vec<Answer>, Vec<Answer>)]) {
    let row = |(board, (held, table)): (&Board, &(Vec<Answer>, Vec<Answer>))| {
        let (ours, theirs) = (model(held), model(table));
        vec![
            board.gpu.name.clone(),
            held.len().to_string(),
            one(ours.mape),
            one(ours.median),
            one(ours.p90),
            format!("{:.3}", ours.ratio),
            inside(held),
            both(&theirs),
            both(&score(held, |answer| answer.roofline)),
        ]
    };
    let head = ["GPU", "Rows", "Mean", "Median", "p90", "Ratio", "In the 80 % band", "Table's constants", "Roofline"];
    print(&head, &boards.iter().zip(found).map(row).collect::<Vec<_>>());
}

/// The constants of the table and of each fold.
pub fn constants(boards: &[Board], folds: &[Pair]) {
    let table = Point::table(boards.iter().map(|board| &board.gpu));
    let points: Vec<&Point> = std::iter::once(&table).chain(folds.iter().map(|pair| &pair.best().at)).collect();
    let line = |name: String, get: &dyn Fn(&Point) -> f64| {
        std::iter::once(name).chain(points.iter().map(|point| significant(get(point), 3))).collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<String>> =
        SHARED.iter().enumerate().map(|(place, name)| line((*name).into(), &|point| point.shared[place])).collect();
    for (index, board) in boards.iter().enumerate() {
        for (place, name) in OWN.iter().enumerate() {
            rows.push(line(format!("{} {name}", board.gpu.name), &|point| point.own[index][place]));
        }
    }
    let head: Vec<&str> = ["Constant", "Table"].into_iter().chain(folds.iter().map(|f| f.name.as_str())).collect();
    print(&head, &rows);
}

/// Where searches began and ended: mean |log(predicted / measured)| of the rows that they saw.
pub fn searches(pairs: &[Pair]) {
    let row = |pair: &Pair| {
        let of = |value: f64| format!("{:.2} %", value * 100.0);
        let Pair { name, table, moved, moved_from } = pair;
        vec![
            name.clone(),
            of(table.loss),
            table.evaluations.to_string(),
            of(*moved_from),
            of(moved.loss),
            moved.evaluations.to_string(),
        ]
    };
    let head = ["Left out", "From the table", "Evaluations", "Start elsewhere", "From there", "Evaluations"];
    print(&head, &pairs.iter().map(row).collect::<Vec<_>>());
}

/// Errors and bands of GPUs that the shared constants were not fitted to.
pub fn transfers(boards: &[Board], found: &[Transfer]) {
    let mut errors: [Vec<f64>; 6] = Default::default();
    let mut rows = Vec::new();
    let mut bands = Vec::new();
    for (board, transfer) in boards.iter().zip(found) {
        let Transfer { known, known_shares, strict, strict_shares, foreign, mean, power } = transfer;
        let line = score(strict, |answer| answer.roofline);
        let foreign = foreign.as_ref().unwrap_or(strict);
        let scores = [model(known), model(strict), model(foreign), model(mean), line];
        let power = power.as_ref().map(model);
        for (errors, score) in errors.iter_mut().zip(scores.iter().chain(&power)) {
            errors.push(score.mape);
        }
        let shares = |[math, dram]: &[f64; 2]| format!("{math:.3}, {dram:.3}");
        let mut row = vec![board.gpu.name.clone()];
        row.extend(scores.iter().map(both));
        row.push(power.as_ref().map_or_else(|| "-".into(), both));
        row.extend([shares(known_shares), shares(strict_shares)]);
        rows.push(row);
        let unmeasured = |answers: &[Answer]| {
            let ratio = |answer: &&Answer| {
                let ratio = answer.row.measured / answer.plan.time;
                (0.6..=1.7).contains(&ratio)
            };
            one(answers.iter().filter(ratio).count() as f64 * 100.0 / answers.len() as f64)
        };
        bands.push(vec![board.gpu.name.clone(), inside(known), inside(strict), unmeasured(foreign)]);
    }
    let mut last = vec!["median of the GPUs".into()];
    last.extend(errors.into_iter().map(median));
    last.extend(["", ""].map(String::from));
    rows.push(last);
    let head = [
        "GPU",
        "Two shares known",
        "Strict",
        "Foreign factors, too",
        "Shares averaged",
        "Roofline averaged",
        "Power rule",
        "Known shares",
        "Strict shares",
    ];
    print(&head, &rows);
    println!("\nShare of rows in the band, in percent:\n");
    print(&["GPU", "Two shares known, widened", "Strict, widened", "Foreign factors, unmeasured"], &bands);
}

/// Errors by kind of product.
pub fn regimes(boards: &[Board], found: &[(Vec<Answer>, Vec<Answer>)]) {
    type Kind = (&'static str, fn(&Answer) -> bool);
    let kinds: [Kind; 19] = [
        ("< 10 us", |a| a.row.measured < 1e-5),
        ("10-100 us", |a| (1e-5..1e-4).contains(&a.row.measured)),
        ("100-1000 us", |a| (1e-4..1e-3).contains(&a.row.measured)),
        ("> 1 ms", |a| a.row.measured >= 1e-3),
        ("waves < 1", |a| a.waves < 1.0),
        ("waves 1-4", |a| (1.0..4.0).contains(&a.waves)),
        ("waves > 4", |a| a.waves >= 4.0),
        ("m = 1", |a| a.row.shape.m == 1),
        ("m 2-16", |a| (2..=16).contains(&a.row.shape.m)),
        ("n < 64", |a| a.row.shape.n < 64),
        ("k < 64", |a| a.row.shape.k < 64),
        ("k 64-256", |a| (64..=256).contains(&a.row.shape.k)),
        ("odd m > 16", |a| a.row.shape.m > 16 && a.row.shape.m % 2 == 1),
        ("k split", |a| a.plan.chosen.splits > 1),
        ("math", |a| largest(a) == 0),
        ("latency", |a| largest(a) == 1),
        ("feed", |a| largest(a) == 2),
        ("DRAM", |a| largest(a) == 3),
        ("ports", |a| largest(a) == 4),
    ];
    let mut rows = Vec::new();
    for (board, (held, _)) in boards.iter().zip(found) {
        for (name, kind) in kinds {
            let of: Vec<&Answer> = held.iter().filter(|answer| kind(answer)).collect();
            if of.is_empty() {
                continue;
            }
            let (ours, line) = (model(of.iter().copied()), score(of.iter().copied(), |answer| answer.roofline));
            rows.push(vec![
                board.gpu.name.clone(),
                name.into(),
                of.len().to_string(),
                one(ours.mape),
                one(ours.median),
                format!("{:.3}", ours.ratio),
                both(&line),
            ]);
        }
    }
    print(&["GPU", "Kind", "Rows", "Mean", "Median", "Ratio", "Roofline"], &rows);
}

/// The largest part besides the fixed costs.
fn largest(answer: &Answer) -> usize {
    let parts = &answer.plan.chosen.parts;
    let values = [parts.math + parts.store, parts.latency, parts.feed, parts.dram, parts.ports];
    (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or(0)
}
