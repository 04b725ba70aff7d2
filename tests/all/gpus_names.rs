//! The names of the GPU catalog: unique, complete for the strings of drivers, and never guessed.

use std::collections::BTreeMap;

use wavecast::gpu::{Catalog, GpuError};

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
        ("Tesla P4", "p4"),
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
