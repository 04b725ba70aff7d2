//! What fuzzing and reading the code for it found, and laws for damaged files: an answer or a refusal, never a panic, a hang,
//! gigabytes or a number that is none.

use std::sync::LazyLock;

use proptest::prelude::*;
use wavecast::{
    analysis::{Analysis, analyse},
    gpu::{Catalog, DataType, Limits, Sm},
    kernel::{Kernel, Level},
    occupancy::{
        Resources, advice,
        cluster::{Clusters, most_active},
        occupancy,
        warpgroups::redistribution,
    },
    op::gemm::{Precision, Request, Reuse, Shape, quantisation},
    report::{KernelReport, Report, csv, json},
    scenario::{Scenario, embedded_named},
    time::Timing,
    units::{Bytes, Flops},
};

use super::{
    common::{block, gpu, kernel, what_if},
    place::Place,
};

/// Read once: some hundred cases look things up in it.
static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().unwrap());

/// Refused with a message that names the key and says `rule`.
fn refused(name: &str, change: &str, rule: &str) {
    let message = what_if(name, &[change]).expect_err(change);
    let key = change.split('=').next().unwrap();
    assert!(message.contains(key) && message.contains(rule), "--set {change}: {message}");
}

#[test]
fn limits_that_no_sm_has_are_refused() {
    // Advice and charts try every block size, register count and unit of shared memory: gigabytes or minutes.
    for (change, rule) in [
        ("limits.max_threads_per_block=4294967295", "at most 65536"),
        ("limits.max_registers_per_thread=4294967295", "at most 4096"),
        ("limits.shared_allocation_unit=1 B", "at least 32 B"),
        ("limits.max_shared_per_block_optin=4294967295 B", "at most 4 MiB"),
        ("limits.shared_per_sm=1 GiB", "at most 4 MiB"),
        // Products and roundings that overflow.
        ("limits.warp_size=4294967295", "at most 1024"),
        ("limits.register_allocation_unit=4294967295", "at most 65536"),
        ("limits.max_warps_per_sm=4294967295", "at most 65536"),
        ("limits.max_blocks_per_sm=4294967295", "at most 65536"),
        ("limits.sub_partitions=4294967295", "at most 1024"),
    ] {
        refused("h100", change, rule);
    }
    for (change, rule) in [
        ("compute_unit.max_threads_per_workgroup=1000000", "at most 65536"),
        ("compute_unit.max_waves_per_simd=1000000", "at most 1024"),
        ("compute_unit.simds_per_cu=1000000", "at most 64"),
        ("compute_unit.addressable_sgprs=4294967295", "at most 4096"),
        ("compute_unit.lds_granule=1 B", "at least 32"),
        ("compute_unit.max_lds_per_workgroup=4 GB", "at most 4194304"),
    ] {
        refused("instinct-mi300x", change, rule);
    }
}

#[test]
fn figures_whose_ratios_overflow_are_refused() {
    for change in [
        "memory.dram.bandwidth=1e-300 B/s",
        "clocks.vector=1e-300 Hz",
        "memory.l2.capacity=1e-320 B",
        "rates.sparsity=1e308",
        "latency.dram=1e300 kcycles",
    ] {
        refused("h100", change, "from 1e-30 to 1e40 in base units");
    }
    refused("h100", "calibration.sustained_tensor=1e-300", "not below 1e-30");
    refused("h20", "rates.tensor_cap=1e-300", "not below 1e-30");
}

#[test]
fn an_amount_of_almost_nothing_is_refused_and_has_no_place_on_a_roofline() {
    let place = Place::new();
    let start = ["kernel", "--gpu", "h100-sxm5-80gb", "--grid", "9", "--block", "64"];
    let options = [&start[..], &["--op", "vector.fp32=1 TFLOP", "--shared-read", "1e-300 B"]].concat();
    place.refused(&options, &["traffic.shared.read", "0, or at least 1e-9"]);

    let tiny = |flops, bytes| Kernel {
        operations: vec![("vector.fp32".parse().unwrap(), Flops(flops))],
        ..kernel(block(64, 32, 0), "vector.fp32", 0.0, bytes, 0.0)
    };
    assert_eq!(tiny(1e20, 1e-300).intensity(Level::Dram), None, "infinite");
    assert_eq!(tiny(1e-320, 1e20).intensity(Level::Dram), None, "zero");
    assert!(tiny(1.0, 1e20).intensity(Level::Dram).is_some());
}

#[test]
fn register_counts_beyond_any_thread_neither_overflow_nor_hang() {
    let hopper = Limits::Sm(Catalog::embedded().unwrap().limits("9.0".parse().unwrap()).unwrap());
    let asked = block(384, u32::MAX, 0);
    let moved = redistribution(&hopper, &asked, &[40, 232, 232]).unwrap();
    assert_eq!((moved.asked, moved.given), (64_512, 384 * (u64::from(u32::MAX) + 1)));
    let nothing = redistribution(&hopper, &block(0, 0, 0), &[]).unwrap_err();
    assert!(nothing.to_string().contains("0 counts"), "{nothing}");

    let vega = gpu("instinct-mi50-16gb").limits;
    let asked = Resources { scalar_registers: u32::MAX, ..block(64, 32, 0) };
    let found = occupancy(&vega, &asked);
    let steps = advice::next_steps(&vega, &asked, &found);
    assert_eq!((found.blocks_per_sm, steps.len()), (0, 1), "{steps:?}");
    assert!(steps[0].at_most > 16 && steps[0].blocks_per_sm > 0, "{steps:?}");
}

#[test]
fn a_product_longer_than_any_memory_is_refused() {
    let place = Place::new();
    for sizes in [["18446744073709551615", "1", "1"], ["1", "1", "1099511627777"]] {
        place.refused(&[&["gemm"], &sizes[..]].concat(), &["at most 2^40"]);
    }
    let shape = Shape::new(1 << 39, 1 << 39, 1, 1).unwrap();
    let input = DataType::Fp8;
    let request = Request { reuse: Reuse::Cold, ..Request::new(shape, input) };
    let h100 = gpu("h100-sxm5-80gb");
    let precision = Precision::new(&h100, input, false).unwrap();
    let refused = quantisation(&h100, &request, &precision).unwrap_err();
    assert!(refused.to_string().contains("302231454903657293676544x1"), "{refused}");
}

#[test]
fn a_cpu_has_no_chart_of_block_sizes() {
    let place = Place::new();
    place.refused(&["chart", "occupancy", "saxpy", "--gpu", "epyc-9755"], &["EPYC 9755 is a CPU", "no occupancy"]);
}

#[test]
fn gpcs_without_number_do_not_overflow() {
    let sm = Sm { gpc_count: Some(u32::MAX), max_per_gpc: Some(u32::MAX), ..gpu("h100").sm };
    assert_eq!(most_active(&sm, 32, Clusters { blocks: 2, portable: true }), Some(132 * 16));
}

/// Numbers of which one replaces that of a value.
const ODD: [&str; 14] = [
    "0",
    "-1",
    "1",
    "nan",
    "inf",
    "1e-320",
    "1e-300",
    "1e-25",
    "1e35",
    "1e300",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "x",
];

/// The file with the number of some values replaced, their units kept; lines without a number are left out.
fn damaged(text: &str, damages: &[(usize, usize)]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (line, odd) in damages {
        let line = &mut lines[line % text.lines().count()];
        let start = line.find("= ").and_then(|at| Some(at + line[at..].find(|c: char| c.is_ascii_digit())?));
        match start {
            Some(start) => {
                let end =
                    line[start..].find(|c: char| !c.is_ascii_digit() && c != '.').map_or(line.len(), |n| start + n);
                line.replace_range(start..end, ODD[*odd]);
            }
            None => line.clear(),
        }
    }
    lines.join("\n")
}

fn damages() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((any::<usize>(), 0..ODD.len()), 1..3)
}

/// The report of an analysis has numbers where it has anything, in JSON and CSV.
fn sound(analysis: &Analysis) -> Result<(), TestCaseError> {
    let time = &analysis.time;
    prop_assert!(time.estimate.get() > 0.0 && time.estimate.get().is_finite(), "{:?}", time);
    prop_assert!(time.low.get() <= time.estimate.get() * (1.0 + 1e-9), "{:?}", time);
    prop_assert!((0.0..=1.0).contains(&analysis.launch.occupancy.fraction()));
    let report = Report::new(vec![KernelReport::from_analysis(analysis)]);
    let shown = format!("{:?}", report.kernels[0].terms) + &format!("{:?}", report.kernels[0].points);
    prop_assert!(!shown.contains("NaN") && !shown.contains(": inf"), "{}", shown);
    prop_assert!(serde_json::from_str::<serde_json::Value>(&json(&report)).is_ok() && csv(&report).is_ok());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_damaged_gpu_file_is_refused_or_sound(which in any::<prop::sample::Index>(), damages in damages()) {
        let catalog = &*CATALOG;
        let ids: Vec<&str> = catalog.gpus().map(|g| g.id.as_str()).collect();
        let id = ids[which.index(ids.len())];
        match catalog.read("damaged", &damaged(catalog.text(id).unwrap(), &damages), &[]) {
            Ok(gpu) => {
                let mut probe = kernel(block(128, 32, 0), "vector.fp32", 1e12, 1e9, 1e6);
                probe.traffic.reuse_distance = Some(Bytes(1e6));
                if let Ok(analysis) = analyse(&gpu, probe, 1000, Timing::Device) {
                    sound(&analysis)?;
                }
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn a_damaged_scenario_is_refused_or_sound(damages in damages()) {
        let text = damaged(embedded_named("demo").unwrap(), &damages);
        match Scenario::parse("damaged", &text).and_then(|s| s.cases(&CATALOG)) {
            Ok(cases) => {
                for case in cases.iter().take(8) {
                    if let Ok(analysis) = case.analyse() {
                        sound(&analysis)?;
                    }
                }
            }
            Err(error) => prop_assert!(error.to_string().contains("damaged"), "{}", error),
        }
    }
}
