//! Where the time goes: for each kernel one bar per term, side by side since terms overlap, and the estimate across them.

use super::axis::Axis;
use super::canvas::{Align, Canvas, Mark, SLACK, Stroke, Type};
use super::data::{Table, cell};
use super::font::elide;
use super::geometry::Rect;
use super::{Caption, Chart, Theme, page};
use crate::units::{Seconds, significant};

/// The terms of one kernel's time and the estimate made from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelTerms {
    /// Name of the kernel.
    pub label: String,
    /// Name and time (microseconds) of each term; terms overlap, so they do not add up.
    pub terms: Vec<(String, f64)>,
    /// The estimate in microseconds.
    pub total_us: f64,
    /// Lower end of the estimate's range in microseconds.
    pub low_us: f64,
    /// Upper end of the estimate's range in microseconds.
    pub high_us: f64,
    /// What bounds it, such as `memory-bound`.
    pub bound: String,
}

/// Bars of terms per kernel; the figure grows with the number of kernels (1 to 20 are meant).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeBreakdown {
    /// Words around the figure.
    pub caption: Caption,
    /// Kernels from top to bottom.
    pub kernels: Vec<KernelTerms>,
    /// A time that was predicted, in microseconds, with its name; a line across all kernels.
    pub marked: Option<(String, f64)>,
}

/// Height of a bar's row, of the space between kernels, and of the head of the figure, in pixels.
const ROW: f64 = 17.0;
const GAP: f64 = 16.0;
const HEAD: f64 = 26.0;
/// Kernels up to which one axis, below, is near enough to all bars.
const ONE_AXIS: usize = 5;
/// Room for values right of the axis, in pixels.
const ASIDE: f64 = 150.0;

impl TimeBreakdown {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let canvas = self.canvas(theme);
        let mut text = String::from("Time of each term per kernel; terms overlap.");
        for k in &self.kernels {
            text += &format!(" {}: {}, {}.", k.label, time(k.total_us), k.bound);
        }
        page::close(&canvas, &self.caption, &text, self.csv())
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["kernel", "bound", "term", "time_us", "low_us", "high_us"]);
        for k in &self.kernels {
            for (name, us) in &k.terms {
                table.row(&[k.label.as_str(), &k.bound, name, &cell(*us), "", ""]);
            }
            table.row(&[k.label.as_str(), &k.bound, "estimate", &cell(k.total_us), &cell(k.low_us), &cell(k.high_us)]);
        }
        if let Some((name, us)) = &self.marked {
            table.row(&["", "", name, &cell(*us), "", ""]);
        }
        table.finish()
    }

    pub(super) fn canvas(&self, theme: Theme) -> Canvas {
        let rows: f64 = self.kernels.iter().map(KernelTerms::height).sum();
        let subtitle = "One bar per term, the longest strong; terms overlap, so the estimate (diamond, with its range) is not their sum";
        let marked = self.marked.as_ref().filter(|(_, us)| us.is_finite() && *us > 0.0);
        let head = if self.kernels.len() > ONE_AXIS { HEAD } else { 4.0 } + if marked.is_some() { HEAD } else { 0.0 };
        let (mut canvas, body) = page::open(&self.caption, subtitle, theme, head + rows + 48.0);
        let plot = Rect::new(body.x0 + 306.0, body.y0 + head, body.x1 - ASIDE, body.y0 + head + rows);
        let all = self.kernels.iter().flat_map(|k| k.terms.iter().map(|t| t.1).chain([k.total_us, k.high_us]));
        let all = all.chain(marked.map(|(_, us)| *us));
        let longest = all.filter(|us| us.is_finite()).fold(0.0, f64::max);
        let (unit, scale) = unit(longest);
        let x = Axis::linear(0.0, longest / scale, 8, (plot.x0, plot.x1));
        x.draw_below(&mut canvas, plot, &format!("Time ({unit})"));
        if self.kernels.len() > ONE_AXIS {
            for tick in x.ticks() {
                let style = Type::new(11.0, canvas.palette.muted).align(Align::Middle);
                canvas.text((tick.at, plot.y0 - 10.0), &tick.label.unwrap_or_default(), style);
            }
        }
        let mut y = plot.y0;
        for kernel in &self.kernels {
            kernel.draw(&mut canvas, body.x0, y, plot, &|us| x.place(us.max(0.0) / scale));
            y += kernel.height();
        }
        canvas.line((plot.x0, plot.y0), (plot.x0, plot.y1), Stroke::new(canvas.palette.axis, 1));
        if let Some((name, us)) = marked {
            let at = x.place(us / scale);
            canvas.mark_line(
                at,
                (body.y0 + 12.0, plot.y1),
                &format!("{name}: {}", time(*us)),
                (plot.x0, plot.x1 + ASIDE),
            );
        }
        canvas
    }
}

impl KernelTerms {
    /// Rows: the estimate, then the terms; at least two, for name and bound.
    fn height(&self) -> f64 {
        ROW * (1 + self.terms.len()).max(2) as f64 + GAP
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64, plot: Rect, place: &dyn Fn(f64) -> f64) {
        let palette = canvas.palette;
        let row = |index: usize| top + GAP / 2.0 + ROW * (index as f64 + 0.5);
        let name = elide(&self.label, 12.0, true, 166.0 / SLACK);
        canvas.text((left, row(0)), &name, Type::new(12.0, palette.ink).bold());
        let bound = elide(&self.bound, 11.0, false, 166.0 / SLACK);
        canvas.text((left, row(1)), &bound, Type::new(11.0, palette.muted));
        if top > plot.y0 {
            canvas.line((left, top), (plot.x1 + ASIDE, top), Stroke::new(palette.grid, 1));
        }

        let longest = self.terms.iter().map(|t| t.1).filter(|us| us.is_finite()).fold(0.0, f64::max);
        let main = self.terms.iter().position(|t| t.1 == longest && longest > 0.0);
        let known = |us: f64| us.is_finite() && us >= 0.0;
        let across = known(self.total_us).then(|| place(self.total_us));
        for (index, (_, us)) in self.terms.iter().enumerate().filter(|(_, t)| known(t.1)) {
            let y = row(index + 1);
            let fill = if main == Some(index) { palette.math } else { palette.soft(palette.math, 0.38) };
            canvas.bar(Rect::new(plot.x0, y - 5.0, place(*us).max(plot.x0 + 1.0), y + 6.0), fill);
        }
        self.estimate(canvas, plot, row(0), top + self.height() - GAP / 2.0, place);
        for (index, (name, us)) in self.terms.iter().enumerate() {
            let y = row(index + 1);
            let bold = main == Some(index);
            let word = Type { bold, ..Type::new(11.0, if bold { palette.ink } else { palette.muted }) };
            canvas.text((plot.x0 - 8.0, y), &elide(name, 11.0, bold, 118.0 / SLACK), word.align(Align::End));
            let value = if known(*us) { time(*us) } else { "unknown".into() };
            let mut left = if known(*us) { place(*us) } else { plot.x0 } + 7.0;
            // A value that the line of the estimate would cross stands behind it.
            if let Some(line) = across.filter(|line| left - 4.0 < *line && *line < left + word.room(&value).0) {
                left = line + 6.0;
            }
            canvas.text((left, y), &value, word);
        }
    }

    /// The estimate: a diamond on its range, a line down across the bars, and the value.
    fn estimate(&self, canvas: &mut Canvas, plot: Rect, y: f64, bottom: f64, place: &dyn Fn(f64) -> f64) {
        let palette = canvas.palette;
        let word = Type::new(11.0, palette.ink);
        canvas.text((plot.x0 - 8.0, y), "estimate", word.align(Align::End));
        if !self.total_us.is_finite() || self.total_us < 0.0 {
            canvas.text((plot.x0 + 7.0, y), "unknown", word);
            return;
        }
        let at = place(self.total_us);
        let ranged = self.low_us.is_finite() && self.high_us.is_finite() && self.low_us < self.high_us;
        let (low, high) = if ranged { (place(self.low_us), place(self.high_us)) } else { (at, at) };
        let ink = palette.memory;
        canvas.line((at, y), (at, bottom), Stroke::new(ink, 1).dashed("2 3"));
        if ranged {
            canvas.line((low, y), (high, y), Stroke::new(ink, 3));
            for end in [low, high] {
                canvas.line((end, y - 5.0), (end, y + 5.0), Stroke::new(ink, 1));
            }
        }
        canvas.mark((at, y), Mark::Diamond, ink, false);
        let value = time(self.total_us);
        let full = if ranged { format!("{value} ({})", range(self.low_us, self.high_us)) } else { value.clone() };
        let left = high.max(at) + 11.0;
        let fits = left + word.bold().room(&full).0 <= plot.x1 + ASIDE;
        canvas.text((left, y), if fits { &full } else { &value }, word.bold());
    }
}

/// "69–93.3 us", or with both units where they differ.
fn range(low_us: f64, high_us: f64) -> String {
    let (low, high) = (time(low_us), time(high_us));
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number}–{high}"),
        _ => format!("{low}–{high}"),
    }
}

/// A time in microseconds as people read it, three significant digits.
pub(super) fn time(us: f64) -> String {
    let rounded: f64 = significant(us, 3).parse().unwrap_or(us);
    Seconds(rounded * 1e-6).to_string()
}

/// Unit of the axis and its size in microseconds.
pub(super) fn unit(longest_us: f64) -> (&'static str, f64) {
    [("s", 1e6), ("ms", 1e3), ("us", 1.0)].into_iter().find(|u| longest_us >= 10.0 * u.1).unwrap_or(("us", 1.0))
}
