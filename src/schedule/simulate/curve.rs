//! What is kept of a simulation for people: blocks up to a number, and shares over time in bins of growing width.

use super::{BlockRun, Machine, Observer, runs::RESOURCES};

/// Bins of a curve.
const BINS: usize = 512;

/// An integral over time in bins of equal width, which doubles when time runs out of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    sums: Vec<f64>,
    width: f64,
}

impl Default for Curve {
    fn default() -> Self {
        Self { sums: vec![0.0; BINS], width: 0.0 }
    }
}

impl Curve {
    /// Adds a height between two times.
    pub fn add(&mut self, from: f64, to: f64, height: f64) {
        if to <= from || height == 0.0 {
            return;
        }
        if self.width == 0.0 {
            self.width = (to / BINS as f64).max(f64::MIN_POSITIVE);
        }
        while to > self.width * BINS as f64 {
            for bin in 0..BINS / 2 {
                self.sums[bin] = self.sums[2 * bin] + self.sums[2 * bin + 1];
            }
            self.sums[BINS / 2..].fill(0.0);
            self.width *= 2.0;
        }
        let mut bin = ((from / self.width) as usize).min(BINS - 1);
        let mut at = from;
        while at < to {
            let edge = if bin + 1 == BINS { f64::INFINITY } else { (bin + 1) as f64 * self.width };
            let end = to.min(edge);
            self.sums[bin] += (end - at).max(0.0) * height;
            (at, bin) = (end, bin + 1);
        }
    }

    /// Mean height in so many equal parts of the time from 0 to `end`, which is not before the last time added.
    pub fn means(&self, parts: usize, end: f64) -> Vec<f64> {
        let part = end / parts as f64;
        let mut fine = vec![0.0; parts];
        if parts == 0 || part <= 0.0 || self.width <= 0.0 {
            return fine;
        }
        for (bin, sum) in self.sums.iter().enumerate().filter(|(_, sum)| **sum > 0.0) {
            let from = bin as f64 * self.width;
            let to = (from + self.width).min(end);
            let first = ((from / part) as usize).min(parts - 1);
            for (place, value) in fine.iter_mut().enumerate().skip(first) {
                let (left, right) = (place as f64 * part, (place + 1) as f64 * part);
                let shared = right.min(to) - left.max(from);
                if left >= to {
                    break;
                }
                *value += sum * (shared.max(0.0) / (to - from));
            }
        }
        fine.iter().map(|sum| sum / part).collect()
    }
}

/// Keeps the first blocks of a simulation one by one, and everything as curves.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// The blocks, in the order of their ends, up to the number asked for.
    pub blocks: Vec<BlockRun>,
    /// Most blocks to keep.
    pub most: usize,
    /// Blocks seen.
    pub seen: u64,
    /// Resident blocks of each SM over time.
    pub resident: Vec<Curve>,
    /// Blocks of each grid that run at a time.
    pub grids: Vec<Curve>,
    /// Used share of each resource over time, of all SMs where each has its own.
    pub shares: [Curve; RESOURCES],
    sms: f64,
}

impl Recorder {
    /// A recorder that keeps so many blocks one by one.
    pub fn new(machine: &Machine, grids: usize, most: usize) -> Self {
        Self {
            blocks: Vec::new(),
            most,
            seen: 0,
            resident: vec![Curve::default(); machine.sms as usize],
            grids: vec![Curve::default(); grids],
            shares: Default::default(),
            sms: machine.sms.into(),
        }
    }

    /// Whether every block was kept.
    pub fn is_complete(&self) -> bool {
        self.seen == self.blocks.len() as u64
    }
}

impl Observer for Recorder {
    fn ended(&mut self, run: &BlockRun) {
        self.seen += 1;
        if self.blocks.len() < self.most {
            self.blocks.push(*run);
        }
        let (from, to) = (run.start.get(), run.end.get());
        self.resident[run.sm as usize].add(from, to, 1.0);
        self.grids[run.grid as usize].add(from, to, 1.0);
    }

    fn used(&mut self, resource: usize, from: f64, to: f64, share: f64) {
        // The first two are of each SM.
        let whole = if resource < 2 { self.sms } else { 1.0 };
        self.shares[resource].add(from, to, share / whole);
    }
}
