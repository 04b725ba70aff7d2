//! Figures of element-wise and row-wise operations over their size.

use super::caption;
use crate::{
    chart::{Bandwidth, BandwidthSample, BandwidthSeries},
    gpu::{DataType, Gpu},
    op::{
        estimate::Estimate,
        rowwise::{Kind, Model, ModelError, Operation, OperationError, Regime, What},
    },
    units::plural,
};

/// Why there is no figure.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BandwidthFigureError {
    /// The GPU.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A size.
    #[error(transparent)]
    Operation(#[from] OperationError),
    /// A range without sizes.
    #[error("{low}:{high} is no range of sizes: write LOW:HIGH with LOW from 1 and HIGH above it, at most 2^40")]
    Range {
        /// Lowest size.
        low: u64,
        /// Highest size.
        high: u64,
    },
}

/// Sizes for each doubling.
const PER_DOUBLING: f64 = 8.0;

/// Sizes between both ends, evenly on a logarithmic scale, both ends among them.
fn sizes((low, high): (u64, u64)) -> Result<Vec<u64>, BandwidthFigureError> {
    if low == 0 || high <= low || high > 1 << 40 {
        return Err(BandwidthFigureError::Range { low, high });
    }
    let count = libm::ceil(libm::log2(high as f64 / low as f64) * PER_DOUBLING).max(1.0) as u32;
    let size = |i: u32| low as f64 * libm::pow(high as f64 / low as f64, f64::from(i) / f64::from(count));
    let mut sizes: Vec<u64> = (0..=count).map(|i| libm::round(size(i)) as u64).collect();
    sizes.dedup();
    Ok(sizes)
}

fn sample(size: f64, operation: &Operation, estimate: &Estimate) -> BandwidthSample {
    let (read, written) = operation.traffic();
    BandwidthSample {
        size,
        gb_per_s: (read + written) / estimate.time / 1e9,
        time_us: estimate.time * 1e6,
        regime: Regime::of(estimate).word().into(),
    }
}

/// An element-wise kernel by the elements of its tensor: operands from DRAM, and operands that the launch before left in L2.
///
/// # Errors
/// The GPU is a CPU, the range holds no sizes, or nothing computes with the type.
pub fn elementwise_figure(
    gpu: &Gpu,
    kind: Kind,
    data: DataType,
    range: (u64, u64),
) -> Result<Bandwidth, BandwidthFigureError> {
    let model = Model::new(gpu)?;
    let mut series = Vec::new();
    for (label, warm) in [("operands in DRAM", false), ("operands in L2", true)] {
        let mut samples = Vec::new();
        for elements in sizes(range)? {
            let operation = Operation { warm, ..Operation::elementwise(kind, 1, elements, data)? };
            let (read, written) = operation.traffic();
            samples.push(sample(read + written, &operation, &model.estimate(&operation)));
        }
        series.push(BandwidthSeries { label: label.into(), samples });
    }
    let title = format!("{} of {} elements", kind.name(), data.name());
    let first = model.estimate(&Operation::elementwise(kind, 1, range.1, data)?);
    let constants = format!("constants: {}", first.of);
    Ok(Bandwidth {
        caption: caption(
            &title,
            gpu,
            &["the device alone is timed", "what fits in L2 is there, or nothing is", &constants],
        ),
        subtitle: "Strips: what decides over the time. Every operand counts once".into(),
        over: "Bytes read and written".into(),
        column: "bytes".into(),
        series,
        dram_gb_per_s: gpu.memory.dram.bandwidth.get() / 1e9,
    })
}

/// An operation over rows by the length of its rows, one curve per number of rows.
///
/// # Errors
/// The GPU is a CPU, the range holds no sizes, or nothing computes with the type.
pub fn rowwise_figure(
    gpu: &Gpu,
    what: What,
    data: DataType,
    rows: &[u64],
    range: (u64, u64),
) -> Result<Bandwidth, BandwidthFigureError> {
    let model = Model::new(gpu)?;
    let mut series = Vec::new();
    let mut of = String::new();
    for rows in rows {
        let mut samples = Vec::new();
        for cols in sizes(range)? {
            let operation = Operation::new(what, *rows, cols, data)?;
            let estimate = model.estimate(&operation);
            of = format!("constants: {}", estimate.of);
            samples.push(sample(cols as f64, &operation, &estimate));
        }
        series.push(BandwidthSeries { label: plural(*rows, "row"), samples });
    }
    let name = Operation::new(what, 1, 1, data)?.name();
    let title = format!("{name} of {} rows by their length", data.name());
    let assumptions = ["the device alone is timed", "operands come from DRAM", &of];
    Ok(Bandwidth {
        caption: caption(&title, gpu, &assumptions),
        subtitle:
            "Strips: what decides over the time. Operand and result count once; re-reads that miss L2 cost bandwidth"
                .into(),
        over: "Columns".into(),
        column: "cols".into(),
        series,
        dram_gb_per_s: gpu.memory.dram.bandwidth.get() / 1e9,
    })
}
