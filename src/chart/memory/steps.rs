//! Memory over the moments of a step: states below, activations above them up and down.

use super::super::axis::Axis;
use super::super::canvas::{Align, Canvas, Stroke, Type};
use super::super::data::{Table, cell};
use super::super::geometry::{Point, Rect};
use super::super::{Caption, Chart, Theme, page};
use super::{GIB, Legend, gib, look, usable};

/// Moments of one kind side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryRun {
    /// What runs, such as `forward 1`.
    pub label: String,
    /// Bytes of each part at each moment.
    pub moments: Vec<Vec<f64>>,
}

/// Memory over a step, in the order of its moments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemorySteps {
    /// Words around the figure.
    pub caption: Caption,
    /// Names of the parts, from below; as many as a moment has.
    pub parts: Vec<String>,
    /// The step.
    pub runs: Vec<MemoryRun>,
    /// What the GPU has in bytes.
    pub capacity: Option<f64>,
}

/// Height of the plot, room left, right and below it, in pixels.
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 30.0;
const BELOW: f64 = 46.0;
const ABOVE: f64 = 22.0;
/// Least height of an area for its number.
const NUMBERED: f64 = 13.0;

fn total(moment: &[f64]) -> f64 {
    moment.iter().copied().filter(|bytes| usable(*bytes)).sum()
}

impl MemorySteps {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let peak = self.moments().map(|(_, moment)| total(moment)).fold(0.0, f64::max);
        let text = format!("Memory of one GPU over the moments of a step. Peak: {}.", gib(peak));
        page::close(&self.canvas(theme), &self.caption, &text, self.csv())
    }

    fn moments(&self) -> impl Iterator<Item = (&str, &Vec<f64>)> {
        self.runs.iter().flat_map(|run| run.moments.iter().map(move |moment| (run.label.as_str(), moment)))
    }

    fn csv(&self) -> String {
        let names =
            self.parts.iter().map(|part| format!("{}_gib", part.replace(',', "").replace(' ', "_").to_lowercase()));
        let header: Vec<String> = ["moment", "runs", "total_gib"].map(String::from).into_iter().chain(names).collect();
        let mut table = Table::new(&header.iter().map(String::as_str).collect::<Vec<_>>());
        for (index, (label, moment)) in self.moments().enumerate() {
            let head = [(index + 1).to_string(), label.to_owned(), cell(total(moment) / GIB)];
            let row: Vec<String> = head.into_iter().chain(moment.iter().map(|bytes| cell(bytes / GIB))).collect();
            table.row(&row);
        }
        table.finish()
    }

    pub(in crate::chart) fn canvas(&self, theme: Theme) -> Canvas {
        let wanted = |index: usize| self.moments().any(|(_, m)| m.get(index).is_some_and(|bytes| usable(*bytes)));
        let legend = Legend::new(&self.parts, wanted, page::WIDTH - 2.0 * page::BORDER);
        let subtitle = "Each layer that runs forward adds what its backward pass will need; numbers name the parts";
        let height = legend.height() + ABOVE + HEIGHT + BELOW;
        let (mut canvas, body) = page::open(&self.caption, subtitle, theme, height);
        legend.draw(&mut canvas, body.x0, body.y0);
        let top = body.y0 + legend.height() + ABOVE;
        let plot = Rect::new(body.x0 + LEFT, top, body.x1 - RIGHT, top + HEIGHT);
        let count = self.moments().count();
        let peak = self.moments().map(|(_, moment)| total(moment)).chain(self.capacity).fold(0.0, f64::max);
        let y = Axis::linear(0.0, peak / GIB, 6, (plot.y1, plot.y0));
        y.draw_left(&mut canvas, plot, "Memory (GiB)");
        let palette = canvas.palette;
        canvas.line((plot.x0, plot.y1), (plot.x1, plot.y1), Stroke::new(palette.axis, 1));
        if count == 0 {
            return canvas;
        }
        let x = |moment: usize| plot.x0 + plot.width() * moment as f64 / count as f64;
        // From the top down: each area reaches to the axis and the next covers its lower part.
        let moments: Vec<&Vec<f64>> = self.moments().map(|(_, moment)| moment).collect();
        for part in (0..self.parts.len()).rev().filter(|part| wanted(*part)) {
            let sums = moments.iter().map(|moment| total(&moment[..(part + 1).min(moment.len())]));
            let mut line: Vec<Point> = Vec::with_capacity(2 * count);
            for (index, sum) in sums.enumerate() {
                let level = y.place(sum / GIB);
                line.extend([(x(index), level), (x(index + 1), level)]);
            }
            let (ink, share) = look(part, &palette);
            let ends = [(plot.x1, plot.y1), (plot.x0, plot.y1)];
            let shape: Vec<Point> = line.iter().copied().chain(ends).collect();
            canvas.fill(&shape, palette.soft(ink, share));
            canvas.path(&line, Stroke::new(ink, 1));
        }
        self.numbers(&mut canvas, &legend, &moments, &x, &y);
        self.labels(&mut canvas, plot, &x);
        if let Some(capacity) = self.capacity.filter(|bytes| usable(*bytes)) {
            let at = y.place(capacity / GIB);
            canvas.line((plot.x0, at), (plot.x1, at), Stroke::new(palette.ink, 2).dashed("5 3"));
            let words = format!("the GPU has {}", gib(capacity));
            canvas.text((plot.x1, at - 11.0), &words, Type::new(11.0, palette.ink).align(Align::End).halo());
        }
        canvas
    }

    /// The number of each part where it is highest.
    fn numbers(&self, canvas: &mut Canvas, legend: &Legend, moments: &[&Vec<f64>], x: &dyn Fn(usize) -> f64, y: &Axis) {
        let ink = canvas.palette.ink;
        for part in 0..self.parts.len() {
            let size = |moment: &Vec<f64>| moment.get(part).copied().filter(|bytes| usable(*bytes)).unwrap_or(0.0);
            let highest = moments.iter().map(|moment| size(moment)).fold(0.0, f64::max);
            let Some(place) = moments.iter().position(|moment| size(moment) == highest && highest > 0.0) else {
                continue;
            };
            let (below, above) = (total(&moments[place][..part]), total(&moments[place][..=part]));
            let (low, high) = (y.place(below / GIB), y.place(above / GIB));
            if let Some(number) = legend.number(part).filter(|_| low - high >= NUMBERED) {
                // Where several moments are as high, in the middle of them.
                let run = moments[place..].iter().take_while(|moment| size(moment) == highest).count();
                let at = (x(place) + x(place + run)) / 2.0;
                let style = Type::new(10.0, ink).align(Align::Middle);
                let middle = (low + high) / 2.0;
                // Not on the line of what the GPU has.
                let line = self.capacity.filter(|bytes| usable(*bytes)).map(|bytes| y.place(bytes / GIB));
                let aside = match line.filter(|line| (line - middle).abs() < 9.0 && low - high > 4.0 * NUMBERED) {
                    Some(line) if line > middle => -9.0,
                    Some(_) => 9.0,
                    None => 0.0,
                };
                canvas.text((at, middle + aside), &number.to_string(), style);
            }
        }
    }

    /// What runs, below the axis, as far as there is room; lines where it changes.
    fn labels(&self, canvas: &mut Canvas, plot: Rect, x: &dyn Fn(usize) -> f64) {
        let (axis, muted, ink) = (canvas.palette.axis, canvas.palette.muted, canvas.palette.ink);
        let mut first = 0;
        let mut free = plot.x0 - LEFT;
        for run in &self.runs {
            let (left, right) = (x(first), x(first + run.moments.len()));
            first += run.moments.len();
            canvas.line((right, plot.y1), (right, plot.y1 + 6.0), Stroke::new(axis, 1));
            let style = Type::new(11.0, muted).align(Align::Middle);
            let half = style.room(&run.label).0 / 2.0;
            let middle = ((left + right) / 2.0).min(plot.x1 + RIGHT - half);
            if middle - half >= free {
                canvas.text((middle, plot.y1 + 15.0), &run.label, style);
                free = middle + half + 6.0;
            }
        }
        let style = Type::new(12.0, ink).align(Align::Middle);
        canvas.text((plot.center().0, plot.y1 + 34.0), "Moments of a step", style);
    }
}
