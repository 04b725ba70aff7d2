//! Predictions against measurements, a panel for each series: what the two figures of a validation share.

mod by_size;
mod scatter;

pub use by_size::{ErrorBin, ErrorBySize, ErrorSeries};
pub use scatter::{Scatter, ScatterPoint, ScatterSeries};

use super::{
    axis::Axis,
    canvas::{Canvas, Mark, SLACK, Type},
    font::elide,
    geometry::Rect,
    palette::{Palette, Rgb},
};

/// Most panels of a figure; so many looks can be told apart.
pub const MOST_PANELS: usize = 12;

/// Free pixels between panels, and between their boxes and plots: left, right, above, below.
const GAP: f64 = 18.0;
const INSET: [f64; 4] = [64.0, 12.0, 44.0, 46.0];

/// Colour and marker of a series: no two of twelve share both.
fn look(index: usize, palette: &Palette) -> (Rgb, Mark, bool) {
    let ink = [palette.math, palette.memory, palette.latency][index % 3];
    let mark = [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond][index % 4];
    (ink, mark, index >= 6)
}

/// Panels in rows of one to three.
struct Grid {
    columns: usize,
    count: usize,
    /// Height of a plot in pixels.
    plot: f64,
}

impl Grid {
    fn new(count: usize, heights: [f64; 3]) -> Self {
        let columns = match count {
            0 | 1 => 1,
            2..=4 => 2,
            _ => 3,
        };
        Self { columns, count: count.max(1), plot: heights[columns - 1] }
    }

    fn height(&self) -> f64 {
        let rows = self.count.div_ceil(self.columns) as f64;
        rows * (self.plot + INSET[2] + INSET[3]) + (rows - 1.0) * GAP
    }

    /// The plot of a panel.
    fn plot(&self, index: usize, body: Rect) -> Rect {
        let columns = self.columns as f64;
        let width = (body.width() - (columns - 1.0) * GAP) / columns;
        let (column, row) = ((index % self.columns) as f64, (index / self.columns) as f64);
        let left = (body.x0 + column * (width + GAP)).round();
        let top = body.y0 + row * (self.plot + INSET[2] + INSET[3] + GAP) + INSET[2];
        Rect::new(left + INSET[0], top, (left + width - INSET[1]).round(), top + self.plot)
    }
}

/// Name and numbers of a series above its plot, behind its marker.
fn head(canvas: &mut Canvas, plot: Rect, index: usize, name: &str, numbers: &str) {
    let (ink, mark, hollow) = look(index, &canvas.palette);
    let width = plot.width() / SLACK;
    canvas.mark((plot.x0 + 6.0, plot.y0 - 31.0), mark, ink, hollow);
    let bold = Type::new(12.0, canvas.palette.ink).bold();
    canvas.text((plot.x0 + 18.0, plot.y0 - 31.0), &elide(name, 12.0, true, width - 18.0), bold);
    let style = Type::new(11.0, canvas.palette.muted);
    canvas.text((plot.x0, plot.y0 - 13.0), &elide(numbers, 11.0, false, width), style);
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
