//! Laws of the block scheduler for kernels that share SMs, wait for each other and stand in different ranges.

use proptest::prelude::*;
use wavecast::{
    schedule::simulate::{
        Balance, BlockRun, Demand, Grid, Machine, Observer, Outcome, Policy, Room, Run, Runs, simulate,
    },
    units::Seconds,
};

/// Rounding.
const EPSILON: f64 = 1e-9;

/// All that happened.
#[derive(Clone, Default, PartialEq)]
struct Log {
    runs: Vec<BlockRun>,
    work: [f64; 4],
}

impl Observer for Log {
    fn ended(&mut self, run: &BlockRun) {
        self.runs.push(*run);
    }

    fn used(&mut self, resource: usize, from: f64, to: f64, share: f64) {
        assert!(from <= to && (0.0..=1.0).contains(&share), "{from} to {to}: {share}");
        self.work[resource] += (to - from) * share;
    }
}

impl Log {
    /// The blocks of a grid.
    fn of(&self, grid: usize) -> impl Iterator<Item = &BlockRun> {
        self.runs.iter().filter(move |run| run.grid as usize == grid)
    }
}

fn logged(machine: &Machine, grids: &[Grid]) -> (Outcome, Log) {
    let mut log = Log::default();
    let outcome = simulate(machine, grids, &mut log).unwrap();
    (outcome, log)
}

/// A time, or nothing.
fn any_time(scale: f64) -> impl Strategy<Value = Seconds> {
    prop_oneof![Just(Seconds::ZERO), (0.05f64..1.0).prop_map(move |time| Seconds(scale * time))]
}

prop_compose! {
    fn any_runs(multiple: u64)(
        parts in proptest::collection::vec(
            ((any_time(1.0), any_time(1.0), any_time(0.1)), (any_time(0.1), any_time(1.0)), 1u64..8), 1..8,
        ),
        repeat in 1u64..=5,
    ) -> Runs {
        let runs = parts.into_iter().map(|((math, port, l2), (dram, latency), count)| {
            Run { count: count * multiple, demand: Demand { math, port, l2, dram, latency } }
        });
        Runs::new(runs, repeat)
    }
}

prop_compose! {
    /// A grid that waits for some of those before it.
    fn any_grid(sms: u32, number: usize)(
        cluster in prop_oneof![3 => Just(1u32), 1 => 2u32..=3],
    )(
        runs in any_runs(cluster.into()), blocks_per_sm in 2u32..=6, cluster in Just(cluster),
        (warps, registers, shared) in (1u64..=16, 0u64..=12, 0u64..=40),
        policy in proptest::sample::select(vec![Policy::Hardware, Policy::Hardware, Policy::Queue, Policy::Stride]),
        (start, gap, early) in (any_time(0.2), any_time(0.5), any::<bool>()), priority in 0i32..3,
        after in proptest::collection::vec(any::<bool>(), number),
        range in prop_oneof![3 => Just(None), 1 => (0..sms, 1..=sms).prop_map(move |(at, long)| Some(at..(at + long).min(sms)))],
    ) -> Grid {
        let need = Room { blocks: 1, warps, registers, shared };
        let after = after.into_iter().enumerate().filter_map(|(before, waits)| waits.then_some(before)).collect();
        // One SM holds a cluster, so that every GPC does.
        let sms = range;
        Grid { need, cluster, policy, start, gap, early, priority, after, sms, ..Grid::new("k", runs, blocks_per_sm.max(cluster)) }
    }
}

prop_compose! {
    fn any_case()(sms in 1u32..=20)(
        gpcs in 1..=sms.min(4), sms in Just(sms), grids in (
            any_grid(sms, 0), proptest::option::of(any_grid(sms, 1)), proptest::option::of(any_grid(sms, 2)),
        ),
        caps in proptest::array::uniform4(prop_oneof![3 => Just(1.0), 1 => 0.05f64..1.0]),
    ) -> (Machine, Vec<Grid>) {
        let room = Room { blocks: 16, warps: 64, registers: 64, shared: 160 };
        let (first, second, third) = grids;
        let mut grids: Vec<Grid> = [Some(first), second, third].into_iter().flatten().collect();
        let number = grids.len();
        grids.iter_mut().for_each(|grid| grid.after.retain(|before| *before + 1 < number));
        (Machine { sms, gpcs, room, caps }, grids)
    }
}

/// Whether a later start is no earlier, up to rounding.
fn no_earlier(later: Seconds, earlier: Seconds) -> bool {
    later.get() >= earlier.get() * (1.0 - EPSILON)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_block_runs_once_where_it_may((machine, grids) in any_case()) {
        let (outcome, log) = logged(&machine, &grids);
        prop_assert!(logged(&machine, &grids) == (outcome.clone(), log.clone()), "the same input, another outcome");
        for (number, grid) in grids.iter().enumerate() {
            let mut places: Vec<u64> = log.of(number).map(|run| run.index).collect();
            places.sort_unstable();
            prop_assert_eq!(places, (0..grid.runs.blocks()).collect::<Vec<_>>());
            for run in log.of(number) {
                prop_assert!(grid.range(&machine).contains(&(run.sm as usize)));
                prop_assert_eq!(run.class, grid.runs.at(run.index).0);
                // No faster than alone; a persistent block has its start in its first tile.
                let alone = machine.alone(&grid.runs.at(run.index).1);
                let start = if grid.policy == Policy::Hardware { grid.start } else { Seconds::ZERO };
                prop_assert!((run.end - run.start).get() >= (alone + start).get() - EPSILON * run.end.get());
            }
            let times = &outcome.grids[number];
            let end = log.of(number).map(|run| run.end).fold(Seconds::ZERO, Seconds::max);
            let first = log.of(number).map(|run| run.start).reduce(Seconds::min).unwrap();
            prop_assert_eq!((times.end, times.first, times.blocks), (end, first, grid.runs.blocks()));
            prop_assert!(times.open <= times.first && times.first <= times.placed && times.placed <= times.end);
        }
        // What an SM holds at each placement.
        for at in &log.runs {
            let there = |run: &&BlockRun| run.sm == at.sm && run.start <= at.start && run.end > at.start;
            let mut used = Room::default();
            for run in log.runs.iter().filter(there) {
                used.change(&grids[run.grid as usize].need, true);
            }
            let all = machine.room;
            let fits = used.blocks <= all.blocks && used.warps <= all.warps;
            prop_assert!(fits && used.registers <= all.registers && used.shared <= all.shared, "{used:?}");
            let own = log.of(at.grid as usize).filter(there).count();
            prop_assert!(own as u32 <= grids[at.grid as usize].blocks_per_sm);
        }
        // Blocks of a slot follow each other.
        let mut slots = log.runs.clone();
        slots.sort_by(|a, b| (a.sm, a.lane).cmp(&(b.sm, b.lane)).then(a.end.get().total_cmp(&b.end.get())));
        for pair in slots.windows(2).filter(|pair| (pair[0].sm, pair[0].lane) == (pair[1].sm, pair[1].lane)) {
            prop_assert!(pair[0].end <= pair[1].start || pair[0].start == pair[0].end);
        }
        let blocks: u64 = outcome.sms.iter().map(|sm| sm.blocks).sum();
        prop_assert_eq!((blocks, outcome.makespan), (outcome.blocks, log.runs.iter().map(|r| r.end).fold(Seconds::ZERO, Seconds::max)));
    }

    #[test]
    fn work_is_neither_lost_nor_made((machine, grids) in any_case()) {
        let (outcome, log) = logged(&machine, &grids);
        let total = grids.iter().map(|grid| grid.runs.total()).fold(Demand::default(), |sum, one| sum.plus(1.0, one));
        for (resource, (found, expected)) in log.work.into_iter().zip(total.shares()).enumerate() {
            prop_assert!((found - expected).abs() <= EPSILON * expected, "{resource}: {found}, demanded {expected}");
        }
        let least = Balance::of(&machine, &grids).least();
        prop_assert!(no_earlier(outcome.makespan, least), "{:?}, perfect balance {least:?}", outcome.makespan);
    }

    #[test]
    fn kernels_wait_for_those_before((machine, grids) in any_case()) {
        let (outcome, log) = logged(&machine, &grids);
        for (number, grid) in grids.iter().enumerate() {
            for before in &grid.after {
                let before = &outcome.grids[*before];
                for run in log.of(number) {
                    let works = grid.runs.at(run.index).1.alone().get() > 0.0;
                    if grid.early {
                        prop_assert!(no_earlier(run.start, before.placed));
                        let work = machine.alone(&grid.runs.at(run.index).1);
                        prop_assert!(!works || no_earlier(run.end, before.end + work));
                    } else {
                        prop_assert!(no_earlier(run.start, before.end + grid.gap));
                    }
                }
            }
            if grid.after.is_empty() {
                prop_assert!(log.of(number).all(|run| no_earlier(run.start, grid.gap)));
            }
        }
    }

    #[test]
    fn nothing_passes_a_kernel_of_higher_priority((machine, grids) in any_case()) {
        let (outcome, log) = logged(&machine, &grids);
        for (high, first) in grids.iter().enumerate() {
            for (low, grid) in grids.iter().enumerate() {
                let (a, b) = (first.range(&machine), grid.range(&machine));
                let apart = a.end <= b.start || b.end <= a.start;
                // Tiles of a persistent kernel go on in its slots.
                if first.priority <= grid.priority || apart || grid.policy != Policy::Hardware {
                    continue;
                }
                let (open, placed) = (outcome.grids[high].open, outcome.grids[high].placed);
                prop_assert!(log.of(low).all(|run| run.start <= open || run.start >= placed));
            }
        }
    }

    #[test]
    fn clusters_begin_together_in_one_gpc((machine, grids) in any_case()) {
        let (_, log) = logged(&machine, &grids);
        for (number, grid) in grids.iter().enumerate().filter(|(_, g)| g.cluster > 1 && g.policy == Policy::Hardware) {
            let mut runs: Vec<&BlockRun> = log.of(number).collect();
            runs.sort_by_key(|run| run.index);
            // GPC g has the SMs from sms g / gpcs to sms (g + 1) / gpcs.
            let gpc = |sm: u32| (0..machine.gpcs).find(|g| sm < machine.sms * (g + 1) / machine.gpcs);
            for cluster in runs.chunks(grid.cluster as usize) {
                let first = cluster[0];
                let together = |run: &&BlockRun| run.start == first.start && gpc(run.sm) == gpc(first.sm);
                prop_assert!(cluster.iter().all(together), "{cluster:?}");
            }
        }
    }

    #[test]
    fn no_slot_is_empty_while_a_block_waits(
        runs in any_runs(1), sms in 1u32..=20, blocks_per_sm in 1u32..=6, start in any_time(0.2), gap in any_time(0.5),
        policy in proptest::sample::select(vec![Policy::Hardware, Policy::Queue]),
    ) {
        let machine = Machine::plain(sms);
        let grid = Grid { start, gap, policy, ..Grid::new("k", runs, blocks_per_sm) };
        let (_, log) = logged(&machine, std::slice::from_ref(&grid));
        let mut slots = log.runs;
        let last = slots.iter().map(|run| run.start).fold(Seconds::ZERO, Seconds::max);
        slots.sort_by(|a, b| {
            let by_time = a.start.get().total_cmp(&b.start.get()).then(a.end.get().total_cmp(&b.end.get()));
            (a.sm, a.lane).cmp(&(b.sm, b.lane)).then(by_time)
        });
        let same = |a: &BlockRun, b: &BlockRun| (a.sm, a.lane) == (b.sm, b.lane);
        let mut used = 0;
        for blocks in slots.chunk_by(same) {
            used += 1;
            prop_assert_eq!(blocks[0].start, gap);
            prop_assert!(blocks.windows(2).all(|pair| pair[0].end == pair[1].start));
            prop_assert!(blocks[blocks.len() - 1].end >= last);
        }
        prop_assert_eq!(used, grid.slots(&machine).min(grid.runs.blocks()));
    }

    #[test]
    fn tiles_of_a_stride_are_a_stride_apart(runs in any_runs(1), sms in 1u32..=20, blocks_per_sm in 1u32..=6) {
        let machine = Machine::plain(sms);
        let grid = Grid { policy: Policy::Stride, ..Grid::new("k", runs, blocks_per_sm) };
        let workers = grid.slots(&machine).min(grid.runs.blocks());
        let (_, log) = logged(&machine, std::slice::from_ref(&grid));
        for run in &log.runs {
            let worker = (run.index % workers) as u32;
            prop_assert_eq!((run.sm, run.lane), (worker % sms, worker / sms));
        }
    }

    #[test]
    fn halves_of_a_gpu_do_not_feel_each_other(
        a in any_runs(1), b in any_runs(1), left in 1u32..=10, right in 1u32..=10, blocks_per_sm in 1u32..=6,
    ) {
        // Arithmetic and latency alone: L2 and DRAM are shared by all SMs.
        let own = |runs: &Runs| {
            let keep = |run: &Run| Run { demand: Demand { l2: Seconds::ZERO, dram: Seconds::ZERO, ..run.demand }, ..*run };
            Runs::new(runs.classes().iter().map(keep), runs.repeat())
        };
        let grid = |runs: &Runs, sms| Grid { sms: Some(sms), ..Grid::new("k", own(runs), blocks_per_sm) };
        let machine = Machine::plain(left + right);
        let (both, _) = logged(&machine, &[grid(&a, 0..left), grid(&b, left..left + right)]);
        // A slice of the GPU as a small GPU.
        let alone = |runs: &Runs, sms| logged(&Machine::plain(sms), &[grid(runs, 0..sms)]).0.makespan;
        prop_assert_eq!([both.grids[0].end, both.grids[1].end], [alone(&a, left), alone(&b, right)]);
    }
}
