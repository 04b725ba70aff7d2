//! `gemm`: a matrix product by its shape.

use anyhow::{Context, Result};
use clap::Args as ClapArgs;

use super::{
    args::{GpuArgs, ReportArgs},
    show::{self, Outcome},
};
use crate::{
    gpu::DataType,
    op::gemm::{Request, Reuse, Shape, product},
    report::RowError,
    time::Timing,
};

#[derive(ClapArgs)]
pub struct Args {
    /// Rows of A and C
    m: u64,
    /// Columns of B and C
    n: u64,
    /// Columns of A, rows of B
    k: u64,
    #[command(flatten)]
    gpu: GpuArgs,
    /// Products of this shape in one kernel
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    batch: u64,
    /// Type of A and B: fp64, fp32, tf32, fp16, bf16, fp8, fp4, int8
    #[arg(long, value_name = "TYPE", default_value = "bf16")]
    dtype: DataType,
    /// The weights (B) are 2:4 sparse
    #[arg(long)]
    sparse: bool,
    /// Nothing is in L2 at the start; without this and --warm the weights are cold and the activations warm
    #[arg(long, conflicts_with = "warm")]
    cold: bool,
    /// The same product again and again: what fits in L2 is there
    #[arg(long)]
    warm: bool,
    /// Include what the host adds to a launch
    #[arg(long)]
    launch_overhead: bool,
    #[command(flatten)]
    report: ReportArgs,
}

pub fn run(args: Args) -> Result<u8> {
    let catalog = args.gpu.folder.catalog()?;
    let (gpus, assumptions) = args.gpu.resolve(&catalog)?;
    let request = Request {
        shape: Shape::new(args.batch, args.m, args.n, args.k)?,
        input: args.dtype,
        sparse: args.sparse,
        reuse: match (args.cold, args.warm) {
            (true, _) => Reuse::Cold,
            (_, true) => Reuse::Warm,
            _ => Reuse::ColdWeights,
        },
        timing: if args.launch_overhead { Timing::Launch } else { Timing::Device },
    };
    let mut outcome = Outcome { assumptions, ..Outcome::default() };
    if request.reuse == Reuse::ColdWeights {
        let text = "weights come from DRAM, activations and output are in L2 as far as they fit (--cold, --warm)";
        outcome.assumptions.push(text.into());
    }
    for gpu in &gpus {
        match product(gpu, &request) {
            Ok(found) => outcome.add_product(found),
            Err(error) if gpus.len() == 1 => return Err(error).context("the product is refused"),
            Err(error) => outcome.errors.push(RowError {
                row: None,
                kernel: "gemm".into(),
                gpu: Some(gpu.id.clone()),
                message: error.to_string(),
            }),
        }
    }
    show::finish(outcome, &args.report)
}
