//! `gemm --types`: types and 2:4 sparsity against each other at a shape.

use serde_json::Value;

use crate::place::Place;

fn rows(place: &Place, words: &[&str]) -> Vec<Value> {
    serde_json::from_str(&place.out(&[&["gemm"], words, &["--types", "--format", "json", "--quiet"]].concat())).unwrap()
}

fn row<'a>(rows: &'a [Value], name: &str) -> &'a Value {
    rows.iter().find(|row| row["type"] == name).unwrap_or_else(|| panic!("no {name} in {rows:?}"))
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("no {key} in {row}"))
}

/// Measured 1.11 times (cuSPARSELt, CUDALibrarySamples issue 57) to 1.6 times (CUTLASS issue 408).
#[test]
fn sparse_weights_on_an_a100_are_not_twice_as_fast() {
    let rows = rows(&Place::new(), &["4096", "4096", "4096", "--gpu", "a100-sxm4-80gb", "--dtype", "fp16"]);
    let sparse = row(&rows, "fp16, 2:4");
    assert!((1.1..=1.6).contains(&number(sparse, "speedup")), "{sparse}");
    assert_eq!((number(sparse, "peak_ratio"), &sparse["measured"]), (2.0, &"no".into()));
    // A100 has no FP8, and no tensor core skips zeros of FP64.
    assert!(
        rows.iter().all(|row| !matches!(row["type"].as_str(), Some("fp8" | "fp64, 2:4" | "fp32, 2:4"))),
        "{rows:?}"
    );
}

/// A vector gains what the bytes gain: 16 / 9, not the ratio of the peaks.
#[test]
fn a_vector_gains_by_bytes() {
    let rows = rows(&Place::new(), &["1", "16384", "16384", "--gpu", "a100-sxm4-80gb", "--dtype", "fp16"]);
    assert!(number(row(&rows, "fp16, 2:4"), "speedup") <= 16.0 / 9.0 + 0.01);
    let eight = number(row(&rows, "int8"), "speedup");
    assert!((1.5..=2.01).contains(&eight), "{eight}");
}

#[test]
fn tables_are_laws_to_themselves() {
    let place = Place::new();
    for (shape, gpu) in [
        (["8192", "8192", "8192"], "h100-sxm5-80gb"),
        (["64", "8192", "8192"], "b200-sxm"),
        (["7", "33", "65"], "mi300x"),
    ] {
        let rows = rows(&place, &[&shape[..], &["--gpu", gpu]].concat());
        let first = &rows[0];
        assert_eq!((&first["type"], number(first, "speedup")), (&"bf16".into(), 1.0));
        for row in &rows {
            let ratio = number(first, "time_us") / number(row, "time_us");
            assert!((number(row, "speedup") - ratio).abs() < 0.011 + 0.01 * ratio, "{row}");
            assert!(
                number(row, "low_us") <= number(row, "time_us") && number(row, "time_us") <= number(row, "high_us")
            );
            // The pass that narrows costs something.
            if let Some(narrowed) = row["speedup_with_quantisation"].as_f64() {
                assert!(narrowed < number(row, "speedup"), "{row}");
            }
        }
        let times: Vec<f64> = rows[1..].iter().map(|row| number(row, "time_us")).collect();
        assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    }
    // FP8 at H100 peaks is twice BF16; a thin product gains less than a thick one.
    let speedup = |m: &str| {
        let rows = rows(&place, &[m, "8192", "8192", "--gpu", "h100-sxm5-80gb"]);
        number(row(&rows, "fp8"), "speedup")
    };
    assert!(speedup("1") < speedup("8192") && speedup("8192") <= 2.0);
    // A GPU without BF16 is compared with a type that it has.
    assert_eq!(self::rows(&place, &["64", "64", "64", "--gpu", "t4"])[0]["type"], "fp16");
    place.refused(&["gemm", "64", "64", "64", "--types", "--gpu", "epyc-9654"], &["CPU"]);
    place.refused(&["gemm", "64", "64", "64", "--types", "--quantise"], &["--types", "--quantise"]);
}
