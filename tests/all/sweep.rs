//! Sweeps: rows are what the commands for one point say, whatever the threads, shards and interruptions; refusals.

use std::{fs, path::Path};

use assert_cmd::Command;
use tempfile::TempDir;

fn wavecast(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("wavecast").unwrap();
    command.args(arguments);
    command
}

/// Standard output of a command that succeeds.
pub fn said(arguments: &[&str]) -> String {
    let done = wavecast(arguments).assert().success();
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

/// Standard error of a command that is refused.
fn refused(arguments: &[&str]) -> String {
    let done = wavecast(arguments).assert().code(2);
    String::from_utf8(done.get_output().stderr.clone()).unwrap()
}

/// Rows of a table by the names of its columns.
pub fn rows(text: &str) -> Vec<Vec<(String, String)>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let row = |record: csv::StringRecord| names.iter().cloned().zip(record.iter().map(str::to_owned)).collect();
    reader.records().map(|record| row(record.unwrap())).collect()
}

pub fn get<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    &row.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no column {name}")).1
}

pub fn number(row: &[(String, String)], name: &str) -> f64 {
    get(row, name).parse().unwrap()
}

pub const GEMM: [&str; 10] =
    ["sweep", "--op", "gemm", "--fix", "dtype=bf16", "--fix", "k=4096", "--gpu", "h100-sxm5-80gb", "--quiet"];

pub fn with<'a>(base: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    base.iter().chain(more).copied().collect()
}

#[test]
fn rows_of_products_are_those_of_predict() {
    let folder = TempDir::new().unwrap();
    let table = folder.path().join("in.csv");
    let mut text = "gpu,op,dtype,m,n,k\n".to_owned();
    for m in [64, 320, 576] {
        for n in [1000, 2000] {
            text += &format!("h100-sxm5-80gb,gemm,bf16,{m},{n},4096\n");
        }
    }
    fs::write(&table, text).unwrap();
    let expected = rows(&said(&["predict", "--batch", table.to_str().unwrap(), "--quiet"]));
    let found = rows(&said(&with(&GEMM, &["--axis", "m=64:576:256", "--axis", "n=1000,2000", "--format", "csv"])));
    assert_eq!(found.len(), expected.len());
    for (point, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(get(found, "point"), point.to_string());
        for name in
            ["m", "n", "predicted_us", "low_us", "high_us", "math_us", "dram_us", "l2_us", "latency_us", "bound"]
        {
            assert_eq!(get(found, name), get(expected, name), "{name}");
        }
        for name in ["tile", "splits", "grid_blocks", "blocks_per_sm", "waves", "gpu_name", "calibration"] {
            assert_eq!(get(found, name), get(expected, name), "{name}");
        }
        let tera = 2.0 * number(found, "m") * number(found, "n") * 4096.0 / number(found, "predicted_us") * 1e-6;
        assert!((number(found, "tflop_per_s") / tera - 1.0).abs() < 1e-4);
    }
}

#[test]
fn rows_of_kernels_are_those_of_kernel() {
    let axes = ["--axis", "registers_per_thread=32:128:x2", "--axis", "sm.count=66,132"];
    let base =
        ["sweep", "--op", "kernel", "--kernel", "demo#saxpy", "--gpu", "h100-sxm5-80gb", "--format", "csv", "--quiet"];
    let found = rows(&said(&with(&base, &axes)));
    assert_eq!(found.len(), 6);
    for row in &found {
        let (registers, sms) = (get(row, "registers_per_thread"), format!("sm.count={}", get(row, "sm.count")));
        let asked = [
            "kernel",
            "--grid",
            "65536",
            "--block",
            "256",
            "--regs",
            registers,
            "--per",
            "thread",
            "--op",
            "vector.fp32=2 FLOP",
            "--dram-read",
            "8 B",
            "--dram-write",
            "4 B",
            "--gpu",
            "h100-sxm5-80gb",
            "--set",
            &sms,
            "--format",
            "csv",
            "--quiet",
        ];
        let one = &rows(&said(&asked))[0];
        for (mine, theirs) in [
            ("predicted_us", "time_us"),
            ("blocks_per_sm", "blocks_per_sm"),
            ("bound", "bound"),
            ("waves", "waves"),
            ("occupancy_pct", "theoretical_occupancy_pct"),
        ] {
            assert_eq!(get(row, mine), get(one, theirs), "{mine} at {registers} registers, {sms}");
        }
    }
}

#[test]
fn the_same_bytes_whatever_the_threads() {
    let folder = TempDir::new().unwrap();
    let axes = ["--axis", "m=1:60", "--axis", "n=64:6400:64", "--axis", "gpu=h100-sxm5-80gb,a100-sxm4-80gb"];
    let base = ["sweep", "--op", "gemm", "--fix", "dtype=bf16", "--fix", "k=512", "--quiet"];
    for form in ["csv", "parquet"] {
        if form == "parquet" && !cfg!(feature = "parquet") {
            continue;
        }
        let files: Vec<Vec<u8>> = ["1", "2", "7"]
            .iter()
            .map(|jobs| {
                let file = folder.path().join(format!("{jobs}.{form}"));
                said(&with(&with(&base, &axes), &["--jobs", jobs, "--output", file.to_str().unwrap()]));
                fs::read(file).unwrap()
            })
            .collect();
        assert!(files[0].len() > 100_000 && files[0] == files[1] && files[0] == files[2], "{form}");
    }
}

/// Every file of a folder with its bytes.
fn held(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn a_killed_run_goes_on_to_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    let axes = ["--axis", "m=1:300", "--axis", "n=64:6400:64", "--part-rows", "2000", "--parts", "csv"];
    let base = with(&GEMM, &axes);
    said(&with(&base, &["--out", whole.to_str().unwrap()]));
    let binary = assert_cmd::cargo::cargo_bin("wavecast");
    let mut child = std::process::Command::new(binary)
        .args(with(&base, &["--jobs", "1", "--out", killed.to_str().unwrap()]))
        .spawn()
        .unwrap();
    let parts = || fs::read_dir(&killed).map_or(0, |all| all.filter(|e| is_part(&e.as_ref().unwrap().path())).count());
    while parts() < 2 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    // SIGKILL: nothing of the program runs any more.
    child.kill().unwrap();
    child.wait().unwrap();
    let done = parts();
    assert!((2..15).contains(&done), "killed too late: {done} parts");
    // Whatever was being written when it was killed.
    fs::write(killed.join("rows-28000.csv.unfinished"), "half a row").unwrap();
    let again = wavecast(&with(&base, &["--out", killed.to_str().unwrap()])).assert().code(2);
    let error = String::from_utf8(again.get_output().stderr.clone()).unwrap();
    assert!(error.contains("--resume"), "{error}");
    said(&with(&base, &["--out", killed.to_str().unwrap(), "--resume"]));
    let (whole, killed) = (held(&whole), held(&killed));
    assert_eq!(whole.len(), 17);
    assert!(whole == killed, "{:?}", killed.iter().map(|(name, _)| name).collect::<Vec<_>>());
}

fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "csv" || e == "parquet")
}

#[test]
fn resuming_another_sweep_is_refused() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    said(&with(&GEMM, &["--axis", "m=1:10", "--fix", "n=64", "--out", out]));
    let error = refused(&with(&GEMM, &["--axis", "m=1:11", "--fix", "n=64", "--out", out, "--resume"]));
    assert!(error.contains("another sweep: command is") && error.contains("m=1:11"), "{error}");
}

#[test]
fn shards_join_to_the_bytes_of_a_single_run() {
    let folder = TempDir::new().unwrap();
    let axes = ["--axis", "m=1:29", "--axis", "n=64:6400:64"];
    for form in ["csv", "parquet"] {
        if form == "parquet" && !cfg!(feature = "parquet") {
            continue;
        }
        let path = |name: &str| folder.path().join(format!("{name}-{form}")).to_str().unwrap().to_owned();
        let single = folder.path().join(format!("single.{form}"));
        said(&with(&with(&GEMM, &axes), &["--output", single.to_str().unwrap()]));
        for shard in ["1/3", "2/3", "3/3"] {
            let out = path(&shard.replace('/', "-of-"));
            said(&with(&with(&GEMM, &axes), &["--shard", shard, "--out", &out, "--parts", form, "--part-rows", "700"]));
        }
        let merged = folder.path().join(format!("merged.{form}"));
        let (one, two, three) = (path("1-of-3"), path("2-of-3"), path("3-of-3"));
        let to = merged.to_str().unwrap();
        // In any order.
        said(&["merge", &three, &one, &two, "--output", to, "--quiet"]);
        assert!(fs::read(&single).unwrap() == fs::read(&merged).unwrap(), "{form}");
        let missing = refused(&["merge", &three, &one, "--output", to]);
        assert!(missing.contains("1 shard of 3 missing: run `sweep` with --shard 2/3"), "{missing}");
        let twice = refused(&["merge", &three, &one, &one, &two, "--output", to]);
        assert!(twice.contains("shard 1/3 is there twice"), "{twice}");
        let other = path("other");
        said(&with(
            &GEMM,
            &["--axis", "m=1:30", "--axis", "n=64:6400:64", "--shard", "2/3", "--out", &other, "--parts", form],
        ));
        let foreign = refused(&["merge", &three, &one, &other, "--output", to]);
        assert!(foreign.contains("not of one sweep: command is"), "{foreign}");
        let part = held(Path::new(&two)).into_iter().find(|(name, _)| is_part(Path::new(name))).unwrap().0;
        fs::remove_file(Path::new(&two).join(&part)).unwrap();
        let unfinished = refused(&["merge", &three, &one, &two, "--output", to]);
        assert!(unfinished.contains(&format!("its part {part} is missing: finish it with")), "{unfinished}");
    }
}

#[test]
fn a_cut_part_is_not_joined() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let base = with(&GEMM, &["--axis", "m=1:100", "--fix", "n=64", "--parts", "csv", "--out", out.to_str().unwrap()]);
    said(&base);
    let part = out.join("rows-000.csv");
    let text = fs::read_to_string(&part).unwrap();
    fs::write(&part, text.lines().take(50).collect::<Vec<_>>().join("\n")).unwrap();
    fs::remove_file(out.join("shard-1-of-1.sums")).unwrap();
    let to = folder.path().join("all.csv");
    let error = refused(&["merge", out.to_str().unwrap(), "--output", to.to_str().unwrap()]);
    assert!(error.contains("has 49 rows and should have 100") && !to.exists(), "{error}");
}

#[test]
fn what_cannot_run_is_a_row_with_its_reason() {
    let base = [
        "sweep",
        "--op",
        "kernel",
        "--fix",
        "grid=100",
        "--fix",
        "traffic.dram.read=1 MB",
        "--format",
        "csv",
        "--quiet",
    ];
    let found = rows(&said(&with(&base, &["--axis", "block=512,1024,1025", "--gpu", "h100-sxm5-80gb"])));
    assert_eq!(found.iter().map(|row| get(row, "error").is_empty()).collect::<Vec<_>>(), [true, true, false]);
    assert!(get(&found[2], "error").contains("the largest block is 1024 threads"), "{:?}", found[2]);
    assert_eq!(get(&found[2], "predicted_us"), "");
    let all = refused(&["sweep", "--op", "kernel", "--fix", "grid=100", "--axis", "block=1025,2000", "--quiet"]);
    assert!(all.contains("no point can be evaluated") && all.contains("1024"), "{all}");
}

#[test]
fn samples_are_points_of_the_whole() {
    let axes = ["--axis", "m=1:50", "--axis", "n=64:640:64", "--format", "csv"];
    let all = rows(&said(&with(&GEMM, &axes)));
    let drawn = rows(&said(&with(&with(&GEMM, &axes), &["--sample", "120", "--seed", "3"])));
    let mut points: Vec<u64> = drawn.iter().map(|row| get(row, "point").parse().unwrap()).collect();
    for row in &drawn {
        let point: usize = get(row, "point").parse().unwrap();
        assert_eq!(row, &all[point]);
    }
    points.sort_unstable();
    points.dedup();
    assert_eq!((points.len(), all.len()), (120, 500));
    let other = rows(&said(&with(&with(&GEMM, &axes), &["--sample", "120", "--seed", "4"])));
    assert_ne!(drawn, other);
    let many = refused(&with(&with(&GEMM, &axes), &["--sample", "501"]));
    assert!(many.contains("a sample of 501 of 500 points"), "{many}");
}
