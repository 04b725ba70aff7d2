//! Tables of measured matrix products, sorted by GPU and ready to be predicted again and again.

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::{Context, Result, bail};
use wavecast::{
    gpu::{Catalog, Gpu, Pipe},
    op::{
        gemm::{Planner, Precision, Reuse, Shape},
        table::{Columns, Request, Timing},
    },
    validate::Needs,
};

/// Folds of the pairs (n, k).
pub const FOLDS: usize = 3;

/// A measured product.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The product.
    pub shape: Shape,
    /// What was in L2.
    pub reuse: Reuse,
    /// Seconds.
    pub measured: f64,
    /// What a roofline needs.
    pub needs: Needs,
}

impl Row {
    /// The fold of the row: that of its weights, so that products with other m are in the same fold.
    pub fn fold(&self) -> usize {
        let bytes = self.shape.n.to_le_bytes().into_iter().chain(self.shape.k.to_le_bytes());
        // FNV-1a: equal on every machine. Its lowest bits mix least.
        let hash =
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        ((hash >> 32) % FOLDS as u64) as usize
    }
}

/// A GPU with its rows.
#[derive(Clone, Debug)]
pub struct Board {
    /// The GPU with the constants of the table.
    pub gpu: Gpu,
    /// Types of the products.
    pub precision: Precision,
    /// Its rows, as in the files.
    pub rows: Vec<Row>,
}

impl Board {
    /// A planner with the constants that the GPU now has.
    pub fn planner(gpu: &Gpu, precision: Precision) -> Planner {
        Planner::new(gpu, precision).expect("a board was read with a precision that its GPU has")
    }

    /// About so many of some rows, evenly spaced.
    pub fn thinned(rows: &[Row], most: usize) -> Vec<Row> {
        rows.iter().step_by(rows.len().div_ceil(most.max(1)).max(1)).copied().collect()
    }
}

/// The boards of some files by the names of their GPUs, and why rows were left out.
///
/// # Errors
/// A file cannot be read, lacks a column, or no row is left.
pub fn read(files: &[PathBuf], catalog: &Catalog) -> Result<(Vec<Board>, BTreeMap<String, u64>)> {
    let mut boards: BTreeMap<String, Board> = BTreeMap::new();
    let mut left_out = BTreeMap::new();
    for path in files {
        let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes.as_slice());
        let header = reader.byte_headers().with_context(|| format!("{} has no header", path.display()))?.clone();
        let columns = Columns::new(&header).with_context(|| path.display().to_string())?;
        for record in reader.byte_records() {
            let record = record.with_context(|| format!("{} is no CSV", path.display()))?;
            if let Err(reason) = add(&columns, &record, catalog, &mut boards) {
                *left_out.entry(reason).or_default() += 1;
            }
        }
    }
    if boards.is_empty() {
        bail!("no row can be used: {left_out:?}; give measured 16-bit products, timing = device");
    }
    Ok((boards.into_values().collect(), left_out))
}

fn add(
    columns: &Columns,
    record: &csv::ByteRecord,
    catalog: &Catalog,
    boards: &mut BTreeMap<String, Board>,
) -> Result<(), String> {
    let measured = columns.measured(record).map_err(|e| e.to_string())?.ok_or("measured_us is empty")?;
    let request: Request = columns.request(record).map_err(|e| e.to_string())?;
    if request.timing != Timing::Device {
        return Err("the time of the host is inside".into());
    }
    let protocol = |gpu: &Gpu| catalog.protocol(request.source, request.op, gpu);
    let data = |gpu: &Gpu| protocol(gpu).map_or(gpu.calibration.data, |protocol| protocol.data);
    if !boards.contains_key(request.gpu) {
        let mut gpu = catalog.find(request.gpu).map_err(|e| e.to_string())?.gpu;
        gpu.calibration.data = data(&gpu);
        let precision = Precision::new(&gpu, request.data, request.sparse).map_err(|e| e.to_string())?;
        if !matches!(precision.pipe, Pipe::Tensor { .. }) || precision.input_bytes != 2.0 || request.sparse {
            return Err("no dense product of 16 bits on tensor cores".into());
        }
        boards.insert(request.gpu.into(), Board { gpu, precision, rows: Vec::new() });
    }
    let Some(board) = boards.get_mut(request.gpu) else { return Ok(()) };
    if board.precision.input != request.data || request.sparse {
        return Err("another type than the first row of its GPU".into());
    }
    if data(&board.gpu) != board.gpu.calibration.data {
        return Err("operands of another kind than in the first row of its GPU".into());
    }
    let reuse = match request.weight_copies.or(protocol(&board.gpu).map(|p| p.weight_copies)) {
        None => Reuse::ColdWeights,
        Some(1) => Reuse::Warm,
        Some(copies) => Reuse::Rotated(copies),
    };
    let shape = request.shape;
    let elements = shape.m * shape.k + shape.k * shape.n + shape.m * shape.n;
    let peak = board.gpu.peak(board.precision.pipe).ok_or("the GPU has no such unit")?.get();
    let needs = Needs {
        math: shape.flop() / peak,
        memory: 2.0 * (shape.batch * elements) as f64 / board.gpu.memory.dram.bandwidth.get(),
    };
    board.rows.push(Row { shape, reuse, measured, needs });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_by_gpu_and_pairs_stay_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("measured.csv");
        let mut text = String::from("gpu,op,dtype,m,n,k,timing,measured_us\n");
        for n in 1..200 {
            for m in [1, 16, 4096] {
                text += &format!("L40S,gemm,bf16,{m},{n},64,device,{m}\n");
            }
        }
        text += "L40S,gemm,bf16,1,1,1,launch,1\nL40S,gemm,fp16,1,1,1,,1\nL4,gemm,fp32,1,1,1,,1\nL4,gemm,bf16,1,1,1,,\n";
        fs::write(&path, text).unwrap();
        let catalog = Catalog::embedded().unwrap();
        let (boards, left_out) = read(std::slice::from_ref(&path), &catalog).unwrap();
        assert_eq!((boards.len(), boards[0].rows.len(), left_out.len()), (1, 597, 4), "{left_out:?}");
        let mut sizes = [0; FOLDS];
        for rows in boards[0].rows.chunks(3) {
            let fold = rows[0].fold();
            assert!(rows.iter().all(|row| row.fold() == fold));
            sizes[fold] += 1;
        }
        assert!(sizes.iter().all(|size| (45..=90).contains(size)), "{sizes:?}");
        assert_eq!(Board::thinned(&boards[0].rows, 100).len(), 100);
        fs::write(&path, "gpu,op,dtype,m,n\n").unwrap();
        let lacking = read(std::slice::from_ref(&path), &catalog).unwrap_err();
        assert!(format!("{lacking:#}").contains("no column `k`"), "{lacking:#}");
    }
}
