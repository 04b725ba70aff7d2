//! The measured constants of the time model, and whose they are. The theoretical roofline never uses them.

use serde::Deserialize;

use super::{ComputeCapability, GpuError, Limits, range::factor};
use crate::units::{BytesPerCycle, Cycles, Seconds};

/// Constants that all GPUs share; each was fitted once, see `gpus/calibration.toml`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constants {
    /// Exponent p of the p-sum that combines terms: infinity is perfect overlap, 1 none.
    pub overlap_exponent: f64,
    /// Launch gap, ramp, first load and drain of a kernel on the device.
    pub fixed: Cycles,
    /// Rate of streaming resident data from L2, in multiples of sustained DRAM bandwidth.
    pub l2_stream_ratio: f64,
    /// Port between one SM and L2.
    pub l2_port: BytesPerCycle,
    /// Share of the port that operand feeds reach.
    pub l2_feed: f64,
    /// Effective share of L2 for residency.
    pub l2_effective: f64,
    /// Further factor where two halves of L2 may hold the same line.
    pub l2_two_partitions: f64,
    /// Steepness of the residency transition.
    pub residency_exponent: f64,
    /// Latency of a memory access in a loaded pipeline, where no chase was measured.
    pub loaded_latency: Seconds,
    /// Launch and exit of one block on a slot, besides its work; cycles of the vector clock.
    pub block_turnaround: Cycles,
    /// A load from shared memory.
    pub shared_latency: Cycles,
    /// Cycles between dependent arithmetic instructions of a warp.
    pub dependent_issue: Cycles,
    /// Cost of adding up the partial sums of a split matrix product, besides their traffic.
    pub split_cost: Cycles,
    /// What one SM stores of finished tiles, per cycle.
    pub store: BytesPerCycle,
    /// Inefficiency of small tiles: h0 of (1 + h0 / h), h = tile area / (height + width), in elements.
    pub small_tile: f64,
    /// Time that the host adds to a launch in a stream, where it is asked for.
    pub launch_overhead: Seconds,
    /// How they were obtained.
    pub source: String,
}

/// Constants of a GPU or an architecture family, as written; absent ones come from the next wider owner.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OwnConstants {
    pub sustained_tensor: Option<f64>,
    pub sustained_vector: Option<f64>,
    pub dram_efficiency: Option<f64>,
    pub power_droop: Option<f64>,
    pub fixed_factor: Option<f64>,
    pub sm_stream: Option<BytesPerCycle>,
    pub tensor_energy: Option<crate::units::JoulesPerFlop>,
    pub tiled: Option<Tiled>,
    pub data: Option<String>,
    pub source: String,
}

/// How a family runs tiled kernels such as matrix products; see section A of the sources in `gpus/calibration.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiled {
    /// Which kernels libraries have for the family.
    pub pipeline: Pipeline,
    /// Steps of the k-loop in flight in the load pipeline.
    pub depth: f64,
    /// Gain of multicast on the operand feed from L2.
    pub feed_factor: f64,
    /// The same on the partial sums of split-K.
    pub partials_factor: f64,
    /// Gain of bulk stores and overlapped epilogues on the output.
    pub store_factor: f64,
    /// Share of a partial wave that is lost: 1 for classic waves, 0 for perfectly balanced persistent blocks.
    pub quantisation: f64,
    /// Factor on the cost of split-K.
    pub split_factor: f64,
    /// Whether one row is left to a kernel without tiles.
    pub gemv: bool,
}

/// The kernels of matrix products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pipeline {
    /// A block per tile, loads by the threads (cp.async).
    Classic,
    /// A block per SM that takes tiles one after the other, loads by the TMA unit.
    Persistent,
}

/// A family: the GPUs that share constants where they have none of their own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Family {
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
pub(super) struct CalibrationFile {
    #[serde(rename = "schema")]
    _schema: u32,
    pub shared: Constants,
    pub default: OwnConstants,
    pub family: Vec<Family>,
}

/// Whose constants an answer uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstantsOf {
    /// Measured on this GPU.
    Gpu,
    /// Measured on another GPU of the family.
    Family(String),
    /// Nobody measured: datasheet figures.
    Datasheet,
    /// A what-if of the user.
    User,
}

impl std::fmt::Display for ConstantsOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gpu => f.write_str("gpu"),
            Self::Family(name) => write!(f, "family:{name}"),
            Self::Datasheet => f.write_str("datasheet"),
            Self::User => f.write_str("user"),
        }
    }
}

/// The constants that apply to one GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Constants shared by all GPUs.
    pub constants: Constants,
    /// Sustained share of the tensor peak (phi), 0 to 1.
    pub sustained_tensor: f64,
    /// Sustained share of the vector peak, 0 to 1.
    pub sustained_vector: f64,
    /// Sustained share of the DRAM bandwidth before overlap loss (e_d), 0 to 1.
    pub dram_efficiency: f64,
    /// Factor on the fixed cost.
    pub fixed_factor: f64,
    /// Largest stream that one SM can pull.
    pub sm_stream: BytesPerCycle,
    /// Power droop of long math-bound kernels (pw).
    pub power_droop: f64,
    /// Energy of one 16-bit tensor operation, where known: the sustained rate under another power limit follows from it.
    pub tensor_energy: Option<crate::units::JoulesPerFlop>,
    /// How tiled kernels run.
    pub tiled: Tiled,
    /// Whose sustained shares these are.
    pub of: ConstantsOf,
    /// How the sustained shares were obtained.
    pub source: String,
}

/// Kernels of a family of which nothing is known.
const CLASSIC: Tiled = Tiled {
    pipeline: Pipeline::Classic,
    depth: 1.5,
    feed_factor: 1.0,
    partials_factor: 1.0,
    store_factor: 1.0,
    quantisation: 1.0,
    split_factor: 1.0,
    gemv: true,
};

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
        let source = match &of {
            ConstantsOf::Gpu => own.map(|o| o.source.clone()),
            ConstantsOf::Family(_) => family.map(|f| f.constants.source.clone()),
            ConstantsOf::Datasheet | ConstantsOf::User => None,
        };
        let pick = |field: &'static str, get: fn(&OwnConstants) -> Option<f64>, most: f64| {
            let value = owners.iter().find_map(|o| get(o)).unwrap_or(1.0);
            if value != 0.0 || field != "power_droop" {
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
        Ok(Calibration {
            constants,
            sustained_tensor: pick("sustained_tensor", |o| o.sustained_tensor, 1.0)?,
            sustained_vector: pick("sustained_vector", |o| o.sustained_vector, 1.0)?,
            dram_efficiency: pick("dram_efficiency", |o| o.dram_efficiency, 1.0)?,
            fixed_factor: pick("fixed_factor", |o| o.fixed_factor, 10.0)?,
            power_droop: pick("power_droop", |o| o.power_droop, 1.0)?,
            sm_stream: owners.iter().find_map(|o| o.sm_stream).unwrap_or(BytesPerCycle(20.0)),
            tensor_energy: owners.iter().find_map(|o| o.tensor_energy),
            tiled: owners.iter().find_map(|o| o.tiled).unwrap_or(CLASSIC),
            of,
            source: source.unwrap_or_else(|| self.default.source.clone()),
        })
    }
}
