//! Stacked bars: what a GPU holds as asked, and with each change that saves memory.

use super::super::axis::Axis;
use super::super::canvas::{Align, Canvas, SLACK, Stroke, Type};
use super::super::data::{Table, cell};
use super::super::font::elide;
use super::super::geometry::Rect;
use super::super::{Caption, Chart, Theme, page};
use super::{LINE, Legend, area, gib, look, usable};

/// One bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryBar {
    /// What is changed, or `as asked`.
    pub label: String,
    /// Bytes of each part.
    pub bytes: Vec<f64>,
}

/// Bars of parts that add up, from top to bottom, beside what the GPU has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryBars {
    /// Words around the figure.
    pub caption: Caption,
    /// Names of the parts, as many as a bar has.
    pub parts: Vec<String>,
    /// The bars.
    pub bars: Vec<MemoryBar>,
    /// What the GPU has in bytes.
    pub capacity: Option<f64>,
    /// A sum that was predicted, in bytes, with its name; a line across all bars.
    pub marked: Option<(String, f64)>,
}

/// Height of a row and of its bar, room left and right of the axis and above the bars, in pixels.
const ROW: f64 = 34.0;
const BAR: f64 = 22.0;
const LEFT: f64 = 230.0;
const ASIDE: f64 = 170.0;
const ABOVE: f64 = 22.0;
/// Least width of an area for its number.
const NUMBERED: f64 = 15.0;

impl MemoryBar {
    fn total(&self) -> f64 {
        self.bytes.iter().copied().filter(|bytes| usable(*bytes)).sum()
    }
}

impl MemoryBars {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let mut text = String::from("Memory of one GPU by part.");
        for bar in &self.bars {
            text += &format!(" {}: {}{}.", bar.label, gib(bar.total()), self.verdict(bar));
        }
        page::close(&self.canvas(theme), &self.caption, &text, self.csv())
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["bar", "part", "gib", "gb", "capacity_gib"]);
        let capacity = self.capacity.map(|bytes| cell(bytes / super::GIB)).unwrap_or_default();
        for bar in &self.bars {
            for (part, bytes) in self.parts.iter().zip(&bar.bytes).filter(|(_, bytes)| usable(**bytes)) {
                table.row(&[&bar.label, part, &cell(bytes / super::GIB), &cell(bytes / 1e9), &capacity]);
            }
        }
        if let Some((name, bytes)) = &self.marked {
            table.row(&[name, "", &cell(bytes / super::GIB), &cell(bytes / 1e9), &capacity]);
        }
        table.finish()
    }

    fn verdict(&self, bar: &MemoryBar) -> &'static str {
        match self.capacity {
            Some(capacity) if bar.total() > capacity => ", too much",
            Some(_) => ", fits",
            None => "",
        }
    }

    pub(in crate::chart) fn canvas(&self, theme: Theme) -> Canvas {
        let wanted =
            |index: usize| self.bars.iter().any(|bar| bar.bytes.get(index).is_some_and(|bytes| usable(*bytes)));
        let legend = Legend::new(&self.parts, wanted, page::WIDTH - 2.0 * page::BORDER);
        let rows = ROW * self.bars.len() as f64;
        let subtitle = "What one GPU holds at the peak; numbers name the parts, the dashed line is what the GPU has";
        let marked = self.marked.as_ref().filter(|(_, bytes)| usable(*bytes));
        let above = ABOVE + if marked.is_some() { LINE } else { 0.0 };
        let height = legend.height() + above + rows + 48.0;
        let (mut canvas, body) = page::open(&self.caption, subtitle, theme, height);
        legend.draw(&mut canvas, body.x0, body.y0);
        let top = body.y0 + legend.height() + above;
        let plot = Rect::new(body.x0 + LEFT, top, body.x1 - ASIDE, top + rows);
        let longest =
            self.bars.iter().map(MemoryBar::total).chain(self.capacity).chain(marked.map(|(_, bytes)| *bytes));
        let longest = longest.fold(0.0, f64::max);
        let x = Axis::linear(0.0, longest / super::GIB, 8, (plot.x0, plot.x1));
        x.draw_below(&mut canvas, plot, "Memory (GiB)");
        let palette = canvas.palette;
        for (index, bar) in self.bars.iter().enumerate() {
            let y = plot.y0 + ROW * (index as f64 + 0.5);
            let bold = index == 0;
            let name = elide(&bar.label, 12.0, bold, (LEFT - 12.0) / SLACK);
            canvas.text((body.x0, y), &name, Type { bold, ..Type::new(12.0, palette.ink) });
            let mut sum = 0.0;
            for (part, bytes) in bar.bytes.iter().enumerate().filter(|(_, bytes)| usable(**bytes)) {
                let left = x.place(sum / super::GIB);
                sum += bytes;
                let right = x.place(sum / super::GIB);
                // A gap of the background's colour between neighbours.
                let room = Rect::new(left, y - BAR / 2.0, (right - 1.0).max(left + 1.0), y + BAR / 2.0);
                area(&mut canvas, room, look(part, &palette));
                if let Some(number) = legend.number(part).filter(|_| room.width() >= NUMBERED) {
                    let style = Type::new(10.0, palette.ink).align(Align::Middle);
                    canvas.text(room.center(), &number.to_string(), style);
                }
            }
            let bold = self.verdict(bar) == ", too much";
            let words = elide(&format!("{}{}", gib(sum), self.verdict(bar)), 11.0, bold, (ASIDE - 14.0) / SLACK);
            canvas.text((plot.x1 + 14.0, y), &words, Type { bold, ..Type::new(11.0, palette.ink) });
        }
        canvas.line((plot.x0, plot.y0), (plot.x0, plot.y1), Stroke::new(palette.axis, 1));
        if let Some(capacity) = self.capacity.filter(|bytes| usable(*bytes)) {
            let at = x.place(capacity / super::GIB);
            canvas.line((at, plot.y0 - 6.0), (at, plot.y1), Stroke::new(palette.ink, 2).dashed("5 3"));
            let words = format!("the GPU has {}", gib(capacity));
            let style = Type::new(11.0, palette.ink);
            // The words stay over the plot.
            let half = style.room(&words).0 / 2.0;
            let at = at.clamp(plot.x0 + half, (plot.x1 + ASIDE - half).max(plot.x0 + half));
            canvas.text((at, plot.y0 - 14.0), &words, style.align(Align::Middle));
        }
        if let Some((name, bytes)) = marked {
            let at = x.place(bytes / super::GIB);
            let span = (plot.y0 - ABOVE - LINE / 2.0, plot.y1);
            canvas.mark_line(at, span, &format!("{name}: {}", gib(*bytes)), (plot.x0, plot.x1 + ASIDE));
        }
        canvas
    }
}
