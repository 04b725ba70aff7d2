//! A column: its distinct cells in order, as numbers, quantities of one kind, or words.

use std::collections::BTreeMap;

use super::{Points, PointsError};
use crate::units::{
    Bytes, BytesPerCycle, BytesPerSecond, Cycles, Flops, FlopsPerByte, FlopsPerSecond, Hertz, Seconds, UnitError,
    Watts, significant,
};

/// A distinct cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    pub text: String,
    /// The number, in the column's unit; of words their place.
    pub value: f64,
}

/// What the cells are.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Number,
    /// A quantity, drawn in the unit of its largest cell.
    Quantity(String),
    Words,
}

/// A column with its distinct cells: rising numbers, or words by first appearance.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub name: String,
    pub kind: Kind,
    pub levels: Vec<Level>,
    /// The level of each row; none where the cell is empty or no finite number.
    pub of_row: Vec<Option<usize>>,
}

/// Larger numbers have no place on an axis.
const LARGEST: f64 = 1e300;

impl Column {
    pub fn new<'a>(name: &str, cells: impl Iterator<Item = &'a str>) -> Self {
        let cells: Vec<&str> = cells.collect();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut texts: Vec<&str> = Vec::new();
        for cell in cells.iter().filter(|c| usable(c)) {
            places.entry(cell).or_insert_with(|| {
                texts.push(cell);
                texts.len() - 1
            });
        }
        let (kind, values) = in_units(name, values(&texts));
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by(|a, b| values[*a].total_cmp(&values[*b]).then(a.cmp(b)));
        let mut levels: Vec<Level> = Vec::new();
        let mut level_of = vec![0; texts.len()];
        for index in order {
            // 48 KiB and 49152 B are one size.
            if levels.last().is_none_or(|l: &Level| l.value != values[index]) {
                let text = match (&kind, ending(name)) {
                    (Kind::Quantity(unit), Some(_)) => format!("{} {unit}", significant(values[index], 6)),
                    _ => texts[index].to_owned(),
                };
                levels.push(Level { text, value: values[index] });
            }
            level_of[index] = levels.len() - 1;
        }
        let of_row = cells.iter().map(|c| places.get(c).map(|place| level_of[*place])).collect();
        Self { name: name.to_owned(), kind, levels, of_row }
    }

    /// The level of a text: the same text, or the same number or quantity.
    pub fn level(&self, text: &str) -> Option<usize> {
        let same = self.levels.iter().position(|l| l.text == text);
        // In base units, as the file has it.
        let (_, units) = ending(&self.name).unwrap_or_default();
        let unit = units.iter().find(|(unit, _)| self.kind == Kind::Quantity((*unit).to_owned()));
        let base = text.parse::<f64>().ok().zip(unit).map(|(number, (_, scale))| number / scale);
        let same = same.or_else(|| self.levels.iter().position(|l| Some(l.value) == base));
        same.or_else(|| {
            let both = Self::new("", self.levels.iter().map(|l| l.text.as_str()).chain([text]));
            let level = (*both.of_row.last()?)?;
            both.of_row[..self.levels.len()].iter().position(|of| *of == Some(level))
        })
    }

    /// The value of a row.
    pub fn value(&self, row: usize) -> Option<f64> {
        self.of_row[row].map(|level| self.levels[level].value)
    }

    pub fn is_words(&self) -> bool {
        self.kind == Kind::Words
    }

    /// Whether it is a time in microseconds.
    pub fn timed(&self) -> bool {
        self.kind == Kind::Number && self.name.ends_with("_us")
    }

    /// The same column where only numbers can be drawn.
    ///
    /// # Errors
    /// The first row that holds something else.
    pub fn numeric(self, points: &Points) -> Result<Self, PointsError> {
        let word = |row: &usize| self.of_row[*row].is_some_and(|l| self.levels[l].text.parse::<f64>().is_err());
        let odd = (0..self.of_row.len()).find(word).filter(|_| self.is_words());
        match odd.and_then(|row| Some((row, self.of_row[row]?))) {
            None => Ok(self),
            Some((row, level)) => Err(PointsError::Number {
                file: points.file().into(),
                line: points.line(row),
                value: super::parts::shortened(&self.levels[level].text, 60),
                column: self.name,
                cure: "leave the cell empty where there is none, or name a column of numbers",
            }),
        }
    }

    /// What the values are, with their unit, as the title of an axis.
    pub fn title(&self) -> String {
        let name = long(&self.name);
        match &self.kind {
            Kind::Quantity(unit) => format!("{name} ({unit})"),
            _ => name,
        }
    }
}

/// A cell with something in it that is no infinite or unknown number.
fn usable(cell: &str) -> bool {
    !cell.is_empty() && cell.parse::<f64>().map_or(true, |v| v.is_finite() && v.abs() <= LARGEST)
}

/// A text in base units, and how it is read.
type Reader = (fn(&str) -> Result<f64, UnitError>, &'static [(&'static str, f64)]);

macro_rules! readers {
    ($($quantity:ident),+) => {
        [$((|text| text.parse::<$quantity>().map(|v| v.0), $quantity::UNITS)),+]
    };
}

const READERS: [Reader; 10] =
    readers!(Bytes, BytesPerSecond, Hertz, Seconds, FlopsPerSecond, Flops, Watts, BytesPerCycle, FlopsPerByte, Cycles);

/// What texts are, and their values.
fn values(texts: &[&str]) -> (Kind, Vec<f64>) {
    let numbers: Result<Vec<f64>, _> = texts.iter().map(|t| t.parse::<f64>()).collect();
    if let Ok(numbers) = numbers {
        // A zero has no sign here.
        return (Kind::Number, numbers.into_iter().map(|v| v + 0.0).collect());
    }
    for (read, units) in READERS {
        let Ok(base) = texts.iter().map(|t| read(t)).collect::<Result<Vec<f64>, _>>() else { continue };
        let largest = (0..base.len()).max_by(|a, b| base[*a].total_cmp(&base[*b])).map_or("", |i| texts[i]);
        let of_largest = |unit: &&(&str, f64)| {
            largest.strip_suffix(unit.0).is_some_and(|number| number.trim_end().parse::<f64>().is_ok())
        };
        let (unit, scale) = units.iter().find(of_largest).copied().unwrap_or(units[0]);
        return (Kind::Quantity(unit.to_owned()), base.into_iter().map(|v| v / scale).collect());
    }
    (Kind::Words, (0..texts.len()).map(|i| i as f64).collect())
}

/// Ends of names that say the base unit of their numbers, as a sweep writes them, with the units that people read.
type Ending = (&'static str, &'static [(&'static str, f64)]);
const ENDINGS: [Ending; 3] = [
    ("_bytes_per_s", &[("GB/s", 1e9), ("TB/s", 1e12)]),
    ("_bytes", &[("B", 1.0), ("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0)]),
    ("_hz", &[("MHz", 1e6), ("GHz", 1e9)]),
];

/// The name without an ending that says a unit, and the units.
fn ending(name: &str) -> Option<(&str, &'static [(&'static str, f64)])> {
    ENDINGS.iter().find_map(|(end, units)| Some((name.strip_suffix(end)?, *units)))
}

/// Numbers whose column says their base unit, in a unit that fits them.
fn in_units(name: &str, (kind, values): (Kind, Vec<f64>)) -> (Kind, Vec<f64>) {
    let largest = values.iter().copied().fold(0.0, f64::max);
    let Some((_, units)) = ending(name).filter(|_| kind == Kind::Number && largest > 0.0) else {
        return (kind, values);
    };
    let (unit, scale) = units.iter().rev().find(|(_, scale)| largest >= *scale).copied().unwrap_or(units[0]);
    (Kind::Quantity(unit.to_owned()), values.into_iter().map(|v| v / scale).collect())
}

/// Names of columns for people; others keep the one they have.
const NAMES: [(&str, &str); 25] = [
    ("predicted_us", "Predicted time"),
    ("low_us", "Lower end of the band"),
    ("high_us", "Upper end of the band"),
    ("math_us", "Time of math"),
    ("dram_us", "Time of DRAM"),
    ("l2_us", "Time of L2"),
    ("latency_us", "Time of latency"),
    ("launch_us", "Time of the launch"),
    ("grid", "Blocks"),
    ("grid_blocks", "Blocks"),
    ("blocks_per_sm", "Blocks per SM"),
    ("waves", "Waves"),
    ("tail_cost_pct", "Cost of the tail (%)"),
    ("occupancy_pct", "Occupancy (%)"),
    ("tflop_per_s", "TFLOP/s"),
    ("percent_of_roof", "Share of the roof (%)"),
    ("usd_per_million", "USD per million"),
    ("gpu", "GPU"),
    ("gpu_name", "GPU"),
    ("dtype", "Type"),
    ("registers_per_thread", "Registers per thread"),
    ("sm.count", "SMs"),
    ("memory.dram.bandwidth", "DRAM bandwidth"),
    ("batch", "Batch"),
    ("bound", "Bound"),
];

/// The name of a column in a title.
pub(super) fn long(name: &str) -> String {
    let name = ending(name).map_or(name, |(stem, _)| stem);
    match NAMES.iter().find(|n| n.0 == name) {
        Some((_, words)) => (*words).into(),
        None => short(name),
    }
}

/// The name of a column before a value: sizes are capitals.
pub(super) fn short(name: &str) -> String {
    if name.len() == 1 { name.to_uppercase() } else { super::parts::shortened(name, 60) }
}
