//! Kernels before and after a change: two markers per kernel joined by a line, on a logarithmic axis of time.

use super::axis::Axis;
use super::canvas::{Align, Canvas, Mark, SLACK, Stroke, Type};
use super::data::{Table, cell, optional};
use super::font::elide;
use super::geometry::Rect;
use super::terms::time;
use super::{Caption, Chart, Theme, page};
use crate::units::{decimal, grouped};

/// What a kernel took before and after; one of the two may be unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Name of the kernel.
    pub label: String,
    /// Time before in microseconds.
    pub before_us: Option<f64>,
    /// Time after in microseconds.
    pub after_us: Option<f64>,
}

/// Times before and after. Of many kernels, those that changed most are drawn and all are in the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BeforeAfter {
    /// Words around the figure.
    pub caption: Caption,
    /// Kernels from top to bottom.
    pub changes: Vec<Change>,
}

/// Most kernels of a figure.
const KERNELS: usize = 24;
/// Height of a kernel's row in pixels.
const ROW: f64 = 24.0;
/// Room for names left of the axis, and for times and changes right of it, in pixels.
const LEFT: f64 = 230.0;
const ASIDE: f64 = 230.0;
/// Room for the change in percent, in pixels.
const PERCENT: f64 = 92.0;
/// Up to this share a kernel is as fast as before: repeated runs differ as much.
const SAME: f64 = 0.01;

impl Change {
    fn both(&self) -> Option<(f64, f64)> {
        Some((place_of(self.before_us)?, place_of(self.after_us)?))
    }

    /// Time added as a share of the time before.
    fn added(&self) -> Option<f64> {
        self.both().map(|(before, after)| after / before - 1.0)
    }

    fn words(&self) -> String {
        match (self.both(), self.added()) {
            (Some((before, after)), _) => format!("{} → {}", time(before), time(after)),
            _ if place_of(self.before_us).is_some() => format!("{}, only before", time(self.before_us.unwrap_or(0.0))),
            _ if place_of(self.after_us).is_some() => format!("{}, only after", time(self.after_us.unwrap_or(0.0))),
            _ => "unknown".into(),
        }
    }
}

/// A time that has a place on a logarithmic axis.
fn place_of(us: Option<f64>) -> Option<f64> {
    us.filter(|us| *us > 0.0 && us.is_finite())
}

impl BeforeAfter {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let canvas = self.canvas(theme);
        let mut text = String::from("Time of each kernel before and after.");
        self.changes.iter().for_each(|change| text += &format!(" {}: {}.", change.label, change.words()));
        page::close(&canvas, &self.caption, &text, self.csv())
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["kernel", "before_us", "after_us", "change_pct"]);
        for change in &self.changes {
            let added = change.added().map(|a| cell(a * 100.0)).unwrap_or_default();
            table.row(&[change.label.as_str(), &optional(change.before_us), &optional(change.after_us), &added]);
        }
        table.finish()
    }

    /// The kernels that are drawn, in their order: of too many those with the largest change, which for a kernel that
    /// was added or removed is its whole time.
    fn shown(&self) -> Vec<&Change> {
        let size = |c: &Change| (c.after_us.unwrap_or(0.0) - c.before_us.unwrap_or(0.0)).abs();
        let mut order: Vec<usize> = (0..self.changes.len()).collect();
        order.sort_by(|a, b| size(&self.changes[*b]).total_cmp(&size(&self.changes[*a])));
        order.truncate(KERNELS);
        order.sort_unstable();
        order.into_iter().filter_map(|index| self.changes.get(index)).collect()
    }

    pub(super) fn canvas(&self, theme: Theme) -> Canvas {
        let shown = self.shown();
        let mut caption = self.caption.clone();
        if shown.len() < self.changes.len() {
            let count = grouped(self.changes.len() as u64);
            caption.assumptions.insert(0, format!("the {} largest changes of {count} kernels", shown.len()));
        }
        let subtitle = "Ring: before; diamond: after. A full line is faster or equal, a dashed one slower";
        let rows = ROW * shown.len() as f64 + 8.0;
        let (mut canvas, body) = page::open(&caption, subtitle, theme, 4.0 + rows + 48.0);
        let plot = Rect::new(body.x0 + LEFT, body.y0 + 4.0, body.x1 - ASIDE, body.y0 + 4.0 + rows);
        let times = shown.iter().flat_map(|c| [place_of(c.before_us), place_of(c.after_us)]).flatten();
        let (least, most) = times.fold((f64::INFINITY, 0.0_f64), |(low, high), t| (low.min(t), high.max(t)));
        let decade = |v: f64| libm::log10(v).clamp(-30.0, 30.0);
        let (low, high) = match least <= most {
            true => (libm::floor(decade(least)) as i32, libm::ceil(decade(most)) as i32),
            false => (0, 1),
        };
        let x = Axis::log(low, high, (plot.x0, plot.x1));
        x.draw_below(&mut canvas, plot, "Time (us, logarithmic)");
        for (index, change) in shown.into_iter().enumerate() {
            let y = plot.y0 + 4.0 + ROW * (index as f64 + 0.5);
            change.draw(&mut canvas, body.x0, y, plot, &x);
        }
        canvas.line((plot.x0, plot.y0), (plot.x0, plot.y1), Stroke::new(canvas.palette.axis, 1));
        canvas
    }
}

impl Change {
    fn draw(&self, canvas: &mut Canvas, left: f64, y: f64, plot: Rect, x: &Axis) {
        let palette = canvas.palette;
        let slower = self.added().is_some_and(|added| added > SAME);
        let style = Type { bold: slower, ..Type::new(12.0, palette.ink) };
        canvas.text((left, y), &elide(&self.label, 12.0, slower, (LEFT - 12.0) / SLACK), style);
        let ink = match self.both() {
            Some(_) if slower => palette.memory,
            Some(_) => palette.math,
            None => palette.muted,
        };
        canvas.line((plot.x0, y), (plot.x1, y), Stroke::new(palette.grid, 1));
        if let Some((before, after)) = self.both() {
            let line = Stroke::new(ink, 3);
            canvas.line((x.place(before), y), (x.place(after), y), if slower { line.dashed("5 3") } else { line });
        }
        if let Some(before) = place_of(self.before_us) {
            canvas.mark((x.place(before), y), Mark::Circle, palette.muted, true);
        }
        if let Some(after) = place_of(self.after_us) {
            canvas.mark((x.place(after), y), Mark::Diamond, ink, false);
        }
        let room = ASIDE - 14.0 - if self.added().is_some() { PERCENT + 6.0 } else { 0.0 };
        let words = elide(&self.words(), 11.0, false, room / SLACK);
        canvas.text((plot.x1 + 14.0, y), &words, Type::new(11.0, palette.muted));
        let Some(added) = self.added() else { return };
        let sign = if added > 0.0 { "+" } else { "" };
        let word = if slower { " slower" } else { "" };
        let percent = format!("{sign}{} %{word}", decimal(added * 100.0, if added.abs() < 1.0 { 1 } else { 0 }));
        let style = Type { bold: slower, ..Type::new(11.0, palette.ink) };
        canvas.text((plot.x1 + ASIDE, y), &elide(&percent, 11.0, slower, PERCENT / SLACK), style.align(Align::End));
    }
}
