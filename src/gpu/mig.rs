//! MIG slices: a part of a GPU with its own SMs, memory and L2, as counted by the profiles in `gpus/nvidia/mig.toml`.

mod houses;

use serde::Deserialize;

use super::{Gpu, GpuError, Override, Published, Sm};
use crate::units::Bytes;

pub use houses::House;

const TABLES: &str = include_str!("../../gpus/nvidia/mig.toml");

/// The profiles of the GPUs that share a memory size.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MigTable {
    /// Ids of the products that the table holds for.
    pub gpus: Vec<String>,
    /// SMs of the whole GPU.
    pub sm_count: u32,
    /// Equal parts that MIG cuts the memory into.
    pub memory_slices: u32,
    /// Figures on which sources disagree, and which was taken.
    pub disagreements: Vec<String>,
    /// Where the figures come from.
    pub source: String,
    /// Every profile, smallest first.
    pub profiles: Vec<MigProfile>,
}

/// What one kind of slice (a GPU instance) holds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MigProfile {
    /// As drivers print it: `3g.40gb`, `1g.10gb+me`.
    pub name: String,
    /// Compute slices, the number before the `g`. No count of SMs follows from it.
    pub compute_slices: u32,
    /// Memory slices that an instance takes.
    pub memory_slices: u32,
    /// SMs of the instance, as `sm_status` says.
    pub sm: Option<u32>,
    /// Memory of the instance as the driver reports it.
    pub memory: Option<Bytes>,
    /// Share of the DRAM bandwidth.
    pub mem_fraction: Option<Fraction>,
    /// Share of L2, capacity and bandwidth.
    pub l2_fraction: Option<Fraction>,
    /// Most instances of this profile at once.
    pub max_instances: u32,
    /// Memory slices at which an instance can start; empty where no source has them.
    #[serde(default)]
    pub starts: Vec<u32>,
    /// Where `sm` comes from.
    pub sm_status: SmStatus,
}

/// Where the SM count of a profile comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SmStatus {
    /// The output of `nvidia-smi mig -lgip` on such a GPU.
    Dump,
    /// The GPU table of the JAX library.
    Jax,
    /// Taken over from a similar GPU: refused.
    Analogy,
    /// No count is known: refused.
    Unsourced,
}

/// A share above 0 and at most 1, written `"3/8"` or `"full"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    part: u32,
    of: u32,
}

/// What a `Gpu` that is a slice was cut from.
#[derive(Clone, Debug, PartialEq)]
pub struct MigSlice {
    /// Id of the whole GPU.
    pub gpu: String,
    /// Name of the whole GPU.
    pub gpu_name: String,
    /// SMs of the whole GPU.
    pub gpu_sm_count: u32,
    /// The profile.
    pub profile: MigProfile,
    /// Where the profile's figures come from.
    pub source: String,
}

/// A slice that cannot be had.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MigError {
    /// The GPU has no table.
    #[error(
        "no MIG profiles are known for {gpu} (asked for `{profile}`); known for: {known}, and for a GPU file with the `name` of one of these"
    )]
    NoProfiles {
        /// Name of the GPU.
        gpu: String,
        /// The profile asked for.
        profile: String,
        /// Ids of the GPUs with a table.
        known: String,
    },
    /// The GPU has no such profile.
    #[error(
        "{gpu} has no MIG profile `{profile}`; it has {known} (GPU instances; a compute instance has no profile here)"
    )]
    Profile {
        /// Name of the GPU.
        gpu: String,
        /// The profile asked for.
        profile: String,
        /// All profiles of the GPU.
        known: String,
    },
    /// The SM count of the profile is by analogy or has no source.
    #[error(
        "MIG profile {profile} of {gpu} is refused: its SM count {reason}; sourced profiles of this GPU: {sourced}"
    )]
    Refused {
        /// Name of the GPU.
        gpu: String,
        /// The profile asked for.
        profile: String,
        /// Why.
        reason: &'static str,
        /// The profiles that can be used.
        sourced: String,
    },
    /// A GPU file with another SM count than the profiles are for.
    #[error(
        "sm.count = {count} of {gpu}: its MIG profiles are those of a GPU with {of} SMs; leave sm.count at {of} to slice it"
    )]
    SmCount {
        /// Name of the GPU.
        gpu: String,
        /// SMs of the file.
        count: u32,
        /// SMs of the table.
        of: u32,
    },
    /// A what-if on a figure that the profile sets.
    #[error("--set {key}={value} has no effect on a MIG slice: {reason}; use it on the whole GPU")]
    WhatIf {
        /// The key as given.
        key: String,
        /// The value as given.
        value: String,
        /// What decides instead.
        reason: &'static str,
    },
}

impl Fraction {
    /// The share as a number.
    pub fn get(self) -> f64 {
        f64::from(self.part) / f64::from(self.of)
    }
}

impl std::fmt::Display for Fraction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.part == self.of { f.pad("full") } else { f.pad(&format!("{}/{}", self.part, self.of)) }
    }
}

impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let parts = if text == "full" { Some((1, 1)) } else { None };
        let parts = parts.or_else(|| text.split_once('/').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?))));
        match parts {
            Some((part, of)) if part >= 1 && part <= of => Ok(Self { part, of }),
            _ => Err(serde::de::Error::custom(format!("`{text}` is not a share; write it like \"3/8\" or \"full\""))),
        }
    }
}

/// SMs, share of the DRAM bandwidth and share of L2.
type Figures = (u32, Fraction, Fraction);

impl MigProfile {
    /// What the slice is cut by; absent where a source is missing.
    fn figures(&self) -> Option<Figures> {
        match self.sm_status {
            SmStatus::Dump | SmStatus::Jax => Some((self.sm?, self.mem_fraction?, self.l2_fraction?)),
            SmStatus::Analogy | SmStatus::Unsourced => None,
        }
    }

    /// SMs of an instance, where a source counts them; only such profiles can be used.
    pub fn sourced_sm(&self) -> Option<u32> {
        self.figures().map(|(sm, ..)| sm)
    }

    /// Why the profile is refused, to follow "its SM count".
    pub fn refusal(&self) -> &'static str {
        match self.sm_status {
            SmStatus::Analogy => "is only known by analogy with another GPU",
            _ => "has no source",
        }
    }
}

impl MigTable {
    fn names(&self, wanted: impl Fn(&MigProfile) -> bool) -> String {
        let names: Vec<&str> = self.profiles.iter().filter(|p| wanted(p)).map(|p| p.name.as_str()).collect();
        if names.is_empty() { "none".into() } else { names.join(", ") }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "schema")]
    _schema: u32,
    table: Vec<MigTable>,
}

/// The built-in tables.
pub(super) fn tables() -> Result<Vec<MigTable>, GpuError> {
    let file: File =
        toml::from_str(TABLES).map_err(|e| GpuError::File { origin: "mig.toml".into(), message: e.to_string() })?;
    Ok(file.table)
}

/// Splits the name of a slice: `a100-sxm4-80gb:3g.40gb`, or with ` MIG ` between as drivers and reports write it.
/// Names without a profile come back whole.
pub fn split_profile(name: &str) -> (&str, Option<&str>) {
    const WORD: &str = " mig ";
    if let Some((gpu, profile)) = name.rsplit_once(':') {
        return (gpu.trim(), Some(profile.trim()));
    }
    match name.to_ascii_lowercase().rfind(WORD) {
        Some(at) => (name[..at].trim_end_matches([',', ' ']), Some(name[at + WORD.len()..].trim())),
        None => (name, None),
    }
}

/// Figures of the whole GPU that the profile replaces, and what decides instead.
fn replaced(key: &str, profile: &MigProfile) -> Option<&'static str> {
    match key {
        "sm.count" | "sm.gpc_count" => Some("the profile sets its SMs"),
        "memory.dram.capacity" if profile.memory.is_some() => Some("the profile sets its memory"),
        "memory.l2.partitions" => Some("its share of L2 decides"),
        "power" => Some("the limit is the board's, which all slices share, so that the power rule does not apply"),
        _ => None,
    }
}

/// Cuts a slice from a GPU that already has its what-ifs. `table` is that of the GPU, `tables` are all.
pub(super) fn slice(
    gpu: Gpu,
    name: &str,
    overrides: &[Override],
    table: Option<&MigTable>,
    tables: &[MigTable],
) -> Result<Gpu, MigError> {
    let (asked, product) = (|| name.to_owned(), || gpu.name.clone());
    let Some(table) = table else {
        let known: Vec<&str> = tables.iter().flat_map(|t| t.gpus.iter().map(String::as_str)).collect();
        return Err(MigError::NoProfiles { gpu: product(), profile: asked(), known: known.join(", ") });
    };
    let Some(profile) = table.profiles.iter().find(|p| p.name.eq_ignore_ascii_case(name)) else {
        return Err(MigError::Profile { gpu: product(), profile: asked(), known: table.names(|_| true) });
    };
    let Some(figures) = profile.figures() else {
        let sourced = table.names(|p| p.figures().is_some());
        return Err(MigError::Refused { gpu: product(), profile: asked(), reason: profile.refusal(), sourced });
    };
    for change in overrides {
        if let Some(reason) = replaced(&change.key, profile) {
            return Err(MigError::WhatIf { key: change.key.clone(), value: change.value.clone(), reason });
        }
    }
    if gpu.sm.count != table.sm_count {
        return Err(MigError::SmCount { gpu: product(), count: gpu.sm.count, of: table.sm_count });
    }
    Ok(cut(gpu, profile, figures, &table.source))
}

/// The slice; what it does not name stays that of the whole GPU, such as clocks, rates, limits and calibration.
fn cut(mut gpu: Gpu, profile: &MigProfile, (sm, of_memory, of_l2): Figures, source: &str) -> Gpu {
    let whole = MigSlice {
        gpu: gpu.id.clone(),
        gpu_name: gpu.name.clone(),
        gpu_sm_count: gpu.sm.count,
        profile: profile.clone(),
        source: source.into(),
    };
    gpu.id = format!("{}:{}", gpu.id, profile.name);
    gpu.name = format!("{}, MIG {}", gpu.name, profile.name);
    gpu.aliases.clear();
    gpu.family_aliases.clear();
    // The vendor's peaks are those of the whole GPU.
    gpu.published = Published::default();
    gpu.sm = Sm { count: sm, gpc_count: None, max_per_gpc: None, source: source.into() };
    let dram = &mut gpu.memory.dram;
    dram.bandwidth = dram.bandwidth * of_memory.get();
    dram.capacity = profile.memory.or(dram.capacity.map(|whole| whole * of_memory.get()));
    let l2 = &mut gpu.memory.l2;
    l2.capacity = l2.capacity * of_l2.get();
    l2.bandwidth = l2.bandwidth.map(|b| b * of_l2.get());
    // Up to half of L2 lies on one side, so that no line is held twice.
    if of_l2.get() <= 0.5 {
        l2.partitions = 1;
    }
    for change in &mut gpu.changes {
        change.push_str(", of the whole GPU");
    }
    gpu.mig = Some(whole);
    gpu
}
