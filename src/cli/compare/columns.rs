//! The columns of a comparison, each written once: for tables of every format and for `--fail-if`.

use super::super::{
    check::{Check, Fields},
    table::{Cell, Table},
};
use crate::units::{decimal, significant};

/// How the value of a column is taken from a row.
enum Value<R> {
    Text(fn(&R) -> String),
    /// The exact number, and its rounding in tables.
    Number(fn(&R) -> Option<f64>, fn(f64) -> String),
}

/// One column of rows `R`.
pub struct Column<R> {
    heading: &'static str,
    name: &'static str,
    value: Value<R>,
}

/// Four significant digits.
pub fn four(value: f64) -> String {
    significant(value, 4)
}

/// Six significant digits.
pub fn six(value: f64) -> String {
    significant(value, 6)
}

/// One decimal place.
pub fn tenth(value: f64) -> String {
    decimal(value, 1)
}

/// Two decimal places.
pub fn hundredth(value: f64) -> String {
    decimal(value, 2)
}

/// Three decimal places.
pub fn thousandth(value: f64) -> String {
    decimal(value, 3)
}

impl<R> Column<R> {
    /// A column of words, with its heading for people and its name for programs.
    pub const fn text(heading: &'static str, name: &'static str, value: fn(&R) -> String) -> Self {
        Self { heading, name, value: Value::Text(value) }
    }

    /// A column of numbers; `round` is applied in tables, never in checks.
    pub const fn number(
        heading: &'static str,
        name: &'static str,
        value: fn(&R) -> Option<f64>,
        round: fn(f64) -> String,
    ) -> Self {
        Self { heading, name, value: Value::Number(value, round) }
    }

    fn cell(&self, row: &R) -> Cell {
        match &self.value {
            Value::Text(value) => value(row).into(),
            Value::Number(value, round) => {
                value(row).filter(|v| v.is_finite()).and_then(|v| round(v).parse::<f64>().ok()).into()
            }
        }
    }
}

/// The table of `rows`.
pub fn table<R>(columns: &[Column<R>], rows: &[R]) -> Table<'static> {
    Table {
        columns: columns.iter().map(|c| (c.heading, c.name)).collect(),
        rows: rows.iter().map(|row| columns.iter().map(|c| c.cell(row)).collect()).collect(),
    }
}

/// Names of the columns, and whether they are numbers.
pub fn names<R>(columns: &[Column<R>]) -> impl Iterator<Item = (&'static str, bool)> {
    columns.iter().map(|c| (c.name, matches!(c.value, Value::Number(..))))
}

/// The fields that checks of a comparison may name: the columns of its rows and of its summary.
pub fn fields<R, S>(short: &'static [(&'static str, &'static str)], rows: &[Column<R>], all: &[Column<S>]) -> Fields {
    Fields { of: "this comparison (docs/cli.md)", short, known: names(rows).chain(names(all)).collect() }
}

/// What fails among `rows`; a check of another table's field, or of a value that is not known, fails nothing.
pub fn failures<R>(checks: &[Check], columns: &[Column<R>], rows: &[R], subject: impl Fn(&R) -> String) -> Vec<String> {
    let mut failed = Vec::new();
    for check in checks {
        let Some(Value::Number(value, _)) = columns.iter().find(|c| c.name == check.field()).map(|c| &c.value) else {
            continue;
        };
        failed.extend(rows.iter().filter_map(|row| check.fails(&subject(row), value(row)?)));
    }
    failed
}
