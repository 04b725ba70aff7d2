//! Amdahl's law: what a faster part makes of the whole.

use crate::units::short;

/// Share of the time on the CPU that stays there, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sequential(f64);

/// A share that is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("a sequential share of {}: write a number from 0 to 1, such as 0.05", short(*.share, 6))]
pub struct SequentialError {
    /// As given.
    share: f64,
}

impl Sequential {
    /// A checked share.
    ///
    /// # Errors
    /// The share is below 0, above 1 or no number.
    pub fn new(share: f64) -> Result<Self, SequentialError> {
        if (0.0..=1.0).contains(&share) { Ok(Self(share)) } else { Err(SequentialError { share }) }
    }

    /// The share.
    pub fn share(self) -> f64 {
        self.0
    }

    /// Speed-up of the whole where the other part becomes `part` times as fast: 1 / (s + (1 - s) / part).
    pub fn whole(self, part: f64) -> f64 {
        1.0 / (self.0 + (1.0 - self.0) / part)
    }

    /// Speed-up that no GPU exceeds: 1 / s; infinite without a sequential share.
    pub fn limit(self) -> f64 {
        1.0 / self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twentieth_that_stays_halves_twenty() {
        let share = Sequential::new(0.05).unwrap();
        assert!((share.whole(19.0) - 10.0).abs() < 1e-12);
        assert_eq!(share.limit(), 20.0);
        assert!((share.whole(1e12) - 20.0).abs() < 1e-6);
        assert_eq!(Sequential::new(0.0).unwrap().whole(7.0), 7.0);
        assert_eq!(Sequential::new(1.0).unwrap().whole(7.0), 1.0);
        for wrong in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
            assert!(Sequential::new(wrong).is_err(), "{wrong}");
        }
    }
}
