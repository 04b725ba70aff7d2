//! A report of simulations for people: text and Markdown.

use super::{RunReport, SimulationReport};
use crate::{
    report::{
        layout::{bar, entry, fit, hanging, pad, percent, time},
        markdown::escape,
    },
    units::significant,
};

/// Plain text of at most `width` columns.
pub fn simulation_text(report: &SimulationReport, width: usize) -> String {
    let width = width.max(40);
    let mut out = String::new();
    hanging(&mut out, "", &report.title, width);
    if report.runs.len() > 1 {
        out.push('\n');
        compared(&mut out, &report.runs, width);
    }
    for run in &report.runs {
        out.push('\n');
        one(&mut out, run, width);
    }
    if !report.assumptions.is_empty() {
        out.push('\n');
    }
    for assumption in &report.assumptions {
        hanging(&mut out, "assumed: ", assumption, width);
    }
    for error in &report.errors {
        hanging(&mut out, "error: ", error, width);
    }
    out
}

/// All cases beside the first.
fn compared(out: &mut String, runs: &[RunReport], width: usize) {
    let longest = runs.iter().map(|run| fit(&run.name(), width / 2).chars().count()).max().unwrap_or(0);
    let most = runs.iter().map(|run| run.makespan_us).fold(0.0, f64::max);
    let first = runs[0].makespan_us;
    for run in runs {
        let ratio = if first > 0.0 { significant(run.makespan_us / first, 4) } else { "1".into() };
        let line =
            format!("  {} {:>10}  {ratio:>6}x  ", pad(&fit(&run.name(), width / 2), longest), time(run.makespan_us));
        let room = width.saturating_sub(line.chars().count());
        *out += &line;
        *out += &bar(if most > 0.0 { run.makespan_us / most } else { 0.0 }, room);
        out.push('\n');
    }
}

fn one(out: &mut String, run: &RunReport, width: usize) {
    let unit = run.unit;
    hanging(out, "", &run.name(), width);
    for (place, change) in run.gpu_changes.iter().enumerate() {
        entry(out, if place == 0 { "with" } else { "" }, change, width);
    }
    let ratio = if run.balance_us > 0.0 { significant(run.makespan_us / run.balance_us, 4) } else { "1".into() };
    let makespan = format!("{}: {ratio} times perfect balance ({})", time(run.makespan_us), time(run.balance_us));
    entry(out, "makespan", &makespan, width);
    if let [kernel] = run.kernels.as_slice() {
        let closed = format!(
            "{} for equal blocks with perfect overlap; {} by the p-sum",
            time(kernel.closed_form_us),
            time(kernel.p_sum_us)
        );
        entry(out, "closed form", &closed, width);
    }
    let begin = match run.unused_sms {
        0 => format!("from {} on {unit}s run out of blocks", time(run.tail_start_us)),
        unused => format!("{unused} of {} {unit}s get no block", run.sms),
    };
    let (tail, idle) = (percent(run.tail_cost_pct), percent(run.idle_pct));
    let tail = format!("{begin}: {tail} of all {unit} time lies idle at the end, {idle} in all");
    entry(out, "tail", &tail, width);
    let used = [("arithmetic", run.math_pct), ("ports", run.port_pct), ("L2", run.l2_pct), ("DRAM", run.dram_pct)];
    let used: Vec<String> = used
        .into_iter()
        .filter(|(_, share)| *share > 0.0)
        .map(|(what, share)| format!("{what} {}", percent(share)))
        .collect();
    if !used.is_empty() {
        entry(out, "used", &used.join(", "), width);
    }
    let loads = format!(
        "{} to {} with a block; {} to {} blocks each, {} {unit}s",
        time(run.sm_busy_us[0]),
        time(run.sm_busy_us[1]),
        run.sm_blocks[0],
        run.sm_blocks[1],
        run.sms
    );
    entry(out, &format!("{unit} loads"), &loads, width);
    let c = &run.critical;
    let critical = format!(
        "block {} of {} on {unit} {}, from {} to {}; alone it takes {} ({})",
        c.block,
        c.kernel,
        c.sm,
        time(c.start_us),
        time(c.end_us),
        time(c.alone_us),
        c.bound
    );
    entry(out, "critical", &critical, width);
    for (place, kernel) in run.kernels.iter().enumerate() {
        let note = if kernel.note.is_empty() { String::new() } else { format!("; {}", kernel.note) };
        let line = format!(
            "{}: {} blocks, {} waves, {} to {}{}{note}",
            kernel.kernel,
            kernel.blocks,
            significant(kernel.waves, 4),
            time(kernel.first_us),
            time(kernel.end_us),
            if run.kernels.len() > 1 {
                format!(", closed form {}", time(kernel.closed_form_us))
            } else {
                String::new()
            },
        );
        entry(out, if place == 0 { "kernels" } else { "" }, &line, width);
    }
}

/// A Markdown table, one row per simulation.
pub fn simulation_markdown(report: &SimulationReport) -> String {
    let mut out = format!("# {}\n\n", escape(&report.title));
    out += "| Case | GPU | Makespan | Perfect balance | Tail starts | Idle in the tail | Idle in all | Critical block |\n|---|---|---|---|---|---|---|---|\n";
    for run in &report.runs {
        out += &format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} of {} |\n",
            escape(&run.case),
            escape(&[std::slice::from_ref(&run.gpu_name), run.gpu_changes.as_slice()].concat().join(", ")),
            time(run.makespan_us),
            time(run.balance_us),
            time(run.tail_start_us),
            percent(run.tail_cost_pct),
            percent(run.idle_pct),
            run.critical.block,
            escape(&run.critical.kernel),
        );
    }
    for text in report
        .assumptions
        .iter()
        .map(|a| format!("assumed: {a}"))
        .chain(report.errors.iter().map(|e| format!("error: {e}")))
    {
        out += &format!("\n- {}", escape(&text));
    }
    out.push('\n');
    out
}
