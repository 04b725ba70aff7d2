//! What a simulation tells.

use super::{Demand, Grid, Machine, place::LANES};
use crate::units::Seconds;

/// One block, or one tile of a persistent block, from its placement to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockRun {
    /// Number of the grid.
    pub grid: u32,
    /// Its place in the grid.
    pub index: u64,
    /// Number of its run in the grid's classes.
    pub class: u32,
    /// SM.
    pub sm: u32,
    /// Slot of the SM.
    pub lane: u32,
    /// Placement, or the end of the tile before.
    pub start: Seconds,
    /// End of its last demand.
    pub end: Seconds,
}

/// What watches a simulation.
pub trait Observer {
    /// A block ended.
    fn ended(&mut self, run: &BlockRun);
    /// A resource, in the order of [`Demand::shares`], was used at a share of one server's capacity between two times.
    fn used(&mut self, resource: usize, from: f64, to: f64, share: f64);
}

/// Watches nothing.
impl Observer for () {
    fn ended(&mut self, _: &BlockRun) {}
    fn used(&mut self, _: usize, _: f64, _: f64, _: f64) {}
}

/// The work of one SM.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SmLoad {
    /// Blocks or tiles that it ran.
    pub blocks: u64,
    /// Time with at least one block.
    pub busy: Seconds,
    /// Time of its blocks, added up.
    pub slot_time: Seconds,
    /// End of its last block; 0 where it had none.
    pub last_end: Seconds,
}

/// When a grid ran.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GridTimes {
    /// When its blocks could first be placed.
    pub open: Seconds,
    /// When its first block was placed.
    pub first: Seconds,
    /// When its last block was placed: what follows is its drain.
    pub placed: Seconds,
    /// When its last block ended.
    pub end: Seconds,
    /// Blocks or tiles.
    pub blocks: u64,
}

/// A whole simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// From the beginning to the end of the last block.
    pub makespan: Seconds,
    /// Blocks and tiles.
    pub blocks: u64,
    /// Instants at which something ended.
    pub instants: u64,
    /// SM by SM.
    pub sms: Vec<SmLoad>,
    /// Grid by grid.
    pub grids: Vec<GridTimes>,
    /// The block that ended last; in a tie the one in the lowest slot, and there on the lowest SM.
    pub critical: BlockRun,
}

impl Outcome {
    /// When the first SM ran out of blocks for good.
    pub fn tail_start(&self) -> Seconds {
        self.sms.iter().map(|sm| sm.last_end).fold(self.makespan, Seconds::min)
    }

    /// Share of the time of all SMs that they had no block, 0 to 1.
    pub fn idle(&self) -> f64 {
        let all = self.makespan.get() * self.sms.len() as f64;
        let busy: f64 = self.sms.iter().map(|sm| sm.busy.get()).sum();
        if all > 0.0 { (1.0 - busy / all).max(0.0) } else { 0.0 }
    }

    /// Share of the time of all SMs that lay idle between their last block and the end, 0 to 1.
    pub fn tail_cost(&self) -> f64 {
        let idle: f64 = self.sms.iter().map(|sm| self.makespan.get() - sm.last_end.get()).sum();
        let all = self.makespan.get() * self.sms.len() as f64;
        if all > 0.0 { idle / all } else { 0.0 }
    }
}

/// What no order of blocks could beat.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Balance {
    /// All demands, each spread evenly over its servers of the whole machine; latency over all slots.
    pub spread: Demand,
    /// The same of the kernel that needs longest for its own, over the SMs and slots that it may use.
    pub kernel: Seconds,
    /// The longest block alone.
    pub longest: Seconds,
}

impl Balance {
    /// Of grids on a machine, as if nothing waited for anything.
    pub fn of(machine: &Machine, grids: &[Grid]) -> Self {
        let mut balance = Self::default();
        let slots = grids.iter().map(|grid| u64::from(grid.per_sm(machine))).sum::<u64>().clamp(1, LANES as u64);
        for grid in grids {
            let total = grid.runs.total();
            let over = |sms: f64, slots: f64| Demand {
                math: total.math / sms,
                port: total.port / sms,
                latency: total.latency / (sms * slots),
                ..total
            };
            let longest =
                grid.runs.classes().iter().map(|run| machine.alone(&run.demand)).fold(Seconds::ZERO, Seconds::max);
            let (own, own_slots) = (grid.range(machine).len().max(1) as f64, grid.per_sm(machine).max(1).into());
            balance.spread = balance.spread.plus(1.0, over(machine.sms.max(1).into(), slots as f64));
            balance.kernel = balance.kernel.max(over(own, own_slots).alone());
            balance.longest = balance.longest.max(longest + grid.start);
        }
        balance
    }

    /// The least time.
    pub fn least(&self) -> Seconds {
        self.spread.alone().max(self.kernel).max(self.longest)
    }
}
