//! Occupancy for tables of configurations: CSV in, the same rows with their results out.

pub mod amd;

use std::io::{Read, Write};

use super::{BlockLimits, Carveout, Occupancy, Resource, Resources, nvidia::occupancy};
use crate::{
    gpu::{ComputeCapability, CuLimits, SmLimits},
    units::significant,
};

/// Columns that a table must have.
pub const REQUIRED: [&str; 5] =
    ["compute_capability", "threads_per_block", "registers_per_thread", "static_smem_bytes", "dynamic_smem_bytes"];

/// Columns that a table may have; their defaults are -1 (largest), 1 (opted in) and 1.
pub const OPTIONAL: [&str; 3] = ["carveout_pct", "optin", "barriers"];

/// Columns that are added behind those of the input.
pub const RESULTS: [&str; 13] = [
    "blocks_per_sm",
    "limiters",
    "active_warps",
    "max_warps",
    "theoretical_occupancy_pct",
    "limit_warps",
    "limit_regs",
    "limit_smem",
    "limit_blocks",
    "limit_barriers",
    "alloc_regs_per_block",
    "alloc_smem_per_block",
    "error",
];

/// A table that cannot be used as a whole.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// A required column is absent.
    #[error("the table has no column `{missing}`; it needs {} and may have {}", required.join(", "), optional.join(", "))]
    Column {
        /// The first column that is missing.
        missing: &'static str,
        /// Columns that such a table must have.
        required: &'static [&'static str],
        /// Columns that it may have.
        optional: &'static [&'static str],
    },
    /// The table names no device.
    #[error(
        "the table has neither a column `{}` (NVIDIA) nor `{}` (AMD); beside it an NVIDIA table needs {}, an AMD table {}",
        REQUIRED[0], amd::REQUIRED[0], REQUIRED[1..].join(", "), amd::REQUIRED[1..].join(", ")
    )]
    NoDevice,
    /// The table is of both vendors.
    #[error("the table has both {} and {}: split it, a table is of NVIDIA or of AMD configurations", REQUIRED[0], amd::REQUIRED[0])]
    TwoDevices,
    /// Not CSV, or not readable.
    #[error("the table cannot be read")]
    Read(#[source] csv::Error),
    /// The results cannot be written.
    #[error("the results cannot be written")]
    Write(#[source] std::io::Error),
}

/// What a batch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchSummary {
    /// Rows read.
    pub rows: u64,
    /// Rows that could not be evaluated; each carries its reason.
    pub errors: u64,
}

/// Evaluates every row in order. A row that cannot be evaluated keeps its place with its reason in `error`. A table with
/// a column `gfx` is one of AMD configurations, see [`amd`].
///
/// # Errors
/// The header lacks a required column, or reading or writing fails.
pub fn batch(
    input: impl Read,
    output: impl Write,
    limits: &[SmLimits],
    units: &[CuLimits],
) -> Result<BatchSummary, BatchError> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).buffer_capacity(1 << 18).from_reader(input);
    let headers = reader.byte_headers().map_err(BatchError::Read)?.clone();
    let find = |name: &str| headers.iter().position(|h| h.trim_ascii() == name.as_bytes());
    match (find(REQUIRED[0]), find(amd::REQUIRED[0])) {
        (Some(_), Some(_)) => return Err(BatchError::TwoDevices),
        (None, Some(_)) => return amd::rows(reader, &headers, output, units),
        (None, None) => return Err(BatchError::NoDevice),
        (Some(_), None) => {}
    }
    let mut columns = Columns::default();
    for (place, name) in columns.required.iter_mut().zip(REQUIRED) {
        *place = find(name).ok_or(BatchError::Column { missing: name, required: &REQUIRED, optional: &OPTIONAL })?;
    }
    for (place, name) in columns.optional.iter_mut().zip(OPTIONAL) {
        *place = find(name);
    }
    let mut writer = csv::WriterBuilder::new().flexible(true).buffer_capacity(1 << 18).from_writer(output);
    writer.write_record(headers.iter().chain(RESULTS.iter().map(|r| r.as_bytes()))).map_err(unwritten)?;
    let mut percents = Percents::default();
    let mut numbers = itoa::Buffer::new();
    let mut summary = BatchSummary::default();
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(BatchError::Read)? {
        summary.rows += 1;
        for index in 0..headers.len() {
            writer.write_field(record.get(index).unwrap_or_default()).map_err(unwritten)?;
        }
        let mut field = |bytes: &[u8]| writer.write_field(bytes).map_err(unwritten);
        let mut max_warps = 0;
        match columns.evaluate(&record, limits, &mut max_warps) {
            Ok(found) => {
                field(numbers.format(found.blocks_per_sm).as_bytes())?;
                field(words(&found))?;
                field(numbers.format(found.active_warps()).as_bytes())?;
                field(numbers.format(found.max_warps).as_bytes())?;
                field(percents.text(&found))?;
                for resource in &Resource::ALL[..5] {
                    match found.limits.of(*resource) {
                        BlockLimits::UNLIMITED => field(b"inf")?,
                        blocks => field(numbers.format(blocks).as_bytes())?,
                    }
                }
                field(numbers.format(found.registers_per_block).as_bytes())?;
                field(numbers.format(found.shared_per_block).as_bytes())?;
                field(b"")?;
            }
            Err(reason) => {
                summary.errors += 1;
                for name in &RESULTS[..RESULTS.len() - 1] {
                    match *name {
                        "limiters" => field(b"-")?,
                        "max_warps" => field(numbers.format(max_warps).as_bytes())?,
                        _ => field(b"0")?,
                    }
                }
                field(reason.as_bytes())?;
            }
        }
        writer.write_record(None::<&[u8]>).map_err(unwritten)?;
    }
    writer.flush().map_err(BatchError::Write)?;
    Ok(summary)
}

/// Columns of a header that nothing reads, each with the optional column whose name it nearly has.
pub fn nearly_optional<'a>(header: &[&'a str]) -> Vec<(&'a str, &'static str)> {
    let amd = header.contains(&amd::REQUIRED[0]);
    let (optional, results): (&[&str], &[&str]) =
        if amd { (&amd::OPTIONAL, &amd::RESULTS) } else { (&OPTIONAL, &RESULTS) };
    let near = |column: &&'a str| {
        let alike = |name: &&&'static str| strsim::jaro_winkler(&column.to_ascii_lowercase(), name) > 0.9;
        let name = optional.iter().filter(|name| !header.contains(name)).find(alike)?;
        (!results.contains(column)).then_some((*column, *name))
    };
    header.iter().filter_map(near).collect()
}

fn unwritten(error: csv::Error) -> BatchError {
    match error.into_kind() {
        csv::ErrorKind::Io(e) => BatchError::Write(e),
        other => BatchError::Write(std::io::Error::other(format!("{other:?}"))),
    }
}

/// Where the columns of a table are.
#[derive(Default)]
struct Columns {
    required: [usize; 5],
    optional: [Option<usize>; 3],
}

impl Columns {
    /// The answer of a row, or why there is none; `max_warps` is set as soon as the capability is known.
    fn evaluate(
        &self,
        record: &csv::ByteRecord,
        limits: &[SmLimits],
        max_warps: &mut u32,
    ) -> Result<Occupancy, String> {
        let text = |index: usize, name: &str| text(record, index, name);
        let required = |place: usize| whole(record, self.required[place], REQUIRED[place]);
        let optional = |place: usize, default: u32| {
            given(record, self.optional[place], OPTIONAL[place]).map(|n| n.unwrap_or(default))
        };
        let capability = text(self.required[0], REQUIRED[0])?;
        let capability: ComputeCapability = capability.parse().map_err(|e: crate::gpu::GpuError| e.to_string())?;
        let limits = limits
            .iter()
            .find(|l| l.compute_capability == capability)
            .ok_or_else(|| format!("no limits are known for compute capability {capability}"))?;
        *max_warps = limits.max_warps_per_sm;
        let threads_per_block = required(1)?;
        if threads_per_block == 0 {
            return Err("threads_per_block = 0 must be at least 1".into());
        }
        let carveout = match self.optional[0] {
            Some(index) => match text(index, OPTIONAL[0])? {
                "" | "-1" => Carveout::Largest,
                given => match given.parse() {
                    Ok(percent @ 0..=100) => Carveout::Percent(percent),
                    _ => return Err(format!("carveout_pct = `{given}` is not -1 or 0 to 100")),
                },
            },
            None => Carveout::Largest,
        };
        let opt_in = match optional(1, 1)? {
            0 => false,
            1 => true,
            other => return Err(format!("optin = {other} is not 0 or 1")),
        };
        let resources = Resources {
            threads_per_block,
            registers_per_thread: required(2)?,
            static_shared: required(3)?,
            dynamic_shared: required(4)?,
            carveout,
            opt_in,
            barriers: optional(2, 1)?,
            ..Resources::default()
        };
        Ok(occupancy(limits, &resources))
    }
}

fn text<'a>(record: &'a csv::ByteRecord, index: usize, name: &str) -> Result<&'a str, String> {
    let bytes = record.get(index).ok_or_else(|| format!("the row has no field `{name}`"))?;
    std::str::from_utf8(bytes).map(str::trim).map_err(|_| format!("{name} is not text"))
}

fn whole(record: &csv::ByteRecord, index: usize, name: &str) -> Result<u32, String> {
    let text = text(record, index, name)?;
    text.parse().map_err(|_| format!("{name} = `{text}` is not a whole number from 0 to {}", u32::MAX))
}

/// The number in a column that a table may lack, and a row may leave empty.
fn given(record: &csv::ByteRecord, index: Option<usize>, name: &str) -> Result<Option<u32>, String> {
    match index {
        Some(index) if record.get(index).is_some_and(|f| !f.trim_ascii().is_empty()) => {
            whole(record, index, name).map(Some)
        }
        _ => Ok(None),
    }
}

/// The limiters joined by `|`; there are 32 combinations.
fn words(found: &Occupancy) -> &'static [u8] {
    static WORDS: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(|| {
        (0..32_u8)
            .map(|set| {
                Resource::ALL
                    .iter()
                    .filter(|r| set & (1 << **r as u8) != 0)
                    .map(|r| r.word())
                    .collect::<Vec<_>>()
                    .join("|")
            })
            .collect()
    });
    WORDS[usize::from(found.limiters().bits())].as_bytes()
}

/// Percentages as text, by the warp slots of the SM; there are few, and formatting them anew would be half of the work.
#[derive(Default)]
struct Percents(Vec<(u32, Vec<String>)>);

impl Percents {
    fn text(&mut self, found: &Occupancy) -> &[u8] {
        let known = self.0.iter().position(|(max_warps, _)| *max_warps == found.max_warps);
        let place = known.unwrap_or_else(|| {
            let percent = |active: u32| significant(f64::from(active) * 100.0 / f64::from(found.max_warps), 6);
            self.0.push((found.max_warps, (0..=found.max_warps).map(percent).collect()));
            self.0.len() - 1
        });
        self.0[place].1[found.active_warps().min(found.max_warps) as usize].as_bytes()
    }
}
