//! Occupancy as three staircases: what one step of threads, registers or shared memory would change.

use super::axis::Axis;
use super::canvas::{Canvas, Mark, Stroke, Type};
use super::data::{Table, cell};
use super::font::{elide, wrap};
use super::geometry::{Point, Rect, Segment};
use super::labels::{self, Surroundings, Wanted};
use super::{Caption, Chart, Theme, page};
use crate::units::significant;

/// Occupancy against one parameter, the others as launched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Name of the parameter with its unit, such as `Shared memory per block (KiB)`.
    pub x_label: String,
    /// Parameter (in the unit of `x_label`) and occupancy in percent, which holds up to the next parameter; by rising parameter.
    pub steps: Vec<(f64, f64)>,
    /// Parameter and occupancy (percent) of the launch in question.
    pub current: Option<(f64, f64)>,
    /// The steps of another launch to compare with, in grey.
    pub pinned: Vec<(f64, f64)>,
    /// A number to compare with, such as a prediction: parameter and occupancy (percent).
    pub marked: Option<(f64, f64)>,
    /// A remark below the panel, such as the next step worth taking.
    pub note: Option<String>,
}

/// Panels side by side: occupancy against threads per block, registers per thread, shared memory per block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OccupancyPanels {
    /// Words around the figure.
    pub caption: Caption,
    /// The panels from left to right; three are meant, up to four fit.
    pub panels: Vec<Panel>,
}

impl OccupancyPanels {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let canvas = self.canvas(theme);
        let mut text = String::from("Theoretical occupancy against one parameter at a time.");
        for panel in &self.panels {
            if let Some((x, y)) = panel.current {
                text += &format!(" {}: {} gives {} %.", panel.x_label, significant(x, 6), significant(y, 4));
            }
        }
        page::close(&canvas, &self.caption, &text, self.csv())
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["parameter", "value", "occupancy_pct", "current"]);
        for panel in &self.panels {
            let kinds = [
                (panel.steps.as_slice(), "no"),
                (panel.current.as_slice(), "yes"),
                (panel.pinned.as_slice(), "pinned"),
                (panel.marked.as_slice(), "predicted"),
            ];
            for (points, current) in kinds {
                for &(x, y) in points {
                    table.row(&[panel.x_label.clone(), cell(x), cell(y), current.into()]);
                }
            }
        }
        table.finish()
    }

    pub(super) fn canvas(&self, theme: Theme) -> Canvas {
        let shown = &self.panels[..self.panels.len().min(4)];
        let gap = 34.0;
        let width =
            (page::WIDTH - 40.0 - 58.0 - 20.0 - gap * (shown.len().max(1) - 1) as f64) / shown.len().max(1) as f64;
        let notes: Vec<Vec<String>> =
            shown.iter().map(|p| wrap(p.note.as_deref().unwrap_or_default(), 11.0, false, width / 1.1)).collect();
        let lines = notes.iter().map(Vec::len).max().unwrap_or(0);
        let mut subtitle =
            "Theoretical occupancy when one parameter changes and the others stay as launched".to_owned();
        if let Some((_, share)) = shown.iter().find_map(|panel| panel.marked) {
            subtitle += &format!("; the ring is your prediction, {} %", significant(share, 3));
        }
        let (mut canvas, body) = page::open(&self.caption, &subtitle, theme, 316.0 + 15.0 * lines as f64);
        for (index, (panel, note)) in shown.iter().zip(&notes).enumerate() {
            let left = body.x0 + 58.0 + index as f64 * (width + gap);
            let plot = Rect::new(left, body.y0 + 10.0, left + width, body.y0 + 262.0);
            panel.draw(&mut canvas, plot, index == 0);
            for (row, line) in note.iter().enumerate() {
                let style = Type::new(11.0, canvas.palette.muted);
                canvas.text((left, plot.y1 + 58.0 + 15.0 * row as f64), line, style);
            }
        }
        canvas
    }
}

impl Panel {
    fn draw(&self, canvas: &mut Canvas, plot: Rect, first: bool) {
        let sound = |p: &&(f64, f64)| p.0.is_finite() && p.0 >= 0.0 && p.1.is_finite();
        let mut steps: Vec<(f64, f64)> = self.steps.iter().filter(sound).copied().collect();
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let current = self.current.as_ref().filter(sound).copied();
        let last = steps.iter().chain(&current).map(|p| p.0).fold(0.0, f64::max);
        let x = Axis::binary(0.0, last, 5, (plot.x0, plot.x1));
        let y = Axis::stepped(0.0, 100.0, 25.0, (plot.y1, plot.y0));
        let at = |(px, py): (f64, f64)| (x.place(px), y.place(py.clamp(0.0, 100.0)));

        let stairs = stairs(&steps.iter().map(|&p| at(p)).collect::<Vec<_>>());
        if let (Some(start), Some(end)) = (stairs.first(), stairs.last()) {
            let ground = [(end.0, plot.y1), (start.0, plot.y1)];
            let tint = canvas.palette.soft(canvas.palette.math, 0.12);
            canvas.fill(&[stairs.as_slice(), &ground].concat(), tint);
        }
        let title = elide(&self.x_label, 12.0, false, plot.width() / 1.1);
        x.draw_below(canvas, plot, &title);
        if first {
            y.draw_left(canvas, plot, "Occupancy (%)");
        } else {
            for tick in y.ticks() {
                canvas.line((plot.x0, tick.at), (plot.x1, tick.at), Stroke::new(canvas.palette.grid, 1));
            }
            canvas.line((plot.x0, plot.y0), (plot.x0, plot.y1), Stroke::new(canvas.palette.axis, 1));
        }
        let mut ghost: Vec<(f64, f64)> = self.pinned.iter().filter(|p| sound(p) && p.0 <= last).copied().collect();
        ghost.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ghost: Vec<Point> = ghost.into_iter().map(at).collect();
        canvas.path(&self::stairs(&ghost), Stroke::new(canvas.palette.axis, 2).dashed("6 4"));
        canvas.path(&stairs, Stroke::new(canvas.palette.math, 2));
        if let Some(marked) = self.marked.filter(|p| sound(&p)) {
            canvas.mark(at((marked.0.min(last), marked.1)), Mark::Circle, canvas.palette.latency, true);
        }
        if let Some(now) = current {
            self.mark(canvas, plot, at(now), now, &stairs);
        }
    }

    fn mark(&self, canvas: &mut Canvas, plot: Rect, at: Point, now: (f64, f64), stairs: &[Point]) {
        let down = ((at.0, at.1), (at.0, plot.y1));
        canvas.line(down.0, down.1, Stroke::new(canvas.palette.memory, 1).dashed("4 3"));
        canvas.mark(at, Mark::Diamond, canvas.palette.memory, false);
        let style = Type::new(12.0, canvas.palette.ink).bold();
        let text = format!("{} → {} %", significant(now.0, 4), significant(now.1, 3));
        let wanted = [Wanted { at, text, style, rings: labels::ALL_RINGS }];
        let lines: Vec<Segment> = stairs.windows(2).map(|p| (p[0], p[1])).chain([down]).collect();
        let around = Surroundings { plot, markers: vec![Rect::around(at, 14.0, 14.0)], texts: Vec::new(), lines };
        labels::draw(canvas, &wanted, &labels::place(&wanted, &around));
    }
}

/// Each value held up to the next place, then a step.
fn stairs(points: &[Point]) -> Vec<Point> {
    let mut path: Vec<Point> = Vec::with_capacity(points.len() * 2);
    for &(x, y) in points {
        if let Some(&(_, before)) = path.last() {
            path.push((x, before));
        }
        path.push((x, y));
    }
    path.dedup();
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stairs_hold_then_step() {
        assert_eq!(stairs(&[(0.0, 5.0), (2.0, 3.0), (4.0, 3.0)]), [(0.0, 5.0), (2.0, 5.0), (2.0, 3.0), (4.0, 3.0)]);
    }
}
