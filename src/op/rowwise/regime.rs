//! What decides over the time of an operation.

use crate::op::estimate::Estimate;

/// What decides over the time of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// Launching, filling and draining.
    Launch,
    /// Rows that wait for their data, or too little in flight.
    Waiting,
    /// L2 and the ports of the SMs.
    Cache,
    /// DRAM.
    Dram,
    /// Arithmetic.
    Math,
}

impl Regime {
    /// The regime of an estimate.
    pub fn of(estimate: &Estimate) -> Self {
        let waits = estimate.fixed + estimate.latency;
        let most = waits.max(estimate.dram).max(estimate.l2).max(estimate.math);
        if most == estimate.dram {
            Self::Dram
        } else if most == estimate.l2 {
            Self::Cache
        } else if most == estimate.math {
            Self::Math
        } else if estimate.latency > estimate.fixed {
            Self::Waiting
        } else {
            Self::Launch
        }
    }

    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Waiting => "waiting",
            Self::Cache => "cache",
            Self::Dram => "DRAM",
            Self::Math => "math",
        }
    }
}
