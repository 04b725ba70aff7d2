//! Matrix products against the check values of the model's fit, and laws of the search.

use proptest::prelude::*;
use wavecast::{
    gpu::{DataKind, DataType, Gpu},
    op::gemm::{Candidate, Planner, Precision, Request, Reuse, Shape, product},
};

use crate::{
    common::{close, gpu},
    place::{Place, table},
};

type Sizes = (u64, u64, u64);
type Kernels = [(f64, &'static str, u32); 3];

/// Shape, and for A100 SXM4, H100 SXM and L40S: time in us, tile (empty: the kernel for one row), splits.
const CHECKS: [(Sizes, Kernels); 9] = [
    ((1, 4096, 4096), [(25.6, "", 1), (14.2, "64x32", 1), (52.0, "", 1)]),
    ((16, 4096, 4096), [(29.2, "64x16", 1), (14.2, "64x32", 1), (52.5, "64x32", 1)]),
    ((128, 4096, 4096), [(35.8, "128x128", 3), (15.4, "64x64", 1), (53.9, "64x64", 1)]),
    ((512, 4096, 4096), [(91.8, "256x128", 3), (26.3, "128x128", 1), (85.9, "128x128", 1)]),
    ((4096, 4096, 4096), [(514.7, "256x128", 1), (167.3, "128x256", 1), (609.7, "256x128", 1)]),
    ((64, 512, 16384), [(19.6, "64x64", 12), (11.1, "64x64", 16), (24.4, "64x64", 16)]),
    ((8192, 8192, 128), [(165.0, "256x128", 1), (62.0, "128x256", 1), (210.3, "128x128", 1)]),
    ((1024, 1024, 1024), [(18.9, "128x128", 1), (6.3, "64x128", 1), (12.8, "128x64", 1)]),
    ((32, 64, 64), [(3.7, "64x16", 1), (2.8, "64x8", 1), (2.2, "64x16", 1)]),
];

/// The GPU with the data of the fit: weights that were never written.
fn fitted(name: &str) -> Gpu {
    let mut gpu = gpu(name);
    gpu.calibration.data = DataKind::Uninitialised;
    gpu
}

#[test]
fn check_values_of_the_fit() {
    let gpus = ["a100-sxm4-80gb", "h100-sxm5-80gb", "l40s"];
    let planners = gpus.map(|name| {
        let gpu = fitted(name);
        Planner::new(&gpu, Precision::new(&gpu, DataType::Bf16, false).unwrap()).unwrap()
    });
    let mut wrong = Vec::new();
    for ((m, n, k), expected) in CHECKS {
        for ((time, tile, splits), (planner, name)) in expected.into_iter().zip(planners.iter().zip(gpus)) {
            let plan = planner.plan(Shape::new(1, m, n, k).unwrap(), Reuse::Rotated(6));
            let found = plan.time * 1e6;
            let chosen = plan.chosen.tile.map_or(String::new(), |t| format!("{}x{}", t.height, t.width));
            // Printed with one decimal.
            let near = (found - time).abs() <= time * 0.01 + 0.05;
            if !near || chosen != tile || plan.chosen.splits != splits {
                wrong.push(format!(
                    "{name} {m}x{n}x{k}: {found:.1} {chosen} S{}, should be {time} {tile} S{splits}",
                    plan.chosen.splits
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same for the B200, whose family has factors of its own; transposed tiles tie.
const BLACKWELL: [(Sizes, f64); 10] = [
    ((1, 4096, 4096), 8.6),
    ((16, 4096, 4096), 8.6),
    ((128, 4096, 4096), 9.3),
    ((512, 4096, 4096), 15.5),
    ((4096, 4096, 4096), 87.9),
    ((64, 512, 16384), 8.4),
    ((8192, 8192, 128), 32.9),
    ((1024, 1024, 1024), 4.3),
    ((32, 64, 64), 2.1),
    ((16384, 256, 2048), 14.8),
];

#[test]
fn check_values_of_blackwell() {
    let gpu = fitted("b200");
    let planner = Planner::new(&gpu, Precision::new(&gpu, DataType::Bf16, false).unwrap()).unwrap();
    for ((m, n, k), time) in BLACKWELL {
        let found = planner.plan(Shape::new(1, m, n, k).unwrap(), Reuse::Rotated(6)).time * 1e6;
        assert!((found - time).abs() <= time * 0.01 + 0.05, "{m}x{n}x{k}: {found:.2}, should be {time}");
    }
}

#[test]
fn the_pipeline_gives_the_time_of_the_search() {
    for name in ["a100-sxm4-80gb", "h100-sxm5-80gb", "l40s", "b200", "t4", "instinct-mi300x"] {
        let gpu = gpu(name);
        for input in [DataType::Fp16, DataType::Fp32] {
            let precision = Precision::new(&gpu, input, false).unwrap();
            let planner = Planner::new(&gpu, precision).unwrap();
            for ((m, n, k), _) in CHECKS {
                for reuse in [Reuse::Cold, Reuse::Warm, Reuse::ColdWeights] {
                    let shape = Shape::new(1, m, n, k).unwrap();
                    let request = Request { reuse, ..Request::new(shape, input) };
                    let found = product(&gpu, &request).unwrap().analysis.time;
                    let planned = planner.plan(shape, reuse).time;
                    close(&format!("{name} {m}x{n}x{k}"), found.estimate.get(), planned, 1e-9);
                    assert!(found.low <= found.estimate && found.estimate.get() <= found.high.get() * (1.0 + 1e-9));
                }
            }
        }
    }
}

#[test]
fn rows_far_apart_slow_single_fp32_products() {
    // Time of k = 32,768 over 16 times that of k = 2,048.
    let growth = |name, input, batch| {
        let gpu = gpu(name);
        let planner = Planner::new(&gpu, Precision::new(&gpu, input, false).unwrap()).unwrap();
        let time = |k| planner.plan(Shape::new(batch, 4096, 4096, k).unwrap(), Reuse::ColdWeights).time;
        time(32_768) / (16.0 * time(2048))
    };
    let p100 = growth("p100-pcie-16gb", DataType::Fp32, 1);
    assert!((1.8..3.0).contains(&p100), "{p100}");
    for (name, least, most) in [("a100-pcie-80gb", 1.05, 1.3), ("h100-sxm5-80gb", 1.05, 1.3), ("l4", 0.9, 1.4)] {
        let found = growth(name, DataType::Fp32, 1);
        assert!((least..most).contains(&found), "{name}: {found}");
    }
    for (name, input, batch) in [("p100-pcie-16gb", DataType::Fp32, 2), ("h100-sxm5-80gb", DataType::Fp16, 1)] {
        let found = growth(name, input, batch);
        assert!((0.9..1.1).contains(&found), "{name}: {found}");
    }
}

#[test]
fn types_that_a_gpu_has_not_are_refused_by_name() {
    for (name, input, sparse, said) in [
        ("a100-sxm4-80gb", DataType::Fp8, false, "A100 SXM4 80 GB has no FP8 tensor unit"),
        ("v100-sxm2-16gb", DataType::Bf16, false, "run there as fp64, fp32, fp16"),
        ("h100-sxm5-80gb", DataType::Fp4, false, "FP4"),
        ("v100-sxm2-16gb", DataType::Fp16, true, "2:4"),
        ("h100-sxm5-80gb", DataType::Fp32, true, "no"),
    ] {
        let error = Precision::new(&gpu(name), input, sparse).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    for dimensions in [(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)] {
        let (batch, m, n, k) = dimensions;
        assert!(Shape::new(batch, m, n, k).unwrap_err().to_string().contains("= 0"), "{dimensions:?}");
    }
    let huge = Shape::new(1, 1 << 40, 1 << 40, 1 << 40).unwrap_err().to_string();
    assert!(huge.contains("at most 1e24"), "{huge}");
}

#[test]
fn sizes_are_explained() {
    let gpu = gpu("a100-sxm4-80gb");
    let at = |m, n, k| {
        let shape = Shape::new(1, m, n, k).unwrap();
        product(&gpu, &Request::new(shape, DataType::Bf16)).unwrap()
    };
    // 108 tiles of 256 x 128 are one wave; a column more is another.
    let edge = at(2304, 1537, 4096);
    let n = edge.sizes.iter().find(|s| s.starts_with("n = 1537 takes")).unwrap_or_else(|| panic!("{:?}", edge.sizes));
    assert!(n.contains("than 1536") && n.contains("2 waves instead of 1") && n.contains("takes no more"), "{n}");
    assert!(edge.sizes[0].starts_with("n = 1537: no multiple of 8"), "{:?}", edge.sizes);
    assert!(at(2304, 1536, 4096).sizes.iter().all(|s| !s.starts_with("n = 1536 takes")), "1536 fills its wave");
    assert_eq!(edge.analysis.schedule.whole_waves(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_shape_has_a_finite_time_and_the_best_candidate_first(
        m in 1u64..40_000, n in 1u64..40_000, k in 1u64..40_000, batch in 1u64..40, name in sample(),
    ) {
        let gpu = gpu(name);
        let planner = Planner::new(&gpu, Precision::new(&gpu, DataType::Fp16, false).unwrap()).unwrap();
        let shape = Shape::new(batch, m, n, k).unwrap();
        for reuse in [Reuse::Cold, Reuse::ColdWeights, Reuse::Warm] {
            let plan = planner.plan(shape, reuse);
            prop_assert!(plan.time.is_finite() && plan.time > 0.0);
            let best: [Option<Candidate>; 4] = planner.candidates(shape, reuse);
            prop_assert_eq!(best[0].unwrap().time, plan.chosen.time);
            prop_assert!(best.iter().flatten().is_sorted_by(|a, b| a.time <= b.time));
            // No faster than the datasheet allows.
            let peak = gpu.peak(planner.precision().pipe).unwrap().get();
            prop_assert!(plan.time * peak >= shape.flop() * (1.0 - 1e-9));
        }
        let time = |reuse| planner.plan(shape, reuse).time;
        prop_assert!(time(Reuse::Warm) <= time(Reuse::ColdWeights) * (1.0 + 1e-9));
        prop_assert!(time(Reuse::ColdWeights) <= time(Reuse::Cold) * (1.0 + 1e-9));
    }
}

fn sample() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "a100-sxm4-80gb",
        "h100-sxm5-80gb",
        "l40s",
        "b200",
        "t4",
        "rtx-4090",
        "instinct-mi300x",
    ])
}

#[test]
fn the_command() {
    let place = Place::new();
    let square = ["gemm", "4096", "4096", "4096", "--gpu", "h100"];
    let with = |more: &[&str]| place.out(&[&square[..], more].concat()).replace("\n              ", " ");
    let text = with(&["--operands", "uninitialised"]);
    // The check value, and the band of the H100 from 100 us to 1 ms.
    for said in [
        "167.3 us (155.6 us to 185.7 us)",
        "math-bound (BF16 tensor)",
        "tile 128x256: 166.3 us, 512 blocks in 3.88 waves",
        "output store",
        "band: four of five measured products lie in it",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let random = with(&[]);
    assert!(random.contains("172.9 us") && random.contains("random numbers (--operands)"), "{random}");
    let classic = with(&["--schedule", "classic"]);
    assert!(classic.contains("177.1 us"), "the whole of the last wave: {classic}");
    assert!(with(&["--batch", "2"]).contains("band: wide, batched and grouped products"));
    place.refused(&[&square[..], &["--schedule", "greedy"]].concat(), &["greedy", "classic", "persistent"]);
    place.refused(&[&square[..], &["--operands", "zeros"]].concat(), &["zeros", "random or uninitialised"]);
    let grouped = place.out(&["gemm", "512,37,5", "2048", "4096", "--gpu", "h100"]);
    assert!(grouped.contains("gemm 3 groups up to 512x2048x4096 bf16"), "{grouped}");
    place.refused(&["gemm", "5,0", "64", "64"], &["m = 0"]);
    place.refused(&["gemm", "5,x", "64", "64"], &["`x` is no whole number"]);
    place.refused(&["gemm", "5,6", "64", "64", "--batch", "2"], &["--batch 2", "M names 2"]);
    place.refused(&["chart", "gemm", "5,6", "64", "64", "--over", "n", "-o", "a.svg"], &["M = 2 heights"]);
    let rows = table(&place.out(&["gemm", "16", "4096", "4096", "--gpu", "l4", "--gpu", "a30", "--format", "csv"]));
    assert_eq!(rows.len(), 3);
    let column = rows[0].iter().position(|c| c == "tile").unwrap();
    assert!(rows[1][column].contains('x'), "{rows:?}");
    let forced = place.out(&["gemm", "4096", "4096", "4096", "--gpu", "a100", "--tile", "128x64", "--split", "2"]);
    assert!(forced.contains("tile 128x64, k split 2 ways") && !forced.contains("256x128"), "{forced}");
    place.refused(&["gemm", "64", "64", "64", "--gpu", "a100", "--tile", "100x100"], &["100x100", "256x128"]);
    let narrow = place.out(&["gemm", "4096", "4096", "4096", "--gpu", "h100", "--dtype", "fp8", "--quantise"]);
    for said in [
        "quantise 4096x4096 to fp8",
        "gemm 4096x4096x4096 fp8",
        "band: wide, products of this type were never measured",
    ] {
        assert!(narrow.replace("\n              ", " ").contains(said), "{said}: {narrow}");
    }
    place.refused(&["gemm", "64", "64", "64", "--quantise"], &["bf16 is none"]);
    place.refused(&["gemm", "4096", "0", "4096"], &["n = 0"]);
    place.refused(
        &["gemm", "4096", "4096", "4096", "--dtype", "fp8", "--gpu", "a100"],
        &["A100 SXM4 80 GB has no FP8", "bf16"],
    );
    place.refused(&["gemm", "64", "64", "64", "--gpu", "epyc-9654"], &["is a CPU"]);
    place.refused(&["gemm", "-1", "64", "64"], &[]);
    place.refused(&["gemm", "99999999999999999999", "64", "64"], &[]);
    let sliced = place.out(&["gemm", "8192", "8192", "8192", "--gpu", "a100-sxm4-80gb:3g.40gb", "--format", "json"]);
    assert!(sliced.contains("\"sm_count\": 42"), "{sliced}");
}
