//! The text as a reader sees it.

use super::*;

fn print(kernel: KernelReport) -> String {
    text(&Report::new(vec![kernel]), TextOptions::default())
}

#[test]
fn text_of_kernels() {
    insta::assert_snapshot!(print(saxpy()), @r"
    saxpy on H100 SXM5 80 GB
      verdict     memory-bound (DRAM): 1.7 times latency (memory latency)
      time        280.3 us (240.4 us to 640.1 us)
      occupancy   100 %, 64 of 64 warps; 8 blocks of 256 threads per SM, limited by
                  warp slots
      limits      warps 8, regs 16, smem 228, blocks 32, barriers 64 (blocks per SM)
      waves       248.2: 262,144 blocks on 132 SMs, 248 full and a tail of 256
                  (24.2 % filled) that costs <0.1 % of the time
      roofline    DRAM    85.8 %  478.9 GFLOP/s of 558.3 GFLOP/s at 0.167 FLOP/B
                  FP32 vector peak 66.91 TFLOP/s, ridge 19.97 FLOP/B
      DRAM        768 MiB at 2.874 TB/s, 85.8 % of 3.35 TB/s
      terms       DRAM               ███████████████████████████████████   247.8 us
                  SM ports           ███████████████████████▌              166.7 us
                  memory latency     ████████████████████                  141.5 us
                  L2                 ███████████▌                          81.39 us
                  instruction issue  ▌                                     3.511 us
                  fixed cost         ▍                                     2.732 us
      would help   1.62x  half the bytes moved (fusion, tiling, a narrower type);
                          then latency-bound
                   1.33x  a GPU with twice the DRAM bandwidth
                   1.03x  4 elements per thread, loaded side by side (65536 blocks)
      confidence  constants measured on H100 SXM5 80 GB; range: perfect overlap at
                  datasheet rates to no overlap
      leaves out  differences between blocks, divergence inside warps, atomics,
                  other kernels on the GPU; TLB misses and DRAM page conflicts; the
                  L2 bandwidth, which nobody published: the ports of the SMs stand
                  for it
    ");
    insta::assert_snapshot!(print(gemm()), @r"
    gemm_128x256x64 on H100 SXM5 80 GB
      verdict     memory-bound (L2), nearly balanced with math (BF16 tensor)
      time        205.8 us (166.2 us to 383.7 us)
      occupancy   18.8 %, 12 of 64 warps; 1 block of 384 threads per SM, limited by
                  registers and shared memory
      limits      warps 5, regs 1, smem 1, blocks 32, barriers 64 (blocks per SM)
      next step   at most 80 registers per thread and 113 KiB of shared memory per
                  block together give one more block: 18.8 -> 37.5 %
      waves       3.879: 512 blocks on 132 SMs, 3 full and a tail of 116 (87.9 %
                  filled, 16 SMs idle) that costs 1.4 % of the time
      roofline    DRAM    67.5 %  667.7 TFLOP/s of 989.4 TFLOP/s at 1365 FLOP/B
                  BF16 tensor peak 989.4 TFLOP/s, ridge 295.4 FLOP/B
      DRAM        96 MiB at 489 GB/s, 14.6 % of 3.35 TB/s
      terms       L2                 ███████████████████████████████████   166.2 us
                  BF16 tensor        █████████████████████████████████▌    159.3 us
                  DRAM               ██████▌                               30.98 us
                  SM ports           ████▍                                 20.84 us
                  memory latency     ██▍                                   11.09 us
                  instruction issue  ▋                                     3.168 us
                  fixed cost         ▋                                     2.732 us
      would help   1.22x  half the bytes moved (fusion, tiling, a narrower type);
                          then math-bound
                   1.18x  FP8 tensor instead of BF16 tensor, if 8-bit operands do
                   1.18x  2:4 structured sparsity of one operand (math rate only)
                   1.18x  a GPU with twice the arithmetic rate per SM
      findings    more occupancy would not help: latency is hidden already
                  power slows a tensor kernel of this length by 1 %
      confidence  constants measured on H100 SXM5 80 GB; range: perfect overlap at
                  datasheet rates to no overlap
      leaves out  differences between blocks, divergence inside warps, atomics,
                  other kernels on the GPU; TLB misses and DRAM page conflicts; the
                  L2 bandwidth, which nobody published: the ports of the SMs stand
                  for it
    ");
    insta::assert_snapshot!(print(tiny()), @r"
    bias_add on H100 SXM5 80 GB
      verdict     latency-bound (fixed cost): 96.6 times memory (DRAM)
      time        3.664 us (921.7 ns to 4.04 us)
      occupancy   100 %, 64 of 64 warps; 8 blocks of 256 threads per SM, limited by
                  warp slots and registers
      limits      warps 8, regs 8, smem 228, blocks 32, barriers 64 (blocks per SM)
      waves       0.00947: 10 blocks on 132 SMs, 122 of them without work
      roofline    DRAM       1 %  2.795 GFLOP/s of 279.2 GFLOP/s at 0.0833 FLOP/B
                  FP32 vector peak 66.91 TFLOP/s, ridge 19.97 FLOP/B
      DRAM        120 KiB at 33.54 GB/s, 1 % of 3.35 TB/s
      terms       fixed cost      ██████████████████████████████████████   2.732 us
                  memory latency  ████████████▉                            921.7 ns
                  too few SMs     ████▋                                    335.7 ns
                  DRAM            ▌                                        37.82 ns
      would help   1.11x  the same work split over 1056 blocks: now 10 of 132 SMs
                          have work
                   1.11x  half the bytes moved (fusion, tiling, a narrower type)
                   1.10x  twice the bytes in flight per thread (32 B: wider loads,
                          more of them, asynchronous copies)
      findings    too few blocks: 10 blocks leave 122 of 132 SMs without work
                  the kernel is so short that launching, filling and draining the
                  GPU is most of its time
      confidence  constants measured on H100 SXM5 80 GB; range: perfect overlap at
                  datasheet rates to no overlap
      leaves out  differences between blocks, divergence inside warps, atomics,
                  other kernels on the GPU; TLB misses and DRAM page conflicts; data
                  left in L2 by earlier kernels: all traffic is taken as cold; the
                  L2 bandwidth, which nobody published: the ports of the SMs stand
                  for it
    ");
    insta::assert_snapshot!(print(after_a_full_wave()), @r"
    nbody on A100 SXM4 80 GB
      verdict     math-bound (FP32 vector): the other bounds take less than 1 % of
                  its time
      time        22.17 ms (22.16 ms to 22.17 ms)
      occupancy   50 %, 32 of 64 warps; 1 block of 1024 threads per SM, limited by
                  registers and shared memory
      limits      warps 2, regs 1, smem 1, blocks 32, barriers inf (blocks per SM)
      next step   at most 32 registers per thread and 81 KiB of shared memory per
                  block together give one more block: 50 -> 100 %
      waves       1.009: 109 blocks on 108 SMs, 1 full and a tail of 1 (0.9 %
                  filled, 107 SMs idle) that costs 49.5 % of the time
      roofline    DRAM    50.5 %  9.835 TFLOP/s of 19.49 TFLOP/s at 30520 FLOP/B
                  L2      50.5 %  9.835 TFLOP/s of 19.49 TFLOP/s at 30520 FLOP/B
                  FP32 vector peak 19.49 TFLOP/s, ridge 9.56 FLOP/B
      DRAM        7.143 MB at 322.3 MB/s, <0.1 % of 2.039 TB/s
      terms       FP32 vector        ███████████████████████████████████   22.16 ms
                  instruction issue  █████████████████▌                    11.08 ms
      would help   7.34x  TF32 tensor instead of FP32 vector, if it is a matrix
                          product and 10 mantissa bits do
                   2.00x  a GPU with twice the arithmetic rate per SM
                   1.98x  the same work in 108 blocks (1 full wave), or blocks of
                          unequal size that end together
      findings    the tail costs 49.5 % of the time: 2 waves are paid for 1.01 waves
                  of work (107 of 108 SMs idle in the last)
                  fewer than 300 blocks: examine the launch for tail effects
                  more occupancy would not help: latency is hidden already
      confidence  constants measured on A100 SXM4 80 GB; range: perfect overlap at
                  datasheet rates to no overlap
      leaves out  differences between blocks, divergence inside warps, atomics,
                  other kernels on the GPU; TLB misses and DRAM page conflicts; data
                  left in L2 by earlier kernels: all traffic is taken as cold
    ");
    insta::assert_snapshot!(print(strided()), @r"
    transpose_naive on T4
      verdict     memory-bound (DRAM): 3.9 times latency (memory latency)
      time        2.136 ms (1.887 ms to 3.378 ms)
      occupancy   50 %, 16 of 32 warps; 2 blocks of 256 threads per SM, limited by
                  registers
      limits      warps 4, regs 2, smem 7, blocks 16, barriers inf (blocks per SM)
      next step   at most 80 registers per thread gives one more block: 50 -> 75 %
      waves       819.2: 65,536 blocks on 40 SMs, 819 full and a tail of 16 (20 %
                  filled, 24 SMs idle) that costs <0.1 % of the time
      DRAM        576 MiB at 282.7 GB/s, 88.4 % of 320 GB/s
      terms       DRAM            ██████████████████████████████████████   2.121 ms
                  memory latency  █████████▊                               547.2 us
                  SM ports        ████████▌                                474.8 us
                  L2              ████▏                                    231.8 us
      would help   3.36x  coalesced accesses: only 22.2 % of the bytes moved are
                          used; then latency-bound
                   1.94x  half the bytes moved (fusion, tiling, a narrower type)
                   1.91x  a GPU with twice the DRAM bandwidth
      findings    more occupancy would not help: latency is hidden already
                  only 22.2 % of the bytes moved between L2 and the SMs are used
      confidence  constants of the turing family, not of T4; range: perfect overlap
                  at datasheet rates to no overlap
      leaves out  differences between blocks, divergence inside warps, atomics,
                  other kernels on the GPU; TLB misses and DRAM page conflicts;
                  arithmetic: no operations were given; the L2 bandwidth, which
                  nobody published: the ports of the SMs stand for it; the memory
                  latency of this GPU, which nobody measured: 400 ns, fitted on
                  other GPUs, stands for it
    ");
    insta::assert_snapshot!(print(observed()), @r"
    void at::native::vectorized_elementwise_ker…<float>>(int, T1, T2) on NVIDIA H100
      time        140.2 us measured, 1.029 x the model; model 136.2 us (120.1 us to
                  182.3 us)
      occupancy   62.5 %; 58.2 % achieved
      limits      warps 8, regs not in file, smem not in file, blocks not in file,
                  barriers inf (blocks per SM)
      waves       not in file
      roofline    DRAM    above the roof, 1.2 TFLOP/s of 837.5 GFLOP/s at 0.25
                          FLOP/B: the data come from L2, not DRAM
      DRAM        not in file
      not in file dram__bytes_read.sum
    ");
}

#[test]
fn text_of_many_kernels_is_a_table() {
    let mut report = all();
    report.title = Some("Five launches".into());
    report.warnings = vec!["the file was cut".into()];
    report.assumptions = vec!["A100: SXM4 80 GB is meant".into()];
    report.errors =
        vec![RowError { kernel: "big".into(), gpu: Some("t4".into()), message: "does not fit".into(), row: Some(2) }];
    insta::assert_snapshot!(text(&report, TextOptions::default()), @r"
    Five launches

    warning: the file was cut
    kernel         GPU                 time  bound    occ %    waves  tail %  roof %
    ────────────────────────────────────────────────────────────────────────────────
    saxpy          h100-sxm5-80gb  280.3 us  memory     100    248.2    <0.1    85.8
    gemm_128…6x64  h100-sxm5-80gb  205.8 us  memory    18.8    3.879     1.4    67.5
    bias_add       h100-sxm5-80gb  3.664 us  latency    100  0.00947       0       1
    nbody          a100-sxm4-80gb  22.17 ms  math        50    1.009    49.5    50.5
    transpos…aive  t4              2.136 ms  memory      50    819.2    <0.1    88.4

    - saxpy: memory-bound (DRAM): 1.7 times latency (memory latency); 1.62x with
      half the bytes moved (fusion, tiling, a narrower type)
    - gemm_128x256x64: memory-bound (L2), nearly balanced with math (BF16 tensor);
      1.22x with half the bytes moved (fusion, tiling, a narrower type)
    - bias_add: latency-bound (fixed cost): 96.6 times memory (DRAM); 1.11x with the
      same work split over 1056 blocks: now 10 of 132 SMs have work
    - nbody: math-bound (FP32 vector): the other bounds take less than 1 % of its
      time; 7.34x with TF32 tensor instead of FP32 vector, if it is a matrix product
      and 10 mantissa bits do
    - transpose_naive: memory-bound (DRAM): 3.9 times latency (memory latency);
      3.36x with coalesced accesses: only 22.2 % of the bytes moved are used

      confidence  constants measured on H100 SXM5 80 GB; range: perfect overlap at
                  datasheet rates to no overlap
                  constants measured on A100 SXM4 80 GB; range: perfect overlap at
                  datasheet rates to no overlap
                  constants of the turing family, not of T4; range: perfect overlap
                  at datasheet rates to no overlap

    assumed: A100: SXM4 80 GB is meant
    error: big on t4: does not fit
    ");
    let full = text(&report, TextOptions { detail: Detail::Full, ..TextOptions::default() });
    assert!(report.kernels.iter().all(|k| full.contains(&format!("{} on ", k.kernel))));
}

#[test]
fn no_line_exceeds_the_width() {
    let mut report = all();
    report.kernels.push(observed());
    let mut long = after_a_full_wave();
    long.kernel = "void cutlass::gemm::kernel<長い名前, \u{1b}[31mred>".repeat(40);
    long.gpu_changes = vec!["memory.dram.bandwidth = 4 TB/s (was 2.039 TB/s)".into()];
    long.findings.push("x".repeat(500));
    report.kernels.push(long);
    report.errors = vec![RowError { kernel: "k".repeat(300), message: "m".repeat(300), ..RowError::default() }];
    for width in 40..=200 {
        for detail in [Detail::Summary, Detail::Full] {
            let out = text(&report, TextOptions { width, detail });
            for line in out.lines() {
                assert!(textwrap::core::display_width(line) <= width, "{width}: {line}");
                assert!(!line.contains('\u{1b}') && line.trim_end() == line, "{line:?}");
            }
        }
    }
}
