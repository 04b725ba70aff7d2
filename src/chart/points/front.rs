//! Points over two columns, of which less is better: the best ones joined and named, the others pale.

use std::collections::BTreeSet;

use super::parts::{Curves, KEY_ROW, draw_key, key, shortened};
use super::scale::{LogAxes, Scale};
use super::{Points, PointsError};
use crate::chart::{
    Caption, Chart, MOST_SERIES, Theme,
    canvas::{Canvas, SLACK, Stroke, Type},
    data::{Table, cell},
    font::elide,
    geometry::{Point, Rect},
    labels::{ALL_RINGS, Surroundings, Wanted, draw, place},
    page,
    sweep::look,
};
use crate::units::{counted, grouped, significant};

/// What is drawn against what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrontAsked {
    /// The level column, numbers.
    pub x: String,
    /// The upright column, numbers.
    pub y: String,
    /// The columns whose cells have colours; none: the GPU, where there are at most six.
    pub by: Vec<String>,
    /// Columns of which more is better.
    pub max: Vec<String>,
    /// Which axes are logarithmic; absent: those over more than two decades.
    pub log: Option<LogAxes>,
}

/// A row of the figure.
#[derive(Clone, Debug, PartialEq)]
struct Dot {
    x: f64,
    y: f64,
    /// Which colour it has.
    series: usize,
    label: String,
    best: bool,
}

/// The points that no other one beats in both columns, as a staircase; the others are pale.
#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    caption: Caption,
    subtitle: String,
    x: Scale,
    y: Scale,
    /// Whether more is better.
    more: [bool; 2],
    dots: Vec<Dot>,
    key: Vec<String>,
    names: [String; 2],
}

const HEIGHT: f64 = 430.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 16.0;
const BELOW: f64 = 46.0;
/// Most points with a name, and most pixels of one.
const NAMED: usize = 24;
const NAME: f64 = 190.0;
/// Most pale points; of more, one for each square of pixels, ever larger ones.
const PALE: usize = 6000;

impl Front {
    /// The figure of a table.
    ///
    /// # Errors
    /// No such column, no row to draw, more than six colours asked for, a value without a place on the axes asked for.
    pub fn new(points: &Points, asked: &FrontAsked) -> Result<Self, PointsError> {
        let mut by = asked.by.clone();
        if let Some(odd) = asked.max.iter().find(|m| **m != asked.x && **m != asked.y) {
            let problem = format!("--max {odd} is on no axis; it takes {} or {}", asked.x, asked.y);
            return Err(PointsError::Asked(format!("`{}`: {problem}", points.file())));
        }
        if by.is_empty() {
            let has = |name: &&&str| points.has(name) && **name != asked.x && **name != asked.y;
            if let Some(name) = ["gpu_name", "gpu"].iter().find(has)
                && points.column(name)?.levels.len() <= MOST_SERIES
            {
                by.push((*name).into());
            }
        }
        let mut curves = Curves::new(points, &asked.x, &asked.y, &by)?;
        curves.x = curves.x.numeric(points)?;
        let rows = curves.rows(points)?;
        let x = Scale::new(points, &curves.x, &rows, asked.log.map(|l| l.x))?;
        let y = Scale::new(points, &curves.y, &rows, asked.log.map(|l| l.y))?;
        let (series, _) = curves.series(rows.iter().copied());
        curves.few(points, series.len(), "")?;
        let more = [asked.max.contains(&asked.x), asked.max.contains(&asked.y)];
        // What a point is called: what was varied, and is not told by axes and colours.
        let mut besides: Vec<&str> = vec![&asked.x, &asked.y];
        besides.extend(by.iter().map(String::as_str));
        if by.iter().any(|b| b == "gpu_name") {
            besides.push("gpu");
        }
        let mut varied = points.varied(&besides);
        // Of more GPUs than there are colours the points have the names.
        if by.is_empty() && points.has("gpu_name") && !points.has("gpu") {
            varied.insert(0, "gpu_name".into());
        }
        let varied: Vec<_> = varied.iter().map(|name| points.column(name)).collect::<Result<_, _>>()?;
        let mut dots: Vec<Dot> = Vec::new();
        for (index, one) in series.iter().enumerate() {
            for sample in &one.samples {
                let Some(y) = sample.y else { continue };
                let key: Vec<_> = varied.iter().map(|c| c.of_row[sample.row]).collect();
                let own = super::parts::label(&varied, &key);
                let label = match (one.label.is_empty() || series.len() == 1, own.is_empty()) {
                    (true, _) => own,
                    (false, true) => one.label.clone(),
                    (false, false) => format!("{}: {own}", one.label),
                };
                dots.push(Dot { x: sample.x, y, series: index, label, best: false });
            }
        }
        let best = mark_best(&mut dots, more);
        let left = points.len() - dots.len();
        let mut notes = vec![String::new()];
        if left > 0 {
            let either = format!("{} or {}", asked.x, asked.y);
            notes.push(points.failed(left as u64, &either, ", left out"));
        }
        let side = |more: bool| if more { "more" } else { "less" };
        notes[0] = format!(
            "Joined: {} of {} that no other one beats in both; of {} {} is better, of {} {}{}",
            grouped(best as u64),
            counted(dots.len() as u64, "point"),
            shortened(&x.title, 60),
            side(more[0]),
            shortened(&y.title, 60),
            side(more[1]),
            match best {
                0 | 1 => String::new(),
                few if few <= NAMED => "; named where there is room".into(),
                _ => format!("; {NAMED} of them named where there is room"),
            }
        );
        let title = format!("{} against {}", y.title, x.title);
        let key = series.iter().map(|s| s.label.clone()).filter(|l| !l.is_empty()).collect();
        let caption = points.caption(title);
        Ok(Self {
            caption,
            subtitle: notes.join(". "),
            x,
            y,
            more,
            dots,
            key,
            names: [asked.x.clone(), asked.y.clone()],
        })
    }

    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let mut text = format!("{}. {}.", self.caption.title, self.subtitle);
        for dot in self.front().into_iter().take(NAMED) {
            let (x, y) = (significant(dot.x, 4), significant(dot.y, 4));
            text += &format!(" {}: {} {x}, {} {y}.", dot.label, self.names[0], self.names[1]);
        }
        page::close(&self.canvas(theme), &self.caption, &text, self.csv())
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["series", "point", &self.names[0], &self.names[1], "best"]);
        for dot in &self.dots {
            let series = self.key.get(dot.series).map_or("", String::as_str);
            let best = if dot.best { "yes" } else { "no" };
            table.row(&[series, dot.label.as_str(), &cell(dot.x), &cell(dot.y), best]);
        }
        table.finish()
    }

    /// The best points, by rising x.
    fn front(&self) -> Vec<&Dot> {
        let mut best: Vec<&Dot> = self.dots.iter().filter(|d| d.best).collect();
        best.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        best
    }

    pub(in crate::chart) fn canvas(&self, theme: Theme) -> Canvas {
        let rows = key(&self.key, page::WIDTH - 2.0 * page::BORDER);
        let above = KEY_ROW * rows.len() as f64 + 8.0;
        let (mut canvas, body) = page::open(&self.caption, &self.subtitle, theme, above + HEIGHT + BELOW);
        draw_key(&mut canvas, &rows, body, false);
        let plot = Rect::new(body.x0 + LEFT, body.y0 + above, body.x1 - RIGHT, body.y0 + above + HEIGHT);
        let x = self.x.over((plot.x0, plot.x1), true);
        let y = self.y.over((plot.y1, plot.y0), true);
        x.draw_below(&mut canvas, plot);
        y.draw_left(&mut canvas, plot);
        let at = |dot: &Dot| -> Point { (x.place(dot.x), y.place(dot.y)) };
        let pale: Vec<(Point, usize)> = self.dots.iter().filter(|d| !d.best).map(|d| (at(d), d.series)).collect();
        for (at, series) in apart(&pale) {
            let (ink, _, mark, _) = look(series, &canvas.palette);
            let ink = canvas.palette.soft(ink, 0.45);
            canvas.dot(at, mark, 2, ink);
        }
        let front = self.front();
        let places: Vec<Point> = front.iter().map(|d| at(d)).collect();
        // A point that lies between two neighbours can be had from the one that is no worse in x.
        let mut stairs: Vec<Point> = Vec::new();
        for place in &places {
            if let Some((left, height)) = stairs.last().copied() {
                stairs.push(if self.more[0] { (left, place.1) } else { (place.0, height) });
            }
            stairs.push(*place);
        }
        let stroke = Stroke::new(canvas.palette.ink, 1).dashed("5 3");
        canvas.path(&super::parts::thin(&stairs), stroke);
        let mut drawn = BTreeSet::new();
        for (dot, place) in front.iter().zip(&places) {
            let (ink, _, mark, hollow) = look(dot.series, &canvas.palette);
            if drawn.insert((place.0.round() as i64, place.1.round() as i64, dot.series)) {
                canvas.mark(*place, mark, ink, hollow);
            }
        }
        let around = Surroundings {
            plot: Rect::new(plot.x0, plot.y0, body.x1, plot.y1),
            markers: places.iter().take(400).map(|p| Rect::around(*p, 12.0, 12.0)).collect(),
            texts: Vec::new(),
            lines: stairs.windows(2).take(800).map(|w| (w[0], w[1])).collect(),
        };
        let style = Type::new(11.0, canvas.palette.ink).halo();
        let count = front.len().min(NAMED);
        let named = (0..count).map(|i| if count > 1 { i * (front.len() - 1) / (count - 1) } else { 0 });
        let wanted: Vec<Wanted> = named
            .map(|i| Wanted {
                at: places[i],
                text: elide(&front[i].label, 11.0, false, NAME / SLACK),
                style,
                rings: ALL_RINGS,
            })
            .filter(|w| !w.text.is_empty())
            .collect();
        let placed = place(&wanted, &around);
        draw(&mut canvas, &wanted, &placed);
        canvas
    }
}

/// Marks the points that no other one beats: as good in both and better in one.
fn mark_best(dots: &mut [Dot], more: [bool; 2]) -> usize {
    let cost = |d: &Dot| (if more[0] { -d.x } else { d.x }, if more[1] { -d.y } else { d.y });
    let mut order: Vec<usize> = (0..dots.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (cost(&dots[*a]), cost(&dots[*b]));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let mut best: Option<(f64, f64)> = None;
    let mut count = 0;
    for index in order {
        let own = cost(&dots[index]);
        // An equal point is no worse one.
        if best.is_none_or(|b| own.1 < b.1 || own == b) {
            dots[index].best = true;
            best = Some(own);
            count += 1;
        }
    }
    count
}

/// At most so many of the points, one for each square of pixels; the outermost ones are among them.
fn apart(points: &[(Point, usize)]) -> Vec<(Point, usize)> {
    let by = |key: fn(&Point) -> f64| {
        let order = move |a: &usize, b: &usize| key(&points[*a].0).total_cmp(&key(&points[*b].0));
        [(0..points.len()).min_by(order), (0..points.len()).max_by(order)]
    };
    let outer: Vec<usize> = [by(|p| p.0), by(|p| p.1)].into_iter().flatten().flatten().collect();
    for side in [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0] {
        let mut taken = BTreeSet::new();
        let mut kept = Vec::new();
        for index in outer.iter().copied().chain(0..points.len()) {
            let ((x, y), series) = points[index];
            if taken.insert(((x / side).round() as i64, (y / side).round() as i64, series)) {
                kept.push(points[index]);
            }
        }
        if kept.len() <= PALE || side == 12.0 {
            return kept;
        }
    }
    Vec::new()
}
