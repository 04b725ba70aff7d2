//! `analyze` of traces and compiler reports: forms, filters, other GPUs, gzip and its limit, what goes wrong.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

use crate::place::Place;

/// Four launches on an A100: two of one kernel, a copy between them, a gap of 10 us.
const TRACE: &str = r#"{"schemaVersion": 1,
 "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108, "warpSize": 32}],
 "traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "big_gemm_tn", "ts": 100.0, "dur": 50.0,
   "args": {"device": 0, "stream": 7, "grid": [216, 1, 1], "block": [256, 1, 1], "registers per thread": 128, "shared memory": 0}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "ts": 150.0, "dur": 10.0,
   "args": {"device": 0, "stream": 7, "bytes": 100000}},
  {"ph": "X", "cat": "kernel", "name": "vectorized_add", "ts": 170.0, "dur": 20.0,
   "args": {"device": 0, "stream": 7, "grid": [1000, 1, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 0}},
  {"ph": "X", "cat": "kernel", "name": "vectorized_add", "ts": 190.0, "dur": 30.0,
   "args": {"device": 0, "stream": 7, "grid": [1000, 1, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 0}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 90.0, "dur": 5.0, "args": {}}
 ]}
"#;

fn traced() -> Place {
    let place = Place::new();
    place.file("t.json", TRACE);
    place
}

fn json(place: &Place, words: &[&str]) -> Value {
    serde_json::from_str(&place.out(&[&["analyze"], words, &["--format", "json", "--quiet"]].concat())).unwrap()
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn shares_gaps_and_residency_by_hand() {
    let place = traced();
    let report = json(&place, &["t.json"]);
    let trace = &report["traces"][0];
    assert_eq!((&trace["launches"], &trace["groups"]), (&Value::from(3), &Value::from(2)));
    // 100 to 220 us; kernels 50 + 20 + 30, copy 10, gap 160 to 170.
    assert_eq!(trace["kernels_us"], 100);
    assert_eq!((&trace["span_us"], &trace["gaps_us"]), (&Value::from(120), &Value::from(10)));
    let part = |what: &str| {
        let parts = trace["parts"].as_array().unwrap();
        parts.iter().find(|part| part["what"] == what).unwrap()["share_pct"].as_f64().unwrap()
    };
    assert!((part("launch gaps") - 100.0 / 11.0).abs() < 1e-3);
    assert!((part("math") - 500.0 / 11.0).abs() < 1e-3 && (part("memory") - 500.0 / 11.0).abs() < 1e-3);
    assert!((part("matrix product") - 500.0 / 11.0).abs() < 1e-3);
    let gemm = &report["kernels"][0];
    assert_eq!(gemm["gpu"], "a100-sxm4-80gb");
    // 128 registers: 2 blocks of 256 threads; 216 blocks are one wave of 108 SMs.
    assert_eq!((&gemm["blocks_per_sm"], &gemm["waves"]), (&Value::from(2), &Value::from(1)));
    assert_eq!(gemm["achieved_occupancy_pct"], Value::Null);
    let add = &report["kernels"][1];
    assert_eq!(
        (&add["launches"], &add["total_us"], &add["measured_us"]),
        (&Value::from(2), &Value::from(50), &Value::from(25))
    );
    assert_eq!(
        (&add["shortest_us"], &add["longest_us"], &add["time_share_pct"]),
        (&Value::from(20), &Value::from(30), &Value::from(50))
    );
}

#[test]
fn filters_choose_kernels_and_shares_stay() {
    let place = traced();
    let names = |words: &[&str]| -> Vec<String> {
        let report = json(&place, &[&["t.json"], words].concat());
        report["kernels"].as_array().unwrap().iter().map(|k| k["kernel"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["--top", "1"]).len(), 1);
    assert_eq!(names(&["--filter", "^vector.*add$"]), ["vectorized_add"]);
    assert_eq!(names(&["--kernel", "2"]).len(), 1);
    assert_eq!(json(&place, &["t.json", "--top", "1"])["kernels"][0]["time_share_pct"], 50);
    place.refused(&["analyze", "t.json", "--filter", "("], &["--filter", "("]);
    place.refused(&["analyze", "t.json", "--kernel", "0"], &["--kernel", "0"]);
}

#[test]
fn another_gpu_scales_each_kernel_by_its_bound() {
    let place = traced();
    let report = json(&place, &["t.json", "--to", "h100-sxm5-80gb", "--to", "l40s"]);
    let said = report["traces"][0]["elsewhere"].as_array().unwrap();
    assert_eq!(said.len(), 2);
    assert!(
        said[0].as_str().unwrap().starts_with("H100 SXM5 80 GB: ")
            && said[0].as_str().unwrap().contains("instead of 100 us on A100")
    );
    place.refused(&["analyze", "t.json", "--to", "h101"], &["h101"]);
}

#[test]
fn gzip_is_unpacked_up_to_a_limit() {
    let place = traced();
    place.file("t.json.gz", packed(TRACE.as_bytes()));
    assert_eq!(json(&place, &["t.json.gz"])["kernels"], json(&place, &["t.json"])["kernels"]);
    // 50 MB of spaces in 50 kB.
    let mut bomb = TRACE.trim_end().as_bytes().to_vec();
    bomb.resize(50_000_000, b' ');
    place.file("bomb.json.gz", packed(&bomb));
    let cut = place.out(&["analyze", "bomb.json.gz", "--unpack-limit", "1 MB"]);
    // The launches before the limit stay, as those of a file that breaks off.
    assert!(cut.contains("1 MB; --unpack-limit raises that") && cut.contains("3 launches"), "{cut}");
    place.file("s.toml.gz", packed(&[b' '; 3_000_000]));
    place.refused(&["analyze", "s.toml.gz", "--unpack-limit", "1 MB"], &["s.toml.gz", "1 MB", "--unpack-limit"]);
    assert_eq!(json(&place, &["bomb.json.gz"])["traces"][0]["launches"], 3);
    place.file("half.json.gz", &packed(TRACE.as_bytes())[..200]);
    place.run(&["analyze", "half.json.gz"]).code(predicates::ord::ne(101));
}

#[test]
fn traces_beside_other_files_and_in_every_form() {
    let place = traced();
    place.out(&["analyze", "t.json", "s.toml", "--quiet"]);
    for format in ["csv", "markdown", "html"] {
        assert!(
            place.out(&["analyze", "t.json", "--format", format, "--quiet"]).contains("vectorized_add"),
            "{format}"
        );
    }
    let text = place.out(&["analyze", "t.json", "--quiet"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    place.refused(&["chart", "roofline", "t.json"], &["no counters"]);
}

#[test]
fn compiler_reports_need_no_launch() {
    let place = Place::new();
    place.file(
        "p.txt",
        "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function '_Z3addPf' for 'sm_90'\nptxas info    : Function properties for _Z3addPf\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nptxas info    : Used 66 registers, used 1 barriers, 1024 bytes smem\n",
    );
    let rows: Value = serde_json::from_str(&place.out(&["analyze", "p.txt", "--format", "json"])).unwrap();
    let row = &rows[0];
    assert_eq!(
        (&row["kernel"], &row["target"], &row["registers_per_thread"]),
        (&"add".into(), &"sm_90".into(), &66.into())
    );
    // 66 registers take 72 of a thread: 3 blocks of 256 threads on an SM, 24 of 64 warps.
    assert_eq!(row["occupancy_256_pct"], 37.5);
    assert_eq!(row["limiters"], "regs");
    place.refused(&["analyze", "p.txt", "--filter", "nothing"], &["no kernel", "--filter"]);
}
