//! From simulations to timelines.

use super::caption;
use crate::{
    chart::{Timeline, TimelineBlock, TimelineKernel, TimelineMark, TimelineUse},
    schedule::simulate::{BlockRun, Curve},
    simulation::Simulated,
    units::Seconds,
};

/// Parts of the time in which curves are averaged.
const PARTS: usize = 200;

/// Resources below the panel of SMs, with their place in [`crate::schedule::simulate::Demand::shares`].
const USES: [(&str, usize); 4] = [("arithmetic", 0), ("DRAM", 3), ("L2", 2), ("SM ports", 1)];

fn us(time: Seconds) -> f64 {
    time.get() * 1e6
}

fn block(run: &BlockRun) -> TimelineBlock {
    TimelineBlock {
        kernel: run.grid as usize,
        index: run.index,
        sm: run.sm,
        slot: run.lane,
        start_us: us(run.start),
        end_us: us(run.end),
    }
}

/// The timeline of a simulation: blocks on SMs, tail, critical block, use of the resources, and beside the simulated time
/// that of perfect balance and, of a single kernel, of the closed form. Times in microseconds.
pub fn timeline_figure(simulated: &Simulated) -> Timeline {
    let Simulated { machine, grids, outcome, record, .. } = simulated;
    let (sms, end, words) = (f64::from(machine.sms), outcome.makespan.get(), simulated.gpu.limits.words());
    let kernels = grids.iter().zip(&outcome.grids).map(|(grid, times)| TimelineKernel {
        label: grid.name.clone(),
        blocks_per_sm: grid.blocks_per_sm,
        wave_blocks: grid.slots(machine),
        open_us: us(times.open),
        first_us: us(times.first),
        placed_us: us(times.placed),
        end_us: us(times.end),
    });
    let complete = record.is_complete();
    let most = grids.iter().map(|grid| grid.blocks_per_sm).max().unwrap_or(1);
    let slots = if complete { record.blocks.iter().map(|b| b.lane + 1).max().unwrap_or(1) } else { most };
    // A block fills its share of the slots that its kernel would have alone on the whole GPU. Kernels side by side may be
    // limited by different things; then their shares add up to more than all.
    let counts: Vec<Vec<f64>> = record.grids.iter().map(|curve| curve.means(PARTS, end)).collect();
    let share = |grid: usize, part: usize| counts[grid][part] / (f64::from(grids[grid].blocks_per_sm) * sms);
    let all = |part: usize| (0..grids.len()).map(|grid| share(grid, part)).sum::<f64>();
    let filled = (0..PARTS).map(|part| 100.0 * all(part).min(1.0)).collect();
    let (mut by_sm, mut leading) = (Vec::new(), Vec::new());
    if !complete {
        // Which kernel's blocks an SM holds is not kept: each counts as much as a block does on all SMs at that time.
        let weight = |part: usize| sms * all(part) / counts.iter().map(|c| c[part]).sum::<f64>().max(f64::MIN_POSITIVE);
        let weights: Vec<f64> = (0..PARTS).map(weight).collect();
        let of = |curve: &Curve| curve.means(PARTS, end).iter().zip(&weights).map(|(b, w)| (b * w).min(1.0)).collect();
        by_sm = record.resident.iter().map(of).collect();
        let most = |part: usize| (0..grids.len()).rev().max_by(|a, b| share(*a, part).total_cmp(&share(*b, part)));
        leading = (0..PARTS).map(|part| most(part).unwrap_or(0)).collect();
    }
    let percent = |curve: &Curve| -> Vec<f64> {
        let parts = curve.means(PARTS, end);
        if parts.iter().all(|share| *share == 0.0) { Vec::new() } else { parts.iter().map(|s| s * 100.0).collect() }
    };
    let resources = USES.iter().map(|(label, place)| (words.say(label), percent(&record.shares[*place])));
    let uses = [("slots filled".to_owned(), filled)].into_iter().chain(resources);
    let closed = match simulated.closed.as_slice() {
        [only] => Some(TimelineMark { label: "closed form".into(), at_us: us(*only) }),
        _ => None,
    };
    let balance = TimelineMark { label: "perfect balance".into(), at_us: us(simulated.balance.least()) };
    let rest = match simulated.case.as_str() {
        "" => simulated.title.clone(),
        case => format!("{}, {case}", simulated.title),
    };
    let assumptions = [
        words.say("blocks in order, each to the SM with the most free slots"),
        words.say("a resource serves its blocks at equal rates"),
        words.say("within a block everything overlaps"),
    ];
    Timeline {
        caption: caption(&format!("Timeline: {rest}"), &simulated.gpu, &assumptions.each_ref().map(String::as_str)),
        words,
        sms: machine.sms,
        slots,
        block_count: outcome.blocks,
        end_us: us(outcome.makespan),
        kernels: kernels.collect(),
        blocks: if complete { record.blocks.iter().map(block).collect() } else { Vec::new() },
        filled: by_sm,
        leading,
        tail_us: us(outcome.tail_start()),
        tail_pct: outcome.tail_cost() * 100.0,
        critical: (outcome.blocks > 0).then(|| block(&outcome.critical)),
        uses: uses.map(|(label, parts_pct)| TimelineUse { label, parts_pct }).collect(),
        marks: closed.into_iter().chain([balance]).collect(),
    }
}
