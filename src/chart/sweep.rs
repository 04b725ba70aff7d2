//! Matrix products along one dimension: time, throughput and utilization, with the edges of tiles and waves.

mod marks;

use super::axis::Axis;
use super::canvas::{Canvas, Stroke, Type};
use super::data::{Table, cell, optional};
use super::font::elide;
use super::geometry::{Point, Rect};
use super::tail::curve;
use super::terms::{time, unit};
use super::{Caption, Chart, Theme, page};
use crate::units::significant;
pub(super) use marks::look;
use marks::{Edges, Legend, runs, strip};

/// One product.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepSample {
    /// The size that grows.
    pub size: u64,
    /// Time in microseconds.
    pub time_us: f64,
    /// Useful operations in 10^12 per second.
    pub tera_per_s: f64,
    /// Share of the tiles of whole waves that are there, in percent; absent for a kernel without tiles.
    pub utilization_pct: Option<f64>,
    /// The kernel, such as `256x128`.
    pub kernel: String,
    /// Blocks of the launch.
    pub blocks: u64,
    /// Whole waves that the blocks take; 0 for a kernel without tiles.
    pub waves: u64,
    /// Tiles along the dimension that grows.
    pub tiles: u64,
}

/// A curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepSeries {
    /// What sets it apart, such as the tile that was asked for.
    pub label: String,
    /// The curve, by rising size.
    pub samples: Vec<SweepSample>,
}

/// Three panels over the size: time, throughput, utilization. A single curve has its edges and kernels marked, several
/// are told apart by colour, dashes and markers; six are meant at most.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// Words around the figure.
    pub caption: Caption,
    /// Name of the size that grows, such as `N`.
    pub over: String,
    /// Whether the operations are those of integers, TOP/s instead of TFLOP/s.
    pub integer: bool,
    /// What one wave is, such as `one tile on each of the 108 SMs`.
    pub wave: String,
    /// The curves.
    pub series: Vec<SweepSeries>,
    /// The size in question; marked where a curve has it.
    pub current: Option<u64>,
}

/// Most curves that can be told apart.
pub const MOST_SERIES: usize = 6;

/// Heights of the three panels, and of the space between them, in pixels.
const PANELS: [f64; 3] = [170.0, 150.0, 100.0];
const GAP: f64 = 22.0;
/// Height of the strip of kernels, and of a row of words above the panels, in pixels.
const STRIP: f64 = 18.0;
const ROW: f64 = 19.0;
/// Free pixels left and right of the panels.
const SIDES: (f64, f64) = (62.0, 16.0);

/// The panels with their axes.
struct Scene {
    panels: [Rect; 3],
    x: Axis,
    y: [Axis; 3],
    scale: f64,
}

impl Scene {
    /// The places of a sample in the three panels, the last absent without utilization.
    fn at(&self, s: &SweepSample) -> [Option<Point>; 3] {
        let values = [Some(s.time_us / self.scale), Some(s.tera_per_s), s.utilization_pct.map(|p| p.min(100.0))];
        let x = self.x.place(s.size as f64);
        [0, 1, 2].map(|i| values[i].map(|v| (x, self.y[i].place(v))))
    }
}

/// A sample that can be drawn.
fn usable(s: &SweepSample) -> bool {
    let known = |v: f64| v.is_finite() && v >= 0.0;
    known(s.time_us) && known(s.tera_per_s) && s.utilization_pct.is_none_or(known)
}

impl Sweep {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let mut text = format!("Time, throughput and utilization against {}; a wave is {}.", self.over, self.wave);
        for (series, sample) in self.now() {
            let (at, rate) = (time(sample.time_us), self.rate(sample.tera_per_s));
            text += &format!(" {} at {} = {}: {at}, {rate}.", series.label, self.over, sample.size);
        }
        page::close(&self.canvas(theme), &self.caption, &text, self.csv())
    }

    fn csv(&self) -> String {
        let size = self.over.to_ascii_lowercase().replace(" = ", "_");
        let rate = if self.integer { "rate_top_per_s" } else { "rate_tflop_per_s" };
        let mut table = Table::new(&[
            "series",
            &size,
            "time_us",
            rate,
            "utilization_pct",
            "kernel",
            "blocks",
            "waves",
            "tiles_along",
            "current",
        ]);
        for (series, s) in self.series.iter().flat_map(|r| r.samples.iter().map(move |s| (r, s))) {
            let current = if self.current == Some(s.size) { "yes" } else { "no" };
            table.row(&[
                series.label.clone(),
                s.size.to_string(),
                cell(s.time_us),
                cell(s.tera_per_s),
                optional(s.utilization_pct),
                s.kernel.clone(),
                s.blocks.to_string(),
                s.waves.to_string(),
                s.tiles.to_string(),
                current.into(),
            ]);
        }
        table.finish()
    }

    fn rate(&self, tera: f64) -> String {
        format!("{} {}", significant(tera, 3), self.rate_unit())
    }

    fn rate_unit(&self) -> &'static str {
        if self.integer { "TOP/s" } else { "TFLOP/s" }
    }

    /// The sample in question of each curve that has it.
    fn now(&self) -> impl Iterator<Item = (&SweepSeries, &SweepSample)> {
        self.series
            .iter()
            .filter_map(|r| Some((r, r.samples.iter().find(|s| Some(s.size) == self.current && usable(s))?)))
    }

    pub(super) fn canvas(&self, theme: Theme) -> Canvas {
        let width = page::WIDTH - 2.0 * page::BORDER - SIDES.0 - SIDES.1;
        let single = self.series.len() <= 1;
        let samples: Vec<&SweepSample> = self.series.iter().flat_map(|r| &r.samples).filter(|s| usable(s)).collect();
        let (low, high) = (samples.iter().map(|s| s.size).min(), samples.iter().map(|s| s.size).max());
        let (low, high) = (low.unwrap_or(0) as f64, high.unwrap_or(1) as f64);
        let left = page::BORDER + SIDES.0;
        let x = Axis::binary(low, high, 10, (left, left + width));
        let runs = runs(&self.series, &x);
        let edges = Edges::of(&runs, width);
        let key = self.key(width);
        let legend = Legend::of(&runs);
        let shades = legend.rows(width);
        let head =
            if single { STRIP + ROW * (shades.len() + 1) as f64 + 12.0 } else { ROW * key.len().max(1) as f64 + 8.0 };
        let body = head + PANELS.iter().sum::<f64>() + 2.0 * GAP + 46.0;
        let (mut canvas, body) = page::open(&self.caption, &self.subtitle(&edges), theme, body);

        let mut top = body.y0 + head;
        let panels = PANELS.map(|height| {
            let panel = Rect::new(left, top, left + width, top + height);
            top += height + GAP;
            panel
        });
        let longest = samples.iter().map(|s| s.time_us).fold(0.0, f64::max);
        let fastest = samples.iter().map(|s| s.tera_per_s).fold(0.0, f64::max);
        let (time_unit, scale) = unit(longest);
        let upright = |i: usize| (panels[i].y1, panels[i].y0);
        let scene = Scene {
            x,
            y: [
                Axis::linear(0.0, longest / scale, 5, upright(0)),
                Axis::linear(0.0, fastest, 5, upright(1)),
                Axis::stepped(0.0, 100.0, 25.0, upright(2)),
            ],
            scale,
            panels,
        };
        edges.draw(&mut canvas, &scene);
        let titles = [format!("Time ({time_unit})"), self.rate_unit().to_owned(), "Utilization (%)".to_owned()];
        for ((panel, axis), title) in panels.iter().zip(&scene.y).zip(&titles) {
            axis.draw_left(&mut canvas, *panel, title);
            canvas.line((panel.x0, panel.y1), (panel.x1, panel.y1), Stroke::new(canvas.palette.axis, 1));
        }
        // Without height no grid is drawn: upright lines are edges here.
        scene.x.draw_below(&mut canvas, Rect { y0: panels[2].y1, ..panels[2] }, &self.over);
        if let (Some(now), true) = (self.current, self.now().next().is_some()) {
            let at = scene.x.place(now as f64);
            for panel in panels {
                canvas.line((at, panel.y0), (at, panel.y1), Stroke::new(canvas.palette.memory, 1).dashed("4 3"));
            }
        }
        match self.series.first() {
            Some(series) if single => {
                strip(&mut canvas, &runs, &legend, &shades, (left, body.y0));
                self.one(&mut canvas, series, &scene);
            }
            _ => self.several(&mut canvas, &key, body.y0, &scene),
        }
        canvas
    }

    fn subtitle(&self, edges: &Edges) -> String {
        if self.series.len() > 1 {
            let at =
                self.current.map_or(String::new(), |size| format!(", with the throughput at {} = {size}", self.over));
            return format!("One curve per tile{at}; a wave is {}", self.wave);
        }
        let along = if self.over == "K" { "a further step of the k-loop begins" } else { "a further tile begins" };
        let mut parts = Vec::new();
        if !edges.tiles.is_empty() {
            parts.push(format!("Light lines: {along}"));
        }
        if !edges.waves.is_empty() {
            parts.push("Dark lines: the most that so many waves of the kernel hold".into());
        }
        parts.push(format!("A wave is {}", self.wave));
        parts.join(". ")
    }

    fn one(&self, canvas: &mut Canvas, series: &SweepSeries, scene: &Scene) {
        let now = self.now().next().map(|(_, s)| s);
        let places: Vec<_> = series.samples.iter().filter(|s| usable(s)).map(|s| scene.at(s)).collect();
        let words = |s: &SweepSample| {
            let at = format!("{} = {}: {}", self.over, s.size, time(s.time_us));
            [
                at,
                self.rate(s.tera_per_s),
                s.utilization_pct.map_or(String::new(), |p| format!("{} %", significant(p, 3))),
            ]
        };
        for (index, panel) in scene.panels.iter().enumerate() {
            let points: Vec<Point> = places.iter().filter_map(|p| p[index]).collect();
            let (at, text) = (now.and_then(|s| scene.at(s)[index]), now.map(|s| words(s)[index].clone()));
            curve(canvas, *panel, &points, at, text.filter(|t| !t.is_empty()));
        }
    }

    /// The key of several curves in rows as wide as the panels: which curve, and its words.
    fn key(&self, width: f64) -> Vec<Vec<(usize, String)>> {
        if self.series.len() <= 1 {
            return Vec::new();
        }
        let mut rows: Vec<Vec<(usize, String)>> = vec![Vec::new()];
        let mut used = 0.0;
        for (index, series) in self.series.iter().enumerate() {
            let now = self.now().find(|(r, _)| std::ptr::eq(*r, series));
            let rate = now.map_or(String::new(), |(_, s)| format!(": {}", self.rate(s.tera_per_s)));
            let text = format!("{}{rate}", elide(&series.label, 11.0, false, 200.0));
            let own = KEY + Type::new(11.0, (0, 0, 0)).room(&text).0;
            if used + own > width && used > 0.0 {
                rows.push(Vec::new());
                used = 0.0;
            }
            used += own;
            if let Some(row) = rows.last_mut() {
                row.push((index, text));
            }
        }
        rows
    }

    fn several(&self, canvas: &mut Canvas, key: &[Vec<(usize, String)>], top: f64, scene: &Scene) {
        for (row, y) in key.iter().zip((0..).map(|i| top + 10.0 + ROW * f64::from(i))) {
            let mut left = scene.panels[0].x0;
            for (index, text) in row {
                let (ink, dash, mark, hollow) = look(*index, &canvas.palette);
                canvas.line((left, y), (left + 28.0, y), Stroke { ink, width: 2, dash });
                canvas.mark((left + 14.0, y), mark, ink, hollow);
                let style = Type::new(11.0, canvas.palette.ink);
                canvas.text((left + 35.0, y), text, style);
                left += KEY + style.room(text).0;
            }
        }
        for (panel, width) in (0..3).map(|i| (i, scene.panels[i].width())) {
            for (index, series) in self.series.iter().enumerate() {
                let (ink, dash, mark, hollow) = look(index, &canvas.palette);
                let samples: Vec<&SweepSample> = series.samples.iter().filter(|s| usable(s)).collect();
                let points: Vec<Point> = samples.iter().filter_map(|s| scene.at(s)[panel]).collect();
                canvas.path(&points, Stroke { ink, width: 2, dash });
                // A marker here and there, at other places on each curve, so that equal curves show both.
                let share = |i: usize| (i as f64 + (index as f64 + 0.5) / self.series.len() as f64) / MARKS as f64;
                let now = samples.iter().find(|s| Some(s.size) == self.current).and_then(|s| scene.at(s)[panel]);
                for x in (0..MARKS).map(|i| scene.panels[panel].x0 + share(i) * width) {
                    let near = points.iter().min_by(|a, b| (a.0 - x).abs().total_cmp(&(b.0 - x).abs()));
                    // None beside the marker of the size in question.
                    if let Some(at) = near.filter(|p| now.is_none_or(|n| (n.0 - p.0).abs() > 16.0)) {
                        canvas.mark(*at, mark, ink, hollow);
                    }
                }
                if let Some(at) = now {
                    canvas.mark(at, mark, ink, hollow);
                }
            }
        }
    }
}

/// Pixels that an entry of the key takes besides its words.
const KEY: f64 = 53.0;
/// Markers on each of several curves.
const MARKS: usize = 5;
