//! `examples/dask_sweep.py` on local workers gives the bytes of a single run, also where tasks die; skipped without Dask.

use std::{
    env, fs,
    path::Path,
    process::{Command, Output},
};

use crate::place::{Place, text};

#[rustfmt::skip]
const SWEEP: [&str; 12] = [
    "--op", "gemm", "--axis", "m=1:29", "--axis", "n=64:6400:64", "--fix", "k=4096", "--fix", "dtype=bf16",
    "--gpu", "h100-sxm5-80gb",
];

/// The Python of `WAVECAST_PYTHON`, which must have Dask, or the machine's where it has.
fn python() -> Option<String> {
    if let Ok(named) = env::var("WAVECAST_PYTHON") {
        return Some(named);
    }
    let has_dask = Command::new("python3").args(["-c", "import dask.distributed"]).output();
    if has_dask.is_ok_and(|done| done.status.success()) {
        return Some("python3".into());
    }
    eprintln!("skipped: no Python with dask.distributed; name one by WAVECAST_PYTHON");
    None
}

fn wavecast() -> String {
    assert_cmd::cargo::cargo_bin("wavecast").to_str().unwrap().to_owned()
}

/// Runs the example in a place, three shards on two workers.
fn dask(python: &str, place: &Place, wavecast: &str, output: &str, sweep: &[&str]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/dask_sweep.py");
    let mut command = Command::new(python);
    command.arg(script).args(["--wavecast", wavecast, "--shards", "3", "--workers", "2", "--output", output, "--"]);
    command.args(sweep).current_dir(&place.0).output().unwrap()
}

fn single(place: &Place, output: &str) {
    place.out(&[&["sweep", "--quiet", "--output", output][..], &SWEEP].concat());
}

#[test]
fn workers_give_the_bytes_of_a_single_run() {
    let Some(python) = python() else { return };
    let place = Place::new();
    for form in ["csv", "parquet"] {
        if form == "parquet" && !cfg!(feature = "parquet") {
            continue;
        }
        let (alone, together) = (format!("alone.{form}"), format!("together.{form}"));
        single(&place, &alone);
        let done = dask(&python, &place, &wavecast(), &together, &SWEEP);
        assert!(done.status.success(), "{}", text(&done.stderr));
        assert!(place.read(&alone) == place.read(&together), "{form}: {}", text(&done.stderr));
        let parts = place.names(&format!("{together}.parts"));
        assert_eq!(parts.iter().filter(|name| name.ends_with(".json")).count(), 3, "{parts:?}");
    }
}

#[test]
fn what_cannot_be_swept_is_refused_once() {
    let Some(python) = python() else { return };
    let place = Place::new();
    let done = dask(&python, &place, &wavecast(), "all.csv", &["--op", "gem", "--axis", "m=1:3"]);
    let message = text(&done.stderr);
    assert_eq!((done.status.code(), message.matches("op = `gem` is not known").count()), (Some(2), 1), "{message}");
    assert!(!place.0.path().join("all.csv").exists());
}

/// The script of the page for one task of a job array, with what the engine would say, is one shard.
#[cfg(all(unix, feature = "parquet"))]
#[test]
fn the_job_array_of_the_page_gives_the_bytes_of_a_single_run() {
    let place = Place::new();
    let page = include_str!("../../docs/cluster.md");
    let script =
        page.split("```").find(|block| block.contains("#SBATCH --array")).unwrap().strip_prefix("sh\n").unwrap();
    // Fewer points, and a folder of this test.
    let script = script.replace("m=64:6400:64", "m=1:29").replace("--axis k=64:6400:64", "--fix k=4096");
    place.file("shard.sh", script.replace("/shared/products", "parts"));
    single(&place, "alone.csv");
    let bin = Path::new(&wavecast()).parent().unwrap().to_owned();
    let path = env::join_paths([bin].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap()))).unwrap();
    let task = |id: &str, of: (&str, &str)| {
        let mut command = Command::new("bash");
        command.arg("shard.sh").current_dir(&place.0).env("PATH", &path).env_remove("SHARDS");
        command.env("SLURM_ARRAY_TASK_ID", id).env("SLURM_CPUS_PER_TASK", "1").env(of.0, of.1);
        let done = command.output().unwrap();
        assert!(done.status.success() && done.stdout.is_empty(), "{}", text(&done.stderr));
    };
    for id in ["3", "1"] {
        task(id, ("SLURM_ARRAY_TASK_COUNT", "3"));
    }
    place.refused(&["merge", "parts", "--output", "all.csv"], &["1 shard of 3 missing: run `sweep` with --shard 2/3"]);
    // Sent again alone, and once more when it is done.
    for _ in 0..2 {
        task("2", ("SHARDS", "3"));
    }
    place.out(&["merge", "parts", "--output", "all.csv"]);
    assert!(place.read("alone.csv") == place.read("all.csv"));
}

/// A program that is killed in the first try of each shard, as on a machine that is taken away.
#[cfg(unix)]
#[test]
fn shards_that_die_are_tried_again() {
    use std::os::unix::fs::PermissionsExt;

    let Some(python) = python() else { return };
    let place = Place::new();
    let program = format!(
        r#"#!/bin/sh
for word; do case $word in ?/3) shard=${{word%/3}}; mkdir "died-$shard" 2>/dev/null && kill -9 $$; esac; done
exec '{}' "$@"
"#,
        wavecast()
    );
    place.file("dies", program);
    fs::set_permissions(place.0.path().join("dies"), fs::Permissions::from_mode(0o755)).unwrap();
    single(&place, "alone.csv");
    let done = dask(&python, &place, "./dies", "together.csv", &SWEEP);
    assert!(done.status.success(), "{}", text(&done.stderr));
    for shard in 1..=3 {
        assert!(place.0.path().join(format!("died-{shard}")).exists(), "shard {shard} did not die");
    }
    assert!(place.read("alone.csv") == place.read("together.csv"));
}
