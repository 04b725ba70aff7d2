//! Changes that might help, each run through the whole pipeline again: advice that does not move the time is noise.

use super::Model;
use crate::{
    gpu::{DataType, Gpu, Pipe},
    kernel::{Access, Kernel},
    launch::Launch,
    occupancy::advice,
    schedule::schedule,
    time::{Bound, TimeEstimate, estimate},
    units::{Bytes, decimal, plural},
};

/// A change with the gain that the model gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    /// What was changed.
    pub change: Change,
    /// The change in words.
    pub text: String,
    /// Time before / time after, above 1.
    pub speedup: f64,
    /// What binds after the change.
    pub bound_after: Bound,
}

/// The kinds of change that are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A grid that fills its waves.
    WholeWaves,
    /// The same work in more, smaller blocks.
    SplitBlocks,
    /// Fewer registers per thread.
    Registers,
    /// Less shared memory per block.
    SharedMemory,
    /// Another block size.
    BlockSize,
    /// Only the used bytes are moved.
    Coalescing,
    /// No bank conflicts.
    BankConflicts,
    /// No register spills.
    Spills,
    /// More bytes in flight per thread.
    InFlight,
    /// Several elements per thread, loaded side by side.
    WorkPerThread,
    /// Half as many dependent accesses.
    Dependence,
    /// Half the traffic of DRAM and L2 by reuse on chip.
    Reuse,
    /// A faster data type or the tensor cores.
    Precision,
    /// 2:4 structured sparsity of one operand.
    Sparsity,
    /// Twice the DRAM bandwidth (another GPU).
    Bandwidth,
    /// Twice the rate of every pipe (another GPU).
    Math,
}

/// Gains below this are noise of the model.
const LEAST_GAIN: f64 = 1.02;

struct Trial {
    change: Change,
    text: String,
    gpu: Option<Gpu>,
    kernel: Kernel,
    grid_blocks: u64,
}

/// All changes that gain at least 2 %, best first.
pub(super) fn what_ifs(gpu: &Gpu, launch: &Launch, now: &TimeEstimate, model: Model) -> Vec<WhatIf> {
    let mut found: Vec<WhatIf> = trials(gpu, launch, model)
        .into_iter()
        .filter_map(|trial| {
            let device = trial.gpu.as_ref().unwrap_or(gpu);
            let then = match model {
                Model::General(timing) => {
                    let changed = Launch::new(device, trial.kernel, trial.grid_blocks).ok()?;
                    let plan = schedule(changed.grid_blocks, device.units(), changed.occupancy.blocks_per_sm);
                    estimate(device, &changed, &plan, timing)
                }
                Model::Operation(time) => time(device)?,
            };
            let speedup = now.estimate / then.estimate;
            (speedup >= LEAST_GAIN).then(|| WhatIf {
                change: trial.change,
                text: trial.text,
                speedup,
                bound_after: then.bound().0,
            })
        })
        .collect();
    found.sort_by(|a, b| b.speedup.total_cmp(&a.speedup));
    found
}

fn trials(gpu: &Gpu, launch: &Launch, model: Model) -> Vec<Trial> {
    let mut trials = Vec::new();
    if launch.kernel.tiled.is_some() || matches!(model, Model::Operation(_)) {
        // Its kernel and grid were chosen by time already; what is left is another device.
        hardware(gpu, launch, &mut trials);
        return trials;
    }
    grid(gpu, launch, &mut trials);
    residency(gpu, launch, &mut trials);
    work_per_thread(gpu, launch, &mut trials);
    traffic(launch, &mut trials);
    math(gpu, launch, &mut trials);
    hardware(gpu, launch, &mut trials);
    trials
}

fn trial(launch: &Launch, change: Change, text: String, edit: impl FnOnce(&mut Kernel)) -> Trial {
    let mut kernel = launch.kernel.clone();
    edit(&mut kernel);
    Trial { change, text, gpu: None, kernel, grid_blocks: launch.grid_blocks }
}

/// The same work in a grid of whole waves, or in twice as many blocks of half the work.
fn grid(gpu: &Gpu, launch: &Launch, trials: &mut Vec<Trial>) {
    let plan = schedule(launch.grid_blocks, gpu.units(), launch.occupancy.blocks_per_sm);
    let full = plan.full_waves() * plan.wave_blocks();
    if full > 0 && plan.tail_blocks() > 0 {
        let text = format!(
            "the same work in {full} blocks ({}), or blocks of unequal size that end together",
            if plan.full_waves() == 1 { "1 full wave".into() } else { format!("{} full waves", plan.full_waves()) }
        );
        trials.push(Trial { grid_blocks: full, ..trial(launch, Change::WholeWaves, text, |_| {}) });
    }
    let filling = plan.wave_blocks();
    if plan.full_waves() == 0 && filling > launch.grid_blocks {
        let text =
            format!("the same work split over {filling} blocks: now {} of {} SMs have work", plan.busy_sms(), plan.sms);
        trials.push(Trial { grid_blocks: filling, ..trial(launch, Change::SplitBlocks, text, |_| {}) });
    }
}

/// Elements per thread that are tried.
const ELEMENTS: u64 = 4;

/// The same work in a quarter of the blocks, each thread with four times the loads in flight, where that still gives
/// every slot a block.
fn work_per_thread(gpu: &Gpu, launch: &Launch, trials: &mut Vec<Trial>) {
    let plan = schedule(launch.grid_blocks, gpu.units(), launch.occupancy.blocks_per_sm);
    let blocks = launch.grid_blocks.div_ceil(ELEMENTS);
    if blocks < plan.wave_blocks() || launch.kernel.traffic.dram.read.get() <= 0.0 {
        return;
    }
    let text = format!("{ELEMENTS} elements per thread, loaded side by side ({blocks} blocks)");
    let in_flight = |k: &mut Kernel| k.concurrency.bytes_in_flight *= ELEMENTS as f64;
    trials.push(Trial { grid_blocks: blocks, ..trial(launch, Change::WorkPerThread, text, in_flight) });
}

fn percent(fraction: f64) -> String {
    decimal(fraction * 100.0, 1)
}

fn residency(gpu: &Gpu, launch: &Launch, trials: &mut Vec<Trial>) {
    let now = &launch.occupancy;
    let asked = launch.kernel.resources;
    // Another block size is another grid: it is tried below.
    let same_block = |s: &advice::JointStep| {
        s.resources.threads_per_block == asked.threads_per_block && s.resources.barriers == asked.barriers
    };
    if let Some(step) = advice::joint_step(&gpu.limits, &asked, now).filter(same_block) {
        let fewer_registers = step.resources.registers_per_thread < asked.registers_per_thread;
        let change = if fewer_registers { Change::Registers } else { Change::SharedMemory };
        let gain = format!("occupancy {} -> {} %", percent(now.fraction()), percent(step.then.fraction()));
        let text = format!("at most {} ({gain})", step.amounts.join(" and "));
        trials.push(trial(launch, change, text, |k| k.resources = step.resources));
    }
    let best = advice::best_block_sizes(&gpu.limits, &asked).into_iter().next();
    if let Some(best) = best.filter(|b| b.fraction > now.fraction() && asked.shared() == 0) {
        let threads = launch.threads();
        let blocks = (threads / f64::from(best.threads)).ceil().max(1.0) as u64;
        let text = format!(
            "blocks of {} (occupancy {} -> {} %)",
            plural(best.threads.into(), "thread"),
            percent(now.fraction()),
            percent(best.fraction)
        );
        let base = trial(launch, Change::BlockSize, text, |k| k.resources.threads_per_block = best.threads);
        trials.push(Trial { grid_blocks: blocks, ..base });
    }
}

fn traffic(launch: &Launch, trials: &mut Vec<Trial>) {
    let traffic = &launch.kernel.traffic;
    let whole = |access: Access| Access { read_efficiency: 1.0, write_efficiency: 1.0, ..access };
    let moved = traffic.dram.moved() + launch.kernel.l2_access().moved();
    let used = traffic.dram.used() + launch.kernel.l2_access().used();
    if moved > used {
        let text = format!("coalesced accesses: only {} % of the bytes moved are used", percent(used / moved));
        trials.push(trial(launch, Change::Coalescing, text, |k| {
            k.traffic.dram = whole(k.traffic.dram);
            k.traffic.l2 = k.traffic.l2.map(whole);
        }));
    }
    if traffic.shared.efficiency() < 1.0 {
        let text = format!(
            "no bank conflicts: only {} % of the shared-memory cycles are used",
            percent(traffic.shared.efficiency())
        );
        trials.push(trial(launch, Change::BankConflicts, text, |k| k.traffic.shared = whole(k.traffic.shared)));
    }
    if traffic.spill_per_thread.get() > 0.0 {
        let text = format!("no spills (now {} per thread)", traffic.spill_per_thread);
        trials.push(trial(launch, Change::Spills, text, |k| k.traffic.spill_per_thread = Bytes::ZERO));
    }
    let half = |a: Access| Access { read: a.read / 2.0, write: a.write / 2.0, ..a };
    if traffic.dram.used().get() > 0.0 {
        trials.push(trial(
            launch,
            Change::Reuse,
            "half the bytes moved (fusion, tiling, a narrower type)".into(),
            |k| {
                k.traffic.dram = half(k.traffic.dram);
                k.traffic.l2 = k.traffic.l2.map(half);
            },
        ));
        let in_flight = launch.kernel.concurrency.bytes_in_flight;
        let text = format!(
            "twice the bytes in flight per thread ({} B: wider loads, more of them, asynchronous copies)",
            decimal(in_flight * 2.0, 1)
        );
        trials.push(trial(launch, Change::InFlight, text, |k| k.concurrency.bytes_in_flight *= 2.0));
    }
    if launch.kernel.concurrency.dependent_accesses > 0.0 {
        let text = "half as many accesses that wait for the one before".into();
        trials.push(trial(launch, Change::Dependence, text, |k| k.concurrency.dependent_accesses /= 2.0));
    }
}

fn math(gpu: &Gpu, launch: &Launch, trials: &mut Vec<Trial>) {
    let used: Vec<Pipe> = launch.kernel.operations.iter().map(|(pipe, _)| *pipe).collect();
    let replace = |from: Pipe, to: Pipe| {
        move |kernel: &mut Kernel| {
            for (pipe, _) in kernel.operations.iter_mut().filter(|(p, _)| *p == from) {
                *pipe = to;
            }
        }
    };
    for pipe in used {
        let faster = match pipe {
            Pipe::Vector(DataType::Fp32) => Some((DataType::Tf32, "if it is a matrix product and 10 mantissa bits do")),
            Pipe::Vector(DataType::Fp64) => Some((DataType::Fp64, "if it is a matrix product")),
            Pipe::Vector(DataType::Fp16) => Some((DataType::Fp16, "if it is a matrix product")),
            Pipe::Tensor { input: DataType::Tf32, sparse: false, .. } => {
                Some((DataType::Bf16, "if 8 mantissa bits do"))
            }
            Pipe::Tensor { input: DataType::Bf16 | DataType::Fp16, sparse: false, .. } => {
                Some((DataType::Fp8, "if 8-bit operands do"))
            }
            _ => None,
        };
        if let Some((input, condition)) = faster {
            let to = Pipe::Tensor { input, accumulate: input.default_accumulate(), sparse: false };
            if gpu.peak(to) > gpu.peak(pipe) {
                let text = format!("{} instead of {}, {condition}", to.label(), pipe.label());
                trials.push(trial(launch, Change::Precision, text, replace(pipe, to)));
            }
        }
        if let Pipe::Tensor { input, accumulate, sparse: false } = pipe {
            let to = Pipe::Tensor { input, accumulate, sparse: true };
            if gpu.peak(to).is_some() && input != DataType::Fp64 {
                let text = "2:4 structured sparsity of one operand (math rate only)".to_owned();
                trials.push(trial(launch, Change::Sparsity, text, replace(pipe, to)));
            }
        }
    }
}

fn hardware(gpu: &Gpu, launch: &Launch, trials: &mut Vec<Trial>) {
    let mut bandwidth = gpu.clone();
    bandwidth.memory.dram.bandwidth = gpu.memory.dram.bandwidth * 2.0;
    let base = trial(launch, Change::Bandwidth, "a GPU with twice the DRAM bandwidth".into(), |_| {});
    trials.push(Trial { gpu: Some(bandwidth), ..base });

    let mut rates = gpu.clone();
    rates.rates.special = rates.rates.special.map(|r| r * 2.0);
    rates.rates.vector.values_mut().for_each(|rate| *rate *= 2.0);
    rates.rates.tensor.values_mut().flat_map(|by| by.values_mut()).for_each(|rate| *rate *= 2.0);
    let base = trial(launch, Change::Math, "a GPU with twice the arithmetic rate per SM".into(), |_| {});
    trials.push(Trial { gpu: Some(rates), ..base });
}
