//! AMD GPUs and CPUs through the same pipeline: their own limits and words, what is left out, and what is refused.

use wavecast::{
    gpu::{Limits, Override},
    occupancy::{Resources, amd::residency, cluster::most_active, occupancy},
    time::{Bound, Resource},
};

use crate::common::{block, close, gpu, kernel, run, what_if};
use crate::place::Place;

#[test]
fn o6_accumulation_registers_share_the_file() {
    let limits = gpu("instinct-mi250x-gcd").limits;
    let asked = Resources { accumulation_registers: 128, ..block(256, 5, 0) };
    let found = occupancy(&limits, &asked);
    assert_eq!((found.active_warps(), found.max_warps, found.fraction()), (12, 32, 0.375), "O6: 136 of 512 registers");
    let without = occupancy(&limits, &block(256, 5, 0));
    assert_eq!(without.fraction(), 1.0, "O6: what forgetting them gives");
}

#[test]
fn a_workgroup_may_have_a_pair_of_compute_units() {
    let pair = gpu("radeon-rx-7900-xtx");
    let single = what_if("radeon-rx-7900-xtx", &["compute_unit.workgroup_mode=cu"]).unwrap();
    assert_eq!((pair.units(), single.units(), pair.sm.count), (48, 96, 96));
    let fp32 = "vector.fp32".parse().unwrap();
    assert_eq!(pair.peak(fp32), single.peak(fp32), "the mode changes no peak");
    // One workgroup of pure arithmetic: a pair of compute units is twice as fast as one.
    let math = kernel(block(256, 32, 0), "vector.fp32", 1e9, 0.0, 0.0);
    let of = |gpu| run(gpu, math.clone(), 1).time.of(Resource::Pipe(fp32)).get();
    close("time of one workgroup", of(&single), 2.0 * of(&pair), 1e-12);
    // Many workgroups: the same time, since nothing but the quantum differs.
    let of = |gpu| run(gpu, math.clone(), 96_000).time.estimate.get();
    close("time of many workgroups", of(&single), of(&pair), 1e-3);

    let lds = Resources { dynamic_shared: 60 * 1024, ..block(256, 32, 0) };
    assert_eq!((occupancy(&pair.limits, &lds).blocks_per_sm, occupancy(&single.limits, &lds).blocks_per_sm), (2, 1));
}

#[test]
fn what_ifs_of_a_compute_unit() {
    let changed = what_if("instinct-mi300x", &["compute_unit.trap_handler=false"]).unwrap();
    let asked = Resources { scalar_registers: 96, ..block(256, 32, 0) };
    let waves = |limits: &Limits| residency(limits.cu().unwrap(), &asked).waves_per_simd_sgpr;
    assert_eq!((waves(&gpu("instinct-mi300x").limits), waves(&changed.limits)), (7, 8), "800 / 112 and 800 / 96");
    assert_eq!(changed.changes, ["compute_unit.trap_handler = false (was true)"]);
    let narrow = what_if("radeon-rx-7600", &["compute_unit.wave_size=64"]).unwrap();
    assert_eq!(occupancy(&narrow.limits, &block(256, 32, 0)).warps_per_block, 4);
    for (name, change, said) in [
        ("instinct-mi300x", "compute_unit.wave_size=32", "compute_unit.wave_size = 32 must be 64"),
        ("instinct-mi300x", "compute_unit.workgroup_mode=wgp", "only RDNA pairs"),
        ("instinct-mi300x", "compute_unit.lds_granule=0 B", "1 B to 4 GiB"),
        ("instinct-mi300x", "compute_unit.simds_per_cu=0", "at least 1 and at most 64"),
        ("instinct-mi300x", "limits.max_warps_per_sm=64", "no field `limits.max_warps_per_sm`"),
        ("h100", "compute_unit.wave_size=32", "no field `compute_unit.wave_size`"),
        ("epyc-9654", "gfx=gfx942", "no field `gfx`"),
    ] {
        let error = what_if(name, &[change]).unwrap_err();
        assert!(error.contains(said), "{name} {change}: {error}");
    }
}

#[test]
fn a_file_is_one_kind_of_device() {
    let catalog = wavecast::gpu::Catalog::embedded().unwrap();
    let refused = |id: &str, from: &str, to: &str, said: &str| {
        let text = catalog.text(id).unwrap();
        assert!(text.contains(from), "{id} changed: {from}");
        let error = catalog.read("mine", &text.replacen(from, to, 1), &[]).expect_err(to).to_string();
        assert!(error.contains(said), "{id}: {error}");
    };
    refused("instinct-mi300x", "\"gfx942\"", "\"gfx940\"", "no compute unit is known for target `gfx940`");
    refused("instinct-mi300x", "gfx = ", "compute_capability = \"9.0\"\ngfx = ", "exclude each other");
    refused("instinct-mi300x", "gfx = \"gfx942\"\n", "", "`gfx` for an AMD GPU");
    refused("instinct-mi300x", "vendor = \"amd\"", "vendor = \"nvidia\"", "amd, which alone has gfx targets");
    refused("h100-sxm5-80gb", "compute_capability = ", "kind = \"cpu\"\ncompute_capability = ", "exclude each other");
    refused("epyc-9654", "kind = \"cpu\"", "kind = \"npu\"", "unknown variant `npu`");
}

#[test]
fn a_cpu_has_its_roofline_and_nothing_else() {
    let cpu = gpu("epyc-9654");
    let fp32 = cpu.peak("vector.fp32".parse().unwrap()).unwrap().get();
    let bandwidth = cpu.memory.dram.bandwidth.get();
    let of = |flops, bytes| run(&cpu, kernel(block(1, 0, 0), "vector.fp32", flops, bytes, 0.0), 9_600).time;
    close("math", of(1e12, 1e6).estimate.get(), 1e12 / fp32, 1e-6);
    close("memory", of(1e6, 1e10).estimate.get(), 1e10 / bandwidth, 1e-6);
    assert_eq!(of(1e12, 1e6).bound().0, Bound::Math);
    assert!(of(1e12, 1e6).terms.iter().all(|t| matches!(
        t.resource,
        Resource::Pipe(_) | Resource::Memory(wavecast::kernel::Level::Dram) | Resource::Fixed
    )));
    let mut chase = kernel(block(1, 0, 0), "vector.fp32", 0.0, 0.0, 0.0);
    chase.concurrency.dependent_accesses = 1000.0;
    let refused = wavecast::analysis::analyse(&cpu, chase.clone(), 1, wavecast::time::Timing::Device).unwrap_err();
    assert!(refused.to_string().contains("latency.dram"), "{refused}");
    let timed = what_if("epyc-9654", &["latency.dram=240 cycles"]).unwrap();
    let wait = run(&timed, chase, 1).time.of(Resource::Chain).get();
    close("1000 accesses of 240 cycles at 2.4 GHz", wait, 1e-4, 1e-9);
    // 97 chunks on 96 cores take as long as 192.
    let chunks = |n| run(&cpu, kernel(block(1, 0, 0), "vector.fp32", 1e12, 0.0, 0.0), n).time.estimate.get();
    close("a tail of cores", chunks(97), chunks(96) * 2.0 * 96.0 / 97.0, 1e-6);
}

#[test]
fn every_device_answers_in_the_words_of_its_vendor() {
    let place = Place::new();
    let kernel = ["kernel", "--grid", "1000", "--block", "256", "--regs", "100", "--op", "vector.fp32=1 TFLOP"];
    let on = |gpu: &str| place.out(&[&kernel[..], &["--gpu", gpu]].concat());
    let amd = on("instinct-mi300x");
    for said in ["16 of 32 wavefronts", "4 workgroups of 256 threads per CU", "HIP's occupancy query says 4", "VGPRs"] {
        assert!(amd.contains(said), "{said}: {amd}");
    }
    for word in ["SMs", "warps", "blocks", "registers", "shared memory"] {
        assert!(!amd.split(|c: char| !c.is_alphabetic()).any(|w| w == word), "{word}: {amd}");
    }
    let cpu = on("epyc-9654");
    assert!(cpu.contains("96 cores") && !cpu.contains("occupancy   "), "{cpu}");
    assert!(on("h100").contains("132 SMs"));

    let batch = "gfx,threads_per_workgroup,vgprs,lds_bytes\ngfx942,256,100,0\n";
    place.file("amd.csv", batch);
    assert!(
        place
            .out(&["occupancy", "--batch", "amd.csv"])
            .contains("gfx942,256,100,0,4,104,4,8,8,16,4,8,inf,4,vgprs,16,32,50,4,4,")
    );
}

#[test]
fn occupancy_options_of_one_vendor_are_refused_on_another() {
    let place = Place::new();
    let text = place.out(&["occupancy", "--gfx", "gfx1100", "--block", "256", "--vgprs", "97", "--want", "8"]);
    for said in
        ["6 workgroups per WGP", "Occupancy: 12", "answers 6", "__launch_bounds__(256, 16) (8 workgroups per WGP)"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    let single =
        place.out(&["occupancy", "--gfx", "gfx1100", "--block", "256", "--vgprs", "97", "--workgroup-mode", "cu"]);
    assert!(single.contains("3 workgroups per CU"), "{single}");
    for (options, said) in [
        (&["--cc", "9.0", "--agprs", "4"][..], "--agprs is for AMD GPUs"),
        (&["--gfx", "gfx942", "--wave-size", "32"], "this target has no other"),
        (&["--gfx", "gfx9"], "known: gfx900"),
        (&["--gpu", "epyc-9654"], "is a CPU"),
        (&["--gfx", "gfx942", "--cluster", "2"], "gfx942 has no thread-block clusters"),
        (&["--cc", "8.9", "--setmaxnreg", "40,232"], "compute capability 8.9 has no setmaxnreg"),
        (&["--cc", "9.0", "--setmaxnreg", "40,231"], "multiple of 8"),
    ] {
        place.refused(&[&["occupancy", "--block", "256"], options].concat(), &[said]);
    }
}

#[test]
fn what_no_device_knows_is_refused_not_ignored() {
    let place = Place::new();
    let kernel = ["kernel", "--grid", "1000", "--block", "256", "--dram-read", "1 GB"];
    let on = |more: &[&str], said: &str| place.refused(&[&kernel[..], more].concat(), &[said]);
    on(&["--gpu", "h100", "--agprs", "4"], "--agprs is for AMD GPUs; H100 SXM5 80 GB is none");
    on(&["--gpu", "instinct-mi300x", "--carveout", "50"], "--carveout is for NVIDIA GPUs");
    on(&["--gpu", "epyc-9654", "--sgprs", "50"], "--sgprs is for AMD GPUs");
    on(&["--gpu", "h100", "--barriers", "17"], "0..=16");
    place.out(&[&kernel[..], &["--gpu", "h100", "--gpu", "instinct-mi300x", "--agprs", "4"]].concat());
    // A check that can look at nothing has not passed.
    let run = place.run(&[&kernel[..], &["--fail-if", "measured_us > 1"]].concat());
    assert_eq!(run.get_output().status.code(), Some(1));
    // A hostile name moves no cursor in a table for programs.
    let rows = place.out(&[&kernel[..], &["--name", "ev\u{1b}[31mil", "--format", "csv"]].concat());
    assert!(!rows.contains('\u{1b}'), "{rows}");
}

#[test]
fn clusters_and_warp_specialised_kernels() {
    let place = Place::new();
    let fa3 = ["occupancy", "--gpu", "h100", "--block", "384", "--setmaxnreg", "40,232,232", "--cluster", "2"];
    let text = place.out(&fa3).replace('\n', " ");
    for said in
        ["1 block per SM, 12 of 64 warps", "168 registers per thread of the launch decide", "at most 66 are active"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    let text =
        place.out(&["occupancy", "--gpu", "h100", "--block", "384", "--regs", "128", "--setmaxnreg", "40,232,232"]);
    assert!(text.replace('\n', " ").contains("waits for ever"), "{text}");

    for (cluster, grid, gpu, said) in [
        ("2", "1001", "h100", "each dimension of the grid 1001 must be a multiple"),
        ("2x2", "1000x3", "h100", "1000x3"),
        ("32", "64", "h100", "must have 1 to 16 on compute capability 9.0"),
        ("2", "64", "a100", "compute capability 8.0 has no thread-block clusters"),
    ] {
        let words = ["kernel", "--block", "128", "--cluster", cluster, "--grid", grid, "--gpu", gpu];
        place.refused(&words, &[said]);
    }
    let fine = place.out(&["kernel", "--block", "128", "--cluster", "16", "--grid", "160", "--gpu", "h100"]);
    assert!(fine.replace("\n              ", " ").contains("not portable: the kernel must opt in"), "{fine}");

    let overridden: Override = "sm.max_per_gpc=16".parse().unwrap();
    let catalog = wavecast::gpu::Catalog::embedded().unwrap();
    let known = catalog.find_with("gb10", &[overridden]).unwrap().gpu;
    let pairs = wavecast::occupancy::cluster::clusters(&known.limits, 2).unwrap();
    assert_eq!(most_active(&known.sm, 1, pairs), Some(24));
    assert_eq!(most_active(&gpu("gb10").sm, 1, pairs), None);
}
