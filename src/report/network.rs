//! A step of a whole network: one flat, versioned value and its text, JSON, CSV and Markdown.

use serde::Serialize;

use super::{
    CsvError,
    csv::{cell, table},
    json::value_of,
    layout::{LABEL, bar, clean, entry, fit, hanging, pad, percent, time},
};
use crate::{
    network::{Class, Network, Pass, Phase, Timed, TimedStep},
    time::Bound,
    units::{FlopsPerSecond, grouped, significant},
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
    /// Tokens taken in or made per second, of all sequences.
    pub tokens_per_s: f64,
    /// FLOP of the model: products and attention, three times the forward pass in training.
    pub model_flop: f64,
    /// FLOP that run, those computed again among them.
    pub hardware_flop: f64,
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
        let mut unmeasured: Vec<&str> = found.ops.iter().filter_map(|op| op.unmeasured).collect();
        unmeasured.sort_unstable();
        unmeasured.dedup();
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
            tensor_parallel: step.tensor_parallel,
            time_us: whole * 1e6,
            low_us: low * whole / device * 1e6,
            high_us: high * whole / device * 1e6,
            device_us: device * 1e6,
            kernels: found.kernels,
            host_us: launch.map(|apart| apart * found.kernels as f64 * 1e6),
            tokens_per_s: if whole > 0.0 { found.tokens() as f64 / whole } else { 0.0 },
            model_flop: found.model_flop(),
            hardware_flop: found.hardware_flop(),
            mfu_pct: rate(found.model_flop()),
            hfu_pct: rate(found.hardware_flop()),
            peak_tflops: found.peak / 1e12,
            bytes: found.ops.iter().map(|op| op.bytes * op.op.count as f64).sum(),
            by_bound: listed(bounds.into()),
            by_class: listed(classes.into()),
            by_pass: if step.phase == Phase::Train { listed(by_pass.into()) } else { Vec::new() },
            operations: found.ops.iter().map(|op| OpReport::new(op, share(op.total()))).collect(),
            notes: notes
                .iter()
                .cloned()
                .chain(unmeasured.into_iter().map(|why| format!("no band of measurements: {why}")))
                .collect(),
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

impl NetworkReport {
    fn head(&self) -> String {
        let tokens = match self.phase {
            "decode" => format!("{} tokens in the cache", grouped(self.tokens)),
            _ => format!("{} tokens", grouped(self.tokens)),
        };
        let types = if self.data == self.products {
            self.data.into()
        } else {
            format!("{}, products in {}", self.data, self.products)
        };
        let parallel = match self.tensor_parallel {
            1 => String::new(),
            degree => format!(", 1 of {degree} GPUs of a tensor-parallel group"),
        };
        let changes: String = self.gpu_changes.iter().map(|change| format!(", {change}")).collect();
        let (network, gpu) = (&self.network, &self.gpu_name);
        format!(
            "{network} on {gpu}{changes}: {}, batch {}, {tokens}, {types}{parallel}",
            self.phase,
            grouped(self.batch)
        )
    }

    /// What there is to say, under labels.
    fn entries(&self) -> Vec<(&'static str, String)> {
        let what = if self.phase == "decode" { "per token of each sequence" } else { "per step" };
        let parts = |parts: &[PartReport]| {
            let parts: Vec<String> =
                parts.iter().map(|part| format!("{} {}", part.what, percent(part.share_pct))).collect();
            parts.join(", ")
        };
        let range = format!("{} {what} ({} to {})", time(self.time_us), time(self.low_us), time(self.high_us));
        let mut entries = vec![("time", range)];
        if let Some(host) = self.host_us {
            let slower = if host > self.device_us { "slower than the device" } else { "hidden behind the device" };
            let device = time(self.device_us);
            entries.push((
                "launches",
                format!("{} kernels, {} of the host: {slower} ({device})", grouped(self.kernels), time(host)),
            ));
        }
        entries.push(("tokens", format!("{} per second", significant(self.tokens_per_s, 4))));
        entries.push(("bound", parts(&self.by_bound)));
        entries.push(("operations", parts(&self.by_class)));
        if !self.by_pass.is_empty() {
            entries.push(("passes", parts(&self.by_pass)));
        }
        let peak = FlopsPerSecond(self.peak_tflops * 1e12);
        let again = if self.hardware_flop > self.model_flop {
            format!(", HFU {} with what is computed again", percent(self.hfu_pct))
        } else {
            String::new()
        };
        entries.push((
            "MFU",
            format!("{} of {peak} dense{again} (products and attention, FMA = 2 FLOP)", percent(self.mfu_pct)),
        ));
        let active = match self.active_parameters {
            active if active < self.parameters => format!(", {} of them met by a token", billions(active)),
            _ => String::new(),
        };
        let moved = format!("{} GB through DRAM at least", significant(self.bytes / 1e9, 4));
        entries.push(("parameters", format!("{}{active}; {moved}", billions(self.parameters))));
        entries
    }
}

/// "6.738 billion", "124.4 million".
fn billions(count: u64) -> String {
    match count as f64 {
        count if count >= 1e9 => format!("{} billion", significant(count / 1e9, 4)),
        count => format!("{} million", significant(count / 1e6, 4)),
    }
}

/// Operations that a person reads.
const SHOWN: usize = 25;

/// Operations by name and pass: those of layers that differ in a window alone are one line.
fn lines(report: &NetworkReport) -> Vec<OpReport> {
    let mut lines: Vec<OpReport> = Vec::new();
    for op in &report.operations {
        match lines.iter_mut().find(|line| line.operation == op.operation && line.pass == op.pass) {
            Some(line) => {
                if op.total_us > line.total_us {
                    (line.bound, line.flop, line.time_us) = (op.bound, op.flop, op.time_us);
                }
                line.count += op.count;
                line.total_us += op.total_us;
                line.share_pct += op.share_pct;
            }
            None => lines.push(op.clone()),
        }
    }
    lines.sort_by(|a, b| b.total_us.total_cmp(&a.total_us));
    lines
}

/// For people.
pub fn network_text(report: &NetworkReport, width: usize) -> String {
    let mut out = String::new();
    hanging(&mut out, "", &report.head(), width);
    report.entries().iter().for_each(|(label, text)| entry(&mut out, label, text, width));
    out.push('\n');
    let lines = lines(report);
    let named = |line: &OpReport| match line.pass {
        "forward" => line.operation.to_owned(),
        pass => format!("{}, {pass}", line.operation),
    };
    let names =
        lines.iter().take(SHOWN).map(|line| named(line).len()).max().unwrap_or(0).min(width.saturating_sub(54).max(16));
    let longest = lines.first().map_or(0.0, |line| line.share_pct);
    let room = width.saturating_sub(names + 56).min(20);
    for line in lines.iter().take(SHOWN) {
        let name = pad(&fit(&named(line), names), names);
        let runs = format!("{} x {}", line.count, time(line.time_us));
        let bar = pad(&bar(line.share_pct / longest, room), room);
        let share = percent(line.share_pct);
        let row = format!("  {name} {bar}{share:>7}  {runs:>18}  {:<7}  {:>13}", line.bound, line.rate());
        out += row.trim_end();
        out.push('\n');
    }
    if let Some(rest) = lines.get(SHOWN..).filter(|rest| !rest.is_empty()) {
        let share: f64 = rest.iter().map(|line| line.share_pct).sum();
        hanging(
            &mut out,
            "  ",
            &format!("and {} more, {} together: --format csv has all", rest.len(), percent(share)),
            width,
        );
    }
    if !report.notes.is_empty() {
        out.push('\n');
    }
    for (index, note) in report.notes.iter().enumerate() {
        hanging(&mut out, &format!("{:<LABEL$}", if index == 0 { "notes" } else { "" }), note, width);
    }
    out
}

/// A table to paste.
pub fn network_markdown(report: &NetworkReport) -> String {
    let mut out = format!("### {}\n\n", super::escape(&report.head()));
    for (label, text) in report.entries() {
        out += &format!("- **{label}**: {}\n", super::escape(&text));
    }
    out += "\n| operation | pass | runs | each | share | bound | rate |\n|---|---|---:|---:|---:|---|---:|\n";
    for line in lines(report) {
        let (each, share) = (time(line.time_us), percent(line.share_pct));
        let (name, pass, count, bound) = (line.operation, line.pass, line.count, line.bound);
        out += &format!("| {name} | {pass} | {count} | {each} | {share} | {bound} | {} |\n", line.rate());
    }
    for (index, note) in report.notes.iter().enumerate() {
        out += &format!("{}- {}\n", if index == 0 { "\n" } else { "" }, super::escape(&clean(note)));
    }
    out
}
