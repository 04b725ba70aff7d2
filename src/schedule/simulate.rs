//! The block scheduler, block by block: an exact event simulation of blocks that share SMs, L2 and DRAM.
//!
//! It is the fluid limit: within a block everything overlaps, and a resource serves its blocks at equal rates. Demands
//! are times that a resource would take for the block alone, so the simulation knows no GPU and no unit but seconds.

mod check;
mod curve;
mod dispatch;
mod engine;
mod grid;
mod outcome;
mod place;
mod runs;
mod server;
mod split;
mod state;
mod tournament;

#[cfg(test)]
mod tests;

pub use check::{MOST_SMS, SimulateError};
pub use curve::{Curve, Recorder};
pub use engine::simulate;
pub use grid::{Grid, Machine, Policy, Room};
pub use outcome::{Balance, BlockRun, GridTimes, Observer, Outcome, SmLoad};
pub use runs::{Demand, Run, Runs};
pub use split::{StreamK, stream_k};
