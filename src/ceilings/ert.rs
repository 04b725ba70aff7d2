//! The Empirical Roofline Toolkit: `roofline.json`, whose `empirical.gbytes.data` and `empirical.gflops.data` are lists of
//! pairs of a label and a rate in GB/s and GFLOP/s. Levels are called L1, L2, ..., the last one DRAM.

use serde_json::Value;

use super::{Ceiling, Ceilings, CeilingsError, Memory, Tool, What, matrix, possible, short};
use crate::gpu::{DataType, Pipe};

/// Whether a text begins as a result.
pub(super) fn detect(text: &str) -> bool {
    text.starts_with('{')
        && text.contains("\"empirical\"")
        && (text.contains("\"gbytes\"") || text.contains("\"gflops\""))
}

/// What the printout of a run (`try.NNN`) says instead of ceilings; absent where the text is none. A run that ended writes a
/// line META_DATA; one that failed leaves the launcher's message, which names the program in the folder FLOPS.NNN.
pub(super) fn printout(text: &str) -> Option<String> {
    if text.contains("\nFLOPS") && text.lines().any(|line| line.trim() == "META_DATA") {
        return Some(" (sizes and times, no ceilings)".into());
    }
    let program = |line: &str| {
        let place = line.find("FLOPS.").map(|at| &line[at + "FLOPS.".len()..]);
        place.is_some_and(|rest| {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            digits > 0 && rest[digits..].starts_with('/')
        })
    };
    if text.starts_with('{') || !text.lines().take(50).any(program) {
        return None;
    }
    let words = text.lines().map(str::trim).find(|line| line.chars().any(char::is_alphabetic)).unwrap_or_default();
    let words: String = words.chars().filter(|c| !c.is_control()).take(80).collect();
    Some(format!(" that failed (`{words}`), so that bandwidths and rates are missing"))
}

/// Reads a result.
pub(super) fn read(text: &str) -> Result<Ceilings, CeilingsError> {
    let whole: Value = serde_json::from_str(text).map_err(|error| {
        let nan = ["NaN", "Infinity"].into_iter().find(|word| text.contains(word));
        let nan = nan.map_or_else(String::new, |word| format!("; {word} is no rate: take its entry out"));
        CeilingsError::Form(format!(" (not JSON: {error}{nan})"))
    })?;
    let Some(empirical) = whole.get("empirical") else {
        return Err(CeilingsError::Form(" (the JSON has no key `empirical`)".into()));
    };
    let mut notes = Vec::new();
    let mut pairs = |key: &str, unit: &str| -> Vec<(String, f64)> {
        let Some(data) = empirical.pointer(&format!("/{key}/data")).and_then(Value::as_array) else {
            notes.push(format!("empirical.{key}.data is missing"));
            return Vec::new();
        };
        let mut good = Vec::new();
        for (index, pair) in data.iter().enumerate() {
            let label = pair.get(0).and_then(Value::as_str);
            let values = pair.as_array().map_or(0, Vec::len);
            if values > 2 {
                let label = label.map_or_else(|| format!("entry {}", index + 1), |label| format!("`{}`", short(label)));
                notes.push(format!(
                    "{label} of empirical.{key} was left out: {values} values instead of a label and a rate"
                ));
                continue;
            }
            match (label, pair.get(1).and_then(Value::as_f64)) {
                (Some(label), Some(rate)) if possible(rate * 1e9) => good.push((label.trim().to_owned(), rate * 1e9)),
                (label, rate) => {
                    let value = rate.map_or_else(|| "no number".into(), |rate| format!("{rate} {unit}"));
                    let label =
                        label.map_or_else(|| format!("entry {}", index + 1), |label| format!("`{}`", short(label)));
                    notes.push(format!("{label} of empirical.{key} was left out: {value} is no rate above 0"));
                }
            }
        }
        good
    };
    let (bytes, flops) = (pairs("gbytes", "GB/s"), pairs("gflops", "GFLOP/s"));
    let on_gpu = empirical.pointer("/metadata/CONFIG/ERT_GPU/0");
    let cpu = if on_gpu.is_some_and(|on| on.as_bool() == Some(false) || on.as_str().is_some_and(|s| s == "False")) {
        Some("its CONFIG says ERT_GPU False")
    } else {
        bytes.iter().any(|(level, _)| level == "L3").then_some("it has an L3")
    };
    let bandwidths = bytes.into_iter().filter_map(|(label, rate)| {
        let memory = match label.as_str() {
            "DRAM" => Memory::Dram,
            "L2" => Memory::L2,
            "L1" => Memory::L1,
            _ => Memory::Other,
        };
        Ceiling::of(&label, What::Bandwidth(memory), vec![rate])
    });
    let rates = flops.into_iter().filter_map(|(label, rate)| Ceiling::of(&label, What::Rate(unit(&label)), vec![rate]));
    Ok(Ceilings { tool: Tool::Ert, ceilings: bandwidths.chain(rates).collect(), devices: 1, gpu: None, cpu, notes })
}

/// The unit of a label such as `FP64 GFLOPs` or `FP16 TC GFLOPs`; a plain `GFLOPs` does not say.
fn unit(label: &str) -> Option<Pipe> {
    let mut words = label.split_whitespace();
    let data: DataType = words.next()?.parse().ok()?;
    let tensor = words.any(|word| matches!(word.to_ascii_lowercase().as_str(), "tc" | "tensor"));
    Some(if tensor { matrix(data) } else { Pipe::Vector(data) })
}
