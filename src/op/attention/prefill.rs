//! The time of a prefill: blocks of query rows that each visit the keys before them.

use super::{Grid, Model, Parts, Shape};

/// Kernels from this length on lose clock to power, and by how many times it the loss is complete.
const DROOP_FROM: f64 = 1e-3;
const DROOP_RANGE: f64 = 20.0;
/// Share of the append's DRAM time that it takes in L2.
const APPEND_IN_L2: f64 = 0.35;
/// Grids of less than this share of the SMs have their keys cut, where the kernel can.
const FEW: f64 = 0.8;
/// Tiles of keys from which on a cut is worth its cost.
const CUT_FROM: f64 = 4.0;
/// Most shares.
const MOST_SPLITS: u64 = 128;
/// Rows and head size of the cost per row.
const ROW_UNIT: (f64, f64) = (64.0, 128.0);
/// Bytes of a partial sum of O.
const PARTIAL_BYTES: f64 = 4.0;

/// Work of one SM, in seconds of each kind.
#[derive(Clone, Copy)]
struct Work {
    start: f64,
    products: f64,
    exponentials: f64,
}

impl Work {
    fn plus(self, share: f64, other: Self) -> Self {
        Self {
            start: self.start + share * other.start,
            products: self.products + share * other.products,
            exponentials: self.exponentials + share * other.exponentials,
        }
    }

    fn times(self, factor: f64) -> Self {
        let (start, products) = (self.start * factor, self.products * factor);
        Self { start, products, exponentials: self.exponentials * factor }
    }
}

/// The fewest shares that fill the waves to 85 % of the best; `slots` blocks run at once.
pub(super) fn fewest_splits(blocks: f64, slots: f64, most: u64, legal: impl Fn(u64) -> bool) -> u32 {
    let filled = |splits: u64| {
        let waves = blocks * splits as f64 / slots;
        waves / waves.ceil()
    };
    let best = (1..=most).filter(|s| legal(*s)).map(filled).fold(0.0, f64::max);
    let found = (1..=most).find(|s| legal(*s) && filled(*s) >= 0.85 * best);
    found.unwrap_or(1) as u32
}

impl Model {
    /// The blocks of a prefill over one head, or over the heads that are packed into one tile.
    pub(super) fn grid(&self, shape: &Shape) -> Grid {
        let (tile, place) = (&self.kernel.tile, self.place(shape));
        Grid {
            seq_q: shape.seq_q,
            seq_kv: shape.seq_kv,
            packed: if tile.packed { shape.group() } else { 1 },
            rows: tile.rows[place].into(),
            columns: tile.columns[place].into(),
            granule: tile.granule,
            causal: shape.causal,
            window: shape.window,
        }
    }

    /// The shape with the pairs that the kernel computes; those that a mask drops are dropped afterwards by some.
    pub(super) fn visited(&self, shape: &Shape) -> Shape {
        if self.kernel.tile.behind_mask { Shape { causal: false, window: None, ..*shape } } else { *shape }
    }

    /// The time of a prefill of a checked shape.
    pub(super) fn prefill(&self, shape: &Shape) -> Parts {
        let of = &self.kernel.prefill;
        let shape = &self.visited(shape);
        let grid = self.grid(shape);
        let sums = grid.sums();
        let head = self.head(shape.head_dim);
        let heads = if self.kernel.tile.packed { shape.heads_kv } else { shape.heads_q };
        let copies = shape.batch as f64 * heads as f64;
        let uncut = sums.blocks as f64 * copies;
        let tile = 4.0 * head * grid.rows as f64 * grid.columns as f64;

        let splits = if self.kernel.tile.split && uncut < FEW * self.sms && sums.most_columns > CUT_FROM {
            let most = (sums.most_columns as u64).min(self.sms as u64).min(MOST_SPLITS);
            fewest_splits(uncut, self.sms, most, |_| true)
        } else {
            1
        };
        let cut = f64::from(splits);

        // Whole tiles where a window cuts them, else the exact triangle; never more than without the window.
        let all = 4.0 * shape.batch as f64 * shape.heads_q as f64 * head;
        let operations = match shape.window {
            Some(_) => (tile * copies * sums.tiles).min(all * Shape { window: None, ..*shape }.pairs()),
            None => all * shape.pairs(),
        };
        let row = self.row_cost(grid.rows as f64, head);
        let work = |blocks: f64, rows: f64, operations: f64| Work {
            start: blocks * of.block.get() + rows * row,
            products: operations / (self.rate * of.mma),
            exponentials: operations * of.exp / (4.0 * head * self.exponentials),
        };
        let sum = work(uncut * cut, sums.rows * copies, operations).times(1.0 / self.sms);
        let longest = work(1.0, (sums.rows / sums.blocks as f64).min(1.0), tile * sums.longest / cut);
        let spread = of.tail * (uncut * cut / self.sms).min(1.0);
        let balanced = self.length(sum);
        let (follows, alone) = (balanced + spread * self.length(longest), of.lone * self.length(longest));
        let busiest = if follows >= alone { sum.plus(spread, longest) } else { longest.times(of.lone) };
        let compute = follows.max(alone);
        let droop = self.droop(compute);

        let (input, output) = (self.precision.input_bytes, self.precision.output_bytes);
        let (queries, keys) = (shape.query_elements() * input, shape.key_value_elements() * input);
        let queries_and_output = queries + shape.query_elements() * output;
        let missed = ((2.0 * (queries + keys) / self.l2 - 0.8) / 0.7).clamp(0.0, 1.0);
        let dram = self.bandwidth * of.dram;
        let read = (of.query_passes / 2.0 * queries_and_output + keys) * missed / dram;
        let new = 2.0 * shape.batch as f64 * shape.seq_q.min(shape.seq_kv) as f64 * shape.heads_kv as f64;
        let append = if self.bare { 0.0 } else { of.append_passes * new * shape.head_dim as f64 * input / dram };
        let (append_dram, append_l2) = (append * missed, append * APPEND_IN_L2 * (1.0 - missed));
        let partials = cut * PARTIAL_BYTES * shape.query_elements() * 2.0;
        let combine = if splits > 1 { of.split.get() + partials / (3.0 * dram) } else { 0.0 };
        let launches = self.launches(of.t0);
        Parts {
            time: launches + append_dram + append_l2 + (compute * droop).max(read) + combine,
            products: busiest.products * droop,
            exponentials: busiest.exponentials * droop,
            waiting: busiest.start * droop,
            dram: read + append_dram,
            l2: append_l2,
            fixed: launches + combine,
            tail: (compute - balanced).max(0.0) * droop,
            append: append_dram + append_l2,
            transpose: 0.0,
            combine,
            tile: (grid.rows as u32, grid.columns as u32),
            splits,
            blocks: uncut * cut,
            slots: self.slots_of_prefill(shape),
            missed,
            uncut,
        }
    }

    /// Time of work: products and exponentials one after the other, or beside each other where products run by
    /// themselves.
    fn length(&self, work: Work) -> f64 {
        work.start + self.arithmetic(work.products, work.exponentials)
    }

    /// What power adds to a long time of arithmetic, as a factor.
    pub(super) fn droop(&self, compute: f64) -> f64 {
        let long = (libm::log(compute / DROOP_FROM) / libm::log(DROOP_RANGE)).clamp(0.0, 1.0);
        1.0 + self.kernel.prefill.droop * long
    }

    /// Time of products and exponentials together.
    pub(super) fn arithmetic(&self, products: f64, exponentials: f64) -> f64 {
        if !self.kernel.prefill.overlapped {
            return products + exponentials;
        }
        let fourth = |t: f64| (t * t) * (t * t);
        (fourth(products) + fourth(exponentials)).sqrt().sqrt()
    }

    /// Time of an SM for the rows of a full tile besides their products.
    pub(super) fn row_cost(&self, rows: f64, head: f64) -> f64 {
        self.kernel.prefill.row.get() * (rows / ROW_UNIT.0) * (head / ROW_UNIT.1)
    }
}
