//! Kernels observed by other tools: reads Nsight Compute CSV (details page and raw page), bytes in, values out.
//!
//! The path through the files: `text` decodes and finds the table, `details` and `raw` collect each launch's metrics
//! as written, `fields` says which metric means what, `assemble` turns them into an [`ObservedKernel`].
//! Columns and metrics are addressed by name, since both differ from version to version; what a file lacks is `None`.

mod advice;
mod assemble;
mod details;
mod device;
mod error;
mod fields;
mod judge;
mod kind;
mod kineto;
mod launch;
mod name;
mod notation;
mod observed;
mod pair;
mod raw;
mod tensor;
mod text;
mod trace;
mod unit;

use std::io::BufRead;

pub use advice::Advice;
pub use device::{Device, device};
pub use error::ProfileError;
pub use judge::{Comparison, Judged, judge};
pub use kind::Kind;
pub use kineto::{KinetoFigures, kineto_figures};
pub use name::{plain_name, short_name, telling_names};
pub use observed::{
    Measured, Metric, MetricKey, ObservedDevice, ObservedKernel, ObservedPipe, Rule, RuleKind, StallReason,
};
pub use pair::{Pair, circumstances, pair};
pub use text::binary;
pub use trace::{Collector, DeviceTime, KernelGroup, LaunchRecord, LaunchShape, Trace, TransferGroup};

/// Which format a file is in, told from its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Nsight Compute, `--csv --page details`: one row per metric.
    NcuDetailsCsv,
    /// Nsight Compute, `--csv --page raw`: one row per launch, a units row second.
    NcuRawCsv,
    /// A trace of PyTorch's profiler (Kineto), JSON.
    Kineto,
}

impl Format {
    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::NcuDetailsCsv => "Nsight Compute, details page",
            Self::NcuRawCsv => "Nsight Compute, raw page",
            Self::Kineto => "trace of PyTorch's profiler",
        }
    }

    /// The word of reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::NcuDetailsCsv | Self::NcuRawCsv => "nsight-compute",
            Self::Kineto => "pytorch-profiler",
        }
    }
}

/// What a profiler file holds.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The format that the file is in.
    pub format: Format,
    /// Every profiled launch, in file order.
    pub kernels: Vec<ObservedKernel>,
    /// What was skipped or odd, with line numbers: ragged rows, `==WARNING==` lines, a cut-off end.
    pub warnings: Vec<String>,
}

/// The format of a file, or `None` where it is not one that [`read`] takes. Looks at the header only.
pub fn detect(bytes: &[u8]) -> Option<Format> {
    let text = text::decode(bytes).ok()?;
    let header = text::find_header(&text)?;
    page_of(&header.columns)
}

/// A reader of one kind of trace.
struct Reader {
    format: Format,
    /// Whether a file with this beginning is one.
    detect: fn(&str) -> bool,
    /// Reads it from the beginning.
    read: fn(&mut dyn BufRead, &mut Collector) -> Result<(), ProfileError>,
}

/// The readers, in the order in which they are asked.
const READERS: [Reader; 1] = [Reader { format: Format::Kineto, detect: kineto::detect, read: kineto::read }];

/// So many bytes of a file tell its kind.
pub const HEAD: usize = 1 << 16;

/// The kind of trace that a file with this beginning is; absent where it is none.
pub fn detect_trace(head: &[u8]) -> Option<Format> {
    let text = text::decode(head).ok()?;
    READERS.iter().find(|reader| (reader.detect)(&text)).map(|reader| reader.format)
}

/// Reads a trace, launch by launch: memory holds its groups alone.
///
/// # Errors
/// The file is of another kind than `format`, cannot be read, or holds no launch.
pub fn read_trace(format: Format, input: &mut dyn BufRead) -> Result<Trace, ProfileError> {
    let mut collector = Collector::default();
    if let Some(reader) = READERS.iter().find(|reader| reader.format == format) {
        (reader.read)(input, &mut collector)?;
    }
    if collector.launches() == 0 {
        return Err(ProfileError::NoLaunch { format });
    }
    Ok(collector.finish(format))
}

/// Reads a profiler file. Never panics; rows that cannot be used are skipped and named in [`Profile::warnings`].
///
/// # Errors
///
/// When the file is empty, binary, not Nsight Compute CSV, lacks required columns, or holds no kernel.
pub fn read(bytes: &[u8]) -> Result<Profile, ProfileError> {
    let text = text::decode(bytes)?;
    let Some(header) = text::find_header(&text) else {
        return Err(error::no_table(&text));
    };
    let Some(format) = page_of(&header.columns) else {
        return Err(error::not_a_page(&header));
    };
    let mut warnings = text::Warnings::default();
    let preamble = text.get(..header.start).unwrap_or_default();
    warnings.tool_lines(preamble);
    let body = text::body(&text, &header, &mut warnings);
    let collected = match format {
        Format::NcuDetailsCsv => details::collect(&body, &header, &mut warnings),
        _ => raw::collect(&body, &header, &mut warnings),
    };
    if collected.launches.is_empty() {
        return Err(ProfileError::NoKernel { lines: error::quoted_lines(&text) });
    }
    let mark = collected.votes.decide(header.delimiter);
    let kernels = collected.launches.into_iter().map(|launch| assemble::kernel(launch, mark)).collect();
    Ok(Profile { format, kernels, warnings: warnings.finish() })
}

/// The page that a header belongs to: details has a column of metric names, raw has metrics as columns.
fn page_of(columns: &[String]) -> Option<Format> {
    let has = |name: &str| columns.iter().any(|c| c == name);
    if !has("ID") || !has("Kernel Name") {
        None
    } else if has("Metric Name") && has("Metric Value") {
        Some(Format::NcuDetailsCsv)
    } else if columns.iter().any(|c| c.contains("__")) {
        Some(Format::NcuRawCsv)
    } else {
        None
    }
}
