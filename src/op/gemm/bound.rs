//! A quick lower bound of a candidate's time, so that few candidates need their exact one.

use super::{
    Precision, Products, SPLITS, Tile,
    tiles::{STEP_BYTES, padding},
};
use crate::time::tiled::{Machine, REFERENCE_TILE};

/// What is needed of a shape for a quick lower bound of its candidates' times.
pub struct Bound<'a> {
    machine: &'a Machine,
    precision: &'a Precision,
    n: f64,
    steps: [f64; SPLITS.len()],
    depth: [f64; SPLITS.len()],
    partials: f64,
    stream: f64,
    ports: f64,
    dram: f64,
    fourth_of_dram: f64,
    math: f64,
    store: f64,
    feed: f64,
}

impl<'a> Bound<'a> {
    /// `streamed` is the traffic in equivalents of DRAM.
    pub fn new(machine: &'a Machine, precision: &'a Precision, products: impl Products, streamed: f64) -> Self {
        let shape = products.outline();
        let step = STEP_BYTES / precision.input_bytes;
        let padded = padding(precision);
        let elements = products.rows() * shape.n as f64;
        Self {
            machine,
            precision,
            n: shape.n as f64,
            steps: SPLITS.map(|splits| (shape.k as f64 / f64::from(splits) / step).ceil()),
            partials: 8.0 * elements / (machine.sms * machine.partials),
            stream: streamed / machine.stream,
            ports: streamed / machine.stream / machine.sms,
            dram: streamed / machine.dram,
            fourth_of_dram: (streamed / machine.dram).powi(4),
            depth: SPLITS.map(|splits| (shape.k as f64 / f64::from(splits) / padded).ceil() * padded),
            math: 2.0 / machine.math / (1.0 + machine.small_tile / REFERENCE_TILE),
            store: precision.output_bytes / machine.store,
            feed: precision.input_bytes / machine.feed,
        }
    }

    /// The bound of one tile, of which the products have so many that hold so many rows.
    #[inline]
    pub fn tile(&self, tile: &Tile, tiles: f64, rows: f64) -> TileBound<'_> {
        let (height, width) = (f64::from(tile.height), f64::from(tile.width));
        let columns = width.min(self.n);
        TileBound {
            of: self,
            tiles,
            per_sm: f64::from(tile.per_sm),
            math: self.math * (height * width + self.machine.small_tile * (height + width)),
            store: rows * columns * self.store,
            feed: (rows + columns * self.precision.weight_share) * self.feed,
        }
    }
}

/// A tile's terms by step of the k-loop and tile.
pub struct TileBound<'a> {
    of: &'a Bound<'a>,
    tiles: f64,
    per_sm: f64,
    math: f64,
    store: f64,
    feed: f64,
}

impl TileBound<'_> {
    /// No more than the exact time: a sum with an exponent of 4 or more is no more than one with a smaller exponent.
    #[inline]
    pub fn split(&self, place: usize) -> f64 {
        let machine = self.of.machine;
        let splits = f64::from(SPLITS[place]);
        let (steps, depth) = (self.of.steps[place], self.of.depth[place]);
        let blocks = self.tiles * splits;
        let busiest = machine.quantised(blocks / machine.sms);
        let waves = if self.per_sm > 1.0 { machine.quantised(blocks / (machine.sms * self.per_sm)) } else { busiest };
        let latency = waves * (steps - 1.0).max(0.0) * machine.step;
        let compute = (busiest * self.math * depth).max(latency) + busiest * self.store;
        let feed = busiest * self.feed * depth;
        let ports = if blocks < machine.sms { self.of.stream / blocks } else { self.of.ports };
        let after = if place > 0 { machine.split + self.of.partials * splits } else { 0.0 };
        let sum = if machine.overlap <= 4.0 {
            let fourth = |t: f64| (t * t) * (t * t);
            (fourth(compute) + fourth(feed) + fourth(ports) + self.of.fourth_of_dram).sqrt().sqrt()
        } else {
            compute.max(feed).max(ports).max(self.of.dram)
        };
        // Rounding may differ from that of the exact time.
        (machine.fixed + after + sum) * (1.0 - 1e-9)
    }
}
