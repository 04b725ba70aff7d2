//! The measured occupancy-to-bandwidth curve of the H100 PCIe (te42kyfo/gpu-benches@1c36d50, gpu-stream README):
//! 2 blocks per SM of 32 to 1,024 threads, each thread does one 8-byte load and its block ends.

use wavecast::{
    analysis::analyse,
    gpu::Catalog,
    kernel::{Access, Concurrency, Kernel, Traffic},
    occupancy::Resources,
    time::Timing,
    units::Bytes,
};

/// Occupancy in percent, threads per block, measured GB/s.
const MEASURED: [(f64, u32, f64); 5] =
    [(3.1, 32, 96.0), (12.5, 128, 368.0), (25.0, 256, 702.0), (50.0, 512, 1261.0), (100.0, 1024, 1942.0)];

/// Bandwidth in GB/s that the model gives a steady stream of such blocks.
pub fn modelled(threads_per_block: u32) -> f64 {
    let gpu = Catalog::embedded().unwrap().find("h100-pcie-80gb").unwrap().gpu;
    let blocks = 114 * 2 * 100_000_u64;
    let bytes = Bytes(8.0 * f64::from(threads_per_block) * blocks as f64);
    let kernel = Kernel {
        name: "read".into(),
        // Shared memory holds residency at 2 blocks per SM, as the benchmark's spoiler does.
        resources: Resources {
            threads_per_block,
            registers_per_thread: 16,
            dynamic_shared: 112 * 1024,
            ..Default::default()
        },
        operations: Vec::new(),
        warp_instructions: None,
        traffic: Traffic { dram: Access { read: bytes, ..Default::default() }, ..Default::default() },
        concurrency: Concurrency { bytes_in_flight: 8.0, ..Default::default() },
        tiled: None,
    };
    let analysis = analyse(&gpu, kernel, blocks, Timing::Device).unwrap();
    assert_eq!(analysis.launch.occupancy.blocks_per_sm, 2);
    bytes.get() / analysis.time.estimate.get() / 1e9
}

#[test]
fn h100_pcie_curve() {
    for (occupancy, threads, measured) in MEASURED {
        let error = modelled(threads) / measured - 1.0;
        // The 3.1 % point fixed the block turnaround; the others are predictions.
        let allowed = if occupancy == 3.1 { 0.02 } else { 0.15 };
        println!(
            "{occupancy} %: modelled {:.0}, measured {measured} GB/s ({:+.1} %)",
            modelled(threads),
            error * 100.0
        );
        assert!(error.abs() < allowed, "{occupancy} %: {:.0} GB/s against {measured}", modelled(threads));
    }
}
