//! One figure of a scenario as PNG at a scale that the input's length chooses.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::chart::Theme;
use wavecast_fuzz::{charts, said, scenario};

fuzz_target!(|text: &str| {
    let Some((analyses, _)) = scenario(text) else { return };
    let charts = charts(&analyses, Theme::Light);
    if charts.is_empty() {
        return;
    }
    let scale = [0.1, 0.5, 1.0, f32::NAN, -1.0, 1e9][text.len() % 6];
    match charts[text.len() / 6 % charts.len()].png(scale) {
        Ok(bytes) => assert!(bytes.starts_with(b"\x89PNG")),
        Err(error) => drop(said(error)),
    }
});
