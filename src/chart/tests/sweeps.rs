//! The figure of matrix products along a dimension.

use super::super::{Sweep, SweepSample, SweepSeries, Theme, sweep::MOST_SERIES};
use super::{assert_chart, caption};

/// A curve with tiles of `tile` and waves of 108 of them.
fn series(label: &str, sizes: std::ops::RangeInclusive<u64>, tile: u64) -> SweepSeries {
    let sample = |size: u64| {
        let tiles = size.div_ceil(tile);
        let waves = (9 * tiles).div_ceil(108);
        SweepSample {
            size,
            time_us: 100.0 * waves as f64,
            tera_per_s: size as f64 / waves as f64 / 6.0,
            utilization_pct: Some(9.0 * tiles as f64 / (108.0 * waves as f64) * 100.0),
            kernel: format!("256x{tile}"),
            blocks: 9 * tiles,
            waves,
            tiles,
        }
    };
    SweepSeries { label: label.into(), samples: sizes.map(sample).collect() }
}

fn sweep(series: Vec<SweepSeries>, current: Option<u64>) -> Sweep {
    let (over, wave) = ("N".into(), "one tile on each of the 108 SMs".into());
    Sweep { caption: caption("Matrix product"), over, integer: false, wave, series, current }
}

fn plain() -> Sweep {
    sweep(vec![series("256x128", 1000..=3400, 128)], Some(3072))
}

fn texts(chart: &Sweep) -> Vec<String> {
    chart.canvas(Theme::Light).texts.into_iter().map(|t| t.text).collect()
}

#[test]
fn sweeps_are_tidy_and_stable() {
    let of = |chart: Sweep, change: &dyn Fn(usize, &mut SweepSample)| {
        let mut chart = chart;
        chart.series.iter_mut().for_each(|r| r.samples.iter_mut().enumerate().for_each(|(i, s)| change(i, s)));
        chart
    };
    let many = (0..MOST_SERIES).map(|i| series(&"tile ".repeat(i * i), 800..=1400, 64 + 32 * i as u64)).collect();
    let cases = [
        ("plain", plain()),
        ("left end", Sweep { current: Some(1000), ..plain() }),
        ("right end", Sweep { current: Some(3400), ..plain() }),
        ("outside", Sweep { current: Some(9000), ..plain() }),
        ("integers", Sweep { integer: true, over: "M = N".into(), ..plain() }),
        ("several", sweep(many, Some(1000))),
        ("few samples", sweep(vec![series("a", 126..=130, 128)], Some(128))),
        ("one sample", sweep(vec![series("a", 5..=5, 128)], Some(5))),
        ("no sample", sweep(vec![SweepSeries::default()], Some(5))),
        ("nothing", Sweep::default()),
        ("no tiles", of(plain(), &|_, s| *s = SweepSample { utilization_pct: None, waves: 0, ..s.clone() })),
        ("ever other kernels", of(plain(), &|i, s| s.kernel = format!("kernel {}", i / 40 % 9))),
        ("unknown", of(plain(), &|i, s| s.time_us = [1.0, f64::NAN, f64::INFINITY][i % 3])),
        ("extreme", of(plain(), &|_, s| (s.time_us, s.tera_per_s) = (s.time_us * 1e20, s.tera_per_s * 1e-9))),
    ];
    for (name, chart) in cases {
        let rows = chart.series.iter().map(|r| r.samples.len()).sum();
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), rows);
    }
}

/// A curve whose kernel changes so often among so many that none has room for its name.
fn changing(kernels: u64) -> Sweep {
    let named = |s: SweepSample| SweepSample { kernel: format!("256x{}", s.size / 50 % kernels), ..s };
    let samples = series("a", 1..=4000, 16).samples.into_iter().map(named).collect();
    sweep(vec![SweepSeries { samples, ..SweepSeries::default() }], None)
}

#[test]
fn the_strip_says_which_shade_is_which_kernel() {
    for (kernels, named, others) in [(7, 7, 0), (8, 8, 0), (9, 8, 1), (30, 8, 1)] {
        let found = texts(&changing(kernels));
        assert_eq!(found.iter().filter(|t| t.starts_with("256x")).count(), named, "{found:?}");
        assert_eq!(found.iter().filter(|t| *t == "others (in the data)").count(), others, "{found:?}");
    }
    // A strip that names its kernel itself needs no legend.
    assert_eq!(texts(&plain()).iter().filter(|t| *t == "256x128").count(), 1);
}

#[test]
fn edges_are_marked_where_they_can_be_told_apart() {
    let found = texts(&plain());
    for name in ["1 wave", "2 waves", "256x128", "N = 3072: 200 us", "100 %"] {
        assert!(found.iter().any(|t| t == name), "{name}: {found:?}");
    }
    assert!(found.iter().any(|t| t.contains("Light lines") && t.contains("Dark lines")), "{found:?}");
    let dense = texts(&sweep(vec![series("a", 1..=4000, 16)], None));
    assert!(dense.iter().any(|t| t.contains("Dark lines") && !t.contains("Light lines")), "{dense:?}");
    let nameless = texts(&changing(7));
    assert!(nameless.iter().all(|t| !t.contains("lines")), "{nameless:?}");
    let wave_of_each = texts(&sweep(vec![series("a", 1..=60, 1)], None));
    assert!(wave_of_each.iter().all(|t| !t.contains("Light lines")), "an edge behind every sample: {wave_of_each:?}");
}

#[test]
fn several_curves_are_told_apart_without_colour() {
    let chart = sweep(vec![series("256x128", 1..=4000, 128), series("256x64", 1..=4000, 64)], Some(3072));
    let found = texts(&chart);
    assert!(found.contains(&"256x128: 256 TFLOP/s".to_owned()), "{found:?}");
    assert!(found.iter().any(|t| t.contains("throughput at N = 3072")), "{found:?}");
    assert!(found.iter().all(|t| !t.ends_with(" wave") && !t.ends_with(" waves")), "{found:?}");
    let csv = chart.draw(Theme::Light).csv().to_owned();
    assert!(
        csv.starts_with("series,n,time_us,rate_tflop_per_s,utilization_pct,kernel,blocks,waves,tiles_along,current\n")
    );
    assert!(csv.contains("\n256x64,3072,400,128,100,256x64,432,4,48,yes\n"), "{csv}");
}
