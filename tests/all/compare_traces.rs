//! `compare` of two traces, of one tool or of two, and of profiles whose launches differ in their grids.

use std::collections::BTreeMap;

use super::place::{Place, narrow, table, text};

/// 216 blocks of `gemm`, `add` with two grids, a templated kernel, one that disappears.
const BEFORE: &str = include_str!("../data/kineto/before.json");

/// `add` of 512 blocks is now of 256, and so long that it comes first; `gemm` takes fewer registers and twice the launches.
const AFTER: &str = include_str!("../data/kineto/after.json");

fn traced() -> Place {
    let place = Place::new();
    place.file("before.json", BEFORE);
    place.file("after.json", AFTER);
    place
}

fn rows(place: &Place, words: &[&str]) -> BTreeMap<String, BTreeMap<String, String>> {
    let all = table(&place.out(&[words, &["--format", "csv", "--quiet"]].concat()));
    let row = |row: &Vec<String>| (row[0].clone(), all[0].iter().cloned().zip(row.iter().cloned()).collect());
    all[1..].iter().map(row).collect()
}

fn cells(row: &BTreeMap<String, String>, names: &[&str]) -> String {
    names.iter().map(|name| row[*name].as_str()).collect::<Vec<_>>().join(" ")
}

const FILES: [&str; 3] = ["compare", "before.json", "after.json"];

#[test]
fn groups_meet_by_name_and_grid() {
    let place = traced();
    let found = rows(&place, &FILES);
    let names: Vec<&String> = found.keys().collect();
    assert_eq!(names, ["add (grid 512)", "add (grid 64)", "gemm", "gone", "new", "soft"]);
    let both = ["before_us", "after_us", "before_launches", "after_launches", "before_mean_us", "after_mean_us"];
    assert_eq!(cells(&found["add (grid 512)"], &both), "50 70 2 1 25 70");
    assert_eq!(cells(&found["add (grid 64)"], &both), "5 4 1 1 5 4");
    assert_eq!(cells(&found["gemm"], &both), "50 40 1 2 50 20");
    assert_eq!(cells(&found["gemm"], &["change_pct", "mean_change_pct", "before_share_pct"]), "-20 -60 41.67");
    let note = |name: &str| found[name]["note"].as_str();
    assert_eq!((note("add (grid 512)"), note("add (grid 64)"), note("gemm")), ("grid 512 -> 256", "", ""));
    assert_eq!((note("soft"), note("gone"), note("new")), ("name changed", "only before", "only after"));
    // 128 registers hold 2 blocks of 8 warps, 64 registers 4 of them.
    let resources = ["before_registers", "after_registers", "before_occupancy_pct", "after_occupancy_pct"];
    assert_eq!(cells(&found["gemm"], &resources), "128 64 25 50");
    let blocks = ["before_grid_blocks", "after_grid_blocks", "before_threads_per_block", "after_threads_per_block"];
    assert_eq!(cells(&found["add (grid 512)"], &blocks), "512 256 128 256");
}

#[test]
fn totals_span_and_gaps_before_and_after() {
    let place = traced();
    let out = place.out(&FILES);
    narrow(&FILES, &out);
    // Kernels 120 and 124 us; from 0 to 130 and to 132 us; 10 us without a kernel before, 6 and 2 after.
    let line = |start: &str| -> Vec<String> {
        let line = out.lines().find(|l| l.starts_with(start)).unwrap_or_else(|| panic!("{start}: {out}"));
        line[start.len()..].split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(line("all 6"), ["120", "124", "+4", "+3.3"]);
    assert_eq!(line("span"), ["130", "132", "+2", "+1.5"]);
    assert_eq!(line("launch gaps"), ["10", "8", "-2", "-20"]);
    assert_eq!(line("gemm"), ["1", "->", "2", "50", "40", "-10", "-20", "41.7"]);
    assert!(out.contains("50 -> 20") && out.contains("25 -> 50"), "{out}");
    // The largest change of total time comes first.
    assert!(out.lines().nth(3).unwrap().starts_with("add (grid 512)"), "{out}");
    for (check, code) in [
        ("total_change_pct > 5", 0),
        ("total_change_pct > 3", 1),
        ("span_change_us > 1", 1),
        ("gaps_change_pct < -19", 1),
        ("mean_change_pct > 200", 0),
        ("after_launches > 2", 0),
    ] {
        place.run(&[&FILES[..], &["--fail-if", check]].concat()).code(code);
    }
}

#[test]
fn other_forms_name_the_tools() {
    let place = traced();
    let markdown = place.out(&[&FILES[..], &["--format", "markdown"]].concat());
    assert!(markdown.contains("Measured by PyTorch's profiler, compared") && markdown.contains("| Launches |"));
    assert!(markdown.contains("**launch gaps**"), "{markdown}");
    let svg = place.out(&["chart", "compare", "before.json", "after.json"]);
    assert!(svg.contains("measured by PyTorch") && svg.contains("span: 130 us"), "{svg}");
    place.out(&[&FILES[..], &["--out", "folder", "--quiet"]].concat());
    let html = text(&place.read("folder/report.html"));
    assert!(html.contains("Two traces") && html.contains("Span us"), "{html}");
    let json: serde_json::Value = serde_json::from_slice(&place.read("folder/report.json")).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 6);
}

#[test]
fn another_gpu_and_another_tool_are_named() {
    let place = traced();
    let notes = |after: &str| text(&place.run(&["compare", "before.json", after]).code(0).get_output().stderr);
    assert_eq!(notes("after.json"), "");
    place.file("h100.json", AFTER.replace("A100-SXM4-80GB", "H100 80GB HBM3"));
    assert!(notes("h100.json").contains("after on NVIDIA H100 80GB HBM3"), "{}", notes("h100.json"));
    place.file(
        "nsys.csv",
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n\
         0,45000,1,216,1,1,256,1,1,128,0.000,0.000,,,,,NVIDIA A100-SXM4-80GB (0),1,7,gemm\n",
    );
    let said = notes("nsys.csv");
    assert!(said.contains("before was measured by PyTorch's profiler, after by Nsight Systems"), "{said}");
    let found = rows(&place, &["compare", "before.json", "nsys.csv"]);
    assert_eq!(cells(&found["gemm"], &["before_us", "after_us", "note"]), "50 45 ");
    // Clocks are fixed under Nsight Compute: its durations are of another run.
    place.refused(&["compare", "before.json", "p.csv"], &["Nsight Compute", "clocks fixed", "two traces"]);
    place.refused(&["compare", "before.json"], &["before and after"]);
    place.refused(&["compare", "before.json", "s.toml"], &["not a mixture"]);
    place.refused(&["compare", "before.json", "after.json", "--gpu", "l4"], &["--gpu is for a scenario"]);
}

/// Two launches of one kernel in another order: each meets the one of its grid.
#[test]
fn launches_of_a_profile_meet_those_of_their_grid() {
    let place = Place::new();
    let page = |launches: [(u64, u64); 2]| {
        let row = |(id, (grid, ns)): (usize, (u64, u64))| format!("\"{id}\",\"k(int)\",\"{grid}\",\"{ns}\"\n");
        let head = "\"ID\",\"Kernel Name\",\"launch__grid_size\",\"gpu__time_duration.sum\"\n\"\",\"\",\"\",\"ns\"\n";
        head.to_owned() + &launches.into_iter().enumerate().map(row).collect::<String>()
    };
    place.file("old.csv", page([(512, 9000), (64, 2000)]));
    place.file("new.csv", page([(64, 1000), (512, 8000)]));
    let found = rows(&place, &["compare", "old.csv", "new.csv"]);
    let times = ["before_us", "after_us", "before_launches"];
    assert_eq!(cells(&found["k (grid 512)"], &times), "9 8 ");
    assert_eq!(cells(&found["k (grid 64)"], &times), "2 1 ");
}
