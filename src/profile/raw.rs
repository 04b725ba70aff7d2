//! The raw page: one row per launch, a units row second, some hundred columns addressed by name.

use std::sync::Arc;

use super::launch::{Collected, IDENTITY_COLUMNS, Identity, Keys, Launch};
use super::observed::{Metric, MetricKey};
use super::text::{Body, Header, Warnings, reader};

/// A metric column: where it stands, what it is, and the value last seen in it (shared while it repeats).
struct Column {
    at: usize,
    key: Arc<MetricKey>,
    last: Arc<str>,
}

/// Collects every launch of a raw page.
pub(super) fn collect(body: &Body, header: &Header, warnings: &mut Warnings) -> Collected {
    let mut collected = Collected::default();
    let Some(mut identity) = Identity::of(&header.columns) else {
        return collected;
    };
    let mut names: Vec<String> = header.columns.clone();
    let mut columns: Option<Vec<Column>> = None;
    let mut keys = Keys::default();
    let mut reader = reader(&body.csv, header.delimiter);
    let mut record = csv::StringRecord::new();
    while let Ok(true) = reader.read_record(&mut record) {
        let id_text = record.get(identity.id).map(str::trim).unwrap_or_default();
        if id_text.is_empty() && columns.is_none() {
            columns = Some(columns_of(&names, Some(&record), &mut keys));
            continue;
        }
        let Ok(id) = id_text.parse::<u64>() else {
            let fields: Vec<&str> = record.iter().map(str::trim).collect();
            match Identity::of(&fields) {
                Some(again) if fields.iter().any(|f| f.contains("__")) => {
                    identity = again;
                    names = fields.iter().map(|f| (*f).to_string()).collect();
                    columns = None;
                }
                _ => warnings.push(|| format!("line {}: row skipped: its ID is no number", body.line_of(&record))),
            }
            continue;
        };
        if record.len() != names.len() {
            let (have, want) = (record.len(), names.len());
            let line = body.line_of(&record);
            warnings.push(|| format!("line {line}: row skipped: {have} fields under a header of {want}"));
            continue;
        }
        let columns = columns.get_or_insert_with(|| {
            let line = body.line_of(&record);
            warnings.push(|| format!("line {line}: no units row above it: quantities with a unit are left out"));
            columns_of(&names, None, &mut keys)
        });
        let mut launch = Launch::new(id, &record, &identity);
        launch.metrics.reserve_exact(columns.len());
        for column in columns {
            let value = record.get(column.at).map(str::trim).unwrap_or_default();
            if value.is_empty() {
                continue;
            }
            if *column.last != *value {
                collected.votes.see(value);
                column.last = value.into();
            }
            let metric = Metric { key: Arc::clone(&column.key), value: Arc::clone(&column.last) };
            launch.metrics.push(metric);
        }
        collected.launches.push(launch);
    }
    collected
}

fn columns_of(names: &[String], units: Option<&csv::StringRecord>, keys: &mut Keys) -> Vec<Column> {
    let is_metric = |name: &str| !name.is_empty() && !IDENTITY_COLUMNS.contains(&name);
    names
        .iter()
        .enumerate()
        .filter(|(_, name)| is_metric(name))
        .map(|(at, name)| {
            let unit = units.and_then(|u| u.get(at)).map(str::trim).unwrap_or_default();
            let key = keys.get("", name, unit);
            Column { at, key, last: "".into() }
        })
        .collect()
}
