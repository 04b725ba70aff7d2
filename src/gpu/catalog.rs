//! The built-in GPU files and how a name finds one of them. Pure: file texts come in, values go out.

use serde::Deserialize;
use toml::Table;

use super::{
    ComputeCapability, CuLimits, Gpu, GpuError, Limits, Override, SmLimits,
    calibration::{CalibrationFile, Protocol},
    limits::LimitsFile,
    meant,
    mig::{self, MigTable},
    read::{self, Tables},
};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/gpus.rs"));
}

const LIMITS: &str = include_str!("../../gpus/nvidia/compute_capability.toml");
const COMPUTE_UNITS: &str = include_str!("../../gpus/amd/gfx.toml");
const CALIBRATION: &str = include_str!("../../gpus/calibration.toml");
const DEVIATIONS: &str = include_str!("../../gpus/deviations.toml");
/// Tables beside the products in their folders.
const TABLES: [&str; 3] = ["compute_capability", "gfx", "mig"];

/// A peak whose derived value is more than 2 % from the published one, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// Id of the GPU.
    pub gpu: String,
    /// The pipe, such as `vector.fp64`.
    pub peak: String,
    /// Why they differ.
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    #[serde(rename = "schema")]
    _schema: u32,
    #[serde(rename = "source")]
    _source: String,
    limits: Vec<LimitsFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ComputeUnitTable {
    #[serde(rename = "schema")]
    _schema: u32,
    #[serde(rename = "source")]
    _source: String,
    compute_unit: Vec<CuLimits>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeviationTable {
    #[serde(rename = "schema")]
    _schema: u32,
    deviation: Vec<Deviation>,
}

/// A GPU found by name, and what had to be assumed to find it.
#[derive(Clone, Debug)]
pub struct Found {
    /// The GPU.
    pub gpu: Gpu,
    /// What an open name ("h100") was taken to mean.
    pub assumption: Option<String>,
}

struct Entry {
    id: String,
    text: String,
    gpu: Gpu,
}

impl Entry {
    /// What the order of the catalog goes by.
    fn place(&self) -> (u8, u16, &str) {
        let kind = match self.gpu.limits {
            Limits::Sm(_) => 0,
            Limits::Cu(_) => 1,
            Limits::Core => 2,
        };
        (kind, self.gpu.release_year.unwrap_or(u16::MAX), &self.id)
    }
}

/// GPU files and the tables that they share.
pub struct Catalog {
    entries: Vec<Entry>,
    limits: Vec<LimitsFile>,
    limits_text: Table,
    compute_units: Vec<CuLimits>,
    compute_units_text: Table,
    calibration: CalibrationFile,
    mig: Vec<MigTable>,
}

impl Catalog {
    /// The built-in files.
    ///
    /// # Errors
    /// None for the files of a release; a test reads them all.
    pub fn embedded() -> Result<Self, GpuError> {
        let file = |origin: &str| {
            let origin = origin.to_owned();
            move |e: toml::de::Error| GpuError::File { origin, message: e.to_string() }
        };
        let table: LimitsTable = toml::from_str(LIMITS).map_err(file("compute_capability.toml"))?;
        let units: ComputeUnitTable = toml::from_str(COMPUTE_UNITS).map_err(file("gfx.toml"))?;
        let mut catalog = Self {
            entries: Vec::new(),
            limits: table.limits,
            limits_text: toml::from_str(LIMITS).map_err(file("compute_capability.toml"))?,
            compute_units: units.compute_unit,
            compute_units_text: toml::from_str(COMPUTE_UNITS).map_err(file("gfx.toml"))?,
            calibration: toml::from_str(CALIBRATION).map_err(file("calibration.toml"))?,
            mig: mig::tables()?,
        };
        for (id, text) in embedded::GPU_FILES.iter().filter(|(id, _)| !TABLES.contains(id)) {
            catalog.add(id, text)?;
        }
        Ok(catalog)
    }

    /// Adds a file, or replaces the one with the same id.
    ///
    /// # Errors
    /// The file is not a valid GPU file.
    pub fn add(&mut self, id: &str, text: &str) -> Result<(), GpuError> {
        let gpu = self.read(id, text, &[])?;
        self.entries.retain(|e| e.id != id);
        self.entries.push(Entry { id: id.into(), text: text.into(), gpu });
        self.entries.sort_by(|a, b| a.place().cmp(&b.place()));
        Ok(())
    }

    /// Reads the text of a GPU file and applies what-ifs to it.
    ///
    /// # Errors
    /// The file is not valid, or a what-if does not fit it.
    pub fn read(&self, id: &str, text: &str, overrides: &[Override]) -> Result<Gpu, GpuError> {
        let tables = Tables {
            limits: &self.limits,
            limits_text: &self.limits_text,
            compute_units: &self.compute_units,
            compute_units_text: &self.compute_units_text,
            calibration: &self.calibration,
        };
        read::gpu(id, id, text, overrides, &tables)
    }

    /// All devices: NVIDIA's GPUs, AMD's, CPUs; oldest first, those without a year last.
    pub fn gpus(&self) -> impl Iterator<Item = &Gpu> {
        self.entries.iter().map(|e| &e.gpu)
    }

    /// The text of a GPU's file.
    pub fn text(&self, id: &str) -> Option<&str> {
        self.entries.iter().find(|e| e.id == id).map(|e| e.text.as_str())
    }

    /// The GPU with this id, name or alias. Whole names only; case, spaces, `-` and `_` do not matter. With `:` and a
    /// MIG profile behind it, that slice.
    ///
    /// # Errors
    /// No GPU has the name, or it has no such slice; the error lists near ones. Nothing is ever taken for something similar.
    pub fn find(&self, name: &str) -> Result<Found, GpuError> {
        self.find_with(name, &[])
    }

    /// As `find`, with what-ifs applied; those of a slice change the whole GPU before it is cut.
    ///
    /// # Errors
    /// No GPU has the name, it has no such slice, or a what-if does not fit.
    pub fn find_with(&self, name: &str, overrides: &[Override]) -> Result<Found, GpuError> {
        let whole = self.entry(&normal(name)).map(|entry| (entry, name, None));
        let found = whole.or_else(|| {
            let (gpu, profile) = mig::split_profile(name);
            self.entry(&normal(gpu)).map(|entry| (entry, gpu, profile))
        });
        let Some(((entry, assumption), name, profile)) = found else {
            return Err(self.unknown(mig::split_profile(name).0));
        };
        let gpu = if overrides.is_empty() { entry.gpu.clone() } else { self.read(&entry.id, &entry.text, overrides)? };
        let gpu = match profile {
            Some(profile) => self.slice(gpu, profile, overrides)?,
            None => gpu,
        };
        Ok(Found { gpu, assumption: assumption.map(|a| format!("`{name}` is taken as {a}")) })
    }

    /// Whether a name means a GPU: its id, its name or an alias of it, or a GPU of the catalog that has its name, so that
    /// a changed copy of a file still is the product. A slice is no other slice and not the whole.
    ///
    /// # Errors
    /// The name is neither its own nor one of the catalog.
    pub fn means(&self, name: &str, gpu: &Gpu) -> Result<bool, GpuError> {
        let wanted = normal(name);
        let own = [&gpu.id, &gpu.name].into_iter().chain(if gpu.mig.is_none() { &gpu.aliases[..] } else { &[] });
        if own.into_iter().any(|own| normal(own) == wanted) {
            return Ok(true);
        }
        let found = self.find(name)?.gpu;
        Ok(found.id == gpu.id || found.name == gpu.name)
    }

    /// How a source of measured times measured an operation, where that is known.
    pub fn protocol(&self, source: &str, op: &str, gpu: &Gpu) -> Option<&Protocol> {
        let of = |p: &&Protocol| {
            source.starts_with(&p.source)
                && p.op.as_ref().is_none_or(|o| o == op)
                && p.gpus.as_ref().is_none_or(|ids| ids.contains(&gpu.id))
        };
        self.calibration.protocol.iter().find(of)
    }

    /// The MIG profiles of a GPU: those of its id, else those of the GPU in the catalog that has its name, so that a
    /// copy of a file keeps them.
    pub fn mig(&self, gpu: &Gpu) -> Option<&MigTable> {
        let of = |id: &String| self.mig.iter().find(|table| table.gpus.contains(id));
        of(&gpu.id).or_else(|| of(&self.entries.iter().find(|e| e.gpu.name == gpu.name)?.id))
    }

    /// Every MIG table; a test reads them.
    pub fn mig_tables(&self) -> &[MigTable] {
        &self.mig
    }

    /// The MIG slice of a GPU. Profiles are matched whole; case does not matter. `overrides` are the what-ifs that the
    /// GPU was read with.
    ///
    /// # Errors
    /// The GPU has no such profile, the SM count of the profile has no source, the GPU is a file with another SM count,
    /// or a what-if changes a figure that the profile sets.
    pub fn slice(&self, gpu: Gpu, profile: &str, overrides: &[Override]) -> Result<Gpu, GpuError> {
        let table = self.mig(&gpu);
        Ok(mig::slice(gpu, profile, overrides, table, &self.mig)?)
    }

    fn entry(&self, wanted: &str) -> Option<(&Entry, Option<&str>)> {
        let exact = self.entries.iter().find(|e| {
            normal(&e.id) == wanted
                || normal(&e.gpu.name) == wanted
                || e.gpu.aliases.iter().any(|a| normal(a) == wanted)
        });
        if let Some(entry) = exact {
            return Some((entry, None));
        }
        self.entries.iter().find_map(|e| {
            let alias = e.gpu.family_aliases.iter().find(|a| normal(&a.name) == wanted)?;
            Some((e, Some(alias.assumes.as_str())))
        })
    }

    fn unknown(&self, name: &str) -> GpuError {
        let wanted = normal(name);
        let mut scored: Vec<(f64, &str)> = self
            .entries
            .iter()
            .map(|e| {
                let names = e.gpu.aliases.iter().chain([&e.id, &e.gpu.name]);
                let best = names.map(|n| strsim::jaro_winkler(&normal(n), &wanted)).fold(0.0, f64::max);
                (best, e.id.as_str())
            })
            .filter(|(score, _)| *score > 0.7)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        GpuError::Unknown { name: name.into(), near: scored.into_iter().take(3).map(|(_, id)| id.into()).collect() }
    }

    /// The SM limits of a compute capability.
    ///
    /// # Errors
    /// The capability has no row; near ones are never taken.
    pub fn limits(&self, capability: ComputeCapability) -> Result<SmLimits, GpuError> {
        meant::limits_for(&self.limits, capability)
    }

    /// The compute unit of a gfx target, such as gfx942.
    ///
    /// # Errors
    /// The target has no row; near ones are never taken.
    pub fn compute_unit(&self, gfx: &str) -> Result<CuLimits, GpuError> {
        meant::compute_unit_for(&self.compute_units, gfx)
    }

    /// The compute units of every known gfx target.
    pub fn all_compute_units(&self) -> &[CuLimits] {
        &self.compute_units
    }

    /// The SM limits of every known compute capability.
    ///
    /// # Errors
    /// None for the built-in table; a test reads it.
    pub fn all_limits(&self) -> Result<Vec<SmLimits>, GpuError> {
        self.limits.iter().map(LimitsFile::meant).collect()
    }

    /// The named list of peaks that deviate from the published ones.
    ///
    /// # Errors
    /// None for the built-in list; a test reads it.
    pub fn deviations() -> Result<Vec<Deviation>, GpuError> {
        let table: DeviationTable = toml::from_str(DEVIATIONS)
            .map_err(|e| GpuError::File { origin: "deviations.toml".into(), message: e.to_string() })?;
        Ok(table.deviation)
    }
}

/// Lower case without separators: "NVIDIA H100-SXM" and "nvidia h100 sxm" are one name.
fn normal(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).flat_map(char::to_lowercase).collect()
}
