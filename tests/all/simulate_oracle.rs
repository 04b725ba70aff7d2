//! The event engine against a slow simulation that moves all blocks forward together from one end to the next.

use proptest::prelude::*;
use wavecast::{
    schedule::simulate::{BlockRun, Demand, Grid, Machine, Observer, Policy, Run, Runs, simulate},
    units::Seconds,
};

/// Share of the makespan within which times agree. Cases stay short because the true times are sensitive: where two resources
/// send the same blocks back and forth, demands that differ by 1e-14 move an end by 1e-5 after 250 blocks.
const NEAR: f64 = 1e-9;

/// Start and end of each block by its place in the grid.
#[derive(Default)]
struct Times(Vec<(f64, f64)>);

impl Observer for Times {
    fn ended(&mut self, run: &BlockRun) {
        let place = run.index as usize;
        self.0.resize(self.0.len().max(place + 1), (f64::NAN, f64::NAN));
        self.0[place] = (run.start.get(), run.end.get());
    }

    fn used(&mut self, _: usize, _: f64, _: f64, _: f64) {}
}

/// A block on its way: what is left of its start, its shared demands and its latency, of which the start comes first.
struct Live {
    sm: usize,
    lane: usize,
    index: u64,
    since: f64,
    start: f64,
    left: [f64; 5],
}

/// All rates are computed anew at each end; no virtual time, no heap, no queue of events.
fn slow(machine: &Machine, grid: &Grid) -> Vec<(f64, f64)> {
    let (sms, blocks) = (machine.sms as usize, grid.runs.blocks());
    let mut free = vec![grid.blocks_per_sm; sms];
    let mut live: Vec<Live> = Vec::new();
    let mut times = vec![(f64::NAN, f64::NAN); blocks as usize];
    let workers = if grid.policy == Policy::Hardware { blocks } else { blocks.min(grid.slots(machine)) };
    let (mut placed, mut taken, mut now) = (0, 0, 0.0);
    let left = |index: u64| {
        let demand = grid.runs.at(index).1;
        let [math, port, l2, dram] = demand.shares();
        [math, port, l2, dram, demand.latency.get()]
    };
    loop {
        while placed < workers && taken < blocks {
            let most = *free.iter().max().unwrap();
            let Some(sm) = free.iter().position(|slots| *slots == most && most > 0) else { break };
            free[sm] -= 1;
            let lane = (0..).find(|lane| live.iter().all(|b| (b.sm, b.lane) != (sm, *lane))).unwrap();
            live.push(Live { sm, lane, index: placed, since: now, start: grid.start.get(), left: left(placed) });
            (placed, taken) = (placed + 1, taken + 1);
        }
        if live.is_empty() {
            return times;
        }
        let rates: Vec<[f64; 5]> = live.iter().map(|block| rates(machine, &live, block)).collect();
        let until = |(block, rates): (&Live, &[f64; 5])| {
            if block.start > 0.0 {
                return block.start;
            }
            let parts = block.left.iter().zip(rates).filter(|(left, _)| **left > 0.0);
            parts.map(|(left, rate)| left / rate).reduce(f64::min).unwrap_or(0.0)
        };
        let step = live.iter().zip(&rates).map(until).fold(f64::INFINITY, f64::min);
        now += step;
        for (block, rates) in live.iter_mut().zip(&rates) {
            // What ends within rounding of this end, ends with it.
            let less = |left: f64, rate: f64| if left / rate - step > 1e-12 * now { left - step * rate } else { 0.0 };
            if block.start > 0.0 {
                block.start = less(block.start, 1.0);
                continue;
            }
            for (left, rate) in block.left.iter_mut().zip(rates).filter(|(left, _)| **left > 0.0) {
                *left = less(*left, *rate);
            }
        }
        // Ends of an instant in the order of the first blocks: SM after SM.
        live.sort_by_key(|block| (block.lane, block.sm));
        for mut block in std::mem::take(&mut live) {
            if block.start > 0.0 || block.left.iter().any(|left| *left > 0.0) {
                live.push(block);
                continue;
            }
            times[block.index as usize] = (block.since, now);
            let next = match grid.policy {
                Policy::Hardware => blocks,
                Policy::Queue => taken,
                Policy::Stride => block.index + workers,
            };
            if next < blocks {
                taken += 1;
                (block.index, block.since, block.left) = (next, now, left(next));
                live.push(block);
            } else {
                free[block.sm] += 1;
            }
        }
    }
}

fn rates(machine: &Machine, live: &[Live], block: &Live) -> [f64; 5] {
    std::array::from_fn(|resource| {
        let is_user =
            |other: &&Live| other.start <= 0.0 && other.left[resource] > 0.0 && (resource > 1 || other.sm == block.sm);
        match machine.caps.get(resource) {
            Some(cap) => cap.min(1.0 / live.iter().filter(is_user).count().max(1) as f64),
            None => 1.0,
        }
    })
}

/// Nothing, or a time over two powers of ten; no two of a case are equal.
fn any_time(scale: f64) -> impl Strategy<Value = Seconds> {
    prop_oneof![1 => Just(Seconds::ZERO), 3 => (-1.0f64..1.0).prop_map(move |e| Seconds(scale * libm::pow(10.0, e)))]
}

prop_compose! {
    fn any_demand(sms: u32)(
        math in any_time(1.0), port in any_time(1.0), l2 in any_time(1.0), dram in any_time(1.0), latency in any_time(2.0),
    ) -> Demand {
        let part = 1.0 / f64::from(sms);
        Demand { math, port, l2: l2 * part, dram: dram * part, latency }
    }
}

prop_compose! {
    fn any_case()(sms in 1u32..=12)(
        blocks_per_sm in 1u32..=5, start in any_time(0.3),
        demands in proptest::collection::vec((any_demand(sms), 1u64..=3), 1..16), repeat in 1u64..=2,
        policy in proptest::sample::select(vec![Policy::Hardware, Policy::Queue, Policy::Stride]),
        caps in proptest::array::uniform4(prop_oneof![2 => Just(1.0), 1 => 0.02f64..1.0]), sms in Just(sms),
    ) -> (Machine, Grid) {
        let runs = demands.into_iter().map(|(demand, count)| Run { count, demand });
        let grid = Grid { start, policy, ..Grid::new("k", Runs::new(runs, repeat), blocks_per_sm) };
        (Machine { caps, ..Machine::plain(sms) }, grid)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_block_begins_and_ends_as_in_the_slow_simulation((machine, grid) in any_case()) {
        let mut fast = Times::default();
        let outcome = simulate(&machine, std::slice::from_ref(&grid), &mut fast).unwrap();
        let slow = slow(&machine, &grid);
        let end = slow.iter().map(|(_, end)| *end).fold(0.0, f64::max);
        let near = |a: f64, b: f64| (a - b).abs() <= NEAR * end;
        prop_assert!(near(outcome.makespan.get(), end));
        prop_assert_eq!(fast.0.len(), slow.len());
        for (place, (fast, slow)) in fast.0.iter().zip(&slow).enumerate() {
            prop_assert!(near(fast.0, slow.0) && near(fast.1, slow.1), "block {place}: {fast:?}, slowly {slow:?}");
        }
    }
}
