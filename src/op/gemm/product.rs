//! A matrix product through the whole pipeline: the chosen kernel analysed, the choice and the shape explained.

use super::{
    Candidate, Force, ForceError, Groups, Plan, Planner, Precision, PrecisionError, Reuse, Shape, ShapeError, band,
    explain::{alignment, choice, nearby},
    uncalibrated,
};
use crate::{
    analysis::{Analysis, analyse},
    gpu::{ConstantsOf, DataKind, DataType, Gpu, TileSchedule},
    kernel::{Access, Concurrency, Kernel, Traffic},
    launch::LaunchError,
    occupancy::Resources,
    time::{Range, Timing},
    units::{Bytes, Flops},
    verdict::confidence,
};

/// What is asked of a product.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The shape; of a grouped product one that holds each.
    pub shape: Shape,
    /// Rows of each product of a grouped one; none where all have the shape.
    pub groups: Vec<u64>,
    /// Type of A and B.
    pub input: DataType,
    /// Whether the weights are 2:4 sparse.
    pub sparse: bool,
    /// What L2 holds at the start.
    pub reuse: Reuse,
    /// What the operands hold.
    pub data: DataKind,
    /// What of the kernel is given instead of searched.
    pub force: Force,
    /// How tiles are handed out, where it is not left to the family of the GPU.
    pub schedule: Option<TileSchedule>,
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
    let gpu = &request.on(gpu);
    let no_unit = || PrecisionError::NoUnit {
        gpu: gpu.name.clone(),
        wanted: precision.pipe.label(),
        available: "other types".into(),
    };
    let planner = Planner::new(gpu, precision).ok_or_else(no_unit)?.forced(request.force)?;
    if !request.groups.is_empty() {
        Groups::new(&request.groups, request.shape.n, request.shape.k)?;
    }
    let plan_of = |shape: Shape| match request.groups(shape) {
        Some(groups) => planner.plan(groups, request.reuse),
        None => planner.plan(shape, request.reuse),
    };
    let plan = plan_of(request.shape);
    let (kernel, blocks) = kernel(&plan, &precision, name(request));
    let mut analysis = analyse(gpu, kernel, blocks, request.timing)?;
    let time = &mut analysis.time;
    (time.low, time.high) = band(gpu, &precision, request.shape, time.estimate);
    let unknown = *gpu.calibration.of_unit(precision.pipe) == ConstantsOf::Datasheet;
    let unmeasured = uncalibrated(&precision, request.shape).map(|why| why.reason());
    time.range =
        Range::Band { unmeasured: unmeasured.or(unknown.then_some("products of such GPUs were never measured")) };
    analysis.verdict.confidence = confidence(gpu, &analysis.launch, time.range);
    let best: [Option<Candidate>; NAMED] = match request.groups(request.shape) {
        Some(groups) => planner.candidates(groups, request.reuse),
        None => planner.candidates(request.shape, request.reuse),
    };
    let choices = best.iter().flatten().map(|c| choice(c, &planner)).collect();
    let near = nearby(&planner, &plan, &plan_of, request.groups.is_empty());
    let sizes = alignment(request.shape, &precision).into_iter().chain(near).collect();
    Ok(Product { analysis, plan, precision, choices, sizes })
}

impl Request {
    /// Dense random operands, cold weights, the kernel searched, the device alone timed.
    pub fn new(shape: Shape, input: DataType) -> Self {
        Self {
            shape,
            groups: Vec::new(),
            input,
            sparse: false,
            reuse: Reuse::default(),
            data: DataKind::default(),
            force: Force::default(),
            schedule: None,
            timing: Timing::default(),
        }
    }

    /// The grouped product with the n and k of a shape.
    fn groups(&self, shape: Shape) -> Option<Groups<'_>> {
        (!self.groups.is_empty()).then_some(Groups { rows: &self.groups, n: shape.n, k: shape.k })
    }

    /// Rows of all products.
    pub fn rows(&self) -> f64 {
        if self.groups.is_empty() {
            return self.shape.batch as f64 * self.shape.m as f64;
        }
        self.groups.iter().map(|m| *m as f64).sum()
    }

    /// The GPU with the constants of the request's data and schedule.
    pub fn on(&self, gpu: &Gpu) -> Gpu {
        let mut gpu = gpu.clone();
        (gpu.calibration.data, gpu.calibration.schedule) = (self.data, self.schedule);
        gpu
    }
}

/// "gemm 4096x4096x4096 bf16".
fn name(request: &Request) -> String {
    let Shape { batch, m, n, k } = request.shape;
    let batch = match (batch, request.groups.is_empty()) {
        (1, _) => String::new(),
        (_, true) => format!("{batch}x "),
        (_, false) => format!("{batch} groups up to "),
    };
    let sparse = if request.sparse { " 2:4" } else { "" };
    format!("gemm {batch}{m}x{n}x{k} {}{sparse}", request.input.name())
}

/// The chosen candidate as a kernel with its grid.
pub fn kernel(plan: &Plan, precision: &Precision, name: String) -> (Kernel, u64) {
    let chosen = &plan.chosen;
    let shape = plan.shape;
    let written = plan.rows * shape.n as f64 * precision.output_bytes;
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
        operations: vec![(precision.pipe, Flops(2.0 * plan.rows * shape.n as f64 * shape.k as f64))],
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
