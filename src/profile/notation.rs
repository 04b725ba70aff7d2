//! Numbers as a profiler prints them: thousands separators or none, decimal point or decimal comma.

/// The character before the decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecimalMark {
    /// `1,234.5`
    Point,
    /// `1.234,5`
    Comma,
}

/// Evidence for either decimal mark, gathered over a whole file since `1,234` alone reads both ways.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Votes {
    point: usize,
    comma: usize,
}

impl Votes {
    /// Counts one value, where it is a number that tells.
    pub fn see(&mut self, text: &str) {
        let text = text.trim().trim_start_matches('-');
        let (mut points, mut commas, mut last) = (0, 0, (0, b' '));
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'0'..=b'9' => {}
                b'.' => (points, last) = (points + 1, (at, byte)),
                b',' => (commas, last) = (commas + 1, (at, byte)),
                _ => return,
            }
        }
        let marks = points + commas;
        if marks == 0 {
            return;
        }
        let decimals = text.len() - last.0 - 1;
        // One mark with three digits after it may be either, unless no thousands group can stand before it.
        let tells = decimals != 3 || last.0 > 3 || text.starts_with('0');
        let last_is_decimal = match (points, commas) {
            (1, 0) | (0, 1) if !tells => return,
            (1, 0) | (0, 1) => true,
            (0, _) | (_, 0) => false,
            _ => true,
        };
        if last_is_decimal == (last.1 == b'.') {
            self.point += 1;
        } else {
            self.comma += 1;
        }
    }

    /// The mark with more evidence; without any, the comma where semicolons separate the columns.
    pub fn decide(self, delimiter: u8) -> DecimalMark {
        let comma = if self.point == self.comma { delimiter == b';' } else { self.comma > self.point };
        if comma { DecimalMark::Comma } else { DecimalMark::Point }
    }
}

/// A number as printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    /// Its value in base units.
    pub value: f64,
    /// How many decimals were printed.
    pub decimals: i32,
}

/// Reads a number printed in units of `10^unit` (read as one decimal number, so that `8.19` thousand is exactly 8190);
/// `None` for text, `n/a`, `nan` and infinities. Values of single instances after it, as in
/// `12 (3; 4; 5)`, are left aside.
pub(super) fn number(text: &str, mark: DecimalMark, unit: i32) -> Option<Number> {
    let text = text.split(" (").next()?.trim();
    let (decimal, group) = match mark {
        DecimalMark::Point => ('.', ','),
        DecimalMark::Comma => (',', '.'),
    };
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (text.get(..at)?, text.get(at + 1..)?),
        None => (text, "0"),
    };
    let (whole, fraction) = mantissa.split_once(decimal).unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(fraction) || whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let is_group = |c: char| c == group || matches!(c, ' ' | '\'' | '\u{2019}' | '\u{a0}' | '\u{202f}');
    let groups: Vec<&str> = whole.split(is_group).collect();
    let (last, before) = groups.split_last()?;
    let grouped_well = match before.split_first() {
        None => true,
        Some((first, middle)) => {
            (1..=3).contains(&first.len()) && middle.iter().all(|g| matches!(g.len(), 2 | 3)) && last.len() == 3
        }
    };
    if !grouped_well || !groups.iter().all(|g| all_digits(g)) {
        return None;
    }
    let exponent: i32 = exponent.parse().ok()?;
    let value: f64 = format!("{}.{fraction}e{}", groups.concat(), exponent.saturating_add(unit)).parse().ok()?;
    let decimals = i32::try_from(fraction.len()).ok()?.saturating_sub(exponent);
    value.is_finite().then_some(Number { value: if negative { -value } else { value }, decimals })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, mark: DecimalMark) -> Option<f64> {
        number(text, mark, 0).map(|n| n.value)
    }

    #[test]
    fn both_marks_and_every_grouping() {
        for text in ["1,234,567.5", "1234567.5", "1 234 567.5", "1'234'567.5", "12,34,567.5", "1.2345675e+06"] {
            assert_eq!(with(text, DecimalMark::Point), Some(1_234_567.5), "{text}");
        }
        for text in ["1.234.567,5", "1234567,5", "1\u{a0}234\u{a0}567,5", "1\u{202f}234\u{202f}567,5"] {
            assert_eq!(with(text, DecimalMark::Comma), Some(1_234_567.5), "{text}");
        }
        assert_eq!(with("-0.5 (1; 2)", DecimalMark::Point), Some(-0.5));
        assert_eq!(number("16.38", DecimalMark::Point, 3), Some(Number { value: 16_380.0, decimals: 2 }));
        for text in
            ["", "n/a", "nan", "-inf", "1,23", "1.2.3", "(256, 1, 1)", "CachePreferNone", "1e999", "1,,234", "."]
        {
            assert_eq!(with(text, DecimalMark::Point), None, "{text}");
        }
    }

    #[test]
    fn votes_come_only_from_values_that_tell() {
        let mark = |values: &[&str], delimiter| {
            let mut votes = Votes::default();
            values.iter().for_each(|v| votes.see(v));
            votes.decide(delimiter)
        };
        assert_eq!(mark(&["1,234", "63.25"], b','), DecimalMark::Point);
        assert_eq!(mark(&["1.234", "63,25"], b','), DecimalMark::Comma);
        assert_eq!(mark(&["1,234", "1.234"], b','), DecimalMark::Point);
        assert_eq!(mark(&["1,234", "7"], b';'), DecimalMark::Comma);
        assert_eq!(mark(&["1,234,567"], b';'), DecimalMark::Point);
        assert_eq!(mark(&["1.234.567"], b','), DecimalMark::Comma);
        assert_eq!(mark(&["0.634"], b';'), DecimalMark::Point);
        assert_eq!(mark(&["no number 1,5"], b','), DecimalMark::Point);
    }
}
