//! Pooling of images: the maximum or the mean of a window, a stream of the image with a few operations for each element.

use std::str::FromStr;

use crate::{
    analysis::{Analysis, analyse},
    gpu::{DataType, Gpu, Pipe},
    kernel::{Access, Concurrency, Kernel, Traffic},
    launch::LaunchError,
    occupancy::Resources,
    op::conv::{ConvError, Phase, Shape as Conv, Sides},
    time::Timing,
    units::{Bytes, Flops},
};

/// What is taken of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The largest element.
    Max,
    /// The mean.
    Average,
}

impl Kind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Max => "max",
            Self::Average => "avg",
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "max" => Ok(Self::Max),
            "avg" => Ok(Self::Average),
            _ => Err(format!("`{text}`: write max or avg")),
        }
    }
}

/// A pooling by its sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Images.
    pub batch: u64,
    /// Channels.
    pub channels: u64,
    /// Rows and columns of the input.
    pub image: Sides,
    /// Rows and columns of a window.
    pub window: Sides,
    /// Pixels between two windows.
    pub stride: Sides,
    /// Rows and columns around the input.
    pub pad: Sides,
    /// What is taken.
    pub kind: Kind,
    /// Forward, or backward: the gradient of the input.
    pub backward: bool,
}

/// A pooling that cannot be answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PoolError {
    /// No legal sizes; a window is a filter here.
    #[error(transparent)]
    Shape(#[from] ConvError),
    /// Windows that lie outside of the image.
    #[error(
        "pad = {pad} is more than half the window of {window}: some windows would hold padding alone; pad by at most {most}"
    )]
    Pad {
        /// As given.
        pad: u64,
        /// Side of the window.
        window: u64,
        /// The most.
        most: u64,
    },
    /// Types that are not stored by themselves.
    #[error("{} has no pooling: write fp64, fp32, fp16, bf16 or int8", .0.name())]
    DataType(DataType),
    /// The kernel cannot be launched.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

/// Threads of a block, and registers of a thread.
const THREADS: u32 = 256;
const REGISTERS: u32 = 32;
/// Elements of a window from which the lanes of a warp share it.
const LANES: f64 = 32.0;
/// Most bytes of a window that a thread asks for at once.
const MOST_IN_FLIGHT: f64 = 64.0;

impl Shape {
    /// The windows as a convolution with a filter per channel, checked.
    fn windows(&self) -> Result<Conv, PoolError> {
        let windows = Conv {
            stride: self.stride,
            pad: self.pad,
            groups: self.channels,
            phase: Phase::Forward,
            ..Conv::new(self.batch, self.channels, self.image, self.channels, self.window)
        };
        for (pad, window) in self.pad.each().into_iter().zip(self.window.each()) {
            if pad > window / 2 {
                return Err(PoolError::Pad { pad, window, most: window / 2 });
            }
        }
        Ok(windows.checked()?)
    }
}

/// Analyses a pooling.
///
/// # Errors
/// There is no such pooling, the type has none, or the launch is beyond any GPU.
pub fn pooling(gpu: &Gpu, shape: &Shape, input: DataType) -> Result<Analysis, PoolError> {
    let windows = shape.windows()?;
    let size = match input {
        DataType::Fp64 => 8.0,
        DataType::Fp32 => 4.0,
        DataType::Fp16 | DataType::Bf16 => 2.0,
        DataType::Int8 => 1.0,
        _ => return Err(PoolError::DataType(input)),
    };
    let [image, _, output] = windows.elements();
    // Backward: the gradient of the output comes in, that of the input goes out; the maximum is looked for again.
    let (read, written) = match (shape.backward, shape.kind) {
        (false, _) => (image, output),
        (true, Kind::Average) => (output, image),
        (true, Kind::Max) => (image + 2.0 * output, image),
    };
    let (read, written) = (Bytes(read * size), Bytes(written * size));
    let wide = if input == DataType::Fp64 { DataType::Fp64 } else { DataType::Fp32 };
    let taps = shape.window.height as f64 * shape.window.width as f64;
    let shared = taps >= LANES && !shape.backward;
    let pipe = Pipe::Vector(wide);
    let operations = if gpu.rate(pipe).is_some() { vec![(pipe, Flops(output * taps))] } else { Vec::new() };
    let kernel = Kernel {
        name: name(shape, input),
        resources: Resources { threads_per_block: THREADS, registers_per_thread: REGISTERS, ..Resources::default() },
        operations,
        warp_instructions: None,
        traffic: Traffic {
            dram: Access { read, write: written, ..Access::default() },
            // Windows that overlap meet in L1.
            ..Traffic::default()
        },
        concurrency: Concurrency {
            bytes_in_flight: (if shared { size } else { taps * size }).min(MOST_IN_FLIGHT),
            ..Concurrency::default()
        },
        tiled: None,
    };
    let threads = if shape.backward { image } else { output * if shared { LANES } else { 1.0 } };
    let blocks = (threads / f64::from(THREADS)).ceil() as u64;
    let mut analysis = analyse(gpu, kernel, blocks, Timing::Device)?;
    let out = windows.output();
    analysis.verdict.findings.push(format!("output {} x {} of {} channels", out.height, out.width, shape.channels));
    analysis
        .verdict
        .ignored
        .push("pooling kernels of libraries, which were never measured: the general model of a stream".into());
    Ok(analysis)
}

/// "pool max 32x64x112x112, window 3 stride 2 pad 1, fp16".
fn name(shape: &Shape, input: DataType) -> String {
    let phase = if shape.backward { " bwd" } else { "" };
    format!(
        "pool {}{phase} {}x{}x{}x{}, window {} stride {} pad {}, {}",
        shape.kind.word(),
        shape.batch,
        shape.channels,
        shape.image.height,
        shape.image.width,
        shape.window,
        shape.stride,
        shape.pad,
        input.name()
    )
}
