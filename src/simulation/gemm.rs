//! Matrix products as blocks: one product, ragged batches, split-K, stream-K, the products of experts.

use super::{
    BuildError,
    build::{Piece, need},
    spec::{ExpertsWork, GemmWork, Schedule},
};
use crate::{
    gpu::{DataType, Gpu},
    op::{
        gemm::{Candidate, Force, Groups, Planner, Precision, Reuse, Shape, Tile},
        moe::{self, Loads, Routing},
    },
    schedule::simulate::{Demand, Run, Runs, StreamK, stream_k},
    time::tiled::{Block, Work},
    units::Seconds,
};

/// Products that share a launch, each `rows[i] x n x k`, all of them `batch` times.
struct Products<'a> {
    rows: &'a [u64],
    batch: u64,
    n: u64,
    k: u64,
}

/// The launches of a product: its kernel, and with split-K the one that adds up.
pub fn product(gpu: &Gpu, name: &str, work: &GemmWork, schedule: Schedule) -> Result<Vec<Piece>, BuildError> {
    let splits = if schedule == Schedule::StreamK { Some(1) } else { work.split };
    let products = Products { rows: &work.m.0, batch: work.batch, n: work.n, k: work.k };
    products.pieces(gpu, name, &planner(gpu, name, work.dtype, work.tile, splits)?, schedule)
}

/// The two products of a mixture of experts; experts without tokens have no blocks.
pub fn experts(gpu: &Gpu, name: &str, work: &ExpertsWork, schedule: Schedule) -> Result<Vec<Piece>, BuildError> {
    let refused = |error| BuildError::Experts { name: name.into(), error: Box::new(error) };
    let ExpertsWork { tokens, experts, top_k, hidden, inter, .. } = *work;
    let shape = moe::Shape { tokens, experts, top_k, hidden, inter, expert_parallel: 1 }.checked().map_err(refused)?;
    let mut rows = Loads::new(&shape, work.routing.as_ref().unwrap_or(&Routing::Balanced)).map_err(refused)?.rows;
    rows.retain(|rows| *rows > 0);
    let splits = (schedule == Schedule::StreamK).then_some(1);
    let planner = planner(gpu, name, work.dtype, work.tile, splits)?;
    let mut pieces = Vec::new();
    for (part, n, k) in [("up", 2 * inter, hidden), ("down", hidden, inter)] {
        let products = Products { rows: &rows, batch: 1, n, k };
        let mut of_part = products.pieces(gpu, name, &planner, schedule)?;
        for piece in &mut of_part {
            piece.suffix = format!(" {part}{}", piece.suffix);
        }
        pieces.append(&mut of_part);
    }
    Ok(pieces)
}

fn planner(
    gpu: &Gpu,
    name: &str,
    data: DataType,
    tile: Option<(u32, u32)>,
    splits: Option<u64>,
) -> Result<Planner, BuildError> {
    let no_unit = |error| BuildError::Precision { name: name.into(), error };
    let precision = Precision::new(gpu, data, false).map_err(no_unit)?;
    let force = Force { tile, splits: splits.map(|s| u32::try_from(s).unwrap_or(u32::MAX)) };
    let planner = Planner::new(gpu, precision).ok_or_else(|| BuildError::Value {
        name: name.into(),
        key: "dtype",
        value: data.name().into(),
        rule: format!("{} multiplies nothing in this type", gpu.name),
    })?;
    planner.forced(force).map_err(|error| BuildError::Force { name: name.into(), error })
}

impl Products<'_> {
    fn pieces(&self, gpu: &Gpu, name: &str, planner: &Planner, schedule: Schedule) -> Result<Vec<Piece>, BuildError> {
        let shape = |error| BuildError::Shape { name: name.into(), error };
        let value =
            |key, value: String, rule: &str| BuildError::Value { name: name.into(), key, value, rule: rule.into() };
        let chosen = match *self.rows {
            [m] => planner.plan(Shape::new(self.batch, m, self.n, self.k).map_err(shape)?, Reuse::ColdWeights),
            _ if self.batch > 1 => {
                return Err(value("batch", self.batch.to_string(), "a list of rows is a batch already: leave it out"));
            }
            _ => planner.plan(Groups::new(self.rows, self.n, self.k).map_err(shape)?, Reuse::ColdWeights),
        }
        .chosen;
        let Some(tile) = chosen.tile else {
            let rule = "one row takes a kernel without tiles; give a tile, or more rows";
            return Err(value("m", "1".into(), rule));
        };
        let machine = planner.machine();
        let work = Work::new(&chosen.tiled, chosen.blocks, tile.per_sm.into(), machine);
        let block = work.block(machine);
        let mut runs = self.tiles(planner, &chosen, &tile, &block);
        if schedule == Schedule::StreamK {
            let slots = u64::from(gpu.units()) * u64::from(tile.per_sm);
            runs = dealt(&runs, &chosen, &block, slots, self.partial(planner, &tile)).ok_or_else(|| {
                value(
                    "schedule",
                    "stream-k".into(),
                    "the steps of products of different rows are not dealt out; take a single product",
                )
            })?;
        }
        let mut pieces = vec![Piece {
            suffix: String::new(),
            runs,
            blocks_per_sm: tile.per_sm,
            need: need(gpu, &tile.resources),
            gap: Seconds::ZERO,
            note: format!("tiles of {}x{}, {} per {}", tile.height, tile.width, tile.per_sm, gpu.limits.words().unit),
        }];
        if chosen.splits > 1 {
            // One share of the sums per tile: all partial sums are read, the finished tile is written.
            let tiles = chosen.blocks / f64::from(chosen.splits);
            let sums = self.partial(planner, &tile).times(f64::from(chosen.splits));
            pieces[0].note += &format!(", k in {} shares", chosen.splits);
            pieces.push(Piece {
                suffix: " sum".into(),
                runs: Runs::equal(tiles as u64, sums),
                gap: Seconds(machine.split),
                note: "adds up the shares of k".into(),
                ..pieces[0].clone()
            });
        }
        Ok(pieces)
    }

    /// A tile of partial sums, written or read once by an SM.
    fn partial(&self, planner: &Planner, tile: &Tile) -> Demand {
        let bytes = 4.0 * f64::from(tile.height) * f64::from(tile.width);
        Demand { port: Seconds(bytes / planner.machine().partials), ..Demand::default() }
    }

    /// The blocks in the order of products, rows of tiles and columns. Padding is computed; a tile's share of DRAM is that
    /// of its product.
    fn tiles(&self, planner: &Planner, chosen: &Candidate, tile: &Tile, block: &Block) -> Runs {
        let (machine, precision) = (planner.machine(), planner.precision());
        let bytes = |m: u64| {
            let (m, n, k) = (m as f64, self.n as f64, self.k as f64);
            (n * k * precision.weight_share + m * k) * precision.input_bytes + m * n * precision.output_bytes
        };
        let all: f64 = self.rows.iter().map(|m| bytes(*m)).sum::<f64>() * self.batch as f64;
        // What L2 still holds streams faster: bytes in equivalents of DRAM, shared in proportion to all.
        let streamed = machine.streamed(&chosen.tiled.operands) / all;
        let across = self.n.div_ceil(u64::from(tile.width)) * u64::from(chosen.splits);
        let runs = self.rows.iter().map(|m| {
            let count = m.div_ceil(u64::from(tile.height)) * across;
            let streamed = streamed * bytes(*m) / count as f64;
            let demand = Demand {
                math: Seconds(block.math + block.store),
                port: Seconds(block.feed.max(streamed / machine.stream)),
                l2: Seconds::ZERO,
                dram: Seconds(streamed / machine.dram),
                latency: Seconds(block.latency + block.store),
            };
            let partial = if chosen.splits > 1 { self.partial(planner, tile) } else { Demand::default() };
            Run { count, demand: demand.plus(1.0, partial) }
        });
        Runs::new(runs, self.batch)
    }
}

/// Equal tiles as stream-K deals them out; absent where they are not equal.
fn dealt(tiles: &Runs, chosen: &Candidate, block: &Block, workers: u64, partial: Demand) -> Option<Runs> {
    let [run] = tiles.classes() else { return None };
    let steps = (chosen.tiled.steps as u64).max(1);
    let store = Demand { math: Seconds(block.store), latency: Seconds(block.store), ..Demand::default() };
    let loops = run.demand.plus(-1.0, store);
    let cut = StreamK {
        tiles: tiles.blocks(),
        steps,
        workers,
        step: loops.times(1.0 / steps as f64),
        finish: store,
        partial,
    };
    Some(stream_k(&cut))
}
