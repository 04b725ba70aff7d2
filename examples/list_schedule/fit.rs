//! The search for the constants of prefill with the least mean |log(predicted / measured)|.

use anyhow::{Context, Result};
use rayon::prelude::*;
use wavecast::{
    op::attention::{Constants, Model, Order, Request},
    units::Seconds,
    validate::Score,
};

use super::rows::{Board, Measured};

/// Constants that a search may move; the closed form alone has the last two.
pub const NAMES: [&str; 10] =
    ["t0 (us)", "mma", "exp", "block (us)", "row (us)", "dram", "droop", "split (us)", "tail", "lone"];
/// Constants of list schedules.
const LISTED: usize = 8;
/// Most that each may be.
const MOST: [f64; 10] = [100.0, 1.5, 2.0, 50.0, 50.0, 3.0, 1.0, 50.0, 3.0, 3.0];
/// Added to each before a step in its logarithm is taken, so that it may come to 0.
const OFFSET: [f64; 10] = [0.0, 0.0, 0.05, 0.1, 0.1, 0.0, 0.05, 0.5, 0.1, 0.1];
/// The largest and smallest step.
const STEPS: [f64; 2] = [0.2, 0.004];
/// Most rounds.
const ROUNDS: usize = 40;

/// The values of `NAMES`.
pub type Point = [f64; 10];

/// How the work of the SMs is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// As in the closed form.
    ClosedForm,
    /// By a list schedule of the blocks.
    List {
        /// Places per SM.
        slots: u32,
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
        let last = if choice == Choice::ClosedForm { NAMES.len() } else { LISTED };
        // The share of exponentials is told from that of products by the head sizes; the cost of a cut by cuts.
        let several = board.rows.iter().any(|row| row.shape.head_dim != board.rows[0].shape.head_dim);
        let cuts = constants.kernels[kernel].tile.split;
        let moves = |place: &usize| match NAMES[*place] {
            "exp" => several,
            "split (us)" => cuts,
            _ => true,
        };
        let free = (0..last).filter(moves).collect();
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

    fn times(&self, at: &Point) -> Result<Vec<(f64, f64)>> {
        let model = self.model(at)?;
        let time = |row: &Measured| {
            let time = match self.choice {
                Choice::ClosedForm => model.parts(&row.shape)?.time,
                Choice::List { slots, order } => model.list_scheduled(&row.shape, slots, order)?.get(),
            };
            Ok((time, row.time))
        };
        self.board.rows.par_iter().with_max_len(4).map(time).collect()
    }

    /// The errors at a point.
    ///
    /// # Errors
    /// A shape has too many blocks.
    pub fn score(&self, at: &Point) -> Result<Score> {
        Ok(Score::of(&self.times(at)?))
    }

    fn loss(&self, at: &Point) -> Result<f64> {
        let times = self.times(at)?;
        Ok(times.iter().map(|(time, measured)| libm::log(time / measured).abs()).sum::<f64>() / times.len() as f64)
    }

    /// The best point near the constants of the program: along one constant after the other with steps that grow where
    /// they succeed and shrink where not, and once more the way of each round.
    ///
    /// # Errors
    /// As [`Self::score`].
    pub fn run(&self) -> Result<Point> {
        let mut at = self.start();
        let mut found = self.loss(&at)?;
        let mut steps = [STEPS[0]; NAMES.len()];
        for _ in 0..ROUNDS {
            let (before, start) = (at, found);
            for &place in &self.free {
                let mut moved = false;
                for sign in [1.0, -1.0] {
                    let next = stepped(&at, place, sign * steps[place]);
                    let loss = self.loss(&next)?;
                    if loss < found {
                        (at, found, moved) = (next, loss, true);
                        break;
                    }
                }
                steps[place] = (steps[place] * if moved { 1.5 } else { 0.5 }).clamp(STEPS[1] / 2.0, 2.0 * STEPS[0]);
            }
            let further: Point = std::array::from_fn(|place| {
                let (now, then) = (at[place] + OFFSET[place], before[place] + OFFSET[place]);
                (now * now / then - OFFSET[place]).clamp(0.0, MOST[place])
            });
            if at != before {
                let loss = self.loss(&further)?;
                if loss < found {
                    (at, found) = (further, loss);
                }
            }
            let small = self.free.iter().all(|place| steps[*place] < STEPS[1]);
            if small || (at != before && start - found < 1e-6) {
                break;
            }
        }
        Ok(at)
    }
}

fn stepped(at: &Point, place: usize, by: f64) -> Point {
    let mut next = *at;
    next[place] = ((at[place] + OFFSET[place]) * libm::exp(by) - OFFSET[place]).clamp(0.0, MOST[place]);
    next
}
