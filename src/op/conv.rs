//! Convolutions of images: forward, the gradient of the input (backward data) and that of the filter (backward weight).

mod constants;
mod explain;
mod model;
mod parameters;
mod products;
mod report;
mod shape;
mod winograd;

pub use constants::{Constants, Family};
pub use model::{Algorithm, Choice, Model};
pub use parameters::{parameters, phase};
pub use products::Products;
pub use report::{Convolution, Request, convolution};
pub use shape::{Layout, Phase, Shape, Sides};

use crate::{
    gpu::DataType,
    launch::LaunchError,
    op::gemm::{PrecisionError, ShapeError},
};

/// A convolution that cannot be answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConvError {
    /// A size of 0.
    #[error("{field} = 0: {rule}")]
    Zero {
        /// Name of the size.
        field: &'static str,
        /// What is asked of it.
        rule: &'static str,
    },
    /// A size beyond any memory.
    #[error("{field} = {value}: at most {most} are taken")]
    Large {
        /// Name of the size.
        field: &'static str,
        /// As given.
        value: u64,
        /// The most.
        most: u64,
    },
    /// Channels that the groups do not share evenly.
    #[error("groups = {groups} does not divide {field} = {value}; numbers that do: {near}")]
    Groups {
        /// Groups.
        groups: u64,
        /// C or K.
        field: &'static str,
        /// Channels.
        value: u64,
        /// Divisors of both, near the groups.
        near: String,
    },
    /// A filter that does not fit anywhere.
    #[error(
        "the filter is larger than the padded input: {filter} = {extent} rows or columns with dilation, {image} = {padded} with padding; pad by {more} more on each side or take a smaller filter"
    )]
    Filter {
        /// R or S.
        filter: &'static str,
        /// Its extent with dilation.
        extent: u64,
        /// H or W.
        image: &'static str,
        /// Its extent with padding.
        padded: u64,
        /// Padding that is missing on each side.
        more: u64,
    },
    /// Text of parameters that cannot be read.
    #[error("conv_params: {what}; write N=;C=;H=;W=;K=;R=;S=;stride=;pad=;dil=;groups=;layout=")]
    Text {
        /// What is wrong.
        what: String,
    },
    /// No phase.
    #[error("phase = `{input}`: write fwd, bwd_data or bwd_weight")]
    Phase {
        /// As given.
        input: String,
    },
    /// No layout.
    #[error("layout `{input}`: write NCHW or NHWC")]
    Layout {
        /// As given.
        input: String,
    },
    /// No product of the sizes that a GPU multiplies.
    #[error("as a matrix product: {0}")]
    Product(#[from] ShapeError),
    /// The GPU has no unit for the type.
    #[error(transparent)]
    Precision(#[from] PrecisionError),
    /// A type that no library convolves.
    #[error("{} convolutions are not known: write fp64, fp32, tf32, fp16, bf16, fp8 or int8", .0.name())]
    DataType(DataType),
    /// The kernel cannot be launched.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// Convolutions run on GPUs.
    #[error("{name} is a CPU: the kernels of convolutions are known for GPUs alone")]
    Cpu {
        /// Name of the CPU.
        name: String,
    },
}
