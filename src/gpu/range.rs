//! Ranges of the figures of a GPU file: far beyond any device, and narrow enough that no later product overflows.

use super::GpuError;

/// The least and the most that a figure may be, in base units, and the same in words.
pub(super) struct Range(f64, f64, &'static str);

pub(super) const POWER: Range = Range(1e-3, 1e6, "from 0.001 W to 1000 kW");
pub(super) const CLOCK: Range = Range(1e3, 1e12, "from 1 kHz to 1000 GHz");
pub(super) const CAPACITY: Range = Range(1.0, 1e18, "from 1 B to 1000 PB");
pub(super) const BANDWIDTH: Range = Range(1e3, 1e18, "from 1 kB/s to 1000 PB/s");
pub(super) const PER_CYCLE: Range = Range(1e-3, 1e6, "from 0.001 B/cycle to 1000 kB/cycle");
pub(super) const LATENCY: Range = Range(1e-3, 1e6, "from 0.001 cycles to 1000 kcycles");
pub(super) const RATE: Range = Range(1e-3, 1e6, "from 0.001 to 1000000 operations per cycle");
pub(super) const ENERGY: Range = Range(1e-18, 1e-6, "from 0.000001 pJ/FLOP to 1000 nJ/FLOP");
pub(super) const SPARSITY: Range = Range(1.0, 100.0, "from 1 to 100");
pub(super) const SHARE: Range = Range(1e-6, 1.0, "from 0.000001 to 1");

impl Range {
    /// Refuses a figure outside of the range; one that the file lacks is none.
    pub fn check(&self, field: &str, figure: Option<f64>) -> Result<(), GpuError> {
        match figure {
            Some(figure) if !(self.0..=self.1).contains(&figure) => {
                Err(GpuError::Value { field: field.into(), value: figure.to_string(), rule: self.2.into() })
            }
            _ => Ok(()),
        }
    }
}

/// Refuses a count outside of `least` to `most`.
pub(super) fn count(field: &str, count: u32, least: u32, most: u32) -> Result<(), GpuError> {
    if (least..=most).contains(&count) {
        return Ok(());
    }
    let rule = format!("at least {least} and at most {most}");
    Err(GpuError::Value { field: field.into(), value: count.to_string(), rule })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_belong_to_the_range() {
        assert_eq!(SHARE.check("share", None), Ok(()));
        for (figure, legal) in [(1e-6, true), (1.0, true), (0.9e-6, false), (1.1, false), (0.0, false), (f64::NAN, false)] {
            assert_eq!(SHARE.check("share", Some(figure)).is_ok(), legal, "{figure}");
        }
        let message = count("sm.count", 9, 1, 8).unwrap_err().to_string();
        assert_eq!(message, "sm.count = 9 must be at least 1 and at most 8");
        assert!(count("sm.count", 8, 1, 8).is_ok() && count("sm.count", 0, 1, 8).is_err());
    }
}
