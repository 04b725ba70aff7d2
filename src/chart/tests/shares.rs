//! Where the time goes: bars whose parts add up, the longest kernels, what is left out said.

use super::super::{Bound, Caption, KernelShare, Share, ShareBar, Shares, Theme};
use super::{assert_chart, caption};

fn shares(kernels: usize, parts: &[f64]) -> Shares {
    let bounds = [Some(Bound::Math), Some(Bound::Memory), Some(Bound::Latency), None];
    let part = |(index, time_us): (usize, &f64)| Share {
        label: format!("a part of the time, number {index}"),
        time_us: *time_us,
        bound: bounds[index % 4],
    };
    let bar = |label: &str| ShareBar { label: label.into(), parts: parts.iter().enumerate().map(part).collect() };
    Shares {
        caption: caption("Where the time goes"),
        bars: vec![bar("kernels by likely bound"), bar("kernels by operation")],
        kernels: (0..kernels)
            .map(|k| KernelShare {
                label: format!("{k} void cutlass::device_kernel<flash::FlashAttnFwdSm90<128, 128, 64>>"),
                launches: (k % 3) as u64 * 1_234_567,
                total_us: 1e6 / (1 + k) as f64,
                bound: bounds[k % 4],
            })
            .collect(),
        bound_word: "likely bound".into(),
    }
}

#[test]
fn shares_are_tidy_and_stable() {
    let none = Shares { caption: Caption::default(), ..shares(0, &[]) };
    let many: Vec<f64> = (0..40).map(f64::from).collect();
    for (name, chart) in [
        ("usual", shares(12, &[60.0, 30.0, 9.0, 1.0])),
        ("one part", shares(1, &[7.0])),
        ("tiny parts", shares(3, &[1e9, 1.0, 1e-6, 1.0])),
        ("many parts", shares(500, &many)),
        ("no time", shares(2, &[0.0, 0.0])),
        ("none", none),
    ] {
        let rows = chart.bars.iter().map(|bar| bar.parts.len()).sum::<usize>() + chart.kernels.len();
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), rows);
    }
}

#[test]
fn parts_and_kernels_are_shares_of_the_whole() {
    let chart = shares(60, &[60.0, 30.0, 9.9, 0.1]);
    let texts: Vec<String> = chart.canvas(Theme::Light).texts.into_iter().map(|t| t.text).collect();
    let has = |text: &str| texts.iter().any(|t| t.contains(text));
    // 1 + 1/2 + ... + 1/20 of 1 + 1/2 + ... + 1/60 is 77 %; the first is 1/4.68 of all.
    assert!(has("the 20 longest of 60 groups of equal launches: 77 % of their time"), "{texts:?}");
    assert!(has("21 % · 1 s · math") && has("number 0 60 %") && has("number 3 0.1 %"), "{texts:?}");
    let csv = chart.draw(Theme::Light).csv().to_owned();
    let shares: f64 = csv
        .lines()
        .filter(|line| line.starts_with("kernel,"))
        .map(|line| line.rsplit(',').next().unwrap().parse::<f64>().unwrap())
        .sum();
    assert!((shares - 100.0).abs() < 1e-3 && csv.lines().count() == 1 + 8 + 60, "{shares}\n{csv}");
}
