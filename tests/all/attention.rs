//! Attention: hand-worked values, laws, the constants' file, and the command.

use std::sync::LazyLock;

use proptest::prelude::*;
use wavecast::{
    gpu::{Catalog, ConstantsOf, Gpu},
    op::attention::{Constants, Grid, Library, Model, Request, Row, Shape, attention},
    time::{Bound, Resource},
};

use crate::place::Place;

fn gpu(name: &str) -> Gpu {
    Catalog::embedded().unwrap().find(name).unwrap().gpu
}

fn model(name: &str) -> Model {
    Model::new(&gpu(name), &Request::default()).unwrap()
}

/// Times in us, shares of keys and blocks, from a second implementation of the equations in another language.
#[test]
fn check_values_of_the_equations() {
    let (a100, h100, l40s, b200) = ("a100-sxm4-80gb", "h100-sxm5-80gb", "l40s", "b200");
    let chunk = Shape { seq_kv: 4096, ..Shape::prefill(1, (32, 8), 512, 128) };
    let window = Shape { window: Some(256), ..Shape::prefill(2, (32, 8), 4096, 128) };
    let cases = [
        (a100, Shape::prefill(1, (32, 8), 1000, 128), 92.959, 1, 512),
        (a100, window, 487.335, 1, 4096),
        (a100, chunk, 267.122, 1, 256),
        (h100, Shape::prefill(1, (8, 1), 2048, 128), 41.647, 1, 128),
        (h100, Shape::prefill(1, (2, 1), 2048, 64), 23.430, 6, 22 * 6),
        (b200, Shape::prefill(4, (64, 8), 8192, 128), 3662.594, 1, 8192),
        (a100, Shape::decode(1, (32, 8), 8192, 128), 42.899, 22, 176),
        (a100, Shape::decode(64, (32, 8), 2048, 128), 366.240, 1, 512),
        (h100, Shape::decode(4, (16, 16), 4096, 64), 34.231, 2, 128),
        (l40s, Shape::decode(2, (32, 4), 16384, 128), 41.452, 15, 120),
        (b200, Shape::decode(1, (64, 8), 65536, 128), 49.165, 7, 56),
    ];
    for (name, shape, micros, splits, blocks) in cases {
        let found = model(name).parts(&shape.checked().unwrap()).unwrap();
        let off = found.time * 1e6 / micros - 1.0;
        assert!(off.abs() < 2e-4, "{name} {shape:?}: {} us, expected {micros}", found.time * 1e6);
        assert_eq!((found.splits, found.blocks), (splits, f64::from(blocks)), "{name} {shape:?}");
    }
}

#[test]
fn operations_and_bytes_by_hand() {
    // 4 queries and keys: 16 pairs, 10 of them causal; a window of 2 leaves 1 + 2 + 2 + 2.
    let shape = Shape::prefill(1, (1, 1), 4, 8);
    assert_eq!(shape.pairs(), 10.0);
    assert_eq!(Shape { causal: false, ..shape }.pairs(), 16.0);
    assert_eq!(Shape { window: Some(2), ..shape }.pairs(), 7.0);
    // A chunk of 2 behind 2: 3 + 4 pairs; with a window of 3: 3 + 3, of 4 keys all are read.
    let chunk = Shape { seq_q: 2, ..shape };
    assert_eq!(chunk.pairs(), 7.0);
    assert_eq!(Shape { window: Some(3), ..chunk }.pairs(), 6.0);
    assert_eq!(Shape { window: Some(3), ..chunk }.keys_read(), 4);
    assert_eq!(Shape { window: Some(2), ..chunk }.keys_read(), 3);
    assert_eq!(chunk.flop(), 4.0 * 8.0 * 7.0);
    // Q45: 274.9 GFLOP forward; with a backward pass of 2 or 2.5 times that 824.6 or 962.1.
    let asked = Shape { causal: false, ..Shape::prefill(64, (16, 16), 1024, 64) };
    for (factor, expected) in [(1.0, 274.9e9), (3.0, 824.6e9), (3.5, 962.1e9)] {
        assert!((asked.flop() * factor / expected - 1.0).abs() < 2e-4, "Q45");
    }
    // Q46: at 16k tokens half of the full count is left.
    let long = Shape::prefill(1, (32, 32), 16_384, 128);
    assert!((long.flop() / Shape { causal: false, ..long }.flop() - 0.5).abs() < 1e-4, "Q46");
    // Q52: 2 x 32 layers x 32 heads x 128 x 2 B.
    assert_eq!(32.0 * Shape::decode(1, (32, 32), 1, 128).cache_bytes_per_token(2.0), 524_288.0);
    // Q42, Llama-3-8B: K and V of a token in one layer are 4096 bytes.
    let decode = Shape::decode(1, (32, 8), 4096, 128);
    assert_eq!(decode.cache_bytes_per_token(2.0), 4096.0);
    assert_eq!(decode.key_value_elements() * 2.0, 4096.0 * 4096.0);
}

/// Models of serving calls and of bare kernels, read once.
static MODELS: LazyLock<Vec<[Model; 2]>> = LazyLock::new(|| {
    ["a100-sxm4-80gb", "h100-sxm5-80gb", "l40s", "b200", "rtx-4090"]
        .map(|name| {
            let gpu = gpu(name);
            [false, true].map(|bare| Model::new(&gpu, &Request { bare, ..Request::default() }).unwrap())
        })
        .into()
});

fn grids() -> impl Strategy<Value = Grid> {
    let tile = (prop::sample::select(vec![64_u64, 128, 192, 256]), prop::sample::select(vec![64_u64, 96, 128, 256]));
    let window = prop::option::of(prop_oneof![1_u64..40, 1_u64..2000]);
    (1_u64..1500, 0_u64..900, 1_u64..20, tile, prop::sample::select(vec![16_u64, 64]), any::<bool>(), window).prop_map(
        |(seq_q, before, packed, (rows, columns), granule, causal, window)| {
            let seq_kv = seq_q + before;
            let window = window.filter(|w| causal && *w < seq_kv);
            Grid { seq_q, seq_kv, packed, rows, columns, granule, causal, window }
        },
    )
}

fn shapes() -> impl Strategy<Value = Shape> {
    let heads = (0_u32..4, 0_u32..4);
    let dim = prop::sample::select(vec![8_u64, 64, 72, 128, 192, 256]);
    let window = prop::option::of(1_u64..5000);
    let queries = prop_oneof![Just(1_u64), 1_u64..5000];
    (1_u64..200, heads, queries, 0_u64..40_000, dim, any::<bool>(), window).prop_map(
        |(batch, (kv, group), seq_q, before, head_dim, causal, window)| {
            let heads = (1 << (kv + group), 1 << kv);
            let window = window.filter(|_| causal);
            let base = Shape::prefill(batch, heads, seq_q, head_dim);
            let shape = Shape { seq_kv: seq_q + before, causal, window, ..base };
            shape.checked().unwrap()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn sums_in_closed_form_are_those_of_the_loop(grid in grids()) {
        let (closed, counted) = (grid.sums(), grid.counted());
        prop_assert_eq!(closed.blocks, counted.blocks);
        for (a, b) in [
            (closed.rows, counted.rows),
            (closed.tiles, counted.tiles),
            (closed.longest, counted.longest),
            (closed.most_columns, counted.most_columns),
        ] {
            prop_assert!((a - b).abs() <= 1e-9 * b, "{:?}: {:?} and {:?}", grid, closed, counted);
        }
    }

    #[test]
    fn every_time_is_sound(shape in shapes(), index in 0_usize..5, bare in any::<bool>()) {
        let found = &MODELS[index][usize::from(bare)];
        let e = found.estimate(&shape).unwrap();
        for part in [e.time, e.low, e.high, e.math, e.dram, e.l2, e.latency, e.fixed, e.blocks, e.flop, e.bytes] {
            prop_assert!(part.is_finite() && part >= 0.0, "{:?}", e);
        }
        prop_assert!(e.low <= e.time && e.time <= e.high && e.time > 0.0);
        let p = found.parts(&shape).unwrap();
        // Terms overlap or follow each other; none is longer than the whole, decode's products are never the bound.
        prop_assert!(p.products.max(p.exponentials).max(p.waiting).max(p.fixed) <= e.time * 1.000001, "{:?}", p);
        prop_assert!((0.0..=1.0).contains(&p.missed) && p.tail >= 0.0 && p.tail < e.time);
        let whole = MODELS[index][0].parts(&shape).unwrap().time;
        prop_assert!(e.time <= whole);
    }

    #[test]
    fn more_work_takes_longer(shape in shapes(), index in 0_usize..4) {
        let found = &MODELS[index][0];
        let time = |shape: Shape| found.parts(&shape.checked().unwrap()).unwrap().time;
        let now = time(shape);
        // Cutting the keys goes by rules of thumb: a call that is not cut may be a little faster than a smaller cut one.
        let shares = 0.75;
        let mut larger = vec![
            Shape { batch: shape.batch * 8, ..shape },
            Shape { seq_kv: shape.seq_kv * 8, ..shape },
            Shape { window: None, ..shape },
        ];
        if shape.window.is_none() {
            larger.push(Shape { causal: false, ..shape });
        }
        for more in larger {
            prop_assert!(time(more) >= shares * now, "{:?} takes {:e} s, {:?} {:e} s", more, time(more), shape, now);
        }
    }
}

#[test]
fn a_kernel_fits_on_the_sm_as_often_as_the_model_says() {
    let constants = Constants::embedded().unwrap();
    let catalog = Catalog::embedded().unwrap();
    for name in ["a100-sxm4-80gb", "h100-sxm5-80gb", "l40s", "b200", "rtx-4090", "a40", "t4"] {
        let gpu = catalog.find(name).unwrap().gpu;
        for library in [Library::Fa2, Library::Fa3, Library::FlashInfer, Library::TrtLlm] {
            let input = if name == "t4" { "fp16" } else { "bf16" }.parse().unwrap();
            let request = Request { input, library: Some(library), bare: false };
            if Model::with(&constants, &gpu, &request).is_err() {
                continue;
            }
            for head_dim in [32, 64, 80, 128, 192, 256] {
                for shape in [Shape::prefill(2, (16, 4), 700, head_dim), Shape::decode(2, (16, 4), 700, head_dim)] {
                    let Ok(found) = attention(&gpu, &shape, &request) else { continue };
                    let fits = found.analysis.launch.occupancy.blocks_per_sm;
                    assert_eq!(found.parts.slots, fits, "{name} {library:?} {shape:?}");
                }
            }
        }
    }
}

#[test]
fn constants_go_by_gpu_then_by_kernel() {
    let of = |name: &str, input: &str| {
        let request = Request { input: input.parse().unwrap(), ..Request::default() };
        let model = Model::new(&gpu(name), &request).unwrap();
        (model.library().word(), model.constants().to_string())
    };
    for (name, library, constants) in [
        ("a100-sxm4-80gb", "fa2", "gpu"),
        ("a100-sxm4-80gb:3g.40gb", "fa2", "gpu"),
        ("a100-pcie-40gb", "fa2", "family:fa2"),
        ("a40", "fa2", "family:fa2"),
        ("rtx-4090", "fa2", "family:fa2"),
        ("h100-sxm5-80gb", "fa3", "gpu"),
        ("h200-sxm-141gb", "fa3", "family:fa3"),
        ("b200", "trtllm", "gpu"),
        ("gb200", "trtllm", "family:trtllm"),
        ("rtx-5090", "fa2", "family:fa2"),
    ] {
        assert_eq!(of(name, "bf16"), (library, constants.to_owned()), "{name}");
    }
    assert_eq!(of("t4", "fp16"), ("generic", "datasheet".to_owned()));
    // Every NVIDIA GPU of the catalog has an answer in a type that it has.
    let catalog = Catalog::embedded().unwrap();
    for gpu in catalog.gpus().filter(|g| g.limits.sm().is_some()) {
        let input = if gpu.pipes().iter().any(|p| p.label().contains("FP16")) { "fp16" } else { "fp32" };
        let request = Request { input: input.parse().unwrap(), ..Request::default() };
        for shape in [Shape::prefill(1, (8, 8), 512, 64), Shape::decode(4, (8, 2), 4096, 128)] {
            let found = attention(gpu, &shape, &request).unwrap_or_else(|e| panic!("{}: {e}", gpu.id));
            assert!(found.of != ConstantsOf::User && found.analysis.time.estimate.get() > 0.0);
        }
    }
}

#[test]
fn products_and_exponentials_stand_side_by_side() {
    let prefill = Shape::prefill(4, (32, 32), 8192, 64);
    let special = Resource::Pipe("special".parse().unwrap());
    let tensor = Resource::Pipe("tensor.bf16".parse().unwrap());
    // An exponential is worth 4 x 64 operations: 1024 cycles of a tensor unit with 4096 per cycle take 16 x 1024 pairs.
    let h100 = attention(&gpu("h100-sxm5-80gb"), &prefill, &Request::default()).unwrap().analysis.time;
    let ratio = h100.of(special) / h100.of(tensor);
    let expected = 0.857 / (64.0 * 64.0 * 1.98) * (4096.0 * 1.83 * 1.10);
    assert!((ratio / expected - 1.0).abs() < 1e-6, "{ratio} {expected}");
    let sum = h100.of(special) + h100.of(tensor);
    assert!((h100.side(Bound::Math).1 / sum - 1.0).abs() < 1e-9, "they follow each other");
    // On Blackwell they run beside each other, and below a head size of 128 the exponentials are the longer ones.
    let b200 = attention(&gpu("b200"), &prefill, &Request::default()).unwrap().analysis;
    assert_eq!(b200.verdict.resource, Some(special), "{}", b200.verdict.sentence);
    assert_eq!(b200.time.side(Bound::Math).1, b200.time.of(special));
}

#[test]
fn what_ifs_and_findings_move_with_the_call() {
    let decode = Shape::decode(1, (32, 8), 32_768, 128);
    let found = attention(&gpu("h100-sxm5-80gb"), &decode, &Request::default()).unwrap();
    let findings = found.analysis.verdict.findings.join("\n");
    assert!(findings.contains("too few blocks: split-KV"), "{findings}");
    assert!(findings.contains("would be 4 times the bytes"), "{findings}");
    let lone = Shape::decode(1, (8, 8), 32_768, 128);
    let found = attention(&gpu("a100-sxm4-80gb"), &lone, &Request::default()).unwrap();
    let findings = found.analysis.verdict.findings.join("\n");
    assert!(findings.contains("fa2 cuts no keys without grouped heads"), "{findings}");
    let large = Shape::decode(128, (32, 8), 8192, 128);
    let found = attention(&gpu("a100-sxm4-80gb"), &large, &Request::default()).unwrap();
    assert_eq!(found.analysis.verdict.bound, Bound::Memory);
    let texts: Vec<_> = found.analysis.verdict.what_ifs.iter().map(|w| (w.text.as_str(), w.speedup)).collect();
    assert!(texts[0].0.contains("DRAM bandwidth") && texts[0].1 > 1.8, "{texts:?}");
    assert!(found.sizes[0].starts_with("seq_kv 16384 takes"), "{:?}", found.sizes);
    // Another chunk of the same prompt costs more where more keys are before it.
    let chunk = |seq_kv| Shape { seq_kv, ..Shape::prefill(1, (32, 8), 1024, 128) };
    let time = |shape| attention(&gpu("h100-sxm5-80gb"), &shape, &Request::default()).unwrap().parts.time;
    assert!(time(chunk(1024)) < time(chunk(4096)) && time(chunk(4096)) < time(chunk(16_384)));
}

#[test]
fn rows_of_tables() {
    let row = Row { heads_q: 32, seq_kv: Some(4096), head_dim: 128, ..Row::default() };
    assert_eq!(row.shape().unwrap(), Shape::decode(1, (32, 32), 4096, 128));
    let prefill = Row { phase: Some("prefill"), heads_kv: Some(8), batch: Some(3), ..row };
    assert_eq!(prefill.shape().unwrap(), Shape::prefill(3, (32, 8), 4096, 128));
    let wrong = |row: Row| row.shape().unwrap_err().to_string();
    assert!(wrong(Row { phase: Some("train"), ..row }).contains("`train`: write prefill"));
    assert!(wrong(Row { phase: Some("decode"), seq_q: Some(4), ..row }).contains("decode has one query per sequence"));
    assert!(wrong(Row { phase: Some("decode"), seq_q: Some(1), seq_kv: None, ..row }).contains("seq_kv = 0"));
    assert!(wrong(Row { seq_kv: None, ..row }).contains("seq_q = 0"));
}

#[test]
fn bad_calls_are_refused_with_a_cure() {
    let place = Place::new();
    let cases: [(&[&str], &[&str]); 19] = [
        (
            &["--heads", "30", "--kv-heads", "8", "--seq-q", "64"],
            &["heads_q = 30", "heads_kv = 8", "take heads_kv = 6"],
        ),
        (&["--heads", "4", "--kv-heads", "8", "--seq-q", "64"], &["heads_q = 4", "take heads_kv = 4"]),
        (&["--heads", "8", "--seq-q", "0"], &["seq_q = 0", "at least one"]),
        (&["--heads", "8", "--seq-kv", "0"], &["seq_kv = 0"]),
        (&["--heads", "0", "--seq-q", "1"], &["heads_q = 0"]),
        (&["--heads", "8", "--seq-q", "64", "--batch", "0"], &["batch = 0"]),
        (
            &["--heads", "8", "--seq-q", "64", "--head-dim", "100"],
            &["head_dim = 100", "multiples of 8 up to 256", "104"],
        ),
        (&["--heads", "8", "--seq-q", "64", "--head-dim", "512"], &["head_dim = 512", "take 256"]),
        (&["--heads", "8", "--seq-q", "64", "--head-dim", "0"], &["head_dim = 0", "take 8"]),
        (&["--heads", "8", "--seq-q", "64", "--window", "0"], &["window = 0", "leave the window out"]),
        (&["--heads", "8", "--seq-q", "64", "--window", "9", "--no-causal"], &["window = 9", "causal"]),
        (&["--heads", "8", "--seq-q", "64", "--seq-kv", "32"], &["seq_q = 64", "seq_kv = 32", "--no-causal"]),
        (&["--heads", "8", "--seq-q", "64", "--phase", "decode", "--seq-kv", "64"], &["seq_q = 64", "prefill"]),
        (&["--heads", "8", "--seq-q", "99999999999999"], &["seq_q = 99999999999999", "at most"]),
        (&["--heads", "65536", "--seq-q", "4294967296", "--batch", "4294967296"], &["operations", "1e24"]),
        (&["--heads", "8", "--seq-q", "64", "--dtype", "int8"], &["bf16, fp16, fp8", "not int8"]),
        (&["--heads", "8", "--seq-q", "64", "--library", "fa9"], &["fa9", "fa2, fa2-kvcache, fa3, flashinfer, trtllm"]),
        (
            &["--heads", "8", "--seq-q", "64", "--library", "fa3", "--gpu", "l40s"],
            &["fa3", "L40S", "fa2, flashinfer, trtllm"],
        ),
        (&["--heads", "8"], &["no length", "--seq-q", "--seq-kv"]),
    ];
    for (options, says) in cases {
        place.refused(&[&["attention"], options].concat(), says);
    }
    let decode = ["attention", "--heads", "8", "--seq-kv", "64", "--library", "trtllm", "--gpu", "a100-sxm4-80gb"];
    place.refused(&decode, &["no constants of trtllm", "decode", "fa2, fa3"]);
    place.refused(&["attention", "--heads", "8", "--seq-q", "64", "--gpu", "instinct-mi300x"], &["AMD", "NVIDIA"]);
    let volta = ["attention", "--heads", "8", "--seq-q", "64", "--gpu", "v100-sxm2-16gb"];
    place.refused(&volta, &["no BF16 tensor unit", "fp16"]);
    place.refused(&["chart", "attention", "--heads", "8", "--seq-q", "64", "--range", "9:9"], &["9:9", "LOW:HIGH"]);
    // One GPU of several that cannot: its reason, and the others' answers.
    let two = ["attention", "--heads", "8", "--seq-q", "64", "--gpu", "h100-sxm5-80gb", "--gpu", "v100-sxm2-16gb"];
    place.run(&two).code(1);
}

#[test]
fn the_chart_holds_the_whole_and_its_terms() {
    let place = Place::new();
    let words =
        ["chart", "attention", "--heads", "32", "--kv-heads", "8", "--seq-q", "4096", "--gpu", "h100-sxm5-80gb"];
    let svg = place.out(&words);
    for text in ["whole call", "matrix products", "exponentials", "launches", "4096: 287 us", "H100 SXM5", "Wavecast"] {
        assert!(svg.contains(text), "{text}");
    }
    let chunk = ["chart", "attention", "--heads", "8", "--seq-q", "512", "--seq-kv", "2048", "--data"];
    assert!(place.out(&chunk).lines().nth(1).unwrap().starts_with("512,"), "keys begin with the queries");
    let csv = place.out(&[&words[..], &["--data", "--range", "4096:8192"]].concat());
    let mut lines = csv.lines();
    let header = lines.next().unwrap();
    assert_eq!(
        header,
        "length,whole_call_us,matrix_products_us,exponentials_us,dram_us,blocks_and_waiting_us,launches_us"
    );
    assert!(lines.next().unwrap().starts_with("4096,287."), "{csv}");
    assert!(lines.next_back().unwrap().starts_with("8192,925."), "{csv}");
}
