//! The time of a decode: one query per sequence, the keys cut into shares so that every SM has some.

use super::{
    Model, Parts, Shape,
    constants::{Decode, Split},
    prefill::fewest_splits,
};

/// Grids of less than this share of the slots have their keys cut.
const FEW: f64 = 0.8;
/// Keys that a block streams at a time.
const STEP: f64 = 16.0;
/// How far beyond L2 data grow until none of them stay, in L2s.
const TRANSITION: f64 = 0.3;
/// Bytes of a partial sum of O.
const PARTIAL_BYTES: f64 = 4.0;
/// Rows of a tile that the query heads of a KV head share.
const ROWS: u32 = 64;

impl Model {
    /// The shares of keys of a decode.
    fn decode_splits(&self, of: &Decode, group: u64, tiles: u64, blocks: f64, slots: f64) -> u32 {
        if of.rule == Split::Fill {
            return ((slots / blocks).floor() as u64).min(tiles).max(1) as u32;
        }
        let cuts = match of.rule {
            Split::Fa2 => group > 1,
            Split::Fa3 => tiles > 4,
            Split::Fa | Split::Fill => true,
        };
        if !cuts || blocks >= FEW * slots || tiles <= 1 {
            return 1;
        }
        let most = tiles.min(slots as u64).min(of.most_splits);
        // A further share that leaves the longest one as long is no gain.
        fewest_splits(blocks, slots, most, |s| s == 1 || tiles.div_ceil(s) != tiles.div_ceil(s - 1))
    }

    /// The time of a decode of a checked shape.
    pub(super) fn decode(&self, shape: &Shape, of: &Decode) -> Parts {
        let (group, length) = (shape.group(), shape.keys_read());
        let (batch, heads_kv, dim) = (shape.batch as f64, shape.heads_kv as f64, shape.head_dim as f64);
        let columns = of.columns[self.place(shape)];
        let per_sm = self.slots(of);
        let resident = f64::from(per_sm);
        let slots = resident * self.sms;
        let uncut = batch * heads_kv;
        let splits = self.decode_splits(of, group, length.div_ceil(columns), uncut, slots);
        let cut = f64::from(splits);
        let blocks = uncut * cut;

        let (input, output) = (self.precision.input_bytes, self.precision.output_bytes);
        let queries = group as f64 * dim * (input + output);
        let share = (length as f64 / cut / STEP).ceil() * STEP * 2.0 * dim * input + queries;
        let all = self.least_bytes(shape);
        let missed = ((all / (self.l2 * self.kernel.l2_share) - 1.0) / TRANSITION).clamp(0.0, 1.0);
        let dram = missed / (self.bandwidth * of.dram);
        let l2 = (1.0 - missed) / (of.l2.get() * self.sms * self.clock);
        let byte = dram + l2;

        let full = (blocks / slots).floor();
        let rest = blocks - full * slots;
        let one = share / of.cta.get();
        let start = of.block.get() * (1.0 - of.serial) * resident * (0.5 + 0.5 * dim / 128.0);
        let last = f64::from(u8::from(rest > 0.0));
        let starts = (full + last) * start;
        let stream = full * one.max(slots * share * byte) + last * one.max(rest * share * byte);
        let body = if full >= 1.0 { p_sum(starts, stream, of.overlap) } else { starts + stream };

        let serial = of.block.get() * of.serial * uncut / self.sms;
        let partials = PARTIAL_BYTES * cut * shape.query_elements() / (self.bandwidth * of.dram);
        let doublings = libm::log2(cut) * of.combine_doubling.get();
        let combine = if splits > 1 { of.combine.get() + doublings + partials } else { 0.0 };
        let grouped = group > 1 && shape.batch > 1 && shape.heads_kv > 1;
        let transpose = if grouped { of.transpose.get() } else { 0.0 };
        let launches = self.launches(of.t0);
        let moved = blocks * share;
        Parts {
            time: launches + body + serial + combine + transpose,
            products: shape.flop() / (self.rate * self.sms),
            exponentials: 0.0,
            waiting: starts + serial + (stream - moved * byte).max(0.0),
            dram: moved * dram,
            l2: moved * l2,
            fixed: launches + combine + transpose,
            tail: 0.0,
            append: 0.0,
            transpose,
            combine,
            tile: (ROWS, columns as u32),
            splits,
            blocks,
            slots: per_sm,
            missed,
            uncut,
        }
    }
}

/// (a^p + b^p)^(1/p), by the larger of them so that nothing overflows.
fn p_sum(a: f64, b: f64, p: f64) -> f64 {
    let largest = a.max(b);
    if largest <= 0.0 {
        return 0.0;
    }
    largest * libm::pow(libm::pow(a / largest, p) + libm::pow(b / largest, p), 1.0 / p)
}
