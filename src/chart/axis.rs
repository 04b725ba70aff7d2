//! Linear and logarithmic axes: where a value stands, and where the ticks.

use super::canvas::{Align, Canvas, Stroke, Type};
use super::geometry::Rect;
use crate::units::{decimal, significant};

/// A tick: its place in pixels, and its label if it is a main one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub at: f64,
    pub label: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    /// From, to, distance of ticks; all in data units.
    Linear { low: f64, high: f64, step: f64 },
    /// Powers of ten at both ends; `timed` names microseconds with the unit that fits.
    Log { low: i32, high: i32, timed: bool },
    /// Logarithmic around 1, both ends at one of the ticks.
    Ratio { low: f64, high: f64, ticks: &'static [f64] },
    /// Powers of two at both ends.
    Doubling { low: i32, high: i32 },
}

/// An axis from one pixel to another (either may be the greater).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    scale: Scale,
    from: f64,
    to: f64,
}

impl Axis {
    /// From 10^`low` to 10^`high`.
    pub fn log(low: i32, high: i32, (from, to): (f64, f64)) -> Self {
        Self { scale: Scale::Log { low, high: high.max(low + 1), timed: false }, from, to }
    }

    /// Times in microseconds from 10^`low` to 10^`high`, with the unit in each label.
    pub fn times(low: i32, high: i32, (from, to): (f64, f64)) -> Self {
        Self { scale: Scale::Log { low, high: high.max(low + 1), timed: true }, from, to }
    }

    /// Ratios from about `low`, at most 1, to about `high`, at least 1, logarithmic, rounded out to ticks from 0.01 to 100.
    pub fn ratio(low: f64, high: f64, (from, to): (f64, f64)) -> Self {
        let holds = |end: f64, most: f64| end >= most * 0.999;
        let all = RATIOS.iter().find(|ticks| holds(ticks[ticks.len() - 1], high.max(1.0 / low)));
        let ticks = all.copied().unwrap_or(RATIOS[RATIOS.len() - 1]);
        let end = |most: f64| ticks.iter().copied().find(|end| holds(*end, most)).unwrap_or(100.0);
        Self { scale: Scale::Ratio { low: 1.0 / end(1.0 / low), high: end(high), ticks }, from, to }
    }

    /// From 2^`low` to 2^`high`, each doubling as long as the next.
    pub fn doubling(low: i32, high: i32, (from, to): (f64, f64)) -> Self {
        Self { scale: Scale::Doubling { low, high: high.max(low + 1) }, from, to }
    }

    /// From about `low` to about `high`, rounded out to ticks of 1, 2 or 5 times a power of ten, at most `ticks` of them.
    pub fn linear(low: f64, high: f64, ticks: u32, pixels: (f64, f64)) -> Self {
        let (low, high) = sound(low, high);
        let step = round_step(low, high, ticks);
        Self::stepped(libm::floor(low / step + 1e-9) * step, libm::ceil(high / step - 1e-9) * step, step, pixels)
    }

    /// From `low` to `high` exactly, with ticks as of [`Self::linear`].
    pub fn exact(low: f64, high: f64, ticks: u32, pixels: (f64, f64)) -> Self {
        let (low, high) = sound(low, high);
        Self::stepped(low, high, round_step(low, high, ticks), pixels)
    }

    /// From `low` to `high` exactly, with ticks at multiples of a power of two, at most about `ticks` of them.
    pub fn binary(low: f64, high: f64, ticks: u32, pixels: (f64, f64)) -> Self {
        let (low, high) = sound(low, high);
        let rough = (high - low) / f64::from(ticks.max(2));
        let step = libm::pow(2.0, libm::ceil(libm::log2(rough) - 1e-9));
        Self::stepped(low, high, step, pixels)
    }

    /// From `low` to `high` exactly, with ticks at multiples of `step`.
    pub fn stepped(low: f64, high: f64, step: f64, (from, to): (f64, f64)) -> Self {
        Self { scale: Scale::Linear { low, high, step }, from, to }
    }

    /// The pixel of `value`.
    pub fn place(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear { low, high, .. } => (value - low) / (high - low),
            Scale::Log { low, high, .. } => (libm::log10(value) - f64::from(low)) / f64::from(high - low),
            Scale::Ratio { low, high, .. } => libm::log(value / low) / libm::log(high / low),
            Scale::Doubling { low, high } => (libm::log2(value) - f64::from(low)) / f64::from(high - low),
        };
        self.from + share * (self.to - self.from)
    }

    /// Lowest and highest value on the axis.
    pub fn range(&self) -> (f64, f64) {
        match self.scale {
            Scale::Linear { low, high, .. } => (low, high),
            Scale::Log { low, high, .. } => (power(low), power(high)),
            Scale::Ratio { low, high, .. } => (low, high),
            Scale::Doubling { low, high } => (libm::exp2(f64::from(low)), libm::exp2(f64::from(high))),
        }
    }

    /// Main ticks with labels and, between decades, small ones without.
    pub fn ticks(&self) -> Vec<Tick> {
        match self.scale {
            Scale::Linear { low, high, step } => {
                let (first, last) = (libm::ceil(low / step - 1e-9), libm::floor(high / step + 1e-9));
                (0..=(last - first).clamp(0.0, 100.0) as u32)
                    .map(|i| (first + f64::from(i)) * step)
                    .map(|v| Tick { at: self.place(v), label: Some(plain(v, step)) })
                    .collect()
            }
            Scale::Log { low, high, timed } => self.decades(low, high, if timed { time_label } else { power_label }),
            Scale::Ratio { low, high, ticks } => {
                let both = ticks.iter().rev().map(|t| 1.0 / t).chain([1.0]).chain(ticks.iter().copied());
                let held = both.filter(|v| (low * 0.999..=high * 1.001).contains(v));
                held.map(|v| Tick { at: self.place(v), label: Some(decimal(v, 2)) }).collect()
            }
            Scale::Doubling { low, high } => {
                let each = (self.to - self.from).abs() / f64::from(high - low);
                let every = (52.0 / each.max(0.1)).ceil().max(1.0) as usize;
                let doublings = (low..=high).step_by(every).map(|e| libm::exp2(f64::from(e)));
                doublings.map(|v| Tick { at: self.place(v), label: Some(decimal(v, 0)) }).collect()
            }
        }
    }

    fn decades(&self, low: i32, high: i32, name: fn(i32) -> String) -> Vec<Tick> {
        let each = (self.to - self.from).abs() / f64::from(high - low);
        let every = (44.0 / each.max(0.1)).ceil().max(1.0) as i32;
        let mut ticks = Vec::new();
        for decade in low..=high {
            if (decade - low) % every == 0 {
                ticks.push(Tick { at: self.place(power(decade)), label: Some(name(decade)) });
            }
            if decade < high && each >= 30.0 {
                ticks.extend((2..10).map(|m| Tick { at: self.place(f64::from(m) * power(decade)), label: None }));
            }
        }
        ticks
    }

    /// Draws this axis under `plot`: grid, outward ticks, labels, and `title` below.
    pub fn draw_below(&self, canvas: &mut Canvas, plot: Rect, title: &str) {
        let palette = canvas.palette;
        for tick in self.ticks() {
            let reach = if tick.label.is_some() { 6.0 } else { 3.0 };
            if tick.label.is_some() {
                canvas.line((tick.at, plot.y0), (tick.at, plot.y1), Stroke::new(palette.grid, 1));
            }
            canvas.line((tick.at, plot.y1), (tick.at, plot.y1 + reach), Stroke::new(palette.axis, 1));
            let style = Type::new(11.0, palette.muted).align(Align::Middle);
            canvas.text((tick.at, plot.y1 + 15.0), &tick.label.unwrap_or_default(), style);
        }
        canvas.line((plot.x0, plot.y1), (plot.x1, plot.y1), Stroke::new(palette.axis, 1));
        let style = Type::new(12.0, palette.ink).align(Align::Middle);
        canvas.text((plot.center().0, plot.y1 + 34.0), title, style);
    }

    /// Draws this axis left of `plot`: grid, outward ticks, labels, and `title` upright.
    pub fn draw_left(&self, canvas: &mut Canvas, plot: Rect, title: &str) {
        let palette = canvas.palette;
        let mut widest = 0.0_f64;
        for tick in self.ticks() {
            let reach = if tick.label.is_some() { 6.0 } else { 3.0 };
            if tick.label.is_some() {
                canvas.line((plot.x0, tick.at), (plot.x1, tick.at), Stroke::new(palette.grid, 1));
            }
            canvas.line((plot.x0 - reach, tick.at), (plot.x0, tick.at), Stroke::new(palette.axis, 1));
            let style = Type::new(11.0, palette.muted).align(Align::End);
            let label = tick.label.unwrap_or_default();
            widest = widest.max(style.room(&label).0);
            canvas.text((plot.x0 - 9.0, tick.at), &label, style);
        }
        canvas.line((plot.x0, plot.y0), (plot.x0, plot.y1), Stroke::new(palette.axis, 1));
        let style = Type::new(12.0, palette.ink).align(Align::Middle).turned(-90.0);
        // Labels with units are wide.
        let aside = (9.0 + widest + style.room(title).1 / 2.0 + 1.0).max(52.0);
        canvas.text((plot.x0 - aside, plot.center().1), title, style);
    }
}

/// A range that can be drawn: finite, not empty.
fn sound(low: f64, high: f64) -> (f64, f64) {
    let low = if low.is_finite() { low.clamp(-1e300, 1e300) } else { 0.0 };
    let high = if high.is_finite() { high.min(1e300) } else { low };
    if high - low > low.abs() * 1e-9 && high - low > 1e-300 { (low, high) } else { (low, low + low.abs().max(1.0)) }
}

/// 1, 2 or 5 times a power of ten that divides a sound range into at most so many parts.
fn round_step(low: f64, high: f64, parts: u32) -> f64 {
    let rough = (high - low) / f64::from(parts.max(2));
    let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
    [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough * 0.999).unwrap_or(power)
}

/// 10^`exponent`.
pub(super) fn power(exponent: i32) -> f64 {
    libm::pow(10.0, f64::from(exponent))
}

/// Ticks above 1 of an axis of ratios, for ever wider ones.
const RATIOS: [&[f64]; 7] = [
    &[1.1, 1.25],
    &[1.25, 1.5],
    &[1.25, 1.5, 2.0],
    &[1.5, 2.0, 3.0],
    &[2.0, 5.0],
    &[2.0, 5.0, 10.0],
    &[3.0, 10.0, 30.0, 100.0],
];

/// 10^`exponent` microseconds as people read them: 100 ns, 10 us, 1 ms.
fn time_label(exponent: i32) -> String {
    match exponent {
        -3..0 => format!("{} ns", decimal(power(exponent + 3), 0)),
        0..3 => format!("{} us", decimal(power(exponent), 0)),
        3..6 => format!("{} ms", decimal(power(exponent - 3), 0)),
        6..9 => format!("{} s", decimal(power(exponent - 6), 0)),
        _ => format!("{} s", power_label(exponent - 6)),
    }
}

/// A power of ten as people read it: 0.01, 1, 100, 10k, 1M; outside of 10^-3 to 10^14 with a superscript.
fn power_label(exponent: i32) -> String {
    const SUPERSCRIPT: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    match exponent {
        -3..0 => decimal(power(exponent), 3),
        0..15 => {
            let letter = ["", "k", "M", "G", "T"][exponent as usize / 3];
            format!("{}{letter}", decimal(power(exponent % 3), 0))
        }
        _ => {
            let sign = if exponent < 0 { "⁻" } else { "" };
            let digits = exponent.unsigned_abs().to_string();
            let raised: String = digits.chars().filter_map(|c| Some(SUPERSCRIPT[c.to_digit(10)? as usize])).collect();
            format!("10{sign}{raised}")
        }
    }
}

/// A value on a linear axis: 250, 1.5, 20k, 3M; with a power of ten where that is not readable.
fn plain(value: f64, step: f64) -> String {
    if value.abs() < step / 2.0 {
        return "0".into();
    }
    match step {
        s if (1e-4..1e3).contains(&s) => decimal(value, 6),
        // Multiples of a power of two are sizes, which people know in full.
        s if (1e3..1e9).contains(&s) && s % 1024.0 == 0.0 => decimal(value, 0),
        s if (1e3..1e15).contains(&s) => {
            let units = [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)];
            let fits = |scale: f64| scale <= s * 10.0 && scale <= value.abs();
            let (letter, scale) = units.into_iter().find(|u| fits(u.1)).unwrap_or(("", 1.0));
            format!("{}{letter}", significant(value / scale, 6))
        }
        _ => {
            let exponent = libm::floor(libm::log10(step) + 1e-9) as i32;
            format!("{}·{}", significant(value / power(exponent), 4), power_label(exponent))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Axis) -> Vec<String> {
        axis.ticks().into_iter().filter_map(|t| t.label).collect()
    }

    #[test]
    fn ticks_read_well() {
        assert_eq!(labels(Axis::log(-1, 4, (0.0, 600.0))), ["0.1", "1", "10", "100", "1k", "10k"]);
        assert_eq!(labels(Axis::log(-6, -4, (0.0, 600.0))), ["10⁻⁶", "10⁻⁵", "10⁻⁴"]);
        assert_eq!(
            labels(Axis::times(-1, 6, (0.0, 600.0))),
            ["100 ns", "1 us", "10 us", "100 us", "1 ms", "10 ms", "100 ms", "1 s"]
        );
        assert_eq!(labels(Axis::times(9, 10, (0.0, 600.0))), ["1k s", "10k s"]);
        assert_eq!(labels(Axis::ratio(0.6, 1.3, (0.0, 1.0))), ["0.5", "0.67", "0.8", "1", "1.25", "1.5"]);
        assert_eq!(labels(Axis::ratio(1.0, 7.0, (0.0, 1.0))), ["0.5", "1", "2", "5", "10"]);
        assert_eq!(Axis::ratio(1e-9, 1e9, (0.0, 1.0)).range(), (0.01, 100.0));
        assert_eq!([1.0, 2.0].map(|v| Axis::ratio(0.5, 2.0, (0.0, 8.0)).place(v)), [4.0, 8.0]);
        assert_eq!(labels(Axis::linear(0.0, 97.0, 5, (0.0, 1.0))), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(
            labels(Axis::linear(0.0, 0.0023, 5, (0.0, 1.0))),
            ["0", "0.0005", "0.001", "0.0015", "0.002", "0.0025"]
        );
        assert_eq!(labels(Axis::linear(0.0, 3.0e7, 3, (0.0, 1.0))), ["0", "10M", "20M", "30M"]);
        assert_eq!(labels(Axis::doubling(7, 11, (0.0, 600.0))), ["128", "256", "512", "1024", "2048"]);
        assert_eq!(labels(Axis::doubling(0, 32, (0.0, 160.0))), ["1", "2048", "4194304"]);
        assert_eq!(labels(Axis::binary(0.0, 227.0, 5, (0.0, 1.0))), ["0", "64", "128", "192"]);
        assert_eq!(labels(Axis::binary(1.0, 9000.0, 5, (0.0, 1.0))), ["2048", "4096", "6144", "8192"]);
        assert_eq!(labels(Axis::linear(0.0, 5e4, 5, (0.0, 1.0))), ["0", "10k", "20k", "30k", "40k", "50k"]);
        assert_eq!(labels(Axis::linear(0.0, 3e-9, 3, (0.0, 1.0))), ["0", "1·10⁻⁹", "2·10⁻⁹", "3·10⁻⁹"]);
    }

    #[test]
    fn no_range_breaks_an_axis() {
        for (low, high) in [(0.0, 0.0), (5.0, 5.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (9.0, 3.0), (1e200, 1e201)] {
            for axis in [Axis::linear(low, high, 5, (0.0, 100.0)), Axis::binary(low, high, 5, (0.0, 100.0))] {
                assert!(axis.ticks().iter().all(|t| t.at.is_finite()), "{low} {high}");
                assert!(axis.ticks().len() < 12, "{low} {high}");
            }
        }
        assert!(labels(Axis::log(-300, 300, (0.0, 600.0))).len() <= 15);
    }
}
