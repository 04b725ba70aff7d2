//! From analyses to figures: which roofs, samples and panels show what an analysis found.

mod bandwidth;
mod ceilings;
mod crossover;
mod lengths;
mod longest;
mod memory;
mod network;
mod products;
mod shares;
mod timeline;
mod validation;

pub use bandwidth::{BandwidthFigureError, elementwise_figure, rowwise_figure};
pub use ceilings::with_ceilings;
pub use crossover::crossover_figure;
pub use lengths::attention_figure;
pub use memory::{memory_figure, step_figure};
pub use network::{network_roofline, network_shares};
pub use products::{NamedPlan, SweepFigureError, SweepRequest, bound, product_roofline, sweep_figure};
pub use shares::shares_figure;
pub use timeline::timeline_figure;
pub use validation::{error_figure, scatter_figure};

use longest::longest;

use super::{
    Bound, Caption, ComputeRoof, KernelTerms, MemoryRoof, OccupancyPanels, Panel, PointKind, Roofline, RooflinePoint,
    Tail, TailSample, TimeBreakdown,
};
use crate::{
    analysis::Analysis,
    gpu::{DataType, Gpu, Limits, Pipe},
    occupancy::{Resources, occupancy},
    profile::Judged,
    roofline::{self, Point, roofline},
    schedule::schedule,
    time::{self, Timing, estimate},
    units::{decimal, grouped, plural, significant},
};

/// The caption of a figure about one GPU: its name, the what-ifs, and what the figure assumes.
pub fn caption(title: &str, gpu: &Gpu, assumptions: &[&str]) -> Caption {
    let changes = gpu.changes.iter().map(|c| format!("what-if: {c}"));
    Caption {
        title: title.into(),
        gpu: gpu.name.clone(),
        assumptions: changes.chain(assumptions.iter().map(|a| (*a).to_owned())).collect(),
        version: env!("CARGO_PKG_VERSION").into(),
    }
}

/// The bound as figures know it.
pub fn drawn(bound: time::Bound) -> Bound {
    match bound {
        time::Bound::Math => Bound::Math,
        time::Bound::Memory => Bound::Memory,
        time::Bound::Latency => Bound::Latency,
    }
}

/// Dense pipes that are drawn whether used or not, where the GPU has them.
const USUAL: [Pipe; 4] = [
    Pipe::Vector(DataType::Fp64),
    Pipe::Vector(DataType::Fp32),
    Pipe::Tensor { input: DataType::Tf32, accumulate: DataType::Fp32, sparse: false },
    Pipe::Tensor { input: DataType::Bf16, accumulate: DataType::Fp32, sparse: false },
];

/// Roofs of a GPU: memory levels, and the usual pipes with those that were used. Pipes with one peak share a roof.
fn roofs(roofs: &roofline::Roofline, used: &[Pipe]) -> (Vec<MemoryRoof>, Vec<ComputeRoof>) {
    let memory = roofs.roofs.iter().map(|roof| MemoryRoof {
        label: format!("{} {}", roof.level.label(), roof.peak),
        bytes_per_second: roof.peak.get(),
        // Where nobody measured, it is the peak: a line under the roof would say nothing.
        sustained: roof.sustained.filter(|s| *s < roof.peak).map(|s| s.get()),
    });
    let mut compute: Vec<(ComputeRoof, f64)> = Vec::new();
    let mut wanted: Vec<Pipe> = used.iter().copied().chain(USUAL).collect();
    wanted.dedup();
    for pipe in wanted {
        let Some(ceiling) = roofs.ceiling(pipe) else { continue };
        let peak = ceiling.peak.get();
        match compute.iter_mut().find(|(_, p)| (*p / peak - 1.0).abs() < 1e-3) {
            Some((roof, _)) => {
                if !roof.label.contains(&ceiling.label) && roof.label.len() < 24 {
                    roof.label = format!("{}, {}", roof.label, ceiling.label);
                }
            }
            None => compute.push((
                ComputeRoof {
                    label: ceiling.label.clone(),
                    flops_per_second: peak,
                    emphasised: used.first() == Some(&pipe),
                },
                peak,
            )),
        }
    }
    compute.sort_by(|a, b| b.1.total_cmp(&a.1));
    (memory.collect(), compute.into_iter().map(|(roof, _)| roof).collect())
}

/// Dense floating-point peaks of a GPU, which set the axes whatever its kernels use.
fn frame(roofs: &roofline::Roofline) -> Vec<f64> {
    let float = |pipe: Pipe| match pipe {
        Pipe::Vector(input) | Pipe::Tensor { input, sparse: false, .. } => {
            !matches!(input, DataType::Int32 | DataType::Int8 | DataType::Int4)
        }
        Pipe::Tensor { sparse: true, .. } | Pipe::Special => false,
    };
    roofs.ceilings.iter().filter(|c| c.pipe.is_some_and(float)).map(|c| c.peak.get()).collect()
}

/// The pipes used, the one with the most time first.
fn used_pipes<'a>(operations: impl Iterator<Item = &'a (Pipe, crate::units::Flops)>, gpu: &Gpu) -> Vec<Pipe> {
    let mut time: Vec<(Pipe, f64)> = Vec::new();
    for (pipe, flops) in operations {
        let own = gpu.peak(*pipe).map_or(0.0, |peak| (*flops / peak).get());
        match time.iter_mut().find(|(p, _)| p == pipe) {
            Some((_, total)) => *total += own,
            None => time.push((*pipe, own)),
        }
    }
    time.sort_by(|a, b| b.1.total_cmp(&a.1));
    time.into_iter().map(|(pipe, _)| pipe).collect()
}

fn point(label: &str, point: &Point, bound: time::Bound, kind: PointKind) -> RooflinePoint {
    RooflinePoint {
        label: label.into(),
        intensity: point.intensity.get(),
        flops_per_second: point.rate.get(),
        level: point.level.label().into(),
        bound: drawn(bound),
        kind,
    }
}

/// The hierarchical roofline of analyses on one GPU; absent without any.
pub fn roofline_figure(title: &str, analyses: &[Analysis]) -> Option<Roofline> {
    let gpu = &analyses.first()?.gpu;
    let used = used_pipes(analyses.iter().flat_map(|a| &a.launch.kernel.operations), gpu);
    let roofs_of_gpu = roofline(gpu, None);
    let (memory, compute) = roofs(&roofs_of_gpu, &used);
    let points = analyses.iter().flat_map(|a| {
        let measured = a.measured_points().into_iter().map(|p| (p, PointKind::Measured));
        let all = a.points.iter().cloned().map(|p| (p, PointKind::Estimate)).chain(measured);
        all.map(|(p, kind)| point(&a.launch.kernel.name, &p, a.verdict.bound, kind))
    });
    let what = match analyses.iter().any(|a| a.measured.is_some()) {
        true => "dense datasheet peaks; hollow points are measurements, full ones estimates, one per memory level",
        false => "dense datasheet peaks; points are estimates, one per memory level",
    };
    let mut assumptions = vec![what];
    assumptions.extend(roofs_of_gpu.missing.iter().map(String::as_str));
    let (caption, frame) = (caption(title, gpu, &assumptions), frame(&roofs_of_gpu));
    Some(Roofline { caption, memory, compute, frame, points: points.collect(), ..Roofline::default() })
}

/// The roofline of profiled launches of one GPU at the clock of the profile; absent where nothing can be placed.
pub fn profile_roofline(title: &str, judged: &[Judged]) -> Option<Roofline> {
    let placed: Vec<&Judged> = judged.iter().filter(|j| !j.points.is_empty() && j.model.is_some()).collect();
    let (placed, which) = longest(&placed);
    let gpu = &placed.first()?.model.as_ref()?.gpu;
    let models = placed.iter().filter_map(|j| j.model.as_ref());
    let used = used_pipes(models.flat_map(|m| &m.launch.kernel.operations), gpu);
    let roofs_at_clock = roofline(gpu, None);
    let (memory, compute) = roofs(&roofs_at_clock, &used);
    let points = placed.iter().flat_map(|j| {
        // Where the file allows no verdict, the roof over the point gives the colour.
        let roof = |p: &Point| if p.on_slope { time::Bound::Memory } else { time::Bound::Math };
        let name = crate::profile::short_name(&j.observed.name);
        j.points
            .iter()
            .map(move |(p, _)| point(&name, p, j.bound.as_ref().map_or(roof(p), |b| b.0), PointKind::Measured))
    });
    let peaks = format!("dense peaks at {}, the clock of the profile; points are measurements", gpu.clocks.vector);
    let mut caption = caption(title, gpu, &[]);
    // The clock of the profile is a fact, not a what-if.
    caption.assumptions = which.into_iter().chain([peaks]).collect();
    let frame = frame(&roofs_at_clock);
    Some(Roofline { caption, memory, compute, frame, points: points.collect(), ..Roofline::default() })
}

/// Samples of a tail figure; more make no visible difference.
const TAIL_SAMPLES: u64 = 400;

/// Numbers of blocks that show the tail effect around a launch, both sides of every full wave among them; `wave` is at least 1.
/// Four waves, or half as far again as the launch, whichever shows more; very long launches are cut to 40 waves.
pub fn tail_counts(wave: u64, blocks: u64) -> Vec<u64> {
    let last = (wave * 4).max(blocks + blocks / 2).min(wave.saturating_mul(40).max(wave * 4));
    let step = (last / TAIL_SAMPLES).max(1);
    let mut counts: Vec<u64> = (1..=last).step_by(usize::try_from(step).unwrap_or(1)).collect();
    for k in 1..=last / wave {
        counts.extend([k * wave, k * wave + 1]);
    }
    counts.push(blocks);
    counts.retain(|c| *c <= last);
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// Time and utilization against the number of blocks, with the work of a block unchanged: the sawtooth.
pub fn tail_figure(analysis: &Analysis) -> Tail {
    let plan = &analysis.schedule;
    let wave = plan.wave_blocks();
    let counts = tail_counts(wave, plan.blocks);
    let current = counts.contains(&plan.blocks).then_some(plan.blocks);
    let samples = counts.into_iter().map(|blocks| {
        let mut launch = analysis.launch.clone();
        launch.kernel = launch.kernel.scaled(blocks as f64 / plan.blocks as f64);
        launch.grid_blocks = blocks;
        let plan = schedule(blocks, analysis.gpu.units(), launch.occupancy.blocks_per_sm);
        let time = estimate(&analysis.gpu, &launch, &plan, Timing::Device);
        TailSample { blocks, time_us: time.estimate.get() * 1e6, utilization_pct: plan.utilization() * 100.0 }
    });
    let kernel = &analysis.launch.kernel.name;
    let words = analysis.gpu.limits.words();
    let per = format!("{} SMs x {} per SM = {} blocks per wave", plan.sms, plan.blocks_per_sm, grouped(wave));
    Tail {
        caption: caption(
            &format!("Tail effect: {kernel}"),
            &analysis.gpu,
            &[&words.say(&per), &words.say("equal blocks, work per block unchanged")],
        ),
        samples: samples.collect(),
        pinned: Vec::new(),
        wave_blocks: wave,
        words,
        current,
    }
}

/// Occupancy against threads per block, registers and shared memory, as NVIDIA's calculator shows it; absent for a CPU,
/// whose cores have none.
pub fn occupancy_figure(
    title: &str,
    device: &str,
    changes: &[String],
    limits: &Limits,
    resources: &Resources,
) -> Option<OccupancyPanels> {
    if matches!(limits, Limits::Core) {
        return None;
    }
    let words = limits.words();
    let percent = |r: Resources| occupancy(limits, &r).fraction() * 100.0;
    let now = percent(*resources);
    let warp = limits.warp_size();
    let threads = (1..=limits.max_threads_per_block() / warp)
        .map(|w| (f64::from(w * warp), percent(Resources { threads_per_block: w * warp, ..*resources })));
    let registers = (1..=limits.max_registers_per_thread())
        .map(|r| (f64::from(r), percent(Resources { registers_per_thread: r, ..*resources })));
    let unit = limits.shared_unit().max(512);
    let shared = (0..=limits.max_shared(true) / unit).map(|u| {
        let bytes = u * unit;
        (f64::from(bytes) / 1024.0, percent(Resources { static_shared: 0, dynamic_shared: bytes, ..*resources }))
    });
    let panel = |x_label: &str, steps: Vec<(f64, f64)>, x: f64| Panel {
        x_label: words.say(x_label),
        steps,
        current: Some((x, now)),
        ..Panel::default()
    };
    let what_ifs = changes.iter().map(|c| format!("what-if: {c}"));
    let setting = format!(
        "{}, {}, {} KiB shared memory per block",
        plural(resources.threads_per_block.into(), "thread"),
        plural(resources.registers_per_thread.into(), "register"),
        significant(f64::from(resources.shared()) / 1024.0, 4)
    );
    Some(OccupancyPanels {
        caption: Caption {
            title: title.into(),
            gpu: device.into(),
            assumptions: what_ifs.chain([words.say(&setting), "each panel varies one of them".into()]).collect(),
            version: env!("CARGO_PKG_VERSION").into(),
        },
        panels: vec![
            panel("Threads per block", threads.collect(), f64::from(resources.threads_per_block)),
            panel("Registers per thread", registers.collect(), f64::from(resources.registers_per_thread)),
            panel("Shared memory per block (KiB)", shared.collect(), f64::from(resources.shared()) / 1024.0),
        ],
    })
}

/// Most kernels of one figure of times; what is longest matters most, and a longer figure is no figure.
const TIMED: usize = 40;

/// The terms of each kernel side by side, of very many only the longest; absent without any.
pub fn time_figure(title: &str, analyses: &[Analysis]) -> Option<TimeBreakdown> {
    let gpu = &analyses.first()?.gpu;
    let several = analyses.iter().any(|a| a.gpu.id != gpu.id || a.gpu.changes != gpu.changes);
    let mut longest: Vec<usize> = (0..analyses.len()).collect();
    longest.sort_by(|a, b| analyses[*b].time.estimate.get().total_cmp(&analyses[*a].time.estimate.get()));
    longest.truncate(TIMED);
    longest.sort_unstable();
    let shown = longest.iter().filter_map(|index| analyses.get(*index));
    let kernels = shown.map(|a| KernelTerms {
        label: if several { format!("{} on {}", a.launch.kernel.name, a.gpu.id) } else { a.launch.kernel.name.clone() },
        terms: a.time.terms.iter().map(|t| (t.resource.label(), t.time.get() * 1e6)).collect(),
        total_us: a.time.estimate.get() * 1e6,
        low_us: a.time.low.get() * 1e6,
        high_us: a.time.high.get() * 1e6,
        bound: match a.verdict.margin {
            margin if margin < 100.0 => format!("{}-bound, margin {}", a.verdict.bound.word(), decimal(margin, 1)),
            _ => format!("{}-bound", a.verdict.bound.word()),
        },
    });
    let constants = format!("constants: {}", gpu.calibration.of);
    let mut caption = caption(title, gpu, &["terms overlap: they do not add up to the estimate", &constants]);
    if analyses.len() > TIMED {
        caption.assumptions.push(format!("the {TIMED} longest of {} launches", grouped(analyses.len() as u64)));
    }
    if several {
        caption.gpu = "several GPUs".into();
    }
    Some(TimeBreakdown { caption, kernels: kernels.collect(), marked: None })
}
