//! The figure of time against length.

use super::super::{Bound, LengthLine, Lengths, Theme, figures::attention_figure};
use super::{assert_chart, caption};
use crate::{
    gpu::Catalog,
    op::attention::{Request, Shape},
};

fn line(label: &str, bound: Option<Bound>, times: impl Iterator<Item = f64>) -> LengthLine {
    LengthLine { label: label.into(), bound, second: false, times_us: times.collect() }
}

fn plain() -> Lengths {
    let lengths: Vec<u64> = (7..17).flat_map(|e| [1 << e, 3 << (e - 1)]).collect();
    let of = |f: fn(f64) -> f64| lengths.iter().map(move |l| f(*l as f64));
    let lines = vec![
        line("whole call", None, of(|l| 8.0 + l * l * 1e-5 + l * 1e-2)),
        line("matrix products", Some(Bound::Math), of(|l| l * l * 8e-6)),
        line("exponentials", Some(Bound::Math), of(|l| l * l * 2e-6)),
        line("DRAM", Some(Bound::Memory), of(|l| if l < 2000.0 { 0.0 } else { l * 1e-2 })),
        line("L2", Some(Bound::Memory), of(|l| if l < 3000.0 { l * 1e-3 } else { 0.0 })),
        line("launches", Some(Bound::Latency), of(|_| 8.0)),
    ];
    let (over, subtitle) = ("Length of the sequence (tokens)".into(), "Each term alone".into());
    Lengths { caption: caption("Attention"), subtitle, over, lengths, lines, current: Some(4096) }
}

#[test]
fn lengths_are_tidy_and_stable() {
    let with = |change: &dyn Fn(&mut Lengths)| {
        let mut chart = plain();
        change(&mut chart);
        chart
    };
    let cases = [
        ("plain", plain()),
        ("outside", Lengths { current: Some(9), ..plain() }),
        ("first", Lengths { current: Some(128), ..plain() }),
        ("last", Lengths { current: Some(65_536), ..plain() }),
        ("equal lines", with(&|c| c.lines = vec![c.lines[1].clone(); 7])),
        ("long labels", with(&|c| c.lines.iter_mut().for_each(|l| l.label = l.label.repeat(9)))),
        ("all absent", with(&|c| c.lines.iter_mut().for_each(|l| l.times_us.fill(0.0)))),
        ("unknown", with(&|c| c.lines[0].times_us[3] = f64::NAN)),
        ("endless", with(&|c| c.lines[1].times_us.fill(f64::INFINITY))),
        ("extreme", with(&|c| c.lines[0].times_us.iter_mut().for_each(|t| *t *= 1e20))),
        ("too few times", with(&|c| c.lines[0].times_us.truncate(3))),
    ];
    for (name, chart) in cases {
        let rows = chart.lengths.len();
        assert_chart(name, &chart.canvas(Theme::Light), &|theme| chart.draw(theme), rows);
    }
    let one = Lengths { lengths: vec![5], lines: vec![line("a", None, [2.0].into_iter())], ..plain() };
    assert_chart("one length", &one.canvas(Theme::Light), &|theme| one.draw(theme), 1);
    let none = Lengths::default();
    assert_chart("nothing", &none.canvas(Theme::Light), &|theme| none.draw(theme), 0);
}

#[test]
fn every_line_has_its_label_and_the_length_its_time() {
    let texts: Vec<String> = plain().canvas(Theme::Light).texts.into_iter().map(|t| t.text).collect();
    for wanted in ["whole call", "matrix products", "exponentials", "DRAM", "L2", "launches", "4096: 217 us"] {
        assert!(texts.iter().any(|t| t == wanted), "{wanted} is not in {texts:?}");
    }
}

#[test]
fn a_term_looks_the_same_whatever_else_is_drawn() {
    let gpu = Catalog::embedded().unwrap().find("h100-sxm5-80gb").unwrap().gpu;
    let lines = |shape: Shape, range| attention_figure(&gpu, &shape, &Request::default(), range).unwrap().lines;
    let long = lines(Shape::decode(8, (32, 8), 8192, 128), (128, 65_536));
    let short = lines(Shape::decode(1, (8, 8), 256, 128), (128, 512));
    let dashed = |lines: &[LengthLine], label: &str| lines.iter().find(|l| l.label == label).map(|l| l.second);
    assert_eq!((dashed(&long, "DRAM"), dashed(&long, "L2")), (Some(false), Some(true)));
    assert_eq!((dashed(&short, "DRAM"), dashed(&short, "L2")), (None, Some(true)));
}
