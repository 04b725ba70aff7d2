//! Numbers that no file can mean, such as a launch of 1e300 s: they count as absent, and one warning says so.

/// The longest time of a kernel or copy in seconds: 31 years.
pub(super) const LONGEST: f64 = 1e9;
/// The latest beginning in seconds; clocks that count from 1970 are at 2e9.
pub(super) const LATEST: f64 = 1e12;
/// The most bytes of a copy.
pub(super) const MOST_BYTES: f64 = 1e18;
/// The largest percentage. Some counters are sums over units, so that more than 100 % can stand in a file.
pub(super) const MOST_PERCENT: f64 = 1e6;
/// The largest number of any other kind. Products of three are still finite.
pub(super) const LARGEST: f64 = 1e30;

/// What was left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Implausible {
    count: u64,
    first: String,
}

impl Implausible {
    /// The value, unless it is larger than `most` in amount; `what` names it.
    pub fn keep(&mut self, value: f64, most: f64, what: &str) -> Option<f64> {
        if value.abs() <= most {
            return Some(value);
        }
        // Not a number is said by the readers, as is what is no text of a number.
        if !value.is_nan() {
            if self.count == 0 {
                self.first = format!("{what} of {value:.2e}");
            }
            self.count += 1;
        }
        None
    }

    /// The sentence about all of them.
    pub fn warning(&self) -> Option<String> {
        let (numbers, counts) = if self.count == 1 { ("number", "counts") } else { ("numbers", "count") };
        (self.count > 0).then(|| {
            format!("{} {numbers} too large to be meant {counts} as absent, the first {}", self.count, self.first)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_the_first_is_named() {
        let mut found = Implausible::default();
        assert_eq!(found.keep(1e9, LONGEST, "a duration in s"), Some(1e9));
        assert_eq!((found.keep(f64::NAN, LONGEST, ""), found.warning()), (None, None));
        assert_eq!(found.keep(2e300, LONGEST, "a duration in s"), None);
        assert_eq!(found.keep(f64::NEG_INFINITY, LATEST, "a beginning in s"), None);
        let said = "2 numbers too large to be meant count as absent, the first a duration in s of 2.00e300";
        assert_eq!(found.warning().as_deref(), Some(said));
    }
}
