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

/// The dimension of a unit and its size in base units. An unknown word counts something.
pub(super) fn unit(text: &str) -> (Dimension, f64) {
    let (above, below) = match text.trim().split_once('/') {
        Some((above, below)) => (above.trim(), Some(below.trim())),
        None => (text.trim(), None),
    };
    let (dimension, scale) = simple(above);
    let Some((under, under_scale)) = below.map(simple) else {
        return (dimension, scale);
    };
    let combined = match (dimension, under) {
        (Dimension::Bytes, Dimension::Seconds) => Dimension::BytesPerSecond,
        (Dimension::Cycles, Dimension::Seconds) => Dimension::Hertz,
        (Dimension::Count, Dimension::Seconds) => Dimension::CountPerSecond,
        (Dimension::Bytes, Dimension::Cycles) => Dimension::BytesPerCycle,
        (Dimension::Count, Dimension::Cycles) => Dimension::CountPerCycle,
        _ => dimension,
    };
    (combined, scale / under_scale)
}

fn simple(word: &str) -> (Dimension, f64) {
    if word == "%" {
        return (Dimension::Percent, 1.0);
    }
    for (prefix, scale) in [("", 1.0), ("n", 1e-9), ("u", 1e-6), ("µ", 1e-6), ("μ", 1e-6), ("m", 1e-3)] {
        if let Some("s" | "sec" | "second" | "seconds") = word.strip_prefix(prefix) {
            return (Dimension::Seconds, scale);
        }
    }
    for (prefix, scale) in [("", 1.0), ("K", 1e3), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("P", 1e15)] {
        match word.strip_prefix(prefix) {
            Some("byte" | "bytes" | "B") => return (Dimension::Bytes, scale),
            Some("cycle" | "cycles") => return (Dimension::Cycles, scale),
            Some("hz" | "Hz") => return (Dimension::Hertz, scale),
            Some("inst" | "sector" | "request" | "warp" | "thread" | "block") => return (Dimension::Count, scale),
            _ => {}
        }
    }
    (Dimension::Count, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_every_version() {
        for (text, dimension, scale) in [
            ("byte", Dimension::Bytes, 1.0),
            ("Kbyte/block", Dimension::Bytes, 1e3),
            ("Mbyte", Dimension::Bytes, 1e6),
            ("Gbyte/s", Dimension::BytesPerSecond, 1e9),
            ("byte/second", Dimension::BytesPerSecond, 1.0),
            ("nsecond", Dimension::Seconds, 1e-9),
            ("ns", Dimension::Seconds, 1e-9),
            ("usecond", Dimension::Seconds, 1e-6),
            ("us", Dimension::Seconds, 1e-6),
            ("msecond", Dimension::Seconds, 1e-3),
            ("s", Dimension::Seconds, 1.0),
            ("cycle", Dimension::Cycles, 1.0),
            ("cycle/second", Dimension::Hertz, 1.0),
            ("cycle/usecond", Dimension::Hertz, 1e6),
            ("Ghz", Dimension::Hertz, 1e9),
            ("hz", Dimension::Hertz, 1.0),
            ("%", Dimension::Percent, 1.0),
            ("", Dimension::Count, 1.0),
            ("register/thread", Dimension::Count, 1.0),
            ("Minst", Dimension::Count, 1e6),
            ("inst/cycle", Dimension::CountPerCycle, 1.0),
            ("sector/request", Dimension::Count, 1.0),
            ("parsec", Dimension::Count, 1.0),
        ] {
            let (found, size) = unit(text);
            assert_eq!(found, dimension, "{text}");
            assert!((size / scale - 1.0).abs() < 1e-12, "{text}: {size}");
        }
    }
}
