//! The event loop: ends of demands, ends of blocks, placement of the next ones.

use std::{cmp::Reverse, collections::BinaryHeap, ops::Range};

use super::{
    BlockRun, Demand, Grid, Machine, Observer, Outcome, SimulateError, SmLoad,
    check::check,
    outcome::GridTimes,
    place::LANES,
    runs::RESOURCES,
    server::{Server, key},
    state::{GridState, Resident},
    tournament::Tournament,
};
use crate::units::Seconds;

/// Ends within this share of the time so far are one instant: equal blocks differ by rounding.
const INSTANT: f64 = 1e-12;

/// Shared resources of which each SM has one: arithmetic and port, the first two of a demand.
const PER_SM: usize = 2;

/// Simulates grids on a machine. Blocks are placed in order, those of a higher priority first, then of the grid that
/// could begin earlier; a block that finds no slot holds back the grids behind it, unless they have other SMs.
///
/// # Errors
/// No grid, no block, more than 2^31 - 1 of them, a block that fits on no SM, demands that are no times or far too long,
/// circular dependencies.
pub fn simulate<O: Observer>(machine: &Machine, grids: &[Grid], observer: &mut O) -> Result<Outcome, SimulateError> {
    check(machine, grids)?;
    let mut engine = Engine::new(machine, grids, observer);
    engine.run();
    Ok(engine.outcome)
}

pub(super) struct Engine<'a, O> {
    pub(super) machine: &'a Machine,
    pub(super) grids: &'a [Grid],
    pub(super) observer: &'a mut O,
    pub(super) states: Vec<GridState>,
    /// Grids with blocks to place, in the order in which they are served.
    pub(super) ready: Vec<usize>,
    /// SMs of grids that found no slot.
    pub(super) blocked: Vec<Range<usize>>,
    /// First server of each resource; absent where nobody uses it.
    pub(super) base: [Option<usize>; RESOURCES],
    pub(super) servers: Vec<Server>,
    pub(super) clocks: Tournament,
    pub(super) changed: Vec<u32>,
    pub(super) is_changed: Vec<bool>,
    /// Ends of latencies and starts, and openings of grids behind the last slot.
    pub(super) timers: BinaryHeap<Reverse<(u64, u32)>>,
    pub(super) residents: Vec<Resident>,
    /// Taken slots of each SM.
    pub(super) lanes: Vec<u64>,
    pub(super) used: Vec<super::Room>,
    pub(super) busy_since: Vec<f64>,
    pub(super) ended: Vec<u32>,
    pub(super) now: f64,
    pub(super) outcome: Outcome,
}

impl<'a, O: Observer> Engine<'a, O> {
    fn new(machine: &'a Machine, grids: &'a [Grid], observer: &'a mut O) -> Self {
        let sms = machine.sms as usize;
        let (mut base, mut servers) = ([None; RESOURCES], Vec::new());
        for (resource, base) in base.iter_mut().enumerate() {
            let asked = |g: &Grid| g.runs.classes().iter().any(|run| run.demand.shares()[resource] > 0.0);
            if grids.iter().any(asked) {
                *base = Some(servers.len());
                let count = if resource < PER_SM { sms } else { 1 };
                servers.extend(std::iter::repeat_n(Server::new(machine.caps[resource]), count));
            }
        }
        Self {
            machine,
            grids,
            observer,
            states: GridState::all(machine, grids),
            ready: Vec::new(),
            blocked: Vec::new(),
            base,
            clocks: Tournament::new(servers.len()),
            changed: Vec::new(),
            is_changed: vec![false; servers.len()],
            servers,
            timers: BinaryHeap::new(),
            residents: vec![Resident::default(); sms * LANES],
            lanes: vec![0; sms],
            used: vec![super::Room::default(); sms],
            busy_since: vec![0.0; sms],
            ended: Vec::new(),
            now: 0.0,
            outcome: Outcome {
                sms: vec![SmLoad::default(); sms],
                grids: vec![GridTimes::default(); grids.len()],
                ..Outcome::default()
            },
        }
    }

    fn run(&mut self) {
        for grid in 0..self.grids.len() {
            if self.states[grid].waits_for == 0 {
                self.states[grid].released = true;
                self.open_later(grid);
            }
        }
        self.settle();
        loop {
            let (_, server) = self.clocks.first();
            let timer = self.timers.peek().map_or(f64::INFINITY, |Reverse((time, _))| f64::from_bits(*time));
            let next = server.min(timer);
            if next.is_infinite() {
                break;
            }
            self.now = self.now.max(next);
            self.outcome.instants += 1;
            let until = self.now + self.now * INSTANT;
            self.serve(until);
            self.ring(until);
            self.settle();
        }
        self.outcome.makespan = Seconds(self.now);
    }

    /// Demands on servers that end up to a time.
    fn serve(&mut self, until: f64) {
        loop {
            let (number, time) = self.clocks.first();
            if time > until {
                return;
            }
            let server = &mut self.servers[number];
            let resource = self.base.iter().rposition(|base| base.is_some_and(|b| b <= number)).unwrap_or(0);
            self.observer.used(resource, server.since(), time, server.used());
            let (residents, ended) = (&mut self.residents, &mut self.ended);
            server.leave(until, |slot| {
                let resident = &mut residents[slot as usize];
                resident.left -= 1;
                if resident.left == 0 {
                    ended.push(slot);
                }
            });
            self.clocks.set(number, server.next_end());
        }
    }

    /// Timers up to a time.
    fn ring(&mut self, until: f64) {
        while let Some(Reverse((time, what))) = self.timers.peek().copied() {
            if f64::from_bits(time) > until {
                return;
            }
            self.timers.pop();
            let slots = self.residents.len();
            if what as usize >= slots {
                self.open(what as usize - slots);
            } else if self.residents[what as usize].starting {
                self.residents[what as usize].starting = false;
                self.begin(what);
            } else {
                let resident = &mut self.residents[what as usize];
                resident.left -= 1;
                if resident.left == 0 {
                    self.ended.push(what);
                }
            }
        }
    }

    /// All ends of an instant, then all placements that they allow; work of no time ends here too.
    fn settle(&mut self) {
        loop {
            let mut ended = std::mem::take(&mut self.ended);
            // Persistent blocks that end together take tiles in the order in which they were placed: SM after SM.
            ended.sort_unstable_by_key(|slot| (slot % LANES as u32, slot / LANES as u32));
            for slot in ended.drain(..) {
                self.end(slot);
            }
            // Blocks without work may have ended meanwhile.
            let again = std::mem::replace(&mut self.ended, ended);
            self.ended.extend(again);
            if !self.ended.is_empty() {
                continue;
            }
            self.place();
            if self.ended.is_empty() {
                break;
            }
        }
        for number in self.changed.drain(..) {
            self.is_changed[number as usize] = false;
            self.clocks.set(number as usize, self.servers[number as usize].next_end());
        }
    }

    /// A block begins its work, or waits at its beginning for the grids before its own.
    pub(super) fn begin(&mut self, slot: u32) {
        let grid = self.residents[slot as usize].grid as usize;
        if !self.states[grid].released {
            self.states[grid].waiting.push(slot);
            return;
        }
        let demand = self.residents[slot as usize].demand;
        let left = self.enter(slot, &demand);
        self.residents[slot as usize].left = left;
        if left == 0 {
            self.ended.push(slot);
        }
    }

    fn enter(&mut self, slot: u32, demand: &Demand) -> u8 {
        let mut left = 0;
        for (resource, work) in demand.shares().into_iter().enumerate().filter(|(_, work)| *work > 0.0) {
            let Some(base) = self.base[resource] else { continue };
            let number = if resource < PER_SM { base + slot as usize / LANES } else { base };
            let server = &mut self.servers[number];
            if self.now > server.since() {
                self.observer.used(resource, server.since(), self.now, server.used());
            }
            server.enter(self.now, work, slot);
            left += 1;
            if !self.is_changed[number] {
                self.is_changed[number] = true;
                self.changed.push(number as u32);
            }
        }
        let latency = demand.latency.get();
        if latency > 0.0 {
            self.timers.push(Reverse((key(self.now + latency), slot)));
            left += 1;
        }
        left
    }

    fn end(&mut self, slot: u32) {
        let resident = self.residents[slot as usize];
        let (sm, grid) = (slot as usize / LANES, resident.grid as usize);
        let run = BlockRun {
            grid: resident.grid,
            index: resident.index,
            class: resident.class,
            sm: sm as u32,
            lane: slot % LANES as u32,
            start: Seconds(resident.since),
            end: Seconds(self.now),
        };
        self.observer.ended(&run);
        if run.end > self.outcome.critical.end || self.outcome.blocks == 0 {
            self.outcome.critical = run;
        }
        self.outcome.blocks += 1;
        let load = &mut self.outcome.sms[sm];
        load.blocks += 1;
        load.slot_time += Seconds(self.now - resident.since);
        let state = &mut self.states[grid];
        state.ended += 1;
        if state.has_tile(self.grids[grid].policy, resident.index) {
            let (index, class, demand) = state.take(&self.grids[grid], Some(resident.index));
            self.residents[slot as usize] = Resident { index, class, demand, since: self.now, ..resident };
            self.begin(slot);
            return;
        }
        self.lanes[sm] &= !(1 << (slot % LANES as u32));
        state.resident[sm] -= 1;
        if self.lanes[sm] == 0 {
            load.busy += Seconds(self.now - self.busy_since[sm]);
            load.last_end = Seconds(self.now);
        }
        let finished = state.ended == state.blocks;
        self.make_room(grid, sm, false);
        if finished {
            self.finish(grid);
        }
    }

    fn finish(&mut self, grid: usize) {
        let times = &mut self.outcome.grids[grid];
        (times.end, times.blocks) = (Seconds(self.now), self.states[grid].blocks);
        for dependent in self.states[grid].dependents.clone() {
            let state = &mut self.states[dependent];
            state.waits_for -= 1;
            if state.waits_for > 0 {
                continue;
            }
            state.released = true;
            for slot in std::mem::take(&mut state.waiting) {
                self.begin(slot);
            }
            if !self.grids[dependent].early {
                self.open_later(dependent);
            }
        }
    }

    fn open_later(&mut self, grid: usize) {
        let gap = self.grids[grid].gap.get();
        if gap > 0.0 {
            self.timers.push(Reverse((key(self.now + gap), (self.residents.len() + grid) as u32)));
        } else {
            self.open(grid);
        }
    }

    /// The blocks of a grid can be placed from now on.
    pub(super) fn open(&mut self, grid: usize) {
        self.outcome.grids[grid].open = Seconds(self.now);
        self.states[grid].open(&self.grids[grid], self.machine, &self.used, &self.lanes);
        let priority = |g: usize| self.grids[g].priority;
        let at = self.ready.partition_point(|other| priority(*other) >= priority(grid));
        self.ready.insert(at, grid);
    }
}
