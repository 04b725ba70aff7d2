//! Placement of blocks: which grid, which SM.

use std::cmp::Reverse;

use super::{
    Observer,
    engine::Engine,
    place::{LANES, within},
    server::key,
    state::Resident,
};
use crate::units::Seconds;

impl<O: Observer> Engine<'_, O> {
    /// Places all blocks that find a slot.
    pub(super) fn place(&mut self) {
        let mut at = 0;
        self.blocked.clear();
        while at < self.ready.len() {
            let grid = self.ready[at];
            let range = self.grids[grid].range(self.machine);
            let is_blocked = self.blocked.iter().any(|b| b.start < range.end && range.start < b.end);
            // A queue that ran dry leaves no block to place.
            if is_blocked && self.states[grid].to_place > 0 {
                // Nor do those behind it pass, on SMs where it may go.
                if !self.blocked.contains(&range) {
                    self.blocked.push(range);
                }
                at += 1;
                continue;
            }
            let cluster = self.grids[grid].cluster;
            while self.states[grid].to_place > 0 {
                let placed = if cluster > 1 { self.place_cluster(grid, cluster) } else { self.place_one(grid) };
                if !placed {
                    break;
                }
            }
            if self.states[grid].to_place > 0 {
                self.blocked.push(range);
                at += 1;
                continue;
            }
            self.ready.remove(at);
            self.outcome.grids[grid].placed = Seconds(self.now);
            for dependent in self.states[grid].dependents.clone() {
                self.states[dependent].unplaced -= 1;
                if self.grids[dependent].early && self.states[dependent].unplaced == 0 {
                    // It joins behind or before those that wait; begin again where its priority is higher.
                    self.open(dependent);
                    at = 0;
                }
            }
        }
    }

    fn place_one(&mut self, grid: usize) -> bool {
        let found = self.states[grid].free.best();
        found.inspect(|sm| self.start(grid, *sm)).is_some()
    }

    /// Places a cluster on the GPC with the most free slots, the lowest number of those.
    fn place_cluster(&mut self, grid: usize, cluster: u32) -> bool {
        let range = |gpc| within(self.machine, &self.grids[grid], gpc);
        let free = |gpc: &usize| self.states[grid].free.sum(range(*gpc));
        let best = self.machine.gpc_numbers().max_by(|a, b| free(a).cmp(&free(b)).then(b.cmp(a))).unwrap_or(0);
        if free(&best) < cluster as usize {
            return false;
        }
        let range = range(best);
        for _ in 0..cluster {
            let found = self.states[grid].free.best_of(range.clone());
            if let Some(sm) = found.filter(|_| self.states[grid].to_place > 0) {
                self.start(grid, sm);
            }
        }
        true
    }

    fn start(&mut self, grid: usize, sm: usize) {
        let lane = (!self.lanes[sm]).trailing_zeros();
        let slot = (sm * LANES) as u32 + lane;
        if self.lanes[sm] == 0 {
            self.busy_since[sm] = self.now;
        }
        self.lanes[sm] |= 1 << lane;
        let state = &mut self.states[grid];
        if state.placed == 0 {
            self.outcome.grids[grid].first = Seconds(self.now);
        }
        state.placed += 1;
        state.to_place -= 1;
        state.resident[sm] += 1;
        let start = self.grids[grid].start.get();
        let (index, class, demand) = state.take(&self.grids[grid], None);
        self.residents[slot as usize] =
            Resident { grid: grid as u32, index, class, demand, since: self.now, left: 0, starting: start > 0.0 };
        self.make_room(grid, sm, true);
        if start > 0.0 {
            self.timers.push(Reverse((key(self.now + start), slot)));
        } else {
            self.begin(slot);
        }
    }

    /// Takes or gives the room of a block, and counts the free slots of the SM again.
    pub(super) fn make_room(&mut self, grid: usize, sm: usize, take: bool) {
        if self.grids.len() == 1 {
            self.states[0].free_alone(sm);
            return;
        }
        self.used[sm].change(&self.grids[grid].need, take);
        let taken = self.lanes[sm].count_ones();
        for grid in &self.ready {
            self.states[*grid].free_among(&self.grids[*grid], self.machine, (&self.used[sm], taken), sm);
        }
    }
}
