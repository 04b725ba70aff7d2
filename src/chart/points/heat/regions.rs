//! Regions of one bound on a heat map: lines between them, and a word or a mark in each that has room for it.

use std::collections::BTreeMap;

use super::{Cell, Strip, edges};
use crate::chart::{
    Bound,
    canvas::{Align, Canvas, Type},
    geometry::{Point, Rect},
    points::parts::word,
};

/// Neighbouring cells with one bound.
struct Region {
    bound: Bound,
    cells: Vec<usize>,
}

/// The regions of a map.
pub(super) struct Regions {
    regions: Vec<Region>,
    /// The region of each cell.
    of_cell: Vec<Option<usize>>,
    wide: usize,
    high: usize,
    plot: Rect,
}

/// Width of a line, and of the light edge around it, in pixels.
const LINE: i32 = 2;
const EDGE: i32 = 4;
/// Side of a mark, and free pixels around it or a word.
const MARK: f64 = 10.0;
const FREE: f64 = 3.0;

impl Regions {
    /// The regions of cells in rows of `wide`, from below.
    pub fn new(cells: &[Cell], wide: usize, plot: Rect) -> Self {
        let high = cells.len() / wide.max(1);
        let mut found = Self { regions: Vec::new(), of_cell: vec![None; cells.len()], wide, high, plot };
        for start in 0..cells.len() {
            let Some(bound) = cells[start].bound.filter(|_| found.of_cell[start].is_none()) else { continue };
            let index = found.regions.len();
            let mut region = Region { bound, cells: Vec::new() };
            let mut next = vec![start];
            found.of_cell[start] = Some(index);
            while let Some(cell) = next.pop() {
                region.cells.push(cell);
                for beside in found.beside(cell).into_iter().flatten() {
                    if cells[beside].bound == Some(bound) && found.of_cell[beside].is_none() {
                        found.of_cell[beside] = Some(index);
                        next.push(beside);
                    }
                }
            }
            found.regions.push(region);
        }
        found
    }

    /// The cells left, right, below and above.
    fn beside(&self, cell: usize) -> [Option<usize>; 4] {
        let (column, line) = (cell % self.wide, cell / self.wide);
        [
            (column > 0).then(|| cell - 1),
            (column + 1 < self.wide).then(|| cell + 1),
            (line > 0).then(|| cell - self.wide),
            (line + 1 < self.high).then(|| cell + self.wide),
        ]
    }

    /// Whether a line runs between two cells: both have a bound, and not the same one.
    fn differ(&self, a: usize, b: usize) -> bool {
        let bound = |cell: usize| self.of_cell[cell].map(|region| self.regions[region].bound);
        matches!((bound(a), bound(b)), (Some(a), Some(b)) if a != b)
    }

    pub fn draw(&self, canvas: &mut Canvas) {
        let (columns, lines) = edges(self.wide, self.high, self.plot);
        // Level pieces as left, height and width; upright ones as left, top and height.
        let (mut level, mut upright) = (Vec::new(), Vec::new());
        for (line, y) in lines.iter().enumerate().take(self.high).skip(1) {
            let border = |c: &usize| self.differ(line * self.wide + c, (line - 1) * self.wide + c);
            for (from, to) in stretches(self.wide, border) {
                level.push((columns[from], *y, columns[to] - columns[from]));
            }
        }
        for (column, x) in columns.iter().enumerate().take(self.wide).skip(1) {
            let border = |l: &usize| self.differ(l * self.wide + column, l * self.wide + column - 1);
            for (from, to) in stretches(self.high, border) {
                upright.push((*x, lines[to], lines[from] - lines[to]));
            }
        }
        let drawn: i32 = level.iter().chain(&upright).map(|line| line.2).sum();
        // Where the bound changes from cell to cell, wide lines would hide the colours.
        let dense = f64::from(drawn * EDGE) > 0.15 * self.plot.width() * self.plot.height();
        let inks = [(EDGE, canvas.palette.background), (if dense { 1 } else { LINE }, canvas.palette.ink)];
        for (width, ink) in inks.into_iter().skip(usize::from(dense)) {
            let half = width / 2;
            let (first, last) = (columns[0], columns[self.wide]);
            let longer = level.iter().map(|(x, y, long)| {
                let (from, to) = ((x - half).max(first), (x + long + width - half).min(last));
                (from, y - half, to - from)
            });
            canvas.strips(longer.collect(), width as u32, ink);
            let mut by_height: BTreeMap<i32, Vec<Strip>> = BTreeMap::new();
            for (x, y, long) in &upright {
                by_height.entry(*long).or_default().push((x - half, *y, width));
            }
            for (height, strips) in by_height {
                canvas.strips(strips, height as u32, ink);
            }
        }
        if self.regions.len() < 2 {
            return;
        }
        let style = Type::new(12.0, canvas.palette.ink).bold().align(Align::Middle);
        let mut taken: Vec<Rect> = Vec::new();
        for region in &self.regions {
            let (width, height) = style.room(word(region.bound));
            // A region too thin for its word has the mark of its bound.
            for (wide, high, worded) in [(width, height, true), (MARK, MARK, false)] {
                let room = |at: Point| Rect::around(at, wide + 2.0 * FREE, high + 2.0 * FREE);
                let free = |at: &Point| taken.iter().all(|t| t.overlap(&room(*at)) == 0.0);
                let Some(at) = self.seat(region, &room).filter(free) else { continue };
                taken.push(room(at));
                if worded {
                    canvas.bar(room(at), canvas.palette.background);
                    canvas.text(at, word(region.bound), style);
                } else {
                    canvas.mark(at, region.bound.mark(), canvas.palette.ink, false);
                }
                break;
            }
        }
    }

    /// The place for a word or a mark in a region, all of it inside, as near to its middle as can be.
    fn seat(&self, region: &Region, room: &dyn Fn(Point) -> Rect) -> Option<Point> {
        let (width, height) = (self.plot.width() / self.wide as f64, self.plot.height() / self.high as f64);
        let size = room((0.0, 0.0));
        if (region.cells.len() as f64) * width * height < size.width() * size.height() {
            return None;
        }
        let center = |cell: usize| {
            let (column, line) = ((cell % self.wide) as f64, (cell / self.wide) as f64);
            (self.plot.x0 + (column + 0.5) * width, self.plot.y1 - (line + 0.5) * height)
        };
        let count = region.cells.len() as f64;
        let sum = region.cells.iter().map(|c| center(*c)).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        let middle = (sum.0 / count, sum.1 / count);
        let far = |at: Point| (at.0 - middle.0) * (at.0 - middle.0) + (at.1 - middle.1) * (at.1 - middle.1);
        let index = self.of_cell[region.cells[0]];
        let inside = |at: &Point| {
            let room = room(*at);
            if room.outside(&self.plot) > 0.0 {
                return false;
            }
            let column = |x: f64| (((x - self.plot.x0) / width) as usize).min(self.wide - 1);
            let line = |y: f64| (((self.plot.y1 - y) / height) as usize).min(self.high - 1);
            let mut covered = (line(room.y1)..=line(room.y0))
                .flat_map(|l| (column(room.x0)..=column(room.x1)).map(move |c| l * self.wide + c));
            covered.all(|cell| self.of_cell[cell] == index)
        };
        // The middle itself, the middles of cells, and the corners between them, for regions a few cells wide.
        let mut seats: Vec<Point> = vec![middle];
        for cell in &region.cells {
            let (x, y) = center(*cell);
            seats.extend([(x, y), (x + width / 2.0, y), (x, y - height / 2.0), (x + width / 2.0, y - height / 2.0)]);
        }
        seats.sort_by(|a, b| far(*a).total_cmp(&far(*b)).then(a.0.total_cmp(&b.0)).then(a.1.total_cmp(&b.1)));
        seats.into_iter().find(|at| inside(at))
    }
}

/// Stretches of neighbouring places where something holds, as first and one past the last.
fn stretches(count: usize, holds: impl Fn(&usize) -> bool) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for place in (0..count).filter(holds) {
        match found.last_mut() {
            Some((_, end)) if *end == place => *end = place + 1,
            _ => found.push((place, place + 1)),
        }
    }
    found
}
