//! `gemm`: a matrix product by its shape.

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;

use super::{
    args::{GpuArgs, ReportArgs, tile},
    show::{self, Outcome},
};
use crate::{
    gpu::DataType,
    op::gemm::{Force, Request, Reuse, Shape, ShapeError, product, quantisation},
    report::RowError,
    time::Timing,
};

/// A product by its shape.
#[derive(ClapArgs, Clone, Debug)]
pub struct ShapeArgs {
    /// Rows of A and C
    m: u64,
    /// Columns of B and C
    n: u64,
    /// Columns of A, rows of B
    k: u64,
    /// Products of this shape in one kernel
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    batch: u64,
    /// Type of A and B: fp64, fp32, tf32, fp16, bf16, fp8, fp4, int8
    #[arg(long, value_name = "TYPE", default_value = "bf16")]
    pub dtype: DataType,
    /// The weights (B) are 2:4 sparse
    #[arg(long)]
    pub sparse: bool,
    /// Nothing is in L2 at the start; without this and --warm the weights are cold and the activations warm
    #[arg(long, conflicts_with = "warm")]
    cold: bool,
    /// The same product again and again: what fits in L2 is there
    #[arg(long)]
    warm: bool,
    /// So many shares of k instead of the fastest number
    #[arg(long, value_name = "COUNT")]
    pub split: Option<u32>,
}

impl ShapeArgs {
    /// The checked shape.
    pub fn shape(&self) -> Result<Shape, ShapeError> {
        Shape::new(self.batch, self.m, self.n, self.k)
    }

    /// What L2 holds at the start.
    pub fn reuse(&self) -> Reuse {
        match (self.cold, self.warm) {
            (true, _) => Reuse::Cold,
            (_, true) => Reuse::Warm,
            _ => Reuse::ColdWeights,
        }
    }
}

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    product: ShapeArgs,
    #[command(flatten)]
    gpu: GpuArgs,
    /// The tile instead of the fastest one
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = tile)]
    tile: Option<(u32, u32)>,
    /// The activations come in 16 bits: show the pass that narrows them to FP8, FP4 or INT8 as a kernel of its own
    #[arg(long)]
    quantise: bool,
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
        shape: args.product.shape()?,
        input: args.product.dtype,
        sparse: args.product.sparse,
        reuse: args.product.reuse(),
        force: Force { tile: args.tile, splits: args.product.split },
        timing: if args.launch_overhead { Timing::Launch } else { Timing::Device },
    };
    let mut outcome = Outcome { assumptions, ..Outcome::default() };
    if request.reuse == Reuse::ColdWeights {
        let text = "weights come from DRAM, activations and output are in L2 as far as they fit (--cold, --warm)";
        outcome.assumptions.push(text.into());
    }
    for gpu in &gpus {
        match product(gpu, &request) {
            Ok(found) => {
                if args.quantise {
                    match quantisation(gpu, &request, &found.precision)? {
                        Some(pass) => outcome.add(pass),
                        None => {
                            bail!("--quantise is for types narrower than 16 bits; {} is none", request.input.name())
                        }
                    }
                }
                outcome.add_product(found);
            }
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
