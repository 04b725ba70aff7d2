//! What a profiled launch says about itself: residency and waves recomputed, roofline position, bound, what would help.

use super::{
    ObservedKernel, ObservedPipe,
    advice::{self, Advice},
    device::Device,
};
use crate::{
    analysis::{Analysis, analyse},
    gpu::{DataType, Gpu, Pipe},
    kernel::{Access, Concurrency, Kernel, Traffic},
    occupancy::{Carveout, Occupancy, Resource, Resources, occupancy},
    roofline::{Point, above_roof, points, roofline},
    schedule::{Schedule, schedule},
    time::{Bound, Timing},
    units::{Bytes, BytesPerSecond, Flops, decimal, significant},
};

/// A figure that both the file and the model state.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What is compared.
    pub figure: &'static str,
    /// The model's value.
    pub model: f64,
    /// The file's value, rounded as the tool prints it.
    pub file: f64,
    /// Whether they agree to the digits printed.
    pub equal: bool,
}

/// A profiled launch with everything that can be said about it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The launch as the file states it.
    pub observed: ObservedKernel,
    /// The GPU that it ran on, as far as it is known.
    pub device: Device,
    /// What a block asks of an SM, where the file has threads and registers.
    pub resources: Option<Resources>,
    /// Recomputed residency, where the file has the resources of the block.
    pub occupancy: Option<Occupancy>,
    /// Recomputed waves.
    pub schedule: Option<Schedule>,
    /// Model against file.
    pub comparisons: Vec<Comparison>,
    /// Where the launch lies on the roofline of the clock that it was profiled at, with a diagnosis where it lies above.
    pub points: Vec<(Point, Vec<String>)>,
    /// What held it back, with the evidence.
    pub bound: Option<(Bound, String)>,
    /// The time model for the same launch at the same clock.
    pub model: Option<Analysis>,
    /// What would help.
    pub advice: Vec<Advice>,
    /// What the file does not say.
    pub missing: Vec<String>,
}

/// Judges one launch of a file.
pub fn judge(observed: ObservedKernel, device: Device) -> Judged {
    let resources = resources(&observed);
    let found = resources.zip(device.limits.as_ref()).map(|(r, limits)| occupancy(limits, &r));
    let plan = match (observed.grid_blocks, device.sm_count, &found) {
        (Some(blocks), Some(sms), Some(o)) if o.blocks_per_sm > 0 => Some(schedule(blocks, sms, o.blocks_per_sm)),
        _ => None,
    };
    let comparisons = comparisons(
        &observed,
        found.as_ref(),
        plan.as_ref(),
        device.limits.as_ref().and_then(|l| l.sm()).map(|sm| sm.max_blocks_per_sm),
    );
    // A place on the roofline needs no resources; the time model does.
    let kernel = kernel(&observed, resources.unwrap_or_default());
    let clocked = device.gpu.as_ref().map(|gpu| at_clock(gpu, &observed));
    let points = match (&kernel, &clocked, observed.duration) {
        (Some(kernel), Some(gpu), Some(time)) if time.get() > 0.0 => {
            let clock = gpu.clocks.vector;
            let roofs = roofline(gpu, Some(clock));
            points(&roofs, kernel, time, 1.0)
                .into_iter()
                .map(|p| {
                    let reasons =
                        device.gpu.as_ref().map_or_else(Vec::new, |g| above_roof(g, &p, &kernel.operations, clock));
                    (p, reasons)
                })
                .collect()
        }
        _ => Vec::new(),
    };
    let model = match (kernel, &clocked, observed.grid_blocks) {
        (Some(kernel), Some(gpu), Some(blocks)) if resources.is_some() && kernel.traffic.dram.used().get() > 0.0 => {
            analyse(gpu, kernel, blocks, Timing::Device).ok()
        }
        _ => None,
    };
    let peak_dram = device.gpu.as_ref().map(|gpu| gpu.memory.dram.bandwidth);
    let bound = bound(&observed, &points).or_else(|| dram_alone(&observed, peak_dram?));
    let advice = advice::advice(
        &observed,
        &device,
        resources.as_ref(),
        found.as_ref(),
        plan.as_ref(),
        bound.as_ref().map(|b| b.0),
        model.as_ref().map(|m| m.time.tail_cost),
    );
    let missing = missing(&observed, &device);
    Judged {
        observed,
        device,
        resources,
        occupancy: found,
        schedule: plan,
        comparisons,
        points,
        bound,
        model,
        advice,
        missing,
    }
}

/// The resources of a block, where the file has threads and registers.
///
/// Shared memory is limited by the carve-out configured for the launch. Nsight Compute's versions of 2019 and 2020, which
/// do not state the driver's share, stated a limit that follows from the SM's maximum instead.
fn resources(observed: &ObservedKernel) -> Option<Resources> {
    let bytes = |m: Option<super::Measured<Bytes>>| m.map(|m| whole(m.value.get(), m.half_width.get()));
    let of_maximum = observed.driver_shared.is_none() && observed.limit_shared.is_some();
    let configured = bytes(observed.shared_configuration).filter(|_| !of_maximum);
    Some(Resources {
        threads_per_block: observed.threads_per_block.filter(|t| *t > 0)?,
        registers_per_thread: observed.registers_per_thread?,
        static_shared: bytes(observed.static_shared).unwrap_or(0),
        dynamic_shared: bytes(observed.dynamic_shared).unwrap_or(0),
        carveout: configured.filter(|c| *c > 0).map_or(Carveout::Largest, Carveout::Bytes),
        opt_in: true,
        barriers: observed.barriers_per_block.unwrap_or(1),
        accumulation_registers: observed.accumulation_registers.unwrap_or(0),
        scalar_registers: observed.scalar_registers.unwrap_or(0),
        ..Resources::default()
    })
}

/// Bytes of a size that is printed with two decimals, such as 8.19 kB: the whole KiB, else the whole 128 B, that the
/// text may stand for.
fn whole(printed: f64, half_width: f64) -> u32 {
    let stands_for = |unit: f64| {
        let near = (printed / unit).round() * unit;
        ((near - printed).abs() <= half_width).then_some(near)
    };
    stands_for(1024.0).or_else(|| stands_for(128.0)).unwrap_or(printed).round() as u32
}

/// The GPU with its units at the clock of the profile: profilers lock the base clock.
fn at_clock(gpu: &Gpu, observed: &ObservedKernel) -> Gpu {
    let Some(clock) = observed.sm_clock.filter(|c| c.get() > 0.0) else { return gpu.clone() };
    let mut clocked = gpu.clone();
    clocked.changes.push(format!("clocks = {clock}, the SM clock of the profile (datasheet {})", gpu.clocks.vector));
    let factor = clock / gpu.clocks.vector;
    clocked.memory.l2.bandwidth = gpu.memory.l2.bandwidth.map(|b| b * factor);
    clocked.clocks.vector = clock;
    clocked.clocks.tensor = gpu.clocks.tensor.map(|_| clock);
    clocked.clocks.tensor_fp64 = gpu.clocks.tensor_fp64.map(|_| clock);
    clocked
}

/// The launch as a kernel of the time model, with the work and traffic that the file counted.
fn kernel(observed: &ObservedKernel, resources: Resources) -> Option<Kernel> {
    let operations: Vec<(Pipe, Flops)> =
        observed.operations.iter().filter_map(|(pipe, count)| Some((model_pipe(pipe)?, Flops(*count)))).collect();
    let dram = match (observed.dram_read, observed.dram_write, observed.dram_bytes) {
        (Some(read), Some(write), _) => Access { read, write, ..Access::default() },
        (_, _, Some(total)) => Access { read: total, ..Access::default() },
        _ => Access::default(),
    };
    if operations.is_empty() && dram.used().get() == 0.0 {
        return None;
    }
    let one_way = |read: Bytes| Access { read, ..Access::default() };
    Some(Kernel {
        name: observed.name.clone(),
        resources,
        operations,
        warp_instructions: None,
        traffic: Traffic {
            dram,
            l2: observed.l2_bytes.map(one_way),
            shared: observed.shared_bytes.map_or_else(Access::default, one_way),
            ..Traffic::default()
        },
        concurrency: Concurrency::default(),
        tiled: None,
    })
}

fn model_pipe(pipe: &ObservedPipe) -> Option<Pipe> {
    Some(match pipe {
        ObservedPipe::Fp64 => Pipe::Vector(DataType::Fp64),
        ObservedPipe::Fp32 => Pipe::Vector(DataType::Fp32),
        ObservedPipe::Fp16 => Pipe::Vector(DataType::Fp16),
        ObservedPipe::Tensor { input, accumulate } => {
            let input: DataType = input.parse().ok()?;
            let accumulate = accumulate.as_ref().and_then(|a| a.parse().ok()).unwrap_or(input.default_accumulate());
            Pipe::Tensor { input, accumulate, sparse: false }
        }
    })
}

fn comparisons(
    observed: &ObservedKernel,
    found: Option<&Occupancy>,
    plan: Option<&Schedule>,
    max_blocks: Option<u32>,
) -> Vec<Comparison> {
    let mut all = Vec::new();
    // The tool prints two decimals at most.
    let mut compare = |figure, model: f64, file: Option<f64>| {
        if let Some(file) = file {
            all.push(Comparison { figure, model, file, equal: (model - file).abs() <= 0.005 + 1e-9 });
        }
    };
    if let Some(found) = found {
        // A resource that a kernel does not use is printed as the block slots.
        let limit = |r: Resource| {
            f64::from(found.limits.of(r).min(if r == Resource::Shared {
                max_blocks.unwrap_or(u32::MAX)
            } else {
                u32::MAX
            }))
        };
        let unlimited_shared = found.shared_per_block == 0;
        compare("block limit warps", limit(Resource::Warps), observed.limit_warps.map(f64::from));
        compare("block limit registers", limit(Resource::Registers), observed.limit_registers.map(f64::from));
        let shared =
            if unlimited_shared { limit(Resource::Shared) } else { f64::from(found.limits.of(Resource::Shared)) };
        compare("block limit shared memory", shared, observed.limit_shared.map(f64::from));
        compare("block limit SM", limit(Resource::Blocks), observed.limit_blocks.map(f64::from));
        compare("theoretical occupancy", found.fraction() * 100.0, observed.theoretical_occupancy_pct);
    }
    if let Some(plan) = plan {
        compare("waves per SM", plan.waves(), observed.waves_per_sm);
    }
    all
}

/// Share of peak below which neither side is near its roof; the threshold of Nsight Compute's own bottleneck rule.
const NEAR_ROOF_PCT: f64 = 60.0;

fn bound(observed: &ObservedKernel, points: &[(Point, Vec<String>)]) -> Option<(Bound, String)> {
    if let (Some(memory), Some(compute)) = (observed.memory_throughput_pct, observed.compute_throughput_pct) {
        let evidence = format!(
            "the profiler measured {} % of memory and {} % of compute throughput",
            decimal(memory, 1),
            decimal(compute, 1)
        );
        let bound = if memory.max(compute) < NEAR_ROOF_PCT {
            Bound::Latency
        } else if memory >= compute {
            Bound::Memory
        } else {
            Bound::Math
        };
        return Some((bound, evidence));
    }
    // Without throughput metrics the nearest roof decides; one that the launch lies above is the wrong one.
    let below = points.iter().filter(|(_, above)| above.is_empty()).map(|(point, _)| point);
    let nearest = below.max_by(|a, b| a.share().total_cmp(&b.share()))?;
    let share = nearest.share() * 100.0;
    let evidence = format!("{} % of the attainable rate at {}", decimal(share, 1), nearest.level.label());
    if share < NEAR_ROOF_PCT {
        return Some((Bound::Latency, evidence));
    }
    Some((if nearest.on_slope { Bound::Memory } else { Bound::Math }, evidence))
}

/// Traffic near the DRAM's peak says memory-bound even where nothing else is known; little traffic says nothing.
fn dram_alone(observed: &ObservedKernel, peak: BytesPerSecond) -> Option<(Bound, String)> {
    let bytes = observed.dram_read.zip(observed.dram_write).map(|(r, w)| r + w).or(observed.dram_bytes)?;
    let share = bytes / observed.duration.filter(|d| d.get() > 0.0)? / peak * 100.0;
    let evidence = format!("{} % of the DRAM's peak bandwidth {peak}", decimal(share, 1));
    (NEAR_ROOF_PCT..=100.0).contains(&share).then_some((Bound::Memory, evidence))
}

fn missing(observed: &ObservedKernel, device: &Device) -> Vec<String> {
    let mut missing = Vec::new();
    let mut lacks = |absent: bool, text: &str| {
        if absent {
            missing.push(text.to_owned());
        }
    };
    lacks(observed.registers_per_thread.is_none(), "registers per thread (no occupancy)");
    lacks(observed.grid_blocks.is_none(), "grid size (no waves)");
    lacks(observed.duration.is_none(), "duration (no rates)");
    lacks(observed.operations.is_empty(), "FLOP counters (no roofline position)");
    lacks(observed.dram_bytes.is_none() && observed.dram_read.is_none(), "DRAM traffic (no time model)");
    lacks(observed.achieved_occupancy_pct.is_none(), "achieved occupancy");
    lacks(
        observed.memory_throughput_pct.is_none(),
        "throughput metrics (the bound is judged from the roofline, if at all)",
    );
    missing.extend(device.missing.iter().cloned());
    missing
}

impl Judged {
    /// The pipe that takes longest at its peak for the operations that the file counted.
    pub(super) fn slowest_pipe(&self) -> Option<Pipe> {
        let gpu = self.device.gpu.as_ref()?;
        let counted = self.observed.operations.iter().filter(|(_, count)| *count > 0.0);
        let timed = counted.filter_map(|(pipe, count)| {
            let pipe = model_pipe(pipe)?;
            Some((pipe, count / gpu.peak(pipe)?.get()))
        });
        timed.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(pipe, _)| pipe)
    }

    /// The comparisons that disagree, as sentences.
    pub fn differences(&self) -> Vec<String> {
        let unequal = self.comparisons.iter().filter(|c| !c.equal);
        unequal
            .map(|c| format!("{}: model {}, file {}", c.figure, significant(c.model, 4), significant(c.file, 6)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_printed_with_two_decimals_are_whole_again() {
        // `Shared Memory Configuration Size` of 8 and 100 KiB, and a block of 1.5 KiB, as Nsight Compute prints them.
        assert_eq!([whole(8190.0, 5.0), whole(102_400.0, 5.0), whole(1540.0, 5.0)], [8192, 102_400, 1536]);
        assert_eq!([whole(0.0, 0.0), whole(1000.0, 0.0), whole(20.0, 0.0)], [0, 1000, 20]);
    }
}
