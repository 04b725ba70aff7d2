//! A convolution through the whole pipeline: the chosen kernels analysed, the choice explained.

use super::{Algorithm, Choice, ConvError, Model, Shape, explain};
use crate::{
    analysis::{Analysis, analyse_operation},
    gpu::{ConstantsOf, DataKind, DataType, Gpu},
    kernel::{Access, Concurrency, Kernel, Traffic},
    op::gemm::Reuse,
    time::TimeEstimate,
    units::{Bytes, Flops},
};

/// What is asked of a convolution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// The shape.
    pub shape: Shape,
    /// Type of image and filter.
    pub input: DataType,
    /// What L2 holds at the start.
    pub reuse: Reuse,
    /// What the operands hold.
    pub data: DataKind,
}

/// The answer for one convolution on one GPU.
#[derive(Clone, Debug)]
pub struct Convolution {
    /// The main kernel through the pipeline, with the time of all of them.
    pub analysis: Analysis,
    /// The way chosen.
    pub choice: Choice,
    /// Whose constants.
    pub of: ConstantsOf,
    /// The ways, fastest first, one sentence each.
    pub choices: Vec<String>,
}

/// Chooses the kernels of a convolution and analyses them.
///
/// # Errors
/// There is no such convolution, the GPU lacks the type or is a CPU, or the launch is beyond any GPU.
pub fn convolution(gpu: &Gpu, request: &Request) -> Result<Convolution, ConvError> {
    let shape = request.shape.checked()?;
    let on = |gpu: &Gpu| {
        let mut gpu = gpu.clone();
        gpu.calibration.data = request.data;
        gpu
    };
    let model = Model::new(&on(gpu), request.input)?;
    let choice = model.choose(&shape, request.reuse);
    let estimate = model.estimate_of(&shape, &choice);
    let (kernel, blocks) = kernel(&model, &shape, &choice, request.input);
    let again = |gpu: &Gpu| {
        let model = Model::new(&on(gpu), request.input).ok()?;
        Some(model.estimate(&shape, request.reuse).report())
    };
    let time = TimeEstimate { tail_cost: model.tail(&choice), ..estimate.report() };
    let mut analysis = analyse_operation(gpu, kernel, blocks, time, &again)?;
    analysis.verdict.findings.extend(explain::findings(&shape, &choice));
    analysis.verdict.ignored.extend(explain::ignored(&model, &shape, &choice));
    analysis.verdict.confidence = explain::confidence(&model, &shape, &choice, gpu);
    let mut ways: Vec<Choice> = model.choices(&shape, request.reuse).into_iter().flatten().collect();
    ways.sort_by(|a, b| a.time.total_cmp(&b.time));
    let choices = ways.iter().map(|way| explain::choice(way, gpu)).collect();
    Ok(Convolution { analysis, choice, of: model.of(choice.algorithm).clone(), choices })
}

/// The main kernel with the operations and traffic of the call.
fn kernel(model: &Model, shape: &Shape, choice: &Choice, input: DataType) -> (Kernel, u64) {
    let precision = model.precision();
    let [_, written] = shape.moved();
    let write = written * precision.output_bytes;
    let pipe = model.estimate_of(shape, choice).pipe.unwrap_or(precision.pipe);
    // The roofline counts what runs: Winograd's own multiplications, all of its traffic.
    let kernel = Kernel {
        name: name(shape, input),
        resources: choice.resources,
        operations: vec![(pipe, Flops(choice.flop))],
        warp_instructions: None,
        traffic: Traffic {
            dram: Access { read: Bytes(choice.traffic - write), write: Bytes(write), ..Access::default() },
            l2: (choice.algorithm != Algorithm::Depthwise).then(|| Access {
                read: Bytes(choice.work.feed * choice.work.blocks),
                write: Bytes(write),
                ..Access::default()
            }),
            ..Traffic::default()
        },
        concurrency: Concurrency::default(),
        tiled: None,
    };
    (kernel, choice.blocks as u64)
}

/// "conv fwd 32x64x56x56 -> 128, 3x3 stride 1 pad 1, fp16 NHWC".
fn name(shape: &Shape, input: DataType) -> String {
    let extras = [
        (shape.dilation.each() != [1, 1]).then(|| format!(" dilation {}", shape.dilation)),
        (shape.groups > 1).then(|| format!(" groups {}", shape.groups)),
    ];
    let extras: String = extras.into_iter().flatten().collect();
    format!(
        "conv {} {}x{}x{}x{} to {}, {}x{} stride {} pad {}{extras}, {} {}",
        shape.phase.word(),
        shape.batch,
        shape.channels,
        shape.image.height,
        shape.image.width,
        shape.filters,
        shape.filter.height,
        shape.filter.width,
        shape.stride,
        shape.pad,
        input.name(),
        shape.layout.word()
    )
}
