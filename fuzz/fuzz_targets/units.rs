//! Quantities as text: every type reads every text or refuses it, and what it reads survives printing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::units::{
    Bytes, BytesPerCycle, BytesPerSecond, Cycles, Flops, FlopsPerByte, FlopsPerSecond, Hertz, JoulesPerFlop, Seconds,
    UnitError, Watts, decimal, significant,
};
use wavecast_fuzz::said;

/// Four digits survive a print; what was printed once keeps its value.
macro_rules! survive {
    ($text:expr, $($name:ident),+) => { $(
        match $text.parse::<$name>() {
            Ok(value) => {
                assert!(value.get().is_finite() && value.get() >= 0.0, "{value:?}");
                let printed = value.to_string();
                let back: $name = printed.parse().unwrap_or_else(|e: UnitError| panic!("{value:?}: {e}"));
                let close = if value.get() == 0.0 { back.get() == 0.0 } else { (back.get() / value.get() - 1.0).abs() < 6e-4 };
                assert!(close || value.get() < 1e-300, "{value:?} is printed as {printed}");
                let again: $name = back.to_string().parse().expect("a printed quantity");
                assert!(again == back || (again.get() / back.get() - 1.0).abs() < 1e-12 || value.get() < 1e-300, "{printed}");
            }
            Err(error) => drop(said(error)),
        }
    )+ };
}

fuzz_target!(|text: &str| {
    survive!(
        text,
        Bytes,
        Flops,
        Seconds,
        Cycles,
        Hertz,
        BytesPerSecond,
        BytesPerCycle,
        FlopsPerSecond,
        FlopsPerByte,
        Watts,
        JoulesPerFlop
    );
    if let Ok(number) = text.trim().parse::<f64>() {
        for digits in [0, 1, 4, 6, 17] {
            let shown = significant(number, digits);
            assert!(shown.parse::<f64>().is_ok(), "{number:e} with {digits} digits is {shown}");
        }
        let _ = decimal(number, 2);
    }
});
