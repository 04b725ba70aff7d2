//! Tables of occupancy questions: every row keeps its place and has an answer or a reason.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use wavecast::{gpu::SmLimits, occupancy::batch::batch};
use wavecast_fuzz::{CATALOG, said};

static SMS: LazyLock<Vec<SmLimits>> = LazyLock::new(|| CATALOG.all_limits().expect("the built-in table is valid"));

fuzz_target!(|bytes: &[u8]| {
    let mut out = Vec::new();
    match batch(bytes, &mut out, &SMS, CATALOG.all_compute_units()) {
        Ok(summary) => {
            assert!(summary.errors <= summary.rows && summary.rows <= bytes.len() as u64);
            // Each row grows by its results alone.
            assert!(out.len() <= 2 * bytes.len() + 1000 * (summary.rows as usize + 1), "{} bytes", out.len());
            assert!(!out.windows(3).any(|w| w == b"NaN") || bytes.windows(3).any(|w| w == b"NaN"));
        }
        Err(error) => drop(said(error)),
    }
});
