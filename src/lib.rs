//! Wavecast answers, without a GPU: how fast can this kernel be on that GPU, what holds it back, and what would change that?
//!
//! One pipeline of value types:
//!
//! ```text
//! Gpu + Kernel -> Occupancy, Launch -> Schedule -> Roofline -> TimeEstimate -> Verdict -> Analysis -> Report
//! ```
//!
//! Modules in reading order, each using only what stands before it.

pub mod units;

pub mod gpu;

pub mod occupancy;

pub mod kernel;

pub mod launch;

pub mod schedule;

pub mod roofline;

pub mod time;

pub mod verdict;

pub mod analysis;
pub mod op;

pub mod profile;

pub mod ceilings;
pub mod network;

pub mod memory;

pub mod crossover;
pub mod fit;

pub mod scenario;
pub mod simulation;

pub mod sweep;

pub mod validate;

pub mod calibrate;

pub mod report;

pub mod chart;

pub mod lab;

pub mod page;
#[cfg(feature = "serve")]
pub mod serve;

pub mod cli;
