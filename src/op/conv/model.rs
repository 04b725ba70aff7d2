//! The time of a convolution: every kernel that a library has for it through the time model, the fastest wins.
//! Equations: `docs/model.md`, section 11.

use super::{Constants, ConvError, Phase, Shape, winograd::Winograd};
use crate::{
    gpu::{Band, ConstantsOf, DataType, Gpu, Pipe},
    occupancy::{Resources, occupancy},
    op::{
        estimate::Estimate,
        gemm::{Kernels, Planner, Precision, PrecisionError, Reuse},
    },
    time::tiled::{REFERENCE_TILE, Work},
    units::Seconds,
};

/// How a library convolves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// A matrix product whose operand is gathered from the image while it runs.
    Implicit,
    /// Winograd F(2x2, 3x3): one kernel and a transform of the filter.
    Fused,
    /// Winograd F(4x4, 3x3): three transforms and 36 matrix products.
    Unfused,
    /// A filter per channel: no sum over channels, so no matrix product.
    Depthwise,
}

impl Algorithm {
    /// The word used in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Implicit => "implicit-gemm",
            Self::Fused => "winograd-fused-2x2",
            Self::Unfused => "winograd-4x4",
            Self::Depthwise => "depthwise",
        }
    }
}

/// One way to run a convolution, on one GPU. Times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The way.
    pub algorithm: Algorithm,
    /// Tile of the matrix product, height and width.
    pub tile: Option<(u32, u32)>,
    /// Shares into which the inner dimension is cut.
    pub splits: u32,
    /// Blocks of the main kernel.
    pub blocks: f64,
    /// Resident blocks of it per SM.
    pub blocks_per_sm: u32,
    /// What a block asks of an SM.
    pub resources: Resources,
    /// Kernels of the call.
    pub kernels: u32,
    /// Multiplications and additions without the transforms, padding of tiles left out.
    pub flop: f64,
    /// The same with the padding of tiles.
    pub padded_flop: f64,
    /// Bytes of scratch memory.
    pub workspace: f64,
    /// Bytes that all kernels move, resident data included.
    pub traffic: f64,
    /// The main kernel.
    pub work: Work,
    /// Arithmetic of the busiest SM.
    pub math: f64,
    /// DRAM, transforms included.
    pub dram: f64,
    /// Operands from L2.
    pub l2: f64,
    /// Chains of waiting.
    pub latency: f64,
    /// Launches.
    pub fixed: f64,
    /// Of the time, the transforms of Winograd or of the layout.
    pub transforms: f64,
    /// Time.
    pub time: f64,
}

/// What is needed of a GPU and a type to time convolutions; made once, then asked for many shapes.
#[derive(Clone, Debug)]
pub struct Model {
    constants: Constants,
    precision: Precision,
    forward: Planner,
    weight: Planner,
    winograd: Option<Winograd>,
    /// FP32 (or FP64) operations per second of all SMs, for filters per channel.
    vector: Option<(Pipe, f64)>,
    /// What a block of the depthwise kernel asks of an SM, and how many of them fit.
    small: (Resources, u32),
    /// Whose constants of this type, and whose of the memory.
    of: ConstantsOf,
    of_memory: ConstantsOf,
}

/// What a block of the depthwise kernel asks of an SM.
fn depthwise_resources() -> Resources {
    Resources { threads_per_block: 256, registers_per_thread: 40, ..Resources::default() }
}

/// Outputs of one of its threads.
const OUTPUTS: f64 = 4.0;

impl Model {
    /// A model of convolutions with operands of a type.
    ///
    /// # Errors
    /// The GPU is a CPU, or has no unit for the type.
    pub fn new(gpu: &Gpu, input: DataType) -> Result<Self, ConvError> {
        if gpu.is_cpu() {
            return Err(ConvError::Cpu { name: gpu.name.clone() });
        }
        if matches!(input, DataType::Fp4 | DataType::Fp6 | DataType::Int4 | DataType::Int32) {
            return Err(ConvError::DataType(input));
        }
        let mut precision = Precision::new(gpu, input, false)?;
        let (half, single) = (Pipe::Vector(DataType::Fp16), Pipe::Vector(DataType::Fp32));
        if precision.pipe == half && gpu.peak(half) < gpu.peak(single) {
            // Libraries keep images in 16 bits there and calculate in FP32.
            precision.pipe = single;
        }
        let no_unit = || PrecisionError::NoUnit {
            gpu: gpu.name.clone(),
            wanted: precision.pipe.label(),
            available: "other types".into(),
        };
        let constants = Constants::of(gpu);
        let planner = Planner::new(gpu, precision).ok_or_else(no_unit)?;
        let single = input == DataType::Fp32;
        let of_kernels = |splits| {
            let (tiles, sustained) = (&constants.implicit_tiles, constants.implicit);
            planner.clone().with_kernels(gpu, Kernels { tiles, splits, sustained, droop: 0.0 })
        };
        let (forward, weight) = if single { (of_kernels(false), of_kernels(true)) } else { (planner.clone(), planner) };
        let wide = if input == DataType::Fp64 { DataType::Fp64 } else { DataType::Fp32 };
        let vector = gpu.peak(Pipe::Vector(wide)).map(|peak| {
            let sustained = gpu.calibration.sustained(Pipe::Vector(wide));
            (Pipe::Vector(wide), peak.get() * sustained)
        });
        let of = if single { constants.of.clone() } else { gpu.calibration.of_unit(precision.pipe).clone() };
        let winograd = Winograd::new(gpu, precision, &constants);
        let small = depthwise_resources();
        let small = (small, occupancy(&gpu.limits, &small).blocks_per_sm.max(1));
        Ok(Self {
            constants,
            precision,
            forward,
            weight,
            winograd,
            vector,
            small,
            of,
            of_memory: gpu.calibration.of.clone(),
        })
    }

    /// Types of the operands.
    pub fn precision(&self) -> &Precision {
        &self.precision
    }

    /// Whose constants a way has.
    pub fn of(&self, algorithm: Algorithm) -> &ConstantsOf {
        if algorithm == Algorithm::Depthwise { &self.of_memory } else { &self.of }
    }

    /// Share of the time that the main kernel loses to a last, partial wave.
    pub fn tail(&self, choice: &Choice) -> f64 {
        let machine = match (choice.algorithm, &self.winograd) {
            (Algorithm::Depthwise, _) => return 0.0,
            (Algorithm::Fused, Some(winograd)) => winograd.fused_machine(),
            (Algorithm::Unfused, Some(winograd)) => winograd.product_machine(),
            _ => self.forward.machine(),
        };
        let time = |balanced| choice.work.parts(machine, balanced).time(machine.overlap);
        (time(false) - time(true)) / choice.time
    }

    /// Why no measurement of such a convolution stands behind its time; absent where one does.
    pub fn unmeasured(&self, shape: &Shape) -> Option<&'static str> {
        if self.precision.input != DataType::Fp32 {
            return Some("convolutions of this type were never measured");
        }
        let seen = Winograd::takes(shape) && shape.pad.each() == [1, 1] && shape.phase == Phase::Forward;
        match (seen, &self.constants.of) {
            (false, _) => Some("of FP32 only forward passes of 3 x 3 filters at stride 1 in NCHW were measured"),
            (true, ConstantsOf::Datasheet) => Some("convolutions were never measured on this family"),
            (true, _) => None,
        }
    }

    /// The ways of a convolution, those that libraries do not have left out.
    pub fn choices(&self, shape: &Shape, reuse: Reuse) -> [Option<Choice>; 3] {
        if let (true, Some(vector)) = (shape.is_depthwise(), self.vector) {
            return [Some(self.depthwise(shape, vector)), None, None];
        }
        let winograd = self.winograd.as_ref().filter(|_| Winograd::takes(shape));
        let fused = winograd.and_then(|w| w.fused(shape, reuse));
        [Some(self.implicit(shape, reuse)), fused, winograd.map(|w| w.unfused(shape))]
    }

    /// The fastest way.
    pub fn choose(&self, shape: &Shape, reuse: Reuse) -> Choice {
        let [first, rest @ ..] = self.choices(shape, reuse);
        let first = first.unwrap_or_else(|| self.implicit(shape, reuse));
        rest.into_iter().flatten().fold(first, |best, other| if other.time < best.time { other } else { best })
    }

    /// The time of a checked shape.
    pub fn estimate(&self, shape: &Shape, reuse: Reuse) -> Estimate<'_> {
        self.estimate_of(shape, &self.choose(shape, reuse))
    }

    /// The time of one way.
    pub fn estimate_of(&self, shape: &Shape, choice: &Choice) -> Estimate<'_> {
        let unmeasured = self.unmeasured(shape);
        let band = if unmeasured.is_some() && self.constants.of != ConstantsOf::Datasheet
            || self.precision.input != DataType::Fp32
        {
            &self.constants.band_other
        } else {
            &self.constants.band
        };
        let regime = Band::regime(Seconds(choice.time));
        let machine = self.forward.machine();
        let depthwise = choice.algorithm == Algorithm::Depthwise;
        let pipe = match self.vector {
            Some((pipe, _)) if depthwise => pipe,
            _ => self.precision.pipe,
        };
        let peak = match self.vector {
            Some((_, rate)) if depthwise => rate,
            _ => machine.peak * machine.sms,
        };
        let [read, written] = shape.moved();
        Estimate {
            time: choice.time,
            low: choice.time * band.low[regime],
            high: choice.time * band.high[regime],
            math: choice.math,
            pipe: Some(pipe),
            dram: choice.dram,
            l2: choice.l2,
            latency: choice.latency,
            fixed: choice.fixed,
            kernel: choice.algorithm.word(),
            tile: choice.tile,
            splits: choice.splits,
            blocks: choice.blocks,
            blocks_per_sm: choice.blocks_per_sm,
            flop: shape.flop(),
            bytes: read * self.precision.input_bytes + written * self.precision.output_bytes,
            peak,
            of: self.of(choice.algorithm),
            unmeasured,
        }
    }

    fn implicit(&self, shape: &Shape, reuse: Reuse) -> Choice {
        let planner = if shape.phase == Phase::BackwardWeight { &self.weight } else { &self.forward };
        let plan = planner.plan(shape.products(), reuse);
        let (chosen, machine) = (plan.chosen, planner.machine());
        let parts = chosen.parts;
        // Tensor cores take channels last: other layouts are turned before and after.
        let tensor = matches!(self.precision.pipe, Pipe::Tensor { .. });
        let turned = if tensor && shape.layout == super::Layout::Nchw {
            let [read, written] = shape.moved();
            2.0 * (read * self.precision.input_bytes + written * self.precision.output_bytes)
        } else {
            0.0
        };
        let kernels = if turned > 0.0 { 3 } else { 1 };
        let turns = turned / machine.dram;
        let fixed = parts.fixed * f64::from(kernels);
        Choice {
            algorithm: Algorithm::Implicit,
            tile: chosen.tile.map(|t| (t.height, t.width)),
            splits: chosen.splits,
            blocks: chosen.blocks,
            blocks_per_sm: chosen.tile.map_or(1, |t| t.per_sm),
            resources: chosen.tile.map_or(self.small.0, |t| t.resources),
            kernels,
            flop: shape.flop(),
            padded_flop: chosen.tiled.math * chosen.blocks,
            workspace: chosen.tiled.partials / 2.0 + turned / 2.0,
            traffic: plan.bytes.get() + turned,
            work: Work::new(&chosen.tiled, chosen.blocks, chosen.tile.map_or(1.0, |t| f64::from(t.per_sm)), machine),
            math: parts.math + parts.store,
            dram: parts.dram.max(parts.ports) + turns,
            l2: parts.feed,
            latency: parts.latency + parts.split,
            fixed,
            transforms: turns,
            time: plan.time + turns + fixed - parts.fixed,
        }
    }

    /// A stream of the image, with a few operations for each element.
    fn depthwise(&self, shape: &Shape, (_, rate): (Pipe, f64)) -> Choice {
        let machine = self.forward.machine();
        let [read, written] = shape.moved();
        let bytes = read * self.precision.input_bytes + written * self.precision.output_bytes;
        let outputs = shape.output_pixels() * shape.filters as f64;
        let blocks = (outputs / OUTPUTS / f64::from(self.small.0.threads_per_block)).ceil();
        let busy = blocks.min(machine.sms);
        let math = shape.flop() / rate * machine.sms / busy;
        let dram = bytes / machine.dram;
        let ports = bytes / (busy * machine.stream);
        let longest = math.max(dram).max(ports);
        Choice {
            algorithm: Algorithm::Depthwise,
            tile: None,
            splits: 1,
            blocks,
            blocks_per_sm: self.small.1,
            resources: self.small.0,
            kernels: 1,
            flop: shape.flop(),
            padded_flop: shape.flop(),
            workspace: 0.0,
            traffic: bytes,
            work: Work {
                blocks,
                per_sm: f64::from(self.small.1),
                steps: 1.0,
                math: shape.flop() / blocks,
                shape: REFERENCE_TILE,
                stride: 0.0,
                out: 0.0,
                feed: bytes / blocks,
                partials: 0.0,
                streamed: bytes,
            },
            math,
            dram: dram.max(ports),
            l2: 0.0,
            latency: 0.0,
            fixed: machine.fixed,
            transforms: 0.0,
            time: machine.fixed + longest,
        }
    }
}
