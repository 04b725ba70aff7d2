//! Scenario files through the whole pipeline to every form of the report.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast_fuzz::{check_report, scenario};

fuzz_target!(|text: &str| {
    if let Some((_, report)) = scenario(text) {
        check_report(&report, text);
    }
});
