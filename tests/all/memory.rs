//! Memory: what people asked, layers and caches by hand, refusals, the command.

use wavecast::{
    memory::{Cache, Inference, Parallel, Part, Schedule, Subject, Training, Width, cache_of_sequence, cache_of_token},
    network::named,
};

use crate::{
    common::close,
    memory_published::GIB,
    place::{Place, narrow, table, text},
};

fn json(words: &[&str]) -> serde_json::Value {
    serde_json::from_str(&Place::new().out(&[&["memory"], words, &["--format", "json"]].concat())).unwrap()
}

/// Q48: 6.7 billion parameters with FP16 and Adam take 107.2 GB, not 54.
#[test]
fn q48_a_breakdown_of_states() {
    let found = json(&["--params", "6.7e9", "--recipe", "zero"]);
    let gb: Vec<f64> = found["parts"].as_array().unwrap().iter().map(|p| p["gb"].as_f64().unwrap()).collect();
    assert_eq!(gb[..4], [13.4, 26.8, 13.4, 53.6]);
    assert_eq!(found["states_bytes"], 107_200_000_000_u64);
}

/// Q50: ZeRO-2 of 7 billion parameters on 8 GPUs takes 26.25 GB each.
#[test]
fn q50_zero_2() {
    let found = json(&["--params", "7e9", "--recipe", "zero", "--zero", "2", "--dp", "8"]);
    assert_eq!(found["states_bytes"], 26_250_000_000_u64);
}

/// Q52: Llama-2-7B caches 524,288 bytes per token.
#[test]
fn q52_no_further_factor_of_heads() {
    assert_eq!(cache_of_token(&named("llama-2-7b").unwrap(), &Cache::default(), 1), Ok(524_288.0));
}

/// Q54: DeepSeek-V3 at 65,536 tokens: 1.07 GiB latent in 4 bits, 4.29 in 16; 305 GiB where the engine expands keys and values.
#[test]
fn q54_latent_or_expanded() {
    let network = named("deepseek-v3").unwrap();
    for (bits, expanded, gib) in [("int4", false, "1.07"), ("bf16", false, "4.29"), ("bf16", true, "305.00")] {
        let cache = Cache { width: bits.parse().unwrap(), expanded };
        let bytes = cache_of_sequence(&network, &cache, 1, 65_536).unwrap();
        assert_eq!(format!("{:.2}", bytes / GIB), gib);
        let words = ["deepseek-v3", "--phase", "inference", "--seq", "65536", "--kv-dtype", bits];
        let words = [&words[..], if expanded { &["--expanded"] } else { &[] }].concat();
        let parts = json(&words)["parts"].as_array().unwrap().clone();
        let shown = parts.iter().find(|p| p["part"] == "kv_cache").unwrap()["bytes"].as_f64().unwrap();
        assert_eq!(shown, bytes);
    }
}

/// Q55: 125.1 billion parameters of which 10 are active, at 0.58 bytes each: 72.6 GB, 67.6 GiB. All experts are resident.
#[test]
fn q55_all_experts_are_held() {
    let found = json(&["--params", "125.1e9", "--phase", "inference", "--dtype", "0.58 B"]);
    let weights = &found["parts"][0];
    assert_eq!(format!("{:.1}", weights["gb"].as_f64().unwrap()), "72.6");
    assert_eq!(format!("{:.1}", weights["gib"].as_f64().unwrap()), "67.6");
    let mixtral = named("mixtral-8x7b").unwrap();
    let inference = Inference::default();
    let held = inference.anatomy(Subject::Network(&mixtral)).unwrap().of(Part::Weights).get();
    assert_eq!(held, 2.0 * mixtral.parameters().total() as f64);
    // Of those a token reads the active ones without the input embedding, and the cache.
    let read = inference.read_per_step(Subject::Network(&mixtral)).unwrap().get();
    let embedding = mixtral.vocabulary * mixtral.hidden;
    let cache = cache_of_sequence(&mixtral, &Cache::default(), 1, 2048).unwrap();
    close("read", read, 2.0 * (mixtral.parameters().active() - embedding) as f64 + cache, 1e-9);
}

/// Q56: 183,359 MiB are 179.1 GiB and 192.3 GB. Q44: 17.23 GB per token at 936.2 GB/s are at most 54.3 tokens per second.
#[test]
fn q56_and_q44_both_units_and_what_is_read() {
    let place = Place::new();
    let words = ["memory", "llama-3.1-8b", "--gpu", "b200", "--set", "memory.dram.capacity=183359 MiB"];
    let shown = place.out(&words);
    assert!(shown.contains("179.1 GiB (192.3 GB)"), "{shown}");
    let words = ["memory", "--params", "17.23e9", "--phase", "inference", "--dtype", "1 B", "--gpu", "rtx-3090"];
    let shown = place.out(&words);
    assert!(shown.contains("936.2 GB/s") && shown.contains("54.3 steps per second"), "{shown}");
}

#[test]
fn windows_states_and_few_heads() {
    let of = |name: &str, tokens| cache_of_sequence(&named(name).unwrap(), &Cache::default(), 1, tokens).unwrap();
    // Mistral sees 4,096 tokens: 32 layers x 2 x 8 x 128 elements.
    assert_eq!((of("mistral-7b", 4096), of("mistral-7b", 32_768)), (4096.0 * 131_072.0, 4096.0 * 131_072.0));
    // Half of gpt-oss's layers see 128 tokens: 24 layers x 2 x 8 x 64 elements.
    assert_eq!(of("gpt-oss-20b", 1000), 12.0 * 2048.0 * (1000.0 + 128.0));
    // State-space layers hold the same at any length.
    let (one, two) = (of("nemotron-h-56b", 1000), of("nemotron-h-56b", 2000));
    assert_eq!(two - one, 1000.0 * cache_of_token(&named("nemotron-h-56b").unwrap(), &Cache::default(), 1).unwrap());
    assert!(one > two - one);
    // An encoder sees all tokens at once.
    assert_eq!(of("bert-base", 512), 0.0);
    // 8 heads of keys and values on 16 ranks: each has one, as on 8.
    let llama = named("llama-3.1-70b").unwrap();
    let on = |ranks| cache_of_token(&llama, &Cache::default(), ranks).unwrap();
    assert_eq!((on(4), on(8), on(16)), (81_920.0, 40_960.0, 40_960.0));
    let anatomy = Inference { tensor: 16, ..Inference::default() }.anatomy(Subject::Network(&llama)).unwrap();
    assert!(anatomy.notes.iter().any(|note| note.contains("2 ranks hold a copy of each")), "{:?}", anatomy.notes);
}

/// One layer of Llama 3.1 8B by hand: 2 norms and 2 inputs of 4096, queries and output 4096 each, keys and values 1024 each, gate, up
/// and product 14,336 each; with attention that is not fused also the softmax.
#[test]
fn a_gated_layer_by_hand() {
    let llama = named("llama-3.1-8b").unwrap();
    let training = Training { sequence: 1000, ..Training::default() };
    let of = |training: Training| training.anatomy(Subject::Network(&llama)).unwrap().of(Part::Activations).get();
    let elements = 4 * 4096 + 2 * 4096 + 2 * 1024 + 3 * 14_336;
    assert_eq!(of(training), 32.0 * 1000.0 * (2.0 * f64::from(elements) + 4.0 * 32.0));
    let scores = 2.0 * 32.0 * 1000.0;
    assert_eq!(of(Training { flash: false, ..training }), 32.0 * 1000.0 * (2.0 * f64::from(elements) + scores));
    // Experts: the router's 8 scores in FP32, copies in and out for 2 experts, their columns.
    let mixtral = named("mixtral-8x7b").unwrap();
    let found = training.anatomy(Subject::Network(&mixtral)).unwrap().of(Part::Activations).get();
    let elements = 4 * 4096 + 2 * 4096 + 2 * 1024 + 2 * 3 * 14_336 + 2 * 2 * 4096;
    assert_eq!(found, 32.0 * 1000.0 * (2.0 * f64::from(elements) + 4.0 * 32.0 + 4.0 * 8.0));
    // GPipe holds every micro-batch, 1F1B as many as stages.
    let pipeline =
        Training { parallel: Parallel { pipeline: 4, ..Parallel::default() }, micro_batches: Some(12), ..training };
    assert_eq!(of(Training { schedule: Schedule::GPipe, ..pipeline }), 3.0 * of(pipeline));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let place = Place::new();
    place.file("none.json", r#"{"model_type": "llama", "num_hidden_layers": 0}"#);
    // Sizes that a configuration may name and no count holds.
    let huge = r#"{"model_type": "deepseek_v3", "hidden_size": 16777216, "num_hidden_layers": 100, "num_attention_heads": 16777216,
        "kv_lora_rank": 16777216, "qk_nope_head_dim": 16777216, "qk_rope_head_dim": 16777216, "v_head_dim": 16777216,
        "intermediate_size": 16777216, "moe_intermediate_size": 16777216, "n_routed_experts": 16777216,
        "num_experts_per_tok": 16777216, "vocab_size": 16777216, "max_position_embeddings": 16777216}"#;
    place.file("huge.json", huge);
    let llama = |more: &[&'static str]| [&["memory", "llama-3.1-8b"], more].concat();
    for (words, says) in [
        (llama(&["--tp", "3"]), &["tensor-parallel degree of 3", "32 attention heads", "16 or 32 does"][..]),
        (llama(&["--tp", "64"]), &["64", "32 attention heads"]),
        (llama(&["--pp", "5"]), &["pipeline of 5 stages", "32 layers", "1, 2, 4, 8, 16 or 32"]),
        (llama(&["--pp", "8", "--interleave", "3"]), &["3 chunks", "32 layers"]),
        (llama(&["--interleave", "2"]), &["2 chunks", "one stage"]),
        (llama(&["--sp"]), &["sequence parallelism", "at least 2"]),
        (llama(&["--tp", "2", "--sp", "--seq", "1001"]), &["1001 tokens", "multiple of 2"]),
        (llama(&["--tp", "0"]), &["tensor-parallel degree is 0"]),
        (llama(&["--dp", "0"]), &["data-parallel degree is 0"]),
        (llama(&["--pp", "0"]), &["pipeline-parallel degree is 0"]),
        (llama(&["--batch", "0"]), &["batch is 0"]),
        (llama(&["--seq", "0"]), &["sequence is 0"]),
        (llama(&["--batch", "99999999"]), &["batch is 99999999", "1048576"]),
        (llama(&["--micro-batches", "0"]), &["micro-batches is 0"]),
        (llama(&["--pp", "4", "--interleave", "2", "--micro-batches", "6"]), &["there are 6", "multiple of 4"]),
        (llama(&["--schedule", "gpipe"]), &["GPipe", "at least 2"]),
        (llama(&["--seq", "131073"]), &["131073 tokens", "131072", "max_position_embeddings"]),
        (vec!["memory", "gpt2", "--seq", "1025"], &["1024", "`n_positions`"]),
        (llama(&["--zero", "4"]), &["`4`", "fsdp"]),
        (llama(&["--recipe", "adam"]), &["mixed-adam", "2+4+4+8"]),
        (llama(&["--recipe", "2+4+4"]), &["2+4+4"]),
        (llama(&["--recipe", "0+4+4+8"]), &["0+4+4+8"]),
        (llama(&["--recompute", "some"]), &["selective"]),
        (llama(&["--phase", "inference", "--zero", "1"]), &["--zero is about training"]),
        (llama(&["--phase", "inference", "--no-flash"]), &["--no-flash is about training"]),
        (llama(&["--kv-dtype", "fp8"]), &["--kv-dtype is about inference"]),
        (llama(&["--phase", "inference", "--dtype", "int3"]), &["int3", "mxfp4", "0.58 B"]),
        (llama(&["--phase", "inference", "--dtype", "0 B"]), &["0 B"]),
        (llama(&["--phase", "inference", "--expanded"]), &["no latent attention"]),
        (llama(&["--phase", "inference", "--chunk", "0"]), &["chunk of a prompt is 0"]),
        (llama(&["--params", "7e9"]), &["--params"]),
        (vec!["memory"], &["required"]),
        (vec!["memory", "--params", "0"], &["parameters is 0"]),
        (vec!["memory", "--params", "many"], &["7.5e9"]),
        (vec!["memory", "--params", "7e9", "--seq", "8"], &["--seq is about layers"]),
        (vec!["memory", "--params", "7e9", "--largest", "batch"], &["takes a network"]),
        (vec!["memory", "lama-2-7b"], &["did you mean `llama-2-7b`"]),
        (vec!["memory", "none.json"], &["none.json"]),
        (vec!["memory", "huge.json"], &["huge.json", "more than 1000000000000000 parameters"]),
        (
            vec!["memory", "huge.json", "--phase", "inference", "--batch", "1048576"],
            &["`huge.json`", "more than 1000000000000000 parameters"],
        ),
        (vec!["memory", "missing.json"], &["missing.json", "cannot be read"]),
        (llama(&["--gpu", "h100-sxm5-80gb", "--gpu", "l4"]), &["takes one"]),
        (llama(&["--largest", "context", "--gpu", "l4"]), &["nothing fits", "a context of 1"]),
        (llama(&["--chart", "x.jpg"]), &[".svg"]),
        (vec!["chart", "memory", "llama-3.1-8b", "--phase", "inference", "--step"], &["--step is about training"]),
        (vec!["chart", "memory", "--params", "7e9", "--step"], &["takes a network"]),
    ] {
        place.refused(&words, says);
    }
}

#[test]
fn the_command_in_every_format() {
    let place = Place::new();
    let train = ["memory", "llama-3.1-8b", "--dp", "8", "--zero", "3", "--largest", "batch"];
    let serve = [
        "memory",
        "deepseek-v3",
        "--phase",
        "inference",
        "--tp",
        "8",
        "--gpu",
        "h200-sxm-141gb",
        "--largest",
        "context",
    ];
    for words in [&train[..], &serve[..]] {
        let shown = place.out(words);
        narrow(words, &shown);
        for part in ["GB", "GiB", "fits", "saves", "leaves out", "weights", "total"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        let found: serde_json::Value =
            serde_json::from_str(&place.out(&[words, &["--format", "json"]].concat())).unwrap();
        assert_eq!(found["schema"], "wavecast.memory/1");
        let parts = found["parts"].as_array().unwrap();
        let sum: i64 = parts.iter().map(|part| part["bytes"].as_i64().unwrap()).sum();
        assert!((sum - found["total_bytes"].as_i64().unwrap()).abs() <= parts.len() as i64);
        let rows = table(&place.out(&[words, &["--format", "csv"]].concat()));
        assert_eq!(rows[0], ["part", "gb", "gib", "share_pct", "bytes", "what"]);
        assert_eq!((rows.len(), rows.last().unwrap()[0].as_str()), (parts.len() + 2, "total"));
        assert!(place.out(&[words, &["--format", "markdown"]].concat()).starts_with("| Part"));
    }
    // 1 where it does not fit and must.
    place.run(&["memory", "llama-3.1-8b", "--must-fit"]).code(1);
    place.run(&["memory", "llama-3.1-8b"]).code(0);
    let run =
        place.run(&["memory", "llama-3.1-8b", "--zero", "3", "--dp", "8", "--must-fit", "--chart", "c.svg"]).code(0);
    assert!(text(&run.get_output().stdout).contains("yes: "));
    assert_eq!(text(&place.read("c.svg")), place.out(&["chart", "memory", "llama-3.1-8b", "--zero", "3", "--dp", "8"]));
    assert!(place.out(&["chart", "memory", "llama-3.1-8b", "--step", "--data"]).starts_with("moment,runs,total_gib"));
    // A slice of a GPU has less, and a configuration is read from a file.
    let config = include_str!("../../networks/llama-3.1-8b.json");
    place.file("config.json", config);
    let slice = ["memory", "config.json", "--phase", "inference", "--gpu", "a100-sxm4-80gb:1g.10gb", "--must-fit"];
    place.run(&slice).code(1);
    let slice = ["memory", "config.json", "--phase", "inference", "--gpu", "a100-sxm4-80gb:3g.40gb", "--must-fit"];
    place.run(&slice).code(0);
    assert_eq!("0.5 B".parse::<Width>().unwrap().bytes, 0.5);
}

#[test]
fn the_commands_of_the_page_draw_its_pictures() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let page = std::fs::read_to_string(docs.join("memory.md")).unwrap();
    let place = Place::new();
    let mut drawn = 0;
    for line in page.lines().filter_map(|line| line.strip_prefix("`wavecast ")?.strip_suffix('`')) {
        let (command, file) = line.rsplit_once(" -o img/").unwrap();
        let picture = place.out(&command.split_whitespace().collect::<Vec<_>>());
        let same = std::fs::read(docs.join("img").join(file)).is_ok_and(|stored| stored == picture.as_bytes());
        assert!(same, "docs/img/{file} is out of date: run `wavecast {line}` in docs");
        drawn += 1;
    }
    assert_eq!((drawn, page.matches("(img/").count()), (2, 2));
}
