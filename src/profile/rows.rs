//! Tables of text that are read line by line: fields of a row, and what every reader of them does with bad rows.

use std::io::BufRead;

use super::{
    Collector,
    error::{ProfileError, shorten},
    lines::{Line, Lines},
    notation::{DecimalMark, Number, number},
    observed::{Measured, ObservedDevice},
    text::Warnings,
    unit::{Dimension, unit},
};
use crate::units::{Bytes, Seconds};

/// Delimiters that a header is tried with.
pub(super) const DELIMITERS: [u8; 3] = [b',', b'\t', b';'];

/// Takes lines one by one.
pub(super) trait LineReader {
    /// One line.
    fn line(&mut self, line: &Line<'_>, collector: &mut Collector, log: &mut Log);

    /// After the last one.
    ///
    /// # Errors
    /// The file as a whole says why it gives no launch.
    fn end(&mut self, _collector: &mut Collector, _log: &mut Log) -> Result<(), ProfileError> {
        Ok(())
    }
}

/// What was skipped or odd.
#[derive(Default)]
pub(super) struct Log {
    warnings: Warnings,
    skipped: usize,
    first: Option<String>,
}

impl Log {
    /// A row that cannot be used.
    pub fn skip(&mut self, line: &Line<'_>, reason: &str) {
        let cut = if line.last { ", and the file ends there" } else { "" };
        let warning = format!("line {}: row skipped: {reason}{cut}", line.number);
        self.skipped += 1;
        if self.first.is_none() {
            self.first = Some(warning.clone());
        }
        self.warnings.push(|| warning);
    }

    /// Anything else.
    pub fn note(&mut self, note: impl FnOnce() -> String) {
        self.warnings.push(note);
    }
}

/// Gives every line of a file to a reader.
///
/// # Errors
/// The stream breaks off before a launch was read, or no row could be used.
pub(super) fn each_line(
    input: &mut dyn BufRead,
    collector: &mut Collector,
    reader: &mut dyn LineReader,
) -> Result<(), ProfileError> {
    let mut lines = Lines::new(input)?;
    let mut log = Log::default();
    let broken = loop {
        match lines.next() {
            Ok(Some(line)) => reader.line(&line, collector, &mut log),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    let ended = reader.end(collector, &mut log);
    if collector.launches() == 0 {
        if let Some(error) = broken {
            return Err(error);
        }
        ended?;
        if let Some(first) = log.first {
            return Err(ProfileError::NoUsableRow { rows: log.skipped, first });
        }
    }
    if let Some(error) = broken {
        log.note(|| format!("{error}; what was read until then counts"));
    }
    collector.warnings.extend(log.warnings.finish());
    Ok(())
}

/// Splits lines of CSV into fields.
pub(super) struct Splitter {
    core: csv_core::Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
}

/// The fields of a row.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    text: &'a str,
    ends: &'a [usize],
}

impl Splitter {
    /// For one delimiter.
    pub fn new(delimiter: u8) -> Self {
        let core =
            csv_core::ReaderBuilder::new().delimiter(delimiter).terminator(csv_core::Terminator::Any(b'\n')).build();
        Self { core, text: vec![0; 1024], ends: vec![0; 64] }
    }

    /// The fields of a line; `None` where a quote opens and does not close, or nothing is there.
    pub fn split(&mut self, line: &str) -> Option<Fields<'_>> {
        self.core.reset();
        let (mut written, mut fields) = (0, 0);
        let mut whole = false;
        for mut input in [line.as_bytes(), b"\n"] {
            loop {
                let (result, read, out, ends) =
                    self.core.read_record(input, &mut self.text[written..], &mut self.ends[fields..]);
                input = &input[read..];
                written += out;
                fields += ends;
                match result {
                    csv_core::ReadRecordResult::OutputFull => self.text.resize(2 * self.text.len(), 0),
                    csv_core::ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                    csv_core::ReadRecordResult::Record => {
                        whole = true;
                        break;
                    }
                    csv_core::ReadRecordResult::InputEmpty | csv_core::ReadRecordResult::End => break,
                }
            }
        }
        let text = std::str::from_utf8(self.text.get(..written)?).ok().filter(|_| whole)?;
        Some(Fields { text, ends: self.ends.get(..fields)? })
    }
}

impl<'a> Fields<'a> {
    /// How many.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// One of them, trimmed; empty where the row is too short.
    pub fn get(&self, place: usize) -> &'a str {
        let Some(end) = self.ends.get(place) else { return "" };
        let start = place.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.text.get(start..*end).unwrap_or_default().trim()
    }

    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = &'a str> {
        (0..self.len()).map(move |place| self.get(place))
    }
}

/// A longer time is none: 30 million years.
const LONGEST_TIME: f64 = 1e15;

/// A time in units of `10^exponent` seconds.
pub(super) fn seconds(text: &str, exponent: i32, mark: DecimalMark) -> Option<Seconds> {
    // Most traces have whole nanoseconds.
    let value = match (exponent, text.parse::<u64>()) {
        (-9, Ok(whole)) => whole as f64 / 1e9,
        _ => number(text, mark, exponent)?.value,
    };
    (0.0..LONGEST_TIME).contains(&value).then_some(Seconds(value))
}

/// The power of ten of a unit of time; `None` for any other unit.
pub(super) fn time_unit(text: &str) -> Option<i32> {
    match unit(text) {
        (Dimension::Seconds, exponent) => Some(exponent),
        _ => None,
    }
}

/// A size printed in units of `scale` bytes, and how far rounding may have moved it. A bare 0 is exact, and so are
/// digits that leave less than a byte or so open.
pub(super) fn size(text: &str, scale: f64, mark: DecimalMark) -> Option<Measured<Bytes>> {
    let Number { value, decimals } = number(text, mark, 0)?;
    let half_width = if text == "0" { 0.0 } else { 0.5 * scale * libm::exp10(-f64::from(decimals)) };
    let bytes = value * scale;
    if !(0.0..1e18).contains(&bytes) || !half_width.is_finite() {
        return None;
    }
    Some(match half_width < 0.6 {
        true => Measured { value: Bytes(bytes.round()), half_width: Bytes::ZERO },
        false => Measured { value: Bytes(bytes), half_width: Bytes(half_width) },
    })
}

/// Three extents, where all are there and none is 0.
pub(super) fn extents(parts: [&str; 3]) -> Option<[u64; 3]> {
    let [Ok(x), Ok(y), Ok(z)] = parts.map(str::parse::<u64>) else { return None };
    [x, y, z].iter().all(|part| *part > 0).then_some([x, y, z])
}

/// A device as these tools write it, `NVIDIA A100 80GB PCIe (0)`: name and number.
pub(super) fn numbered(text: &str) -> Option<(&str, u32)> {
    let (name, rest) = text.rsplit_once(" (")?;
    Some((name, rest.strip_suffix(')')?.parse().ok()?))
}

/// Puts a device on the list once.
pub(super) fn name_device(collector: &mut Collector, index: u32, name: &str) {
    if collector.devices.iter().all(|(number, _)| *number != index) {
        let device = ObservedDevice { index: Some(index), name: Some(name.into()), ..ObservedDevice::default() };
        collector.devices.push((index, device));
    }
}

/// Bytes of a unit; `thousand` is what a K stands for, 1000 or 1024 by tool.
pub(super) fn byte_unit(text: &str, thousand: f64) -> Option<f64> {
    Some(match text {
        "B" | "bytes" => 1.0,
        "KB" | "kB" => thousand,
        "MB" => thousand * thousand,
        "GB" => thousand * thousand * thousand,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    })
}

/// Text of a file for a message.
pub(super) fn quote(text: &str) -> String {
    shorten(text.trim(), 60)
}
