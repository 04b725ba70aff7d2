//! Every figure of a scenario: well-formed SVG with finite coordinates, and a table without holes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::chart::Theme;
use wavecast_fuzz::{charts, check_chart, scenario};

fuzz_target!(|text: &str| {
    let Some((analyses, _)) = scenario(text) else { return };
    let theme = if text.len() % 2 == 0 { Theme::Light } else { Theme::Dark };
    charts(&analyses, theme).iter().for_each(check_chart);
});
