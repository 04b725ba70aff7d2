//! Sweeps beside each other in time and place: killed ones, two in one folder, pipes among the files.

#![cfg(unix)]

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::place::{Place, text};

const SWEEP: [&str; 11] =
    ["sweep", "--op", "gemm", "--fix", "n=64", "--fix", "k=64", "--fix", "dtype=bf16", "--gpu", "l40s"];

fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SWEEP[..], more].concat()
}

/// A run that takes much longer than the test, stopped with it.
struct Long(Child);

impl Long {
    fn new(place: &Place, more: &[&str]) -> Self {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("wavecast"));
        command.current_dir(&place.0).args(words(&["--axis", "m=1:2000000000", "--jobs", "1"])).args(more);
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Long {
    fn drop(&mut self) {
        // It may have ended, which is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until(what: impl Fn() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(60), "the run wrote nothing");
        thread::sleep(Duration::from_millis(5));
    }
}

fn temporary(place: &Place) -> Vec<String> {
    place.names(".").into_iter().filter(|name| name.starts_with(".wavecast-x.csv-")).collect()
}

#[test]
fn what_a_killed_run_left_is_removed_and_nothing_else() {
    let place = Place::new();
    let small = words(&["--axis", "m=1,2", "--output", "x.csv"]);
    let others =
        [".wavecast-y.csv-a1B2c3", ".wavecast-x.csv-a1B2c34", ".wavecast-x.csv-old-a1B2c3", ".wavecast-a1B2c3"];
    for name in others {
        place.file(name, "of somebody else");
    }
    let there = || others.iter().all(|name| place.0.path().join(name).is_file());
    let long = Long::new(&place, &["--output", "x.csv"]);
    until(|| !temporary(&place).is_empty() && temporary(&place).len() == 3);
    // What is being written stays.
    place.run(&small).success();
    assert!(temporary(&place).len() == 3 && there(), "{:?}", temporary(&place));
    long.kill();
    assert_eq!(temporary(&place).len(), 3);
    place.run(&small).success();
    assert!(temporary(&place).len() == 2 && there(), "{:?}", temporary(&place));
    // The longest name that a file system takes.
    let longest = format!("{}.csv", "ä".repeat(125));
    place.run(&words(&["--axis", "m=1,2", "--output", &longest])).success();
    assert_eq!(place.read(&longest), place.read("x.csv"));
}

#[test]
fn two_runs_in_one_folder_know_of_each_other() {
    let place = Place::new();
    let parts = ["--parts", "csv", "--out", "rows"];
    let long = Long::new(&place, &[&parts[..], &["--part-rows", "10000"]].concat());
    let manifest = place.0.path().join("rows/shard-1-of-1.json");
    until(|| fs::read_dir(place.0.path().join("rows")).is_ok_and(|found| found.count() > 1));
    let again = [&["--axis", "m=1:2000000000", "--part-rows", "10000"], &parts[..], &["--resume"]].concat();
    let told =
        ["another run is writing the shard of `rows/shard-1-of-1.json`", "wait for it or stop it", "m=1:2000000000"];
    place.refused(&words(&again), &told);
    long.kill();
    assert!(manifest.is_file());

    // Another sweep, and the same in other shards, name the manifest that is there.
    let half = |axis, shard| {
        words(&[&["--axis", axis, "--shard", shard, "--parts", "csv"], &["--out", "halves"][..]].concat())
    };
    place.run(&half("m=1:50", "1/2")).success();
    let cure = "name another folder by --out";
    place.refused(&half("m=1:60", "2/2"), &["`halves/shard-1-of-2.json` is of another run", "m=1:50", "m=1:60", cure]);
    place.refused(&half("m=1:50", "1/4"), &["`halves/shard-1-of-2.json`", "shards is 2 there and 4 here", cure]);
    place.run(&half("m=1:50", "2/2")).success();
    let both = place.out(&["merge", "halves", "--output", "all.csv"]);
    assert_eq!(both, "");
    assert_eq!(text(&place.read("all.csv")).lines().count(), 51);
}

#[test]
fn a_pipe_in_a_folder_holds_nothing_up() {
    let place = Place::new();
    let pipe = |name: &str| {
        fs::create_dir_all(place.0.path().join(Path::new(name).parent().unwrap())).unwrap();
        assert!(Command::new("mkfifo").arg(place.0.path().join(name)).status().unwrap().success());
    };
    pipe("gpus/mine.toml");
    place.refused(&["gpus", "list", "--gpu-dir", "gpus"], &["`gpus/mine.toml` is a pipe", "move it out"]);
    pipe("rows/shard-1-of-1.json");
    place.refused(&["merge", "rows", "--output", "all.csv"], &["`rows/shard-1-of-1.json` is a pipe", "move it out"]);
    let out = ["--axis", "m=1,2", "--out", "rows", "--resume"];
    place.refused(&words(&out), &["`rows/shard-1-of-1.json` is a pipe", "move it out"]);
    // One that is named is read: a shell makes it for `sweep <(...)`.
    pipe("named/sweep.toml");
    let sweep =
        "schema = 1\ntitle = \"\"\nop = \"gemm\"\n[fixed]\nm = 64\nn = 64\nk = 64\ndtype = \"bf16\"\ngpu = \"l40s\"\n";
    let path = place.0.path().join("named/sweep.toml");
    let writer = thread::spawn(move || fs::write(path, sweep).unwrap());
    assert!(place.out(&["sweep", "named/sweep.toml"]).starts_with("gemm: 1 point\n"));
    writer.join().unwrap();
}

#[test]
fn answers_do_not_move_the_cursor() {
    let place = Place::new();
    let of =
        |more: &[&'static str]| [&["sweep", "--op", "gemm", "--fix", "dtype=bf16", "--fix", "n=64"], more].concat();
    let odd = "m=64,1\u{1b}[31m2";
    let asked: [&[&str]; 3] = [
        &["--axis", "k=64,128", "--axis", odd, "--first", "bound = memory", "--along", "k"],
        &["--fix", "k=64", "--axis", odd, "--best", "time", "--by", "m"],
        &["--fix", "k=64", "--axis", odd],
    ];
    for more in asked {
        let said = place.out(&[&of(more)[..], &["--gpu", "l40s"]].concat());
        assert!(said.contains("1 [31m2") && !said.contains('\u{1b}'), "{said:?}");
    }
}

#[test]
fn a_name_with_a_comma_stands_in_quotes() {
    let place = Place::new();
    place.file("my,gpu.toml", include_bytes!("../../gpus/nvidia/l40s.toml"));
    let of = |more: &[&'static str]| {
        [&["sweep", "--op", "gemm", "--fix", "dtype=bf16", "--fix", "n=64", "--fix", "k=64"], more].concat()
    };
    let asked: [&[&str]; 2] = [
        &["--fix", "m=64", "--axis", "gpu=\"my,gpu.toml\",l4", "--format", "csv"],
        &["--fix", "m=64", "--gpu", "my,gpu.toml", "--gpu", "l4", "--format", "csv"],
    ];
    for more in asked {
        let csv = place.out(&of(more));
        let rows: Vec<&str> = csv.lines().skip(1).collect();
        assert!(rows.len() == 2 && rows[0].starts_with("0,\"my,gpu.toml\",") && rows[1].starts_with("1,l4,"), "{csv}");
    }
    let one = place.out(&of(&["--fix", "m=64", "--gpu", "my,gpu.toml"]));
    assert!(one.contains("gpu = my,gpu.toml"), "{one}");
    place.refused(&of(&["--axis", "m=\"64,128", "--gpu", "l4"]), &["a quote is not closed"]);
}

#[test]
fn tables_break_lines_at_spaces() {
    let place = Place::new();
    let wide = [
        "sweep",
        "--op",
        "attention",
        "--fix",
        "dtype=bf16",
        "--fix",
        "phase=decode",
        "--fix",
        "head_dim=128",
        "--fix",
        "seq_q=1",
        "--axis",
        "heads_q=32,64",
        "--axis",
        "heads_kv=8,16",
        "--axis",
        "batch=1,2",
        "--axis",
        "seq_kv=1024,32768",
        "--axis",
        "gpu=h100-sxm5-80gb,a100-sxm4-80gb",
    ];
    let said = place.out(&wide);
    for word in ["h100-sxm5-80gb", "latency", "64x128", "heads_", "0.4848"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(said.contains("no room for tflop_per_s, percent_of_roof: they are in --format csv"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    // What is asked for stays, and where its axes alone have no room, the lines are longer.
    let more =
        ["--axis", "memory.dram.bandwidth=1 TB/s,2 TB/s", "--axis", "clocks.tensor=1 GHz", "--axis", "sm.count=100"];
    let said = place.out(&[&wide[..], &more, &["--pareto", "time,cost"]].concat());
    assert!(said.contains("no room for bound, tile:"), "{said}");
    let row = said.lines().find(|line| line.contains("h100-sxm5-80gb")).unwrap();
    assert!(row.contains("2 TB/s") && row.split_whitespace().last().unwrap().starts_with("0.0"), "{said}");
}

#[test]
fn what_lacks_either_value_of_a_front_is_told() {
    let place = Place::new();
    place.file("t.csv", "point,a,b\n0,1,2\n1,,3\n2,2,\n");
    place.run(&["chart", "pareto", "t.csv", "--x", "a", "--y", "b", "--output", "t.svg"]).success();
    let svg = text(&place.read("t.svg"));
    assert!(svg.contains("2 points without a or b, left out"), "{svg}");
}

#[test]
fn a_summary_of_the_rest_says_of_how_many_rows() {
    let place = Place::new();
    let words =
        words(&["--axis", "m=1:100", "--part-rows", "40", "--parts", "csv", "--out", "rows", "--format", "json"]);
    let first = place.out(&words);
    assert!(first.contains("\"rows\": 100,\n  \"rows_of_earlier_run\": 0,"), "{first}");
    fs::remove_file(place.0.path().join("rows/rows-040.csv")).unwrap();
    let rest = place.out(&[&words[..], &["--resume"]].concat());
    assert!(rest.contains("\"rows\": 40,\n  \"rows_of_earlier_run\": 60,"), "{rest}");
}

#[test]
fn a_key_is_taken_where_an_operation_reads_it() {
    let place = Place::new();
    let products = "m=64 n=64 k=64";
    let conv = "conv.N=1 conv.C=64 conv.H=32 conv.W=32 conv.K=64 conv.R=3 conv.S=3";
    let heads = "heads_q=8 head_dim=64 seq_kv=128";
    let both = format!("op=gemm,attention {products} {heads}");
    let rows = "rows=8 cols=64";
    let run = |op: &str, words: &str, key: &str| {
        let mut all = vec!["sweep", "--op", op, "--gpu", "l40s", "--fix", "dtype=bf16"];
        for word in words.split(' ').chain([key]) {
            all.extend([if word.contains(',') { "--axis" } else { "--fix" }, word]);
        }
        let run = place.run(&all);
        let output = run.get_output();
        (output.status.code(), text(&output.stderr))
    };
    let taken = [
        ("gemm", products, "tile=64x64 splits=1 sparsity=2:4 weight_copies=2 data=random batch=2 timing=launch"),
        ("attention", heads, "window=4 library=fa2 bare=1 bare=0 causal=1 batch=2 phase=prefill seq_q=64 heads_kv=8"),
        ("elementwise", rows, "kind=gelu reads=2 writes=2 load_bytes=4"),
        ("elementwise", "rows=8 cols=64 reads=1 writes=1", "kind=gelu"),
        ("memcpy", rows, "reads=2 writes=2 load_bytes=4"),
        ("reduction", rows, "full=1"),
        ("moe", "m=64 n=64 k=64 experts=8 topk=2", "ep=2 routing=power:1.2"),
        ("conv", conv, "phase=fwd conv.stride=1 conv.pad=1 conv.dil=1 conv.groups=1 conv.layout=NHWC"),
        ("gemm", &both, "window=4 tile=64x64"),
    ];
    for (op, words, keys) in taken {
        for key in keys.split(' ') {
            let (code, message) = run(op, words, key);
            assert_eq!(code, Some(0), "{op} {key}: {message}");
        }
    }
    let refused = [
        ("gemm", products, "window=4 experts=8 kind=gelu bare=1 full=1 library=fa2 reads=2 seq_q=4 conv.C=3 rows=4"),
        ("softmax", rows, "full=1 kind=gelu m=4 data=random tile=64x64"),
        ("attention", heads, "sparsity=2:4 full=1 n=8"),
        ("gemm", &both, "rows=4 topk=2"),
    ];
    for (op, words, keys) in refused {
        for key in keys.split(' ') {
            let (code, message) = run(op, words, key);
            let name = key.split('=').next().unwrap();
            assert_eq!(code, Some(2), "{op} {key}: {message}");
            let told = format!("`{name}` is a key of other operations and changes nothing of {op}");
            assert!(message.contains(&told) && message.contains("keys of ") && message.contains("dtype,"), "{message}");
        }
    }
}
