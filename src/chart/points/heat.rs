//! A heat map: a value over two columns, with the regions of one bound outlined.

mod regions;
mod shades;

use std::collections::BTreeMap;

use super::column::{Column, short};
use super::parts::{also, bound, word};
use super::scale::{Scale, slots_below, slots_left};
use super::{Points, PointsError};
use crate::chart::{
    Bound, Caption, Chart, Theme,
    axis::Axis,
    canvas::{Canvas, Stroke, Type},
    data::{Table, optional},
    font::elide,
    geometry::Rect,
    page,
    terms::time,
};
use crate::units::{counted, grouped, significant};
use regions::Regions;
use shades::{SHADES, shade};

/// What is drawn over what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatAsked {
    /// The level column.
    pub x: String,
    /// The upright column.
    pub y: String,
    /// The column that gives the colour, numbers.
    pub z: String,
    /// Whether the colours are logarithmic; absent: over more than a decade.
    pub log: Option<bool>,
}

/// A level bar: left, top and width in pixels.
type Strip = (i32, i32, i32);

/// What a cell of the map is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cell {
    /// The largest value of its points.
    value: Option<f64>,
    /// What binds the point of that value.
    bound: Option<Bound>,
}

/// A cell for each value of one column and each of another, or the worst of a group where there are more than pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    caption: Caption,
    subtitle: String,
    described: String,
    titles: [String; 2],
    words: [Vec<String>; 2],
    z: Scale,
    /// Cells in rows from below.
    cells: Vec<Cell>,
    csv: String,
}

/// The map, and the pixels left, below and right of it.
const SIZE: (f64, f64) = (640.0, 440.0);
const LEFT: f64 = 96.0;
const BELOW: f64 = 46.0;
/// Least pixels of a cell.
const LEAST: f64 = 2.0;
/// Width of the colour bar, its distance, and the height of the legend.
const BAR: f64 = 16.0;
const ASIDE: f64 = 22.0;
const LEGEND: f64 = 24.0;
/// Height and distance of the lines that hatch cells without a value.
const HATCH: (u32, i32) = (1, 4);

impl Heat {
    /// The figure of a table.
    ///
    /// # Errors
    /// No such column, no row to draw, a value without a place on the scale asked for.
    pub fn new(points: &Points, asked: &HeatAsked) -> Result<Self, PointsError> {
        if asked.x == asked.y || asked.z == asked.x || asked.z == asked.y {
            let problem = format!("`{}`: --x, --y and --z need three columns", points.file());
            return Err(PointsError::Asked(problem));
        }
        let [x, y] = [points.column(&asked.x)?, points.column(&asked.y)?];
        let z = points.column(&asked.z)?.numeric(points)?;
        let bounds: Vec<Option<Bound>> = points.texts("bound").map(bound).collect();
        let rows: Vec<usize> = (0..points.len())
            .filter(|row| x.of_row[*row].is_some() && y.of_row[*row].is_some() && z.value(*row).is_some())
            .collect();
        if rows.is_empty() {
            return Err(points.nothing(format!("{}, {} and {} together", x.name, y.name, z.name)));
        }
        let mut scale = Scale::new(points, &z, &rows, asked.log)?;
        // Colours tell fewer steps apart than places on an axis.
        scale.log |= asked.log.is_none() && !z.is_words() && scale.low > 0.0 && scale.high > 10.0 * scale.low;
        let group = |levels: usize, pixels: f64| levels.div_ceil((pixels / LEAST) as usize).max(1);
        let groups = [group(x.levels.len(), SIZE.0), group(y.levels.len(), SIZE.1)];
        let words = [grouped_words(&x, groups[0]), grouped_words(&y, groups[1])];
        let wide = words[0].len();
        let mut cells = vec![Cell::default(); wide * words[1].len()];
        let mut met: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let (mut unplaced, mut failed) = (0, 0);
        for (row, bound) in bounds.iter().enumerate() {
            let (Some(column), Some(line)) = (x.of_row[row], y.of_row[row]) else {
                unplaced += 1;
                continue;
            };
            let Some(value) = z.value(row) else {
                failed += 1;
                continue;
            };
            *met.entry((line, column)).or_default() += 1;
            let cell = &mut cells[line / groups[1] * wide + column / groups[0]];
            if cell.value.is_none_or(|worst| value > worst) {
                *cell = Cell { value: Some(value), bound: *bound };
            }
        }
        let mut notes = Vec::new();
        if groups != [1, 1] {
            notes.push(format!(
                "Each cell is the largest {} of {} x {} points",
                short(&z.name),
                grouped(groups[0] as u64),
                grouped(groups[1] as u64)
            ));
        }
        let several = met.values().filter(|count| **count > 1).count();
        if several > 0 {
            let known = [x.name.as_str(), y.name.as_str(), z.name.as_str()];
            notes.push(format!(
                "{} with several points: the largest {} is drawn{}",
                counted(several as u64, "pair"),
                short(&z.name),
                also(points, &known)
            ));
        }
        if failed > 0 {
            notes.push(points.failed(failed, &z.name, ""));
        }
        if unplaced > 0 {
            notes.push(format!("{} without {} or {} left out", counted(unplaced, "point"), x.name, y.name));
        }
        let title = format!("{} over {} and {}", scale.title, x.title(), y.title());
        notes.insert(0, subtitle(&scale, &cells));
        let subtitle = notes.join(". ");
        let described = format!("{title}. {subtitle}.");
        let csv = csv(points, [&x, &y, &z]);
        let titles = [x.title(), y.title()];
        Ok(Self { caption: points.caption(title), subtitle, described, titles, words, z: scale, cells, csv })
    }

    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        page::close(&self.canvas(theme), &self.caption, &self.described, self.csv.clone())
    }

    pub(in crate::chart) fn canvas(&self, theme: Theme) -> Canvas {
        let missing = self.cells.iter().any(|c| c.value.is_none());
        let legend = if missing { LEGEND } else { 0.0 };
        let (mut canvas, body) = page::open(&self.caption, &self.subtitle, theme, SIZE.1 + BELOW + legend);
        let left = (body.x0 + LEFT).round();
        let top = body.y0.round();
        let plot = Rect::new(left, top, left + SIZE.0, top + SIZE.1);
        self.fill(&mut canvas, plot);
        let regions = Regions::new(&self.cells, self.words[0].len(), plot);
        regions.draw(&mut canvas);
        slots_below(&mut canvas, plot, &self.words[0], &self.titles[0]);
        slots_left(&mut canvas, plot, &self.words[1], &self.titles[1]);
        self.bar(&mut canvas, Rect::new(plot.x1 + ASIDE, plot.y0, plot.x1 + ASIDE + BAR, plot.y1));
        if missing {
            let y = plot.y1 + BELOW + 10.0;
            let (x0, x1) = (plot.x0 as i32, plot.x0 as i32 + 22);
            let lines = (0..4).map(|i| (x0, y as i32 - 7 + i * HATCH.1, x1 - x0)).collect();
            canvas.strips(lines, HATCH.0, canvas.palette.muted);
            let words = "no value: no such point, or one that cannot run";
            canvas.text((plot.x0 + 30.0, y), words, Type::new(11.0, canvas.palette.muted));
        }
        canvas
    }

    /// The cells in their colours, all of one colour and height as one shape.
    fn fill(&self, canvas: &mut Canvas, plot: Rect) {
        let wide = self.words[0].len();
        let (columns, lines) = edges(wide, self.words[1].len(), plot);
        let mut shapes: BTreeMap<(usize, i32), Vec<Strip>> = BTreeMap::new();
        let mut hatch = Vec::new();
        for (line, cells) in self.cells.chunks(wide).enumerate() {
            let (below, above) = (lines[line], lines[line + 1]);
            let looks: Vec<Option<usize>> = cells.iter().map(|c| c.value.map(|v| self.level(v))).collect();
            let mut column = 0;
            for run in looks.chunk_by(|a, b| a == b) {
                let (from, to) = (columns[column], columns[column + run.len()]);
                column += run.len();
                match run[0] {
                    Some(level) => {
                        shapes.entry((level, below - above)).or_default().push((from, above, to - from));
                    }
                    None => {
                        let hatched = (above..below).filter(|y| y.rem_euclid(HATCH.1) == 0);
                        hatch.extend(hatched.map(|y| (from, y, to - from)));
                    }
                }
            }
        }
        for ((level, height), strips) in shapes {
            canvas.strips(strips, height.unsigned_abs(), shade(level));
        }
        canvas.strips(hatch, HATCH.0, canvas.palette.muted);
    }

    /// Where a value stands on the scale of colours, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let (low, high) = (self.z.low, self.z.high);
        let share = match self.z.log {
            _ if high <= low => 0.5,
            true => libm::log(value / low) / libm::log(high / low),
            // Halves, for differences that no number holds.
            false => (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0),
        };
        share.clamp(0.0, 1.0)
    }

    fn level(&self, value: f64) -> usize {
        ((self.share(value) * SHADES as f64) as usize).min(SHADES - 1)
    }

    /// The colours from below with ticks at the right, and above them what they are.
    fn bar(&self, canvas: &mut Canvas, bar: Rect) {
        let palette = canvas.palette;
        let (low, high) = (self.z.low, self.z.high);
        for level in 0..SHADES {
            let at = |level: usize| (bar.y1 - bar.height() * level as f64 / SHADES as f64).round();
            let (below, above) = (at(level), at(level + 1));
            canvas.strips(vec![(bar.x0 as i32, above as i32, BAR as i32)], (below - above) as u32, shade(level));
        }
        let decades = |v: f64| libm::log10(v);
        let (unit, per) = if self.z.timed && !self.z.log { crate::chart::terms::unit(high) } else { ("", 1.0) };
        let axis = if high <= low {
            None
        } else if self.z.log {
            // Whole decades around the bar, so that its ends are those of the values.
            let (first, last) = (libm::floor(decades(low)), libm::ceil(decades(high)));
            let decade = bar.height() / (decades(high) - decades(low));
            let from = bar.y1 + (decades(low) - first) * decade;
            let pixels = (from, from - (last - first) * decade);
            let make = if self.z.timed { Axis::times } else { Axis::log };
            Some(make(first as i32, last as i32, pixels))
        } else {
            Some(Axis::exact(low / per, high / per, 8, (bar.y1, bar.y0)))
        };
        let style = Type::new(11.0, palette.muted);
        for tick in axis.iter().flat_map(Axis::ticks).filter(|t| (bar.y0..=bar.y1).contains(&t.at)) {
            let reach = if tick.label.is_some() { 6.0 } else { 3.0 };
            canvas.line((bar.x1, tick.at), (bar.x1 + reach, tick.at), Stroke::new(palette.axis, 1));
            canvas.text((bar.x1 + 9.0, tick.at), &tick.label.unwrap_or_default(), style);
        }
        if axis.is_none() {
            canvas.text((bar.x1 + 9.0, bar.center().1), &self.z.amount(low), style);
        }
        let title = match unit {
            "" => self.z.title.clone(),
            unit => format!("{} ({unit})", self.z.title),
        };
        let title = elide(&title, 12.0, false, bar.height() / crate::chart::canvas::SLACK);
        let style = Type::new(12.0, palette.ink).align(crate::chart::canvas::Align::Middle).turned(-90.0);
        canvas.text((bar.x1 + 66.0, bar.center().1), &title, style);
    }
}

/// The pixels between columns from the left, and between rows from below.
fn edges(wide: usize, high: usize, plot: Rect) -> (Vec<i32>, Vec<i32>) {
    let part = |index: usize, of: usize, size: f64| (size * index as f64 / of as f64).round();
    let columns = (0..=wide).map(|i| (plot.x0 + part(i, wide, plot.width())) as i32).collect();
    let lines = (0..=high).map(|i| (plot.y1 - part(i, high, plot.height())) as i32).collect();
    (columns, lines)
}

/// The names of groups of levels.
fn grouped_words(column: &Column, group: usize) -> Vec<String> {
    let name = |levels: &[super::column::Level]| match levels {
        [one] => one.text.clone(),
        [first, .., last] => format!("{}–{}", first.text, last.text),
        [] => String::new(),
    };
    column.levels.chunks(group).map(name).collect()
}

/// The range of the values, and the cells of each bound.
fn subtitle(z: &Scale, cells: &[Cell]) -> String {
    let mut text = format!("From {} to {}", z.amount(z.low), z.amount(z.high));
    text += if z.log { ", colours by ratio" } else { "" };
    let count = |bound| cells.iter().filter(|c| c.bound == Some(bound)).count() as u64;
    let bounds = [(Bound::Math, "circle"), (Bound::Memory, "square"), (Bound::Latency, "triangle")];
    let here = bounds.iter().filter(|b| count(b.0) > 0);
    let parts: Vec<String> =
        here.map(|(bound, mark)| format!("{} ({mark}) in {}", word(*bound), counted(count(*bound), "cell"))).collect();
    if !parts.is_empty() {
        text += &format!(". Lines: where the bound changes; {}", parts.join(", "));
    }
    text
}

impl Scale {
    /// A value with its unit.
    fn amount(&self, value: f64) -> String {
        if self.timed { time(value) } else { significant(value, 4) }
    }
}

fn csv(points: &Points, columns: [&Column; 3]) -> String {
    let [x, y, z] = columns;
    let mut table = Table::new(&[x.name.as_str(), &y.name, &z.name, "bound"]);
    let text = |column: &Column, row: usize| {
        column.of_row[row].map_or(String::new(), |level| column.levels[level].text.clone())
    };
    for (row, bound) in points.texts("bound").enumerate() {
        table.row(&[text(x, row), text(y, row), optional(z.value(row)), bound.to_owned()]);
    }
    table.finish()
}
