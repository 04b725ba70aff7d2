//! The time that each resource alone would need.

use smallvec::{SmallVec, smallvec};

use super::{
    Resource, Term,
    combine::power,
    tiled::{Machine, Work},
};
use crate::{
    gpu::Gpu,
    kernel::{Kernel, Level, Tiled},
    launch::Launch,
    schedule::Schedule,
    units::{Bytes, BytesPerSecond, Cycles, Hertz, Seconds},
};

/// How unevenly the blocks fall on the SMs.
pub(super) struct Shares {
    /// Blocks that the busiest SM executes.
    busiest: f64,
    /// Waves that follow each other.
    waves: f64,
    /// SMs with work.
    busy: f64,
    /// Blocks.
    blocks: f64,
    /// Whether a partial wave costs nothing.
    balanced: bool,
}

impl Shares {
    /// Whole blocks in whole waves, as the hardware has it.
    pub fn quantised(schedule: &Schedule) -> Self {
        Self {
            busiest: schedule.blocks_of_busiest_sm() as f64,
            waves: schedule.whole_waves() as f64,
            busy: schedule.busy_sms() as f64,
            blocks: schedule.blocks as f64,
            balanced: false,
        }
    }

    /// The same work without a tail: fractions of blocks and waves. A grid below one wave keeps its shape.
    pub fn balanced(schedule: &Schedule) -> Self {
        let blocks = schedule.blocks as f64;
        Self {
            busiest: (blocks / schedule.sms as f64).max(1.0),
            waves: schedule.waves().max(1.0),
            balanced: true,
            ..Self::quantised(schedule)
        }
    }
}

/// Terms of a launch; more than these few only where a kernel uses many pipes.
pub(super) type Terms = SmallVec<[Term; 12]>;

pub(super) struct Found {
    pub terms: Terms,
    pub l2_hit: f64,
}

pub(super) fn terms(gpu: &Gpu, launch: &Launch, shares: &Shares) -> Found {
    let kernel = &launch.kernel;
    let mut terms = Terms::new();
    if let Some(found) = kernel.tiled.as_ref().and_then(|tiled| product(gpu, launch, tiled, shares)) {
        return found;
    }
    pipes(gpu, launch, shares, &mut terms);
    if gpu.is_cpu() {
        let moved = kernel.traffic.dram.moved();
        let least = moved / gpu.memory.dram.bandwidth;
        let sustained = least / gpu.calibration.dram_efficiency;
        terms.push(Term { resource: Resource::Memory(Level::Dram), time: sustained, least });
        let waits = gpu.dram_latency() * kernel.concurrency.dependent_accesses * shares.waves;
        terms.push(both(Resource::Chain, waits));
        terms.push(fixed(gpu));
        terms.retain(|t| t.time.get() > 0.0);
        return Found { terms, l2_hit: 0.0 };
    }
    if let Some(sm) = gpu.limits.sm() {
        issue(gpu, f64::from(sm.sub_partitions), launch, shares, &mut terms);
    }
    let dram = memory(gpu, launch, shares, &mut terms);
    terms.push(both(Resource::Chain, chain(gpu, kernel, launch, shares, dram.hit)));
    terms.push(fixed(gpu));
    terms.retain(|t| t.time.get() > 0.0);
    Found { terms, l2_hit: dram.hit }
}

/// The terms of a matrix product, by its one pipe; absent where the GPU lacks it.
fn product(gpu: &Gpu, launch: &Launch, tiled: &Tiled, shares: &Shares) -> Option<Found> {
    let (pipe, _) = *launch.kernel.operations.first()?;
    let machine = Machine::new(gpu, pipe)?;
    let per_sm = f64::from(launch.occupancy.blocks_per_sm);
    let work = Work::new(tiled, launch.grid_blocks as f64, per_sm, &machine);
    let parts = work.parts(&machine, shares.balanced);
    let (all, resident) = machine.resident(&tiled.operands);
    let term = |resource, time: f64, least: f64| Term { resource, time: Seconds(time), least: Seconds(least) };
    let flops = launch.kernel.flops().get();
    let ports = if work.blocks < machine.sms { Resource::FewSms } else { Resource::SmPorts };
    let mut terms: Terms = smallvec![
        term(Resource::Pipe(pipe), parts.math, flops / (machine.peak * machine.sms)),
        term(Resource::Chain, parts.latency, 0.0),
        term(Resource::Store, parts.store, 0.0),
        term(Resource::Memory(Level::Dram), parts.dram, (all - resident) / machine.dram_peak),
        term(Resource::Memory(Level::L2), parts.feed, 0.0),
        term(ports, parts.ports, 0.0),
        term(Resource::Split, parts.split, 0.0),
        term(Resource::Fixed, parts.fixed, 0.0),
    ];
    terms.retain(|t| t.time.get() > 0.0);
    Some(Found { terms, l2_hit: if all > 0.0 { resident / all } else { 0.0 } })
}

fn fixed(gpu: &Gpu) -> Term {
    let time = gpu.calibration.constants.fixed * gpu.calibration.fixed_factor / core_clock(gpu);
    Term { resource: Resource::Fixed, time, least: Seconds::ZERO }
}

fn both(resource: Resource, time: Seconds) -> Term {
    Term { resource, time, least: time }
}

/// Pipes of the busiest SM.
fn pipes(gpu: &Gpu, launch: &Launch, shares: &Shares, terms: &mut Terms) {
    let per_sm = shares.busiest / shares.blocks / f64::from(gpu.limits.pairing());
    for (pipe, flops) in &launch.kernel.operations {
        let Some(rate) = gpu.rate(*pipe) else { continue };
        let least = Seconds(flops.get() * per_sm / (rate * gpu.clock(*pipe).get()));
        terms.push(Term { resource: Resource::Pipe(*pipe), time: least / gpu.calibration.sustained(*pipe), least });
    }
}

/// Issue of the busiest SM, and too few instructions in flight. Known of NVIDIA's schedulers only.
fn issue(gpu: &Gpu, schedulers: f64, launch: &Launch, shares: &Shares, terms: &mut Terms) {
    let instructions = launch.kernel.least_warp_instructions() * (shares.busiest / shares.blocks);
    terms.push(both(Resource::Issue, Cycles(instructions / schedulers) / gpu.clocks.vector));
    // Little's law for arithmetic: instructions in flight / latency, where that is below the issue rate.
    let warps = launch.active_blocks(gpu) as f64 * f64::from(launch.occupancy.warps_per_block);
    let latency = gpu.calibration.constants.dependent_issue.get();
    let in_flight = warps * launch.kernel.concurrency.instructions_in_flight / latency;
    if in_flight < schedulers {
        terms.push(both(Resource::ArithmeticLatency, Cycles(instructions / in_flight) / gpu.clocks.vector));
    }
}

struct DramTraffic {
    hit: f64,
}

/// Share of the traffic that is still in L2 when `distance` bytes were touched between two uses:
/// 1 / (1 + (R / Ceff)^8).
pub(super) fn l2_hit(gpu: &Gpu, distance: Bytes) -> f64 {
    let constants = &gpu.calibration.constants;
    let halves = if gpu.memory.l2.partitions > 1 { constants.l2_two_partitions } else { 1.0 };
    let effective = gpu.memory.l2.capacity * constants.l2_effective * halves;
    1.0 / (1.0 + power(distance / effective, constants.residency_exponent))
}

/// The sustained rates at which blocks share memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// DRAM of the GPU.
    pub dram: BytesPerSecond,
    /// L2 of the GPU: as published, else what the ports of all SMs take.
    pub l2: BytesPerSecond,
    /// What one SM takes from L2.
    pub port: BytesPerSecond,
    /// The largest stream of one SM from DRAM.
    pub stream: BytesPerSecond,
}

/// The rates of a GPU by its calibration.
pub fn rates(gpu: &Gpu) -> Rates {
    let all = l2_ports(gpu);
    Rates {
        dram: gpu.memory.dram.bandwidth * gpu.calibration.dram_efficiency,
        l2: gpu.memory.l2.bandwidth.unwrap_or(all),
        port: all / f64::from(gpu.units()),
        stream: gpu.calibration.sm_stream * core_clock(gpu) * f64::from(gpu.limits.pairing()),
    }
}

/// Rate at which resident data stream from L2: a multiple of sustained DRAM bandwidth, at most the ports.
fn l2_stream(gpu: &Gpu, dram: BytesPerSecond) -> BytesPerSecond {
    (dram * gpu.calibration.constants.l2_stream_ratio).min(l2_ports(gpu))
}

fn l2_ports(gpu: &Gpu) -> BytesPerSecond {
    let constants = &gpu.calibration.constants;
    constants.l2_port * core_clock(gpu) * (f64::from(gpu.sm.count) * constants.l2_feed)
}

/// The clock that the shared constants in cycles were fitted with: that of the tensor peak.
fn core_clock(gpu: &Gpu) -> Hertz {
    gpu.clocks.tensor.unwrap_or(gpu.clocks.vector)
}

/// DRAM, L2, shared memory, and too few SMs to draw the bandwidth.
fn memory(gpu: &Gpu, launch: &Launch, shares: &Shares, terms: &mut Terms) -> DramTraffic {
    let traffic = &launch.kernel.traffic;
    let sustained: BytesPerSecond = gpu.memory.dram.bandwidth * gpu.calibration.dram_efficiency;

    // Spilled values live in L1 and L2 while the spills of the resident threads fit, else in DRAM.
    let spilled = traffic.spill_per_thread * launch.threads();
    let resident_threads = launch.active_blocks(gpu) as f64
        * f64::from(launch.kernel.resources.threads_per_block)
        * f64::from(gpu.units());
    let spill_hit = l2_hit(gpu, traffic.spill_per_thread * resident_threads);

    let hit = traffic.reuse_distance.map_or(0.0, |distance| l2_hit(gpu, distance));
    let asked = traffic.dram.moved();
    let resident = asked * hit;
    let from_dram = asked - resident + spilled * (1.0 - spill_hit);
    let stream = l2_stream(gpu, sustained);
    let streamed = from_dram + resident * (sustained / stream);
    let resident_time: Seconds = resident / stream;
    let dram_time: Seconds = streamed / sustained;

    let l2_moved = launch.kernel.l2_access().moved() + spilled;
    let l2_rate = gpu.memory.l2.bandwidth.unwrap_or_else(|| l2_ports(gpu));
    let l2_time: Seconds = l2_moved / l2_rate;
    let dram_least: Seconds = from_dram / gpu.memory.dram.bandwidth;
    // Resident bytes leave L2 while they stream: for their share the two times count once, as the longer. The level
    // that most of the longer time is spent in carries it.
    let longer = dram_time.max(l2_time);
    let shorter = dram_time.min(l2_time) * (1.0 - hit);
    let (dram, l2) = if l2_time >= dram_time || resident_time * 2.0 > dram_time {
        let l2_least = l2_time.max(dram_least);
        (
            Term { resource: Resource::Memory(Level::Dram), time: shorter, least: dram_least.min(shorter) },
            (longer, l2_least),
        )
    } else {
        (Term { resource: Resource::Memory(Level::Dram), time: longer, least: dram_least }, (shorter, shorter))
    };
    terms.push(dram);
    terms.push(Term { resource: Resource::Memory(Level::L2), time: l2.0, least: l2.1 });

    let pairing = f64::from(gpu.limits.pairing());
    if let Some(shared) = &gpu.memory.shared {
        let rate: BytesPerSecond = shared.bandwidth * gpu.clocks.vector * pairing;
        let moved = traffic.shared.moved() * (shares.busiest / shares.blocks);
        terms.push(both(Resource::Memory(Level::Shared), moved / rate));
    }

    let one_sm: BytesPerSecond = gpu.calibration.sm_stream * core_clock(gpu) * pairing;
    let ports = if shares.busy < f64::from(gpu.units()) { Resource::FewSms } else { Resource::SmPorts };
    terms.push(both(ports, streamed / (one_sm * shares.busy)));
    DramTraffic { hit }
}

/// Waves times the waiting of one block: rounds of loads at the latency of their level (Little's law: a thread has
/// `bytes_in_flight` outstanding per round), dependent accesses one after the other, and the turnaround of the block.
fn chain(gpu: &Gpu, kernel: &Kernel, launch: &Launch, shares: &Shares, hit: f64) -> Seconds {
    let dram = gpu.dram_latency();
    let l2 = gpu.l2_latency().unwrap_or(dram);
    let reads = kernel.l2_access().read;
    let mut wait = Seconds::ZERO;
    if reads.get() > 0.0 {
        let rounds = |bytes: Bytes| (bytes.get() / launch.threads() / kernel.concurrency.bytes_in_flight).max(1.0);
        let all = rounds(reads);
        // A block that reads from DRAM at all waits for it once.
        let from_dram =
            if kernel.traffic.dram.read.get() > 0.0 { rounds(kernel.traffic.dram.read).min(all) } else { 0.0 };
        wait += (dram * (1.0 - hit) + l2 * hit) * from_dram + l2 * (all - from_dram);
    }
    let level = match kernel.concurrency.dependent_level {
        Level::Dram => dram,
        Level::L2 => l2,
        Level::Shared => gpu.calibration.constants.shared_latency / gpu.clocks.vector,
    };
    wait += level * kernel.concurrency.dependent_accesses;
    let constants = &gpu.calibration.constants;
    if shares.waves > 1.0 || wait.get() > 0.0 {
        wait += constants.block_turnaround / gpu.clocks.vector;
    }
    wait * shares.waves
}
