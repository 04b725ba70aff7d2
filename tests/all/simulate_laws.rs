//! Laws of the block scheduler for one kernel: closed forms, bounds of list scheduling, stream-K.

use proptest::prelude::*;
use wavecast::{
    schedule::{
        schedule,
        simulate::{Demand, Grid, Machine, Policy, Run, Runs, StreamK, simulate, stream_k},
    },
    units::Seconds,
};

/// Rounding.
const EPSILON: f64 = 1e-9;

fn makespan(machine: &Machine, grid: &Grid) -> f64 {
    simulate(machine, std::slice::from_ref(grid), &mut ()).unwrap().makespan.get()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= EPSILON * a.abs().max(b.abs())
}

/// A time over many powers of ten.
fn any_time() -> impl Strategy<Value = Seconds> {
    (-9.0f64..0.0).prop_map(|e| Seconds(libm::pow(10.0, e)))
}

/// A demand of which each part is there or not.
fn any_demand() -> impl Strategy<Value = Demand> {
    let part = || prop_oneof![Just(Seconds::ZERO), (0.1f64..1.0).prop_map(Seconds)];
    (part(), part(), part(), part(), part()).prop_map(|(math, port, l2, dram, latency)| {
        // The whole GPU serves a block in less time than one SM.
        Demand { math, port, l2: l2 * 0.1, dram: dram * 0.1, latency }
    })
}

/// A demand for one resource, by its number; the last is latency.
fn single(place: usize, time: Seconds) -> Demand {
    let mut parts = [Seconds::ZERO; 5];
    parts[place] = time;
    let [math, port, l2, dram, latency] = parts;
    Demand { math, port, l2, dram, latency }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn blocks_with_one_demand_take_the_time_of_the_closed_form(
        sms in 1u32..=192, blocks_per_sm in 1u32..=32, time in any_time(), place in 0usize..5,
        blocks in prop_oneof![40 => 1u64..=2000, 1 => 1u64..=100_000],
        start in prop_oneof![3 => Just(Seconds::ZERO), 1 => any_time()],
        policy in proptest::sample::select(vec![Policy::Hardware, Policy::Queue, Policy::Stride]),
    ) {
        let machine = Machine::plain(sms);
        let grid = Grid { start, policy, ..Grid::new("k", Runs::equal(blocks, single(place, time)), blocks_per_sm) };
        let found = makespan(&machine, &grid);
        let form = schedule(blocks, sms, blocks_per_sm);
        let times = [form.blocks_of_busiest_sm(), form.blocks_of_busiest_sm(), blocks, blocks, form.whole_waves()][place];
        let starts = if policy == Policy::Hardware { form.whole_waves() } else { 1 };
        let expected = time.get() * times as f64 + start.get() * starts as f64;
        prop_assert!(near(found, expected), "{found}, closed form {expected}");
        prop_assert!(near(grid.closed_form(&machine).get(), expected));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn equal_blocks_run_wave_by_wave(
        demand in any_demand(), sms in 1u32..=40, blocks_per_sm in 1u32..=8, blocks in 1u64..=1500,
        caps in proptest::array::uniform4(prop_oneof![2 => Just(1.0), 1 => 0.05f64..1.0]),
    ) {
        let machine = Machine { caps, ..Machine::plain(sms) };
        let grid = Grid::new("k", Runs::equal(blocks, demand), blocks_per_sm);
        let found = makespan(&machine, &grid);
        // Blocks of a wave begin together, so that each resource serves as many at the same time throughout.
        let wave = |blocks: u64| {
            let busiest = blocks.div_ceil(sms.into());
            let users = [busiest, busiest, blocks, blocks];
            let parts = (0..4).map(|r| demand.shares()[r] * (users[r] as f64).max(1.0 / caps[r]));
            if blocks > 0 { parts.fold(demand.latency.get(), f64::max) } else { 0.0 }
        };
        let slots = grid.slots(&machine);
        let expected = (blocks / slots) as f64 * wave(slots) + wave(blocks % slots);
        prop_assert!(near(found, expected), "{found}, wave by wave {expected}");
        // Between perfect overlap of all waves and none.
        if caps == [1.0; 4] {
            let terms = grid.terms(&machine);
            let sum = terms.shares().iter().sum::<f64>() + terms.latency.get();
            prop_assert!(found >= grid.closed_form(&machine).get() * (1.0 - EPSILON) && found <= sum * (1.0 + EPSILON));
        }
    }

    #[test]
    fn the_longest_first_is_a_list_schedule(
        lengths in proptest::collection::vec(0.1f64..1.0, 1..200), sms in 1u32..=16, sorted in any::<bool>(),
    ) {
        let run = |length: &f64| Run { count: 1, demand: single(0, Seconds(*length)) };
        let runs = Runs::new(lengths.iter().map(run), 1);
        let runs = if sorted { runs.longest_first() } else { runs };
        let machine = Machine::plain(sms);
        let found = makespan(&machine, &Grid::new("k", runs.clone(), 1));
        // Each block goes to the SM that is free first.
        let mut free = vec![0.0f64; sms as usize];
        for place in 0..runs.blocks() {
            let first = free.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
            *first += runs.at(place).1.math.get();
        }
        prop_assert!(near(found, free.into_iter().fold(0.0, f64::max)));
        // Graham's bounds: at most the mean and (1 - 1/m) of the longest; if short blocks come last, of the last to end.
        let (mean, m) = (lengths.iter().sum::<f64>() / f64::from(sms), f64::from(sms));
        let longest = lengths.iter().copied().fold(0.0, f64::max);
        prop_assert!(found <= (mean + (1.0 - 1.0 / m) * longest) * (1.0 + EPSILON));
    }

    #[test]
    fn the_longest_first_is_within_a_third_of_the_best(
        lengths in proptest::collection::vec(1u32..=9, 1..8), sms in 1u32..=3,
    ) {
        let run = |length: &u32| Run { count: 1, demand: single(0, Seconds((*length).into())) };
        let grid = Grid::new("k", Runs::new(lengths.iter().map(run), 1).longest_first(), 1);
        let found = makespan(&Machine::plain(sms), &grid);
        // The best of all ways to deal blocks out.
        let ways = sms.pow(lengths.len() as u32);
        let best = (0..ways).map(|way| {
            let mut loads = vec![0; sms as usize];
            let mut rest = way;
            for length in &lengths {
                loads[(rest % sms) as usize] += length;
                rest /= sms;
            }
            loads.into_iter().max().unwrap_or(0)
        });
        let best = f64::from(best.min().unwrap_or(0));
        let bound = 4.0 / 3.0 - 1.0 / (3.0 * f64::from(sms));
        prop_assert!(best <= found && found <= best * bound * (1.0 + EPSILON), "{found}, best {best}");
    }

    #[test]
    fn stream_k_deals_out_every_step(tiles in 1u64..=60, steps in 1u64..=60, workers in 1u64..=200) {
        let cut = StreamK {
            tiles, steps, workers,
            step: single(0, Seconds(1.0)), finish: single(1, Seconds(1.0)), partial: single(3, Seconds(1.0)),
        };
        let runs = stream_k(&cut);
        let total = runs.total();
        prop_assert_eq!((total.math.get(), total.port.get()), ((tiles * steps) as f64, tiles as f64));
        prop_assert_eq!(runs.blocks(), workers.min(tiles * steps));
        let steps_of: Vec<u64> = (0..runs.blocks()).map(|place| runs.at(place).1.math.get() as u64).collect();
        prop_assert!(steps_of.iter().max().unwrap() - steps_of.iter().min().unwrap() <= 1, "{steps_of:?}");
        // A share of a tile that its owner does not hold is written once and read once.
        let mut edge = 0;
        let cuts = steps_of.iter().filter(|own| { edge += **own; edge % steps != 0 }).count();
        prop_assert_eq!(total.dram.get(), 2.0 * cuts as f64);
    }
}
