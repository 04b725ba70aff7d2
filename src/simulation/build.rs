//! Launches as written become grids on a GPU.

use super::{
    BuildError, attention, gemm,
    spec::{BlocksWork, LaunchSpec, Order, Simulation},
};
use crate::{
    gpu::{DataType, Gpu, Limits, Pipe},
    kernel::{Concurrency, Kernel, Traffic},
    launch::Launch,
    occupancy::{Resources, cluster::clusters, occupancy},
    schedule::simulate::{Demand, Grid, MOST_SMS, Machine, Room, Run, Runs, SimulateError},
    time::{Rates, rates},
    units::Seconds,
};

/// Most launches of a case.
const MOST_LAUNCHES: usize = 4096;

/// A kernel of a launch; some launches are two.
#[derive(Clone, Debug)]
pub struct Piece {
    /// What follows the name of the launch.
    pub suffix: String,
    /// Its blocks.
    pub runs: Runs,
    /// Blocks per SM.
    pub blocks_per_sm: u32,
    /// What a block takes of an SM.
    pub need: Room,
    /// Time after the piece before.
    pub gap: Seconds,
    /// How it came about, for people.
    pub note: String,
}

/// The grids of one case, with a note on each.
#[derive(Clone, Debug)]
pub struct Built {
    /// The GPU as the scheduler sees it.
    pub machine: Machine,
    /// The kernels.
    pub grids: Vec<Grid>,
    /// How each came about.
    pub notes: Vec<String>,
}

/// What a block takes of an SM, as it is allocated.
pub fn need(gpu: &Gpu, resources: &Resources) -> Room {
    let found = occupancy(&gpu.limits, resources);
    Room {
        blocks: 1,
        warps: found.warps_per_block.into(),
        registers: found.registers_per_block.into(),
        shared: found.shared_per_block.into(),
    }
}

/// The GPU as the scheduler sees it.
fn machine(gpu: &Gpu) -> Result<Machine, BuildError> {
    if gpu.is_cpu() {
        return Err(BuildError::Cpu { name: gpu.name.clone() });
    }
    if gpu.units() > MOST_SMS {
        return Err(SimulateError::Sms { sms: gpu.units() }.into());
    }
    let plain = Machine::plain(gpu.units());
    let room = match &gpu.limits {
        Limits::Sm(sm) => Room {
            blocks: sm.max_blocks_per_sm.into(),
            warps: sm.max_warps_per_sm.into(),
            registers: sm.registers_per_sm.into(),
            shared: sm.shared_per_sm.into(),
        },
        // Without the granules of mixed workgroups: each kernel by itself is counted exactly.
        Limits::Cu(_) | Limits::Core => plain.room,
    };
    Ok(Machine { gpcs: gpu.sm.gpc_count.unwrap_or(1).min(gpu.units()).max(1), room, ..plain })
}

impl Simulation {
    /// The grids of a case on a GPU.
    ///
    /// # Errors
    /// A launch that the GPU cannot run, a shape that does not exist, dependencies that nobody has.
    pub fn build(&self, case: &str, gpu: &Gpu) -> Result<Built, BuildError> {
        let rates = rates(gpu);
        let mut built = Built { machine: machine(gpu)?, grids: Vec::new(), notes: Vec::new() };
        let launches: Vec<&LaunchSpec> = self.launches.iter().filter(|l| l.case == case).collect();
        if launches.len() > MOST_LAUNCHES {
            return Err(BuildError::Launches { case: case.into(), launches: launches.len(), most: MOST_LAUNCHES });
        }
        // First and last grid of each launch.
        let mut ends: Vec<(usize, usize)> = Vec::new();
        for launch in &launches {
            let cluster = narrow(launch, "cluster", launch.cluster)?;
            clusters(&gpu.limits, cluster).map_err(|error| value(launch, "cluster", cluster, error.to_string()))?;
            let pieces = pieces(launch, gpu, &rates)?;
            let first = built.grids.len();
            for (place, piece) in pieces.into_iter().enumerate() {
                let after = if place > 0 { vec![first + place - 1] } else { Vec::new() };
                built.notes.push(piece.note.clone());
                built.grids.push(grid(launch, piece, after)?);
            }
            ends.push((first, built.grids.len() - 1));
        }
        for (number, launch) in launches.iter().enumerate() {
            let before = launches[..number].iter().rposition(|other| other.stream == launch.stream);
            let mut after = Vec::from_iter(before);
            for name in &launch.after {
                let found = launches.iter().position(|other| other.name == *name);
                let known: Vec<&str> = launches.iter().map(|l| l.name.as_str()).collect();
                let rule = || format!("no launch of the case has this name; there are {}", known.join(", "));
                after.push(found.ok_or_else(|| value(launch, "after", name, rule()))?);
            }
            built.grids[ends[number].0].after.extend(after.into_iter().map(|launch| ends[launch].1));
        }
        Ok(built)
    }
}

fn pieces(launch: &LaunchSpec, gpu: &Gpu, rates: &Rates) -> Result<Vec<Piece>, BuildError> {
    if let Some(work) = &launch.gemm {
        return gemm::product(gpu, &launch.name, work, launch.schedule);
    }
    if let Some(work) = &launch.experts {
        return gemm::experts(gpu, &launch.name, work, launch.schedule);
    }
    if let Some(work) = &launch.attention {
        return attention::pieces(gpu, &launch.name, work, rates);
    }
    blocks(launch, gpu, rates).map(|piece| vec![piece])
}

fn grid(launch: &LaunchSpec, piece: Piece, after: Vec<usize>) -> Result<Grid, BuildError> {
    let runs = match launch.order {
        Order::Given => piece.runs,
        Order::LongestFirst => piece.runs.longest_first(),
    };
    let blocks_per_sm = match launch.blocks_per_sm {
        Some(given) => narrow(launch, "blocks_per_sm", given)?,
        None => piece.blocks_per_sm,
    };
    Ok(Grid {
        need: piece.need,
        cluster: narrow(launch, "cluster", launch.cluster)?,
        policy: launch.schedule.policy(),
        start: launch.start,
        priority: launch.priority,
        gap: if after.is_empty() { launch.gap } else { piece.gap },
        early: launch.early && after.is_empty(),
        after,
        sms: launch.sms.map(|[from, to]| from..to),
        ..Grid::new(&format!("{}{}", launch.name, piece.suffix), runs, blocks_per_sm)
    })
}

fn narrow(launch: &LaunchSpec, key: &'static str, given: u64) -> Result<u32, BuildError> {
    u32::try_from(given).map_err(|_| value(launch, key, given, "no GPU has so many; give a smaller number".into()))
}

fn value(launch: &LaunchSpec, key: &'static str, value: impl ToString, rule: String) -> BuildError {
    BuildError::Value { name: launch.name.clone(), key, value: value.to_string(), rule }
}

/// Blocks by what each needs.
fn blocks(launch: &LaunchSpec, gpu: &Gpu, rates: &Rates) -> Result<Piece, BuildError> {
    let demands = launch.blocks.iter().map(|work| demand(launch, work, gpu, rates));
    let runs = launch.blocks.iter().zip(demands).map(|(work, demand)| Ok(Run { count: work.count, demand: demand? }));
    let runs = Runs::new(runs.collect::<Result<Vec<_>, BuildError>>()?, launch.repeat);
    let mut resources = Resources { registers_per_thread: 32, ..Resources::default() };
    let Some(threads) = launch.threads else {
        let blocks_per_sm = narrow(launch, "blocks_per_sm", launch.blocks_per_sm.unwrap_or(1))?;
        // Nothing is known of a block but its share of an SM, of which other kernels find the rest.
        let warps = u64::from(gpu.limits.max_warps() / blocks_per_sm.max(1)).max(1);
        let room = Room { blocks: 1, warps, ..Room::default() };
        return Ok(Piece {
            suffix: String::new(),
            runs,
            blocks_per_sm,
            need: room,
            gap: Seconds::ZERO,
            note: format!("{blocks_per_sm} per {}, as given", gpu.limits.words().unit),
        });
    };
    resources.threads_per_block = narrow(launch, "threads", threads)?;
    if let Some(registers) = launch.registers {
        resources.registers_per_thread = narrow(launch, "registers", registers)?;
    }
    if let Some(shared) = launch.shared {
        let whole = shared.get().ceil();
        resources.dynamic_shared = if whole <= f64::from(u32::MAX) { whole as u32 } else { u32::MAX };
    }
    let kernel = Kernel {
        name: launch.name.clone(),
        resources,
        operations: Vec::new(),
        warp_instructions: None,
        traffic: Traffic::default(),
        concurrency: Concurrency::default(),
        tiled: None,
    };
    // The launch says why a block fits nowhere, and what would.
    let found = Launch::new(gpu, kernel, runs.blocks().max(1))?.occupancy;
    let words = gpu.limits.words();
    let note = words.say(&format!("{} per SM, limited by {}", found.blocks_per_sm, found.limiters().sentence()));
    let need = need(gpu, &resources);
    Ok(Piece { suffix: String::new(), runs, blocks_per_sm: found.blocks_per_sm, need, gap: Seconds::ZERO, note })
}

fn demand(launch: &LaunchSpec, work: &BlocksWork, gpu: &Gpu, rates: &Rates) -> Result<Demand, BuildError> {
    let pipe = work.pipe.unwrap_or(Pipe::Vector(DataType::Fp32));
    let mut math = work.math;
    if work.operations.get() > 0.0 {
        let no_unit = || value(launch, "pipe", pipe.label(), format!("{} has no such unit", gpu.name));
        let rate = gpu.rate(pipe).ok_or_else(no_unit)?;
        let of_sm = rate * gpu.clock(pipe).get() * gpu.calibration.sustained(pipe) * f64::from(gpu.limits.pairing());
        math += Seconds(work.operations.get() / of_sm);
    }
    Ok(Demand {
        math,
        // What comes from DRAM passes the port too, no faster than an SM can stream.
        port: Seconds::max(work.port / rates.port, work.dram / rates.stream),
        l2: work.l2 / rates.l2,
        dram: work.dram / rates.dram,
        latency: work.latency,
    })
}
