//! Memory by part and over a step: parts add up, what the GPU has stands beside them, awkward sizes stay tidy.

use super::super::{Caption, MemoryBar, MemoryBars, MemoryRun, MemorySteps, Theme};
use super::{assert_chart, caption};

const GIB: f64 = 1_073_741_824.0;

fn parts() -> Vec<String> {
    ["weights", "master weights", "gradients", "optimizer", "context, workspace", "NCCL", "KV cache"]
        .into_iter()
        .chain(["activations", "embedding and logits", "recomputed", "gathered weights"])
        .map(String::from)
        .collect()
}

fn bars(sizes: &[&[f64]], capacity: Option<f64>) -> MemoryBars {
    let bar = |(index, bytes): (usize, &&[f64])| MemoryBar {
        label: if index == 0 {
            "as asked".into()
        } else {
            format!("a change with a long name, {index} of {}", sizes.len())
        },
        bytes: bytes.iter().map(|gib| gib * GIB).collect(),
    };
    MemoryBars {
        caption: caption("Memory of a network"),
        parts: parts(),
        bars: sizes.iter().enumerate().map(bar).collect(),
        capacity: capacity.map(|gib| gib * GIB),
        marked: None,
    }
}

#[test]
fn memory_bars_are_tidy_and_stable() {
    let full: &[f64] = &[14.0, 28.0, 28.0, 56.0, 3.5, 0.4, 0.0, 30.0, 4.0, 2.0, 1.0];
    let small: &[f64] = &[14.0, 1.0, 1.0, 2.0, 3.5, 0.4, 0.0, 30.0, 4.0, 2.0, 0.0];
    let odd: &[f64] = &[f64::NAN, f64::INFINITY, -3.0, 1e-9, 1e9];
    for (name, chart) in [
        ("usual", bars(&[full, small, small], Some(74.5))),
        ("fits by far", bars(&[small], Some(1000.0))),
        ("far too much", bars(&[full], Some(0.5))),
        ("odd", bars(&[odd, &[], small], Some(f64::NAN))),
        ("no GPU", bars(&[full], None)),
        ("none", MemoryBars { caption: Caption::default(), ..bars(&[], None) }),
        ("many", bars(&[full; 12], Some(80.0))),
        ("predicted", MemoryBars { marked: Some(("your prediction".into(), 75.0 * GIB)), ..bars(&[full], Some(74.5)) }),
        (
            "predicted far too much",
            MemoryBars { marked: Some(("your prediction".into(), 9e15)), ..bars(&[full], None) },
        ),
    ] {
        let usable = |bytes: &&f64| bytes.is_finite() && **bytes > 0.0;
        let parts = chart.bars.iter().map(|bar| bar.bytes.iter().filter(usable).count()).sum::<usize>();
        let rows = parts + usize::from(chart.marked.is_some());
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), rows);
    }
}

#[test]
fn a_bar_says_its_sum_and_whether_it_fits() {
    let chart = bars(&[&[40.0, 60.0], &[40.0, 20.0]], Some(74.5));
    let texts: Vec<String> = chart.canvas(Theme::Light).texts.into_iter().map(|t| t.text).collect();
    for text in ["100 GiB, too much", "60 GiB, fits", "the GPU has 74.5 GiB", "master weights"] {
        assert!(texts.iter().any(|t| t == text), "{text}: {texts:?}");
    }
    assert!(!texts.iter().any(|t| t == "gradients"), "a part without size is no part of the legend: {texts:?}");
}

fn steps(micro: usize, layers: usize, capacity: Option<f64>) -> MemorySteps {
    let moment = |held: usize| vec![14.0 * GIB, 28.0 * GIB, 28.0 * GIB, 56.0 * GIB, 0.0, 0.0, 0.0, held as f64 * GIB];
    let run = |label: String, held: Vec<usize>| MemoryRun { label, moments: held.into_iter().map(moment).collect() };
    let passes = |micro: usize| {
        [
            run(format!("forward {}", micro + 1), (1..=layers).collect()),
            run(format!("backward {}", micro + 1), (1..=layers).rev().collect()),
        ]
    };
    let end = run("optimizer".into(), vec![0]);
    let runs = (0..micro).flat_map(passes).chain([end]).collect();
    MemorySteps {
        caption: caption("Memory over a step"),
        parts: parts(),
        runs,
        capacity: capacity.map(|gib| gib * GIB),
    }
}

#[test]
fn memory_over_a_step_is_tidy_and_stable() {
    let none = MemorySteps { runs: Vec::new(), ..steps(1, 1, None) };
    for (name, chart) in [
        ("usual", steps(1, 32, Some(160.0))),
        ("several", steps(4, 12, Some(100.0))),
        ("very many", steps(200, 10, None)),
        ("least", steps(1, 1, Some(1e-3))),
        ("none", none),
    ] {
        let rows = chart.runs.iter().map(|run| run.moments.len()).sum();
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), rows);
    }
}

#[test]
fn the_data_of_a_step_rise_and_fall() {
    let chart = steps(1, 3, None).draw(Theme::Light);
    let totals: Vec<&str> = chart.csv().lines().skip(1).filter_map(|line| line.split(',').nth(2)).collect();
    assert_eq!(totals, ["127", "128", "129", "129", "128", "127", "126"]);
}
