//! Families of lines over one column.

use super::parts::{Curves, Series, curve, sample, word};
use super::scale::{LogAxes, Scale};
use super::{Points, PointsError};
use crate::chart::{
    Bound, Caption, Chart, Theme,
    canvas::{Align, Canvas, SLACK, Stroke, Type},
    font::elide,
    geometry::{Point, Rect},
    page,
};
use crate::units::{counted, significant};

/// What is drawn over what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinesAsked {
    /// The level column: numbers, quantities or words.
    pub x: String,
    /// The upright column, numbers.
    pub y: String,
    /// The columns whose cells set curves apart.
    pub by: Vec<String>,
    /// Which axes are logarithmic; absent: those over more than two decades.
    pub log: Option<LogAxes>,
}

/// Up to six curves with their names at the right; a single one with what binds it in a strip.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    caption: Caption,
    subtitle: String,
    x: Scale,
    y: Scale,
    series: Vec<Series>,
    csv: String,
}

/// Height of the plot; pixels left and below it, and right of it with names and without.
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 66.0;
const BELOW: f64 = 46.0;
const RIGHT: f64 = 210.0;
const BARE: f64 = 16.0;
/// Height of the strip of bounds with the space below it, and of a name.
const STRIP: f64 = 15.0;
const STRIP_ROW: f64 = 24.0;
const NAME: f64 = 16.0;

impl Lines {
    /// The figure of a table.
    ///
    /// # Errors
    /// No such column, no row to draw, more than six curves, a value without a place on the axes asked for.
    pub fn new(points: &Points, asked: &LinesAsked) -> Result<Self, PointsError> {
        let curves = Curves::new(points, &asked.x, &asked.y, &asked.by)?;
        let rows = curves.rows(points)?;
        let x = Scale::new(points, &curves.x, &rows, asked.log.map(|l| l.x))?.spaced(&curves.x, asked.log);
        let y = Scale::new(points, &curves.y, &rows, asked.log.map(|l| l.y))?;
        let (series, empty) = curves.series(0..points.len());
        curves.few(points, series.len(), ", or draw panels: chart multiples --panels")?;
        let mut said = curves.notes(points, &series, &empty);
        if let ([one], true) = (series.as_slice(), curves.bounds.iter().any(Option::is_some)) {
            match runs(one).as_slice() {
                [] => {}
                [(bound, ..)] => said.insert(0, format!("Bound throughout: {}", word(*bound))),
                _ => said.insert(0, "Strip: what binds (high math, middle memory, low latency)".into()),
            }
        }
        let title = format!("{} over {}", y.title, x.title);
        let caption = points.caption(title);
        let csv = curves.csv(None, &[("", &series)]);
        Ok(Self { caption, subtitle: said.join(". "), x, y, series, csv })
    }

    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        page::close(&self.canvas(theme), &self.caption, &described(&self.caption.title, &self.series), self.csv.clone())
    }

    pub(in crate::chart) fn canvas(&self, theme: Theme) -> Canvas {
        let named = self.series.iter().any(|s| !s.label.is_empty());
        let strip = match self.series.as_slice() {
            [one] => runs(one),
            _ => Vec::new(),
        };
        let above = if strip.len() > 1 { STRIP_ROW } else { 0.0 };
        let (mut canvas, body) = page::open(&self.caption, &self.subtitle, theme, above + HEIGHT + BELOW);
        let right = body.x1 - if named { RIGHT } else { BARE };
        let plot = Rect::new(body.x0 + LEFT, body.y0 + above, right, body.y0 + above + HEIGHT);
        let x = self.x.over((plot.x0, plot.x1), false);
        let y = self.y.over((plot.y1, plot.y0), true);
        x.draw_below(&mut canvas, plot);
        y.draw_left(&mut canvas, plot);
        if strip.len() > 1 {
            let place = |at: f64| x.place(at);
            draw_strip(&mut canvas, &strip, plot, body.y0, &place);
        }
        let mut ends: Vec<(usize, Point)> = Vec::new();
        for (index, series) in self.series.iter().enumerate() {
            if let Some(end) = curve(&mut canvas, series, index, (&x, &y), named) {
                ends.push((index, end));
            }
        }
        if named {
            self.names(&mut canvas, plot, ends);
        }
        canvas
    }

    /// The names at the right, each as near to the end of its curve as the others let it.
    fn names(&self, canvas: &mut Canvas, plot: Rect, mut ends: Vec<(usize, Point)>) {
        ends.sort_by(|a, b| a.1.1.total_cmp(&b.1.1).then(a.0.cmp(&b.0)));
        let mut heights: Vec<f64> = Vec::new();
        for (_, (_, y)) in &ends {
            heights.push(heights.last().map_or(*y, |above| y.max(above + NAME)));
        }
        let mut below = plot.y1 + NAME;
        for height in heights.iter_mut().rev() {
            *height = height.min(below - NAME);
            below = *height;
        }
        let style = Type::new(12.0, canvas.palette.ink);
        for ((index, (x, y)), height) in ends.into_iter().zip(heights) {
            let left = plot.x1 + 10.0;
            canvas.line((x + 7.0, y), (left, height), Stroke::new(canvas.palette.grid, 1));
            sample(canvas, (left + 4.0, height), index, true);
            let name = elide(&self.series[index].label, 12.0, false, (RIGHT - 52.0) / SLACK);
            canvas.text((left + 40.0, height), &name, style);
        }
    }
}

/// What a figure shows, for those who cannot see it: the ends of up to twelve curves.
pub(super) fn described(title: &str, series: &[Series]) -> String {
    let mut text = format!("{title}.");
    for one in series.iter().take(12) {
        let known: Vec<f64> = one.samples.iter().filter_map(|s| s.y).collect();
        let (least, most) = known.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
        let name = if one.label.is_empty() { "The curve" } else { &one.label };
        if known.is_empty() {
            text += &format!(" {name}: no value.");
        } else {
            let (first, last) = (known[0], known[known.len() - 1]);
            let of = [first, last, least, most].map(|v| significant(v, 3));
            text += &format!(
                " {name}: {}, first {}, last {}, lowest {}, highest {}.",
                counted(known.len() as u64, "point"),
                of[0],
                of[1],
                of[2],
                of[3]
            );
        }
    }
    text
}

/// A part of a curve with one bound: the bound, the first and the last x.
type Run = (Bound, f64, f64);

/// The runs of a curve along x.
fn runs(series: &Series) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for sample in series.samples.iter().filter(|s| s.y.is_some()) {
        let Some(bound) = sample.bound else { continue };
        match runs.last_mut() {
            Some(run) if run.0 == bound => run.2 = sample.x,
            _ => runs.push((bound, sample.x, sample.x)),
        }
    }
    runs
}

/// What binds along the curve, named where there is room; the heights differ for eyes that see no colour.
fn draw_strip(canvas: &mut Canvas, runs: &[Run], plot: Rect, top: f64, place: &dyn Fn(f64) -> f64) {
    let palette = canvas.palette;
    canvas.text((plot.x0 - 9.0, top + STRIP / 2.0), "Bound", Type::new(11.0, palette.muted).align(Align::End));
    let style = Type::new(11.0, palette.ink).align(Align::Middle);
    let mut from = place(runs[0].1);
    for (index, (bound, _, last)) in runs.iter().enumerate() {
        // It changes somewhere between two points.
        let to = runs.get(index + 1).map_or(place(*last), |next| (place(*last) + place(next.1)) / 2.0);
        if to.round() <= from.round() {
            continue;
        }
        let height = match bound {
            Bound::Math => STRIP,
            Bound::Memory => STRIP * 2.0 / 3.0,
            Bound::Latency => STRIP / 3.0,
        };
        let ink = palette.soft(bound.ink(&palette), 0.35);
        canvas.bar(Rect::new(from, top + STRIP - height, to, top + STRIP), ink);
        if style.room(word(*bound)).0 + 6.0 <= to - from {
            canvas.text(((from + to) / 2.0, top + STRIP / 2.0), word(*bound), style.halo());
        }
        canvas.line((from, top), (from, top + STRIP), Stroke::new(palette.axis, 1));
        from = to;
    }
}
