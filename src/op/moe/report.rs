//! A mixture of experts through the whole pipeline: the grouped product analysed, loads and parts explained.

use super::{Expert, Loads, Model, MoeError, Parts, Routing, Shape, explain};
use crate::{
    analysis::{Analysis, analyse_operation},
    gpu::{ConstantsOf, DataType, Gpu, Pipeline},
    kernel::{Access, Concurrency, Kernel, Traffic},
    op::gemm::tile,
    time::TimeEstimate,
    units::{Bytes, Flops},
};

/// What is asked of a layer of experts.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The shape.
    pub shape: Shape,
    /// How tokens are spread.
    pub routing: Routing,
    /// Type of the weights.
    pub input: DataType,
}

/// The answer for one layer on one GPU.
#[derive(Clone, Debug)]
pub struct Mixture {
    /// The grouped products through the pipeline, with the time of the whole call.
    pub analysis: Analysis,
    /// Time of the parts.
    pub parts: Parts,
    /// The experts of the busiest rank, in their order.
    pub experts: Vec<Expert>,
    /// Tile, height and width.
    pub tile: (u32, u32),
    /// Whose constants.
    pub of: ConstantsOf,
    /// The parts, one sentence each.
    pub choices: Vec<String>,
}

/// Analyses a layer of experts.
///
/// # Errors
/// There is no such layer, the GPU has no tensor cores for the type or is a CPU, or the launch is beyond any GPU.
pub fn mixture(gpu: &Gpu, request: &Request) -> Result<Mixture, MoeError> {
    let shape = request.shape.checked()?;
    let loads = Loads::new(&shape, &request.routing)?;
    let model = Model::new(gpu, request.input)?;
    let parts = model.parts(&shape, &loads);
    let estimate = model.estimate_of(&shape, &loads, &parts);
    let of_tile = estimate.tile.unwrap_or((128, 128));
    let (pipe, output) = (model.precision.pipe, estimate.bytes / 2.0);
    let written = (2.0 * shape.tokens as f64 * shape.hidden as f64).min(output);
    let kernel = Kernel {
        name: name(&shape, request),
        resources: tile(gpu, Pipeline::Classic, of_tile.0, of_tile.1).resources,
        operations: vec![(pipe, Flops(estimate.flop))],
        warp_instructions: None,
        traffic: Traffic {
            dram: Access { read: Bytes(estimate.bytes - written), write: Bytes(written), ..Access::default() },
            ..Traffic::default()
        },
        concurrency: Concurrency::default(),
        tiled: None,
    };
    let again = |gpu: &Gpu| Some(Model::new(gpu, request.input).ok()?.estimate(&shape, &loads).report());
    let time = TimeEstimate { tail_cost: model.tail(&parts), ..estimate.report() };
    let mut analysis = analyse_operation(gpu, kernel, parts.tiles[0] as u64, time, &again)?;
    let even = Loads::new(&shape, &Routing::Balanced)?;
    let balanced = model.parts(&shape, &even).time;
    analysis.verdict.findings.extend(explain::findings(&shape, &loads, &parts, balanced));
    analysis.verdict.ignored.extend(explain::ignored(&shape));
    analysis.verdict.confidence = explain::confidence(&model, gpu);
    let choices = explain::choices(&shape, &parts);
    let experts = loads.experts(parts.height);
    Ok(Mixture { analysis, parts, experts, tile: of_tile, of: model.constants.of.clone(), choices })
}

/// "moe 4096 tokens to 2 of 8 experts, 4096x14336, bf16 power:1.2".
fn name(shape: &Shape, request: &Request) -> String {
    let routing = match &request.routing {
        Routing::Balanced => "balanced".into(),
        Routing::Power(alpha) => format!("power:{alpha}"),
        Routing::Counts(_) => "given loads".into(),
    };
    let plain = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let ranks = if shape.expert_parallel > 1 { format!(" on {} ranks", shape.expert_parallel) } else { String::new() };
    format!(
        "moe {} to {} of {}{ranks}, {}x{}, {} {routing}",
        plain(shape.tokens, "token"),
        shape.top_k,
        plain(shape.experts, "expert"),
        shape.hidden,
        shape.inter,
        request.input.name()
    )
}
