//! A tornado: how far each parameter moves the time from its base, the widest on top.

use super::parts::shortened;
use super::table::amount;
use super::{Points, PointsError};
use crate::chart::{
    Caption, Chart, Theme,
    axis::Axis,
    canvas::{Align, Canvas, SLACK, Stroke, Type},
    data::{Table, cell, optional},
    font::elide,
    geometry::Rect,
    page,
    terms::{time, unit},
};
use crate::units::{counted, significant};

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
struct Bar {
    name: String,
    /// The parameter at both ends, as in the table.
    values: [String; 2],
    /// The time at both ends in microseconds.
    times: [f64; 2],
    elasticity: Option<f64>,
}

/// Bars from the base to the time at the low and at the high end of each parameter; at most twenty are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Tornado {
    caption: Caption,
    subtitle: String,
    base: f64,
    bars: Vec<Bar>,
}

/// Most parameters that are drawn.
const MOST: usize = 20;
/// Height of a row and of its bar; pixels for names, beside the bars on each side, and for the elasticity.
const ROW: f64 = 30.0;
const BAR: f64 = 14.0;
const NAMES: f64 = 230.0;
const ASIDE: f64 = 140.0;
const LAST: f64 = 70.0;
const HEAD: f64 = 20.0;

impl Tornado {
    /// The figure of a table with the columns `parameter`, `low_value`, `high_value`, `low_us`, `base_us`, `high_us` and,
    /// if there is one, `elasticity`.
    ///
    /// # Errors
    /// A column is absent, a time is no number, the base is not the same in all rows, no row has all three times.
    pub fn new(points: &Points) -> Result<Self, PointsError> {
        let number = |name: &str| points.column(name)?.numeric(points);
        for name in ["parameter", "low_value", "high_value"] {
            points.column(name)?;
        }
        let [low, base, high] = [number("low_us")?, number("base_us")?, number("high_us")?];
        let elasticity = if points.has("elasticity") { Some(number("elasticity")?) } else { None };
        let mut bars: Vec<Bar> = Vec::new();
        let mut first: Option<(f64, u64)> = None;
        let words = points.texts("parameter").zip(points.texts("low_value")).zip(points.texts("high_value"));
        for (row, ((name, low_value), high_value)) in words.enumerate() {
            let (Some(a), Some(middle), Some(b)) = (low.value(row), base.value(row), high.value(row)) else { continue };
            match first {
                None => first = Some((middle, points.line(row))),
                Some((other, line)) if (middle - other).abs() > other.abs() * 1e-6 => {
                    return Err(PointsError::Asked(format!(
                        "`{}`, line {}: base_us = {} is not the {} of line {line}; one chart has one base: split the table",
                        points.file(),
                        points.line(row),
                        significant(middle, 6),
                        significant(other, 6)
                    )));
                }
                Some(_) => {}
            }
            bars.push(Bar {
                name: name.to_owned(),
                values: [amount(low_value), amount(high_value)],
                times: [a, b],
                elasticity: elasticity.as_ref().and_then(|e| e.value(row)),
            });
        }
        let Some((base, _)) = first else {
            return Err(points.nothing("low_us, base_us and high_us together".into()));
        };
        let spread = |bar: &Bar| {
            let [a, b] = bar.times;
            a.max(b).max(base) - a.min(b).min(base)
        };
        bars.sort_by(|a, b| spread(b).total_cmp(&spread(a)).then(a.name.cmp(&b.name)));
        let mut notes = vec![format!(
            "The time with one parameter changed, from {}: hollow at its low value, full at its high value",
            time(base)
        )];
        if bars.len() > MOST {
            notes.push(format!("Drawn: the {MOST} of {} that matter most", counted(bars.len() as u64, "parameter")));
        }
        if bars.len() < points.len() {
            notes.push(format!("{} without a time left out", counted((points.len() - bars.len()) as u64, "parameter")));
        }
        let mut caption = points.caption("Sensitivity of the time".into());
        // The columns of a tornado are its bars; nothing in them is fixed.
        caption
            .assumptions
            .retain(|a| !["base_us", "parameter", "low_", "high_"].iter().any(|name| a.starts_with(name)));
        caption.assumptions.retain(|a| !a.starts_with("elasticity"));
        Ok(Self { caption, subtitle: notes.join(". "), base, bars })
    }

    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let mut text = format!("{}. Base {}.", self.subtitle, time(self.base));
        for bar in self.bars.iter().take(MOST) {
            text += &format!(" {}: {}, {}.", shortened(&bar.name, 60), bar.words(0), bar.words(1));
        }
        page::close(&self.canvas(theme), &self.caption, &text, self.csv())
    }

    fn csv(&self) -> String {
        let header = ["parameter", "low_value", "high_value", "low_us", "base_us", "high_us", "elasticity", "drawn"];
        let mut table = Table::new(&header);
        for (index, bar) in self.bars.iter().enumerate() {
            let [low, high] = &bar.values;
            let times = [bar.times[0], self.base, bar.times[1]].map(cell);
            let drawn = if index < MOST { "yes" } else { "no" };
            let row = [&bar.name, low, high, &times[0], &times[1], &times[2], &optional(bar.elasticity)];
            table.row(&row.into_iter().map(String::as_str).chain([drawn]).collect::<Vec<_>>());
        }
        table.finish()
    }

    pub(in crate::chart) fn canvas(&self, theme: Theme) -> Canvas {
        let shown = &self.bars[..self.bars.len().min(MOST)];
        let height = ROW * shown.len() as f64;
        let (mut canvas, body) = page::open(&self.caption, &self.subtitle, theme, HEAD + height + 46.0);
        let palette = canvas.palette;
        let elastic = shown.iter().any(|b| b.elasticity.is_some());
        let right = body.x1 - ASIDE - if elastic { LAST } else { 0.0 };
        let plot = Rect::new(body.x0 + NAMES + ASIDE, body.y0 + HEAD, right, body.y0 + HEAD + height);
        let times = || shown.iter().flat_map(|b| b.times).chain([self.base]);
        let (low, high) = times().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let (name, per) = unit(high);
        let axis = Axis::exact(low / per, high / per, 4, (plot.x0, plot.x1));
        axis.draw_below(&mut canvas, plot, &format!("Time ({name})"));
        let place = |us: f64| axis.place(us / per);
        let base = place(self.base);
        let muted = Type::new(11.0, palette.muted);
        canvas.text((base, body.y0 + 8.0), &time(self.base), Type::new(11.0, palette.ink).bold().align(Align::Middle));
        if elastic {
            canvas.text((body.x1, body.y0 + 8.0), "elasticity", muted.align(Align::End));
        }
        for (index, bar) in shown.iter().enumerate() {
            let y = plot.y0 + ROW * (index as f64 + 0.5);
            let name = elide(&bar.name, 12.0, false, (NAMES - 10.0) / SLACK);
            canvas.text((body.x0, y), &name, Type::new(12.0, palette.ink));
            if let Some(elasticity) = bar.elasticity {
                canvas.text((body.x1, y), &significant(elasticity, 3), muted.align(Align::End));
            }
            bar.draw(&mut canvas, (base, y), bar.times.map(place));
        }
        canvas.line((base, plot.y0), (base, plot.y1), Stroke::new(palette.ink, 1));
        canvas
    }
}

impl Bar {
    /// "3.35 TB/s: 12.3 us".
    fn words(&self, end: usize) -> String {
        format!("{}: {}", self.values[end], time(self.times[end]))
    }

    /// Both halves from the base, beside one another where they go to the same side, and the words at their ends.
    fn draw(&self, canvas: &mut Canvas, (base, y): (f64, f64), ends: [f64; 2]) {
        let palette = canvas.palette;
        let same = (ends[0] - base) * (ends[1] - base) > 0.0;
        for end in 0..2 {
            let (top, bottom) = match (same, end) {
                (false, _) => (y - BAR / 2.0, y + BAR / 2.0),
                (true, 0) => (y - BAR / 2.0, y - 1.0),
                (true, _) => (y + 1.0, y + BAR / 2.0),
            };
            let (x0, x1) = (base.min(ends[end]), base.max(ends[end]));
            if x1 - x0 < 0.5 {
                continue;
            }
            let ink = [palette.math, palette.memory][end];
            canvas.bar(Rect::new(x0, top, x1, bottom), ink);
            if end == 0 && x1 - x0 > 4.0 {
                canvas.bar(Rect::new(x0 + 2.0, top + 2.0, x1 - 2.0, bottom - 2.0), palette.background);
            }
        }
        let style = Type::new(11.0, palette.muted).halo();
        let short = |text: String| elide(&text, 11.0, false, (ASIDE - 10.0) / SLACK);
        if same {
            // Both words behind the longer one, above one another.
            let right = ends[0] > base;
            let (at, align) = if right {
                (ends[0].max(ends[1]) + 6.0, Align::Start)
            } else {
                (ends[0].min(ends[1]) - 6.0, Align::End)
            };
            for end in 0..2 {
                let style = Type { size: 10.0, ..style }.align(align);
                canvas.text((at, y + [-7.0, 7.0][end]), &short(self.words(end)), style);
            }
            return;
        }
        // The lower time stands at the left; where neither moves, the low value does.
        let left = usize::from(ends[1] < base || ends[0] > base);
        for (end, at, align) in
            [(left, ends[left].min(base) - 6.0, Align::End), (1 - left, ends[1 - left].max(base) + 6.0, Align::Start)]
        {
            canvas.text((at, y), &short(self.words(end)), style.align(align));
        }
    }
}
