//! A step of a network for people: text and Markdown.

use super::{
    super::{
        escape,
        layout::{LABEL, bar, clean, entry, fit, hanging, pad, percent, time},
    },
    NetworkReport, OpReport, PartReport,
};
use crate::{
    gpu::DataType,
    op::rowwise::bytes,
    units::{FlopsPerSecond, grouped, significant},
};

impl NetworkReport {
    /// The step in one line.
    pub fn head(&self) -> String {
        let tokens = match self.phase {
            "decode" => format!("{} tokens in the cache", grouped(self.tokens)),
            _ => format!("{} tokens", grouped(self.tokens)),
        };
        let products =
            if self.data == self.products { String::new() } else { format!(", products in {}", self.products) };
        let plain: Option<DataType> = self.products.parse().ok();
        let weights = match plain.is_some_and(|plain| 8.0 * bytes(plain) == self.weight_bits) {
            true => String::new(),
            false => format!(", weights of {} bits", significant(self.weight_bits, 4)),
        };
        let types = format!("{}{products}{weights}", self.data);
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

    /// Operations by name and pass, most time first: those of layers that differ in a window alone are one.
    pub fn lines(&self) -> Vec<OpReport> {
        let mut lines: Vec<OpReport> = Vec::new();
        for op in &self.operations {
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

    /// What there is to say, under labels.
    fn entries(&self) -> Vec<(&'static str, String)> {
        let what = if self.phase == "decode" { "per token of each sequence" } else { "per step" };
        let parts = |parts: &[PartReport]| {
            let parts: Vec<String> =
                parts.iter().map(|part| format!("{} {}", part.what, percent(part.share_pct))).collect();
            parts.join(", ")
        };
        let range = format!("{} {what} ({} to {})", time(self.time_us), time(self.low_us), time(self.high_us));
        let reached = percent(100.0 * self.roofline_us / self.time_us);
        let floor = format!("no faster than {}: {reached} of the datasheet's roofline", time(self.roofline_us));
        let mut entries = vec![("time", range), ("roofline", floor)];
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
        let whole = match self.all_pairs_flop / self.model_flop {
            more if more > 1.005 => {
                format!("; {} where causal attention counts whole", percent(self.mfu_pct * more))
            }
            _ => String::new(),
        };
        entries.push((
            "MFU",
            format!("{} of {peak} dense{again} (products and attention, FMA = 2 FLOP{whole})", percent(self.mfu_pct)),
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

/// For people.
pub fn network_text(report: &NetworkReport, width: usize) -> String {
    let mut out = String::new();
    hanging(&mut out, "", &report.head(), width);
    report.entries().iter().for_each(|(label, text)| entry(&mut out, label, text, width));
    out.push('\n');
    let lines = report.lines();
    let names = lines
        .iter()
        .take(SHOWN)
        .map(|line| line.named().len())
        .max()
        .unwrap_or(0)
        .min(width.saturating_sub(54).max(16));
    let longest = lines.first().map_or(0.0, |line| line.share_pct);
    let room = width.saturating_sub(names + 56).min(20);
    for line in lines.iter().take(SHOWN) {
        let name = pad(&fit(&line.named(), names), names);
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
    let mut out = format!("### {}\n\n", escape(&report.head()));
    for (label, text) in report.entries() {
        out += &format!("- **{label}**: {}\n", escape(&text));
    }
    out += "\n| operation | pass | runs | each | share | bound | rate |\n|---|---|---:|---:|---:|---|---:|\n";
    for line in report.lines() {
        let (each, share) = (time(line.time_us), percent(line.share_pct));
        let (name, pass, count, bound) = (line.operation, line.pass, line.count, line.bound);
        out += &format!("| {name} | {pass} | {count} | {each} | {share} | {bound} | {} |\n", line.rate());
    }
    for (index, note) in report.notes.iter().enumerate() {
        out += &format!("{}- {}\n", if index == 0 { "\n" } else { "" }, escape(&clean(note)));
    }
    out
}
