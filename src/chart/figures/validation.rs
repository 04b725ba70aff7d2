//! From a validation to figures: the rows as points, and their errors in bins of measured time.

use crate::{
    chart::{Caption, ErrorBin, ErrorBySize, ErrorSeries, FEWEST_OF_BAND, Scatter, ScatterPoint, ScatterSeries},
    units::counted,
    validate::{Case, Fitted, Score, Series, Validation, quantile},
};

/// Predicted against measured times of every series; `tables` names what was read.
pub fn scatter_figure(validation: &Validation, series: &[Series], tables: &str) -> Scatter {
    let of = |series: &Series| {
        let score = model(&series.cases);
        let point = |case: &Case| ScatterPoint {
            measured_us: case.measured * 1e6,
            predicted_us: case.predicted * 1e6,
            roofline_us: series.roofline.time(&case.needs) * 1e6,
        };
        ScatterSeries {
            label: series.label.clone(),
            points: series.cases.iter().map(point).collect(),
            mean_pct: score.mape,
            median_pct: score.median,
        }
    };
    let caption = caption("Predicted against measured time", validation, series, tables, &[]);
    Scatter { caption, series: series.iter().map(of).collect() }
}

/// Errors by measured time of every series, beside the roofline fitted to it; `tables` names what was read.
pub fn error_figure(validation: &Validation, series: &[Series], tables: &str) -> ErrorBySize {
    let of = |series: &Series| ErrorSeries {
        label: series.label.clone(),
        rows: series.cases.len(),
        mean_pct: model(&series.cases).mape,
        roofline_mean_pct: fitted(&series.cases, &series.roofline).mape,
        bins: bins(series),
    };
    let binned = format!("bins of a quarter of a decade, of at least {FEWEST_OF_BAND} rows; fewer have no band");
    let roofline = "roofline: t0 + max(FLOP / a, bytes / b), the three constants fitted to all rows of the panel";
    let caption = caption("Error by measured time", validation, series, tables, &[&binned, roofline]);
    ErrorBySize { caption, series: series.iter().map(of).collect() }
}

fn caption(title: &str, validation: &Validation, series: &[Series], tables: &str, further: &[&str]) -> Caption {
    let rows: usize = series.iter().map(|s| s.cases.len()).sum();
    let sources: Vec<&str> = validation.sources.iter().map(String::as_str).collect();
    let sources = if sources.is_empty() { String::new() } else { format!(" ({})", sources.join(", ")) };
    let mut assumptions = vec![format!("{} of {tables}{sources}", counted(rows as u64, "row"))];
    let left_out = validation.left_out_rows();
    if left_out > 0 {
        assumptions.push(format!("{} left out", counted(left_out, "row")));
    }
    assumptions.push("constants of each GPU, its family or its datasheet".into());
    assumptions.push("contents of L2 and time of the host as each source measured".into());
    assumptions.extend(further.iter().map(|text| (*text).to_owned()));
    let gpus: Vec<&str> = validation.gpus.iter().map(String::as_str).collect();
    Caption { title: title.into(), gpu: gpus.join(", "), assumptions, version: env!("CARGO_PKG_VERSION").into() }
}

fn model(cases: &[Case]) -> Score {
    Score::of(&cases.iter().map(|case| (case.predicted, case.measured)).collect::<Vec<_>>())
}

fn fitted(cases: &[Case], roofline: &Fitted) -> Score {
    Score::of(&cases.iter().map(|case| (roofline.time(&case.needs), case.measured)).collect::<Vec<_>>())
}

/// Bins per decade.
const PER_DECADE: f64 = 4.0;

/// The rows in bins of equal width on a logarithmic axis; one with few rows is joined to the next one, so that only a series
/// with few rows in all has a bin with few.
fn bins(series: &Series) -> Vec<ErrorBin> {
    let mut cases = series.cases.clone();
    cases.sort_by(|a, b| a.measured.total_cmp(&b.measured));
    let place = |case: &Case| libm::floor(libm::log10(case.measured * 1e6) * PER_DECADE);
    let mut parts: Vec<Vec<Case>> = Vec::new();
    let mut last = f64::NAN;
    for case in cases {
        match parts.last_mut() {
            Some(part) if place(&case) == last || part.len() < FEWEST_OF_BAND => part.push(case),
            _ => parts.push(vec![case]),
        }
        last = place(&case);
    }
    if let [.., before, end] = parts.as_mut_slice()
        && end.len() < FEWEST_OF_BAND
    {
        before.append(end);
        parts.pop();
    }
    parts.iter().map(|part| bin(part, &series.roofline)).collect()
}

/// A bin of rows by rising measured time; at least one.
fn bin(cases: &[Case], roofline: &Fitted) -> ErrorBin {
    let sorted = |of: &dyn Fn(&Case) -> f64| {
        let mut values: Vec<f64> = cases.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let measured = sorted(&|case| case.measured * 1e6);
    let edge = |us: f64, round: fn(f64) -> f64| libm::pow(10.0, round(libm::log10(us) * PER_DECADE) / PER_DECADE);
    let ratios = sorted(&|case| case.predicted / case.measured);
    let of_roofline = sorted(&|case| roofline.time(&case.needs) / case.measured);
    ErrorBin {
        from_us: edge(quantile(&measured, 0.0), libm::floor),
        to_us: edge(quantile(&measured, 1.0), |q| libm::floor(q) + 1.0),
        at_us: quantile(&measured, 0.5),
        rows: cases.len(),
        ratio: [0.1, 0.5, 0.9].map(|share| quantile(&ratios, share)),
        mean_pct: model(cases).mape,
        roofline_ratio: quantile(&of_roofline, 0.5),
        roofline_mean_pct: fitted(cases, roofline).mape,
    }
}
