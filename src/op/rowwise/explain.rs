//! Element-wise and row-wise operations through the whole pipeline, and sentences on bytes, passes and fusing.

use super::{
    call::Caller,
    kind::{Access, Kind},
    model::{Model, ModelError},
    operation::{Operation, OperationError, What, bytes},
    regime::Regime,
};
use crate::{
    analysis::{Analysis, analyse_operation},
    gpu::{ConstantsOf, Gpu, Pipe},
    kernel::{self, Concurrency, Kernel, Traffic},
    launch::LaunchError,
    occupancy::Resources,
    op::estimate::Estimate,
    time::{Resource, Term},
    units::{Bytes, Flops, Seconds, counted, decimal},
};

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RowwiseError {
    /// The operation.
    #[error(transparent)]
    Operation(#[from] OperationError),
    /// The GPU.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The launch.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

/// Registers of a thread of such kernels; enough for full occupancy on every GPU.
const REGISTERS: u32 = 32;

/// The operation on a GPU: occupancy, waves, roofline, time and verdict, with sentences on what it moves. `caller` is whose clock
/// stands around the call; the device alone is timed without one. `then` are element-wise kernels that follow on the result.
///
/// # Errors
/// The GPU is a CPU, or a kernel of `then` cannot be run on the tensor.
pub fn analysis(
    gpu: &Gpu,
    operation: &Operation,
    caller: Option<Caller>,
    then: &[Kind],
) -> Result<Analysis, RowwiseError> {
    let model = Model::new(gpu)?;
    let (estimate, launch) = timed(&model, operation, caller);
    let mut time = estimate.report();
    if launch > 0.0 {
        time.terms.push(Term { resource: Resource::Launch, time: Seconds(launch), least: Seconds::ZERO });
    }
    let mut owned = gpu.clone();
    owned.calibration.of = estimate.of.clone();
    let kernel = kernel(&owned, &model, operation, &estimate);
    let again = |other: &Gpu| {
        let model = Model::new(other).ok()?;
        Some(timed(&model, operation, caller).0.report())
    };
    let mut analysis = analyse_operation(&owned, kernel, estimate.blocks as u64, time, &again)?;
    let findings = &mut analysis.verdict.findings;
    findings.push(moved(gpu, &model, operation, &estimate));
    findings.extend(passes(&model, operation));
    findings.push(fusing(&model, operation, then)?);
    let ignored = &mut analysis.verdict.ignored;
    if matches!(operation.what, What::Elementwise { .. }) && !operation.warm {
        ignored.push("operands that the kernel before left in L2 (--warm)".into());
    }
    ignored.push("other kernels that a library or compiler may have for the operation".into());
    analysis.verdict.confidence = confidence(gpu, &estimate);
    Ok(analysis)
}

fn timed<'a>(model: &'a Model, operation: &Operation, caller: Option<Caller>) -> (Estimate<'a>, f64) {
    match caller {
        None => (model.estimate(operation), 0.0),
        Some(caller) => {
            let call = model.call(operation, &caller);
            (call.estimate, call.launch)
        }
    }
}

fn kernel(gpu: &Gpu, model: &Model, operation: &Operation, estimate: &Estimate) -> Kernel {
    let (read, written) = operation.traffic();
    let (threads, _) = model.grid(operation);
    let again = model.row_kernel(operation).map_or(1.0, |rows| rows.passes);
    let miss = model.missed(operation);
    let access = |read: f64, efficiency: f64| kernel::Access {
        read: Bytes(read),
        write: Bytes(written),
        write_efficiency: efficiency,
        ..kernel::Access::default()
    };
    let (mut spread, mut load) = (1.0, 16.0);
    if let What::Elementwise { kind, load: width, .. } = operation.what {
        load = width;
        if kind.facts().access == Access::Strided {
            spread = (bytes(operation.output) / kernel::SECTOR.get()).min(1.0);
        }
    }
    let pipe = estimate.pipe.filter(|pipe| gpu.peak(*pipe).is_some());
    let operations = pipe.filter(|_| estimate.flop > 0.0).map(|pipe| match pipe {
        Pipe::Special => (pipe, Flops(estimate.math * gpu.peak(pipe).map_or(0.0, |peak| peak.get()))),
        _ => (pipe, Flops(estimate.flop)),
    });
    Kernel {
        name: name(operation),
        resources: Resources { threads_per_block: threads, registers_per_thread: REGISTERS, ..Resources::default() },
        operations: operations.into_iter().collect(),
        warp_instructions: None,
        traffic: Traffic {
            dram: access(read * (1.0 + miss * (again - 1.0)), 1.0),
            l2: Some(access(read * again, spread)),
            ..Traffic::default()
        },
        concurrency: Concurrency { bytes_in_flight: load.max(1.0), ..Concurrency::default() },
        tiled: None,
    }
}

/// "softmax 4096x4096 fp32".
pub fn name(operation: &Operation) -> String {
    let what = match operation.what {
        What::Reduction { full: true } => "full sum",
        What::Reduction { full: false } => "row sum",
        _ => operation.name(),
    };
    let Operation { rows, cols, input, output, .. } = operation;
    let to = if input == output { String::new() } else { format!(" to {}", output.name()) };
    format!("{what} {rows}x{cols} {}{to}", input.name())
}

/// "moves 192 MiB, 64 MiB of it written, at 83 % of the DRAM bandwidth: ...".
fn moved(gpu: &Gpu, model: &Model, operation: &Operation, estimate: &Estimate) -> String {
    let (read, written) = operation.traffic();
    let share = (read + written) / estimate.time / gpu.memory.dram.bandwidth.get() * 100.0;
    let alone = model.estimate(operation);
    let why = match Regime::of(&alone) {
        Regime::Waiting => "what waits decides: too little is in flight".into(),
        Regime::Launch => {
            let even = alone.fixed * gpu.memory.dram.bandwidth.get();
            format!("launching decides, as it does up to about {} on this GPU", Bytes(even))
        }
        Regime::Cache => "L2 and the ports of the SMs decide".into(),
        Regime::Dram => "DRAM decides".into(),
        Regime::Math => "arithmetic decides".into(),
    };
    format!(
        "reads {} and writes {}, {} % of what DRAM could move in the time: {why}",
        Bytes(read),
        Bytes(written),
        decimal(share, 1)
    )
}

/// How often a row is read, and from where.
fn passes(model: &Model, operation: &Operation) -> Option<String> {
    let kernel = model.row_kernel(operation)?;
    let (name, rows) = (kernel.name, counted(model.rows_in_flight(operation) as u64, "row"));
    if kernel.passes <= 1.0 {
        return Some(format!("{name}: the data are read once and stay in registers; {rows} in flight"));
    }
    let size = Bytes(model.rows_in_flight(operation) * operation.cols as f64 * bytes(operation.input));
    let missed = model.missed(operation);
    let from = if missed <= 0.0 {
        "re-reads hit L2".into()
    } else if missed >= 1.0 {
        "re-reads miss L2 and come from DRAM".into()
    } else {
        format!("{} % of the re-reads miss L2", decimal(missed * 100.0, 0))
    };
    Some(format!("{name}: {} passes over the data; {rows} in flight take {size}: {from}", kernel.passes))
}

/// What fusing with the kernels that follow saves, or with any neighbour.
fn fusing(model: &Model, operation: &Operation, then: &[Kind]) -> Result<String, RowwiseError> {
    let own = model.estimate(operation);
    let (read, written) = operation.traffic();
    if then.is_empty() {
        let tensor = Bytes(2.0 * written);
        // Of the result, which a sum makes small.
        let result = libm::round(written / bytes(operation.output)).max(1.0) as u64;
        let copy = Operation::elementwise(Kind::COPY, result, 1, operation.output)?;
        let saved = model.estimate(&copy);
        return Ok(format!(
            "fused with the kernel that uses its result, that result is neither written nor read again: {tensor} and up to {} less (--then KIND compares)",
            Seconds(saved.time)
        ));
    }
    let (mut time, mut all) = (own.time, read + written);
    let mut extra = 0.0;
    for kind in then {
        let next = Operation::elementwise(*kind, operation.rows, operation.cols, operation.output)?;
        let (more, out) = next.traffic();
        time += model.estimate(&next).time;
        all += more + out;
        extra += f64::from(kind.facts().reads.saturating_sub(1)) * operation.elements() * bytes(operation.output);
    }
    let fused = read + written + extra;
    let left = own.fixed + (own.time - own.fixed) * fused / (read + written);
    Ok(format!(
        "{} kernels one after the other move {} in {}; fused into one {} in {}: {}x",
        then.len() + 1,
        Bytes(all),
        Seconds(time),
        Bytes(fused),
        Seconds(left),
        decimal(time / left, 2)
    ))
}

fn confidence(gpu: &Gpu, estimate: &Estimate) -> String {
    let whole = gpu.mig.as_ref().map_or(gpu.name.as_str(), |slice| slice.gpu_name.as_str());
    let whose = match estimate.of {
        ConstantsOf::Gpu => format!("constants measured on {whole}"),
        ConstantsOf::Family(family) => format!("constants of the {family} family, not of {whole}"),
        ConstantsOf::User => "constants set by the user".into(),
        ConstantsOf::Datasheet => "datasheet rates and constants of other families".into(),
    };
    match estimate.unmeasured {
        None => format!("{whose}; band: four of five measured kernels lie in it"),
        Some(why) => format!("{whose}; band: wide, {why}"),
    }
}
