//! Laws of the time model for kernels described by their operations and bytes.

use proptest::prelude::*;
use wavecast::{
    analysis::{Analysis, analyse},
    gpu::{Catalog, Gpu, Pipe},
    kernel::{Access, Concurrency, Kernel, Level, Traffic},
    launch::Launch,
    occupancy::Resources,
    time::Timing,
    units::{Bytes, BytesPerSecond, Flops, Seconds},
};

/// Rounding of sums of a dozen terms.
const EPSILON: f64 = 1e-9;

fn any_gpu() -> impl Strategy<Value = Gpu> {
    proptest::sample::select(Catalog::embedded().unwrap().gpus().cloned().collect::<Vec<_>>())
}

/// Numbers over many powers of ten, or nothing.
fn size(least: f64, most: f64) -> impl Strategy<Value = f64> {
    let range = libm::log10(least)..libm::log10(most);
    prop_oneof![1 => Just(0.0), 6 => range.prop_map(|e| libm::pow(10.0, e))]
}

prop_compose! {
    fn any_access(most: f64)(
        read in size(1.0, most), write in size(1.0, most), read_efficiency in 0.1f64..=1.0, write_efficiency in 0.1f64..=1.0,
    ) -> Access {
        Access { read: Bytes(read), write: Bytes(write), read_efficiency, write_efficiency }
    }
}

prop_compose! {
    /// A kernel for a GPU, with the index of a pipe among those of the GPU.
    fn any_kernel(reuse: bool)(
        warps in 1u32..=16, registers in 8u32..=64, shared in 0u32..=40_000, pipes in proptest::collection::vec((0usize..64, size(1.0, 1e15)), 0..3),
        dram in any_access(1e12), l2 in proptest::option::of(any_access(1e12)), shared_access in any_access(1e12),
        distance in proptest::option::of(1e4f64..1e10), spill in prop_oneof![3 => Just(0.0), 1 => 1.0f64..500.0],
        bytes_in_flight in 1.0f64..512.0, instructions_in_flight in 1.0f64..8.0, dependent in size(1.0, 1e3),
        dependent_level in proptest::sample::select(vec![Level::Dram, Level::L2, Level::Shared]),
    ) -> (Kernel, Vec<(usize, f64)>) {
        let kernel = Kernel {
            name: "any".into(),
            resources: Resources {
                threads_per_block: warps * 32, registers_per_thread: registers, dynamic_shared: shared, ..Default::default()
            },
            operations: Vec::new(),
            warp_instructions: None,
            traffic: Traffic {
                dram, l2, shared: shared_access,
                reuse_distance: distance.filter(|_| reuse).map(Bytes),
                spill_per_thread: Bytes(spill),
            },
            concurrency: Concurrency { bytes_in_flight, instructions_in_flight, dependent_accesses: dependent, dependent_level },
            tiled: None,
        };
        (kernel, pipes)
    }
}

prop_compose! {
    fn any_launch(reuse: bool)(
        gpu in any_gpu(), (mut kernel, pipes) in any_kernel(reuse), blocks in prop_oneof![1u64..2000, 1u64..1_000_000],
    ) -> (Gpu, Kernel, u64) {
        if gpu.is_cpu() {
            // Refused where no latency is known, as on every CPU.
            kernel.concurrency.dependent_accesses = 0.0;
        }
        let all = gpu.pipes();
        kernel.operations = pipes.iter().map(|(index, flops)| (all[index % all.len()], Flops(*flops))).collect();
        (gpu, kernel, blocks)
    }
}

fn run(gpu: &Gpu, kernel: &Kernel, blocks: u64) -> Analysis {
    analyse(gpu, kernel.clone(), blocks, Timing::Device).unwrap()
}

fn time(gpu: &Gpu, kernel: &Kernel, blocks: u64) -> f64 {
    run(gpu, kernel, blocks).time.estimate.get()
}

fn grow(access: &mut Access, read: f64, write: f64) {
    access.read = access.read * read;
    access.write = access.write * write;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn low_estimate_high((gpu, kernel, blocks) in any_launch(true)) {
        let found = run(&gpu, &kernel, blocks);
        let time = &found.time;
        prop_assert!(time.low.get().is_finite() && time.high.get().is_finite() && time.estimate.get() > 0.0);
        prop_assert!(time.low <= time.estimate * (1.0 + EPSILON), "{:?}", time);
        prop_assert!(time.estimate <= time.high * (1.0 + EPSILON), "{:?}", time);
        prop_assert!((0.0..1.0).contains(&time.tail_cost) && (0.0..=1.0).contains(&time.l2_hit));
        prop_assert!(time.terms.iter().all(|t| t.least <= t.time * (1.0 + EPSILON) && t.time.get() > 0.0), "{:?}", time.terms);
        prop_assert!(found.verdict.margin >= 1.0 && !found.verdict.sentence.is_empty());
        prop_assert!(found.verdict.what_ifs.iter().all(|w| w.speedup >= 1.0 && w.speedup.is_finite()));
        let host = analyse(&gpu, kernel, blocks, Timing::Launch).unwrap().time;
        prop_assert!(host.estimate > time.estimate || gpu.is_cpu() && host.estimate == time.estimate);
    }

    #[test]
    fn time_never_falls_when_work_grows((gpu, kernel, blocks) in any_launch(true), by in 1.0f64..4.0, of in 0usize..9) {
        let mut more = kernel.clone();
        match of {
            0 => more.operations.iter_mut().for_each(|(_, flops)| *flops = *flops * by),
            1 => more.operations.iter_mut().take(1).for_each(|(_, flops)| *flops = *flops * by),
            // Without traffic of its own, L2 passes the DRAM traffic on; with it, each grows alone.
            2 => grow(&mut more.traffic.dram, by, 1.0),
            3 => grow(&mut more.traffic.dram, 1.0, by),
            4 => more.traffic.l2.iter_mut().for_each(|l2| grow(l2, by, 1.0)),
            5 => more.traffic.l2.iter_mut().for_each(|l2| grow(l2, 1.0, by)),
            6 => grow(&mut more.traffic.shared, by, by),
            7 => more.concurrency.dependent_accesses *= by,
            _ => more.traffic.dram.read_efficiency /= by,
        }
        let (before, after) = (time(&gpu, &kernel, blocks), time(&gpu, &more, blocks));
        prop_assert!(after >= before * (1.0 - EPSILON), "change {} by {}: {} falls to {}", of, by, before, after);
    }

    #[test]
    fn time_never_falls_when_less_stays_in_l2((gpu, mut kernel, blocks) in any_launch(true), by in 1.0f64..4.0, of in 0usize..2) {
        let before = time(&gpu, &kernel, blocks);
        match of {
            0 => kernel.traffic.reuse_distance = kernel.traffic.reuse_distance.map(|d| d * by),
            _ => kernel.traffic.spill_per_thread = kernel.traffic.spill_per_thread * by,
        }
        let after = time(&gpu, &kernel, blocks);
        prop_assert!(after >= before * (1.0 - EPSILON), "change {} by {}: {} falls to {}", of, by, before, after);
    }

    /// Exceptions: more SMs, stated apart below; and faster DRAM under data left in L2, which an SM draws at a fixed
    /// multiple of the DRAM rate, until the ports of L2 cap that multiple: then the few-SMs term grows with the rate.
    #[test]
    fn time_never_rises_when_a_rate_grows((gpu, mut kernel, blocks) in any_launch(true), by in 1.0f64..4.0, of in 0usize..9) {
        let mut faster = gpu.clone();
        if matches!(of, 0 | 8) {
            kernel.traffic.reuse_distance = None;
        }
        match of {
            0 => faster.memory.dram.bandwidth = faster.memory.dram.bandwidth * by,
            1 => faster.memory.l2.bandwidth = faster.memory.l2.bandwidth.map(|b| b * by),
            2 => {
                faster.memory.shared.iter_mut().for_each(|shared| shared.bandwidth = shared.bandwidth * by);
            }
            3 => faster.clocks.vector = faster.clocks.vector * by,
            4 => faster.clocks.tensor = faster.clocks.tensor.map(|c| c * by),
            5 => faster.rates.vector.values_mut().for_each(|r| *r *= by),
            6 => faster.rates.tensor.values_mut().flat_map(|t| t.values_mut()).for_each(|r| *r *= by),
            7 => faster.calibration.sm_stream = faster.calibration.sm_stream * by,
            _ => faster.calibration.dram_efficiency = (faster.calibration.dram_efficiency * by).min(1.0),
        }
        let (before, after) = (time(&gpu, &kernel, blocks), time(&faster, &kernel, blocks));
        prop_assert!(after <= before * (1.0 + EPSILON), "rate {} by {}: {} rises to {}", of, by, before, after);
    }

    /// Exception: with spills more SMs may take longer, since the values spilled by more resident threads leave L2.
    #[test]
    fn time_never_rises_with_more_sms((gpu, mut kernel, blocks) in any_launch(true), more in 1u32..100) {
        kernel.traffic.spill_per_thread = Bytes::ZERO;
        let mut wider = gpu.clone();
        wider.sm.count += more;
        let (before, after) = (time(&gpu, &kernel, blocks), time(&wider, &kernel, blocks));
        prop_assert!(after <= before * (1.0 + EPSILON), "{} SMs more: {} rises to {}", more, before, after);
    }

    #[test]
    fn no_rate_lies_above_the_roof_that_serves_it((gpu, kernel, blocks) in any_launch(false)) {
        let found = run(&gpu, &kernel, blocks);
        for point in &found.points {
            prop_assert!(point.share() <= 1.0 + EPSILON, "{:?}", point);
            prop_assert!(found.launch.kernel.flops() / found.time.low <= point.attainable * (1.0 + EPSILON), "{:?}", point);
        }
        prop_assert!(found.schedule.utilization() > 0.0 && found.schedule.utilization() <= 1.0);
        for (pipe, flops) in &kernel.operations {
            let peak = gpu.peak(*pipe).unwrap();
            prop_assert!(*flops / found.time.low <= peak * (1.0 + EPSILON), "{} of {}", *flops / found.time.low, peak);
        }
    }

    /// Twice the same entry is the same work as one entry of twice the size.
    #[test]
    fn work_may_be_written_in_parts((gpu, kernel, blocks) in any_launch(true)) {
        let mut parts = kernel.clone();
        parts.operations = kernel.operations.iter().flat_map(|(p, f)| [(*p, *f / 2.0), (*p, *f / 2.0)]).collect();
        let (one, two) = (time(&gpu, &kernel, blocks), time(&gpu, &parts, blocks));
        prop_assert!((one / two - 1.0).abs() < EPSILON, "{} and {}", one, two);
        let launch = Launch::new(&gpu, parts, blocks).unwrap();
        let mut pipes: Vec<Pipe> = launch.kernel.operations.iter().map(|(p, _)| *p).collect();
        pipes.sort();
        prop_assert!(pipes.windows(2).all(|w| w[0] != w[1]));
    }

    /// k times the work at k times every rate takes the same time; latencies and fixed costs keep their time, so those
    /// given in cycles have k times as many, and k times the bytes are in flight.
    #[test]
    fn work_and_rates_scale_together((gpu, mut kernel, blocks) in any_launch(true), k in 0.25f64..4.0) {
        // Instructions are counted from requests of at most 16 bytes; here they are given, so that they scale.
        kernel.warp_instructions = Some(kernel.least_warp_instructions());
        // Rates per SM and cycle stay; every clock and bandwidth is k times as fast.
        let mut fast = gpu.clone();
        fast.clocks.vector = fast.clocks.vector * k;
        fast.clocks.tensor = fast.clocks.tensor.map(|c| c * k);
        fast.clocks.tensor_fp64 = fast.clocks.tensor_fp64.map(|c| c * k);
        fast.memory.dram.bandwidth = fast.memory.dram.bandwidth * k;
        fast.memory.l2.bandwidth = fast.memory.l2.bandwidth.map(|b| b * k);
        if let Some(latency) = &mut fast.latency {
            latency.clock = latency.clock.map(|c| c * k);
            latency.l2 = latency.l2.map(|c| c * k);
            latency.dram = latency.dram.map(|c| c * k);
        }
        let own = &mut fast.calibration.constants;
        own.fixed = own.fixed * k;
        own.block_turnaround = own.block_turnaround * k;
        own.shared_latency = own.shared_latency * k;
        // The cache keeps its content: k times the spilled bytes need k times the room.
        fast.memory.l2.capacity = fast.memory.l2.capacity * k;
        let mut big = kernel.clone();
        big.operations.iter_mut().for_each(|(_, flops)| *flops = *flops * k);
        big.warp_instructions = kernel.warp_instructions.map(|w| w * k);
        grow(&mut big.traffic.dram, k, k);
        big.traffic.l2.iter_mut().for_each(|l2| grow(l2, k, k));
        grow(&mut big.traffic.shared, k, k);
        big.traffic.spill_per_thread = big.traffic.spill_per_thread * k;
        big.traffic.reuse_distance = big.traffic.reuse_distance.map(|d| d * k);
        big.concurrency.bytes_in_flight *= k;
        prop_assume!(big.concurrency.bytes_in_flight >= 1.0);
        let (before, after) = (time(&gpu, &kernel, blocks), time(&fast, &big, blocks));
        prop_assert!((after / before - 1.0).abs() < 1e-6, "{} and {}", before, after);
    }
}

#[test]
fn the_exception_of_more_sms_with_spills_exists() {
    let gpu = Catalog::embedded().unwrap().find("rtx-3090").unwrap().gpu;
    let mut wider = gpu.clone();
    wider.sm.count *= 2;
    let kernel = Kernel {
        name: "spills".into(),
        resources: Resources { threads_per_block: 256, registers_per_thread: 64, ..Default::default() },
        operations: Vec::new(),
        warp_instructions: Some(1.0),
        traffic: Traffic { spill_per_thread: Bytes(56.0), ..Default::default() },
        concurrency: Concurrency::default(),
        tiled: None,
    };
    assert!(time(&wider, &kernel, 100_000) > time(&gpu, &kernel, 100_000));
    assert_eq!(gpu.memory.dram.bandwidth, BytesPerSecond(936.2e9));
    assert!(Seconds(time(&gpu, &kernel, 100_000)) > Seconds::ZERO);
}
