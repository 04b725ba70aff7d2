//! The pass before a product in FP8 or narrower: the 16-bit activations become narrow ones with their scales.

use super::{GemmError, Precision, Request, Reuse};
use crate::{
    analysis::{Analysis, analyse},
    gpu::{DataType, Gpu, Pipe},
    kernel::{Access, Concurrency, Kernel, Traffic},
    occupancy::Resources,
    units::{Bytes, Flops},
};

/// Threads of a block, and elements of a thread: 16 bytes of 16-bit values.
const THREADS: u32 = 256;
const ELEMENTS: f64 = 8.0;
/// Operations on an element: absolute value and maximum for the scale, a multiplication and a conversion.
const OPERATIONS: f64 = 4.0;
/// Elements that share a scale of 4 bytes.
const SCALED: f64 = 128.0;

/// The pass as a kernel of its own; absent where the operands are not narrower than 16 bits.
///
/// # Errors
/// The launch is beyond any GPU.
pub fn quantisation(gpu: &Gpu, request: &Request, precision: &Precision) -> Result<Option<Analysis>, GemmError> {
    if precision.input_bytes >= 2.0 {
        return Ok(None);
    }
    let shape = request.shape;
    let elements = request.rows() * shape.k as f64;
    let (read, write) = (elements * 2.0, elements * (precision.input_bytes + 4.0 / SCALED));
    let distance = match request.reuse {
        Reuse::Cold => None,
        Reuse::ColdWeights | Reuse::Warm | Reuse::Rotated(_) => Some(Bytes(read + write)),
    };
    let kernel = Kernel {
        name: format!("quantise {:.0}x{} to {}", request.rows(), shape.k, request.input.name()),
        resources: Resources { threads_per_block: THREADS, registers_per_thread: 32, ..Resources::default() },
        operations: vec![(Pipe::Vector(DataType::Fp32), Flops(elements * OPERATIONS))],
        warp_instructions: None,
        traffic: Traffic {
            dram: Access { read: Bytes(read), write: Bytes(write), ..Access::default() },
            reuse_distance: distance,
            ..Traffic::default()
        },
        concurrency: Concurrency::default(),
        tiled: None,
    };
    let blocks = (elements / ELEMENTS / f64::from(THREADS)).ceil() as u64;
    Ok(Some(analyse(gpu, kernel, blocks, request.timing)?))
}
