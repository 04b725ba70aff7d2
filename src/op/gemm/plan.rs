//! The search for the kernel: every tile and split of k through the time model, the fastest wins.

use super::{
    Force, ForceError, Precision, Products, Reuse, SPLITS, Shape, Tile,
    bound::Bound,
    force::forced,
    tiles::{MOST_TILES, STEP_BYTES, padding, tile, tiles},
};
use crate::{
    gpu::{Gpu, Pipe},
    kernel::{Operand, Tiled},
    time::tiled::{Machine, Parts, Work},
    units::Bytes,
};

/// What is needed of a GPU and a precision to plan products; made once, then asked for many shapes.
#[derive(Clone, Debug)]
pub struct Planner {
    pub(super) machine: Machine,
    pub(super) tiles: Vec<Tile>,
    pub(super) batched: Vec<Tile>,
    pub(super) single_splits: bool,
    pub(super) batched_splits: bool,
    precision: Precision,
    pub(super) gemv: bool,
    force: Force,
}

/// One way to run a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The tile; absent for the kernel without tiles that one row has.
    pub tile: Option<Tile>,
    /// Shares into which k is cut.
    pub splits: u32,
    /// Tiles of all products, times splits.
    pub blocks: f64,
    /// What a block does.
    pub tiled: Tiled,
    /// Time of each resource, in seconds.
    pub parts: Parts,
    /// Time in seconds, without droop.
    pub time: f64,
}

/// The chosen kernel of a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The shape; of unequal products one that holds each.
    pub shape: Shape,
    /// Rows of all products.
    pub rows: f64,
    /// Traffic of A, B and C together, each once.
    pub bytes: Bytes,
    /// What of it L2 still holds from the use before.
    pub resident: Bytes,
    /// The fastest candidate.
    pub chosen: Candidate,
    /// Time with droop, in seconds.
    pub time: f64,
}

impl Planner {
    /// A planner; absent where the GPU lacks the unit of the precision.
    pub fn new(gpu: &Gpu, precision: Precision) -> Option<Self> {
        let machine = Machine::new(gpu, precision.pipe)?;
        let tiled = gpu.calibration.tiled_of(precision.pipe);
        let every = || tiles(gpu, tiled.pipeline);
        let of = |sides: &[[u32; 2]]| match (precision.pipe, sides) {
            (Pipe::Tensor { .. }, _) | (_, []) => every(),
            (_, sides) => sides.iter().map(|[height, width]| tile(gpu, tiled.pipeline, *height, *width)).collect(),
        };
        let (tiles, batched) = (of(&gpu.calibration.sgemm_tiles), of(&gpu.calibration.batched_sgemm_tiles));
        let batched_splits = matches!(precision.pipe, Pipe::Tensor { .. });
        let (gemv, force) = (tiled.gemv, Force::default());
        Some(Self { machine, tiles, batched, single_splits: true, batched_splits, precision, gemv, force })
    }

    /// The same planner with tile or split given instead of searched; any of them rules out the kernel without tiles.
    ///
    /// # Errors
    /// The GPU's kernels have no such tile, or nobody cuts k into so many shares.
    pub fn forced(self, force: Force) -> Result<Self, ForceError> {
        let (tiles, batched) = (forced(&self.tiles, force)?, forced(&self.batched, force)?);
        Ok(Self { tiles, batched, force, gemv: self.gemv && force == Force::default(), ..self })
    }

    /// Elements of k in one step of the k-loop.
    pub fn step(&self) -> f64 {
        STEP_BYTES / self.precision.input_bytes
    }

    /// Types of the products.
    pub fn precision(&self) -> &Precision {
        &self.precision
    }

    /// The machine that the candidates run on.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Blocks that run at once.
    pub fn slots(&self, candidate: &Candidate) -> f64 {
        self.machine.sms * candidate.tile.map_or(1.0, |t| f64::from(t.per_sm))
    }

    /// The fastest kernel for a shape.
    pub fn plan(&self, products: impl Products, reuse: Reuse) -> Plan {
        let operands = self.operands(products, reuse);
        let mut best: [Option<Candidate>; 1] = [None];
        self.search(products, operands, &mut best);
        // A tile of 64 x 64 or less is never dropped, so that one candidate is always there.
        let chosen = best[0].unwrap_or_else(|| self.candidate(products, operands, &self.tiles[0], 1));
        let (bytes, resident) = self.machine.resident(&operands);
        Plan {
            shape: products.outline(),
            rows: products.rows(),
            bytes: Bytes(bytes),
            resident: Bytes(resident),
            chosen,
            time: self.drooped(&chosen.parts, chosen.time),
        }
    }

    /// The time of a kernel that was chosen before, perhaps under other constants of the same GPU: with droop, in
    /// seconds. It is never shorter than that of the plan.
    pub fn time_of(&self, kernel: &Candidate) -> f64 {
        let per_sm = kernel.tile.map_or(1.0, |tile| f64::from(tile.per_sm));
        let parts = Work::new(&kernel.tiled, kernel.blocks, per_sm, &self.machine).parts(&self.machine, false);
        self.drooped(&parts, parts.time(self.machine.overlap))
    }

    /// The fastest candidates, best first.
    pub fn candidates<const N: usize>(&self, products: impl Products, reuse: Reuse) -> [Option<Candidate>; N] {
        let mut best = [None; N];
        self.search(products, self.operands(products, reuse), &mut best);
        best
    }

    fn drooped(&self, parts: &Parts, time: f64) -> f64 {
        let share = (parts.compute() / time).min(1.0);
        time * (1.0 + self.machine.droop * share * time / (time + crate::time::DROOP_TIME.get()))
    }

    /// The weights, and the rest. Of weights that rotate the activations and the output stay between two products.
    fn operands(&self, products: impl Products, reuse: Reuse) -> [Operand; 2] {
        let shape = products.outline();
        let [weights, activations] = products.stored().map(|elements| elements * self.precision.input_bytes);
        let weights = weights * self.precision.weight_share;
        let rest = activations + products.rows() * shape.n as f64 * self.precision.output_bytes;
        let all = weights + rest;
        let (of_weights, of_rest) = match reuse {
            Reuse::Cold => (f64::INFINITY, f64::INFINITY),
            Reuse::ColdWeights => (f64::INFINITY, all),
            Reuse::Warm => (all, all),
            Reuse::Rotated(copies) => (f64::from(copies) * weights + rest, all),
        };
        let operand = |bytes, distance| Operand { bytes, distance, cached: 1.0 };
        [operand(weights, of_weights), operand(rest, of_rest)]
    }

    /// The tiles of the kernels that a library has for a shape, and whether these may split k.
    fn kernels(&self, shape: Shape) -> (&[Tile], bool) {
        if shape.batch > 1 { (&self.batched, self.batched_splits) } else { (&self.tiles, self.single_splits) }
    }

    fn search(&self, products: impl Products, operands: [Operand; 2], best: &mut [Option<Candidate>]) {
        let shape = products.outline();
        if shape.m == 1 && shape.batch == 1 && self.gemv {
            keep(best, self.row(shape, operands));
            return;
        }
        let streamed = self.machine.streamed(&operands);
        let (all, split) = self.kernels(shape);
        if let Some(splits) = self.force.splits {
            // No share of k is empty.
            let splits = splits.min((shape.k as f64 / self.step()).ceil() as u32);
            for tile in all {
                keep(best, self.candidate(products, operands, tile, splits));
            }
            return;
        }
        // A lower bound of every candidate first: few of them need their exact time, whose powers are dear.
        let mut bounds = [[f64::INFINITY; SPLITS.len()]; MOST_TILES];
        let mut least = (f64::INFINITY, 0, 0);
        let bound = Bound::new(&self.machine, &self.precision, products, streamed);
        // A library with few kernels has none but large tiles for small products.
        let droppable = self.force.tile.is_none() && all.iter().any(|tile| tile.height <= 64 && tile.width <= 64);
        for (index, (tile, bounds)) in all.iter().zip(&mut bounds).enumerate() {
            let larger = |side: u32, extent: u64| droppable && side > 64 && u64::from(side) >= extent.saturating_mul(2);
            if larger(tile.height, shape.m) || larger(tile.width, shape.n) {
                continue;
            }
            let tiles = products.tiles(tile);
            let bound = bound.tile(tile, tiles, products.rows_of_tile(f64::from(tile.height)));
            for (place, splits) in SPLITS.into_iter().enumerate() {
                if splits > 1 && !(split && self.may_split(shape, tile, tiles, splits)) {
                    // More splits only have shorter loops and more blocks.
                    break;
                }
                let time = bound.split(place);
                bounds[place] = time;
                if time < least.0 {
                    least = (time, index, place);
                }
            }
        }
        let mut limit = f64::INFINITY;
        if best.len() == 1 && least.0.is_finite() {
            limit = self.candidate(products, operands, &all[least.1], SPLITS[least.2]).time;
        }
        for (tile, bounds) in all.iter().zip(&bounds) {
            for (splits, bound) in SPLITS.into_iter().zip(bounds) {
                if !bound.is_finite() || *bound > limit {
                    continue;
                }
                let (work, parts) = self.parts(products, streamed, tile, splits);
                if parts.exceed(limit, self.machine.overlap) {
                    continue;
                }
                keep(best, self.finished(Some(*tile), splits, work, parts, operands));
                limit = best.last().copied().flatten().map_or(limit, |worst| worst.time.min(limit));
            }
        }
    }

    fn may_split(&self, shape: Shape, tile: &Tile, tiles: f64, splits: u32) -> bool {
        2.0 * f64::from(splits) * self.step() <= shape.k as f64
            && tiles * f64::from(splits) <= 2.0 * self.machine.sms * f64::from(tile.per_sm)
    }

    fn candidate(&self, products: impl Products, operands: [Operand; 2], tile: &Tile, splits: u32) -> Candidate {
        let (work, parts) = self.parts(products, self.machine.streamed(&operands), tile, splits);
        self.finished(Some(*tile), splits, work, parts, operands)
    }

    fn finished(&self, tile: Option<Tile>, splits: u32, work: Work, parts: Parts, operands: [Operand; 2]) -> Candidate {
        let Work { blocks, steps, math, shape, stride, out, feed, partials, .. } = work;
        let tiled = Tiled { steps, math, shape, stride, out, feed, partials, operands };
        Candidate { tile, splits, blocks, tiled, parts, time: parts.time(self.machine.overlap) }
    }

    fn parts(&self, products: impl Products, streamed: f64, tile: &Tile, splits: u32) -> (Work, Parts) {
        let shape = products.outline();
        let (height, width) = (f64::from(tile.height), f64::from(tile.width));
        let (input, output) = (self.precision.input_bytes, self.precision.output_bytes);
        let step = STEP_BYTES / input;
        let splits = f64::from(splits);
        let steps = (shape.k as f64 / splits / step).ceil();
        let padded = padding(&self.precision);
        let depth = (shape.k as f64 / splits / padded).ceil() * padded;
        let (rows, columns) = (products.rows_of_tile(height), width.min(shape.n as f64));
        let elements = products.rows() * shape.n as f64;
        let work = Work {
            blocks: products.tiles(tile) * splits,
            per_sm: f64::from(tile.per_sm),
            steps,
            math: 2.0 * height * width * depth,
            shape: height * width / (height + width),
            // Rows of A and, as a layer keeps its weights, columns of B are k apart. Batches, whose matrices are small, show
            // nothing of it.
            stride: if shape.batch > 1 { 0.0 } else { shape.k as f64 * input },
            out: rows * columns * output,
            feed: (rows + columns * self.precision.weight_share) * depth * input,
            // Written and read in FP32.
            partials: if splits > 1.0 { 8.0 * splits * elements } else { 0.0 },
            streamed,
        };
        (work, work.parts(&self.machine, false))
    }

    /// One row by a kernel without tiles: a stream of the weights, half of which it takes past L2. Arithmetic, the row
    /// and the output are nothing beside it.
    fn row(&self, shape: Shape, [weights, rest]: [Operand; 2]) -> Candidate {
        let operands = [Operand { cached: 0.5, ..weights }, Operand { bytes: 0.0, ..rest }];
        let streamed = self.machine.streamed(&operands);
        let work = Work { blocks: shape.n as f64, per_sm: 1.0, steps: 1.0, shape: 1.0, streamed, ..Work::default() };
        self.finished(None, 1, work, work.parts(&self.machine, false), operands)
    }
}

/// Puts a candidate in its place among the best, by time; of equal ones the first stays ahead.
fn keep(best: &mut [Option<Candidate>], mut found: Candidate) {
    for place in best {
        match place {
            Some(other) if other.time <= found.time => {}
            Some(other) => std::mem::swap(other, &mut found),
            None => {
                *place = Some(found);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{Catalog, DataType};

    #[test]
    fn no_candidate_is_faster_than_the_plan() {
        let catalog = Catalog::embedded().unwrap();
        // Reproducible numbers with many small and some large ones.
        let mut state = 1_u64;
        let mut side = |most: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            1 + (1_u64 << ((state >> 33) % u64::from(most))) + (state >> 40) % 7 * 16
        };
        for (name, data) in
            [("a100-sxm4-80gb", DataType::Bf16), ("h100-sxm5-80gb", DataType::Fp8), ("b200", DataType::Fp32)]
        {
            let gpu = catalog.find(name).unwrap().gpu;
            let planner = Planner::new(&gpu, Precision::new(&gpu, data, false).unwrap()).unwrap();
            assert!(planner.tiles.len() <= MOST_TILES);
            for _ in 0..60 {
                let shape = Shape::new(side(4), side(14) + 1, side(14), side(14)).unwrap();
                for reuse in [Reuse::ColdWeights, Reuse::Warm] {
                    let plan = planner.plan(shape, reuse);
                    let operands = planner.operands(shape, reuse);
                    let mut fastest = f64::INFINITY;
                    let (all, split) = planner.kernels(shape);
                    let droppable = all.iter().any(|tile| tile.height <= 64 && tile.width <= 64);
                    for tile in all {
                        let larger = |side: u32, extent: u64| droppable && side > 64 && u64::from(side) >= 2 * extent;
                        if larger(tile.height, shape.m) || larger(tile.width, shape.n) {
                            continue;
                        }
                        for splits in SPLITS {
                            let may = split && planner.may_split(shape, tile, shape.tiles(tile), splits);
                            if splits == 1 || may {
                                fastest = fastest.min(planner.candidate(shape, operands, tile, splits).time);
                            }
                        }
                    }
                    assert_eq!(plan.chosen.time, fastest, "{name} {shape:?}");
                }
            }
        }
    }
}
