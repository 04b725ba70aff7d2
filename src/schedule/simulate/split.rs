//! Stream-K: the steps of all tiles dealt out evenly, wherever a tile ends.

use super::{Demand, Run, Runs, check::MOST_SMS, place::LANES};

/// A product as stream-K cuts it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamK {
    /// Tiles of the output.
    pub tiles: u64,
    /// Steps of the inner dimension per tile.
    pub steps: u64,
    /// Blocks over which all steps are dealt: no more than there are steps, or slots on the largest machine (262,144).
    pub workers: u64,
    /// What a step needs.
    pub step: Demand,
    /// What the end of a tile needs: its output.
    pub finish: Demand,
    /// What a share of a tile needs that another block finishes: writing the partial sums, or reading them.
    pub partial: Demand,
}

/// The blocks of a product: each takes a contiguous range of steps, within one of all others. Of a tile that is cut, the
/// block with its first step adds up and writes; each of the others hands over one set of partial sums.
pub fn stream_k(cut: &StreamK) -> Runs {
    let all = u128::from(cut.tiles) * u128::from(cut.steps);
    let steps = u128::from(cut.steps.max(1));
    let workers = u128::from(cut.workers).min(all).clamp(1, u128::from(MOST_SMS) * LANES as u128);
    // worker all / workers, without a product that is too large.
    let edge = |worker: u128| worker * (all / workers) + worker * (all % workers) / workers;
    let runs = (0..workers).filter_map(|worker| {
        let (from, to) = (edge(worker), edge(worker + 1));
        if from == to {
            return None;
        }
        // Tiles that begin here are finished here; a first piece of another's tile is handed over.
        let handed_over = u32::from(from % steps != 0);
        let begun = to.div_ceil(steps) - from.div_ceil(steps);
        // Of the last tile begun here, the steps beyond `to` are with as many blocks as have an edge in it.
        let last_end = to.div_ceil(steps) * steps;
        let others = if begun == 0 || to % steps == 0 {
            0
        } else {
            (worker + 1..workers).take_while(|other| edge(*other) < last_end).filter(|o| edge(*o) < edge(o + 1)).count()
        };
        let demand = Demand::default()
            .plus((to - from) as f64, cut.step)
            .plus(begun as f64, cut.finish)
            .plus(f64::from(handed_over) + others as f64, cut.partial);
        Some(Run { count: 1, demand })
    });
    Runs::new(runs, 1)
}
