//! The report as CSV: one row per launch, a column per field.

use serde_json::Value;

use super::{Report, RowError, json::value_of, layout::clean, schema_fields};
use crate::units::significant;

/// The rows could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the CSV rows cannot be written: {0}")]
pub struct CsvError(String);

/// One row per launch after a header, in the order of the input; a launch that failed keeps its place with its reason
/// in `error`.
///
/// # Errors
/// The CSV writer failed.
pub fn csv(report: &Report) -> Result<String, CsvError> {
    let mut rows: Vec<Vec<String>> = report.kernels.iter().map(|kernel| row(&value_of(kernel))).collect();
    let mut errors: Vec<&RowError> = report.errors.iter().collect();
    errors.sort_by_key(|e| e.row.unwrap_or(u64::MAX));
    for error in errors {
        let place = error.row.and_then(|row| usize::try_from(row).ok()).unwrap_or(usize::MAX);
        rows.insert(place.saturating_sub(1).min(rows.len()), error_row(error));
    }
    let header: Vec<&str> = schema_fields().iter().map(|(name, ..)| *name).chain(["error"]).collect();
    table(&header, rows)
}

/// Rows below a header.
pub(super) fn table(header: &[&str], rows: Vec<Vec<String>>) -> Result<String, CsvError> {
    let mut writer = ::csv::WriterBuilder::new().terminator(::csv::Terminator::Any(b'\n')).from_writer(Vec::new());
    let fail = |e: &dyn std::fmt::Display| CsvError(e.to_string());
    writer.write_record(header).map_err(|e| fail(&e))?;
    for row in rows {
        writer.write_record(row).map_err(|e| fail(&e))?;
    }
    let bytes = writer.into_inner().map_err(|e| fail(&e))?;
    String::from_utf8(bytes).map_err(|e| fail(&e))
}

fn row(kernel: &Value) -> Vec<String> {
    let cells = schema_fields().iter().map(|(name, ..)| cell(name, &kernel[*name]));
    cells.chain([String::new()]).collect()
}

fn error_row(error: &RowError) -> Vec<String> {
    let cells = schema_fields().iter().map(|(name, ..)| match *name {
        "kernel" => clean(&error.kernel),
        "gpu" => error.gpu.clone().unwrap_or_default(),
        _ => String::new(),
    });
    cells.chain([clean(&error.message)]).collect()
}

pub(super) fn cell(name: &str, value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) if number.is_f64() => significant(number.as_f64().unwrap_or_default(), 6),
        Value::Number(number) => number.to_string(),
        Value::String(text) => clean(text),
        Value::Array(items) => {
            items.iter().map(|item| cell(name, item).replace('|', "/")).collect::<Vec<_>>().join("|")
        }
        Value::Object(_) if matches!(name, "asked" | "elsewhere") => {
            let key = cell(name, &value[if name == "asked" { "change" } else { "gpu" }]);
            match (&value["low_us"], &value["high_us"]) {
                (Value::Null, _) | (_, Value::Null) => format!("{key}: unknown"),
                (low, high) => format!("{key}: {} to {}", cell(name, low), cell(name, high)),
            }
        }
        Value::Object(_) => {
            let (key, number) = match name {
                "terms" => ("resource", "time_us"),
                "points" => ("level", "share_pct"),
                _ => ("change", "speedup"),
            };
            let number = match &value[number] {
                Value::Null => "above".into(),
                known => cell(name, known),
            };
            format!("{}={number}", cell(name, &value[key]))
        }
    }
}
