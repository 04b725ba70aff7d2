//! GPU files, without and with what-ifs: comment lines of the form `#set KEY=VALUE` of the input are the what-ifs.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::{
    gpu::{Gpu, Override},
    kernel::{Access, Kernel, Traffic},
    occupancy::Resources,
    report::{KernelReport, Report},
    roofline::roofline,
    time::Timing,
    units::Bytes,
};
use wavecast_fuzz::{CATALOG, check_analysis, check_gpu, check_report, said};

fuzz_target!(|text: &str| {
    match CATALOG.read("fuzz", text, &[]) {
        Ok(gpu) => check(&gpu, text),
        Err(error) => drop(said(error)),
    }
    let overrides: Vec<Override> =
        text.lines().filter_map(|l| l.strip_prefix("#set ")).filter_map(|o| o.parse().ok()).collect();
    if !overrides.is_empty() {
        match CATALOG.read("fuzz", text, &overrides) {
            Ok(gpu) => check(&gpu, text),
            Err(error) => drop(said(error)),
        }
    }
});

/// A GPU that was read has numbers that the whole pipeline can work with.
fn check(gpu: &Gpu, text: &str) {
    check_gpu(gpu);
    for ceiling in roofline(gpu, None).ceilings {
        assert!(ceiling.peak.get().is_finite() && ceiling.peak.get() > 0.0, "{ceiling:?}");
    }
    let mut report = Report::default();
    for pipe in gpu.pipes().into_iter().take(3) {
        let dram = Access { read: Bytes(1e9), write: Bytes(1e6), read_efficiency: 0.5, write_efficiency: 1.0 };
        let kernel = Kernel {
            name: "probe".into(),
            resources: Resources { threads_per_block: 128, registers_per_thread: 32, ..Resources::default() },
            operations: vec![(pipe, wavecast::units::Flops(1e12))],
            warp_instructions: None,
            traffic: Traffic { dram, reuse_distance: Some(Bytes(1e6)), ..Traffic::default() },
            concurrency: Default::default(),
            tiled: None,
        };
        match wavecast::analysis::analyse(gpu, kernel, 1000, Timing::Launch) {
            Ok(analysis) => {
                check_analysis(&analysis);
                report.kernels.push(KernelReport::from_analysis(&analysis));
            }
            Err(error) => drop(said(error)),
        }
    }
    check_report(&report, text);
}
