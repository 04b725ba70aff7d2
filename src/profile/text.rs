//! From bytes to the lines of one table: encoding, preamble, delimiter, and rows among other output.

use std::borrow::Cow;

use super::error::{ProfileError, shorten};

/// The header of a table and where it stands.
pub(super) struct Header {
    /// Byte offset of the header line in the decoded text.
    pub start: usize,
    /// Byte offset just past the header line.
    pub end: usize,
    /// Line number, from 1.
    pub line: usize,
    /// The delimiter: comma, semicolon or tab.
    pub delimiter: u8,
    /// The column names, trimmed.
    pub columns: Vec<String>,
}

/// The rows below a header without the lines that are no rows.
pub(super) struct Body {
    /// CSV text.
    pub csv: String,
    /// The line number in the file of each line of `csv`.
    pub lines: Vec<usize>,
}

impl Body {
    /// The line number in the file of a CSV record.
    pub fn line_of(&self, record: &csv::StringRecord) -> usize {
        let own = record.position().map_or(1, |p| p.line());
        let index = usize::try_from(own.saturating_sub(1)).unwrap_or(usize::MAX);
        self.lines.get(index).or(self.lines.last()).copied().unwrap_or(1)
    }
}

/// Warnings in the order found, the first fifty in full.
#[derive(Default)]
pub(super) struct Warnings {
    list: Vec<String>,
    more: usize,
}

impl Warnings {
    /// Adds one.
    pub fn push(&mut self, warning: impl FnOnce() -> String) {
        if self.list.len() < 50 {
            self.list.push(warning());
        } else {
            self.more += 1;
        }
    }

    /// Adds the tool's own warnings and errors from text that starts at line 1.
    pub fn tool_lines(&mut self, text: &str) {
        for (index, line) in text.lines().enumerate() {
            self.tool_line(index + 1, line);
        }
    }

    /// Adds a line that is the tool's own warning or error.
    pub fn tool_line(&mut self, number: usize, line: &str) {
        if line.starts_with("==WARNING==") || line.starts_with("==ERROR==") {
            self.push(|| format!("line {number}: {}", shorten(line.trim_end(), 200)));
        }
    }

    /// The list, with a last line for those left out.
    pub fn finish(mut self) -> Vec<String> {
        if self.more > 0 {
            self.list.push(format!("and {} more warnings", self.more));
        }
        self.list
    }
}

/// The text of a file: UTF-8 (bad bytes replaced) or UTF-16 of either byte order, without byte order mark.
pub(crate) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, ProfileError> {
    if bytes.starts_with(b"NVR\0") {
        return Err(ProfileError::NcuReport);
    }
    let text = match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest),
        [0xff, 0xfe, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes)),
        _ => match wide(bytes) {
            Some(unit) => Cow::Owned(utf16(bytes, unit)),
            None => String::from_utf8_lossy(bytes),
        },
    };
    if let Some(what) = binary(bytes, &text) {
        return Err(ProfileError::Binary { what });
    }
    if text.trim().is_empty() {
        return Err(ProfileError::Empty);
    }
    Ok(text)
}

/// The byte order of UTF-16 without byte order mark, told from its beginning: every other byte is NUL, and what is left
/// are printable characters.
fn wide(bytes: &[u8]) -> Option<fn([u8; 2]) -> u16> {
    let head = bytes.get(..bytes.len().min(64) & !1)?;
    let all = |high: usize| {
        let pairs = head.chunks_exact(2);
        let text = |pair: &[u8]| {
            pair[high] == 0 && matches!(pair[1 - high], b'\t' | b'\n' | b'\r' | b' '..=b'~' | 0xa0..=0xff)
        };
        pairs.len() > 1 && pairs.clone().all(text)
    };
    if all(1) {
        Some(u16::from_le_bytes)
    } else if all(0) {
        Some(u16::from_be_bytes)
    } else {
        None
    }
}

/// Whether lines end with `\r` and none with `\n`; one that stands at the very end is no line end between lines.
pub(super) fn returns_alone(text: &str) -> bool {
    text.trim_end().contains('\r') && !text.contains('\n')
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// What a binary file looks like, with the text that it would be; `None` for text.
pub fn binary(bytes: &[u8], text: &str) -> Option<&'static str> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Some("gzip: unpack it first");
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return Some("a ZIP archive: unpack it first");
    }
    if bytes.starts_with(b"SQLite format 3\0") {
        return Some("an SQLite database");
    }
    text.chars().take(8192).any(|c| c == '\0').then_some("it has NUL bytes")
}

/// The first line that reads as the header of an Nsight Compute table.
pub(super) fn find_header(text: &str) -> Option<Header> {
    let mut from = 0;
    while let Some(hit) = text.get(from..)?.find("Kernel Name").map(|at| from + at) {
        let start = text[..hit].rfind('\n').map_or(0, |at| at + 1);
        let end = text[hit..].find('\n').map_or(text.len(), |at| hit + at + 1);
        let line = text[start..end].trim_end();
        for delimiter in [b',', b';', b'\t'] {
            let columns = columns(line, delimiter);
            if is_header(&columns) {
                let line = 1 + text[..start].bytes().filter(|&b| b == b'\n').count();
                return Some(Header { start, end, line, delimiter, columns });
            }
        }
        from = end;
    }
    None
}

/// The fields of one header line, trimmed.
fn columns(line: &str, delimiter: u8) -> Vec<String> {
    let mut reader = reader(line, delimiter);
    let mut record = csv::StringRecord::new();
    match reader.read_record(&mut record) {
        Ok(true) => record.iter().map(|field| field.trim().to_string()).collect(),
        _ => Vec::new(),
    }
}

/// Whether these are column names of an Nsight Compute table.
pub(super) fn is_header<S: AsRef<str>>(columns: &[S]) -> bool {
    let has = |name: &str| columns.iter().any(|c| c.as_ref() == name);
    has("Kernel Name") && (has("ID") || has("Process ID") || has("Metric Name"))
}

/// A CSV reader that leaves headers and ragged rows to its caller.
pub(super) fn reader(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes())
}

/// The rows below the header. Lines of the tool (`==...`) and of the application are left out; a row whose quotes
/// never close ends where the next row begins, so that one bad line costs one row.
pub(super) fn body(text: &str, header: &Header, warnings: &mut Warnings) -> Body {
    let rows = text.get(header.end..).unwrap_or_default();
    let mut body = Body { csv: String::with_capacity(rows.len()), lines: Vec::new() };
    let mut open: Option<(usize, usize)> = None;
    let mut strays = 0_usize;
    let mut first_stray = (0, "");
    for (index, line) in rows.split_inclusive('\n').enumerate() {
        let number = header.line + 1 + index;
        if let Some((length, lines)) = open {
            if !line.starts_with("==") && !starts_row(line, header.delimiter) {
                push(&mut body, line, number);
                if quotes_are_odd(line) {
                    open = None;
                }
                continue;
            }
            let broken = body.lines.get(lines).copied().unwrap_or(number);
            warnings.push(|| format!("line {broken}: row skipped: a quote opens and does not close"));
            body.csv.truncate(length);
            body.lines.truncate(lines);
            open = None;
        }
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with("==") {
            warnings.tool_line(number, line);
        } else if may_be_row(line, header.delimiter) {
            if quotes_are_odd(line) {
                open = Some((body.csv.len(), body.lines.len()));
            }
            push(&mut body, line, number);
        } else {
            if strays == 0 {
                first_stray = (number, line);
            }
            strays += 1;
        }
    }
    if let Some((length, lines)) = open {
        let broken = body.lines.get(lines).copied().unwrap_or(header.line);
        warnings.push(|| format!("line {broken}: row skipped: the file ends inside a quoted value"));
        body.csv.truncate(length);
        body.lines.truncate(lines);
    }
    if strays > 0 {
        let (number, line) = first_stray;
        let quote = shorten(line.trim(), 60);
        warnings.push(|| format!("line {number}: {strays} lines below the header are no rows, first \"{quote}\""));
    }
    body
}

/// Adds a line, CRLF as LF: after CRLF the CSV reader counts a record as beginning one line early.
fn push(body: &mut Body, line: &str, number: usize) {
    match line.strip_suffix("\r\n") {
        Some(content) => body.csv.extend([content, "\n"]),
        None => body.csv.push_str(line),
    }
    body.lines.push(number);
}

fn quotes_are_odd(line: &str) -> bool {
    line.bytes().filter(|&b| b == b'"').count() % 2 == 1
}

/// Whether a line can be a row: quoted, or beginning with an ID, an empty field or a repeated header.
fn may_be_row(line: &str, delimiter: u8) -> bool {
    let first = line.bytes().next().unwrap_or_default();
    first == b'"' || first == delimiter || first.is_ascii_digit() || line.starts_with("ID")
}

/// Whether a line surely begins a new row: an ID, quoted or not, and a delimiter.
fn starts_row(line: &str, delimiter: u8) -> bool {
    let rest = line.strip_prefix('"').unwrap_or(line);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = rest.as_bytes().get(digits..).unwrap_or_default();
    let after = if line.starts_with('"') { after.strip_prefix(b"\"").unwrap_or_default() } else { after };
    digits > 0 && after.first() == Some(&delimiter)
}
