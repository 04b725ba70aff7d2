//! A matrix product through the whole pipeline: the chosen kernel analysed, the choice and the shape explained.

use super::{Candidate, Force, ForceError, Plan, Planner, Precision, PrecisionError, Reuse, Shape, ShapeError};
use crate::{
    analysis::{Analysis, analyse},
    gpu::{DataType, Gpu},
    kernel::{Access, Concurrency, Kernel, Traffic},
    launch::LaunchError,
    occupancy::Resources,
    time::Timing,
    units::{Bytes, Flops, Seconds, decimal, grouped},
};

/// What is asked of a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// The shape.
    pub shape: Shape,
    /// Type of A and B.
    pub input: DataType,
    /// Whether the weights are 2:4 sparse.
    pub sparse: bool,
    /// What L2 holds at the start.
    pub reuse: Reuse,
    /// What of the kernel is given instead of searched.
    pub force: Force,
    /// Whether the host's launch is part of the time.
    pub timing: Timing,
}

/// A product that cannot be answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GemmError {
    /// No legal shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The GPU has no unit for the type.
    #[error(transparent)]
    Precision(#[from] PrecisionError),
    /// There is no such kernel.
    #[error(transparent)]
    Force(#[from] ForceError),
    /// The kernel cannot be launched.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// Products run on GPUs.
    #[error("{name} is a CPU: the kernels of matrix products are known for GPUs alone")]
    Cpu {
        /// Name of the CPU.
        name: String,
    },
}

/// The answer for one product on one GPU.
#[derive(Clone, Debug)]
pub struct Product {
    /// The chosen kernel through the pipeline.
    pub analysis: Analysis,
    /// The choice.
    pub plan: Plan,
    /// Type of the operands.
    pub precision: Precision,
    /// The choice and the next best, one sentence each.
    pub choices: Vec<String>,
    /// What nearby sizes would cost.
    pub sizes: Vec<String>,
}

/// Candidates that are named.
const NAMED: usize = 4;

/// Chooses the kernel of a product and analyses it.
///
/// # Errors
/// The GPU lacks the type, is a CPU, or the launch is beyond any GPU.
pub fn product(gpu: &Gpu, request: &Request) -> Result<Product, GemmError> {
    if gpu.is_cpu() {
        return Err(GemmError::Cpu { name: gpu.name.clone() });
    }
    let precision = Precision::new(gpu, request.input, request.sparse)?;
    let no_unit = || PrecisionError::NoUnit {
        gpu: gpu.name.clone(),
        wanted: precision.pipe.label(),
        available: "other types".into(),
    };
    let planner = Planner::new(gpu, precision).ok_or_else(no_unit)?.forced(request.force)?;
    let plan = planner.plan(request.shape, request.reuse);
    let (kernel, blocks) = kernel(&plan, &precision, name(request));
    let analysis = analyse(gpu, kernel, blocks, request.timing)?;
    let best: [Option<Candidate>; NAMED] = planner.candidates(request.shape, request.reuse);
    let choices = best.iter().flatten().map(|c| choice(c, &planner)).collect();
    let sizes = [Dimension::M, Dimension::N, Dimension::K];
    let near = sizes.into_iter().filter_map(|d| nearby(&planner, &plan, request.reuse, d));
    let sizes = alignment(request.shape, &precision).into_iter().chain(near).collect();
    Ok(Product { analysis, plan, precision, choices, sizes })
}

/// "gemm 4096x4096x4096 bf16".
fn name(request: &Request) -> String {
    let Shape { batch, m, n, k } = request.shape;
    let batch = if batch > 1 { format!("{batch}x ") } else { String::new() };
    let sparse = if request.sparse { " 2:4" } else { "" };
    format!("gemm {batch}{m}x{n}x{k} {}{sparse}", request.input.name())
}

/// The chosen candidate as a kernel with its grid.
pub fn kernel(plan: &Plan, precision: &Precision, name: String) -> (Kernel, u64) {
    let chosen = &plan.chosen;
    let shape = plan.shape;
    let written = shape.batch as f64 * shape.m as f64 * shape.n as f64 * precision.output_bytes;
    // Threads of a kernel without tiles: a warp per output and four of them.
    let row = Resources { threads_per_block: 128, registers_per_thread: 32, ..Resources::default() };
    let l2 = Access {
        read: Bytes(chosen.tiled.feed * chosen.blocks),
        write: Bytes(chosen.tiled.out * chosen.blocks),
        ..Access::default()
    };
    let kernel = Kernel {
        name,
        resources: chosen.tile.map_or(row, |t| t.resources),
        operations: vec![(precision.pipe, Flops(shape.flop()))],
        warp_instructions: None,
        traffic: Traffic {
            dram: Access { read: plan.bytes - Bytes(written), write: Bytes(written), ..Access::default() },
            l2: chosen.tile.map(|_| l2),
            ..Traffic::default()
        },
        concurrency: Concurrency::default(),
        tiled: Some(chosen.tiled),
    };
    (kernel, chosen.blocks as u64)
}

/// "256x128, split 3 ways: 91.8 us, 96 blocks in 0.9 waves".
fn choice(candidate: &Candidate, planner: &Planner) -> String {
    let time = Seconds(candidate.time);
    let waves = candidate.blocks / planner.slots(candidate);
    let split = match candidate.splits {
        1 => String::new(),
        ways => format!(", k split {ways} ways"),
    };
    match candidate.tile {
        None => format!("a kernel without tiles for one row: {time}"),
        Some(tile) => format!(
            "tile {}x{}{split}: {time}, {} blocks in {} waves",
            tile.height,
            tile.width,
            grouped(candidate.blocks as u64),
            decimal(waves, 2)
        ),
    }
}

/// Rows of operands must start on this many bytes for the kernels of the model; others copy element by element.
const ALIGNED: f64 = 16.0;

/// What the model says nothing about: sizes that do not fill aligned rows.
fn alignment(shape: Shape, precision: &Precision) -> Option<String> {
    let grain = (ALIGNED / precision.input_bytes).max(1.0) as u64;
    let loose = [("n", shape.n), ("k", shape.k)].into_iter().filter(|(_, size)| !size.is_multiple_of(grain));
    let loose: Vec<String> = loose.map(|(name, size)| format!("{name} = {size}")).collect();
    let names = loose.join(" and ");
    (!loose.is_empty()).then(|| {
        format!("{names}: no multiple of {grain}, so that libraries take slower kernels, which the time does not know")
    })
}

/// A dimension of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dimension {
    M,
    N,
    K,
}

impl Dimension {
    fn of(self, shape: Shape) -> u64 {
        match self {
            Self::M => shape.m,
            Self::N => shape.n,
            Self::K => shape.k,
        }
    }

    fn with(self, shape: Shape, value: u64) -> Shape {
        match self {
            Self::M => Shape { m: value, ..shape },
            Self::N => Shape { n: value, ..shape },
            Self::K => Shape { k: value, ..shape },
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::M => "m",
            Self::N => "n",
            Self::K => "k",
        }
    }
}

/// Sizes are compared at multiples of this: the smallest side of a tile, and what alignment asks for.
const GRAIN: u64 = 8;
/// How far from the size others are tried, as a share of it.
const NEAR: u64 = 8;
/// Most sizes that are tried in each direction.
const TRIED: u64 = 64;
/// A saving below this is noise of the model.
const WORTH: f64 = 0.03;
/// Growth up to this is no growth.
const FREE: f64 = 0.005;

/// What a slightly smaller size would save beyond its share of the work, and how far the size may grow for nothing.
fn nearby(planner: &Planner, plan: &Plan, reuse: Reuse, dimension: Dimension) -> Option<String> {
    let size = dimension.of(plan.shape);
    let at = |value: u64| planner.plan(dimension.with(plan.shape, value), reuse);
    let step = (size / NEAR / TRIED).max(1).next_multiple_of(GRAIN);
    let below = (1..=TRIED).map(|i| (size.saturating_sub(1) / step * step).saturating_sub((i - 1) * step));
    let below = below.take_while(|v| *v > 0 && *v + size / NEAR >= size).map(|v| (v, at(v)));
    // The nearest size with an edge between: the saving beyond what less work saves anyway.
    let beyond = |v: u64, p: &Plan| (plan.time / p.time) / (size as f64 / v as f64) - 1.0;
    let cheaper = below.filter(|(v, p)| beyond(*v, p) >= WORTH).max_by(|a, b| {
        let gain = |(v, p): &(u64, Plan)| beyond(*v, p) * *v as f64;
        gain(a).total_cmp(&gain(b))
    });
    let above = (1..=TRIED).map(|i| size / step * step + i * step).take_while(|v| *v <= size + size / NEAR);
    let free = above.take_while(|v| at(*v).time <= plan.time * (1.0 + FREE)).last();
    let name = dimension.name();
    let sentence = cheaper.map(|(value, then)| {
        let more = decimal((plan.time / then.time - 1.0) * 100.0, 1);
        let why = reasons(planner, plan, &then);
        format!("{name} = {size} takes {more} % more time than {value}{why}")
    });
    match (sentence, free) {
        (Some(sentence), Some(free)) => Some(format!("{sentence}; up to {free} takes no more")),
        (Some(sentence), None) => Some(sentence),
        (None, Some(free)) => Some(format!("{name} up to {free} takes no more time than {size}")),
        (None, None) => None,
    }
}

/// ": 33 tile columns instead of 32, 3 waves instead of 2".
fn reasons(planner: &Planner, now: &Plan, then: &Plan) -> String {
    let mut reasons = Vec::new();
    let (Some(tile), Some(other)) = (now.chosen.tile, then.chosen.tile) else { return String::new() };
    if (tile.height, tile.width) == (other.height, other.width) {
        let count = |extent: u64, side: u32| extent.div_ceil(u64::from(side));
        let rows = (count(now.shape.m, tile.height), count(then.shape.m, tile.height), "tile rows");
        let columns = (count(now.shape.n, tile.width), count(then.shape.n, tile.width), "tile columns");
        for (a, b, what) in [rows, columns] {
            if a != b {
                reasons.push(format!("{a} {what} instead of {b}"));
            }
        }
    } else {
        reasons.push(format!("there tiles of {}x{} are faster", other.height, other.width));
    }
    let waves = |plan: &Plan| (plan.chosen.blocks / planner.slots(&plan.chosen)).ceil();
    let (a, b) = (waves(now), waves(then));
    if a != b {
        reasons.push(format!("{a} waves instead of {b}"));
    }
    if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(", ")) }
}
