//! nvprof: every table in `tests/data/nvprof`, values by hand.

use wavecast::{
    profile::{Format, Measured, ObservedPipe, Trace, detect_trace, read_trace},
    units::{Bytes, Seconds},
};

const TRACE: &str = include_str!("../data/nvprof/gpu_trace.csv");
const SUMMARY: &str = include_str!("../data/nvprof/summary.csv");
const SUMMARY_2016: &str = include_str!("../data/nvprof/summary_2016.csv");
const METRICS: &str = include_str!("../data/nvprof/metrics.csv");

fn trace(text: &str) -> Trace {
    assert_eq!(detect_trace(text.as_bytes()), Some(Format::Nvprof), "{text}");
    read_trace(Format::Nvprof, &mut text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn near(found: Seconds, wanted: f64) -> bool {
    (found.get() - wanted).abs() <= 1e-9 * wanted
}

#[test]
fn trace_with_units_of_its_own() {
    let trace = trace(TRACE);
    let [step] = &trace.groups[..] else { panic!("{} groups", trace.groups.len()) };
    let kernel = &step.kernel;
    assert_eq!(kernel.name, "void step<float, int=3>(float*, float const *)");
    assert_eq!((step.launches, step.device, kernel.device.name.as_deref()), (2, 1, Some("GeForce GTX 1070")));
    assert!(near(step.longest, 1.5e-3) && near(step.shortest, 0.896e-6), "{step:?}");
    assert_eq!(
        (kernel.grid, kernel.block, kernel.registers_per_thread),
        (Some([12, 24, 1]), Some([32, 16, 1]), Some(40))
    );
    // 3.75 KB of 1024 bytes: 40 x 24 floats.
    let exact = |bytes| Some(Measured { value: Bytes(bytes), half_width: Bytes::ZERO });
    assert_eq!((kernel.static_shared, kernel.dynamic_shared), (exact(3840.0), exact(0.0)));
    assert_eq!(trace.transfers[0].bytes, Some(Bytes(12.0 * 1024.0 * 1024.0)));
    assert_eq!(trace.transfers[1].bytes, Some(Bytes(256.0)));
    assert_eq!(
        trace.warnings,
        [
            "line 4: Warning: Found 2 invalid records in the result.",
            "line 12: row skipped: grid `0 24 1` is none",
            "line 14: row skipped: 6 fields under 17 columns, and the file ends there",
        ]
    );
    // Copies 500..502 and 506..506.001, kernels 503..504.5 and 505..505.0009, in ms.
    assert!((trace.times[0].gaps.get() - 2.499_104e-3).abs() < 1e-9, "{:?}", trace.times);
}

#[test]
fn units_below_the_header_are_needed() {
    let bare: String = TRACE.lines().filter(|line| !line.starts_with("s,ms")).map(|line| format!("{line}\n")).collect();
    let error = read_trace(Format::Nvprof, &mut bare.as_bytes()).expect_err("no units").to_string();
    assert!(error.contains("row of units is missing"), "{error}");
    let other = TRACE.replace("s,ms,,,,,,,,KB,B", "ms,us,,,,,,,,B,KB").replace("3.750000,0", "3840,0.5");
    let kernel = &trace(&other).groups[0];
    assert!(near(kernel.longest, 1.5e-6), "{kernel:?}");
    assert_eq!(kernel.kernel.dynamic_shared.map(|size| size.value), Some(Bytes(512.0)));
}

#[test]
fn summaries_count_kernels_only() {
    let new = trace(SUMMARY);
    assert_eq!((new.groups.len(), new.launches(), new.transfers[0].count), (1, 3, 2));
    let step = &new.groups[0];
    assert!(near(step.total, 9e-3) && near(step.shortest, 2.5e-3) && near(step.longest, 4e-3));
    assert!(near(new.transfers[0].total, 1e-3));
    let old = trace(SUMMARY_2016);
    assert_eq!((old.groups.len(), old.launches(), old.warnings.len()), (1, 3, 0));
    assert!(near(old.kernel_time(), 1.5));
}

#[test]
fn metrics_are_means_over_invocations() {
    let trace = trace(METRICS);
    assert_eq!((trace.groups.len(), trace.launches(), trace.kernel_time()), (2, 5, Seconds::ZERO));
    let step = trace.groups.iter().find(|group| group.launches == 4).unwrap();
    let kernel = &step.kernel;
    assert_eq!((kernel.name.as_str(), step.timed, kernel.duration), ("step(float*, int)", 0, None));
    assert_eq!((kernel.achieved_occupancy_pct, kernel.ipc), (Some(62.5), Some(1.5)));
    assert_eq!((kernel.dram_read, kernel.dram_bytes), (Some(Bytes(64_000.0)), Some(Bytes(80_000.0))));
    assert_eq!((kernel.l2_bytes, kernel.l2_hit_pct), (None, None));
    assert_eq!(kernel.operations, [(ObservedPipe::Fp32, 4096.0)]);
    assert_eq!((kernel.metric("dram_read_throughput"), kernel.metrics[4].key.unit.as_str()), (Some("110.5"), "GB/s"));
    assert_eq!(kernel.metric("double_precision_fu_utilization"), Some("Idle (0)"));
    assert_eq!(kernel.device.name.as_deref(), Some("GeForce GTX 1070"));
}
