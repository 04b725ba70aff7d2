//! The calibration file as written, and which of its constants a GPU gets.

use serde::Deserialize;

use super::{
    Band, Bands, CLASSIC, Calibration, Constants, ConstantsOf, DataKind, Protocol, RandomData, TensorPower, Tiled,
};
use crate::{
    gpu::{ComputeCapability, GpuError, Limits, range::factor},
    units::{BytesPerCycle, Cycles, Seconds},
};

/// Constants of a GPU or an architecture family, as written; absent ones come from the next wider owner.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnConstants {
    pub sustained_tensor: Option<f64>,
    pub sustained_vector: Option<f64>,
    pub dram_efficiency: Option<f64>,
    pub power_droop: Option<f64>,
    pub fixed_factor: Option<f64>,
    pub sm_stream: Option<BytesPerCycle>,
    pub tensor_power: Option<TensorPower>,
    pub random: Option<RandomData>,
    pub tiled: Option<Tiled>,
    pub sustained_sgemm: Option<f64>,
    pub sgemm_droop: Option<f64>,
    pub sgemm_stride: Option<f64>,
    pub sgemm_tiles: Option<Vec<[u32; 2]>>,
    pub batched_sgemm_tiles: Option<Vec<[u32; 2]>>,
    pub band: Option<Band>,
    pub band_sgemm: Option<Band>,
    pub measured_band: Option<bool>,
    pub data: Option<DataKind>,
    pub source: String,
}

/// A family: the GPUs that share constants where they have none of their own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    pub name: String,
    #[serde(default)]
    pub compute_capabilities: Vec<ComputeCapability>,
    #[serde(default)]
    pub gfx: Vec<String>,
    pub constants: OwnConstants,
}

/// The whole calibration file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationFile {
    #[serde(rename = "schema")]
    _schema: u32,
    pub shared: Constants,
    pub default: OwnConstants,
    pub family: Vec<Family>,
    #[serde(default)]
    pub protocol: Vec<Protocol>,
    pub band: Bands,
}

impl CalibrationFile {
    /// A GPU's own constants, completed by its family's and the default's.
    pub fn resolve(&self, limits: &Limits, own: Option<&OwnConstants>) -> Result<Calibration, GpuError> {
        let family = self.family.iter().find(|f| match limits {
            Limits::Sm(sm) => f.compute_capabilities.contains(&sm.compute_capability),
            Limits::Cu(cu) => f.gfx.contains(&cu.gfx),
            Limits::Core => false,
        });
        let owners: Vec<&OwnConstants> =
            own.into_iter().chain(family.map(|f| &f.constants)).chain([&self.default]).collect();
        let of = match (own, family) {
            (Some(o), _) if o.dram_efficiency.is_some() || o.sustained_tensor.is_some() => ConstantsOf::Gpu,
            (_, Some(family)) => ConstantsOf::Family(family.name.clone()),
            _ => ConstantsOf::Datasheet,
        };
        let of_sgemm = match (own, family) {
            (Some(o), _) if o.sustained_sgemm.is_some() => ConstantsOf::Gpu,
            (_, Some(family)) if family.constants.sustained_sgemm.is_some() => ConstantsOf::Family(family.name.clone()),
            _ => ConstantsOf::Datasheet,
        };
        let source = match &of {
            ConstantsOf::Gpu => own.map(|o| o.source.clone()),
            ConstantsOf::Family(_) => family.map(|f| f.constants.source.clone()),
            ConstantsOf::Datasheet | ConstantsOf::User => None,
        };
        let pick = |field: &'static str, get: fn(&OwnConstants) -> Option<f64>, most: f64| {
            let value = owners.iter().find_map(|o| get(o)).unwrap_or(1.0);
            if value != 0.0 || !field.ends_with("droop") {
                factor(&format!("calibration.{field}"), value, most)?;
            }
            Ok::<f64, GpuError>(value)
        };
        let constants = match limits {
            Limits::Sm(_) | Limits::Cu(_) => self.shared.clone(),
            // A CPU has its roofline alone: perfect overlap, and none of the costs of a launch but a cycle.
            Limits::Core => Constants {
                overlap_exponent: f64::INFINITY,
                fixed: Cycles(1.0),
                block_turnaround: Cycles(0.0),
                launch_overhead: Seconds(0.0),
                ..self.shared.clone()
            },
        };
        let band = |get: fn(&OwnConstants) -> Option<Band>, of: &ConstantsOf| match (
            own.and_then(get),
            owners.iter().find_map(|o| get(o)),
        ) {
            (Some(own), _) => own,
            (None, Some(family)) if *of == ConstantsOf::Gpu => family,
            (None, Some(family)) => family.widened(self.band.other_gpu),
            (None, None) => self.band.unmeasured,
        };
        // Constants that somebody fitted to other data than uninitialised ones stand for these.
        let fitted = owners.iter().find(|o| o.sustained_tensor.is_some() || o.power_droop.is_some());
        let random = match fitted.and_then(|o| o.data) {
            Some(DataKind::Uninitialised) => owners.iter().find_map(|o| o.random),
            Some(DataKind::Random) | None => None,
        };
        let sgemm_stride = owners.iter().find_map(|o| o.sgemm_stride).unwrap_or(0.0);
        // None is a stride, too.
        factor("calibration.sgemm_stride + 1", sgemm_stride + 1.0, 1e3)?;
        let tensor_power = owners.iter().find_map(|o| o.tensor_power);
        if let Some(RandomData { sustained, droop }) = random {
            factor("calibration.random.sustained", sustained, 1.0)?;
            // None is a droop, too.
            factor("calibration.random.droop + 1", droop + 1.0, 2.0)?;
        }
        if let Some(power) = tensor_power {
            factor("calibration.tensor_power.burst", power.burst, 10.0)?;
            factor("calibration.tensor_power.limit", power.limit, 1.0)?;
        }
        // Constants of a few rows move the estimate, not the spread, which is still that of whoever was measured.
        let unmeasured = own.is_some_and(|o| o.measured_band == Some(false));
        let band_of = |get: fn(&OwnConstants) -> Option<Band>, of: &ConstantsOf| {
            let whose = family.filter(|f| get(&f.constants).is_some()).map(|f| format!("the {} family", f.name));
            (unmeasured && *of == ConstantsOf::Gpu && own.and_then(get).is_none())
                .then(|| whose.unwrap_or_else(|| "GPUs that nobody measured".into()))
        };
        let (band_of, band_sgemm_of) = (band_of(|o| o.band, &of), band_of(|o| o.band_sgemm, &of_sgemm));
        let (tensor_band, sgemm_band) = (band(|o| o.band, &of), band(|o| o.band_sgemm, &of_sgemm));
        Ok(Calibration {
            constants,
            sustained_tensor: pick("sustained_tensor", |o| o.sustained_tensor, 1.0)?,
            sustained_vector: pick("sustained_vector", |o| o.sustained_vector, 1.0)?,
            dram_efficiency: pick("dram_efficiency", |o| o.dram_efficiency, 1.0)?,
            fixed_factor: pick("fixed_factor", |o| o.fixed_factor, 10.0)?,
            power_droop: pick("power_droop", |o| o.power_droop, 1.0)?,
            sm_stream: owners.iter().find_map(|o| o.sm_stream).unwrap_or(BytesPerCycle(20.0)),
            tensor_power,
            random,
            data: DataKind::default(),
            schedule: None,
            by_power: false,
            tiled: owners.iter().find_map(|o| o.tiled).unwrap_or(CLASSIC),
            sustained_sgemm: pick("sustained_sgemm", |o| o.sustained_sgemm, 1.0)?,
            sgemm_droop: pick("sgemm_droop", |o| o.sgemm_droop, 1.0)?,
            sgemm_stride,
            sgemm_tiles: owners.iter().find_map(|o| o.sgemm_tiles.clone()).unwrap_or_default(),
            batched_sgemm_tiles: owners.iter().find_map(|o| o.batched_sgemm_tiles.clone()).unwrap_or_default(),
            band: tensor_band,
            band_sgemm: sgemm_band,
            band_of,
            band_sgemm_of,
            band_uncalibrated: self.band.uncalibrated,
            of,
            of_sgemm,
            source: source.unwrap_or_else(|| self.default.source.clone()),
        })
    }
}
