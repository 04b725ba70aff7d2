//! What is pointed out on a timeline: its tail, its end, times to compare with, and the critical block.

use super::{RIGHT, Scene, Timeline, looks::outline};
use crate::chart::{
    canvas::{Align, Canvas, SLACK, Stroke, Type},
    font::elide,
    geometry::Rect,
    terms::time,
};

/// Height of a label's row.
const ROW: f64 = 15.0;
/// Dashes of the times to compare with, one after the other.
const DASHES: [&str; 3] = ["7 4", "2 3", "9 3 2 3"];

/// A line across both panels with a label above them.
struct Line {
    us: f64,
    words: String,
    stroke: Stroke,
    bold: bool,
}

impl Timeline {
    /// The lines.
    fn lines(&self, canvas: &Canvas) -> Vec<Line> {
        let palette = canvas.palette;
        let mut lines = vec![Line {
            us: self.end_us,
            words: format!("simulated: {}", time(self.end_us)),
            stroke: Stroke::new(palette.ink, 1),
            bold: true,
        }];
        if self.has_tail() {
            let words = self.words.say(&self.tail_text());
            lines.push(Line { us: self.tail_us, words, stroke: Stroke::new(palette.memory, 1), bold: false });
        }
        for (mark, dash) in self.marks.iter().zip(DASHES) {
            let words = format!("{}: {}", mark.label, time(mark.at_us));
            let stroke = Stroke::new(palette.ink, 1).dashed(dash);
            lines.push(Line { us: mark.at_us, words, stroke, bold: false });
        }
        lines
    }

    /// Pixels of the labels above the panels.
    pub(super) fn marks_height(&self) -> f64 {
        let lines = 1 + usize::from(self.has_tail()) + self.marks.len().min(DASHES.len());
        ROW * lines as f64 + 4.0
    }

    /// Labels one below the other, each at the left of its line where it fits, so that the line of none crosses another.
    pub(super) fn draw_marks(&self, canvas: &mut Canvas, scene: &Scene, top: f64) {
        let (mut lines, ink) = (self.lines(canvas), canvas.palette.ink);
        let style = |line: &Line| {
            let style = Type::new(11.0, ink).halo();
            if line.bold { style.bold() } else { style }
        };
        let at = |line: &Line| if self.is_near(line.us) { scene.at(line.us) } else { scene.plot.x1 };
        // By pixels: times that only rounding tells apart keep their order.
        lines.sort_by_key(|line| at(line).round() as i64);
        let left = |line: &Line| at(line) - 6.0 - style(line).room(&line.words).0 >= scene.plot.x0;
        // From the bottom up: labels at the left of their lines, rising; then those at the right, falling.
        let (mut order, mut others): (Vec<&Line>, Vec<&Line>) = lines.iter().partition(|line| left(line));
        others.reverse();
        order.extend(others);
        let mut words = Vec::new();
        for (row, line) in order.iter().rev().enumerate() {
            let (x, y) = (at(line).round(), top + ROW * (row as f64 + 0.5));
            let near = self.is_near(line.us);
            if near {
                canvas.line((x, y - 5.0), (x, scene.lower.y1), line.stroke);
            }
            let text = if near { line.words.clone() } else { format!("{} (beyond the axis)", line.words) };
            let (x, align) = if !near || left(line) { (x - 6.0, Align::End) } else { (x + 6.0, Align::Start) };
            words.push(((x, y), text, style(line).align(align)));
        }
        for (at, text, style) in words {
            canvas.text(at, &text, style);
        }
    }

    /// The time in which SMs run dry, tinted below everything else.
    pub(super) fn shade_tail(&self, canvas: &mut Canvas, scene: &Scene) {
        if self.has_tail() {
            let tint = canvas.palette.soft(canvas.palette.memory, 0.17);
            let (from, to) = (scene.at(self.tail_us.max(0.0)).round(), scene.at(self.end_us).round());
            for panel in [scene.plot, scene.lower] {
                canvas.bar(Rect::new(from, panel.y0, to, panel.y1), tint);
            }
        }
    }

    /// A frame around the block that ended last, and its name beside the panel.
    pub(super) fn draw_critical(&self, canvas: &mut Canvas, scene: &Scene) {
        let Some(block) = self.critical.filter(|b| b.sm < self.sms) else { return };
        let (palette, plot) = (canvas.palette, scene.plot);
        let room = scene.rows.room(&block, scene);
        let frame = Rect::new(room.x0 - 1.0, room.y0 - 1.0, room.x1, room.y1);
        canvas.path(&outline(frame), Stroke::new(palette.ink, 2));
        let y = room.center().1.round();
        let middle = y.clamp(plot.y0 + 30.0, plot.y1 - 30.0).round();
        let leader = [(room.x1 + 1.0, y), (plot.x1 + 2.0, y), (plot.x1 + 8.0, middle)];
        canvas.path(&leader, Stroke::new(palette.ink, 1));
        let [kernel, number, place] = self.block_name(&block);
        let words = [self.words.say("critical block"), kernel, number, place];
        for (row, words) in words.iter().enumerate() {
            let bold = row == 0;
            let style = Type { bold, ..Type::new(11.0, if bold { palette.ink } else { palette.muted }) };
            let words = elide(words, 11.0, bold, (RIGHT - 12.0) / SLACK);
            canvas.text((plot.x1 + 12.0, middle + 14.5 * (row as f64 - 1.5)), &words, style);
        }
    }
}
