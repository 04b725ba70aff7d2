//! The pipeline: a kernel and a grid on a GPU, through launch, schedule, time, roofline and verdict.

use crate::{
    gpu::Gpu,
    kernel::Kernel,
    launch::{Launch, LaunchError},
    roofline::{Point, Roofline, points, roofline},
    schedule::{Schedule, schedule},
    time::{TimeEstimate, Timing, estimate},
    units::Seconds,
    verdict::{Model, Verdict, verdict},
};

/// Everything that is known about one launch on one GPU.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The GPU, with what-ifs applied.
    pub gpu: Gpu,
    /// The checked launch with its occupancy.
    pub launch: Launch,
    /// Waves and tail.
    pub schedule: Schedule,
    /// Terms and estimate.
    pub time: TimeEstimate,
    /// Ceilings of the GPU.
    pub roofline: Roofline,
    /// Where the kernel lies, one point per memory level.
    pub points: Vec<Point>,
    /// Bound, findings, what would help.
    pub verdict: Verdict,
    /// Time that a device took for the launch, where its user knows it.
    pub measured: Option<Seconds>,
}

impl Analysis {
    /// Where the kernel lies at its measured time, one point per memory level; empty without a measurement.
    pub fn measured_points(&self) -> Vec<Point> {
        let place = |time| points(&self.roofline, &self.launch.kernel, time, 1.0 - self.time.l2_hit);
        self.measured.map_or_else(Vec::new, place)
    }
}

/// Runs the pipeline.
///
/// # Errors
/// The launch cannot run on the GPU.
pub fn analyse(gpu: &Gpu, kernel: Kernel, grid_blocks: u64, timing: Timing) -> Result<Analysis, LaunchError> {
    let launch = Launch::new(gpu, kernel, grid_blocks)?;
    let schedule = schedule(launch.grid_blocks, gpu.units(), launch.occupancy.blocks_per_sm);
    let time = estimate(gpu, &launch, &schedule, timing);
    Ok(judged(gpu, launch, schedule, time, Model::General(timing)))
}

/// Runs the pipeline for a kernel whose time the model of its operation gives; `model` is asked again for other GPUs.
///
/// # Errors
/// The launch cannot run on the GPU.
pub fn analyse_operation(
    gpu: &Gpu,
    kernel: Kernel,
    grid_blocks: u64,
    time: TimeEstimate,
    model: &dyn Fn(&Gpu) -> Option<TimeEstimate>,
) -> Result<Analysis, LaunchError> {
    let launch = Launch::new(gpu, kernel, grid_blocks)?;
    let schedule = schedule(launch.grid_blocks, gpu.units(), launch.occupancy.blocks_per_sm);
    Ok(judged(gpu, launch, schedule, time, Model::Operation(model)))
}

fn judged(gpu: &Gpu, launch: Launch, schedule: Schedule, time: TimeEstimate, model: Model) -> Analysis {
    let roofline = roofline(gpu, None);
    let points = points(&roofline, &launch.kernel, time.estimate, 1.0 - time.l2_hit);
    let verdict = verdict(gpu, &launch, &schedule, &time, model);
    Analysis { gpu: gpu.clone(), launch, schedule, time, roofline, points, verdict, measured: None }
}
