//! The common end of every command that analyses: report in the wanted format, charts, checks, exit code.

use std::path::Path;

use anyhow::{Result, bail};

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{Format, ReportArgs},
    check::Check,
    world,
};
use crate::{
    analysis::Analysis,
    chart::{
        Chart, Theme,
        figures::{occupancy_figure, profile_roofline, roofline_figure, tail_figure, time_figure},
    },
    profile::Judged,
    report::{Detail, KernelReport, Report, RowError, TextOptions, compact, csv, json, markdown, text},
};

/// What a command found, in the order of its input.
#[derive(Default)]
pub struct Outcome {
    /// One line about the whole.
    pub title: Option<String>,
    /// Described launches.
    pub analyses: Vec<Analysis>,
    /// Profiled launches.
    pub judged: Vec<Judged>,
    /// Rows of the report, one per launch.
    pub kernels: Vec<KernelReport>,
    /// What was assumed.
    pub assumptions: Vec<String>,
    /// What may make the answer wrong.
    pub warnings: Vec<String>,
    /// Launches that could not be evaluated.
    pub errors: Vec<RowError>,
}

impl Outcome {
    /// Adds a described launch.
    pub fn add(&mut self, analysis: Analysis) {
        self.kernels.push(KernelReport::from_analysis(&analysis));
        self.analyses.push(analysis);
    }

    /// Adds a profiled launch.
    pub fn add_judged(&mut self, judged: Judged) {
        for assumption in &judged.device.assumptions {
            if !self.assumptions.contains(assumption) {
                self.assumptions.push(assumption.clone());
            }
        }
        self.kernels.push(KernelReport::from_judged(&judged));
        self.judged.push(judged);
    }
}

/// Prints the report, writes the charts of `--out`, and applies `--fail-if`.
pub fn finish(outcome: Outcome, args: &ReportArgs) -> Result<u8> {
    let checks = args.fail_if.iter().map(|c| c.parse()).collect::<Result<Vec<Check>, _>>()?;
    let report = Report {
        title: outcome.title.clone(),
        assumptions: outcome.assumptions.clone(),
        warnings: outcome.warnings.clone(),
        errors: outcome.errors.clone(),
        ..Report::new(outcome.kernels.clone())
    };
    if let Some(folder) = &args.out {
        write_folder(folder, &outcome, &report, args.output.quiet)?;
    }
    args.output.emit(&render(&report, args.output.format, args.full)?)?;
    let mut code = if report.errors.is_empty() { EXIT_OK } else { EXIT_CHECK };
    for check in &checks {
        for kernel in &report.kernels {
            if let Some(message) = check.fails(kernel)? {
                world::note(false, &format!("check failed: {message}"));
                code = EXIT_CHECK;
            }
        }
    }
    Ok(code)
}

/// The report in a format.
pub fn render(report: &Report, format: Format, full: bool) -> Result<String> {
    Ok(match format {
        Format::Text => {
            let compacted = compact(report);
            let detail = if full || compacted.kernels.len() <= 3 { Detail::Full } else { Detail::Summary };
            text(&compacted, TextOptions { width: world::width(), detail })
        }
        Format::Json => json(report),
        Format::Csv => csv(report)?,
        Format::Markdown => markdown(report),
    })
}

/// Report and charts as files; each chart with the data behind it.
fn write_folder(folder: &Path, outcome: &Outcome, report: &Report, quiet: bool) -> Result<()> {
    world::folder(folder)?;
    let mut written = vec!["report.json", "report.csv", "report.md"];
    world::write(&folder.join("report.json"), json(report).as_bytes())?;
    world::write(&folder.join("report.csv"), csv(report)?.as_bytes())?;
    world::write(&folder.join("report.md"), markdown(report).as_bytes())?;
    let charts = charts(outcome);
    for (name, chart) in &charts {
        write_chart(&folder.join(format!("{name}.svg")), chart)?;
        world::write(&folder.join(format!("{name}.csv")), chart.csv().as_bytes())?;
        #[cfg(feature = "png")]
        write_chart(&folder.join(format!("{name}.png")), chart)?;
    }
    written.extend(charts.iter().map(|(name, _)| name.as_str()));
    world::note(quiet, &format!("written to {}: {}", folder.display(), written.join(", ")));
    Ok(())
}

/// Scale of PNG charts: twice the pixels of the SVG, for sharp screens.
#[cfg(feature = "png")]
const PNG_SCALE: f32 = 2.0;

/// Writes a chart; the ending of the file decides between SVG, PNG and the data as CSV.
pub fn write_chart(path: &Path, chart: &Chart) -> Result<()> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    match ending {
        "svg" => world::write(path, chart.svg().as_bytes()),
        "csv" => world::write(path, chart.csv().as_bytes()),
        #[cfg(feature = "png")]
        "png" => world::write(path, &chart.png(PNG_SCALE)?),
        other => bail!("`{}`: a chart is written as .svg, .png or .csv, not `.{other}`", path.display()),
    }
}

/// The charts that an outcome supports: one roofline and time chart per GPU, tail and occupancy per kernel.
fn charts(outcome: &Outcome) -> Vec<(String, Chart)> {
    let mut charts = Vec::new();
    let title = |what: &str| outcome.title.as_ref().map_or_else(|| what.to_owned(), |t| format!("{what}: {t}"));
    let groups = by_gpu(&outcome.analyses);
    for (index, group) in groups.iter().enumerate() {
        let suffix = if index > 0 { format!("-{}", index + 1) } else { String::new() };
        if let Some(figure) = roofline_figure(&title("Roofline"), group) {
            charts.push((format!("roofline{suffix}"), figure.draw(Theme::Light)));
        }
        if let Some(figure) = time_figure(&title("Time by resource"), group) {
            charts.push((format!("time{suffix}"), figure.draw(Theme::Light)));
        }
    }
    for analysis in worth_a_tail(groups.first().map_or(&[], Vec::as_slice)) {
        let name = file_name(&analysis.launch.kernel.name);
        charts.push((format!("tail-{name}"), tail_figure(analysis).draw(Theme::Light)));
    }
    for analysis in least_occupied(groups.first().map_or(&[], Vec::as_slice)) {
        let figure = occupancy_figure(
            &format!("Occupancy: {}", analysis.launch.kernel.name),
            &analysis.gpu.name,
            &analysis.gpu.changes,
            &analysis.gpu.limits,
            &analysis.launch.kernel.resources,
        );
        charts.push((format!("occupancy-{}", file_name(&analysis.launch.kernel.name)), figure.draw(Theme::Light)));
    }
    if let Some(figure) = profile_roofline(&title("Roofline of the profile"), &outcome.judged) {
        charts.push(("roofline-profile".into(), figure.draw(Theme::Light)));
    }
    charts
}

/// Up to this many kernels each get their own tail and occupancy charts; of more, only the most telling one does
/// (`chart` draws the others).
const FEW_KERNELS: usize = 3;

/// The kernels whose tail is worth a chart: all of a few, else the one that loses most to it.
fn worth_a_tail(analyses: &[Analysis]) -> Vec<&Analysis> {
    most(analyses, |a| a.time.tail_cost)
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
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    clean.trim_matches('-').chars().take(40).collect()
}
