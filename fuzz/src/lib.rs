//! What the fuzz targets share: the catalog, and what must hold for every answer whatever the input was.

use std::{alloc::System, fmt::Debug, sync::LazyLock};

use cap::Cap;
use wavecast::{
    analysis::Analysis,
    chart::{
        Chart, Theme,
        figures::{occupancy_figure, roofline_figure, tail_figure, time_figure},
    },
    gpu::{Catalog, Gpu},
    profile::Judged,
    report::{self, Detail, KernelReport, Report, RowError, TextOptions},
    scenario::{Answer, Scenario},
};

/// Memory that any input may take, with the built-in GPUs; asking for more ends the process.
#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, 512 << 20);

/// The built-in GPUs, read once.
pub static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().expect("the built-in files are valid"));

/// One built-in GPU for each byte.
pub fn gpu(choice: u8) -> &'static Gpu {
    let all: Vec<&Gpu> = CATALOG.gpus().collect();
    all[usize::from(choice) % all.len()]
}

/// Cases of a scenario that are analysed.
const CASES: usize = 6;

/// Reads a scenario and analyses its first cases; `None` where it is refused, and refusals for cases that cannot run.
pub fn scenario(text: &str) -> Option<(Vec<Analysis>, Report)> {
    let scenario = Scenario::parse("fuzz.toml", text).map_err(said).ok()?;
    let cases = scenario.cases(&CATALOG).map_err(said).ok()?;
    let mut analyses = Vec::new();
    let mut report = Report { title: Some(scenario.title.clone()), ..Report::default() };
    for (row, case) in cases.iter().take(CASES).enumerate() {
        match case.answer() {
            Ok(mut answer) => {
                answer.analysis_mut().launch.kernel.name.clone_from(&case.label);
                let (analysis, row) = match answer {
                    Answer::Kernel(analysis) => (*analysis.clone(), KernelReport::from_analysis(&analysis)),
                    Answer::Product(product) => {
                        let mut row = KernelReport::from_analysis(&product.analysis);
                        row.set_product(&product);
                        (product.analysis, row)
                    }
                };
                let _ = case.meets(&analysis);
                check_analysis(&analysis);
                report.kernels.push(row);
                analyses.push(analysis);
            }
            Err(error) => report.errors.push(RowError {
                row: Some(row as u64 + 1),
                kernel: case.label.clone(),
                gpu: Some(case.gpu.id.clone()),
                message: said(error),
            }),
        }
        report.assumptions.extend(case.assumptions.iter().cloned());
    }
    Some((analyses, report))
}

/// The message of an error, which must say something.
pub fn said(error: impl std::error::Error) -> String {
    let message = error.to_string();
    assert!(!message.trim().is_empty(), "an error without words: {error:?}");
    message
}

/// The laws of an answer of the model.
pub fn check_analysis(analysis: &Analysis) {
    let occupancy = &analysis.launch.occupancy;
    assert!((0.0..=1.0).contains(&occupancy.fraction()), "occupancy {}", occupancy.fraction());
    assert!(occupancy.blocks_per_sm >= 1, "a launch with no resident block");
    let plan = &analysis.schedule;
    for share in [plan.utilization(), plan.tail_fill()] {
        assert!((0.0..=1.0).contains(&share), "{share} in {plan:?}");
    }
    let time = &analysis.time;
    assert!(time.estimate.get().is_finite() && time.estimate.get() > 0.0, "estimate {:?}", time.estimate);
    // The three are sums of the same terms in another order: equal but for rounding where only one term counts.
    let slack = 1.0 + 1e-9;
    assert!(time.low.get() <= time.estimate.get() * slack, "{time:?}");
    let droop = 1.0 + time.power_droop;
    assert!(time.estimate.get() <= time.high.get() * droop * slack, "{time:?}");
    assert!((0.0..=1.0).contains(&time.tail_cost), "{time:?}");
    assert!((0.0..=1.0).contains(&time.l2_hit), "{time:?}");
    for term in &time.terms {
        assert!(term.time.get().is_finite() && term.time.get() >= 0.0, "{term:?}");
    }
    for what_if in &analysis.verdict.what_ifs {
        assert!(what_if.speedup.is_finite() && what_if.speedup > 1.0, "{what_if:?}");
    }
}

/// The laws of what is said about a profiled launch.
pub fn check_judged(judged: &Judged) {
    if let Some(occupancy) = &judged.occupancy {
        assert!((0.0..=1.0).contains(&occupancy.fraction()), "{occupancy:?}");
    }
    if let Some(model) = &judged.model {
        check_analysis(model);
    }
}

/// Every form of a report. Numbers must be numbers; words as well, unless the input itself says "nan" or "inf".
pub fn check_report(report: &Report, input: &str) {
    let input = input.to_ascii_lowercase();
    let strict = !input.contains("nan") && !input.contains("inf");
    for kernel in &report.kernels {
        check_numbers(kernel, strict);
    }
    let json = report::json(report);
    let value: serde_json::Value = serde_json::from_str(&json).expect("the JSON report is JSON");
    assert_eq!(value["kernels"].as_array().map(Vec::len), Some(report.kernels.len()));
    let _ = report::csv(report).expect("every report has rows");
    let _ = report::markdown(report);
    let page = report::html(report, &[]);
    assert_eq!(page.matches("<script").count(), 1, "text of the input became a script");
    let compact = report::compact(report);
    for (width, detail) in [(0, Detail::Full), (80, Detail::Summary), (200, Detail::Full)] {
        let _ = report::text(&compact, TextOptions { width, detail });
    }
}

/// The figures of a GPU that was read are numbers; perfect overlap, an exponent of infinity, is one of them.
pub fn check_gpu(gpu: &Gpu) {
    let mut gpu = gpu.clone();
    assert!(gpu.calibration.constants.overlap_exponent >= 1.0);
    gpu.calibration.constants.overlap_exponent = 1.0;
    check_numbers(&gpu, false);
}

/// No number of a value is NaN or infinite; with `words`, no text says so either.
pub fn check_numbers(value: &impl Debug, words: bool) {
    let shown = format!("{value:?}");
    let mut quoted = false;
    let mut escaped = false;
    let mut word = String::new();
    for c in shown.chars().chain([' ']) {
        let inside = quoted;
        if quoted && !escaped && c == '\\' {
            escaped = true;
            continue;
        }
        if c == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = false;
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let bad = matches!(word.as_str(), "NaN" | "nan" | "inf");
        assert!(!bad || inside && !words, "{word} in {shown}");
        word.clear();
    }
}

/// Every figure that the analyses support.
pub fn charts(analyses: &[Analysis], theme: Theme) -> Vec<Chart> {
    let mut charts = Vec::new();
    charts.extend(roofline_figure("Roofline", analyses).map(|f| f.draw(theme)));
    charts.extend(time_figure("Time", analyses).map(|f| f.draw(theme)));
    for analysis in analyses.iter().take(2) {
        charts.push(tail_figure(analysis).draw(theme));
        let (gpu, kernel) = (&analysis.gpu, &analysis.launch.kernel);
        let figure = occupancy_figure(&kernel.name, &gpu.name, &gpu.changes, &gpu.limits, &kernel.resources);
        charts.extend(figure.map(|f| f.draw(theme)));
    }
    charts
}

/// Attributes that hold coordinates or sizes.
const PLACES: [&str; 16] = [
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "cx",
    "cy",
    "r",
    "d",
    "points",
    "width",
    "height",
    "viewBox",
    "transform",
    "font-size",
];

/// The SVG is XML whose coordinates are all numbers near the sheet, and the data are a table.
pub fn check_chart(chart: &Chart) {
    let document = roxmltree::Document::parse(chart.svg()).expect("the SVG is XML");
    for attribute in document.descendants().flat_map(|n| n.attributes()).filter(|a| PLACES.contains(&a.name())) {
        let value = attribute.value();
        assert!(!value.contains("NaN") && !value.contains("inf"), "{}={value}", attribute.name());
        let numbers = value.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
        for number in numbers.filter_map(|n| n.parse::<f64>().ok()) {
            assert!(number.abs() < 1e6, "{}={value}", attribute.name());
        }
    }
    for line in chart.csv().lines().skip(1) {
        for cell in line.split(',') {
            assert!(!matches!(cell, "nan" | "NaN" | "inf" | "-inf"), "{line}");
        }
    }
}
