//! The report for people: a block per kernel, most important first; a table where there are many.

use textwrap::core::display_width;

use super::{
    KernelReport, PointReport, Report,
    layout::{LABEL, bar, clean, entry, fit, hanging, number, pad, percent, shown, time},
    overview::overview,
    resident::{occupancy, waves},
};
use crate::units::{Bytes, BytesPerSecond, FlopsPerSecond};

/// How much of a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Detail {
    /// A block per kernel up to three kernels, else one table.
    #[default]
    Summary,
    /// A block for every kernel, after a table where there are more than three.
    Full,
}

/// How the text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns that no line exceeds; at least 40 are used.
    pub width: usize,
    /// How much is written.
    pub detail: Detail,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { width: 80, detail: Detail::Summary }
    }
}

/// Kernels up to which blocks are written without a table.
const FEW_KERNELS: usize = 3;
/// Changes that are listed.
const WHAT_IFS: usize = 5;
/// Terms below this share of the largest are not drawn.
const LEAST_TERM: f64 = 0.01;

/// The report as plain text.
pub fn text(report: &Report, options: TextOptions) -> String {
    let width = options.width.max(40);
    let mut out = String::new();
    if let Some(title) = &report.title {
        hanging(&mut out, "", title, width);
        out.push('\n');
    }
    for warning in &report.warnings {
        hanging(&mut out, "warning: ", warning, width);
    }
    let many = report.kernels.len() > FEW_KERNELS;
    if many {
        let table = overview(&report.kernels);
        if let Some(gpu) = &table.gpu {
            hanging(&mut out, "", &format!("{} kernels on {gpu}", report.kernels.len()), width);
        }
        out += &table.text(width);
    }
    let blocks = !many || options.detail == Detail::Full;
    if blocks {
        for (index, kernel) in report.kernels.iter().enumerate() {
            if many || index > 0 {
                out.push('\n');
            }
            block(&mut out, kernel, width);
        }
    } else {
        verdicts(&mut out, &report.kernels, width);
    }
    notes(&mut out, &report.kernels, blocks, width);
    if !report.assumptions.is_empty() {
        out.push('\n');
        list(&mut out, "assumed: ", &report.assumptions, width);
    }
    for error in &report.errors {
        let gpu = error.gpu.as_ref().map_or(String::new(), |gpu| format!(" on {gpu}"));
        let head = fit(&format!("{}{gpu}", error.kernel), width);
        hanging(&mut out, "error: ", &format!("{head}: {}", error.message), width);
    }
    out
}

/// Verdicts that a person reads below a table.
const VERDICTS: usize = 12;

/// One sentence per kernel on the GPU as it is: what binds it, and the change that helps most.
fn verdicts(out: &mut String, kernels: &[KernelReport], width: usize) {
    let plain = kernels.iter().filter(|k| k.gpu_changes.is_empty() || k.is_observed());
    out.push('\n');
    for kernel in plain.take(VERDICTS) {
        let Some(verdict) = &kernel.verdict else { continue };
        let best = match (kernel.what_ifs.first(), kernel.advice.first()) {
            (Some(w), _) => format!("; {:.2}x with {}", w.speedup, w.text),
            (None, Some(advice)) => format!("; {advice}"),
            (None, None) => String::new(),
        };
        hanging(out, "- ", &format!("{}: {verdict}{best}", fit(&kernel.kernel, width / 2)), width);
    }
}

fn list(out: &mut String, head: &str, items: &[String], width: usize) {
    let blank = " ".repeat(head.len());
    for (index, item) in items.iter().enumerate() {
        hanging(out, if index == 0 { head } else { &blank }, item, width);
    }
}

fn block(out: &mut String, kernel: &KernelReport, width: usize) {
    title(out, kernel, width);
    if let Some(verdict) = &kernel.verdict {
        entry(out, "verdict", verdict, width);
    }
    entry(out, "time", &time_line(kernel), width);
    occupancy(out, kernel, width);
    entry(out, "waves", &waves(kernel), width);
    roofline(out, kernel, width);
    terms(out, kernel, width);
    entries(out, "would help", what_ifs(kernel).into_iter(), width);
    entries(out, "findings", kernel.findings.iter().map(|f| (String::new(), f.clone())), width);
    entries(out, "differs", kernel.differences.iter().map(|d| (String::new(), d.clone())), width);
    if !kernel.missing.is_empty() {
        entry(out, "not in file", &kernel.missing.join(", "), width);
    }
}

/// What holds for several kernels is said once, at the end.
fn notes(out: &mut String, kernels: &[KernelReport], blocks: bool, width: usize) {
    let distinct = |items: Vec<&String>| {
        let mut seen: Vec<String> = Vec::new();
        for item in items {
            if !seen.contains(item) {
                seen.push(item.clone());
            }
        }
        seen
    };
    let confidence = distinct(kernels.iter().filter_map(|k| k.confidence.as_ref()).collect());
    let ignored = distinct(kernels.iter().flat_map(|k| &k.ignored).collect());
    if kernels.len() > 1 && !(confidence.is_empty() && ignored.is_empty()) {
        out.push('\n');
    }
    entries(out, "confidence", confidence.into_iter().map(|c| (String::new(), c)), width);
    if blocks && !ignored.is_empty() {
        entry(out, "leaves out", &ignored.join("; "), width);
    }
}

fn title(out: &mut String, kernel: &KernelReport, width: usize) {
    let gpu = kernel.gpu_name.as_ref().map_or(String::new(), |name| format!(" on {}", clean(name)));
    let room = width.saturating_sub(display_width(&gpu)).max(width / 3);
    *out += &fit(&format!("{}{gpu}", fit(&kernel.kernel, room)), width);
    out.push('\n');
    entries(out, "with", kernel.gpu_changes.iter().map(|c| (String::new(), c.clone())), width);
}

/// Entries under one label, each with a head of its own before its text.
pub(super) fn entries(out: &mut String, label: &str, items: impl Iterator<Item = (String, String)>, width: usize) {
    for (index, (head, text)) in items.enumerate() {
        let label = if index == 0 { label } else { "" };
        hanging(out, &format!("  {label:<w$}{head}", w = LABEL - 2), &text, width);
    }
}

fn time_line(kernel: &KernelReport) -> String {
    let range = match (kernel.low_us, kernel.high_us) {
        (Some(low), Some(high)) => format!(" ({} to {})", time(low), time(high)),
        _ => String::new(),
    };
    let host = kernel.launch_us.map_or(String::new(), |us| format!(", {} of it the host's launch", time(us)));
    let model = kernel.time_us.map(|us| format!("{}{range}{host}", time(us)));
    match (kernel.measured_us, model) {
        (Some(measured), Some(model)) => {
            let ratio = kernel.measured_over_model.map_or(String::new(), |r| format!(", {} x the model", number(r)));
            format!("{} measured{ratio}; model {model}", time(measured))
        }
        (Some(measured), None) => format!("{} measured", time(measured)),
        (None, model) => shown(kernel, model),
    }
}

fn roofline(out: &mut String, kernel: &KernelReport, width: usize) {
    let mut label = "roofline";
    for point in &kernel.points {
        let (head, text) = point_line(point);
        hanging(out, &format!("  {label:<w$}{head}", w = LABEL - 2), &text, width);
        label = "";
    }
    let bandwidth = |gb: f64| BytesPerSecond(gb * 1e9).to_string();
    if let (Some(peak), Some(pipe)) = (kernel.peak_tflops, &kernel.pipe) {
        let ridge = kernel.ridge_flop_per_byte.map_or(String::new(), |r| format!(", ridge {} FLOP/B", number(r)));
        entry(out, label, &format!("{pipe} peak {}{ridge}", FlopsPerSecond(peak * 1e12)), width);
    }
    let Some(bytes) = kernel.dram_bytes.filter(|b| *b > 0.0 || kernel.is_observed()) else {
        if kernel.is_observed() {
            entry(out, "DRAM", "not in file", width);
        }
        return;
    };
    let mut text = Bytes(bytes).to_string();
    if let Some(rate) = kernel.dram_gb_per_s {
        text += &format!(" at {}", bandwidth(rate));
        match kernel.peak_dram_gb_per_s {
            Some(peak) if rate > peak => {
                text += &format!(": above its peak of {}, the data come from L2 at least in part", bandwidth(peak));
            }
            Some(peak) => text += &format!(", {} of {}", percent(rate / peak * 100.0), bandwidth(peak)),
            None => {}
        }
    }
    entry(out, "DRAM", &text, width);
}

fn point_line(point: &PointReport) -> (String, String) {
    let level = match point.level.as_str() {
        "dram" => "DRAM",
        "l2" => "L2",
        _ => "shared",
    };
    let rates = format!(
        "{} of {} at {} FLOP/B",
        FlopsPerSecond(point.rate_tflops * 1e12),
        FlopsPerSecond(point.attainable_tflops * 1e12),
        number(point.intensity_flop_per_byte)
    );
    match point.share_pct {
        Some(share) => (format!("{level:<7} {:>6}  ", percent(share)), rates),
        None => (format!("{level:<7} "), format!("above the roof, {rates}: {}", point.above_roof.join("; or "))),
    }
}

fn terms(out: &mut String, kernel: &KernelReport, width: usize) {
    let mut terms: Vec<_> = kernel.terms.iter().collect();
    terms.sort_by(|a, b| b.time_us.total_cmp(&a.time_us));
    let largest = terms.first().map_or(0.0, |t| t.time_us);
    terms.retain(|t| t.time_us >= largest * LEAST_TERM && t.time_us > 0.0);
    let names = terms.iter().map(|t| display_width(&t.resource)).max().unwrap_or(0).min(width / 3);
    let room = width.saturating_sub(LABEL + names + 2 + 12).min(40);
    for (index, term) in terms.iter().enumerate() {
        let label = if index == 0 { "terms" } else { "" };
        let name = pad(&fit(&term.resource, names), names);
        let bar = pad(&bar(term.time_us / largest, room), room);
        *out += &format!("  {label:<w$}{name}  {bar} {:>10}\n", time(term.time_us), w = LABEL - 2);
    }
}

fn what_ifs(kernel: &KernelReport) -> Vec<(String, String)> {
    let line = |w: &super::WhatIfReport| {
        let after = match &kernel.bound {
            Some(bound) if *bound != w.bound_after => format!("; then {}-bound", w.bound_after),
            _ => String::new(),
        };
        (format!("{:>5}x  ", format!("{:.2}", w.speedup)), format!("{}{after}", w.text))
    };
    let advice = kernel.advice.iter().map(|text| ("-  ".to_owned(), text.clone()));
    kernel.what_ifs.iter().take(WHAT_IFS).map(line).chain(advice).collect()
}
