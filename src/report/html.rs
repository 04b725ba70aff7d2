//! The report as one page for a browser: a table that sorts, the charts, and a section for each kernel.

mod kernel;
mod page;

pub use page::{PageCell, PageColumn, PageTable, Part, page};

use maud::{Markup, html as markup};

use super::{
    KernelReport, Report,
    layout::fit,
    overview::{Overview, overview},
};
use crate::units::{grouped, significant};
use page::{LINE, list, shell, table, written_by};

/// Kernels that get a section; the table holds all.
const DETAILED: usize = 500;
/// Kernels up to which the table is list of contents enough.
const FEW_KERNELS: usize = 5;
/// Kernels up to which the list of contents is unfolded.
const UNFOLDED: usize = 30;
/// Columns of a kernel's name in tables and lists.
const NAME: usize = 72;

/// What is true of every kernel, and is said once.
struct Shared {
    ignored: Vec<String>,
    confidence: Option<String>,
}

impl Shared {
    /// Nothing where there is one kernel: its section says it.
    fn of(kernels: &[KernelReport]) -> Self {
        let Some((first, rest)) = kernels.split_first().filter(|(_, rest)| !rest.is_empty()) else {
            return Self { ignored: Vec::new(), confidence: None };
        };
        let everywhere = |sentence: &&String| rest.iter().all(|k| k.ignored.contains(sentence));
        Self {
            ignored: first.ignored.iter().filter(everywhere).cloned().collect(),
            confidence: first.confidence.clone().filter(|c| rest.iter().all(|k| k.confidence.as_ref() == Some(c))),
        }
    }
}

/// The report as one HTML file that fetches nothing, with `charts` inside: the name of each and its SVG document, which
/// is taken as it is. Equal reports give equal bytes.
pub fn html(report: &Report, charts: &[(String, String)]) -> String {
    let title = report.title.as_deref().unwrap_or("Wavecast report");
    let shared = Shared::of(&report.kernels);
    let detailed = report.kernels.len().min(DETAILED);
    let sections = report.kernels.iter().take(DETAILED).enumerate().map(|(i, k)| kernel::section(&id(i), k, &shared));
    let body = markup! {
        header { h1 { (title) } }
        (LINE)
        main {
            (note("error", "Errors", &errors(report)))
            (note("warning", "Warnings", &report.warnings))
            @if report.kernels.len() > FEW_KERNELS { (contents(&report.kernels[..detailed], !charts.is_empty())) }
            @for trace in &report.traces {
                section class="trace" {
                    h2 { (trace.head()) }
                    ul {
                        @for (label, lines) in trace.entries() {
                            @for line in lines { (LINE) li { b { (label) } " " (line) } }
                        }
                    }
                }
                (LINE)
            }
            @if !report.kernels.is_empty() {
                section id="overview" { h2 { "Overview" } (overview_table(&report.kernels)) }
                (LINE)
            }
            @if !charts.is_empty() { (figures(charts)) }
            @if !report.kernels.is_empty() {
                section id="kernels" {
                    h2 { "Kernels" }
                    @if detailed < report.kernels.len() {
                        p {
                            "The first " (grouped(detailed as u64)) " of " (grouped(report.kernels.len() as u64))
                            " kernels follow; the table holds all, and the formats json and csv every figure of each."
                        }
                    }
                    (LINE)
                    @for section in sections { (section) }
                }
                (LINE)
            }
        }
        (LINE)
        footer {
            (list("Assumed", &report.assumptions))
            (list("Confidence", shared.confidence.as_slice()))
            (list("Leaves out", &shared.ignored))
            p { (written_by()) ", " (report.schema) }
        }
    };
    shell(title, &body)
}

/// The id of the section of a kernel.
fn id(index: usize) -> String {
    format!("kernel-{}", index + 1)
}

fn errors(report: &Report) -> Vec<String> {
    let gpu = |gpu: &Option<String>| gpu.as_ref().map_or(String::new(), |gpu| format!(" on {gpu}"));
    report.errors.iter().map(|e| format!("{}{}: {}", e.kernel, gpu(&e.gpu), e.message)).collect()
}

/// A list that must be seen, above all else.
fn note(kind: &str, heading: &str, items: &[String]) -> Markup {
    markup! {
        @if !items.is_empty() {
            section class={ "note " (kind) } {
                h2 { (heading) }
                ul { @for item in items { (LINE) li { (item) } } }
            }
            (LINE)
        }
    }
}

fn contents(kernels: &[KernelReport], charts: bool) -> Markup {
    markup! {
        nav aria-label="Contents" {
            details open=[(kernels.len() <= UNFOLDED).then_some("")] {
                summary { "Contents" }
                ul {
                    li { a href="#overview" { "Overview" } }
                    @if charts { (LINE) li { a href="#charts" { "Charts" } } }
                    @for (index, kernel) in kernels.iter().enumerate() {
                        (LINE) li { a href={ "#" (id(index)) } { (fit(&kernel.kernel, NAME)) } }
                    }
                }
            }
        }
        (LINE)
    }
}

fn overview_table(kernels: &[KernelReport]) -> Markup {
    let Overview { head, rows, values, gpu } = overview(kernels);
    let count = grouped(kernels.len() as u64);
    let plural = if kernels.len() == 1 { "" } else { "s" };
    let on = gpu.map_or(String::new(), |gpu| format!(" on {gpu}"));
    let columns = head.iter().map(|head| PageColumn { heading: heading(head), numeric: !Overview::is_text(head) });
    let cell = |row: usize, column: usize, text: &String| {
        let sort = values[row][column];
        match head[column] {
            "kernel" => PageCell {
                text: fit(text, NAME),
                full: (fit(text, NAME) != *text).then(|| text.clone()),
                link: (row < DETAILED).then(|| id(row)),
                sort,
            },
            // The unit stands in the heading, so that a column of times is compared at a glance.
            "time" | "measured" => {
                PageCell { text: sort.map_or(text.clone(), |us| significant(us, 4)), sort, ..PageCell::default() }
            }
            _ => PageCell { text: text.clone(), sort, ..PageCell::default() },
        }
    };
    let rows = rows.iter().enumerate().map(|(r, row)| row.iter().enumerate().map(|(c, t)| cell(r, c, t)).collect());
    table(&PageTable {
        caption: format!("{count} kernel{plural}{on}"),
        columns: columns.collect(),
        rows: rows.collect(),
    })
}

/// The head of an overview's column with room for words and its unit.
fn heading(head: &str) -> String {
    match head {
        "kernel" => "Kernel",
        "measured" => "Measured, us",
        "time" => "Time, us",
        "share %" => "Share, %",
        "total" => "Total",
        "likely" => "Likely bound",
        "bound" => "Bound",
        "occ %" => "Occupancy, %",
        "achieved %" => "Achieved, %",
        "waves" => "Waves",
        "tail %" => "Tail cost, %",
        "roof %" => "Share of roof, %",
        other => other,
    }
    .into()
}

fn figures(charts: &[(String, String)]) -> Markup {
    markup! {
        section id="charts" {
            h2 { "Charts" }
            @for (title, svg) in charts {
                (LINE)
                (page::figure(title, svg))
            }
        }
        (LINE)
    }
}
