//! What is looked for among the rows: the best, the Pareto front, and a summary of all.

use std::collections::BTreeMap;

use super::batch::{Batch, Cells, Column};
use super::csv::cell;

/// A column that should be small, or large.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    /// Name of the column.
    pub name: String,
    place: usize,
    /// Whether the largest is the best.
    pub most: bool,
}

/// A column that cannot be looked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{name}` is no column of numbers: {known}")]
pub struct ObjectiveError {
    name: String,
    known: String,
}

/// Results of which more is better.
const MORE_IS_BETTER: [&str; 3] = ["tflop_per_s", "percent_of_roof", "occupancy_pct"];

impl Objective {
    /// The objective of a word: `time`, `throughput` and `cost`, or a column of numbers.
    ///
    /// # Errors
    /// There is no such column.
    pub fn new(name: &str, columns: &[Column]) -> Result<Self, ObjectiveError> {
        let name = match name {
            "time" => "predicted_us",
            "throughput" => "tflop_per_s",
            "cost" => "usd_per_million",
            other => other,
        };
        let numbers = || columns.iter().filter(|c| c.kind != super::Cell::Text);
        let place = columns.iter().position(|c| c.name == name && c.kind != super::Cell::Text);
        let known = || {
            let mut known: Vec<&str> = numbers().map(|c| c.name.as_str()).collect();
            known.sort_by(|a, b| strsim::jaro_winkler(b, name).total_cmp(&strsim::jaro_winkler(a, name)));
            known.truncate(4);
            format!("write time, throughput, cost, or a column such as {}", known.join(", "))
        };
        let place = place.ok_or_else(|| ObjectiveError { name: name.into(), known: known() })?;
        Ok(Self { name: name.into(), place, most: MORE_IS_BETTER.contains(&name) })
    }

    /// The value of a row, smaller is better; absent where the row has none.
    fn of(&self, batch: &Batch, row: usize) -> Option<f64> {
        let value = batch.cells[self.place].number(row)?;
        Some(if self.most { -value } else { value })
    }
}

/// A row that is kept, cell by cell as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// What it was kept for, smaller is better.
    value: [f64; 2],
    /// Its cells, one per column.
    pub cells: Vec<String>,
}

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The best row, or the best of each group of equal values in these columns.
    pub best: Option<(Objective, Vec<usize>)>,
    /// Rows that no other beats in both.
    pub front: Option<[Objective; 2]>,
    /// Place of the predicted time, the bound and the error, and how many columns are inputs.
    places: [usize; 3],
    inputs: usize,
}

/// Most groups of which each has its best row.
pub const MOST_GROUPS: usize = 100_000;

/// What was found so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Rows seen.
    pub rows: u64,
    /// Rows whose point cannot run.
    pub errors: u64,
    /// The reason of the first.
    pub first_error: Option<String>,
    /// Rows bound by math, memory and latency.
    pub bounds: [u64; 3],
    /// Fastest and slowest, microseconds.
    pub span: Option<(f64, f64)>,
    /// The best row of each group, by the values that the group shares.
    pub best: BTreeMap<Vec<String>, Kept>,
    /// Groups that were left out.
    pub left_out: bool,
    /// The Pareto front, by rising first value.
    pub front: Vec<Kept>,
}

impl Search {
    /// A search in a table with these columns, of which the first `inputs` are the point and its axes.
    pub fn new(columns: &[Column], inputs: usize) -> Self {
        let place = |name: &str| columns.iter().position(|c| c.name == name).unwrap_or_default();
        let places = [place("predicted_us"), place("bound"), place("error")];
        Self { best: None, front: None, places, inputs }
    }

    /// What a batch holds.
    pub fn look(&self, batch: &Batch) -> Found {
        let mut found = Found { rows: batch.rows as u64, errors: batch.errors, ..Found::default() };
        let [time, bound, error] = self.places;
        if let (Cells::Text(errors), true) = (&batch.cells[error], batch.errors > 0) {
            found.first_error = errors.known.first().cloned();
        }
        if let Cells::Text(bounds) = &batch.cells[bound] {
            let words: Vec<Option<usize>> =
                bounds.known.iter().map(|w| ["math", "memory", "latency"].iter().position(|k| k == w)).collect();
            for place in &bounds.places {
                if let Some(Some(word)) = words.get(*place as usize) {
                    found.bounds[*word] += 1;
                }
            }
        }
        for row in 0..batch.rows {
            if let Some(us) = batch.cells[time].number(row) {
                let (low, high) = found.span.unwrap_or((us, us));
                found.span = Some((low.min(us), high.max(us)));
            }
        }
        if let Some((objective, by)) = &self.best {
            let mut best: BTreeMap<Vec<String>, (f64, usize)> = BTreeMap::new();
            for row in 0..batch.rows {
                let Some(value) = objective.of(batch, row) else { continue };
                let group = by.iter().map(|place| cell(batch, *place, row, self.inputs)).collect();
                let held = best.entry(group).or_insert((value, row));
                if value < held.0 {
                    *held = (value, row);
                }
            }
            let kept = |(value, row)| Kept { value: [value, 0.0], cells: self.cells(batch, row) };
            found.best = best.into_iter().map(|(group, held)| (group, kept(held))).collect();
        }
        if let Some([first, second]) = &self.front {
            let rows = (0..batch.rows).filter_map(|row| Some(([first.of(batch, row)?, second.of(batch, row)?], row)));
            let front = front(rows.collect(), |(value, _)| *value);
            found.front = front.into_iter().map(|(value, row)| Kept { value, cells: self.cells(batch, row) }).collect();
        }
        found
    }

    fn cells(&self, batch: &Batch, row: usize) -> Vec<String> {
        (0..batch.cells.len()).map(|place| cell(batch, place, row, self.inputs)).collect()
    }
}

impl Found {
    /// Adds what the rows behind hold.
    pub fn join(&mut self, behind: Self) {
        self.rows += behind.rows;
        self.errors += behind.errors;
        self.first_error = self.first_error.take().or(behind.first_error);
        for (mine, theirs) in self.bounds.iter_mut().zip(behind.bounds) {
            *mine += theirs;
        }
        self.span = match (self.span, behind.span) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        for (group, kept) in behind.best {
            match self.best.get(&group) {
                // Of equal ones the first stays.
                Some(held) if held.value[0] <= kept.value[0] => {}
                None if self.best.len() >= MOST_GROUPS => self.left_out = true,
                _ => drop(self.best.insert(group, kept)),
            }
        }
        self.left_out |= behind.left_out;
        if !behind.front.is_empty() {
            let all = self.front.drain(..).chain(behind.front).collect();
            self.front = front(all, |kept| kept.value);
        }
    }
}

/// Those that no other beats in one value without losing in the other, by rising first value; of equals the first.
fn front<T>(mut all: Vec<T>, value: impl Fn(&T) -> [f64; 2]) -> Vec<T> {
    all.sort_by(|a, b| value(a)[0].total_cmp(&value(b)[0]).then(value(a)[1].total_cmp(&value(b)[1])));
    let mut least = f64::INFINITY;
    all.retain(|item| {
        let better = value(item)[1] < least;
        least = least.min(value(item)[1]);
        better
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_front_holds_what_nothing_beats() {
        let all = vec![[1.0, 5.0], [2.0, 5.0], [2.0, 3.0], [3.0, 4.0], [4.0, 1.0], [4.0, 1.0]];
        assert_eq!(front(all, |v| *v), [[1.0, 5.0], [2.0, 3.0], [4.0, 1.0]]);
    }
}
