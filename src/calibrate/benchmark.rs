//! Results of roofline benchmarks: the Empirical Roofline Toolkit's `roofline.json` and rocprofiler-compute's
//! `roofline.csv`. Their arithmetic runs from registers.

use serde_json::Value;

use super::ceilings::Ceiling;
use crate::{
    gpu::{DataType, Pipe},
    units::{BytesPerSecond, FlopsPerSecond},
    validate::quantile,
};

/// A file that is no such result, or holds nothing that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BenchmarkError {
    /// Neither form.
    #[error(
        "neither a roofline.json of ERT nor a roofline.csv of rocprofiler-compute{0}; rates of other benchmarks are given \
         by --bandwidth and --math"
    )]
    Form(String),
    /// A run on a CPU.
    #[error("an ERT result of a CPU ({0}); run ERT with ERT_GPU True, or give rates by --bandwidth and --math")]
    Cpu(&'static str),
    /// Nothing in it.
    #[error("no DRAM bandwidth and no FP32 rate is in it; give rates by --bandwidth and --math")]
    Empty,
}

/// What a result holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Benchmark {
    /// The rates.
    pub ceilings: Vec<Ceiling>,
    /// What was left aside, in sentences.
    pub notes: Vec<String>,
}

const GIGA: f64 = 1e9;

/// Reads a result, told apart by content.
///
/// # Errors
/// The text is no such result, is that of a CPU, or holds nothing that a constant follows from.
pub fn benchmark(text: &str) -> Result<Benchmark, BenchmarkError> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let found = if text.starts_with('{') { ert(text)? } else { rocprof(text)? };
    if found.ceilings.is_empty() { Err(BenchmarkError::Empty) } else { Ok(found) }
}

fn vector(data: DataType, giga: f64) -> Ceiling {
    Ceiling::Unit(Pipe::Vector(data), FlopsPerSecond(giga * GIGA))
}

/// Pairs of label and rate under `empirical`.
fn ert(text: &str) -> Result<Benchmark, BenchmarkError> {
    let whole: Value = serde_json::from_str(text).map_err(|e| BenchmarkError::Form(format!(" (not JSON: {e})")))?;
    let Some(empirical) = whole.get("empirical") else {
        return Err(BenchmarkError::Form(" (the JSON has no key `empirical`)".into()));
    };
    let pairs = |key: &str| -> Vec<(String, f64)> {
        let data = empirical.pointer(&format!("/{key}/data")).and_then(Value::as_array);
        let pair = |pair: &Value| Some((pair.get(0)?.as_str()?.trim().to_owned(), pair.get(1)?.as_f64()?));
        data.into_iter().flatten().filter_map(pair).filter(|(_, rate)| *rate > 0.0 && rate.is_finite()).collect()
    };
    let (bytes, flops) = (pairs("gbytes"), pairs("gflops"));
    let on_gpu = empirical.pointer("/metadata/CONFIG/ERT_GPU/0");
    if on_gpu.is_some_and(|on| on.as_bool() == Some(false) || on.as_str().is_some_and(|s| s == "False")) {
        return Err(BenchmarkError::Cpu("its CONFIG says ERT_GPU False"));
    }
    if bytes.iter().any(|(level, _)| level == "L3") {
        return Err(BenchmarkError::Cpu("it has an L3"));
    }
    let mut found = Benchmark { ceilings: Vec::new(), notes: Vec::new() };
    if let Some((_, rate)) = bytes.iter().find(|(level, _)| level == "DRAM") {
        found.ceilings.push(Ceiling::Bandwidth(BytesPerSecond(rate * GIGA)));
    }
    for (label, rate) in flops {
        match label.split_whitespace().next() {
            Some("FP32") => found.ceilings.push(vector(DataType::Fp32, rate)),
            Some("GFLOPs") => found.notes.push(format!("{rate} GFLOP/s of the file have no type and were not used")),
            _ => found.notes.push(format!("`{label}` of the file sets no constant; FP32 does")),
        }
    }
    Ok(found)
}

/// A header and a row per device, in GB/s and GFLOP/s; devices count by their median.
fn rocprof(text: &str) -> Result<Benchmark, BenchmarkError> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let header = reader.headers().cloned().unwrap_or_default();
    let place = |name: &str| header.iter().position(|column| column.trim().eq_ignore_ascii_case(name));
    if place("HBMBw").is_none() {
        let first = header.iter().next().unwrap_or_default();
        let short: String = first.chars().take(30).filter(|c| !c.is_control()).collect();
        return Err(BenchmarkError::Form(format!(" (it begins with `{short}`)")));
    }
    let rows: Vec<csv::StringRecord> = reader.records().filter_map(Result::ok).collect();
    let median = |name: &str| {
        let place = place(name)?;
        let rates = rows.iter().filter_map(|row| row.get(place)?.trim().parse::<f64>().ok());
        let mut rates: Vec<f64> = rates.filter(|rate| *rate > 0.0 && rate.is_finite()).collect();
        rates.sort_by(f64::total_cmp);
        if rates.is_empty() { None } else { Some(quantile(&rates, 0.5)) }
    };
    let matrix = |input, giga: f64| {
        Ceiling::Unit(Pipe::Tensor { input, accumulate: DataType::Fp32, sparse: false }, FlopsPerSecond(giga * GIGA))
    };
    let mut found = Benchmark { ceilings: Vec::new(), notes: Vec::new() };
    found.ceilings.extend(median("HBMBw").map(|giga| Ceiling::Bandwidth(BytesPerSecond(giga * GIGA))));
    found.ceilings.extend(median("FP32Flops").map(|giga| vector(DataType::Fp32, giga)));
    let (bf16, fp16) = (median("MFMABF16Flops"), median("MFMAF16Flops"));
    found.ceilings.extend(bf16.map(|g| matrix(DataType::Bf16, g)).or(fp16.map(|g| matrix(DataType::Fp16, g))));
    if rows.len() > 1 {
        found.notes.push(format!("{} devices are in the file; their median was taken", rows.len()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(result: Result<Benchmark, BenchmarkError>) -> String {
        result.map_or_else(|e| e.to_string(), |found| format!("{:?} {:?}", found.ceilings, found.notes))
    }

    #[test]
    fn results_of_ert_and_of_rocprofiler() {
        let ert = |gpu: &str, levels: &str, rates: &str| {
            benchmark(&format!(
                r#"{{"empirical": {{"gbytes": {{"data": [{levels}]}}, "gflops": {{"data": [{rates}]}},
                    "metadata": {{"CONFIG": {{"ERT_GPU": [{gpu}]}}}}}}, "spec": {{}}}}"#
            ))
        };
        let good =
            text(ert("true", r#"["L1", 9000.5], ["DRAM", 1400]"#, r#"["FP64 GFLOPs", 7], ["FP32 GFLOPs", 9000]"#));
        assert!(good.contains("Bandwidth(BytesPerSecond(1400000000000.0))"), "{good}");
        assert!(good.contains("Unit(Vector(Fp32), FlopsPerSecond(9000000000000.0))"), "{good}");
        assert!(good.contains("`FP64 GFLOPs` of the file sets no constant"), "{good}");
        let untyped = text(ert("\"True\"", r#"["DRAM", 500]"#, r#"["GFLOPs", 288.3]"#));
        assert!(untyped.contains("288.3 GFLOP/s of the file have no type"), "{untyped}");
        for gpu in ["false", "\"False\""] {
            assert!(text(ert(gpu, r#"["DRAM", 5]"#, "")).contains("of a CPU (its CONFIG says ERT_GPU False)"));
        }
        assert!(text(ert("true", r#"["L3", 5], ["DRAM", 5]"#, "")).contains("of a CPU (it has an L3)"));
        assert_eq!(ert("true", r#"["DRAM", -5], ["DRAM"], 7"#, "[]"), Err(BenchmarkError::Empty));

        let csv = "device,HBMBw,HBMBwLow,FP32Flops,MFMABF16Flops,MFMAF16Flops\n0,1300,1,20000,170000,1\n1,1500,1,22000,,1,9\n";
        let found = text(benchmark(csv));
        assert!(found.contains("Bandwidth(BytesPerSecond(1400000000000.0))") && found.contains("2 devices"), "{found}");
        assert!(found.contains("Tensor { input: Bf16, accumulate: Fp32, sparse: false }"), "{found}");
        for (wrong, why) in [
            ("{", "not JSON"),
            ("{}", "no key `empirical`"),
            ("", "begins with ``"),
            ("There are not enough slots", "begins with `There are not enough slots`"),
        ] {
            assert!(text(benchmark(wrong)).contains(why), "{wrong}");
        }
    }
}
