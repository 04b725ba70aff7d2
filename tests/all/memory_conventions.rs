//! Bytes per parameter, per element and per cached token by convention: Hugging Face (`model_memory_anatomy`), stas00/ml-engineering,
//! DeepSeek-V2 (arXiv 2405.04434), planners.

use wavecast::{
    gpu::Catalog,
    memory::{Cache, Inference, Overhead, Part, Recipe, Subject, Width, cache_of_sequence, cache_of_token},
    network::{Network, named},
    units::Bytes,
};

use crate::memory_published::GIB;

/// Bytes per parameter by convention, and of its parts.
#[test]
fn conventions() {
    let of = |name: &str| name.parse::<Recipe>().unwrap();
    let bytes = ["mixed-adam", "zero", "8bit-adam", "bf16-states", "sgd", "fp32"].map(|name| of(name).bytes());
    assert_eq!(bytes, [18.0, 16.0, 12.0, 14.0, 14.0, 16.0]);
    let mixed = of("mixed-adam");
    assert_eq!((mixed.weights + mixed.master, mixed.gradients, mixed.optimizer), (6.0, 4.0, 8.0));
    assert_eq!((of("8bit-adam").optimizer, of("bf16-states").optimizer, of("sgd").optimizer), (2.0, 4.0, 4.0));
    assert_eq!((of("fp32").weights, of("fp32").master, of("zero").states()), (4.0, 0.0, 12.0));
    assert_eq!(of("2+4+6+8").bytes(), 20.0);
    let width = |name: &str| name.parse::<Width>().unwrap().bytes;
    assert_eq!(["fp32", "bf16", "fp8", "fp6", "fp4"].map(width), [4.0, 2.0, 1.0, 0.75, 0.5]);
    assert_eq!(["mxfp8", "mxfp6", "mxfp4"].map(width), [1.03125, 0.78125, 0.53125]);
}

/// Bytes of a token in the KV cache, by hand from public shapes.
#[test]
fn caches() {
    let token = |name: &str| cache_of_token(&named(name).unwrap(), &Cache::default(), 1).unwrap();
    for (name, bytes) in [
        ("llama-3.1-8b", 131_072.0),
        ("llama-3.1-70b", 327_680.0),
        ("gpt3-175b", 4_718_592.0),
        ("deepseek-v2", 69_120.0),
    ] {
        assert_eq!(token(name), bytes, "{name}");
    }
    // stas00: 0.131 MB per token, 134 MB for 1,024 of them, 17.2 GB for 128 such sequences.
    let inference =
        Inference { batch: 128, sequence: 1024, overhead: Overhead::all(Bytes(0.0)), ..Inference::default() };
    let llama = named("llama-3.1-8b").unwrap();
    let cache = inference.anatomy(Subject::Network(&llama)).unwrap().of(Part::Cache).get();
    assert_eq!(format!("{:.3} {:.0} {:.1}", token("llama-3.1-8b") / 1e6, cache / 128e6, cache / 1e9), "0.131 134 17.2");
    // DeepSeek-V2: 576 elements per token and layer, those of 2.25 groups, where heads of their own would have 32,768.
    let layer = |cache: &Cache| cache_of_token(&named("deepseek-v2").unwrap(), cache, 1).unwrap() / 60.0 / 2.0;
    let latent = layer(&Cache::default());
    assert_eq!((latent, latent / (2.0 * 128.0)), (576.0, 2.25));
    let heads = r#"{"model_type": "llama", "hidden_size": 5120, "num_hidden_layers": 100, "num_attention_heads": 128,
        "head_dim": 128, "intermediate_size": 8192, "vocab_size": 1024, "max_position_embeddings": 131072}"#;
    let heads = Network::read("heads", heads.as_bytes()).unwrap();
    let all = cache_of_sequence(&heads, &Cache::default(), 1, 128_000).unwrap();
    assert_eq!(format!("{:.0}", all / 1e9), "839");
    let one = cache_of_token(&heads, &Cache::default(), 1).unwrap() / 200.0;
    assert_eq!((one, format!("{:.1}", 100.0 * (1.0 - latent / one))), (32_768.0, "98.2".into()));
}

/// Constants of planners.
#[test]
fn what_a_process_takes_besides() {
    let overhead = Overhead::default();
    assert_eq!((overhead.context.get() / GIB, overhead.nccl.get() / 1_048_576.0), (3.5, 392.0));
    assert!(Catalog::embedded().unwrap().find("a100-sxm4-80gb").unwrap().gpu.memory.dram.capacity == Some(Bytes(80e9)));
}
