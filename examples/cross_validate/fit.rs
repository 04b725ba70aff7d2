//! The constants as a point in space, and the search for the one with the least mean |log(predicted / measured)|.

use wavecast::{
    gpu::Gpu,
    op::gemm::Precision,
    units::{BytesPerCycle, Cycles, Seconds},
};

use super::rows::{Board, Row};

/// Constants that all GPUs share.
pub const SHARED: [&str; 10] = [
    "fixed (cycles)",
    "loaded_latency (ns)",
    "l2_feed",
    "split_cost (cycles)",
    "l2_effective",
    "store (B/cycle)",
    "sm_stream (B/cycle)",
    "small_tile",
    "overlap_exponent",
    "l2_stream_ratio",
];
/// Most that each may be.
const MOST: [f64; 10] = [1e6, 1e5, 1.0, 1e6, 1.0, 1e3, 1e3, 100.0, 20.0, 20.0];
/// Constants of each GPU.
pub const OWN: [&str; 3] = ["sustained_tensor", "dram_efficiency", "power_droop"];
/// The droop may be 0, so that its steps are those of the droop and this together.
const DROOP: f64 = 0.05;
/// Searches end when all steps are below this, on a scale of logarithms.
const LEAST_STEP: f64 = 0.004;
/// Directions that are tried in each round besides the constants themselves.
const OBLIQUE: usize = 4;

/// Rows that a fit sees, with their GPU.
pub struct Seen<'a> {
    /// The GPU with the constants of the table.
    pub gpu: &'a Gpu,
    /// Types of the products.
    pub precision: Precision,
    /// The rows.
    pub rows: Vec<Row>,
}

impl<'a> Seen<'a> {
    /// About so many of some rows of a board.
    pub fn new(board: &'a Board, rows: &[Row], most: usize) -> Self {
        Self { gpu: &board.gpu, precision: board.precision, rows: Board::thinned(rows, most) }
    }
}

/// The shared constants, and those of each GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// In the order of `SHARED`.
    pub shared: [f64; 10],
    /// In the order of `OWN`.
    pub own: Vec<[f64; 3]>,
}

impl Point {
    /// The constants of the table.
    pub fn table<'a>(gpus: impl Iterator<Item = &'a Gpu>) -> Self {
        let gpus: Vec<&Gpu> = gpus.collect();
        let stream = gpus.iter().map(|gpu| gpu.calibration.sm_stream.get()).fold(f64::INFINITY, f64::min);
        let c = &gpus[0].calibration.constants;
        let shared = [
            c.fixed.get(),
            c.loaded_latency.get() * 1e9,
            c.l2_feed,
            c.split_cost.get(),
            c.l2_effective,
            c.store.get(),
            stream,
            c.small_tile,
            c.overlap_exponent,
            c.l2_stream_ratio,
        ];
        let own = |gpu: &&Gpu| {
            let c = &gpu.calibration;
            [c.sustained_tensor, c.dram_efficiency, c.power_droop]
        };
        Self { shared, own: gpus.iter().map(own).collect() }
    }

    /// The point with each constant multiplied by e^-0.3 or e^0.3, by chance, and a droop of 0.05 more.
    pub fn moved(&self, seed: u64) -> Self {
        let mut chance = Chance(seed);
        let mut away = || libm::exp(if chance.next() < 0.0 { -0.3 } else { 0.3 });
        let shared = std::array::from_fn(|i| (self.shared[i] * away()).min(MOST[i]));
        let own = |c: &[f64; 3]| [(c[0] * away()).min(1.0), (c[1] * away()).min(1.0), c[2] + 0.05];
        Self { shared, own: self.own.iter().map(own).collect() }
    }

    /// A GPU with these constants. Where its family draws a larger stream into an SM than the others, it keeps it.
    pub fn on(&self, gpu: &Gpu, own: &[f64; 3], least_stream: f64) -> Gpu {
        let mut gpu = gpu.clone();
        let [fixed, latency, feed, split, l2, store, stream, small, overlap, ratio] = self.shared;
        let c = &mut gpu.calibration;
        c.constants.fixed = Cycles(fixed);
        c.constants.loaded_latency = Seconds(latency * 1e-9);
        c.constants.l2_feed = feed;
        c.constants.split_cost = Cycles(split);
        c.constants.l2_effective = l2;
        c.constants.store = BytesPerCycle(store);
        c.constants.small_tile = small;
        c.constants.overlap_exponent = overlap;
        c.constants.l2_stream_ratio = ratio;
        if c.sm_stream.get() <= least_stream {
            c.sm_stream = BytesPerCycle(stream);
        }
        [c.sustained_tensor, c.dram_efficiency, c.power_droop] = *own;
        gpu
    }
}

/// A found point.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The constants.
    pub at: Point,
    /// Mean over the GPUs of the mean |log(predicted / measured)|.
    pub loss: f64,
    /// Predictions of all rows that it took.
    pub evaluations: usize,
}

/// Which constants a fit may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Free {
    /// The shared ones and all of each GPU.
    All,
    /// The sustained shares of arithmetic and DRAM alone.
    Shares,
}

/// A search along constants and across them: steps that succeed grow, others shrink; what a round gained is tried again.
/// The constants of a GPU touch its own rows alone, so that those of all GPUs move at once.
pub struct Search<'a> {
    seen: &'a [Seen<'a>],
    least_stream: f64,
    evaluations: usize,
}

impl<'a> Search<'a> {
    /// A search over these rows; `least_stream` as in `Point::on`.
    pub fn new(seen: &'a [Seen<'a>], least_stream: f64) -> Self {
        Self { seen, least_stream, evaluations: 0 }
    }

    /// The loss of a point.
    pub fn loss(mut self, at: &Point) -> f64 {
        mean(&self.losses(at))
    }

    fn losses(&mut self, at: &Point) -> Vec<f64> {
        self.evaluations += 1;
        let loss = |(seen, own): (&Seen, &[f64; 3])| {
            let planner = Board::planner(&at.on(seen.gpu, own, self.least_stream), seen.precision);
            let error = |row: &Row| libm::log(planner.plan(row.shape, row.reuse).time / row.measured).abs();
            seen.rows.iter().map(error).sum::<f64>() / seen.rows.len() as f64
        };
        self.seen.iter().zip(&at.own).map(loss).collect()
    }

    /// The best point near a start.
    pub fn run(mut self, start: Point, free: Free) -> Fit {
        let boards = start.own.len();
        let shared = if free == Free::All { SHARED.len() } else { 0 };
        let own = if free == Free::All { OWN.len() } else { 2 };
        let mut chance = Chance(1);
        let mut at = start;
        let mut found = self.losses(&at);
        let mut steps = [0.1; SHARED.len()];
        let mut own_steps = vec![vec![0.1; boards]; OWN.len()];
        let mut oblique_step = 0.1;
        for _ in 0..ROUNDS {
            let before = at.clone();
            for place in 0..shared {
                let moved = [1.0, -1.0].into_iter().any(|sign| {
                    let mut next = at.clone();
                    next.shared[place] = step(next.shared[place], sign * steps[place], MOST[place]);
                    self.take(&mut at, &mut found, next)
                });
                steps[place] *= if moved { 1.5 } else { 0.5 };
            }
            for (place, steps) in own_steps.iter_mut().enumerate().take(own) {
                let mut moved = vec![false; boards];
                for sign in [1.0, -1.0] {
                    let mut next = at.clone();
                    for (board, constants) in next.own.iter_mut().enumerate().filter(|(board, _)| !moved[*board]) {
                        step_own(constants, place, sign * steps[board]);
                    }
                    let losses = self.losses(&next);
                    for board in 0..boards {
                        if losses[board] < found[board] {
                            (at.own[board], found[board], moved[board]) = (next.own[board], losses[board], true);
                        }
                    }
                }
                for board in 0..boards {
                    steps[board] *= if moved[board] { 1.5 } else { 0.5 };
                }
            }
            let mut oblique = false;
            for _ in 0..if shared > 0 { OBLIQUE } else { 0 } {
                let ways: [f64; SHARED.len()] = std::array::from_fn(|_| chance.next());
                let own_ways: Vec<[f64; 3]> = (0..boards).map(|_| std::array::from_fn(|_| chance.next())).collect();
                oblique |= [1.0, -1.0].into_iter().any(|sign| {
                    let mut next = at.clone();
                    for (place, way) in ways.iter().enumerate() {
                        next.shared[place] = step(next.shared[place], sign * way * oblique_step, MOST[place]);
                    }
                    for (constants, ways) in next.own.iter_mut().zip(&own_ways) {
                        for (place, way) in ways.iter().enumerate() {
                            step_own(constants, place, sign * way * oblique_step);
                        }
                    }
                    self.take(&mut at, &mut found, next)
                });
            }
            oblique_step = (oblique_step * if oblique { 1.5 } else { 0.7 }).max(LEAST_STEP);
            let mut further = at.clone();
            for (place, most) in MOST.iter().enumerate().take(shared) {
                further.shared[place] = (at.shared[place] * at.shared[place] / before.shared[place]).min(*most);
            }
            for (next, (now, then)) in further.own.iter_mut().zip(at.own.iter().zip(&before.own)) {
                for place in 0..2 {
                    next[place] = (now[place] * now[place] / then[place]).min(1.0);
                }
                next[2] = (2.0 * now[2] - then[2]).clamp(0.0, 1.0);
            }
            let further = at != before && self.take(&mut at, &mut found, further);
            let small = |steps: &[f64]| steps.iter().all(|step| *step < LEAST_STEP);
            if !oblique && !further && small(&steps[..shared]) && own_steps[..own].iter().all(|steps| small(steps)) {
                break;
            }
            // A constant that rested may have to follow the others.
            for step in steps.iter_mut().chain(own_steps.iter_mut().flatten()) {
                *step = step.clamp(LEAST_STEP / 2.0, 0.3);
            }
        }
        Fit { at, loss: mean(&found), evaluations: self.evaluations }
    }

    fn take(&mut self, at: &mut Point, found: &mut Vec<f64>, next: Point) -> bool {
        let losses = self.losses(&next);
        let better = mean(&losses) < mean(found);
        if better {
            (*at, *found) = (next, losses);
        }
        better
    }
}

/// Most rounds of a search.
const ROUNDS: usize = 80;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn step(value: f64, by: f64, most: f64) -> f64 {
    (value * libm::exp(by)).min(most)
}

fn step_own(constants: &mut [f64; 3], place: usize, by: f64) {
    constants[place] = match place {
        2 => ((constants[2] + DROOP) * libm::exp(by) - DROOP).max(0.0),
        _ => step(constants[place], by, 1.0),
    };
}

/// Numbers from -1 to 1 that are the same in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavecast::{
        gpu::{Catalog, DataType},
        op::gemm::{Reuse, Shape},
        validate::Needs,
    };

    /// Products of many sizes, timed by the model itself with the constants of the table.
    fn boards() -> Vec<Board> {
        let catalog = Catalog::embedded().unwrap();
        let board = |name| {
            let gpu = catalog.find(name).unwrap().gpu;
            let precision = Precision::new(&gpu, DataType::Bf16, false).unwrap();
            let planner = Board::planner(&gpu, precision);
            let row = |i: u32| {
                let side = |shift: u32| 32_u64 << (shift % 9);
                let shape = Shape::new(1, side(i), side(i * 5 + 2), side(i * 7 + 1)).unwrap();
                let reuse = Reuse::Rotated(6);
                Row { shape, reuse, measured: planner.plan(shape, reuse).time, needs: Needs { math: 0.0, memory: 0.0 } }
            };
            let rows = (0..27).map(row).collect();
            Board { gpu, precision, rows }
        };
        ["a100-sxm4-80gb", "l40s"].map(board).into()
    }

    #[test]
    fn finds_the_constants_behind_its_own_times() {
        let boards = boards();
        let seen: Vec<Seen> = boards.iter().map(|board| Seen::new(board, &board.rows, 100)).collect();
        let truth = Point::table(boards.iter().map(|board| &board.gpu));
        assert!(Search::new(&seen, 20.0).loss(&truth) < 1e-12, "the table's constants made the times");

        let mut shares = truth.clone();
        shares.own = vec![[0.6, 0.6, 0.0], [0.9, 0.9, 0.05]];
        let found = Search::new(&seen, 20.0).run(shares, Free::Shares);
        assert_eq!(found.at.shared, truth.shared);
        for (own, expected) in found.at.own.iter().zip(&truth.own) {
            for place in 0..2 {
                assert!((own[place] / expected[place] - 1.0).abs() < 0.02, "{own:?}, should be {expected:?}");
            }
        }

        let away = truth.moved(1);
        let before = Search::new(&seen, 20.0).loss(&away);
        let found = Search::new(&seen, 20.0).run(away, Free::All);
        assert!(found.loss < before / 8.0, "{} from {before}", found.loss);
    }
}
