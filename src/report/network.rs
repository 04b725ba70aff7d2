//! A step of a whole network: one flat, versioned value and its text, JSON, CSV and Markdown.

mod forms;

use serde::Serialize;

pub use forms::{network_markdown, network_text};

use super::{
    CsvError,
    csv::{cell, table},
    json::value_of,
    layout::percent,
};
use crate::{
    network::{Class, Network, Pass, Phase, Timed, TimedStep},
    time::Bound,
    units::FlopsPerSecond,
};

/// Name and version of the form.
const SCHEMA: &str = "wavecast.network/1";

/// A step of a network on one GPU. Times are in microseconds, shares in percent.
#[derive(Clone, Debug, Serialize)]
pub struct NetworkReport {
    /// Name and version of this form.
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Name of the network or of its file.
    pub network: String,
    /// `model_type` of its configuration.
    pub family: String,
    /// All parameters.
    pub parameters: u64,
    /// Parameters that a token meets.
    pub active_parameters: u64,
    /// Id of the GPU.
    pub gpu: String,
    /// Name of the GPU.
    pub gpu_name: String,
    /// What-if changes to the GPU.
    pub gpu_changes: Vec<String>,
    /// prefill, decode or train.
    pub phase: &'static str,
    /// Sequences.
    pub batch: u64,
    /// Tokens of a sequence.
    pub tokens: u64,
    /// Type of activations.
    pub data: &'static str,
    /// Type of the products with weights.
    pub products: &'static str,
    /// Bits of a weight of the layers in memory, with its share of a scale.
    pub weight_bits: f64,
    /// GPUs that share every layer.
    pub tensor_parallel: u64,
    /// Time of the step: the device's, or the host's where it launches more slowly.
    pub time_us: f64,
    /// Ends of its band if the errors of all operations had one sign.
    pub low_us: f64,
    /// The other end.
    pub high_us: f64,
    /// Time of all operations on the device.
    pub device_us: f64,
    /// Kernels that are launched.
    pub kernels: u64,
    /// Time of the host, where launches are counted.
    pub host_us: Option<f64>,
    /// What no kernel beats: of each operation the longer of arithmetic and traffic at the datasheet's figures.
    pub roofline_us: f64,
    /// Tokens taken in or made per second, of all sequences.
    pub tokens_per_s: f64,
    /// FLOP of the model: products and attention, three times the forward pass in training.
    pub model_flop: f64,
    /// FLOP that run, those computed again among them.
    pub hardware_flop: f64,
    /// Model FLOP with causal attention counted as if every token saw all.
    pub all_pairs_flop: f64,
    /// Model FLOP per time against the dense peak of the products' unit.
    pub mfu_pct: f64,
    /// Hardware FLOP per time against the same.
    pub hfu_pct: f64,
    /// Peak of that unit in TFLOP/s.
    pub peak_tflops: f64,
    /// Least bytes from and to DRAM of all operations.
    pub bytes: f64,
    /// Time by what binds each operation.
    pub by_bound: Vec<PartReport>,
    /// Time by kind of operation.
    pub by_class: Vec<PartReport>,
    /// Time by pass, in training.
    pub by_pass: Vec<PartReport>,
    /// The operations, those of equal layers together.
    pub operations: Vec<OpReport>,
    /// What was assumed, left out or never measured.
    pub notes: Vec<String>,
}

/// A part of the time.
#[derive(Clone, Debug, Serialize)]
pub struct PartReport {
    /// What.
    pub what: &'static str,
    /// Its time.
    pub time_us: f64,
    /// Its share of the device's time.
    pub share_pct: f64,
}

/// An operation.
#[derive(Clone, Debug, Serialize)]
pub struct OpReport {
    /// Its part of the network.
    pub operation: &'static str,
    /// Its kind.
    pub class: &'static str,
    /// Its pass.
    pub pass: &'static str,
    /// How often it runs.
    pub count: u64,
    /// One run.
    pub time_us: f64,
    /// Ends of its 80 % band.
    pub low_us: f64,
    /// The other end.
    pub high_us: f64,
    /// All runs.
    pub total_us: f64,
    /// Share of the device's time.
    pub share_pct: f64,
    /// math, memory or latency.
    pub bound: &'static str,
    /// FLOP of one run.
    pub flop: f64,
    /// Least bytes from and to DRAM of one run.
    pub bytes: f64,
    /// FLOP per byte.
    pub intensity_flop_per_byte: Option<f64>,
    /// Whether measurements stand behind the time.
    pub measured: bool,
}

fn pass(pass: Pass) -> &'static str {
    match pass {
        Pass::Forward => "forward",
        Pass::Again => "forward again",
        Pass::Backward => "backward",
        Pass::Update => "optimizer",
    }
}

/// What no measurement stands behind, in one sentence, with its share of the time.
fn never_measured(found: &TimedStep) -> Option<String> {
    let mut why: Vec<&str> = found.ops.iter().filter_map(|op| op.unmeasured).collect();
    why.sort_unstable();
    why.dedup();
    let time: f64 = found.ops.iter().filter(|op| op.unmeasured.is_some()).map(Timed::total).sum();
    let share = percent(100.0 * time / found.device.0);
    (!why.is_empty()).then(|| format!("bands of {share} of the time are by judgement: {}", why.join("; ")))
}

impl NetworkReport {
    /// The report of a step; `launch` is the time between two launches of the host, where they are counted.
    pub fn new(
        network: &Network,
        gpu: &crate::gpu::Gpu,
        found: &TimedStep,
        launch: Option<f64>,
        notes: &[String],
    ) -> Self {
        let (device, low, high) = found.device;
        let whole = launch.map_or(device, |apart| found.with_launches(apart));
        let rate = |flop: f64| if whole > 0.0 { 100.0 * flop / whole / found.peak } else { 0.0 };
        let share = |time: f64| if device > 0.0 { 100.0 * time / device } else { 0.0 };
        let part = |what: &'static str, time: f64| PartReport { what, time_us: time * 1e6, share_pct: share(time) };
        let listed = |parts: Vec<PartReport>| {
            let mut parts: Vec<PartReport> = parts.into_iter().filter(|part| part.time_us > 0.0).collect();
            parts.sort_by(|a, b| b.time_us.total_cmp(&a.time_us));
            parts
        };
        let of_bound = |bound: Bound| found.ops.iter().filter(|op| op.bound == bound).map(Timed::total).sum::<f64>();
        let bounds = [Bound::Math, Bound::Memory, Bound::Latency].map(|bound| part(bound.word(), of_bound(bound)));
        let classes = Class::ALL.map(|class| part(class.label(), found.of_class(class)));
        let passes = [Pass::Forward, Pass::Again, Pass::Backward, Pass::Update];
        let by_pass = passes.map(|p| part(pass(p), found.of_pass(p)));
        let all = network.parameters();
        let mut notes = notes.to_vec();
        notes.extend(never_measured(found));
        let step = &found.step;
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            network: network.name.clone(),
            family: network.family.clone(),
            parameters: all.total(),
            active_parameters: all.active(),
            gpu: gpu.id.clone(),
            gpu_name: gpu.name.clone(),
            gpu_changes: gpu.changes.clone(),
            phase: step.phase.word(),
            batch: step.batch,
            tokens: step.tokens,
            data: step.data.name(),
            products: step.products.name(),
            weight_bits: 8.0 * step.weight_bytes,
            tensor_parallel: step.tensor_parallel,
            time_us: whole * 1e6,
            low_us: low * whole / device * 1e6,
            high_us: high * whole / device * 1e6,
            device_us: device * 1e6,
            kernels: found.kernels,
            host_us: launch.map(|apart| apart * found.kernels as f64 * 1e6),
            roofline_us: found.roofline(gpu.memory.dram.bandwidth.get()) * 1e6,
            tokens_per_s: if whole > 0.0 { found.tokens() as f64 / whole } else { 0.0 },
            model_flop: found.model_flop(),
            hardware_flop: found.hardware_flop(),
            all_pairs_flop: found.all_pairs_flop(),
            mfu_pct: rate(found.model_flop()),
            hfu_pct: rate(found.hardware_flop()),
            peak_tflops: found.peak / 1e12,
            bytes: found.ops.iter().map(|op| op.bytes * op.op.count as f64).sum(),
            by_bound: listed(bounds.into()),
            by_class: listed(classes.into()),
            by_pass: if step.phase == Phase::Train { listed(by_pass.into()) } else { Vec::new() },
            operations: found.ops.iter().map(|op| OpReport::new(op, share(op.total()))).collect(),
            notes,
        }
    }
}

impl OpReport {
    fn new(timed: &Timed, share_pct: f64) -> Self {
        let intensity = timed.flop / timed.bytes;
        Self {
            operation: timed.op.part,
            class: timed.op.class.label(),
            pass: pass(timed.op.pass),
            count: timed.op.count,
            time_us: timed.time * 1e6,
            low_us: timed.low * 1e6,
            high_us: timed.high * 1e6,
            total_us: timed.total() * 1e6,
            share_pct,
            bound: timed.bound.word(),
            flop: timed.flop,
            bytes: timed.bytes,
            intensity_flop_per_byte: (intensity > 0.0 && intensity.is_finite()).then_some(intensity),
            measured: timed.unmeasured.is_none(),
        }
    }

    /// The operation, with its pass where that is not the forward one.
    pub fn named(&self) -> String {
        match self.pass {
            "forward" => self.operation.to_owned(),
            pass if pass == self.operation => pass.to_owned(),
            pass => format!("{}, {pass}", self.operation),
        }
    }

    fn rate(&self) -> String {
        if self.flop > 0.0 { FlopsPerSecond(self.flop / self.time_us * 1e6).to_string() } else { String::new() }
    }
}

/// Versioned, for programs.
pub fn network_json(report: &NetworkReport) -> String {
    format!("{:#}\n", value_of(report))
}

/// One row per operation.
///
/// # Errors
/// The rows cannot be written.
pub fn network_csv(report: &NetworkReport) -> Result<String, CsvError> {
    const COLUMNS: [&str; 15] = [
        "operation",
        "class",
        "pass",
        "count",
        "time_us",
        "low_us",
        "high_us",
        "total_us",
        "share_pct",
        "bound",
        "flop",
        "bytes",
        "intensity_flop_per_byte",
        "measured",
        "gpu",
    ];
    let rows = report.operations.iter().map(|op| {
        let (own, gpu) = (value_of(op), report.gpu.clone().into());
        COLUMNS.iter().map(|name| cell(name, own.get(name).unwrap_or(&gpu))).collect()
    });
    table(&COLUMNS, rows.collect())
}
