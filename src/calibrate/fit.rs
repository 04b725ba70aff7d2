//! The values of the determined constants: the least mean |log(predicted / measured)|.

use super::{
    constants::{AS_PREDICTED, Constant, Values},
    evidence::{Evidence, evidence, sensitivities},
    model::{Model, loss},
    rows::Row,
};
use crate::validate::{Search, quantile};

/// What a fit found.
pub(super) struct Fit {
    pub values: Values,
    pub evidence: Vec<Evidence>,
    /// Constants that ended at the upper end of their range.
    pub at_most: Vec<Constant>,
}

/// Times that constants are judged anew at the values found.
const JUDGEMENTS: usize = 3;

/// Fits what the rows that count determine; `held` constants keep their value.
pub(super) fn fit(model: &Model, start: &Values, held: &[Constant], counts: &impl Fn(&Row) -> bool) -> Fit {
    let guess = launches(model, start);
    let mut values = guess;
    let mut judged: Vec<Evidence> = Vec::new();
    for _ in 0..JUDGEMENTS {
        let mut at = values;
        for launch in Constant::LAUNCHES {
            if at.get(launch) == AS_PREDICTED {
                at.set(launch, guess.get(launch));
            }
        }
        let found = evidence(&sensitivities(model, &at, |row| counts(&model.rows[row])), held);
        let same = |a: &Evidence, b: &Evidence| a.determined == b.determined;
        let settled = judged.len() == found.len() && judged.iter().zip(&found).all(|(a, b)| same(a, b));
        judged = found;
        if settled {
            break;
        }
        // What turned out not to be determined goes back to where it was.
        let free: Vec<Constant> = judged.iter().filter(|e| e.determined).map(|e| e.constant).collect();
        let mut from = *start;
        free.iter().for_each(|constant| from.set(*constant, values.get(*constant)));
        values = search(model, from, &free, counts);
    }
    for evidence in judged.iter().filter(|e| !e.determined) {
        values.set(evidence.constant, start.get(evidence.constant));
    }
    let free = judged.iter().filter(|e| e.determined).map(|e| e.constant);
    let at_end = |constant: &Constant| values.get(*constant) >= constant.range().1 * (1.0 - 1e-4);
    let at_most = free.filter(at_end).collect();
    Fit { values, evidence: judged, at_most }
}

/// The host's times where a search is to start: what the shortest kernels took beyond the time of the kernel.
fn launches(model: &Model, start: &Values) -> Values {
    let mut values = *start;
    let predicted = model.predictions(start);
    for launch in Constant::LAUNCHES {
        let own = model.rows.iter().zip(&predicted).filter_map(|(row, time)| {
            let host = row.launch.filter(|_| Constant::launch(row.request.op) == launch)?;
            Some((time - host, row.measured - (time - host)))
        });
        let mut rows: Vec<(f64, f64)> = own.collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        rows.truncate(rows.len().div_ceil(4));
        let mut beyond: Vec<f64> = rows.into_iter().map(|row| row.1).collect();
        beyond.sort_by(f64::total_cmp);
        // Less than a host needs is an error of the kernel's time.
        values.set(launch, quantile(&beyond, 0.5).clamp(LEAST_LAUNCH, launch.range().1));
    }
    values
}

/// No host launches in less.
const LEAST_LAUNCH: f64 = 1e-6;

/// Widest and finest step of each round of a search, in logarithms. Kernels are chosen anew between them.
const ROUNDS: [(f64, f64); 4] = [(0.2, 0.02), (0.05, 0.01), (0.02, 2e-3), (4e-3, 4e-4)];
/// The first rounds take about so many rows of a long table, evenly spread.
const COARSE: (usize, usize) = (2, 1000);
/// The later ones so many: more would not move the constants.
const FINE: usize = 8000;

fn search(model: &Model, start: Values, free: &[Constant], counts: &impl Fn(&Row) -> bool) -> Values {
    let at = |places: &[f64]| {
        let mut values = start;
        free.iter().zip(places).for_each(|(constant, place)| values.put(*constant, *place));
        values
    };
    let mut times = Vec::with_capacity(model.rows.len());
    let mut best = (start, f64::INFINITY);
    let mut values = start;
    let every = |rows: usize| (model.rows.len() / rows).max(1);
    let fine = every(FINE);
    let coarse = every(COARSE.1).next_multiple_of(fine);
    for round in 0..=ROUNDS.len() {
        let mut kernels = model.kernels(&values, fine);
        model.times(&values, &kernels, &mut times);
        let found = loss(model.rows, &times, counts);
        // Kernels chosen elsewhere seem slower than they are, so that a round may lead astray.
        if found < best.1 {
            best = (values, found);
        }
        let Some((widest, finest)) = ROUNDS.get(round) else { break };
        if round < COARSE.0 {
            kernels.iter_mut().enumerate().filter(|(row, _)| row % coarse != 0).for_each(|(_, kernel)| *kernel = None);
        }
        let places: Vec<f64> = free.iter().map(|constant| values.place(*constant)).collect();
        let (next, _) = Search::new(free.len(), true, *widest, *finest).least(&places, |places| {
            model.times(&at(places), &kernels, &mut times);
            loss(model.rows, &times, counts)
        });
        values = at(&next);
    }
    best.0
}
