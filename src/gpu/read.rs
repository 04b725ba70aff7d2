//! From the text of a GPU file, with what-if overrides, to a checked `Gpu`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value};

use super::{
    Clocks, ComputeCapability, ConstantsOf, DataType, FamilyAlias, Gpu, GpuError, Latency, Links, Memory, Pipe,
    Published, Rates, Sm, SmLimits, calibration::CalibrationFile, calibration::OwnConstants, limits::LimitsFile,
};
use crate::units::{Cycles, Watts};

impl<'de> Deserialize<'de> for DataType {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A GPU file as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GpuFile {
    schema: u32,
    name: String,
    vendor: String,
    architecture: String,
    chip: String,
    compute_capability: ComputeCapability,
    release_year: u16,
    power: Watts,
    aliases: Vec<String>,
    #[serde(default, rename = "family_alias")]
    family_aliases: Vec<FamilyAlias>,
    disagreements: Vec<String>,
    #[serde(rename = "source")]
    _source: String,
    sm: Sm,
    clocks: Clocks,
    rates: Rates,
    memory: Memory,
    latency: Option<Latency>,
    links: Option<Links>,
    published: Published,
    calibration: Option<OwnConstants>,
    limits: Option<LimitsFile>,
}

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
const OPTIONAL_FIELDS: [&str; 14] = [
    "sm.gpc_count",
    "clocks.base",
    "clocks.tensor",
    "clocks.tensor_fp64",
    "rates.tensor_cap",
    "rates.fp64_cap",
    "memory.l2.bandwidth",
    "memory.shared.l1_bandwidth",
    "latency.dram",
    "latency.l2",
    "calibration.sustained_tensor",
    "calibration.sustained_vector",
    "calibration.dram_efficiency",
    "calibration.power_droop",
];

/// What a GPU file leaves to the tables beside it.
pub(super) struct Tables<'a> {
    pub limits: &'a [LimitsFile],
    pub limits_text: &'a Table,
    pub calibration: &'a CalibrationFile,
}

/// Reads a GPU file and applies overrides through the same checks as the file itself.
pub(super) fn gpu(
    id: &str,
    origin: &str,
    text: &str,
    overrides: &[Override],
    tables: &Tables,
) -> Result<Gpu, GpuError> {
    let file_error = |e: toml::de::Error| GpuError::File { origin: origin.into(), message: e.to_string() };
    let mut file: GpuFile = toml::from_str(text).map_err(file_error)?;
    let mut changes = Vec::new();
    let rated_power = file.power;
    if !overrides.is_empty() {
        let mut table: Table = toml::from_str(text).map_err(file_error)?;
        if overrides.iter().any(|o| o.key.starts_with("limits."))
            && !table.contains_key("limits")
            && let Some(limits) = limits_table(tables.limits_text, file.compute_capability)
        {
            table.insert("limits".into(), Value::Table(limits));
        }
        for change in overrides {
            let old = set(&mut table, change)?;
            file = GpuFile::deserialize(table.clone()).map_err(|e| OverrideError::Value {
                key: change.key.clone(),
                value: change.value.clone(),
                message: e.message().to_owned(),
            })?;
            let was = old.map_or_else(|| "absent".to_owned(), |v| plain(&v));
            changes.push(format!("{} = {} (was {was})", change.key, change.value));
        }
    }
    meant(id, file, changes, overrides, rated_power, tables)
}

fn limits_table(text: &Table, capability: ComputeCapability) -> Option<Table> {
    let rows = text.get("limits")?.as_array()?;
    let wanted = capability.to_string();
    rows.iter()
        .filter_map(Value::as_table)
        .find(|t| t.get("compute_capability").and_then(Value::as_str) == Some(&wanted))
        .cloned()
}

/// Puts the value at the path; the type of the old value decides between number and text.
fn set(table: &mut Table, change: &Override) -> Result<Option<Value>, OverrideError> {
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

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn meant(
    id: &str,
    file: GpuFile,
    changes: Vec<String>,
    overrides: &[Override],
    rated_power: Watts,
    tables: &Tables,
) -> Result<Gpu, GpuError> {
    let value =
        |field: &str, value: String, rule: &str| Err(GpuError::Value { field: field.into(), value, rule: rule.into() });
    if file.schema != 1 {
        return value("schema", file.schema.to_string(), "1: this program reads schema 1");
    }
    if file.vendor != "nvidia" {
        return value("vendor", file.vendor, "nvidia");
    }
    if file.sm.count == 0 {
        return value("sm.count", "0".into(), "at least 1");
    }
    let latency = file.latency.as_ref();
    let cycles = |of: fn(&Latency) -> Option<Cycles>| latency.and_then(of).map_or(1.0, Cycles::get);
    let positive = [
        ("power", file.power.get()),
        ("clocks.base", file.clocks.base.map_or(1.0, |c| c.get())),
        ("clocks.vector", file.clocks.vector.get()),
        ("clocks.tensor", file.clocks.tensor.map_or(1.0, |c| c.get())),
        ("clocks.tensor_fp64", file.clocks.tensor_fp64.map_or(1.0, |c| c.get())),
        ("memory.dram.capacity", file.memory.dram.capacity.get()),
        ("memory.dram.bandwidth", file.memory.dram.bandwidth.get()),
        ("memory.l2.capacity", file.memory.l2.capacity.get()),
        ("memory.l2.bandwidth", file.memory.l2.bandwidth.map_or(1.0, |b| b.get())),
        ("memory.shared.bandwidth", file.memory.shared.bandwidth.get()),
        ("rates.special", file.rates.special),
        ("rates.sparsity", file.rates.sparsity.unwrap_or(1.0)),
        ("latency.clock", latency.and_then(|l| l.clock).map_or(1.0, |c| c.get())),
        ("latency.l1", cycles(|l| l.l1)),
        ("latency.l2", cycles(|l| l.l2)),
        ("latency.dram", cycles(|l| l.dram)),
        ("calibration.sm_stream", file.calibration.as_ref().and_then(|c| c.sm_stream).map_or(1.0, |s| s.get())),
        ("calibration.tensor_energy", file.calibration.as_ref().and_then(|c| c.tensor_energy).map_or(1.0, |e| e.get())),
    ];
    let rates = file.rates.vector.iter().map(|(t, r)| (format!("rates.vector.{}", t.name()), *r)).chain(
        file.rates.tensor.iter().flat_map(|(input, by)| {
            by.iter().map(|(a, r)| (format!("rates.tensor.{}.{}", input.name(), a.name()), *r))
        }),
    );
    for (field, number) in positive.into_iter().map(|(f, n)| (f.to_owned(), n)).chain(rates) {
        if !(number > 0.0 && number.is_finite()) {
            return value(&field, number.to_string(), "more than 0");
        }
    }
    let (rates, fp64) = (&file.rates, DataType::Fp64);
    for (field, cap, capped, rule) in [
        ("rates.tensor_cap", rates.tensor_cap, !rates.tensor.is_empty(), "absent where rates.tensor is"),
        ("rates.fp64_cap", rates.fp64_cap, rates.vector.contains_key(&fp64), "absent where rates.vector.fp64 is"),
    ] {
        match cap {
            Some(cap) if !(cap > 0.0 && cap <= 1.0) => return value(field, cap.to_string(), "above 0 and at most 1"),
            Some(cap) if !capped => return value(field, cap.to_string(), rule),
            _ => {}
        }
    }
    if !matches!(file.memory.l2.partitions, 1 | 2) {
        return value("memory.l2.partitions", file.memory.l2.partitions.to_string(), "1 or 2");
    }
    if !file.rates.tensor.is_empty() && file.clocks.tensor.is_none() {
        return value("clocks.tensor", "absent".into(), "given where rates.tensor is");
    }
    let limits = match &file.limits {
        Some(own) => own.meant()?,
        None => limits_for(tables.limits, file.compute_capability)?,
    };
    let calibration = tables.calibration.resolve(file.compute_capability, file.calibration.as_ref())?;
    let mut gpu = Gpu {
        id: id.into(),
        name: file.name,
        architecture: file.architecture,
        chip: file.chip,
        compute_capability: file.compute_capability,
        release_year: file.release_year,
        power: file.power,
        aliases: file.aliases,
        family_aliases: file.family_aliases,
        disagreements: file.disagreements,
        sm: file.sm,
        clocks: file.clocks,
        rates: file.rates,
        memory: file.memory,
        latency: file.latency,
        links: file.links,
        published: file.published,
        limits,
        calibration,
        changes,
        mig: None,
    };
    if overrides.iter().any(|o| o.key.starts_with("calibration.")) {
        gpu.calibration.of = ConstantsOf::User;
    }
    if overrides.iter().any(|o| o.key == "power") {
        follow_power(&mut gpu, rated_power);
    }
    Ok(gpu)
}

/// The rule was tested from this share of the board's own limit on.
const LEAST_TESTED_POWER: f64 = 0.6;

/// The sustained tensor rate under another power limit: P / (energy per operation x peak).
fn follow_power(gpu: &mut Gpu, rated: Watts) {
    let bf16 = Pipe::Tensor { input: DataType::Bf16, accumulate: DataType::Fp32, sparse: false };
    let (Some(energy), Some(peak)) = (gpu.calibration.tensor_energy, gpu.peak(bf16)) else {
        gpu.changes.push("power: no energy per operation is known for this GPU, so the time does not follow it".into());
        return;
    };
    gpu.calibration.sustained_tensor = gpu.calibration.sustained_tensor.min(gpu.power / energy / peak);
    if gpu.power / rated < LEAST_TESTED_POWER {
        gpu.changes.push(format!("power: below 60 % of the board's {rated} the rule is untested"));
    }
}

/// The SM limits of a compute capability, matched exactly.
pub(super) fn limits_for(table: &[LimitsFile], capability: ComputeCapability) -> Result<SmLimits, GpuError> {
    let rows = table.iter().map(LimitsFile::meant).collect::<Result<Vec<_>, _>>()?;
    let known = rows.iter().map(|r| r.compute_capability.to_string()).collect::<Vec<_>>().join(" ");
    rows.into_iter()
        .find(|r| r.compute_capability == capability)
        .ok_or_else(|| GpuError::Capability { capability: capability.to_string(), known })
}
