//! Names of slopes that stand too close to others: beside all lines, with a leader to a dot on their own.

use crate::chart::{
    canvas::{Align, Canvas, Mark, Stroke, Type},
    geometry::{Point, Rect, Segment, length},
};

/// Free pixels between the end of a leader and its name.
const GAP: f64 = 3.0;
/// How many pixels of detour a line less under the leader is worth.
const CROSSING: f64 = 25.0;
/// Free pixels that a leader keeps from marks.
const CLEAR: f64 = 16.0;
/// Room around a mark in pixels for its own name, and what a leader through it costs.
const NAME: (f64, f64) = (120.0, 50.0);
const INTRUSION: f64 = 100.0;

/// Names a slope from a distance; the shortest leader that crosses few of the other `lines` is taken and added to them.
/// False where no name of that length has room.
pub(super) fn led_name(
    canvas: &mut Canvas,
    plot: Rect,
    (text, bold): (&str, bool),
    ramp: Segment,
    lines: &mut Vec<Segment>,
    marks: &[Point],
) -> bool {
    let style = Type { bold, ..Type::new(11.0, canvas.palette.ink) }.halo();
    let (width, height) = style.room(text);
    let texts: Vec<Rect> = canvas.texts.iter().flat_map(|t| t.boxes.iter().copied()).collect();
    let mut best: Option<(f64, Segment)> = None;
    for step in 1..20 {
        let part = f64::from(step) / 20.0;
        let anchor = (ramp.0.0 + (ramp.1.0 - ramp.0.0) * part, ramp.0.1 + (ramp.1.1 - ramp.0.1) * part);
        // Right and below the slope, or left and above it.
        for (dx, dy) in [(0.8, 0.6), (0.6, 0.8), (1.0, 0.0), (-0.8, -0.6), (-0.6, -0.8), (-1.0, 0.0)] {
            for distance in (1..20).map(|n| 14.0 * f64::from(n)) {
                let end = (anchor.0 + dx * distance, anchor.1 + dy * distance);
                let left = if dx > 0.0 { end.0 + GAP } else { end.0 - GAP - width };
                let room = Rect::new(left, end.1 - height / 2.0, left + width, end.1 + height / 2.0);
                let leader = (anchor, end);
                let near = |mark: &Point| Rect::around(*mark, CLEAR, CLEAR);
                let hidden = room.outside(&plot) > 0.0
                    || texts.iter().any(|text| text.overlap(&room) > 0.0 || text.crossed(leader) > 0.0)
                    || marks.iter().any(|mark| near(mark).overlap(&room) > 0.0 || near(mark).crossed(leader) > 0.0)
                    || lines.iter().any(|line| room.crossed(*line) > 0.0);
                if hidden {
                    continue;
                }
                let crossed = lines.iter().filter(|line| **line != ramp && meet(**line, leader)).count();
                let wants = |mark: &&Point| {
                    let own = Rect::around(**mark, NAME.0, NAME.1);
                    own.crossed(leader) > 0.0 || own.overlap(&room) > 0.0
                };
                let intrusions = marks.iter().filter(wants).count();
                let cost = distance + CROSSING * crossed as f64 + INTRUSION * intrusions as f64;
                if best.is_none_or(|(least, _)| cost < least - 1e-9) {
                    best = Some((cost, leader));
                }
            }
        }
    }
    let Some((_, leader)) = best else { return false };
    let (away, align) = if leader.1.0 > leader.0.0 { (GAP, Align::Start) } else { (-GAP, Align::End) };
    let ink = canvas.palette.axis;
    canvas.line(leader.0, leader.1, Stroke::new(ink, 1));
    canvas.dot(leader.0, Mark::Circle, 2, canvas.palette.ink);
    canvas.text((leader.1.0 + away, leader.1.1), text, style.align(align));
    lines.push(leader);
    true
}

/// Whether two segments have a point in common.
pub(super) fn meet(a: Segment, b: Segment) -> bool {
    let side =
        |line: Segment, p: Point| (line.1.0 - line.0.0) * (p.1 - line.0.1) - (line.1.1 - line.0.1) * (p.0 - line.0.0);
    let apart = |line: Segment, other: Segment| side(line, other.0) * side(line, other.1) > 0.0;
    length((a.1.0 - a.0.0, a.1.1 - a.0.1)) > 0.0 && !apart(a, b) && !apart(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_that_meet() {
        let line = ((0.0, 0.0), (10.0, 10.0));
        assert!(meet(line, ((0.0, 10.0), (10.0, 0.0))) && meet(line, ((5.0, 5.0), (9.0, 0.0))));
        assert!(!meet(line, ((0.0, 1.0), (8.0, 9.0))) && !meet(line, ((20.0, 0.0), (0.0, 30.0))));
    }
}
