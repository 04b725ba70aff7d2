//! Numbers with units as texts of values: what they are in base units, scaled, printed.

use toml::Value;

use crate::units::{Bytes, BytesPerSecond, Cycles, Flops, FlopsPerSecond, Hertz, Seconds, decimal, significant};

/// Whole numbers up to here are exact as floating point.
pub(super) const EXACT: f64 = 9_007_199_254_740_992.0;

/// A number with the unit behind it: `3.35 TB/s`. Absent where no number stands in front.
pub(super) fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+' | 'e' | 'E')).unwrap_or(text.len());
    // An exponent takes digits: of `3 EB` it would take the unit.
    let places = (0..=end).rev().find_map(|end| text.get(..end)?.parse::<f64>().ok().map(|n| (n, end)));
    let (number, end) = places.filter(|(number, _)| number.is_finite())?;
    Some((number, text[end..].trim()))
}

/// What one of a unit is in base units, and what the name of a column says of these.
pub(super) fn base(unit: &str) -> Option<(f64, &'static str)> {
    let one = format!("1 {unit}");
    let of = |value: Option<f64>, name| value.map(|v| (v, name));
    of((unit.is_empty()).then_some(1.0), "")
        .or_else(|| of(one.parse::<Bytes>().ok().map(Bytes::get), "_bytes"))
        .or_else(|| of(one.parse::<BytesPerSecond>().ok().map(BytesPerSecond::get), "_bytes_per_s"))
        .or_else(|| of(one.parse::<Hertz>().ok().map(Hertz::get), "_hz"))
        .or_else(|| of(one.parse::<Seconds>().ok().map(Seconds::get), "_s"))
        .or_else(|| of(one.parse::<Cycles>().ok().map(Cycles::get), "_cycles"))
        .or_else(|| of(one.parse::<Flops>().ok().map(Flops::get), "_flop"))
        .or_else(|| of(one.parse::<FlopsPerSecond>().ok().map(FlopsPerSecond::get), "_flop_per_s"))
}

/// A value in base units with the name of these; absent for words.
pub(super) fn number(text: &str) -> Option<(f64, &'static str)> {
    let (number, unit) = split(text)?;
    let (base, name) = base(unit)?;
    Some((number * base, name))
}

pub(super) fn whole(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() <= EXACT
}

/// The text of a value times a factor, with its unit, to 6 digits; whole where only that makes sense. Absent for words.
pub(super) fn scaled(text: &str, factor: f64, counts: bool) -> Option<String> {
    let (number, unit) = split(text)?;
    base(unit)?;
    let value = number * factor;
    let value =
        if counts || (unit.is_empty() && whole(number) && number > 1.0) { value.round().max(1.0) } else { value };
    let value = significant(value, 6);
    Some(if unit.is_empty() { value } else { format!("{value} {unit}") })
}

/// A number without noise of its sum: at most 12 places behind the point.
pub(super) fn plain(value: f64) -> String {
    if value.abs() >= 1e-6 || value == 0.0 { decimal(value, 12) } else { format!("{value:e}") }
}

/// The text of a value in a file.
pub(super) fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
