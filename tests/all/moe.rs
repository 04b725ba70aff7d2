//! Mixtures of experts: equations on hand-worked values, laws, refusals, and the command.

use std::sync::LazyLock;

use proptest::prelude::*;
use wavecast::{
    gpu::{ConstantsOf, DataType},
    op::moe::{Loads, Model, Request, Routing, Shape, mixture},
};

use crate::{
    common::{close, gpu},
    place::{Place, text},
};

fn shape(tokens: u64, experts: u64, top_k: u64) -> Shape {
    Shape { tokens, experts, top_k, hidden: 4096, inter: 14_336, expert_parallel: 1 }
}

/// GPUs with constants of each kind.
const NAMES: [&str; 4] = ["h100-sxm5-80gb", "l40s", "a100-sxm4-80gb", "b200"];

fn time(name: &str, shape: &Shape, routing: &Routing) -> f64 {
    static MODELS: LazyLock<Vec<Model>> =
        LazyLock::new(|| NAMES.map(|name| Model::new(&gpu(name), DataType::Bf16).unwrap()).into());
    let model = &MODELS[NAMES.iter().position(|known| *known == name).unwrap()];
    model.estimate(shape, &Loads::new(shape, routing).unwrap()).time
}

#[test]
fn one_layer_by_hand() {
    // 4096 tokens to 2 of 8 experts: 1024 rows each in 8 tiles of 128; up has 224 columns of tiles, down 32.
    let gpu = gpu("h100-sxm5-80gb");
    let model = Model::new(&gpu, DataType::Bf16).unwrap();
    let shape = shape(4096, 8, 2);
    let loads = Loads::new(&shape, &Routing::Balanced).unwrap();
    let parts = model.parts(&shape, &loads);
    assert_eq!((parts.height, parts.tiles), (128, [64.0 * 224.0, 64.0 * 32.0]));
    // Up is beyond 8 waves of 132 SMs and evens out, down is beyond as well: 15.5 + 0.5.
    assert_eq!(parts.waves, [14_336.0 / 132.0 + 0.5, 2048.0 / 132.0 + 0.5]);
    let rate = gpu.peak("tensor.bf16".parse().unwrap()).unwrap().get() / 132.0 * 0.674;
    let tile = |k: f64| 0.89e-6 + 2.0 * 128.0 * 128.0 * k / rate;
    close("math of up", parts.math[0], parts.waves[0] * tile(4096.0), 1e-12);
    close("math of down", parts.math[1], parts.waves[1] * tile(14_336.0), 1e-12);
    let bandwidth = 3.35e12 * 0.88;
    let up = 2.0 * 8.0 * 28_672.0 * 4096.0 + 2.0 * 8192.0 * (4096.0 + 28_672.0);
    close("memory of up", parts.memory[0], up / bandwidth, 1e-12);
    let fourth = |a: f64, b: f64| (a.powi(4) + b.powi(4)).powf(0.25);
    close("up", parts.products[0], fourth(parts.math[0], parts.memory[0]), 1e-12);
    let passes = 2.0 * 1.46 * (3.0 * 8192.0 * 14_336.0 + 2.0 * 8192.0 * 4096.0 + 4096.0 * 4096.0) / bandwidth;
    close("passes", parts.elementwise, passes, 1e-12);
    close("all", parts.time, 37.9e-6 + parts.products[0] + parts.products[1] + passes, 1e-12);
}

#[test]
fn few_tokens_wait_for_the_weights() {
    let shape = shape(8, 8, 2);
    let model = Model::new(&gpu("h100-sxm5-80gb"), DataType::Bf16).unwrap();
    let loads = Loads::new(&shape, &Routing::Balanced).unwrap();
    let parts = model.parts(&shape, &loads);
    assert_eq!(parts.height, 16);
    assert!(parts.memory[0] > 3.0 * parts.math[0]);
    // 2.82 GB of weights at 2.948 TB/s are 956 us; those of an inactive expert are not read.
    assert!(parts.time > 956e-6 && parts.time < 1100e-6, "{}", parts.time);
    let one = Routing::Counts(vec![8, 8, 0, 0, 0, 0, 0, 0]);
    assert!(time("h100-sxm5-80gb", &shape, &one) < 0.3 * parts.time);
}

#[test]
fn weights_that_fit_in_l2_stream_faster() {
    let small = Shape { tokens: 64, experts: 8, top_k: 2, hidden: 1024, inter: 512, expert_parallel: 1 };
    let model = Model::new(&gpu("l40s"), DataType::Bf16).unwrap();
    let memory = model.parts(&small, &Loads::new(&small, &Routing::Balanced).unwrap()).memory[0];
    let bytes = 2.0 * 8.0 * 1024.0 * 1024.0 / 3.1 + 2.0 * 128.0 * 2048.0;
    close("memory", memory, bytes / (864e9 * 0.815), 1e-12);
}

#[test]
fn constants_are_named_and_bands_widen() {
    let band = |name: &str, input| {
        let model = Model::new(&gpu(name), input).unwrap();
        let shape = shape(4096, 8, 2);
        let found = model.estimate(&shape, &Loads::new(&shape, &Routing::Balanced).unwrap());
        (found.of.clone(), found.high / found.time, found.unmeasured)
    };
    let own = band("h100-sxm5-80gb", DataType::Bf16);
    assert_eq!((own.0.clone(), own.2), (ConstantsOf::Gpu, None));
    let family = band("h200-sxm-141gb", DataType::Bf16);
    assert_eq!(family.0, ConstantsOf::Family("hopper".into()));
    let other = band("b200", DataType::Bf16);
    assert_eq!(other.0, ConstantsOf::Datasheet);
    assert!(other.2.is_some_and(|why| why.contains("this family")));
    assert!(own.1 < family.1 && family.1 < other.1);
    let narrow = band("h100-sxm5-80gb", DataType::Fp8);
    assert!(narrow.1 > own.1 && narrow.2.is_some_and(|why| why.contains("this type")));
}

#[test]
fn the_report_names_the_hottest_expert() {
    let place = Place::new();
    let words = ["moe", "4096", "8", "2", "4096", "14336", "--routing", "4000,2192,1000,500,300,100,100,0"];
    let found = place.out(&words).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        found.contains("expert 0 (hottest): 4,000 tokens, 3.91 times the mean, 32 tiles, 2.3 % padding"),
        "{found}"
    );
    assert!(found.contains("8 experts, 1 without tokens; 8,192 rows in 67 tiles of 128"), "{found}");
}

#[test]
fn a_table_holds_every_expert() {
    let place = Place::new();
    let words = [
        "moe",
        "100",
        "64",
        "4",
        "512",
        "512",
        "--routing",
        "power:1.2",
        "--experts",
        "experts.csv",
        "--expert-parallel",
        "4",
    ];
    place.out(&words);
    let table = text(&place.read("experts.csv"));
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!((rows[0], rows.len()), ("expert,tokens,tiles,padding_pct", 17));
}

#[test]
fn bad_input_is_refused_with_its_cure() {
    let place = Place::new();
    for (words, message) in [
        (&["64", "0", "2", "64", "64"][..], "experts = 0"),
        (&["64", "4", "0", "64", "64"], "top-k = 0"),
        (&["64", "4", "5", "64", "64"], "top-k = 5 is more than the 4 experts"),
        (&["64", "4", "2", "64", "64", "--routing", "64,32,32"], "3 counts for 4 experts"),
        (
            &["64", "4", "2", "64", "64", "--routing", "64,32,16,8"],
            "add up to 120; 64 tokens to 2 experts each are 128",
        ),
        (&["64", "4", "2", "64", "64", "--routing", "65,63,0,0"], "expert 0 has 65 tokens of 64"),
        (&["64", "4", "2", "64", "64", "--routing", "power:-1"], "alpha = -1: write a number from 0"),
        (&["64", "4", "2", "64", "64", "--routing", "power:x"], "routing `power:x`"),
        (&["64", "4", "2", "64", "64", "--routing", "zipf"], "write balanced, power:ALPHA"),
        (
            &["64", "6", "2", "64", "64", "--expert-parallel", "4"],
            "4 ranks of expert parallelism do not divide 6 experts; take 3",
        ),
        (&["64", "4", "2", "64", "64", "--dtype", "fp32"], "has no tensor cores for fp32"),
        (&["64", "4", "2", "64", "64", "--gpu", "p100-sxm2"], "P100"),
        (&["64", "4", "2", "64", "64", "--gpu", "epyc-9654"], "is a CPU"),
        (&["9999999999", "4", "2", "64", "64"], "tokens = 9999999999: at most"),
    ] {
        place.refused(&[&["moe"], words].concat(), &[message]);
    }
}

#[test]
fn a_slice_has_the_constants_of_the_whole_gpu() {
    let request = Request { shape: shape(512, 8, 2), routing: Routing::Balanced, input: DataType::Bf16 };
    let slice = mixture(&gpu("h100-sxm5-80gb:3g.40gb"), &request).unwrap();
    assert_eq!(slice.of, ConstantsOf::Gpu);
    assert!(slice.analysis.verdict.confidence.contains("whole GPU"));
}

proptest! {
    #[test]
    fn times_are_positive_finite_and_grow(
        tokens in 1_u64..5000, experts in 1_u64..128, top in 1_u64..8, width in 1_u64..64, alpha in 0.0..3.0_f64, name in 0_usize..4
    ) {
        let of = |tokens: u64, width: u64| {
            let hidden = width * 64;
            Shape { tokens, experts, top_k: top.min(experts), hidden, inter: hidden, expert_parallel: 1 }
        };
        let now = time(NAMES[name], &of(tokens, width), &Routing::Balanced);
        prop_assert!(now.is_finite() && now > 0.0);
        prop_assert!(time(NAMES[name], &of(tokens, width * 2), &Routing::Balanced) >= now);
        // Taller tiles may hold more tokens in the same time.
        prop_assert!(time(NAMES[name], &of(tokens * 8, width), &Routing::Balanced) >= 0.95 * now);
        let skewed = Loads::new(&of(tokens, width), &Routing::Power(alpha)).unwrap();
        prop_assert!(skewed.rows.iter().all(|rows| *rows <= tokens));
        prop_assert!(time(NAMES[name], &of(tokens, width), &Routing::Power(alpha)).is_finite());
    }
}
