//! Bandwidth and time of memory-bound kernels against their size, with the regime of every size.

use super::axis::Axis;
use super::canvas::{Align, Canvas, Stroke, Type};
use super::data::{Table, cell};
use super::font::elide;
use super::geometry::{Point, Rect};
use super::sweep::look;
use super::{Caption, Chart, Theme, page};
use crate::units::significant;

/// A kernel of one size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BandwidthSample {
    /// The size that grows: bytes or columns.
    pub size: f64,
    /// Least traffic per time, in GB/s.
    pub gb_per_s: f64,
    /// Time in microseconds.
    pub time_us: f64,
    /// What decides: `launch`, `waiting`, `cache`, `DRAM` or `math`.
    pub regime: String,
}

/// A curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BandwidthSeries {
    /// What sets it apart.
    pub label: String,
    /// The curve, by rising size.
    pub samples: Vec<BandwidthSample>,
}

/// Two panels over the size on a logarithmic axis, bandwidth and time, and a strip per curve with its regimes; six curves
/// are meant at most.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bandwidth {
    /// Words around the figure.
    pub caption: Caption,
    /// One line below the title.
    pub subtitle: String,
    /// What grows, such as `Columns`.
    pub over: String,
    /// Its name in the data, such as `cols`.
    pub column: String,
    /// The curves.
    pub series: Vec<BandwidthSeries>,
    /// Datasheet bandwidth of the DRAM, in GB/s.
    pub dram_gb_per_s: f64,
}

/// Heights of the panels and of the space between them, in pixels.
const PANELS: [f64; 2] = [220.0, 150.0];
const GAP: f64 = 22.0;
/// Height of a strip with its gap, and pixels left of the panels and right of them.
const STRIP: f64 = 21.0;
const SIDES: (f64, f64) = (150.0, 16.0);
/// Markers on each curve.
const MARKS: usize = 6;

fn usable(s: &&BandwidthSample) -> bool {
    [s.size, s.gb_per_s, s.time_us].iter().all(|v| v.is_finite() && *v > 0.0)
}

/// The powers of ten around positive values.
pub(super) fn decades(values: impl Iterator<Item = f64> + Clone) -> (i32, i32) {
    let (low, high) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(0.0, f64::max));
    if !(low.is_finite() && high > 0.0) {
        return (0, 1);
    }
    // A value on a decade needs no further one, whatever its last bit says.
    (libm::floor(libm::log10(low) + 1e-9) as i32, libm::ceil(libm::log10(high) - 1e-9) as i32)
}

impl Bandwidth {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let mut text = format!("Bandwidth and time against {}.", self.over.to_lowercase());
        for series in &self.series {
            if let Some(last) = series.samples.iter().rfind(usable) {
                let rate = significant(last.gb_per_s, 3);
                text += &format!(" {}: {rate} GB/s at {}.", series.label, significant(last.size, 4));
            }
        }
        page::close(&self.canvas(theme), &self.caption, &text, self.csv())
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["series", &self.column, "bandwidth_gb_per_s", "time_us", "regime"]);
        for (series, s) in self.series.iter().flat_map(|r| r.samples.iter().map(move |s| (r, s))) {
            let cells = [series.label.clone(), cell(s.size), cell(s.gb_per_s), cell(s.time_us), s.regime.clone()];
            table.row(&cells);
        }
        table.finish()
    }

    fn canvas(&self, theme: Theme) -> Canvas {
        let strips = STRIP * self.series.len() as f64 + 8.0;
        let body = strips + PANELS.iter().sum::<f64>() + GAP + 46.0;
        let (mut canvas, body) = page::open(&self.caption, &self.subtitle, theme, body);
        let (left, right) = (body.x0 + SIDES.0, body.x1 - SIDES.1);
        let samples = || self.series.iter().flat_map(|r| &r.samples).filter(usable);
        let (low, high) = decades(samples().map(|s| s.size));
        let x = Axis::log(low, high, (left, right));
        let upper = Rect::new(left, body.y0 + strips, right, body.y0 + strips + PANELS[0]);
        let lower = Rect::new(left, upper.y1 + GAP, right, upper.y1 + GAP + PANELS[1]);
        let most = samples().map(|s| s.gb_per_s).fold(self.dram_gb_per_s, f64::max);
        let rate = Axis::linear(0.0, most, 5, (upper.y1, upper.y0));
        let (low, high) = decades(samples().map(|s| s.time_us));
        let time = Axis::times(low, high, (lower.y1, lower.y0));
        rate.draw_left(&mut canvas, upper, "Bandwidth (GB/s)");
        time.draw_left(&mut canvas, lower, "Time");
        canvas.line((upper.x0, upper.y1), (upper.x1, upper.y1), Stroke::new(canvas.palette.axis, 1));
        x.draw_below(&mut canvas, lower, &self.over);
        self.roof(&mut canvas, upper, &rate);
        for (index, series) in self.series.iter().enumerate() {
            self.strip(&mut canvas, index, series, &x, body.y0);
            let points = |place: &dyn Fn(&BandwidthSample) -> f64| -> Vec<Point> {
                series.samples.iter().filter(usable).map(|s| (x.place(s.size), place(s))).collect()
            };
            self.curve(&mut canvas, index, &points(&|s| rate.place(s.gb_per_s)), upper);
            self.curve(&mut canvas, index, &points(&|s| time.place(s.time_us)), lower);
        }
        canvas
    }

    fn roof(&self, canvas: &mut Canvas, panel: Rect, rate: &Axis) {
        if self.dram_gb_per_s > 0.0 {
            let at = rate.place(self.dram_gb_per_s);
            canvas.line((panel.x0, at), (panel.x1, at), Stroke::new(canvas.palette.ink, 1).dashed("4 3"));
            let text = format!("DRAM {} GB/s", significant(self.dram_gb_per_s, 4));
            canvas.text((panel.x0 + 8.0, at - 9.0), &text, Type::new(11.0, canvas.palette.ink).halo());
        }
    }

    /// The key of a curve, and its regimes beside it.
    fn strip(&self, canvas: &mut Canvas, index: usize, series: &BandwidthSeries, x: &Axis, top: f64) {
        let palette = canvas.palette;
        let (ink, dash, mark, hollow) = look(index, &palette);
        let (top, height) = (top + STRIP * index as f64, STRIP - 5.0);
        let middle = top + height / 2.0;
        canvas.line((page::BORDER, middle), (page::BORDER + 26.0, middle), Stroke { ink, width: 2, dash });
        canvas.mark((page::BORDER + 13.0, middle), mark, ink, hollow);
        let label = elide(&series.label, 11.0, false, SIDES.0 - 42.0);
        canvas.text((page::BORDER + 33.0, middle), &label, Type::new(11.0, palette.ink));
        let samples: Vec<&BandwidthSample> = series.samples.iter().filter(usable).collect();
        let edge = |i: usize| match (samples.get(i.wrapping_sub(1)), samples.get(i)) {
            (Some(a), Some(b)) => (x.place(a.size) + x.place(b.size)) / 2.0,
            (None, Some(only)) | (Some(only), None) => x.place(only.size),
            (None, None) => 0.0,
        };
        let mut from = 0;
        for to in 1..=samples.len() {
            if to < samples.len() && samples[to].regime == samples[from].regime {
                continue;
            }
            let regime = &samples[from].regime;
            let (tone, share) = match regime.as_str() {
                "launch" => (palette.latency, 0.2),
                "waiting" => (palette.latency, 0.45),
                "cache" => (palette.math, 0.3),
                "DRAM" => (palette.memory, 0.35),
                _ => (palette.axis, 0.35),
            };
            let (a, b) = (edge(from), edge(to));
            canvas.bar(Rect::new(a, top, b, top + height), palette.soft(tone, share));
            canvas.line((a, top), (a, top + height), Stroke::new(palette.axis, 1));
            let style = Type::new(11.0, palette.ink).align(Align::Middle);
            if style.room(regime).0 + 4.0 <= b - a {
                canvas.text(((a + b) / 2.0, middle), regime, style);
            }
            from = to;
        }
    }

    fn curve(&self, canvas: &mut Canvas, index: usize, points: &[Point], panel: Rect) {
        let (ink, dash, mark, hollow) = look(index, &canvas.palette);
        canvas.path(points, Stroke { ink, width: 2, dash });
        // Markers at other places on each curve, so that curves that lie on each other show both.
        let share = |i: usize| (i as f64 + (index as f64 + 0.5) / self.series.len() as f64) / MARKS as f64;
        for x in (0..MARKS).map(|i| panel.x0 + share(i) * panel.width()) {
            let near = points.iter().min_by(|a, b| (a.0 - x).abs().total_cmp(&(b.0 - x).abs()));
            if let Some(at) = near.filter(|p| (p.0 - x).abs() < 12.0) {
                canvas.mark(*at, mark, ink, hollow);
            }
        }
    }
}
