//! Text to quantity: a number, an optional space, and one of the quantity's units.

use std::{fmt, marker::PhantomData, str::FromStr};

/// A text that is not the quantity it should be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{input}` is not {what}: {problem}; write it like \"{example}\"")]
pub struct UnitError {
    /// The text as given.
    pub input: String,
    /// The quantity wanted, in words.
    pub what: &'static str,
    /// What is wrong with the text.
    pub problem: String,
    /// A text that would have been right.
    pub example: &'static str,
}

pub(super) fn parse(
    text: &str,
    what: &'static str,
    example: &'static str,
    units: &'static [(&'static str, f64)],
) -> Result<f64, UnitError> {
    let fail = |problem: String| UnitError { input: text.to_owned(), what, problem, example };
    let trimmed = text.trim();
    let (digits, unit) = trimmed.split_at(number_length(trimmed));
    if digits.is_empty() {
        return Err(fail("it does not start with a number".into()));
    }
    let value: f64 = digits.parse().map_err(|_| fail(format!("`{digits}` is not a number")))?;
    let unit = unit.trim_start();
    if unit.is_empty() {
        return Err(fail("the unit is missing".into()));
    }
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        let ambiguous = unit.starts_with("KB") || unit.starts_with("Kb");
        let hint = if ambiguous { "kB or KiB? ".to_owned() } else { String::new() };
        let known: Vec<&str> = units.iter().map(|(name, _)| *name).filter(|n| n.is_ascii()).collect();
        return Err(fail(format!("unknown unit `{unit}`: {hint}(known: {})", known.join(", "))));
    };
    if value < 0.0 {
        return Err(fail("it is negative".into()));
    }
    let result = value * scale;
    if !result.is_finite() {
        return Err(fail("it is too large".into()));
    }
    Ok(result)
}

/// Bytes of `text` that form a decimal number (sign, digits, point, exponent).
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let start = end;
    while end < bytes.len() && (bytes[end].is_ascii_digit() || bytes[end] == b'.') {
        end += 1;
    }
    if end == start {
        return 0;
    }
    if end < bytes.len() && matches!(bytes[end], b'e' | b'E') {
        let mut exponent = end + 1;
        if matches!(bytes.get(exponent), Some(b'-' | b'+')) {
            exponent += 1;
        }
        let digits = exponent;
        while exponent < bytes.len() && bytes[exponent].is_ascii_digit() {
            exponent += 1;
        }
        if exponent > digits {
            end = exponent;
        }
    }
    end
}

pub(super) struct QuantityVisitor<T> {
    what: &'static str,
    example: &'static str,
    marker: PhantomData<T>,
}

impl<T> QuantityVisitor<T> {
    pub(super) fn new(what: &'static str, example: &'static str) -> Self {
        Self { what, example, marker: PhantomData }
    }
}

impl<T: FromStr<Err = UnitError>> serde::de::Visitor<'_> for QuantityVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with its unit, as a string like \"{}\"", self.what, self.example)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}
