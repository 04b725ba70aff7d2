//! What several tests need: GPUs by name, and kernels described in one line.

use wavecast::{
    analysis::{Analysis, analyse},
    gpu::{Catalog, Gpu, Limits, Override, Pipe, SmLimits},
    kernel::{Access, Concurrency, Kernel, Traffic},
    occupancy::{Occupancy, Resources, occupancy},
    time::Timing,
    units::{Bytes, Flops},
};

/// A GPU of the catalog.
pub fn gpu(name: &str) -> Gpu {
    Catalog::embedded().unwrap().find(name).unwrap().gpu
}

/// A GPU of the catalog with what-ifs, or the message of the error.
pub fn what_if(name: &str, overrides: &[&str]) -> Result<Gpu, String> {
    let overrides =
        overrides.iter().map(|o| o.parse()).collect::<Result<Vec<Override>, _>>().map_err(|e| e.to_string())?;
    Catalog::embedded().unwrap().find_with(name, &overrides).map(|f| f.gpu).map_err(|e| e.to_string())
}

/// The SM limits of a compute capability.
pub fn limits(capability: &str) -> Limits {
    Limits::Sm(Catalog::embedded().unwrap().limits(capability.parse().unwrap()).unwrap())
}

/// The limits of an NVIDIA GPU.
pub fn sm(limits: &Limits) -> &SmLimits {
    limits.sm().unwrap()
}

/// A block of so many threads, with registers per thread and dynamic shared memory.
pub fn block(threads_per_block: u32, registers_per_thread: u32, dynamic_shared: u32) -> Resources {
    Resources { threads_per_block, registers_per_thread, dynamic_shared, ..Default::default() }
}

/// Residency of such a block.
pub fn residency(capability: &str, threads: u32, registers: u32, shared: u32) -> Occupancy {
    occupancy(&limits(capability), &block(threads, registers, shared))
}

/// A pipe by its text.
pub fn pipe(text: &str) -> Pipe {
    text.parse().unwrap()
}

/// A kernel with one kind of operation and DRAM traffic, with enough in flight that latency does not bind.
pub fn kernel(resources: Resources, unit: &str, flops: f64, read: f64, write: f64) -> Kernel {
    Kernel {
        name: "described".into(),
        resources,
        operations: if flops > 0.0 { vec![(pipe(unit), Flops(flops))] } else { Vec::new() },
        warp_instructions: None,
        traffic: Traffic {
            dram: Access { read: Bytes(read), write: Bytes(write), ..Default::default() },
            ..Default::default()
        },
        concurrency: Concurrency { bytes_in_flight: 256.0, instructions_in_flight: 8.0, ..Default::default() },
        tiled: None,
    }
}

/// An FP16 matrix product C = A B with FP32 accumulation that reads each operand and writes the result once.
pub fn gemm(m: f64, n: f64, k: f64) -> Kernel {
    let bytes = 2.0;
    kernel(block(256, 64, 0), "tensor.fp16", 2.0 * m * n * k, bytes * (m * k + k * n), bytes * m * n)
}

/// Runs the pipeline.
pub fn run(gpu: &Gpu, kernel: Kernel, blocks: u64) -> Analysis {
    analyse(gpu, kernel, blocks, Timing::Device).unwrap()
}

/// Tiles of `tile` that cover an output of `m` x `n`.
pub fn tiles(m: u64, n: u64, tile: (u64, u64)) -> u64 {
    m.div_ceil(tile.0) * n.div_ceil(tile.1)
}

/// Fails with both values where they differ by more than `tolerance`, as a share of `right`.
#[track_caller]
pub fn close(what: &str, found: f64, right: f64, tolerance: f64) {
    let error = if right == 0.0 { found.abs() } else { (found / right - 1.0).abs() };
    assert!(error <= tolerance, "{what}: {found}, should be {right} within {tolerance}");
}
