//! Blocks per second of the block scheduler's simulation: `cargo bench --bench simulate`. Results: docs/model.md, section 14.

use divan::{Bencher, counter::ItemsCount};
use wavecast::{
    schedule::simulate::{Demand, Grid, Machine, Run, Runs, simulate},
    units::Seconds,
};

fn main() {
    divan::main();
}

/// Distinct blocks of a sequence, which repeats.
const CLASSES: u64 = 1000;

/// Blocks of equal arithmetic, with `demands` demands of every size from 0.5 to 1.5 us where they are unequal.
fn runs(blocks: u64, demands: u32, unequal: bool) -> Runs {
    let mut state = 42u64;
    let mut time = |scale: f64| {
        // A linear congruential generator: the same blocks in every run.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = if unequal { 0.5 + (state >> 11) as f64 / (1u64 << 53) as f64 } else { 1.0 };
        Seconds(1e-6 * scale * share)
    };
    let classes = CLASSES.min(blocks);
    let demand = (0..classes).map(|_| {
        let mut demand = Demand { math: time(1.0), ..Demand::default() };
        // Of the whole GPU: about as long as the arithmetic of 132 SMs.
        if demands > 1 {
            demand.dram = time(1.0 / 132.0);
        }
        if demands > 2 {
            demand.l2 = time(0.5 / 132.0);
        }
        if demands > 3 {
            demand.port = time(0.7);
        }
        Run { count: 1, demand }
    });
    Runs::new(demand, blocks / classes)
}

fn bench(bencher: Bencher, blocks: u64, demands: u32, unequal: bool, blocks_per_sm: u32) {
    let (machine, grids) = (Machine::plain(132), [Grid::new("k", runs(blocks, demands, unequal), blocks_per_sm)]);
    bencher
        .counter(ItemsCount::new(blocks))
        .bench_local(|| simulate(&machine, divan::black_box(&grids), &mut ()).unwrap().makespan);
}

/// Equal blocks with one demand, over their number.
#[divan::bench(args = [1_000, 10_000, 100_000, 1_000_000, 10_000_000], sample_count = 5)]
fn one_equal_demand(bencher: Bencher, blocks: u64) {
    bench(bencher, blocks, 1, false, 2);
}

#[divan::bench(args = [1, 2, 8, 32], sample_count = 5)]
fn one_unequal_demand_by_slots(bencher: Bencher, slots: u32) {
    bench(bencher, 1_000_000, 1, true, slots);
}

#[divan::bench(args = [1_000, 10_000, 100_000, 1_000_000, 10_000_000], sample_count = 5)]
fn two_unequal_demands(bencher: Bencher, blocks: u64) {
    bench(bencher, blocks, 2, true, 2);
}

#[divan::bench(args = [1_000, 10_000, 100_000, 1_000_000, 10_000_000], sample_count = 5)]
fn four_unequal_demands(bencher: Bencher, blocks: u64) {
    bench(bencher, blocks, 4, true, 2);
}
