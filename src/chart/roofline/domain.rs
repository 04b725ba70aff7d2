//! Which decades the axes of a roofline show: those of the ceilings, and further only where a point needs it.

use super::{Roofline, RooflinePoint, positive};
use crate::chart::axis::{Axis, power};
use crate::chart::geometry::Rect;

/// Whole decades of both axes and the unit of rates (prefix, FLOP per second).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Domain {
    pub x: (i32, i32),
    pub y: (i32, i32),
    pub unit: (&'static str, f64),
}

fn below(value: f64) -> i32 {
    libm::floor(libm::log10(value) + 1e-9) as i32
}

fn above(value: f64) -> i32 {
    libm::ceil(libm::log10(value) - 1e-9) as i32
}

impl Domain {
    /// The decades for `chart`.
    pub fn of(chart: &Roofline) -> Self {
        let memory: Vec<f64> = chart.memory.iter().map(|m| m.bytes_per_second).filter(|b| positive(*b)).collect();
        let drawn = chart.compute.iter().map(|c| c.flops_per_second);
        let peaks: Vec<f64> = drawn.chain(chart.frame.iter().copied()).filter(|c| positive(*c)).collect();
        let points: Vec<_> = chart.points.iter().filter(|p| p.drawable()).collect();
        let least = |values: &[f64]| values.iter().copied().reduce(f64::min);
        let most = |values: &[f64]| values.iter().copied().reduce(f64::max);

        let rates = peaks.iter().copied().chain(points.iter().map(|p| p.flops_per_second));
        let fastest = rates.fold(0.0, f64::max);
        let unit = if fastest >= 1e12 || fastest == 0.0 { ("T", 1e12) } else { ("G", 1e9) };

        let mut x = match (least(&memory), most(&memory), least(&peaks), most(&peaks)) {
            (Some(slow), Some(fast), Some(low), Some(high)) => (below(low / fast) - 1, above(high / slow * 4.0)),
            _ => (-1, 4),
        };
        let mut y = match (most(&peaks), least(&memory)) {
            (Some(high), Some(slow)) => (below(slow * power(x.0) / unit.1), above(high / unit.1 * 1.2)),
            (Some(high), None) => (above(high / unit.1) - 4, above(high / unit.1 * 1.2)),
            (None, Some(slow)) => (below(slow * power(x.0) / unit.1), above(slow * power(x.1) / unit.1)),
            (None, None) => (-1, 3),
        };
        // A measured roof outside would not be seen: the corner of a fast memory, and a flat roof.
        let corner = most(&peaks).zip(chart.measured.iter().filter(|m| m.memory).map(|m| m.rate).reduce(f64::max));
        if let Some((high, fast)) = corner.filter(|(_, fast)| positive(*fast)) {
            x.0 = x.0.min(below(high / fast));
        }
        for rate in chart.measured.iter().filter(|m| !m.memory && positive(m.rate)).map(|m| m.rate / unit.1) {
            y = (y.0.min(below(rate)), y.1.max(above(rate * 1.2)));
        }
        for p in points {
            x = (x.0.min(below(p.intensity)), x.1.max(above(p.intensity * 1.5)));
            let rate = p.flops_per_second / unit.1;
            y = (y.0.min(below(rate)), y.1.max(above(rate)));
        }
        Self { x, y, unit }
    }

    /// Whether a point lies on the axes.
    pub fn holds(&self, p: &RooflinePoint) -> bool {
        let within = |value: f64, (low, high): (i32, i32)| (power(low)..=power(high)).contains(&value);
        within(p.intensity, self.x) && within(p.flops_per_second / self.unit.1, self.y)
    }

    /// Both axes in `plot`.
    pub fn axes(&self, plot: Rect) -> (Axis, Axis) {
        (Axis::log(self.x.0, self.x.1, (plot.x0, plot.x1)), Axis::log(self.y.0, self.y.1, (plot.y1, plot.y0)))
    }
}
