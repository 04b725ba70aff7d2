//! Predictions against measurements, a panel for each series: what the two figures of a validation share.

mod by_size;
mod scatter;

pub use by_size::{ErrorBin, ErrorBySize, ErrorSeries, FEWEST_OF_BAND};
pub use scatter::{Scatter, ScatterPoint, ScatterSeries};

use super::{
    axis::Axis,
    canvas::{Canvas, Mark, SLACK, Type},
    font::{elide, text_width},
    geometry::Rect,
    palette::{Palette, Rgb},
};
use crate::units::grouped;

/// Most panels of a figure; so many looks can be told apart.
pub const MOST_PANELS: usize = 12;

/// Free pixels between panels, and between their boxes and plots: left, right, below.
const GAP: f64 = 18.0;
const INSET: [f64; 3] = [72.0, 12.0, 46.0];
/// Height of a line of words above a plot.
const LINE: f64 = 16.0;

/// Colour and marker of a series: no two of twelve share both.
fn look(index: usize, palette: &Palette) -> (Rgb, Mark) {
    let ink = [palette.math, palette.memory, palette.latency, palette.spare][index % 4];
    let mark = [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond][(index + index / 4) % 4];
    (ink, mark)
}

/// "6,000 rows".
fn rows(count: usize) -> String {
    format!("{} row{}", grouped(count as u64), if count == 1 { "" } else { "s" })
}

/// Panels in rows of one to three.
pub(super) struct Grid {
    columns: usize,
    count: usize,
    /// Height of a plot and of the words above it in pixels.
    plot: f64,
    head: f64,
}

impl Grid {
    pub fn new(count: usize, heights: [f64; 3]) -> Self {
        let columns = match count {
            0 | 1 => 1,
            2..=4 => 2,
            _ => 3,
        };
        // Where panels are narrow, the numbers take two lines.
        let head = if columns == 3 { 3.0 * LINE } else { 2.0 * LINE };
        Self { columns, count: count.max(1), plot: heights[columns - 1], head: head + 12.0 }
    }

    /// With a single line of words above each plot.
    pub fn titled(self) -> Self {
        Self { head: LINE + 12.0, ..self }
    }

    pub fn height(&self) -> f64 {
        let rows = self.count.div_ceil(self.columns) as f64;
        rows * (self.head + self.plot + INSET[2]) + (rows - 1.0) * GAP
    }

    /// The plot of a panel.
    pub fn plot(&self, index: usize, body: Rect) -> Rect {
        let columns = self.columns as f64;
        let width = (body.width() - (columns - 1.0) * GAP) / columns;
        let (column, row) = ((index % self.columns) as f64, (index / self.columns) as f64);
        let left = (body.x0 + column * (width + GAP)).round();
        let top = body.y0 + row * (self.head + self.plot + INSET[2] + GAP) + self.head;
        Rect::new(left + INSET[0], top, (left + width - INSET[1]).round(), top + self.plot)
    }
}

/// Marker and name of a series above its plot, and its numbers, broken between phrases where the panel is narrow.
fn head(canvas: &mut Canvas, plot: Rect, index: usize, name: &str, numbers: &[String; 3]) {
    let (ink, mark) = look(index, &canvas.palette);
    let width = plot.width() / SLACK;
    let mut y = plot.y0 - 13.0;
    let mut lines: Vec<String> = Vec::new();
    for phrase in numbers {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {phrase}"), 11.0, false) <= width => {
                *line += &format!(" {phrase}")
            }
            _ => lines.push(phrase.clone()),
        }
    }
    for line in lines.iter().rev() {
        canvas.text((plot.x0, y), &elide(line, 11.0, false, width), Type::new(11.0, canvas.palette.muted));
        y -= LINE;
    }
    y -= 2.0;
    canvas.mark((plot.x0 + 6.0, y), mark, ink, false);
    let bold = Type::new(12.0, canvas.palette.ink).bold();
    canvas.text((plot.x0 + 18.0, y), &elide(name, 12.0, true, width - 18.0), bold);
}

/// An axis of whole decades around times in microseconds.
fn decades(times: impl Iterator<Item = f64>, pixels: (f64, f64)) -> Axis {
    let usable = times.filter(|us| usable(*us));
    let (low, high) = usable.fold((f64::INFINITY, 0.0_f64), |(low, high), us| (low.min(us), high.max(us)));
    if high == 0.0 {
        return Axis::times(0, 3, pixels);
    }
    let decade = |us: f64, round: fn(f64) -> f64| round(libm::log10(us)).clamp(-12.0, 12.0) as i32;
    Axis::times(decade(low, libm::floor), decade(high, libm::ceil), pixels)
}

/// Whether a time or ratio has a place on a logarithmic axis.
fn usable(value: f64) -> bool {
    value.is_finite() && value > 0.0
}
