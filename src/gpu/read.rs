//! From the text of a GPU file, with what-if overrides, to a checked `Gpu`.

use serde::Deserialize;
use toml::{Table, Value};

use super::{
    Clocks, ComputeCapability, CuLimits, DataType, FamilyAlias, Gpu, GpuError, Latency, Links, Memory, Override,
    OverrideError, Published, Rates, Sm,
    calibration::{CalibrationFile, OwnConstants},
    limits::LimitsFile,
    meant::meant,
    overrides::{in_words, plain, set},
    toml_message,
};
use crate::units::Watts;

impl<'de> Deserialize<'de> for DataType {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A GPU file as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GpuFile {
    pub schema: u32,
    pub name: String,
    pub vendor: String,
    pub architecture: String,
    pub chip: Option<String>,
    pub compute_capability: Option<ComputeCapability>,
    pub gfx: Option<String>,
    pub kind: Option<Kind>,
    pub release_year: Option<u16>,
    pub power: Option<Watts>,
    pub aliases: Vec<String>,
    #[serde(default, rename = "family_alias")]
    pub family_aliases: Vec<FamilyAlias>,
    pub disagreements: Vec<String>,
    #[serde(rename = "source")]
    _source: String,
    pub sm: Sm,
    pub clocks: Clocks,
    pub rates: Rates,
    pub memory: Memory,
    pub latency: Option<Latency>,
    pub links: Option<Links>,
    #[serde(default)]
    pub published: Published,
    pub calibration: Option<OwnConstants>,
    pub limits: Option<LimitsFile>,
    pub compute_unit: Option<CuLimits>,
}

/// What a file describes, where it is no GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Gpu,
    Cpu,
}

/// What a GPU file leaves to the tables beside it.
pub(super) struct Tables<'a> {
    pub limits: &'a [LimitsFile],
    pub limits_text: &'a Table,
    pub compute_units: &'a [CuLimits],
    pub compute_units_text: &'a Table,
    pub calibration: &'a CalibrationFile,
}

impl Tables<'_> {
    /// The row that a file leaves to a table, with the key of the table that the file could bring itself.
    fn row(&self, file: &GpuFile) -> Option<(&'static str, Table)> {
        let (table, rows, column, wanted) = match (&file.compute_capability, &file.gfx) {
            (Some(capability), _) => (self.limits_text, "limits", "compute_capability", capability.to_string()),
            (None, Some(gfx)) => (self.compute_units_text, "compute_unit", "gfx", gfx.clone()),
            (None, None) => return None,
        };
        let mut rows_of = table.get(rows)?.as_array()?.iter().filter_map(Value::as_table);
        Some((rows, rows_of.find(|t| t.get(column).and_then(Value::as_str) == Some(&wanted))?.clone()))
    }
}

/// Reads a GPU file and applies overrides through the same checks as the file itself.
pub(super) fn gpu(
    id: &str,
    origin: &str,
    text: &str,
    overrides: &[Override],
    tables: &Tables,
) -> Result<Gpu, GpuError> {
    let file_error = |e: toml::de::Error| GpuError::File { origin: origin.into(), message: toml_message(&e) };
    let mut file: GpuFile = toml::from_str(text).map_err(file_error)?;
    let mut changes = Vec::new();
    let rated_power = file.power;
    if !overrides.is_empty() {
        let mut table: Table = toml::from_str(text).map_err(file_error)?;
        if let Some((key, row)) = tables.row(&file)
            && overrides.iter().any(|o| o.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
            && !table.contains_key(key)
        {
            table.insert(key.into(), Value::Table(row));
        }
        for change in overrides {
            let old = set(&mut table, change)?;
            file = GpuFile::deserialize(table.clone()).map_err(|e| OverrideError::Value {
                key: change.key.clone(),
                value: change.value.clone(),
                message: in_words(e.message()),
            })?;
            let was = old.map_or_else(|| "absent".to_owned(), |v| plain(&v));
            changes.push(format!("{} = {} (was {was})", change.key, change.value));
        }
    }
    meant(id, file, changes, overrides, rated_power, tables)
}
