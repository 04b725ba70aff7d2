//! Questions that people asked in public about profiles and charts, with answers that are known to be right. The id is
//! in each message.

use wavecast::{
    analysis::Analysis,
    chart::{Chart, Theme, figures::roofline_figure},
    gpu::{Catalog, Gpu, Pipe},
    profile::{Judged, device, judge, read},
    report::{KernelReport, Report, compact},
    units::Seconds,
};

use crate::common::{block, gpu, kernel, pipe, run};

const WORDS: &[u8] = include_bytes!("../data/ncu/occupancy_and_clock.csv");

/// The launches of the fixture, on the GPU that it does not name.
fn judged() -> Vec<Judged> {
    let catalog = Catalog::embedded().unwrap();
    let a100 = gpu("a100-sxm4-40gb");
    let kernels = read(WORDS).unwrap().kernels.into_iter();
    kernels
        .map(|k| {
            let device = device(&catalog, &k.device, Some(&a100));
            judge(k, device)
        })
        .collect()
}

#[test]
fn q19_no_occupancy_is_above_100_percent() {
    let report = KernelReport::from_judged(&judged()[1]);
    assert_eq!(report.achieved_occupancy_pct, None, "Q19: 525 % is no occupancy");
    assert!(report.differences[0].contains("525 % in the file, above 100 %"), "Q19: {:?}", report.differences);
    assert_eq!(report.theoretical_occupancy_pct, Some(100.0), "Q19");
    // Launches of one kernel become one entry: its occupancy is that of a launch, not the sum.
    let launch = KernelReport { achieved_occupancy_pct: Some(60.0), ..report };
    let merged = compact(&Report::new(vec![launch.clone(), launch.clone(), launch]));
    assert_eq!((merged.kernels.len(), merged.kernels[0].achieved_occupancy_pct), (1, Some(60.0)), "Q19");
}

#[test]
fn q20_active_warps_of_a_scheduler_are_no_achieved_occupancy() {
    let attend = &judged()[0];
    assert_eq!(attend.observed.active_warps, Some(3.4), "Q20: read under its own name");
    assert_eq!(attend.observed.achieved_occupancy_pct, None, "Q20: and nothing is made of it");
    assert!(attend.missing.iter().any(|m| m == "achieved occupancy"), "Q20: {:?}", attend.missing);
    // The other name of each metric, on one launch.
    let both = "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
                \"0\",\"k\",\"smsp__warps_active.avg.per_cycle_active\",\"warp\",\"3.40\"\n\
                \"0\",\"k\",\"sm__warps_active.avg.pct_of_peak_sustained_active\",\"%\",\"19.00\"\n";
    let both = &read(both.as_bytes()).unwrap().kernels[0];
    assert_eq!((both.active_warps, both.achieved_occupancy_pct), (Some(3.4), Some(19.0)), "Q20: 3.4 / 16 is 21.25 %");
}

#[test]
fn q37_a_profile_lies_under_the_roofs_of_its_own_clock() {
    let attend = KernelReport::from_judged(&judged()[0]);
    let tensor = 108.0 * 2048.0 * 1.065e9 / 1e12;
    assert!((attend.peak_tflops.unwrap() / tensor - 1.0).abs() < 1e-3, "Q37: {:?}", attend.peak_tflops);
    assert_eq!(attend.pipe.as_deref(), Some("FP16 tensor"), "Q37: tensor work has a tensor roof");
}

#[test]
fn q62_a_decimal_comma_is_no_thousands_separator() {
    let value = |text: &str| {
        let file = format!(
            "\"ID\";\"Kernel Name\";\"Metric Name\";\"Metric Unit\";\"Metric Value\"\n\
             \"0\";\"k\";\"Duration\";\"msecond\";\"{text}\"\n"
        );
        read(file.as_bytes()).unwrap().kernels[0].duration.map(|t: Seconds| t.get())
    };
    for (text, seconds) in [("0,06", 0.06e-3), ("0,060", 0.06e-3), ("1,234", 1.234e-3), ("1.234,5", 1.2345)] {
        let found = value(text).unwrap();
        assert!((found / seconds - 1.0).abs() < 1e-12, "Q62 {text}: {found}");
    }
    // With commas between the columns, the comma of a number is one of thousands.
    let quoted = "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
                  \"0\",\"k\",\"Duration\",\"usecond\",\"1,234\"\n";
    let found = read(quoted.as_bytes()).unwrap().kernels[0].duration.unwrap().get();
    assert!((found / 1.234e-3 - 1.0).abs() < 1e-12, "Q62: {found}");
}

/// A kernel of one unit at an intensity in FLOP per byte, and its chart.
fn chart(gpu: &Gpu, unit: Pipe, intensity: f64) -> (Analysis, Chart) {
    let bytes = 1e9;
    let kernel = kernel(block(256, 32, 0), &unit.to_string(), intensity * bytes, bytes, 0.0);
    let it = run(gpu, kernel, 100_000);
    let figure = roofline_figure("one kernel", std::slice::from_ref(&it)).unwrap();
    let chart = figure.draw(Theme::Light);
    (it, chart)
}

/// The rows of a chart's data with this beginning: intensity, rate, bandwidth, where given.
fn rows(chart: &Chart, series: &str) -> Vec<[Option<f64>; 3]> {
    let lines = chart.csv().lines().filter(|l| l.starts_with(series));
    let cells = |line: &str| {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
        let record = reader.records().next().unwrap().unwrap();
        [5, 6, 7].map(|column| record[column].parse().ok())
    };
    lines.map(cells).collect()
}

/// Ends of both axes: intensity, then rate.
fn axes(chart: &Chart) -> [[f64; 2]; 2] {
    let ends = rows(chart, "axes");
    [0, 1].map(|axis| [0, 1].map(|end: usize| ends[end][axis].unwrap()))
}

#[test]
fn q63_axes_and_roofs_reach_past_every_point() {
    for name in ["h100-sxm5-80gb", "l4", "instinct-mi300x"] {
        let gpu = gpu(name);
        for intensity in [1e-3, 0.5, 300.0, 2e6, 3e9] {
            let (it, chart) = chart(&gpu, pipe("vector.fp32"), intensity);
            let [x, y] = axes(&chart);
            let point = &it.points[0];
            assert!(x[0] <= point.intensity.get() && point.intensity.get() < x[1], "Q63 {name} {intensity}: {x:?}");
            assert!(y[0] <= point.rate.get() && point.rate.get() < y[1], "Q63 {name} {intensity}: {y:?}");
            let highest = rows(&chart, "compute roof").iter().filter_map(|r| r[1]).fold(0.0, f64::max);
            assert!(highest < y[1], "Q63 {name}: every roof is on the sheet");
            // Flat roofs end where the frame of the plot does, at the right.
            let ends: Vec<&str> = chart.svg().lines().filter(|l| l.contains("stroke-width=\"3\"")).collect();
            let right = chart.svg().lines().filter(|l| l.contains("stroke=\"#8C9299\"")).filter_map(last_x).max();
            assert!(ends.iter().filter_map(|l| last_x(l)).max() == right, "Q63 {name} {intensity}: {ends:?}");
        }
    }
}

/// The last x of a line of a drawing.
fn last_x(line: &str) -> Option<i32> {
    let points = line.split_once("points=\"")?.1.split_once('"')?.0;
    points.trim().rsplit(' ').next()?.split_once(',')?.0.parse().ok()
}

/// The texts of a drawing, one after the other: long ones are broken over lines. What stands at the right edge, such as
/// the version, is left out, since it stands between them.
fn words(chart: &Chart) -> String {
    let texts = chart.svg().lines().filter(|l| l.starts_with("<text") && !l.contains("anchor=\"end\""));
    texts.filter_map(|l| l.split_once('>')?.1.strip_suffix("</text>")).collect::<Vec<_>>().join(" ")
}

#[test]
fn q64_one_gpu_has_one_pair_of_axes() {
    const WIDER: &str = "wider axes than usual";
    for gpu in Catalog::embedded().unwrap().gpus() {
        let floats = |p: &Pipe| !matches!(p, Pipe::Special) && !p.to_string().contains("int");
        let mut seen: Vec<(String, [[f64; 2]; 2])> = Vec::new();
        for unit in gpu.pipes().into_iter().filter(floats) {
            let ridge = gpu.peak(unit).unwrap() / gpu.memory.dram.bandwidth;
            let (_, chart) = chart(gpu, unit, ridge.get());
            assert!(!words(&chart).contains(WIDER), "Q64 {} {unit}", gpu.id);
            seen.push((unit.to_string(), axes(&chart)));
        }
        for (unit, axes) in &seen {
            assert_eq!(*axes, seen[0].1, "Q64 {}: {unit} and {}", gpu.id, seen[0].0);
            let whole = axes.iter().flatten().all(|end| (end.log10() - end.log10().round()).abs() < 1e-9);
            assert!(whole, "Q64 {}: whole decades, {axes:?}", gpu.id);
        }
    }
    let (_, outside) = chart(&gpu("l4"), pipe("vector.fp32"), 2e6);
    assert!(words(&outside).contains(&format!("{WIDER} for this GPU: 1 point needs them")), "Q64: flagged");
}

#[test]
fn q65_the_data_of_a_chart_draw_it_again() {
    let (mut it, _) = chart(&gpu("a100-sxm4-80gb"), pipe("tensor.fp16"), 100.0);
    it.measured = Some(Seconds(it.time.estimate.get() * 1.5));
    let chart = roofline_figure("measured", std::slice::from_ref(&it)).unwrap().draw(Theme::Light);
    let near = |found: Option<f64>, right: f64| found.is_some_and(|f| (f / right - 1.0).abs() < 1e-5);
    for (series, points) in [("estimate", it.points.clone()), ("measurement", it.measured_points())] {
        let found = rows(&chart, series);
        assert_eq!(found.len(), points.len(), "Q65 {series}");
        for (row, point) in found.iter().zip(&points) {
            assert!(near(row[0], point.intensity.get()) && near(row[1], point.rate.get()), "Q65 {series}: {row:?}");
        }
    }
    let memory = rows(&chart, "memory roof");
    assert_eq!(memory.len(), it.roofline.roofs.len(), "Q65");
    for (row, roof) in memory.iter().zip(&it.roofline.roofs) {
        assert!(near(row[2], roof.peak.get()), "Q65: {row:?}");
    }
    let peak = it.gpu.peak(pipe("tensor.fp16")).unwrap().get();
    assert!(rows(&chart, "compute roof").iter().any(|row| near(row[1], peak)), "Q65: the roof in question");
}
