//! Roofs and their names: slopes named along the line, flat roofs in the right margin.

use super::{
    MeasuredRoof, Roofline,
    leaders::{led_name, meet},
    measured, positive,
};
use crate::chart::axis::Axis;
use crate::chart::canvas::{Canvas, Stroke, Type, text_boxes};
use crate::chart::font::elide;
use crate::chart::geometry::{Point, Rect, Segment, length};
use crate::units::significant;

/// Dash pattern of sustained bandwidths.
pub(super) const SUSTAINED: &str = "2 3";
const FLAT: &str = "7 4";
/// Side of the square around a point that names of slopes leave to the point's own label, in pixels.
const NEAR: f64 = 60.0;
/// Side of a marker, which they never touch, in pixels.
const MARK: f64 = 15.0;
/// By so many pixels the boxes of a name along a slope reach beyond its letters, each way.
const LEAN: f64 = 2.5;
/// Pixels from the middle of a name to its slope.
const OFF: f64 = 11.0;

/// The plot with its axes; rates are divided by `unit` (FLOP per second) before they are placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scene {
    pub plot: Rect,
    pub x: Axis,
    pub y: Axis,
    pub unit: f64,
}

impl Scene {
    /// The pixel of an intensity and a rate in FLOP per second.
    pub fn at(&self, intensity: f64, rate: f64) -> Point {
        (self.x.place(intensity), self.y.place(rate / self.unit))
    }

    /// The visible part of the slope of `bandwidth` (bytes per second) up to `top` (FLOP per second).
    pub fn ramp(&self, bandwidth: f64, top: f64) -> Option<Segment> {
        let ((left, right), (low, high)) = (self.x.range(), self.y.range());
        let from = left.max(low * self.unit / bandwidth);
        let to = right.min(top.min(high * self.unit) / bandwidth);
        (from < to).then(|| (self.at(from, from * bandwidth), self.at(to, to * bandwidth)))
    }
}

/// Width of the right margin that the names of flat roofs need beside a plot of this height, in pixels.
pub(super) fn margin(chart: &Roofline, height: f64) -> f64 {
    let (bold, small) = (Type::new(12.0, (0, 0, 0)).bold(), Type::new(11.0, (0, 0, 0)));
    let flat: Vec<&MeasuredRoof> = chart.measured.iter().filter(|roof| !roof.memory).collect();
    let (count, most) = (chart.compute.len() + flat.len(), if flat.is_empty() { 190.0 } else { 240.0 });
    let measured = flat.iter().map(|roof| match two_lines(count, height) {
        true => bold.room(&roof.label).0.max(small.room(&roof.value()).0),
        false => small.room(&format!("{} {}", roof.label, roof.value())).0,
    });
    let widest = chart.compute.iter().map(|roof| bold.room(&roof.label).0).chain(measured).fold(0.0, f64::max);
    if count == 0 { 24.0 } else { (widest + 22.0).clamp(116.0, most) }
}

/// Whether so many names of flat roofs have a line for the name and one for the rate.
fn two_lines(count: usize, height: f64) -> bool {
    32.0 * count as f64 <= height
}

/// The name of a flat roof in the right margin.
struct Flat<'a> {
    label: &'a str,
    rate: f64,
    emphasised: bool,
    /// The rate with the word that it was measured, where it was.
    measured: Option<String>,
    /// Height of the roof.
    y: f64,
}

/// Draws all roofs and names; gives the lines that labels should keep off.
pub(super) fn draw(chart: &Roofline, scene: &Scene, canvas: &mut Canvas) -> Vec<Segment> {
    let palette = canvas.palette;
    let fastest = chart.memory.iter().map(|m| m.bytes_per_second).filter(|b| positive(*b)).fold(0.0, f64::max);
    let top = chart.compute.iter().map(|c| c.flops_per_second).filter(|c| positive(*c)).fold(0.0, f64::max);
    let top = if top > 0.0 { top } else { f64::MAX };
    let mut lines = Vec::new();

    let mut flats: Vec<Flat> = Vec::new();
    for roof in chart.compute.iter().filter(|c| positive(c.flops_per_second)) {
        let y = scene.at(1.0, roof.flops_per_second).1;
        let corner = if fastest > 0.0 { scene.x.place(roof.flops_per_second / fastest) } else { scene.plot.x0 };
        if y < scene.plot.y0 - 0.5 || y > scene.plot.y1 + 0.5 {
            continue;
        }
        let line = ((corner.clamp(scene.plot.x0, scene.plot.x1), y), (scene.plot.x1, y));
        let (ink, width) = if roof.emphasised { (palette.math, 3) } else { (palette.soft(palette.math, 0.7), 2) };
        let stroke = Stroke::new(ink, width);
        canvas.line(line.0, line.1, if roof.emphasised { stroke } else { stroke.dashed(FLAT) });
        lines.push(line);
        let (label, rate) = (roof.label.as_str(), roof.flops_per_second);
        flats.push(Flat { label, rate, emphasised: roof.emphasised, measured: None, y });
    }
    let mut ramps = Vec::new();
    for (index, memory) in chart.memory.iter().enumerate().filter(|(_, m)| positive(m.bytes_per_second)) {
        if let Some(slow) = memory.sustained.filter(|s| positive(*s)).and_then(|s| scene.ramp(s, top)) {
            canvas.line(slow.0, slow.1, Stroke::new(palette.memory, 2).dashed(SUSTAINED));
            lines.push(slow);
        }
        if let Some(ramp) = scene.ramp(memory.bytes_per_second, top) {
            let (ink, width) = if index == 0 { (palette.memory, 3) } else { (palette.soft(palette.memory, 0.6), 2) };
            canvas.line(ramp.0, ramp.1, Stroke::new(ink, width));
            lines.push(ramp);
            ramps.push((memory.label.clone(), ramp, index == 0));
        }
    }
    let measured = measured::draw(chart, scene, top, canvas, &mut lines);
    ramps.extend(measured.slopes.into_iter().map(|(roof, ramp)| (roof.name(), ramp, false)));
    flats.extend(measured.flats.into_iter().map(|(roof, y)| Flat {
        label: &roof.label,
        rate: roof.rate,
        emphasised: false,
        measured: Some(roof.value()),
        y,
    }));
    flat_names(canvas, scene.plot, &mut flats, scene.unit);
    ridge(chart, scene, canvas, &mut lines);
    let drawn = chart.points.iter().filter(|p| p.drawable());
    let marks: Vec<Point> = drawn.map(|p| scene.at(p.intensity, p.flops_per_second)).collect();
    // Measured slopes lie close to those of the datasheet: only a name right above its line, with nothing between, can be
    // told from that of a neighbour.
    let close = !chart.measured.is_empty();
    for (name, ramp, first) in ramps {
        let along = Along { strong: first, above_alone: close };
        let named = ramp_name(canvas, scene.plot, &name, ramp, along, &lines, &marks);
        if close && !named {
            led_name(canvas, scene.plot, (&name, first), ramp, &mut lines, &marks);
        }
    }
    lines
}

/// Names in the right margin at the height of their roof, pushed apart where they would touch.
fn flat_names(canvas: &mut Canvas, plot: Rect, flats: &mut [Flat], unit: f64) {
    let palette = canvas.palette;
    flats.sort_by(|a, b| a.y.total_cmp(&b.y).then(b.emphasised.cmp(&a.emphasised)));
    let double = two_lines(flats.len(), plot.height());
    let each = if double { 32.0 } else { 16.0 };
    let shown = flats.len().min((plot.height() / each) as usize);
    let wanted: Vec<f64> = flats[..shown].iter().map(|f| f.y).collect();
    let room = canvas.size.0 as f64 - 20.0 - plot.x1 - 18.0;
    let letter = if unit >= 1e12 { "TFLOP/s" } else { "GFLOP/s" };
    for (flat, place) in flats.iter().zip(spread(&wanted, each, plot.y0 - 4.0, plot.y1)) {
        let Flat { label, emphasised, y, .. } = *flat;
        let ink = match (&flat.measured, emphasised) {
            (Some(_), _) => palette.ink,
            (None, true) => palette.math,
            (None, false) => palette.soft(palette.math, 0.7),
        };
        canvas.path(&[(plot.x1, y), (plot.x1 + 5.0, y), (plot.x1 + 13.0, place)], Stroke::new(ink, 1));
        let datasheet = || format!("{} {letter}", significant(flat.rate / unit, 4));
        let value = flat.measured.clone().unwrap_or_else(datasheet);
        let name = Type { bold: emphasised, ..Type::new(12.0, palette.ink) };
        let left = plot.x1 + 18.0;
        if double {
            canvas.text((left, place - 7.5), &elide(label, 12.0, emphasised, room / 1.1), name);
            canvas.text((left, place + 7.5), &value, Type::new(11.0, palette.muted));
        } else {
            let text = format!("{label} {value}");
            canvas.text((left, place), &elide(&text, 11.0, emphasised, room / 1.1), Type { size: 11.0, ..name });
        }
    }
}

/// Places as near to `wanted` (rising) as they can be, `each` pixels apart, between `low` and `high`.
fn spread(wanted: &[f64], each: f64, low: f64, high: f64) -> Vec<f64> {
    // Groups that touch: sum of wanted first places, members.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    let start = |&(sum, members): &(f64, usize)| {
        (sum / members as f64).min(high - each * (members as f64 - 0.5)).max(low + each / 2.0)
    };
    for &place in wanted {
        groups.push((place, 1));
        while let [.., before, last] = groups[..] {
            if start(&before) + each * before.1 as f64 <= start(&last) {
                break;
            }
            // The last group's first member stands `before.1` places below the joint group's first.
            let joint = before.0 + last.0 - each * (before.1 * last.1) as f64;
            groups.truncate(groups.len() - 2);
            groups.push((joint, before.1 + last.1));
        }
    }
    groups.iter().flat_map(|g| (0..g.1).map(move |i| start(g) + each * i as f64)).collect()
}

/// The ridge point: a dotted line down to the axis with its intensity.
fn ridge(chart: &Roofline, scene: &Scene, canvas: &mut Canvas, lines: &mut Vec<Segment>) {
    let (Some(intensity), Some(roof)) = (chart.ridge(), chart.compute.iter().find(|c| c.emphasised)) else { return };
    let (x, y) = scene.at(intensity, roof.flops_per_second);
    if x < scene.plot.x0 || x > scene.plot.x1 || y > scene.plot.y1 {
        return;
    }
    let line = ((x, y), (x, scene.plot.y1));
    canvas.line(line.0, line.1, Stroke::new(canvas.palette.muted, 1).dashed("2 3"));
    lines.push(line);
    let text = format!("ridge {} FLOP/B", significant(intensity, 3));
    let style = Type::new(11.0, canvas.palette.muted);
    let right = x + 7.0 + style.room(&text).0 <= scene.plot.x1;
    let left = if right { x + 7.0 } else { x - 7.0 - style.room(&text).0 };
    canvas.text((left, scene.plot.y1 - 11.0), &text, style);
}

/// How a name stands along its slope.
#[derive(Clone, Copy)]
struct Along {
    /// In bold.
    strong: bool,
    /// Above the line and over no other, or not at all.
    above_alone: bool,
}

/// Names a slope along its line: the place among some above and below it that hides least, low ones first. False where
/// every place would touch another name.
fn ramp_name(
    canvas: &mut Canvas,
    plot: Rect,
    label: &str,
    ramp: Segment,
    Along { strong, above_alone }: Along,
    lines: &[Segment],
    marks: &[Point],
) -> bool {
    let (dx, dy) = (ramp.1.0 - ramp.0.0, ramp.1.1 - ramp.0.1);
    let long = length((dx, dy));
    let (ux, uy) = (dx / long, dy / long);
    // Tenths of a degree: no noise in the file.
    let turn = (libm::atan2(dy, dx).to_degrees() * 10.0).round() / 10.0;
    let style = Type { bold: strong, ..Type::new(11.0, canvas.palette.ink) }.turned(turn).halo();
    let text = elide(label, 11.0, strong, (0.8 * long).min(220.0));
    let width = style.room(&text).0;
    let texts: Vec<Rect> = canvas.texts.iter().flat_map(|t| t.boxes.iter().copied()).collect();
    let mut best: Option<(f64, Point)> = None;
    for step in 0..24 {
        let along = 12.0 + f64::from(step) * (long - width - 24.0).max(0.0) / 23.0;
        for (side, dislike) in [(-OFF, 0.0), (OFF, 4.0)] {
            // Above the slope is to its left: the normal (uy, -ux) turned against y down.
            let at = (ramp.0.0 + ux * along - uy * side, ramp.0.1 + uy * along + ux * side);
            let boxes = text_boxes(at, &text, style);
            let sum = |f: &dyn Fn(&Rect) -> f64| boxes.iter().map(f).sum::<f64>();
            let on_marks =
                |side: f64, b: &Rect| marks.iter().map(|m| Rect::around(*m, side, side).overlap(b)).sum::<f64>();
            let crossed = sum(&|b| lines.iter().filter(|l| **l != ramp).map(|l| b.crossed(*l)).sum());
            // The upright boxes of a turned text are wider than it is across.
            let lean = |b: &Rect| Rect::new(b.x0 + LEAN, b.y0 + LEAN, b.x1 - LEAN, b.y1 - LEAN);
            // From a piece of the name straight to its slope.
            let down = |b: &Rect| (b.center(), (b.center().0 - uy * OFF, b.center().1 + ux * OFF));
            let over = |b: &Rect| lines.iter().any(|l| *l != ramp && (lean(b).crossed(*l) > 0.0 || meet(*l, down(b))));
            if above_alone && (side > 0.0 || boxes.iter().any(over)) {
                continue;
            }
            let collisions = sum(&|b| texts.iter().map(|t| t.overlap(b)).sum())
                + sum(&|b| b.outside(&plot))
                + sum(&|b| on_marks(MARK, b));
            if collisions > 0.0 {
                continue;
            }
            let cost = dislike + f64::from(step) * 1.5 + 0.15 * sum(&|b| on_marks(NEAR, b)) + crossed;
            if best.is_none_or(|(least, _)| cost < least - 1e-9) {
                best = Some((cost, at));
            }
        }
    }
    if let Some((_, at)) = best {
        canvas.text(at, &text, style);
    }
    best.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_distance() {
        assert_eq!(spread(&[100.0, 200.0], 32.0, 0.0, 400.0), [100.0, 200.0]);
        assert_eq!(spread(&[100.0, 110.0], 32.0, 0.0, 400.0), [89.0, 121.0]);
        assert_eq!(spread(&[5.0, 6.0, 7.0], 32.0, 0.0, 400.0), [16.0, 48.0, 80.0]);
        assert_eq!(spread(&[399.0, 399.0], 32.0, 0.0, 400.0), [352.0, 384.0]);
    }
}
