//! The two figures of comparisons: devices side by side, and kernels before and after.

use super::super::{BeforeAfter, Bound, Caption, Change, KernelBars, SideBySide, Theme, TimeBar};
use super::{assert_chart, caption, numbers};

const LONG: &str = "void cutlass::device_kernel<flash::FlashAttnFwdSm90<128, 128, 64>>";

fn side_by_side(kernels: usize, devices: usize, us: impl Fn(usize, usize) -> f64) -> SideBySide {
    let bounds = [Bound::Math, Bound::Memory, Bound::Latency];
    let bar = |kernel: usize, device: usize| {
        let bar = |time_us| TimeBar {
            time_us,
            speedup: (device != 1).then(|| us(kernel, 0) / time_us),
            bound: bounds[(kernel + device) % 3],
        };
        ((kernel + 2 * device) % 7 != 6).then(|| bar(us(kernel, device)))
    };
    SideBySide {
        caption: caption("Compared"),
        devices: (0..devices).map(|d| format!("gpu-{d}, {}", if d % 2 == 0 { LONG } else { "as is" })).collect(),
        baseline: devices / 2,
        kernels: (0..kernels)
            .map(|k| KernelBars { label: format!("{k} {LONG}"), bars: (0..devices).map(|d| bar(k, d)).collect() })
            .collect(),
    }
}

#[test]
fn devices_side_by_side_are_tidy_and_stable() {
    let near = |k: usize, d: usize| 100.0 + (k * 7 + d * 31) as f64;
    let far = |k: usize, d: usize| 10f64.powi(k as i32 % 7 - 3) * (1 + d) as f64;
    let none = SideBySide { caption: Caption::default(), ..side_by_side(0, 0, near) };
    for (name, chart) in [
        ("bars", side_by_side(3, 3, near)),
        ("dots", side_by_side(6, 2, far)),
        ("many kernels", side_by_side(200, 2, far)),
        ("many devices", side_by_side(5, 30, near)),
        ("more devices than rows", side_by_side(2, 100, near)),
        ("one", side_by_side(1, 1, near)),
        ("unknown times", side_by_side(4, 2, |k, _| [f64::NAN, 0.0, f64::INFINITY, 1e300][k % 4])),
        ("none", none),
    ] {
        let rows = chart.kernels.iter().flat_map(|k| &k.bars).flatten().count();
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), rows);
    }
}

#[test]
fn the_longest_of_many_kernels_are_drawn_and_it_says_so() {
    let chart = side_by_side(60, 1, |k, _| 100.0 + k as f64);
    let texts: Vec<String> = chart.canvas(Theme::Light).texts.into_iter().map(|t| t.text).collect();
    let drawn = |kernel: usize| texts.iter().any(|t| t.starts_with(&format!("{kernel} void")));
    // Every seventh kernel of these does not run and has no time.
    let longest: Vec<usize> = (32..60).filter(|k| k % 7 != 6).collect();
    assert_eq!((0..60).filter(|k| drawn(*k)).collect::<Vec<_>>(), longest);
    assert!(texts.iter().any(|t| t.contains("the 24 longest of 60 kernels")), "{texts:?}");
}

#[test]
fn kernels_before_and_after_are_tidy_and_stable() {
    let change = |label: &str, before_us, after_us| Change { label: label.into(), before_us, after_us };
    let mut random = numbers(5);
    let mut next = || Some(10f64.powf(8.0 * random.next().unwrap_or_default() - 4.0));
    let many: Vec<Change> = (0..50).map(|i| change(&format!("{i} {LONG}"), next(), next())).collect();
    let odd = vec![
        change("only before", Some(12.5), None),
        change("only after", None, Some(0.001)),
        change("neither", None, None),
        change("unknown", Some(f64::NAN), Some(0.0)),
        change("slower beyond measure", Some(1e-9), Some(1e12)),
    ];
    for (name, changes) in [
        ("few", vec![change("a", Some(41.2), Some(30.1)), change("b", Some(7.0), Some(7.0))]),
        ("odd", odd),
        ("many", many),
        ("none", Vec::new()),
    ] {
        let chart = BeforeAfter { caption: caption("Before and after"), changes };
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), chart.changes.len());
    }
}

#[test]
fn what_got_slower_is_marked_in_words() {
    let change =
        |label: &str, after_us| Change { label: label.into(), before_us: Some(100.0), after_us: Some(after_us) };
    let changes = vec![change("slow", 112.5), change("same", 100.4), change("fast", 50.0)];
    let chart = BeforeAfter { caption: Caption::default(), changes };
    let texts: Vec<String> = chart.canvas(Theme::Light).texts.into_iter().map(|t| t.text).collect();
    for wanted in ["+12.5 % slower", "+0.4 %", "-50 %", "100 us → 112 us"] {
        assert!(texts.iter().any(|t| t == wanted), "{wanted}: {texts:?}");
    }
    assert_eq!(chart.draw(Theme::Light).csv().lines().nth(1), Some("slow,100,112.5,12.5"));
}
