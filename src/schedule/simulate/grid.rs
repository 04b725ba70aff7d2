//! What is simulated: the machine, and grids with their order and dependencies.

use std::ops::Range;

use super::{Demand, Runs, place::within};
use crate::units::Seconds;

/// What an SM has, or what a block takes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Blocks.
    pub blocks: u64,
    /// Warps.
    pub warps: u64,
    /// Registers, as they are allocated.
    pub registers: u64,
    /// Bytes of shared memory, as they are allocated.
    pub shared: u64,
}

impl Room {
    /// How many blocks of a kind fit in what is left after others.
    pub fn fits(&self, used: &Self, need: &Self) -> u64 {
        let of = |all: u64, used: u64, need: u64| all.saturating_sub(used).checked_div(need).unwrap_or(u64::MAX);
        of(self.blocks, used.blocks, need.blocks)
            .min(of(self.warps, used.warps, need.warps))
            .min(of(self.registers, used.registers, need.registers))
            .min(of(self.shared, used.shared, need.shared))
    }

    /// Takes or gives back the room of a block.
    pub fn change(&mut self, need: &Self, take: bool) {
        let change = |all: &mut u64, one: u64| *all = if take { *all + one } else { *all - one };
        change(&mut self.blocks, need.blocks);
        change(&mut self.warps, need.warps);
        change(&mut self.registers, need.registers);
        change(&mut self.shared, need.shared);
    }
}

/// The GPU as the scheduler sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// SMs that take blocks.
    pub sms: u32,
    /// GPCs over which they are spread as evenly as they go, no more than SMs; a cluster lies in one. 1 where nobody
    /// published it.
    pub gpcs: u32,
    /// What an SM has, for all its blocks together.
    pub room: Room,
    /// Largest share of a resource that one block can draw, in the order of [`Demand::shares`]: 1 for all of it.
    pub caps: [f64; 4],
}

impl Machine {
    /// SMs without any limit but the slots of the grids.
    pub fn plain(sms: u32) -> Self {
        let all = u64::MAX / 2;
        Self { sms, gpcs: 1, room: Room { blocks: all, warps: all, registers: all, shared: all }, caps: [1.0; 4] }
    }
}

impl Machine {
    /// Numbers of the GPCs.
    pub(super) fn gpc_numbers(&self) -> Range<usize> {
        0..self.gpcs.clamp(1, self.sms.max(1)) as usize
    }

    /// Time of a block that has the GPU to itself: no more than its cap of each resource.
    pub fn alone(&self, demand: &Demand) -> Seconds {
        let capped = demand.shares().into_iter().zip(self.caps).map(|(time, cap)| Seconds(time / cap));
        capped.fold(demand.latency, Seconds::max)
    }
}

/// How the blocks of a grid come to their slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Each block is placed by the hardware, in order, when a slot is free.
    #[default]
    Hardware,
    /// One block per slot stays and takes tiles from a common queue.
    Queue,
    /// One block per slot stays; the i-th of P takes tiles i, i + P, i + 2 P ...
    Stride,
}

/// A kernel launch: its blocks, what they take of an SM, and what they wait for.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Name for people.
    pub name: String,
    /// The blocks, or the tiles of a persistent kernel.
    pub runs: Runs,
    /// Blocks of this grid that fit on an SM.
    pub blocks_per_sm: u32,
    /// What a block takes of an SM beside others.
    pub need: Room,
    /// Blocks that are placed together in one GPC; 1 without clusters.
    pub cluster: u32,
    /// How blocks come to slots.
    pub policy: Policy,
    /// Time from its placement until a block begins its work; a persistent block has it once.
    pub start: Seconds,
    /// Grids of a higher priority are placed first.
    pub priority: i32,
    /// Grids that have to end before this one begins.
    pub after: Vec<usize>,
    /// Time from then, or from the beginning, until its blocks can be placed.
    pub gap: Seconds,
    /// Programmatic dependent launch: its blocks are placed as soon as all those before have been, pass their start, and
    /// wait there for the grids before to end. The gap is hidden.
    pub early: bool,
    /// SMs that it may use; all.
    pub sms: Option<Range<u32>>,
}

impl Grid {
    /// A grid that needs nothing but slots.
    pub fn new(name: &str, runs: Runs, blocks_per_sm: u32) -> Self {
        Self {
            name: name.into(),
            runs,
            blocks_per_sm,
            need: Room { blocks: 1, ..Room::default() },
            cluster: 1,
            policy: Policy::Hardware,
            start: Seconds::ZERO,
            priority: 0,
            after: Vec::new(),
            gap: Seconds::ZERO,
            early: false,
            sms: None,
        }
    }

    /// The SMs that it may use on a machine.
    pub fn range(&self, machine: &Machine) -> Range<usize> {
        self.sms.as_ref().map_or(0..machine.sms as usize, |sms| sms.start as usize..sms.end as usize)
    }

    /// The terms of the closed form: as many equal blocks with the mean demand, in whole waves.
    pub fn terms(&self, machine: &Machine) -> Demand {
        let (blocks, sms) = (self.runs.blocks(), self.range(machine).len().max(1) as u64);
        let mean = self.runs.total().times(1.0 / blocks.max(1) as f64);
        let waves = blocks.div_ceil(self.slots(machine).max(1)) as f64;
        let busiest = blocks.div_ceil(sms) as f64;
        Demand {
            math: mean.math * busiest,
            port: mean.port * busiest,
            l2: mean.l2 * blocks as f64,
            dram: mean.dram * blocks as f64,
            latency: mean.latency * waves,
        }
    }

    /// What starts of blocks add to them.
    pub fn starts(&self, machine: &Machine) -> Seconds {
        let waves = self.runs.blocks().div_ceil(self.slots(machine).max(1));
        self.start * if self.policy == Policy::Hardware { waves as f64 } else { 1.0 }
    }

    /// The closed form with perfect overlap, the largest term; exact for equal blocks with one demand that no cap limits.
    pub fn closed_form(&self, machine: &Machine) -> Seconds {
        self.terms(machine).alone() + self.starts(machine)
    }

    /// Blocks of it on an SM: no more than the SM has room for.
    pub fn per_sm(&self, machine: &Machine) -> u32 {
        u64::from(self.blocks_per_sm).min(machine.room.fits(&Room::default(), &self.need)) as u32
    }

    /// Blocks that run at once when all its slots are filled; of clusters those that are whole in a GPC.
    pub fn slots(&self, machine: &Machine) -> u64 {
        let (per_sm, cluster) = (u64::from(self.per_sm(machine)), u64::from(self.cluster.max(1)));
        if cluster == 1 {
            return self.range(machine).len() as u64 * per_sm;
        }
        machine.gpc_numbers().map(|gpc| within(machine, self, gpc).len() as u64 * per_sm / cluster * cluster).sum()
    }
}
