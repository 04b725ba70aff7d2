//! What an answer is counted in, and how the text of an answer is read.

use serde::Deserialize;

use crate::units::{Bytes, BytesPerSecond, Flops, FlopsPerByte, FlopsPerSecond, Seconds, significant};

/// What a number is counted in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum Unit {
    /// A share of something: 0.375 is 37.5 %.
    Share,
    /// A factor: 2 is "2x".
    Times,
    /// Time in seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Operations.
    Flops,
    /// Operations per second.
    FlopsPerSecond,
    /// Operations per byte.
    FlopsPerByte,
    /// A number of things, by their name: `blocks`.
    Count(String),
}

impl From<String> for Unit {
    fn from(text: String) -> Self {
        match text.trim() {
            "%" => Self::Share,
            "x" => Self::Times,
            "s" => Self::Seconds,
            "B" => Self::Bytes,
            "B/s" => Self::BytesPerSecond,
            "FLOP" => Self::Flops,
            "FLOP/s" => Self::FlopsPerSecond,
            "FLOP/B" => Self::FlopsPerByte,
            other => Self::Count(other.into()),
        }
    }
}

/// Most characters of an answer.
const LONGEST: usize = 60;

/// An answer that is no number in the unit asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer `{answer}` cannot be read: {problem}")]
pub struct AnswerError {
    /// As given, its beginning where it is long.
    pub answer: String,
    /// What is wrong and what would be right.
    pub problem: String,
}

impl Unit {
    /// Reads an answer, in base units: seconds, bytes, a share as 0 to 1.
    ///
    /// A share may be written `37.5 %` or `0.375`: without the sign a number up to 1 is the share itself, one above it is percent.
    /// Units are those of [`crate::units`]. A comma is refused, because it is read as a point in one country and as nothing in another.
    ///
    /// # Errors
    /// Names the answer, what is wrong and how to write it.
    pub fn read(&self, answer: &str) -> Result<f64, AnswerError> {
        let fail = |problem: String| AnswerError { answer: answer.to_owned(), problem };
        let text = answer.trim();
        if let Some((end, _)) = text.char_indices().nth(LONGEST) {
            let problem = format!("it has more than {LONGEST} characters{}", self.like());
            return Err(AnswerError { answer: format!("{}...", &text[..end]), problem });
        }
        if text.contains(',') {
            return Err(fail("a comma is read in two ways; write 1234 or 1.234".into()));
        }
        let value = match self {
            Self::Seconds => text.parse::<Seconds>().map(Seconds::get),
            Self::Bytes => text.parse::<Bytes>().map(Bytes::get),
            Self::BytesPerSecond => text.parse::<BytesPerSecond>().map(BytesPerSecond::get),
            Self::Flops => text.parse::<Flops>().map(Flops::get),
            Self::FlopsPerSecond => text.parse::<FlopsPerSecond>().map(FlopsPerSecond::get),
            // It has one unit, which may be left out.
            Self::FlopsPerByte if !text.ends_with(char::is_alphabetic) => {
                return self.plain(text, &[]).map_err(fail);
            }
            Self::FlopsPerByte => text.parse::<FlopsPerByte>().map(FlopsPerByte::get),
            Self::Share => {
                let value = self.plain(text, &["%", "percent"]).map_err(fail)?;
                let percent = text.ends_with(['%', 't']) || value > 1.0;
                return Ok(if percent { value / 100.0 } else { value });
            }
            Self::Times => return self.plain(text, &["x", "times"]).map_err(fail),
            Self::Count(noun) => {
                return self.plain(text, &[noun, noun.strip_suffix('s').unwrap_or(noun)]).map_err(fail);
            }
        };
        value.map_err(|error| fail(error.to_string()))
    }

    /// A number with one of `words` behind it, or none.
    fn plain(&self, text: &str, words: &[&str]) -> Result<f64, String> {
        let number = |part: &str| part.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
        let end = text.find(|c: char| c.is_whitespace() || !number(c.encode_utf8(&mut [0; 4]))).unwrap_or(text.len());
        // The e of "elements" is no exponent.
        let (digits, unit) = text.split_at(text[..end].trim_end_matches(['e', 'E']).len());
        let unit = unit.trim();
        let like = || self.like();
        let Ok(value) = digits.parse::<f64>() else {
            let problem = if digits.is_empty() { "it does not start with a number" } else { "it is no number" };
            return Err(format!("{problem}{}", like()));
        };
        if !unit.is_empty() && !words.contains(&unit) {
            return Err(format!("unknown unit `{unit}`{}", like()));
        }
        match value {
            v if !v.is_finite() => Err(format!("it is too large{}", like())),
            v if v < 0.0 => Err(format!("it is negative{}", like())),
            v => Ok(v),
        }
    }

    /// How it is written: `a share like "7.3 %" or 0.073`.
    pub(super) fn how(&self) -> String {
        format!("{} like {}", self.what(), self.example())
    }

    fn like(&self) -> String {
        format!("; write {}", self.how())
    }

    /// What is wanted, in words.
    pub fn what(&self) -> String {
        match self {
            Self::Share => "a share".into(),
            Self::Times => "a factor".into(),
            Self::Seconds => "a time".into(),
            Self::Bytes => "a size".into(),
            Self::BytesPerSecond => "a bandwidth".into(),
            Self::Flops => "operations".into(),
            Self::FlopsPerSecond => "an operation rate".into(),
            Self::FlopsPerByte => "an intensity".into(),
            Self::Count(noun) => format!("a number of {noun}"),
        }
    }

    /// How to write it; a test sees to it that the number is no answer of a lab.
    pub fn example(&self) -> String {
        match self {
            Self::Share => "\"7.3 %\" or 0.073".into(),
            Self::Times => "\"73x\" or 73".into(),
            Self::Seconds => "\"7.3 us\"".into(),
            Self::Bytes => "\"7.3 GB\" or \"73 KiB\"".into(),
            Self::BytesPerSecond => "\"7.3 TB/s\"".into(),
            Self::Flops => "\"7.3 GFLOP\"".into(),
            Self::FlopsPerSecond => "\"7.3 TFLOP/s\"".into(),
            Self::FlopsPerByte => "\"7.3 FLOP/B\" or 7.3".into(),
            Self::Count(noun) => format!("\"73 {noun}\" or 73"),
        }
    }

    /// A value for people: whole numbers in full, others with 4 significant digits, with the unit.
    pub fn print(&self, value: f64) -> String {
        match self {
            Self::Share => format!("{} %", number(100.0 * value)),
            Self::Times => format!("{}x", number(value)),
            Self::Seconds => Seconds(value).to_string(),
            Self::Bytes => Bytes(value).to_string(),
            Self::BytesPerSecond => BytesPerSecond(value).to_string(),
            Self::Flops => Flops(value).to_string(),
            Self::FlopsPerSecond => FlopsPerSecond(value).to_string(),
            Self::FlopsPerByte => FlopsPerByte(value).to_string(),
            Self::Count(noun) if value == 1.0 => format!("1 {}", noun.strip_suffix('s').unwrap_or(noun)),
            Self::Count(noun) => format!("{} {noun}", number(value)),
        }
    }
}

/// A number for people: whole ones in full, others with 4 significant digits.
pub(super) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { significant(value, 4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_as_people_write_them() {
        let unit = |text: &str| Unit::from(text.to_owned());
        let right = [
            ("%", "37.5 %", 0.375),
            ("%", "37.5%", 0.375),
            ("%", "37.5 percent", 0.375),
            ("%", "37.5", 0.375),
            ("%", " 0.375 ", 0.375),
            ("%", "0.5 %", 0.005),
            ("%", "1", 1.0),
            ("x", "2", 2.0),
            ("x", "2x", 2.0),
            ("x", "2 times", 2.0),
            ("s", "2 ms", 2e-3),
            ("B/s", "1.80 TB/s", 1.8e12),
            ("B", "112 GB", 112e9),
            ("FLOP/B", "295", 295.0),
            ("FLOP/B", "295 FLOP/B", 295.0),
            ("blocks", "238", 238.0),
            ("blocks", "238 blocks", 238.0),
            ("blocks", "1 block", 1.0),
            ("elements", "5 elements", 5.0),
            ("blocks", "2.38e2", 238.0),
        ];
        for (of, text, value) in right {
            let read = unit(of).read(text).unwrap_or_else(|e| panic!("{e}"));
            assert!((read - value).abs() <= 1e-12 * value, "{text}: {read}");
        }
        let wrong = [
            ("%", "a third", "start with a number"),
            ("%", "37.5 ms", "unknown unit `ms`"),
            ("%", "", "start with a number"),
            ("s", "2", "the unit is missing"),
            ("s", "2 GB", "unknown unit"),
            ("x", "nan", "start with a number"),
            ("x", "1e999", "too large"),
            ("x", "-2", "negative"),
            ("blocks", "1,234", "a comma is read in two ways"),
            ("blocks", "12 rows", "write a number of blocks like"),
            ("B", "4 KB", "kB or KiB?"),
            ("FLOP/B", "3 FLOP", "FLOP/B"),
            ("x", "1.2.3", "no number"),
        ];
        for (of, text, says) in wrong {
            let error = unit(of).read(text).expect_err(text).to_string();
            assert!(error.contains(says) && error.contains(&format!("`{text}`")), "{error}");
        }
    }

    #[test]
    fn numbers_keep_what_matters() {
        assert_eq!(number(65536.0), "65536");
        assert_eq!(Unit::Share.print(0.84848), "84.85 %");
        assert_eq!(Unit::Seconds.print(2.149e-4), "214.9 us");
        assert_eq!(Unit::Count("blocks".into()).print(238.0), "238 blocks");
    }
}
