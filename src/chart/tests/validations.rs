//! The figures of predictions against measurements.

use super::super::{
    Chart, ErrorBin, ErrorBySize, ErrorSeries, FEWEST_OF_BAND, MOST_PANELS, Scatter, ScatterPoint, ScatterSeries, Theme,
};
use super::{assert_chart, caption, numbers};

/// Rows over the decades from 10^`low` microseconds, within a factor of 2 of what was measured.
fn points(count: usize, low: f64, decades: f64) -> Vec<ScatterPoint> {
    let mut random = numbers(count as u64 + 1);
    let mut next = || random.next().unwrap_or_default();
    (0..count)
        .map(|_| {
            let measured_us = 10f64.powf(low + decades * next());
            let predicted_us = measured_us * 2f64.powf(2.0 * next() - 1.0);
            ScatterPoint { measured_us, predicted_us, roofline_us: measured_us }
        })
        .collect()
}

fn scatter(series: Vec<Vec<ScatterPoint>>) -> Scatter {
    let of = |(index, points): (usize, Vec<ScatterPoint>)| ScatterSeries {
        label: format!("GPU {index} of a rather long name, {} GB", index * 40),
        points,
        mean_pct: 5.96,
        median_pct: 4.1,
    };
    Scatter {
        caption: caption("Predicted against measured time"),
        series: series.into_iter().enumerate().map(of).collect(),
    }
}

fn bins(count: usize, low: f64, spread: f64) -> Vec<ErrorBin> {
    let bin = |index: usize| ErrorBin {
        from_us: 10f64.powf(low + index as f64 / 4.0),
        to_us: 10f64.powf(low + (index + 1) as f64 / 4.0),
        at_us: 10f64.powf(low + (index as f64 + 0.5) / 4.0),
        rows: 10 + index,
        ratio: [1.0 / spread, 1.02, spread],
        mean_pct: 5.0 + index as f64,
        roofline_ratio: spread.sqrt(),
        roofline_mean_pct: 30.0 - index as f64,
    };
    (0..count).map(bin).collect()
}

fn by_size(series: Vec<Vec<ErrorBin>>) -> ErrorBySize {
    let of = |(index, bins): (usize, Vec<ErrorBin>)| ErrorSeries {
        label: format!("GPU {index}"),
        rows: 1,
        mean_pct: 5.0,
        roofline_mean_pct: 11.0,
        bins,
    };
    ErrorBySize { caption: caption("Error by measured time"), series: series.into_iter().enumerate().map(of).collect() }
}

#[test]
fn scatters_are_tidy_and_stable() {
    let odd = |measured_us, predicted_us| ScatterPoint { measured_us, predicted_us, roofline_us: f64::NAN };
    let unknown = [0.0, -1.0, f64::NAN, f64::INFINITY].map(|us| odd(us, 1.0)).to_vec();
    for (name, series) in [
        ("one", vec![points(300, 0.0, 4.0)]),
        ("two", vec![points(300, 0.0, 4.0), points(3, 1.0, 1.0)]),
        ("four", (1..5).map(|n| points(n * 200, 0.2, 4.9)).collect()),
        ("nine", (1..10).map(|n| points(n * 20, -0.5, 7.0)).collect()),
        ("too many", (0..MOST_PANELS + 3).map(|_| points(5, 1.0, 2.0)).collect()),
        ("one point", vec![points(1, 1.0, 0.0)]),
        ("no point", vec![Vec::new()]),
        ("no series", Vec::new()),
        ("unknown", vec![unknown]),
        ("extreme", vec![vec![odd(1e-30, 1e-29), odd(1e30, 1e29), odd(1.0, 1e300)]]),
    ] {
        let chart = scatter(series);
        let rows = chart.series.iter().map(|s| s.points.len()).sum();
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), rows);
    }
}

#[test]
fn errors_by_size_are_tidy_and_stable() {
    let unknown = vec![ErrorBin::default(), ErrorBin { at_us: f64::NAN, ..bins(1, 0.0, 1.2)[0] }];
    for (name, series) in [
        ("one", vec![bins(16, 0.0, 1.2)]),
        ("four", (1..5).map(|n| bins(n * 5, 0.3, 1.0 + n as f64 / 4.0)).collect()),
        ("twelve", (0..12).map(|n| bins(20, -1.0, 1.1 + n as f64)).collect()),
        ("too many", (0..MOST_PANELS + 3).map(|_| bins(2, 1.0, 1.2)).collect()),
        ("one bin", vec![bins(1, 1.0, 1.3)]),
        ("no bin", vec![Vec::new()]),
        ("no series", Vec::new()),
        ("unknown", vec![unknown]),
        ("exact", vec![bins(4, 1.0, 1.0)]),
        ("extreme", vec![bins(4, 1.0, 1e9)]),
    ] {
        let chart = by_size(series);
        let rows = chart.series.iter().map(|s| s.bins.len()).sum();
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), rows);
    }
}

/// Values of the last column of the data.
fn last_column(chart: &Chart) -> Vec<String> {
    chart.csv().lines().skip(1).filter_map(|l| l.rsplit(',').next().map(str::to_owned)).collect()
}

#[test]
fn many_points_are_thinned_evenly_and_the_subtitle_says_so() {
    let few = scatter(vec![points(400, 0.0, 4.0)]);
    assert!(last_column(&few.draw(Theme::Light)).iter().all(|drawn| drawn == "yes"));
    assert!(few.canvas(Theme::Light).texts.iter().all(|t| !t.text.contains("evenly")));
    let many = scatter(vec![points(4000, 0.0, 4.0)]);
    let drawn: Vec<bool> = last_column(&many.draw(Theme::Light)).iter().map(|drawn| drawn == "yes").collect();
    assert_eq!(drawn.iter().filter(|d| **d).count(), 400);
    let mut decades = [0; 4];
    for (point, _) in many.series[0].points.iter().zip(&drawn).filter(|(_, drawn)| **drawn) {
        decades[point.measured_us.log10() as usize] += 1;
    }
    assert!(decades.iter().all(|count| (85..=115).contains(count)), "{decades:?}");
    assert!(many.canvas(Theme::Light).texts.iter().any(|t| t.text.contains("of more than 400 rows 400 are drawn")));
    let panels = scatter((0..MOST_PANELS + 1).map(|_| points(2, 1.0, 2.0)).collect());
    assert!(panels.canvas(Theme::Light).texts.iter().any(|t| t.text.contains("the first 12 of 13 series")));
    assert_eq!(last_column(&panels.draw(Theme::Light)).iter().filter(|drawn| *drawn == "no").count(), 2);
}

#[test]
fn panels_say_how_good_their_series_is() {
    let found = scatter(vec![points(1, 1.0, 0.0), points(1000, 0.0, 4.0)]).canvas(Theme::Light).texts;
    for text in ["|error|: mean 6.0 %, median 4.1 %; 1 row", "|error|: mean 6.0 %, median 4.1 %; 1,000 rows"] {
        assert!(found.iter().any(|t| t.text == text), "{text}: {found:?}");
    }
    let chart = by_size(vec![bins(2, 1.0, 1.5)]);
    let found = chart.canvas(Theme::Light).texts;
    for text in ["mean |error|: 5.0 %, roofline 11.0 %; 1 row", "roofline fitted to the rows of the panel", "0.67"] {
        assert!(found.iter().any(|t| t.text == text), "{text}: {found:?}");
    }
    let csv = chart.draw(Theme::Light).csv().to_owned();
    assert!(csv.contains("\nGPU 0,10,17.7828,13.3352,10,0.666667,1.02,1.5,5,1.22474,30\n"), "{csv}");
}

#[test]
fn few_rows_have_no_band() {
    let fills = |rows: usize| {
        let bin = ErrorBin { rows, ..bins(1, 1.0, 1.5)[0] };
        by_size(vec![vec![bin]]).draw(Theme::Light).svg().matches("<polygon").count()
    };
    assert_eq!((fills(2), fills(FEWEST_OF_BAND - 1), fills(FEWEST_OF_BAND)), (fills(2), fills(2), fills(2) + 1));
}
