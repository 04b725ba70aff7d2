//! `chart elementwise` and `chart rowwise`: bandwidth and time over the size.

use anyhow::{Result, bail};
use clap::{Args as ClapArgs, ValueEnum};

use super::Drawing;
use crate::{
    chart::{
        Chart, MOST_SERIES, Theme,
        figures::{elementwise_figure, rowwise_figure},
    },
    cli::args::GpuArgs,
    gpu::DataType,
    op::{
        gemm::Range,
        rowwise::{Kind, What},
    },
};

#[derive(ClapArgs)]
pub struct ElementwiseArgs {
    /// Kind of the kernel, such as add, gelu, copy
    kind: Kind,
    /// Type of the elements
    #[arg(long, value_name = "TYPE", default_value = "bf16")]
    dtype: DataType,
    /// Elements of a tensor
    #[arg(long, value_name = "LOW:HIGH", default_value = "262144:134217728")]
    range: Range,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    pub drawing: Drawing,
}

#[derive(Clone, Copy, ValueEnum)]
enum RowOperation {
    Softmax,
    Layernorm,
    Rmsnorm,
    Reduction,
}

#[derive(ClapArgs)]
pub struct RowArgs {
    /// The operation
    operation: RowOperation,
    /// Rows; several times for a curve each, six at most
    #[arg(long, value_name = "COUNT", default_values = ["64", "1024", "16384"])]
    rows: Vec<u64>,
    /// Type of the elements
    #[arg(long, value_name = "TYPE", default_value = "bf16")]
    dtype: DataType,
    /// Columns: the length of a row
    #[arg(long, value_name = "LOW:HIGH", default_value = "32:65536")]
    range: Range,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    pub drawing: Drawing,
}

fn ends(range: Range) -> Result<(u64, u64)> {
    if range.step.is_some() {
        bail!("--range takes LOW:HIGH here: sizes grow by an eighth of a doubling");
    }
    Ok((range.low, range.high))
}

/// The figure of an element-wise kernel.
pub fn elementwise(args: &ElementwiseArgs, theme: Theme) -> Result<Chart> {
    let (gpu, _) = args.gpu.resolve_one(&args.gpu.folder.catalog()?)?;
    Ok(elementwise_figure(&gpu, args.kind, args.dtype, ends(args.range)?)?.draw(theme))
}

/// The figure of an operation over rows.
pub fn rows(args: &RowArgs, theme: Theme) -> Result<Chart> {
    let (gpu, _) = args.gpu.resolve_one(&args.gpu.folder.catalog()?)?;
    if args.rows.len() > MOST_SERIES {
        bail!("--rows was given {} times: at most {MOST_SERIES} curves can be told apart", args.rows.len());
    }
    let what = match args.operation {
        RowOperation::Softmax => What::Softmax,
        RowOperation::Layernorm => What::LayerNorm,
        RowOperation::Rmsnorm => What::RmsNorm,
        RowOperation::Reduction => What::Reduction { full: false },
    };
    Ok(rowwise_figure(&gpu, what, args.dtype, &args.rows, ends(args.range)?)?.draw(theme))
}
