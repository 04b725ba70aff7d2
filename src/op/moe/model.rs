//! The time of a mixture of experts: two grouped products and the passes around them. Equations: `docs/model.md`, section 12.

use super::{Constants, Loads, MoeError, Shape};
use crate::{
    gpu::{Band, DataType, Gpu, Pipe},
    op::{estimate::Estimate, gemm::Precision},
    units::Seconds,
};

/// What is needed of a GPU and a type to time mixtures of experts; made once, then asked for many layers.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) constants: Constants,
    pub(super) precision: Precision,
    band: Band,
    sms: f64,
    peak: f64,
    dram: f64,
    l2: f64,
}

/// The time of the parts of a layer, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    /// Rows of a tile.
    pub height: u64,
    /// Tiles of up (with gate) and of down.
    pub tiles: [f64; 2],
    /// Waves of both, as far as they are whole.
    pub waves: [f64; 2],
    /// Arithmetic of both.
    pub math: [f64; 2],
    /// Weights and activations of both.
    pub memory: [f64; 2],
    /// Time of both.
    pub products: [f64; 2],
    /// Activation, zero fill and sum.
    pub elementwise: f64,
    /// Sorting of the tokens by expert.
    pub sort: f64,
    /// Launches and routing.
    pub fixed: f64,
    /// All of it.
    pub time: f64,
}

/// Bytes of an activation.
const ACTIVATION: f64 = 2.0;
/// Exponent of the sum of arithmetic and memory.
const OVERLAP: i32 = 4;
/// Waves beyond which tiles even out, and what then is lost.
const MANY_WAVES: f64 = 8.0;
const LOST_WAVE: f64 = 0.5;
/// Weights beyond L2 that no longer find anything there, in sizes of L2.
const MISS_RANGE: f64 = 0.3;
/// The clock falls from this time on, over this factor.
const DROOP_FROM: f64 = 1e-3;
const DROOP_OVER: f64 = 20.0;
/// Rows of a tile that reach the sustained rate, and rows that the constant of sorting is for.
const FULL_TILE: f64 = 128.0;
const SORTED: f64 = 1e4;

impl Model {
    /// A model for operands of a type.
    ///
    /// # Errors
    /// The GPU is a CPU, or has no tensor cores for the type.
    pub fn new(gpu: &Gpu, input: DataType) -> Result<Self, MoeError> {
        if gpu.is_cpu() {
            return Err(MoeError::Cpu { name: gpu.name.clone() });
        }
        let precision = Precision::new(gpu, input, false)?;
        let no_tensor = || MoeError::NoTensor { gpu: gpu.name.clone(), input: input.name() };
        let peak = gpu.peak(precision.pipe).filter(|_| matches!(precision.pipe, Pipe::Tensor { .. }));
        let peak = peak.ok_or_else(no_tensor)?.get();
        let constants = Constants::of(gpu);
        let narrow = !matches!(input, DataType::Bf16 | DataType::Fp16);
        let band = if narrow { constants.band.widened(constants.other_type) } else { constants.band };
        Ok(Self {
            sms: f64::from(gpu.units()),
            peak,
            dram: gpu.memory.dram.bandwidth.get() * constants.dram,
            l2: gpu.memory.l2.capacity.get() * constants.l2_share,
            band,
            constants,
            precision,
        })
    }

    /// Why no measurement of such a layer stands behind its time; absent where one does.
    pub fn unmeasured(&self) -> Option<&'static str> {
        match self.precision.input {
            DataType::Bf16 | DataType::Fp16 => self.constants.unmeasured,
            _ => Some("mixtures of experts of this type were never measured"),
        }
    }

    /// Rows of a tile: the smallest that holds the mean of the experts with tokens.
    pub fn height(&self, loads: &Loads) -> u64 {
        let mean = loads.total() as f64 / loads.active().max(1) as f64;
        let rows = &self.constants.rows;
        rows.iter().copied().find(|rows| *rows as f64 >= mean).or(rows.last().copied()).unwrap_or(128)
    }

    /// The time of the parts of a checked layer.
    pub fn parts(&self, shape: &Shape, loads: &Loads) -> Parts {
        let c = &self.constants;
        let height = self.height(loads);
        let (rows, total, active) = (loads.tiles(height) as f64, loads.total() as f64, loads.active() as f64);
        let (hidden, inter) = (shape.hidden as f64, shape.inter as f64);
        let bytes = self.precision.input_bytes;
        let weights = 3.0 * bytes * active * hidden * inter;
        let miss = ((weights / self.l2 - 1.0) / MISS_RANGE).clamp(0.0, 1.0);
        let full = libm::pow(height as f64 / FULL_TILE, c.tile_exponent);
        let rate = self.peak / self.sms * c.sustained * full;
        let columns = c.columns as f64;
        let sides = [(2.0 * inter, hidden), (hidden, inter)];
        let tiles = sides.map(|(n, _)| rows * (n / columns).ceil());
        let waves = tiles.map(|tiles| {
            if tiles < MANY_WAVES * self.sms { (tiles / self.sms).ceil() } else { tiles / self.sms + LOST_WAVE }
        });
        let math = std::array::from_fn(|i| {
            let tile = c.tile_cost.get() + 2.0 * height as f64 * columns * sides[i].1 / rate;
            let math = waves[i] * tile;
            let long = (libm::log(math / DROOP_FROM) / libm::log(DROOP_OVER)).clamp(0.0, 1.0);
            math * (1.0 + c.droop * if math > 0.0 { long } else { 0.0 })
        });
        let memory = sides.map(|(n, k)| {
            let streamed = bytes * active * n * k * (miss + (1.0 - miss) / c.l2_gain);
            (streamed + ACTIVATION * total * (k + n)) / self.dram
        });
        let products = std::array::from_fn(|i| overlapped(math[i], memory[i]));
        // Every routed row, also those of experts on other ranks.
        let routed = shape.routed() as f64;
        let moved = 3.0 * routed * inter + 2.0 * routed * hidden + shape.tokens as f64 * hidden;
        let elementwise = ACTIVATION * c.elementwise * moved / self.dram;
        let sort = c.sort.get() * routed / SORTED;
        let fixed = c.fixed.get();
        let time = fixed + sort + products[0] + products[1] + elementwise;
        Parts { height, tiles, waves, math, memory, products, elementwise, sort, fixed, time }
    }

    /// Share of the time that the products lose to last waves that are not full.
    pub fn tail(&self, parts: &Parts) -> f64 {
        let even = |i: usize| parts.math[i] * (parts.tiles[i] / self.sms / parts.waves[i]).min(1.0);
        let saved = |i: usize| parts.products[i] - overlapped(even(i), parts.memory[i]);
        (saved(0) + saved(1)) / parts.time
    }

    /// The time of a checked layer.
    pub fn estimate(&self, shape: &Shape, loads: &Loads) -> Estimate<'_> {
        self.estimate_of(shape, loads, &self.parts(shape, loads))
    }

    /// The same from its parts.
    pub fn estimate_of(&self, shape: &Shape, loads: &Loads, parts: &Parts) -> Estimate<'_> {
        let regime = Band::regime(Seconds(parts.time));
        let (hidden, inter) = (shape.hidden as f64, shape.inter as f64);
        let matrix = hidden * inter;
        Estimate {
            time: parts.time,
            low: parts.time * self.band.low[regime],
            high: parts.time * self.band.high[regime],
            math: parts.math.iter().sum(),
            pipe: Some(self.precision.pipe),
            dram: parts.memory.iter().sum::<f64>() + parts.elementwise,
            l2: 0.0,
            latency: parts.sort,
            fixed: parts.fixed,
            kernel: "fused-moe",
            tile: Some((parts.height as u32, self.constants.columns as u32)),
            splits: 1,
            blocks: parts.tiles[0],
            blocks_per_sm: 1,
            flop: 6.0 * loads.total() as f64 * matrix,
            bytes: 3.0 * self.precision.input_bytes * loads.active() as f64 * matrix
                + 2.0 * ACTIVATION * shape.tokens as f64 * hidden,
            peak: self.peak,
            of: &self.constants.of,
            unmeasured: self.unmeasured(),
        }
    }
}

/// Arithmetic and memory together.
fn overlapped(math: f64, memory: f64) -> f64 {
    let largest = math.max(memory);
    let power = |time: f64| (time / largest).powi(OVERLAP);
    if largest > 0.0 { largest * (power(math) + power(memory)).sqrt().sqrt() } else { 0.0 }
}
