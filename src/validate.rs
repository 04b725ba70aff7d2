//! Predictions against measurements, by groups of rows, with two rooflines on the same rows beside them.

mod baseline;
mod score;
mod search;

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read,
};

pub use baseline::{Fitted, Needs};
pub use score::{Score, quantile};
pub use search::Search;

use crate::op::{
    answer::Answer,
    batch::TableError,
    predict::{PredictError, Predictor},
    row::Head,
    table::Columns,
};

/// What rows can be grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the columns")]
pub enum Key {
    Gpu,
    Op,
    Dtype,
    Size,
    Waves,
    Bound,
    Source,
}

impl Key {
    /// Every key.
    pub const ALL: [Self; 7] = [Self::Gpu, Self::Op, Self::Dtype, Self::Size, Self::Waves, Self::Bound, Self::Source];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Op => "op",
            Self::Dtype => "dtype",
            Self::Size => "size",
            Self::Waves => "waves",
            Self::Bound => "bound",
            Self::Source => "source",
        }
    }

    /// The group of a row under this key, with what sorts it.
    fn group(self, head: &Head, found: &Answer, measured: f64) -> (u8, String) {
        let text = |text: &str| (0, text.to_owned());
        match self {
            Self::Gpu => text(&found.gpu.name),
            Self::Op => text(head.op),
            Self::Dtype => text(head.data.name()),
            Self::Source => text(head.source),
            Self::Bound => text(found.bound.word()),
            Self::Size => {
                let size = size(measured);
                (size as u8, SIZES[size].to_owned())
            }
            Self::Waves => match found.waves {
                waves if waves < 1.0 => (0, "<1".into()),
                waves if waves <= 4.0 => (1, "1-4".into()),
                _ => (2, ">4".into()),
            },
        }
    }
}

/// Measured times by size.
pub const SIZES: [&str; 4] = ["<10 us", "10-100 us", "100-1000 us", ">1000 us"];

/// The place of a measured time, in seconds, among `SIZES`.
pub fn size(measured: f64) -> usize {
    match measured * 1e6 {
        us if us < 10.0 => 0,
        us if us < 100.0 => 1,
        us if us <= 1000.0 => 2,
        _ => 3,
    }
}

/// One predicted and measured row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// Measured time in seconds.
    pub measured: f64,
    /// Predicted time in seconds.
    pub predicted: f64,
    /// Whether the measured time lies inside the 80 % band.
    pub in_band: bool,
    /// What a roofline needs of the row.
    pub needs: Needs,
}

/// The rows that share the value of the first key, each one by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The value.
    pub label: String,
    /// The rows; those of one group keep their order.
    pub cases: Vec<Case>,
    /// The roofline fitted to these rows.
    pub roofline: Fitted,
}

/// Scores of the rows that share their keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Values of the keys, in their order.
    pub keys: Vec<String>,
    /// Rows.
    pub rows: usize,
    /// The model.
    pub model: Score,
    /// Share of rows inside the 80 % band, in percent.
    pub in_band: f64,
    /// The datasheet roofline.
    pub datasheet: Score,
    /// The roofline fitted to this group.
    pub roofline: Score,
    /// Its constants.
    pub fitted: Fitted,
}

/// Rows left out for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many.
    pub rows: u64,
    /// Table and line of the first few, such as `times.csv:7`.
    pub first: Vec<String>,
}

/// Rows of one reason that are named.
const NAMED: usize = 3;

impl std::fmt::Display for LeftOut {
    /// "2 (times.csv:7, 9)".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (", self.rows)?;
        let mut last = None;
        for place in &self.first {
            let (table, line) = place.rsplit_once(':').unwrap_or_default();
            match last {
                Some(before) if before == table => write!(f, ", {line}")?,
                Some(_) => write!(f, ", {place}")?,
                None => f.write_str(place)?,
            }
            last = Some(table);
        }
        match self.rows.saturating_sub(self.first.len() as u64) {
            0 => f.write_str(")"),
            more => write!(f, " and {more} more)"),
        }
    }
}

/// Rows read so far.
#[derive(Debug, Default)]
pub struct Validation {
    keys: Vec<Key>,
    groups: BTreeMap<Vec<(u8, String)>, Vec<Case>>,
    /// Rows read.
    pub rows: u64,
    /// Rows that were left out, by their reason.
    pub left_out: BTreeMap<String, LeftOut>,
    /// Names of the GPUs of the rows that were compared.
    pub gpus: BTreeSet<String>,
    /// Their sources, as far as named.
    pub sources: BTreeSet<String>,
}

impl Validation {
    /// No rows yet, to be grouped by these keys.
    pub fn new(keys: &[Key]) -> Self {
        Self { keys: keys.to_vec(), ..Self::default() }
    }

    /// Predicts the rows of a table and adds them to their groups. Rows that cannot be predicted or were not measured
    /// are counted with their reason, for which `name` stands for the table.
    ///
    /// # Errors
    /// The table lacks a column that every row needs, or cannot be read.
    pub fn add(&mut self, name: &str, table: impl Read, predictor: &mut Predictor) -> Result<(), TableError> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(table);
        let header = reader.byte_headers().map_err(TableError::Read)?.clone();
        let columns = Columns::new(&header)?;
        let mut record = csv::ByteRecord::new();
        while reader.read_byte_record(&mut record).map_err(TableError::Read)? {
            self.rows += 1;
            if let Err(reason) = self.row(&columns, &record, predictor) {
                let left = self.left_out.entry(reason).or_default();
                left.rows += 1;
                if left.first.len() < NAMED {
                    left.first.push(format!("{name}:{}", record.position().map_or(0, csv::Position::line)));
                }
            }
        }
        Ok(())
    }

    /// Rows that were left out, for any reason.
    pub fn left_out_rows(&self) -> u64 {
        self.left_out.values().map(|left| left.rows).sum()
    }

    fn row(&mut self, columns: &Columns, record: &csv::ByteRecord, predictor: &mut Predictor) -> Result<(), String> {
        let measured = columns.measured(record).map_err(|e| e.to_string())?.ok_or("measured_us is empty")?;
        let row = columns.row(record).map_err(|e| e.to_string())?;
        let found = predictor.answer(&row).map_err(|e: PredictError| e.to_string())?;
        let (head, source) = (&row.head(), row.head().source);
        let keys = self.keys.iter().map(|key| key.group(head, &found, measured)).collect();
        let case = Case {
            measured,
            predicted: found.time,
            in_band: found.band.0 <= measured && measured <= found.band.1,
            needs: Needs { math: found.least_math, memory: found.least_memory },
        };
        if !self.gpus.contains(&found.gpu.name) {
            self.gpus.insert(found.gpu.name.clone());
        }
        if !source.is_empty() && !self.sources.contains(source) {
            self.sources.insert(source.to_owned());
        }
        self.groups.entry(keys).or_default().push(case);
        Ok(())
    }

    /// The keys.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The groups, by their keys.
    pub fn groups(&self) -> Vec<Group> {
        self.groups.iter().map(|(keys, cases)| group(keys, cases)).collect()
    }

    /// The rows by the value of the first key, in its order.
    pub fn series(&self) -> Vec<Series> {
        let mut merged: BTreeMap<Option<&(u8, String)>, Vec<Case>> = BTreeMap::new();
        for (keys, cases) in &self.groups {
            merged.entry(keys.first()).or_default().extend(cases);
        }
        let series = |(key, cases): (Option<&(u8, String)>, Vec<Case>)| Series {
            label: key.map_or_else(|| "all rows".into(), |key| key.1.clone()),
            roofline: fitted(&cases),
            cases,
        };
        merged.into_iter().map(series).collect()
    }
}

fn fitted(cases: &[Case]) -> Fitted {
    Fitted::new(&cases.iter().map(|case| (case.needs, case.measured)).collect::<Vec<_>>())
}

fn group(keys: &[(u8, String)], cases: &[Case]) -> Group {
    let score = |time: &dyn Fn(&Case) -> f64| {
        Score::of(&cases.iter().map(|case| (time(case), case.measured)).collect::<Vec<_>>())
    };
    let fitted = fitted(cases);
    let inside = cases.iter().filter(|case| case.in_band).count();
    Group {
        keys: keys.iter().map(|key| key.1.clone()).collect(),
        rows: cases.len(),
        model: score(&|case| case.predicted),
        in_band: inside as f64 * 100.0 / cases.len() as f64,
        datasheet: score(&|case| case.needs.datasheet()),
        roofline: score(&|case| fitted.time(&case.needs)),
        fitted,
    }
}
