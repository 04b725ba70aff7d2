//! Why this way of convolving, and what it costs in multiplications, padding and memory: sentences for people.

use super::{Algorithm, Choice, Model, Phase, Shape};
use crate::{
    gpu::{ConstantsOf, DataType, Gpu, Pipe},
    units::{Bytes, Flops, Seconds, counted, decimal, grouped},
};

/// "implicit-gemm, tile 128x64: 91.8 us, 96 blocks in 0.9 waves".
pub fn choice(choice: &Choice, gpu: &Gpu) -> String {
    let tile = choice.tile.map_or(String::new(), |(height, width)| format!(", tile {height}x{width}"));
    let split = if choice.splits > 1 { format!(", k split {} ways", choice.splits) } else { String::new() };
    let slots = f64::from(gpu.units()) * f64::from(choice.blocks_per_sm.max(1));
    let kernels = if choice.kernels > 1 { format!(", {} kernels", choice.kernels) } else { String::new() };
    format!(
        "{}{tile}{split}: {}, {} in {} waves{kernels}",
        name(choice.algorithm),
        Seconds(choice.time),
        counted(choice.blocks as u64, "block"),
        decimal(choice.blocks / slots, 2)
    )
}

/// A way in words.
fn name(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Implicit => "implicit GEMM",
        Algorithm::Fused => "fused Winograd F(2x2, 3x3)",
        Algorithm::Unfused => "Winograd F(4x4, 3x3) with separate transforms",
        Algorithm::Depthwise => "a filter per channel, without a matrix product",
    }
}

/// The matrix product, the operations, what Winograd saves, padding and scratch memory.
pub fn findings(shape: &Shape, choice: &Choice) -> Vec<String> {
    let product = shape.product();
    let out = shape.output();
    let mut found = Vec::new();
    if choice.algorithm != Algorithm::Depthwise {
        let (m, n, k) = match shape.phase {
            Phase::Forward => ("N P Q", "K", "C R S"),
            Phase::BackwardData => ("N H W", "C", "K R S / stride^2"),
            Phase::BackwardWeight => ("K", "C R S", "N P Q"),
        };
        let (per, of) = if product.batch > 1 {
            (format!("{} products, one per group", grouped(product.batch)), " / groups")
        } else {
            ("one product".into(), "")
        };
        found.push(format!(
            "as a matrix product: {per}, M = {m} = {}, N = {n} = {}, K = {k}{of} = {}; output {} x {}",
            grouped(product.m),
            grouped(product.n),
            grouped(product.k),
            grouped(out.height),
            grouped(out.width)
        ));
    } else {
        found.push(format!(
            "{} channels with filters of their own: {} operations for each output of {} x {}, so that memory decides",
            grouped(shape.channels),
            decimal(shape.flop() / (shape.output_pixels() * shape.filters as f64), 0),
            grouped(out.height),
            grouped(out.width)
        ));
    }
    let rate = Flops(shape.flop()) / Seconds(choice.time);
    found.push(format!("{} by the direct count, {rate} of them", Flops(shape.flop())));
    if matches!(choice.algorithm, Algorithm::Fused | Algorithm::Unfused) {
        found.push(format!(
            "Winograd multiplies {} times less than the direct count; its transforms take {} % of the time",
            decimal(shape.flop() / choice.flop, 2),
            decimal(choice.transforms / choice.time * 100.0, 1)
        ));
    } else if choice.transforms > 0.0 {
        found.push(format!(
            "tensor cores take channels last: turning NCHW to NHWC and back takes {} % of the time (--layout NHWC has none)",
            decimal(choice.transforms / choice.time * 100.0, 1)
        ));
    }
    let waste = 1.0 - choice.flop / choice.padded_flop;
    if waste > 0.005 {
        found.push(format!(
            "{} % of the multiplications fill up tiles at the edges{}",
            decimal(waste * 100.0, 1),
            match choice.algorithm {
                Algorithm::Fused => " (a block takes 32 filters and 8 x 16 outputs of one image)",
                Algorithm::Unfused => " (images count in 16s, outputs in 4 x 4s)",
                Algorithm::Implicit | Algorithm::Depthwise => "",
            }
        ));
    }
    if choice.workspace > 0.0 {
        found.push(format!("scratch memory: {}", Bytes(choice.workspace)));
    }
    found
}

/// Whose constants, and what the band means.
pub fn confidence(model: &Model, shape: &Shape, choice: &Choice, gpu: &Gpu) -> String {
    let whole = if gpu.mig.is_some() { " (the whole GPU)" } else { "" };
    let single = model.precision().input == DataType::Fp32;
    let what = match choice.algorithm {
        Algorithm::Depthwise => "constants of the memory",
        _ if single => "constants of FP32 convolutions",
        _ => "constants of matrix products",
    };
    let whose = match model.of(choice.algorithm) {
        ConstantsOf::Gpu => format!("{what} measured on this GPU{whole}"),
        ConstantsOf::Family(family) => format!("{what} of the {family} family, not of {}", gpu.name),
        ConstantsOf::Datasheet => "datasheet rates with the shares of other GPUs".into(),
        ConstantsOf::User => "constants set by the user".into(),
    };
    match model.unmeasured(shape) {
        None => format!("{whose}; band: four of five measured convolutions lie in it"),
        Some(why) => format!("{whose}; band: wide, {why}"),
    }
}

/// Rows of channels that tensor cores load start on this many bytes.
const ALIGNED: f64 = 16.0;

/// What the answer leaves out.
pub fn ignored(model: &Model, shape: &Shape, choice: &Choice) -> Vec<String> {
    let mut ignored = vec![
        "the choice of the library: the fastest way that the model knows stands for it; FFT and other rare ways are left out"
            .to_owned(),
    ];
    let precision = model.precision();
    let grain = (ALIGNED / precision.input_bytes).max(1.0) as u64;
    let loose = [("C", shape.channels), ("K", shape.filters)].into_iter();
    let mut loose = loose.filter(|(_, all)| !(all / shape.groups).is_multiple_of(grain));
    if let (Pipe::Tensor { .. }, Algorithm::Implicit, Some((name, all))) =
        (precision.pipe, choice.algorithm, loose.next())
    {
        let of = if shape.groups > 1 { " / groups" } else { "" };
        let count = all / shape.groups;
        ignored.push(format!(
            "{name}{of} = {count} is no multiple of {grain}: libraries fill up the channels or take slower kernels"
        ));
    }
    if matches!(choice.algorithm, Algorithm::Fused | Algorithm::Unfused) {
        ignored.push("rounding: Winograd's sums differ from direct ones in the last digits".into());
    }
    ignored
}
