//! `--fail-if 'tail_cost > 20'`: a check on the fields of a report or comparison, for continuous integration.

use anyhow::Result;

use crate::{report::KernelReport, units::significant};

/// A comparison of a field with a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    text: String,
    field: String,
    operator: &'static str,
    number: f64,
}

/// Short names for the fields of a report that people check most.
const SHORT: [(&str, &str); 6] = [
    ("percent_of_roof", "roof_pct"),
    ("tail_cost", "tail_cost_pct"),
    ("occupancy", "theoretical_occupancy_pct"),
    ("utilization", "utilization_pct"),
    ("time", "time_us"),
    ("measured", "measured_us"),
];

/// Units of the fields of a report that no number can be compared with.
const NOT_NUMBERS: [&str; 6] = ["text", "word", "words", "sentence", "sentences", "list"];

/// The fields that a check may name.
pub struct Fields {
    /// What has the fields, with the page that documents them.
    pub of: &'static str,
    /// Short names and the fields that they stand for.
    pub short: &'static [(&'static str, &'static str)],
    /// Fields, and whether they are numbers.
    pub known: Vec<(&'static str, bool)>,
}

impl Fields {
    /// The fields of a report's kernels.
    pub fn of_report() -> Self {
        let known = KernelReport::FIELDS.iter().map(|(name, unit, _)| (*name, !NOT_NUMBERS.contains(unit)));
        Self { of: "a report (docs/report.md)", short: &SHORT, known: known.collect() }
    }

    /// The short names, and the fields that look like `name`; where there are few, all fields.
    fn names(&self, name: &str) -> String {
        let numbers = self.known.iter().filter(|(_, number)| *number).map(|(known, _)| *known);
        let short: Vec<&str> = self.short.iter().map(|s| s.0).collect();
        let near: Vec<&str> = match self.known.len() {
            0..=40 => numbers.collect(),
            _ => numbers.filter(|f| strsim::jaro_winkler(f, name) > 0.75).take(5).collect(),
        };
        let near = if near.is_empty() { String::new() } else { format!("; fields: {}", near.join(", ")) };
        format!("short names: {}{near}", short.join(", "))
    }
}

/// The unit that the end of a field's name says.
fn unit(field: &str) -> &'static str {
    match field.rsplit_once('_') {
        Some((_, "us")) => " (microseconds)",
        Some((_, "pct")) => " (percent)",
        Some((_, "bytes")) => " (bytes)",
        _ => "",
    }
}

const OPERATORS: [&str; 6] = ["<=", ">=", "==", "!=", "<", ">"];

impl Check {
    /// Reads `FIELD OPERATOR NUMBER`, where FIELD is one of `fields`.
    pub fn parse(text: &str, fields: &Fields) -> Result<Self> {
        let form = || {
            anyhow::anyhow!(
                "--fail-if `{text}`: write FIELD OPERATOR NUMBER, such as 'percent_of_roof < 60' (operators {})",
                OPERATORS.join(" ")
            )
        };
        let (place, operator) = OPERATORS
            .iter()
            .filter_map(|o| text.find(o).map(|p| (p, *o)))
            .min_by_key(|(p, o)| (*p, 2 - o.len()))
            .ok_or_else(form)?;
        let field = text[..place].trim();
        let name = fields.short.iter().find(|(short, _)| *short == field).map_or(field, |(_, full)| full);
        let value = text[place + operator.len()..].trim().trim_end_matches('%').trim();
        let number: f64 = value.parse().map_err(|_| match value {
            several if OPERATORS.iter().any(|o| several.contains(o)) => {
                anyhow::anyhow!("--fail-if `{text}`: repeat --fail-if for several checks")
            }
            united if united.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                anyhow::anyhow!("--fail-if `{text}`: write a plain number in the unit of {name}{}", unit(name))
            }
            _ => form(),
        })?;
        if number.is_nan() {
            return Err(form());
        }
        match fields.known.iter().find(|(known, _)| *known == name) {
            None => anyhow::bail!("--fail-if: no field `{field}` in {} ({})", fields.of, fields.names(name)),
            Some((_, false)) => {
                anyhow::bail!("--fail-if `{text}`: `{name}` is no number ({})", fields.names(name))
            }
            Some(_) => {}
        }
        Ok(Self { text: text.trim().into(), field: name.into(), operator, number })
    }

    /// All checks of a command.
    pub fn parse_all(texts: &[String], fields: &Fields) -> Result<Vec<Self>> {
        texts.iter().map(|text| Self::parse(text, fields)).collect()
    }

    /// The field that is checked.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What to say when the check holds for `value` of `subject`; `None` when it does not.
    pub fn fails(&self, subject: &str, value: f64) -> Option<String> {
        let holds = match self.operator {
            "<" => value < self.number,
            "<=" => value <= self.number,
            ">" => value > self.number,
            ">=" => value >= self.number,
            "==" => value == self.number,
            _ => value != self.number,
        };
        holds.then(|| format!("{subject}: {} = {} ({})", self.field, significant(value, 6), self.text))
    }

    /// What to say of the kernels of a report. A kernel for which the field is not known fails nothing, but a check that
    /// could look at no kernel at all has not passed either.
    pub fn failures(&self, kernels: &[KernelReport]) -> Result<Vec<String>> {
        let mut failed = Vec::new();
        let mut seen = false;
        for kernel in kernels {
            let value = numbers(kernel).and_then(|f| f.get(&self.field).cloned()).unwrap_or_default();
            match value.as_f64() {
                Some(value) => {
                    seen = true;
                    failed.extend(self.fails(&kernel.kernel, value));
                }
                None if value.is_null() => {}
                None => anyhow::bail!("--fail-if `{}`: `{}` is not a number", self.text, self.field),
            }
        }
        if !seen {
            failed.push(format!("no kernel has {} ({})", self.field, self.text));
        }
        Ok(failed)
    }
}

fn numbers(kernel: &KernelReport) -> Option<serde_json::Map<String, serde_json::Value>> {
    match serde_json::to_value(kernel).ok()? {
        serde_json::Value::Object(fields) => Some(fields),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PIECES: [&str; 14] =
        ["time", "occupancy", "roof_pct", "kernel", "<", "<=", "==", "!=", " ", "%", "é", "50", "-1e999", "nan"];

    proptest! {
        #[test]
        fn any_text_is_a_check_of_a_number_or_refused(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..6)) {
            let text = pieces.concat();
            match Check::parse(&text, &Fields::of_report()) {
                Ok(check) => {
                    prop_assert!(!check.number.is_nan() && text.contains(check.operator));
                    let fields = Fields::of_report().known;
                    prop_assert!(fields.iter().any(|(name, number)| *number && *name == check.field()), "{}", text);
                }
                Err(error) => prop_assert!(error.to_string().contains("--fail-if"), "{}", error),
            }
        }
    }
}
