//! Measured roofs: dash-dotted lines in the colour of text, over the roofs of the datasheet and told apart without colour.

use super::roofs::Scene;
use super::{Roofline, positive};
use crate::chart::canvas::{Canvas, Stroke};
use crate::chart::geometry::Segment;

/// Dash pattern of measured roofs.
pub(super) const MEASURED: &str = "9 3 2 3";

/// A roof that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredRoof {
    /// As the tool calls it.
    pub label: String,
    /// In bytes per second of a memory, else in operations per second.
    pub rate: f64,
    /// The rate for people.
    pub printed: String,
    /// Whether it is the bandwidth of a memory.
    pub memory: bool,
}

impl MeasuredRoof {
    /// The rate with the word that it was measured.
    pub(super) fn value(&self) -> String {
        format!("{} measured", self.printed)
    }

    /// What stands at a slope.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.label, self.value())
    }
}

/// Measured roofs whose names are still to be written.
#[derive(Default)]
pub(super) struct Drawn<'a> {
    /// Bandwidths with their lines.
    pub slopes: Vec<(&'a MeasuredRoof, Segment)>,
    /// Rates with their heights in the plot.
    pub flats: Vec<(&'a MeasuredRoof, f64)>,
}

/// Draws the measured roofs, slopes up to `top` (FLOP per second) or the highest measured rate. Adds their lines to
/// `lines`.
pub(super) fn draw<'a>(
    chart: &'a Roofline,
    scene: &Scene,
    top: f64,
    canvas: &mut Canvas,
    lines: &mut Vec<Segment>,
) -> Drawn<'a> {
    let stroke = Stroke::new(canvas.palette.ink, 1).dashed(MEASURED);
    let drawn = || chart.measured.iter().filter(|roof| positive(roof.rate));
    let memory = chart.memory.iter().map(|m| m.bytes_per_second).filter(|b| positive(*b));
    let fastest = memory.chain(drawn().filter(|roof| roof.memory).map(|roof| roof.rate)).fold(0.0, f64::max);
    let top = drawn().filter(|roof| !roof.memory).map(|roof| roof.rate).fold(top, f64::max);
    let mut found = Drawn::default();
    for roof in drawn() {
        let line = if roof.memory {
            let Some(ramp) = scene.ramp(roof.rate, top) else { continue };
            found.slopes.push((roof, ramp));
            ramp
        } else {
            let y = scene.at(1.0, roof.rate).1;
            if y < scene.plot.y0 - 0.5 || y > scene.plot.y1 + 0.5 {
                continue;
            }
            let corner = if fastest > 0.0 { scene.x.place(roof.rate / fastest) } else { scene.plot.x0 };
            found.flats.push((roof, y));
            ((corner.clamp(scene.plot.x0, scene.plot.x1), y), (scene.plot.x1, y))
        };
        canvas.line(line.0, line.1, stroke);
        lines.push(line);
    }
    found
}
