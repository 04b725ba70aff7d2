//! What the event loop remembers of a grid and of a block.

use super::{
    Demand, Grid, Machine, Policy, Room,
    place::{Free, LANES},
    runs::Cursor,
};

/// A block in its slot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Resident {
    pub grid: u32,
    pub index: u64,
    pub class: u32,
    pub demand: Demand,
    /// Placement, or end of the tile before.
    pub since: f64,
    /// Demands that have not ended.
    pub left: u8,
    /// Whether it still starts.
    pub starting: bool,
}

/// A grid on its way.
#[derive(Clone, Debug)]
pub(super) struct GridState {
    cursor: Cursor,
    /// Blocks, or tiles of a persistent kernel.
    pub blocks: u64,
    pub ended: u64,
    /// Blocks placed, of a persistent kernel one per slot.
    pub placed: u64,
    pub to_place: u64,
    /// Blocks of a persistent kernel.
    workers: u64,
    /// Whether all grids before it have ended.
    pub released: bool,
    /// Blocks that wait for them.
    pub waiting: Vec<u32>,
    /// Grids before it that have not ended, and those that still have blocks to place.
    pub waits_for: usize,
    pub unplaced: usize,
    pub dependents: Vec<usize>,
    pub free: Free,
    /// Most blocks of it on an SM.
    per_sm: u32,
    /// Blocks of it on each SM.
    pub resident: Vec<u8>,
}

impl GridState {
    pub fn all(machine: &Machine, grids: &[Grid]) -> Vec<Self> {
        let mut states: Vec<Self> = grids.iter().map(|grid| Self::new(machine, grid)).collect();
        for (number, grid) in grids.iter().enumerate() {
            let mut after = grid.after.clone();
            after.sort_unstable();
            after.dedup();
            (states[number].waits_for, states[number].unplaced) = (after.len(), after.len());
            for before in after {
                states[before].dependents.push(number);
            }
        }
        states
    }

    fn new(machine: &Machine, grid: &Grid) -> Self {
        let blocks = grid.runs.blocks();
        let to_place = match grid.policy {
            Policy::Hardware => blocks,
            // Whole clusters; tiles beyond the blocks wait in the queue.
            Policy::Queue | Policy::Stride => {
                let cluster = u64::from(grid.cluster.max(1));
                (blocks.min(grid.slots(machine)) / cluster).max(1) * cluster
            }
        };
        Self {
            cursor: Cursor::default(),
            blocks,
            ended: 0,
            placed: 0,
            to_place,
            workers: to_place,
            released: false,
            waiting: Vec::new(),
            waits_for: 0,
            unplaced: 0,
            dependents: Vec::new(),
            free: Free::new(machine.sms as usize),
            per_sm: grid.per_sm(machine),
            resident: vec![0; machine.sms as usize],
        }
    }

    /// Opens the grid: its free slots are counted from now on.
    pub fn open(&mut self, grid: &Grid, machine: &Machine, used: &[Room], lanes: &[u64]) {
        for sm in grid.range(machine) {
            self.free_among(grid, machine, (&used[sm], lanes[sm].count_ones()), sm);
        }
    }

    /// Free slots of an SM that no other grid uses.
    pub fn free_alone(&mut self, sm: usize) {
        self.free.set(sm, self.per_sm as usize - usize::from(self.resident[sm]));
    }

    /// Free slots of an SM of which so much room and so many slots are taken.
    pub fn free_among(&mut self, grid: &Grid, machine: &Machine, (used, taken): (&Room, u32), sm: usize) {
        if !grid.range(machine).contains(&sm) {
            return;
        }
        let own = u64::from(self.per_sm) - u64::from(self.resident[sm]);
        let lanes = LANES as u64 - u64::from(taken);
        self.free.set(sm, own.min(lanes).min(machine.room.fits(used, &grid.need)) as usize);
    }

    /// Whether a persistent block finds another tile after one.
    pub fn has_tile(&self, policy: Policy, index: u64) -> bool {
        match policy {
            Policy::Hardware => false,
            Policy::Queue => self.cursor.next < self.blocks,
            Policy::Stride => index + self.workers < self.blocks,
        }
    }

    /// The next tile of a block: its place in the grid, class and demand.
    pub fn take(&mut self, grid: &Grid, before: Option<u64>) -> (u64, u32, Demand) {
        if grid.policy == Policy::Stride {
            let index = before.map_or(self.placed - 1, |before| before + self.workers);
            let (class, demand) = grid.runs.at(index);
            return (index, class, demand);
        }
        let taken = self.cursor.take(&grid.runs);
        if grid.policy == Policy::Queue && self.cursor.next == self.blocks {
            // Blocks that have not come to a slot yet would find nothing to do.
            self.to_place = 0;
        }
        taken
    }
}
