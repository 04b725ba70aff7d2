//! Figures of NVIDIA's two performance guides (GPU background, matrix multiplication) and of known occupancy disputes.
//! Each message carries the id of the figure: G machine, A intensity, R rules, M matrix products, T and W
//! quantisation, O occupancy.

use proptest::prelude::*;
use wavecast::{
    kernel::{Kernel, Level},
    occupancy::{Resource as Limiter, advice, occupancy},
    roofline::roofline,
    schedule::{schedule, waves::FEW_BLOCKS},
    time::{Bound, Resource},
    units::Bytes,
};

use crate::common::{block, close, gemm, gpu, kernel, limits, pipe, residency, run, sm, tiles, what_if};

fn intensity(kernel: &Kernel) -> f64 {
    kernel.intensity(Level::Dram).unwrap().get()
}

#[test]
fn g1_to_g4_machine_constants() {
    let a100 = gpu("a100-sxm4-80gb");
    assert_eq!(a100.sm.count, 108, "G1");
    assert_eq!(a100.memory.l2.capacity, Bytes(40.0 * 1024.0 * 1024.0), "G1");
    close("G1", a100.memory.dram.bandwidth.get(), 2039e9, 1e-12);
    assert_eq!(a100.memory.dram.capacity, Some(Bytes(80e9)), "G1");
    close("G2", a100.clocks.tensor.unwrap().get(), 1.41e9, 1e-12);
    close("G3 FP16", a100.peak(pipe("tensor.fp16")).unwrap().get(), 311.9e12, 1e-3);
    close("G3 TF32", a100.peak(pipe("tensor.tf32")).unwrap().get(), 155.9e12, 1e-3);
    let v100 = gpu("v100-sxm2-16gb");
    close("G4", v100.peak(pipe("tensor.fp16")).unwrap().get(), 125.3e12, 1e-3);
    close("G5 DRAM", v100.memory.dram.bandwidth.get(), 900e9, 1e-2);
}

#[test]
fn g6_to_g8_ridge_points() {
    let v100 = roofline(&what_if("v100-sxm2-16gb", &["memory.l2.bandwidth=3.1 TB/s"]).unwrap(), None);
    let ridge = |level| v100.ridge(pipe("tensor.fp16"), level).unwrap().get();
    close("G6", ridge(Level::Dram), 139.0, 0.01);
    close("G7", ridge(Level::L2), 40.0, 0.015);
    for (name, right) in [("a100-sxm4-80gb", 153.0), ("a100-sxm4-40gb", 200.6)] {
        let ridge = roofline(&gpu(name), None).ridge(pipe("tensor.fp16"), Level::Dram).unwrap();
        close(&format!("G8 {name}"), ridge.get(), right, 1e-3);
    }
}

#[test]
fn a1_to_a5_arithmetic_intensity_and_what_binds() {
    let v100 = gpu("v100-sxm2-16gb");
    let big = gemm(4096.0, 512.0, 1024.0);
    close("A1", intensity(&big), 315.077, 1e-5);
    assert_eq!(run(&v100, big, 1280).verdict.bound, Bound::Math, "A1");
    let thin = gemm(4096.0, 1.0, 1024.0);
    close("A2", intensity(&thin), 0.99878, 1e-5);
    let memory = run(&v100, thin, 1280).time.side(Bound::Memory).1;
    assert!(memory > run(&v100, gemm(4096.0, 1.0, 1024.0), 1280).time.side(Bound::Math).1, "A2");
    let elements = 1e8;
    for (id, operations, right) in [("A3 max pooling", 9.0, 2.25), ("A4 ReLU", 1.0, 0.25)] {
        let it = kernel(block(256, 32, 0), "vector.fp16", operations * elements, 2.0 * elements, 2.0 * elements);
        close(id, intensity(&it), right, 1e-12);
        assert_eq!(run(&v100, it, 80_000).verdict.bound, Bound::Memory, "{id}");
    }
    for width in [64.0, 768.0, 4096.0, 16384.0] {
        // Mean, variance, normalise, scale and shift: about 8 operations per element, read and written once.
        let rows = 1e9 / width;
        let bytes = 2.0 * rows * width;
        let it = kernel(block(256, 32, 0), "vector.fp16", 8.0 * rows * width, bytes + 4.0 * width, bytes);
        assert!(intensity(&it) < 10.0, "A5 width {width}");
        assert_eq!(run(&v100, it, 80_000).verdict.bound, Bound::Memory, "A5 width {width}");
    }
}

/// An A100 without losses and fixed costs, so that the guide's equation T = max(math, memory) holds alone.
fn ideal() -> wavecast::gpu::Gpu {
    let mut gpu = gpu("a100-sxm4-80gb");
    let own = &mut gpu.calibration;
    (own.sustained_tensor, own.sustained_vector, own.dram_efficiency, own.power_droop) = (1.0, 1.0, 1.0, 0.0);
    own.random = None;
    own.constants.overlap_exponent = f64::INFINITY;
    own.constants.fixed.0 = 0.0;
    gpu
}

#[test]
fn r1_the_ridge_decides_and_equality_is_balanced() {
    let gpu = ideal();
    let ridge = roofline(&gpu, None).ridge(pipe("tensor.fp16"), Level::Dram).unwrap().get();
    let at = |share: f64| {
        let bytes = 1e11;
        run(&gpu, kernel(block(256, 32, 0), "tensor.fp16", bytes * ridge * share, bytes, 0.0), 108 * 8 * 1000)
    };
    let balanced = at(1.0);
    let (math, memory) = (balanced.time.side(Bound::Math).1, balanced.time.side(Bound::Memory).1);
    close("R1 math = memory", math / memory, 1.0, 1e-12);
    assert!(balanced.verdict.sentence.contains("nearly balanced"), "R1: {}", balanced.verdict.sentence);
    for (share, bound) in [(0.5, Bound::Memory), (0.8, Bound::Memory), (1.25, Bound::Math), (2.0, Bound::Math)] {
        let it = at(share);
        assert_eq!(it.verdict.bound, bound, "R1 at {share} of the ridge");
        assert!(!it.verdict.sentence.contains("balanced"), "R1: {}", it.verdict.sentence);
        close("R1 T = max", it.time.estimate.get(), it.time.side(bound).1.get(), 1e-9);
    }
}

#[test]
fn r2_the_tail_figure() {
    let plan = schedule(12, 8, 1);
    assert_eq!((plan.whole_waves(), plan.full_waves(), plan.tail_blocks()), (2, 1, 4), "R2");
    assert_eq!((plan.tail_fill(), plan.utilization()), (0.5, 0.75), "R2");
}

#[test]
fn r3_fewer_than_300_blocks_are_examined_for_their_tail() {
    assert_eq!(FEW_BLOCKS, 300, "R3");
    let warned = |blocks: u64| {
        let it = kernel(block(1024, 64, 0), "vector.fp32", 1e10 * blocks as f64, 1e5, 0.0);
        run(&gpu("a100-sxm4-80gb"), it, blocks).verdict.findings.iter().any(|f| f.contains("300 blocks"))
    };
    assert!(warned(299) && warned(109), "R3");
    assert!(!warned(300) && !warned(325), "R3: 300 and more");
    assert!(!warned(216), "R3: two full waves have no tail");
    let moved = kernel(block(1024, 64, 0), "vector.fp32", 1e6, 1e9, 1e9);
    let findings = run(&gpu("a100-sxm4-80gb"), moved, 109).verdict.findings;
    assert!(findings.iter().all(|f| !f.contains("300 blocks")), "R3: noise on a memory-bound kernel {findings:?}");
    assert!(!warned(32), "R3: below one wave there are too few blocks, not a tail");
}

#[test]
fn r4_all_three_bounds_are_reached() {
    let a100 = gpu("a100-sxm4-80gb");
    let bound = |it, blocks| run(&a100, it, blocks).verdict.bound;
    assert_eq!(bound(gemm(8192.0, 8192.0, 8192.0), 2048), Bound::Math, "R4");
    assert_eq!(bound(kernel(block(256, 32, 0), "vector.fp32", 1e8, 1e9, 1e9), 100_000), Bound::Memory, "R4");
    assert_eq!(bound(gemm(8192.0, 64.0, 64.0), 64), Bound::Latency, "R4: the guide's small product");
}

#[test]
fn m1_to_m5_matrix_products() {
    let v100 = gpu("v100-sxm2-16gb");
    let wide = gemm(8192.0, 128.0, 8192.0);
    assert_eq!(wide.flops().get(), 2.0 * 8192.0 * 128.0 * 8192.0, "M1");
    let (m, n, k) = (8192.0, 128.0, 8192.0);
    close("M2", intensity(&wide), m * n * k / (m * k + n * k + m * n), 1e-12);
    close("M3", intensity(&wide), 124.1212, 1e-6);
    let ridge = roofline(&v100, None).ridge(pipe("tensor.fp16"), Level::Dram).unwrap().get();
    assert!(intensity(&wide) < ridge, "M3: {ridge}");
    assert_eq!(run(&v100, wide, 640).verdict.bound, Bound::Memory, "M3");
    let cube = gemm(8192.0, 8192.0, 8192.0);
    close("M4", intensity(&cube), 2730.667, 1e-6);
    assert_eq!(run(&v100, cube, 2048).verdict.bound, Bound::Math, "M4");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn m5_a_matrix_vector_product_has_intensity_below_one(k in 1u64..100_000, n in 1u64..100_000) {
        prop_assert!(intensity(&gemm(1.0, n as f64, k as f64)) < 1.0, "M5");
        prop_assert!(intensity(&gemm(n as f64, 1.0, k as f64)) < 1.0, "M5");
    }

    #[test]
    fn t3_within_a_tile_only_the_traffic_grows(n in 1u64..=128, step in 0u64..128) {
        let (m, k) = (8192_u64, 1024_u64);
        let (small, large) = (n, (n + step).min(128));
        // The padded tile is computed in full: operations follow the tiles, bytes follow N.
        let at = |n: u64| {
            let blocks = tiles(m, n, (256, 128));
            let mut it = gemm(m as f64, n as f64, k as f64);
            it.operations[0].1.0 = blocks as f64 * 2.0 * 256.0 * 128.0 * k as f64;
            run(&gpu("a100-sxm4-80gb"), it, blocks)
        };
        let (before, after) = (at(small), at(large));
        prop_assert_eq!(before.schedule, after.schedule, "T3");
        prop_assert_eq!(before.time.of(Resource::Pipe(pipe("tensor.fp16"))), after.time.of(Resource::Pipe(pipe("tensor.fp16"))), "T3");
        let memory = |a: &wavecast::analysis::Analysis| a.time.of(Resource::Memory(Level::Dram));
        prop_assert!(memory(&before) <= memory(&after) && (small == large || memory(&before) < memory(&after)), "T3");
    }
}

#[test]
fn m11_m12_the_tile_comparison_has_whole_waves() {
    let (m, n) = (6912, 2048);
    for (tile, blocks, waves) in [
        ((256, 128), 432, 4.0),
        ((128, 128), 864, 8.0),
        ((256, 64), 864, 8.0),
        ((128, 64), 1728, 16.0),
        ((64, 64), 3456, 32.0),
    ] {
        assert_eq!(tiles(m, n, tile), blocks, "M11 {tile:?}");
        let plan = schedule(blocks, 108, 1);
        assert_eq!((plan.waves(), plan.utilization(), plan.tail_blocks()), (waves, 1.0, 0), "M12 {tile:?}");
    }
}

#[test]
fn t1_t2_t4_tile_quantisation() {
    assert_eq!(tiles(256, 256, (128, 128)), 4, "T1");
    assert_eq!(tiles(257, 256, (128, 128)), 6, "T2");
    close("T2 useful share", 257.0 / 256.0 - 1.0, 0.0039, 2e-3);
    for (n, blocks, waves) in [(128, 108, 1), (136, 216, 2)] {
        assert_eq!(tiles(27_648, n, (256, 128)), blocks, "T4 N = {n}");
        assert_eq!(schedule(blocks, 108, 1).whole_waves(), waves, "T4 N = {n}");
    }
}

/// N, tiles of 256x128, waves, whole waves, utilisation in percent, tiles of 128x256; M = 2304 on 108 SMs.
const WAVES: [(u64, u64, f64, u64, f64, u64); 9] = [
    (1536, 108, 1.0, 1, 100.0, 108),
    (1537, 117, 1.0833, 2, 54.2, 126),
    (1665, 126, 1.1667, 2, 58.3, 126),
    (3072, 216, 2.0, 2, 100.0, 216),
    (3073, 225, 2.0833, 3, 69.4, 234),
    (4608, 324, 3.0, 3, 100.0, 324),
    (4609, 333, 3.0833, 4, 77.1, 342),
    (6144, 432, 4.0, 4, 100.0, 432),
    (6145, 441, 4.0833, 5, 81.7, 450),
];

#[test]
fn w1_to_w4_the_wave_table() {
    for (n, blocks, waves, whole, percent, other) in WAVES {
        assert_eq!(tiles(2304, n, (256, 128)), blocks, "N = {n}");
        assert_eq!(tiles(2304, n, (128, 256)), other, "N = {n}");
        let plan = schedule(blocks, 108, 1);
        assert_eq!(plan.whole_waves(), whole, "N = {n}");
        assert!((plan.waves() - waves).abs() < 5e-5, "N = {n}: {}", plan.waves());
        assert!((plan.utilization() * 100.0 - percent).abs() < 0.05, "N = {n}: {}", plan.utilization());
        assert!(plan.utilization() <= 1.0, "W4");
    }
    let utilization = |n| schedule(tiles(2304, n, (256, 128)), 108, 1).utilization();
    // W1: at a whole number of waves, or just below, utilisation is highest; W3: both orientations step every 1536.
    for edge in [1536, 3072, 4608, 6144] {
        assert!(
            utilization(edge) > utilization(edge + 1) && utilization(edge) >= utilization(edge - 1),
            "W1 at {edge}"
        );
        assert!(utilization(edge - 128) > utilization(edge + 1), "W1 just below {edge}");
        for tile in [(256, 128), (128, 256)] {
            let waves = |n| schedule(tiles(2304, n, tile), 108, 1).whole_waves();
            assert_eq!((waves(edge), waves(edge + 1)), (edge / 1536, edge / 1536 + 1), "W3 at {edge}, tile {tile:?}");
        }
    }
    let drops: Vec<f64> = [1536, 3072, 4608, 6144].map(|n| (utilization(n) - utilization(n + 1)) * 100.0).into();
    for (drop, right) in drops.iter().zip([45.8, 30.6, 22.9, 18.3]) {
        assert!((drop - right).abs() < 0.06, "W2: {drops:?}");
    }
    assert!(drops.windows(2).all(|w| w[0] > w[1]), "W2: {drops:?}");
}

#[test]
fn w5_w6_public_wave_cases() {
    for (edge, blocks, waves, whole) in [(1792, 98, 0.907, 1), (1793, 120, 1.111, 2)] {
        assert_eq!(tiles(edge, edge, (256, 128)), blocks, "W5 {edge}");
        let plan = schedule(blocks, 108, 1);
        assert!((plan.waves() - waves).abs() < 1e-3 && plan.whole_waves() == whole, "W5 {edge}");
    }
    let plan = schedule(192, 84, 2);
    assert!((plan.waves() - 1.143).abs() < 5e-4, "W6");
    close("W6 second wave", plan.tail_fill(), 24.0 / 168.0, 1e-12);
    close("W6 whole launch", plan.utilization(), 192.0 / 336.0, 1e-12);
}

#[test]
fn o1_o2_o3_registers_go_to_sub_partitions_in_whole_warps() {
    let most_warps = residency("8.0", 32, 92, 0).limits.of(Limiter::Registers);
    assert_eq!(most_warps, 20, "O1: 21 warps by division, 20 in whole warps of four sub-partitions");
    let found = residency("8.0", 224, 92, 0);
    assert_eq!((found.blocks_per_sm, found.active_warps()), (2, 14), "O2");
    for (sizes, warps) in
        [(&[32, 64, 128, 160, 320, 640][..], 20), (&[96, 192, 288][..], 18), (&[256][..], 16), (&[224][..], 14)]
    {
        for &threads in sizes {
            assert_eq!(residency("8.0", threads, 92, 0).active_warps(), warps, "O3 block of {threads}");
        }
    }
}

#[test]
fn o4_o5_o7_disputed_vectors() {
    assert_eq!(residency("5.0", 128, 85, 0).blocks_per_sm, 5, "O4 on 5.0");
    assert_eq!(residency("5.2", 128, 85, 0).blocks_per_sm, 5, "O4 on 5.2");
    let found = residency("9.0", 32, 8, 12 * 1024);
    assert_eq!((found.blocks_per_sm, found.shared_per_block), (17, 13 * 1024), "O5");
    assert!(found.limiters().iter().eq([Limiter::Shared]), "O5");
    for (capability, per_block) in [("8.0", 163), ("9.0", 227), ("8.6", 99), ("8.9", 99), ("12.0", 99), ("10.0", 227)] {
        let l = limits(capability);
        let own = sm(&l);
        assert_eq!(own.max_shared_per_block_optin, per_block * 1024, "O7 {capability}");
        let without_reserve = own.shared_per_sm - own.reserved_shared_per_block;
        assert_eq!(own.max_shared_per_block_optin, without_reserve, "O7 {capability}");
        let most = occupancy(&l, &block(128, 32, per_block * 1024));
        assert_eq!(most.blocks_per_sm, 1, "O7 {capability}");
        assert_eq!(occupancy(&l, &block(128, 32, per_block * 1024 + 1)).blocks_per_sm, 0, "O7 {capability}");
        assert_eq!(advice::most_shared(&l, &block(128, 32, 0), 1), Some(per_block * 1024), "O7 {capability}");
    }
}
