//! Wavecast answers, without a GPU: how fast can this kernel be on that GPU, what holds it back, and what would change that?

pub mod chart;
pub mod units;
