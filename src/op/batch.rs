//! Tables of operations predicted: CSV in, the same rows with their answers out.

use std::io::{Read, Write};

use super::{
    answer::Answer,
    predict::{PredictError, Predictor},
    table::{Columns, HeaderError},
};
use crate::units::significant;

/// Columns that are added behind those of the input.
pub const RESULTS: [&str; 17] = [
    "predicted_us",
    "low_us",
    "high_us",
    "math_us",
    "dram_us",
    "l2_us",
    "latency_us",
    "launch_us",
    "bound",
    "tile",
    "splits",
    "grid_blocks",
    "blocks_per_sm",
    "waves",
    "gpu_name",
    "calibration",
    "error",
];

/// A table that cannot be used as a whole.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Not the header of such a table.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// Not CSV, or not readable.
    #[error("the table cannot be read")]
    Read(#[source] csv::Error),
    /// The results cannot be written.
    #[error("the results cannot be written")]
    Write(#[source] std::io::Error),
}

/// What a batch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rows read.
    pub rows: u64,
    /// Rows that could not be predicted; each carries its reason.
    pub errors: u64,
    /// Rows of types or shapes that nobody measured.
    pub uncalibrated: u64,
}

/// Predicts every row in order. A row that cannot be predicted keeps its place with its reason in `error`.
///
/// # Errors
/// The header lacks a column that every row needs, or reading or writing fails.
pub fn batch(input: impl Read, output: impl Write, predictor: &mut Predictor) -> Result<Summary, TableError> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).buffer_capacity(1 << 18).from_reader(input);
    let header = reader.byte_headers().map_err(TableError::Read)?.clone();
    let columns = Columns::new(&header)?;
    let mut writer = csv::WriterBuilder::new().buffer_capacity(1 << 18).from_writer(output);
    let results = RESULTS.iter().map(|name| name.as_bytes());
    writer.write_record(header.iter().chain(results)).map_err(unwritten)?;
    let mut summary = Summary::default();
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(TableError::Read)? {
        summary.rows += 1;
        for index in 0..header.len() {
            writer.write_field(record.get(index).unwrap_or_default()).map_err(unwritten)?;
        }
        let row = columns.row(&record).map_err(PredictError::from);
        let cells = match row.and_then(|row| predictor.answer(&row)) {
            Ok(found) => {
                summary.uncalibrated += u64::from(found.unmeasured);
                cells(&found)
            }
            Err(error) => {
                summary.errors += 1;
                let mut cells: [String; RESULTS.len()] = Default::default();
                cells[RESULTS.len() - 1] = error.to_string();
                cells
            }
        };
        for cell in cells {
            writer.write_field(cell).map_err(unwritten)?;
        }
        writer.write_record(None::<&[u8]>).map_err(unwritten)?;
    }
    writer.flush().map_err(TableError::Write)?;
    Ok(summary)
}

fn cells(found: &Answer) -> [String; RESULTS.len()] {
    let us = |seconds: f64| significant(seconds * 1e6, 6);
    [
        us(found.time),
        us(found.band.0),
        us(found.band.1),
        us(found.math),
        us(found.dram),
        us(found.l2),
        us(found.latency),
        found.launch.map_or(String::new(), us),
        found.bound.word().into(),
        found.tile.map_or(found.kernel.into(), |(height, width)| format!("{height}x{width}")),
        found.splits.to_string(),
        significant(found.blocks, 6),
        found.blocks_per_sm.to_string(),
        significant(found.waves, 6),
        found.gpu.name.clone(),
        found.of.to_string(),
        String::new(),
    ]
}

fn unwritten(error: csv::Error) -> TableError {
    match error.into_kind() {
        csv::ErrorKind::Io(e) => TableError::Write(e),
        other => TableError::Write(std::io::Error::other(format!("{other:?}"))),
    }
}
