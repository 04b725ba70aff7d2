//! The report as JSON: every field, absent ones as `null`.

use serde::Serialize;
use serde_json::Value;

use super::Report;
use crate::units::significant;

/// Pretty-printed JSON with a newline at the end.
pub fn json(report: &Report) -> String {
    format!("{:#}\n", value_of(report))
}

/// A value of strings, numbers and lists, which cannot fail to serialise, as JSON, numbers rounded.
pub(super) fn value_of(of: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(of).unwrap_or_default();
    round(&mut value);
    value
}

/// Rounds every fraction to 6 significant digits, so that machines agree; whole fractions become integers.
fn round(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let exact = number.as_f64().unwrap_or_default();
            let rounded: f64 = significant(exact, 6).parse().unwrap_or(exact);
            // Up to 2^53 an integer is exact.
            *value = if rounded.fract() == 0.0 && rounded.abs() < 9e15 {
                Value::from(rounded as i64)
            } else {
                Value::from(rounded)
            };
        }
        Value::Array(items) => items.iter_mut().for_each(round),
        Value::Object(fields) => fields.values_mut().for_each(round),
        _ => {}
    }
}
