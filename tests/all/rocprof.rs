//! rocprof: every dialect in `tests/data/rocprof`, values by hand.

use wavecast::{
    profile::{Format, Trace, detect_trace, read_trace},
    units::{Bytes, Seconds},
};

const V1: &str = include_str!("../data/rocprof/v1.csv");
const PMC: &str = include_str!("../data/rocprof/pmc_perf_v2.csv");
const V3: &str = include_str!("../data/rocprof/v3_kernel_trace.csv");
const COUNTERS: &str = include_str!("../data/rocprof/v3_counter_collection.csv");
const STATS: &str = include_str!("../data/rocprof/kernel_stats.csv");
const SYSTEM: &str = include_str!("../data/rocprof/sysinfo.csv");

fn trace(text: &str) -> Trace {
    assert_eq!(detect_trace(text.as_bytes()), Some(Format::Rocprof), "{text}");
    read_trace(Format::Rocprof, &mut text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn near(found: Seconds, wanted: f64) -> bool {
    (found.get() - wanted).abs() <= 1e-9 * wanted
}

#[test]
fn first_dialect_has_products_of_extents() {
    let trace = trace(V1);
    let [blend] = &trace.groups[..] else { panic!("{} groups", trace.groups.len()) };
    let kernel = &blend.kernel;
    assert_eq!((kernel.name.as_str(), blend.launches, blend.device), ("blend(float*, int)", 2, 1));
    // 1000 work-items in groups of 256: 3 whole ones and a rest.
    assert_eq!((kernel.grid, kernel.grid_blocks), (None, Some(4)));
    assert_eq!((kernel.block, kernel.threads_per_block), (None, Some(256)));
    assert_eq!(
        (kernel.registers_per_thread, kernel.accumulation_registers, kernel.scalar_registers),
        (Some(32), Some(4), Some(48))
    );
    assert_eq!(kernel.static_shared.map(|size| size.value), Some(Bytes(512.0)));
    // Times of 19 digits keep their nanoseconds: 1..5 and 7..13 us.
    assert!(near(blend.total, 10e-6) && near(trace.times[0].gaps, 2e-6), "{:?}", trace.times);
    assert_eq!(trace.warnings, ["line 4: row skipped: a quote opens and does not close"]);
}

#[test]
fn counters_beside_the_launch_and_rounded_times() {
    let trace = trace(PMC);
    let [copy] = &trace.groups[..] else { panic!("{} groups", trace.groups.len()) };
    assert_eq!((copy.kernel.name.as_str(), copy.launches, copy.timed), ("void ns::copy<float, 4>(float*)", 2, 1));
    assert!(near(copy.total, 2e-6));
    assert_eq!((copy.kernel.grid_blocks, copy.device), (Some(64), 2));
    assert_eq!(trace.warnings, ["line 3: times have too few digits for a duration"]);
}

#[test]
fn third_dialect_has_extents_by_axis() {
    let trace = trace(V3);
    let [gemm] = &trace.groups[..] else { panic!("{} groups", trace.groups.len()) };
    let kernel = &gemm.kernel;
    assert_eq!((kernel.grid, kernel.block, gemm.device), (Some([8, 16, 2]), Some([64, 4, 1]), 4));
    assert_eq!((kernel.grid_blocks, kernel.accumulation_registers), (Some(256), Some(160)));
    assert!(near(gemm.total, 6e-6) && near(trace.times[0].span, 7e-6));
    assert_eq!(
        trace.warnings,
        ["line 4: row skipped: it ends at 1700000000000008000 before it begins at 1700000000000009000"]
    );
    let counted = self::trace(COUNTERS);
    assert_eq!((counted.launches(), counted.groups[0].kernel.name.as_str()), (2, "copy"));
    assert!(near(counted.kernel_time(), 500e-9));
    assert_eq!(counted.groups[0].kernel.grid_blocks, Some(10));
}

#[test]
fn summaries_and_descriptions() {
    let stats = trace(STATS);
    assert_eq!((stats.groups.len(), stats.launches()), (2, 5));
    assert!(near(stats.groups[0].total, 8e-6) && near(stats.groups[0].shortest, 1.5e-6));
    assert_eq!(detect_trace(SYSTEM.as_bytes()), Some(Format::Rocprof));
    let error = read_trace(Format::Rocprof, &mut SYSTEM.as_bytes()).expect_err("no launch").to_string();
    assert!(error.starts_with("this describes a device (MI210, gfx90a, compute units: 104,"), "{error}");
    for other in ["Kernel Name,Grid Size,Block Size\n", "name,calls\n", "Kernel_Name,Color\n"] {
        assert_eq!(detect_trace(other.as_bytes()), None, "{other}");
    }
}
