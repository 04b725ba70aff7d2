//! Configurations of networks: read, counted, and their steps timed, drawn and reported.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wavecast::{
    gpu::DataType,
    network::{Network, Phase, Recompute, Step},
    report::{NetworkReport, network_csv, network_json, network_markdown, network_text},
};
use wavecast_fuzz::{gpu, said};

fuzz_target!(|bytes: &[u8]| {
    let [choice, batch, tokens, parallel, bytes @ ..] = bytes else { return };
    let network = match Network::read("network.json", bytes) {
        Ok(network) => network,
        Err(error) => return drop(said(error)),
    };
    let all = network.parameters();
    assert!(all.active() <= all.total());
    let gpu = gpu(*choice);
    for phase in [Phase::Prefill, Phase::Decode, Phase::Train] {
        let step = Step {
            phase,
            batch: u64::from(*batch),
            tokens: u64::from(*tokens) << (parallel >> 4),
            data: DataType::Bf16,
            products: if choice & 1 == 0 { DataType::Bf16 } else { DataType::Fp8 },
            weight_bytes: 2.0,
            expert_bytes: 0.53,
            cache_bytes: if choice & 8 == 0 { 2.0 } else { 0.5 },
            tensor_parallel: u64::from(parallel & 15),
            fused: choice & 2 == 0,
            recompute: if choice & 4 == 0 { Recompute::Full } else { Recompute::Selective },
        };
        match network.timed(&gpu, &step) {
            Ok(found) => {
                let (time, low, high) = found.device;
                assert!(time.is_finite() && 0.0 < low && low <= time && time <= high, "{low} {time} {high}");
                let report = NetworkReport::new(&network, &gpu, &found, Some(5e-6), &[]);
                let forms = [network_json(&report), network_csv(&report).expect("memory takes all"), network_markdown(&report)];
                assert!(forms.iter().all(|form| !form.contains("NaN")), "{forms:?}");
                assert!(network_text(&report, 80).lines().all(|line| line.chars().count() <= 80), "{}", network_text(&report, 80));
            }
            Err(error) => drop(said(error)),
        }
    }
});
