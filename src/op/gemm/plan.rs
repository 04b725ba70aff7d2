//! The search for the kernel: every tile and split of k through the time model, the fastest wins.

use super::{
    Precision, Reuse, SPLITS, Shape, Tile,
    bound::Bound,
    tiles::{MOST_TILES, STEP_BYTES, padding, tile, tiles},
};
use crate::{
    gpu::{Gpu, Pipe},
    time::tiled::{Machine, Parts, Work, streamed},
    units::Bytes,
};

/// What is needed of a GPU and a precision to plan products; made once, then asked for many shapes.
#[derive(Clone, Debug)]
pub struct Planner {
    machine: Machine,
    tiles: Vec<Tile>,
    batched: Vec<Tile>,
    batched_splits: bool,
    precision: Precision,
    gemv: bool,
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
    /// Blocks and bytes, as the time model takes them.
    pub work: Work,
    /// Time of each resource, in seconds.
    pub parts: Parts,
    /// Time in seconds, without droop.
    pub time: f64,
}

/// The chosen kernel of a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The shape.
    pub shape: Shape,
    /// Traffic of A, B and C together, each once.
    pub bytes: Bytes,
    /// What of it L2 still holds from the use before.
    pub resident: Bytes,
    /// The fastest candidate.
    pub chosen: Candidate,
    /// Time with droop, in seconds.
    pub time: f64,
}

/// What a shape moves, and what of it stays in L2.
struct Moved {
    weights: f64,
    all: f64,
    resident: f64,
    weight_hit: f64,
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
        let (single, batched) = (of(&gpu.calibration.sgemm_tiles), of(&gpu.calibration.batched_sgemm_tiles));
        let batched_splits = matches!(precision.pipe, Pipe::Tensor { .. });
        Some(Self { machine, tiles: single, batched, batched_splits, precision, gemv: tiled.gemv })
    }

    /// The machine that the candidates run on.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The fastest kernel for a shape.
    pub fn plan(&self, shape: Shape, reuse: Reuse) -> Plan {
        let moved = self.moved(shape, reuse);
        let mut best: [Option<Candidate>; 1] = [None];
        self.search(shape, &moved, &mut best);
        // A tile of 64 x 64 or less is never dropped, so that one candidate is always there.
        let chosen = best[0].unwrap_or_else(|| self.candidate(shape, &moved, self.tiles[0], 1));
        Plan { shape, bytes: Bytes(moved.all), resident: Bytes(moved.resident), chosen, time: self.drooped(&chosen) }
    }

    /// The fastest candidates, best first.
    pub fn candidates<const N: usize>(&self, shape: Shape, reuse: Reuse) -> [Option<Candidate>; N] {
        let mut best = [None; N];
        self.search(shape, &self.moved(shape, reuse), &mut best);
        best
    }

    fn drooped(&self, candidate: &Candidate) -> f64 {
        let (time, compute) = (candidate.time, candidate.parts.compute());
        let share = (compute / time).min(1.0);
        time * (1.0 + self.machine.droop * share * time / (time + crate::time::DROOP_TIME.get()))
    }

    fn moved(&self, shape: Shape, reuse: Reuse) -> Moved {
        let (batch, m, n, k) = (shape.batch as f64, shape.m as f64, shape.n as f64, shape.k as f64);
        let weights = batch * k * n * self.precision.input_bytes * self.precision.weight_share;
        let activations = batch * m * k * self.precision.input_bytes;
        let output = batch * m * n * self.precision.output_bytes;
        let all = weights + activations + output;
        let (of_weights, of_rest) = match reuse {
            Reuse::Cold => (f64::INFINITY, f64::INFINITY),
            Reuse::ColdWeights => (f64::INFINITY, all),
            Reuse::Warm => (all, all),
            Reuse::Rotated(copies) => (f64::from(copies) * weights + activations + output, all),
        };
        let weight_hit = self.machine.hit(of_weights);
        let resident = weights * weight_hit + (activations + output) * self.machine.hit(of_rest);
        Moved { weights, all, resident, weight_hit }
    }

    /// The tiles of the kernels that a library has for a shape, and whether these may split k.
    fn kernels(&self, shape: Shape) -> (&[Tile], bool) {
        if shape.batch > 1 { (&self.batched, self.batched_splits) } else { (&self.tiles, true) }
    }

    fn search(&self, shape: Shape, moved: &Moved, best: &mut [Option<Candidate>]) {
        if shape.m == 1 && shape.batch == 1 && self.gemv {
            keep(best, self.row(shape, moved));
            return;
        }
        // A lower bound of every candidate first: few of them need their exact time, whose powers are dear.
        let mut bounds = [[f64::INFINITY; SPLITS.len()]; MOST_TILES];
        let mut least = (f64::INFINITY, 0, 0);
        let bound = Bound::new(&self.machine, &self.precision, shape, self.streamed(moved));
        let (all, split) = self.kernels(shape);
        // A library with few kernels has none but large tiles for small products.
        let droppable = all.iter().any(|tile| tile.height <= 64 && tile.width <= 64);
        for (index, (tile, bounds)) in all.iter().zip(&mut bounds).enumerate() {
            let larger = |side: u32, extent: u64| droppable && side > 64 && u64::from(side) >= extent.saturating_mul(2);
            if larger(tile.height, shape.m) || larger(tile.width, shape.n) {
                continue;
            }
            let tiles = tiles_of(shape, tile);
            let bound = bound.tile(tile, tiles);
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
            limit = self.candidate(shape, moved, all[least.1], SPLITS[least.2]).time;
        }
        for (tile, bounds) in all.iter().zip(&bounds) {
            for (splits, bound) in SPLITS.into_iter().zip(bounds) {
                if !bound.is_finite() || *bound > limit {
                    continue;
                }
                let (work, parts) = self.parts(shape, moved, tile, splits);
                if parts.exceed(limit, self.machine.overlap) {
                    continue;
                }
                let time = parts.time(self.machine.overlap);
                keep(best, Candidate { tile: Some(*tile), splits, blocks: work.blocks, work, parts, time });
                limit = best.last().copied().flatten().map_or(limit, |worst| worst.time.min(limit));
            }
        }
    }

    fn streamed(&self, moved: &Moved) -> f64 {
        streamed(&self.machine, Bytes(moved.all), Bytes(moved.resident))
    }

    fn may_split(&self, shape: Shape, tile: &Tile, tiles: f64, splits: u32) -> bool {
        let step = STEP_BYTES / self.precision.input_bytes;
        2.0 * f64::from(splits) * step <= shape.k as f64
            && tiles * f64::from(splits) <= 2.0 * self.machine.sms * f64::from(tile.per_sm)
    }

    fn candidate(&self, shape: Shape, moved: &Moved, tile: Tile, splits: u32) -> Candidate {
        let (work, parts) = self.parts(shape, moved, &tile, splits);
        Candidate { tile: Some(tile), splits, blocks: work.blocks, work, parts, time: parts.time(self.machine.overlap) }
    }

    fn parts(&self, shape: Shape, moved: &Moved, tile: &Tile, splits: u32) -> (Work, Parts) {
        let (height, width) = (f64::from(tile.height), f64::from(tile.width));
        let (input, output) = (self.precision.input_bytes, self.precision.output_bytes);
        let step = STEP_BYTES / input;
        let splits = f64::from(splits);
        let steps = (shape.k as f64 / splits / step).ceil();
        let padded = padding(&self.precision);
        let depth = (shape.k as f64 / splits / padded).ceil() * padded;
        let (rows, columns) = (height.min(shape.m as f64), width.min(shape.n as f64));
        let elements = shape.batch as f64 * shape.m as f64 * shape.n as f64;
        let work = Work {
            blocks: tiles_of(shape, tile) * splits,
            per_sm: f64::from(tile.per_sm),
            steps,
            math: 2.0 * height * width * depth,
            shape: height * width / (height + width),
            out: rows * columns * output,
            feed: (rows + columns * self.precision.weight_share) * depth * input,
            // Written and read in FP32.
            partials: if splits > 1.0 { 8.0 * splits * elements } else { 0.0 },
            streamed: self.streamed(moved),
        };
        (work, work.parts(&self.machine, false))
    }

    /// One row by a kernel without tiles: a stream of the weights, half of which it takes past L2.
    fn row(&self, shape: Shape, moved: &Moved) -> Candidate {
        let machine = &self.machine;
        let resident = 0.5 * moved.weights * moved.weight_hit;
        let streamed = streamed(machine, Bytes(moved.weights), Bytes(resident));
        let blocks = shape.n as f64;
        let parts = Parts {
            dram: streamed / machine.dram,
            ports: streamed / (machine.sms.min(blocks) * machine.stream),
            fixed: machine.fixed,
            ..Parts::default()
        };
        let work = Work {
            blocks,
            per_sm: 1.0,
            steps: 1.0,
            math: 2.0 * shape.k as f64,
            shape: 1.0,
            out: self.precision.output_bytes,
            feed: 0.0,
            partials: 0.0,
            streamed,
        };
        Candidate { tile: None, splits: 1, blocks, work, parts, time: parts.time(machine.overlap) }
    }
}

fn tiles_of(shape: Shape, tile: &Tile) -> f64 {
    let of = |extent: u64, side: u32| extent.div_ceil(u64::from(side)) as f64;
    shape.batch as f64 * of(shape.m, tile.height) * of(shape.n, tile.width)
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
                    let moved = planner.moved(shape, reuse);
                    let mut fastest = f64::INFINITY;
                    let (tiles, split) = planner.kernels(shape);
                    for tile in tiles {
                        let larger = |side: u32, extent: u64| side > 64 && u64::from(side) >= 2 * extent;
                        if larger(tile.height, shape.m) || larger(tile.width, shape.n) {
                            continue;
                        }
                        for splits in SPLITS {
                            if splits == 1 || split && planner.may_split(shape, tile, tiles_of(shape, tile), splits) {
                                fastest = fastest.min(planner.candidate(shape, &moved, *tile, splits).time);
                            }
                        }
                    }
                    assert_eq!(plan.chosen.time, fastest, "{name} {shape:?}");
                }
            }
        }
    }
}
