//! Predicted against measured times: points around the diagonal.

use super::{Grid, MOST_PANELS, decades, head, look, rows, usable};
use crate::chart::{
    Caption, Chart, Theme,
    axis::Axis,
    canvas::{Canvas, Stroke},
    data::{Table, cell},
    geometry::{Point, Rect},
    page,
};

/// A row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScatterPoint {
    /// Measured time in microseconds.
    pub measured_us: f64,
    /// Predicted time in microseconds.
    pub predicted_us: f64,
    /// Time of the fitted roofline in microseconds; in the data alone.
    pub roofline_us: f64,
}

/// The rows of a GPU, or of whatever sets them apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScatterSeries {
    /// Its name.
    pub label: String,
    /// Its rows.
    pub points: Vec<ScatterPoint>,
    /// Mean of |predicted / measured - 1| in percent.
    pub mean_pct: f64,
    /// Median of the same.
    pub median_pct: f64,
}

/// Predicted against measured times, a panel per series on axes of the same decades.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// Words around the figure.
    pub caption: Caption,
    /// The series, of which the first twelve are drawn.
    pub series: Vec<ScatterSeries>,
}

/// Most points of a panel; more lie on one another.
const MOST_POINTS: usize = 400;

impl Scatter {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let mut text = String::from("Predicted against measured time, both axes logarithmic.");
        for series in &self.series {
            text += &format!(" {}: {}.", series.label, numbers(series).join(" "));
        }
        page::close(&self.canvas(theme), &self.caption, &text, self.csv())
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["series", "measured_us", "predicted_us", "roofline_us", "ratio", "drawn"]);
        for (index, series) in self.series.iter().enumerate() {
            let mut drawn = vec![false; series.points.len()];
            if index < MOST_PANELS {
                chosen(&series.points).into_iter().for_each(|i| drawn[i] = true);
            }
            for (p, drawn) in series.points.iter().zip(drawn) {
                table.row(&[
                    series.label.clone(),
                    cell(p.measured_us),
                    cell(p.predicted_us),
                    cell(p.roofline_us),
                    cell(p.predicted_us / p.measured_us),
                    if drawn { "yes" } else { "no" }.into(),
                ]);
            }
        }
        table.finish()
    }

    pub(in crate::chart) fn canvas(&self, theme: Theme) -> Canvas {
        let shown = &self.series[..self.series.len().min(MOST_PANELS)];
        let grid = Grid::new(shown.len(), [430.0, 280.0, 200.0]);
        let (mut canvas, body) = page::open(&self.caption, &self.subtitle(), theme, grid.height() + 8.0);
        for (index, series) in shown.iter().enumerate() {
            let plot = grid.plot(index, body);
            let all = || shown.iter().flat_map(|s| &s.points).flat_map(|p| [p.measured_us, p.predicted_us]);
            let x = decades(all(), (plot.x0, plot.x1));
            let y = decades(all(), (plot.y1, plot.y0));
            head(&mut canvas, plot, index, &series.label, &numbers(series));
            y.draw_left(&mut canvas, plot, "Predicted time");
            x.draw_below(&mut canvas, plot, "Measured time");
            let (ink, mark) = look(index, &canvas.palette);
            // Points on the pixel of another one are not seen.
            let mut taken = std::collections::BTreeSet::new();
            for point in chosen(&series.points).into_iter().map(|i| series.points[i]) {
                let at = (x.place(point.measured_us).round(), y.place(point.predicted_us).round());
                if Rect::around(at, 0.0, 0.0).outside(&plot) == 0.0 && taken.insert((at.0 as i64, at.1 as i64)) {
                    canvas.dot(at, mark, 2, ink);
                }
            }
            guides(&mut canvas, plot, &x, &y);
        }
        canvas
    }

    fn subtitle(&self) -> String {
        let mut text = String::from("Full line: predicted = measured; dashed: 25 % above and below");
        if self.series.iter().any(|s| s.points.len() > MOST_POINTS) {
            text += &format!("; of more than {MOST_POINTS} rows {MOST_POINTS} are drawn, evenly by measured time");
        }
        if self.series.len() > MOST_PANELS {
            text += &format!("; the first {MOST_PANELS} of {} series", self.series.len());
        }
        text
    }
}

/// "|error|: mean 5.8 %, median 4.1 %; 6,000 rows".
fn numbers(series: &ScatterSeries) -> [String; 3] {
    let ScatterSeries { mean_pct, median_pct, points, .. } = series;
    [format!("|error|: mean {mean_pct:.1} %,"), format!("median {median_pct:.1} %;"), rows(points.len())]
}

/// Places of the points that are drawn: of many, as many from each part of the measured times as lie there.
fn chosen(points: &[ScatterPoint]) -> Vec<usize> {
    let known = |p: &ScatterPoint| usable(p.measured_us) && usable(p.predicted_us);
    let mut order: Vec<usize> = (0..points.len()).filter(|i| known(&points[*i])).collect();
    let by = |i: &usize| (points[*i].measured_us, points[*i].predicted_us);
    order.sort_by(|a, b| by(a).0.total_cmp(&by(b).0).then(by(a).1.total_cmp(&by(b).1)));
    let drawn = order.len().min(MOST_POINTS);
    (0..drawn).map(|i| order[i * order.len() / drawn]).collect()
}

/// The diagonal and the lines 25 % beside it, over the points.
fn guides(canvas: &mut Canvas, plot: Rect, x: &Axis, y: &Axis) {
    let (low, high) = x.range();
    for (factor, dash) in [(1.0, None), (1.25, Some("5 3")), (0.75, Some("5 3"))] {
        let (from, to) = (low.max(low / factor), high.min(high / factor));
        let at = |us: f64| -> Point { (x.place(us), y.place(us * factor)) };
        let inside = |(a, b): Point| (a.clamp(plot.x0, plot.x1), b.clamp(plot.y0, plot.y1));
        let stroke = Stroke { ink: canvas.palette.ink, width: 1, dash };
        canvas.line(inside(at(from)), inside(at(to)), stroke);
    }
}
