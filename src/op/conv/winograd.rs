//! Winograd's convolutions of 3 x 3 filters: fewer multiplications for transforms of image, filter and output.
//! Equations: `docs/model.md`, section 11.

use super::{Algorithm, Choice, Constants, Layout, Phase, Shape, Sides};
use crate::{
    gpu::{DataType, Gpu, Limits},
    occupancy::Resources,
    op::gemm::{self, Kernels, Planner, Precision, Reuse},
    time::tiled::{Machine, REFERENCE_TILE, Work},
};

/// Bytes of FP32.
const ELEMENT: f64 = 4.0;
/// Multiplications of a tile of 4 x 4 outputs per channel and filter, a direct convolution has 144.
pub const PRODUCTS: u64 = 36;
/// Rows and columns of a tile of outputs in the products.
const TILE: u64 = 4;
/// Multiplications of a tile of 2 x 2 outputs in the fused kernel, of 36.
const FUSED_PRODUCTS: f64 = 16.0;
/// Filters of a block of the fused kernel.
const FUSED_FILTERS: u64 = 32;
/// Rows and columns of outputs of a block of the fused kernel: 4 x 8 tiles of 2 x 2.
const FUSED_OUTPUT: [u64; 2] = [8, 16];
/// Bytes that a block of the fused kernel loads per channel: 10 x 18 pixels, and 16 values of each filter.
const FUSED_LOADS: f64 = (10.0 * 18.0 + 16.0 * FUSED_FILTERS as f64) * ELEMENT;
/// Channels of one step of its loop.
const FUSED_STEP: f64 = 8.0;
/// Resident blocks of the fused kernel: 256 threads with 128 registers each.
const FUSED_BLOCKS: u32 = 2;
/// What a block of it asks of an SM.
fn fused_resources() -> Resources {
    Resources { threads_per_block: 256, registers_per_thread: 128, dynamic_shared: 32 << 10, ..Resources::default() }
}

/// Elements of a filter and its transform: 3 x 3 and 4 x 4.
const FUSED_FILTER: f64 = 9.0 + 16.0;

/// The two Winograd convolutions of a GPU.
#[derive(Clone, Debug)]
pub struct Winograd {
    products: Planner,
    fused: Machine,
    block_cost: f64,
    transform: f64,
    image_multiple: u64,
}

/// Channels that are summed up, channels that come out, and the image that comes out.
struct Roles {
    inner: u64,
    outer: u64,
    out: Sides,
}

fn roles(shape: &Shape) -> Roles {
    match shape.phase {
        Phase::Forward | Phase::BackwardWeight => {
            Roles { inner: shape.channels, outer: shape.filters, out: shape.output() }
        }
        Phase::BackwardData => Roles { inner: shape.filters, outer: shape.channels, out: shape.image },
    }
}

impl Winograd {
    /// Absent where libraries have no such kernels: they are FP32 on NVIDIA GPUs.
    pub fn new(gpu: &Gpu, precision: Precision, constants: &Constants) -> Option<Self> {
        if !matches!(gpu.limits, Limits::Sm(_)) || precision.input != DataType::Fp32 {
            return None;
        }
        let kernels =
            Kernels { tiles: &constants.product_tiles, splits: false, sustained: constants.product, droop: 0.0 };
        let products = Planner::new(gpu, precision)?.with_kernels(gpu, kernels);
        let clock = gpu.clocks.vector.get();
        let machine = *products.machine();
        let fused = Machine {
            math: machine.peak * constants.fused,
            step: constants.channel_latency.get() * FUSED_STEP / clock,
            ..machine
        };
        let block_cost = constants.block_cost.get() / clock;
        let transform = machine.dram_peak * constants.transform;
        Some(Self { products, fused, block_cost, transform, image_multiple: constants.image_multiple })
    }

    /// Whether libraries convolve the shape so.
    pub fn takes(shape: &Shape) -> bool {
        shape.filter == Sides::both(3)
            && shape.stride == Sides::both(1)
            && shape.dilation == Sides::both(1)
            && shape.pad.height.max(shape.pad.width) <= 2
            && shape.groups == 1
            && shape.layout == Layout::Nchw
    }

    /// What the fused kernel runs on.
    pub fn fused_machine(&self) -> &Machine {
        &self.fused
    }

    /// What the products run on.
    pub fn product_machine(&self) -> &Machine {
        self.products.machine()
    }

    /// F(2x2, 3x3) in one kernel, after a transform of the filter; absent for the gradient of the filter.
    pub fn fused(&self, shape: &Shape, reuse: Reuse) -> Option<Choice> {
        if shape.phase == Phase::BackwardWeight {
            return None;
        }
        let Roles { inner, outer, out } = roles(shape);
        let machine = &self.fused;
        let images = shape.batch as f64;
        let places = across(out.height, FUSED_OUTPUT[0]) * across(out.width, FUSED_OUTPUT[1]);
        let blocks = across(outer, FUSED_FILTERS) * images * places;
        let tiles = (FUSED_OUTPUT[0] / 2 * (FUSED_OUTPUT[1] / 2)) as f64;
        let filters = FUSED_FILTERS as f64;
        let transformed = FUSED_PRODUCTS * inner as f64 * outer as f64;
        let [read, written] = shape.moved();
        let direct = 9.0 * inner as f64 * outer as f64;
        let bytes = ELEMENT * (read - direct + transformed + written);
        let held = if reuse == Reuse::Cold { 0.0 } else { bytes * machine.hit(bytes) };
        let work = Work {
            blocks,
            per_sm: f64::from(FUSED_BLOCKS),
            steps: (inner as f64 / FUSED_STEP).ceil() + 1.0,
            math: 2.0 * filters * tiles * FUSED_PRODUCTS * inner as f64,
            shape: REFERENCE_TILE,
            stride: 0.0,
            out: filters * tiles * 4.0 * ELEMENT,
            feed: inner as f64 * FUSED_LOADS,
            partials: 0.0,
            streamed: bytes - held + held * machine.dram / machine.l2,
        };
        let parts = work.parts(machine, false);
        let prologue = machine.quantised(blocks / machine.sms) * self.block_cost;
        let transforms = ELEMENT * FUSED_FILTER * inner as f64 * outer as f64 / self.transform;
        let time = parts.time(machine.overlap) + prologue + transforms + machine.fixed;
        let outputs = images * out.height as f64 * out.width as f64;
        Some(Choice {
            algorithm: Algorithm::Fused,
            tile: None,
            splits: 1,
            blocks,
            blocks_per_sm: FUSED_BLOCKS,
            resources: fused_resources(),
            kernels: 2,
            flop: FUSED_PRODUCTS / 4.0 * 2.0 * outputs * inner as f64 * outer as f64,
            padded_flop: work.math * blocks,
            workspace: ELEMENT * transformed,
            traffic: bytes + ELEMENT * FUSED_FILTER * inner as f64 * outer as f64,
            work,
            math: parts.math + parts.store,
            dram: parts.dram.max(parts.ports) + transforms,
            l2: parts.feed,
            latency: parts.latency + prologue,
            fixed: parts.fixed + machine.fixed,
            transforms,
            time,
        })
    }

    /// F(4x4, 3x3) in four kernels: transforms of filter and image, 36 products, transform of the output.
    pub fn unfused(&self, shape: &Shape) -> Choice {
        let Roles { inner, outer, out } = roles(shape);
        let machine = self.products.machine();
        let images = shape.batch.div_ceil(self.image_multiple) * self.image_multiple;
        let places = out.height.div_ceil(TILE) * out.width.div_ceil(TILE);
        let tiles = images * places;
        let batch = PRODUCTS;
        let product = match shape.phase {
            // The gradient of the filter is a sum over the tiles.
            Phase::BackwardWeight => gemm::Shape { batch, m: outer, n: inner, k: tiles },
            _ => gemm::Shape { batch, m: tiles, n: outer, k: inner },
        };
        let plan = self.products.plan(product, Reuse::Warm);
        let chosen = plan.chosen;
        let per = ELEMENT * PRODUCTS as f64;
        let (image, filter, result) =
            (per * tiles as f64 * inner as f64, per * inner as f64 * outer as f64, per * tiles as f64 * outer as f64);
        let [in_bytes, filter_bytes, out_bytes] = shape.elements().map(|elements| elements * ELEMENT);
        // Transforms of what comes in, then of what goes out; what L2 keeps between two kernels streams faster.
        let (first, second) = match shape.phase {
            Phase::Forward => (in_bytes, out_bytes),
            Phase::BackwardData => (out_bytes, in_bytes),
            Phase::BackwardWeight => (in_bytes, out_bytes),
        };
        let kept =
            |bytes: f64, distance: f64| bytes * (1.0 - machine.hit(distance) * (1.0 - machine.dram / machine.l2));
        let moved = first + kept(image, image + first) + filter_bytes + filter + kept(result, result) + second;
        let transforms = moved / self.transform;
        let parts = chosen.parts;
        let fixed = 4.0 * machine.fixed;
        let outputs = shape.output_pixels();
        Choice {
            algorithm: Algorithm::Unfused,
            tile: chosen.tile.map(|t| (t.height, t.width)),
            splits: chosen.splits,
            blocks: chosen.blocks,
            blocks_per_sm: chosen.tile.map_or(1, |t| t.per_sm),
            resources: chosen.tile.map_or(Resources::default(), |t| t.resources),
            kernels: 4,
            flop: PRODUCTS as f64 / 16.0 * 2.0 * outputs * inner as f64 * outer as f64,
            padded_flop: chosen.tiled.math * chosen.blocks,
            workspace: image + filter + result,
            traffic: moved + plan.bytes.get(),
            work: Work::new(&chosen.tiled, chosen.blocks, chosen.tile.map_or(1.0, |t| f64::from(t.per_sm)), machine),
            math: parts.math + parts.store,
            dram: parts.dram.max(parts.ports) + transforms,
            l2: parts.feed,
            latency: parts.latency,
            fixed,
            transforms,
            time: plan.time + transforms + fixed - machine.fixed,
        }
    }
}

fn across(extent: u64, side: u64) -> f64 {
    extent.div_ceil(side) as f64
}
