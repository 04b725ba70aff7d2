//! Figures of points over plain and awkward tables: no text on another, none outside, extremes kept, few bytes.

use super::heat::Heat;
use super::parts::thin;
use super::*;
use crate::chart::{
    Theme,
    canvas::{Canvas, Shape},
    tests::{assert_tidy, numbers},
};

/// A table with these columns, a row for each tuple of cells.
fn table(header: &str, rows: impl IntoIterator<Item = String>) -> Points {
    let rows: Vec<String> = rows.into_iter().collect();
    Points::read("t.csv", format!("{header}\n{}\n", rows.join("\n")).as_bytes()).unwrap()
}

fn lines(points: &Points, x: &str, by: &[&str]) -> Result<Lines, PointsError> {
    let by = by.iter().map(|b| (*b).to_owned()).collect();
    Lines::new(points, &LinesAsked { x: x.into(), y: "predicted_us".into(), by, log: None })
}

fn heat(points: &Points) -> Result<Heat, PointsError> {
    Heat::new(points, &HeatAsked { x: "m".into(), y: "n".into(), z: "predicted_us".into(), log: None })
}

fn front(points: &Points, x: &str, max: &[&str]) -> Result<Front, PointsError> {
    let max = max.iter().map(|m| (*m).to_owned()).collect();
    Front::new(
        points,
        &FrontAsked {
            x: x.into(),
            y: "predicted_us".into(),
            max,
            log: Some(LogAxes::default()),
            ..FrontAsked::default()
        },
    )
}

fn multiples(points: &Points, panels: &str, by: &[&str]) -> Result<Multiples, PointsError> {
    let by = by.iter().map(|b| (*b).to_owned()).collect();
    let (x, y) = ("m".into(), "predicted_us".into());
    Multiples::new(points, &MultiplesAsked { x, y, panels: vec![panels.into()], by, log: None })
}

fn grid(wide: u64, high: u64, value: impl Fn(u64, u64) -> String) -> Points {
    let cells = (1..=wide).flat_map(|m| (1..=high).map(move |n| (m, n)));
    table("m,n,gpu,predicted_us,bound", cells.map(|(m, n)| format!("{m},{n},g{},{}", n % 3, value(m, n))))
}

#[test]
fn no_text_lies_on_another() {
    let long = "x".repeat(300);
    let plain = grid(30, 6, |m, n| format!("{},{}", m * n, if m > 2 * n { "math" } else { "memory" }));
    let gaps = grid(9, 6, |m, n| if m == n { ",".into() } else { format!("{},latency", m * 1000 + n) });
    let odd = grid(3, 4, |m, n| format!("{}e300,{long}", n as f64 - m as f64 / 3.0 - 3.0));
    let wordy = table(
        &format!("m,n,gpu,predicted_us,{long}"),
        (1..7).map(|i| format!("{long}{i},{i}{long},{i}{long},{},{long}", 3.0 + f64::from(i) * 1e-12)),
    );
    let one = grid(1, 1, |_, _| "5,math".into());
    for (name, points) in [("plain", &plain), ("gaps", &gaps), ("odd", &odd), ("wordy", &wordy), ("one", &one)] {
        assert_tidy(name, &lines(points, "m", &["gpu"]).unwrap().canvas(Theme::Light));
        assert_tidy(name, &lines(points, "m", &[]).unwrap().canvas(Theme::Dark));
        assert_tidy(name, &lines(points, "n", &["gpu"]).unwrap().canvas(Theme::Dark));
        assert_tidy(name, &heat(points).unwrap().canvas(Theme::Light));
        assert_tidy(name, &multiples(points, "n", &["gpu"]).unwrap().canvas(Theme::Light));
        if name != "wordy" {
            assert_tidy(name, &front(points, "m", &[]).unwrap().canvas(Theme::Light));
            assert_tidy(name, &front(points, "n", &["predicted_us", "n"]).unwrap().canvas(Theme::Dark));
        }
        let svg = lines(points, "m", &["gpu"]).unwrap().draw(Theme::Light);
        assert!(!svg.svg().contains("NaN") && !svg.svg().contains("inf"), "{name}");
    }
}

#[test]
fn a_tornado_is_tidy_and_sorted_by_spread() {
    let long = "parameter".repeat(40);
    let rows = (0..30).map(|i| format!("{long}{i},{long},{i},{},100,{},0.{i}", 100 - i, 100 + i % 7 - 3));
    let points = table("parameter,low_value,high_value,low_us,base_us,high_us,elasticity", rows);
    let figure = Tornado::new(&points).unwrap();
    assert_tidy("tornado", &figure.canvas(Theme::Light));
    let chart = figure.draw(Theme::Light);
    let lows: Vec<f64> = chart.csv().lines().skip(1).map(|l| l.split(',').nth(3).unwrap().parse().unwrap()).collect();
    assert_eq!((lows.len(), lows[0]), (30, 73.0));
    assert!(chart.csv().lines().skip(21).all(|l| l.ends_with(",no")));
    let one = table("parameter,low_value,high_value,low_us,base_us,high_us", ["a,1,2,5,5,5".to_owned()]);
    assert_tidy("flat", &Tornado::new(&one).unwrap().canvas(Theme::Light));
    let two = table(
        "parameter,low_value,high_value,low_us,base_us,high_us",
        ["a,1,2,5,5,5", "b,1,2,5,6,5"].map(String::from),
    );
    assert!(Tornado::new(&two).unwrap_err().to_string().contains("line 3: base_us = 6 is not the 5 of line 2"));
}

#[test]
fn thinning_keeps_the_extremes_of_each_column_of_pixels() {
    let mut random = numbers(3);
    let mut next = || random.next().unwrap();
    let mut points: Vec<(f64, f64)> = (0..5000).map(|_| (next() * 50.0, next() * 400.0)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let thinned = thin(&points);
    assert!(thinned.len() <= 4 * 51, "{}", thinned.len());
    for column in points.chunk_by(|a, b| a.0.round() == b.0.round()) {
        let heights = || column.iter().map(|p| p.1);
        for height in [
            heights().fold(f64::INFINITY, f64::min),
            heights().fold(0.0, f64::max),
            column[0].1,
            column[column.len() - 1].1,
        ] {
            assert!(thinned.iter().any(|p| p.1 == height && p.0.round() == column[0].0.round()), "{height}");
        }
    }
    assert!(thinned.is_sorted_by(|a, b| a.0 <= b.0));
}

/// The places of all curves.
fn heights(canvas: &Canvas) -> Vec<i32> {
    let path = |shape: &Shape| match shape {
        Shape::Path { points, stroke } if stroke.width == 2 => points.iter().map(|p| p.1).collect(),
        _ => Vec::new(),
    };
    canvas.shapes.iter().flat_map(path).collect()
}

#[test]
fn ten_thousand_points_stay_small_and_show_their_spikes() {
    let most = 2 << 20;
    let value = |m: u64| match m {
        7777 => 1000.0,
        3333 => 0.0,
        m => 400.0 + (m % 97) as f64,
    };
    let header = "m,gpu,predicted_us,bound";
    let word = |m: u64| ["math", "memory", "latency"][m as usize % 3];
    let long = table(header, (1..=10_000).map(|m| format!("{m},g,{},{}", value(m), word(m))));
    let figure = lines(&long, "m", &[]).unwrap();
    let found = heights(&figure.canvas(Theme::Light));
    // The axis runs from 0 to 1000, the spikes from end to end.
    assert_eq!(found.iter().max().unwrap() - found.iter().min().unwrap(), 400);
    let svg = figure.draw(Theme::Light);
    assert!(svg.svg().len() < most && svg.csv().lines().count() == 10_001, "{}", svg.svg().len());
    let gaps = table(header, (1..=10_000).map(|m| if m % 3 == 0 { format!("{m},g,,") } else { format!("{m},g,{m},") }));
    assert!(lines(&gaps, "m", &[]).unwrap().draw(Theme::Light).svg().len() < most);

    let panels = table(header, (1..=10_000).map(|m| format!("{m},g{},{},", m % 12, value(m))));
    let chart = multiples(&panels, "gpu", &[]).unwrap().draw(Theme::Light);
    assert!(chart.svg().len() < most, "{}", chart.svg().len());

    let mut random = numbers(5);
    let mut next = || random.next().unwrap();
    let cloud: Vec<(f64, f64)> = (0..10_000).map(|_| (next(), next())).collect();
    let cloud =
        table("usd,gpu,predicted_us", cloud.iter().map(|(x, y)| format!("{x},g,{y}")).chain(["9,g,8".to_owned()]));
    let figure = front(&cloud, "usd", &[]).unwrap();
    let canvas = figure.canvas(Theme::Light);
    let discs: Vec<(i32, i32)> = canvas
        .shapes
        .iter()
        .filter_map(|s| match s {
            Shape::Disc { center, .. } => Some(*center),
            _ => None,
        })
        .collect();
    // The far point is alone at the right.
    let right = discs.iter().map(|d| d.0).max().unwrap();
    assert!(discs.iter().filter(|d| d.0 > right - 300).count() == 1 && discs.len() < 8000, "{}", discs.len());
    assert!(figure.draw(Theme::Light).svg().len() < most);
}

#[test]
fn a_heat_map_of_more_cells_than_pixels_shows_the_worst_of_each_group() {
    let map = |spike: u64| {
        grid(700, 15, |m, n| {
            format!(
                "{},{}",
                if (m, n) == (spike, 7) { 90 } else { 10 + n % 2 },
                ["math", "memory"][(m * n % 2) as usize]
            )
        })
    };
    let brightest = |points: &Points| {
        let canvas = heat(points).unwrap().canvas(Theme::Light);
        assert_tidy("grouped", &canvas);
        let yellow = |s: &&Shape| matches!(s, Shape::Strips { ink, .. } if *ink == (254, 232, 56));
        canvas.shapes.iter().filter(yellow).count()
    };
    // One in the bar, and one for the cell.
    assert_eq!(brightest(&map(350)), 2);
    assert_eq!(brightest(&map(351)), 2);
    let chart = heat(&map(9)).unwrap().draw(Theme::Light);
    assert!(chart.svg().contains("largest predicted_us of 3 x 1 points") && chart.svg().len() < 2 << 20);
    // The worst case: every cell has another bound than its neighbours, or none.
    let mut random = numbers(11);
    let noise: Vec<u64> = std::iter::repeat_with(|| (random.next().unwrap() * 4.0) as u64).take(10_000).collect();
    let noisy = grid(100, 100, |m, n| match noise[((m - 1) * 100 + n - 1) as usize] {
        3 => ",".into(),
        kind => format!("{},{}", m * n, ["math", "memory", "latency"][kind as usize]),
    });
    assert_tidy("noisy", &heat(&noisy).unwrap().canvas(Theme::Light));
    let chart = heat(&noisy).unwrap().draw(Theme::Light);
    assert!(chart.svg().len() < 2 << 20, "{}", chart.svg().len());
}

#[test]
fn the_best_points_are_those_that_nothing_beats() {
    let rows = ["1,9", "2,5", "2,6", "3,5", "4,1", "9,9", "4,1"].map(|r| format!("{r},g"));
    let points = table("usd,predicted_us,gpu", rows);
    let best = |max: &[&str]| {
        let chart = front(&points, "usd", max).unwrap().draw(Theme::Light);
        let rows = chart.csv().lines().filter(|l| l.ends_with(",yes"));
        rows.map(|l| l.split(',').skip(2).take(2).collect::<Vec<_>>().join(":")).collect::<Vec<_>>()
    };
    assert_eq!(best(&[]), ["1:9", "2:5", "4:1", "4:1"]);
    assert_eq!(best(&["usd"]), ["4:1", "4:1", "9:9"]);
    assert_eq!(best(&["usd", "predicted_us"]), ["9:9"]);
    assert_eq!(best(&["predicted_us"]), ["1:9"]);
}

#[test]
fn cells_are_sorted_by_their_values() {
    let order = |cells: &[&str]| {
        let column = super::column::Column::new("c", cells.iter().copied());
        column.levels.iter().map(|l| l.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(order(&["10", "9", "-1", "1e1"]), ["-1", "9", "10"]);
    assert_eq!(order(&["3.35 TB/s", "800 GB/s", "1 TB/s"]), ["800 GB/s", "1 TB/s", "3.35 TB/s"]);
    assert_eq!(order(&["1 MiB", "48 KiB", "49152 B"]), ["48 KiB", "1 MiB"]);
    assert_eq!(order(&["1.98 GHz", "990 MHz"]), ["990 MHz", "1.98 GHz"]);
    assert_eq!(order(&["z", "a", "", "z"]), ["z", "a"]);
    assert_eq!(order(&["NaN", "4", "inf", "1e301"]), ["4"]);
}
