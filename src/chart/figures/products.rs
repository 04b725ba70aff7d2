//! From matrix products to figures: sweeps over a dimension, and rooflines of lists of shapes.

use super::{caption, roofs};
use crate::{
    chart::{Bound, PointKind, Roofline, RooflinePoint, Sweep, SweepSample, SweepSeries},
    gpu::{DataType, Gpu, Pipe},
    op::gemm::{Candidate, Force, ForceError, Over, Plan, Planner, Precision, Range, Reuse, Shape, SweepError, sweep},
    roofline::roofline,
};

/// Products along a dimension, as asked for.
#[derive(Clone, Debug)]
pub struct SweepRequest<'a> {
    /// The GPU.
    pub gpu: &'a Gpu,
    /// Types of the operands.
    pub precision: Precision,
    /// The shape in question; the sweep varies one dimension of it.
    pub shape: Shape,
    /// What L2 holds at the start.
    pub reuse: Reuse,
    /// The dimension.
    pub over: Over,
    /// Its sizes.
    pub range: Range,
    /// A curve for each; a single one that gives nothing searches tile and split.
    pub forces: &'a [Force],
}

/// Why there is no figure.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SweepFigureError {
    /// Not a sweep.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// Not a kernel.
    #[error(transparent)]
    Force(#[from] ForceError),
    /// The GPU has no such unit.
    #[error("{gpu} does not multiply matrices with {unit}")]
    Unit {
        /// Name of the GPU.
        gpu: String,
        /// The unit.
        unit: String,
    },
}

/// Time, throughput and utilization along a dimension.
///
/// # Errors
/// The GPU lacks the unit or a kernel that was asked for, or the largest product is beyond any GPU.
pub fn sweep_figure(request: &SweepRequest) -> Result<Sweep, SweepFigureError> {
    let SweepRequest { gpu, precision, shape, reuse, over, range, forces } = request;
    let no_unit = || SweepFigureError::Unit { gpu: gpu.name.clone(), unit: precision.pipe.label() };
    let planner = Planner::new(gpu, *precision).ok_or_else(no_unit)?;
    let sms = planner.machine().sms;
    let mut series = Vec::new();
    let mut cut = false;
    for force in *forces {
        let planner = planner.clone().forced(*force)?;
        let plans = sweep(&planner, *shape, *reuse, *over, *range)?;
        cut |= plans.iter().any(|p| p.chosen.splits > 1);
        let samples = plans.iter().map(|plan| sample(&planner, plan, *over, sms)).collect();
        series.push(SweepSeries { label: label(*force), samples });
    }
    let words = gpu.limits.words();
    let mut assumptions = vec![format!("{} unit", precision.pipe.label()), reuse_text(*reuse).into()];
    let searched = forces.iter().all(|f| f.tile.is_none());
    assumptions.push(if searched { "the fastest kernel by the model" } else { "the tile is given" }.into());
    if let Some(splits) = forces.iter().find_map(|f| f.splits) {
        let cut = if splits == 1 { "k is not cut".into() } else { format!("k is cut into {splits} shares") };
        assumptions.push(cut);
    } else if cut {
        assumptions.push("k/S behind a tile: k is cut into S shares".into());
    }
    let lost = planner.machine().quantisation;
    if lost < 1.0 {
        assumptions.push(format!("persistent blocks lose {} % of a partial wave", (lost * 100.0).round()));
    }
    assumptions.push(format!("{} operands", gpu.calibration.data.word()));
    assumptions.push(format!("constants: {}", gpu.calibration.of_unit(precision.pipe)));
    let assumptions: Vec<&str> = assumptions.iter().map(String::as_str).collect();
    Ok(Sweep {
        caption: caption(&title(*shape, *over, precision.input), gpu, &assumptions),
        over: name(*over).into(),
        integer: integer(precision.input),
        wave: words.say(&format!("one tile on each of the {sms} SMs")),
        series,
        current: over.of(*shape).filter(|s| (range.low..=range.high).contains(s)),
    })
}

fn sample(planner: &Planner, plan: &Plan, over: Over, sms: f64) -> SweepSample {
    let chosen = &plan.chosen;
    // An SM works off its tiles one after the other, however many reside: the last round is the one that can be empty.
    let waves = chosen.tile.map(|_| libm::ceil(chosen.blocks / sms));
    SweepSample {
        size: over.of(plan.shape).unwrap_or_default(),
        time_us: plan.time * 1e6,
        tera_per_s: plan.shape.flop() / plan.time / 1e12,
        utilization_pct: waves.map(|w| chosen.blocks / (w * sms) * 100.0),
        kernel: kernel(chosen),
        blocks: chosen.blocks as u64,
        waves: waves.unwrap_or(0.0) as u64,
        tiles: over.tiles(planner, plan),
    }
}

/// "256x128", "64x64 k/12".
fn kernel(chosen: &Candidate) -> String {
    let Some(tile) = chosen.tile else { return "no tiles".into() };
    let split = if chosen.splits > 1 { format!(" k/{}", chosen.splits) } else { String::new() };
    format!("{}x{}{split}", tile.height, tile.width)
}

fn label(force: Force) -> String {
    force.tile.map_or_else(|| "fastest kernel".into(), |(height, width)| format!("{height}x{width}"))
}

fn reuse_text(reuse: Reuse) -> &'static str {
    match reuse {
        Reuse::ColdWeights => "weights come from DRAM, activations and output are in L2 as far as they fit",
        Reuse::Cold => "nothing is in L2 at the start",
        Reuse::Warm => "what fits in L2 is there from the time before",
        Reuse::Rotated(_) => "several copies of the weights in turn",
    }
}

fn name(over: Over) -> &'static str {
    match over {
        Over::M => "M",
        Over::N => "N",
        Over::K => "K",
        Over::Batch => "batch",
        Over::Mn => "M = N",
    }
}

fn title(shape: Shape, over: Over, input: DataType) -> String {
    let size = |varied: bool, letter: &str, size: u64| if varied { letter.to_owned() } else { size.to_string() };
    let m = size(matches!(over, Over::M | Over::Mn), if over == Over::Mn { "N" } else { "M" }, shape.m);
    let n = size(matches!(over, Over::N | Over::Mn), "N", shape.n);
    let k = size(over == Over::K, "K", shape.k);
    let batch = match over {
        Over::Batch => ", a batch of them".to_owned(),
        _ if shape.batch > 1 => format!(", a batch of {}", shape.batch),
        _ => String::new(),
    };
    format!("Matrix product {m} x {n} x {k} in {}{batch}", input.name())
}

fn integer(input: DataType) -> bool {
    matches!(input, DataType::Int32 | DataType::Int8 | DataType::Int4)
}

/// A product with its name and its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPlan {
    /// What it is called.
    pub name: String,
    /// The unit that multiplies.
    pub pipe: Pipe,
    /// Its kernel and time.
    pub plan: Plan,
}

/// The roofline of products on one GPU: intensity by DRAM traffic, at the estimated rate. The roof of the first one's
/// unit stands out.
pub fn product_roofline(title: &str, gpu: &Gpu, products: &[NamedPlan], reuse: Reuse) -> Roofline {
    let mut used: Vec<Pipe> = Vec::new();
    for product in products {
        if !used.contains(&product.pipe) {
            used.push(product.pipe);
        }
    }
    let roofs_of_gpu = roofline(gpu, None);
    let (memory, compute) = roofs(&roofs_of_gpu, &used);
    let points = products.iter().map(|NamedPlan { name, plan, .. }| RooflinePoint {
        label: name.clone(),
        intensity: plan.shape.flop() / (plan.bytes - plan.resident).get(),
        flops_per_second: plan.shape.flop() / plan.time,
        level: "DRAM".into(),
        bound: bound(&plan.chosen),
        kind: PointKind::Estimate,
    });
    let constants = format!("constants: {}", gpu.calibration.of);
    let mut assumptions = vec!["dense datasheet peaks; points are estimates", reuse_text(reuse), &constants];
    assumptions.extend(roofs_of_gpu.missing.iter().map(String::as_str));
    let (caption, frame) = (caption(title, gpu, &assumptions), super::frame(&roofs_of_gpu));
    Roofline { caption, memory, compute, frame, points: points.collect(), ..Roofline::default() }
}

/// What takes longest of a product's kernel.
pub fn bound(chosen: &Candidate) -> Bound {
    let parts = &chosen.parts;
    let memory = parts.dram.max(parts.ports).max(parts.feed).max(parts.store);
    let terms = [(Bound::Math, parts.math), (Bound::Memory, memory), (Bound::Latency, parts.latency)];
    let longest =
        terms.into_iter().fold((Bound::Latency, parts.fixed + parts.split), |a, b| if b.1 > a.1 { b } else { a });
    longest.0
}
