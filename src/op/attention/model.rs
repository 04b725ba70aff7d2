//! The time model of attention on one GPU: made once, then asked for many shapes without allocation.

use super::{
    AttentionError, Constants, Library, Phase, Shape,
    constants::{Decode, Kernel, place},
};
use crate::{
    gpu::{Band, ConstantsOf, DataType, Gpu, Pipe},
    op::{estimate::Estimate, gemm::Precision},
    units::Seconds,
};

/// What is asked besides the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Type of Q, K and V.
    pub input: DataType,
    /// The library, where it is not left to the GPU.
    pub library: Option<Library>,
    /// The attention kernel alone, instead of a serving call with the append to the cache.
    pub bare: bool,
}

impl Default for Request {
    /// A serving call in BF16 by the library that is usual for the GPU.
    fn default() -> Self {
        Self { input: DataType::Bf16, library: None, bare: false }
    }
}

/// The constants and rates of one GPU, library and type.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) kernel: Kernel,
    pub(super) of: ConstantsOf,
    pub(super) precision: Precision,
    pub(super) bare: bool,
    bare_cost: f64,
    other_gpu: f64,
    wide: f64,
    missing: AttentionError,
    /// SMs.
    pub(super) sms: f64,
    /// Operations of the arithmetic unit of one SM per second, datasheet.
    pub(super) rate: f64,
    /// Exponentials of one SM per second, datasheet; infinite where the GPU file names no rate.
    pub(super) exponentials: f64,
    /// DRAM bandwidth, datasheet.
    pub(super) bandwidth: f64,
    /// Cycles of the vector clock per second.
    pub(super) clock: f64,
    /// Bytes of L2.
    pub(super) l2: f64,
    /// Bytes of shared memory of an SM.
    pub(super) shared: f64,
}

/// Shared memory of a block of the decode kernel that has several on an SM.
pub(super) const SLOT_BYTES: f64 = 80.0 * 1024.0;

/// The time of a call and what it is made of. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Parts {
    /// The call.
    pub time: f64,
    /// Products on the busiest SM.
    pub products: f64,
    /// Exponentials on the busiest SM.
    pub exponentials: f64,
    /// Start and end of blocks, waiting for one's own stream.
    pub waiting: f64,
    /// DRAM traffic.
    pub dram: f64,
    /// L2 traffic.
    pub l2: f64,
    /// Launches.
    pub fixed: f64,
    /// What blocks of unequal length and an uneven number of them add.
    pub tail: f64,
    /// The append to the KV cache, of DRAM and L2 above.
    pub append: f64,
    /// Copies that put grouped heads into rows, of the launches above.
    pub transpose: f64,
    /// Combining shares of keys, of the launches above.
    pub combine: f64,
    /// Rows and keys of the tile.
    pub tile: (u32, u32),
    /// Shares of keys.
    pub splits: u32,
    /// Blocks, with all shares.
    pub blocks: f64,
    /// Resident blocks per SM.
    pub slots: u32,
    /// Share of K and V that comes from DRAM, 0 to 1.
    pub missed: f64,
    /// Blocks before keys are cut into shares.
    pub uncut: f64,
}

impl Model {
    /// The model of a GPU.
    ///
    /// # Errors
    /// The device is no GPU of NVIDIA, lacks the type or the library, or no attention kernel takes the type.
    pub fn new(gpu: &Gpu, request: &Request) -> Result<Self, AttentionError> {
        let constants = Constants::embedded()?;
        Self::with(&constants, gpu, request)
    }

    /// The model of a GPU by constants that are read already.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with(constants: &Constants, gpu: &Gpu, request: &Request) -> Result<Self, AttentionError> {
        let (kernel, of) = constants.of(gpu, request.library)?;
        let known = [DataType::Bf16, DataType::Fp16, DataType::Fp8, DataType::Tf32, DataType::Fp32];
        if !known.contains(&request.input) {
            return Err(AttentionError::Type { input: request.input });
        }
        let precision = Precision::new(gpu, request.input, false)?;
        let missing = constants.lacking(gpu, kernel.library, Some(Phase::Decode));
        let sms = f64::from(gpu.units());
        let per_sm = |pipe| gpu.peak(pipe).map_or(f64::INFINITY, |peak| peak.get() / f64::from(gpu.sm.count));
        Ok(Self {
            kernel: kernel.clone(),
            of,
            precision,
            bare: request.bare,
            bare_cost: constants.bare.get(),
            other_gpu: constants.other_gpu,
            wide: constants.unmeasured,
            missing,
            sms,
            rate: per_sm(precision.pipe),
            exponentials: per_sm(Pipe::Special),
            bandwidth: gpu.memory.dram.bandwidth.get(),
            clock: gpu.clocks.vector.get(),
            l2: gpu.memory.l2.capacity.get(),
            shared: f64::from(gpu.limits.sm().map_or(0, |sm| sm.shared_per_sm)),
        })
    }

    /// Name of the kernel's kind.
    pub fn library(&self) -> Library {
        self.kernel.library
    }

    /// Name of the kernel for people.
    pub fn kernel_name(&self) -> &str {
        &self.kernel.name
    }

    /// Whose constants.
    pub fn constants(&self) -> &ConstantsOf {
        &self.of
    }

    /// Whether the call runs as a decode: a single query has no rows to tile.
    pub fn decodes(&self, shape: &Shape) -> bool {
        shape.seq_q == 1
    }

    /// The head size that the kernel computes with.
    pub(super) fn head(&self, head_dim: u64) -> f64 {
        let sizes = &self.kernel.head_sizes;
        sizes.iter().copied().find(|size| *size >= head_dim).unwrap_or(head_dim) as f64
    }

    /// Launches of a call; of a bare kernel no more than that kernel's own.
    pub(super) fn launches(&self, t0: Seconds) -> f64 {
        if self.bare { t0.get().min(self.bare_cost) } else { t0.get() }
    }

    /// Blocks of the decode kernel on an SM.
    pub(super) fn slots(&self, decode: &Decode) -> u32 {
        let room = (self.shared / SLOT_BYTES).floor() as u32;
        decode.slots.min(room).max(1)
    }

    /// The constants of decode for a number of query heads per KV head: the fitted ones, else the nearest.
    pub(super) fn decode_constants(&self, group: u64) -> Option<&Decode> {
        let fitted = |d: &&Decode| (d.groups[0]..=d.groups[1]).contains(&group);
        self.kernel.decode.iter().find(fitted).or_else(|| self.kernel.decode.last())
    }

    /// The time of a checked shape and what it is made of.
    ///
    /// # Errors
    /// The library has no constants of decode on this GPU.
    pub fn parts(&self, shape: &Shape) -> Result<Parts, AttentionError> {
        if !self.decodes(shape) {
            return Ok(self.prefill(shape));
        }
        self.decode_constants(shape.group()).map(|d| self.decode(shape, d)).ok_or_else(|| self.missing.clone())
    }

    /// Why no measurement stands behind the time of a shape; absent where one does.
    pub fn unmeasured(&self, shape: &Shape) -> Option<&'static str> {
        let group = shape.group();
        let fitted = |d: &Decode| (d.groups[0]..=d.groups[1]).contains(&group);
        let known_type = matches!(self.precision.input, DataType::Bf16 | DataType::Fp16);
        Some(match self.precision.input {
            _ if self.kernel.measured_head_sizes.is_empty() => "attention was never measured on this architecture",
            _ if !known_type => "attention in this type was never measured",
            _ if !self.kernel.measured_head_sizes.contains(&shape.head_dim) => {
                "this head size was never measured with this kernel"
            }
            _ if self.bare => "attention kernels without their serving call were never measured",
            _ if shape.window.is_some() => "the constants were fitted without a window",
            _ if self.decodes(shape) => {
                if self.decode_constants(group).is_none_or(fitted) {
                    return None;
                }
                "so many query heads per KV head take another kernel, which was not fitted"
            }
            _ if !shape.causal => "the constants were fitted to causal attention",
            _ if shape.before() > 0 && !self.kernel.measured_chunks => {
                "the constants were fitted to whole prompts, not to chunks"
            }
            _ => return None,
        })
    }

    /// The band of a time.
    fn band(&self, shape: &Shape, time: f64, unmeasured: bool) -> (f64, f64) {
        let decode = self.decode_constants(shape.group()).filter(|_| self.decodes(shape));
        let band = decode.map_or(&self.kernel.prefill.band, |d| &d.band);
        let regime = Band::regime(Seconds(time));
        let (mut low, mut high) = (band.low[regime], band.high[regime]);
        let mut exponent = if self.of == ConstantsOf::Gpu { 1.0 } else { self.other_gpu };
        if unmeasured {
            exponent *= self.wide;
        }
        if exponent > 1.0 {
            // What is well known of the measured GPU or call says nothing here: the widest band of all sizes.
            let (least, most) =
                (band.low.iter().fold(1.0, |a: f64, b| a.min(*b)), band.high.iter().fold(1.0, |a: f64, b| a.max(*b)));
            (low, high) = (libm::pow(least, exponent), libm::pow(most, exponent));
        }
        (time * low.min(1.0), time * high.max(1.0))
    }

    /// The estimate of a checked shape.
    ///
    /// # Errors
    /// The library has no constants of decode on this GPU.
    pub fn estimate(&self, shape: &Shape) -> Result<Estimate<'_>, AttentionError> {
        let parts = self.parts(shape)?;
        Ok(self.estimate_of(shape, &parts))
    }

    pub(super) fn estimate_of(&self, shape: &Shape, parts: &Parts) -> Estimate<'_> {
        let unmeasured = self.unmeasured(shape);
        let (low, high) = self.band(shape, parts.time, unmeasured.is_some());
        let pipe = if parts.exponentials > parts.products { Pipe::Special } else { self.precision.pipe };
        let math = if self.kernel.prefill.overlapped {
            parts.products.max(parts.exponentials)
        } else {
            parts.products + parts.exponentials
        };
        Estimate {
            time: parts.time,
            low,
            high,
            math,
            pipe: Some(pipe),
            dram: parts.dram,
            l2: parts.l2,
            latency: parts.waiting,
            fixed: parts.fixed,
            kernel: self.kernel.library.word(),
            tile: Some(parts.tile),
            splits: parts.splits,
            blocks: parts.blocks,
            blocks_per_sm: parts.slots,
            flop: shape.flop(),
            bytes: self.least_bytes(shape),
            peak: self.rate * self.sms,
            of: &self.of,
            unmeasured,
        }
    }

    /// Bytes of Q, K, V and O, each once.
    pub fn least_bytes(&self, shape: &Shape) -> f64 {
        let (input, output) = (self.precision.input_bytes, self.precision.output_bytes);
        shape.query_elements() * (input + output) + shape.key_value_elements() * input
    }

    /// The columns of tiles for a head size.
    pub(super) fn place(&self, shape: &Shape) -> usize {
        place(shape.head_dim)
    }
}
