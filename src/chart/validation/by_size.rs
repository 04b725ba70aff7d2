//! Errors by measured time: where a model is good, and where a fitted roofline is as good.

use super::{Grid, MOST_PANELS, decades, head, look, rows, usable};
use crate::chart::{
    Caption, Chart, Theme,
    axis::Axis,
    canvas::{Canvas, Stroke, Type},
    data::{Table, cell},
    geometry::{Point, Rect},
    page,
};

/// Rows of about the same measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ErrorBin {
    /// From this time in microseconds.
    pub from_us: f64,
    /// Up to this time in microseconds.
    pub to_us: f64,
    /// Median of the measured times in microseconds, where the bin is drawn.
    pub at_us: f64,
    /// Rows in it.
    pub rows: usize,
    /// 10th, 50th and 90th percentile of predicted / measured.
    pub ratio: [f64; 3],
    /// Mean of |predicted / measured - 1| in percent.
    pub mean_pct: f64,
    /// Median of roofline / measured.
    pub roofline_ratio: f64,
    /// Mean of |roofline / measured - 1| in percent.
    pub roofline_mean_pct: f64,
}

/// The bins of a GPU, or of whatever sets its rows apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorSeries {
    /// Its name.
    pub label: String,
    /// Rows in all.
    pub rows: usize,
    /// Mean of |predicted / measured - 1| over all rows, in percent.
    pub mean_pct: f64,
    /// The same of the roofline fitted to these rows.
    pub roofline_mean_pct: f64,
    /// Bins by rising time.
    pub bins: Vec<ErrorBin>,
}

/// Predicted / measured over measured time with its spread, and below it the mean error of model and roofline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorBySize {
    /// Words around the figure.
    pub caption: Caption,
    /// The series, of which the first twelve are drawn.
    pub series: Vec<ErrorSeries>,
}

/// Fewest rows of a bin for a band: of fewer, a 10th and a 90th percentile are about the least and the most.
pub const FEWEST_OF_BAND: usize = 10;
/// Height of the part with the mean error, and of the space above it, in pixels.
const LOWER: f64 = 84.0;
const BETWEEN: f64 = 18.0;
/// Height of the key above the panels.
const KEY: f64 = 24.0;
/// Dashes of the roofline.
const DASH: &str = "4 2";

impl ErrorBySize {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let mut text = String::from("Predicted / measured and mean error by measured time.");
        for series in &self.series {
            text += &format!(" {}: {}.", series.label, numbers(series).join(" "));
        }
        page::close(&self.canvas(theme), &self.caption, &text, self.csv())
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&[
            "series",
            "from_us",
            "to_us",
            "at_us",
            "rows",
            "ratio_p10",
            "ratio_median",
            "ratio_p90",
            "mean_abs_error_pct",
            "roofline_ratio_median",
            "roofline_mean_abs_error_pct",
        ]);
        for (series, bin) in self.series.iter().flat_map(|s| s.bins.iter().map(move |b| (s, b))) {
            let mut row = vec![series.label.clone(), cell(bin.from_us), cell(bin.to_us), cell(bin.at_us)];
            row.push(bin.rows.to_string());
            row.extend(bin.ratio.map(cell));
            row.extend([bin.mean_pct, bin.roofline_ratio, bin.roofline_mean_pct].map(cell));
            table.row(&row);
        }
        table.finish()
    }

    pub(in crate::chart) fn canvas(&self, theme: Theme) -> Canvas {
        let shown = &self.series[..self.series.len().min(MOST_PANELS)];
        let grid = Grid::new(shown.len(), [380.0, 274.0, 254.0]);
        let mut subtitle = String::from(
            "Upper part: predicted / measured, median of each bin and band of 10 to 90 % of its rows. Lower part: mean |error| of each bin",
        );
        if self.series.len() > MOST_PANELS {
            subtitle += &format!(". The first {MOST_PANELS} of {} series", self.series.len());
        }
        let (mut canvas, mut body) = page::open(&self.caption, &subtitle, theme, KEY + grid.height() + 8.0);
        key(&mut canvas, body);
        body.y0 += KEY;
        let bins = || shown.iter().flat_map(|s| &s.bins).filter(|b| drawable(b));
        let ratios = || bins().flat_map(|b| b.ratio.into_iter().chain([b.roofline_ratio]));
        let (least, most) = (ratios().fold(1.0, f64::min), ratios().fold(1.0, f64::max));
        let worst = bins().flat_map(|b| [b.mean_pct, b.roofline_mean_pct]).fold(0.0, f64::max);
        for (index, series) in shown.iter().enumerate() {
            let whole = grid.plot(index, body);
            let upper = Rect { y1: whole.y1 - LOWER - BETWEEN, ..whole };
            let lower = Rect { y0: whole.y1 - LOWER, ..whole };
            let panel = Panel {
                x: decades(bins().map(|b| b.at_us), (whole.x0, whole.x1)),
                ratio: Axis::ratio(least, most, (upper.y1, upper.y0)),
                error: Axis::linear(0.0, worst, 3, (lower.y1, lower.y0)),
                upper,
                lower,
            };
            head(&mut canvas, whole, index, &series.label, &numbers(series));
            panel.draw(&mut canvas, index, &series.bins);
        }
        canvas
    }
}

/// "mean |error|: 5.8 %, roofline 11.5 %; 6,000 rows".
fn numbers(series: &ErrorSeries) -> [String; 3] {
    let ErrorSeries { mean_pct, roofline_mean_pct, .. } = series;
    [format!("mean |error|: {mean_pct:.1} %,"), format!("roofline {roofline_mean_pct:.1} %;"), rows(series.rows)]
}

fn drawable(bin: &ErrorBin) -> bool {
    let known = |v: f64| v.is_finite() && v >= 0.0;
    usable(bin.at_us)
        && bin.ratio.into_iter().chain([bin.roofline_ratio]).all(usable)
        && known(bin.mean_pct)
        && known(bin.roofline_mean_pct)
}

/// What line and band stand for, in one row.
fn key(canvas: &mut Canvas, body: Rect) {
    let palette = canvas.palette;
    let y = body.y0 + 8.0;
    let mut left = body.x0;
    for (index, words) in
        ["model", "10 to 90 % of the rows", "roofline fitted to the rows of the panel"].into_iter().enumerate()
    {
        match index {
            0 => canvas.line((left, y), (left + 28.0, y), Stroke::new(palette.math, 3)),
            1 => canvas.bar(Rect::new(left, y - 6.0, left + 28.0, y + 6.0), palette.soft(palette.math, BAND)),
            _ => canvas.line((left, y), (left + 28.0, y), Stroke::new(palette.ink, 1).dashed(DASH)),
        }
        let style = Type::new(11.0, palette.ink);
        canvas.text((left + 35.0, y), words, style);
        left += 55.0 + style.room(words).0;
    }
}

/// Share of a series' colour that its band has.
const BAND: f64 = 0.25;

/// One series: axes and plots.
struct Panel {
    x: Axis,
    ratio: Axis,
    error: Axis,
    upper: Rect,
    lower: Rect,
}

impl Panel {
    fn draw(&self, canvas: &mut Canvas, index: usize, bins: &[ErrorBin]) {
        let palette = canvas.palette;
        let (ink, mark) = look(index, &palette);
        let bins: Vec<&ErrorBin> = bins.iter().filter(|b| drawable(b)).collect();
        let (low, high) = self.ratio.range();
        let up = |of: &dyn Fn(&ErrorBin) -> f64| -> Vec<Point> {
            bins.iter().map(|b| (self.x.place(b.at_us), self.ratio.place(of(b).clamp(low, high)))).collect()
        };
        let down = |of: &dyn Fn(&ErrorBin) -> f64| -> Vec<Point> {
            bins.iter().map(|b| (self.x.place(b.at_us), self.error.place(of(b)))).collect()
        };
        let enough = bins.iter().all(|b| b.rows >= FEWEST_OF_BAND);
        let mut band = up(&|b| b.ratio[2]);
        band.extend(up(&|b| b.ratio[0]).into_iter().rev());
        if let &[top, bottom] = band.as_slice() {
            // A lone bin is a bar.
            band =
                vec![(top.0 - 6.0, top.1), (top.0 + 6.0, top.1), (bottom.0 + 6.0, bottom.1), (top.0 - 6.0, bottom.1)];
        }
        if !band.is_empty() && enough {
            canvas.fill(&band, palette.soft(ink, BAND));
        }
        self.ratio.draw_left(canvas, self.upper, "Predicted / measured");
        self.error.draw_left(canvas, self.lower, "Error (%)");
        // Only the grid of the upper part: its ticks and labels stand below the lower one.
        for tick in self.x.ticks().iter().filter(|t| t.label.is_some()) {
            canvas.line((tick.at, self.upper.y0), (tick.at, self.upper.y1), Stroke::new(palette.grid, 1));
        }
        self.x.draw_below(canvas, self.lower, "Measured time");
        let even = self.ratio.place(1.0);
        canvas.line((self.upper.x0, even), (self.upper.x1, even), Stroke::new(palette.axis, 1));
        let thin = Stroke::new(palette.ink, 1).dashed(DASH);
        canvas.path(&up(&|b| b.roofline_ratio), thin);
        canvas.path(&down(&|b| b.roofline_mean_pct), thin);
        for points in [up(&|b| b.ratio[1]), down(&|b| b.mean_pct)] {
            canvas.path(&points, Stroke::new(ink, 3));
            for at in points {
                canvas.dot(at, mark, 3, ink);
            }
        }
    }
}
