//! Ceilings of every pipe and memory level, ridge points, and where a kernel lies below them.

use crate::{
    gpu::{Basis, DataType, Gpu, Pipe},
    kernel::{Kernel, Level},
    units::{BytesPerSecond, Flops, FlopsPerByte, FlopsPerSecond, Hertz, Seconds},
};

/// The peak of one pipe.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// The pipe; absent for instruction issue, which is drawn as the FMA rate that full issue allows.
    pub pipe: Option<Pipe>,
    /// For people.
    pub label: String,
    /// Datasheet peak.
    pub peak: FlopsPerSecond,
    /// What the calibration says is sustained.
    pub sustained: FlopsPerSecond,
}

/// The bandwidth of one memory level.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryRoof {
    /// The level.
    pub level: Level,
    /// Datasheet (or measured, see `basis`) bandwidth.
    pub peak: BytesPerSecond,
    /// What the calibration says is sustained, where it says anything.
    pub sustained: Option<BytesPerSecond>,
    /// Whether `peak` is specified or measured.
    pub basis: Basis,
}

/// The roofline of a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Roofline {
    /// Pipe ceilings, highest first: dense, 2:4 sparse, special functions, issue.
    pub ceilings: Vec<Ceiling>,
    /// Memory roofs, DRAM first. A level without a sourced bandwidth is left out.
    pub roofs: Vec<MemoryRoof>,
    /// Levels that were left out, with the reason.
    pub missing: Vec<String>,
}

/// The roofline of a GPU; with `clock`, that of a GPU whose SMs run at this clock (profilers lock the base clock).
pub fn roofline(gpu: &Gpu, clock: Option<Hertz>) -> Roofline {
    let scale = |own: Hertz| clock.map_or(1.0, |c| c / own);
    let mut pipes = gpu.pipes();
    if gpu.rates.sparsity.is_some() {
        let sparse = pipes.iter().filter_map(|p| match p {
            Pipe::Tensor { input, accumulate, .. } if *input != DataType::Fp64 => {
                Some(Pipe::Tensor { input: *input, accumulate: *accumulate, sparse: true })
            }
            _ => None,
        });
        let sparse: Vec<Pipe> = sparse.collect();
        pipes.extend(sparse);
    }
    let mut ceilings: Vec<Ceiling> = pipes
        .into_iter()
        .filter_map(|pipe| {
            let peak = gpu.peak(pipe)? * scale(gpu.clock(pipe));
            Some(Ceiling {
                pipe: Some(pipe),
                label: pipe.label(),
                peak,
                sustained: peak * gpu.calibration.sustained(pipe),
            })
        })
        .collect();
    if let Some(sm) = gpu.limits.sm() {
        // One warp instruction per sub-partition and cycle.
        let lanes = f64::from(sm.sub_partitions) * f64::from(sm.warp_size) * f64::from(gpu.sm.count);
        let issue = FlopsPerSecond(2.0 * lanes * gpu.clocks.vector.get()) * scale(gpu.clocks.vector);
        ceilings.push(Ceiling { pipe: None, label: "instruction issue (FMA)".into(), peak: issue, sustained: issue });
    }
    ceilings.sort_by(|a, b| b.peak.get().total_cmp(&a.peak.get()).then(a.label.cmp(&b.label)));

    let dram = gpu.memory.dram.bandwidth;
    let mut roofs = vec![MemoryRoof {
        level: Level::Dram,
        peak: dram,
        sustained: Some(dram * gpu.calibration.dram_efficiency),
        basis: Basis::Specified,
    }];
    let mut missing = Vec::new();
    match (gpu.memory.l2.bandwidth, gpu.memory.l2.bandwidth_basis) {
        (Some(peak), basis) => {
            let basis = basis.unwrap_or(Basis::Specified);
            roofs.push(MemoryRoof { level: Level::L2, peak: peak * scale(gpu.clocks.vector), sustained: None, basis });
        }
        (None, _) if gpu.is_cpu() => {}
        (None, _) => missing.push(format!("no L2 roof: nobody published the L2 bandwidth of {}", gpu.name)),
    }
    match gpu.shared_bandwidth() {
        Some(shared) => {
            let peak = shared * scale(gpu.clocks.vector);
            roofs.push(MemoryRoof { level: Level::Shared, peak, sustained: None, basis: Basis::Specified });
        }
        None if gpu.is_cpu() => {}
        None => missing.push(format!("no shared-memory roof: its bandwidth on {} is not sourced", gpu.name)),
    }
    Roofline { ceilings, roofs, missing }
}

impl Roofline {
    /// The ceiling of a pipe.
    pub fn ceiling(&self, pipe: Pipe) -> Option<&Ceiling> {
        self.ceilings.iter().find(|c| c.pipe == Some(pipe))
    }

    /// The roof of a level.
    pub fn roof(&self, level: Level) -> Option<&MemoryRoof> {
        self.roofs.iter().find(|r| r.level == level)
    }

    /// The intensity at which a pipe's peak and a level's bandwidth meet.
    pub fn ridge(&self, pipe: Pipe, level: Level) -> Option<FlopsPerByte> {
        Some(self.ceiling(pipe)?.peak / self.roof(level)?.peak)
    }

    /// The peak for a mix of pipes that run side by side: all operations over the time of the slowest pipe.
    pub fn mixed_peak(&self, operations: &[(Pipe, Flops)]) -> Option<FlopsPerSecond> {
        let mut total = Flops::ZERO;
        let mut slowest = Seconds::ZERO;
        for (pipe, flops) in operations.iter().filter(|(_, f)| f.get() > 0.0) {
            total += *flops;
            slowest = slowest.max(*flops / self.ceiling(*pipe)?.peak);
        }
        (slowest.get() > 0.0).then(|| total / slowest)
    }
}

/// A kernel on the roofline of one level.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The level whose traffic the intensity counts.
    pub level: Level,
    /// Operations per byte moved at the level.
    pub intensity: FlopsPerByte,
    /// Operations per second reached.
    pub rate: FlopsPerSecond,
    /// min(peak of the pipes used, intensity x bandwidth).
    pub attainable: FlopsPerSecond,
    /// Whether the bandwidth is the lower of the two.
    pub on_slope: bool,
}

impl Point {
    /// Reached share of the attainable rate; above 1 something was counted or chosen wrongly, see `above_roof`.
    pub fn share(&self) -> f64 {
        self.rate / self.attainable
    }
}

/// Below this share a kernel has no traffic with DRAM to speak of, and no place on its roofline.
const LEAST_FROM_DRAM: f64 = 1e-3;

/// The points of a kernel that took `time`, one per level that it has traffic at and the GPU has a roof for.
/// `from_dram` is the share of its DRAM traffic that L2 does not still hold, 0 to 1.
pub fn points(roofline: &Roofline, kernel: &Kernel, time: Seconds, from_dram: f64) -> Vec<Point> {
    let Some(peak) = roofline.mixed_peak(&kernel.operations) else { return Vec::new() };
    [Level::Dram, Level::L2, Level::Shared]
        .into_iter()
        .filter_map(|level| {
            let asked = kernel.intensity(level)?;
            let intensity = match level {
                Level::Dram if from_dram < LEAST_FROM_DRAM => return None,
                Level::Dram => asked / from_dram,
                _ => asked,
            };
            let bandwidth = roofline.roof(level)?.peak;
            let slope = intensity * bandwidth;
            let on_slope = slope < peak;
            Some(Point { level, intensity, rate: kernel.flops() / time, attainable: peak.min(slope), on_slope })
        })
        .collect()
}

/// How far a board that is cool and has power left may run above its rated boost clock.
const BOOST: f64 = 1.2;

/// What makes a measured rate lie above its roof, likeliest first. `clock` is the clock that the roof was drawn for.
pub fn above_roof(gpu: &Gpu, point: &Point, operations: &[(Pipe, Flops)], clock: Hertz) -> Vec<String> {
    let share = point.share();
    if share <= 1.0 {
        return Vec::new();
    }
    let mut reasons = Vec::new();
    if point.on_slope {
        if point.level == Level::Dram {
            reasons.push("the data come from L2, not DRAM: a working set below the L2 size, or traffic counted as if every access reached DRAM".to_owned());
        }
        reasons.push("bytes were counted too low (only one direction, or without write-allocate and spills)".into());
    } else {
        let fastest = clock.max(gpu.clocks.vector);
        if share <= fastest / clock * BOOST {
            let least = Hertz(clock.get() * share);
            reasons.push(format!("the clock was {least} or more, not {clock}: GPUs boost above their rated clock"));
        }
        let used = operations.iter().max_by(|a, b| a.1.get().total_cmp(&b.1.get())).map(|(pipe, _)| *pipe);
        let other = gpu.pipes().into_iter().find(|p| {
            used != Some(*p) && matches!(p, Pipe::Tensor { .. }) && gpu.peak(*p).is_some_and(|peak| peak >= point.rate)
        });
        if let (Some(Pipe::Vector(_)), Some(other)) = (used, other) {
            reasons.push(format!("it is the wrong roof: the work ran on tensor cores ({})", other.label()));
        }
        if let Some(factor) = gpu.rates.sparsity.filter(|f| share <= *f && matches!(used, Some(Pipe::Tensor { .. }))) {
            reasons.push(format!("2:4 sparsity (factor {factor}) was used or its peak belongs here"));
        }
        if share <= 2.05 {
            reasons.push("operations were counted twice: a causal mask not halved, or padding counted".into());
        }
        reasons.push("the peak of another GPU or data type was meant".into());
    }
    reasons
}
