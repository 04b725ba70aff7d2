//! Where the time of a traced program goes: bars of parts that add up, then the kernels that take most of it.

use super::axis::Axis;
use super::canvas::{Align, Canvas, SLACK, Stroke, Type};
use super::data::{Table, cell, optional};
use super::font::{elide, text_width};
use super::geometry::Rect;
use super::palette::{Palette, Rgb};
use super::terms::time;
use super::{Bound, Caption, Chart, Theme, page};
use crate::units::{counted, decimal};

/// A part of a bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Share {
    /// What takes the time.
    pub label: String,
    /// Its time in microseconds.
    pub time_us: f64,
    /// The bound that gives it colour and mark, where it is one.
    pub bound: Option<Bound>,
}

/// One bar of parts that add up to the whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShareBar {
    /// What is divided, such as `kernels by bound`.
    pub label: String,
    /// The parts from left to right.
    pub parts: Vec<Share>,
}

/// Equal launches of one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelShare {
    /// Name of the kernel.
    pub label: String,
    /// Launches.
    pub launches: u64,
    /// Their time in microseconds, added up.
    pub total_us: f64,
    /// What binds them, where that is known.
    pub bound: Option<Bound>,
}

/// Where the time goes. Of many kernels the longest are drawn, and all are in the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shares {
    /// Words around the figure.
    pub caption: Caption,
    /// Bars from top to bottom.
    pub bars: Vec<ShareBar>,
    /// Kernels, most time first.
    pub kernels: Vec<KernelShare>,
    /// What stands for the bounds: `bound` where they are measured, else `likely bound`.
    pub bound_word: String,
}

/// Most kernels of a figure.
const KERNELS: usize = 20;
/// Height of a bar with its name above and what found no room in it below, and of a kernel's row, in pixels.
const BAR: f64 = 26.0;
const BAR_ROW: f64 = 68.0;
const ROW: f64 = 21.0;
/// Room for names left of the axis, and for figures right of it, in pixels.
const LEFT: f64 = 250.0;
const ASIDE: f64 = 250.0;

impl Shares {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let canvas = self.canvas(theme);
        let mut text = String::from("Where the time goes.");
        for bar in &self.bars {
            let parts: Vec<String> = bar.parts.iter().map(|part| part.words(bar.whole())).collect();
            text += &format!(" {}: {}.", bar.label, parts.join(", "));
        }
        for kernel in self.kernels.iter().take(KERNELS) {
            text += &format!(" {}: {}.", kernel.label, self.words(kernel));
        }
        page::close(&canvas, &self.caption, &text, self.csv())
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["of", "what", "bound", "launches", "time_us", "share_pct"]);
        let word = |bound: Option<Bound>| bound.map_or("", |b| b.word().trim_end_matches("-bound"));
        for (bar, part) in self.bars.iter().flat_map(|bar| bar.parts.iter().map(move |part| (bar, part))) {
            let share = cell(100.0 * part.of(bar.whole()));
            table.row(&[bar.label.as_str(), &part.label, word(part.bound), "", &cell(part.time_us), &share]);
        }
        for kernel in &self.kernels {
            let launches = kernel.launches.to_string();
            let share = optional(self.share(kernel).map(|share| 100.0 * share));
            let row = ["kernel", &kernel.label, word(kernel.bound), &launches, &cell(kernel.total_us), &share];
            table.row(&row);
        }
        table.finish()
    }

    /// Its share of all kernels.
    fn share(&self, kernel: &KernelShare) -> Option<f64> {
        let all: f64 = self.kernels.iter().map(|k| k.total_us).sum();
        (all > 0.0).then_some(kernel.total_us / all)
    }

    fn words(&self, kernel: &KernelShare) -> String {
        let share = self.share(kernel).map_or(String::new(), |share| format!("{} · ", percent(share)));
        let bound = kernel.bound.map_or("unknown", |b| b.word().trim_end_matches("-bound"));
        let mean = time(kernel.total_us / kernel.launches.max(1) as f64);
        match kernel.launches {
            0 | 1 => format!("{share}{} · {bound}", time(kernel.total_us)),
            several => format!("{share}{} ({several} x {mean}) · {bound}", time(kernel.total_us)),
        }
    }

    pub(super) fn canvas(&self, theme: Theme) -> Canvas {
        let shown = self.kernels.len().min(KERNELS);
        let bars: Vec<&ShareBar> = self.bars.iter().filter(|bar| bar.whole() > 0.0).collect();
        let mut caption = self.caption.clone();
        if shown < self.kernels.len() {
            let share: f64 = self.kernels.iter().take(shown).filter_map(|k| self.share(k)).sum();
            let all = counted(self.kernels.len() as u64, "group");
            caption
                .assumptions
                .insert(0, format!("the {shown} longest of {all} of equal launches: {} of their time", percent(share)));
        }
        let subtitle = format!(
            "Colour and mark: {} (circle math, square memory, triangle latency, none unknown); below, the kernels with most time",
            self.bound_word
        );
        let above = BAR_ROW * bars.len() as f64;
        let rows = ROW * shown as f64;
        let (mut canvas, body) = page::open(&caption, &subtitle, theme, above + rows + 56.0);
        for (index, bar) in bars.into_iter().enumerate() {
            let top = body.y0 + BAR_ROW * index as f64;
            bar.draw(&mut canvas, Rect::new(body.x0, top, body.x1, top + BAR_ROW));
        }
        let plot = Rect::new(body.x0 + LEFT, body.y0 + above + 8.0, body.x1 - ASIDE, body.y0 + above + 8.0 + rows);
        let longest = self.kernels.first().and_then(|k| self.share(k)).unwrap_or(1.0);
        let x = Axis::linear(0.0, 100.0 * longest, 6, (plot.x0, plot.x1));
        x.draw_below(&mut canvas, plot, "Share of the kernels' time (%)");
        let palette = canvas.palette;
        canvas.line((plot.x0, plot.y0), (plot.x0, plot.y1), Stroke::new(palette.axis, 1));
        for (index, kernel) in self.kernels.iter().take(shown).enumerate() {
            let y = plot.y0 + ROW * (index as f64 + 0.5);
            let name = elide(&kernel.label, 12.0, false, (LEFT - 12.0) / SLACK);
            canvas.text((body.x0, y), &name, Type::new(12.0, palette.ink));
            let end = x.place(100.0 * self.share(kernel).unwrap_or(0.0));
            let ink = kernel.bound.map_or(palette.axis, |bound| bound.ink(&palette));
            canvas.bar(Rect::new(plot.x0, y - 6.0, end.max(plot.x0 + 1.0), y + 6.0), palette.soft(ink, 0.6));
            if let Some(bound) = kernel.bound {
                canvas.mark((end, y), bound.mark(), ink, false);
            }
            let words = elide(&self.words(kernel), 11.0, false, (plot.x1 + ASIDE - end - 12.0) / SLACK);
            canvas.text((end + 12.0, y), &words, Type::new(11.0, palette.muted).halo());
        }
        canvas
    }
}

impl Share {
    fn words(&self, whole: f64) -> String {
        format!("{} {}", self.label, percent(self.of(whole)))
    }

    /// Its share of the whole; 0 of nothing.
    fn of(&self, whole: f64) -> f64 {
        if whole > 0.0 { self.time_us / whole } else { 0.0 }
    }

    /// The colour of its bound; without one greys that alternate.
    fn ink(&self, palette: &Palette, index: usize) -> Rgb {
        match self.bound {
            Some(bound) => bound.ink(palette),
            None if index.is_multiple_of(2) => palette.axis,
            None => palette.muted,
        }
    }
}

impl ShareBar {
    fn whole(&self) -> f64 {
        self.parts.iter().map(|part| part.time_us).sum()
    }

    fn draw(&self, canvas: &mut Canvas, room: Rect) {
        let palette = canvas.palette;
        let whole = self.whole();
        let head = Type::new(12.0, palette.ink);
        canvas.text((room.x0, room.y0 + 8.0), &self.label, head.bold());
        let beside = room.x0 + head.bold().room(&self.label).0 + 10.0;
        canvas.text((beside, room.y0 + 8.0), &time(whole), Type::new(11.0, palette.muted));
        let (top, bottom) = (room.y0 + 18.0, room.y0 + 18.0 + BAR);
        let mut left = room.x0;
        let mut outside = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            let right = left + room.width() * part.time_us / whole;
            let ink = part.ink(&palette, index);
            // A gap of the background's colour tells neighbours apart without colour.
            let inside = Rect::new(left, top, (right - 2.0).max(left + 1.0), bottom);
            canvas.bar(inside, ink);
            let edge = Rect::new(inside.x0 + 1.0, inside.y0 + 1.0, inside.x1 - 1.0, inside.y1 - 1.0);
            if edge.width() > 1.0 {
                canvas.bar(edge, palette.soft(ink, 0.3));
            }
            let words = part.words(whole);
            let mark = if part.bound.is_some() { 18.0 } else { 0.0 };
            if mark + text_width(&words, 11.0, false) * SLACK + 12.0 <= inside.width() {
                if let Some(bound) = part.bound {
                    canvas.mark((left + 12.0, (top + bottom) / 2.0), bound.mark(), ink, false);
                }
                canvas.text((left + 6.0 + mark, (top + bottom) / 2.0), &words, Type::new(11.0, palette.ink));
            } else {
                outside.push(words);
            }
            left = right;
        }
        if !outside.is_empty() {
            let words = elide(&outside.join(" · "), 11.0, false, room.width() / SLACK);
            canvas.text((room.x1, bottom + 10.0), &words, Type::new(11.0, palette.muted).align(Align::End));
        }
    }
}

/// A share in percent, as people read it.
fn percent(share: f64) -> String {
    match 100.0 * share {
        tiny if tiny > 0.0 && tiny < 0.1 => "<0.1 %".into(),
        // Nearly all is not all.
        value => format!("{} %", decimal(value, if (10.0..99.0).contains(&value) { 0 } else { 1 })),
    }
}
