//! What can be wrong with a profiler file as a whole, with the cure.

use super::text::Header;
use crate::units::counted;

/// Why a profiler file gives no kernels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// Nothing but white space.
    #[error(
        "the file is empty (0 rows); profile again, for example `ncu --csv --page details --log-file out.csv PROGRAM`"
    )]
    Empty,
    /// An Nsight Compute report as the tool stores it.
    #[error(
        "this is a binary Nsight Compute report (it starts with `NVR`); write it as text with \
         `ncu --import FILE --csv --page details > FILE.csv`"
    )]
    NcuReport,
    /// Some other binary file.
    #[error("this is a binary file ({what}), not text; read are {READ}")]
    Binary {
        /// What it looks like.
        what: &'static str,
    },
    /// Text output in which no line names a launch.
    #[error(
        "this is Nsight Compute's text output (line {line}: \"{quote}\"), but no line names a launch, such as \
         \"kernel(float *) (64, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\": give the whole output, or \
         `ncu --import FILE --csv --page details`"
    )]
    NcuText {
        /// Line of the first section title, from 1.
        line: usize,
        /// That line.
        quote: String,
    },
    /// Lines that end as on computers of the last century.
    #[error(
        "the lines of the file end with a carriage return alone (\\r), which is not read as a line end: write them anew, \
         for example `tr '\\r' '\\n' < FILE > NEW`"
    )]
    LineEnds,
    /// Text without any Nsight Compute table.
    #[error(
        "nothing that is known was found (the file begins \"{begins}\"): a table of Nsight Compute has the columns \"ID\" and \
         \"Kernel Name\" in a line; read are {READ}; from a report: `ncu --import FILE --csv --page details`"
    )]
    NotNcu {
        /// The first line with content, shortened.
        begins: String,
    },
    /// A table of Nsight Compute that is neither the details nor the raw page.
    #[error(
        "the table in line {line} lacks the column{} {}; its columns are {columns}; write the file with \
         `ncu --import FILE --csv --page details` or `--page raw`, without --print-summary",
        if missing.len() == 1 { "" } else { "s" },
        missing.iter().map(|m| format!("\"{m}\"")).collect::<Vec<_>>().join(", ")
    )]
    MissingColumns {
        /// Line of the header, from 1.
        line: usize,
        /// The required columns that it lacks.
        missing: Vec<&'static str>,
        /// The first columns that it has.
        columns: String,
    },
    /// A trace in which no kernel ran.
    #[error("the file ({}) has 0 kernel launches: check that the GPU was traced and that the program launches a kernel", .format.label())]
    NoLaunch {
        /// The format of the file.
        format: super::Format,
    },
    /// A trace whose rows are all damaged.
    #[error("none of {} can be used: {first}", counted(*.rows as u64, "row"))]
    NoUsableRow {
        /// Rows that were skipped.
        rows: usize,
        /// Why the first one was.
        first: String,
    },
    /// A table that describes a device and holds no launch.
    #[error(
        "this describes a device ({what}) and has 0 kernel launches: give the table of launches beside it, pmc_perf.csv"
    )]
    DeviceAlone {
        /// What it says of the device.
        what: String,
    },
    /// An SQLite database that cannot be used.
    #[error("this is an SQLite database that gives no launches: {message}")]
    Sqlite {
        /// Why, and what to do.
        message: String,
    },
    /// Text without a line of a compiler.
    #[error(
        "no compiler report found (the file begins \"{begins}\"); read are `nvcc --resource-usage` or `ptxas -v`, \
         `cuobjdump --dump-resource-usage`, and AMD's remarks of `-Rpass-analysis=kernel-resource-usage`"
    )]
    NotCompiler {
        /// The first line with content, shortened.
        begins: String,
    },
    /// Lines of a compiler that state the registers of no kernel.
    #[error(
        "the compiler report (line {line}: \"{quote}\") has 0 kernels with their registers: give the whole output of \
         `nvcc --resource-usage`, `cuobjdump --dump-resource-usage` of a file that holds more than PTX, or \
         `-Rpass-analysis=kernel-resource-usage`"
    )]
    NoResources {
        /// The compiler's first line, from 1.
        line: usize,
        /// That line.
        quote: String,
    },
    /// A file that broke off while it was read.
    #[error("the file cannot be read on after {bytes} bytes: {message}")]
    Stream {
        /// Bytes read before.
        bytes: u64,
        /// What went wrong.
        message: String,
    },
    /// The tool's output with 0 profiled launches.
    #[error(
        "the file has 0 kernels: the profiler recorded no launch{}; check that the program launches a kernel and that \
         filters (--kernel-name, --launch-skip, --launch-count) leave one",
        if lines.is_empty() { String::new() } else { format!(" and says: {}", lines.join(" / ")) }
    )]
    NoKernel {
        /// `==ERROR==` and `==WARNING==` lines found in the file.
        lines: Vec<String>,
    },
}

const READ: &str = "Nsight Compute's CSV (details page and raw page) and its text, traces of Nsight Systems (`nsys stats`, SQLite), \
                    PyTorch (JSON), nvprof and rocprof (CSV), compiler reports, measured ceilings, and scenarios (.toml)";

/// At most this many lines of the tool are quoted in an error.
const QUOTED: usize = 5;

/// The tool's own error and warning lines, the first few.
pub(super) fn quoted_lines(text: &str) -> Vec<String> {
    let is_message = |line: &&str| line.starts_with("==ERROR==") || line.starts_with("==WARNING==");
    text.lines().filter(is_message).take(QUOTED).map(|line| shorten(line.trim_end(), 200)).collect()
}

/// The error for text in which no header was found.
pub(super) fn no_table(text: &str) -> ProfileError {
    let mut first = None;
    let mut of_the_tool = false;
    for (index, line) in text.lines().enumerate() {
        let content = line.trim();
        of_the_tool |= ["==PROF==", "==ERROR==", "==WARNING=="].iter().any(|mark| content.starts_with(mark));
        if content.starts_with("Section: ") {
            return ProfileError::NcuText { line: index + 1, quote: shorten(content, 80) };
        }
        if first.is_none() && !content.is_empty() {
            first = Some(shorten(content, 80));
        }
    }
    match first {
        None => ProfileError::Empty,
        Some(_) if of_the_tool => ProfileError::NoKernel { lines: quoted_lines(text) },
        Some(begins) => ProfileError::NotNcu { begins },
    }
}

/// The error for a compiler report without a kernel; `first` is the compiler's first line.
pub(super) fn no_resources(text: &str, first: Option<(usize, &str)>) -> ProfileError {
    match first {
        Some((line, said)) => ProfileError::NoResources { line, quote: shorten(said.trim(), 80) },
        None => {
            let begins = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
            ProfileError::NotCompiler { begins: shorten(begins, 80) }
        }
    }
}

/// The error for a header that is neither page.
pub(super) fn not_a_page(header: &Header) -> ProfileError {
    let has = |name: &str| header.columns.iter().any(|c| c == name);
    let missing: Vec<&'static str> =
        ["ID", "Kernel Name", "Metric Name", "Metric Value"].into_iter().filter(|name| !has(name)).collect();
    let columns = header.columns.iter().take(12).map(String::as_str).collect::<Vec<_>>().join(", ");
    ProfileError::MissingColumns { line: header.line, missing, columns: shorten(&columns, 200) }
}

/// At most `limit` characters, with an ellipsis where something was cut.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_string(),
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
    }
}
