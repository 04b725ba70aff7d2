//! The blocks of a prefill one by one, for the block scheduler's simulation.

use super::{Model, Shape};
use crate::{
    schedule::simulate::{Demand, Run, Runs},
    units::Seconds,
};

impl Model {
    /// The blocks of a prefill in the order of their queries, head after head; what each takes of an SM is `math`, with the
    /// start of the block and the cost of its rows.
    pub fn runs(&self, shape: &Shape) -> Runs {
        let of = &self.kernel.prefill;
        let shape = &self.visited(shape);
        let grid = self.grid(shape);
        let head = self.head(shape.head_dim);
        let heads = if self.kernel.tile.packed { shape.heads_kv } else { shape.heads_q };
        let tile = 4.0 * head * grid.rows as f64 * grid.columns as f64;
        let row = self.row_cost(grid.rows as f64, head);
        let runs = (0..grid.blocks()).map(|block| {
            let (rows, tiles) = grid.work_of(block);
            let operations = tile * rows * tiles;
            let products = operations / (self.rate * of.mma);
            let exponentials = operations * of.exp / (4.0 * head * self.exponentials);
            let math = of.block.get() + rows * row + self.arithmetic(products, exponentials);
            Run { count: 1, demand: Demand { math: Seconds(math), ..Demand::default() } }
        });
        Runs::new(runs, shape.batch * heads)
    }
}
