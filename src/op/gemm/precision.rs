//! The type of the operands, and with it the unit, the accumulator and the bytes.

use crate::gpu::{DataType, Gpu, Pipe};

/// Types of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Type of A and B.
    pub input: DataType,
    /// Unit that multiplies.
    pub pipe: Pipe,
    /// Bytes of an element of A and B.
    pub input_bytes: f64,
    /// Bytes of an element of C.
    pub output_bytes: f64,
    /// Bytes of the weights against dense ones: 9/16 for 2:4 (half the values, 2 bits each of their place).
    pub weight_share: f64,
}

/// Types that the GPU cannot multiply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrecisionError {
    /// The GPU has no unit for the type.
    #[error("{gpu} has no {wanted} unit; matrix products run there as {available}")]
    NoUnit {
        /// Name of the GPU.
        gpu: String,
        /// The unit asked for.
        wanted: String,
        /// Types that it has.
        available: String,
    },
}

impl Precision {
    /// The types of a product with this input on a GPU. `fp32` is true FP32: on the vector units, on AMD on the
    /// matrix cores where these have it; `tf32` reads FP32.
    /// FP64 takes the tensor cores where the GPU has them.
    ///
    /// # Errors
    /// The GPU has no such unit; what it has is named.
    pub fn new(gpu: &Gpu, input: DataType, sparse: bool) -> Result<Self, PrecisionError> {
        let Some(pipe) = unit(gpu, input, sparse) else {
            let has = |t: &DataType| unit(gpu, *t, sparse).is_some();
            let available: Vec<&str> = DataType::ALL.iter().filter(|t| has(t)).map(|t| t.name()).collect();
            return Err(PrecisionError::NoUnit {
                gpu: gpu.name.clone(),
                wanted: Pipe::Tensor { input, accumulate: input.default_accumulate(), sparse }.label(),
                available: if available.is_empty() { "dense ones alone".into() } else { available.join(", ") },
            });
        };
        let (input_bytes, output_bytes) = bytes(input);
        Ok(Self { input, pipe, input_bytes, output_bytes, weight_share: if sparse { 9.0 / 16.0 } else { 1.0 } })
    }
}

/// The unit for an input type, where the GPU has one.
fn unit(gpu: &Gpu, input: DataType, sparse: bool) -> Option<Pipe> {
    let tensor = Pipe::Tensor { input, accumulate: input.default_accumulate(), sparse };
    let vector = Pipe::Vector(input);
    let pipes = match input {
        // AMD's matrix cores multiply FP32 as it is; those of NVIDIA round it to TF32.
        DataType::Fp32 if gpu.limits.cu().is_some() => [Some(tensor), Some(vector)],
        DataType::Fp32 => [None, Some(vector)],
        DataType::Fp64 | DataType::Fp16 => [Some(tensor), Some(vector)],
        DataType::Int32 => [None, None],
        _ => [Some(tensor), None],
    };
    let legal = |pipe: &Pipe| gpu.rate(*pipe).is_some() && (!sparse || matches!(pipe, Pipe::Tensor { .. }));
    pipes.into_iter().flatten().find(legal)
}

/// Bytes of an input and of an output element; narrow types give 16-bit results.
fn bytes(input: DataType) -> (f64, f64) {
    match input {
        DataType::Fp64 => (8.0, 8.0),
        DataType::Fp32 | DataType::Tf32 | DataType::Int32 => (4.0, 4.0),
        DataType::Fp16 | DataType::Bf16 => (2.0, 2.0),
        DataType::Fp8 | DataType::Int8 => (1.0, 2.0),
        DataType::Fp6 => (0.75, 2.0),
        DataType::Fp4 | DataType::Int4 => (0.5, 2.0),
    }
}
