//! The roofline: attainable rate against arithmetic intensity, one slope per memory level, one flat roof per precision.
//!
//! Blue is math, vermilion is memory: a point has the colour of the roof that bounds it, and a shape of its own.

mod domain;
mod leaders;
mod measured;
mod points;
mod roofs;

use super::axis::power;
use super::canvas::{Align, Canvas, Mark, Stroke, Type};
use super::data::{Table, cell, optional};
use super::font::elide;
use super::geometry::Rect;
use super::palette::{Palette, Rgb};
use super::{Caption, Chart, Theme, page};
use crate::units::significant;
use domain::Domain;
pub use measured::MeasuredRoof;

/// Bandwidth of one memory level.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryRoof {
    /// Name with its value, such as `DRAM 3.35 TB/s`.
    pub label: String,
    /// Theoretical bandwidth in bytes per second.
    pub bytes_per_second: f64,
    /// Bandwidth that long streams reach, in bytes per second, where known.
    pub sustained: Option<f64>,
}

/// Peak rate of one precision.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputeRoof {
    /// Name, such as `BF16 tensor`.
    pub label: String,
    /// Dense peak in FLOP per second.
    pub flops_per_second: f64,
    /// The roof in question: drawn full and strong, with its ridge point.
    pub emphasised: bool,
}

/// What bounds a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The rate of its operations.
    Math,
    /// The bandwidth of a memory level.
    Memory,
    /// Time that neither operations nor bandwidth explain.
    Latency,
}

/// Where a point comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointKind {
    /// The model.
    Estimate,
    /// A device.
    Measured,
    /// The model, for what the others are compared with.
    Pinned,
}

/// A kernel seen at one memory level.
#[derive(Clone, Debug, PartialEq)]
pub struct RooflinePoint {
    /// Name of the kernel; points with the same name and different levels are one kernel.
    pub label: String,
    /// Arithmetic intensity at `level`, in FLOP per byte.
    pub intensity: f64,
    /// Rate in FLOP per second.
    pub flops_per_second: f64,
    /// Memory level whose traffic the intensity counts, such as `DRAM`.
    pub level: String,
    /// What bounds the kernel.
    pub bound: Bound,
    /// Estimate or measurement.
    pub kind: PointKind,
}

/// Roofs of one GPU and kernels under them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roofline {
    /// Words around the figure.
    pub caption: Caption,
    /// Memory levels, slowest (DRAM) first; the first one makes the ridge point.
    pub memory: Vec<MemoryRoof>,
    /// Peak rates.
    pub compute: Vec<ComputeRoof>,
    /// Roofs that were measured, drawn over the others.
    pub measured: Vec<MeasuredRoof>,
    /// What the legend says of them: which tool measured, and the name of its file.
    pub measured_by: String,
    /// Peak rates in FLOP per second that the axes make room for, drawn or not: one GPU keeps its axes.
    pub frame: Vec<f64>,
    /// Kernels; those without a positive, finite place are in the data only.
    pub points: Vec<RooflinePoint>,
}

impl Bound {
    /// The bound of a word in a report, `math`, `memory` or `latency`.
    pub(super) fn of(word: &str) -> Option<Self> {
        [Self::Math, Self::Memory, Self::Latency].into_iter().find(|b| b.word().trim_end_matches("-bound") == word)
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Math => "math-bound",
            Self::Memory => "memory-bound",
            Self::Latency => "latency-bound",
        }
    }

    pub(super) fn mark(self) -> Mark {
        match self {
            Self::Math => Mark::Circle,
            Self::Memory => Mark::Square,
            Self::Latency => Mark::Triangle,
        }
    }

    pub(super) fn ink(self, palette: &Palette) -> Rgb {
        match self {
            Self::Math => palette.math,
            Self::Memory => palette.memory,
            Self::Latency => palette.latency,
        }
    }
}

impl PointKind {
    fn word(self) -> &'static str {
        match self {
            Self::Estimate => "estimate",
            Self::Measured => "measurement",
            Self::Pinned => "pinned",
        }
    }
}

/// A value that has a place on a logarithmic axis.
fn positive(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

impl RooflinePoint {
    fn drawable(&self) -> bool {
        positive(self.intensity) && positive(self.flops_per_second)
    }
}

impl Roofline {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        page::close(&self.canvas(theme), &self.caption, &self.description(), self.csv())
    }

    /// The slowest memory level and the emphasised peak: their ridge point in FLOP per byte.
    fn ridge(&self) -> Option<f64> {
        let memory = self.memory.first().map(|m| m.bytes_per_second).filter(|b| positive(*b))?;
        let roof = self.compute.iter().find(|c| c.emphasised && positive(c.flops_per_second))?;
        Some(roof.flops_per_second / memory)
    }

    /// A warning where kernels lie outside the axes that every roofline of this GPU has, so that they were extended.
    fn wider(&self) -> Option<String> {
        let usual = Domain::of(&Self { points: Vec::new(), ..self.clone() });
        let count = self.points.iter().filter(|p| p.drawable() && !usual.holds(p)).count();
        let plural = if count == 1 { "1 point needs" } else { &format!("{count} points need") };
        (count > 0).then(|| format!("wider axes than usual for this GPU: {plural} them"))
    }

    fn description(&self) -> String {
        let unit = Domain::of(self).unit;
        let rate = |v: f64| format!("{} {}FLOP/s", significant(v / unit.1, 4), unit.0);
        let mut text = String::from("Attainable rate against arithmetic intensity.");
        for roof in &self.compute {
            text += &format!(" {} peak {}.", roof.label, rate(roof.flops_per_second));
        }
        for roof in &self.measured {
            text += &format!(" {} measured {}.", roof.label, roof.printed);
        }
        if let Some(ridge) = self.ridge() {
            text += &format!(" Ridge point {} FLOP/B.", significant(ridge, 3));
        }
        for point in self.points.iter().take(12) {
            let at = significant(point.intensity, 3);
            text +=
                &format!(" {}: {at} FLOP/B, {}, {}.", point.label, rate(point.flops_per_second), point.bound.word());
        }
        text
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&[
            "series",
            "number",
            "label",
            "level",
            "bound",
            "intensity_flop_per_byte",
            "rate_flop_per_s",
            "bandwidth_byte_per_s",
            "sustained_byte_per_s",
        ]);
        // With its frame, the figure can be drawn again as it is.
        let domain = Domain::of(self);
        for (name, x, y) in [("axes from", domain.x.0, domain.y.0), ("axes to", domain.x.1, domain.y.1)] {
            table.row(&[name, "", "", "", "", &cell(power(x)), &cell(power(y) * domain.unit.1), "", ""]);
        }
        for m in &self.memory {
            let (bandwidth, sustained) = (cell(m.bytes_per_second), optional(m.sustained));
            table.row(&["memory roof", "", &m.label, "", "", "", "", &bandwidth, &sustained]);
        }
        for c in &self.compute {
            table.row(&["compute roof", "", &c.label, "", "", "", &cell(c.flops_per_second), "", ""]);
        }
        for m in &self.measured {
            let rate = cell(m.rate);
            match m.memory {
                true => table.row(&["measured memory roof", "", &m.label, "", "", "", "", &rate, ""]),
                false => table.row(&["measured compute roof", "", &m.label, "", "", "", &rate, "", ""]),
            }
        }
        for (index, p) in self.points.iter().enumerate() {
            let (number, x, y) = ((index + 1).to_string(), cell(p.intensity), cell(p.flops_per_second));
            table.row(&[p.kind.word(), &number, &p.label, &p.level, p.bound.word(), &x, &y, "", ""]);
        }
        table.finish()
    }

    pub(super) fn canvas(&self, theme: Theme) -> Canvas {
        let subtitle = "Roofs are dense peaks and theoretical bandwidths; a point has the colour of what bounds it";
        let mut caption = self.caption.clone();
        caption.assumptions.extend(self.wider());
        let (mut canvas, body) = page::open(&caption, subtitle, theme, 520.0);
        // The measured roofs have a row of their own in the legend.
        let legend = if self.measured.is_empty() { 32.0 } else { 50.0 };
        let margin = roofs::margin(self, body.height() - legend - 46.0);
        let plot = Rect::new(body.x0 + 62.0, body.y0 + legend, body.x1 - margin, body.y1 - 46.0);
        let domain = Domain::of(self);
        let (x, y) = domain.axes(plot);
        let rate = format!("Attainable rate ({}FLOP/s)", domain.unit.0);
        x.draw_below(&mut canvas, plot, "Arithmetic intensity (FLOP/byte)");
        y.draw_left(&mut canvas, plot, &rate);
        let scene = roofs::Scene { plot, x, y, unit: domain.unit.1 };
        let lines = roofs::draw(self, &scene, &mut canvas);
        points::draw(self, &scene, &lines, &mut canvas);
        self.legend(&mut canvas, plot, body.y0 + 14.0);
        canvas
    }

    /// What shapes mean, in one row above the plot; only what occurs.
    fn legend(&self, canvas: &mut Canvas, plot: Rect, y: f64) {
        let palette = canvas.palette;
        let drawn: Vec<&RooflinePoint> = self.points.iter().filter(|p| p.drawable()).collect();
        let style = Type::new(11.0, palette.ink);
        let mut left = plot.x0;
        let mut word = |canvas: &mut Canvas, text: &str| {
            canvas.text((left + 18.0, y), text, style);
            let sign = left + 7.0;
            left += 18.0 + style.room(text).0 + 18.0;
            sign
        };
        for bound in [Bound::Memory, Bound::Math, Bound::Latency] {
            if drawn.iter().any(|p| p.bound == bound) {
                let at = word(canvas, bound.word());
                canvas.mark((at, y), bound.mark(), bound.ink(&palette), false);
            }
        }
        if drawn.iter().any(|p| p.kind == PointKind::Measured) {
            for (kind, hollow) in [(PointKind::Estimate, false), (PointKind::Measured, true)] {
                let at = word(canvas, kind.word());
                canvas.mark((at, y), Mark::Circle, palette.muted, hollow);
            }
        }
        if drawn.iter().any(|p| p.kind == PointKind::Pinned) {
            let at = word(canvas, PointKind::Pinned.word());
            canvas.mark((at, y), Mark::Diamond, palette.axis, true);
        }
        if self.memory.iter().any(|m| positive(m.bytes_per_second) && m.sustained.is_some_and(positive)) {
            let at = word(canvas, "sustained bandwidth");
            canvas.line((at - 8.0, y), (at + 8.0, y), Stroke::new(palette.memory, 2).dashed(roofs::SUSTAINED));
        }
        if !self.measured.is_empty() {
            let text = elide(&self.measured_by, style.size, false, 600.0);
            canvas.text((plot.x0 + 36.0, y + 18.0), &text, style);
            let stroke = Stroke::new(palette.ink, 1).dashed(measured::MEASURED);
            canvas.line((plot.x0 - 1.0, y + 18.0), (plot.x0 + 30.0, y + 18.0), stroke);
        }
        if drawn.len() > points::NAMED {
            let at = word(canvas, "a point's number in the data");
            canvas.text((at, y), "12", Type::new(10.0, palette.muted).align(Align::Middle));
        }
    }
}
