//! `model`: a step of a whole network, by hand, by published figures, by laws, and what is refused.

use proptest::prelude::*;
use serde_json::Value;
use wavecast::{
    gpu::{Catalog, DataType, Gpu},
    network::{Class, Network, Op, Pass, Phase, Recompute, Step, TimedStep, What, named},
};

use crate::place::Place;

fn gpu(name: &str) -> Gpu {
    Catalog::embedded().unwrap().find(name).unwrap().gpu
}

fn step(phase: Phase, batch: u64, tokens: u64) -> Step {
    Step {
        phase,
        batch,
        tokens,
        data: DataType::Bf16,
        products: DataType::Bf16,
        weight_bytes: 2.0,
        expert_bytes: 2.0,
        cache_bytes: 2.0,
        tensor_parallel: 1,
        fused: true,
        recompute: Recompute::None,
    }
}

fn flop(ops: &[Op], pass: Pass) -> f64 {
    ops.iter().filter(|op| op.pass == pass).map(|op| op.flop() * op.count as f64).sum()
}

fn timed(network: &str, on: &str, step: &Step) -> TimedStep {
    named(network).unwrap().timed(&gpu(on), step).unwrap()
}

/// 2 FLOP per token and weight of every product, and the pairs of attention: the forward pass of Llama-2-7B by hand.
#[test]
fn forward_flop_by_hand() {
    let network = named("llama-2-7b").unwrap();
    let (h, w, v, s) = (4096.0, 11008.0, 32000.0, 2048.0_f64);
    let layer = 2.0 * s * (4.0 * h * h + 3.0 * h * w) + 4.0 * h * s * (s + 1.0) / 2.0;
    let wanted = 32.0 * layer + 2.0 * v * h;
    let ops = network.operations(&step(Phase::Prefill, 1, 2048)).unwrap();
    assert!((flop(&ops, Pass::Forward) / wanted - 1.0).abs() < 1e-12);
    // A new token sees all 2,048.
    let ops = network.operations(&step(Phase::Decode, 1, 2048)).unwrap();
    let wanted = 32.0 * (2.0 * (4.0 * h * h + 3.0 * h * w) + 4.0 * h * s) + 2.0 * v * h;
    assert!((flop(&ops, Pass::Forward) / wanted - 1.0).abs() < 1e-12);
}

/// Korthikanti et al., arXiv 2205.05198, equation 7, which counts every pair: 72 B L s h^2 (1 + s/(6h) + v/(12hL)).
#[test]
fn training_flop_of_the_published_equation() {
    for (name, batch) in [("gpt3-175b", 1), ("gpt2-xl", 3)] {
        let network = named(name).unwrap();
        let (b, s) = (batch as f64, network.longest as f64);
        let (h, l, v) = (network.hidden as f64, network.layers.len() as f64, network.vocabulary as f64);
        let equation = 72.0 * b * l * s * h * h * (1.0 + s / (6.0 * h) + v / (12.0 * h * l));
        let found = network.timed(&gpu("h100-sxm5-80gb"), &step(Phase::Train, batch, network.longest)).unwrap();
        assert!((found.all_pairs_flop() / equation - 1.0).abs() < 1e-9, "{name}");
        // 6 N D of all weights but the embedding, which multiplies nothing, and half of the pairs.
        let weights =
            (network.parameters().total() - (network.vocabulary + network.positions) * network.hidden) as f64 + v * h;
        let rule = 6.0 * weights * b * s;
        let pairs = 3.0 * l * 2.0 * b * s * (s + 1.0) * h;
        // Biases and norms are weights without products.
        assert!((found.model_flop() / (rule + pairs) - 1.0).abs() < 1e-3, "{name}");
    }
}

/// A token of Llama-2-7B reads its weights once: 13.2 GB without the embedding's table, and the cache of 1 GiB.
#[test]
fn decode_is_bound_by_the_weights() {
    let found = timed("llama-2-7b", "a100-sxm4-80gb", &step(Phase::Decode, 1, 2048));
    let weights = 2.0 * (6_738_415_616.0 - 32_000.0 * 4096.0);
    let bytes: f64 =
        found.ops.iter().filter(|op| op.op.class == Class::Product).map(|op| op.bytes * op.op.count as f64).sum();
    let cache = 32.0 * 2048.0 * 2.0 * 4096.0 * 2.0;
    assert!((bytes / (weights + cache) - 1.0).abs() < 0.01, "{bytes}");
    let floor = bytes / 2.039e12;
    assert!(found.device.0 > floor && found.device.0 < 2.0 * floor, "{} {floor}", found.device.0);
    let memory: f64 = found.ops.iter().filter(|op| op.bound.word() == "memory").map(|op| op.total()).sum();
    assert!(memory / found.device.0 > 0.6);
}

/// The cache of Llama-3.1-8B is that of its 8 heads of keys and values: 512 MiB for 4,096 tokens, not 2 GiB.
#[test]
fn decode_reads_the_heads_of_keys_and_values() {
    let found = timed("llama-3.1-8b", "h100-sxm5-80gb", &step(Phase::Decode, 1, 4096));
    let attention = found.ops.iter().find(|op| op.op.part == "attention").unwrap();
    let read = attention.bytes * attention.op.count as f64;
    assert!((read / (512.0 * 1024.0 * 1024.0) - 1.0).abs() < 0.01, "{read}");
}

#[test]
fn windows_experts_and_latents_by_hand() {
    // Of gpt-oss every second layer sees 128 keys.
    let ops = named("gpt-oss-20b").unwrap().operations(&step(Phase::Decode, 1, 4096)).unwrap();
    let attention: Vec<&Op> = ops.iter().filter(|op| op.part == "attention").collect();
    let keys = |op: &Op| match op.what {
        What::Attention(shape) => shape.keys_read(),
        _ => 0,
    };
    assert_eq!(attention.iter().map(|op| (op.count, keys(op))).collect::<Vec<_>>(), [(12, 128), (12, 4096)]);
    // A token of Mixtral goes through 2 of 8 experts of three matrices.
    let ops = named("mixtral-8x7b").unwrap().operations(&step(Phase::Prefill, 1, 1000)).unwrap();
    let experts = ops.iter().find(|op| op.part == "experts").unwrap();
    assert_eq!(experts.flop(), 2.0 * 1000.0 * 2.0 * 3.0 * 4096.0 * 14336.0);
    // A new token of DeepSeek-V3 reads 576 elements per cached token and layer, whatever its 128 heads.
    let found = timed("deepseek-v3", "h200-sxm-141gb", &Step { tensor_parallel: 8, ..step(Phase::Decode, 1, 65_536) });
    let latent = found.ops.iter().find(|op| op.op.part == "latent attention").unwrap();
    assert!((latent.bytes / (65_536.0 * 576.0 * 2.0) - 1.0).abs() < 0.01, "{}", latent.bytes);
}

#[test]
fn narrow_weights_are_less_to_read() {
    let plain = timed("llama-3.1-8b", "h100-sxm5-80gb", &step(Phase::Decode, 1, 1024));
    let four = Step { weight_bytes: 0.53, ..step(Phase::Decode, 1, 1024) };
    let four = timed("llama-3.1-8b", "h100-sxm5-80gb", &four);
    let products = |found: &TimedStep| {
        let layers = found.ops.iter().filter(|op| op.op.part != "head");
        let all = layers.filter(|op| matches!(op.op.what, What::Product { .. }));
        all.map(|op| op.bytes * op.op.count as f64).sum::<f64>()
    };
    assert!((products(&four) / products(&plain) - 0.265).abs() < 0.005);
    assert!(four.device.0 < 0.6 * plain.device.0, "{} {}", four.device.0, plain.device.0);
}

/// 16 tokens that choose 8 of 128 experts at random meet 82 of them on average; the head stays in 16 bits.
#[test]
fn experts_that_nobody_meets_are_not_read() {
    let found = timed("qwen3-30b-a3b", "h100-sxm5-80gb", &step(Phase::Decode, 16, 2048));
    let experts = found.ops.iter().find(|op| op.op.part == "experts").unwrap();
    let met = (128.0 * (1.0 - (120.0_f64 / 128.0).powi(16))).round();
    let weights = met * 3.0 * 2048.0 * 768.0 * 2.0;
    assert!(weights <= experts.bytes && experts.bytes < 1.02 * weights, "{} {weights}", experts.bytes);
    let head = |asked: &Step| {
        let found = timed("llama-3.1-8b", "h100-sxm5-80gb", asked);
        found.ops.iter().find(|op| op.op.part == "head").unwrap().bytes
    };
    let plain = step(Phase::Decode, 1, 2048);
    assert_eq!(head(&plain), head(&Step { weight_bytes: 0.5, ..plain }));
}

/// Half of the cache's bytes: at a long context half of attention's time, no less than its arithmetic.
#[test]
fn narrow_caches_are_less_to_read() {
    let asked = step(Phase::Decode, 16, 32_768);
    let narrow = Step { cache_bytes: 1.0, ..asked };
    let attention = |asked: &Step| {
        let found = timed("llama-3.1-8b", "h100-sxm5-80gb", asked);
        *found.ops.iter().find(|op| op.op.part == "attention").unwrap()
    };
    let (plain, narrow) = (attention(&asked), attention(&narrow));
    assert!((narrow.bytes / plain.bytes - 0.5).abs() < 0.01);
    let ratio = narrow.time / plain.time;
    assert!((0.45..0.65).contains(&ratio) && narrow.unmeasured.is_some(), "{ratio}");
    let latent = |bytes| {
        let asked = Step { cache_bytes: bytes, tensor_parallel: 8, ..step(Phase::Decode, 8, 65_536) };
        let found = timed("deepseek-v3", "h200-sxm-141gb", &asked);
        found.ops.iter().find(|op| op.op.part == "latent attention").unwrap().bytes
    };
    assert!((latent(1.0) / latent(2.0) - 0.5).abs() < 0.01);
}

#[test]
fn recomputation_runs_the_layers_again() {
    let whole = Step { recompute: Recompute::Full, ..step(Phase::Train, 1, 2048) };
    let network = named("llama-2-7b").unwrap();
    let ops = network.operations(&whole).unwrap();
    let head = 2.0 * 2048.0 * 32_000.0 * 4096.0;
    assert!((flop(&ops, Pass::Again) / (flop(&ops, Pass::Forward) - head) - 1.0).abs() < 1e-12);
    let selective = Step { recompute: Recompute::Selective, fused: false, ..whole };
    let ops = network.operations(&selective).unwrap();
    let scores = 32.0 * 2.0 * 2.0 * 2048.0 * 2048.0 * 4096.0;
    assert!((flop(&ops, Pass::Again) / scores - 1.0).abs() < 1e-12);
    let fused = Step { fused: true, ..selective };
    assert_eq!(flop(&network.operations(&fused).unwrap(), Pass::Again), 0.0);
}

/// LLaMA-7B in FP16 on an A100 took 120.5 ms for a prompt of 2,048 tokens and 16.1 ms for 128, launched kernel by kernel (LLM-Viewer
/// issue 4): the roofline is below both, and the model's band holds the first.
#[test]
fn a_roofline_is_a_bound_and_not_a_prediction() {
    for (tokens, measured) in [(2048, 120.5e-3), (128, 16.1e-3)] {
        let found = timed(
            "llama-2-7b",
            "a100-sxm4-80gb",
            &Step { data: DataType::Fp16, products: DataType::Fp16, ..step(Phase::Prefill, 1, tokens) },
        );
        assert!(found.roofline(2.039e12) < measured, "{tokens}");
        let (_, low, high) = found.device;
        assert!(tokens != 2048 || (low < measured && measured < high), "{low} {high}");
    }
}

/// ResNet-50 at 224 x 224 is 4.1 billion multiplications and additions, which are 8.2 GFLOP and not 4.1.
#[test]
fn a_residual_network_counts_two_per_multiplication_and_addition() {
    use wavecast::op::conv::{Shape, Sides};
    let conv = |channels, image, filters, side, stride| {
        let (image, filter) = (Sides::both(image), Sides::both(side));
        let pad = Sides::both((side - 1) / 2);
        Shape { stride: Sides::both(stride), pad, ..Shape::new(1, channels, image, filters, filter) }.flop()
    };
    let mut flop = conv(3, 224, 64, 7, 2) + 2.0 * 2048.0 * 1000.0;
    let (mut channels, mut image) = (64, 56);
    for (stage, blocks) in [3, 4, 6, 3].into_iter().enumerate() {
        let width = 64 << stage;
        for block in 0..blocks {
            // The 3 x 3 convolution of a stage's first block halves the image, but for the first stage.
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            flop += conv(channels, image, width, 1, 1) + conv(width, image, width, 3, stride);
            if block == 0 {
                flop += conv(channels, image, 4 * width, 1, stride);
            }
            image /= stride;
            flop += conv(width, image, 4 * width, 1, 1);
            channels = 4 * width;
        }
    }
    assert!((flop / 8.2e9 - 1.0).abs() < 0.01, "{flop}");
}

fn any_network() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["gpt2", "llama-3.1-8b", "mixtral-8x7b", "gpt-oss-20b", "deepseek-v2", "nemotron-h-56b"])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sums_bands_and_order(
        name in any_network(),
        phase in prop::sample::select(vec![Phase::Prefill, Phase::Decode, Phase::Train]),
        batch in 1_u64..9,
        tokens in 1_u64..1024,
    ) {
        let asked = step(phase, batch, tokens);
        let found = timed(name, "h100-sxm5-80gb", &asked);
        let (time, low, high) = found.device;
        prop_assert!(0.0 < low && low <= time && time <= high && high.is_finite());
        let classes: f64 = Class::ALL.iter().map(|class| found.of_class(*class)).sum();
        prop_assert!((classes / time - 1.0).abs() < 1e-9);
        prop_assert!(found.roofline(3.35e12) <= time, "no faster than the roofline");
        prop_assert!(found.model_flop() <= found.all_pairs_flop() && found.model_flop() <= found.hardware_flop());
        prop_assert_eq!(found.with_launches(0.0), time);
        prop_assert!(found.with_launches(1e-3) >= 1e-3 * found.kernels as f64);
        // Twice the sequences are no less work, and take hardly less time (decode attention may be cut into shares that fill the
        // SMs better: 3.4 % in all at 8 and 16 sequences of gpt2 with 641 tokens); two GPUs have no more each.
        let twice = timed(name, "h100-sxm5-80gb", &Step { batch: 2 * batch, ..asked });
        prop_assert!(twice.model_flop() > found.model_flop() && twice.device.0 >= 0.95 * time);
        let two = timed(name, "h100-sxm5-80gb", &Step { tensor_parallel: 2, ..asked });
        prop_assert!(two.of_class(Class::Product) <= 1.02 * found.of_class(Class::Product));
        prop_assert!(two.of_class(Class::Communication) > 0.0 && found.of_class(Class::Communication) == 0.0);
    }
}

#[test]
fn every_form_says_the_same() {
    let place = Place::new();
    let words = ["model", "llama-3.1-8b", "--gpu", "h100-sxm5-80gb", "--phase", "decode", "--batch", "8"];
    let form = |form: &str| place.out(&[&words[..], &["--format", form]].concat());
    let json: Value = serde_json::from_str(&form("json")).unwrap();
    assert_eq!((&json["schema"], &json["parameters"]), (&"wavecast.network/1".into(), &8_030_261_248_u64.into()));
    let total: f64 = json["operations"].as_array().unwrap().iter().map(|op| op["total_us"].as_f64().unwrap()).sum();
    assert!((total / json["time_us"].as_f64().unwrap() - 1.0).abs() < 1e-4);
    let rate = 8.0 / json["time_us"].as_f64().unwrap() * 1e6;
    assert!((json["tokens_per_s"].as_f64().unwrap() / rate - 1.0).abs() < 1e-4);
    let csv = form("csv");
    assert_eq!(csv.lines().count(), 1 + json["operations"].as_array().unwrap().len());
    let (text, markdown) = (form("text"), form("markdown"));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for said in ["up projection", "no faster than", "per second"] {
        assert!(text.contains(said) && markdown.contains(said), "{said}");
    }
    let slow: Value =
        serde_json::from_str(&place.out(&[&words[..], &["--format", "json", "--launch", "50us"]].concat())).unwrap();
    let host = slow["kernels"].as_f64().unwrap() * 50.0;
    assert!((slow["time_us"].as_f64().unwrap() / host - 1.0).abs() < 1e-4, "the host is slower");
    place.out(&[&words[..], &["--out", "o", "--quiet"]].concat());
    for name in ["model.json", "model.csv", "model.md", "roofline.svg", "time.csv"] {
        assert!(place.names("o").contains(&name.to_owned()), "{name}");
    }
    let drawn = place.out(&[&["chart"], &words[..], &["--show", "roofline"]].concat());
    assert_eq!(place.read("o/roofline.svg"), drawn.as_bytes());
}

#[test]
fn what_no_network_does_is_refused() {
    let place = Place::new();
    let cases: [(&[&str], &[&str]); 17] = [
        (&["nonsuch-7b"], &["`nonsuch-7b` is neither a file nor a built-in network", "llama-2-7b"]),
        (&["absent.json"], &["absent.json"]),
        (&["llama-2-7b", "--seq", "5000"], &["5000 tokens are more than the 4096"]),
        (&["llama-2-7b", "--seq", "0"], &["tokens is 0"]),
        (&["llama-2-7b", "--batch", "0"], &["batch is 0"]),
        (&["llama-2-7b", "--batch", "99999999"], &["99999999", "from 1 to"]),
        (&["llama-2-7b", "--tp", "3"], &["over 3 GPUs does not divide query heads of 32", "2 does"]),
        (&["llama-2-7b", "--tp", "0"], &["tensor parallelism is 0"]),
        (&["bert-base", "--phase", "decode"], &["bert-base is an encoder", "prefill"]),
        (&["llama-2-7b", "--products", "fp8", "--gpu", "a100-sxm4-80gb"], &["A100", "FP8"]),
        (&["llama-2-7b", "--weight-bits", "0.1"], &["--weight-bits 0.1"]),
        (&["llama-2-7b", "--recompute", "full"], &["--phase train"]),
        (&["llama-2-7b", "--launch", "1e300s"], &["from 0 to 1 s"]),
        (&["llama-2-7b", "--dtype", "fp8"], &["--dtype fp8", "--products fp8"]),
        (&["llama-2-7b", "--tp", "2", "--gpu", "h100-sxm5-80gb:3g.40gb"], &["--tp 2", "MIG"]),
        (&["llama-2-7b", "--gpu", "epyc-9654"], &["CPU"]),
        (&["llama-2-7b", "--format", "html"], &["html"]),
    ];
    for (words, says) in cases {
        place.refused(&[&["model"], words].concat(), says);
    }
    place.file("c.json", "{\"model_type\": \"llama\"}");
    place.refused(&["model", "c.json"], &["`c.json`", "`hidden_size` is missing"]);
}

#[test]
fn a_network_that_does_not_fit_is_said() {
    let place = Place::new();
    let note = |words: &[&str]| place.out(&[&["model", "llama-3.1-8b"], words].concat()).contains("it does not fit");
    assert!(note(&["--gpu", "h100-sxm5-80gb:1g.10gb"]) && note(&["--phase", "train", "--gpu", "h100-sxm5-80gb"]));
    assert!(!note(&["--gpu", "h100-sxm5-80gb"]) && !note(&["--gpu", "l4", "--weight-bits", "8"]));
}

/// The configurations are read, and every family has all steps that it can have.
#[test]
fn all_built_in_networks_run() {
    for name in wavecast::network::names() {
        let network: Network = named(name).unwrap();
        for phase in [Phase::Prefill, Phase::Decode, Phase::Train] {
            let encoder = name.starts_with("bert") && phase == Phase::Decode;
            let found = network.timed(&gpu("h100-sxm5-80gb"), &step(phase, 2, 512));
            assert_eq!(found.is_ok(), !encoder, "{name} {phase:?} {found:?}");
        }
    }
}
