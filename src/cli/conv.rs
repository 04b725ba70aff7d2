//! `conv`: a convolution by its sizes.

use anyhow::Result;
use clap::Args as ClapArgs;

use super::operation::{Called, OperationArgs};
use crate::{
    gpu::{DataKind, DataType},
    op::{
        conv::{Layout, Phase, Request, Shape, Sides, convolution},
        gemm::Reuse,
    },
};

#[derive(ClapArgs)]
pub struct Args {
    /// Images
    #[arg(value_name = "N")]
    batch: u64,
    /// Channels of the input
    #[arg(value_name = "C")]
    channels: u64,
    /// Rows of the input
    #[arg(value_name = "H")]
    height: u64,
    /// Columns of the input
    #[arg(value_name = "W")]
    width: u64,
    /// Filters: channels of the output
    #[arg(value_name = "K")]
    filters: u64,
    /// Rows and columns of a filter: 3, or 1x7
    #[arg(value_name = "R|RxS")]
    filter: Sides,
    /// Pixels between two places of the filter: 2, or 2x1 for height and width
    #[arg(long, value_name = "STRIDE", default_value = "1")]
    stride: Sides,
    /// Rows and columns of zeros on each side of the input
    #[arg(long, value_name = "PAD", default_value = "0")]
    pad: Sides,
    /// Pixels between two elements of the filter
    #[arg(long, value_name = "DILATION", default_value = "1")]
    dilation: Sides,
    /// Groups of channels that are convolved by themselves; as many as C is a depthwise convolution
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    groups: u64,
    /// Order in memory
    #[arg(long, value_name = "NCHW|NHWC", default_value = "NCHW")]
    layout: Layout,
    /// The pass: output, gradient of the input, gradient of the filter
    #[arg(long, value_name = "fwd|bwd_data|bwd_weight", default_value = "fwd")]
    phase: Phase,
    /// Type of image and filter: fp64, fp32, tf32, fp16, bf16, fp8, int8
    #[arg(long, value_name = "TYPE", default_value = "fp32")]
    dtype: DataType,
    /// Nothing is in L2 at the start; without this and --warm the filter is cold and the images warm
    #[arg(long, conflicts_with = "warm")]
    cold: bool,
    /// The same convolution again and again: what fits in L2 is there
    #[arg(long)]
    warm: bool,
    /// What the operands hold: long products of random numbers draw more power and lose clock
    #[arg(long, value_name = "random|uninitialised", default_value = "random")]
    operands: DataKind,
    #[command(flatten)]
    operation: OperationArgs,
}

impl Args {
    fn request(&self) -> Request {
        let image = Sides { height: self.height, width: self.width };
        let shape = Shape {
            stride: self.stride,
            pad: self.pad,
            dilation: self.dilation,
            groups: self.groups,
            layout: self.layout,
            phase: self.phase,
            ..Shape::new(self.batch, self.channels, image, self.filters, self.filter)
        };
        let reuse = match (self.cold, self.warm) {
            (true, _) => Reuse::Cold,
            (_, true) => Reuse::Warm,
            _ => Reuse::ColdWeights,
        };
        Request { shape, input: self.dtype, reuse, data: self.operands }
    }
}

pub fn run(args: Args) -> Result<u8> {
    let request = args.request();
    let mut assumptions = Vec::new();
    if request.reuse == Reuse::ColdWeights {
        assumptions.push("the filter comes from DRAM, images are in L2 as far as they fit (--cold, --warm)".into());
    }
    args.operation.run(Called { name: "conv", what: "the convolution" }, assumptions, &|gpu, outcome| {
        let found = convolution(gpu, &request)?;
        outcome.add_operation(found.analysis, &found.of, |kernel| {
            kernel.tile = found.choice.tile.map(|(height, width)| format!("{height}x{width}"));
            kernel.splits = Some(found.choice.splits);
            kernel.choices = found.choices;
        });
        Ok(())
    })
}
