//! Every check that can fail before a simulation.

use std::ops::Range;

use super::{
    Demand, Grid, Machine,
    place::{LANES, within},
};

/// Most blocks of a grid, the limit of CUDA's first dimension.
const MOST_BLOCKS: u64 = (1 << 31) - 1;
/// Most SMs.
pub const MOST_SMS: u32 = 4096;
/// Most seconds of all blocks one after the other.
const LONGEST: f64 = 1e300;

/// Grids that cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulateError {
    /// No grid at all.
    #[error("nothing to simulate: give at least one kernel")]
    NoGrids,
    /// A GPU without SMs, or with more than any has.
    #[error("{sms} SMs: the simulation takes 1 to {MOST_SMS}")]
    Sms {
        /// As given.
        sms: u32,
    },
    /// More GPCs than SMs to spread over them.
    #[error("{gpcs} GPCs of {sms} SMs: give no more GPCs than SMs, or 1 where their number is not known")]
    Gpcs {
        /// As given.
        gpcs: u32,
        /// SMs.
        sms: u32,
    },
    /// A grid without blocks.
    #[error("kernel `{name}` has no blocks: a grid has 1 to {MOST_BLOCKS}")]
    NoBlocks {
        /// The grid.
        name: String,
    },
    /// A grid beyond what can be launched.
    #[error(
        "kernel `{name}` has {blocks} blocks: a grid has at most {MOST_BLOCKS} (2^31 - 1); give each block more work"
    )]
    ManyBlocks {
        /// The grid.
        name: String,
        /// Its blocks.
        blocks: u64,
    },
    /// A block that fits on no SM.
    #[error("kernel `{name}`: its block fits on no SM; take fewer threads, registers or shared memory")]
    FitsNowhere {
        /// The grid.
        name: String,
    },
    /// More blocks on an SM than any GPU holds.
    #[error("kernel `{name}`: {blocks_per_sm} blocks per SM; at most {LANES} are simulated")]
    ManySlots {
        /// The grid.
        name: String,
        /// As given.
        blocks_per_sm: u32,
    },
    /// A demand that is no time.
    #[error(
        "kernel `{name}`, class {class}: {demand:?} has a part that is negative or not finite; demands are times of 0 or more"
    )]
    BadDemand {
        /// The grid.
        name: String,
        /// Number of the run.
        class: usize,
        /// As given.
        demand: Box<Demand>,
    },
    /// A start or a gap that is no time.
    #[error("kernel `{name}`: {what} = {seconds} s is negative or not finite; give a time of 0 or more")]
    BadTime {
        /// The grid.
        name: String,
        /// Name of the time.
        what: &'static str,
        /// As given.
        seconds: f64,
    },
    /// Times whose sums no float would hold.
    #[error(
        "all blocks one after the other would take {seconds:.3e} s; at most {LONGEST:e} s are simulated: check the units of their times"
    )]
    TooLong {
        /// Their sum.
        seconds: f64,
    },
    /// Blocks that do not make whole clusters.
    #[error("kernel `{name}`: {blocks} blocks are no whole number of clusters of {cluster}")]
    PartialCluster {
        /// The grid.
        name: String,
        /// Its blocks.
        blocks: u64,
        /// Blocks of a cluster.
        cluster: u32,
    },
    /// A cluster that no GPC holds.
    #[error(
        "kernel `{name}`: a cluster of {cluster} blocks fits in no GPC, which holds {most}; take clusters of {most} or fewer"
    )]
    ClusterFitsNowhere {
        /// The grid.
        name: String,
        /// Blocks of a cluster.
        cluster: u32,
        /// Blocks that the largest GPC holds.
        most: u64,
    },
    /// SMs that the GPU does not have.
    #[error(
        "kernel `{name}`: SMs {from} to {to} of a GPU with {sms}; give a range within 0 to {sms} that is not empty"
    )]
    BadRange {
        /// The grid.
        name: String,
        /// First SM.
        from: u32,
        /// SM after the last.
        to: u32,
        /// SMs of the GPU.
        sms: u32,
    },
    /// Shares of a resource beyond all or nothing of it.
    #[error("a block draws at most {cap} of a resource; give a share above 0, at most 1")]
    BadCap {
        /// As given.
        cap: f64,
    },
    /// A grid that waits for one that does not exist.
    #[error("kernel `{name}` waits for kernel number {after}; there are {grids}, numbered from 0")]
    NoSuchGrid {
        /// The grid.
        name: String,
        /// As given.
        after: usize,
        /// Grids.
        grids: usize,
    },
    /// Grids that wait for each other.
    #[error("kernels wait for each other in a circle: {circle}; remove one of these dependencies")]
    Circle {
        /// The names, the first one again at the end.
        circle: String,
    },
}

/// Checks all that the simulation relies on.
pub(super) fn check(machine: &Machine, grids: &[Grid]) -> Result<(), SimulateError> {
    if grids.is_empty() {
        return Err(SimulateError::NoGrids);
    }
    if machine.sms == 0 || machine.sms > MOST_SMS {
        return Err(SimulateError::Sms { sms: machine.sms });
    }
    if machine.gpcs > machine.sms {
        return Err(SimulateError::Gpcs { gpcs: machine.gpcs, sms: machine.sms });
    }
    if let Some(cap) = machine.caps.into_iter().find(|cap| !(*cap > 0.0 && *cap <= 1.0)) {
        return Err(SimulateError::BadCap { cap });
    }
    grids.iter().try_for_each(|grid| check_grid(machine, grid, grids.len()))?;
    let seconds: f64 = grids.iter().map(|grid| longest(machine, grid)).sum();
    if seconds > LONGEST {
        return Err(SimulateError::TooLong { seconds });
    }
    circle(grids)
}

/// The time of a grid if each of its demands ran by itself.
fn longest(machine: &Machine, grid: &Grid) -> f64 {
    let total = grid.runs.total();
    let shared: f64 = total.shares().into_iter().zip(machine.caps).map(|(work, cap)| work / cap).sum();
    shared + total.latency.get() + grid.start.get() * grid.runs.blocks() as f64 + grid.gap.get()
}

fn check_grid(machine: &Machine, grid: &Grid, grids: usize) -> Result<(), SimulateError> {
    let name = || grid.name.clone();
    let blocks = grid.runs.blocks();
    if blocks == 0 {
        return Err(SimulateError::NoBlocks { name: name() });
    }
    if blocks > MOST_BLOCKS {
        return Err(SimulateError::ManyBlocks { name: name(), blocks });
    }
    if let Some(Range { start: from, end: to }) = grid.sms.clone()
        && (from >= to || to > machine.sms)
    {
        return Err(SimulateError::BadRange { name: name(), from, to, sms: machine.sms });
    }
    if grid.per_sm(machine) == 0 {
        return Err(SimulateError::FitsNowhere { name: name() });
    }
    if grid.blocks_per_sm as usize > LANES {
        return Err(SimulateError::ManySlots { name: name(), blocks_per_sm: grid.blocks_per_sm });
    }
    for (what, time) in [("start", grid.start), ("gap", grid.gap)] {
        if !(time.get() >= 0.0 && time.get().is_finite()) {
            return Err(SimulateError::BadTime { name: name(), what, seconds: time.get() });
        }
    }
    for (class, run) in grid.runs.classes().iter().enumerate() {
        if !run.demand.is_legal() {
            return Err(SimulateError::BadDemand { name: name(), class, demand: Box::new(run.demand) });
        }
    }
    if grid.cluster > 1 {
        if !blocks.is_multiple_of(u64::from(grid.cluster)) {
            return Err(SimulateError::PartialCluster { name: name(), blocks, cluster: grid.cluster });
        }
        let most = machine.gpc_numbers().map(|gpc| within(machine, grid, gpc).len() as u64);
        let most = most.max().unwrap_or(0) * u64::from(grid.per_sm(machine));
        if u64::from(grid.cluster) > most {
            return Err(SimulateError::ClusterFitsNowhere { name: name(), cluster: grid.cluster, most });
        }
    }
    match grid.after.iter().find(|after| **after >= grids) {
        Some(after) => Err(SimulateError::NoSuchGrid { name: name(), after: *after, grids }),
        None => Ok(()),
    }
}

/// Finds grids that wait for each other, depth first without recursion.
fn circle(grids: &[Grid]) -> Result<(), SimulateError> {
    let mut done = vec![false; grids.len()];
    for first in 0..grids.len() {
        let mut path: Vec<(usize, usize)> = vec![(first, 0)];
        let mut on_path = vec![false; grids.len()];
        on_path[first] = true;
        while let Some((grid, next)) = path.last_mut() {
            if done[*grid] || *next >= grids[*grid].after.len() {
                (done[*grid], on_path[*grid]) = (true, false);
                path.pop();
                continue;
            }
            let after = grids[*grid].after[*next];
            *next += 1;
            if on_path[after] {
                let start = path.iter().position(|(g, _)| *g == after).unwrap_or(0);
                let mut names: Vec<&str> = path[start..].iter().map(|(g, _)| grids[*g].name.as_str()).collect();
                names.push(&grids[after].name);
                return Err(SimulateError::Circle { circle: names.join(" -> ") });
            }
            on_path[after] = true;
            path.push((after, 0));
        }
    }
    Ok(())
}
