//! Rates that a benchmark reached, and the constants with which the model reaches them.

use super::{
    CalibrateError,
    constants::{Constant, Values},
};
use crate::{
    gpu::{DataType, Gpu, Pipe},
    op::gemm::{Planner, Precision, Reuse, Shape},
    units::{BytesPerSecond, FlopsPerSecond},
};

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Ceiling {
    /// DRAM bandwidth of a copy or a stream.
    Bandwidth(BytesPerSecond),
    /// Rate of a large matrix product.
    Product(DataType, FlopsPerSecond),
    /// Rate of a unit with operands in registers.
    Unit(Pipe, FlopsPerSecond),
}

/// A constant that a measured rate gives.
#[derive(Clone, Debug, PartialEq)]
pub struct FromCeiling {
    /// The constant.
    pub constant: Constant,
    /// How it follows, in words.
    pub how: String,
    /// Whether it is at the end of its range and the model still below the measured rate.
    pub at_most: bool,
}

/// A rate so far above the datasheet's is no measurement of this GPU.
const BEYOND: f64 = 1.2;
/// The same below it.
const BELOW: f64 = 0.02;

/// Types whose rate on tensor cores is that of the sustained share, which a GPU has one of: those that it was fitted to.
const SPEAKS_FOR_ALL: [DataType; 3] = [DataType::Bf16, DataType::Fp16, DataType::Fp32];

/// The product that streams: 2 GiB of weights in 16 bits, so that L2 and the fixed cost are nothing beside it.
const STREAM: (u64, u64, u64) = (16, 32_768, 32_768);
/// The product that computes: so large that the last wave is little of it.
const LARGE: (u64, u64, u64) = (8192, 8192, 8192);

/// Sets the constants that the ceilings give.
pub(super) fn apply(gpu: &Gpu, ceilings: &[Ceiling], values: &mut Values) -> Result<Vec<FromCeiling>, CalibrateError> {
    let mut found: Vec<FromCeiling> = Vec::new();
    // The bandwidth first: large products depend on it a little.
    let mut ordered: Vec<&Ceiling> = ceilings.iter().collect();
    ordered.sort_by_key(|ceiling| !matches!(ceiling, Ceiling::Bandwidth(_)));
    for ceiling in ordered {
        let one = match ceiling {
            Ceiling::Bandwidth(rate) => bandwidth(gpu, *rate, values)?,
            Ceiling::Product(data, rate) => product(gpu, *data, *rate, values)?,
            Ceiling::Unit(pipe, rate) => unit(gpu, *pipe, *rate, values)?,
        };
        if found.iter().any(|other| other.constant == one.constant) {
            return Err(CalibrateError::Twice { constant: one.constant.name() });
        }
        found.push(one);
    }
    Ok(found)
}

fn plausible(what: &str, rate: f64, peak: f64, printed: [String; 2]) -> Result<(), CalibrateError> {
    let [given, datasheet] = printed;
    if rate > BEYOND * peak || rate < BELOW * peak {
        return Err(CalibrateError::Ceiling { what: what.into(), given, datasheet });
    }
    Ok(())
}

fn bandwidth(gpu: &Gpu, rate: BytesPerSecond, values: &mut Values) -> Result<FromCeiling, CalibrateError> {
    let peak = gpu.memory.dram.bandwidth;
    plausible("a DRAM bandwidth", rate.get(), peak.get(), [rate.to_string(), peak.to_string()])?;
    let types = [DataType::Bf16, DataType::Fp16, DataType::Fp32];
    let Some(precision) = types.into_iter().find_map(|data| Precision::new(gpu, data, false).ok()) else {
        return Err(CalibrateError::NoProduct { gpu: gpu.name.clone() });
    };
    let (m, n, k) = STREAM;
    let reached = |gpu: &Gpu| {
        let plan = Planner::new(gpu, precision)?.plan(Shape { batch: 1, m, n, k }, Reuse::Cold);
        Some(plan.bytes.get() / plan.time)
    };
    let at_most = solve(gpu, Constant::DramEfficiency, rate.get(), reached, values);
    let streams = if at_most { "comes nearest to" } else { "streams at" };
    let how = format!("so that {m} x {n} x {k} in {} {streams} {rate} in the model", precision.input.name());
    Ok(FromCeiling { constant: Constant::DramEfficiency, how, at_most })
}

fn product(
    gpu: &Gpu,
    data: DataType,
    rate: FlopsPerSecond,
    values: &mut Values,
) -> Result<FromCeiling, CalibrateError> {
    let precision = Precision::new(gpu, data, false)?;
    let peak = gpu.peak(precision.pipe).unwrap_or(FlopsPerSecond::ZERO);
    plausible(&precision.pipe.label(), rate.get(), peak.get(), [rate.to_string(), peak.to_string()])?;
    let constant = match precision.pipe {
        Pipe::Tensor { .. } if !SPEAKS_FOR_ALL.contains(&data) => {
            return Err(CalibrateError::OneType { data: data.name(), rate: rate.to_string() });
        }
        Pipe::Tensor { .. } => Constant::SustainedTensor,
        Pipe::Vector(_) | Pipe::Special => Constant::SustainedSgemm,
    };
    let (m, n, k) = LARGE;
    let shape = Shape { batch: 1, m, n, k };
    let reached = |gpu: &Gpu| Some(shape.flop() / Planner::new(gpu, precision)?.plan(shape, Reuse::ColdWeights).time);
    let at_most = solve(gpu, constant, rate.get(), reached, values);
    let runs = if at_most { "comes nearest to" } else { "runs at" };
    let how = format!("so that {m} x {n} x {k} in {} {runs} {rate} in the model", data.name());
    Ok(FromCeiling { constant, how, at_most })
}

/// Nothing but the unit was busy: its share is the constant itself.
fn unit(gpu: &Gpu, pipe: Pipe, rate: FlopsPerSecond, values: &mut Values) -> Result<FromCeiling, CalibrateError> {
    let Some(peak) = gpu.peak(pipe) else {
        return Err(CalibrateError::NoUnit { gpu: gpu.name.clone(), unit: pipe.label() });
    };
    plausible(&pipe.label(), rate.get(), peak.get(), [rate.to_string(), peak.to_string()])?;
    let constant = match pipe {
        Pipe::Tensor { .. } => Constant::SustainedTensor,
        Pipe::Vector(_) | Pipe::Special => Constant::SustainedVector,
    };
    let share = rate / peak;
    values.set(constant, share.min(1.0));
    let how = format!("{} at {rate} of {peak} with operands in registers", pipe.label());
    Ok(FromCeiling { constant, how, at_most: share > 1.0 })
}

/// Sets the constant so that the model reaches a rate, which grows with it; true where even its largest value is too
/// little.
fn solve(gpu: &Gpu, constant: Constant, rate: f64, reached: impl Fn(&Gpu) -> Option<f64>, values: &mut Values) -> bool {
    let (mut low, mut high) = constant.range();
    let mut at = |value: f64| {
        values.set(constant, value);
        reached(&values.on(gpu)).unwrap_or(0.0)
    };
    if at(high) < rate {
        return true;
    }
    while high - low > 1e-6 {
        let middle = (low + high) / 2.0;
        if at(middle) < rate {
            low = middle;
        } else {
            high = middle;
        }
    }
    values.set(constant, high);
    false
}
