//! `gemm`: a matrix product by its shape.

mod types;

use std::str::FromStr;

use anyhow::{Result, bail};
use clap::Args as ClapArgs;

use super::{
    args::tile,
    operation::{Called, OperationArgs},
};
use crate::{
    gpu::{DataKind, DataType, TileSchedule},
    op::gemm::{Force, Groups, Products, Request, Reuse, Shape, product, quantisation},
    time::Timing,
};

/// Rows of a product, or of each product of a grouped one.
#[derive(Clone, Debug)]
pub struct Heights(Vec<u64>);

impl FromStr for Heights {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let height = |part: &str| {
            part.trim()
                .parse()
                .map_err(|_| format!("`{part}` is no whole number from 1 up; several are joined by commas"))
        };
        Ok(Self(text.split(',').map(height).collect::<Result<_, _>>()?))
    }
}

/// A product by its shape.
#[derive(ClapArgs, Clone, Debug)]
pub struct ShapeArgs {
    /// Rows of A and C; of a grouped product the rows of each, joined by commas
    #[arg(value_name = "M")]
    m: Heights,
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
    /// What the operands hold: long products of random numbers draw more power and lose clock
    #[arg(long, value_name = "random|uninitialised", default_value = "random")]
    pub operands: DataKind,
    /// How tiles reach the SMs, instead of the way of the GPU's family: a block per tile, or blocks that stay
    #[arg(long, value_name = "classic|persistent", value_parser = schedule)]
    pub schedule: Option<TileSchedule>,
    /// So many shares of k instead of the fastest number
    #[arg(long, value_name = "COUNT")]
    pub split: Option<u32>,
}

impl ShapeArgs {
    /// The checked shape of equal products.
    pub fn shape(&self) -> Result<Shape> {
        match self.m.0[..] {
            [m] => Ok(Shape::new(self.batch, m, self.n, self.k)?),
            _ => bail!("M = {} heights: this takes products of one height", self.m.0.len()),
        }
    }

    /// The checked shape, and the heights of a grouped product; those of equal ones are left out.
    fn products(&self) -> Result<(Shape, Vec<u64>)> {
        if self.m.0.len() == 1 {
            return Ok((self.shape()?, Vec::new()));
        }
        if self.batch > 1 {
            bail!("--batch {} repeats a product of one height; M names {}", self.batch, self.m.0.len());
        }
        Ok((Groups::new(&self.m.0, self.n, self.k)?.outline(), self.m.0.clone()))
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

fn schedule(text: &str) -> Result<TileSchedule, String> {
    match text {
        "classic" => Ok(TileSchedule::Classic),
        "persistent" => Ok(TileSchedule::Persistent),
        _ => Err("write classic (a block per tile) or persistent (blocks that stay and take tiles)".into()),
    }
}

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    product: ShapeArgs,
    /// The tile instead of the fastest one
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = tile)]
    tile: Option<(u32, u32)>,
    /// The activations come in 16 bits: show the pass that narrows them to FP8, FP4 or INT8 as a kernel of its own
    #[arg(long)]
    quantise: bool,
    /// Include what the host adds to a launch
    #[arg(long)]
    launch_overhead: bool,
    /// A table of every type that the GPU multiplies, dense and 2:4 sparse, with the speed-up against --dtype
    #[arg(long, conflicts_with_all = ["quantise", "tile", "split", "out", "fail_if", "full"])]
    types: bool,
    #[command(flatten)]
    operation: OperationArgs,
}

pub fn run(args: Args) -> Result<u8> {
    let (shape, groups) = args.product.products()?;
    let request = Request {
        shape,
        groups,
        input: args.product.dtype,
        sparse: args.product.sparse,
        reuse: args.product.reuse(),
        data: args.product.operands,
        force: Force { tile: args.tile, splits: args.product.split },
        schedule: args.product.schedule,
        timing: if args.launch_overhead { Timing::Launch } else { Timing::Device },
    };
    if args.types {
        return types::run(&request, &args.operation);
    }
    let mut assumptions = Vec::new();
    if request.reuse == Reuse::ColdWeights {
        let text = "weights come from DRAM, activations and output are in L2 as far as they fit (--cold, --warm)";
        assumptions.push(text.into());
    }
    if request.data == DataKind::default() {
        assumptions.push("operands of random numbers (--operands)".into());
    }
    args.operation.run(Called { name: "gemm", what: "the product" }, assumptions, &|gpu, outcome| {
        let mut found = product(gpu, &request)?;
        if args.quantise {
            let Some(pass) = quantisation(gpu, &request, &found.precision)? else {
                bail!("--quantise is for types narrower than 16 bits; {} is none", request.input.name());
            };
            let both = pass.time.estimate + found.analysis.time.estimate;
            let text = format!("with the pass that narrows the activations before it: {both}");
            found.analysis.verdict.findings.insert(0, text);
            outcome.add(pass);
        }
        outcome.add_product(found);
        Ok(())
    })
}
