//! Questions that people asked in public about occupancy, launches and waves, with answers that are known to be right.
//! The id is in each message.

use wavecast::{
    gpu::Catalog,
    kernel::Access,
    launch::Launch,
    occupancy::{Resource as Limiter, advice, occupancy, warpgroups::redistribution},
    schedule::schedule,
    verdict::Change,
};

use crate::common::{block, close, gpu, kernel, limits, residency, run, sm};

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
    let next = advice::most_registers(&limits("8.0"), &block(128, 43, 0), after.blocks_per_sm + 1);
    assert_eq!(next, Some(40), "Q03: nothing changes before 40");
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
    let catalog = Catalog::embedded().unwrap();
    for unknown in ["8.4", "9.9", "13.0"] {
        let refused = catalog.limits(unknown.parse().unwrap()).unwrap_err().to_string();
        assert!(refused.contains(unknown) && refused.contains("12.1"), "Q07: {refused}");
    }
    for l in catalog.all_limits().unwrap() {
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
    let (registers, sizes) = advice::registers_for_all(&l, &block(768, 36, 0)).expect("Q12: the threshold");
    assert_eq!((registers, sizes[0].threads), (32, 1024), "Q12: 100 % takes at most 32 registers");
    assert_eq!(advice::registers_for_all(&l, &block(768, 32, 0)), None, "Q12: it is reached already");
    assert_eq!(
        advice::registers_for_all(&limits("8.6"), &block(64, 60, 60_000)),
        None,
        "Q12: registers are not what is short"
    );

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
    let moved = redistribution(&limits("9.0"), &block(384, 0, 0), &[40, 232, 232]).unwrap();
    assert_eq!((moved.launched, moved.asked), (168, 64_512), "Q15: registers moved add up to those at launch");
    assert!(moved.sentence().contains("the 168 registers per thread of the launch decide"), "Q15");
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
fn q66_a_block_that_cannot_run_is_an_answer() {
    let none = occupancy(&limits("8.6"), &block(2048, 255, 200_000));
    assert_eq!((none.blocks_per_sm, none.fraction(), none.active_warps()), (0, 0.0, 0), "Q66");
    assert!(none.limiters().iter().eq([Limiter::Warps, Limiter::Registers, Limiter::Shared]), "Q66: every reason");
    let refused = Launch::new(&gpu("rtx-3090"), kernel(block(256, 32, 102_400), "vector.fp32", 1e9, 1e6, 0.0), 82);
    let refused = refused.expect_err("Q66: waves of 0 blocks per SM are not defined").to_string();
    assert!(refused.contains("101376 bytes"), "Q66: the value that would fit, {refused}");
    let mut strange = kernel(block(256, 32, 0), "vector.fp32", 1e9, 1e6, 0.0);
    strange.traffic.dram = Access { read_efficiency: 0.0, ..strange.traffic.dram };
    assert!(Launch::new(&gpu("a10"), strange, 1).unwrap_err().to_string().contains("read_efficiency = 0"), "Q66");
}
