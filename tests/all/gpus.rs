//! The GPU catalog: published peaks against derived ones, what-ifs, and what is refused.

use std::collections::BTreeMap;

use wavecast::{
    gpu::{Catalog, Gpu},
    kernel::Level,
    roofline::roofline,
    time::Resource,
    units::{Bytes, BytesPerSecond},
};

use crate::common::{block, close, gpu, kernel, pipe, run, sm, what_if};

/// Length of `gpus/deviations.toml`; for the GPUs here it may only shrink. Raised from 2 with the H20, whose FP32 peak no
/// clock of its chip reaches, and with B300 and GB300, whose INT8 peak holds at another clock than their tensor peaks;
/// from 5 with 13 cards of RDNA 3 and 4, whose FP64 peak is printed at 1/32 of the dual-issue rate, and with the 8060S, printed at single issue.
const MOST_DEVIATIONS: usize = 20;

#[test]
fn published_peaks_are_the_derived_ones() {
    let catalog = Catalog::embedded().unwrap();
    let listed = Catalog::deviations().unwrap();
    assert!(listed.len() <= MOST_DEVIATIONS, "{} deviations, the list may only shrink", listed.len());
    assert_eq!(listed.len(), MOST_DEVIATIONS, "the list shrank: lower MOST_DEVIATIONS");
    let mut wrong = Vec::new();
    let (mut peaks, mut used) = (0, 0);
    for gpu in catalog.gpus() {
        assert!(!gpu.published.peaks().is_empty() || gpu.limits.sm().is_none(), "{} publishes no peak", gpu.id);
        for (pipe, published) in gpu.published.peaks() {
            peaks += 1;
            let Some(derived) = gpu.peak(pipe) else {
                wrong.push(format!("{}: {pipe} is published but has no rate", gpu.id));
                continue;
            };
            let deviates = (derived / published - 1.0).abs() > 0.02;
            let named = listed.iter().filter(|d| d.gpu == gpu.id && d.peak == pipe.to_string()).count();
            used += named;
            if deviates != (named == 1) {
                wrong.push(format!("{}: {pipe} is {derived}, published {published}, listed {named} times", gpu.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(used, listed.len(), "an entry names a GPU or peak that does not exist: {listed:?}");
    assert!(listed.iter().all(|d| d.reason.len() > 20), "a deviation without reason");
    assert!(peaks > 100, "only {peaks} peaks were compared");
}

#[test]
fn hand_checked_peaks() {
    // SMs x operations per clock x clock, worked by hand.
    for (name, unit, tera) in [
        ("a100-sxm4-80gb", "tensor.fp16", 108.0 * 2048.0 * 1.41e-3),
        ("a100-sxm4-80gb", "tensor.tf32", 108.0 * 1024.0 * 1.41e-3),
        ("a100-sxm4-80gb", "vector.fp32", 108.0 * 128.0 * 1.41e-3),
        ("t4", "tensor.fp16", 40.0 * 1024.0 * 1.59e-3),
        ("rtx-3090", "tensor.fp16", 82.0 * 512.0 * 1.695e-3),
        ("rtx-3090", "tensor.fp16.fp16", 82.0 * 1024.0 * 1.695e-3),
        ("h100-sxm5-80gb", "tensor.tf32", 132.0 * 2048.0 * 1.83e-3),
        ("a10", "vector.fp32", 72.0 * 256.0 * 1.695e-3),
    ] {
        close(&format!("{name} {unit}"), gpu(name).peak(pipe(unit)).unwrap().get() / 1e12, tera, 1e-3);
    }
    for (name, unit, printed) in [
        ("a100-sxm4-80gb", "tensor.fp16", 312.0),
        ("a100-sxm4-80gb", "tensor.tf32", 156.0),
        ("a100-sxm4-80gb", "vector.fp32", 19.5),
        ("t4", "tensor.fp16", 65.0),
        ("rtx-3090", "tensor.fp16", 71.2),
        ("rtx-3090", "tensor.fp16.fp16", 142.3),
        ("h100-sxm5-80gb", "tensor.tf32", 494.7),
        ("a10", "vector.fp32", 31.2),
    ] {
        close(&format!("{name} {unit}"), gpu(name).peak(pipe(unit)).unwrap().get() / 1e12, printed, 5e-3);
    }
}

#[test]
fn what_ifs_change_what_they_name_and_nothing_else() {
    let plain = gpu("h100-sxm5-80gb");
    let more = what_if("h100", &["sm.count=144"]).unwrap();
    let bf16 = pipe("tensor.bf16");
    close("peak with 144 SMs", more.peak(bf16).unwrap() / plain.peak(bf16).unwrap(), 144.0 / 132.0, 1e-12);
    assert_eq!(more.changes, ["sm.count = 144 (was 132)"]);
    assert_eq!(more.memory.dram.bandwidth, plain.memory.dram.bandwidth);
    assert_eq!((more.limits.clone(), more.calibration.clone()), (plain.limits.clone(), plain.calibration.clone()));

    let wide = what_if("h100", &["memory.dram.bandwidth=\"4.8 TB/s\""]).unwrap();
    assert_eq!(wide.memory.dram.bandwidth, BytesPerSecond(4.8e12));
    assert_eq!(wide.changes, ["memory.dram.bandwidth = 4.8 TB/s (was 3.35 TB/s)"]);
    assert_eq!((wide.peak(bf16), wide.sm.count), (plain.peak(bf16), 132));

    let capped = what_if("h100", &["power=300W"]).unwrap();
    assert_eq!(capped.peak(bf16), plain.peak(bf16), "a power limit is no clock");
    // 300 W instead of 700 W where 700 W are the limit.
    close("300 of 700 W", capped.calibration.sustained_tensor, 0.93 * 300.0 / 700.0, 1e-3);
    let pcie = gpu("h100-pcie-80gb");
    assert!(pcie.calibration.by_power && !plain.calibration.by_power);
    close("350 W at 0.99 pJ", pcie.calibration.sustained_tensor, 1.302 * 350.0 / 0.99e-12 / 756.4e12, 1e-2);
    assert_eq!(gpu("h200-sxm-141gb").calibration.sustained_tensor, 0.93, "as much power, the same peak");
    assert_eq!(gpu("rtx-4090").calibration.sustained_tensor, 0.95, "more power than the peak can draw");
    assert_eq!(capped.calibration.dram_efficiency, plain.calibration.dram_efficiency);
    let raised = what_if("h100", &["power=1000 W"]).unwrap();
    assert_eq!(raised.calibration.sustained_tensor, plain.calibration.sustained_tensor);
    let unknown = what_if("t4", &["power=40 W"]).unwrap();
    assert!(unknown.changes.iter().any(|c| c.contains("no energy per operation is known")), "{:?}", unknown.changes);

    let registers = what_if("a100", &["limits.registers_per_sm=131072"]).unwrap();
    assert_eq!(sm(&registers.limits).registers_per_sm, 131_072);
    assert_eq!(sm(&registers.limits).max_warps_per_sm, 64);
    let l2 = what_if("h100", &["memory.l2.bandwidth=5.5 TB/s"]).unwrap();
    assert_eq!(l2.memory.l2.bandwidth, Some(BytesPerSecond(5.5e12)));
    let two = what_if("h100", &["sm.count=100", "sm.count=144"]).unwrap();
    assert_eq!((two.sm.count, two.changes.len()), (144, 2), "the last of two wins and both are shown");
}

#[test]
fn bad_what_ifs_name_the_key_the_value_and_the_cure() {
    for (change, parts) in [
        ("sm.cout=144", &["sm.cout", "sm.count"][..]),
        ("memory.dram.bandwith=4 TB/s", &["memory.dram.bandwidth"]),
        ("memory.dram.bandwidth=4.8 TB", &["memory.dram.bandwidth", "4.8 TB", "TB/s"]),
        ("memory.dram.bandwidth=4.8", &["unit is missing"]),
        ("memory.l2.capacity=50 MB/s", &["unknown unit"]),
        ("memory.l2.capacity=4 KB", &["kB or KiB?"]),
        ("memory.dram.bandwidth=0 TB/s", &["memory.dram.bandwidth", "more than 0"]),
        ("memory.dram.bandwidth=-1 TB/s", &["negative"]),
        ("sm.count=0", &["sm.count", "at least 1"]),
        ("sm.count=-4", &["sm.count", "-4"]),
        ("sm.count=many", &["sm.count", "many"]),
        ("sm.count=13.5", &["sm.count", "13.5"]),
        ("clocks.tensor=fast", &["clocks.tensor", "number"]),
        ("rates.special=nan", &["rates.special"]),
        ("latency.clock=0 MHz", &["latency.clock", "more than 0"]),
        ("latency.dram=0 cycles", &["latency.dram", "more than 0"]),
        ("calibration.dram_efficiency=1.5", &["dram_efficiency", "at most 1"]),
        ("calibration.dram_efficiency=0", &["dram_efficiency", "above 0"]),
        ("rates.tensor_cap=1.5", &["rates.tensor_cap", "above 0 and at most 1"]),
        ("rates.fp64_cap=0", &["rates.fp64_cap", "above 0 and at most 1"]),
        ("compute_capability=9.9", &["9.9", "9.0"]),
        ("limits.sub_partitions=0", &["sub_partitions", "at least 1"]),
        ("sm.count", &["KEY=VALUE"]),
        ("=144", &["KEY=VALUE"]),
        ("sm.count=", &["KEY=VALUE"]),
        ("schema=2", &["schema"]),
        ("aliases=x", &["aliases"]),
    ] {
        // The H100 SXM file states no clock of its latencies; that of the PCIe card does.
        let name = if change.starts_with("latency.clock") { "h100-pcie-80gb" } else { "h100" };
        let message = what_if(name, &[change]).expect_err(change);
        for part in parts {
            assert!(message.contains(part), "--set {change}: `{message}` does not say `{part}`");
        }
    }
}

#[test]
fn bad_files_are_refused_with_line_and_caret() {
    let catalog = Catalog::embedded().unwrap();
    let text = catalog.text("h100-sxm5-80gb").unwrap();
    assert!(catalog.read("mine", text, &[]).is_ok());
    for (from, to, parts) in [
        ("bus_bits = 5120", "bus_bit = 5120", &["unknown field `bus_bit`", "line 6", "^"][..]),
        ("power = \"700 W\"\n", "", &["power = absent must be given for an NVIDIA GPU"]),
        ("\"50 MiB\"", "\"51200 KB\"", &["kB or KiB?", "^", "mine"]),
        ("\"50 MiB\"", "50", &["capacity = 50", "bytes with its unit", "^"]),
        ("schema = 1", "schema = 2", &["schema = 2", "schema 1"]),
        ("count = 132", "count = 0", &["sm.count = 0", "at least 1"]),
        ("count = 132", "count = 132\ncount = 133", &["duplicate key", "^"]),
        ("\"nvidia\"", "\"acme\"", &["vendor = acme"]),
        ("fp64 = 128\n", "fp64 = -128\n", &["rates.vector.fp64", "more than 0"]),
        ("tensor = \"1830 MHz\"\n", "", &["clocks.tensor", "rates.tensor"]),
        ("\"9.0\"", "\"9.9\"", &["9.9", "no limits are known"]),
        ("partitions = 2", "partitions = 3", &["partitions = 3", "1 or 2"]),
        ("sparsity = 2.0", "tensor_cap = -0.5", &["rates.tensor_cap", "above 0 and at most 1"]),
        ("sparsity = 2.0", "tensor_cap = nan", &["rates.tensor_cap", "above 0 and at most 1"]),
        ("fp8 = { fp32 = 8192", "fp9 = { fp32 = 8192", &["fp9", "^"]),
    ] {
        assert!(text.contains(from), "the H100 file changed: {from}");
        let message = catalog.read("mine", &text.replacen(from, to, 1), &[]).expect_err(to).to_string();
        for part in parts {
            assert!(message.contains(part), "{to}: `{message}` does not say `{part}`");
        }
    }
    let h20 = catalog.text("h20").unwrap();
    let message = catalog.read("mine", &h20.replacen("\nfp64 = 128\n", "\n", 1), &[]).unwrap_err().to_string();
    assert!(message.contains("rates.fp64_cap") && message.contains("absent where"), "{message}");
    let p100 = catalog.text("p100-sxm2").unwrap();
    let message = catalog.read("mine", &p100.replacen("special = 16", "special = 16\ntensor_cap = 0.5", 1), &[]);
    let message = message.unwrap_err().to_string();
    assert!(message.contains("rates.tensor_cap") && message.contains("absent where"), "{message}");
    assert!(catalog.read("mine", "", &[]).is_err() && catalog.read("mine", "\u{0}", &[]).is_err());
}

/// Times of every term of a kernel that uses every kind of unit.
fn terms(gpu: &Gpu) -> BTreeMap<String, f64> {
    let mut all = kernel(block(128, 32, 1024), "tensor.fp16", 1e12, 1e10, 1e10);
    all.operations.push((pipe("vector.fp32"), wavecast::units::Flops(1e11)));
    all.operations.push((pipe("special"), wavecast::units::Flops(1e10)));
    all.traffic.shared.read = Bytes(1e11);
    let analysis = run(gpu, all, 100_000);
    analysis.time.terms.iter().map(|t| (t.resource.label(), t.time.get())).collect()
}

#[test]
fn every_figure_moves_its_own_term() {
    // The terms that a doubled figure must change; every other term must stay.
    for (key, moved) in [
        (
            "sm.count=216",
            &[
                "FP16 tensor",
                "FP32 vector",
                "special functions",
                "instruction issue",
                "memory latency",
                "shared/L1",
                "SM ports",
            ][..],
        ),
        ("clocks.tensor=2820 MHz", &["FP16 tensor", "fixed cost", "SM ports"]),
        (
            "clocks.vector=2820 MHz",
            &["FP32 vector", "special functions", "instruction issue", "memory latency", "shared/L1"],
        ),
        ("memory.dram.bandwidth=4.078 TB/s", &["DRAM"]),
        ("memory.l2.bandwidth=99 TB/s", &["L2"]),
        ("memory.shared.bandwidth=256 B/cycle", &["shared/L1"]),
        ("rates.special=32", &["special functions"]),
        ("rates.vector.fp32=256", &["FP32 vector"]),
        ("rates.tensor.fp16.fp32=4096", &["FP16 tensor"]),
        ("latency.dram=9999 cycles", &["memory latency"]),
        ("calibration.dram_efficiency=0.4", &["DRAM"]),
        ("calibration.sustained_tensor=0.4", &["FP16 tensor"]),
        ("limits.max_warps_per_sm=32", &["memory latency"]),
        ("limits.sub_partitions=2", &["instruction issue"]),
    ] {
        let base = ["memory.l2.bandwidth=5 TB/s"];
        let before = terms(&what_if("a100-sxm4-80gb", &base).unwrap());
        let after = terms(&what_if("a100-sxm4-80gb", &[base[0], key]).unwrap());
        for (term, time) in &before {
            let changed = (after[term] / time - 1.0).abs() > 1e-9;
            assert_eq!(changed, moved.contains(&term.as_str()), "{key}: {term} {time} -> {}", after[term]);
        }
        assert!(moved.iter().all(|m| before.contains_key(*m)), "{key}: {before:?}");
    }
}

#[test]
fn no_constant_is_left_over_from_another_gpu() {
    let (a, h) = (gpu("a100-sxm4-80gb"), gpu("h100-sxm5-80gb"));
    let (before, after) = (terms(&a), terms(&h));
    for term in
        ["FP16 tensor", "FP32 vector", "special functions", "instruction issue", "DRAM", "fixed cost", "memory latency"]
    {
        assert!((before[term] / after[term] - 1.0).abs() > 0.01, "{term}: {} and {}", before[term], after[term]);
    }
    close("DRAM", before["DRAM"] / after["DRAM"], 3.35 * 0.97 / (2.039 * a.calibration.dram_efficiency), 1e-3);
    // A level that nobody published is left out and named, not guessed.
    let roofs = roofline(&h, None);
    assert!(roofs.roof(Level::L2).is_none() && roofs.missing[0].contains("L2"));
    assert!(
        run(&h, kernel(block(128, 32, 0), "vector.fp32", 1e9, 1e9, 0.0), 1000)
            .time
            .of(Resource::Memory(Level::L2))
            .get()
            > 0.0
    );
}
