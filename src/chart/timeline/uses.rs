//! The lower panel of a timeline: how much of the GPU is in use.

use super::{RIGHT, Scene, Timeline};
use crate::{
    chart::{
        axis::Axis,
        canvas::{Canvas, SLACK, Stroke, Type},
        font::elide,
        geometry::Point,
        palette::Palette,
    },
    units::decimal,
};

/// Height of a label's row.
const ROW: f64 = 16.0;

/// Look of the curve in a place: hue, width and dashes.
fn stroke(place: usize, palette: &Palette) -> Stroke {
    match place {
        0 => Stroke::new(palette.ink, 1),
        1 => Stroke::new(palette.math, 2),
        2 => Stroke::new(palette.memory, 2).dashed("7 3"),
        3 => Stroke::new(palette.latency, 2).dashed("2 2"),
        _ => Stroke::new(palette.spare, 2).dashed("9 3 2 3"),
    }
}

impl Timeline {
    /// Draws axis and curves; beside them their names, those with the most use on top.
    pub(super) fn draw_uses(&self, canvas: &mut Canvas, scene: &Scene) {
        let (panel, palette) = (scene.lower, canvas.palette);
        let y = Axis::stepped(0.0, 100.0, 25.0, (panel.y1, panel.y0));
        y.draw_left(canvas, panel, "Use (%)");
        let mut named: Vec<(f64, usize)> = Vec::new();
        for (place, curve) in self.uses.iter().enumerate() {
            let parts = curve.parts_pct.len();
            let sound = curve.parts_pct.iter().all(|pct| pct.is_finite());
            if parts == 0 || !sound {
                continue;
            }
            let at = |part: usize| scene.at(self.end_us * part as f64 / parts as f64);
            let height = |pct: &f64| y.place(pct.clamp(0.0, 100.0));
            let steps = curve.parts_pct.iter().enumerate();
            let stairs: Vec<Point> = steps.flat_map(|(i, p)| [(at(i), height(p)), (at(i + 1), height(p))]).collect();
            canvas.path(&level(&stairs), stroke(place, &palette));
            named.push((curve.parts_pct.iter().sum::<f64>() / parts as f64, place));
        }
        named.sort_by(|a, b| b.0.total_cmp(&a.0));
        let style = Type::new(11.0, palette.muted);
        let (x, mut row) = (panel.x1 + 10.0, panel.y0 + ROW / 2.0);
        canvas.text((x, row), "mean over the whole time", style);
        for (mean, place) in named {
            row += ROW;
            canvas.line((x, row), (x + 24.0, row), stroke(place, &palette));
            let words = format!("{} {} %", self.uses[place].label, decimal(mean, if mean < 10.0 { 1 } else { 0 }));
            let words = elide(&words, 11.0, false, (RIGHT - 42.0) / SLACK);
            canvas.text((x + 30.0, row), &words, Type::new(11.0, palette.ink));
        }
    }
}

/// Stairs without the points inside a level stretch, which would only make the picture larger.
fn level(stairs: &[Point]) -> Vec<Point> {
    let mut path: Vec<Point> = Vec::new();
    for &point in stairs {
        if let [.., (_, before), last] = path.as_mut_slice()
            && last.1 == point.1
            && *before == point.1
        {
            last.0 = point.0;
        } else {
            path.push(point);
        }
    }
    path
}
