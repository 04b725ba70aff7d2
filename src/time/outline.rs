//! An estimate in short: what a table of millions of launches holds of each.

use super::{Bound, Resource, Timing, find, of, side};
use crate::{gpu::Gpu, kernel::Level, launch::Launch, schedule::Schedule, units::Seconds};

/// What a table of many launches needs of an estimate; found without asking for memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outline {
    /// The estimate.
    pub estimate: Seconds,
    /// Low end of the range.
    pub low: Seconds,
    /// High end of the range.
    pub high: Seconds,
    /// The largest term of math, as of `TimeEstimate::side`.
    pub math: Seconds,
    /// DRAM.
    pub dram: Seconds,
    /// The longest of L2, shared memory and the ports of the SMs.
    pub on_chip: Seconds,
    /// What waits, with the fixed cost.
    pub latency: Seconds,
    /// What the host adds to the launch.
    pub launch: Seconds,
    /// What holds the launch back.
    pub bound: Bound,
    /// Share of the estimate that a grid of whole waves would save, 0 to 1.
    pub tail_cost: f64,
}

/// The same numbers as `estimate`, for tables of many launches.
pub fn outline(gpu: &Gpu, launch: &Launch, schedule: &Schedule, timing: Timing) -> Outline {
    let found = find(gpu, launch, schedule, timing);
    let terms = &found.terms;
    let sides = [Bound::Math, Bound::Memory, Bound::Latency].map(|b| (b, side(terms, false, b).1));
    // The first of equals, as `TimeEstimate::bound` has it.
    let longest = sides.into_iter().reduce(|best, side| if side.1 > best.1 { side } else { best });
    let on_chip = |r: Resource| r.bound() == Bound::Memory && r != Resource::Memory(Level::Dram);
    Outline {
        estimate: found.estimate,
        low: found.low,
        high: found.high,
        math: sides[0].1,
        dram: of(terms, Resource::Memory(Level::Dram)),
        on_chip: terms.iter().filter(|t| on_chip(t.resource)).map(|t| t.time).fold(Seconds::ZERO, Seconds::max),
        latency: sides[2].1,
        launch: of(terms, Resource::Launch),
        bound: longest.map_or(Bound::Math, |(bound, _)| bound),
        tail_cost: found.tail_cost,
    }
}
