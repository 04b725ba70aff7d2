//! What a GPU's memory holds: bars of parts that add up, and the same over the moments of a step, each beside what the GPU has.

mod bars;
mod steps;

pub use bars::{MemoryBar, MemoryBars};
pub use steps::{MemoryRun, MemorySteps};

use super::canvas::{Canvas, SLACK, Type};
use super::font::text_width;
use super::geometry::Rect;
use super::palette::{Palette, Rgb};
use crate::units::significant;

/// Bytes of a GiB, the unit of the axes.
const GIB: f64 = 1_073_741_824.0;

/// Ink of a part and how much of it is left in its area. They follow from its place among all parts, so that a part looks the same in
/// every figure; parts side by side differ in hue, and the number in the area tells them apart without colour.
fn look(index: usize, palette: &Palette) -> (Rgb, f64) {
    let hues = [palette.math, palette.memory, palette.latency, palette.spare, palette.axis];
    (hues[index % hues.len()], [0.5, 0.22, 0.1][(index / hues.len()).min(2)])
}

/// "31.4 GiB".
fn gib(bytes: f64) -> String {
    format!("{} GiB", significant(bytes / GIB, 3))
}

/// A size that can be drawn.
fn usable(bytes: f64) -> bool {
    bytes.is_finite() && bytes > 0.0
}

/// The parts that a figure shows, each with its number.
struct Legend<'a> {
    /// Index among all parts, and name.
    shown: Vec<(usize, &'a str)>,
    /// Items of each line, as left edge and place in `shown`.
    lines: Vec<Vec<(f64, usize)>>,
}

/// Height of a line of the legend, side of a swatch, room between items, in pixels.
const LINE: f64 = 20.0;
const SWATCH: f64 = 14.0;
const GAP: f64 = 18.0;

impl<'a> Legend<'a> {
    fn new(parts: &'a [String], wanted: impl Fn(usize) -> bool, width: f64) -> Self {
        let named = parts.iter().map(String::as_str).enumerate();
        let shown: Vec<_> = named.filter(|(index, _)| wanted(*index)).collect();
        let mut lines: Vec<Vec<(f64, usize)>> = vec![Vec::new()];
        let mut left = 0.0;
        for (place, (_, name)) in shown.iter().enumerate() {
            let room = SWATCH + 6.0 + text_width(name, 11.0, false) * SLACK;
            if left > 0.0 && left + room > width {
                lines.push(Vec::new());
                left = 0.0;
            }
            if let Some(line) = lines.last_mut() {
                line.push((left, place));
            }
            left += room + GAP;
        }
        Self { shown, lines }
    }

    fn height(&self) -> f64 {
        LINE * self.lines.len() as f64 + 8.0
    }

    /// The number of a part in areas and legend.
    fn number(&self, index: usize) -> Option<usize> {
        self.shown.iter().position(|(shown, _)| *shown == index).map(|place| place + 1)
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let palette = canvas.palette;
        for (line, items) in self.lines.iter().enumerate() {
            let y = top + LINE * (line as f64 + 0.5);
            for (x, place) in items {
                let (index, name) = self.shown[*place];
                let x = left + x;
                area(canvas, Rect::new(x, y - SWATCH / 2.0, x + SWATCH, y + SWATCH / 2.0), look(index, &palette));
                let number = Type::new(9.0, palette.ink).align(super::canvas::Align::Middle);
                canvas.text((x + SWATCH / 2.0, y), &(place + 1).to_string(), number);
                canvas.text((x + SWATCH + 6.0, y), name, Type::new(11.0, palette.ink));
            }
        }
    }
}

/// A box with a soft inside and an edge in full ink.
fn area(canvas: &mut Canvas, room: Rect, (ink, share): (Rgb, f64)) {
    canvas.bar(room, ink);
    let inside = Rect::new(room.x0 + 1.0, room.y0 + 1.0, room.x1 - 1.0, room.y1 - 1.0);
    if inside.width() >= 1.0 && inside.height() >= 1.0 {
        let fill = canvas.palette.soft(ink, share);
        canvas.bar(inside, fill);
    }
}
