//! Why this kernel, and what nearby sizes would cost: sentences for people.

use super::{Candidate, Plan, Planner, Precision, Shape};
use crate::units::{Seconds, counted, decimal};

/// "256x128, split 3 ways: 91.8 us, 96 blocks in 0.9 waves".
pub fn choice(candidate: &Candidate, planner: &Planner) -> String {
    let time = Seconds(candidate.time);
    let waves = candidate.blocks / planner.slots(candidate);
    let split = match candidate.splits {
        1 => String::new(),
        ways => format!(", k split {ways} ways"),
    };
    match candidate.tile {
        None => format!("a kernel without tiles for one row: {time}"),
        Some(tile) => format!(
            "tile {}x{}{split}: {time}, {} in {} waves",
            tile.height,
            tile.width,
            counted(candidate.blocks as u64, "block"),
            decimal(waves, 2)
        ),
    }
}

/// Rows of operands must start on this many bytes for the kernels of the model; others copy element by element.
const ALIGNED: f64 = 16.0;

/// What the model says nothing about: sizes that do not fill aligned rows.
pub fn alignment(shape: Shape, precision: &Precision) -> Option<String> {
    let grain = (ALIGNED / precision.input_bytes).max(1.0) as u64;
    let loose = [("n", shape.n), ("k", shape.k)].into_iter().filter(|(_, size)| !size.is_multiple_of(grain));
    let loose: Vec<String> = loose.map(|(name, size)| format!("{name} = {size}")).collect();
    let names = loose.join(" and ");
    (!loose.is_empty()).then(|| {
        format!("{names}: no multiple of {grain}, so that libraries take slower kernels, which the time does not know")
    })
}

/// A dimension of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dimension {
    M,
    N,
    K,
}

impl Dimension {
    fn of(self, shape: Shape) -> u64 {
        match self {
            Self::M => shape.m,
            Self::N => shape.n,
            Self::K => shape.k,
        }
    }

    fn with(self, shape: Shape, value: u64) -> Shape {
        match self {
            Self::M => Shape { m: value, ..shape },
            Self::N => Shape { n: value, ..shape },
            Self::K => Shape { k: value, ..shape },
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::M => "m",
            Self::N => "n",
            Self::K => "k",
        }
    }
}

/// Sizes are compared at multiples of this: the smallest side of a tile, and what alignment asks for.
const GRAIN: u64 = 8;
/// How far from the size others are tried, as a share of it.
const NEAR: u64 = 8;
/// Most sizes that are tried in each direction.
const TRIED: u64 = 64;
/// A saving below this is noise of the model.
const WORTH: f64 = 0.03;
/// Growth up to this is no growth.
const FREE: f64 = 0.005;

/// For each dimension what a slightly smaller size would save beyond its share of the work, and how far the size may
/// grow for nothing. `plan_of` plans a shape; of unequal products the heights stay as they are.
pub fn nearby(planner: &Planner, plan: &Plan, plan_of: &dyn Fn(Shape) -> Plan, equal: bool) -> Vec<String> {
    let dimensions = [Dimension::M, Dimension::N, Dimension::K].into_iter().filter(|d| equal || *d != Dimension::M);
    dimensions.filter_map(|dimension| near(planner, plan, plan_of, dimension)).collect()
}

fn near(planner: &Planner, plan: &Plan, plan_of: &dyn Fn(Shape) -> Plan, dimension: Dimension) -> Option<String> {
    let size = dimension.of(plan.shape);
    let at = |value: u64| plan_of(dimension.with(plan.shape, value));
    let step = (size / NEAR / TRIED).max(1).next_multiple_of(GRAIN);
    let below = (1..=TRIED).map(|i| (size.saturating_sub(1) / step * step).saturating_sub((i - 1) * step));
    let below = below.take_while(|v| *v > 0 && *v + size / NEAR >= size).map(|v| (v, at(v)));
    // The nearest size with an edge between: the saving beyond what less work saves anyway.
    let beyond = |v: u64, p: &Plan| (plan.time / p.time) / (size as f64 / v as f64) - 1.0;
    let cheaper = below.filter(|(v, p)| beyond(*v, p) >= WORTH).max_by(|a, b| {
        let gain = |(v, p): &(u64, Plan)| beyond(*v, p) * *v as f64;
        gain(a).total_cmp(&gain(b))
    });
    let above = (1..=TRIED).map(|i| size / step * step + i * step).take_while(|v| *v <= size + size / NEAR);
    let free = above.take_while(|v| at(*v).time <= plan.time * (1.0 + FREE)).last();
    let name = dimension.name();
    let sentence = cheaper.map(|(value, then)| {
        let more = decimal((plan.time / then.time - 1.0) * 100.0, 1);
        let why = reasons(planner, plan, &then);
        format!("{name} = {size} takes {more} % more time than {value}{why}")
    });
    match (sentence, free) {
        (Some(sentence), Some(free)) => Some(format!("{sentence}; up to {free} takes no more")),
        (Some(sentence), None) => Some(sentence),
        (None, Some(free)) => Some(format!("{name} up to {free} takes no more time than {size}")),
        (None, None) => None,
    }
}

/// ": 33 tile columns instead of 32, 3 waves instead of 2".
fn reasons(planner: &Planner, now: &Plan, then: &Plan) -> String {
    let mut reasons = Vec::new();
    let (Some(tile), Some(other)) = (now.chosen.tile, then.chosen.tile) else { return String::new() };
    if (tile.height, tile.width) == (other.height, other.width) {
        let count = |extent: u64, side: u32| extent.div_ceil(u64::from(side));
        let rows = (count(now.shape.m, tile.height), count(then.shape.m, tile.height), "tile rows");
        let columns = (count(now.shape.n, tile.width), count(then.shape.n, tile.width), "tile columns");
        for (a, b, what) in [rows, columns] {
            if a != b {
                reasons.push(format!("{a} {what} instead of {b}"));
            }
        }
    } else {
        reasons.push(format!("there tiles of {}x{} are faster", other.height, other.width));
    }
    let waves = |plan: &Plan| (plan.chosen.blocks / planner.slots(&plan.chosen)).ceil();
    let (a, b) = (waves(now), waves(then));
    if a != b {
        reasons.push(format!("{a} waves instead of {b}"));
    }
    if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(", ")) }
}
