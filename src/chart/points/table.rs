//! A table of points: its columns by name, its rows as text.

use super::PointsError;
use super::column::Column;
use super::parts::shortened;
use crate::chart::Caption;
use crate::units::{counted, grouped};

/// A table of points, each row as long as the header.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    file: String,
    header: Vec<String>,
    rows: Vec<(u64, Vec<String>)>,
    /// What `only` kept, for the caption.
    kept: Vec<String>,
}

/// Columns that follow from the others: never what was varied.
const RESULTS: [&str; 24] = [
    "point",
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
    "tail_cost_pct",
    "occupancy_pct",
    "limiters",
    "tflop_per_s",
    "percent_of_roof",
    "usd_per_million",
    "gpu_name",
    "calibration",
    "error",
];
/// Fixed columns that a caption names, and GPUs.
const MOST_FIXED: usize = 12;
const MOST_GPUS: usize = 4;

impl Points {
    /// Reads a table as CSV in UTF-8 with a header; `file` is its name in messages.
    ///
    /// # Errors
    /// No header or no row, text that is not UTF-8, a row that is not as long as the header.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Self, PointsError> {
        let file = file.to_owned();
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let (mut line, mut seen) = (1, 0);
        let mut reader = csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(bytes);
        let mut records = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|e| PointsError::Form { file: file.clone(), problem: problem(&e) })?;
            // The reader's own count is one short behind CR LF.
            let start = record.position().map_or(seen, |at| at.byte() as usize);
            let start = start + bytes[start..].iter().take_while(|b| b"\r\n".contains(b)).count();
            line += ends(&bytes[seen..start]);
            seen = start;
            records.push((line, record.iter().map(str::to_owned).collect::<Vec<_>>()));
        }
        let mut records = records.into_iter();
        let Some((_, header)) = records.next() else { return Err(PointsError::Empty { file, what: "it is empty" }) };
        let rows: Vec<_> = records.collect();
        if rows.is_empty() {
            return Err(PointsError::Empty { file, what: "it has no row below the header" });
        }
        Ok(Self { file, header, rows, kept: Vec::new() })
    }

    /// The rows whose `column` is one of `values`, as text or as the same number or quantity.
    ///
    /// # Errors
    /// No such column, or a value that no row has.
    pub fn only(mut self, column: &str, values: &[String]) -> Result<Self, PointsError> {
        let found = self.column(column)?;
        let mut wanted = Vec::new();
        for value in values {
            let Some(level) = found.level(value) else {
                let some: Vec<String> = found.levels.iter().take(12).map(|l| shortened(&l.text, 60)).collect();
                let more = if found.levels.len() > some.len() { ", ..." } else { "" };
                return Err(PointsError::Asked(format!(
                    "`{}`: no row has {column} = `{}`; it has {}{more}",
                    self.file,
                    shortened(value, 60),
                    some.join(", ")
                )));
            };
            wanted.push(level);
        }
        let keep: Vec<bool> = found.of_row.iter().map(|l| l.is_some_and(|l| wanted.contains(&l))).collect();
        let mut keep = keep.into_iter();
        self.rows.retain(|_| keep.next().unwrap_or(false));
        if values.len() > 1 {
            self.kept.push(format!("only {column} = {}", values.join(", ")));
        }
        Ok(self)
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    pub(super) fn line(&self, row: usize) -> u64 {
        self.rows[row].0
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|h| h == name)
    }

    /// Whether there is a column of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    /// The cells of a column that may be absent, from the first row on; empty texts where it is.
    pub(super) fn texts<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let place = self.place(name);
        self.rows.iter().map(move |(_, cells)| place.map_or("", |place| cells[place].as_str()))
    }

    /// A column by its name.
    ///
    /// # Errors
    /// None or two of that name.
    pub(super) fn column(&self, name: &str) -> Result<Column, PointsError> {
        let Some(first) = self.place(name) else {
            let alike = |known: &&String| strsim::jaro_winkler(&name.to_lowercase(), &known.to_lowercase());
            let near = self.header.iter().max_by(|a, b| alike(a).total_cmp(&alike(b))).filter(|n| alike(n) > 0.8);
            let instead = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    let some: Vec<String> = self.header.iter().take(30).map(|name| shortened(name, 30)).collect();
                    let more = if self.header.len() > some.len() { ", ..." } else { "" };
                    format!("it has {}{more}", some.join(", "))
                }
            };
            return Err(PointsError::Absent { file: self.file.clone(), column: shortened(name, 100), instead });
        };
        if let Some(second) = self.header.iter().skip(first + 1).position(|h| h == name) {
            let (first, second) = (first + 1, first + second + 2);
            return Err(PointsError::Twice { file: self.file.clone(), column: name.into(), first, second });
        }
        Ok(Column::new(name, self.texts(name)))
    }

    /// Names of the columns that were varied: more than one value, no result, none of `besides`.
    pub(super) fn varied(&self, besides: &[&str]) -> Vec<String> {
        let axis = |name: &&String| {
            let mut texts = self.texts(name);
            let first = texts.next();
            !RESULTS.contains(&name.as_str()) && !besides.contains(&name.as_str()) && texts.any(|t| Some(t) != first)
        };
        self.header.iter().filter(axis).cloned().collect()
    }

    /// The first reason in the table why a point has no result, with its line.
    pub(super) fn reason(&self) -> Option<String> {
        let (error, row) = self.texts("error").zip(0..).find(|(e, _)| !e.is_empty())?;
        Some(format!("line {}: {}", self.line(row), shortened(error, 200)))
    }

    /// "3 points without K, the first for: ...".
    pub(super) fn failed(&self, count: u64, column: &str, then: &str) -> String {
        let why = self.reason().map_or(String::new(), |reason| format!(" ({reason})"));
        format!("{} without {}{then}{why}", counted(count, "point"), super::column::short(column))
    }

    /// No row has all of these columns.
    pub(super) fn nothing(&self, what: String) -> PointsError {
        let why = self.reason().unwrap_or_else(|| "fill their cells, or name other columns".into());
        PointsError::Nothing { file: self.file.clone(), what, why }
    }

    /// Words around a chart: the GPUs, what was kept, what is fixed.
    pub(super) fn caption(&self, title: String) -> Caption {
        let mut assumptions = self.kept.clone();
        let mut fixed = Vec::new();
        let varied = |name: &str| {
            let mut texts = self.texts(name);
            let first = texts.next();
            texts.any(|t| Some(t) != first)
        };
        let named = if self.has("gpu_name") { "gpu_name" } else { "gpu" };
        for name in self.header.iter().filter(|h| !RESULTS.contains(&h.as_str()) && h.as_str() != "gpu") {
            let value = self.texts(name).next().unwrap_or_default();
            if !value.is_empty() && !varied(name) {
                fixed.push(format!("{} = {}", super::column::short(name), amount(value)));
            }
        }
        if fixed.len() > MOST_FIXED {
            let more = counted((fixed.len() - MOST_FIXED) as u64, "other column");
            fixed.truncate(MOST_FIXED);
            fixed.push(format!("{more} with one value"));
        }
        assumptions.extend(fixed);
        let calibration = self.texts("calibration").next().unwrap_or_default();
        if !calibration.is_empty() && !varied("calibration") {
            assumptions.push(format!("calibration: {}", shortened(calibration, 120)));
        }
        let gpus = Column::new(named, self.texts(named));
        let mut shown: Vec<String> = gpus.levels.iter().take(MOST_GPUS).map(|l| shortened(&l.text, 60)).collect();
        if gpus.levels.len() > MOST_GPUS {
            shown.push(format!("and {} more", grouped((gpus.levels.len() - MOST_GPUS) as u64)));
        }
        Caption { title, gpu: shown.join(", "), assumptions, version: env!("CARGO_PKG_VERSION").into() }
    }
}

/// How many lines end here, by LF, CR LF or CR.
fn ends(bytes: &[u8]) -> u64 {
    let end = |index: &usize| match bytes[*index] {
        b'\r' => bytes.get(index + 1) != Some(&b'\n'),
        byte => byte == b'\n',
    };
    (0..bytes.len()).filter(end).count() as u64
}

/// A cell for people: whole numbers with commas, long texts shortened.
pub(super) fn amount(text: &str) -> String {
    match text.parse::<u64>() {
        Ok(whole) => grouped(whole),
        Err(_) => shortened(text, 60),
    }
}

/// What is wrong with the text, with its line.
fn problem(error: &csv::Error) -> String {
    let line = error.position().map_or(String::new(), |at| format!("line {}: ", at.line()));
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => format!(
            "{line}{} below a header of {expected_len}; quote cells that hold commas, and end no row early",
            counted(*len, "cell")
        ),
        csv::ErrorKind::Utf8 { .. } => format!("{line}not UTF-8 text; save the table as UTF-8"),
        other => format!("{line}no CSV: {other:?}"),
    }
}
