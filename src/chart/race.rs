//! Time on a CPU and on a GPU over the size, both on logarithmic scales, with bands and the size where the winner changes.

use super::axis::Axis;
use super::bandwidth::decades;
use super::canvas::{Canvas, Mark, Stroke, Type};
use super::data::{Table, cell};
use super::geometry::{Point, Rect, Segment};
use super::labels::{ALL_RINGS, Surroundings, Wanted, draw, place};
use super::palette::Rgb;
use super::terms::time;
use super::{Caption, Chart, Theme, page};
use crate::units::grouped;

/// Both times at one size, in microseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RaceSample {
    /// The size.
    pub size: u64,
    /// Low, estimate and high of the CPU.
    pub cpu_us: [f64; 3],
    /// Low, estimate and high of the GPU, transfer included.
    pub gpu_us: [f64; 3],
    /// The transfer of the GPU; 0 where there is none.
    pub transfer_us: f64,
}

/// A figure of two lines with bands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Race {
    /// Words around the figure.
    pub caption: Caption,
    /// One line below the title.
    pub subtitle: String,
    /// What grows, such as `n`.
    pub over: String,
    /// The curves, by rising size.
    pub samples: Vec<RaceSample>,
    /// Another comparison's curves, in grey, at sizes within those of the samples.
    pub pinned: Vec<RaceSample>,
    /// The size from which the GPU wins; marked where there is one.
    pub crossing: Option<u64>,
    /// Other sizes at which the winner changes; they have hollow marks.
    pub changes: Vec<u64>,
}

/// Height of the panel, and the pixels left, right of and below it.
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 110.0;
const BELOW: f64 = 46.0;
/// Share of a band's ink, on either ground.
const BAND: f64 = 0.16;
/// Pixels between two markers of a line.
const APART: f64 = 90.0;

/// Low, estimate and high of a sample.
type BandOf = fn(&RaceSample) -> [f64; 3];

/// A line of the figure.
struct Line {
    name: &'static str,
    ink: Rgb,
    dash: Option<&'static str>,
    mark: Mark,
    hollow: bool,
    of: fn(&RaceSample) -> f64,
}

fn usable(s: &&RaceSample) -> bool {
    s.size > 0 && s.cpu_us.iter().chain(&s.gpu_us).all(|us| us.is_finite() && *us > 0.0)
}

impl Race {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let text = format!("Time on a CPU and on a GPU against {}. {}.", self.over, self.subtitle);
        page::close(&self.canvas(theme), &self.caption, &text, self.csv())
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&[
            "n",
            "cpu_us",
            "cpu_low_us",
            "cpu_high_us",
            "gpu_us",
            "gpu_low_us",
            "gpu_high_us",
            "transfer_us",
            "crossing",
        ]);
        let shown = self.samples.iter().map(|s| (s, if self.crossing == Some(s.size) { "yes" } else { "no" }));
        for (s, word) in shown.chain(self.pinned.iter().map(|s| (s, "pinned"))) {
            let mut row = vec![s.size.to_string()];
            for [low, usual, high] in [s.cpu_us, s.gpu_us] {
                row.extend([usual, low, high].map(cell));
            }
            row.extend([cell(s.transfer_us), word.into()]);
            table.row(&row);
        }
        table.finish()
    }

    pub(super) fn canvas(&self, theme: Theme) -> Canvas {
        let (mut canvas, body) = page::open(&self.caption, &self.subtitle, theme, HEIGHT + BELOW);
        let plot = Rect::new(body.x0 + LEFT, body.y0, body.x1 - RIGHT, body.y0 + HEIGHT);
        let samples: Vec<&RaceSample> = self.samples.iter().filter(usable).collect();
        if samples.is_empty() {
            return canvas;
        }
        let palette = canvas.palette;
        let (low, high) = decades(samples.iter().map(|s| s.size as f64));
        let x = Axis::log(low, high, (plot.x0, plot.x1));
        let sizes = samples[0].size..=samples[samples.len() - 1].size;
        let pinned: Vec<&RaceSample> = self.pinned.iter().filter(|s| usable(s) && sizes.contains(&s.size)).collect();
        let all = samples.iter().chain(&pinned);
        let (low, high) = decades(all.flat_map(|s| s.cpu_us.into_iter().chain(s.gpu_us)));
        let y = Axis::times(low, high, (plot.y1, plot.y0));
        x.draw_below(&mut canvas, plot, &self.over);
        y.draw_left(&mut canvas, plot, "Time");
        let at = |s: &RaceSample, us: f64| (x.place(s.size as f64), y.place(us).clamp(plot.y0, plot.y1));
        let bands: [(Rgb, BandOf); 2] = [(palette.memory, |s| s.cpu_us), (palette.math, |s| s.gpu_us)];
        for (ink, of) in bands {
            let upper = samples.iter().map(|s| at(s, of(s)[2]));
            let lower = samples.iter().rev().map(|s| at(s, of(s)[0]));
            canvas.fill(&upper.chain(lower).collect::<Vec<Point>>(), palette.soft(ink, BAND));
        }
        // The edges show where one band lies over the other, also without colour.
        for (ink, of) in bands {
            for end in [0, 2] {
                let edge: Vec<Point> = samples.iter().map(|s| at(s, of(s)[end])).collect();
                canvas.path(&edge, Stroke::new(palette.soft(ink, 0.5), 1).dashed("2 3"));
            }
        }
        let mut around = Surroundings {
            plot: Rect::new(plot.x0, plot.y0, body.x1, plot.y1),
            markers: Vec::new(),
            texts: Vec::new(),
            lines: Vec::new(),
        };
        let mut wanted = Vec::new();
        let pins: [(&str, BandOf); 2] = [("CPU, pinned", |s| s.cpu_us), ("GPU, pinned", |s| s.gpu_us)];
        for (name, of) in pins {
            let points: Vec<Point> = pinned.iter().map(|s| at(s, of(s)[1])).collect();
            canvas.path(&points, Stroke::new(palette.muted, 2).dashed("3 3"));
            around.lines.extend(points.windows(2).map(|w| (w[0], w[1]) as Segment));
            let style = Type::new(11.0, palette.muted).halo();
            wanted.extend(points.last().map(|end| Wanted { at: *end, text: name.into(), style, rings: ALL_RINGS }));
        }
        let now = self.crossing.and_then(|n| samples.iter().find(|s| s.size == n));
        if let Some(s) = now {
            let (left, _) = at(s, s.gpu_us[1]);
            canvas.line((left, plot.y0), (left, plot.y1), Stroke::new(palette.ink, 1).dashed("4 3"));
            around.lines.push(((left, plot.y0), (left, plot.y1)));
        }
        let cpu = palette.memory;
        let lines = [
            Line {
                name: "its copies",
                ink: palette.math,
                dash: Some("7 4"),
                mark: Mark::Circle,
                hollow: true,
                of: |s| s.transfer_us,
            },
            Line { name: "CPU", ink: cpu, dash: None, mark: Mark::Square, hollow: false, of: |s| s.cpu_us[1] },
            Line { name: "GPU", ink: palette.math, dash: None, mark: Mark::Circle, hollow: false, of: |s| s.gpu_us[1] },
        ];
        let floor = y.range().0 * 0.999;
        for (index, line) in lines.iter().enumerate() {
            let drawn = samples.iter().filter(|s| (line.of)(s) >= floor);
            let points: Vec<Point> = drawn.map(|s| at(s, (line.of)(s))).collect();
            canvas.path(&points, Stroke { ink: line.ink, width: 2, dash: line.dash });
            around.lines.extend(points.windows(2).map(|w| (w[0], w[1]) as Segment));
            let Some(end) = points.last() else { continue };
            // The copies end where the GPU does, if they are all of it.
            let last = (!line.hollow).then_some(*end);
            for at in marks(&points, index).into_iter().chain(last) {
                canvas.mark(at, line.mark, line.ink, line.hollow);
                around.markers.push(Rect::around(at, 12.0, 12.0));
            }
            wanted.push(Wanted {
                at: *end,
                text: line.name.into(),
                style: Type::new(12.0, palette.ink).halo(),
                rings: ALL_RINGS,
            });
        }
        for s in samples.iter().filter(|s| self.changes.contains(&s.size) && self.crossing != Some(s.size)) {
            let at = at(s, s.gpu_us[1]);
            canvas.mark(at, Mark::Diamond, palette.ink, true);
            around.markers.push(Rect::around(at, 14.0, 14.0));
        }
        if let Some(s) = now {
            let at = at(s, s.gpu_us[1]);
            canvas.mark(at, Mark::Diamond, palette.ink, false);
            around.markers.push(Rect::around(at, 14.0, 14.0));
            let text = format!("{} = {}: {}", self.over, grouped(s.size), time(s.gpu_us[1]));
            wanted.push(Wanted { at, text, style: Type::new(12.0, palette.ink).bold().halo(), rings: ALL_RINGS });
        }
        let places = place(&wanted, &around);
        draw(&mut canvas, &wanted, &places);
        canvas
    }
}

/// Places of markers along a line, so many pixels apart, other ones on each line, none near its end.
fn marks(points: &[Point], index: usize) -> Vec<Point> {
    let (Some(first), Some(end)) = (points.first(), points.last()) else { return Vec::new() };
    let mut next = first.0 + (index % 3) as f64 * APART / 3.0;
    let mut found = Vec::new();
    for at in points.iter().filter(|p| p.0 + APART / 3.0 < end.0) {
        if at.0 >= next {
            found.push(*at);
            next = at.0 + APART;
        }
    }
    found
}
