//! `simulate`: the built-in files say what they promise, forms and jobs agree, bad input is refused by name.

use serde_json::Value;

use crate::place::Place;

const BUILT_IN: [&str; 5] = ["causal-attention", "experts", "overlap", "ragged-batch", "stream-k"];

fn json(place: &Place, words: &[&str]) -> Value {
    serde_json::from_str(&place.out(&[&["simulate"], words, &["--format", "json"]].concat())).unwrap()
}

/// Makespans of the cases of a built-in file on a GPU, in its order.
fn makespans(name: &str, gpu: &str) -> Vec<f64> {
    let report = json(&Place::new(), &[name, "--gpu", gpu]);
    report["runs"].as_array().unwrap().iter().map(|run| run["makespan_us"].as_f64().unwrap()).collect()
}

#[test]
fn longest_first_is_nearer_to_perfect_balance() {
    for gpu in ["a100-sxm4-80gb", "h100-sxm5-80gb"] {
        let times = makespans("causal-attention", gpu);
        assert!(times[1] < 0.95 * times[0], "{gpu}: {times:?}");
        let ragged = makespans("ragged-batch", gpu);
        assert!(ragged[1] < 0.95 * ragged[0] && ragged[2] > 3.0 * ragged[0], "{gpu}: {ragged:?}");
    }
}

#[test]
fn a_power_law_costs_padding() {
    let times = makespans("experts", "h100-sxm5-80gb");
    assert!(times[1] > 1.02 * times[0], "{times:?}");
}

#[test]
fn stream_k_beats_whole_tiles_and_a_queue_does_not() {
    let times = makespans("stream-k", "a100-sxm4-80gb");
    assert_eq!((times[1], times[2]), (times[0], times[0]), "{times:?}");
    assert!(times[4] < times[3] && times[3] < 0.9 * times[0], "{times:?}");
}

#[test]
fn two_streams_fill_each_others_tails() {
    let times = makespans("overlap", "a100-sxm4-80gb");
    assert!(times[1] < times[0] && times[2] < 0.9 * times[0] && times[3] < times[0], "{times:?}");
}

#[test]
fn every_form_of_every_file_fits_and_agrees() {
    let place = Place::new();
    for name in BUILT_IN {
        let text = place.out(&["simulate", name]);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let report = json(&place, &[name]);
        let csv = place.out(&["simulate", name, "--format", "csv"]);
        let rows: Vec<csv::StringRecord> =
            csv::Reader::from_reader(csv.as_bytes()).records().map(Result::unwrap).collect();
        let kernels = report["runs"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|run| run["kernels"].as_array().unwrap().iter().map(move |kernel| (run, kernel)));
        let mut count = 0;
        for ((run, kernel), row) in kernels.zip(&rows) {
            assert_eq!(row[2], *kernel["kernel"].as_str().unwrap());
            assert_eq!(row[13].parse::<f64>().unwrap(), run["makespan_us"].as_f64().unwrap(), "{row:?}");
            assert_eq!(&row[26], "");
            count += 1;
        }
        assert_eq!(count, rows.len(), "{name}");
        let markdown = place.out(&["simulate", name, "--format", "markdown"]);
        assert_eq!(markdown.matches("| ").count() % 8, 0, "{markdown}");
    }
}

#[test]
fn the_same_bytes_whatever_the_jobs() {
    let place = Place::new();
    let run = |jobs: &str| place.out(&["simulate", "overlap", "--gpu", "a100", "--gpu", "h100", "--jobs", jobs]);
    assert_eq!(run("1"), run("2"));
    assert_eq!(run("1"), run("7"));
}

#[test]
fn figures_by_hand() {
    let place = Place::new();
    // 109 blocks on 108 SMs: two waves, 107 SMs idle in the second.
    let words = ["--blocks", "109", "--math", "3 us", "--gpu", "a100-sxm4-80gb"];
    let run = &json(&place, &words)["runs"][0];
    assert_eq!(run["makespan_us"], 6.0);
    assert_eq!(run["tail_start_us"], 3.0);
    assert_eq!(run["tail_cost_pct"].as_f64(), Some(49.537));
    assert_eq!(run["critical"]["block"], 108);
    assert_eq!((&run["loads"][0]["blocks"], &run["loads"][107]["busy_us"]), (&Value::from(2), &Value::from(3.0)));
    assert_eq!(run["kernels"][0]["closed_form_us"], 6.0);
    // 1 GiB at the sustained share of 2.039 TB/s, on however many SMs.
    let bytes = ["--blocks", "4096", "--dram", "256 KiB", "--threads", "256", "--gpu", "a100-sxm4-80gb"];
    let run = &json(&place, &bytes)["runs"][0];
    assert_eq!(run["dram_pct"], 100.0);
    assert_eq!(run["makespan_us"], run["kernels"][0]["closed_form_us"]);
    // A slice has fewer SMs and its share of the bandwidth.
    let slice = ["--blocks", "4096", "--dram", "256 KiB", "--threads", "256", "--gpu", "a100-sxm4-80gb:1g.10gb"];
    let of_slice = &json(&place, &slice)["runs"][0];
    assert_eq!(of_slice["sms"], 14);
    let ratio = of_slice["makespan_us"].as_f64().unwrap() / run["makespan_us"].as_f64().unwrap();
    assert!((7.9..8.1).contains(&ratio), "{ratio}");
    // Work of no time is an answer.
    let nothing = &json(&place, &["--blocks", "100"])["runs"][0];
    assert_eq!((&nothing["makespan_us"], &nothing["blocks"]), (&Value::from(0.0), &Value::from(100)));
}

const FILE: &str = r#"schema = 1
title = "two"
gpus = ["a100-sxm4-80gb"]
[[launch]]
name = "first"
blocks = [{ count = 10, math = "1 us" }]
[[launch]]
name = "second"
blocks = [{ count = 10, math = "2 us" }]
"#;

#[test]
fn dependencies_streams_and_ranges_of_sms() {
    let place = Place::new();
    let span = |more: &str| {
        place.file("two.toml", format!("{FILE}{more}\n"));
        json(&place, &["two.toml"])["runs"][0]["makespan_us"].as_f64().unwrap()
    };
    assert_eq!(span(""), 3.0);
    assert_eq!(span("gap = \"500 ns\""), 3.5);
    assert_eq!(span("stream = 1"), 2.0);
    assert_eq!(span("stream = 1\nafter = [\"first\"]"), 3.0);
    // The first kernel has these SMs for 1 us, then come two rounds.
    assert_eq!(span("stream = 1\nsms = [0, 5]"), 5.0);
    assert_eq!(span("start = \"1 us\""), 4.0);
    // Its blocks are there and have started when the first kernel ends.
    assert_eq!(span("start = \"1 us\"\nearly = true"), 3.0);
    assert_eq!(span("case = \"alone\""), 1.0);
}

#[test]
fn bad_files_are_refused_with_line_and_cure() {
    let place = Place::new();
    let refused = |from: &str, to: &str, says: &[&str]| {
        assert!(FILE.contains(from), "{from}");
        place.file("bad.toml", FILE.replacen(from, to, 1));
        place.refused(&["simulate", "bad.toml"], says);
    };
    refused("schema = 1", "schema = 2", &["bad.toml, line 1", "schema = 2", "schema 1"]);
    refused("a100-sxm4-80gb", "a101", &["a101", "gpus list"]);
    refused("\"second\"", "\"first\"", &["line 8", "first", "its own"]);
    refused("count = 10", "count = 0", &["`first`", "no blocks"]);
    refused("count = 10", "count = 2147483648", &["`first`", "2147483648", "2^31"]);
    refused("count = 10", "count = -1", &["-1", "negative"]);
    refused("1 us", "-1 us", &["line 6", "-1 us", "negative"]);
    refused("1 us", "1", &["math", "1"]);
    refused("math", "maths", &["maths", "math"]);
    refused("name = \"first\"", "name = \"first\"\nafter = [\"none\"]", &["after = none", "first, second"]);
    refused("name = \"first\"", "name = \"first\"\nstream = 9\nafter = [\"first\"]", &["circle", "first -> first"]);
    refused("name = \"first\"", "name = \"first\"\nregisters = 99", &["threads = none", "registers"]);
    refused("name = \"first\"", "name = \"first\"\nthreads = 64\nblocks_per_sm = 2", &["blocks_per_sm = 2", "threads"]);
    refused("name = \"first\"", "name = \"first\"\nblocks_per_sm = 0", &["blocks_per_sm = 0", "at least 1"]);
    refused("name = \"first\"", "name = \"first\"\nrepeat = 0", &["repeat = 0", "at least 1"]);
    refused("math = \"1 us\"", "math = \"1 us\", operations = \"1 FLOP\"", &["math = 1 us", "operations"]);
    refused("[[launch]]", "[[kernel]]", &["bad.toml", "simulation", "analyze"]);
    refused("name = \"first\"", "name = \"first\"\nthreads = 2048", &["2048 threads", "1024"]);
    refused("name = \"first\"", "name = \"first\"\nblocks_per_sm = 65", &["65 blocks per SM", "64"]);
    refused("name = \"first\"", "name = \"first\"\nsms = [100, 109]", &["SMs 100 to 109", "108"]);
    refused("name = \"first\"", "name = \"first\"\ncluster = 2", &["cluster = 2", "8.0"]);
    refused("name = \"first\"", "name = \"first\"\nschedule = \"stream-k\"", &["stream-k", "gemm"]);
    refused("name = \"first\"", "name = \"first\"\norder = \"random\"", &["random", "given, longest-first"]);
    refused("blocks = [{ count = 10, math = \"1 us\" }]", "", &["first", "one of gemm, attention, experts and blocks"]);
    refused(
        "blocks = [{ count = 10, math = \"1 us\" }]",
        "attention = { seq = [], heads = 8 }",
        &["first", "seq = []", "at least one prompt"],
    );
    refused(
        "blocks = [{ count = 10, math = \"1 us\" }]",
        "attention = { seq = 0, heads = 8 }",
        &["first", "seq_q = 0"],
    );
    refused(
        "blocks = [{ count = 10, math = \"1 us\" }]",
        "gemm = { m = [1, 2], n = 64, k = 64, batch = 2 }",
        &["batch = 2", "leave it out"],
    );
    let experts = "experts = { tokens = 8, experts = 4, top_k = 5, hidden = 64, inter = 64 }";
    refused("blocks = [{ count = 10, math = \"1 us\" }]", experts, &["top-k = 5", "4 experts"]);
    place.refused(&["analyze", "stream-k"], &["simulate stream-k"]);
}

#[test]
fn bad_options_are_refused() {
    let place = Place::new();
    let cases: [(&[&str], &[&str]); 16] = [
        (&["--blocks", "8", "--math", "1 us", "--set", "sm.count=4294967295"], &["4294967295 SMs", "4096"]),
        (&["--gemm", "64", "64", "64", "--math", "1 us"], &["--gemm", "--math"]),
        (&["--blocks", "8", "--tile", "64x64"], &["--blocks", "--tile"]),
        (&["--attention", "8", "1"], &["seq = 1", "decode"]),
        (&[], &["nothing to simulate", "--blocks", "causal-attention"]),
        (&["--blocks", "0"], &["no blocks"]),
        (&["--blocks", "2147483648", "--math", "1 us"], &["2147483648", "2^31"]),
        (&["--blocks", "8", "--math", "1 us", "--cluster", "3"], &["8 blocks", "clusters of 3"]),
        (&["--blocks", "8", "--math", "1 us", "--cluster", "32"], &["cluster = 32", "16"]),
        (&["--blocks", "8", "--math", "1 us", "--schedule", "stream-k"], &["stream-k", "gemm"]),
        (&["--blocks", "8", "--threads", "2048"], &["2048 threads", "1024"]),
        (&["--gemm", "0", "1", "1"], &["m = 0"]),
        (&["--gemm", "64", "64", "64", "--tile", "77x1"], &["77x1", "64x64"]),
        (&["--attention", "8", "0"], &["seq_q = 0"]),
        (&["stream-k", "--case", "nothing"], &["nothing", "stream-K"]),
        (&["streamk"], &["`streamk`", "stream-k"]),
    ];
    for (options, says) in cases {
        place.refused(&[&["simulate"], options].concat(), says);
    }
    // One GPU of several that cannot: its reason, and the others' answers.
    let two = ["simulate", "--attention", "8", "512", "--gpu", "h100", "--gpu", "instinct-mi300x"];
    let run = place.run(&two).code(1);
    let out = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
    assert!(out.contains("H100") && out.contains("error: Instinct MI300X"), "{out}");
}

#[test]
fn what_ifs_are_named_in_every_form() {
    let place = Place::new();
    let words = ["simulate", "--blocks", "8", "--math", "1 us", "--gpu", "h100", "--set", "sm.count=100"];
    let form = |format: &str| place.out(&[&words[..], &["--format", format]].concat());
    for format in ["text", "json", "csv", "markdown"] {
        assert!(form(format).contains("sm.count = 100 (was 132)"), "{format}: {}", form(format));
    }
    let text = form("text");
    let place = |what: &str| text.find(what).unwrap();
    assert!(place("H100 SXM5") < place("with  ") && place("with  ") < place("makespan"), "{text}");
}

#[test]
fn charts_and_traces_are_written() {
    let place = Place::new();
    place.out(&["simulate", "overlap", "--case", "two streams", "--chart", "t.svg", "--trace", "t.json"]);
    place.refused(&["simulate", "overlap", "--trace", "x", "--output", "x"], &["`x` is named twice"]);
    let drawn = place.out(&["chart", "timeline", "overlap", "--case", "two streams"]);
    assert_eq!(place.read("t.svg"), drawn.as_bytes());
    let trace: Value = serde_json::from_slice(&place.read("t.json")).unwrap();
    let blocks = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X").count();
    assert_eq!(blocks, 256 + 2048);
    place.out(&["simulate", "stream-k", "--out", "all", "--quiet"]);
    let names = place.names("all");
    for name in ["simulation.csv", "simulation.json", "simulation.md", "timeline.svg", "timeline-5.csv", "trace-5.json"]
    {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
    place.refused(&["simulate", "overlap", "--chart", "x.svg"], &["--chart shows one", "two streams", "--case"]);
    place.refused(&["simulate", "--blocks", "3", "--math", "1 us", "--chart", "x.jpg"], &["x.jpg", ".svg"]);
    place.refused(&["chart", "timeline", "overlap"], &["a timeline shows one", "--case"]);
}
