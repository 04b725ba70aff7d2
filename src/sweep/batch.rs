//! Rows of a sweep column by column, as files hold them.

use std::collections::HashMap;

use super::{
    evaluate::{Outcome, RESULTS},
    plan::Plan,
    values::Kind,
};

/// A column of results: its name ends in its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, unique in its table.
    pub name: String,
    /// What its cells are.
    pub kind: Cell,
}

/// What a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// Words.
    Text,
}

/// The cells of a column. What is absent is `ABSENT`, NaN or `NONE`.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Numbers.
    Number(Vec<f64>),
    /// Texts by their place in a list.
    Text(Texts),
}

/// Stands for an absent whole number.
pub const ABSENT: i64 = i64::MIN;
/// Stands for an absent text.
pub const NONE: u32 = u32::MAX;

/// Texts, each kept once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    /// Places in `known`, one per row.
    pub places: Vec<u32>,
    /// The texts that occur.
    pub known: Vec<String>,
    found: HashMap<String, u32>,
}

impl Texts {
    /// Adds a row; empty texts are absent.
    pub fn push(&mut self, text: &str) {
        if text.is_empty() {
            self.places.push(NONE);
            return;
        }
        // Neighbours are mostly equal.
        if let Some(last) = self.places.last().filter(|p| self.known.get(**p as usize).is_some_and(|k| k == text)) {
            self.places.push(*last);
            return;
        }
        let place = match self.found.get(text) {
            Some(place) => *place,
            None => {
                let place = self.known.len() as u32;
                self.known.push(text.to_owned());
                self.found.insert(text.to_owned(), place);
                place
            }
        };
        self.places.push(place);
    }

    /// The text of a row; empty where it is absent.
    pub fn get(&self, row: usize) -> &str {
        self.places.get(row).and_then(|place| self.known.get(*place as usize)).map_or("", String::as_str)
    }
}

impl Cells {
    /// No rows yet.
    pub fn new(kind: Cell) -> Self {
        match kind {
            Cell::Whole => Self::Whole(Vec::new()),
            Cell::Number => Self::Number(Vec::new()),
            Cell::Text => Self::Text(Texts::default()),
        }
    }

    /// Rows.
    #[cfg(feature = "parquet")]
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Whole(all) => all.len(),
            Self::Number(all) => all.len(),
            Self::Text(all) => all.places.len(),
        }
    }

    /// The number of a row; absent for texts and where there is none.
    pub fn number(&self, row: usize) -> Option<f64> {
        match self {
            Self::Whole(all) => all.get(row).filter(|n| **n != ABSENT).map(|n| *n as f64),
            Self::Number(all) => all.get(row).copied().filter(|n| !n.is_nan()),
            Self::Text(_) => None,
        }
    }
}

/// Rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Columns, as many as the table has, all of the same length.
    pub cells: Vec<Cells>,
    /// Rows.
    pub rows: usize,
    /// Rows whose point cannot run.
    pub errors: u64,
}

/// The columns of a sweep: the point, its axes, the results.
pub fn columns(plan: &Plan) -> Vec<Column> {
    let column = |name: &str, kind| Column { name: name.to_owned(), kind };
    let mut columns = vec![column("point", Cell::Whole)];
    for (_, axis) in plan.axes() {
        columns.push(match axis.values.kind() {
            Kind::Whole => column(&axis.key, Cell::Whole),
            Kind::Number(unit) => column(&format!("{}{unit}", axis.key), Cell::Number),
            Kind::Text => column(&axis.key, Cell::Text),
        });
    }
    // What is asked for is not answered again: a tile, say.
    let asked = |name: &str| MAY_BE_ASKED.contains(&name) && plan.axes().any(|(_, axis)| axis.key == name);
    let new = RESULTS.iter().filter(|(name, _)| !asked(name));
    columns.extend(new.map(|(name, kind)| column(name, *kind)));
    columns
}

fn whole(cells: Option<&mut Cells>, value: i64) {
    if let Some(Cells::Whole(all)) = cells {
        all.push(value);
    }
}

fn number(cells: Option<&mut Cells>, value: f64) {
    if let Some(Cells::Number(all)) = cells {
        all.push(value);
    }
}

fn text(cells: Option<&mut Cells>, value: &str) {
    if let Some(Cells::Text(all)) = cells {
        all.push(value);
    }
}

/// Results that may also be asked for.
const MAY_BE_ASKED: [&str; 2] = ["tile", "splits"];

impl Outcome<'_> {
    /// Puts the result at a place of `RESULTS` into its column.
    fn put(&self, place: usize, error: &str, to: Option<&mut Cells>, scratch: &mut String) {
        let count = |value: Option<u64>| value.map_or(ABSENT, |n| n as i64);
        let us = 1e6;
        match place {
            0 => number(to, self.time * us),
            1 => number(to, self.low * us),
            2 => number(to, self.high * us),
            3 => number(to, self.math * us),
            4 => number(to, self.dram * us),
            5 => number(to, self.l2 * us),
            6 => number(to, self.latency * us),
            7 => number(to, self.launch * us),
            8 => text(to, self.bound),
            9 => {
                scratch.clear();
                self.tile(scratch);
                text(to, scratch);
            }
            10 => whole(to, count(self.splits)),
            11 => whole(to, count(self.grid_blocks)),
            12 => whole(to, count(self.blocks_per_sm)),
            13 => number(to, self.waves),
            14 => number(to, self.tail_cost_pct),
            15 => number(to, self.occupancy_pct),
            16 => {
                scratch.clear();
                self.limiters(scratch);
                text(to, scratch);
            }
            17 => number(to, self.tflop_per_s),
            18 => number(to, self.percent_of_roof),
            19 => number(to, self.usd_per_million),
            20 => text(to, self.gpu),
            21 => text(to, self.calibration),
            _ => text(to, error),
        }
    }
}

impl Batch {
    /// No rows yet.
    pub fn new(columns: &[Column]) -> Self {
        Self { cells: columns.iter().map(|c| Cells::new(c.kind)).collect(), rows: 0, errors: 0 }
    }

    /// Adds the row of a point; `at` are the values' places in the groups of the plan.
    pub(super) fn push(
        &mut self,
        plan: &Plan,
        point: u64,
        at: &[u64],
        answer: &Result<Outcome, String>,
        scratch: &mut String,
    ) {
        let mut cells = self.cells.iter_mut();
        let mut next = || cells.next();
        whole(next(), point as i64);
        for (group, axis) in plan.axes() {
            match axis.values.kind() {
                Kind::Whole => whole(next(), axis.values.number(at[group]) as i64),
                Kind::Number(_) => number(next(), axis.values.number(at[group])),
                Kind::Text => {
                    axis.values.write(at[group], scratch);
                    text(next(), scratch);
                }
            }
        }
        let (found, error) = match answer {
            Ok(found) => (found, ""),
            Err(error) => (&Outcome::default(), error.as_str()),
        };
        self.errors += u64::from(answer.is_err());
        let asked = |name: &str| plan.axes().any(|(_, axis)| axis.key == name);
        for (place, (name, _)) in RESULTS.iter().enumerate() {
            if MAY_BE_ASKED.contains(name) && asked(name) {
                continue;
            }
            found.put(place, error, next(), scratch);
        }
        self.rows += 1;
    }

    /// Adds rows of another batch with the same columns.
    pub fn extend(&mut self, from: &Self, rows: std::ops::Range<usize>) {
        for (mine, theirs) in self.cells.iter_mut().zip(&from.cells) {
            match (mine, theirs) {
                (Cells::Whole(to), Cells::Whole(all)) => to.extend_from_slice(&all[rows.clone()]),
                (Cells::Number(to), Cells::Number(all)) => to.extend_from_slice(&all[rows.clone()]),
                (Cells::Text(to), Cells::Text(all)) => rows.clone().for_each(|row| to.push(all.get(row))),
                _ => {}
            }
        }
        self.rows += rows.len();
    }
}
