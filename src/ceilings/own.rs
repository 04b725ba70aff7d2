//! A table of one's own: a CSV with the columns `name` and `rate`, a line per ceiling, and if wanted `unit`, `device` and
//! `gpu`. What a user writes is read strictly: a line that cannot be meant is refused, not left out.

use super::{Ceiling, Ceilings, CeilingsError, MOST, Memory, Tool, What, matrix, possible, short};
use crate::{
    gpu::{DataType, Pipe},
    units::{BytesPerSecond, FlopsPerSecond},
};

/// Whether a text begins with the header of such a table; lines with `#` before it are comments.
pub(super) fn detect(text: &str) -> bool {
    let header = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let names: Vec<String> =
        header.unwrap_or_default().split(',').map(|name| name.trim_matches([' ', '"']).to_ascii_lowercase()).collect();
    ["name", "rate"].into_iter().all(|wanted| names.iter().any(|name| name == wanted))
}

/// Reads a table.
pub(super) fn read(text: &str) -> Result<Ceilings, CeilingsError> {
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).comment(Some(b'#')).trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().cloned().unwrap_or_default();
    let place = |name: &str| header.iter().position(|column| column.eq_ignore_ascii_case(name));
    for name in ["name", "rate", "unit", "device", "gpu"] {
        if header.iter().filter(|column| column.eq_ignore_ascii_case(name)).count() > 1 {
            return Err(CeilingsError::Form(format!(" (two columns are called {name}: leave one)")));
        }
    }
    let (device, gpu_column, unit) = (place("device"), place("gpu"), place("unit"));
    let (Some(name), Some(rate)) = (place("name"), place("rate")) else {
        return Err(CeilingsError::Form(" (the columns name and rate are missing)".into()));
    };
    let mut groups: Vec<(String, What, Vec<f64>, Vec<String>)> = Vec::new();
    let mut gpu: Option<String> = None;
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(0, csv::Position::line);
            CeilingsError::Line { line, what: format!("not a line of a CSV: {error}") }
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        let wrong = |what: String| CeilingsError::Line { line, what };
        let cell = |place: Option<usize>| place.and_then(|place| record.get(place)).unwrap_or_default();
        let called = cell(Some(name));
        if called.is_empty() {
            return Err(wrong("name is empty: write what was measured, such as DRAM, L2 or tensor.bf16".into()));
        }
        let (what, value) = one(called, cell(Some(rate)), cell(unit)).map_err(wrong)?;
        let on = cell(gpu_column);
        match &gpu {
            _ if on.is_empty() => {}
            None => gpu = Some(on.into()),
            Some(first) if first.eq_ignore_ascii_case(on) => {}
            Some(first) => {
                return Err(wrong(format!("gpu is `{}` after `{}`: a table is of one GPU", short(on), short(first))));
            }
        }
        let device = cell(device).to_owned();
        match groups.iter_mut().find(|(other, ..)| other.eq_ignore_ascii_case(called)) {
            None => groups.push((called.to_owned(), what, vec![value], vec![device])),
            Some((_, other, ..)) if *other != what => {
                return Err(wrong(format!("`{}` is a bandwidth in one line and a rate in another", short(called))));
            }
            Some((_, _, values, devices)) => {
                if devices.contains(&device) {
                    let cure = "give each line its own number in the column device, or leave one out";
                    return Err(wrong(format!("`{}` stands there twice: {cure}", short(called))));
                }
                values.push(value);
                devices.push(device);
            }
        }
    }
    let devices = groups.iter().map(|(.., devices)| devices.len()).max().unwrap_or_default();
    let mut notes = Vec::new();
    if devices > 1 {
        notes.push(format!("{devices} devices are in the file; their median was taken"));
    }
    let ceilings = groups.into_iter().filter_map(|(name, what, rates, _)| Ceiling::of(&name, what, rates)).collect();
    Ok(Ceilings { tool: Tool::Own, ceilings, devices, gpu, cpu: None, notes })
}

/// What a line gives: its unit says whether a bandwidth or a rate, its name of what.
fn one(name: &str, rate: &str, unit: &str) -> Result<(What, f64), String> {
    let text = if unit.is_empty() { rate.to_owned() } else { format!("{rate} {unit}") };
    let bandwidth = text.parse::<BytesPerSecond>().ok().map(BytesPerSecond::get);
    let number = bandwidth.or_else(|| text.parse::<FlopsPerSecond>().ok().map(FlopsPerSecond::get));
    if number.is_some_and(|value| value > MOST) {
        return Err(format!(
            "`{}` as the rate of `{}` is above 1e21, which no device reaches: write \"1.4 TB/s\" or \"19 TFLOP/s\"",
            short(&text),
            short(name)
        ));
    }
    let Some(value) = number.filter(|value| possible(*value)) else {
        let text = short(&text);
        return Err(format!(
            "`{text}` as the rate of `{}` is no rate above 0 with its unit: write \"1.4 TB/s\" or \"19 TFLOP/s\"",
            short(name)
        ));
    };
    let (memory, pipe) = (memory(name), pipe(name));
    match bandwidth {
        Some(_) if pipe.is_some() => {
            Err(format!("`{}` is a unit that computes and `{}` a bandwidth: write FLOP/s", short(name), short(&text)))
        }
        None if memory != Memory::Other => {
            Err(format!("`{}` is a memory and `{}` a rate of operations: write B/s", short(name), short(&text)))
        }
        Some(_) => Ok((What::Bandwidth(memory), value)),
        None => Ok((What::Rate(pipe), value)),
    }
}

/// The memory of a name, told by its first word: `DRAM copy` is one of DRAM.
fn memory(name: &str) -> Memory {
    match name.split_whitespace().next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "dram" | "hbm" | "vram" => Memory::Dram,
        "l2" => Memory::L2,
        "l1" => Memory::L1,
        "shared" | "lds" => Memory::Shared,
        _ => Memory::Other,
    }
}

/// `tensor.bf16`, `fp32` (the vector unit), or a type and the kind of unit: `BF16 tensor`.
fn pipe(name: &str) -> Option<Pipe> {
    let name = name.to_ascii_lowercase();
    if let Ok(pipe) = name.parse() {
        return Some(pipe);
    }
    let (data, kind) = name.split_once(' ').unwrap_or((&name, "vector"));
    let data: DataType = data.parse().ok()?;
    match kind.trim() {
        "vector" => Some(Pipe::Vector(data)),
        "tensor" | "matrix" => Some(matrix(data)),
        _ => None,
    }
}
