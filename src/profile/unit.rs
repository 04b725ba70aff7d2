//! Units as Nsight Compute prints them (`Kbyte/block`, `nsecond`, `cycle/nsecond`, `Ghz`); prefixes are decimal.

/// What a unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    /// A plain number or a count of something.
    Count,
    /// Percent.
    Percent,
    /// Bytes, also per block or thread.
    Bytes,
    /// Seconds.
    Seconds,
    /// Cycles.
    Cycles,
    /// Cycles per second.
    Hertz,
    /// Bytes per second.
    BytesPerSecond,
    /// A count per second.
    CountPerSecond,
    /// Bytes per cycle.
    BytesPerCycle,
    /// A count per cycle.
    CountPerCycle,
}

/// The dimension of a unit and its size in base units as a power of ten. An unknown word counts something.
pub(super) fn unit(text: &str) -> (Dimension, i32) {
    let (above, below) = match text.trim().split_once('/') {
        Some((above, below)) => (above.trim(), Some(below.trim())),
        None => (text.trim(), None),
    };
    let (dimension, exponent) = simple(above);
    let Some((under, under_exponent)) = below.map(simple) else {
        return (dimension, exponent);
    };
    let combined = match (dimension, under) {
        (Dimension::Bytes, Dimension::Seconds) => Dimension::BytesPerSecond,
        (Dimension::Cycles, Dimension::Seconds) => Dimension::Hertz,
        (Dimension::Count, Dimension::Seconds) => Dimension::CountPerSecond,
        (Dimension::Bytes, Dimension::Cycles) => Dimension::BytesPerCycle,
        (Dimension::Count, Dimension::Cycles) => Dimension::CountPerCycle,
        _ => dimension,
    };
    (combined, exponent - under_exponent)
}

fn simple(word: &str) -> (Dimension, i32) {
    if word == "%" {
        return (Dimension::Percent, 0);
    }
    for (prefix, exponent) in [("", 0), ("n", -9), ("u", -6), ("µ", -6), ("μ", -6), ("m", -3)] {
        if let Some("s" | "sec" | "second" | "seconds") = word.strip_prefix(prefix) {
            return (Dimension::Seconds, exponent);
        }
    }
    for (prefix, exponent) in [("", 0), ("K", 3), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15)] {
        match word.strip_prefix(prefix) {
            Some("byte" | "bytes" | "B") => return (Dimension::Bytes, exponent),
            Some("cycle" | "cycles") => return (Dimension::Cycles, exponent),
            Some("hz" | "Hz") => return (Dimension::Hertz, exponent),
            Some("inst" | "sector" | "request" | "warp" | "thread" | "block") => return (Dimension::Count, exponent),
            _ => {}
        }
    }
    (Dimension::Count, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_every_version() {
        for (text, dimension, exponent) in [
            ("byte", Dimension::Bytes, 0),
            ("Kbyte/block", Dimension::Bytes, 3),
            ("Mbyte", Dimension::Bytes, 6),
            ("Gbyte/s", Dimension::BytesPerSecond, 9),
            ("byte/second", Dimension::BytesPerSecond, 0),
            ("nsecond", Dimension::Seconds, -9),
            ("ns", Dimension::Seconds, -9),
            ("usecond", Dimension::Seconds, -6),
            ("us", Dimension::Seconds, -6),
            ("msecond", Dimension::Seconds, -3),
            ("s", Dimension::Seconds, 0),
            ("cycle", Dimension::Cycles, 0),
            ("cycle/second", Dimension::Hertz, 0),
            ("cycle/usecond", Dimension::Hertz, 6),
            ("Ghz", Dimension::Hertz, 9),
            ("hz", Dimension::Hertz, 0),
            ("%", Dimension::Percent, 0),
            ("", Dimension::Count, 0),
            ("register/thread", Dimension::Count, 0),
            ("Minst", Dimension::Count, 6),
            ("inst/cycle", Dimension::CountPerCycle, 0),
            ("sector/request", Dimension::Count, 0),
            ("parsec", Dimension::Count, 0),
        ] {
            assert_eq!(unit(text), (dimension, exponent), "{text}");
        }
    }
}
