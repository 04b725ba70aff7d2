//! Bad input, one refusal each: the message names the input, the value and the cure.

use super::place::{Place, SCENARIO, kernel};

#[test]
fn values_of_options() {
    let place = Place::new();
    let cases: [(&[&str], &[&str]); 27] = [
        (&["--dram-read", "3 KB"], &["--dram-read", "3 KB", "kB or KiB?"]),
        (&["--dram-read", "12"], &["--dram-read", "12", "unit is missing", "64 KiB"]),
        (&["--dram-read", "12 GB/s"], &["12 GB/s", "unknown unit", "GiB"]),
        (&["--dram-read=-3 kB"], &["-3 kB", "negative"]),
        (&["--dram-read", "1e999 B"], &["1e999 B", "too large"]),
        (&["--dram-read", "1e300 B"], &["traffic.dram.read", "at most 1e24"]),
        (&["--dram-read", "NaN B"], &["NaN B", "number"]),
        (&["--op", "vector.fp32=2 FLOPS"], &["2 FLOPS", "FLOP"]),
        (&["--op", "vector.fp32"], &["UNIT=AMOUNT"]),
        (&["--op", "cores=2 FLOP"], &["`cores` is not a unit", "tensor.bf16"]),
        (&["--op", "vector.fp32=1e300 FLOP"], &["work.operations.vector.fp32", "at most 1e24"]),
        (&["--regs", "0"], &["registers_per_thread = 0", "from 1"]),
        (&["--regs=-1"], &["-1", "--regs"]),
        (&["--dynamic-smem", "300 KiB"], &["307200 bytes", "at most 232448 bytes"]),
        (&["--dynamic-smem", "0.5 B"], &["dynamic_shared", "whole number of bytes"]),
        (&["--carveout", "101"], &["carveout = 101", "0 to 100"]),
        (&["--bank-conflict", "33"], &["bank_conflict = 33", "1 (no conflict) to 32"]),
        (&["--bytes-in-flight", "nan"], &["bytes_in_flight = NaN", "1 to 1e12"]),
        (&["--measured", "0 s"], &["--measured 0 s", "1 ns to"]),
        (&["--measured", "1e-300 s"], &["--measured", "1 ns to"]),
        (&["--measured", "5"], &["--measured", "12.5 us"]),
        (&["--format", "xml"], &["xml", "--format", "json"]),
        (&["--set", "nonsense"], &["nonsense", "KEY=VALUE", "sm.count=144"]),
        (&["--set", "sm.cuont=3"], &["sm.cuont", "near: sm.count"]),
        (&["--set", "sm.count=0"], &["sm.count = 0", "at least 1"]),
        (&["--set", "sm.count=99999999999"], &["sm.count=99999999999"]),
        (&["--set", "clocks.vector=1e300 GHz"], &["1e300 GHz", "too large"]),
    ];
    for (options, says) in cases {
        place.refused(&kernel(options), says);
    }
}

#[test]
fn grids_blocks_and_launches_that_cannot_run() {
    let place = Place::new();
    let cases: [(&[&str], &[&str]); 11] = [
        (&["--grid", "0", "--block", "32"], &["grid = 0", "at least 1"]),
        (&["--grid", "12", "--block", "0"], &["block = 0", "1 to 1024 threads"]),
        (&["--grid", "4294967296x4294967296", "--block", "32"], &["x is 4294967296", "at most 2147483647"]),
        (&["--grid", "2147483647x65535x65535", "--block", "32"], &["at most 2^62"]),
        (&["--grid", "12", "--block", "99999999999"], &["99999999999", "at most 1024"]),
        (&["--grid", "1x2x3x4", "--block", "32"], &["1x2x3x4", "128x32"]),
        (&["--grid", "one", "--block", "32"], &["`one` is not an extent"]),
        (&["--grid=-1", "--block", "32"], &["-1", "whole number"]),
        (&["--grid", "12", "--block", "1025"], &["1025", "1024 threads"]),
        (&["--grid", "12", "--block", "32x64"], &["2048", "1024"]),
        (&["--grid", "12", "--block", "512", "--regs", "162", "--gpu", "l4"], &["162 registers", "384 threads"]),
    ];
    for (options, says) in cases {
        place.refused(&[&["kernel"], options].concat(), says);
    }
    place.scenario("big.toml", "block = 256", "block = 1025");
    place.refused(&["analyze", "big.toml", "--out", "never"], &["copy", "1025 threads", "1024 threads"]);
    place.refused(&["occupancy", "--block", "0"], &["--block 0", "at least 1"]);
    place.refused(&["occupancy", "--block", "256", "--static-smem", "1 KB"], &["1 KB", "kB or KiB?"]);
    place.refused(&["occupancy", "--block", "99999999999"], &["99999999999"]);
    place.refused(&["occupancy", "--block", "32", "--cc", "99.0"], &["99.0", "known: 5.0"]);
    let cannot = place.out(&["occupancy", "--block", "1025"]);
    assert!(cannot.contains("The block cannot run"), "an answer, not an error: {cannot}");
}

#[test]
fn extremes_that_are_legal() {
    let place = Place::new();
    let cases: [&[&str]; 8] = [
        &["--grid", "1", "--block", "1"],
        &["--grid", "2147483647x512", "--block", "256", "--per", "thread", "--dram-read", "8 B"],
        &["--grid", "1024", "--block", "256"],
        &["--grid", "1024", "--block", "256", "--dram-read", "0 B", "--op", "vector.fp32=0 FLOP"],
        &["--grid", "9", "--block", "64", "--set", "sm.count=4294967295", "--op", "vector.fp32=1 TFLOP"],
        &["--grid", "9", "--block", "64", "--set", "clocks.vector=1e30 GHz", "--op", "vector.fp32=1 TFLOP"],
        &["--grid", "9", "--block", "64", "--set", "memory.dram.bandwidth=1 B/s", "--dram-read", "1e20 B"],
        &["--grid", "9", "--block", "64", "--op", "vector.fp32=1e24 FLOP", "--dram-read", "1e24 B"],
    ];
    for (index, options) in cases.iter().enumerate() {
        let folder = format!("o{index}");
        let text = place.out(&[&["kernel"], *options, &["--out", &folder]].concat());
        let chart = String::from_utf8(place.read(format!("{folder}/time.svg"))).unwrap();
        for said in [&text, &chart] {
            assert!(!said.contains("NaN") && !said.contains(" inf"), "{options:?}: {said}");
        }
    }
}

#[test]
fn files_that_are_not_what_they_should_be() {
    let place = Place::new();
    place.file("empty.toml", "");
    place.file("empty.csv", "");
    place.file("binary.csv", b"a,b\0\x01\x02");
    place.file("latin.toml", b"title = \"caf\xe9\"");
    place.file("report.ncu-rep", b"NVR\0\x01\x02\x03\x04");
    place.file("prose.csv", "once upon a time\n");
    place.file("noting.csv", "==PROF== Connected\n==WARNING== No kernels were profiled.\n");
    place.file("syntax.toml", SCENARIO.replace("\"one kernel\"", "\"one kernel"));
    std::fs::create_dir(place.0.path().join("folder")).unwrap();
    let cases: Vec<(&str, &[&str])> = vec![
        ("empty.toml", &["empty.toml", "missing field"]),
        ("empty.csv", &["empty.csv", "empty", "ncu --csv"]),
        ("binary.csv", &["binary.csv", "binary file"]),
        ("latin.toml", &["latin.toml", "is not UTF-8 text"]),
        ("report.ncu-rep", &["report.ncu-rep", "binary Nsight Compute report", "ncu --import"]),
        ("prose.csv", &["prose.csv", "\"Kernel Name\"", "once upon a time"]),
        ("noting.csv", &["noting.csv", "No kernels were profiled"]),
        ("syntax.toml", &["syntax.toml", "line 2", "^"]),
        ("folder", &["`folder` is a folder"]),
        #[cfg(unix)]
        ("/dev/zero", &["`/dev/zero` is a device"]),
        ("missing.toml", &["missing.toml", "cannot be read"]),
        ("dmeo", &["dmeo", "built-in scenario", "demo"]),
    ];
    for (file, says) in cases {
        place.refused(&["analyze", file], says);
        place.refused(&["chart", "roofline", file, "-o", "never.svg"], says);
        place.refused(&["compare", file], says);
    }
    for (file, says) in [("latin.toml", "UTF-8"), ("folder.toml", "folder.toml"), ("syntax.toml", "line 2")] {
        place.refused(&kernel(&["--gpu", file]), &[file, says]);
    }
    place.refused(&["gpus", "limits", "8.6", "gfx9999"], &["gfx9999", "gfx942"]);
    place.refused(&["gpus", "limits", "many"], &["`many`", "9.0"]);
    place.refused(&kernel(&["--gpu-dir", "nowhere"]), &["--gpu-dir", "nowhere"]);
    let piped = place.command(&["analyze", "-"]).write_stdin(SCENARIO).assert().code(0);
    assert!(!piped.get_output().stdout.is_empty());
}

#[test]
fn values_in_a_scenario() {
    let place = Place::new();
    let cases: [(&str, &str, &[&str]); 14] = [
        ("8 B", "8 KB", &["line 14", "8 KB", "kB or KiB?", "^"]),
        ("8 B", "-8 B", &["line 14", "negative"]),
        ("8 B", "1e999 B", &["line 14", "too large"]),
        ("\"8 B\"", "8", &["line 14", "unit"]),
        ("grid = 1000", "gird = 1000", &["line 6", "gird", "did you mean `grid`?"]),
        ("grid = 1000", "grid = 0", &["line 6", "grid = 0", "at least 1"]),
        ("grid = 1000", "grid = -5", &["line 6", "-5", "negative"]),
        ("grid = 1000", "grid = [1, 2, 3, 4]", &["line 6", "four numbers"]),
        ("grid = 1000", "grid = 99999999999999999999999", &["line 6", "99999999999999999999999"]),
        ("block = 256", "block = \"256\"", &["line 7", "256", "whole number"]),
        ("registers_per_thread = 32", "registers_per_thread = nan", &["line 8", "whole number"]),
        ("vector.fp32", "vector.fp33", &["line 11", "vector.fp33"]),
        ("schema = 1", "schema = 2", &["line 1", "schema = 2", "reads schema 1"]),
        ("h100-sxm5-80gb", "GB900", &["line 3", "GB900", "gpus list"]),
    ];
    for (from, to, says) in cases {
        place.scenario("bad.toml", from, to);
        place.refused(&["analyze", "bad.toml", "--out", "never", "--output", "never.txt"], &[&["bad"], says].concat());
    }
    let vary = "[[vary]]\nkernel = \"copy\"\nkey = \"grid\"\nrange = { from = 1, to = 1000000, step = 1 }\n";
    place.file("bad.toml", SCENARIO.to_owned() + vary);
    place.refused(&["analyze", "bad.toml"], &["1000000 values", "more than 100000", "larger step"]);
}

#[test]
fn gpus_that_nobody_knows() {
    let place = Place::new();
    place.refused(&kernel(&["--gpu", "h10"]), &["`h10`", "did you mean", "h100-sxm5-80gb", "gpus list"]);
    place.refused(&kernel(&["--gpu", "GB900"]), &["`GB900`", "gpus list", "--gpu FILE.toml"]);
    place.refused(&["gpus", "show", "rtx-9999"], &["rtx-9999", "gpus list"]);
    place.refused(&["occupancy", "--block", "32", "--gpu", "l4", "--gpu", "a30"], &["2 times", "takes one"]);
    place.refused(&["analyze", "p.csv", "--gpu", "l4", "--gpu", "a30"], &["2 times", "takes one"]);
    place.refused(&["analyze", "p.csv", "--set", "sm.count=3"], &["--set needs --gpu"]);
}

#[test]
fn places_that_cannot_be_written() {
    let place = Place::new();
    place.file("FILE", "");
    let analyze = ["analyze", "s.toml"];
    for (options, says) in [
        (["--out", "FILE/x"], "FILE/x"),
        (["--output", "FILE/x"], "`FILE` is a file, not a folder"),
        (["--output", "nowhere/x"], "`nowhere` does not exist"),
        (["--output", "."], "it is a folder"),
    ] {
        place.refused(&[&analyze[..], &options].concat(), &[says]);
    }
    place.refused(&["demo", "--out", "FILE/x"], &["FILE/x"]);
    place.refused(&["chart", "tail", "s.toml", "-o", "nowhere/c.svg"], &["nowhere"]);
    place.refused(&["chart", "tail", "s.toml", "-o", "c.jpg"], &["c.jpg", ".svg, .csv, .png"]);
    place.refused(&["chart", "tail", "s.toml", "-o", "c"], &["`c`", ".svg"]);
    place.refused(&["chart", "tail", "s.toml", "--kernel", "z"], &["no kernel `z`", "copy"]);
    place.refused(&["chart", "tail", "p.csv"], &["needs a scenario"]);
    place.refused(&["chart", "pie", "s.toml"], &["pie", "roofline"]);
    place.refused(&["compare", "s.toml", "p.csv"], &["two profiles"]);
    place.refused(&["compare", "p.csv"], &["before and after"]);
}
