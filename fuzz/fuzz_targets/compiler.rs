//! Compiler reports: read, and every kernel's block sizes on its own target and on one that the bytes choose.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::profile::{
    compiler::{best, sizes},
    detect_compiler, plain_name, read_compiler,
};
use wavecast_fuzz::{CATALOG, gpu, said};

/// Kernels of one report whose sizes are tried.
const KERNELS: usize = 3;

fuzz_target!(|bytes: &[u8]| {
    let known = detect_compiler(bytes);
    let report = match read_compiler(bytes) {
        Ok(report) => report,
        Err(error) => return drop(said(error)),
    };
    assert!(known && !report.kernels.is_empty());
    for kernel in report.kernels.iter().take(KERNELS) {
        assert!(!plain_name(&kernel.name).is_empty());
        let chosen = gpu((bytes.len() % 256) as u8).limits.clone();
        let own = kernel.target.as_ref().and_then(|target| target.limits(&CATALOG).ok());
        for limits in own.into_iter().chain([chosen]) {
            let all = sizes(kernel, &limits);
            for (threads, found) in best(&all) {
                assert!(threads > 0 && found.blocks_per_sm > 0 && found.fraction() <= 1.0);
                assert!(!found.limiters().sentence().is_empty());
            }
        }
    }
});
