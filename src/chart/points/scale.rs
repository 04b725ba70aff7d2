//! How a column lies along a side of a figure: linear, logarithmic, or a slot for each word.

use super::column::Column;
use super::{Points, PointsError};
use crate::chart::{
    axis::Axis,
    canvas::{Align, Canvas, SLACK, Stroke, Type},
    font::elide,
    geometry::Rect,
    terms::unit,
};
use crate::units::short;

/// Which axes are logarithmic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogAxes {
    /// The level one.
    pub x: bool,
    /// The upright one.
    pub y: bool,
}

/// A column along an axis whose pixels are not known yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    pub title: String,
    pub timed: bool,
    pub log: bool,
    /// Lowest and highest value.
    pub low: f64,
    pub high: f64,
    /// Whether all values are whole numbers from 1 on.
    counts: bool,
    /// Whether nearly all are multiples of 16 and large: sizes of matrices.
    sizes: bool,
    words: Option<Vec<String>>,
}

/// A logarithmic axis is chosen from so many times the lowest value on.
const WIDE: f64 = 100.0;
/// Room of a word beside an axis, and the distance of two, in pixels.
const WORD: f64 = 92.0;

impl Scale {
    /// The scale of `column` over `rows`, logarithmic if asked for, or over two decades of positive numbers.
    ///
    /// # Errors
    /// A logarithmic one was asked for, and a value has no place on it.
    pub fn new(points: &Points, column: &Column, rows: &[usize], log: Option<bool>) -> Result<Self, PointsError> {
        let values = || rows.iter().filter_map(|row| column.value(*row));
        let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if let (Some(true), true) = (log, column.is_words()) {
            let problem = format!("`{}`: {} holds words, which have no logarithmic axis", points.file(), column.name);
            return Err(PointsError::Asked(problem));
        }
        let odd = rows.iter().find(|row| column.value(**row).is_some_and(|v| v <= 0.0)).filter(|_| log == Some(true));
        if let Some((row, value)) = odd.and_then(|row| Some((*row, column.value(*row)?))) {
            return Err(PointsError::Log {
                file: points.file().into(),
                line: points.line(row),
                column: column.name.clone(),
                value: short(value, 6),
            });
        }
        let count = values().count();
        let words = column.is_words().then(|| column.levels.iter().map(|l| l.text.clone()).collect());
        Ok(Self {
            title: column.title(),
            timed: column.timed(),
            log: words.is_none() && log.unwrap_or(low > 0.0 && high / low > WIDE),
            low,
            high,
            counts: values().all(|v| (1.0..=4e9).contains(&v) && v.fract() == 0.0),
            sizes: high >= 256.0 && values().filter(|v| v % 16.0 == 0.0).count() * 10 >= count * 9,
            words,
        })
    }

    /// The same, linear where no one asked otherwise and most of the column's values lie in the last decade: evenly spaced
    /// sizes would be squeezed at the end.
    pub fn spaced(self, column: &Column, asked: Option<LogAxes>) -> Self {
        let middle = column.levels.get(column.levels.len() / 2).map_or(0.0, |l| l.value);
        Self { log: self.log && (asked.is_some() || middle * 10.0 < self.high), ..self }
    }

    /// How many values of the column are one on the axis: a time is drawn in the unit that fits.
    fn per(&self) -> (String, f64) {
        if self.timed && !self.log {
            let (unit, per) = unit(self.high);
            return (format!("{} ({unit})", self.title), per);
        }
        (self.title.clone(), 1.0)
    }

    /// The axis over these pixels; `whole` rounds it out, from 0 if nothing is below.
    pub fn over(&self, pixels: (f64, f64), whole: bool) -> Placed {
        let (title, per) = self.per();
        let decades = || {
            let exponent = |v: f64, round: fn(f64) -> f64, slack: f64| round(libm::log10(v) + slack) as i32;
            (exponent(self.low, libm::floor, 1e-9), exponent(self.high, libm::ceil, -1e-9))
        };
        let doublings = || {
            let exponent = |v: f64, round: fn(f64) -> f64, slack: f64| round(libm::log2(v) + slack) as i32;
            (exponent(self.low, libm::floor, 1e-9), exponent(self.high, libm::ceil, -1e-9))
        };
        let (low, high) = (self.low / per, self.high / per);
        // Sizes are written in full, other numbers with the letters of thousands.
        let label = if self.sizes { short(high.round(), 12).len() as f64 * 7.0 + 12.0 } else { 60.0 };
        let ticks = ((pixels.1 - pixels.0).abs() / if whole { 40.0 } else { label }).clamp(2.0, 10.0) as u32;
        let axis = match &self.words {
            Some(words) => return Placed { title, per, on: On::Slots(words.clone(), pixels) },
            None if self.log && self.timed => Axis::times(decades().0, decades().1, pixels),
            None if self.log && self.counts => Axis::doubling(doublings().0, doublings().1, pixels),
            None if self.log => Axis::log(decades().0, decades().1, pixels),
            None if whole => Axis::linear(if low >= 0.0 { 0.0 } else { low }, high, ticks, pixels),
            None if self.sizes && high > low => Axis::binary(low, high, ticks, pixels),
            None => Axis::exact(low, high, ticks, pixels),
        };
        Placed { title, per, on: On::Axis(axis) }
    }
}

/// A column along an axis.
pub(super) struct Placed {
    title: String,
    per: f64,
    on: On,
}

enum On {
    Axis(Axis),
    Slots(Vec<String>, (f64, f64)),
}

impl Placed {
    /// The pixel of a value.
    pub fn place(&self, value: f64) -> f64 {
        match &self.on {
            On::Axis(axis) => axis.place(value / self.per),
            On::Slots(words, (from, to)) => from + (value + 0.5) / words.len().max(1) as f64 * (to - from),
        }
    }

    pub fn draw_below(&self, canvas: &mut Canvas, plot: Rect) {
        match &self.on {
            On::Axis(axis) => axis.draw_below(canvas, plot, &self.title),
            On::Slots(words, _) => slots_below(canvas, plot, words, &self.title),
        }
    }

    pub fn draw_left(&self, canvas: &mut Canvas, plot: Rect) {
        match &self.on {
            On::Axis(axis) => axis.draw_left(canvas, plot, &self.title),
            On::Slots(words, _) => slots_left(canvas, plot, words, &self.title),
        }
    }
}

/// The first slot with a name and the distance to the next, at least so many slots: round numbers where they are evenly
/// spaced.
fn named(words: &[String], slots: f64) -> (usize, usize) {
    let steps = [1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200, 256, 400];
    let every = steps.into_iter().find(|every| *every as f64 >= slots).unwrap_or(400);
    let value = |index: usize| words.get(index).and_then(|w| w.parse::<f64>().ok());
    let (Some(a), Some(b)) = (value(0), value(1)) else { return (0, every) };
    let round = |index: &usize| value(*index).is_some_and(|v| v % ((b - a) * every as f64) == 0.0);
    ((0..every).find(round).unwrap_or(0), every)
}

/// Slots of one width below `plot`, as many of them named as there is room for.
pub(super) fn slots_below(canvas: &mut Canvas, plot: Rect, words: &[String], title: &str) {
    let palette = canvas.palette;
    let style = Type::new(11.0, palette.muted).align(Align::Middle);
    let words: Vec<String> = words.iter().map(|w| elide(w, 11.0, false, WORD / SLACK)).collect();
    let widest = words.iter().map(|w| style.room(w).0).fold(0.0, f64::max);
    let slot = plot.width() / words.len().max(1) as f64;
    let (first, every) = named(&words, (widest + 8.0) / slot);
    for (index, word) in words.iter().enumerate().skip(first).step_by(every) {
        let at = plot.x0 + slot * (index as f64 + 0.5);
        canvas.line((at, plot.y1), (at, plot.y1 + 6.0), Stroke::new(palette.axis, 1));
        canvas.text((at, plot.y1 + 15.0), word, style);
    }
    canvas.line((plot.x0, plot.y1), (plot.x1, plot.y1), Stroke::new(palette.axis, 1));
    let title = elide(title, 12.0, false, plot.width() / SLACK);
    canvas.text((plot.center().0, plot.y1 + 34.0), &title, Type::new(12.0, palette.ink).align(Align::Middle));
}

/// Slots of one height left of `plot`, from below.
pub(super) fn slots_left(canvas: &mut Canvas, plot: Rect, words: &[String], title: &str) {
    let palette = canvas.palette;
    let style = Type::new(11.0, palette.muted).align(Align::End);
    let slot = plot.height() / words.len().max(1) as f64;
    let (first, every) = named(words, 1.3 * style.room("0").1 / slot);
    let mut widest = 0.0_f64;
    for (index, word) in words.iter().enumerate().skip(first).step_by(every) {
        let at = plot.y1 - slot * (index as f64 + 0.5);
        let word = elide(word, 11.0, false, WORD / SLACK);
        widest = widest.max(style.room(&word).0);
        canvas.line((plot.x0 - 6.0, at), (plot.x0, at), Stroke::new(palette.axis, 1));
        canvas.text((plot.x0 - 9.0, at), &word, style);
    }
    canvas.line((plot.x0, plot.y0), (plot.x0, plot.y1), Stroke::new(palette.axis, 1));
    let style = Type::new(12.0, palette.ink).align(Align::Middle).turned(-90.0);
    let title = elide(title, 12.0, false, plot.height() / SLACK);
    let aside = (9.0 + widest + style.room(&title).1 / 2.0 + 1.0).max(52.0);
    canvas.text((plot.x0 - aside, plot.center().1), &title, style);
}
