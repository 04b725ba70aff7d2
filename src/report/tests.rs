//! Reports of hand-made launches, as a reader sees them.

mod html_page;
mod text_snapshots;
mod traces;

use super::*;
use crate::{
    analysis::analyse,
    gpu::Catalog,
    kernel::{Access, Kernel, Traffic},
    occupancy::Resources,
    time::Timing,
    units::{Bytes, Flops},
};

fn kernel(name: &str, threads: u32, registers: u32, shared: u32) -> Kernel {
    Kernel {
        name: name.into(),
        resources: Resources {
            threads_per_block: threads,
            registers_per_thread: registers,
            dynamic_shared: shared,
            ..Resources::default()
        },
        operations: Vec::new(),
        warp_instructions: None,
        traffic: Traffic::default(),
        concurrency: Default::default(),
        tiled: None,
    }
}

fn report_of(gpu: &str, kernel: Kernel, blocks: u64) -> KernelReport {
    let gpu = Catalog::embedded().unwrap().find(gpu).unwrap().gpu;
    KernelReport::from_analysis(&analyse(&gpu, kernel, blocks, Timing::Device).unwrap())
}

fn saxpy() -> KernelReport {
    let n = f64::from(1 << 26);
    let mut saxpy = kernel("saxpy", 256, 16, 0);
    saxpy.operations = vec![("vector.fp32".parse().unwrap(), Flops(2.0 * n))];
    saxpy.traffic.dram = Access { read: Bytes(8.0 * n), write: Bytes(4.0 * n), ..Access::default() };
    report_of("h100-sxm5-80gb", saxpy, 1 << 18)
}

fn gemm() -> KernelReport {
    let n = 4096.0;
    let mut gemm = kernel("gemm_128x256x64", 384, 168, 213 << 10);
    gemm.operations = vec![("tensor.bf16".parse().unwrap(), Flops(2.0 * n * n * n))];
    gemm.traffic.dram = Access { read: Bytes(4.0 * n * n), write: Bytes(2.0 * n * n), ..Access::default() };
    gemm.traffic.l2 = Some(Access {
        read: Bytes(2.0 * n * n * (n / 128.0 + n / 256.0)),
        write: Bytes(2.0 * n * n),
        ..Access::default()
    });
    // Four stages of 48 KiB in flight per block.
    gemm.concurrency.bytes_in_flight = f64::from(4 * (48 << 10)) / 384.0;
    report_of("h100-sxm5-80gb", gemm, 512)
}

fn tiny() -> KernelReport {
    let mut tiny = kernel("bias_add", 256, 32, 0);
    tiny.operations = vec![("vector.fp32".parse().unwrap(), Flops(10_240.0))];
    tiny.traffic.dram = Access { read: Bytes(81_920.0), write: Bytes(40_960.0), ..Access::default() };
    report_of("h100-sxm5-80gb", tiny, 10)
}

/// One block more than the SMs of an A100, one resident block each.
fn after_a_full_wave() -> KernelReport {
    let mut tail = kernel("nbody", 1024, 40, 100 << 10);
    tail.operations = vec![("vector.fp32".parse().unwrap(), Flops(109.0 * 2e9))];
    tail.traffic.dram = Access { read: Bytes(109.0 * 65536.0), ..Access::default() };
    report_of("a100-sxm4-80gb", tail, 109)
}

fn strided() -> KernelReport {
    let n = f64::from(1 << 24);
    let mut strided = kernel("transpose_naive", 256, 96, 9000);
    strided.traffic.dram =
        Access { read: Bytes(4.0 * n), write: Bytes(4.0 * n), write_efficiency: 0.125, ..Access::default() };
    report_of("t4", strided, 65536)
}

fn all() -> Report {
    Report::new(vec![saxpy(), gemm(), tiny(), after_a_full_wave(), strided()])
}

/// A profiled kernel whose file states little.
fn observed() -> KernelReport {
    KernelReport {
        kernel: "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int, T1, T2)".into(),
        source: NSIGHT_COMPUTE.into(),
        gpu_name: Some("NVIDIA H100".into()),
        grid_blocks: Some(4096),
        limit_warps: Some(BlockLimit::Blocks(8)),
        limit_barriers: Some(BlockLimit::Unlimited),
        theoretical_occupancy_pct: Some(62.5),
        achieved_occupancy_pct: Some(58.17),
        measured_us: Some(140.2),
        time_us: Some(136.24),
        low_us: Some(120.1),
        high_us: Some(182.3),
        measured_over_model: Some(140.2 / 136.24),
        points: vec![PointReport {
            level: "dram".into(),
            intensity_flop_per_byte: 0.25,
            rate_tflops: 1.2,
            attainable_tflops: 0.8375,
            share_pct: None,
            above_roof: vec!["the data come from L2, not DRAM".into()],
        }],
        missing: vec!["dram__bytes_read.sum".into()],
        ..KernelReport::default()
    }
}

#[test]
fn json_rounds_and_keeps_absent_values_null() {
    let value: serde_json::Value = serde_json::from_str(&json(&Report::new(vec![saxpy(), observed()]))).unwrap();
    assert_eq!(value["schema"], SCHEMA);
    let (described, seen) = (&value["kernels"][0], &value["kernels"][1]);
    assert_eq!(described["time_us"].to_string(), "280.253");
    assert_eq!(described["limit_regs"], 16);
    assert_eq!(seen["limit_barriers"], "inf");
    for field in ["limit_regs", "registers_per_thread", "dram_bytes", "flop", "waves", "bound"] {
        assert!(seen[field].is_null(), "{field}");
    }
    assert!(json(&Report::new(Vec::new())).ends_with("}\n"));
}

#[test]
fn fields_are_documented_exactly() {
    fn keys(value: &impl serde::Serialize) -> Vec<String> {
        serde_json::to_value(value).unwrap().as_object().unwrap().keys().cloned().collect()
    }
    fn names(fields: &[Field]) -> Vec<&str> {
        fields.iter().map(|(name, ..)| *name).collect()
    }
    assert_eq!(keys(&KernelReport::default()), names(schema_fields()));
    assert_eq!(keys(&Report::new(Vec::new())), names(report_fields()));
    let parts = part_fields();
    assert_eq!(keys(&TermReport::default()), names(parts[0].1));
    assert_eq!(keys(&PointReport::default()), names(parts[1].1));
    assert_eq!(keys(&WhatIfReport::default()), names(parts[2].1));
    assert_eq!(keys(&RowError::default()), names(parts[3].1));
}

#[test]
fn csv_has_a_row_per_launch_in_the_order_of_the_input() {
    let mut report = Report::new(vec![saxpy(), gemm(), observed()]);
    report.errors = vec![
        RowError { row: None, kernel: "last".into(), gpu: None, message: "no such GPU".into() },
        RowError { row: Some(2), kernel: "b,ig".into(), gpu: Some("t4".into()), message: "1,025 threads".into() },
    ];
    let written = csv(&report).unwrap();
    let mut reader = ::csv::Reader::from_reader(written.as_bytes());
    let head = reader.headers().unwrap().clone();
    assert_eq!(head.len(), schema_fields().len() + 1);
    let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let get = |row: usize, name: &str| rows[row][head.iter().position(|h| h == name).unwrap()].to_owned();
    let names: Vec<String> = (0..5).map(|row| get(row, "kernel")).collect();
    assert_eq!(names[..3], ["saxpy", "b,ig", "gemm_128x256x64"]);
    assert_eq!((get(1, "error"), get(4, "error")), ("1,025 threads".into(), "no such GPU".into()));
    assert_eq!((get(0, "dram_bytes"), get(0, "time_us")), ("805306000".into(), "280.253".into()));
    assert_eq!((get(2, "limiters"), get(2, "error")), ("regs|smem".into(), String::new()));
    assert_eq!(
        (get(3, "limit_barriers"), get(3, "limit_regs"), get(3, "flop")),
        ("inf".into(), String::new(), String::new())
    );
    assert_eq!((get(0, "points"), get(3, "points")), ("dram=85.7761".into(), "dram=above".into()));
    assert_eq!(csv(&Report::new(Vec::new())).unwrap().lines().count(), 1);
}

#[test]
fn markdown_escapes_names() {
    let mut kernel = after_a_full_wave();
    kernel.kernel = "a|b`c<T>".into();
    kernel.findings = vec!["a < b_c | d".into()];
    let page = markdown(&Report::new(vec![kernel]));
    assert!(page.contains("| `a\\|b'c<T>` |"), "{page}");
    assert!(page.contains("- **Finding**: a \\< b\\_c \\| d\n"), "{page}");
}

#[test]
fn next_step_names_all_limiters_that_tie() {
    let step = |kernel: KernelReport| kernel.next_steps.join("; ");
    assert_eq!(step(strided()), "at most 80 registers per thread gives one more block: 50 -> 75 %");
    assert_eq!(
        step(after_a_full_wave()),
        "at most 32 registers per thread and 81 KiB of shared memory per block together give one more block: 50 -> 100 %"
    );
    assert_eq!(step(saxpy()), "");
}

#[test]
fn every_form_names_every_kernel() {
    let report = all();
    let wide = TextOptions { width: 120, ..TextOptions::default() };
    let forms = [text(&report, wide), markdown(&report), csv(&report).unwrap(), json(&report), html(&report, &[])];
    for kernel in &report.kernels {
        for form in &forms {
            assert!(form.contains(&kernel.kernel), "{} is not in\n{form}", kernel.kernel);
        }
    }
}

#[test]
fn a_threshold_is_never_rounded_up() {
    // 64 KiB of the T4 / 5 blocks, in units of 256 bytes: 13,056 bytes; "13.06 kB" would be 4 bytes too many.
    let kernel = report_of("t4", kernel("k", 128, 32, 16_000), 1000);
    assert_eq!(
        kernel.next_steps,
        ["at most 13,056 bytes of shared memory per block gives one more block: 50 -> 62.5 %"]
    );
}
