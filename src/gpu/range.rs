//! Ranges of the figures of a GPU file: far beyond any device, and so that no product or ratio of them overflows.

use super::GpuError;
use crate::units::short;

/// The least that a figure above 0 may be, in base units.
const LEAST: f64 = 1e-30;

/// The most that any figure may be, in base units.
const MOST: f64 = 1e40;

fn within(field: &str, figure: Option<f64>, most: f64, rule: &str) -> Result<(), GpuError> {
    match figure {
        Some(figure) if !(LEAST..=most).contains(&figure) => {
            Err(GpuError::Value { field: field.into(), value: short(figure, 6), rule: rule.into() })
        }
        _ => Ok(()),
    }
}

/// Refuses a figure that is not above 0; one that the file lacks is none.
pub(super) fn positive(field: &str, figure: Option<f64>) -> Result<(), GpuError> {
    within(field, figure, MOST, &format!("more than 0: from {LEAST:e} to {MOST:e} in base units"))
}

/// Refuses a share that is not above 0 and at most 1.
pub(super) fn share(field: &str, figure: Option<f64>) -> Result<(), GpuError> {
    within(field, figure, 1.0, &format!("above 0 and at most 1, not below {LEAST:e}"))
}

/// Refuses a factor that is not above 0 and at most `most`.
pub(super) fn factor(field: &str, figure: f64, most: f64) -> Result<(), GpuError> {
    within(field, Some(figure), most, &format!("above 0 and at most {most}, not below {LEAST:e}"))
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
        assert_eq!(share("share", None), Ok(()));
        for (figure, legal) in
            [(1e-30, true), (1.0, true), (1e-31, false), (1.1, false), (0.0, false), (f64::NAN, false)]
        {
            assert_eq!(share("share", Some(figure)).is_ok(), legal, "{figure}");
        }
        assert!(positive("clock", Some(1e40)).is_ok() && positive("clock", Some(f64::INFINITY)).is_err());
        let message = count("sub_partitions", 9, 1, 8).unwrap_err().to_string();
        assert_eq!(message, "sub_partitions = 9 must be at least 1 and at most 8");
        assert!(count("sub_partitions", 8, 1, 8).is_ok() && count("sub_partitions", 0, 1, 8).is_err());
    }
}
