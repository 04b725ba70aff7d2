//! The band of a product: where four of five measured times lie, given the predicted one.

use super::{Precision, Shape};
use crate::{
    gpu::{Band, DataType, Gpu, Pipe},
    units::Seconds,
};

/// What no measurement stands behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncalibrated {
    /// The data type, or 2:4 sparsity.
    Type,
    /// n or k is no multiple of 32.
    Alignment,
    /// Several products on tensor cores.
    Batch,
}

impl Uncalibrated {
    /// For people.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Type => "products of this type were never measured",
            Self::Batch => "batched and grouped products on tensor cores were never measured",
            Self::Alignment => "products whose n or k is no multiple of 32 were never measured",
        }
    }
}

/// Why no measurement of such a product stands behind its time; absent where one does.
pub fn uncalibrated(precision: &Precision, shape: Shape) -> Option<Uncalibrated> {
    let dense = precision.weight_share == 1.0;
    match precision.input {
        DataType::Fp16 | DataType::Bf16 | DataType::Fp32 if dense => {
            let aligned = shape.n.is_multiple_of(32) && shape.k.is_multiple_of(32);
            match (precision.pipe, aligned, shape.batch) {
                (Pipe::Tensor { .. }, false, _) => Some(Uncalibrated::Alignment),
                (Pipe::Tensor { .. }, true, 2..) => Some(Uncalibrated::Batch),
                _ => None,
            }
        }
        _ => Some(Uncalibrated::Type),
    }
}

/// Low and high end of the 80 % band around a predicted time.
pub fn band(gpu: &Gpu, precision: &Precision, shape: Shape, time: Seconds) -> (Seconds, Seconds) {
    let band = match (uncalibrated(precision, shape), precision.pipe) {
        (Some(_), _) => &gpu.calibration.band_uncalibrated,
        (None, Pipe::Tensor { .. }) => &gpu.calibration.band,
        (None, _) => &gpu.calibration.band_sgemm,
    };
    let regime = Band::regime(time);
    (time * band.low[regime], time * band.high[regime])
}
