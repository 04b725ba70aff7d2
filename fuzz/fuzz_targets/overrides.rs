//! What-ifs as text: the first byte chooses a GPU, the rest of its line a MIG profile, every further line is a what-if.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::{gpu::Override, scenario::KernelSpec, time::Timing};
use wavecast_fuzz::{CATALOG, check_analysis, check_gpu, gpu, said};

fuzz_target!(|text: &str| {
    let base = gpu(text.bytes().next().unwrap_or_default());
    let mut overrides: Vec<Override> = Vec::new();
    for line in text.lines().skip(1) {
        match line.parse() {
            Ok(change) => overrides.push(change),
            Err(error) => drop(said(error)),
        }
    }
    let profile = text.lines().next().and_then(|line| line.get(1..)).filter(|p| !p.is_empty());
    match CATALOG.find_with(&base.id, &overrides) {
        Ok(mut found) => {
            if let Some(profile) = profile {
                match CATALOG.slice(found.gpu.clone(), profile, &overrides) {
                    Ok(slice) => found.gpu = slice,
                    Err(error) => drop(said(error)),
                }
            }
            assert!(found.gpu.changes.len() >= overrides.len(), "a what-if was dropped");
            check_gpu(&found.gpu);
            let mut spec = KernelSpec { grid: 5000.into(), block: 256.into(), ..KernelSpec::default() };
            spec.traffic.dram.read = wavecast::units::Bytes(1e9);
            let (kernel, blocks, _) = spec.build().expect("a plain kernel");
            match wavecast::analysis::analyse(&found.gpu, kernel, blocks, Timing::Device) {
                Ok(analysis) => check_analysis(&analysis),
                Err(error) => drop(said(error)),
            }
        }
        Err(error) => drop(said(error)),
    }
});
