//! A quick lower bound of a candidate's time, so that few candidates need their exact one.

use super::{Precision, SPLITS, Shape, Tile, tiles::STEP_BYTES};
use crate::time::tiled::{Machine, REFERENCE_TILE};

/// What is needed of a shape for a quick lower bound of its candidates' times.
pub struct Bound<'a> {
    machine: &'a Machine,
    precision: &'a Precision,
    m: f64,
    n: f64,
    steps: [f64; SPLITS.len()],
    partials: f64,
    stream: f64,
    ports: f64,
    dram: f64,
    math: f64,
    store: f64,
    feed: f64,
}

impl<'a> Bound<'a> {
    /// `streamed` is the traffic in equivalents of DRAM.
    pub fn new(machine: &'a Machine, precision: &'a Precision, shape: Shape, streamed: f64) -> Self {
        let step = STEP_BYTES / precision.input_bytes;
        let elements = shape.batch as f64 * shape.m as f64 * shape.n as f64;
        Self {
            machine,
            precision,
            m: shape.m as f64,
            n: shape.n as f64,
            steps: SPLITS.map(|splits| (shape.k as f64 / f64::from(splits) / step).ceil()),
            partials: 8.0 * elements / (machine.sms * machine.partials),
            stream: streamed / machine.stream,
            ports: streamed / machine.stream / machine.sms,
            dram: streamed / machine.dram,
            math: 2.0 * step / machine.math / (1.0 + machine.small_tile / REFERENCE_TILE),
            store: precision.output_bytes / machine.store,
            feed: STEP_BYTES / machine.feed,
        }
    }

    /// No more than the exact time: a sum with an exponent of 4 or more is no more than one with a smaller exponent.
    #[inline]
    pub fn of(&self, tile: &Tile, tiles: f64, place: usize) -> f64 {
        let machine = self.machine;
        let (height, width) = (f64::from(tile.height), f64::from(tile.width));
        let (rows, columns) = (height.min(self.m), width.min(self.n));
        let splits = f64::from(SPLITS[place]);
        let steps = self.steps[place];
        let blocks = tiles * splits;
        let busiest = machine.quantised(blocks / machine.sms);
        let waves =
            if tile.per_sm == 1 { busiest } else { machine.quantised(blocks / (machine.sms * f64::from(tile.per_sm))) };
        let math = busiest * self.math * (height * width + machine.small_tile * (height + width)) * steps;
        let latency = waves * (steps - 1.0).max(0.0) * machine.step;
        let compute = math.max(latency) + busiest * rows * columns * self.store;
        let feed = busiest * (rows + columns * self.precision.weight_share) * steps * self.feed;
        let ports = if blocks < machine.sms { self.stream / blocks } else { self.ports };
        let after = if place > 0 { machine.split + self.partials * splits } else { 0.0 };
        let sum = if machine.overlap <= 4.0 {
            let fourth = |t: f64| (t * t) * (t * t);
            (fourth(compute) + fourth(feed) + fourth(ports) + fourth(self.dram)).sqrt().sqrt()
        } else {
            compute.max(feed).max(ports).max(self.dram)
        };
        // Rounding may differ from that of the exact time.
        (machine.fixed + after + sum) * (1.0 - 1e-9)
    }
}
