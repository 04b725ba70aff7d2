//! Labels beside points: no two overlap, none leaves the plot, the same input gives the same picture.
//!
//! Each label has 16 directions times 5 distances to stand in. All are placed in order of input, then six
//! sweeps move each one to where it costs least with the others in place. A label that still collides is left out.

use super::canvas::{Canvas, Stroke, Type};
use super::geometry::{Point, Rect, Segment, length};

/// Both coordinates of a unit vector halfway between two axes.
const DIAGONAL: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// Unit vectors, right first, then clockwise in steps of 22.5 degrees (y down), with the cost of each direction.
const DIRECTIONS: [(f64, f64, f64); 16] = [
    (1.0, 0.0, 0.0),
    (0.9239, 0.3827, 3.0),
    (DIAGONAL, DIAGONAL, 3.0),
    (0.3827, 0.9239, 6.0),
    (0.0, 1.0, 5.0),
    (-0.3827, 0.9239, 7.0),
    (-DIAGONAL, DIAGONAL, 6.0),
    (-0.9239, 0.3827, 6.0),
    (-1.0, 0.0, 4.0),
    (-0.9239, -0.3827, 5.0),
    (-DIAGONAL, -DIAGONAL, 5.0),
    (-0.3827, -0.9239, 6.0),
    (0.0, -1.0, 4.0),
    (0.3827, -0.9239, 5.0),
    (DIAGONAL, -DIAGONAL, 2.0),
    (0.9239, -0.3827, 2.0),
];
/// Free pixels between point and label.
const DISTANCES: [f64; 5] = [9.0, 20.0, 36.0, 54.0, 76.0];
/// All distances.
pub(super) const ALL_RINGS: usize = DISTANCES.len();
const SWEEPS: usize = 6;

/// A label that wants a place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    pub at: Point,
    pub text: String,
    pub style: Type,
    /// How many of the distances may be used.
    pub rings: usize,
}

/// What labels should keep clear of; `plot` they never leave, `texts` they never touch.
#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    pub plot: Rect,
    pub markers: Vec<Rect>,
    pub texts: Vec<Rect>,
    pub lines: Vec<Segment>,
}

/// Where a label stands, and whether a line must lead to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub room: Rect,
    pub leader: bool,
    cost: f64,
    from: Point,
}

/// A place for each label, or none where all would collide.
pub(super) fn place(wanted: &[Wanted], around: &Surroundings) -> Vec<Option<Place>> {
    let options: Vec<Vec<Place>> = wanted.iter().map(|w| candidates(w, around)).collect();
    let mut chosen: Vec<Option<Place>> = vec![None; wanted.len()];
    for _ in 0..=SWEEPS {
        for index in 0..wanted.len() {
            let mut best: Option<(f64, Place)> = None;
            for option in &options[index] {
                let others = chosen.iter().enumerate().filter(|(i, _)| *i != index).filter_map(|(_, p)| p.as_ref());
                let cost = option.cost + others.map(|o| clash(option, o)).sum::<f64>();
                if best.is_none_or(|(least, _)| cost < least - 1e-9) {
                    best = Some((cost, *option));
                }
            }
            chosen[index] = best.map(|(_, place)| place);
        }
    }
    let mut placed = without_collisions(chosen, around);
    // What had to give way may still stand somewhere, if not where it would be cheapest.
    for index in 0..wanted.len() {
        if placed[index].is_none() {
            let fits = |option: &&Place| {
                option.free(around) && placed.iter().flatten().all(|p| p.room.overlap(&option.room) == 0.0)
            };
            let least = options[index].iter().filter(fits).min_by(|a, b| a.cost.total_cmp(&b.cost)).copied();
            placed[index] = least;
        }
    }
    placed
}

fn candidates(wanted: &Wanted, around: &Surroundings) -> Vec<Place> {
    let (width, height) = wanted.style.room(&wanted.text);
    let (x, y) = wanted.at;
    let mut places = Vec::with_capacity(DIRECTIONS.len() * DISTANCES.len());
    for (ring, distance) in DISTANCES.into_iter().enumerate().take(wanted.rings) {
        for (dx, dy, preference) in DIRECTIONS {
            let center = (x + dx * (distance + width / 2.0), y + dy * (distance + height / 2.0));
            let room = Rect::around(center, width, height);
            let mut place = Place { room, leader: ring > 0, cost: preference + 18.0 * ring as f64, from: wanted.at };
            place.cost += 50.0 * room.outside(&around.plot);
            place.cost += 6.0 * around.markers.iter().map(|m| m.overlap(&room)).sum::<f64>();
            place.cost += 4.0 * around.texts.iter().map(|t| t.overlap(&room)).sum::<f64>();
            place.cost += 3.0 * around.lines.iter().map(|l| room.crossed(*l)).sum::<f64>();
            if let Some(leader) = place.line() {
                place.cost +=
                    2.0 * around.markers.iter().filter(|m| !holds(m, x, y)).map(|m| m.crossed(leader)).sum::<f64>();
                place.cost += 3.0 * around.texts.iter().map(|t| t.crossed(leader)).sum::<f64>();
            }
            places.push(place);
        }
    }
    places
}

fn holds(r: &Rect, x: f64, y: f64) -> bool {
    r.x0 <= x && x <= r.x1 && r.y0 <= y && y <= r.y1
}

/// Cost of two labels at once.
fn clash(a: &Place, b: &Place) -> f64 {
    let mut cost = 4.0 * a.room.overlap(&b.room);
    if let Some(line) = a.line() {
        cost += 3.0 * b.room.crossed(line);
    }
    if let Some(line) = b.line() {
        cost += 3.0 * a.room.crossed(line);
    }
    cost
}

/// Leaves out what lies outside the plot, on another text, or on a label before it.
fn without_collisions(chosen: Vec<Option<Place>>, around: &Surroundings) -> Vec<Option<Place>> {
    let mut taken = Vec::new();
    chosen
        .into_iter()
        .map(|place| {
            let place = place?;
            let free = place.free(around) && taken.iter().all(|t: &Rect| t.overlap(&place.room) == 0.0);
            if free {
                taken.push(place.room);
            }
            free.then_some(place)
        })
        .collect()
}

impl Place {
    /// Inside the plot and on no text that was there before.
    fn free(&self, around: &Surroundings) -> bool {
        self.room.outside(&around.plot) == 0.0 && around.texts.iter().all(|t| t.overlap(&self.room) == 0.0)
    }

    /// The line from the point to the label, if it stands away.
    pub fn line(&self) -> Option<Segment> {
        let end = self.room.nearest(self.from);
        let (dx, dy) = (end.0 - self.from.0, end.1 - self.from.1);
        let long = length((dx, dy));
        (self.leader && long > 10.0).then(|| ((self.from.0 + dx / long * 8.0, self.from.1 + dy / long * 8.0), end))
    }
}

/// Draws the labels that have a place, with their leader lines.
pub(super) fn draw(canvas: &mut Canvas, wanted: &[Wanted], places: &[Option<Place>]) {
    let stroke = Stroke::new(canvas.palette.axis, 1);
    for place in places.iter().flatten() {
        if let Some((from, to)) = place.line() {
            canvas.line(from, to, stroke);
        }
    }
    for (label, place) in wanted.iter().zip(places) {
        if let Some(place) = place {
            let style = label.style.align(super::canvas::Align::Middle);
            canvas.text(place.room.center(), &label.text, style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(points: &[(f64, f64, usize)]) -> Vec<Wanted> {
        let style = Type::new(12.0, (0, 0, 0));
        points.iter().map(|&(x, y, n)| Wanted { at: (x, y), text: "gemm".repeat(n), style, rings: ALL_RINGS }).collect()
    }

    fn around(points: &[(f64, f64, usize)]) -> Surroundings {
        let markers = points.iter().map(|p| Rect::around((p.0, p.1), 12.0, 12.0)).collect();
        let lines = vec![((0.0, 400.0), (600.0, 0.0)), ((300.0, 200.0), (600.0, 200.0))];
        Surroundings {
            plot: Rect::new(0.0, 0.0, 600.0, 400.0),
            markers,
            texts: vec![Rect::new(0.0, 0.0, 90.0, 20.0)],
            lines,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn labels_stay_apart_and_inside(points in prop::collection::vec((0.0..600.0, 0.0..400.0, 1usize..10), 1..26)) {
            let around = around(&points);
            let placed = place(&labels(&points), &around);
            prop_assert_eq!(&placed, &place(&labels(&points), &around));
            let rooms: Vec<Rect> = placed.iter().flatten().map(|p| p.room).collect();
            for (i, room) in rooms.iter().enumerate() {
                prop_assert_eq!(room.outside(&around.plot), 0.0);
                prop_assert!(rooms[..i].iter().all(|other| other.overlap(room) == 0.0));
                prop_assert_eq!(around.texts[0].overlap(room), 0.0);
            }
            prop_assert!(rooms.len() * 10 >= points.len() * 8, "{} of {}", rooms.len(), points.len());
        }
    }

    #[test]
    fn a_lone_label_stands_at_the_right() {
        let points = [(100.0, 100.0, 1)];
        let placed = place(&labels(&points), &around(&points));
        assert!(placed[0].is_some_and(|p| p.room.x0 == 109.0 && !p.leader));
    }

    #[test]
    fn ten_labels_of_one_point_all_find_room() {
        let points = [(200.0, 150.0, 2); 10];
        assert_eq!(place(&labels(&points), &around(&points)).iter().flatten().count(), 10);
    }
}
