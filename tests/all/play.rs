//! The page without a socket: addresses, commands that ask the same, numbers equal to the commands', charts, labs.

use proptest::prelude::*;
use serde_json::Value;
use wavecast::{
    gpu::Catalog,
    page::{Calculator, Held, Network, Outcome, Run, Site, State, Tab, View, encoded},
};

use crate::place::{Place, text};

fn site() -> Site {
    Site::new(Catalog::embedded().unwrap())
}

#[track_caller]
fn parsed(query: &str) -> State {
    let (state, notices) = State::parse(query).unwrap_or_else(|e| panic!("{query}: {e}"));
    assert_eq!(notices, [""; 0], "{query}");
    state
}

fn body(site: &Site, path: &str, query: &str) -> (u16, String) {
    let reply = site.reply(path, query);
    (reply.status, text(&reply.body))
}

/// Queries of every kind of run, with what-ifs, slices and tiles.
const RUNS: [&str; 9] = [
    "op=gemm&gpu=h100-sxm5-80gb&m=4096&n=4096&k=4096",
    "op=gemm&gpu=a100-sxm4-80gb&m=2304&n=1537&k=4096&tile=256x128",
    "op=gemm&gpu=h100-sxm5-80gb&m=64&n=8192&k=8192&sparse=1&l2=cold",
    "op=gemm&gpu=h100-sxm5-80gb&m=512&n=512&k=512&dtype=fp8&sm=144&bw=4.8&clock=1.5&l2=warm",
    "op=gemm&gpu=h100-sxm5-80gb&mig=1g.10gb&m=1024&n=1024&k=1024&dtype=fp32",
    "op=gemm&gpu=mi300x&m=4096&n=4096&k=512&dtype=fp16",
    "op=kernel&gpu=v100-sxm2-16gb&grid=1000&block=192&regs=66&smem=9000&flop=3.5&read=12&write=0.25&flight=8",
    "op=kernel&gpu=h100-sxm5-80gb&mig=3g.40gb&grid=5000&block=128&regs=255&pipe=tensor.bf16&flop=1000&bw=2",
    "op=kernel&gpu=mi100&grid=4096&block=256&regs=128&smem=16384&flop=0&read=64&write=64",
];

/// Queries of the kinds that commands print in forms of their own.
const OTHERS: [&str; 7] = [
    "op=simulate&gpu=h100-sxm5-80gb&blocks=133&ms=1",
    "op=simulate&gpu=mi300x&blocks=1000&ms=0.125&sm=100",
    "op=memory&gpu=h100-sxm5-80gb&net=llama-3.1-8b&phase=train&batch=2&seq=4096&dp=8&zero=1",
    "op=memory&gpu=l40s&net=llama-2-7b&phase=inference&batch=8&seq=2048",
    "op=memory&gpu=h100-sxm5-80gb&billions=6.7&phase=train&dp=4&zero=2",
    "op=crossover&gpu=h100-sxm5-80gb&kind=add&cpu=epyc-9654&place=host&reuse=100&low=1024&n=16777216",
    "op=crossover&gpu=l40s&kind=gemm&dtype=fp64&place=resident&n=8192&bw=2",
];

fn said_by(place: &Place, state: &State) -> Value {
    let words = state.words();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    serde_json::from_str(&place.out(&[&words[..], &["--format", "json"]].concat())).unwrap()
}

#[test]
fn blocks_and_races_are_those_of_the_commands() {
    let (catalog, place) = (Catalog::embedded().unwrap(), Place::new());
    for query in OTHERS.iter().filter(|query| !query.contains("op=memory")) {
        let state = parsed(query);
        let (said, answer) = (said_by(&place, &state), state.answer(&catalog).unwrap());
        match &answer.outcome {
            Outcome::Blocks(run) => {
                let us = said["runs"][0]["makespan_us"].as_f64().unwrap();
                crate::common::close(query, run.outcome.makespan.get() * 1e6, us, 1e-5);
            }
            Outcome::Compared(compared) => {
                assert_eq!(compared.found.sentence(), said["sentence"], "{query}");
                assert_eq!(compared.found.why, said["why"], "{query}");
            }
            _ => panic!("{query}"),
        }
        let verdict = View::new(&state, &answer).verdict;
        assert!(verdict.starts_with("It takes") || verdict.starts_with("The GPU"), "{verdict}");
    }
}

#[test]
fn every_command_asks_what_the_page_shows() {
    let (catalog, place) = (Catalog::embedded().unwrap(), Place::new());
    for query in RUNS {
        let state = parsed(query);
        let answer = state.answer(&catalog).unwrap_or_else(|e| panic!("{query}: {e}"));
        let said = said_by(&place, &state);
        let mut shown: Value = serde_json::from_str(&View::report(&answer).unwrap()).unwrap();
        assert_eq!(shown["kernels"][0]["kernel"].take().is_string(), said["kernels"][0]["kernel"].is_string());
        shown["kernels"][0]["kernel"] = said["kernels"][0]["kernel"].clone();
        assert_eq!(shown["kernels"], said["kernels"], "{query}");
    }
}

#[test]
fn the_memory_of_a_network_is_that_of_the_command() {
    let (catalog, place) = (Catalog::embedded().unwrap(), Place::new());
    for query in OTHERS.iter().filter(|query| query.contains("op=memory")) {
        let state = parsed(query);
        let said = said_by(&place, &state);
        let answer = state.answer(&catalog).unwrap();
        let Outcome::Residents(held) = &answer.outcome else { panic!("{query}") };
        let parts: f64 = said["parts"].as_array().unwrap().iter().map(|part| part["bytes"].as_f64().unwrap()).sum();
        crate::common::close(query, held.anatomy.total().get(), parts, 1e-5);
        let view = View::new(&state, &answer);
        assert_eq!(view.verdict.starts_with("It fits"), said["fits"].as_bool().unwrap(), "{}", view.verdict);
    }
}

#[test]
fn a_command_line_is_read_back_as_the_same_run() {
    let all = RUNS.iter().chain(&OTHERS);
    for query in all.filter(|query| !query.contains("&sm=") && !query.contains("&bw=")) {
        let state = parsed(query);
        assert_eq!(State::of_command(&state.words()), Some(state.bare()), "{query}");
    }
    for other in
        ["gpus list", "gemm 1 2 --gpu l40s", "kernel --gpu l40s --grid 1 --block 32", "gemm 1 2 3 --gpu l40s --split 2"]
    {
        let words: Vec<String> = other.split(' ').map(str::to_owned).collect();
        assert_eq!(State::of_command(&words), None, "{other}");
    }
}

/// Answers, seeds and pins of every sort.
fn states() -> impl Strategy<Value = State> {
    let run = (0..RUNS.len() + OTHERS.len(), 1..1_048_576_u64, 0..2000_u32, any::<bool>());
    let words = proptest::option::of("[a-zäµ&=+%# ]{0,6}[a-z0-9]");
    let what_if = (proptest::option::of(1..1024_u64), proptest::option::of(0.01..100.0_f64), 0..4_u64);
    (run, words.clone(), words, what_if, 0..Tab::WORDS.len()).prop_map(
        |((index, n, amount, pin), seed, guess, (sms, bandwidth, hints), tab)| {
            let mut state = State::parse(RUNS.iter().chain(&OTHERS).nth(index).unwrap()).unwrap().0;
            match &mut state.run {
                Run::Product(product) => product.n = n,
                Run::Launch(launch) => (launch.grid, launch.flop) = (n, f64::from(amount) / 7.0),
                Run::Network(Network { held: Held::Parameters(count), .. }) => *count = n * 1_000_000,
                Run::Network(network) => network.seq = n,
                Run::Blocks(blocks) => blocks.ms = f64::from(amount + 1) / 7.0,
                Run::Race(race) => race.range.1 = race.range.0 + n % 60_000 + 1,
            }
            if let Some(tab) = Some(Tab::WORDS[tab].1).filter(|tab| state.run.tabs().contains(tab)) {
                state.tab = tab;
            }
            (state.sms, state.bandwidth, state.hints) = (sms, bandwidth, hints);
            state.pin = pin.then(|| state.bare().query());
            let trimmed = |text: Option<String>| text.map(|text| text.trim().to_owned());
            State { seed: trimmed(seed), guess: trimmed(guess), ..state }
        },
    )
}

proptest! {
    #[test]
    fn an_address_is_read_back_as_the_same_state(state in states()) {
        let query = state.query();
        let (again, notices) = State::parse(&query).unwrap();
        prop_assert_eq!(&again, &state);
        prop_assert!(notices.is_empty());
        prop_assert_eq!(again.query(), query);
    }

    #[test]
    fn no_address_is_too_odd_to_be_answered(query in "[a-z0-9=&%.+:x-]{0,80}") {
        let _ = State::parse(&query);
        let _ = Calculator::parse(&query);
    }
}

#[test]
fn what_is_out_of_range_is_refused_with_the_range() {
    for (query, says) in [
        ("m=0", "m = 0: a whole number from 1 to 1,048,576"),
        ("n=4096.5", "n = 4096.5: a whole number"),
        ("k=99999999999", "from 1 to 1,048,576"),
        ("op=conv", "op = conv: one of gemm, kernel, simulate, memory, crossover"),
        ("dtype=fp99", "dtype = fp99"),
        ("tile=12", "HEIGHTxWIDTH"),
        ("bw=nan", "bw = nan: a number from 0.01 to 100"),
        ("bw=1e9", "from 0.01 to 100"),
        ("tab=pie", "one of roofline"),
        ("op=kernel&block=1025", "from 1 to 1,024"),
        ("op=kernel&flop=-1", "from 0 to"),
        ("m=1&m=2", "stands twice"),
        ("m=%f", "%XX"),
        ("pin=m%3D0", "m = 0"),
        ("hints=4", "0 to 3"),
    ] {
        let said = State::parse(query).expect_err(query).to_string();
        assert!(said.contains(says), "{query}: {said}");
    }
    assert!(State::parse(&"a".repeat(5000)).unwrap_err().to_string().contains("4,096 bytes"));
    assert!(State::parse(&"a=&".repeat(100)).is_err());
    let (_, notices) = State::parse("m=64&flavour=mint").unwrap();
    assert_eq!(notices, ["nothing here reads `flavour`: it is ignored"]);
    let catalog = Catalog::embedded().unwrap();
    for (query, says) in [
        ("gpu=h900", "gpu = h900"),
        ("gpu=epyc-9654", "CPU"),
        ("mig=9g.90gb", "has no MIG profile"),
        ("gpu=v100-sxm2-16gb&dtype=fp8", "dtype = fp8"),
        ("tile=8x8", "tile = 8x8: there is no kernel"),
        ("op=kernel&regs=512", "regist"),
        ("op=kernel&smem=300000", "shared"),
        ("op=memory&net=nosuch", "net = nosuch"),
    ] {
        let said = State::parse(query).unwrap().0.answer(&catalog).expect_err(query).to_string();
        assert!(said.contains(says), "{query}: {said}");
    }
}

#[test]
fn every_gpu_takes_every_what_if() {
    let catalog = Catalog::embedded().unwrap();
    for gpu in catalog.gpus().filter(|gpu| !gpu.is_cpu()) {
        let query = format!("op=kernel&gpu={}&grid=1000&sm=40&bw=1.5&clock=1.25&flop=64", gpu.id);
        let answer = parsed(&query).answer(&catalog).unwrap_or_else(|e| panic!("{query}: {e}"));
        assert_eq!(answer.gpu.sm.count, 40);
        assert_eq!(answer.gpu.memory.dram.bandwidth.get(), 1.5e12);
        assert_eq!(answer.gpu.clocks.vector.get(), 1.25e9);
    }
}

#[test]
fn every_chart_is_drawn_in_every_form_with_what_is_pinned() {
    let site = site();
    for (query, pin) in [
        ("op=gemm&m=1024&n=1024&k=1024", "op=gemm&m=2048&n=1024&k=1024"),
        ("op=kernel&grid=3000&block=256&regs=40", "op=kernel&grid=2000&block=128&regs=80"),
        ("op=simulate&blocks=200", "op=simulate&blocks=100&ms=2"),
        ("op=memory", "op=memory&batch=8"),
        ("op=memory&billions=13", "op=memory&billions=7"),
        ("op=crossover&kind=gemm&n=4096", "op=crossover&kind=gemm&n=2048"),
    ] {
        let query = format!("{query}&pin={}", encoded(pin));
        for tab in parsed(&query).run.tabs() {
            let path = |form: &str| format!("/chart/{}.{form}", tab.word());
            let (status, svg) = body(&site, &path("svg"), &query);
            assert_eq!(status, 200, "{query} {}: {svg}", tab.word());
            roxmltree::Document::parse(&svg).unwrap();
            assert_ne!(svg, body(&site, &path("svg"), &format!("theme=dark&{query}")).1);
            let csv = body(&site, &path("csv"), &query).1;
            assert_eq!(svg.contains("pinned") || csv.contains("pinned"), *tab != Tab::Mig, "{} {csv}", tab.word());
            if cfg!(feature = "png") && *tab == Tab::Roofline {
                assert!(site.reply(&path("png"), &query).body.starts_with(b"\x89PNG"));
            }
        }
    }
    for (path, query, says) in [
        ("/chart/memory.svg", "op=gemm", "gemm has no such chart; it has roofline, time"),
        ("/chart/roofline.svg", "op=memory", "it has memory"),
        ("/chart/roofline.svg", "op=simulate", "it has timeline, waves"),
        ("/chart/timeline.svg", "op=kernel&grid=1000000", "up to 20,000"),
        ("/chart/mig.svg", "gpu=v100-sxm2-16gb&dtype=fp16", "no MIG profiles"),
        ("/chart/pie.svg", "", "no such chart"),
        ("/chart/roofline.bmp", "", "svg, csv"),
        ("/chart/roofline", "", "Name the chart"),
        ("/../Cargo.toml", "", "no such page"),
    ] {
        let (status, said) = body(&site, path, query);
        assert!(status == 404 && said.contains(says), "{path} {query}: {status} {said}");
    }
}

#[test]
fn nothing_of_an_address_becomes_markup() {
    let site = site();
    let odd = encoded("<script>alert(1)</script>\"'");
    for query in [format!("gpu={odd}"), format!("{odd}=1"), format!("lab=1&seed=a&guess={odd}"), format!("m={odd}")] {
        for path in ["/", "/part", "/occupancy"] {
            let (_, html) = body(&site, path, &query);
            assert!(!html.contains("<script>alert"), "{path} {query}: {html}");
        }
    }
}

#[test]
fn the_calculator_says_what_the_command_says() {
    let (catalog, place) = (Catalog::embedded().unwrap(), Place::new());
    for query in [
        "cc=9.0&threads=256&regs=65&dynamic=20480",
        "cc=7.5&threads=1000&regs=33&static=1000&carveout=50&barriers=3",
        "cc=12.0&threads=64&regs=255&dynamic=60000&optin=0",
        "gfx=gfx942&threads=512&regs=70&agprs=8&sgprs=100&dynamic=30000",
        "gfx=gfx1100&threads=96&regs=100&wave=64&mode=cu&trap=0",
        "on=gfx90a&threads=256&regs=129",
        "on=8.6&threads=160",
    ] {
        let (asked, notices) = Calculator::parse(query).unwrap();
        assert!(notices.is_empty(), "{notices:?}");
        assert_eq!(Calculator::parse(&asked.query()).unwrap(), (asked.clone(), Vec::new()));
        let found = asked.answer(&catalog).unwrap();
        let command = asked.command().replace('\'', "");
        let words: Vec<String> = command.split(' ').skip(1).map(str::to_owned).collect();
        // A size is one word of two.
        let mut joined: Vec<String> = Vec::new();
        for word in words {
            match word.as_str() {
                "B" => joined.last_mut().unwrap().push_str(" B"),
                _ => joined.push(word),
            }
        }
        joined.extend(["--format".into(), "json".into()]);
        let words: Vec<&str> = joined.iter().map(String::as_str).collect();
        let said: Value = serde_json::from_str(&place.out(&words)).unwrap();
        assert_eq!(said["blocks_per_sm"], found.found.blocks_per_sm, "{query}");
        assert_eq!(said["active_warps"], found.found.active_warps(), "{query}");
        assert_eq!(said["alloc_regs_per_block"], found.found.registers_per_block, "{query}");
        let site = site();
        let (status, html) = body(&site, "/occupancy", query);
        assert!(status == 200 && html.contains("Occupancy staircases"), "{query}: {html}");
        assert_eq!(body(&site, "/chart/calculator.svg", &asked.query()).0, 200);
    }
    for (query, says) in
        [("cc=1.0", "cc = 1.0"), ("gfx=gfx1", "gfx = gfx1"), ("cc=x", "cc = x"), ("threads=0", "1 to 1,024")]
    {
        let said = Calculator::parse(query).and_then(|(asked, _)| asked.answer(&catalog)).unwrap_err().to_string();
        assert!(said.contains(says), "{query}: {said}");
    }
}
