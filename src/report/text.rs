//! The report for people: a block per kernel, most important first; a table where there are many.

use textwrap::core::display_width;

use super::{
    KernelReport, Report, TraceReport,
    layout::{LABEL, bar, clean, entry, fit, hanging, pad, percent, time},
    overview::overview,
    sentences::{
        conventions_line, dram_line, drawn_terms, level_word, limits_line, next_steps, occupancy_line, peak_line,
        point_line, time_line, waves_line, what_if_line,
    },
};

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
    // Few launches of a profile are soon summed up by whoever reads them.
    let told = report.traces.iter().filter(|trace| many || trace.bound_source == "likely" || trace.is_asked());
    told.for_each(|trace| traced(&mut out, trace, width));
    if many {
        let table = overview(&report.kernels).without_launches();
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

/// Where the time of a file went.
fn traced(out: &mut String, trace: &TraceReport, width: usize) {
    hanging(out, "", &trace.head(), width);
    for (label, lines) in trace.entries() {
        entries(out, label, lines.into_iter().map(|line| (String::new(), line)), width);
    }
    out.push('\n');
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
        kernel.asked.iter().for_each(|asked| hanging(out, "  what if ", &asked.text, width));
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
    entry(out, "waves", &waves_line(kernel), width);
    roofline(out, kernel, width);
    terms(out, kernel, width);
    entries(out, "kernel", kernel.choices.iter().map(|c| (String::new(), c.clone())), width);
    entries(out, "sizes", kernel.sizes.iter().map(|s| (String::new(), s.clone())), width);
    entries(out, "what if", kernel.asked.iter().map(|a| (String::new(), a.text.clone())), width);
    entries(out, "elsewhere", kernel.elsewhere_lines().into_iter().map(|line| (String::new(), line)), width);
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
fn entries(out: &mut String, label: &str, items: impl Iterator<Item = (String, String)>, width: usize) {
    for (index, (head, text)) in items.enumerate() {
        let label = if index == 0 { label } else { "" };
        hanging(out, &format!("  {label:<w$}{head}", w = LABEL - 2), &text, width);
    }
}

fn occupancy(out: &mut String, kernel: &KernelReport, width: usize) {
    let lines = [
        ("occupancy", occupancy_line(kernel)),
        ("limits", limits_line(kernel)),
        ("conventions", conventions_line(kernel)),
    ];
    for (label, line) in lines {
        line.iter().for_each(|line| entry(out, label, line, width));
    }
    entries(out, "next step", next_steps(kernel).map(|s| (String::new(), s.clone())), width);
}

fn roofline(out: &mut String, kernel: &KernelReport, width: usize) {
    let mut label = "roofline";
    for point in &kernel.points {
        let share = point.share_pct.map_or(String::new(), |share| format!("{:>6}  ", percent(share)));
        let head = format!("{:<7} {share}", level_word(point));
        hanging(out, &format!("  {label:<w$}{head}", w = LABEL - 2), &point_line(point), width);
        label = "";
    }
    if let Some(peak) = peak_line(kernel) {
        entry(out, label, &peak, width);
    }
    if let Some(dram) = dram_line(kernel) {
        entry(out, "DRAM", &dram, width);
    }
}

fn terms(out: &mut String, kernel: &KernelReport, width: usize) {
    let terms = drawn_terms(kernel);
    let largest = terms.first().map_or(0.0, |t| t.time_us);
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
    let line = |w| {
        let (speedup, text) = what_if_line(kernel, w);
        (format!("{speedup:>5}x  "), text)
    };
    let advice = kernel.advice.iter().map(|text| ("-  ".to_owned(), text.clone()));
    kernel.what_ifs.iter().take(WHAT_IFS).map(line).chain(advice).collect()
}
