//! Cases by hand.

use super::{place::LANES, *};
use crate::units::Seconds;

fn math(time: f64) -> Demand {
    Demand { math: Seconds(time), ..Demand::default() }
}

fn wait(time: f64) -> Demand {
    Demand { latency: Seconds(time), ..Demand::default() }
}

fn blocks(times: &[f64]) -> Runs {
    Runs::new(times.iter().map(|time| Run { count: 1, demand: math(*time) }), 1)
}

fn run(machine: &Machine, grids: &[Grid]) -> Outcome {
    simulate(machine, grids, &mut ()).unwrap()
}

/// Start and end of the blocks of each grid, in the order of their ends.
fn times(machine: &Machine, grids: &[Grid]) -> Vec<Vec<(f64, f64)>> {
    let mut record = Recorder::new(machine, grids.len(), 1000);
    simulate(machine, grids, &mut record).unwrap();
    let mut times = vec![Vec::new(); grids.len()];
    for run in &record.blocks {
        times[run.grid as usize].push((run.start.get(), run.end.get()));
    }
    times
}

#[test]
fn a_wave_and_one_block_more() {
    let machine = Machine::plain(108);
    let outcome = run(&machine, &[Grid::new("k", Runs::equal(109, math(2.0)), 1)]);
    assert_eq!(outcome.makespan, Seconds(4.0));
    assert_eq!(outcome.tail_start(), Seconds(2.0));
    assert_eq!((outcome.blocks, outcome.critical.index, outcome.critical.sm), (109, 108, 0));
    assert!((outcome.tail_cost() - 107.0 / 216.0).abs() < 1e-15);
}

#[test]
fn blocks_on_an_sm_share_it_evenly() {
    // 1 and 3 at half speed each: the first ends at 2. The third, of 1, comes then and ends at 4 beside the second, which
    // is alone with its last second.
    let sm = Machine::plain(1);
    let found = times(&sm, &[Grid::new("k", blocks(&[1.0, 3.0, 1.0]), 2)]);
    assert_eq!(found, [[(0.0, 2.0), (2.0, 4.0), (0.0, 5.0)]]);
    // A block that draws at most a quarter takes four times as long, alone or with three others; eight take eight.
    let capped = Machine { caps: [0.25, 1.0, 1.0, 1.0], ..sm };
    let alone = |count| run(&capped, &[Grid::new("k", Runs::equal(count, math(1.0)), 8)]).makespan;
    assert_eq!([1, 4, 8].map(alone), [Seconds(4.0), Seconds(4.0), Seconds(8.0)]);
}

#[test]
fn the_longest_first_is_not_always_best() {
    // 3 3 2 2 2 on two SMs: the best is 3 + 3 and 2 + 2 + 2; longest first ends at 7, its worst case of 4/3 - 1/6.
    let runs = blocks(&[2.0, 3.0, 2.0, 3.0, 2.0]).longest_first();
    assert_eq!(runs.classes().iter().map(|run| run.count).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(run(&Machine::plain(2), &[Grid::new("k", runs, 1)]).makespan, Seconds(7.0));
}

#[test]
fn workers_of_a_stride_keep_their_tiles() {
    // Worker 0 has tiles of 5 and 5, worker 1 two of 1; from a queue the second would take three.
    let tiles = blocks(&[5.0, 1.0, 5.0, 1.0]);
    let with = |policy| run(&Machine::plain(2), &[Grid { policy, ..Grid::new("k", tiles.clone(), 1) }]).makespan;
    assert_eq!([Policy::Stride, Policy::Queue].map(with), [Seconds(10.0), Seconds(6.0)]);
}

#[test]
fn clusters_find_room_in_one_gpc() {
    // GPCs of 3 SMs hold one cluster of 2 each and leave an SM idle: 4 clusters make 2 waves, not 1.33.
    let machine = Machine { gpcs: 2, ..Machine::plain(6) };
    let grid = Grid { cluster: 2, ..Grid::new("k", Runs::equal(8, math(1.0)), 1) };
    assert_eq!(grid.slots(&machine), 4);
    assert_eq!(run(&machine, std::slice::from_ref(&grid)).makespan, Seconds(2.0));
    // So does a persistent kernel, which has as many blocks as run at once.
    for policy in [Policy::Queue, Policy::Stride] {
        let outcome = run(&machine, &[Grid { policy, ..grid.clone() }]);
        assert_eq!((outcome.makespan, outcome.grids[0].placed), (Seconds(2.0), Seconds(0.0)));
    }
}

#[test]
fn a_dependent_waits_for_the_end_and_the_gap() {
    let first = Grid::new("a", blocks(&[1.0, 2.0]), 1);
    let second = Grid { after: vec![0], gap: Seconds(0.5), ..Grid::new("b", blocks(&[1.0]), 1) };
    let one_each = |sms| Machine { room: Room { blocks: 1, ..Machine::plain(1).room }, ..Machine::plain(sms) };
    assert_eq!(times(&one_each(2), &[first.clone(), second.clone()])[1], [(2.5, 3.5)]);
    // Early: placed as soon as all blocks before have been and there is a slot; past its start it waits until 2.
    let early = Grid { early: true, start: Seconds(0.25), ..second };
    assert_eq!(times(&one_each(3), &[first.clone(), early.clone()])[1], [(0.0, 3.0)]);
    assert_eq!(times(&one_each(2), &[first.clone(), early.clone()])[1], [(1.0, 3.0)]);
    // Of a start that ends later than the grid before, the rest comes after it.
    let slow = Grid { start: Seconds(1.25), ..early };
    assert_eq!(times(&one_each(2), &[first, slow])[1], [(1.0, 3.25)]);
}

#[test]
fn a_queue_that_ran_dry_holds_nobody_back() {
    // `a` has one of its two slots when `b` comes, which is placed first and waits for both. The tile that `a` has left
    // goes to its worker; `c`, early after it, begins at its end although `b` still waits.
    let machine = Machine { room: Room { blocks: 1, ..Machine::plain(2).room }, ..Machine::plain(2) };
    let grids = [
        Grid { sms: Some(1..2), ..Grid::new("long", blocks(&[10.0]), 1) },
        Grid { policy: Policy::Queue, ..Grid::new("a", Runs::new([1.0, 1.5].map(one), 1), 1) },
        Grid { priority: 1, gap: Seconds(0.5), cluster: 2, ..Grid::new("b", Runs::equal(2, math(1.0)), 1) },
        Grid { priority: 2, early: true, after: vec![1], sms: Some(0..1), ..Grid::new("c", blocks(&[1.0]), 1) },
    ];
    let found = times(&machine, &grids);
    assert_eq!(found[1], [(0.0, 1.0), (1.0, 2.5)]);
    assert_eq!((found[3][0], found[2][0]), ((2.5, 3.5), (10.0, 11.0)));
}

fn one(time: f64) -> Run {
    Run { count: 1, demand: math(time) }
}

#[test]
fn an_sm_holds_what_it_has_room_and_slots_for() {
    // Two grids of 40 blocks per SM: 64 are kept apart, the other 16 follow.
    let grids = ["a", "b"].map(|name| Grid::new(name, Runs::equal(40, wait(1.0)), 40));
    let found = times(&Machine::plain(1), &grids);
    assert_eq!(found[1].iter().filter(|(start, _)| *start == 0.0).count(), LANES - 40);
    assert_eq!(run(&Machine::plain(1), &grids).makespan, Seconds(2.0));
    // Room for 2 blocks, whatever the grid says of itself: alone, and in slots, closed form and balance.
    let machine = Machine { room: Room { blocks: 2, ..Machine::plain(1).room }, ..Machine::plain(1) };
    let grid = [Grid::new("k", Runs::equal(8, wait(1.0)), 4)];
    assert_eq!((run(&machine, &grid).makespan, grid[0].slots(&machine)), (Seconds(4.0), 2));
    assert_eq!((grid[0].closed_form(&machine), Balance::of(&machine, &grid).least()), (Seconds(4.0), Seconds(4.0)));
}

#[test]
fn balance_of_kernels_beside_each_other() {
    // On halves of the GPU, both take the time of one.
    let half = |name: &str, sms| Grid { sms: Some(sms), ..Grid::new(name, Runs::equal(2, math(1.0)), 1) };
    let (machine, grids) = (Machine::plain(4), [half("a", 0..2), half("b", 2..4)]);
    assert_eq!((run(&machine, &grids).makespan, Balance::of(&machine, &grids).least()), (Seconds(1.0), Seconds(1.0)));
    // Waiting beside waiting.
    let both = ["a", "b"].map(|name| Grid::new(name, Runs::equal(1, wait(1.0)), 1));
    assert_eq!(Balance::of(&Machine::plain(1), &both).least(), run(&Machine::plain(1), &both).makespan);
    // One kernel on half of the GPU.
    assert_eq!(Balance::of(&machine, &[half("a", 0..1)]).least(), Seconds(2.0));
}

#[test]
fn stream_k_by_hand() {
    // 3 tiles of 4 steps over 2 blocks: 6 steps each. The first ends one tile and begins the second, whose other half
    // it reads; the other block hands that half over and ends the third.
    let demand =
        |math, port, dram| Demand { math: Seconds(math), port: Seconds(port), dram: Seconds(dram), ..wait(0.0) };
    let cut = StreamK {
        tiles: 3,
        steps: 4,
        workers: 2,
        step: demand(1.0, 0.0, 0.0),
        finish: demand(0.0, 1.0, 0.0),
        partial: demand(0.0, 0.0, 1.0),
    };
    let shares = |cut: &StreamK| stream_k(cut).classes().iter().map(|run| run.demand).collect::<Vec<_>>();
    assert_eq!(shares(&cut), [demand(6.0, 2.0, 1.0), demand(6.0, 1.0, 1.0)]);
    // One tile over 4 blocks: three hand over, the first reads all three.
    let one = StreamK { tiles: 1, workers: 4, ..cut };
    assert_eq!(shares(&one)[0], demand(1.0, 1.0, 3.0));
    // More blocks than steps: the others have nothing to do. As many tiles and steps as there are numbers: no overflow.
    assert_eq!(stream_k(&StreamK { workers: u64::MAX, ..cut }).blocks(), 12);
    let huge = StreamK { tiles: u64::MAX, steps: u64::MAX, workers: 3, ..cut };
    assert_eq!(stream_k(&huge).blocks(), 3);
    assert_eq!(stream_k(&StreamK { tiles: 0, ..cut }).blocks(), 0);
}

#[test]
fn times_from_the_least_to_the_largest() {
    let machine = Machine::plain(3);
    for scale in [5e-324, 1e-300, 1e-9, 1.0, 1e9, 1e298] {
        let grids = [Grid::new("k", Runs::equal(7, math(scale)), 1)];
        let mut record = Recorder::new(&machine, 1, 10);
        let outcome = simulate(&machine, &grids, &mut record).unwrap();
        assert_eq!((outcome.makespan.get(), record.seen), (3.0 * scale, 7));
        assert!(record.resident[0].means(4, outcome.makespan.get()).iter().all(|mean| mean.is_finite()), "{scale:e}");
        assert!(record.resident[0].means(0, outcome.makespan.get()).is_empty());
        assert!(outcome.idle().is_finite() && outcome.tail_cost().is_finite());
    }
    // Long and short ones: each short block is an instant of its own.
    for ratio in [1e9, 1e18, 1e300] {
        let runs = Runs::new([one(1.0), Run { count: 100, demand: math(1.0 / ratio) }], 2);
        let outcome = run(&machine, &[Grid::new("k", runs, 2)]);
        assert_eq!(outcome.blocks, 202);
        assert!((1.0..1.1).contains(&outcome.makespan.get()), "{ratio:e}: {:?}", outcome.makespan);
    }
    // Ten thousand ends at one instant, and blocks without work.
    let outcome = run(&Machine::plain(4096), &[Grid::new("k", Runs::equal(40_960, wait(1.0)), 10)]);
    assert_eq!((outcome.instants, outcome.makespan), (1, Seconds(1.0)));
    let outcome = run(&machine, &[Grid::new("k", Runs::equal(1000, Demand::default()), 2)]);
    assert_eq!((outcome.instants, outcome.blocks, outcome.makespan), (0, 1000, Seconds(0.0)));
    assert_eq!((outcome.idle(), outcome.tail_cost()), (0.0, 0.0));
}

/// What a simulation of changed grids is refused with.
fn refused(machine: &Machine, grids: &[Grid]) -> String {
    simulate(machine, grids, &mut ()).unwrap_err().to_string()
}

#[test]
fn each_refusal_names_the_input_and_the_cure() {
    let machine = Machine::plain(4);
    let grid = Grid::new("k", Runs::equal(4, math(1.0)), 2);
    let of = |runs: Runs| refused(&machine, &[Grid { runs, ..grid.clone() }]);
    let on = |machine: Machine| refused(&machine, std::slice::from_ref(&grid));
    let with = |change: &dyn Fn(&mut Grid)| {
        let mut changed = grid.clone();
        change(&mut changed);
        refused(&machine, &[changed])
    };
    assert_eq!(refused(&machine, &[]), "nothing to simulate: give at least one kernel");
    assert_eq!(on(Machine::plain(0)), "0 SMs: the simulation takes 1 to 4096");
    assert_eq!(on(Machine::plain(4097)), "4097 SMs: the simulation takes 1 to 4096");
    let gpcs = "4294967295 GPCs of 4 SMs: give no more GPCs than SMs, or 1 where their number is not known";
    assert_eq!(on(Machine { gpcs: u32::MAX, ..machine }), gpcs);
    for cap in [0.0, -1.0, 1.5, f64::NAN] {
        let message = on(Machine { caps: [1.0, cap, 1.0, 1.0], ..machine });
        assert_eq!(message, format!("a block draws at most {cap} of a resource; give a share above 0, at most 1"));
    }
    // Blocks: none, 2^31 - 1 (too long for a test to run, so that another refusal shows that they pass), one more.
    assert_eq!(of(Runs::equal(0, math(1.0))), "kernel `k` has no blocks: a grid has 1 to 2147483647");
    assert_eq!(of(Runs::default()), of(Runs::new([one(1.0)], 0)));
    assert!(of(Runs::equal(i32::MAX as u64, math(-1.0))).contains("class 0: "));
    let many = "kernel `k` has 2147483648 blocks: a grid has at most 2147483647 (2^31 - 1); give each block more work";
    assert_eq!(of(Runs::equal(1 << 31, math(1.0))), many);
    assert!(of(Runs::new([one(1.0), one(2.0)], u64::MAX)).contains("18446744073709551615 blocks"));
    // Slots.
    let nowhere = "kernel `k`: its block fits on no SM; take fewer threads, registers or shared memory";
    assert_eq!(with(&|g| g.blocks_per_sm = 0), nowhere);
    assert_eq!(with(&|g| g.need.warps = u64::MAX), nowhere);
    assert_eq!(with(&|g| g.blocks_per_sm = 65), "kernel `k`: 65 blocks per SM; at most 64 are simulated");
    // Times.
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let rest = "has a part that is negative or not finite; demands are times of 0 or more";
        assert!(of(Runs::equal(1, math(bad))).ends_with(rest) && of(Runs::equal(1, wait(bad))).ends_with(rest));
        let rest = format!("{bad} s is negative or not finite; give a time of 0 or more");
        assert_eq!(with(&|g| g.start = Seconds(bad)), format!("kernel `k`: start = {rest}"));
        assert_eq!(with(&|g| g.gap = Seconds(bad)), format!("kernel `k`: gap = {rest}"));
    }
    let long = "all blocks one after the other would take 4.000e300 s; at most 1e300 s are simulated: check the units of \
                their times";
    assert_eq!(of(Runs::equal(4, math(1e300))), long);
    assert_eq!(with(&|g| g.start = Seconds(1e300)), long);
    assert!(with(&|g| g.gap = Seconds(f64::MAX)).contains("1.798e308 s"));
    assert!(of(Runs::new([one(f64::MAX), one(1.0)], 9)).contains("inf s"));
    assert!(on(Machine { caps: [5e-324; 4], ..machine }).contains("inf s"));
    // Clusters, ranges, dependencies.
    assert_eq!(with(&|g| g.cluster = 3), "kernel `k`: 4 blocks are no whole number of clusters of 3");
    let small = Grid { cluster: 4, sms: Some(0..1), ..grid.clone() };
    let message = "kernel `k`: a cluster of 4 blocks fits in no GPC, which holds 2; take clusters of 2 or fewer";
    assert_eq!(refused(&machine, &[small]), message);
    for (from, to) in [(0, 5), (2, 2), (4, 5), (3, 1)] {
        let message = with(&|g| g.sms = Some(from..to));
        let range = format!("kernel `k`: SMs {from} to {to} of a GPU with 4");
        assert_eq!(message, format!("{range}; give a range within 0 to 4 that is not empty"));
    }
    assert_eq!(with(&|g| g.after = vec![1]), "kernel `k` waits for kernel number 1; there are 1, numbered from 0");
    let circle = |after: &[usize]| {
        format!("kernels wait for each other in a circle: {}; remove one of these dependencies", {
            after.iter().map(|g| ["a", "b", "c"][*g]).collect::<Vec<_>>().join(" -> ")
        })
    };
    let chain = |after: [Vec<usize>; 3]| {
        let grids = ["a", "b", "c"].into_iter().zip(after);
        let grids = grids.map(|(name, after)| Grid { after, ..Grid::new(name, Runs::equal(1, math(1.0)), 1) });
        refused(&machine, &grids.collect::<Vec<_>>())
    };
    assert_eq!(chain([vec![0], vec![], vec![]]), circle(&[0, 0]));
    assert_eq!(chain([vec![], vec![2], vec![0, 1]]), circle(&[1, 2, 1]));
    assert_eq!(chain([vec![2], vec![0], vec![1]]), circle(&[0, 2, 1, 0]));
}
