//! Numbers of NVIDIA's GPU performance guides that need an operation model, by id; where the model misses one, the
//! comment says by how much.

use proptest::prelude::*;
use wavecast::{
    chart::{Bound, figures::bound},
    gpu::{DataKind, DataType, Gpu},
    op::gemm::{Force, Plan, Planner, Precision, Reuse, Shape},
};

use crate::common::{close, gpu};

fn planner(gpu: &Gpu, tile: Option<(u32, u32)>) -> Planner {
    // The constants as they were fitted: what the guide's operands held is not stated.
    let mut gpu = gpu.clone();
    gpu.calibration.data = DataKind::Uninitialised;
    let planner = Planner::new(&gpu, Precision::new(&gpu, DataType::Fp16, false).unwrap()).unwrap();
    // A given tile is compared without split-K, which would blur the waves that the guide counts.
    planner.forced(Force { tile, splits: tile.map(|_| 1) }).unwrap()
}

/// A product of which L2 holds nothing, as the guide counts bytes.
fn plan(planner: &Planner, m: u64, n: u64, k: u64) -> Plan {
    planner.plan(Shape::new(1, m, n, k).unwrap(), Reuse::Cold)
}

fn intensity(plan: &Plan) -> f64 {
    plan.shape.flop() / plan.bytes.get()
}

fn tera(plan: &Plan) -> f64 {
    plan.shape.flop() / plan.time / 1e12
}

fn waves(plan: &Plan) -> f64 {
    plan.chosen.blocks / 108.0
}

#[test]
fn a1_a2_linear_layers_by_batch() {
    let v100 = planner(&gpu("v100-sxm2-16gb"), None);
    let big = plan(&v100, 512, 4096, 1024);
    close("A1", intensity(&big), 315.077, 1e-5);
    assert_eq!(bound(&big.chosen), Bound::Math, "A1: {:?}", big.chosen.parts);
    let thin = plan(&v100, 1, 4096, 1024);
    close("A2", intensity(&thin), 0.99878, 1e-5);
    let parts = &thin.chosen.parts;
    assert!(parts.dram.max(parts.ports) > 3.0 * parts.compute(), "A2: {parts:?}");
    assert_eq!(bound(&thin.chosen), Bound::Memory, "A2: {parts:?}");
}

#[test]
fn m3_m4_what_binds_by_intensity() {
    let v100 = planner(&gpu("v100-sxm2-16gb"), None);
    let wide = plan(&v100, 8192, 128, 8192);
    close("M3", intensity(&wide), 124.1212, 1e-6);
    assert_eq!(bound(&wide.chosen), Bound::Memory, "M3: {:?}", wide.chosen.parts);
    let cube = plan(&v100, 8192, 8192, 8192);
    close("M4", intensity(&cube), 2730.667, 1e-6);
    assert_eq!(bound(&cube.chosen), Bound::Math, "M4: {:?}", cube.chosen.parts);
}

proptest! {
    #[test]
    fn m5_matrix_times_vector_is_memory_bound(long in 64u64..60_000, k in 64u64..60_000) {
        let v100 = planner(&gpu("v100-sxm2-16gb"), None);
        for (m, n) in [(1, long), (long, 1)] {
            let it = plan(&v100, m, n, k);
            prop_assert!(intensity(&it) < 1.0, "M5 {m}x{n}x{k}");
            // Small ones take longest to launch, and the columns that fill up a tile may cost more math than their bytes
            // cost time; from 16 MiB on memory takes longer than math.
            let parts = &it.chosen.parts;
            let large = long * k >= 1 << 23;
            prop_assert!(!large || parts.dram.max(parts.ports) > parts.math, "M5 {m}x{n}x{k}: {parts:?}");
            prop_assert!(bound(&it.chosen) != Bound::Math, "M5 {m}x{n}x{k}");
        }
    }
}

#[test]
fn m6_m7_alignment_in_elements() {
    let a100 = gpu("a100-sxm4-80gb");
    for (id, input, least, best) in [
        ("M6", DataType::Fp16, 8.0, 64.0),
        ("M6", DataType::Bf16, 8.0, 64.0),
        ("M7", DataType::Int8, 16.0, 128.0),
        ("M7", DataType::Tf32, 4.0, 32.0),
        ("M7", DataType::Fp64, 2.0, 16.0),
    ] {
        let precision = Precision::new(&a100, input, false).unwrap();
        assert_eq!(16.0 / precision.input_bytes, least, "{id} {}", input.name());
        // The 128 bytes of the A100 are one step of the k-loop: one element more costs a further step.
        let planner = Planner::new(&a100, precision).unwrap();
        assert_eq!(planner.step(), best, "{id} {}", input.name());
        let [full, more] = [best, best + 1.0].map(|k| plan(&planner, 4096, 4096, 32 * best as u64 + k as u64));
        assert!(more.time > full.time * 1.01, "{id} {}: {} then {}", input.name(), full.time, more.time);
    }
}

/// Missed: the guide has sizes that are no multiple of 16 bytes run slower (M9: those of 8 or 4 bytes less so), and
/// without tensor cores before cuBLAS 11.0 (M8). No data with such sizes went into the model, which charges them nothing
/// but their padded tiles: K = 4095 takes as long as 4096. Once they cost something, this test holds the guide's order.
#[test]
fn m8_m9_sizes_off_alignment_cost_nothing_here() {
    let a100 = planner(&gpu("a100-sxm4-80gb"), None);
    let time = |k| plan(&a100, 4096, 4096, k).time;
    for (k, aligned) in [(4095, "2 B"), (4094, "4 B"), (4092, "8 B"), (4088, "16 B")] {
        close(&format!("M9 K = {k}, a multiple of {aligned}"), time(k), time(4096), 1e-4);
    }
}

/// The tiles of M10 and M11, by falling efficiency; those of one group are equal.
const TILES: [&[(u32, u32)]; 5] =
    [&[(256, 128), (128, 256)], &[(128, 128)], &[(256, 64), (64, 256)], &[(128, 64), (64, 128)], &[(64, 64)]];

#[test]
fn m10_to_m12_tiles_in_order() {
    let a100 = gpu("a100-sxm4-80gb");
    let mut rates = Vec::new();
    for (group, (blocks, whole)) in
        TILES.iter().zip([(432.0, 4.0), (864.0, 8.0), (864.0, 8.0), (1728.0, 16.0), (3456.0, 32.0)])
    {
        let plans: Vec<Plan> = group.iter().map(|t| plan(&planner(&a100, Some(*t)), 6912, 2048, 4096)).collect();
        for (plan, tile) in plans.iter().zip(*group) {
            assert_eq!((plan.chosen.blocks, waves(plan)), (blocks, whole), "M11, M12 {tile:?}");
            close(&format!("M10 {tile:?}"), tera(plan), tera(&plans[0]), 1e-9);
        }
        rates.push(tera(&plans[0]));
    }
    assert!(rates.windows(2).all(|w| w[0] > w[1] * 1.02), "M10: {rates:?}");
    let fastest = plan(&planner(&a100, None), 6912, 2048, 4096).chosen.tile.map(|t| t.height * t.width);
    assert_eq!(fastest, Some(256 * 128), "M10: the search takes the most efficient tile");
}

#[test]
fn t4_tile_quantisation_of_a_skinny_product() {
    let a100 = planner(&gpu("a100-sxm4-80gb"), Some((256, 128)));
    let at = |n| plan(&a100, 27_648, n, 4096);
    for (n, whole) in [(128, 1.0), (136, 2.0), (256, 2.0), (264, 3.0)] {
        assert_eq!(waves(&at(n)), whole, "T4 N = {n}");
    }
    let (before, after) = (at(128), at(136));
    assert_eq!(after.chosen.parts.math, 2.0 * before.chosen.parts.math, "T4: twice the math for 6 % more columns");
    // The whole time grows by 36 %: with one wave DRAM (149 us for A alone at the sustained rate) takes longer than math.
    close("T4 time", after.time / before.time, 1.36, 0.01);
    assert!(tera(&after) < 0.8 * tera(&before), "T4: {} then {} TFLOP/s", tera(&before), tera(&after));
}

#[test]
fn w1_to_w3_wave_quantisation_in_throughput() {
    let a100 = gpu("a100-sxm4-80gb");
    for tile in [(256, 128), (128, 256)] {
        let planner = planner(&a100, Some(tile));
        let at = |n| tera(&plan(&planner, 2304, n, 4096));
        let edges = [1536, 3072, 4608, 6144];
        assert!(edges.iter().all(|e| at(*e) > at(e - 128) && at(*e) > at(e + 1)), "W1 {tile:?}");
        let drops = edges.map(|n| 1.0 - at(n + 1) / at(n));
        assert!(drops.windows(2).all(|w| w[0] > w[1]), "W2 {tile:?}: {drops:?}");
        // Shares of a wave that stay empty: 45.8, 30.6, 22.9, 18.3 % with tiles of 256x128. The time grows by a whole
        // wave each, so that the throughput falls by half, a third, a quarter and a fifth, less the fixed cost.
        for (drop, right) in drops.into_iter().zip([0.5, 1.0 / 3.0, 0.25, 0.2]) {
            close(&format!("W2 {tile:?}"), drop, right, 0.03);
        }
    }
}

#[test]
fn w5_a_square_product_just_above_one_wave() {
    let a100 = gpu("a100-sxm4-80gb");
    let drop = |tile| {
        let planner = planner(&a100, tile);
        let at = |edge| tera(&plan(&planner, edge, edge, edge));
        1.0 - at(1793) / at(1792)
    };
    // Where other tiles may take over, the drop is milder but still large.
    assert!(drop(Some((256, 128))) > 0.45, "W5: {}", drop(Some((256, 128))));
    assert!((0.25..0.45).contains(&drop(None)), "W5: {}", drop(None));
}

/// Public measurements that stand beside the guide's numbers. Missed: 8192 x 64 x 64 took 29.6 us in a framework whose
/// launch is most of it; the kernel alone is 5.2 us here, and no launch overhead of ours (2.7 us) explains the rest.
#[test]
fn large_products_measured_on_an_a100() {
    let a100 = planner(&gpu("a100-sxm4-80gb"), None);
    close("8192 x 4096 x 4096", plan(&a100, 8192, 4096, 4096).time, 1.021e-3, 0.02);
    close("16384 x 12288 x 12288", tera(&plan(&a100, 16_384, 12_288, 12_288)), 290.5, 0.02);
    close("8192 x 64 x 64", plan(&a100, 8192, 64, 64).time, 5.2e-6, 0.05);
}
