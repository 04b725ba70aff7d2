//! Timelines of simulations: awkward machines and kernels, sizes, tones of cells, a picture byte by byte.

use super::super::canvas::{Canvas, Shape};
use super::super::figures::timeline_figure;
use super::super::geometry::Rect;
use super::super::{Theme, Timeline, TimelineMark};
use super::{assert_chart, caption, numbers};
use crate::{
    gpu::{Catalog, Words},
    schedule::simulate::{Demand, Grid, Machine, Policy, Run, Runs},
    simulation::simulated,
    units::Seconds,
};

const LONG: &str = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize";

fn demand(math_us: f64, dram_us: f64) -> Demand {
    Demand { math: Seconds(math_us * 1e-6), dram: Seconds(dram_us * 1e-6), ..Demand::default() }
}

/// Blocks of 0.5 to 1.5 times a length.
fn unequal(blocks: u64, us: f64, repeat: u64) -> Runs {
    let lengths = numbers(5).take(blocks as usize);
    Runs::new(lengths.map(|share| Run { count: 1, demand: demand(us * (0.5 + share), 0.003 * us) }), repeat)
}

fn timeline(machine: Machine, grids: Vec<Grid>) -> Timeline {
    let gpu = Catalog::embedded().unwrap().find("h100-sxm5-80gb").unwrap().gpu;
    timeline_figure(&simulated("test", "", &gpu, machine, grids).unwrap())
}

fn one(sms: u32, runs: Runs, blocks_per_sm: u32) -> Timeline {
    timeline(Machine::plain(sms), vec![Grid::new("gemm", runs, blocks_per_sm)])
}

/// Three kernels: the second waits for the first, the third interrupts it.
fn three(length: u64) -> Timeline {
    let mut machine = Machine::plain(132);
    machine.room.blocks = 4;
    let first = Grid::new("gemm", unequal(600, 20.0, length), 2);
    let mut second = Grid::new("layernorm", Runs::equal(900 * length, demand(2.0, 0.05)), 4);
    (second.after, second.gap) = (vec![0], Seconds(4e-6));
    let mut third = Grid::new(LONG, Runs::equal(160, demand(6.0, 0.1)), 1);
    (third.priority, third.gap) = (1, Seconds(18e-6));
    timeline(machine, vec![first, second, third])
}

fn chain(kernels: usize) -> Timeline {
    let grids = (0..kernels).map(|number| {
        let mut grid = Grid::new(&format!("layer {number}"), unequal(40, 2.0 + number as f64, 1), 1);
        grid.after = (0..number).rev().take(1).collect();
        grid
    });
    timeline(Machine::plain(16), grids.collect())
}

fn cases() -> Vec<(&'static str, Timeline)> {
    let with = |mut timeline: Timeline, change: &dyn Fn(&mut Timeline)| {
        change(&mut timeline);
        timeline
    };
    let mut persistent = Grid::new("persistent", Runs::equal(40, demand(2.0, 0.05)), 1);
    (persistent.policy, persistent.start) = (Policy::Stride, Seconds(0.5e-6));
    let far = TimelineMark { label: "closed form".into(), at_us: 1e9 };
    vec![
        ("a block more than SMs", one(108, Runs::equal(109, demand(2.0, 0.01)), 1)),
        ("waves", one(132, unequal(264, 1.0, 20), 2)),
        ("one SM", one(1, unequal(3, 1.0, 1), 1)),
        ("one block", one(132, Runs::equal(1, demand(1.0, 0.0)), 1)),
        ("many slots", one(1, unequal(500, 1.0, 1), 64)),
        ("idle SMs", one(132, Runs::equal(40, demand(2.0, 0.05)), 1)),
        ("no time", one(4, Runs::equal(9, Demand::default()), 1)),
        ("very short", one(4, Runs::equal(9, demand(1e-9, 0.0)), 1)),
        ("very long", one(4, Runs::equal(9, demand(1e15, 0.0)), 1)),
        ("persistent", timeline(Machine::plain(8), vec![persistent])),
        ("three kernels", three(1)),
        ("three long kernels", three(40)),
        ("most SMs", one(4096, unequal(300, 1.0, 30), 1)),
        ("not all blocks kept", three(150)),
        ("a chain", chain(5)),
        ("a long chain", chain(40)),
        ("other words", with(one(8, unequal(30, 1.0, 1), 2), &|t| t.words = Words::of_unit("CU"))),
        ("a mark far off", with(one(8, unequal(30, 1.0, 1), 2), &|t| t.marks = vec![far.clone(); 5])),
        ("unknown marks", with(one(8, unequal(30, 1.0, 1), 2), &|t| t.marks[0].at_us = f64::NAN)),
        ("slots that are not there", with(one(8, unequal(30, 1.0, 1), 2), &|t| (t.sms, t.slots) = (3, 1))),
        ("nothing", Timeline::default()),
    ]
}

fn rows(timeline: &Timeline) -> usize {
    let filled = if timeline.blocks.is_empty() { timeline.filled.iter().map(Vec::len).sum() } else { 0 };
    let uses: usize = timeline.uses.iter().map(|u| u.parts_pct.len()).sum();
    timeline.kernels.len()
        + timeline.marks.len()
        + 2
        + timeline.critical.iter().len()
        + timeline.blocks.len()
        + filled
        + uses
}

#[test]
fn timelines_are_tidy_and_stable() {
    for (name, chart) in cases() {
        let canvas = chart.canvas(Theme::Light);
        assert_inside(name, &canvas);
        assert_chart(name, &canvas, &|theme| chart.draw(theme), rows(&chart));
        let svg = chart.draw(Theme::Dark).svg().to_owned();
        roxmltree::Document::parse(&svg).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(svg.len() < 2_000_000, "{name}: {} bytes", svg.len());
    }
}

/// No shape leaves the sheet, no text stands on a bar.
fn assert_inside(name: &str, canvas: &Canvas) {
    let sheet = Rect::new(0.0, 0.0, canvas.size.0.into(), canvas.size.1.into());
    let inside = |(x, y): (i32, i32)| {
        let point = Rect::new(x.into(), y.into(), x.into(), y.into());
        assert_eq!(point.outside(&sheet), 0.0, "{name}: a shape reaches {x}, {y}");
    };
    for shape in &canvas.shapes {
        match shape {
            Shape::Path { points, .. } | Shape::Fill { points, .. } => points.iter().for_each(|p| inside(*p)),
            Shape::Strips { strips, height, .. } => {
                for (x, y, width) in strips {
                    assert!(*width > 0, "{name}: an empty bar at {x}, {y}");
                    inside((*x, *y));
                    inside((x + width, y + *height as i32));
                    let bar = Rect::new((*x).into(), (*y).into(), (x + width).into(), (y + *height as i32).into());
                    let covered = canvas.texts.iter().find(|t| t.boxes.iter().any(|b| b.overlap(&bar) > 0.0));
                    assert!(covered.is_none(), "{name}: {covered:?} stands on a bar at {x}, {y}");
                }
            }
            Shape::Disc { center, .. } => inside(*center),
            Shape::Text { .. } => {}
        }
    }
}

#[test]
fn pictures_stay_small_whatever_the_number_of_blocks() {
    let mut random = numbers(11);
    let kept = one(192, unequal(1000, 1.0, 100), 2);
    assert_eq!(kept.blocks.len(), 100_000);
    let beyond = one(192, Runs::equal(1_000_000, demand(1.0, 0.0)), 2);
    assert!(beyond.blocks.is_empty() && beyond.filled.len() == 192);
    // The most that cells can differ: no two neighbours alike.
    let mut noise = Timeline { kernels: three(1).kernels, ..beyond.clone() };
    noise.filled.iter_mut().flatten().for_each(|share| *share = random.next().unwrap_or_default());
    noise.leading = (0..200).map(|part| part % 3).collect();
    // Neighbours that look alike are one bar.
    let cases = [("all kept", kept, 60_000), ("a million", beyond, 60_000), ("noise", noise, 2_000_000)];
    for (name, chart, most) in cases {
        let svg = chart.draw(Theme::Light).svg().len();
        assert!(svg < most, "{name}: {svg} bytes");
    }
}

/// A bar as left, top and width, and its colour.
type Bar = ((i32, i32, i32), (u8, u8, u8));

/// All strips of a timeline.
fn strips(chart: &Timeline) -> Vec<Bar> {
    let of = |shape| match shape {
        Shape::Strips { strips, ink, .. } => strips.into_iter().map(|s| (s, ink)).collect(),
        _ => Vec::new(),
    };
    chart.canvas(Theme::Light).shapes.into_iter().flat_map(of).collect()
}

#[test]
fn a_bar_per_block_with_an_edge_between_neighbours() {
    let chart = one(2, Runs::equal(4, demand(1.0, 0.0)), 1);
    let mut bars = strips(&chart);
    bars.sort();
    // 640 pixels are two waves.
    let places: Vec<(i32, i32)> = bars.iter().map(|((x, _, width), _)| (*x, *width)).collect();
    assert_eq!(places, [(82, 319), (82, 319), (402, 319), (402, 319)]);
    assert_eq!(bars[0].1, bars[1].1);
    assert_ne!(bars[0].1, bars[2].1);
}

#[test]
fn cells_are_as_strong_as_slots_are_filled() {
    // Blocks too short to be seen, then a long one, which fills one of two slots.
    let runs = Runs::new([(20_000, 0.01), (1, 40.0)].map(|(count, us)| Run { count, demand: demand(us, 0.0) }), 1);
    let kept = one(2, runs, 2);
    let mut gone = kept.clone();
    gone.blocks.clear();
    let each = kept.end_us / 200.0;
    let share = |sm: u32, part: usize| {
        let (from, to) = (part as f64 * each, (part + 1) as f64 * each);
        let own = kept.blocks.iter().filter(|b| b.sm == sm);
        own.map(|b| (b.end_us.min(to) - b.start_us.max(from)).max(0.0)).sum::<f64>() / each / 2.0
    };
    gone.filled = (0..2).map(|sm| (0..200).map(|part| share(sm, part)).collect()).collect();
    gone.leading = vec![0; 200];
    assert_eq!(strips(&kept), strips(&gone));
    let colours: std::collections::BTreeSet<_> = strips(&kept).into_iter().map(|(_, ink)| ink).collect();
    assert!(colours.contains(&(0, 114, 178)), "{colours:?}");
    // Half of the slots: tone 4 of 8, 55 % of the colour.
    assert!(colours.contains(&(115, 177, 213)), "{colours:?}");
}

#[test]
fn what_matters_is_written_on_it() {
    let texts =
        |chart: &Timeline| -> Vec<String> { chart.canvas(Theme::Light).texts.into_iter().map(|t| t.text).collect() };
    let has = |chart: &Timeline, wanted: &[&str]| {
        let texts = texts(chart);
        for wanted in wanted {
            assert!(texts.iter().any(|t| t.contains(wanted)), "{wanted:?} is not in {texts:?}");
        }
    };
    has(
        &one(108, Runs::equal(109, demand(2.0, 0.01)), 1),
        &[
            "Timeline: test",
            "109 blocks on 108 SMs in 4 us",
            "tail: 2 us, 49.5 % of SM time idle",
            "simulated: 4 us",
            "closed form: 4 us",
            "perfect balance: 2.02 us",
            "critical block",
            "block 108",
            "SM 0 slot 0",
            "wave 2",
            "Time (us)",
            "arithmetic 50 %",
            "Device: H100 SXM5 80 GB.",
            "Wavecast ",
        ],
    );
    has(&three(1), &["layernorm", "sm90", "perfect balance", "100 % of the block slots filled", "as filled slots"]);
    assert!(!texts(&three(1)).iter().any(|t| t.contains("closed form")));
    has(&chain(40), &["names of the 12 longest of 40 kernels", "layer 39"]);
    let far = TimelineMark { label: "closed form".into(), at_us: 90.0 };
    has(&Timeline { marks: vec![far], ..one(2, Runs::equal(2, demand(1.0, 0.0)), 1) }, &["90 us (beyond the axis)"]);
}

#[test]
fn a_small_timeline_byte_by_byte() {
    let chart = Timeline { caption: caption("Timeline"), ..one(3, unequal(7, 1.0, 1), 1) };
    insta::assert_snapshot!(chart.draw(Theme::Light).svg());
}
