//! Reports of hand-made launches, as a reader sees them.

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

#[test]
fn every_form_names_every_kernel() {
    let all = || vec![saxpy(), gemm(), tiny(), after_a_full_wave(), strided()];
    let report = Report::new(all());
    let narrow = TextOptions { width: 60, ..Default::default() };
    let forms = [
        text(&report, TextOptions::default()),
        text(&report, narrow),
        markdown(&report),
        csv(&report).unwrap(),
        json(&report).to_string(),
    ];
    for kernel in all() {
        for form in &forms {
            assert!(form.contains(&kernel.kernel), "{} is not in\n{form}", kernel.kernel);
        }
    }
}
