//! The blocks of a prefill one by one, for the block scheduler's simulation.

use super::{Model, Shape};
use crate::{
    schedule::simulate::{Demand, Grid, Machine, Run, Runs, SimulateError, simulate},
    units::Seconds,
};

/// The order in which the blocks of a prefill come to the SMs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The rows of a head from its first queries to its last ones, head after head.
    HeadAfterHead,
    /// The first rows of all heads, then the next ones: where the mask is causal, the shortest blocks first.
    RowAfterRow,
    /// The longest blocks first.
    LongestFirst,
}

/// Where and in which order the blocks of a prefill run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct List {
    /// Blocks at a time on an SM.
    pub slots: u32,
    /// Largest share of an SM that one of them takes, above 0, at most 1: a block by itself takes 1 / `draw` of its time.
    pub draw: f64,
    /// Their order.
    pub order: Order,
}

impl Model {
    /// The blocks of a prefill in the order of their queries, head after head, each as often as its keys are cut; what
    /// each takes of an SM is `math`, with the start of the block and the cost of its rows.
    pub fn runs(&self, shape: &Shape) -> Runs {
        let of = &self.kernel.prefill;
        let splits = self.prefill(shape).splits;
        let shape = &self.visited(shape);
        let grid = self.grid(shape);
        let head = self.head(shape.head_dim);
        let heads = if self.kernel.tile.packed { shape.heads_kv } else { shape.heads_q };
        let tile = 4.0 * head * grid.rows as f64 * grid.columns as f64;
        let row = self.row_cost(grid.rows as f64, head);
        let runs = (0..grid.blocks()).map(|block| {
            let (rows, tiles) = grid.work_of(block);
            let operations = tile * rows * tiles / f64::from(splits);
            let products = operations / (self.rate * of.mma);
            let exponentials = operations * of.exp / (4.0 * head * self.exponentials);
            let math = of.block.get() + rows * row + self.arithmetic(products, exponentials);
            Run { count: splits.into(), demand: Demand { math: Seconds(math), ..Demand::default() } }
        });
        Runs::new(runs, shape.batch * heads)
    }

    /// Blocks of a prefill over one head, or the heads that share a tile, before keys are cut.
    pub fn blocks_per_copy(&self, shape: &Shape) -> u64 {
        self.grid(shape).blocks()
    }

    /// The time from the first block of a prefill to the end of the last where they are scheduled as a list: they come in
    /// an order to the slots that are free first, and those on an SM share it.
    ///
    /// # Errors
    /// More than 2^31 - 1 blocks, no slot or more than 64 of them, a draw that is no share.
    pub fn makespan(&self, shape: &Shape, list: &List) -> Result<Seconds, SimulateError> {
        let runs = self.runs(shape);
        let runs = match list.order {
            Order::HeadAfterHead => runs,
            Order::RowAfterRow => {
                let all = |run: &Run| Run { count: run.count.saturating_mul(runs.repeat()), ..*run };
                Runs::new(runs.classes().iter().map(all), 1)
            }
            Order::LongestFirst => runs.longest_first(),
        };
        let grid = Grid::new("attention", runs, list.slots);
        let machine = Machine { caps: [list.draw, 1.0, 1.0, 1.0], ..Machine::plain(self.sms as u32) };
        Ok(simulate(&machine, &[grid], &mut ())?.makespan)
    }

    /// The time of a prefill whose SMs work for so long: launches, append, power and memory as in the closed form, of which
    /// `tail` and `lone` have no part.
    pub fn time_with(&self, shape: &Shape, makespan: Seconds) -> Seconds {
        let (parts, compute) = (self.prefill(shape), makespan.get());
        let read = parts.dram + parts.l2 - parts.append;
        Seconds(parts.fixed + parts.append + (compute * self.droop(compute)).max(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gpu::Catalog, op::attention::Request};

    fn model(gpu: &str) -> Model {
        Model::new(&Catalog::embedded().unwrap().find(gpu).unwrap().gpu, &Request::default()).unwrap()
    }

    #[test]
    fn blocks_together_do_the_work_of_the_closed_form() {
        // 132 SMs and 32 blocks of 64 x 128: without a mask, blocks are equal and nothing is cut off.
        let model = model("a100-sxm4-80gb");
        let shape = Shape { causal: false, ..Shape::prefill(4, (27, 27), 2048, 128) };
        let (runs, parts) = (model.runs(&shape), model.prefill(&shape));
        assert_eq!((runs.blocks(), parts.blocks), (32 * 27 * 4, 3456.0));
        let each = runs.classes()[0].demand.math.get();
        // 3456 blocks are 32 whole rounds of 108: closed form and list agree but for the tail of the one.
        let list = List { slots: 1, draw: 1.0, order: Order::HeadAfterHead };
        let makespan = model.makespan(&shape, &list).unwrap();
        assert!((makespan.get() / (32.0 * each) - 1.0).abs() < 1e-9, "{makespan:?} {each}");
        // The closed form of the same call has the same time with the work of its SMs.
        let compute = parts.products + parts.exponentials + parts.waiting;
        let droop = model.droop(compute / model.droop(compute));
        assert!((model.time_with(&shape, Seconds(compute / droop)).get() / parts.time - 1.0).abs() < 1e-3);
    }

    #[test]
    fn a_causal_triangle_ends_sooner_with_its_longest_blocks_first() {
        // 8 heads of 32 blocks on 108 SMs: 2.4 blocks each.
        let (model, shape) = (model("a100-sxm4-80gb"), Shape::prefill(1, (8, 8), 2048, 128));
        let time = |slots, draw, order| model.makespan(&shape, &List { slots, draw, order });
        let orders = [Order::HeadAfterHead, Order::RowAfterRow, Order::LongestFirst];
        let [head, row, longest] = orders.map(|order| time(1, 1.0, order).unwrap());
        assert!(longest < head && longest < row, "{longest:?} {head:?} {row:?}");
        assert!(longest >= model.runs(&shape).total().math * (1.0 / 108.0));
        let refused = |slots, draw| time(slots, draw, Order::LongestFirst).unwrap_err();
        assert!(matches!(refused(65, 1.0), SimulateError::ManySlots { blocks_per_sm: 65, .. }));
        assert!(matches!(refused(1, 0.0), SimulateError::BadCap { .. }));
        // A single block at half of its SM's speed.
        let one = Shape::prefill(1, (1, 1), 64, 128);
        let alone = |draw| model.makespan(&one, &List { slots: 2, draw, order: Order::LongestFirst }).unwrap();
        assert_eq!(alone(0.5), alone(1.0) * 2.0);
    }

    #[test]
    fn keys_that_are_cut_make_as_many_blocks() {
        // 64 blocks of 128 rows, four heads packed, on 132 SMs.
        let (model, shape) = (model("h100-sxm5-80gb"), Shape::prefill(1, (4, 1), 2048, 128));
        let parts = model.prefill(&shape);
        assert!(parts.uncut == 64.0 && parts.splits > 1, "{parts:?}");
        assert_eq!(model.runs(&shape).blocks() as f64, parts.blocks);
    }
}
