//! Time against the length of a sequence, with the terms that it is made of, both on logarithmic scales.

use super::axis::{Axis, power};
use super::canvas::{Canvas, Mark, Stroke, Type};
use super::data::{Table, cell, optional};
use super::geometry::{Point, Rect, Segment};
use super::labels::{ALL_RINGS, Surroundings, Wanted, draw, place};
use super::palette::{Palette, Rgb};
use super::terms::time;
use super::{Bound, Caption, Chart, Theme, page};

/// A term, or the sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LengthLine {
    /// What it is, such as `exponentials`.
    pub label: String,
    /// What a kernel that it decides over is called; absent for the whole.
    pub bound: Option<Bound>,
    /// Whether it is the second kind of its bound, which has dashes and hollow markers.
    pub second: bool,
    /// Time in microseconds at each length; 0 where the term is absent.
    pub times_us: Vec<f64>,
}

/// A figure of lines over one axis of lengths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lengths {
    /// Words around the figure.
    pub caption: Caption,
    /// What the lines are, below the title.
    pub subtitle: String,
    /// Name of the axis, such as `Tokens of the sequence`.
    pub over: String,
    /// The lengths, rising.
    pub lengths: Vec<u64>,
    /// The lines, the whole first.
    pub lines: Vec<LengthLine>,
    /// The length in question; marked where it is inside.
    pub current: Option<u64>,
}

/// Height of the panel, and the pixels left, right of and below it.
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 158.0;
const BELOW: f64 = 46.0;
/// Pixels between two markers of a line.
const APART: f64 = 110.0;
/// Decades below the longest time that are drawn; terms below them say nothing.
const DECADES: i32 = 6;

/// Ink, dashes, marker and whether it is hollow. They follow from what the line is, not from which others are drawn: the
/// same term looks the same in every figure.
fn look(line: &LengthLine, palette: &Palette) -> (Rgb, Option<&'static str>, Mark, bool) {
    let (ink, mark) = match line.bound {
        None => (palette.ink, Mark::Diamond),
        Some(Bound::Math) => (palette.math, Mark::Circle),
        Some(Bound::Memory) => (palette.memory, Mark::Square),
        Some(Bound::Latency) => (palette.latency, Mark::Triangle),
    };
    (ink, line.second.then_some("7 4"), mark, line.second)
}

impl Lengths {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let mut text = format!("Time against {}.", self.over.to_lowercase());
        for (length, us) in self.lengths.iter().zip(self.lines.first().map_or(&[][..], |l| &l.times_us)) {
            if Some(*length) == self.current {
                text += &format!(" At {length}: {}.", time(*us));
            }
        }
        page::close(&self.canvas(theme), &self.caption, &text, self.csv())
    }

    fn csv(&self) -> String {
        let names = self.lines.iter().map(|l| format!("{}_us", l.label.replace([' ', '-'], "_").to_lowercase()));
        let header: Vec<String> = ["length".to_owned()].into_iter().chain(names).collect();
        let mut table = Table::new(&header.iter().map(String::as_str).collect::<Vec<_>>());
        for (index, length) in self.lengths.iter().enumerate() {
            let time = |line: &LengthLine| match line.times_us.get(index) {
                Some(us) if us.is_finite() => cell(*us),
                _ => optional(None),
            };
            let row: Vec<String> = [length.to_string()].into_iter().chain(self.lines.iter().map(time)).collect();
            table.row(&row);
        }
        table.finish()
    }

    pub(super) fn canvas(&self, theme: Theme) -> Canvas {
        let (mut canvas, body) = page::open(&self.caption, &self.subtitle, theme, HEIGHT + BELOW);
        let plot = Rect::new(body.x0 + LEFT, body.y0, body.x1 - RIGHT, body.y0 + HEIGHT);
        let drawable = |us: f64| us.is_finite() && us > 0.0;
        let all = || self.lines.iter().flat_map(|l| &l.times_us).copied().filter(|us| drawable(*us));
        let (least, most) = all().fold((f64::INFINITY, 0.0_f64), |(a, b), us| (a.min(us), b.max(us)));
        let ends = (self.lengths.first(), self.lengths.last());
        let ((Some(first), Some(last)), true) = (ends, most > 0.0) else { return canvas };
        let top = libm::ceil(libm::log10(most) - 1e-9) as i32;
        let bottom = (libm::floor(libm::log10(least) + 1e-9) as i32).max(top - DECADES);
        let y = Axis::times(bottom, top, (plot.y1, plot.y0));
        let exponent = |length: u64| libm::log2(length.max(1) as f64);
        let low = libm::floor(exponent(*first) + 1e-9) as i32;
        let x = Axis::doubling(low, libm::ceil(exponent(*last) - 1e-9) as i32, (plot.x0, plot.x1));
        x.draw_below(&mut canvas, plot, &self.over);
        y.draw_left(&mut canvas, plot, "Time");
        let current = self.current.filter(|c| first <= c && c <= last);
        if let Some(now) = current {
            let at = x.place(now as f64);
            canvas.line((at, plot.y0), (at, plot.y1), Stroke::new(canvas.palette.muted, 1).dashed("2 3"));
        }
        let floor = power(bottom) * 0.999;
        let curves: Vec<Vec<Point>> = self.lines.iter().map(|l| self.points(l, floor, x, y)).collect();
        let mut wanted = Vec::new();
        let mut around = Surroundings {
            plot: Rect::new(plot.x0, plot.y0, body.x1, plot.y1),
            markers: Vec::new(),
            texts: Vec::new(),
            lines: Vec::new(),
        };
        if let Some(now) = current {
            let at = x.place(now as f64);
            around.lines.push(((at, plot.y0), (at, plot.y1)));
        }
        // The whole is drawn first: a term that is all of it stays visible on it.
        for (index, (line, points)) in self.lines.iter().zip(&curves).enumerate() {
            let (ink, dash, mark, hollow) = look(line, &canvas.palette);
            let width = if line.bound.is_none() { 4 } else { 2 };
            canvas.path(points, Stroke { ink, width, dash });
            around.lines.extend(points.windows(2).map(|w| (w[0], w[1]) as Segment));
            let Some(end) = points.last() else { continue };
            for at in marks(points, index).into_iter().chain([*end]) {
                canvas.mark(at, mark, ink, hollow);
                around.markers.push(Rect::around(at, 12.0, 12.0));
            }
            let style = Type::new(12.0, canvas.palette.ink).halo();
            let style = if line.bound.is_none() { style.bold() } else { style };
            wanted.push(Wanted { at: *end, text: line.label.clone(), style, rings: ALL_RINGS });
        }
        if let (Some(now), Some(line)) = (current, self.lines.first())
            && let Some(us) = self.lengths.iter().position(|l| *l == now).and_then(|i| line.times_us.get(i))
            && drawable(*us)
        {
            let at = (x.place(now as f64), y.place(*us));
            canvas.mark(at, Mark::Diamond, canvas.palette.ink, true);
            let style = Type::new(12.0, canvas.palette.ink).bold().halo();
            wanted.push(Wanted { at, text: format!("{now}: {}", time(*us)), style, rings: ALL_RINGS });
        }
        let places = place(&wanted, &around);
        draw(&mut canvas, &wanted, &places);
        canvas
    }

    fn points(&self, line: &LengthLine, floor: f64, x: Axis, y: Axis) -> Vec<Point> {
        let times = self.lengths.iter().zip(&line.times_us);
        let drawn = times.filter(|(_, us)| us.is_finite() && **us >= floor);
        drawn.map(|(length, us)| (x.place((*length).max(1) as f64), y.place(*us))).collect()
    }
}

/// Places of markers along a line, so many pixels apart, other ones on each line, none near its end.
fn marks(points: &[Point], index: usize) -> Vec<Point> {
    let Some(end) = points.last() else { return Vec::new() };
    let mut found = Vec::new();
    let mut next = points[0].0 + (index % 3) as f64 * APART / 3.0;
    for at in points.iter().filter(|p| p.0 + APART / 3.0 < end.0) {
        if at.0 >= next {
            found.push(*at);
            next = at.0 + APART;
        }
    }
    found
}
