//! The constants of element-wise and row-wise kernels: `gpus/operations/rowwise.toml`, and which of them a GPU gets.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::{
    gpu::{Band, ComputeCapability, ConstantsOf, Gpu, Limits},
    units::{BytesPerCycle, Cycles, Hertz, Seconds},
};

/// Element-wise kernels.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Share of the datasheet bandwidth.
    pub efficiency: f64,
    /// Time of an empty kernel on the device.
    pub fixed: Seconds,
    /// Share of L2 that keeps the last writes.
    pub resident: f64,
    /// Bytes read per cycle and SM by kernels that load 2 bytes per access.
    pub scalar: BytesPerCycle,
    /// The clock of `scalar`; the vector clock without it.
    pub clock: Option<Hertz>,
    /// Operations of a power per element, where measured.
    pub pow: Option<f64>,
}

/// Softmax and layer norm.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rowwise {
    /// Bits of an element that were measured; 32 without it.
    pub bits: Option<u32>,
    /// Share of the datasheet bandwidth.
    pub efficiency: f64,
    /// Time of an empty kernel on the device.
    pub fixed: Seconds,
    /// Cycles that a row takes besides its steps.
    pub row: Cycles,
    /// Cycles of a step of a block over its row.
    pub step: Cycles,
    /// The same where a warp has the row.
    pub warp_step: Option<Cycles>,
    /// Rate of re-reads that hit L2 over the DRAM rate.
    pub l2_ratio: f64,
    /// Share of L2 at which re-reads begin to miss.
    pub miss_from: f64,
    /// Share of the nominal L2 that holds rows; all of it without it.
    pub l2: Option<f64>,
    /// The clock of the cycles; the vector clock without it.
    pub clock: Option<Hertz>,
}

/// RMS norm.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rms {
    /// Share of the datasheet bandwidth.
    pub efficiency: f64,
    /// Time of an empty kernel on the device.
    pub fixed: Seconds,
    /// Bytes moved per cycle and SM with 2-byte loads.
    pub in_flight: BytesPerCycle,
    /// Cycles that a row takes besides its steps.
    pub row: Cycles,
    /// Cycles of a step of a block over its row.
    pub step: Cycles,
    /// Share of L2 that keeps the last writes.
    pub resident: f64,
    /// The clock of the cycles; the vector clock without it.
    pub clock: Option<Hertz>,
}

/// What a clock around a call sees of element-wise kernels.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElementwiseCall {
    /// A call of a tensor operator.
    pub plain: Seconds,
    /// A call through a module, or with a scalar.
    pub wrapped: Seconds,
    /// A gelu, where its calls were made from another host.
    pub gelu: Option<Seconds>,
    /// Device time that hides behind the call.
    pub hidden: Seconds,
}

/// The same of softmax.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoftmaxCall {
    /// The kernel with a warp per row.
    pub warp: Seconds,
    /// The kernel with a block per row.
    pub block: Seconds,
    /// Device time that hides behind the call.
    pub hidden: Seconds,
}

/// The same of layer norm.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerNormCall {
    /// The call.
    pub launch: Seconds,
    /// Device time that hides behind the call.
    pub hidden: Seconds,
}

/// The host and framework of a source of measured times.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// The source.
    pub source: String,
    /// The GPU in that host; absent for hosts that are not listed.
    pub gpu: Option<String>,
    /// Element-wise calls.
    pub elementwise: ElementwiseCall,
    /// Softmax calls.
    pub softmax: SoftmaxCall,
    /// Layer norm calls; RMS norm and reductions take them too.
    pub layernorm: LayerNormCall,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Owner {
    gpu: String,
    family: Option<String>,
    #[serde(default)]
    compute_capabilities: Vec<ComputeCapability>,
    #[serde(default)]
    gfx: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Clock {
    Device,
    Launch,
}

/// How well a set was met; kept for people who read the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Measured {
    #[serde(rename = "rows")]
    _rows: u32,
    #[serde(rename = "error")]
    _error: f64,
    #[serde(rename = "roofline")]
    _roofline: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set<C> {
    of: Owner,
    timing: Clock,
    constants: C,
    band: Band,
    #[serde(rename = "measured")]
    _measured: Measured,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WiderBands {
    family: Band,
    generic: Band,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "schema")]
    _schema: u32,
    elementwise_bands: WiderBands,
    rowwise_bands: WiderBands,
    elementwise: Vec<Set<Stream>>,
    elementwise_generic: Stream,
    softmax: Vec<Set<Rowwise>>,
    softmax_generic: Rowwise,
    layernorm: Vec<Set<Rowwise>>,
    layernorm_generic: Rowwise,
    rmsnorm: Vec<Set<Rms>>,
    rmsnorm_generic: Rms,
    stack: Vec<Stack>,
}

static FILE: LazyLock<Result<File, String>> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../gpus/operations/rowwise.toml")).map_err(|error| error.to_string())
});

/// The constants of one operation on one GPU, whose they are, and where four of five measured times lie.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen<C> {
    /// The constants.
    pub constants: C,
    /// Whose they are.
    pub of: ConstantsOf,
    /// Band of the kernel's own time.
    pub device: Band,
    /// Band of a time taken around a call.
    pub launch: Band,
}

/// All constants of one GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// Element-wise kernels and copies.
    pub elementwise: Chosen<Stream>,
    /// Softmax.
    pub softmax: Chosen<Rowwise>,
    /// Layer norm of 16-bit and of wider elements.
    pub layernorm: [Chosen<Rowwise>; 2],
    /// RMS norm.
    pub rmsnorm: Chosen<Rms>,
}

impl Constants {
    /// The constants of a GPU.
    ///
    /// # Errors
    /// The embedded file is broken: its message.
    pub fn of(gpu: &Gpu) -> Result<Self, String> {
        let file = FILE.as_ref().map_err(Clone::clone)?;
        let rows = &file.rowwise_bands;
        let norm = |bits: u32| {
            let sets: Vec<_> = file.layernorm.iter().filter(|s| s.constants.bits.unwrap_or(32) == bits).collect();
            let own = chosen(gpu, sets.iter().copied(), &file.layernorm_generic, rows);
            // Another width of the same silicon says more than no measurement at all.
            if own.of == ConstantsOf::Datasheet {
                let mut other = chosen(gpu, file.layernorm.iter(), &file.layernorm_generic, rows);
                (other.device, other.launch) = (rows.generic, rows.generic);
                return other;
            }
            own
        };
        Ok(Self {
            elementwise: chosen(gpu, file.elementwise.iter(), &file.elementwise_generic, &file.elementwise_bands),
            softmax: chosen(gpu, file.softmax.iter(), &file.softmax_generic, rows),
            layernorm: [norm(16), norm(32)],
            rmsnorm: chosen(gpu, file.rmsnorm.iter(), &file.rmsnorm_generic, rows),
        })
    }
}

fn chosen<'a, C: Copy + 'a>(
    gpu: &Gpu,
    sets: impl Iterator<Item = &'a Set<C>> + Clone,
    generic: &C,
    bands: &WiderBands,
) -> Chosen<C> {
    let id = gpu.mig.as_ref().map_or(gpu.id.as_str(), |slice| slice.gpu.as_str());
    let stands = |of: &Owner| match &gpu.limits {
        Limits::Sm(sm) => of.compute_capabilities.contains(&sm.compute_capability),
        Limits::Cu(cu) => of.gfx.contains(&cu.gfx),
        Limits::Core => false,
    };
    if let Some(set) = sets.clone().find(|s| s.of.gpu == id) {
        let mut device = set.band;
        if set.timing == Clock::Launch {
            // Below 100 us the call hid the kernel, so that its own time was never seen.
            for regime in 0..2 {
                (device.low[regime], device.high[regime]) = (bands.family.low[regime], bands.family.high[regime]);
            }
        }
        return Chosen { constants: set.constants, of: ConstantsOf::Gpu, device, launch: set.band };
    }
    let family = sets.clone().filter(|s| stands(&s.of)).find_map(|s| Some((s, s.of.family.clone()?)));
    match family {
        Some((set, name)) => Chosen {
            constants: set.constants,
            of: ConstantsOf::Family(name),
            device: bands.family,
            launch: bands.family,
        },
        None => {
            Chosen { constants: *generic, of: ConstantsOf::Datasheet, device: bands.generic, launch: bands.generic }
        }
    }
}

/// The host and framework of a source that held a GPU, or what stands for those of the source that are not listed.
pub fn stack(source: &str, gpu: &Gpu) -> Option<&'static Stack> {
    let file = FILE.as_ref().ok()?;
    let id = gpu.mig.as_ref().map_or(gpu.id.as_str(), |slice| slice.gpu.as_str());
    let of = |wanted: Option<&str>| file.stack.iter().find(|s| s.source == source && s.gpu.as_deref() == wanted);
    of(Some(id)).or_else(|| of(None))
}

/// Sources whose hosts are known, each once.
pub fn stacks() -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for stack in FILE.iter().flat_map(|file| &file.stack) {
        if !names.contains(&stack.source.as_str()) {
            names.push(&stack.source);
        }
    }
    names
}
