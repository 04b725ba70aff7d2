//! Physical quantities as newtypes over `f64` in base units, with strict text forms such as `"3.35 TB/s"`.
//!
//! Prefixes k M G T P are decimal, Ki Mi Gi Ti binary. `KB` is refused because it is read both ways.

mod number;
mod parse;

pub use number::{counted, decimal, grouped, plural, short, significant, times};
pub use parse::UnitError;

/// Defines one quantity: its text units (with their size in base units), parsing, printing and same-type arithmetic.
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $what:literal, $example:literal, [$(($unit:literal, $scale:expr)),+ $(,)?]) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $name(pub f64);

        impl $name {
            /// Units accepted in text, smallest first, with their size in base units.
            pub const UNITS: &'static [(&'static str, f64)] = &[$(($unit, $scale)),+];

            /// Nothing of this quantity.
            pub const ZERO: Self = Self(0.0);

            /// The value in base units.
            pub const fn get(self) -> f64 {
                self.0
            }

            /// The larger of two quantities.
            pub fn max(self, other: Self) -> Self {
                Self(self.0.max(other.0))
            }

            /// The smaller of two quantities.
            pub fn min(self, other: Self) -> Self {
                Self(self.0.min(other.0))
            }
        }

        impl std::str::FromStr for $name {
            type Err = UnitError;

            fn from_str(text: &str) -> Result<Self, UnitError> {
                parse::parse(text, $what, $example, Self::UNITS).map(Self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&number::with_unit(self.0, Self::UNITS))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(parse::QuantityVisitor::<Self>::new($what, $example))
            }
        }

        impl std::ops::Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl std::ops::Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl std::ops::Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }

        impl std::ops::Div<f64> for $name {
            type Output = Self;
            fn div(self, divisor: f64) -> Self {
                Self(self.0 / divisor)
            }
        }

        impl std::ops::Div for $name {
            type Output = f64;
            fn div(self, other: Self) -> f64 {
                self.0 / other.0
            }
        }

        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                Self(values.map(|v| v.0).sum())
            }
        }
    };
}

/// `$left / $right = $result` and the two products that follow from it.
macro_rules! ratio {
    ($left:ident / $right:ident = $result:ident) => {
        impl std::ops::Div<$right> for $left {
            type Output = $result;
            fn div(self, other: $right) -> $result {
                $result(self.0 / other.0)
            }
        }

        impl std::ops::Div<$result> for $left {
            type Output = $right;
            fn div(self, other: $result) -> $right {
                $right(self.0 / other.0)
            }
        }

        impl std::ops::Mul<$right> for $result {
            type Output = $left;
            fn mul(self, other: $right) -> $left {
                $left(self.0 * other.0)
            }
        }

        impl std::ops::Mul<$result> for $right {
            type Output = $left;
            fn mul(self, other: $result) -> $left {
                $left(self.0 * other.0)
            }
        }
    };
}

const KI: f64 = 1024.0;

quantity!(
    /// Bytes of memory or traffic.
    Bytes, "bytes", "64 KiB",
    [("B", 1.0), ("kB", 1e3), ("KiB", KI), ("MB", 1e6), ("MiB", KI * KI), ("GB", 1e9), ("GiB", KI * KI * KI),
     ("TB", 1e12), ("TiB", KI * KI * KI * KI), ("PB", 1e15)]
);

quantity!(
    /// Floating-point (or integer multiply-add) operations; a fused multiply-add is 2.
    Flops, "operations", "2.5 GFLOP",
    [("FLOP", 1.0), ("kFLOP", 1e3), ("MFLOP", 1e6), ("GFLOP", 1e9), ("TFLOP", 1e12), ("PFLOP", 1e15),
     ("OP", 1.0), ("kOP", 1e3), ("MOP", 1e6), ("GOP", 1e9), ("TOP", 1e12), ("POP", 1e15)]
);

quantity!(
    /// A time span.
    Seconds, "a time", "12.5 us",
    [("ns", 1e-9), ("us", 1e-6), ("\u{b5}s", 1e-6), ("ms", 1e-3), ("s", 1.0)]
);

quantity!(
    /// Clock cycles of a named clock.
    Cycles, "cycles", "425 cycles",
    [("cycles", 1.0), ("kcycles", 1e3)]
);

quantity!(
    /// A clock rate.
    Hertz, "a clock rate", "1.98 GHz",
    [("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)]
);

quantity!(
    /// Data moved per second.
    BytesPerSecond, "a bandwidth", "3.35 TB/s",
    [("B/s", 1.0), ("kB/s", 1e3), ("KiB/s", KI), ("MB/s", 1e6), ("MiB/s", KI * KI), ("GB/s", 1e9),
     ("GiB/s", KI * KI * KI), ("TB/s", 1e12), ("TiB/s", KI * KI * KI * KI), ("PB/s", 1e15)]
);

quantity!(
    /// Data moved per clock cycle (of one SM unless said otherwise).
    BytesPerCycle, "bytes per cycle", "128 B/cycle",
    [("B/cycle", 1.0), ("kB/cycle", 1e3)]
);

quantity!(
    /// Operations per second.
    FlopsPerSecond, "an operation rate", "989.4 TFLOP/s",
    [("FLOP/s", 1.0), ("kFLOP/s", 1e3), ("MFLOP/s", 1e6), ("GFLOP/s", 1e9), ("TFLOP/s", 1e12), ("PFLOP/s", 1e15),
     ("OP/s", 1.0), ("kOP/s", 1e3), ("MOP/s", 1e6), ("GOP/s", 1e9), ("TOP/s", 1e12), ("POP/s", 1e15)]
);

quantity!(
    /// Arithmetic intensity: operations per byte of traffic at a named memory level.
    FlopsPerByte, "an arithmetic intensity", "0.25 FLOP/B",
    [("FLOP/B", 1.0)]
);

quantity!(
    /// Electrical power.
    Watts, "a power", "700 W",
    [("W", 1.0), ("kW", 1e3)]
);

quantity!(
    /// Energy per operation.
    JoulesPerFlop, "an energy per operation", "0.99 pJ/FLOP",
    [("pJ/FLOP", 1e-12), ("nJ/FLOP", 1e-9)]
);

ratio!(Bytes / Seconds = BytesPerSecond);
ratio!(Flops / Seconds = FlopsPerSecond);
ratio!(Cycles / Seconds = Hertz);
ratio!(Flops / Bytes = FlopsPerByte);
ratio!(FlopsPerSecond / BytesPerSecond = FlopsPerByte);
ratio!(BytesPerSecond / Hertz = BytesPerCycle);
ratio!(Watts / FlopsPerSecond = JoulesPerFlop);

impl Bytes {
    /// A whole number of bytes.
    pub fn count(bytes: u64) -> Self {
        Self(bytes as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Result<f64, String> {
        text.parse::<Bytes>().map(Bytes::get).map_err(|e| e.to_string())
    }

    #[test]
    fn text_forms_are_strict() {
        assert_eq!(bytes("228 KiB"), Ok(233_472.0));
        assert_eq!(bytes("1.5kB"), Ok(1500.0));
        assert_eq!(bytes("0 B"), Ok(0.0));
        assert!(bytes("4 KB").unwrap_err().contains("kB or KiB?"));
        assert!(bytes("-1 B").unwrap_err().contains("negative"));
        assert!(bytes("12").unwrap_err().contains("unit"));
        assert!(bytes("GB").unwrap_err().contains("number"));
        assert!(bytes("1e999 B").unwrap_err().contains("too large"));
        assert!(bytes("nan B").is_err() && bytes("inf B").is_err() && bytes("").is_err());
        assert!("3.35 TB".parse::<BytesPerSecond>().unwrap_err().to_string().contains("TB/s"));
        assert!("67 TFLOPS".parse::<FlopsPerSecond>().unwrap_err().to_string().contains("TFLOP/s"));
        assert!("300Watt".parse::<Watts>().is_err());
    }

    #[test]
    fn printing_picks_the_unit_people_expect() {
        assert_eq!(Bytes(233_472.0).to_string(), "228 KiB");
        assert_eq!(Bytes(80e9).to_string(), "80 GB");
        assert_eq!(Bytes(52_428_800.0).to_string(), "50 MiB");
        assert_eq!(BytesPerSecond(3.35e12).to_string(), "3.35 TB/s");
        assert_eq!(Hertz(1.83e9).to_string(), "1.83 GHz");
        assert_eq!(Seconds(1.25e-5).to_string(), "12.5 us");
        assert_eq!(FlopsPerSecond(989.4e12).to_string(), "989.4 TFLOP/s");
        assert_eq!(Seconds(0.0).to_string(), "0 s");
        assert_eq!(FlopsPerByte(0.08333333).to_string(), "0.08333 FLOP/B");
    }

    #[test]
    fn dimensions_follow_the_equations() {
        let time: Seconds = Bytes(3.35e12) / BytesPerSecond(3.35e12);
        assert_eq!(time, Seconds(1.0));
        let ridge: FlopsPerByte = FlopsPerSecond(989e12) / BytesPerSecond(3.35e12);
        assert_eq!(ridge.get().round(), 295.0);
        assert_eq!((Cycles(1830.0) / Hertz(1.83e9)).get(), 1e-6);
    }
}
