//! rocprofiler-compute: `roofline.csv`, a header and a row per device (of an MI200 per die), in GB/s, GFLOP/s and GOP/s.
//! `HBMBw` stands beside `HBMBwLow` and `HBMBwHigh`, the ends of its confidence interval, which are not ceilings; versions
//! differ in the case of letters, in columns, and name the device `device` or `devID`.

use super::{Ceiling, Ceilings, Memory, Tool, What, matrix, possible, short};
use crate::{
    gpu::{DataType, Pipe},
    units::plural,
};

/// Whether a text begins with the header of a result.
pub(super) fn detect(text: &str) -> bool {
    let header = text.lines().next().unwrap_or_default();
    let known = header.split(',').map(|name| name.trim_matches([' ', '"'])).filter(|name| what(name).is_some());
    let known: Vec<&str> = known.collect();
    known.iter().any(|name| name.eq_ignore_ascii_case("HBMBw")) || known.len() > 2
}

/// Reads a result.
pub(super) fn read(text: &str) -> Ceilings {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let header = reader.headers().cloned().unwrap_or_default();
    // Files that were put together have the header again.
    let again = |row: &csv::StringRecord| row.iter().map(str::trim).eq(header.iter().map(str::trim));
    let rows: Vec<csv::StringRecord> = reader.records().filter_map(Result::ok).filter(|row| !again(row)).collect();
    let mut found = Ceilings {
        tool: Tool::RocprofCompute,
        ceilings: Vec::new(),
        devices: rows.len(),
        gpu: None,
        cpu: None,
        notes: Vec::new(),
    };
    if rows.is_empty() {
        found.notes.push("a header and no row of a device".into());
        return found;
    }
    let mut zero = Vec::new();
    for (place, name) in header.iter().enumerate() {
        let Some(what) = what(name) else { continue };
        let cells: Vec<&str> = rows.iter().map(|row| row.get(place).unwrap_or_default().trim()).collect();
        let rate = |cell: &&str| cell.parse::<f64>().ok().map(|giga| giga * 1e9).filter(|rate| possible(*rate));
        let rates: Vec<f64> = cells.iter().filter_map(rate).collect();
        let none = |cell: &&&str| cell.parse::<f64>() == Ok(0.0);
        let bad: Vec<(usize, &&str)> = cells.iter().enumerate().filter(|(_, cell)| rate(cell).is_none()).collect();
        if !bad.is_empty() && bad.iter().all(|(_, cell)| none(cell)) && rates.is_empty() {
            zero.push(name.trim());
        } else if let Some((row, cell)) = bad.first() {
            let more = if bad.len() > 1 { format!(" and {} more", bad.len() - 1) } else { String::new() };
            let value = if cell.is_empty() { "an empty cell".into() } else { format!("`{}`", short(cell)) };
            let line = rows[*row].position().map_or(0, csv::Position::line);
            let name = short(name);
            found.notes.push(format!("{name} of line {line}{more} was left out: {value} is no rate above 0"));
        }
        found.ceilings.extend(Ceiling::of(name, what, rates));
    }
    if !zero.is_empty() {
        found.notes.push(format!("0 in the file, so not measured: {}", zero.join(", ")));
    }
    if rows.len() > 1 {
        found.notes.push(format!("{} are in the file; their median was taken", plural(rows.len() as u64, "device")));
    }
    found
}

/// What a column holds; absent of those that hold no ceiling.
fn what(column: &str) -> Option<What> {
    let name = column.trim().to_ascii_lowercase();
    if let Some(memory) = name.strip_suffix("bw") {
        return Some(What::Bandwidth(match memory {
            "hbm" => Memory::Dram,
            "l2" => Memory::L2,
            "l1" => Memory::L1,
            "lds" => Memory::Shared,
            "mall" => Memory::Other,
            _ => return None,
        }));
    }
    let unit = name.strip_suffix("flops").or_else(|| name.strip_suffix("ops"))?;
    let (unit, on_matrix) = unit.strip_prefix("mfma").map_or((unit, false), |rest| (rest, true));
    let data = match unit {
        "f64" | "fp64" => DataType::Fp64,
        "f32" | "fp32" => DataType::Fp32,
        "xf32" => DataType::Tf32,
        "f16" | "fp16" => DataType::Fp16,
        "bf16" => DataType::Bf16,
        "f8" | "fp8" => DataType::Fp8,
        "f6" => DataType::Fp6,
        "f4" => DataType::Fp4,
        "i32" => DataType::Int32,
        "i8" => DataType::Int8,
        // There are columns for types that no GPU file has.
        "i64" => return Some(What::Rate(None)),
        _ => return None,
    };
    Some(What::Rate(Some(if on_matrix { matrix(data) } else { Pipe::Vector(data) })))
}
