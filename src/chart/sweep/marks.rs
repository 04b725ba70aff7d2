//! Marks of a sweep: edges of tiles and waves, the strip of kernels, the looks of several curves.

use super::{SIDES, STRIP, Scene, SweepSample, SweepSeries, usable};
use crate::{
    chart::{
        canvas::{Align, Canvas, Mark, Stroke, Type},
        geometry::Rect,
        palette::{Palette, Rgb},
    },
    units::grouped,
};

/// Edges closer than this on average are not drawn, in pixels.
const LEGIBLE: f64 = 5.0;

/// Colour, dashes and marker of a curve: no two share all, and without colour dashes and markers still differ.
pub(super) fn look(index: usize, palette: &Palette) -> (Rgb, Option<&'static str>, Mark, bool) {
    let ink = [palette.math, palette.memory, palette.latency][index % 3];
    let mark = [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond][index % 4];
    let dashed = index / 3 % 2 == 1;
    (ink, dashed.then_some("7 4"), mark, dashed)
}

/// Sizes at which a wave (with its count) or a tile is full.
#[derive(Default)]
pub(super) struct Edges {
    pub waves: Vec<(u64, u64)>,
    pub tiles: Vec<u64>,
}

impl Edges {
    /// Those of a single curve, as far as they can be told apart on so many pixels; none of several curves.
    pub fn of(series: &[SweepSeries], width: f64) -> Self {
        let [series] = series else { return Self::default() };
        let samples: Vec<&SweepSample> = series.samples.iter().filter(|s| usable(s) && s.waves > 0).collect();
        let pairs = || samples.windows(2).filter(|p| p[0].kernel == p[1].kernel);
        let mut waves: Vec<(u64, u64)> =
            pairs().filter(|p| p[0].waves < p[1].waves).map(|p| (p[0].size, p[0].waves)).collect();
        let mut tiles: Vec<u64> = pairs().filter(|p| p[0].tiles < p[1].tiles).map(|p| p[0].size).collect();
        if waves.len() as f64 * LEGIBLE > width {
            waves.clear();
        }
        if tiles.len() as f64 * LEGIBLE > width {
            tiles.clear();
        }
        Self { waves, tiles }
    }

    pub fn draw(&self, canvas: &mut Canvas, scene: &Scene) {
        let across = |canvas: &mut Canvas, at: f64, stroke| {
            for panel in scene.panels {
                canvas.line((at, panel.y0), (at, panel.y1), stroke);
            }
        };
        for size in &self.tiles {
            across(canvas, scene.x.place(*size as f64), Stroke::new(canvas.palette.grid, 1));
        }
        let style = Type::new(11.0, canvas.palette.muted).align(Align::Middle);
        let upper = scene.panels[0];
        let mut free = 0.0;
        for (size, count) in &self.waves {
            let at = scene.x.place(*size as f64);
            across(canvas, at, Stroke::new(canvas.palette.axis, 1));
            let name = if *count == 1 { "1 wave".into() } else { format!("{} waves", grouped(*count)) };
            let half = style.room(&name).0 / 2.0;
            let middle = at.min(upper.x1 + SIDES.1 - half).max(upper.x0 + half);
            if middle - half >= free {
                canvas.text((middle, upper.y0 - 12.0), &name, style);
                free = middle + half + 6.0;
            }
        }
    }
}

/// The kernel of each size as a strip of shades, named where there is room.
pub(super) fn strip(canvas: &mut Canvas, samples: &[SweepSample], scene: &Scene, top: f64) {
    let (palette, upper) = (canvas.palette, scene.panels[0]);
    let mut runs: Vec<(&str, f64, f64)> = Vec::new();
    let mut before = upper.x0;
    for sample in samples.iter().filter(|s| usable(s)) {
        let at = scene.x.place(sample.size as f64);
        match runs.last_mut() {
            Some((kernel, _, end)) if *kernel == sample.kernel => *end = at,
            _ => {
                // The kernel changes somewhere between two samples.
                let start = if runs.is_empty() { before } else { (before + at) / 2.0 };
                if let Some(last) = runs.last_mut() {
                    last.2 = start;
                }
                runs.push((&sample.kernel, start, at));
            }
        }
        before = at;
    }
    let mut names: Vec<&str> = Vec::new();
    let style = Type::new(11.0, palette.ink).align(Align::Middle);
    canvas.text((upper.x0 - 9.0, top + STRIP / 2.0), "Kernel", Type::new(11.0, palette.muted).align(Align::End));
    for (kernel, from, to) in runs {
        if !names.contains(&kernel) {
            names.push(kernel);
        }
        let index = names.iter().position(|n| *n == kernel).unwrap_or(0);
        let shades = [(palette.math, 0.28), (palette.memory, 0.28), (palette.latency, 0.28), (palette.axis, 0.35)];
        let (ink, share) = shades[index % shades.len()];
        canvas.bar(Rect::new(from, top, to, top + STRIP), palette.soft(ink, share));
        canvas.line((from, top), (from, top + STRIP), Stroke::new(palette.axis, 1));
        if style.room(kernel).0 + 4.0 <= to - from {
            canvas.text(((from + to) / 2.0, top + STRIP / 2.0), kernel, style);
        }
    }
}
