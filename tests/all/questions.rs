//! Questions that people asked in public, with answers that are known to be right. The id is in each message.

use wavecast::{
    analysis::Analysis,
    gpu::Catalog,
    kernel::{Access, Level},
    launch::Launch,
    occupancy::{Resource as Limiter, advice, occupancy},
    roofline::{Point, above_roof, roofline},
    schedule::schedule,
    time::Bound,
    units::{Bytes, Flops, FlopsPerByte, FlopsPerSecond, Hertz},
    verdict::Change,
};

use crate::common::{block, close, gemm, gpu, kernel, limits, pipe, residency, run, sm, tiles, what_if};

#[test]
fn q02_q03_register_granularity_decides_the_block_size() {
    for (threads, blocks, warps, percent) in [(224, 2, 14, 21.9), (192, 3, 18, 28.1)] {
        let found = residency("8.0", threads, 92, 0);
        assert_eq!((found.blocks_per_sm, found.active_warps()), (blocks, warps), "Q02 block of {threads}");
        assert!((found.fraction() * 100.0 - percent).abs() < 0.05, "Q02 block of {threads}");
    }
    let [before, after] = [41, 43].map(|registers| residency("8.0", 128, registers, 0));
    assert_eq!(before, after, "Q03: 41 and 43 registers are both 48");
    assert_eq!((after.blocks_per_sm, after.active_warps(), after.fraction()), (10, 40, 0.625), "Q03");
    assert_eq!(after.registers_per_block, 128 * 48, "Q03: the rounded registers are shown");
}

#[test]
fn q04_q05_q06_q07_limits_belong_to_the_exact_capability() {
    for capability in ["8.6", "8.7", "8.9"] {
        let all = limits(capability);
        let l = sm(&all);
        assert_eq!((l.max_threads_per_sm, l.max_warps_per_sm), (1536, 48), "Q04 {capability}");
        assert_eq!(l.max_threads_per_block, 1024, "Q06 {capability}");
        let found = residency(capability, 1024, 32, 0);
        assert_eq!((found.blocks_per_sm, (found.fraction() * 1e4).round()), (1, 6667.0), "Q04 {capability}");
        let found = residency(capability, 512, 32, 0);
        assert_eq!((found.blocks_per_sm, found.fraction()), (3, 1.0), "Q04 {capability}");
    }
    for (capability, reachable, registers) in [("8.6", 3, 40), ("8.9", 3, 40), ("8.0", 4, 32), ("9.0", 4, 32)] {
        let bounds = advice::launch_bounds(&limits(capability), &block(512, 0, 0), 4);
        assert_eq!((bounds.reachable_blocks, bounds.max_registers), (reachable, Some(registers)), "Q05 {capability}");
    }
    for l in Catalog::embedded().unwrap().all_limits().unwrap() {
        let warps = match (l.compute_capability.major, l.compute_capability.minor) {
            (7, 5) => 32,
            (8, 6..=9) | (11 | 12, _) => 48,
            _ => 64,
        };
        assert_eq!(l.max_warps_per_sm, warps, "Q07 {}", l.compute_capability);
        assert_eq!(l.max_threads_per_sm, warps * 32, "Q07 {}", l.compute_capability);
    }
}

#[test]
fn q09_q10_q11_the_reserve_is_charged_once_per_block() {
    for (kib, blocks, percent) in [(64, 1, 8.33), (48, 2, 16.67)] {
        let found = residency("12.0", 128, 32, kib * 1024);
        assert_eq!(found.blocks_per_sm, blocks, "Q09 {kib} KiB");
        assert!((found.fraction() * 100.0 - percent).abs() < 0.005, "Q09 {kib} KiB");
    }
    let whole = residency("12.1", 256, 32, 61 * 1024 + 512);
    let half = residency("12.1", 128, 32, 40 * 1024 + 512);
    assert_eq!((whole.blocks_per_sm, half.blocks_per_sm), (1, 2), "Q10");
    assert_eq!((whole.active_warps(), half.active_warps()), (8, 8), "Q10: the same warps in more blocks");
    assert_eq!(whole.fraction(), half.fraction(), "Q10");
    assert_eq!(sm(&limits("9.0")).max_shared_per_block_optin, 232_448, "Q11");
    assert_eq!(residency("9.0", 128, 32, 232_448).blocks_per_sm, 1, "Q11");
}

#[test]
fn q12_q13_q15_what_the_registers_allow() {
    for (threads, percent) in [(128, 75.0), (768, 75.0), (1024, 50.0)] {
        assert_eq!(residency("6.1", threads, 36, 0).fraction() * 100.0, percent, "Q12 block of {threads}");
    }
    let l = limits("6.1");
    let best = advice::best_block_sizes(&l, &block(768, 36, 0));
    assert!(best.iter().all(|b| b.fraction == 0.75), "Q12: no block size gives more");
    assert_eq!(advice::most_registers(&l, &block(1024, 36, 0), 2), Some(32), "Q12: 32 registers give 100 %");

    let found = residency("8.9", 512, 162, 0);
    assert_eq!(found.blocks_per_sm, 0, "Q13");
    assert_eq!(advice::largest_block(&limits("8.9"), &block(512, 162, 0)), Some(384), "Q13");
    let error = Launch::new(&gpu("rtx-4090"), kernel(block(512, 162, 0), "vector.fp32", 1e9, 1e6, 0.0), 128);
    let message = error.unwrap_err().to_string();
    for part in ["RTX 4090", "512 threads", "162", "384 threads", "128 registers"] {
        assert!(message.contains(part), "Q13: {message} lacks {part}");
    }

    let found = residency("9.0", 384, 168, 0);
    assert_eq!((found.blocks_per_sm, found.active_warps(), found.fraction()), (1, 12, 0.1875), "Q15");
    assert_eq!((40 + 2 * 232) / 3, 168, "Q15: registers moved between warp groups add up to those at launch");
    assert_eq!(found.registers_per_block, 64_512, "Q15");
}

#[test]
fn q17_shared_memory_is_not_gpu_memory() {
    let asked = kernel(block(256, 32, 135_200), "vector.fp16", 1e9, 1e6, 0.0);
    let message = Launch::new(&gpu("rtx-3090"), asked.clone(), 128).unwrap_err().to_string();
    for part in ["135200 bytes", "132.0 KiB", "not GPU memory", "99.0 KiB"] {
        assert!(message.contains(part), "Q17: {message} lacks {part}");
    }
    assert!(Launch::new(&gpu("a100-sxm4-40gb"), asked.clone(), 128).is_ok(), "Q17: an A100 holds it");
    assert!(Launch::new(&gpu("h100-pcie-80gb"), asked, 128).is_ok(), "Q17: an H100 holds it");
}

#[test]
fn q21_one_block_too_many_doubles_the_time() {
    // One 1024-thread block per SM (64 registers), 1 ms of FP32 work each.
    let at = |blocks: u64| {
        run(&gpu("a100-sxm4-80gb"), kernel(block(1024, 64, 0), "vector.fp32", 1.8e8 * blocks as f64, 1e3, 0.0), blocks)
    };
    let (whole, over) = (at(108), at(109));
    assert_eq!((whole.schedule.whole_waves(), over.schedule.whole_waves()), (1, 2), "Q21");
    close("Q21 time", over.time.estimate / whole.time.estimate, 2.0, 0.05);
    close("Q21 efficiency", over.schedule.utilization(), 0.505, 1e-3);
    assert!(over.verdict.findings.iter().any(|f| f.starts_with("the tail costs")), "{:?}", over.verdict.findings);
    assert!(over.time.tail_cost > 0.4 && whole.time.tail_cost == 0.0, "Q21: {}", over.time.tail_cost);
}

#[test]
fn q22_below_one_wave_there_are_too_few_blocks_not_a_tail() {
    for (name, idle, used) in [("rtx-3090", 50, 0.390), ("rtx-4090", 96, 0.25)] {
        // A decode attention with 32 heads, one 128-thread block each.
        let it = run(&gpu(name), kernel(block(128, 128, 48 * 1024), "tensor.fp16", 1e8, 1e8, 1e5), 32);
        let plan = it.schedule;
        assert_eq!(plan.sms - plan.busy_sms(), idle, "Q22 {name}");
        assert!((plan.busy_sms() as f64 / plan.sms as f64 - used).abs() < 5e-4, "Q22 {name}");
        let findings = it.verdict.findings.join("; ");
        assert!(findings.contains("too few blocks") && findings.contains(&idle.to_string()), "Q22 {name}: {findings}");
        assert!(!findings.contains("tail"), "Q22 {name}: {findings}");
        assert!(it.verdict.what_ifs.iter().any(|w| w.change == Change::SplitBlocks), "Q22 {name}: split the work");
    }
    let plan = schedule(32, 30, 1);
    assert_eq!((plan.whole_waves(), plan.idle_sms_in_tail()), (2, 28), "Q22 with 30 SMs");
    close("Q22 with 30 SMs", plan.utilization(), 0.533, 1e-3);
}

#[test]
fn q26_whole_waves_and_a_math_bound_leave_the_kernel_itself() {
    let a10 = gpu("a10");
    let (m, n, k) = (3456.0, 4096.0, 4096.0);
    let blocks = tiles(3456, 4096, (128, 128));
    let bytes = 4.0 * (m * k + k * n);
    let it = run(&a10, kernel(block(256, 128, 64 * 1024), "vector.fp32", 2.0 * m * n * k, bytes, 4.0 * m * n), blocks);
    assert_eq!((blocks, it.schedule.waves()), (864, 12.0), "Q26");
    assert_eq!(it.time.tail_cost, 0.0, "Q26: no tail");
    assert_eq!(it.verdict.bound, Bound::Math, "Q26");
    close("Q26 intensity", it.points[0].intensity.get(), 643.0, 2e-3);
    close("Q26 ridge", it.roofline.ridge(pipe("vector.fp32"), Level::Dram).unwrap().get(), 52.0, 5e-3);
    assert!(it.points[0].rate.get() > 12.5e12, "Q26: 12.5 TFLOP/s is not a limit of the GPU");
    assert!(it.verdict.findings.iter().all(|f| !f.contains("tail")), "Q26: {:?}", it.verdict.findings);
}

fn has(it: &Analysis, change: Change) -> bool {
    it.verdict.what_ifs.iter().any(|w| w.change == change)
}

#[test]
fn q27_q41_a_matrix_vector_product_is_held_by_its_bytes() {
    let mut product = gemm(8192.0, 1.0, 8192.0);
    product.resources = block(256, 128, 0);
    let a100 = gpu("a100-sxm4-40gb");
    let blocks = tiles(8192, 1, (256, 128));
    assert_eq!(blocks, 32, "Q27: 30 % of the SMs");
    let it = run(&a100, product.clone(), blocks);
    close("Q27 busy SMs", it.schedule.busy_sms() as f64 / 108.0, 0.30, 0.02);
    close("Q27 intensity", it.points[0].intensity.get(), 1.0, 1e-3);
    let floor = product.traffic.dram.moved() / a100.memory.dram.bandwidth;
    close("Q27 floor", floor.get(), 86.3e-6, 2e-3);
    assert!(it.time.low >= floor, "Q27: nothing is faster than the bytes");
    close("Q27 useful share of a tile", 1.0 / 128.0, 8192.0 / (32.0 * 256.0 * 128.0), 1e-12);
    // Spread over the whole GPU, DRAM binds, and neither sparsity nor a faster type of arithmetic is offered.
    let spread = run(&a100, product, 8 * 1024);
    assert_eq!(spread.verdict.bound, Bound::Memory, "Q27");
    assert!(!has(&spread, Change::Sparsity) && !has(&spread, Change::Math), "Q41: {:?}", spread.verdict.what_ifs);
    assert!(has(&spread, Change::Bandwidth), "Q41: {:?}", spread.verdict.what_ifs);
    let small = run(&a100, gemm(4096.0, 1.0, 4096.0), 512);
    assert!(!has(&small, Change::Sparsity), "Q41: {:?}", small.verdict.what_ifs);
}

/// A measured point of bf16 matrix work at high intensity on a GPU.
fn point(name: &str, unit: &str, rate: f64) -> Point {
    let attainable = gpu(name).peak(pipe(unit)).unwrap();
    Point { level: Level::Dram, intensity: FlopsPerByte(1e4), rate: FlopsPerSecond(rate), attainable, on_slope: false }
}

#[test]
fn q28_q29_dense_peaks_and_shares_above_one() {
    let rate = 1.04 * 312e12;
    let h100 = gpu("h100-sxm5-80gb");
    let of_h100 = point("h100-sxm5-80gb", "tensor.bf16", rate);
    close("Q28 real utilisation", of_h100.share(), 0.328, 2e-3);
    let work = [(pipe("tensor.bf16"), Flops(1e15))];
    assert!(above_roof(&h100, &of_h100, &work, h100.clocks.vector).is_empty(), "Q28");
    let a100 = gpu("a100-sxm4-80gb");
    let reasons = above_roof(&a100, &point("a100-sxm4-80gb", "tensor.bf16", rate), &work, a100.clocks.vector);
    assert!(reasons.iter().any(|r| r.contains("another GPU")), "Q28: 104 % is a diagnosis, {reasons:?}");
    let sparse = h100.peak(pipe("tensor.bf16.sparse")).unwrap().get();
    close("Q28 sparse", sparse, 1979e12, 1e-3);
    close("Q29 dense TF32", h100.peak(pipe("tensor.tf32")).unwrap().get(), 494.7e12, 1e-3);
    close("Q29 989 is 2:4", h100.peak(pipe("tensor.tf32.sparse")).unwrap().get(), 989.4e12, 1e-3);
}

#[test]
fn q32_q34_rates_per_sm_belong_to_the_product() {
    let rtx = gpu("rtx-3090");
    close("Q32 FP32 accumulate", rtx.peak(pipe("tensor.fp16.fp32")).unwrap().get(), 71.2e12, 1e-3);
    close("Q32 FP16 accumulate", rtx.peak(pipe("tensor.fp16.fp16")).unwrap().get(), 142.3e12, 1e-3);
    let workstation = what_if("a40", &["sm.count=84", "clocks.tensor=1800 MHz"]).unwrap();
    close("Q32 84 SMs at 1.8 GHz", workstation.peak(pipe("tensor.fp16")).unwrap().get(), 154.8e12, 1e-3);
    let a100 = gpu("a100-sxm4-80gb");
    close("Q34", a100.peak(pipe("vector.fp32")).unwrap().get(), 19.49e12, 1e-3);
    for (name, rate) in [("a100-sxm4-80gb", 128.0), ("a40", 256.0), ("l40s", 256.0), ("h100-pcie-80gb", 256.0)] {
        assert_eq!(gpu(name).rate(pipe("vector.fp32")), Some(rate), "Q34 {name}: two operations per lane");
    }
}

#[test]
fn q35_q37_q39_points_above_a_roof_are_explained() {
    let t4 = gpu("t4");
    let work = [(pipe("vector.fp32"), Flops(1e15))];
    let slow = Hertz(t4.clocks.vector.get() / 1.18);
    let roof = roofline(&t4, Some(slow)).ceiling(pipe("vector.fp32")).unwrap().peak;
    let above = Point { rate: roof * 1.17, attainable: roof, ..point("t4", "vector.fp32", 0.0) };
    let reasons = above_roof(&t4, &above, &work, slow);
    assert!(reasons[0].contains("clock"), "Q35: {reasons:?}");

    let base = roofline(&gpu("a100-sxm4-40gb"), Some(Hertz(1.065e9)));
    close("Q37 FP32 at base clock", base.ceiling(pipe("vector.fp32")).unwrap().peak.get(), 14.7e12, 2e-3);
    let ridge = base.ridge(pipe("vector.fp32"), Level::Dram).unwrap().get();
    assert!((9.0..10.0).contains(&ridge), "Q37: {ridge}");
    let full = roofline(&gpu("a100-sxm4-40gb"), None).ridge(pipe("tensor.fp16"), Level::Dram).unwrap();
    close("Q37 tensor roof", full.get(), 201.0, 3e-3);

    let rtx = gpu("rtx-4090");
    let stream = FlopsPerByte(0.1);
    let attainable = stream * rtx.memory.dram.bandwidth;
    let resident = Point { level: Level::Dram, intensity: stream, rate: attainable * 3.0, attainable, on_slope: true };
    let reasons = above_roof(&rtx, &resident, &work, rtx.clocks.vector);
    assert!(reasons[0].contains("L2"), "Q39: {reasons:?}");
}

#[test]
fn q36_a_faster_type_is_offered_only_where_math_binds() {
    let a100 = gpu("a100-sxm4-80gb");
    let peak = |unit| a100.peak(pipe(unit)).unwrap();
    close("Q36 ceiling", peak("tensor.tf32") / peak("vector.fp32"), 8.0, 1e-3);
    let product = run(&a100, kernel(block(256, 64, 0), "vector.fp32", 1e13, 1e9, 1e8), 4096);
    let gain = product.verdict.what_ifs.iter().find(|w| w.change == Change::Precision).expect("Q36: TF32 is offered");
    assert!(gain.speedup > 4.0 && gain.speedup <= 8.0 && gain.text.contains("TF32"), "Q36: {gain:?}");
    let elementwise = run(&a100, kernel(block(256, 32, 0), "vector.fp32", 1e8, 1e9, 1e9), 100_000);
    assert!(!has(&elementwise, Change::Precision), "Q36: {:?}", elementwise.verdict.what_ifs);
}

#[test]
fn q43_the_roofline_is_no_faster_than() {
    let a100 = gpu("a100-sxm4-80gb");
    let flops = 2.0 * 6.74e9 * 2048.0;
    close("Q43", (Flops(flops) / a100.peak(pipe("tensor.fp16")).unwrap()).get(), 88.5e-3, 2e-3);
    let it = run(&a100, kernel(block(256, 128, 0), "tensor.fp16", flops, 13.5e9, 1e8), 10_000);
    assert!(it.time.low.get() >= 88.4e-3 && it.time.estimate > it.time.low, "Q43: {:?}", it.time.low);
    assert!(it.verdict.confidence.contains("perfect overlap"), "Q43: {}", it.verdict.confidence);
}

#[test]
fn q56_capacities_keep_their_prefix() {
    assert_eq!("183359 MiB".parse::<Bytes>().unwrap().get(), 183_359.0 * 1_048_576.0, "Q56");
    close("Q56 GB", "183359 MiB".parse::<Bytes>().unwrap().get() / 1e9, 192.3, 1e-3);
    close("Q56 GiB", "183359 MiB".parse::<Bytes>().unwrap().get() / f64::from(1 << 30), 179.1, 1e-3);
}

#[test]
fn q66_a_block_that_cannot_run_is_an_answer() {
    let none = occupancy(&limits("8.6"), &block(2048, 255, 200_000));
    assert_eq!((none.blocks_per_sm, none.fraction(), none.active_warps()), (0, 0.0, 0), "Q66");
    assert!(none.limiters().iter().eq([Limiter::Warps, Limiter::Registers, Limiter::Shared]), "Q66: every reason");
    let mut strange = kernel(block(256, 32, 0), "vector.fp32", 1e9, 1e6, 0.0);
    strange.traffic.dram = Access { read_efficiency: 0.0, ..strange.traffic.dram };
    assert!(Launch::new(&gpu("a10"), strange, 1).unwrap_err().to_string().contains("read_efficiency = 0"), "Q66");
}
