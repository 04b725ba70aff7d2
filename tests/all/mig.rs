//! MIG slices: the data, what a slice is, full houses, laws, and every refusal.

use proptest::prelude::*;
use wavecast::{
    gpu::{Catalog, Gpu, MigTable, SmStatus, split_profile},
    kernel::Level,
    time::Resource,
    units::Bytes,
};

use crate::{
    common::{block, close, gpu, kernel, pipe, run, what_if},
    place::{Place, SCENARIO},
};

fn table(id: &str) -> MigTable {
    let catalog = Catalog::embedded().unwrap();
    catalog.mig(&gpu(id)).unwrap().clone()
}

/// Every profile that can be used, as `id:profile`.
fn slices() -> Vec<(Gpu, Gpu)> {
    let catalog = Catalog::embedded().unwrap();
    let mut found = Vec::new();
    for table in catalog.mig_tables() {
        for id in &table.gpus {
            for profile in table.profiles.iter().filter(|p| p.sourced_sm().is_some()) {
                found.push((gpu(id), gpu(&format!("{id}:{}", profile.name))));
            }
        }
    }
    found
}

#[test]
fn every_profile_fits_its_gpu() {
    let catalog = Catalog::embedded().unwrap();
    let (mut gpus, mut sourced, mut refused) = (Vec::new(), 0, 0);
    for table in catalog.mig_tables() {
        assert!(table.source.len() > 20, "{:?}", table.gpus);
        for id in &table.gpus {
            assert_eq!(gpu(id).sm.count, table.sm_count, "{id}");
            assert!(!gpus.contains(id), "{id} has two tables");
            gpus.push(id.clone());
        }
        for profile in &table.profiles {
            let name = format!("{:?} {}", table.gpus, profile.name);
            assert_eq!(table.profiles.iter().filter(|p| p.name == profile.name).count(), 1, "{name}");
            assert!(profile.name.starts_with(&format!("{}g.", profile.compute_slices)), "{name}");
            assert!(profile.max_instances >= 1, "{name}");
            assert!(profile.memory_slices * profile.max_instances <= table.memory_slices, "{name}");
            let starts = &profile.starts;
            assert!(starts.iter().all(|s| s + profile.memory_slices <= table.memory_slices), "{name}");
            assert!(starts.is_empty() || starts.len() >= profile.max_instances as usize, "{name}");
            // A count by analogy stands in the file, so that its reader sees what was refused.
            if let Some(sm) = profile.sm {
                assert!(sm >= 1 && sm <= table.sm_count && sm * profile.max_instances <= table.sm_count, "{name}");
            }
            if let Some(share) = profile.mem_fraction {
                let slices = f64::from(profile.memory_slices) / f64::from(table.memory_slices);
                assert_eq!(share.get(), slices, "{name}: bandwidth and memory slices");
                if let Some(memory) = profile.memory {
                    let capacity = gpu(&table.gpus[0]).memory.dram.capacity.unwrap() * share.get();
                    // As sold in GB, of which drivers report nearly as many GiB.
                    assert!((0.85..1.08).contains(&(memory / capacity)), "{name}: {memory} of {capacity}");
                }
            }
            if let (Some(memory), Some(l2)) = (profile.mem_fraction, profile.l2_fraction) {
                assert!(l2.get() > 0.0 && l2.get() <= memory.get(), "{name}: L2 {l2} of memory {memory}");
            }
            match profile.sm_status {
                SmStatus::Dump | SmStatus::Jax => {
                    sourced += 1;
                    assert!(profile.sourced_sm().is_some(), "{name} is sourced and lacks a figure");
                }
                SmStatus::Analogy | SmStatus::Unsourced => refused += 1,
            }
            assert_eq!(profile.sm.is_none(), profile.sm_status == SmStatus::Unsourced, "{name}");
        }
    }
    assert_eq!((gpus.len(), sourced, refused), (15, 65, 13));
    assert!(catalog.mig(&gpu("t4")).is_none());
}

#[test]
fn sms_come_from_the_table_and_never_from_sevenths() {
    for (slice, sms, of) in [
        ("a100-sxm4-80gb:7g.80gb", 98, 108),
        ("a100-sxm4-80gb:3g.40gb", 42, 108),
        ("a100-pcie-40gb:1g.5gb", 14, 108),
        ("h100-sxm5-80gb:3g.40gb", 60, 132),
        ("h100-sxm5-80gb:1g.20gb", 26, 132),
        ("h100-sxm5-80gb:7g.80gb", 132, 132),
        ("h100-pcie-80gb:4g.40gb", 62, 114),
        ("b200:1g.23gb", 18, 148),
        ("rtx-pro-6000-server:2g.48gb-me", 94, 188),
    ] {
        let found = gpu(slice);
        assert_eq!((found.sm.count, found.mig.unwrap().gpu_sm_count), (sms, of), "{slice}");
    }
}

#[test]
fn a_slice_has_its_share_and_nothing_else_changes() {
    let whole = gpu("a100-sxm4-80gb");
    let half = gpu("A100 SXM4 80GB:3G.40GB");
    assert_eq!((half.id.as_str(), half.name.as_str()), ("a100-sxm4-80gb:3g.40gb", "A100 SXM4 80 GB, MIG 3g.40gb"));
    close("DRAM", half.memory.dram.bandwidth / whole.memory.dram.bandwidth, 0.5, 1e-12);
    // What CUDA reports as the memory of an A100 3g.40gb.
    assert_eq!(half.memory.dram.capacity, Some(Bytes(42_144_366_592.0)));
    assert_eq!(half.memory.l2.capacity, Bytes(20.0 * 1_048_576.0));
    close("L2", half.memory.l2.bandwidth.unwrap() / whole.memory.l2.bandwidth.unwrap(), 0.5, 1e-12);
    assert_eq!((whole.memory.l2.partitions, half.memory.l2.partitions), (2, 1), "half of L2 lies on one side");
    assert_eq!(gpu("a100-sxm4-80gb:7g.80gb").memory.l2.partitions, 2, "a whole L2 still has two");
    let bf16 = pipe("tensor.bf16");
    close("peak", half.peak(bf16).unwrap() / whole.peak(bf16).unwrap(), 42.0 / 108.0, 1e-12);
    assert!(half.published.peaks().is_empty(), "printed peaks are those of the whole GPU");
    assert_eq!((half.limits, half.calibration, half.power), (whole.limits, whole.calibration, whole.power));
    // Memory slices and compute slices differ: bandwidth and L2 each have their own share.
    let tall = gpu("a100-sxm4-80gb:1g.20gb");
    close("DRAM of 1g.20gb", tall.memory.dram.bandwidth.get(), 2.039e12 / 4.0, 1e-12);
    close("L2 of 1g.20gb", tall.memory.l2.capacity.get(), 5.0 * 1_048_576.0, 1e-12);
    // Without a size from a driver the capacity follows the bandwidth.
    assert_eq!(gpu("h100-pcie-80gb:2g.20gb").memory.dram.capacity, Some(Bytes(20e9)));
}

#[test]
fn names_of_slices() {
    for name in ["NVIDIA A100-SXM4-80GB MIG 3g.40gb", "A100 SXM4 80 GB, MIG 3g.40gb", "a100-sxm4-80gb : 3g.40gb"] {
        assert_eq!(gpu(name).id, "a100-sxm4-80gb:3g.40gb", "{name}");
    }
    let open = Catalog::embedded().unwrap().find("h100:1g.10gb+me").unwrap();
    assert_eq!(open.gpu.id, "h100-sxm5-80gb:1g.10gb+me");
    assert!(open.assumption.unwrap().starts_with("`h100` is taken as"));
    assert_eq!(split_profile("a100"), ("a100", None));
    // `-me` and `+me` are other profiles than the plain one, although names ignore `-`.
    assert_eq!(gpu("rtx-pro-6000-server:1g.24gb-me").id, "rtx-pro-6000-server:1g.24gb-me");
    assert!(what_if("rtx-pro-6000-server:1g.24gbme", &[]).unwrap_err().contains("no MIG profile `1g.24gbme`"));
}

#[test]
fn what_ifs_change_the_whole_gpu_before_it_is_cut() {
    let slice = "h100-sxm5-80gb:3g.40gb";
    let wide = what_if(slice, &["memory.dram.bandwidth=4.8 TB/s", "memory.l2.bandwidth=8 TB/s"]).unwrap();
    close("DRAM", wide.memory.dram.bandwidth.get(), 2.4e12, 1e-12);
    close("L2", wide.memory.l2.bandwidth.unwrap().get(), 4e12, 1e-12);
    assert_eq!(wide.changes[0], "memory.dram.bandwidth = 4.8 TB/s (was 3.35 TB/s), of the whole GPU");
    let fast = what_if(slice, &["clocks.vector=1 GHz", "limits.max_warps_per_sm=32"]).unwrap();
    assert_eq!((fast.clocks.vector.get(), fast.limits.max_warps(), fast.sm.count), (1e9, 32, 60));
    for (change, says) in [
        ("sm.count=144", "the profile sets its SMs"),
        ("sm.gpc_count=7", "the profile sets its SMs"),
        ("memory.dram.capacity=96 GB", "the profile sets its memory"),
        ("memory.l2.partitions=1", "its share of L2 decides"),
        ("power=300 W", "the power rule does not apply"),
    ] {
        let message = what_if(slice, &[change]).unwrap_err();
        assert!(message.contains(says) && message.contains(change), "{change}: {message}");
    }
    // Where the driver's size is not known, the capacity of the whole GPU counts.
    let more = what_if("h100-pcie-80gb:2g.20gb", &["memory.dram.capacity=96 GB"]).unwrap();
    assert_eq!(more.memory.dram.capacity, Some(Bytes(24e9)));
}

#[test]
fn full_houses() {
    let a100 = table("a100-sxm4-80gb");
    let idle = |table: &MigTable, name: &str| {
        let profile = table.profiles.iter().find(|p| p.name == name).unwrap();
        table.house_of(profile).map(|house| (house.idle_sm, house.idle_memory_slices))
    };
    assert_eq!(idle(&a100, "7g.80gb"), Some((10, 0)), "98 of 108 SMs");
    assert_eq!(idle(&a100, "1g.10gb"), Some((10, 1)), "7 x 14 SMs, 7 of 8 memory slices");
    assert_eq!(idle(&a100, "3g.40gb"), Some((24, 0)));
    assert_eq!(idle(&table("h100-sxm5-80gb"), "3g.40gb"), Some((12, 0)));
    assert_eq!(idle(&table("b200"), "1g.23gb"), Some((22, 1)));
    assert_eq!(idle(&table("b200"), "3g.90gb"), None, "unsourced");
    let names = |table: &MigTable| table.mixed_houses().iter().map(ToString::to_string).collect::<Vec<_>>();
    // The combinations of NVIDIA's MIG User Guide for seven compute slices, without the order on the chip.
    let found = names(&a100);
    assert_eq!(
        found,
        [
            "4g.40gb + 3g.40gb",
            "4g.40gb + 2g.20gb + 1g.10gb",
            "4g.40gb + 3x 1g.10gb",
            "3g.40gb + 2x 2g.20gb",
            "3g.40gb + 2g.20gb + 2x 1g.10gb",
            "3g.40gb + 4x 1g.10gb",
            "3x 2g.20gb + 1g.10gb",
            "2x 2g.20gb + 3x 1g.10gb",
            "2g.20gb + 5x 1g.10gb",
        ]
    );
    assert_eq!(names(&table("a30")), ["2g.12gb + 2x 1g.6gb"]);
    assert!(names(&table("h200-nvl")).iter().all(|h| !h.contains("4g")), "no SM count by analogy");
    assert!(names(&table("rtx-pro-6000-server")).is_empty(), "no source has its placements");
    let by_idle = table("h100-sxm5-80gb");
    let groups: Vec<_> = by_idle.mixed_houses_by_idle().into_keys().collect();
    assert_eq!(groups, [(8, 0), (20, 1)], "4g + 3g: 64 + 60 of 132 SMs");
}

#[test]
fn a_stream_slows_down_by_the_share_of_the_bandwidth() {
    let stream = || kernel(block(256, 32, 0), "vector.fp32", 0.0, 1e10, 1e10);
    for (whole, slice) in slices() {
        let dram = |gpu: &Gpu| run(gpu, stream(), 1 << 20).time.of(Resource::Memory(Level::Dram)).get();
        let share = slice.mig.as_ref().unwrap().profile.mem_fraction.unwrap().get();
        close(&slice.id, dram(&whole) / dram(&slice), share, 1e-9);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Without spills: fewer resident threads per byte of L2 let more of these stay, in a slice as on any smaller GPU.
    #[test]
    fn a_slice_is_never_faster_than_its_gpu(
        (whole, slice) in proptest::sample::select(slices()), blocks in prop_oneof![1u64..500, 1u64..1_000_000],
        warps in 1u32..=16, pipes in 0usize..64, flops in 0.0f64..15.0, read in 0.0f64..11.0, written in 0.0f64..11.0,
        shared in 0.0f64..11.0, distance in proptest::option::of(4.0f64..10.0), dependent in 0.0f64..1e3,
    ) {
        let ten = |e: f64| libm::pow(10.0, e);
        let unit = whole.pipes()[pipes % whole.pipes().len()].to_string();
        let mut it = kernel(block(warps * 32, 32, 0), &unit, ten(flops), ten(read), ten(written));
        it.traffic.shared.read = Bytes(ten(shared));
        it.traffic.reuse_distance = distance.map(|e| Bytes(ten(e)));
        it.concurrency.dependent_accesses = dependent;
        let [a, b] = [&whole, &slice].map(|gpu| run(gpu, it.clone(), blocks).time);
        prop_assert!(b.estimate.get() >= a.estimate.get() * (1.0 - 1e-9), "{}: {:?} and {:?}", slice.id, b, a);
        prop_assert!(b.low.get() >= a.low.get() * (1.0 - 1e-9), "{}: {:?} and {:?}", slice.id, b, a);
        let [a, b] = [&whole, &slice].map(|gpu| gpu.pipes().iter().map(|p| gpu.peak(*p).unwrap().get()).sum::<f64>());
        prop_assert!(b <= a);
    }
}

const RUN: [&str; 6] = ["--grid", "1000", "--block", "256", "--dram-read", "1 GB"];

#[test]
fn refusals() {
    let place = Place::new();
    let text = String::from_utf8(std::fs::read("gpus/nvidia/a100-sxm4-80gb.toml").unwrap()).unwrap();
    place.file("other.toml", text.replace("name = \"A100 SXM4 80 GB\"", "name = \"A999\""));
    place.file("more.toml", text.replace("count = 108", "count = 120"));
    let cases: [(&str, &[&str]); 13] = [
        ("t4:1g.5gb", &["no MIG profiles are known for T4", "`1g.5gb`", "a30, a100-sxm4-40gb", "GPU file"]),
        ("a800-sxm4-80gb:1g.10gb", &["no MIG profiles are known for A800"]),
        ("a100-sxm4-80gb:3g.20gb", &["no MIG profile `3g.20gb`", "1g.10gb, 1g.10gb+me, 1g.20gb", "7g.80gb"]),
        ("a100-sxm4-80gb:3g", &["no MIG profile `3g`"]),
        ("a100-sxm4-80gb:", &["MIG profile behind the colon is empty", "3g.40gb"]),
        ("a100-sxm4-80gb:1c.3g.40gb", &["`1c.3g.40gb`", "a compute instance has no profile"]),
        (
            "h200-sxm-141gb:1g.35gb",
            &["1g.35gb of H200 SXM 141 GB is refused", "by analogy", "1g.18gb, 1g.18gb+me, 2g.35gb, 3g.71gb, 7g.141gb"],
        ),
        ("b200:7g.180gb", &["7g.180gb of B200 is refused", "has no source", "of this GPU: 1g.23gb, 1g.23gb+me"]),
        ("b300:1g.34gb", &["has no source", "of this GPU: none"]),
        ("a101:3g.40gb", &["no GPU is called `a101`", "did you mean"]),
        ("other.toml:3g.40gb", &["other.toml:3g.40gb", "no MIG profiles are known for A999", "`name`"]),
        ("more.toml:3g.40gb", &["sm.count = 120 of A100 SXM4 80 GB", "108 SMs"]),
        ("missing.toml:3g.40gb", &["`missing.toml` cannot be read"]),
    ];
    for (name, says) in cases {
        place.refused(&[&["kernel", "--gpu", name], &RUN[..]].concat(), says);
    }
    let sliced = ["kernel", "--gpu", "a100-sxm4-80gb:3g.40gb"];
    for (set, says) in [("sm.count=200", "--set sm.count=200 has no effect"), ("power=200 W", "power rule does not")] {
        place.refused(&[&sliced[..], &["--set", set], &RUN[..]].concat(), &[says, "whole GPU"]);
    }
    place.refused(&["gpus", "show", "b200:2g.45gb"], &["refused", "1g.23gb"]);
    place.scenario("analogy.toml", "h100-sxm5-80gb", "h200-nvl:4g.71gb");
    place.refused(&["analyze", "analogy.toml"], &["analogy.toml", "4g.71gb of H200 NVL", "3g.71gb"]);
}

#[test]
fn slices_of_files_and_in_scenarios() {
    let place = Place::new();
    let shown = place.out(&["gpus", "show", "a100-sxm4-80gb"]);
    assert!(shown.contains("# 7g.80gb") && shown.contains("\n# full houses"));
    place.file("mine.toml", shown);
    let mine = place.out(&[&["kernel", "--gpu", "mine.toml:3g.40gb"], &RUN[..]].concat());
    let own = place.out(&[&["kernel", "--gpu", "a100-sxm4-80gb:3g.40gb"], &RUN[..]].concat());
    assert_eq!(mine, own, "a copy of the file keeps the profiles");
    assert!(own.starts_with("kernel on A100 SXM4 80 GB, MIG 3g.40gb\n"), "{own}");
    std::fs::create_dir(place.0.path().join("more")).unwrap();
    place.file("more/copy.toml", std::fs::read("gpus/nvidia/a30.toml").unwrap());
    place.out(&[&["kernel", "--gpu-dir", "more", "--gpu", "copy:1g.6gb"], &RUN[..]].concat());

    place.scenario("s.toml", "[\"h100-sxm5-80gb\"]", "[\"h100-sxm5-80gb\", \"h100-sxm5-80gb:3g.40gb\"]");
    place.file("s2.toml", SCENARIO.replace("h100-sxm5-80gb", "h100-sxm5-80gb:3g.40gb"));
    let json: serde_json::Value =
        serde_json::from_str(&place.out(&["analyze", "s.toml", "--format", "json", "--out", "out"])).unwrap();
    let [whole, slice] = [&json["kernels"][0], &json["kernels"][1]];
    assert_eq!((&whole["gpu"], &slice["gpu"]), (&"h100-sxm5-80gb".into(), &"h100-sxm5-80gb:3g.40gb".into()));
    assert_eq!(slice["gpu_name"], "H100 SXM5 80 GB, MIG 3g.40gb");
    assert_eq!((slice["sm_count"].as_u64(), slice["peak_dram_gb_per_s"].as_f64()), (Some(60), Some(1675.0)));
    let says = |report: &serde_json::Value, field: &str, what: &str| report[field].to_string().contains(what);
    assert!(says(slice, "ignored", "other MIG slices") && !says(whole, "ignored", "MIG"));
    assert!(says(slice, "confidence", "measured on H100 SXM5 80 GB, not on a slice of it"), "{}", slice["confidence"]);
    let set = ["--set", "memory.dram.bandwidth=6.7 TB/s", "--format", "json"];
    let json: serde_json::Value =
        serde_json::from_str(&place.out(&[&["analyze", "s2.toml"], &set[..]].concat())).unwrap();
    assert_eq!(json["kernels"][0]["peak_dram_gb_per_s"].as_f64(), Some(3350.0), "what-ifs come before the cut");
}
