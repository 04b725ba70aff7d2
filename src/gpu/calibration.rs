//! The measured constants of the time model, and whose they are. The theoretical roofline never uses them.

mod file;
mod power;

use serde::Deserialize;

use super::Pipe;
use crate::units::{BytesPerCycle, Cycles, Seconds};
pub(super) use file::{CalibrationFile, OwnConstants};
pub use power::{DataKind, RandomData, TensorPower};

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

/// Measured over predicted time of held-out matrix products: the 10th and the 90th percentile, by predicted time:
/// below 10 us, 10 to 100, 100 to 1000, above.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// 10th percentiles.
    pub low: [f64; 4],
    /// 90th percentiles.
    pub high: [f64; 4],
}

impl Band {
    /// Regime of a predicted time.
    pub fn regime(time: Seconds) -> usize {
        [1e-5, 1e-4, 1e-3].iter().filter(|edge| time.get() >= **edge).count()
    }

    /// The same band, this many times as wide on a scale of ratios.
    pub fn widened(&self, by: f64) -> Self {
        let wide = |ratios: [f64; 4]| ratios.map(|ratio| libm::pow(ratio, by));
        Self { low: wide(self.low), high: wide(self.high) }
    }
}

/// How a source of measured times measured: what was in L2, and what the clock saw besides the kernel.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// The source, or what its name begins with.
    pub source: String,
    /// The operation; absent where it holds for every one.
    pub op: Option<String>,
    /// Ids of the GPUs, whose hosts differ; absent where it holds for every one.
    pub gpus: Option<Vec<String>>,
    /// Copies of the weights that take turns; 1 is the same product again and again.
    pub weight_copies: u32,
    /// Time of a launch on the host, where it is inside the measured times.
    pub launch_overhead: Option<Seconds>,
    /// What the operands held.
    #[serde(default)]
    pub data: DataKind,
    /// How this is known.
    pub basis: String,
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

/// How much wider a band is where nobody measured.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bands {
    /// Exponent on the family's band for its other GPUs.
    pub other_gpu: f64,
    /// Of families that nobody measured.
    pub unmeasured: Band,
    /// Of types and shapes that nobody measured on any GPU.
    pub uncalibrated: Band,
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
    /// Sustained share of the tensor peak (phi) for the data of the fit, 0 to 1; [`Self::sustained`] knows the data.
    pub sustained_tensor: f64,
    /// Sustained share of the vector peak, 0 to 1.
    pub sustained_vector: f64,
    /// Sustained share of the DRAM bandwidth before overlap loss (e_d), 0 to 1.
    pub dram_efficiency: f64,
    /// Factor on the fixed cost.
    pub fixed_factor: f64,
    /// Largest stream that one SM can pull.
    pub sm_stream: BytesPerCycle,
    /// Power droop of long math-bound kernels (pw) for the data of the fit; [`Self::droop`] knows the data.
    pub power_droop: f64,
    /// What a power limit leaves of the tensor peak, where known.
    pub tensor_power: Option<TensorPower>,
    /// What random data change; absent where the constants hold for any data.
    pub random: Option<RandomData>,
    /// What the operands hold.
    pub data: DataKind,
    /// How the tiles of a matrix product are handed out, where it is not left to the family.
    pub schedule: Option<TileSchedule>,
    /// Whether the sustained share of the tensor peak follows from the board's power, for want of a measurement.
    pub by_power: bool,
    /// How tiled kernels run.
    pub tiled: Tiled,
    /// Share of the vector peak that a large matrix product holds.
    pub sustained_sgemm: f64,
    /// Power droop of long matrix products on vector units.
    pub sgemm_droop: f64,
    /// What a KiB between the rows of an operand adds to `small_tile` in these products, in elements.
    pub sgemm_stride: f64,
    /// Tiles (height, width) that libraries use for matrix products on vector units; none where they use every tile.
    pub sgemm_tiles: Vec<[u32; 2]>,
    /// The same for batches of products.
    pub batched_sgemm_tiles: Vec<[u32; 2]>,
    /// Spread of matrix products on tensor cores.
    pub band: Band,
    /// Spread of matrix products on vector units.
    pub band_sgemm: Band,
    /// Whose `band` is, where constants were measured on this GPU and the spread was not.
    pub band_of: Option<String>,
    /// The same of `band_sgemm`.
    pub band_sgemm_of: Option<String>,
    /// Spread of types and shapes that nobody measured.
    pub band_uncalibrated: Band,
    /// Whose sustained shares these are.
    pub of: ConstantsOf,
    /// Whose those of matrix products on vector units are.
    pub of_sgemm: ConstantsOf,
    /// How the sustained shares were obtained.
    pub source: String,
}

/// How the tiles of a matrix product reach the SMs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileSchedule {
    /// A block per tile: SMs that the last wave leaves idle are lost.
    Classic,
    /// Blocks that stay and take tiles until none are left, which evens out most of the last wave.
    Persistent,
}

/// Share of a partial wave that persistent kernels lose: fitted on Hopper (see its family in `gpus/calibration.toml`), 0.19
/// to 0.28 on Blackwell.
const PERSISTENT_QUANTISATION: f64 = 0.2;

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

/// What 2:4 sparse products sustain of their doubled peak, against dense ones of theirs: tuned CUTLASS kernels on an A100 reached
/// 484 of 624 TFLOP/s sparse and 302 of 312 dense (CUTLASS issue 408). cuSPARSELt at 4096^3 reached less, 1.11 times the dense
/// rate (CUDALibrarySamples issue 57).
const SPARSE_SHARE: f64 = (484.0 / 624.0) / (302.0 / 312.0);

impl Calibration {
    /// How the tiled kernels of a unit run. Those of vector units load through their threads on every family.
    pub fn tiled_of(&self, pipe: Pipe) -> Tiled {
        let family = if matches!(pipe, Pipe::Tensor { .. }) { self.tiled } else { CLASSIC };
        let quantisation = match self.schedule {
            Some(TileSchedule::Classic) => CLASSIC.quantisation,
            Some(TileSchedule::Persistent) => family.quantisation.min(PERSISTENT_QUANTISATION),
            None => family.quantisation,
        };
        Tiled { quantisation, ..family }
    }

    fn as_random(&self) -> Option<RandomData> {
        self.random.filter(|_| self.data == DataKind::Random)
    }

    /// Makes the constants of one kind of data the constants of all.
    pub fn fold(&mut self, data: DataKind) {
        self.data = data;
        if let Some(random) = self.as_random() {
            self.sustained_tensor *= random.sustained;
            self.power_droop = random.droop;
        }
        self.random = None;
    }

    /// Sustained share of the peak of a unit, 0 to 1.
    pub fn sustained(&self, pipe: Pipe) -> f64 {
        match pipe {
            Pipe::Tensor { .. } => self.sustained_tensor * self.as_random().map_or(1.0, |random| random.sustained),
            Pipe::Vector(_) | Pipe::Special => self.sustained_vector,
        }
    }

    /// The same of matrix products.
    pub fn sustained_product(&self, pipe: Pipe) -> f64 {
        match pipe {
            Pipe::Tensor { sparse, .. } => self.sustained(pipe) * if sparse { SPARSE_SHARE } else { 1.0 },
            Pipe::Vector(_) | Pipe::Special => self.sustained_sgemm,
        }
    }

    /// Power droop of long kernels of tensor cores, and of long matrix products of the other units.
    pub fn droop(&self, pipe: Pipe) -> f64 {
        match pipe {
            Pipe::Tensor { .. } => self.as_random().map_or(self.power_droop, |random| random.droop),
            Pipe::Vector(_) | Pipe::Special => self.sgemm_droop,
        }
    }

    /// Whose the spread of matrix products is, where it was not measured on this GPU while its constants were.
    pub fn borrowed_band(&self, pipe: Pipe) -> Option<&str> {
        match pipe {
            Pipe::Tensor { .. } => self.band_of.as_deref(),
            Pipe::Vector(_) | Pipe::Special => self.band_sgemm_of.as_deref(),
        }
    }

    /// Whose constants a unit has.
    pub fn of_unit(&self, pipe: Pipe) -> &ConstantsOf {
        match pipe {
            Pipe::Tensor { .. } => &self.of,
            Pipe::Vector(_) | Pipe::Special => &self.of_sgemm,
        }
    }
}
