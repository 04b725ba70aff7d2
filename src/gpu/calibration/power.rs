//! What the data and the board's power make of the tensor rate. Equations: `docs/model.md`, section 5.

use serde::Deserialize;

use crate::units::{FlopsPerSecond, JoulesPerFlop, Watts};

/// What the operands hold: numbers that switch more bits draw more power, and long products lose clock to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataKind {
    /// Random numbers, as weights and activations of a trained model are.
    #[default]
    Random,
    /// Memory that was never written, or zeros: many benchmarks.
    Uninitialised,
}

impl DataKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Random, Self::Uninitialised];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Uninitialised => "uninitialised",
        }
    }
}

impl std::str::FromStr for DataKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.word() == text);
        found.ok_or_else(|| format!("`{text}` is no kind of data: random or uninitialised"))
    }
}

/// What random data change where the constants were fitted to uninitialised ones.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomData {
    /// Factor on the sustained share of the tensor peak.
    pub sustained: f64,
    /// Power droop (pw) instead of the fitted one.
    pub droop: f64,
}

/// What the power limit of a board leaves of the tensor peak.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorPower {
    /// Energy of one 16-bit operation on random data, the board's idle power included.
    pub energy: JoulesPerFlop,
    /// Rate of kernels below a millisecond over the rate that the limit sustains for seconds.
    pub burst: f64,
    /// Share of the peak that no power lifts: issue.
    pub limit: f64,
}

impl TensorPower {
    /// Share of a peak (operations per second) that short kernels reach under a power limit:
    /// min(limit, burst x power / (energy x peak)).
    pub fn share(&self, power: Watts, peak: FlopsPerSecond) -> f64 {
        (self.burst * (power / self.energy / peak)).min(self.limit)
    }
}
