//! Measured roofs over rooflines: few and many, close together, far below, far above.

use super::super::{MeasuredRoof, Roofline, Theme};
use super::{assert_chart, kernels_of_a_model, one_kernel_at_three_levels, roofline};
use crate::units::{BytesPerSecond, FlopsPerSecond};

fn measured(label: &str, rate: f64, memory: bool) -> MeasuredRoof {
    let printed = if memory { BytesPerSecond(rate).to_string() } else { FlopsPerSecond(rate).to_string() };
    MeasuredRoof { label: label.into(), rate, printed, memory }
}

fn overlaid(mut chart: Roofline, roofs: &[(&str, f64, bool)]) -> Roofline {
    chart.measured = roofs.iter().map(|(label, rate, memory)| measured(label, *rate, *memory)).collect();
    chart.measured_by = "measured by rocprofiler-compute (roofline.csv)".into();
    chart
}

const FEW: [(&str, f64, bool); 5] = [
    ("HBMBw", 2.9e12, true),
    ("L2Bw", 5.6e12, true),
    ("LDSBw", 29e12, true),
    ("FP32Flops", 61e12, false),
    ("MFMABF16Flops", 780e12, false),
];

fn charts() -> Vec<(&'static str, Roofline)> {
    let many: Vec<(String, f64, bool)> = (0..30)
        .map(|i| {
            let rate = if i % 3 == 0 { 2.5e12 + 5e10 * f64::from(i) } else { 7e14 + 3e12 * f64::from(i) };
            (format!("variant {i} of a benchmark with a long name"), rate, i % 3 == 0)
        })
        .collect();
    let many: Vec<(&str, f64, bool)> =
        many.iter().map(|(label, rate, memory)| (label.as_str(), *rate, *memory)).collect();
    vec![
        ("few", overlaid(roofline(kernels_of_a_model()), &FEW)),
        ("levels", overlaid(roofline(one_kernel_at_three_levels()), &FEW)),
        ("no kernels", overlaid(roofline(Vec::new()), &FEW)),
        ("memory alone", overlaid(roofline(kernels_of_a_model()), &FEW[..1])),
        ("rate alone", overlaid(roofline(kernels_of_a_model()), &FEW[4..])),
        ("many", overlaid(roofline(kernels_of_a_model()), &many)),
        ("low", overlaid(roofline(kernels_of_a_model()), &[("DRAM", 4e8, true), ("GFLOPs", 5e7, false)])),
        ("high", overlaid(roofline(kernels_of_a_model()), &[("DRAM", 3.4e17, true), ("GFLOPs", 5e18, false)])),
        ("unknown values", overlaid(roofline(Vec::new()), &[("DRAM", f64::NAN, true), ("GFLOPs", -1.0, false)])),
        ("no roofs", overlaid(Roofline::default(), &FEW)),
    ]
}

#[test]
fn measured_roofs_are_tidy_and_stable() {
    for (name, chart) in charts() {
        let roofs = chart.memory.len() + chart.compute.len() + chart.measured.len();
        let rows = 2 + chart.points.len() + roofs;
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), rows);
    }
}

/// Number of lines in the style of measured roofs, that of the legend among them.
fn dashes(chart: &Roofline) -> usize {
    chart.draw(Theme::Light).svg().matches("stroke-dasharray=\"9 3 2 3\"").count()
}

#[test]
fn every_measured_roof_is_drawn_and_named() {
    let plain = roofline(kernels_of_a_model());
    assert_eq!(dashes(&plain), 0);
    let chart = overlaid(plain, &FEW);
    assert_eq!(dashes(&chart), FEW.len() + 1);
    let texts: Vec<String> = chart.canvas(Theme::Light).texts.into_iter().map(|t| t.text).collect();
    let wanted = [
        "measured by rocprofiler-compute (roofline.csv)",
        "HBMBw 2.9 TB/s measured",
        "L2Bw 5.6 TB/s measured",
        "MFMABF16Flops",
        "780 TFLOP/s measured",
        "DRAM 3.35 TB/s",
        "BF16 tensor",
    ];
    for name in wanted {
        assert!(texts.iter().any(|t| t.starts_with(name)), "{name} in {texts:?}");
    }
    let csv = chart.draw(Theme::Light).csv().to_owned();
    assert!(csv.contains("measured memory roof,,HBMBw,,,,,2900000000000,\n"), "{csv}");
    assert!(csv.contains("measured compute roof,,FP32Flops,,,,61000000000000,,\n"), "{csv}");
    // Far below and far above, the axes make room.
    for roofs in [[("DRAM", 4e8, true), ("GFLOPs", 5e7, false)], [("DRAM", 3.4e17, true), ("GFLOPs", 5e18, false)]] {
        assert_eq!(dashes(&overlaid(roofline(Vec::new()), &roofs)), 3, "{roofs:?}");
    }
}

#[test]
fn a_slope_close_below_another_is_named_beside_both() {
    let chart = overlaid(roofline(Vec::new()), &[("HBMBw", 2.9e12, true), ("slow", 3e11, true)]);
    let canvas = chart.canvas(Theme::Light);
    let boxes = |name: &str| canvas.texts.iter().find(|t| t.text == name).map(|t| t.boxes.len());
    // Along its slope a name has many boxes, at the end of a leader one.
    assert_eq!(boxes("HBMBw 2.9 TB/s measured"), Some(1));
    assert!(boxes("slow 300 GB/s measured").is_some_and(|boxes| boxes > 1));
    // A roof right above that of the datasheet takes the place of its name.
    let chart = overlaid(roofline(Vec::new()), &[("HBMBw", 3.6e12, true)]);
    let canvas = chart.canvas(Theme::Light);
    let boxes = |name: &str| canvas.texts.iter().find(|t| t.text.starts_with(name)).map(|t| t.boxes.len());
    assert_eq!(boxes("DRAM 3.35 TB/s"), Some(1));
    assert!(boxes("HBMBw 3.6 TB/s measured").is_some_and(|boxes| boxes > 1));
}

#[test]
fn roofs_of_the_datasheet_stay_where_they_are() {
    // A measured rate beyond all peaks must not prolong the slopes of the datasheet.
    let low = overlaid(roofline(Vec::new()), &[("FP32Flops", 1.9e15, false)]);
    let high = overlaid(roofline(Vec::new()), &[("FP32Flops", 2.9e15, false)]);
    let slopes = |chart: &Roofline| -> Vec<String> {
        let svg = chart.draw(Theme::Light).svg().to_owned();
        svg.lines().filter(|line| line.contains("stroke=\"#D55E00\"")).map(str::to_owned).collect()
    };
    assert!(!slopes(&low).is_empty());
    assert_eq!(slopes(&low), slopes(&high));
}
