//! Odd files and odd questions: numbers beyond meaning, filters that leave nothing, launches that cannot have run.

use serde_json::Value;

use crate::place::{Place, narrow, text};

/// A trace on an A100: launches as name, beginning, duration and threads, and registers per thread.
fn trace(launches: &[(&str, &str, &str, u32, u32)]) -> String {
    let events: Vec<String> = launches
        .iter()
        .map(|(name, ts, dur, threads, registers)| {
            format!(
                r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "ts": {ts}, "dur": {dur}, "args": {{"device": 0, "stream": 7,
                "grid": [216, 1, 1], "block": [{threads}, 1, 1], "registers per thread": {registers}, "shared memory": 0}}}}"#
            )
        })
        .collect();
    format!(
        r#"{{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "computeMajor": 8,
        "computeMinor": 0, "numSms": 108, "warpSize": 32}}], "traceEvents": [{}]}}"#,
        events.join(",\n")
    )
}

fn usual() -> String {
    trace(&[("gemm_tn", "100", "50", 256, 64), ("add", "150", "10", 256, 32), ("add", "170", "30", 256, 32)])
}

/// Name, unit and value of metrics, as Nsight Compute prints them for a launch on an A100.
fn printed(metrics: &[(&str, &str, &str)]) -> String {
    let rule = format!("    {} {} {}\n", "-".repeat(30), "-".repeat(15), "-".repeat(30));
    let row = |(name, unit, value): &(&str, &str, &str)| format!("    {name:<30} {unit:>15} {value:>30}\n");
    let rows: String = metrics.iter().map(row).collect();
    let titles = row(&("Metric Name", "Metric Unit", "Metric Value"));
    format!(
        "  stream (216, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\n    Section: All\n{rule}{titles}{rule}{rows}{rule}\n"
    )
}

fn json(place: &Place, words: &[&str]) -> Value {
    serde_json::from_str(&place.out(&[&["analyze"], words, &["--format", "json", "--quiet"]].concat())).unwrap()
}

/// Every warning of a report in one text.
fn warnings(report: &Value) -> String {
    let all = report["warnings"].as_array().unwrap();
    all.iter().map(|warning| warning.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn times_beyond_meaning_count_as_absent() {
    let place = Place::new();
    let odd =
        [("gemm_tn", "100", "1e308", 256, 64), ("gemm_tn", "200", "1e308", 256, 64), ("add", "150", "10", 256, 32)];
    place.file("odd.json", trace(&odd));
    place.file("t.json", usual());
    let report = json(&place, &["odd.json"]);
    let said = "2 numbers too large to be meant count as absent, the first a time in s of 1.00e302";
    assert!(warnings(&report).contains(said), "{}", warnings(&report));
    assert_eq!((&report["traces"][0]["kernels_us"], &report["traces"][0]["span_us"]), (&10.into(), &10.into()));
    for words in [
        &["analyze", "odd.json"][..],
        &["compare", "odd.json", "t.json"],
        &["compare", "t.json", "odd.json", "--format", "json"],
        &["chart", "shares", "odd.json"],
        &["chart", "compare", "t.json", "odd.json"],
    ] {
        let run = place.run(words);
        let out = text(&run.get_output().stdout);
        assert!(!out.is_empty() || words.contains(&"shares"), "{words:?}");
        // A resource without limit is no number that went wrong.
        let words_of = out.replace("barriers inf", "").to_lowercase();
        let word =
            words_of.split(|c: char| !c.is_ascii_alphanumeric()).find(|w| ["inf", "nan", "infinity"].contains(w));
        assert_eq!(word, None, "{words:?}: {out}");
        assert!(!out.contains("e308"), "{words:?}: {out}");
    }
}

#[test]
fn percentages_beyond_meaning_are_left_out() {
    let place = Place::new();
    let duration = ("Duration", "usecond", "12.50");
    let file =
        |occupancy| printed(&[duration, ("Achieved Occupancy", "%", occupancy), ("Theoretical Occupancy", "%", "50")]);
    place.file("odd.txt", file("1e26"));
    place.file("good.txt", file("40"));
    let report = json(&place, &["odd.txt"]);
    let said = "1 number too large to be meant counts as absent, the first Achieved Occupancy of 1.00e26";
    assert!(warnings(&report).contains(said), "{}", warnings(&report));
    assert_eq!(
        (&report["kernels"][0]["achieved_occupancy_pct"], &report["kernels"][0]["measured_us"]),
        (&Value::Null, &12.5.into())
    );
    assert!(report["kernels"][0]["differences"].to_string().find("1e26").is_none());
    assert_eq!(json(&place, &["good.txt"])["kernels"][0]["achieved_occupancy_pct"], 40);
    place.file("long.txt", printed(&[("Duration", "second", "1e12"), ("Theoretical Occupancy", "%", "50")]));
    assert_eq!(json(&place, &["long.txt"])["kernels"][0]["measured_us"], Value::Null);
}

#[test]
fn a_cpu_is_no_gpu_to_go_to() {
    let place = Place::new();
    place.file("t.json", usual());
    place.refused(&["analyze", "t.json", "--to", "xeon-platinum-8480-plus"], &["--to xeon", "is a CPU", "name a GPU"]);
}

#[test]
fn a_second_document_is_told() {
    let place = Place::new();
    let one = usual();
    place.file("two.json", format!("{one}\n{one}{one}"));
    let report = json(&place, &["two.json"]);
    let said = format!("byte {}: a second document begins here; its launches are added", one.len() + 1);
    assert!(warnings(&report).contains(&said), "{}", warnings(&report));
    assert_eq!((warnings(&report).matches("document").count(), &report["traces"][0]["launches"]), (1, &9.into()));
    place.file("one.json", one);
    assert_eq!(warnings(&json(&place, &["one.json"])), "");
}

#[test]
fn filters_that_leave_nothing_are_refused() {
    let place = Place::new();
    place.file("t.json", usual());
    place.file("c.csv", "name,rate\nDRAM,1.4 TB/s\n");
    for (file, kernels) in [("t.json", "among its 2"), ("p.csv", "among its 2")] {
        for option in [["--filter", "nosuch"], ["--kernel", "99"]] {
            place.refused(&["analyze", file, option[0], option[1]], &["no kernel of the file is left", kernels]);
        }
        place.run(&["analyze", file, "--top", "0"]).code(2);
        assert!(!place.out(&["analyze", file, "--top", "1"]).is_empty());
    }
    for (file, what) in [("s.toml", "a scenario describes its own"), ("c.csv", "measured ceilings has none")] {
        place.refused(&["analyze", file, "--filter", "a+"], &["--filter 'a+'", what]);
        place.refused(&["analyze", file, "--kernel", "1"], &["--kernel 1", what]);
        place.refused(&["analyze", file, "--top", "3"], &["--top 3", what]);
    }
}

#[test]
fn messages_name_what_is_read_and_what_is_missing() {
    let place = Place::new();
    place.file("letter.txt", "Dear reader,\nthis is a letter.\n");
    let kinds =
        ["Nsight Compute", "Nsight Systems", "PyTorch", "nvprof", "rocprof", "compiler", "ceilings", "scenarios"];
    place.refused(&["analyze", "letter.txt"], &kinds);
    let page = include_str!("../data/ncu/raw.csv").replace("\r\n", "\n").replace('\n', "\r");
    place.file("old.csv", page);
    place.file("old.txt", printed(&[("Duration", "usecond", "12.50")]).replace('\n', "\r"));
    place.file("traced.csv", "Start,Duration,Grid X,Name\rns,ns,,\r1,2,3,\"k\"\r");
    for file in ["old.csv", "old.txt", "traced.csv"] {
        place.refused(&["analyze", file], &["carriage return alone", "tr '\\r' '\\n'"]);
    }
    place.file(
        "bare.txt",
        printed(&[("Duration", "usecond", "12.50"), ("Registers Per Thread", "register/thread", "32")]),
    );
    let missing = ["`bare.txt`", "no launch has FLOP counters or DRAM traffic or a GPU that is in the catalog"];
    place.refused(&["chart", "roofline", "bare.txt"], &missing);
    place.file("pmc.csv", "Dispatch_ID,Kernel_Name,Grid_Size,Workgroup_Size,SQ_WAVES,Start_Timestamp,End_Timestamp\n0,copy_it,1024,256,16,1000,31000\n");
    let out = place.out(&["analyze", "pmc.csv"]).replace("\n  ", " ");
    let line = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains("the file has no counters that are read"), "{out}");
}

#[test]
fn launches_that_cannot_have_run_are_told() {
    let place = Place::new();
    place.file(
        "odd.json",
        trace(&[("big", "1", "5", 2048, 32), ("fat", "9", "5", 128, 300), ("fits", "19", "5", 128, 32)]),
    );
    let said = warnings(&json(&place, &["odd.json"]));
    for part in ["exceeds the limits of the GPU", "on A100", "(1 more kernels like that)"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(said.contains("2048 threads per block") || said.contains("300 registers per thread"), "{said}");
    assert_eq!(warnings(&json(&place, &["odd.json", "--filter", "fits"])).matches("exceeds").count(), 1);
    place.file("t.json", usual());
    assert_eq!(warnings(&json(&place, &["t.json"])), "");
    let report = json(&place, &["t.json", "--what-if", "registers=256", "--what-if", "registers=255"]);
    let asked = &report["kernels"][0]["asked"];
    let text = asked[0]["text"].as_str().unwrap();
    assert!(text.contains("256 registers per thread; a thread holds at most 255 registers"), "{text}");
    assert_eq!(asked[1]["blocks_per_sm"], 1);
}

#[test]
fn tables_name_the_launches_of_a_row_once() {
    let place = Place::new();
    place.file("t.json", usual());
    let page = place.out(&["analyze", "t.json", "--format", "markdown"]);
    assert!(page.contains("| kernel | launches |") && page.contains("| `add` | 2 |"), "{page}");
    let four = trace(&[
        ("a", "1", "5", 32, 32),
        ("b", "9", "5", 32, 32),
        ("c", "19", "5", 32, 32),
        ("d", "29", "5", 32, 32),
        ("d", "39", "5", 32, 32),
    ]);
    place.file("four.json", four);
    let out = place.out(&["analyze", "four.json"]);
    assert!(out.contains("2 x d") && !out.contains("launches  "), "{out}");
    assert!(place.out(&["analyze", "p.csv", "--format", "markdown"]).find("| launches |").is_none());
}

#[test]
fn another_gpu_is_told_per_launch_and_in_all() {
    let place = Place::new();
    place.file("t.json", usual());
    let report = json(&place, &["t.json", "--to", "h100-sxm5-80gb"]);
    let add = &report["kernels"][1];
    assert_eq!((&add["kernel"], &add["total_us"], &add["measured_us"]), (&"add".into(), &40.into(), &20.into()));
    let there = |end: &str| add["elsewhere"][0][end].as_f64().unwrap();
    // Latency-bound: the same time, with the band of 20 %, of both launches together.
    assert_eq!((there("low_us"), there("high_us")), (32.0, 48.0));
    let out = place.out(&["analyze", "t.json", "--to", "h100-sxm5-80gb"]);
    let line = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        line.contains("h100-sxm5-80gb: a launch 16 us to 24 us; 2 launches 32 us to 48 us instead of 40 us"),
        "{out}"
    );
    narrow(&["--to"], &out);
}

#[test]
fn odd_tables_of_ceilings() {
    let place = Place::new();
    place.file("ert.json", r#"{"empirical": {"gbytes": {"data": [["L1", 100.0, 3], ["DRAM", 50.0]]}, "gflops": {"data": [["FP64 GFLOPs", 900.0]]}}}"#);
    let notes = |words: &[&str]| {
        let run = place.run(words);
        assert_eq!(run.get_output().status.code(), Some(0), "{}", text(&run.get_output().stderr));
        text(&run.get_output().stderr)
    };
    let said = notes(&["analyze", "ert.json"]);
    assert!(said.contains("`L1` of empirical.gbytes was left out: 3 values instead of a label and a rate"), "{said}");
    place.file("rocm.csv", "device,HBMBw,L2Bw\n0,1300,3500\ndevice,HBMBw,L2Bw\n1,1310,3510\n");
    let said = notes(&["analyze", "rocm.csv"]);
    assert!(said.contains("2 devices are in the file") && !said.contains("left out"), "{said}");
    place.file("vast.csv", "name,rate\nDRAM,1e30 B/s\n");
    place.refused(&["analyze", "vast.csv"], &["line 2", "1e30 B/s", "above 1e21"]);
    place.file("twice.csv", "name,rate,Rate\nDRAM,1 TB/s,2 TB/s\n");
    place.refused(&["analyze", "twice.csv"], &["two columns are called rate"]);
    place.file("gpu.csv", "name,rate,gpu\nDRAM,1 TB/s,nosuch9000\n");
    let said = notes(&["analyze", "gpu.csv", "--gpu", "a100-sxm4-80gb"]);
    assert!(said.contains("the file names `nosuch9000`, which is not in the catalog"), "{said}");
}
