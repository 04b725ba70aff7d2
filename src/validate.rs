//! Predictions against measurements, by groups of rows, with two rooflines on the same rows beside them.

mod baseline;
mod score;
mod search;

use std::{collections::BTreeMap, io::Read};

pub use baseline::{Fitted, Needs};
pub use score::{Score, quantile};
pub use search::Search;

use crate::op::{
    batch::TableError,
    predict::{PredictError, Prediction, Predictor},
    table::{Columns, Request},
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
    fn group(self, request: &Request, found: &Prediction, measured: f64) -> (u8, String) {
        let text = |text: &str| (0, text.to_owned());
        match self {
            Self::Gpu => text(&found.gpu.name),
            Self::Op => text(request.op),
            Self::Dtype => text(request.data.name()),
            Self::Source => text(request.source),
            Self::Bound => text(found.bound().word()),
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
#[derive(Clone, Copy, Debug)]
struct Case {
    measured: f64,
    predicted: f64,
    in_band: bool,
    needs: Needs,
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

/// Rows read so far.
#[derive(Debug, Default)]
pub struct Validation {
    keys: Vec<Key>,
    groups: BTreeMap<Vec<(u8, String)>, Vec<Case>>,
    /// Rows read.
    pub rows: u64,
    /// Reasons why rows were left out, with their numbers.
    pub left_out: BTreeMap<String, u64>,
}

impl Validation {
    /// No rows yet, to be grouped by these keys.
    pub fn new(keys: &[Key]) -> Self {
        Self { keys: keys.to_vec(), ..Self::default() }
    }

    /// Predicts the rows of a table and adds them to their groups. Rows that cannot be predicted or were not measured
    /// are counted with their reason.
    ///
    /// # Errors
    /// The table lacks a column that every row needs, or cannot be read.
    pub fn add(&mut self, table: impl Read, predictor: &mut Predictor) -> Result<(), TableError> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(table);
        let header = reader.byte_headers().map_err(TableError::Read)?.clone();
        let columns = Columns::new(&header).map_err(TableError::Column)?;
        let mut record = csv::ByteRecord::new();
        while reader.read_byte_record(&mut record).map_err(TableError::Read)? {
            self.rows += 1;
            if let Err(reason) = self.row(&columns, &record, predictor) {
                *self.left_out.entry(reason).or_default() += 1;
            }
        }
        Ok(())
    }

    fn row(&mut self, columns: &Columns, record: &csv::ByteRecord, predictor: &mut Predictor) -> Result<(), String> {
        let measured = columns.measured(record).map_err(|e| e.to_string())?.ok_or("measured_us is empty")?;
        let request = columns.request(record).map_err(|e| e.to_string())?;
        let found = predictor.predict(&request).map_err(|e: PredictError| e.to_string())?;
        let keys = self.keys.iter().map(|key| key.group(&request, &found, measured)).collect();
        let case = Case {
            measured,
            predicted: found.time,
            in_band: found.band.0 <= measured && measured <= found.band.1,
            needs: Needs { math: request.shape.flop() / found.peak, memory: found.plan.bytes.get() / found.bandwidth },
        };
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
}

fn group(keys: &[(u8, String)], cases: &[Case]) -> Group {
    let score = |time: &dyn Fn(&Case) -> f64| {
        Score::of(&cases.iter().map(|case| (time(case), case.measured)).collect::<Vec<_>>())
    };
    let fitted = Fitted::new(&cases.iter().map(|case| (case.needs, case.measured)).collect::<Vec<_>>());
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
