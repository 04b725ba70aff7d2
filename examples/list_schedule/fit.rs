//! The search for the constants of prefill with the least mean |log(predicted / measured)|.

use anyhow::{Context, Result};
use rayon::prelude::*;
use wavecast::{
    op::attention::{Constants, List, Model, Order, Request},
    units::Seconds,
    validate::Score,
};

use super::rows::{Board, Measured, thinned};

/// Constants that a search may move; the last two have no part in most list schedules.
pub const NAMES: [&str; 10] =
    ["t0 (us)", "mma", "exp", "block (us)", "row (us)", "dram", "droop", "split (us)", "tail", "lone"];
/// The last one.
const LONE: usize = 9;
/// Most that each may be.
const MOST: [f64; 10] = [100.0, 1.5, 2.0, 50.0, 50.0, 3.0, 1.0, 50.0, 3.0, 3.0];
/// Added to each before a step in its logarithm is taken, so that it may come to 0.
const OFFSET: [f64; 10] = [0.0, 0.0, 0.05, 0.1, 0.1, 0.0, 0.05, 0.5, 0.1, 0.1];
/// Constants on which the lengths of blocks depend: mma, exp, block, row and lone.
const MOVE_BLOCKS: [usize; 5] = [1, 2, 3, 4, LONE];
/// First steps far from and near the best point, and the least; steps are of logarithms.
const STEPS: [f64; 2] = [0.2, 0.05];
const LEAST_STEP: f64 = 0.004;
/// The least that a round has to gain.
const LEAST_GAIN: f64 = 5e-5;
/// Most rounds.
const ROUNDS: usize = 25;

/// The values of `NAMES`.
pub type Point = [f64; 10];

/// How the work of the SMs is put together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// As in the closed form.
    ClosedForm,
    /// By a list schedule of the blocks.
    List {
        /// Blocks at a time on an SM.
        slots: u32,
        /// Largest share of an SM that one takes; absent where 1 / `lone` is, which is fitted.
        draw: Option<f64>,
        /// Order of the blocks.
        order: Order,
    },
}

/// A search on the rows of a GPU.
pub struct Search<'a> {
    board: &'a Board,
    choice: Choice,
    constants: Constants,
    /// Number of the kernel.
    kernel: usize,
    /// Constants that move.
    free: Vec<usize>,
}

impl<'a> Search<'a> {
    /// A search for the kernel that the GPU takes by itself.
    ///
    /// # Errors
    /// There is no such kernel.
    pub fn new(board: &'a Board, choice: Choice) -> Result<Self> {
        let constants = Constants::embedded()?;
        let (kernel, _) = constants.of(&board.gpu, None)?;
        let kernel = constants.kernels.iter().position(|k| k == kernel).context("the kernel is one of the table")?;
        // The share of exponentials is told from that of products by the head sizes; the cost of a cut by cuts.
        let several = board.rows.iter().any(|row| row.shape.head_dim != board.rows[0].shape.head_dim);
        let cuts = constants.kernels[kernel].tile.split;
        let moves = |place: &usize| match NAMES[*place] {
            "exp" => several,
            "split (us)" => cuts,
            "tail" => choice == Choice::ClosedForm,
            "lone" => !matches!(choice, Choice::List { draw: Some(_), .. }),
            _ => true,
        };
        let free = (0..NAMES.len()).filter(moves).collect();
        Ok(Self { board, choice, constants, kernel, free })
    }

    /// The constants of the program.
    pub fn start(&self) -> Point {
        let c = &self.constants.kernels[self.kernel].prefill;
        let us = |time: Seconds| time.get() * 1e6;
        [us(c.t0), c.mma, c.exp, us(c.block), us(c.row), c.dram, c.droop, us(c.split), c.tail, c.lone]
    }

    fn model(&self, at: &Point) -> Result<Model> {
        let mut constants = self.constants.clone();
        let [t0, mma, exp, block, row, dram, droop, split, tail, lone] = *at;
        let c = &mut constants.kernels[self.kernel].prefill;
        let us = |time: f64| Seconds(time * 1e-6);
        (c.t0, c.block, c.row, c.split) = (us(t0), us(block), us(row), us(split));
        (c.mma, c.exp, c.dram, c.droop, c.tail, c.lone) = (mma, exp, dram, droop, tail, lone);
        Ok(Model::with(&constants, &self.board.gpu, &Request::default())?)
    }

    /// The makespan of each row, or nothing for the closed form.
    fn makespans(&self, at: &Point, rows: &[Measured]) -> Result<Vec<Seconds>> {
        let Choice::List { slots, draw, order } = self.choice else { return Ok(Vec::new()) };
        let list = List { slots, draw: draw.unwrap_or(1.0 / at[LONE].max(1.0)), order };
        let model = self.model(at)?;
        rows.par_iter().with_max_len(2).map(|row| Ok(model.makespan(&row.shape, &list)?)).collect()
    }

    /// Predicted and measured times, with the makespans where there are some.
    fn times(&self, at: &Point, rows: &[Measured], makespans: &[Seconds]) -> Result<Vec<(f64, f64)>> {
        let model = self.model(at)?;
        let time = |(place, row): (usize, &Measured)| {
            let time = match makespans.get(place) {
                None => model.parts(&row.shape)?.time,
                Some(makespan) => model.time_with(&row.shape, *makespan).get(),
            };
            Ok((time, row.time))
        };
        rows.iter().enumerate().map(time).collect()
    }

    /// The errors at a point.
    ///
    /// # Errors
    /// A shape has too many blocks.
    pub fn score(&self, at: &Point) -> Result<Score> {
        let rows = &self.board.rows;
        Ok(Score::of(&self.times(at, rows, &self.makespans(at, rows)?)?))
    }

    /// A point with its loss and the makespans, which a step that moves no block takes over.
    fn tried(&self, at: Point, rows: &[Measured], makespans: Option<&[Seconds]>) -> Result<Tried> {
        let makespans = makespans.map_or_else(|| self.makespans(&at, rows), |known| Ok(known.to_vec()))?;
        let times = self.times(&at, rows, &makespans)?;
        let error = |(time, measured): &(f64, f64)| libm::log(time / measured).abs();
        let loss = times.iter().map(error).sum::<f64>() / times.len() as f64;
        Ok(Tried { at, loss, makespans })
    }

    /// The best point near the constants of the program: first for every fourth row, then for all.
    ///
    /// # Errors
    /// As [`Self::score`].
    pub fn run(&self) -> Result<Point> {
        let quarter = thinned(&self.board.rows, self.board.rows.len().div_ceil(4));
        let near = self.search(self.start(), &quarter, STEPS[0])?;
        self.search(near, &self.board.rows, STEPS[1])
    }

    /// Moves along one constant after the other with steps that grow where they succeed and shrink where not, and once
    /// more the way of each round.
    fn search(&self, start: Point, rows: &[Measured], step: f64) -> Result<Point> {
        let mut best = self.tried(start, rows, None)?;
        let mut steps = [step; NAMES.len()];
        for _ in 0..ROUNDS {
            let (before, start) = (best.at, best.loss);
            for &place in &self.free {
                let mut moved = false;
                for sign in [1.0, -1.0] {
                    let known = Some(&best.makespans[..]).filter(|_| !MOVE_BLOCKS.contains(&place));
                    let next = self.tried(stepped(&best.at, place, sign * steps[place]), rows, known)?;
                    if next.loss < best.loss {
                        (best, moved) = (next, true);
                        break;
                    }
                }
                steps[place] = (steps[place] * if moved { 1.5 } else { 0.5 }).clamp(LEAST_STEP, STEPS[0]);
            }
            if best.at != before {
                let further = self.tried(further(&before, &best.at), rows, None)?;
                if further.loss < best.loss {
                    best = further;
                }
            }
            let within = |most: f64| self.free.iter().all(|place| steps[*place] <= most);
            if within(LEAST_STEP) || (within(STEPS[1] / 2.0) && start - best.loss < LEAST_GAIN) {
                break;
            }
        }
        Ok(best.at)
    }
}

/// A point that was tried.
struct Tried {
    at: Point,
    loss: f64,
    makespans: Vec<Seconds>,
}

fn stepped(at: &Point, place: usize, by: f64) -> Point {
    let mut next = *at;
    next[place] = ((at[place] + OFFSET[place]) * libm::exp(by) - OFFSET[place]).clamp(0.0, MOST[place]);
    next
}

/// As far again, on a scale of logarithms.
fn further(before: &Point, at: &Point) -> Point {
    std::array::from_fn(|place| {
        let (now, then) = (at[place] + OFFSET[place], before[place] + OFFSET[place]);
        (now * now / then - OFFSET[place]).clamp(0.0, MOST[place])
    })
}
