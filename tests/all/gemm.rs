//! Matrix products against the check values of the model's fit, and laws of the search.

use wavecast::{
    gpu::DataType,
    op::gemm::{Planner, Precision, Reuse, Shape},
};

use crate::common::gpu;

/// Time in us, tile (empty: the kernel for one row), splits.
type Expected = (f64, &'static str, u32);

/// Shape, and what is expected of A100 SXM4, H100 SXM and L40S.
const CHECKS: [((u64, u64, u64), [Expected; 3]); 9] = [
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

#[test]
fn check_values_of_the_fit() {
    let gpus = ["a100-sxm4-80gb", "h100-sxm5-80gb", "l40s"];
    let planners = gpus.map(|name| {
        let gpu = gpu(name);
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
const BLACKWELL: [((u64, u64, u64), f64); 10] = [
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
    let gpu = gpu("b200");
    let planner = Planner::new(&gpu, Precision::new(&gpu, DataType::Bf16, false).unwrap()).unwrap();
    for ((m, n, k), time) in BLACKWELL {
        let found = planner.plan(Shape::new(1, m, n, k).unwrap(), Reuse::Rotated(6)).time * 1e6;
        assert!((found - time).abs() <= time * 0.01 + 0.05, "{m}x{n}x{k}: {found:.2}, should be {time}");
    }
}
