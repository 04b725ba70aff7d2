//! Networks by their configuration: published parameter counts, and what is refused.

use wavecast::network::{Network, Part, named, names};

/// Published counts to the unit: model cards and the files of weights.
#[test]
fn parameters_to_the_unit() {
    for (name, total) in [
        ("gpt2", 124_439_808),
        ("bert-base", 109_482_240),
        ("llama-2-7b", 6_738_415_616),
        ("llama-3.1-8b", 8_030_261_248),
        ("mistral-7b", 7_241_732_096),
        ("mixtral-8x7b", 46_702_792_704),
    ] {
        assert_eq!(named(name).unwrap().parameters().total(), total, "{name}");
    }
}

/// Published counts in billions, to the digits printed in papers and model cards: all, and those that a token meets. The cards of
/// gpt-oss and DeepSeek-V3 count no input embedding among the latter; that of Qwen3-30B-A3B says 3.3, which is 3.35 cut off.
#[test]
fn parameters_to_the_digits_printed() {
    for (name, total, active) in [
        ("bert-large", "0.34", "0.34"),
        ("gpt2-xl", "1.6", "1.6"),
        ("gpt3-175b", "175", "175"),
        ("llama-2-13b", "13.0", "13.0"),
        ("llama-2-70b", "69.0", "69.0"),
        ("llama-3.1-70b", "70.6", "70.6"),
        ("llama-3.1-405b", "406", "406"),
        ("qwen2.5-7b", "7.6", "7.6"),
        ("qwen3-8b", "8.2", "8.2"),
        ("qwen3-30b-a3b", "30.5", "3.4"),
        ("mixtral-8x7b", "46.7", "12.9"),
        ("deepseek-v2", "236", "21"),
        ("deepseek-v3", "671", "37"),
        ("gpt-oss-20b", "20.9", "3.6"),
        ("gpt-oss-120b", "116.8", "5.1"),
        ("nemotron-h-56b", "56", "56"),
    ] {
        let network = named(name).unwrap();
        let all = network.parameters();
        let input = if name.starts_with("gpt-oss") || name == "deepseek-v3" { all.of(Part::Embedding) } else { 0 };
        for (count, printed) in [(all.total(), total), (all.active() - input, active)] {
            let digits = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
            assert_eq!(format!("{:.digits$}", count as f64 / 1e9), printed, "{name}");
        }
    }
}

/// A configuration with one key changed or, with null, taken away.
fn changed(name: &str, key: &str, value: serde_json::Value) -> Result<Network, String> {
    let path = format!("{}/networks/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let mut config: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    config[key] = value;
    Network::read("x", config.to_string().as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn what_cannot_be_read_is_refused_by_name() {
    use serde_json::{Value, json};
    let cases: [(&str, &str, Value, &[&str]); 17] = [
        ("llama-2-7b", "hidden_size", Value::Null, &["`hidden_size` is missing", "llama"]),
        ("llama-2-7b", "hidden_size", json!(4097), &["32 heads do not divide a hidden size of 4097"]),
        ("llama-2-7b", "hidden_size", json!("4096"), &["`hidden_size` is \"4096\"", "whole number"]),
        ("llama-2-7b", "hidden_size", json!(-1), &["`hidden_size` is -1"]),
        ("llama-2-7b", "hidden_size", json!(1e30), &["`hidden_size` is 1e+30"]),
        ("llama-2-7b", "num_hidden_layers", json!(0), &["`num_hidden_layers` is 0", "from 1"]),
        ("llama-2-7b", "num_hidden_layers", json!(1_000_000), &["at most 10000 layers"]),
        ("llama-2-7b", "num_key_value_heads", json!(5), &["5 heads of keys and values do not divide 32"]),
        ("llama-2-7b", "torch_dtype", json!("int3"), &["`torch_dtype`", "bfloat16"]),
        ("llama-2-7b", "model_type", json!("resnet"), &["\"resnet\" is not supported", "llama, mistral"]),
        ("llama-2-7b", "model_type", Value::Null, &["`model_type` is missing", "supported are"]),
        ("mixtral-8x7b", "num_experts_per_tok", json!(9), &["9 of 8 experts"]),
        ("gpt-oss-20b", "layer_types", json!(["full_attention"]), &["1 entries", "24 layers"]),
        ("gpt-oss-20b", "quantization_config", json!({"quant_method": "magic"}), &["mxfp4"]),
        ("deepseek-v3", "first_k_dense_replace", json!(62), &["62", "61 layers"]),
        ("deepseek-v3", "kv_lora_rank", Value::Null, &["`kv_lora_rank` is missing"]),
        ("nemotron-h-56b", "hybrid_override_pattern", json!("M-*"), &["names 3 layers", "118"]),
    ];
    for (name, key, value, says) in cases {
        let message = changed(name, key, value).expect_err(key);
        for part in says {
            assert!(message.contains(part), "{name} {key}: no `{part}` in: {message}");
        }
    }
    for text in ["", "[]", "nonsense", "{}", "{\"model_type\": 3}"] {
        assert!(Network::read("x", text.as_bytes()).is_err(), "{text}");
    }
    assert!(named("lama-2-7b").unwrap_err().to_string().contains("did you mean `llama-2-7b`?"));
}

#[test]
fn what_is_left_out_is_said() {
    let notes = |name: &str, key: &str, value| changed(name, key, value).unwrap().notes;
    assert_eq!(notes("llama-2-7b", "my_new_adapter", serde_json::json!(64)), ["not read: `my_new_adapter`"]);
    assert!(notes("llama-2-7b", "use_cache", true.into()).is_empty());
    assert!(notes("deepseek-v3", "use_cache", true.into())[0].contains("1 layers that predict"));
    for name in names() {
        let network = named(name).unwrap();
        assert!(network.notes.iter().all(|note| !note.contains("not read")), "{name}: {:?}", network.notes);
    }
    let many: String = (0..30).map(|i| format!(", \"new_{i}\": 1")).collect();
    let wide = format!(
        "\u{feff}{{\"model_type\": \"gpt2\", \"n_embd\": 8, \"n_head\": 2, \"n_layer\": 1, \"n_positions\": 4, \"vocab_size\": 16{many}}}"
    );
    let utf16: Vec<u8> = wide.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [wide.as_bytes(), &utf16] {
        let notes = Network::read("x", bytes).unwrap().notes;
        assert!(notes[0].contains("`new_0`") && notes[0].ends_with("and 18 more"), "{notes:?}");
    }
    // Infinities, which JSON has not.
    let text = "{\"model_type\": \"gpt2\", \"n_embd\": 8, \"n_head\": 2, \"n_layer\": 1, \"n_positions\": 4, \"vocab_size\": 16, \"x\": Infinity}";
    assert_eq!(Network::read("x", text.as_bytes()).unwrap().layers.len(), 1);
}
