//! The report as Markdown: a table of all kernels, then a section with details for each.

use super::{
    KernelReport, Report,
    layout::{clean, number, percent, time},
    overview::{Overview, overview},
};
use crate::units::{Bytes, FlopsPerSecond};

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut out = format!("# {}\n", escape(report.title.as_deref().unwrap_or("Wavecast report")));
    bullets(&mut out, "Warnings", &report.warnings);
    for trace in &report.traces {
        out += &format!("\n{}\n\n", escape(&trace.head()));
        for (label, line) in
            trace.entries().iter().flat_map(|(label, lines)| lines.iter().map(move |line| (label, line)))
        {
            out += &format!("- **{label}**: {}\n", escape(line));
        }
    }
    if !report.kernels.is_empty() {
        out.push('\n');
        table(&mut out, overview(&report.kernels));
    }
    for kernel in &report.kernels {
        details(&mut out, kernel);
    }
    bullets(&mut out, "Assumptions", &report.assumptions);
    let errors: Vec<String> = report
        .errors
        .iter()
        .map(|e| format!("{}{}: {}", e.kernel, e.gpu.as_ref().map_or(String::new(), |g| format!(" on {g}")), e.message))
        .collect();
    bullets(&mut out, "Errors", &errors);
    out
}

fn table(out: &mut String, table: Overview) {
    if let Some(gpu) = &table.gpu {
        *out += &format!("On {}:\n\n", escape(gpu));
    }
    *out += &format!("| {} |\n|", table.head.join(" | "));
    for head in &table.head {
        *out += if Overview::is_text(head) { "---|" } else { "---:|" };
    }
    out.push('\n');
    for row in &table.rows {
        let cells = row.iter().enumerate().map(|(c, cell)| if c == 0 { code(cell) } else { escape(cell) });
        *out += &format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    }
}

fn details(out: &mut String, kernel: &KernelReport) {
    let gpu = kernel.gpu_name.as_ref().map_or(String::new(), |name| format!(" on {}", escape(name)));
    *out += &format!("\n## {}{gpu}\n\n", code(&kernel.kernel));
    let mut bullet = |label: &str, text: String| *out += &format!("- **{label}**: {text}\n");
    if let Some(verdict) = &kernel.verdict {
        bullet("Verdict", escape(verdict));
    }
    if let Some(measured) = kernel.measured_us {
        bullet("Measured", time(measured));
    }
    if let Some(us) = kernel.time_us {
        let range = match (kernel.low_us, kernel.high_us) {
            (Some(low), Some(high)) => format!(" ({} to {})", time(low), time(high)),
            _ => String::new(),
        };
        bullet("Time", format!("{}{range}", time(us)));
    }
    if !kernel.gpu_changes.is_empty() {
        bullet("GPU changed", escape(&kernel.gpu_changes.join("; ")));
    }
    if let Some(occupancy) = kernel.theoretical_occupancy_pct {
        let blocks = kernel
            .blocks_per_sm
            .map_or(String::new(), |b| format!(", {b} block{} per SM", if b == 1 { "" } else { "s" }));
        let by = if kernel.limiters.is_empty() { "unknown".into() } else { kernel.limiters.join(", ") };
        bullet("Occupancy", format!("{}{blocks}, limited by {by}", percent(occupancy)));
    }
    for point in &kernel.points {
        let rate = FlopsPerSecond(point.rate_tflops * 1e12);
        let roof = FlopsPerSecond(point.attainable_tflops * 1e12);
        let place = match point.share_pct {
            Some(share) => format!("{} of {roof}", percent(share)),
            None => format!("above the roof of {roof}: {}", escape(&point.above_roof.join("; or "))),
        };
        let intensity = number(point.intensity_flop_per_byte);
        bullet(&format!("Roofline, {}", point.level), format!("{rate} at {intensity} FLOP/B, {place}"));
    }
    if let Some(bytes) = kernel.dram_bytes.filter(|b| *b > 0.0) {
        bullet("DRAM traffic", Bytes(bytes).to_string());
    }
    let mut terms: Vec<_> = kernel.terms.iter().collect();
    terms.sort_by(|a, b| b.time_us.total_cmp(&a.time_us));
    if !terms.is_empty() {
        let all = terms.iter().map(|t| format!("{} {}", escape(&t.resource), time(t.time_us)));
        bullet("Terms", all.collect::<Vec<_>>().join(", "));
    }
    for (label, lines) in [
        ("What if", &kernel.asked.iter().map(|a| a.text.clone()).collect::<Vec<_>>()),
        ("Elsewhere", &kernel.elsewhere_lines()),
        ("Would help", &kernel.what_ifs.iter().map(|w| format!("{:.2}x: {}", w.speedup, w.text)).collect::<Vec<_>>()),
        ("Would help", &kernel.advice.clone()),
        ("Next block", &kernel.next_steps),
        ("Finding", &kernel.findings),
        ("Model against file", &kernel.differences),
    ] {
        for line in lines {
            bullet(label, escape(line));
        }
    }
    for (label, items) in [("Not in file", &kernel.missing), ("Leaves out", &kernel.ignored)] {
        if !items.is_empty() {
            bullet(label, escape(&items.join("; ")));
        }
    }
    if let Some(confidence) = &kernel.confidence {
        bullet("Confidence", escape(confidence));
    }
}

fn bullets(out: &mut String, heading: &str, items: &[String]) {
    if !items.is_empty() {
        *out += &format!("\n## {heading}\n\n");
        for item in items {
            *out += &format!("- {}\n", escape(item));
        }
    }
}

/// Text that Markdown prints as it is, in a table as well.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in clean(text).chars() {
        if matches!(character, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '|' | '#') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// A name as code, in a table as well.
pub(crate) fn code(name: &str) -> String {
    format!("`{}`", clean(name).replace('`', "'").replace('|', "\\|"))
}
