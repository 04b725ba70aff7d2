//! The program as its user meets it: every command in every format, files and exit codes.

use std::fs;

use super::place::{BATCH, PROFILE, Place, SCENARIO, kernel, narrow, table, text};

#[test]
fn every_command_in_every_format() {
    let place = Place::new();
    place.file("p2.csv", PROFILE);
    let commands: [&[&str]; 13] = [
        &["analyze", "s.toml"],
        &["analyze", "p.csv"],
        &["analyze", "s.toml", "p.csv", "demo"],
        &["analyze", "demo", "--full", "--quiet"],
        &["kernel", "--grid", "1000", "--block", "256", "--op", "vector.fp32=1 GFLOP", "--dram-read", "64 MiB"],
        &["kernel", "--grid", "64x2", "--block", "16x16", "--gpu", "l4", "--gpu", "a30"],
        &["compare", "s.toml", "--gpu", "l4", "--gpu", "a30"],
        &["compare", "p.csv", "p2.csv"],
        &["kernel", "--grid", "64", "--block", "256", "--op", "tensor.bf16=1 GFLOP", "--measured", "1 ns"],
        &["gpus", "list"],
        &["gpus", "limits"],
        &["gpus", "check"],
        &["occupancy", "--block", "256", "--regs", "40", "--gpu", "l4"],
    ];
    for command in commands {
        let format = |name| place.out(&[command, &["--format", name]].concat());
        // The reasons of named deviations are sentences; all else fits a terminal.
        narrow(command, &format("text"));
        let value: serde_json::Value = serde_json::from_str(&format("json")).expect("JSON");
        if let Some(schema) = value.get("schema") {
            assert!(schema.as_str().unwrap().starts_with("wavecast."), "{command:?}");
            assert!(value["version"].is_string(), "{command:?}");
        } else {
            assert!(value.as_array().is_some_and(|rows| !rows.is_empty()), "{command:?}");
        }
        let rows = table(&format("csv"));
        if matches!(command[0], "analyze" | "kernel") {
            assert_eq!(value["schema"], "wavecast.report/1");
            assert_eq!(value["kernels"].as_array().unwrap().len(), rows.len() - 1, "{command:?}");
            assert_eq!(rows[0].last().unwrap(), "error");
        }
        let markdown = format("markdown");
        assert!(markdown.lines().any(|l| l.starts_with('|') && l.contains("--")), "{command:?}: {markdown}");
    }
}

#[test]
fn output_is_written_whole_and_equals_standard_output() {
    let place = Place::new();
    for command in [&["analyze", "s.toml"][..], &["gpus", "list"], &["gpus", "show", "l4"], &["compare", "s.toml"]] {
        let printed = place.out(command);
        place.file("out.txt", "something old");
        assert_eq!(place.out(&[command, &["--output", "out.txt"]].concat()), "", "{command:?}");
        assert_eq!(text(&place.read("out.txt")), printed, "{command:?}");
    }
    assert!(place.names(".").iter().all(|name| !name.starts_with(".wavecast")), "a temporary file is left");
}

#[test]
fn a_folder_has_report_charts_and_their_data() {
    let place = Place::new();
    place.out(&["analyze", "s.toml", "--out", "a/b"]);
    let mut wanted = vec!["report.csv", "report.html", "report.json", "report.md"];
    for name in ["occupancy-copy", "roofline", "tail-copy", "time"] {
        wanted.extend(["csv", "png", "svg"].map(|ending| &*format!("{name}.{ending}").leak()));
    }
    wanted.sort_unstable();
    assert_eq!(place.names("a/b"), wanted);
    assert_eq!(text(&place.read("a/b/report.csv")), place.out(&["analyze", "s.toml", "--format", "csv"]));
    assert_eq!(text(&place.read("a/b/report.json")), place.out(&["analyze", "s.toml", "--format", "json"]));
    table(&text(&place.read("a/b/roofline.csv")));
    // The same bytes again, and the demo beside it.
    place.out(&["analyze", "s.toml", "--out", "again"]);
    for name in wanted.iter().filter(|name| !name.ends_with("png")) {
        assert!(place.read(format!("a/b/{name}")) == place.read(format!("again/{name}")), "{name} differs");
    }
    place.out(&["demo"]);
    assert!(place.names("wavecast-out").contains(&"roofline.svg".to_owned()));
}

#[test]
fn charts_by_ending_and_on_standard_output() {
    let place = Place::new();
    for kind in ["roofline", "tail", "occupancy", "time"] {
        let svg = place.out(&["chart", kind, "s.toml"]);
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{kind}");
        for ending in ["svg", "csv", "png"] {
            place.out(&["chart", kind, "s.toml", "-o", &format!("c.{ending}")]);
        }
        assert_eq!(text(&place.read("c.svg")), svg);
        assert!(place.read("c.png").starts_with(b"\x89PNG"));
        table(&text(&place.read("c.csv")));
        assert_eq!(text(&place.read("c.csv")), place.out(&["chart", kind, "s.toml", "--data"]));
        assert_ne!(place.out(&["chart", kind, "s.toml", "--theme", "dark"]), svg);
    }
}

#[test]
fn names_that_a_terminal_or_a_file_cannot_take() {
    let place = Place::new();
    let name = "evil\n\u{1b}[31mred\u{202e} | <b>&\u{7}";
    let work = ["--op", "vector.fp32=1 GFLOP", "--dram-read", "1 MB", "--name"];
    for format in ["text", "markdown", "html"] {
        let out = place.out(&kernel(&[&work[..], &[name, "--format", format]].concat()));
        assert!(!out.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{out}");
    }
    place.out(&kernel(&[&work[..], &[name, "--out", "o"]].concat()));
    assert!(place.names("o").contains(&"tail-evil-31mred-b.svg".to_owned()), "{:?}", place.names("o"));
    assert!(!text(&place.read("o/roofline.svg")).contains('\u{1b}'));
    let long = "x".repeat(5000);
    narrow(&["long"], &place.out(&kernel(&[&work[..], &[&long]].concat())));
    narrow(&["wide"], &place.out(&kernel(&[&work[..], &["カーネル😀", "--out", "u"]].concat())));
    assert!(place.names("u").contains(&"tail-kernel.svg".to_owned()));
    // Two kernels whose names differ in nothing that a file name can show.
    let second = SCENARIO.split_once("[[kernel]]").unwrap().1.replace("copy", "co\u{e9}py");
    place.file("two.toml", format!("{}[[kernel]]{second}", SCENARIO.replace("copy", "co-py")));
    place.out(&["analyze", "two.toml", "--out", "two"]);
    let names = place.names("two");
    assert!(names.contains(&"tail-co-py.svg".into()) && names.contains(&"tail-co-py-2.svg".into()), "{names:?}");
    place.refused(&kernel(&["--name", " "]), &["--name", "give the kernel a name"]);
}

#[test]
fn gpu_files_of_ones_own() {
    let place = Place::new();
    place.out(&["gpus", "show", "l4", "--output", "mine.toml"]);
    assert_eq!(text(&place.read("mine.toml")), place.out(&["gpus", "show", "l4"]));
    let times = |more: &[&str]| {
        let rows = table(&place.out(&[&["analyze", "s.toml", "--format", "csv"], more].concat()));
        let column = |name: &str| rows[0].iter().position(|c| c == name).unwrap();
        (rows[1][column("gpu")].clone(), rows[1][column("time_us")].clone())
    };
    let built_in = times(&["--gpu", "l4"]);
    assert_eq!(times(&["--gpu", "mine.toml"]), ("mine".into(), built_in.1.clone()));
    fs::create_dir(place.0.path().join("gpus")).unwrap();
    fs::rename(place.0.path().join("mine.toml"), place.0.path().join("gpus/mine-too.toml")).unwrap();
    let found = place.run(&["analyze", "s.toml", "--gpu-dir", "gpus", "--gpu", "mine-too", "--format", "csv"]);
    let message = text(&found.get_output().stderr);
    assert_eq!(found.get_output().status.code(), Some(0), "{message}");
    // A what-if changes the answer and says so.
    let faster = place.out(&["analyze", "s.toml", "--gpu", "l4", "--set", "memory.dram.bandwidth=3 TB/s"]);
    assert!(faster.contains("memory.dram.bandwidth = 3 TB/s (was 300 GB/s)"), "{faster}");
}

#[test]
fn gpus_check_exit_codes() {
    let place = Place::new();
    let shown = place.out(&["gpus", "show", "l4"]);
    place.file("good.toml", &shown);
    place.run(&["gpus", "check", "good.toml"]).code(0);
    let bad: Vec<String> = shown
        .lines()
        .map(|l| if l.starts_with("vector = ") { "vector = \"1.00 GHz\"".into() } else { l.to_owned() })
        .collect();
    assert_ne!(bad.join("\n"), shown.trim_end(), "the fixture changes the clock");
    place.file("bad.toml", bad.join("\n"));
    let run = place.run(&["gpus", "check", "bad.toml"]).code(1);
    assert!(text(&run.get_output().stdout).contains("2 % apart"), "{}", text(&run.get_output().stdout));
    place.file("key.toml", shown.replacen("name", "nmae", 1));
    place.refused(&["gpus", "check", "key.toml"], &["key.toml", "nmae", "unknown field"]);
    place.file("empty.toml", "");
    place.refused(&["gpus", "check", "empty.toml"], &["empty.toml", "missing"]);
}

#[test]
fn occupancy_tables() {
    let place = Place::new();
    let out = place.out(&["occupancy", "--batch", "batch.csv"]);
    assert_eq!(
        place.command(&["occupancy", "--batch", "-"]).write_stdin(BATCH).assert().code(0).get_output().stdout,
        out.as_bytes()
    );
    place.run(&["occupancy", "--batch", "batch.csv", "--output", "o.csv"]).code(0).stdout("");
    assert_eq!(text(&place.read("o.csv")), out);
    let rows = table(&out);
    assert_eq!((rows[1][5].as_str(), rows[2][5].as_str(), rows[2][6].as_str()), ("8", "0", "warps"));
    let bad = format!("{BATCH}9.0,0,32,0,0\n77,256,32,0,0\n9.0,-3,32,0,0\n9.0,NaN,32,0,0\n9.0,256\n9.0,256,32,0,0\n");
    let run = place.command(&["occupancy", "--batch", "-"]).write_stdin(bad).assert().code(1);
    let rows = table(&text(&run.get_output().stdout));
    let errors: Vec<bool> = rows[1..].iter().map(|row| !row.last().unwrap().is_empty()).collect();
    assert_eq!(errors, [false, false, true, true, true, true, true, false]);
    for (name, bytes, says) in [
        ("empty.csv", &b""[..], "compute_capability"),
        ("other.csv", b"a,b\n1,2\n", "compute_capability"),
        ("binary.csv", b"\0\x01\xff\xfe", "binary file"),
    ] {
        place.file(name, bytes);
        place.refused(&["occupancy", "--batch", name, "--output", "never.csv"], &[says]);
    }
    place.refused(&["occupancy", "--batch", "missing.csv"], &["missing.csv", "cannot be read"]);
}

#[test]
fn checks_for_continuous_integration() {
    let place = Place::new();
    let check = |expression| place.run(&["analyze", "s.toml", "--fail-if", expression]);
    check("time > 1000000").code(0);
    let run = check("time < 1000000").code(1);
    assert!(text(&run.get_output().stderr).contains("check failed: copy: time_us"));
    check("percent_of_roof < 100%").code(1);
    // What no kernel has was not checked.
    let run = check("measured < 1").code(1);
    assert!(text(&run.get_output().stderr).contains("no kernel has measured_us"));
    for (expression, says) in [
        ("nonsense", "FIELD OPERATOR NUMBER"),
        ("tail_coast > 20", "tail_cost"),
        ("zzz > 20", "no field `zzz`"),
        ("time < much", "FIELD OPERATOR NUMBER"),
        ("time < nan", "FIELD OPERATOR NUMBER"),
        ("bound < 3", "`bound` is no number"),
        ("", "FIELD OPERATOR NUMBER"),
    ] {
        place.refused(&["analyze", "s.toml", "--out", "never", "--fail-if", expression], &["--fail-if", says]);
    }
}

#[test]
fn one_bad_file_does_not_stop_the_others() {
    let place = Place::new();
    place.file("bad.toml", "schema = ");
    let run = place.run(&["analyze", "bad.toml", "s.toml", "missing.csv", "--format", "csv"]).code(1);
    let rows = table(&text(&run.get_output().stdout));
    let errors: Vec<&str> =
        rows[1..].iter().map(|row| row.last().unwrap().as_str()).filter(|e| !e.is_empty()).collect();
    assert_eq!((rows.len(), errors.len()), (4, 2), "{rows:?}");
    assert!(errors.iter().any(|e| e.contains("bad.toml")) && errors.iter().any(|e| e.contains("missing.csv")));
    place.refused(&["analyze", "bad.toml", "missing.csv"], &["no file could be used", "bad.toml", "missing.csv"]);
    // The same within a scenario: one launch cannot run on one of two GPUs.
    place.scenario("some.toml", "registers_per_thread = 32", "registers_per_thread = 32\ndynamic_shared = \"120 KiB\"");
    let run = place.run(&["analyze", "some.toml", "--gpu", "l4", "--gpu", "h100-sxm5-80gb"]).code(1);
    assert!(text(&run.get_output().stdout).contains("101376"), "the largest legal value");
    place.run(&["compare", "some.toml", "--gpu", "l4", "--gpu", "h100-sxm5-80gb"]).code(1);
    place.refused(&["compare", "some.toml", "--gpu", "l4"], &["101376"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::{Command, Stdio};
    let place = Place::new();
    let many =
        SCENARIO.to_owned() + "[[vary]]\nkernel = \"copy\"\nkey = \"grid\"\nrange = { from = 1, to = 600, step = 1 }\n";
    place.file("many.toml", many);
    for words in [&["analyze", "many.toml", "--format", "csv", "--quiet"][..], &["gpus", "show", "l4"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_wavecast"))
            .current_dir(&place.0)
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let done = child.wait_with_output().unwrap();
        assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()), "{words:?}");
    }
}

#[test]
fn very_many_launches_still_make_charts() {
    let place = Place::new();
    place.file(
        "many.toml",
        SCENARIO.to_owned()
            + "[[vary]]\nkernel = \"copy\"\nkey = \"grid\"\nrange = { from = 1, to = 2500, step = 1 }\n",
    );
    let run = place.run(&["analyze", "many.toml", "--out", "o", "--format", "csv"]).code(0);
    assert_eq!(table(&text(&run.get_output().stdout)).len(), 2501);
    assert!(text(&run.get_output().stderr).contains("first 2000 of 2500"), "{}", text(&run.get_output().stderr));
    assert!(place.names("o").contains(&"time.png".to_owned()));
}
