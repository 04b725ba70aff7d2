//! The GPU catalog: published peaks against derived ones, names, what-ifs, and what is refused.

use std::collections::BTreeMap;

use wavecast::{
    gpu::{Catalog, Gpu, GpuError},
    kernel::Level,
    roofline::roofline,
    time::Resource,
    units::{Bytes, BytesPerSecond},
};

use crate::common::{block, close, gpu, kernel, pipe, run, what_if};

/// Length of `gpus/deviations.toml`; for the GPUs here it may only shrink. Raised from 2 with the H20, whose FP32 peak no
/// clock of its chip reaches, and with B300 and GB300, whose INT8 peak holds at another clock than their tensor peaks.
const MOST_DEVIATIONS: usize = 5;

#[test]
fn published_peaks_are_the_derived_ones() {
    let catalog = Catalog::embedded().unwrap();
    let listed = Catalog::deviations().unwrap();
    assert!(listed.len() <= MOST_DEVIATIONS, "{} deviations, the list may only shrink", listed.len());
    assert_eq!(listed.len(), MOST_DEVIATIONS, "the list shrank: lower MOST_DEVIATIONS");
    let mut wrong = Vec::new();
    let (mut peaks, mut used) = (0, 0);
    for gpu in catalog.gpus() {
        assert!(!gpu.published.peaks().is_empty(), "{} publishes no peak", gpu.id);
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
fn names_are_unique_and_resolve() {
    let catalog = Catalog::embedded().unwrap();
    let normal = |name: &str| name.to_lowercase().replace([' ', '-', '_'], "");
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for gpu in catalog.gpus() {
        let open = gpu.family_aliases.iter().map(|a| &a.name);
        let mut own: Vec<&String> = [&gpu.id, &gpu.name].into_iter().chain(&gpu.aliases).chain(open).collect();
        own.sort_by_key(|n| normal(n));
        own.dedup_by_key(|n| normal(n));
        for name in own {
            if let Some(other) = seen.insert(normal(name), gpu.id.clone()) {
                panic!("`{name}` means both {other} and {}", gpu.id);
            }
            assert_eq!(catalog.find(name).unwrap().gpu.id, gpu.id, "{name}");
        }
    }
    assert!(catalog.gpus().count() >= 60);
    for (driver, id) in [
        ("NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"),
        ("NVIDIA H100 PCIe", "h100-pcie-80gb"),
        ("NVIDIA H100 NVL", "h100-nvl-94gb"),
        ("NVIDIA H200", "h200-sxm-141gb"),
        ("NVIDIA B200", "b200"),
        ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
        ("NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb"),
        ("NVIDIA A100 80GB PCIe", "a100-pcie-80gb"),
        ("Tesla V100-SXM2-16GB", "v100-sxm2-16gb"),
        ("Tesla V100-SXM2-32GB", "v100-sxm2-32gb"),
        ("Tesla T4", "t4"),
        ("Tesla P100-SXM2-16GB", "p100-sxm2"),
        ("NVIDIA GeForce RTX 3090", "rtx-3090"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("NVIDIA GeForce RTX 5090", "rtx-5090"),
        ("nvidia l40s", "l40s"),
        ("NVIDIA A10", "a10"),
        ("Tesla M40 24GB", "m40-24gb"),
        ("Tesla P100-PCIE-12GB", "p100-pcie-12gb"),
        ("Tesla P100-PCIE-16GB", "p100-pcie-16gb"),
        ("NVIDIA GeForce GTX 1080 Ti", "gtx-1080-ti"),
        ("Tesla V100-PCIE-16GB", "v100-pcie-16gb"),
        ("Tesla V100-PCIE-32GB", "v100-pcie-32gb"),
        ("NVIDIA TITAN V", "titan-v"),
        ("NVIDIA GeForce RTX 2080 Ti", "rtx-2080-ti"),
        ("NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"),
        ("NVIDIA A800-SXM4-80GB", "a800-sxm4-80gb"),
        ("NVIDIA A10G", "a10g"),
        ("NVIDIA GeForce RTX 3070", "rtx-3070"),
        ("NVIDIA RTX A6000", "rtx-a6000"),
        ("NVIDIA L40", "l40"),
        ("NVIDIA GeForce RTX 4060", "rtx-4060"),
        ("NVIDIA GeForce RTX 4070", "rtx-4070"),
        ("NVIDIA GeForce RTX 4080", "rtx-4080"),
        ("NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"),
        ("NVIDIA H20", "h20"),
        ("NVIDIA H200 NVL", "h200-nvl"),
        ("NVIDIA GH200 480GB", "gh200-96gb"),
        ("NVIDIA GH200 144G HBM3e", "gh200-144gb"),
        ("NVIDIA GB200", "gb200"),
        ("NVIDIA B300 SXM6 AC", "b300"),
        ("NVIDIA GB300", "gb300"),
        ("NVIDIA GB10", "gb10"),
        ("NVIDIA Thor", "jetson-thor-t5000"),
        ("NVIDIA GeForce RTX 5070", "rtx-5070"),
        ("NVIDIA GeForce RTX 5080", "rtx-5080"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000-workstation"),
        ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtx-pro-6000-max-q"),
    ] {
        let found = catalog.find(driver).unwrap();
        assert_eq!((found.gpu.id.as_str(), found.assumption), (id, None), "{driver}");
    }
}

#[test]
fn open_names_say_what_they_assume_and_similar_names_are_refused() {
    let catalog = Catalog::embedded().unwrap();
    let h100 = catalog.find("h100").unwrap();
    assert_eq!(h100.gpu.id, "h100-sxm5-80gb");
    assert!(h100.assumption.unwrap().contains("SXM5"));
    // Driver strings that two products share.
    for (driver, id, differs) in [
        ("NVIDIA GeForce RTX 2060", "rtx-2060-6gb", "12 GB"),
        ("NVIDIA GeForce RTX 3060", "rtx-3060-12gb", "8 GB"),
        ("NVIDIA GeForce RTX 3080", "rtx-3080-10gb", "12 GB"),
        ("NVIDIA GeForce RTX 5060 Ti", "rtx-5060-ti-16gb", "8 GB"),
        ("Orin", "jetson-agx-orin-64gb", "32 GB"),
    ] {
        let found = catalog.find(driver).unwrap();
        assert_eq!(found.gpu.id, id, "{driver}");
        assert!(found.assumption.unwrap().contains(differs), "{driver}");
    }
    for (name, near) in
        [("GB400", "gb300"), ("B400", "b300"), ("H10", "h100"), ("RTX 409", "rtx-4090"), ("A1000", "a10")]
    {
        match catalog.find(name) {
            Err(GpuError::Unknown { near: found, .. }) => {
                assert!(found.iter().any(|n| n.starts_with(near)), "{name}: {found:?} lacks {near}");
            }
            Err(other) => panic!("{name}: {other}"),
            Ok(found) => panic!("{name} was taken for {}", found.gpu.id),
        }
    }
    assert!(catalog.find("").is_err() && catalog.find(" - ").is_err());
    let message = catalog.find("RTX 409").unwrap_err().to_string();
    assert!(message.contains("RTX 409") && message.contains("did you mean rtx-4090"), "{message}");
    for capability in ["9.9", "8.4", "11.7", "2.0"] {
        let error = catalog.limits(capability.parse().unwrap()).unwrap_err().to_string();
        assert!(error.contains(capability) && error.contains("9.0 "), "{error}");
    }
    assert!("9".parse::<wavecast::gpu::ComputeCapability>().is_err());
    assert!("sm_90".parse::<wavecast::gpu::ComputeCapability>().is_err());
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
    assert!(capped.calibration.sustained_tensor < 0.5 * plain.calibration.sustained_tensor);
    close("300 W at 0.99 pJ", capped.calibration.sustained_tensor, 300.0 / 0.99e-12 / 989.4e12, 1e-3);
    assert_eq!(capped.calibration.dram_efficiency, plain.calibration.dram_efficiency);
    let raised = what_if("h100", &["power=1000 W"]).unwrap();
    assert_eq!(raised.calibration.sustained_tensor, plain.calibration.sustained_tensor);
    let unknown = what_if("t4", &["power=40 W"]).unwrap();
    assert!(unknown.changes.iter().any(|c| c.contains("no energy per operation is known")), "{:?}", unknown.changes);

    let registers = what_if("a100", &["limits.registers_per_sm=131072"]).unwrap();
    assert_eq!(registers.limits.registers_per_sm, 131_072);
    assert_eq!(registers.limits.max_warps_per_sm, 64);
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
        ("power = \"700 W\"\n", "", &["missing field `power`"]),
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
