//! Questions that people asked in public about peaks, rooflines and MIG, with answers that are known to be right. The id
//! is in each message.

use wavecast::{
    analysis::Analysis,
    gpu::Gpu,
    kernel::{Kernel, Level},
    report::KernelReport,
    roofline::{Point, above_roof, roofline},
    time::Bound,
    units::{Bytes, Flops, FlopsPerByte, FlopsPerSecond, Hertz, Seconds},
    verdict::Change,
};

use crate::common::{block, close, gemm, gpu, kernel, pipe, run, tiles, what_if};

#[test]
fn q26_whole_waves_and_a_math_bound_leave_the_kernel_itself() {
    let a10 = gpu("a10");
    let (m, n, k) = (3456.0, 4096.0, 4096.0);
    let blocks = tiles(3456, 4096, (128, 128));
    let bytes = 4.0 * (m * k + k * n);
    let sgemm = kernel(block(256, 128, 64 * 1024), "vector.fp32", 2.0 * m * n * k, bytes, 4.0 * m * n);
    let it = run(&a10, sgemm.clone(), blocks);
    let reached = measured(&a10, sgemm, blocks, 2.0 * m * n * k / 12.5e12);
    close("Q26 share of the roof", reached.roof_pct.unwrap(), 40.0, 3e-3);
    assert_eq!((blocks, it.schedule.waves()), (864, 12.0), "Q26");
    assert_eq!(it.time.tail_cost, 0.0, "Q26: no tail");
    assert_eq!(it.verdict.bound, Bound::Math, "Q26");
    close("Q26 intensity", it.points[0].intensity.get(), 643.0, 2e-3);
    close("Q26 ridge", it.roofline.ridge(pipe("vector.fp32"), Level::Dram).unwrap().get(), 52.0, 5e-3);
    assert!(it.points[0].rate.get() > 12.5e12, "Q26: 12.5 TFLOP/s is not a limit of the GPU");
    assert!(it.verdict.findings.iter().all(|f| !f.contains("tail")), "Q26: {:?}", it.verdict.findings);
}

/// The report of a launch that took `measured` seconds.
fn measured(gpu: &Gpu, kernel: Kernel, blocks: u64, measured: f64) -> KernelReport {
    KernelReport::from_analysis(&Analysis { measured: Some(Seconds(measured)), ..run(gpu, kernel, blocks) })
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
    let weights = 4096.0 * 4096.0 * 2.0;
    let least = |unit, bytes| run(&a100, kernel(block(128, 32, 0), unit, 33.55e6, bytes, 0.0), 4096).time.low;
    let ideal = least("tensor.fp16", weights) / least("tensor.fp16.sparse", weights * 0.5625);
    close("Q41 ideal speed-up", ideal, 1.78, 2e-3);
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
    let step = |gpu| measured(gpu, kernel(block(256, 128, 0), "tensor.bf16", rate, 0.0, 0.0), 1056, 1.0);
    let above = step(&a100);
    assert!(above.findings[0].starts_with("324.5 TFLOP/s is 1.04 times the peak"), "Q28: {:?}", above.findings);
    assert!(above.findings[0].contains("another GPU"), "Q28: {:?}", above.findings);
    let below = step(&h100);
    close("Q28 of the peak", below.tflops.unwrap() / below.peak_tflops.unwrap(), 0.328, 2e-3);
    assert!(below.findings.iter().all(|f| !f.contains("times the peak")), "Q28: {:?}", below.findings);
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
    let counted = what_if("a100-sxm4-80gb", &["rates.vector.fp32=256"]).unwrap();
    close("Q34: 128 lanes", counted.peak(pipe("vector.fp32")).unwrap().get(), 38.984e12, 1e-3);
    for (name, rate) in [("a100-sxm4-80gb", 128.0), ("a40", 256.0), ("l40s", 256.0), ("h100-pcie-80gb", 256.0)] {
        assert_eq!(gpu(name).rate(pipe("vector.fp32")), Some(rate), "Q34 {name}: two operations per lane");
    }
}

#[test]
fn q35_q37_q39_points_above_a_roof_are_explained() {
    let work = [(pipe("vector.fp32"), Flops(1e15))];
    let turing = gpu("rtx-2080-ti");
    let peak = turing.peak(pipe("vector.fp32")).unwrap();
    close("Q35 at the rated clock", peak.get(), 13.4e12, 5e-3);
    let fma = kernel(block(1024, 32, 0), "vector.fp32", 15.914e12, 0.0, 0.0);
    let above = measured(&turing, fma.clone(), 68, 1.0).findings;
    assert!(above[0].contains("1.18 times the peak: the clock was 1.828 GHz or more, not 1.545 GHz"), "Q35: {above:?}");
    let slow = Hertz(turing.clocks.vector.get() / 1.3);
    let attainable = roofline(&turing, Some(slow)).ceiling(pipe("vector.fp32")).unwrap().peak;
    let locked = Point { rate: peak, attainable, ..point("rtx-2080-ti", "vector.fp32", 0.0) };
    assert!(above_roof(&turing, &locked, &work, slow)[0].contains("not 1.188 GHz"), "Q35: roofs of a locked clock");
    let boosted = measured(&what_if("rtx-2080-ti", &["clocks.vector=1830 MHz"]).unwrap(), fma, 68, 1.0);
    assert!(boosted.tflops < boosted.peak_tflops, "Q35: below the roof at the clock that it ran at");

    let base = roofline(&gpu("a100-sxm4-40gb"), Some(Hertz(1.065e9)));
    close("Q37 FP32 at base clock", base.ceiling(pipe("vector.fp32")).unwrap().peak.get(), 14.7e12, 2e-3);
    let ridge = base.ridge(pipe("vector.fp32"), Level::Dram).unwrap().get();
    assert!((9.0..10.0).contains(&ridge), "Q37: {ridge}");
    let full = roofline(&gpu("a100-sxm4-40gb"), None).ridge(pipe("tensor.fp16"), Level::Dram).unwrap();
    close("Q37 tensor roof", full.get(), 201.0, 3e-3);

    let changes = ["sm.count=34", "memory.l2.capacity=32 MiB", "memory.dram.bandwidth=288 GB/s"];
    let ada = what_if("rtx-4060", &changes).unwrap();
    let array = f64::from(8 << 20);
    let triad = |arrays: f64| kernel(block(256, 32, 0), "vector.fp64", 2.1e6, 2.0 * array * arrays, array * arrays);
    let resident = measured(&ada, triad(1.0), 4096, 3.0 * array / 880e9);
    let point = &resident.points[0];
    assert_eq!(point.share_pct, None, "Q39: 880 GB/s are no share of 288");
    assert!(point.above_roof[0].starts_with("the data come from L2, not DRAM"), "Q39: {:?}", point.above_roof);
    let taken_as_cold = |report: &KernelReport| report.ignored.iter().any(|i| i.contains("left in L2"));
    assert!(taken_as_cold(&resident), "Q39: a working set below L2 is a warning");
    let large = measured(&ada, triad(16.0), 65_536, 48.0 * array / 250e9);
    assert!(!taken_as_cold(&large) && large.points[0].share_pct.is_some(), "Q39: far above L2 it is DRAM");
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
    // What the predictor's 100.9 ms stand for, and the weights alone of the short prompt.
    for (flops, time, share) in [(31.47e12, 120.5e-3, 84.0), (1.725e12, 16.1e-3, 43.0)] {
        let prefill = kernel(block(256, 32, 0), "tensor.fp16", flops, 13.48e9, 0.0);
        let it = measured(&gpu("a100-pcie-80gb"), prefill, 4096, time);
        close("Q43 attained", it.roof_pct.unwrap(), share, 1e-2);
        assert!(it.low_us < it.measured_us, "Q43: no faster than");
    }
}

#[test]
fn q44_decoding_reads_the_weights_once_per_token() {
    let token = kernel(block(256, 32, 0), "vector.fp32", 0.0, 17.23e9, 0.0);
    let rtx = gpu("rtx-3090");
    let it = measured(&rtx, token.clone(), 8200, 1.0 / 36.15);
    close("Q44 ceiling in tokens per second", 1e6 / it.low_us.unwrap(), 54.3, 2e-3);
    close("Q44 achieved", it.dram_gb_per_s.unwrap(), 623.0, 1e-3);
    close("Q44 of the advertised roof", it.roof_pct.unwrap(), 66.5, 2e-3);
    let slower = what_if("rtx-3090", &["memory.dram.bandwidth=854 GB/s"]).unwrap();
    close("Q44 of the measured roof", measured(&slower, token, 8200, 1.0 / 36.15).roof_pct.unwrap(), 72.9, 2e-3);
}

#[test]
fn q46_more_than_the_peak_is_a_diagnosis() {
    let full = kernel(block(256, 128, 0), "tensor.bf16", 2.0 * 189e12, 0.0, 0.0);
    let a100 = gpu("a100-sxm4-80gb");
    let above = measured(&a100, full.clone(), 1080, 1.0);
    assert!(above.findings[0].contains("1.21 times the peak"), "Q46: {:?}", above.findings);
    assert!(above.findings[0].contains("a causal mask not halved"), "Q46: {:?}", above.findings);
    let halved = measured(&a100, full.scaled(0.5), 1080, 1.0);
    close("Q46 halved", halved.tflops.unwrap() / halved.peak_tflops.unwrap(), 189.0 / 312.0, 2e-3);
}

#[test]
fn q56_capacities_keep_their_prefix() {
    assert_eq!("183359 MiB".parse::<Bytes>().unwrap().get(), 183_359.0 * 1_048_576.0, "Q56");
    close("Q56 GB", "183359 MiB".parse::<Bytes>().unwrap().get() / 1e9, 192.3, 1e-3);
    close("Q56 GiB", "183359 MiB".parse::<Bytes>().unwrap().get() / f64::from(1 << 30), 179.1, 1e-3);
}

#[test]
fn q58_a_compute_instance_is_a_share_of_its_gpu_instance() {
    let sms = |profile: &str| f64::from(gpu(&format!("a100-sxm4-80gb:{profile}")).sm.count);
    // The busy compute instance holds one compute slice: the SMs of a 1g.
    for (profile, share) in [("1g.10gb", 1.0), ("2g.20gb", 1.0 / 2.0), ("3g.40gb", 1.0 / 3.0)] {
        close(&format!("Q58 {profile}"), sms("1g.10gb") / sms(profile), share, 1e-12);
    }
}
