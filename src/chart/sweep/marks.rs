//! Marks of a sweep: edges of tiles and waves, the strip of kernels, the looks of several curves.

use super::{ROW, SIDES, STRIP, Scene, SweepSample, SweepSeries, usable};
use crate::{
    chart::{
        axis::Axis,
        canvas::{Align, Canvas, Mark, Stroke, Type},
        geometry::{Point, Rect},
        palette::{Palette, Rgb},
    },
    units::grouped,
};

/// Colour, dashes and marker of a curve: no two share all, and without colour dashes and markers still differ.
pub(in crate::chart) fn look(index: usize, palette: &Palette) -> (Rgb, Option<&'static str>, Mark, bool) {
    let ink = [palette.math, palette.memory, palette.latency][index % 3];
    let mark = [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond][index % 4];
    let dashed = index / 3 % 2 == 1;
    (ink, dashed.then_some("7 4"), mark, dashed)
}

/// Neighbours with one kernel, and the pixels that they take.
pub(super) struct Run<'a> {
    pub kernel: &'a str,
    samples: Vec<&'a SweepSample>,
    from: f64,
    to: f64,
}

impl Run<'_> {
    /// Whether its name has room; of a nameless kernel edges tell nothing.
    pub fn named(&self) -> bool {
        NAME.room(self.kernel).0 + 4.0 <= self.to - self.from
    }
}

/// How kernels are named.
const NAME: Type = Type { size: 11.0, bold: false, ink: (0, 0, 0), align: Align::Middle, turn: 0.0, halo: false };

/// The runs of a single curve; none of several.
pub(super) fn runs<'a>(series: &'a [SweepSeries], x: &Axis) -> Vec<Run<'a>> {
    let mut runs: Vec<Run> = Vec::new();
    let [series] = series else { return runs };
    let mut before = None;
    for sample in series.samples.iter().filter(|s| usable(s)) {
        let at = x.place(sample.size as f64);
        match runs.last_mut() {
            Some(run) if run.kernel == sample.kernel => {
                run.samples.push(sample);
                run.to = at;
            }
            last => {
                // The kernel changes somewhere between two samples.
                let from = before.map_or(at, |before: f64| (before + at) / 2.0);
                if let Some(last) = last {
                    last.to = from;
                }
                runs.push(Run { kernel: &sample.kernel, samples: vec![sample], from, to: at });
            }
        }
        before = Some(at);
    }
    runs
}

/// Sizes at which a wave (with its count) or a tile is full.
#[derive(Default)]
pub(super) struct Edges {
    pub waves: Vec<(u64, u64)>,
    pub tiles: Vec<u64>,
}

impl Edges {
    /// Those of named kernels, as far as they can be told apart on so many pixels.
    pub fn of(runs: &[Run], width: f64) -> Self {
        let mut found = Self::default();
        let mut samples = 0;
        for (index, run) in runs.iter().enumerate().filter(|(_, run)| run.named()) {
            samples += run.samples.len();
            for pair in run.samples.windows(2).filter(|p| p[0].waves > 0) {
                if pair[0].waves < pair[1].waves {
                    found.waves.push((pair[0].size, pair[0].waves));
                } else if pair[0].tiles < pair[1].tiles {
                    found.tiles.push(pair[0].size);
                }
            }
            // Where another kernel takes over, a wave ends only if it was full.
            let full = |s: &&&SweepSample| s.utilization_pct.is_some_and(|p| p > 99.99);
            if let Some(last) = run.samples.last().filter(full).filter(|_| index + 1 < runs.len()) {
                found.waves.push((last.size, last.waves));
            }
        }
        // An edge behind nearly every sample is none: the curve has fewer samples than edges.
        let legible = |count: usize, apart: f64| count as f64 * apart <= width && count * 3 <= samples;
        if !legible(found.waves.len(), 8.0) {
            found.waves.clear();
        }
        if !legible(found.tiles.len() + found.waves.len(), 5.0) {
            found.tiles.clear();
        }
        found
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

/// Kernels of a strip that have a shade of their own.
const SHADES: usize = 8;

/// Which shade is which kernel.
pub(super) struct Legend<'a> {
    /// Kernels in order of appearance; of more than there are shades those that take most room.
    kernels: Vec<&'a str>,
    /// Whether the strip has further ones.
    others: bool,
    /// Whether the strip leaves one unnamed.
    needed: bool,
}

impl<'a> Legend<'a> {
    pub fn of(runs: &[Run<'a>]) -> Self {
        let mut widths: Vec<(&str, f64)> = Vec::new();
        for run in runs {
            match widths.iter_mut().find(|(kernel, _)| *kernel == run.kernel) {
                Some((_, width)) => *width += run.to - run.from,
                None => widths.push((run.kernel, run.to - run.from)),
            }
        }
        let others = widths.len() > SHADES;
        let mut order: Vec<f64> = widths.iter().map(|(_, width)| *width).collect();
        order.sort_by(|a, b| b.total_cmp(a));
        let least = order.get(SHADES - 1).copied().unwrap_or(0.0);
        let wide = widths.iter().filter(|(_, width)| !others || *width >= least);
        let kernels = wide.map(|(kernel, _)| *kernel).take(SHADES).collect();
        Self { kernels, others, needed: runs.iter().any(|run| !run.named()) }
    }

    fn shade(&self, index: Option<usize>, palette: &Palette) -> Rgb {
        let inks = [palette.math, palette.memory, palette.latency, palette.axis];
        match index {
            Some(index) => palette.soft(inks[index % inks.len()], if index < inks.len() { 0.28 } else { 0.6 }),
            None => palette.soft(palette.axis, 0.08),
        }
    }

    /// Shades and their words in rows as wide as the panels; none where the strip itself names every kernel.
    pub fn rows(&self, width: f64) -> Vec<Vec<(Option<usize>, &'a str)>> {
        let mut rows: Vec<Vec<_>> = Vec::new();
        let mut used = f64::INFINITY;
        let named = self.kernels.iter().enumerate().map(|(index, kernel)| (Some(index), *kernel));
        for entry in named.chain(self.others.then_some((None, "others (in the data)"))).filter(|_| self.needed) {
            let own = SWATCH + NAME.room(entry.1).0;
            if used + own > width {
                rows.push(Vec::new());
                used = 0.0;
            }
            used += own;
            if let Some(row) = rows.last_mut() {
                row.push(entry);
            }
        }
        rows
    }
}

/// Pixels that an entry of the legend takes besides its words.
const SWATCH: f64 = 38.0;

/// The kernel of each size as a strip of shades, named where there is room, and below it which shade is which kernel.
pub(super) fn strip(
    canvas: &mut Canvas,
    runs: &[Run],
    legend: &Legend,
    rows: &[Vec<(Option<usize>, &str)>],
    at: Point,
) {
    let palette = canvas.palette;
    let (left, top) = at;
    canvas.text((left - 9.0, top + STRIP / 2.0), "Kernel", Type::new(11.0, palette.muted).align(Align::End));
    for run in runs {
        let index = legend.kernels.iter().position(|kernel| *kernel == run.kernel);
        canvas.bar(Rect::new(run.from, top, run.to, top + STRIP), legend.shade(index, &palette));
        canvas.line((run.from, top), (run.from, top + STRIP), Stroke::new(palette.axis, 1));
        if run.named() {
            let middle = ((run.from + run.to) / 2.0, top + STRIP / 2.0);
            canvas.text(middle, run.kernel, Type { ink: palette.ink, ..NAME });
        }
    }
    for (row, y) in rows.iter().zip((0..).map(|i| top + STRIP + ROW * (f64::from(i) + 0.6))) {
        let mut x = left;
        for (index, name) in row {
            canvas.bar(Rect::new(x, y - 5.0, x + 16.0, y + 5.0), legend.shade(*index, &palette));
            canvas.text((x + 22.0, y), name, Type { ink: palette.ink, align: Align::Start, ..NAME });
            x += SWATCH + NAME.room(name).0;
        }
    }
}
