//! The common end of every command that analyses: report in the wanted format, charts, checks, exit code.

use std::path::Path;

use anyhow::{Result, bail};

pub use super::outcome::Outcome;
use super::{
    EXIT_CHECK, EXIT_OK,
    args::{Format, ReportArgs},
    check::{Check, Fields},
    world,
};
use crate::{
    analysis::Analysis,
    chart::{
        Chart, Roofline, Theme,
        figures::{occupancy_figure, profile_roofline, roofline_figure, tail_figure, time_figure, with_ceilings},
    },
    report::{Detail, Report, TextOptions, compact, csv, html, json, markdown, text},
};

/// Prints the report, writes the charts of `--out`, and applies `--fail-if`.
pub fn finish(outcome: Outcome, args: &ReportArgs) -> Result<u8> {
    let checks = Check::parse_all(&args.fail_if, &Fields::of_report())?;
    if let (true, Some(first)) = (outcome.kernels.is_empty(), outcome.errors.first()) {
        let rest = outcome.errors.len() - 1;
        let more = if rest > 0 { format!(" ({rest} more launches could not be evaluated)") } else { String::new() };
        bail!("{}{more}", first.message);
    }
    let report = Report {
        title: outcome.title.clone(),
        assumptions: outcome.assumptions.clone(),
        warnings: outcome.all_warnings(),
        errors: outcome.errors.clone(),
        traces: outcome.traces.clone(),
        ..Report::new(outcome.kernels.clone())
    };
    // All is rendered before anything is written.
    let drawn = args.out.is_some() || args.output.format == Format::Html;
    let charts = if drawn { charts(&outcome) } else { Vec::new() };
    if outcome.ceilings.is_some() {
        let rooflines = charts.iter().filter(|chart| chart.name.starts_with("roofline")).count();
        match rooflines {
            0 => {
                bail!("there is no roofline to draw the ceilings on: traces, and profiles without counters, have none")
            }
            1 => {}
            count => bail!("--ceilings are of one GPU, and there are {count} rooflines: choose one with --gpu"),
        }
    }
    let rendered = render(&report, &charts, args.output.format, args.full)?;
    if let Some(folder) = &args.out {
        write_folder(folder, &outcome, &charts, &report, args.output.quiet)?;
    }
    args.output.emit(&rendered)?;
    let mut code = if report.errors.is_empty() { EXIT_OK } else { EXIT_CHECK };
    for check in &checks {
        for message in check.failures(&report.kernels)? {
            world::note(false, &format!("check failed: {message}"));
            code = EXIT_CHECK;
        }
    }
    Ok(code)
}

/// The report in a format; a page for a browser has the charts inside.
fn render(report: &Report, charts: &[NamedChart], format: Format, full: bool) -> Result<String> {
    Ok(match format {
        Format::Text => {
            let compacted = compact(report);
            let detail = if full || compacted.kernels.len() <= 3 { Detail::Full } else { Detail::Summary };
            text(&compacted, TextOptions { width: world::width(), detail })
        }
        Format::Json => json(report),
        Format::Csv => csv(report)?,
        Format::Markdown => markdown(report),
        Format::Html => html(report, &inline(charts)),
    })
}

/// Report and charts of an outcome as files.
fn write_folder(folder: &Path, outcome: &Outcome, charts: &[NamedChart], report: &Report, quiet: bool) -> Result<()> {
    let reports = [
        ("report.json", json(report)),
        ("report.csv", csv(report)?),
        ("report.md", markdown(report)),
        ("report.html", html(report, &inline(charts))),
    ];
    write_files(folder, &reports, charts, quiet)?;
    if outcome.uncharted > 0 {
        let all = outcome.uncharted + outcome.analyses.len();
        world::note(quiet, &format!("the charts show the first {} of {all} launches", outcome.analyses.len()));
    }
    Ok(())
}

/// Reports and charts as files, each chart with the data behind it. All are made before the first is written.
pub fn write_files(folder: &Path, reports: &[(&str, String)], charts: &[NamedChart], quiet: bool) -> Result<()> {
    let mut files: Vec<_> = reports.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
    let mut written: Vec<&str> = reports.iter().map(|(name, _)| *name).collect();
    for NamedChart { name, chart, .. } in charts {
        for ending in ENDINGS {
            files.push((format!("{name}.{ending}"), drawn(chart, ending)?));
        }
        written.push(name);
    }
    world::folder(folder)?;
    for (name, bytes) in &files {
        world::write(&folder.join(name), bytes)?;
    }
    world::note(quiet, &format!("written to {}: {}", folder.display(), written.join(", ")));
    Ok(())
}

/// Scale of PNG charts: twice the pixels of the SVG, for sharp screens.
#[cfg(feature = "png")]
const PNG_SCALE: f32 = 2.0;

/// Endings of the files that a chart can be written as.
#[cfg(feature = "png")]
const ENDINGS: [&str; 3] = ["svg", "csv", "png"];
/// Endings of the files that a chart can be written as.
#[cfg(not(feature = "png"))]
const ENDINGS: [&str; 2] = ["svg", "csv"];

/// Writes a chart; the ending of the file decides between SVG, PNG and the data as CSV.
pub fn write_chart(path: &Path, chart: &Chart) -> Result<()> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    if !ENDINGS.contains(&ending) {
        bail!("`{}`: name the chart .{}", path.display(), ENDINGS.join(", ."));
    }
    world::write(path, &drawn(chart, ending)?)
}

fn drawn(chart: &Chart, ending: &str) -> Result<Vec<u8>> {
    match ending {
        "csv" => Ok(chart.csv().as_bytes().to_vec()),
        #[cfg(feature = "png")]
        "png" => Ok(chart.png(PNG_SCALE)?),
        _ => Ok(chart.svg().as_bytes().to_vec()),
    }
}

/// A chart with the name of its files, and what a page calls it.
pub struct NamedChart {
    /// Name of its files, without ending.
    pub name: String,
    /// What it shows.
    pub label: String,
    /// The picture and the data behind it.
    pub chart: Chart,
}

/// The charts as a page takes them.
fn inline(charts: &[NamedChart]) -> Vec<(String, String)> {
    charts.iter().map(|c| (c.label.clone(), c.chart.svg().to_owned())).collect()
}

/// The charts that an outcome supports: one roofline and time chart per GPU, tail and occupancy per kernel.
fn charts(outcome: &Outcome) -> Vec<NamedChart> {
    let mut charts: Vec<NamedChart> = Vec::new();
    let mut add = |name: String, label: String, chart: Chart| {
        let name = unused(&charts, name);
        charts.push(NamedChart { name, label, chart });
    };
    let title = |what: &str| outcome.title.as_ref().map_or_else(|| what.to_owned(), |t| format!("{what}: {t}"));
    let measured = |figure: &mut Roofline| {
        if let Some(ceilings) = &outcome.ceilings {
            with_ceilings(figure, &ceilings.file, &ceilings.name);
        }
    };
    let groups = by_gpu(&outcome.analyses);
    for (index, group) in groups.iter().enumerate() {
        let suffix = if index > 0 { format!("-{}", index + 1) } else { String::new() };
        let gpu = group.first().map_or(String::new(), |a| {
            std::iter::once(&a.gpu.name).chain(&a.gpu.changes).cloned().collect::<Vec<_>>().join(", ")
        });
        if let Some(mut figure) = roofline_figure(&title("Roofline"), group) {
            measured(&mut figure);
            add(format!("roofline{suffix}"), format!("Roofline on {gpu}"), figure.draw(Theme::Light));
        }
        if let Some(figure) = time_figure(&title("Time by resource"), group) {
            add(format!("time{suffix}"), format!("Time by resource on {gpu}"), figure.draw(Theme::Light));
        }
    }
    for analysis in worth_a_tail(groups.first().map_or(&[], Vec::as_slice)) {
        let kernel = &analysis.launch.kernel.name;
        add(
            format!("tail-{}", file_name(kernel)),
            format!("Tail of {kernel}"),
            tail_figure(analysis).draw(Theme::Light),
        );
    }
    for analysis in least_occupied(groups.first().map_or(&[], Vec::as_slice)) {
        let kernel = &analysis.launch.kernel;
        let label = format!("Occupancy: {}", kernel.name);
        let figure = occupancy_figure(
            &label,
            &analysis.gpu.name,
            &analysis.gpu.changes,
            &analysis.gpu.limits,
            &kernel.resources,
        );
        if let Some(figure) = figure {
            add(format!("occupancy-{}", file_name(&kernel.name)), label, figure.draw(Theme::Light));
        }
    }
    for figure in &outcome.shares {
        add("shares".into(), figure.caption.title.clone(), figure.draw(Theme::Light));
    }
    if let Some(mut figure) = profile_roofline(&title("Roofline of the profile"), &outcome.judged) {
        measured(&mut figure);
        add("roofline-profile".into(), "Roofline of the profile".into(), figure.draw(Theme::Light));
    }
    charts
}

/// Up to this many kernels each get their own tail and occupancy charts; of more, only the most telling one does
/// (`chart` draws the others).
const FEW_KERNELS: usize = 3;

/// The kernels whose tail is worth a chart: all of a few, else the one that loses most to it. The kernel of an operation has
/// another grid for every other shape, and is none.
fn worth_a_tail(analyses: &[Analysis]) -> Vec<&Analysis> {
    let found = most(analyses, |a| a.time.tail_cost);
    found.into_iter().filter(|a| a.time.range == crate::time::Range::Overlap).collect()
}

/// The kernels whose occupancy is worth a chart: all of a few, else the least occupied.
fn least_occupied(analyses: &[Analysis]) -> Vec<&Analysis> {
    most(analyses, |a| -a.launch.occupancy.fraction())
}

fn most(analyses: &[Analysis], of: impl Fn(&Analysis) -> f64) -> Vec<&Analysis> {
    if analyses.len() <= FEW_KERNELS {
        return analyses.iter().collect();
    }
    analyses.iter().max_by(|a, b| of(a).total_cmp(&of(b))).into_iter().collect()
}

/// Analyses of one GPU with one set of what-ifs, in order of first appearance.
fn by_gpu(analyses: &[Analysis]) -> Vec<Vec<Analysis>> {
    let mut groups: Vec<Vec<Analysis>> = Vec::new();
    for analysis in analyses {
        let same = |g: &&mut Vec<Analysis>| {
            g.first().is_some_and(|a| a.gpu.id == analysis.gpu.id && a.gpu.changes == analysis.gpu.changes)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(analysis.clone()),
            None => groups.push(vec![analysis.clone()]),
        }
    }
    groups
}

/// A kernel name as part of a file name.
fn file_name(name: &str) -> String {
    let clean: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    let joined = clean.split_whitespace().collect::<Vec<_>>().join("-");
    let short: String = joined.chars().take(40).collect();
    if short.is_empty() { "kernel".into() } else { short }
}

/// The name, numbered where a chart has it already: kernels whose names differ in other letters alone.
fn unused(charts: &[NamedChart], name: String) -> String {
    let taken = |name: &str| charts.iter().any(|c| c.name == name);
    if !taken(&name) {
        return name;
    }
    (2..).map(|n| format!("{name}-{n}")).find(|numbered| !taken(numbered)).unwrap_or(name)
}
