//! What the page says about one kernel.

use maud::{Markup, html};

use super::{
    super::{
        KernelReport, PointReport,
        layout::{percent, time},
        sentences::{
            conventions_line, dram_line, drawn_terms, level_word, limits_line, next_steps, occupancy_line, peak_line,
            point_line, time_line, waves_line, what_if_line,
        },
    },
    Shared,
    page::LINE,
};
use crate::units::{decimal, significant};

/// The section of a kernel, with the id that the table leads to. What is `shared` by all kernels is not said again.
pub(super) fn section(id: &str, kernel: &KernelReport, shared: &Shared) -> Markup {
    let lines = |items: &[String]| items.iter().map(|i| (String::new(), i.clone())).collect::<Vec<_>>();
    let one = |text: String| vec![(String::new(), text)];
    let speedups = kernel.what_ifs.iter().map(|w| what_if_line(kernel, w)).map(|(s, text)| (format!("{s}x"), text));
    let own_ignored: Vec<String> = kernel.ignored.iter().filter(|i| !shared.ignored.contains(i)).cloned().collect();
    let own_confidence = kernel.confidence.iter().filter(|c| shared.confidence.as_ref() != Some(c)).cloned();
    html! {
        section class={ "kernel" @if let Some(bound) = &kernel.bound { " " (bound) } } id=(id) aria-labelledby={ (id) "-name" } {
            h3 id={ (id) "-name" } {
                code { (kernel.kernel) }
                @if let Some(gpu) = &kernel.gpu_name { " " span { "on " (gpu) } }
            }
            (LINE)
            dl {
                @if let Some(verdict) = &kernel.verdict { dt { "Verdict" } dd.verdict { (verdict) } (LINE) }
                (fact("GPU changed", lines(&kernel.gpu_changes)))
                (fact("Time", one(time_line(kernel))))
                (fact("Occupancy", occupancy_line(kernel).map(one).unwrap_or_default()))
                (fact("Limits", limits_line(kernel).map(one).unwrap_or_default()))
                (fact("Conventions", conventions_line(kernel).map(one).unwrap_or_default()))
                (fact("Next step", next_steps(kernel).map(|s| (String::new(), s.clone())).collect()))
                (fact("Waves", one(waves_line(kernel))))
                (fact("Roofline", roofline(kernel)))
                (fact("DRAM", dram_line(kernel).map(one).unwrap_or_default()))
                (terms(kernel))
                (fact("What if", kernel.asked.iter().map(|a| (String::new(), a.text.clone())).collect()))
                (fact("Elsewhere", lines(&kernel.elsewhere_lines())))
                (fact("Would help", speedups.collect()))
                (fact("Would help", lines(&kernel.advice)))
                (fact("Findings", lines(&kernel.findings)))
                (fact("Differs", lines(&kernel.differences)))
                (fact("Not in file", lines(&kernel.missing)))
                (fact("Leaves out", lines(&own_ignored)))
                (fact("Confidence", own_confidence.map(|c| (String::new(), c)).collect()))
            }
        }
        (LINE)
    }
}

/// A label with its lines; the heads of lines, where they have any, stand in a column of their own.
fn fact(label: &str, lines: Vec<(String, String)>) -> Markup {
    let heads = lines.iter().any(|(head, _)| !head.is_empty());
    html! {
        @match lines.as_slice() {
            [] => {},
            [(_, text)] if !heads => { dt { (label) } dd { (text) } (LINE) },
            _ => {
                dt { (label) }
                dd { ul class=[heads.then_some("pairs")] {
                    @for (head, text) in &lines { li { @if heads { b { (head) } " " } span { (text) } } }
                } }
                (LINE)
            },
        }
    }
}

/// A line per memory level and one for the peak.
fn roofline(kernel: &KernelReport) -> Vec<(String, String)> {
    let share = |s: f64| format!(" {}", percent(s));
    let point =
        |p: &PointReport| (format!("{}{}", level_word(p), p.share_pct.map_or(String::new(), share)), point_line(p));
    let peak = peak_line(kernel).map(|text| (String::new(), text));
    kernel.points.iter().map(point).chain(peak).collect()
}

/// The terms as bars in the colours of their bounds.
fn terms(kernel: &KernelReport) -> Markup {
    let terms = drawn_terms(kernel);
    let largest = terms.first().map_or(0.0, |t| t.time_us);
    html! {
        @if !terms.is_empty() {
            dt { "Terms" }
            dd {
                table.terms {
                    caption { "Time that each resource alone would take" }
                    tbody {
                        @for term in &terms {
                            tr {
                                th scope="row" { (term.resource) }
                                td { span class={ "bar " (term.bound) } style={
                                    "width:" (decimal(term.time_us / largest * 100.0, 1)) "%"
                                } title={ (significant(term.time_us, 6)) " us, " (term.bound) } {} }
                                td { (time(term.time_us)) }
                            }
                        }
                    }
                }
            }
            (LINE)
        }
    }
}
