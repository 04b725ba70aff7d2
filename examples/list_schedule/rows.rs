//! Measured prefills by GPU.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use wavecast::{
    gpu::{Catalog, DataType, Gpu},
    op::attention::{Row, Shape},
};

/// A measured prefill; the time is in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The call.
    pub shape: Shape,
    /// Its time.
    pub time: f64,
}

/// The rows of a GPU.
#[derive(Clone, Debug)]
pub struct Board {
    /// The GPU.
    pub gpu: Gpu,
    /// Its rows, in the order of the tables.
    pub rows: Vec<Measured>,
}

/// A line of a table; other columns are passed over.
#[derive(Deserialize)]
struct Line {
    gpu: String,
    op: String,
    dtype: String,
    batch: Option<u64>,
    heads_q: Option<u64>,
    heads_kv: Option<u64>,
    seq_q: Option<u64>,
    seq_kv: Option<u64>,
    head_dim: Option<u64>,
    causal: Option<u8>,
    phase: Option<String>,
    timing: Option<String>,
    measured_us: Option<f64>,
}

/// The prefills of tables by GPU, and how many rows were left out for which reason.
///
/// # Errors
/// A file cannot be read or is no such table; no row is a causal prefill in 16 bits.
pub fn read(files: &[PathBuf], catalog: &Catalog) -> Result<(Vec<Board>, BTreeMap<String, usize>)> {
    let (mut boards, mut left_out) = (BTreeMap::<String, Board>::new(), BTreeMap::new());
    for path in files {
        let mut reader = csv::Reader::from_path(path).with_context(|| format!("{} cannot be read", path.display()))?;
        for line in reader.deserialize() {
            let line: Line = line.with_context(|| format!("{} is no table of measured times", path.display()))?;
            match measured(&line) {
                Ok(row) => {
                    if !boards.contains_key(&line.gpu) {
                        let gpu = catalog.find(&line.gpu)?.gpu;
                        boards.insert(line.gpu.clone(), Board { gpu, rows: Vec::new() });
                    }
                    boards.entry(line.gpu).and_modify(|board| board.rows.push(row));
                }
                Err(reason) => *left_out.entry(reason).or_default() += 1,
            }
        }
    }
    if boards.is_empty() {
        bail!("no row can be used: {left_out:?}; give causal prefills in bf16 or fp16, timing = device");
    }
    Ok((boards.into_values().collect(), left_out))
}

fn measured(line: &Line) -> Result<Measured, String> {
    let data: Result<DataType, _> = line.dtype.parse();
    let sixteen = data.is_ok_and(|data| [DataType::Bf16, DataType::Fp16].contains(&data));
    if line.op != "attention" || !sixteen || line.timing.as_deref() != Some("device") || line.causal != Some(1) {
        return Err("no causal attention in 16 bits with the time of the device".into());
    }
    let row = Row {
        batch: line.batch,
        heads_q: line.heads_q.ok_or("heads_q is empty")?,
        heads_kv: line.heads_kv,
        seq_q: line.seq_q,
        seq_kv: line.seq_kv,
        head_dim: line.head_dim.ok_or("head_dim is empty")?,
        causal: Some(true),
        phase: line.phase.as_deref(),
        window: None,
    };
    let shape = row.shape().map_err(|e| e.to_string())?;
    if shape.seq_q == 1 {
        return Err("a single query".into());
    }
    let time = line.measured_us.filter(|time| *time > 0.0).ok_or("measured_us is empty")? * 1e-6;
    Ok(Measured { shape, time })
}

/// About so many rows, evenly spaced.
pub fn thinned(rows: &[Measured], most: usize) -> Vec<Measured> {
    let most = most.clamp(1, rows.len().max(1));
    (0..most).filter_map(|place| rows.get(place * rows.len() / most).copied()).collect()
}
