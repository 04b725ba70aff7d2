//! `--fail-if 'tail_cost > 20'`: a check on the fields of a report, for continuous integration.

use std::str::FromStr;

use anyhow::Result;

use crate::report::KernelReport;

/// A comparison of a report field with a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    text: String,
    field: String,
    operator: &'static str,
    number: f64,
}

/// Short names for the fields that people check most.
const SHORT: [(&str, &str); 6] = [
    ("percent_of_roof", "roof_pct"),
    ("tail_cost", "tail_cost_pct"),
    ("occupancy", "theoretical_occupancy_pct"),
    ("utilization", "utilization_pct"),
    ("time", "time_us"),
    ("measured", "measured_us"),
];

const OPERATORS: [&str; 6] = ["<=", ">=", "==", "!=", "<", ">"];

impl FromStr for Check {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
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
        let number: f64 =
            text[place + operator.len()..].trim().trim_end_matches('%').trim().parse().map_err(|_| form())?;
        if number.is_nan() {
            return Err(form());
        }
        let name = SHORT.iter().find(|(short, _)| *short == field).map_or(field, |(_, full)| full);
        match KernelReport::FIELDS.iter().find(|(known, ..)| *known == name) {
            None => anyhow::bail!(
                "--fail-if: a report has no field `{field}`; take one of docs/report.md ({})",
                names(name)
            ),
            Some((_, unit, _)) if NOT_NUMBERS.contains(unit) => {
                anyhow::bail!("--fail-if `{text}`: `{name}` is no number ({})", names(name))
            }
            Some(_) => {}
        }
        Ok(Self { text: text.trim().into(), field: name.into(), operator, number })
    }
}

/// Units of the fields that no number can be compared with.
const NOT_NUMBERS: [&str; 6] = ["text", "word", "words", "sentence", "sentences", "list"];

/// The short names, and the fields that look like `name`.
fn names(name: &str) -> String {
    let short: Vec<&str> = SHORT.iter().map(|s| s.0).collect();
    let near: Vec<&str> =
        KernelReport::FIELDS.iter().map(|f| f.0).filter(|f| strsim::jaro_winkler(f, name) > 0.75).take(5).collect();
    let near = if near.is_empty() { String::new() } else { format!("; near: {}", near.join(", ")) };
    format!("short names: {}{near}", short.join(", "))
}

fn numbers(kernel: &KernelReport) -> Option<serde_json::Map<String, serde_json::Value>> {
    match serde_json::to_value(kernel).ok()? {
        serde_json::Value::Object(fields) => Some(fields),
        _ => None,
    }
}

impl Check {
    /// What to say when the check holds for this kernel; `None` when it does not, or the field is not known for it.
    pub fn fails(&self, kernel: &KernelReport) -> Result<Option<String>> {
        let value = numbers(kernel).and_then(|f| f.get(&self.field).cloned()).unwrap_or_default();
        let Some(value) = value.as_f64() else {
            if value.is_null() {
                return Ok(None);
            }
            anyhow::bail!("--fail-if `{}`: `{}` is not a number", self.text, self.field);
        };
        let holds = match self.operator {
            "<" => value < self.number,
            "<=" => value <= self.number,
            ">" => value > self.number,
            ">=" => value >= self.number,
            "==" => value == self.number,
            _ => value != self.number,
        };
        let shown = crate::units::significant(value, 6);
        Ok(holds.then(|| format!("{}: {} = {shown} ({})", kernel.kernel, self.field, self.text)))
    }
}
