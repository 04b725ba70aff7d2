//! A CPU against a GPU: times by hand, laws of the crossover, refusals, every form of the answer.

use proptest::prelude::*;
use wavecast::{
    crossover::{CrossoverError, Family, From, Link, Model, Place as Data, Request, Sample, Sequential},
    gpu::{DataType, Gpu},
    op::{
        gemm::{self, Reuse, Shape, product},
        rowwise::{self, Operation},
    },
    units::BytesPerSecond,
};

use crate::{
    common::{gpu, what_if},
    place::{Place, text},
};

const SERVERS: [&str; 9] = [
    "epyc-7763",
    "epyc-9654",
    "epyc-9755",
    "xeon-platinum-8380",
    "xeon-platinum-8480-plus",
    "xeon-6980p",
    "grace-72c",
    "graviton3",
    "graviton4",
];
const CUBE: Family = Family::Gemm { m: None, n: None, k: None };

fn elementwise(kind: &str) -> Family {
    Family::Elementwise { kind: kind.parse().unwrap(), in_place: false }
}

fn model(cpu: &str, device: &str, request: &Request) -> Model {
    Model::new(&gpu(cpu), &gpu(device), request).unwrap()
}

fn plain(family: Family) -> Request {
    Request::new(family, DataType::Fp32)
}

fn at(cpu: &str, device: &str, request: &Request, n: u64) -> Sample {
    model(cpu, device, request).at(n).unwrap()
}

#[track_caller]
fn near(found: f64, by_hand: f64) {
    assert!((found / by_hand - 1.0).abs() < 1e-3, "{found:e} instead of {by_hand:e}");
}

/// The size as a number that can be compared: the end of the range and beyond where the GPU never wins.
fn size(from: From) -> u64 {
    match from {
        From::Always => 0,
        From::Size(n) => n,
        From::Never => u64::MAX,
    }
}

#[test]
fn a_cpu_by_hand() {
    // 64 elements of 12 B from L1: 16 lanes x 4 B x 0.6 x 2.4 GHz = 92.2 GB/s, behind a call of 50 ns.
    let small = at("epyc-9654", "h100-sxm5-80gb", &plain(elementwise("add")), 64).cpu;
    near(small.time, 50e-9 + 768.0 / 92.16e9);
    assert_eq!((small.cores, small.level, small.math), (1, "L1", false));
    // 10^9 elements from DRAM: 0.8 of 460.8 GB/s, which 32 cores of 20 GB/s fill as well as 96.
    let cold = Request { cold: true, ..plain(elementwise("add")) };
    let large = at("epyc-9654", "h100-sxm5-80gb", &cold, 1_000_000_000).cpu;
    near(large.time, 12e9 / (0.8 * 460.8e9));
    assert_eq!((large.cores, large.level), (32, "DRAM"));
    // The worst of it: 0.6 of the bandwidth, the result moved twice, arithmetic on top.
    near(large.high, 16e9 / (0.6 * 460.8e9) + 1e9 / (96.0 * 2.4e9 * 32.0 * 0.5 * 0.4));
    // A product: 2 n^3 at 0.8 of 96 cores x 2.4 GHz x 32 FLOP, in whole blocks of 8 x 16.
    let cube = at("epyc-9654", "h100-sxm5-80gb", &plain(CUBE), 6144).cpu;
    near(cube.time, 2.0 * 6144_f64.powi(3) / (0.8 * 96.0 * 2.4e9 * 32.0));
    assert!(cube.math);
    // Half of a working set that the caches hold: L3 384 MiB, L2 96 MiB, L1 3 MiB.
    let twice = at("epyc-9654", "h100-sxm5-80gb", &plain(elementwise("neg")), 2 * 384 * 1024 * 1024 / 8).cpu;
    let mib = 1024.0 * 1024.0;
    let (l1, l2, l3) = (92.16e9 * 96.0, 46.08e9 * 96.0, 24e9 * 96.0);
    let parts = [3.0 / l1, 93.0 / l2, 288.0 / l3, 384.0 / (0.8 * 460.8e9)];
    near(twice.time, parts.iter().map(|t| t * mib).sum::<f64>() + 50e-9 + 0.8e-6 * (1.0 + 96_f64.log2()));
}

#[test]
fn rows_are_read_again_and_axpy_takes_its_own_place() {
    let start = 50e-9 + 0.8e-6 * (1.0 + 96_f64.log2());
    // Rows of 4 KiB come from DRAM once and twice more from L1: 92.2 GB/s per core.
    let softmax = Request { cold: true, ..plain(Family::Softmax { rows: None, cols: Some(1024) }) };
    let rows = at("epyc-9654", "h100-sxm5-80gb", &softmax, 100_000).cpu;
    near(rows.time, 8.192e8 / (0.8 * 460.8e9) + 8.192e8 / (92.16e9 * 96.0) + start);
    // 360 MB of x and y fit into 384 MiB of L3, x, y and a sum do not.
    let axpy = at("epyc-9654", "h100-sxm5-80gb", &plain(Family::axpy().unwrap()), 45_000_000).cpu;
    let add = at("epyc-9654", "h100-sxm5-80gb", &plain(elementwise("add")), 45_000_000).cpu;
    let math = |flop: f64| flop * 45e6 / (96.0 * 2.4e9 * 32.0 * 0.5 * 0.4);
    let worst = 200e-9 + 3e-6 * (1.0 + 96_f64.log2());
    near(axpy.high, 16.0 * 45e6 / (5.0 * 2.4e9 * 96.0) + math(2.0) + worst);
    near(add.high, 16.0 * 45e6 / (0.6 * 460.8e9) + math(1.0) + worst);
}

#[test]
fn caches_of_the_gpu_hold_what_a_call_before_has_used() {
    let model = rowwise::Model::new(&gpu("h100-sxm5-80gb")).unwrap();
    let operation = Operation::elementwise("triad".parse().unwrap(), 1, 1_000_000, DataType::Fp32).unwrap();
    let kernel = |warm| model.estimate(&Operation { warm, ..operation }).time;
    assert!(kernel(true) < 0.8 * kernel(false));
    let axpy = plain(Family::axpy().unwrap());
    for (place, reuse, cold, warm) in [
        (Data::Host, 1, false, false),
        (Data::Host, 2, false, true),
        (Data::Resident, 1, false, true),
        (Data::Resident, 2, true, false),
    ] {
        let request = Request { place, reuse, cold, ..axpy.clone() };
        near(at("epyc-9654", "h100-sxm5-80gb", &request, 1_000_000).gpu.kernel, kernel(warm));
    }
}

#[test]
fn a_gpu_by_hand() {
    // Three copies of 8 us and 4 MB each over 16 lanes of 3.938 GB/s, 256 of 282 bytes and 95 % of it.
    let found = at("epyc-9654", "h100-sxm5-80gb", &plain(Family::axpy().unwrap()), 1_000_000).gpu;
    near(found.transfer, 24e-6 + 12e6 / (16.0 * 3.938e9 * 256.0 / 282.0 * 0.95));
    near(found.launch, 2.7e-6);
    near(found.time, found.kernel + found.launch + found.transfer);
    assert_eq!(found.link.as_deref(), Some("PCIe Gen5 x16"));
    let shared = Request { reuse: 10, ..plain(elementwise("add")) };
    near(at("epyc-9654", "h100-sxm5-80gb", &shared, 1_000_000).gpu.transfer, found.transfer / 10.0);
    let input = Request { place: Data::Input, ..plain(elementwise("add")) };
    near(at("epyc-9654", "h100-sxm5-80gb", &input, 1_000_000).gpu.transfer, found.transfer * 2.0 / 3.0);
    let c2c = Request { link: Link::C2c, ..plain(elementwise("add")) };
    near(at("grace-72c", "gh200-96gb", &c2c, 1_000_000).gpu.transfer, 24e-6 + 12e6 / (450e9 * 0.8));
    // The kernel of a product is that of `gemm --cold`.
    let cube = at("epyc-9654", "h100-sxm5-80gb", &plain(CUBE), 1000).gpu;
    let shape = Shape::new(1, 1000, 1000, 1000).unwrap();
    let cold = gemm::Request { reuse: Reuse::Cold, ..gemm::Request::new(shape, DataType::Fp32) };
    let alone = product(&gpu("h100-sxm5-80gb"), &cold).unwrap().analysis.time;
    near(cube.kernel, alone.estimate.get());
    near(cube.low - 0.6 * cube.launch - 24e-6 - 12e6 / 63.008e9, alone.low.get());
}

#[test]
fn saxpy_from_the_host_never_pays_and_products_do() {
    for cpu in SERVERS {
        for device in ["v100-sxm2-32gb", "b200"] {
            let axpy = plain(Family::axpy().unwrap());
            let found = model(cpu, device, &axpy).crossover((1, 1 << 32)).unwrap();
            assert_eq!(found.from, From::Never, "{cpu} {device}");
            assert!(found.sentence().starts_with("the GPU never wins up to n = 4,294,967,296"), "{}", found.sentence());
            assert!(found.why.contains("alone take") && found.why.contains("both grow with n"), "{}", found.why);
            assert!(matches!(found.resident, Some(From::Size(_))), "{cpu} {device}");
        }
        let cube = model(cpu, "h100-sxm5-80gb", &plain(CUBE)).crossover((1, 65536)).unwrap();
        assert!(matches!(cube.from, From::Size(200..4000)), "{cpu}: {:?}", cube.from);
    }
}

#[test]
fn the_winner_changes_where_it_says() {
    let resident = Request { place: Data::Resident, ..plain(Family::axpy().unwrap()) };
    for (request, range) in
        [(plain(CUBE), (1, 65536)), (resident.clone(), (1, 1 << 32)), (resident, (400_000, 1 << 32))]
    {
        let model = model("epyc-9654", "h100-sxm5-80gb", &request);
        let found = model.crossover(range).unwrap();
        for crossing in &found.crossings {
            assert_eq!(model.at(crossing.n).unwrap().speedup() > 1.0, crossing.gpu);
            assert_eq!(model.at(crossing.n - 1).unwrap().speedup() > 1.0, !crossing.gpu);
        }
        let last = found.crossings.last().unwrap();
        assert_eq!((found.from, last.gpu), (From::Size(last.n), true));
        let beyond = model.samples((last.n, range.1), 500).unwrap();
        assert!(beyond.iter().all(|sample| sample.speedup() > 1.0));
        assert_eq!(found.changes().is_some(), found.crossings.len() > 1);
    }
    // The caches of 96 cores hold more than the L2 of an H100, which holds more than two tensors of 300,000 elements.
    let request = Request { place: Data::Resident, ..plain(Family::axpy().unwrap()) };
    let found = model("epyc-9654", "h100-sxm5-80gb", &request).crossover((1, 1 << 32)).unwrap();
    let winners: Vec<bool> = found.crossings.iter().map(|crossing| crossing.gpu).collect();
    assert_eq!(winners, [true, false, true]);
    assert!(found.changes().unwrap().starts_with("the winner changes 3 times: GPU from "));
    let always = model("epyc-9654", "h100-sxm5-80gb", &plain(CUBE)).crossover((8192, 65536)).unwrap();
    assert_eq!((always.from, always.late), (From::Always, From::Always));
    assert!(always.crossings.is_empty() && always.changes().is_none());
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let place = Place::new();
    let gemm = |words: &[&'static str]| [&["crossover", "gemm"], words].concat();
    let add = |words: &[&'static str]| [&["crossover", "elementwise", "--kind", "add"], words].concat();
    for (words, says) in [
        (gemm(&["--cpu", "a100-sxm4-80gb"]), &["--cpu A100 SXM4 80 GB is a GPU", "epyc-9654"][..]),
        (gemm(&["--gpu", "epyc-9654"]), &["--gpu EPYC 9654 is a CPU", "CPUs go to --cpu"]),
        (gemm(&["--cpu", "epyc-1"]), &["--cpu", "epyc-1"]),
        (gemm(&["--range", "0:100"]), &["LOW:HIGH", "from 1 up"]),
        (gemm(&["--range", "100:100"]), &["LOW:HIGH"]),
        (gemm(&["--range", "1:100:5"]), &["--range takes LOW:HIGH"]),
        (gemm(&["--range", "1:9999999999"]), &["operations; at most"]),
        (gemm(&["--reuse", "0"]), &["--reuse 0", "at least 1 call"]),
        (gemm(&["--sequential", "1.5"]), &["sequential share of 1.5", "from 0 to 1"]),
        (gemm(&["--sequential", "-0.1"]), &["sequential share of -0.1"]),
        (gemm(&["--sequential", "NaN"]), &["sequential share of nan"]),
        (gemm(&["--dtype", "fp8"]), &["EPYC 9654 has no unit", "fp8 products", "fp64, fp32"]),
        (gemm(&["--dtype", "tf32"]), &["tf32 products"]),
        (gemm(&["--dtype", "int8"]), &["int8 products"]),
        (gemm(&["--dtype", "bf16", "--gpu", "p100-sxm2-16gb"]), &["P100", "BF16"]),
        (add(&["--dtype", "fp8"]), &["fp8 elements", "fp32"]),
        (gemm(&["--m", "0"]), &["m = 0"]),
        (gemm(&["--m", "1", "--n", "1", "--k", "1"]), &["m, n and k are all given"]),
        (gemm(&["--rows", "5"]), &["--rows is for `crossover softmax`"]),
        (gemm(&["--kind", "add"]), &["--kind is for `crossover elementwise`"]),
        (add(&["--m", "5"]), &["--m is for `crossover gemm`"]),
        (vec!["crossover", "softmax", "--rows", "5", "--cols", "5"], &["rows and cols are all given"]),
        (vec!["crossover", "elementwise"], &["needs its --kind"]),
        (vec!["crossover", "elementwise", "--kind", "transpose"], &["does not stream"]),
        (vec!["crossover", "elementwise", "--kind", "adds"], &["`adds` is no element-wise kind", "axpy add"]),
        (gemm(&["--link", "fast"]), &["`fast` is no link", "pcie, c2c"]),
        (gemm(&["--link", "0 GB/s"]), &["is no link"]),
        (gemm(&["--gpu", "gb300"]), &["links.pcie"]),
        (gemm(&["--format", "html"]), &["html"]),
        (gemm(&["--chart", "x.pdf"]), &["name the chart"]),
    ] {
        place.refused(&words, says);
    }
    let none = Model::new(&gpu("epyc-9654"), &gpu("h100-sxm5-80gb"), &Request { reuse: 0, ..plain(CUBE) });
    assert!(matches!(none, Err(CrossoverError::Reuse)));
    for range in [(0, 5), (5, 5), (1, (1 << 40) + 1)] {
        assert!(model("epyc-9654", "h100-sxm5-80gb", &plain(Family::Reduction)).crossover(range).is_err(), "{range:?}");
    }
}

#[test]
fn every_form_says_the_same() {
    let place = Place::new();
    let words = ["crossover", "gemm", "--gpu", "h100-sxm5-80gb", "--cpu", "epyc-9654", "--sequential", "0.05"];
    let plain = place.out(&words);
    assert!(plain.lines().all(|line| line.chars().count() <= 80), "{plain}");
    let json = place.out(&[&words[..], &["--format", "json", "--chart", "x.csv"]].concat());
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let n = value["from"]["n"].as_u64().unwrap();
    assert_eq!(value["from"]["wins"], "from");
    let sentence = value["sentence"].as_str().unwrap();
    assert!(plain.replace('\n', " ").contains(sentence), "{plain}");
    let csv = place.out(&[&words[..], &["--format", "csv"]].concat());
    let header = "n,bytes,cpu_us,cpu_low_us,cpu_high_us,cpu_cores,cpu_level,gpu_us,gpu_low_us,gpu_high_us,kernel_us,launch_us,transfer_us,speedup,whole_speedup";
    assert_eq!(csv.lines().next(), Some(header));
    let rows = value["sizes"].as_array().unwrap();
    assert_eq!(csv.lines().count(), rows.len() + 1);
    assert!(rows.iter().any(|row| row["n"].as_u64() == Some(n)));
    assert!(rows.iter().all(|row| row["whole_speedup"].as_f64().unwrap() < 20.0));
    let markdown = place.out(&[&words[..], &["--format", "markdown"]].concat());
    assert!(markdown.contains(sentence) && markdown.contains("|---"), "{markdown}");
    // The chart's data have the size that the answer names.
    let data = text(&place.read("x.csv"));
    let crossing: Vec<&str> = data.lines().filter(|line| line.ends_with(",yes")).collect();
    assert_eq!(crossing.len(), 1);
    assert!(crossing[0].starts_with(&format!("{n},")), "{}", crossing[0]);
    assert_eq!(place.out(&["chart", "crossover", "gemm", "--data"]), data);
    let drawn = place.out(&["chart", "crossover", "elementwise", "--kind", "axpy", "--place", "resident"]);
    assert!(drawn.contains("The GPU wins from") && drawn.contains("Hollow marks"));
    let whatif = place.out(&["crossover", "gemm", "--set-cpu", "sm.count=8", "--set", "links.pcie=\"Gen6 x16\""]);
    assert!(whatif.contains("sm.count = 8 (was 96)") && whatif.contains("PCIe Gen6 x16"), "{whatif}");
}

fn families() -> impl Strategy<Value = Family> {
    let side = 1_u64..5000;
    prop_oneof![
        Just(CUBE),
        side.clone().prop_map(|m| Family::Gemm { m: Some(m), n: None, k: None }),
        side.clone().prop_map(|k| Family::Gemm { m: None, n: None, k: Some(k) }),
        Just(Family::axpy().unwrap()),
        prop_oneof!["add", "gelu", "exp", "copy", "fill"].prop_map(|kind| elementwise(&kind)),
        Just(Family::Reduction),
        side.clone().prop_map(|cols| Family::Softmax { rows: None, cols: Some(cols) }),
        side.prop_map(|rows| Family::Softmax { rows: Some(rows), cols: None }),
    ]
}

fn pairs() -> impl Strategy<Value = (Gpu, Gpu)> {
    let device = prop_oneof!["a100-sxm4-80gb", "h100-sxm5-80gb", "v100-pcie-16gb", "mi300x", "rtx-4090"];
    (0..SERVERS.len(), device).prop_map(|(cpu, device)| (gpu(SERVERS[cpu]), gpu(&device)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_better_way_to_the_gpu_never_moves_the_crossover_up(
        family in families(), (cpu, device) in pairs(), slow in 1e9..100e9_f64, factor in 1.0..20.0_f64, calls in 1_u64..100
    ) {
        let request = |rate: f64, reuse, place| Request { link: Link::Rate(BytesPerSecond(rate)), reuse, place, ..plain(family) };
        let of = |request: &Request| Model::new(&cpu, &device, request).unwrap().crossover((1, 20_000)).unwrap();
        let slower = of(&request(slow, 1, Data::Host));
        let better = [
            of(&request(slow * factor, 1, Data::Host)),
            of(&request(slow, calls, Data::Host)),
            of(&request(slow, 1, Data::Input)),
            of(&request(slow, 1, Data::Resident)),
        ];
        for other in &better {
            prop_assert!(size(other.from) <= size(slower.from), "{:?} {:?}", other.from, slower.from);
        }
        prop_assert_eq!(slower.resident, Some(better[3].from));
        prop_assert!(size(slower.early) <= size(slower.from) && size(slower.from) <= size(slower.late));
    }

    #[test]
    fn times_are_ordered_and_grow(family in families(), (cpu, device) in pairs(), n in 1_u64..100_000, more in 0_u64..1000, cold: bool) {
        let request = Request { cold, ..plain(family) };
        let model = Model::new(&cpu, &device, &request).unwrap();
        let (now, then) = (model.at(n).unwrap(), model.at(n + more).unwrap());
        for (low, time, high) in [(now.cpu.low, now.cpu.time, now.cpu.high), (now.gpu.low, now.gpu.time, now.gpu.high)] {
            prop_assert!(0.0 < low && low <= time && time <= high && high.is_finite(), "{low} {time} {high}");
        }
        prop_assert!(then.cpu.time >= now.cpu.time * (1.0 - 1e-12));
        prop_assert!(then.cpu.high >= now.cpu.high * (1.0 - 1e-12));
        prop_assert!(now.cpu.cores >= 1 && now.cpu.cores <= cpu.sm.count);
        prop_assert!(model.resident().at(n).unwrap().gpu.time <= now.gpu.time);
    }

    #[test]
    fn a_sequential_share_bounds_the_whole(share in 0.0..=1.0_f64, exponent in -3.0..6.0_f64) {
        let part = 10_f64.powf(exponent);
        let sequential = Sequential::new(share).unwrap();
        let whole = sequential.whole(part);
        prop_assert!(whole <= sequential.limit() * (1.0 + 1e-12));
        prop_assert!(whole <= part.max(1.0) * (1.0 + 1e-12) && whole >= part.min(1.0) * (1.0 - 1e-12));
        prop_assert!(sequential.whole(part * 2.0) >= whole * (1.0 - 1e-12));
        prop_assert!(share > 0.999_999 || (part > 1.0) == (whole > 1.0) || (part - 1.0).abs() < 1e-6);
    }
}

#[test]
fn more_cores_and_bandwidth_make_a_cpu_no_slower() {
    let request = Request { cold: true, ..plain(elementwise("add")) };
    let device = gpu("h100-sxm5-80gb");
    let base = gpu("epyc-9654");
    for change in ["sm.count=192", "memory.dram.bandwidth=\"900 GB/s\"", "clocks.vector=\"4 GHz\""] {
        let other = what_if("epyc-9654", &[change]).unwrap();
        for n in [1, 1000, 1_000_000, 1_000_000_000] {
            let of = |cpu: &Gpu| Model::new(cpu, &device, &request).unwrap().at(n).unwrap().cpu.time;
            assert!(of(&other) <= of(&base) * (1.0 + 1e-12), "{change} at {n}");
        }
    }
    assert!(Model::new(&device, &base, &request).is_err());
}
