//! What several figures of points share: series, thinned curves, the key, what is said of rows left out.

use std::collections::BTreeMap;

use super::column::{Column, Kind, short};
use super::scale::Placed;
use super::table::amount;
use super::{Points, PointsError};
use crate::chart::{
    Bound, MOST_SERIES,
    canvas::{Canvas, Stroke, Type},
    data::{Table, optional},
    font::elide,
    geometry::{Point, Rect},
    sweep::look,
};
use crate::units::counted;

/// A row on a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub x: f64,
    pub y: Option<f64>,
    pub bound: Option<Bound>,
    pub row: usize,
}

/// Rows with the same cells in the columns that set series apart, by rising x.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub key: Vec<Option<usize>>,
    pub label: String,
    pub samples: Vec<Sample>,
}

/// The columns of a figure of curves.
pub(super) struct Curves {
    pub x: Column,
    pub y: Column,
    pub by: Vec<Column>,
    pub bounds: Vec<Option<Bound>>,
}

impl Curves {
    /// The columns by their names.
    ///
    /// # Errors
    /// No such column, a y that is no number, one column twice.
    pub fn new(points: &Points, x: &str, y: &str, by: &[String]) -> Result<Self, PointsError> {
        if x == y || by.iter().any(|b| b == x || b == y) {
            let problem = format!("`{}`: --x, --y and --by need columns that differ", points.file());
            return Err(PointsError::Asked(problem));
        }
        let x = points.column(x)?;
        let y = points.column(y)?.numeric(points)?;
        let by = by.iter().map(|name| points.column(name)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { x, y, by, bounds: points.texts("bound").map(bound).collect() })
    }

    /// The rows that have both values.
    ///
    /// # Errors
    /// There is none.
    pub fn rows(&self, points: &Points) -> Result<Vec<usize>, PointsError> {
        let has = |row: &usize| self.x.value(*row).is_some() && self.y.value(*row).is_some();
        let rows: Vec<usize> = (0..points.len()).filter(has).collect();
        if rows.is_empty() {
            return Err(points.nothing(format!("both {} and {}", self.x.name, self.y.name)));
        }
        Ok(rows)
    }

    /// The series of `rows`, by the order of their cells, and the names of those without any value.
    pub fn series(&self, rows: impl Iterator<Item = usize>) -> (Vec<Series>, Vec<String>) {
        let mut found: BTreeMap<Vec<Option<usize>>, Vec<Sample>> = BTreeMap::new();
        for row in rows {
            let Some(x) = self.x.value(row) else { continue };
            let key = self.by.iter().map(|b| b.of_row[row]).collect();
            let sample = Sample { x, y: self.y.value(row), bound: self.bounds[row], row };
            found.entry(key).or_default().push(sample);
        }
        let order = |a: &Sample, b: &Sample| {
            let y = |s: &Sample| s.y.unwrap_or(f64::INFINITY);
            a.x.total_cmp(&b.x).then(y(a).total_cmp(&y(b))).then(a.row.cmp(&b.row))
        };
        let series = found.into_iter().map(|(key, mut samples)| {
            samples.sort_by(order);
            Series { label: label(&self.by, &key), key, samples }
        });
        let (series, empty): (Vec<_>, Vec<_>) = series.partition(|s| s.samples.iter().any(|s| s.y.is_some()));
        (series, empty.into_iter().map(|s| s.label).collect())
    }

    /// What is to be said of rows that are not on the curves, and of several ones at one place.
    pub fn notes(&self, points: &Points, series: &[Series], empty: &[String]) -> Vec<String> {
        let mut notes = Vec::new();
        let count = |rows: &dyn Fn(usize) -> bool| (0..points.len()).filter(|row| rows(*row)).count() as u64;
        let (no_x, no_y) = (
            count(&|row| self.x.value(row).is_none()),
            count(&|row| self.x.value(row).is_some() && self.y.value(row).is_none()),
        );
        if no_x > 0 {
            notes.push(format!("{} without {} left out", counted(no_x, "point"), short(&self.x.name)));
        }
        if no_y > 0 {
            notes.push(points.failed(no_y, &self.y.name, ", gaps in the curves"));
        }
        if !empty.is_empty() {
            let some: Vec<String> = empty.iter().take(3).map(|label| shortened(label, 60)).collect();
            let more = if empty.len() > 3 { format!(" and {} more", empty.len() - 3) } else { String::new() };
            notes.push(format!("No point at all: {}{more}", some.join("; ")));
        }
        let twice = |s: &Series| {
            let known: Vec<f64> = s.samples.iter().filter(|s| s.y.is_some()).map(|s| s.x).collect();
            known.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).count()
        };
        let twice: usize = series.iter().map(twice).sum();
        if twice > 0 {
            let mut known = vec![self.x.name.as_str()];
            known.extend(self.by.iter().map(|b| b.name.as_str()));
            notes.push(format!(
                "Several points at {} of {}, all drawn{}",
                counted(twice as u64, "value"),
                short(&self.x.name),
                also(points, &known)
            ));
        }
        notes
    }

    /// The rows as CSV, a panel's name first where there are panels.
    pub fn csv(&self, panel: Option<&str>, panels: &[(&str, &[Series])]) -> String {
        let mut header: Vec<&str> = panel.into_iter().collect();
        header.extend(["series", &self.x.name, &self.y.name, "bound"]);
        let mut table = Table::new(&header);
        for (name, series) in panels {
            for (series, s) in series.iter().flat_map(|r| r.samples.iter().map(move |s| (r, s))) {
                let mut row: Vec<&str> = panel.map(|_| *name).into_iter().collect();
                let x = self.x.of_row[s.row].map_or("", |level| &self.x.levels[level].text);
                let y = optional(s.y);
                row.extend([series.label.as_str(), x, &y, s.bound.map_or("", word)]);
                table.row(&row);
            }
        }
        table.finish()
    }

    /// Refuses more curves than can be told apart.
    pub fn few(&self, points: &Points, series: usize, instead: &str) -> Result<(), PointsError> {
        if series <= MOST_SERIES {
            return Ok(());
        }
        let names: Vec<&str> = self.by.iter().map(|b| b.name.as_str()).collect();
        Err(PointsError::Many {
            file: points.file().into(),
            columns: format!("--by {}", names.join(",")),
            count: series,
            what: "curves",
            most: MOST_SERIES,
            cure: format!("keep some with --only {}=VALUE,VALUE{instead}", names.first().unwrap_or(&"COLUMN")),
        })
    }
}

/// "; also varied: dtype, sm.count", for cells and places with several rows.
pub(super) fn also(points: &Points, known: &[&str]) -> String {
    let others = points.varied(known);
    match others.as_slice() {
        [] => String::new(),
        some => {
            let names: Vec<String> = some.iter().take(5).map(|name| shortened(name, 40)).collect();
            format!(" (also varied: {})", names.join(", "))
        }
    }
}

/// The cells of a series in words.
pub(super) fn label(by: &[Column], key: &[Option<usize>]) -> String {
    let one = |(column, level): (&Column, &Option<usize>)| match level.map(|l| &column.levels[l].text) {
        None => format!("no {}", short(&column.name)),
        Some(text) if column.kind == Kind::Number => format!("{} = {}", short(&column.name), amount(text)),
        Some(text) => text.clone(),
    };
    by.iter().zip(key).map(one).collect::<Vec<_>>().join(", ")
}

/// What binds a point, as the column `bound` has it.
pub(super) fn bound(text: &str) -> Option<Bound> {
    match text {
        "math" => Some(Bound::Math),
        "memory" => Some(Bound::Memory),
        "latency" => Some(Bound::Latency),
        _ => None,
    }
}

/// The word of the column `bound`.
pub(super) fn word(bound: Bound) -> &'static str {
    bound.word().trim_end_matches("-bound")
}

/// A text of at most so many characters, its middle left out.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= most {
        return text.to_owned();
    }
    let half = most.saturating_sub(1) / 2;
    let (head, tail): (String, String) = (chars[..half].iter().collect(), chars[chars.len() - half..].iter().collect());
    format!("{head}…{tail}")
}

/// Of the points on each column of pixels the first, the last, the lowest and the highest, in their order.
pub(super) fn thin(points: &[Point]) -> Vec<Point> {
    let mut kept = Vec::new();
    for column in points.chunk_by(|a, b| a.0.round() == b.0.round()) {
        let by_height = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
        let (low, high) = ((0..column.len()).min_by(by_height), (0..column.len()).max_by(by_height));
        let mut places = [0, low.unwrap_or(0), high.unwrap_or(0), column.len() - 1];
        places.sort_unstable();
        let mut last = None;
        for place in places {
            if last != Some(place) {
                kept.push(column[place]);
            }
            last = Some(place);
        }
    }
    kept
}

/// Pixels between the neighbours of a missing point from which on the curve has a gap.
const GAP: f64 = 3.0;
/// A curve of so few points has a marker on each; of more, one every so many pixels.
const FEW: usize = 24;
const APART: f64 = 90.0;

/// Draws a curve as the `index`-th of its figure, and returns its last point.
/// One among others has markers along it.
pub(super) fn curve(
    canvas: &mut Canvas,
    series: &Series,
    index: usize,
    (x, y): (&Placed, &Placed),
    among: bool,
) -> Option<Point> {
    let (ink, dash, mark, hollow) = look(index, &canvas.palette);
    let mut pieces: Vec<Vec<Point>> = Vec::new();
    let mut missed = true;
    for sample in &series.samples {
        let Some(value) = sample.y else {
            missed = true;
            continue;
        };
        let at = (x.place(sample.x), y.place(value));
        match pieces.last_mut() {
            Some(piece) if !missed || piece.last().is_some_and(|p| at.0 - p.0 < GAP) => piece.push(at),
            _ => pieces.push(vec![at]),
        }
        missed = false;
    }
    let count: usize = pieces.iter().map(Vec::len).sum();
    let mut marked = f64::NEG_INFINITY;
    for piece in &pieces {
        let piece = thin(piece);
        canvas.path(&piece, Stroke { ink, width: 2, dash });
        let alone = piece.iter().all(|p| p.0.round() == piece[0].0.round() && p.1.round() == piece[0].1.round());
        if alone && count > FEW {
            canvas.dot(piece[0], mark, 2, ink);
        }
        for at in &piece {
            // Other places on each curve, so that equal curves show both.
            let first = marked == f64::NEG_INFINITY && count > FEW;
            if first {
                marked = at.0 - APART + (index % 6) as f64 * APART / 6.0;
            }
            if count <= FEW || among && at.0 >= marked + APART {
                canvas.mark(*at, mark, ink, hollow);
                marked = at.0;
            }
        }
    }
    pieces.last().and_then(|piece| piece.last().copied())
}

/// Height of a row of the key, and the pixels of an entry besides its words.
pub(super) const KEY_ROW: f64 = 19.0;
const KEY: f64 = 53.0;

/// Labels in rows as wide as the figure; a label as wide as that is elided.
pub(super) fn key(labels: &[String], width: f64) -> Vec<Vec<(usize, String)>> {
    let style = Type::new(12.0, (0, 0, 0));
    let mut rows: Vec<Vec<(usize, String)>> = Vec::new();
    let mut used = f64::INFINITY;
    for (index, label) in labels.iter().enumerate() {
        let label = elide(label, 12.0, false, (width / 2.0 - KEY) / crate::chart::canvas::SLACK);
        let own = KEY + style.room(&label).0;
        if used + own > width {
            rows.push(Vec::new());
            used = 0.0;
        }
        used += own;
        if let Some(row) = rows.last_mut() {
            row.push((index, label));
        }
    }
    rows
}

/// Draws the key; `lines` has a piece of the curve beside each marker.
pub(super) fn draw_key(canvas: &mut Canvas, rows: &[Vec<(usize, String)>], body: Rect, lines: bool) {
    let style = Type::new(12.0, canvas.palette.ink);
    for (row, y) in rows.iter().zip((0..).map(|i| body.y0 + KEY_ROW * (f64::from(i) + 0.5))) {
        let mut left = body.x0;
        for (index, label) in row {
            sample(canvas, (left, y), *index, lines);
            canvas.text((left + 35.0, y), label, style);
            left += KEY + style.room(label).0;
        }
    }
}

/// A piece of a curve, 28 pixels wide, with its marker.
pub(super) fn sample(canvas: &mut Canvas, (left, y): Point, index: usize, line: bool) {
    let (ink, dash, mark, hollow) = look(index, &canvas.palette);
    if line {
        canvas.line((left, y), (left + 28.0, y), Stroke { ink, width: 2, dash });
    }
    canvas.mark((left + 14.0, y), mark, ink, hollow);
}
