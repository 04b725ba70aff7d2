//! All figures over plain and awkward inputs: stable bytes, no text on another, none outside, complete data.
mod comparisons;
mod lengths;
mod measured;
mod memories;
mod races;
mod shares;
mod sweeps;
mod timelines;
mod validations;

use super::canvas::Canvas;
use super::geometry::Rect;
use super::*;

fn caption(title: &str) -> Caption {
    let assumptions = ["dense peaks at the published clocks", "L2 serves 7 TB/s", "launch overhead 2.2 us"];
    let (gpu, version) = ("H100 SXM5 80 GB, 132 SMs at 1.98 GHz".into(), "0.1.0".into());
    Caption { title: title.into(), gpu, assumptions: assumptions.map(String::from).into(), version }
}

pub(super) fn assert_tidy(name: &str, canvas: &Canvas) {
    let sheet = Rect::new(0.0, 0.0, canvas.size.0.into(), canvas.size.1.into());
    for (index, text) in canvas.texts.iter().enumerate() {
        for part in &text.boxes {
            assert_eq!(part.outside(&sheet), 0.0, "{name}: {:?} leaves the sheet: {part:?}", text.text);
            for other in &canvas.texts[..index] {
                let touched = other.boxes.iter().any(|o| o.overlap(part) > 0.0);
                assert!(!touched, "{name}: {:?} lies on {:?}", text.text, other.text);
            }
        }
    }
}

fn assert_chart(name: &str, canvas: &Canvas, draw: &dyn Fn(Theme) -> Chart, rows: usize) {
    assert_tidy(name, canvas);
    for theme in [Theme::Light, Theme::Dark] {
        let chart = draw(theme);
        assert_eq!(chart, draw(theme), "{name}");
        assert_eq!(chart.csv().lines().count(), rows + 1, "{name}");
        assert!(chart.svg().starts_with("<svg role=\"img\"") && chart.svg().ends_with("</g>\n</svg>\n"), "{name}");
        assert!(!chart.svg().contains("NaN") && !chart.svg().contains("inf\""), "{name}");
    }
}

fn memory() -> Vec<MemoryRoof> {
    let roof =
        |label: &str, bytes_per_second, sustained| MemoryRoof { label: label.into(), bytes_per_second, sustained };
    vec![
        roof("DRAM 3.35 TB/s", 3.35e12, Some(3.0e12)),
        roof("L2 7 TB/s", 7e12, None),
        roof("Shared memory 33.4 TB/s", 33.4e12, None),
    ]
}

fn compute() -> Vec<ComputeRoof> {
    [
        ("FP32", 67e12, false),
        ("TF32 tensor", 495e12, false),
        ("BF16 tensor", 989e12, true),
        ("FP8 tensor", 1979e12, false),
    ]
    .map(|(label, flops_per_second, emphasised)| ComputeRoof { label: label.into(), flops_per_second, emphasised })
    .into()
}

fn point(label: &str, intensity: f64, tflops: f64, bound: Bound) -> RooflinePoint {
    let (label, level) = (label.into(), "DRAM".into());
    RooflinePoint { label, intensity, flops_per_second: tflops * 1e12, level, bound, kind: PointKind::Estimate }
}

fn roofline(points: Vec<RooflinePoint>) -> Roofline {
    let caption = caption("Roofline of H100 SXM");
    Roofline { caption, memory: memory(), compute: compute(), points, ..Roofline::default() }
}

/// Numbers from 0 to 1, the same each time.
pub(super) fn numbers(mut state: u64) -> impl Iterator<Item = f64> {
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    })
}

fn kernels_of_a_model() -> Vec<RooflinePoint> {
    let mut points = vec![
        point("axpy", 0.083, 0.25, Bound::Memory),
        point("reduce", 0.25, 0.72, Bound::Memory),
        point("dropout+add", 0.8, 2.4, Bound::Memory),
        point("softmax", 0.9, 2.1, Bound::Memory),
        point("gelu", 1.0, 2.9, Bound::Memory),
        point("layernorm", 1.1, 2.7, Bound::Memory),
        point("decode GEMV b=1", 1.0, 3.1, Bound::Memory),
        point("decode GEMM b=64", 62.0, 180.0, Bound::Memory),
        point("conv 3×3", 330.0, 520.0, Bound::Math),
        point("flash-attn fwd", 420.0, 600.0, Bound::Math),
        point("GEMM 4096³", 1365.0, 715.0, Bound::Math),
        point("GEMM 8192³", 2730.0, 780.0, Bound::Math),
        point("small GEMM", 40.0, 6.0, Bound::Latency),
    ];
    let measured = RooflinePoint { kind: PointKind::Measured, ..point("GEMM 4096³ run", 1365.0, 640.0, Bound::Math) };
    points.push(measured);
    points
}

fn one_kernel_at_three_levels() -> Vec<RooflinePoint> {
    let at = |label: &str, rate, places: [(&str, f64); 3]| {
        places.map(|(level, x)| RooflinePoint { level: level.into(), ..point(label, x, rate, Bound::Memory) })
    };
    let mut points: Vec<_> = at("stencil 7-point", 3.4, [("DRAM", 1.1), ("L2", 0.6), ("Shared memory", 0.2)]).into();
    points.extend(at("GEMM 1024³", 310.0, [("DRAM", 170.0), ("L2", 64.0), ("Shared memory", 21.0)]));
    points
}

fn rooflines() -> Vec<(&'static str, Roofline)> {
    let mut random = numbers(7);
    let mut next = || random.next().unwrap_or_default();
    let spread = |n: usize, next: &mut dyn FnMut() -> f64| -> Vec<RooflinePoint> {
        let bounds = [Bound::Math, Bound::Memory, Bound::Latency];
        (0..n)
            .map(|i| (i, 10f64.powf(4.0 * next() - 1.0), 10f64.powf(-1.5 * next())))
            .map(|(i, x, part)| point(&format!("kernel {i}"), x, (3.35 * x).min(989.0) * part, bounds[i % 3]))
            .collect()
    };
    let long = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize";
    let mut close = roofline(vec![point("one", 10.0, 20.0, Bound::Memory)]);
    close.compute.extend((0..9).map(|i| ComputeRoof {
        label: format!("variant {i} of {long}"),
        flops_per_second: 9e14 + 1e12 * f64::from(i),
        emphasised: false,
    }));
    let mut small = roofline(vec![point("tiny", 2.0, 0.001, Bound::Latency)]);
    small.memory = vec![MemoryRoof { label: "DRAM 50 GB/s".into(), bytes_per_second: 5e10, sustained: None }];
    small.compute = vec![ComputeRoof { label: "FP32".into(), flops_per_second: 4e11, emphasised: true }];
    let mut unknown = roofline(vec![point("ok", 1.0, 1.0, Bound::Math), point("none", 0.0, f64::NAN, Bound::Math)]);
    unknown.memory[0].bytes_per_second = f64::NAN;
    vec![
        ("model", roofline(kernels_of_a_model())),
        ("levels", roofline(one_kernel_at_three_levels())),
        ("empty", roofline(Vec::new())),
        ("one", roofline(vec![point("GEMM 4096³", 1365.0, 715.0, Bound::Math)])),
        ("thirty", roofline(spread(30, &mut next))),
        ("two hundred", roofline(spread(200, &mut next))),
        ("identical", roofline((0..9).map(|i| point(&format!("same {i}"), 40.0, 80.0, Bound::Memory)).collect())),
        (
            "long",
            roofline((0..8).map(|i| point(&format!("{i} {long}"), 3f64.powi(i), 2f64.powi(i), Bound::Math)).collect()),
        ),
        ("extreme", roofline(vec![point("low", 1e-9, 1e-12, Bound::Latency), point("high", 1e12, 1e9, Bound::Math)])),
        ("close roofs", close),
        ("small machine", small),
        ("unknown values", unknown),
        ("no roofs", Roofline { caption: Caption::default(), points: kernels_of_a_model(), ..Roofline::default() }),
    ]
}

#[test]
fn rooflines_are_tidy_and_stable() {
    for (name, chart) in rooflines() {
        let rows = 2 + chart.points.len() + chart.memory.len() + chart.compute.len();
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), rows);
    }
}

#[test]
fn one_gpu_keeps_its_axes() {
    let axis_labels = |points| -> Vec<String> {
        let texts = roofline(points).canvas(Theme::Light).texts;
        texts.into_iter().map(|t| t.text).filter(|t| t.parse::<f64>().is_ok() || t.ends_with('k')).collect()
    };
    let empty = axis_labels(Vec::new());
    assert_eq!(empty, ["0.1", "1", "10", "100", "1k", "10k", "0.1", "1", "10", "100", "1k", "10k"]);
    assert_eq!(axis_labels(vec![point("inside", 5000.0, 700.0, Bound::Math)]), empty);
    assert_ne!(axis_labels(vec![point("left of it", 0.01, 0.2, Bound::Memory)]), empty);
}

#[test]
fn every_kernel_of_the_model_is_named_and_so_are_the_roofs() {
    let texts: Vec<String> =
        roofline(kernels_of_a_model()).canvas(Theme::Light).texts.into_iter().map(|t| t.text).collect();
    let points = kernels_of_a_model();
    for name in points.iter().map(|p| p.label.as_str()).chain(["ridge 295 FLOP/B", "L2 7 TB/s", "FP8 tensor"]) {
        assert!(texts.iter().any(|t| t == name), "{name}");
    }
}

fn tail(wave_blocks: u64, range: std::ops::RangeInclusive<u64>, step: usize, us: f64, current: Option<u64>) -> Tail {
    let waves = |blocks: u64| blocks.div_ceil(wave_blocks.max(1));
    let sample = |blocks: u64| TailSample {
        blocks,
        time_us: us * waves(blocks) as f64,
        utilization_pct: 100.0 * blocks as f64 / (waves(blocks) * wave_blocks.max(1)).max(1) as f64,
    };
    Tail {
        caption: caption("Tail effect"),
        samples: range.step_by(step).map(sample).collect(),
        wave_blocks,
        current,
        ..Tail::default()
    }
}

fn tails() -> Vec<(&'static str, Tail)> {
    vec![
        ("four waves", tail(132, 1..=560, 1, 21.3, Some(265))),
        ("at the left end", tail(132, 1..=560, 1, 21.3, Some(1))),
        ("at the right end", tail(132, 1..=528, 1, 21.3, Some(528))),
        ("many waves", tail(132, 1..=20_000, 37, 0.004, Some(19_999))),
        ("narrow", tail(132, 396..=402, 1, 1e6, Some(397))),
        ("one sample", tail(132, 5..=5, 1, 3.0, Some(5))),
        ("no sample", Tail { samples: Vec::new(), ..tail(132, 1..=2, 1, 1.0, Some(u64::MAX)) }),
        ("no wave", tail(0, 0..=10, 1, f64::INFINITY, None)),
    ]
}

#[test]
fn tails_are_tidy_and_stable() {
    for (name, chart) in tails() {
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), chart.samples.len());
    }
}

fn panels() -> OccupancyPanels {
    let threads =
        (1..=32).map(|w| (f64::from(w) * 32.0, f64::from((64 / w).min(32).min(16 * (32 / w).max(1)) * w) / 0.64));
    let warps = |regs: u32| (65_536 / (regs.div_ceil(8) * 256)).min(64) / 8 * 8;
    let registers = (16..=255).map(|r| (f64::from(r), f64::from(warps(r)) / 0.64));
    let shared = (0..=227).map(|k| (f64::from(k), f64::from((228 / (k + 1)).min(8) * 8) / 0.64));
    let panel = |x_label: &str, steps: Vec<(f64, f64)>, current, note: &str| Panel {
        x_label: x_label.into(),
        steps,
        current: Some(current),
        note: Some(note.into()),
        ..Panel::default()
    };
    OccupancyPanels {
        caption: caption("Occupancy of attention_fwd on H100 SXM"),
        panels: vec![
            panel(
                "Threads per block",
                threads.collect(),
                (256.0, 50.0),
                "Not the limiter: any multiple of 32 up to 1,024 gives the same.",
            ),
            panel(
                "Registers per thread",
                registers.collect(),
                (64.0, 50.0),
                "Limiter. 56 registers would give 62.5 %.",
            ),
            panel(
                "Shared memory per block (KiB)",
                shared.collect(),
                (48.0, 50.0),
                "Limiter. 44.6 KiB per block would let a fifth block run on each SM.",
            ),
        ],
    }
}

#[test]
fn occupancy_panels_are_tidy_and_stable() {
    let mut ends = panels();
    ends.panels[0].current = Some((1024.0, 100.0));
    ends.panels[1].current = Some((0.0, 0.0));
    ends.panels[2].current = Some((227.0, 12.5));
    let mut odd = panels();
    odd.panels[0] = Panel { steps: vec![(3.0, 400.0)], x_label: "x".repeat(90), ..Panel::default() };
    odd.panels[1] = Panel { current: Some((f64::NAN, 1.0)), ..Panel::default() };
    odd.panels[2].note = Some("word ".repeat(60));
    let none = OccupancyPanels { panels: Vec::new(), ..panels() };
    for (name, chart) in [("plain", panels()), ("ends", ends), ("odd", odd), ("none", none)] {
        let rows = chart.panels.iter().map(|p| p.steps.len() + usize::from(p.current.is_some())).sum();
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), rows);
    }
}

fn kernel(label: &str, terms: &[(&str, f64)], spread: f64) -> KernelTerms {
    let total_us = terms.iter().map(|t| t.1).fold(0.0, f64::max) * 1.12 + 2.2;
    let terms = terms.iter().map(|(n, us)| (n.to_string(), *us)).collect();
    KernelTerms {
        label: label.into(),
        terms,
        total_us,
        low_us: total_us * (1.0 - spread),
        high_us: total_us * (1.0 + spread),
        bound: "memory-bound".into(),
    }
}

fn breakdowns() -> Vec<(&'static str, TimeBreakdown)> {
    let long = "void cutlass::device_kernel<flash::FlashAttnFwdSm90<128, 128, 64>>";
    let terms = [("math", 190.0), ("DRAM", 122.0), ("L2", 96.0), ("shared memory", 141.0), ("issue", 38.0)];
    let three = vec![
        kernel("GEMM 4096³", &terms, 0.1),
        kernel(long, &[("math", 88.0), ("DRAM", 22.0), ("exp unit", 71.0)], 0.2),
        KernelTerms { bound: "latency-bound".into(), ..kernel("softmax", &[("DRAM", 4.1), ("latency", 9.7)], 0.0) },
    ];
    let mut random = numbers(3);
    let mut many = || terms.map(|(n, us)| (n, us * random.next().unwrap_or_default()));
    let twenty = (0..20).map(|i| kernel(&format!("layer {i} {long}"), &many(), 0.15)).collect();
    let zero = KernelTerms { label: "nothing".into(), ..KernelTerms::default() };
    let odd = vec![
        zero,
        kernel(long, &[("a term with a very long name", 1e-7), ("unknown", f64::NAN)], 0.5),
        kernel("slow", &[("math", 4e9)], 0.9),
    ];
    let of = |kernels| TimeBreakdown { caption: caption("Where the time goes"), kernels, marked: None };
    vec![
        ("three", of(three)),
        ("twenty", of(twenty)),
        ("odd", of(odd)),
        ("one", TimeBreakdown { marked: Some(("predicted".into(), 900.0)), ..of(vec![kernel("one", &terms, 0.6)]) }),
        ("none", of(Vec::new())),
    ]
}

#[test]
fn breakdowns_are_tidy_and_stable() {
    for (name, chart) in breakdowns() {
        let rows = chart.kernels.iter().map(|k| k.terms.len() + 1).sum::<usize>() + usize::from(chart.marked.is_some());
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), rows);
    }
}

#[test]
fn words_of_the_caption_are_escaped_and_wrapped() {
    let mut chart = roofline(Vec::new());
    chart.caption.title = "a < b & \"c\"\u{1} \u{7} ".repeat(20);
    chart.caption.assumptions = vec!["assumption".repeat(30); 12];
    chart.caption.version = "v".repeat(300);
    assert_tidy("long caption", &chart.canvas(Theme::Light));
    let svg = chart.draw(Theme::Light).svg().to_string();
    assert!(svg.contains("<title>a &lt; b &amp; ") && !svg.contains('\u{1}'));
}

#[cfg(feature = "png")]
#[test]
fn png_of_each_figure() {
    let charts = [roofline(kernels_of_a_model()).draw(Theme::Dark), panels().draw(Theme::Light)];
    for chart in charts {
        let png = chart.png(0.5).expect("a picture");
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 5_000);
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e6] {
            assert!(matches!(chart.png(scale), Err(ChartError::Scale { .. })), "{scale}");
        }
    }
}
