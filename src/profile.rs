//! Kernels observed by other tools: reads Nsight Compute's CSV (details page and raw page) and its text, bytes in, values
//! out.
//!
//! The path through the files: `text` decodes and finds the table, `details`, `raw` and `ncu_text` collect each launch's
//! metrics as written, `fields` says which metric means what, `assemble` turns them into an [`ObservedKernel`].
//! Columns and metrics are addressed by name, since both differ from version to version; what a file lacks is `None`.

mod advice;
mod assemble;
mod change;
pub mod compiler;
mod details;
mod device;
mod elsewhere;
mod error;
mod fields;
mod intervals;
mod judge;
mod kind;
mod kineto;
mod launch;
mod likely;
mod lines;
mod name;
mod ncu_text;
mod notation;
mod nsys;
mod nvprof;
mod observed;
mod pair;
mod plausible;
mod raw;
mod rocprof;
mod rows;
mod tensor;
mod text;
mod trace;
mod unit;
mod what_if;

use std::io::BufRead;

pub use advice::Advice;
pub use compiler::{CompiledKernel, CompilerReport, detect_compiler, read_compiler};
pub use device::{Device, device};
pub use elsewhere::{Span, Work, elsewhere};
pub use error::ProfileError;
pub use judge::{Comparison, Judged, judge};
pub use kind::Kind;
pub(crate) use kineto::repaired_json;
pub use kineto::{KinetoFigures, kineto_figures};
pub use likely::likely_bound;
pub use name::{plain_name, short_name, telling_names};
#[cfg(feature = "sqlite")]
pub use nsys::read_sqlite;
pub use observed::{
    Measured, Metric, MetricKey, ObservedDevice, ObservedKernel, ObservedPipe, Rule, RuleKind, StallReason,
};
pub use pair::{Pair, Seen, circumstances, pair};
pub use text::binary;
pub(crate) use text::decode;
pub use trace::{Collector, DeviceTime, KernelGroup, LaunchRecord, LaunchShape, LaunchSummary, Trace, TransferGroup};
pub use what_if::{BAND, ChangeError, ChangedLaunch, LaunchChange, Obstacle, what_if};

/// Which format a file is in, told from its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Nsight Compute, `--csv --page details`: one row per metric.
    NcuDetailsCsv,
    /// Nsight Compute, `--csv --page raw`: one row per launch, a units row second.
    NcuRawCsv,
    /// Nsight Systems, tables of `nsys stats`.
    NsysTables,
    /// Nsight Systems, SQLite export.
    NsysSqlite,
    /// nvprof, `--csv`: trace, summary or metrics.
    Nvprof,
    /// rocprof, rocprofv2, rocprofv3 or rocprofiler-compute, CSV.
    Rocprof,
    /// Nsight Compute without `--csv`: sections with tables below each launch.
    NcuText,
    /// A trace of PyTorch's profiler (Kineto), JSON.
    Kineto,
}

impl Format {
    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::NcuDetailsCsv => "Nsight Compute, details page",
            Self::NcuRawCsv => "Nsight Compute, raw page",
            Self::NsysTables => "Nsight Systems, tables",
            Self::NsysSqlite => "Nsight Systems, SQLite export",
            Self::Nvprof => "nvprof",
            Self::Rocprof => "rocprof",
            Self::NcuText => "Nsight Compute, text",
            Self::Kineto => "trace of PyTorch's profiler",
        }
    }

    /// The tool that wrote it, for people.
    pub fn tool(self) -> &'static str {
        match self {
            Self::NsysTables | Self::NsysSqlite => "Nsight Systems",
            Self::Nvprof => "nvprof",
            Self::Rocprof => "rocprof",
            Self::NcuDetailsCsv | Self::NcuRawCsv | Self::NcuText => "Nsight Compute",
            Self::Kineto => "PyTorch's profiler",
        }
    }

    /// The word of reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::NsysTables | Self::NsysSqlite => "nsight-systems",
            Self::Nvprof => "nvprof",
            Self::Rocprof => "rocprof",
            Self::NcuDetailsCsv | Self::NcuRawCsv | Self::NcuText => "nsight-compute",
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

/// The format of a file, or `None` where it is not one that [`read`] takes. Looks at headers only.
pub fn detect(bytes: &[u8]) -> Option<Format> {
    let text = text::decode(bytes).ok().filter(|text| !text::returns_alone(text))?;
    match text::find_header(&text) {
        Some(header) => page_of(&header.columns),
        None => ncu_text::detect(&text).then_some(Format::NcuText),
    }
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
const READERS: [Reader; 5] = [
    Reader { format: Format::NsysSqlite, detect: nsys::is_export, read: nsys::read_export },
    Reader { format: Format::Nvprof, detect: nvprof::detect, read: nvprof::read },
    Reader { format: Format::Rocprof, detect: rocprof::detect, read: rocprof::read },
    Reader { format: Format::NsysTables, detect: nsys::detect, read: nsys::read },
    Reader { format: Format::Kineto, detect: kineto::detect, read: kineto::read },
];

/// So many bytes of a file tell its kind.
pub const HEAD: usize = 1 << 16;

/// The kind of trace that a file with this beginning is; absent where it is none.
pub fn detect_trace(head: &[u8]) -> Option<Format> {
    let text = match head.starts_with(nsys::EXPORT.as_bytes()) {
        true => nsys::EXPORT.into(),
        false => text::decode(head).ok()?,
    };
    // In JSON they are white space.
    if text::returns_alone(&text) && !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
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
/// When the file is empty, binary, not of Nsight Compute, lacks required columns, or holds no kernel.
pub fn read(bytes: &[u8]) -> Result<Profile, ProfileError> {
    let text = text::decode(bytes)?;
    if text::returns_alone(&text) {
        return Err(ProfileError::LineEnds);
    }
    let mut warnings = text::Warnings::default();
    let (format, delimiter, collected) = match text::find_header(&text) {
        Some(header) => {
            let Some(format) = page_of(&header.columns) else {
                return Err(error::not_a_page(&header));
            };
            warnings.tool_lines(text.get(..header.start).unwrap_or_default());
            let body = text::body(&text, &header, &mut warnings);
            let collected = match format {
                Format::NcuRawCsv => raw::collect(&body, &header, &mut warnings),
                _ => details::collect(&body, &header, &mut warnings),
            };
            (format, header.delimiter, collected)
        }
        None if ncu_text::detect(&text) => (Format::NcuText, b' ', ncu_text::collect(&text, &mut warnings)),
        None => return Err(error::no_table(&text)),
    };
    if collected.launches.is_empty() {
        return Err(ProfileError::NoKernel { lines: error::quoted_lines(&text) });
    }
    let mark = collected.votes.decide(delimiter);
    let mut implausible = plausible::Implausible::default();
    let kernels =
        collected.launches.into_iter().map(|launch| assemble::kernel(launch, mark, &mut implausible)).collect();
    implausible.warning().into_iter().for_each(|warning| warnings.push(|| warning));
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
