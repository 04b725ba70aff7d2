//! Numbers as text: at most six significant digits, a point, no exponent, the same on every machine.

/// `value` rounded to `digits` significant digits, without exponent or trailing zeros.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    if value.is_nan() {
        return "nan".into();
    }
    let scientific = format!("{:.*e}", digits.saturating_sub(1), value);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let rounded: f64 = scientific.parse().unwrap_or(value);
    decimal(rounded, (digits as i32 - 1 - exponent).max(0) as usize)
}

/// The same with an exponent where it would have long rows of zeros: from a billion up, and below a millionth.
pub fn short(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() || (1e-6..1e9).contains(&value.abs()) {
        return significant(value, digits);
    }
    let rounded: f64 = format!("{:.*e}", digits.saturating_sub(1), value).parse().unwrap_or(value);
    format!("{rounded:e}")
}

/// `value` with at most `places` decimal places, without trailing zeros.
pub fn decimal(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".into() } else { text.into() }
}

/// A speed-up for people: `1.92x`, with two decimal places from 0.1 to 100 so that they stand in line.
pub fn times(speedup: f64) -> String {
    match speedup {
        s if (0.095..99.995).contains(&s) => format!("{s:.2}x"),
        s => format!("{}x", significant(s, 3)),
    }
}

/// A whole number with commas between groups of three digits, for people.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 thread", "1024 threads": for numbers that people know without commas.
pub fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", ending(count, what))
}

/// "1 block", "2,000 blocks".
pub fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), ending(count, what))
}

/// What makes a word a plural: "es" behind "launch".
fn ending(count: u64, what: &str) -> &'static str {
    match count {
        1 => "",
        _ if what.ends_with("ch") => "es",
        _ => "s",
    }
}

/// Four significant digits in the largest unit that leaves a mantissa of at least 1. A binary unit is taken only where
/// it gives a whole number of quarters, which are then printed in full, so that caches read in KiB and DRAM in GB.
pub(super) fn with_unit(value: f64, units: &[(&str, f64)]) -> String {
    let base = units.iter().find(|(_, scale)| *scale == 1.0).or(units.first()).map_or("", |(name, _)| name);
    if value == 0.0 || !value.is_finite() {
        return format!("{} {base}", significant(value, 4));
    }
    let binary = |name: &str| name.contains("iB");
    let fits = |&&(_, scale): &&(&str, f64)| value.abs() * (1.0 + 5e-5) >= scale;
    let whole = |&&(_, scale): &&(&str, f64)| (value / scale * 4.0).fract() == 0.0 && value / scale < 1e4;
    let largest_binary = units.iter().rev().filter(|(name, _)| binary(name)).find(fits).filter(|u| whole(u));
    // The first unit of a size is the standard one (`FLOP/s` before `OP/s`, `us` before its Greek form).
    let mut decimal_units: Vec<(&str, f64)> = Vec::new();
    for &(name, scale) in units {
        if !binary(name) && decimal_units.iter().all(|(_, s)| *s != scale) {
            decimal_units.push((name, scale));
        }
    }
    if let Some((name, scale)) = largest_binary {
        return format!("{} {name}", decimal(value / scale, 2));
    }
    let (name, scale) = decimal_units.iter().rev().find(|u| fits(u)).copied().unwrap_or(decimal_units[0]);
    format!("{} {name}", short(value / scale, 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits() {
        assert_eq!(significant(1234567.0, 6), "1234570");
        assert_eq!(significant(0.000123456, 3), "0.000123");
        assert_eq!(significant(99.9999, 4), "100");
        assert_eq!(significant(62.5, 6), "62.5");
        assert_eq!(significant(-0.5, 3), "-0.5");
        assert_eq!([1e300, -1e-300, 123_456_789.0, 0.0].map(|v| short(v, 6)), ["1e300", "-1e-300", "123457000", "0"]);
        assert_eq!(decimal(-0.0001, 2), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(12), "12");
        assert_eq!([1.0, 0.5014, 12.346, 123.46, 0.01234].map(times), ["1.00x", "0.50x", "12.35x", "123x", "0.0123x"]);
    }
}
