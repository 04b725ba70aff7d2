//! The figure of a CPU against a GPU.

use super::super::{Caption, Race, RaceSample, Theme};
use super::{assert_chart, caption};

/// A race over so many powers of two, the GPU `ahead` times as fast at the end.
fn race(sizes: u32, ahead: f64, pinned: f64) -> Race {
    let sample = |ahead: f64, power: u32| {
        let n = 1_u64 << power;
        let (cpu, gpu) = (0.05 + n as f64 * 1e-3, 5.0 + n as f64 * 1e-3 / ahead);
        let band = |us: f64| [us * 0.7, us, us * 1.9];
        RaceSample { size: n, cpu_us: band(cpu), gpu_us: band(gpu), transfer_us: gpu * 0.4 }
    };
    let samples: Vec<RaceSample> = (0..sizes).map(|power| sample(ahead, power)).collect();
    let crossing = samples.iter().find(|s| s.gpu_us[1] < s.cpu_us[1]).map(|s| s.size);
    Race {
        caption: caption("CPU or GPU"),
        subtitle: "The GPU wins from n = 8,192 on".into(),
        over: "n".into(),
        pinned: (0..sizes + 3).filter(|_| pinned > 0.0).map(|power| sample(pinned, power)).collect(),
        changes: samples.iter().map(|s| s.size).take(2).collect(),
        samples,
        crossing,
    }
}

#[test]
fn races_are_tidy_and_stable() {
    let odd = RaceSample { size: 0, cpu_us: [f64::NAN; 3], gpu_us: [0.0; 3], transfer_us: f64::INFINITY };
    let mut broken = race(20, 3.0, 2.0);
    broken.samples.insert(0, odd.clone());
    broken.pinned.insert(0, odd);
    for (name, chart) in [
        ("usual", race(28, 20.0, 0.0)),
        ("pinned", race(28, 20.0, 5.0)),
        ("pinned on the same", race(28, 20.0, 20.0)),
        ("never", race(12, 0.2, 0.1)),
        ("one size", race(1, 2.0, 3.0)),
        ("odd", broken),
        ("none", Race { caption: Caption::default(), ..race(0, 1.0, 0.0) }),
    ] {
        let rows = chart.samples.len() + chart.pinned.len();
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), rows);
    }
}
