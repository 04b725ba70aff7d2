//! `pool`: a pooling of images by its sizes.

use anyhow::Result;
use clap::Args as ClapArgs;

use super::operation::{Called, OperationArgs};
use crate::{
    gpu::DataType,
    op::{
        conv::Sides,
        pool::{Kind, Shape, pooling},
    },
};

#[derive(ClapArgs)]
pub struct Args {
    /// Images
    #[arg(value_name = "N")]
    batch: u64,
    /// Channels
    #[arg(value_name = "C")]
    channels: u64,
    /// Rows of the input
    #[arg(value_name = "H")]
    height: u64,
    /// Columns of the input
    #[arg(value_name = "W")]
    width: u64,
    /// Rows and columns of a window: 3, or 3x2; H for a global pooling
    #[arg(value_name = "R|RxS")]
    window: Sides,
    /// Pixels between two windows; those of a window without this
    #[arg(long, value_name = "STRIDE")]
    stride: Option<Sides>,
    /// Rows and columns around the input, at most half a window
    #[arg(long, value_name = "PAD", default_value = "0")]
    pad: Sides,
    /// The largest element of a window, or the mean
    #[arg(long, value_name = "max|avg", default_value = "max")]
    kind: Kind,
    /// The gradient of the input instead of the output
    #[arg(long)]
    backward: bool,
    /// Type of the image: fp64, fp32, fp16, bf16, int8
    #[arg(long, value_name = "TYPE", default_value = "fp32")]
    dtype: DataType,
    #[command(flatten)]
    operation: OperationArgs,
}

pub fn run(args: Args) -> Result<u8> {
    let shape = Shape {
        batch: args.batch,
        channels: args.channels,
        image: Sides { height: args.height, width: args.width },
        window: args.window,
        stride: args.stride.unwrap_or(args.window),
        pad: args.pad,
        kind: args.kind,
        backward: args.backward,
    };
    args.operation.run(Called { name: "pool", what: "the pooling" }, Vec::new(), &|gpu, outcome| {
        outcome.add(pooling(gpu, &shape, args.dtype)?);
        Ok(())
    })
}
