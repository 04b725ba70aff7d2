//! What the first point of each operation shows of all: what every point lacks, and keys that nothing reads.

use anyhow::{Result, bail};

use crate::{
    fit::Prices,
    gpu::Catalog,
    sweep::{Evaluator, Place, Plan},
};

/// The first point of an operation.
struct First {
    op: String,
    at: Vec<u64>,
}

/// The first point of each operation of the sweep.
fn firsts(plan: &Plan) -> Vec<First> {
    let at = vec![0; plan.groups.len()];
    let Some((group, axis)) = plan.axes().find(|(_, axis)| axis.key == "op") else {
        return vec![First { op: plan.op.clone(), at }];
    };
    let first = |operation| {
        let mut at = at.clone();
        at[group] = operation;
        First { op: axis.values.text(operation), at }
    };
    (0..axis.values.len()).map(first).collect()
}

/// Refuses a sweep whose first points show that no point has what it needs, or that a key changes none.
pub fn check(plan: &Plan, catalog: &Catalog, prices: &Prices) -> Result<()> {
    let mut evaluator = Evaluator::new(plan, catalog, prices);
    let firsts = firsts(plan);
    for first in &firsts {
        match evaluator.answer(&first.at) {
            Err(error) if error.contains("is empty; ") => {
                bail!("{error}: give it by --fix or --axis, or in the file")
            }
            Err(error) if error.contains("has no field") || error.contains("unknown field") => bail!("{error}"),
            _ => {}
        }
    }
    let fixed = plan.fixed.iter().map(|fixed| (&fixed.key, &fixed.place));
    let keys = fixed.chain(plan.axes().map(|(_, axis)| (&axis.key, &axis.place)));
    for (key, place) in keys.filter(|(_, place)| place.is_of_an_operation()) {
        if is_read(&mut evaluator, &firsts, place) {
            continue;
        }
        let mut operations: Vec<&str> = firsts.iter().map(|first| first.op.as_str()).collect();
        operations.dedup();
        let taken = Place::of_operations().filter(|(_, place)| is_read(&mut evaluator, &firsts, place));
        let taken: Vec<String> = taken.map(|(key, _)| key).collect();
        let (operations, taken) = (operations.join(" and "), taken.join(", "));
        bail!(
            "`{key}` is a key of other operations and changes nothing of {operations}: leave it out; keys of {operations}: {taken}"
        );
    }
    Ok(())
}

/// Whether one of the operations reads a key, or has no answer by which to tell.
fn is_read(evaluator: &mut Evaluator, firsts: &[First], place: &Place) -> bool {
    firsts.iter().any(|first| match place.reader() {
        Some(reader) => first.op == reader,
        None => evaluator.reads(&first.at, place) != Some(false),
    })
}
