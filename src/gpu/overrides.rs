//! What-if changes of single figures: their text form, and how they enter the table of a GPU file.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::units::grouped;

/// One what-if: `sm.count=144`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Dotted path of the field.
    pub key: String,
    /// The new value as text.
    pub value: String,
}

/// A what-if that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// No `=` between key and value.
    #[error("`{input}` is not a what-if: write KEY=VALUE, such as sm.count=144 or memory.dram.bandwidth=\"4.8 TB/s\"")]
    Form {
        /// The text as given.
        input: String,
    },
    /// The file has no such field.
    #[error("a GPU has no field `{key}`{near}")]
    Key {
        /// The key as given.
        key: String,
        /// Fields that look alike.
        near: String,
    },
    /// The value does not fit the field.
    #[error("--set {key}={value}: {message}")]
    Value {
        /// The key as given.
        key: String,
        /// The value as given.
        value: String,
        /// What is wrong.
        message: String,
    },
}

impl std::str::FromStr for Override {
    type Err = OverrideError;

    fn from_str(text: &str) -> Result<Self, OverrideError> {
        let fail = || OverrideError::Form { input: text.into() };
        let (key, value) = text.split_once('=').ok_or_else(fail)?;
        let value = value.trim().trim_matches('"').trim();
        if key.trim().is_empty() || value.is_empty() {
            return Err(fail());
        }
        Ok(Self { key: key.trim().into(), value: value.into() })
    }
}

/// Fields that a file may lack and a what-if may still set.
const OPTIONAL_FIELDS: [&str; 19] = [
    "power",
    "sm.gpc_count",
    "sm.max_per_gpc",
    "clocks.base",
    "clocks.tensor",
    "clocks.tensor_fp64",
    "rates.special",
    "rates.tensor_cap",
    "rates.fp64_cap",
    "memory.dram.capacity",
    "memory.l2.bandwidth",
    "memory.shared.bandwidth",
    "memory.shared.l1_bandwidth",
    "latency.dram",
    "latency.l2",
    "calibration.sustained_tensor",
    "calibration.sustained_vector",
    "calibration.dram_efficiency",
    "calibration.power_droop",
];

/// Puts the value at the path; the type of the old value decides between number and text.
pub(super) fn set(table: &mut Table, change: &Override) -> Result<Option<Value>, OverrideError> {
    let known = known_paths(table, "");
    if !known.contains_key(&change.key) && !OPTIONAL_FIELDS.contains(&change.key.as_str()) {
        let mut names: Vec<&str> = known.keys().map(String::as_str).chain(OPTIONAL_FIELDS).collect();
        names.sort_by(|a, b| strsim::jaro_winkler(b, &change.key).total_cmp(&strsim::jaro_winkler(a, &change.key)));
        names.dedup();
        let near = format!("; near: {}", names.into_iter().take(3).collect::<Vec<_>>().join(", "));
        return Err(OverrideError::Key { key: change.key.clone(), near });
    }
    let value = match (known.get(&change.key), change.value.parse::<i64>(), change.value.parse::<f64>()) {
        (Some(Value::String(_)), _, _) => Value::String(change.value.clone()),
        (Some(Value::Float(_)), _, Ok(number)) => Value::Float(number),
        (Some(Value::Boolean(_)), _, _) if matches!(change.value.as_str(), "true" | "false") => {
            Value::Boolean(change.value == "true")
        }
        (_, Ok(whole), _) => Value::Integer(whole),
        (_, _, Ok(number)) => Value::Float(number),
        _ => Value::String(change.value.clone()),
    };
    let mut parts: Vec<&str> = change.key.split('.').collect();
    let Some(last) = parts.pop() else { return Ok(None) };
    let mut place = table;
    for part in parts {
        // A table that the file lacks is made with the source that every table must name.
        let made = || Value::Table(Table::from_iter([("source".to_owned(), Value::String("set by the user".into()))]));
        let Value::Table(inner) = place.entry(part).or_insert_with(made) else { return Ok(None) };
        place = inner;
    }
    Ok(place.insert(last.into(), value))
}

/// The parser's message, with what a person calls the types of numbers.
pub(super) fn in_words(message: &str) -> String {
    let whole = |most: u64| format!("it must be a whole number from 1 to {}", grouped(most));
    match message.rsplit_once("expected ").map(|(_, wanted)| wanted) {
        Some("u32") => whole(u32::MAX.into()),
        Some("u16") => whole(u16::MAX.into()),
        Some("f64") => "it must be a number".into(),
        _ => message.to_owned(),
    }
}

fn known_paths(table: &Table, prefix: &str) -> BTreeMap<String, Value> {
    let mut paths = BTreeMap::new();
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Table(inner) => paths.extend(known_paths(inner, &path)),
            Value::Array(_) => {}
            _ if key == "source" || key == "schema" => {}
            _ => {
                paths.insert(path, value.clone());
            }
        }
    }
    paths
}

pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
