//! The fitted constants of attention kernels, and which of them a GPU gets.

use serde::Deserialize;

use super::{AttentionError, Phase};
use crate::{
    gpu::{Band, ComputeCapability, ConstantsOf, Gpu, Limits},
    units::{BytesPerCycle, BytesPerSecond, Seconds},
};

/// Who wrote the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Library {
    /// FlashAttention-2.
    Fa2,
    /// FlashAttention-2 on a KV cache, in versions that visit the keys behind the mask.
    #[serde(rename = "fa2-kvcache")]
    Fa2KvCache,
    /// FlashAttention-3.
    Fa3,
    /// FlashInfer.
    FlashInfer,
    /// TensorRT-LLM, also where FlashInfer calls it.
    TrtLlm,
    /// None that was measured: blocks of 64 x 64.
    Generic,
}

impl Library {
    /// The word on the command line and in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fa2 => "fa2",
            Self::Fa2KvCache => "fa2-kvcache",
            Self::Fa3 => "fa3",
            Self::FlashInfer => "flashinfer",
            Self::TrtLlm => "trtllm",
            Self::Generic => "generic",
        }
    }
}

impl std::str::FromStr for Library {
    type Err = AttentionError;

    fn from_str(text: &str) -> Result<Self, AttentionError> {
        let all = [Self::Fa2, Self::Fa2KvCache, Self::Fa3, Self::FlashInfer, Self::TrtLlm];
        all.into_iter()
            .find(|l| l.word() == text.to_ascii_lowercase())
            .ok_or_else(|| AttentionError::Library { input: text.into() })
    }
}

/// All constants, as in `gpus/operations/attention.toml`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constants {
    #[serde(rename = "schema")]
    _schema: u32,
    /// Fixed cost of a kernel by itself.
    pub bare: Seconds,
    /// Exponent on a band for GPUs that the kernel was not fitted to.
    pub other_gpu: f64,
    /// The same for calls that nobody measured.
    pub unmeasured: f64,
    /// The kernels.
    #[serde(rename = "kernel")]
    pub kernels: Vec<Kernel>,
}

/// The kernels of a library on one GPU.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Who wrote them.
    pub library: Library,
    /// Name for people.
    pub name: String,
    /// Id of the GPU that they were measured on; absent where nobody measured.
    pub gpu: Option<String>,
    /// Whether a call takes them where no library is asked for.
    pub first_choice: bool,
    /// Architectures that run them.
    pub compute_capabilities: Vec<ComputeCapability>,
    /// Head sizes that were measured.
    pub measured_head_sizes: Vec<u64>,
    /// Whether chunks of a prompt, with keys before them, were among the measured calls.
    #[serde(default)]
    pub measured_chunks: bool,
    /// Head sizes that they are compiled for; others take the next larger one.
    pub head_sizes: Vec<u64>,
    /// Share of L2 that keeps K and V from one call to the next.
    pub l2_share: f64,
    /// Threads of a block.
    pub threads: u32,
    /// Where the constants are from.
    pub source: String,
    /// Tiles of a prefill.
    pub tile: Tile,
    /// Constants of prefill.
    pub prefill: Prefill,
    /// Constants of decode, by the number of query heads that share a KV head.
    #[serde(default)]
    pub decode: Vec<Decode>,
}

/// Head sizes up to which a tile holds.
const HEADS: [u64; 4] = [64, 128, 192, 256];

/// The place of a head size in tables of tiles.
pub fn place(head_dim: u64) -> usize {
    HEADS.iter().position(|h| head_dim <= *h).unwrap_or(HEADS.len() - 1)
}

/// Tiles of a prefill by head size (up to 64, 128, 192, 256).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tile {
    /// Rows.
    pub rows: [u32; 4],
    /// Keys.
    pub columns: [u32; 4],
    /// Whether the query heads of a KV head are rows of one tile.
    pub packed: bool,
    /// Rows that are computed at a time.
    pub granule: u64,
    /// Whether a prefill with few blocks cuts the keys into shares.
    pub split: bool,
    /// Whether a block visits the keys behind the causal mask too, and drops what it computed.
    #[serde(default)]
    pub behind_mask: bool,
}

/// Constants of prefill.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefill {
    /// Launches of the call.
    pub t0: Seconds,
    /// Share of the tensor peak while products run.
    pub mma: f64,
    /// Share of the time of the exponentials that is seen.
    pub exp: f64,
    /// Time of an SM for each block besides its work.
    pub block: Seconds,
    /// The same for each 64 rows at a head size of 128.
    pub row: Seconds,
    /// Share of the DRAM bandwidth.
    pub dram: f64,
    /// Slowdown of a block that has an SM to itself and waits for its own chain.
    pub lone: f64,
    /// Share of the longest block that comes after the rest.
    pub tail: f64,
    /// Loss of clock of kernels of 20 ms and more.
    pub droop: f64,
    /// Combining the shares of keys.
    pub split: Seconds,
    /// Passes over Q and O together: 2 reads Q and writes O.
    #[serde(default = "two")]
    pub query_passes: f64,
    /// Passes of the append over new K and V: 2 reads and writes.
    #[serde(default = "two")]
    pub append_passes: f64,
    /// Whether products and exponentials run beside each other, instead of one after the other.
    #[serde(default)]
    pub overlapped: bool,
    /// Measured over predicted.
    pub band: Band,
}

fn two() -> f64 {
    2.0
}

/// How the keys of a decode are cut into shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// The fewest shares that fill the waves to 85 % of the best.
    Fa,
    /// The same, not without grouped heads.
    Fa2,
    /// The same, from 5 tiles of keys on.
    Fa3,
    /// As many as there are free slots.
    Fill,
}

/// Constants of decode.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decode {
    /// Numbers of query heads per KV head, first and last, that the constants were fitted to.
    #[serde(default = "every_group")]
    pub groups: [u64; 2],
    /// How keys are cut.
    pub rule: Split,
    /// Keys of a tile by head size.
    pub columns: [u64; 4],
    /// Most shares.
    #[serde(default = "most_splits")]
    pub most_splits: u64,
    /// Blocks per SM, where its shared memory has room for them.
    #[serde(default = "one")]
    pub slots: u32,
    /// Launches of the call.
    pub t0: Seconds,
    /// Copies that put grouped heads into rows and back.
    pub transpose: Seconds,
    /// Combining the shares of keys.
    pub combine: Seconds,
    /// The same for each doubling of their number.
    #[serde(default)]
    pub combine_doubling: Seconds,
    /// Time of an SM for each block besides its stream.
    pub block: Seconds,
    /// Share of that time which is work of the SM instead of waiting at the start of a block.
    pub serial: f64,
    /// Stream of one block.
    pub cta: BytesPerSecond,
    /// Share of the DRAM bandwidth.
    pub dram: f64,
    /// What an SM draws from L2.
    pub l2: BytesPerCycle,
    /// Exponent of the p-sum of waiting and streaming.
    pub overlap: f64,
    /// Measured over predicted.
    pub band: Band,
}

fn every_group() -> [u64; 2] {
    [1, u64::MAX]
}

fn most_splits() -> u64 {
    128
}

fn one() -> u32 {
    1
}

const FILE: &str = include_str!("../../../gpus/operations/attention.toml");

impl Constants {
    /// The constants that come with the program.
    ///
    /// # Errors
    /// The embedded file is damaged.
    pub fn embedded() -> Result<Self, AttentionError> {
        toml::from_str(FILE).map_err(|e| AttentionError::File { message: e.to_string() })
    }

    /// The kernels of a library on a GPU, and whose constants they have.
    ///
    /// # Errors
    /// The device is no GPU of NVIDIA, or the library has no constants there.
    pub fn of(&self, gpu: &Gpu, library: Option<Library>) -> Result<(&Kernel, ConstantsOf), AttentionError> {
        let device = |what| AttentionError::Device { name: gpu.name.clone(), what };
        let capability = match &gpu.limits {
            Limits::Sm(sm) => sm.compute_capability,
            Limits::Cu(_) => return Err(device("a GPU of AMD")),
            Limits::Core => return Err(device("a CPU")),
        };
        let whole = gpu.id.split(':').next().unwrap_or_default();
        let runs = |k: &&Kernel| k.compute_capabilities.contains(&capability);
        let wanted = |k: &&Kernel| library.map_or(k.first_choice, |l| l == k.library);
        let candidates = || self.kernels.iter().filter(runs).filter(wanted);
        let own = candidates().find(|k| k.gpu.as_deref() == Some(whole));
        match own.or_else(|| candidates().next()) {
            Some(kernel) if kernel.library == Library::Generic => Ok((kernel, ConstantsOf::Datasheet)),
            Some(kernel) if own.is_some() => Ok((kernel, ConstantsOf::Gpu)),
            Some(kernel) => Ok((kernel, ConstantsOf::Family(kernel.library.word().into()))),
            None => Err(self.lacking(gpu, library.unwrap_or(Library::Generic), None)),
        }
    }

    /// Why there is no answer, with the libraries that have constants for the phase.
    pub(super) fn lacking(&self, gpu: &Gpu, library: Library, phase: Option<Phase>) -> AttentionError {
        let runs = |k: &&Kernel| match &gpu.limits {
            Limits::Sm(sm) => k.compute_capabilities.contains(&sm.compute_capability),
            _ => false,
        };
        let has = |k: &&Kernel| phase != Some(Phase::Decode) || !k.decode.is_empty();
        let mut available: Vec<&str> = self.kernels.iter().filter(runs).filter(has).map(|k| k.library.word()).collect();
        available.dedup();
        let available = if available.is_empty() { "none".into() } else { available.join(", ") };
        AttentionError::NoConstants { library, phase, gpu: gpu.name.clone(), available }
    }
}
