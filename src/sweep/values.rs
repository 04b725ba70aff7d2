//! The values of an axis: a list, or a range whose values are made when they are asked for.

use std::fmt::Write;

use super::quantity::{EXACT, base as unit_base, number, plain, split, whole};
use crate::units::{grouped, significant};

/// What the values of an axis are, which decides the type and the name of its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Whole,
    /// Numbers; quantities in the base unit, which the name of the column ends in (`_bytes`, or nothing).
    Number(&'static str),
    /// Names and words.
    Text,
}

/// The values of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    kind: Kind,
    form: Form,
}

#[derive(Clone, Debug, PartialEq)]
enum Form {
    /// Texts with what they are as numbers, NaN for words.
    List(Vec<(String, f64)>),
    /// `first + index x step`, with the unit as written and how many base units it is.
    Steps { first: f64, step: f64, count: u64, unit: String, base: f64 },
}

/// A range as written; both ends belong to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// First value, with its unit.
    pub from: String,
    /// Last value at most, in the same unit.
    pub to: String,
    /// How the values between follow.
    pub spacing: Spacing,
}

/// How the values of a range follow each other.
#[derive(Clone, Debug, PartialEq)]
pub enum Spacing {
    /// Each is larger by so much.
    Step(String),
    /// Each is so many times the one before; 2 gives powers of two.
    Factor(f64),
    /// So many, at even distances.
    Count(u64),
}

/// A list or range that gives no values. The key of the axis stands before it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{value}`: {rule}")]
pub struct ValuesError {
    /// The value as given.
    pub value: String,
    /// What it must be.
    pub rule: String,
}

pub(super) fn wrong<T>(value: impl ToString, rule: impl Into<String>) -> Result<T, ValuesError> {
    Err(ValuesError { value: value.to_string(), rule: rule.into() })
}

/// Most values of a list or of a range by factors, which are kept; ranges by steps are not.
const MOST_KEPT: usize = 1_000_000;
impl Values {
    /// The values of a list.
    ///
    /// # Errors
    /// The list is empty, too long, or holds an empty value.
    pub fn list(texts: Vec<String>) -> Result<Self, ValuesError> {
        if texts.is_empty() {
            return wrong("[]", "give at least one value");
        }
        if texts.len() > MOST_KEPT {
            let most = grouped(MOST_KEPT as u64);
            return wrong(format!("{} values", texts.len()), format!("a list holds at most {most}: write a range"));
        }
        if texts.iter().any(|text| text.trim().is_empty()) {
            return wrong("", "a value is empty");
        }
        let numbers: Vec<Option<(f64, &str)>> = texts.iter().map(|text| number(text)).collect();
        let unit = numbers[0].map(|(_, name)| name);
        let same = unit.filter(|unit| numbers.iter().all(|n| n.is_some_and(|(_, name)| name == *unit)));
        let kind = match same {
            Some("") if numbers.iter().flatten().all(|(n, _)| whole(*n)) => Kind::Whole,
            Some(unit) => Kind::Number(unit),
            None => Kind::Text,
        };
        let with = |(text, number): (String, Option<(f64, &str)>)| (text, number.map_or(f64::NAN, |n| n.0));
        Ok(Self { kind, form: Form::List(texts.into_iter().zip(numbers).map(with).collect()) })
    }

    /// The values of a range; `counts` says that the key takes whole numbers alone, to which even distances and factors
    /// are rounded.
    ///
    /// # Errors
    /// The ends are no numbers of one unit in rising order, or the spacing leads nowhere.
    pub fn range(range: &Range, counts: bool) -> Result<Self, ValuesError> {
        let Some((from, unit)) = split(&range.from) else {
            return wrong(&range.from, "a range starts with a number, such as 64 or \"1 TB/s\"");
        };
        let Some((base, name)) = unit_base(unit) else {
            let rule = format!("`{unit}` is no unit; write a number, or one such as 48 KiB or 3.35 TB/s");
            return wrong(&range.from, rule);
        };
        // In the unit of the first value, whatever unit of its kind is written.
        let same = |text: &str, what: &str| match split(text) {
            Some((number, other)) if other == unit => Ok(number),
            other => match other.and_then(|(number, other)| Some((number, unit_base(other)?))) {
                Some((number, (of, kind))) if kind == name && !name.is_empty() => Ok(number * (of / base)),
                _ => wrong(text, format!("{what} needs a number in a unit as of the first value, `{}`", range.from)),
            },
        };
        let to = same(&range.to, "the end of the range")?;
        if to < from {
            return wrong(&range.to, format!("the range must rise: write at least {}", range.from));
        }
        if counts && !(whole(from) && whole(to)) {
            return wrong(format!("{}:{}", range.from, range.to), "whole numbers are wanted");
        }
        let steps = |step: f64| -> Result<Self, ValuesError> {
            // A little more than whole, so that 0.1 to 0.3 by 0.1 has three values.
            let count = ((to - from) / step + 1e-9).floor() + 1.0;
            if count > EXACT {
                return wrong(format!("{count:e} values"), "take a larger step");
            }
            let kind = if unit.is_empty() && whole(from) && whole(step) { Kind::Whole } else { Kind::Number(name) };
            let form = Form::Steps { first: from, step, count: count as u64, unit: unit.into(), base };
            Ok(Self { kind, form })
        };
        let kept = |values: Vec<f64>| {
            let mut values: Vec<f64> = if counts { values.into_iter().map(f64::round).collect() } else { values };
            values.dedup();
            let text = |value: f64| if unit.is_empty() { plain(value) } else { format!("{} {unit}", plain(value)) };
            Self::list(values.into_iter().map(text).collect())
        };
        match &range.spacing {
            Spacing::Step(text) => match same(text, "the step")? {
                step if step <= 0.0 => wrong(text, "the step must be above 0"),
                step if counts && !whole(step) => wrong(text, "the step must be a whole number"),
                step => steps(step),
            },
            Spacing::Factor(factor) => {
                if from <= 0.0 || !(*factor > 1.0 && factor.is_finite()) {
                    let rule = "a factor must be above 1, and its range start above 0";
                    return wrong(format!("{} x{factor}", range.from), rule);
                }
                let next = |value: &f64| Some(value * factor).filter(|v| *v <= to * (1.0 + 1e-9));
                let values: Vec<f64> = std::iter::successors(Some(from), next).take(MOST_KEPT + 1).collect();
                kept(values)
            }
            Spacing::Count(0) => wrong(0, "give at least one value"),
            Spacing::Count(1) => kept(vec![from]),
            Spacing::Count(count) => {
                let step = (to - from) / (count - 1) as f64;
                match step {
                    0.0 => kept(vec![from]),
                    step if !counts || whole(step) => steps(step),
                    _ => kept((0..(*count).min(MOST_KEPT as u64 + 1)).map(|i| from + i as f64 * step).collect()),
                }
            }
        }
    }

    /// The values of a text: a list `a,b,c`, or a range `LOW:HIGH`, `LOW:HIGH:STEP`, `LOW:HIGH:x2`, `LOW:HIGH:/9`.
    ///
    /// # Errors
    /// As of `list` and `range`.
    pub fn parse(text: &str, counts: bool) -> Result<Self, ValuesError> {
        let parts: Vec<&str> = text.split(':').map(str::trim).collect();
        let is_range =
            !text.contains(',') && matches!(parts.len(), 2 | 3) && parts[..2].iter().all(|p| split(p).is_some());
        if !is_range {
            return Self::words(text);
        }
        let spacing = match parts.get(2) {
            None => Spacing::Step(format!("1 {}", split(parts[0]).map_or("", |(_, unit)| unit))),
            Some(part) => match (part.strip_prefix(['x', 'X', '*']), part.strip_prefix('/')) {
                (Some(factor), _) => match factor.trim().parse() {
                    Ok(factor) => Spacing::Factor(factor),
                    Err(_) => return wrong(text, "a factor is written as in 64:8192:x2"),
                },
                (None, Some(count)) => match count.trim().parse() {
                    Ok(count) => Spacing::Count(count),
                    Err(_) => return wrong(text, "a number of values is written as in 1:2:/9"),
                },
                (None, None) => Spacing::Step((*part).into()),
            },
        };
        Self::range(&Range { from: parts[0].into(), to: parts[1].into(), spacing }, counts)
    }

    /// How many.
    pub fn len(&self) -> u64 {
        match &self.form {
            Form::List(list) => list.len() as u64,
            Form::Steps { count, .. } => *count,
        }
    }

    /// Always false: an axis has at least one value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What they are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Writes a value as text, as a command line would give it.
    pub fn write(&self, index: u64, to: &mut String) {
        to.clear();
        match &self.form {
            Form::List(list) => to.push_str(&list[index as usize].0),
            Form::Steps { first, step, unit, .. } => {
                let value = first + index as f64 * step;
                // Never fails: a string takes everything.
                let _ = if whole(value) { write!(to, "{}", value as i64) } else { write!(to, "{}", plain(value)) };
                if !unit.is_empty() {
                    to.push(' ');
                    to.push_str(unit);
                }
            }
        }
    }

    /// The same by itself.
    pub fn text(&self, index: u64) -> String {
        let mut text = String::new();
        self.write(index, &mut text);
        text
    }

    /// A value between two of a range by its place, such as 2.5; absent for lists, whose values have nothing between them.
    pub(super) fn between(&self, place: f64) -> Option<String> {
        let Form::Steps { first, step, unit, .. } = &self.form else { return None };
        let value = significant(first + place * step, 6);
        Some(if unit.is_empty() { value } else { format!("{value} {unit}") })
    }

    /// The number at such a place, in the unit as written.
    pub(super) fn at(&self, place: f64) -> f64 {
        match &self.form {
            Form::Steps { first, step, .. } => first + place * step,
            Form::List(list) => list[place as usize].1,
        }
    }

    /// A value in base units; NaN for words.
    pub fn number(&self, index: u64) -> f64 {
        match &self.form {
            Form::List(list) => list[index as usize].1,
            Form::Steps { first, step, base, .. } => (first + index as f64 * step) * base,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, counts: bool) -> Vec<String> {
        let values = Values::parse(text, counts).unwrap();
        (0..values.len()).map(|i| values.text(i)).collect()
    }

    #[test]
    fn lists_and_ranges_are_read() {
        assert_eq!(texts("1:4", true), ["1", "2", "3", "4"]);
        assert_eq!(texts("64:200:64", true), ["64", "128", "192"]);
        assert_eq!(texts("64:512:x2", true), ["64", "128", "256", "512"]);
        assert_eq!(texts("1:10:x1.5", true), ["1", "2", "3", "5", "8"]);
        assert_eq!(texts("1:2:/5", false), ["1", "1.25", "1.5", "1.75", "2"]);
        assert_eq!(texts("1:4:/3", true), ["1", "3", "4"]);
        assert_eq!(texts("0.1:0.3:0.1", false), ["0.1", "0.2", "0.3"]);
        assert_eq!(texts("1 TB/s:2 TB/s:500e-3 TB/s", false), ["1 TB/s", "1.5 TB/s", "2 TB/s"]);
        assert_eq!(texts("1 TB/s:1.5 TB/s:250 GB/s", false), ["1 TB/s", "1.25 TB/s", "1.5 TB/s"]);
        assert_eq!(texts("h100:1g.10gb", false), ["h100:1g.10gb"]);
        assert_eq!(texts("a, b", false), ["a", "b"]);
    }

    #[test]
    fn a_column_is_as_narrow_as_its_values_allow() {
        let kind = |text| Values::parse(text, false).unwrap().kind();
        assert_eq!((kind("1,2"), kind("1,2.5"), kind("1,b")), (Kind::Whole, Kind::Number(""), Kind::Text));
        assert_eq!(kind("48 KiB,100 KiB"), Kind::Number("_bytes"));
        assert_eq!(kind("1 GHz,2 TB/s"), Kind::Text);
        assert_eq!(Values::parse("48 KiB", false).unwrap().number(0), 49152.0);
        assert_eq!(Values::parse("1 TB/s:3 TB/s", false).unwrap().number(2), 3e12);
    }

    #[test]
    fn what_gives_no_values_says_why() {
        for (text, counts, expected) in [
            ("", true, "a value is empty"),
            ("1,", true, "a value is empty"),
            ("8:4", true, "the range must rise"),
            ("1:4:0", true, "above 0"),
            ("1:4:0.5", true, "whole number"),
            ("1.5:4", true, "whole numbers are wanted"),
            ("0:4:x2", true, "start above 0"),
            ("1:4:x1", true, "above 1"),
            ("1:4:xx", true, "64:8192:x2"),
            ("1:4:/0", true, "at least one value"),
            ("1 TB/s:2 GHz:1 TB/s", false, "in a unit as of the first value"),
            ("1 TB/s:2 TB/s:1", false, "in a unit as of the first value"),
            ("1 furlong:2 furlong:1 furlong", false, "is no unit"),
            ("1:1e300", true, "whole numbers are wanted"),
            ("1:1e300", false, "larger step"),
        ] {
            let error = Values::parse(text, counts).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
