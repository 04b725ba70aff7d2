//! Products along one dimension: every size of a short range, of a long one enough to show each tooth.

use std::{collections::BTreeMap, fmt, str::FromStr};

use super::{Plan, Planner, Reuse, Shape, ShapeError};

/// Most sizes of one sweep.
const MOST: u64 = 2000;
/// Sizes at even distances where the range has more than `MOST`; the rest is for the edges of tiles between them.
const EVEN: u64 = 1000;

/// What grows along a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Rows of A and C.
    M,
    /// Columns of B and C.
    N,
    /// The inner dimension.
    K,
    /// Products.
    Batch,
    /// Rows and columns of C together, which is square.
    Mn,
}

/// Sizes of a sweep: both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Smallest size.
    pub low: u64,
    /// Largest size.
    pub high: u64,
    /// Distance of sizes; without it they are chosen so that no edge of a tile is missed.
    pub step: Option<u64>,
}

/// A sweep that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SweepError {
    /// Not the name of a dimension.
    #[error("`{input}` is no dimension of a product: m, n, k, batch or mn (M = N)")]
    Dimension {
        /// As given.
        input: String,
    },
    /// Not a range.
    #[error("`{input}` is no range of sizes: write LOW:HIGH or LOW:HIGH:STEP, such as 1024:8192:64, from 1 up")]
    Range {
        /// As given.
        input: String,
    },
    /// Too many sizes.
    #[error("{low}:{high}:{step} is more than {MOST} sizes: take a step of at least {least}, or none")]
    Sizes {
        /// Smallest size.
        low: u64,
        /// Largest size.
        high: u64,
        /// Distance asked for.
        step: u64,
        /// Smallest distance that is taken.
        least: u64,
    },
    /// The largest product is none.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

impl Over {
    const ALL: [(Self, &'static str); 5] =
        [(Self::M, "m"), (Self::N, "n"), (Self::K, "k"), (Self::Batch, "batch"), (Self::Mn, "mn")];

    /// Its size in a shape; absent for M = N where they differ.
    pub fn of(self, shape: Shape) -> Option<u64> {
        match self {
            Self::M => Some(shape.m),
            Self::N => Some(shape.n),
            Self::K => Some(shape.k),
            Self::Batch => Some(shape.batch),
            Self::Mn => (shape.m == shape.n).then_some(shape.m),
        }
    }

    /// The shape with another size there.
    pub fn with(self, shape: Shape, size: u64) -> Shape {
        match self {
            Self::M => Shape { m: size, ..shape },
            Self::N => Shape { n: size, ..shape },
            Self::K => Shape { k: size, ..shape },
            Self::Batch => Shape { batch: size, ..shape },
            Self::Mn => Shape { m: size, n: size, ..shape },
        }
    }

    /// Sizes after which a plan's kernel has a further tile, or a further step of each share of k.
    fn periods(self, planner: &Planner, plan: &Plan) -> Vec<u64> {
        let Some(tile) = plan.chosen.tile else { return Vec::new() };
        match self {
            Self::M => vec![tile.height.into()],
            Self::N => vec![tile.width.into()],
            Self::K => vec![(planner.step() * f64::from(plan.chosen.splits)) as u64],
            Self::Batch => vec![1],
            Self::Mn => vec![tile.height.into(), tile.width.into()],
        }
    }

    /// Tiles along the dimension, of M = N in both directions together; of K steps.
    pub fn tiles(self, planner: &Planner, plan: &Plan) -> u64 {
        let Some(size) = self.of(plan.shape) else { return 0 };
        self.periods(planner, plan).into_iter().map(|p| size.div_ceil(p.max(1))).sum()
    }
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(over, _)| over == self).map_or("", |(_, name)| name))
    }
}

impl FromStr for Over {
    type Err = SweepError;

    fn from_str(text: &str) -> Result<Self, SweepError> {
        let found = Self::ALL.into_iter().find(|(_, name)| text.eq_ignore_ascii_case(name));
        found.map(|(over, _)| over).ok_or_else(|| SweepError::Dimension { input: text.into() })
    }
}

impl FromStr for Range {
    type Err = SweepError;

    fn from_str(text: &str) -> Result<Self, SweepError> {
        let wrong = || SweepError::Range { input: text.into() };
        let numbers = text.split(':').map(|n| n.trim().parse().ok().filter(|n| *n > 0));
        let (low, high, step) = match numbers.collect::<Option<Vec<u64>>>().ok_or_else(wrong)?[..] {
            [low, high] if low < high => (low, high, None),
            [low, high, step] if low < high => (low, high, Some(step)),
            _ => return Err(wrong()),
        };
        if let Some(step) = step.filter(|step| (high - low) / step >= MOST) {
            return Err(SweepError::Sizes { low, high, step, least: (high - low) / MOST + 1 });
        }
        Ok(Self { low, high, step })
    }
}

/// The kernel chosen for each size of a range, by size; the shape's own size is among them if the range holds it.
///
/// Without a step, a range of more than 2,000 sizes is cut into even parts, and the last size of each tile and the first
/// of the next are added as far as 2,000 go, those of the largest tiles first.
///
/// # Errors
/// The largest product is beyond any GPU.
pub fn sweep(planner: &Planner, shape: Shape, reuse: Reuse, over: Over, range: Range) -> Result<Vec<Plan>, SweepError> {
    let largest = over.with(shape, range.high);
    Shape::new(largest.batch, largest.m, largest.n, largest.k)?;
    let length = range.high - range.low;
    let sizes: Vec<u64> = match range.step {
        Some(step) => (0..=length / step.max(1)).take(MOST as usize).map(|i| range.low + i * step).collect(),
        None if length < MOST => (range.low..=range.high).collect(),
        None => {
            (0..=EVEN).map(|i| range.low + (u128::from(length) * u128::from(i) / u128::from(EVEN)) as u64).collect()
        }
    };
    let at = |size: u64| (size, planner.plan(over.with(shape, size), reuse));
    let mut plans: BTreeMap<u64, Plan> = sizes.into_iter().map(at).collect();
    if range.step.is_none() && length >= MOST {
        for size in edges(planner, over, &plans) {
            plans.entry(size).or_insert_with(|| at(size).1);
        }
    }
    if let Some(size) = over.of(shape).filter(|s| (range.low..=range.high).contains(s)) {
        plans.entry(size).or_insert_with(|| at(size).1);
    }
    Ok(plans.into_values().collect())
}

/// Sizes on both sides of each edge between neighbours, by the kernels of these.
fn edges(planner: &Planner, over: Over, plans: &BTreeMap<u64, Plan>) -> Vec<u64> {
    let room = MOST.saturating_sub(plans.len() as u64 + 1) as usize;
    let mut by_period: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for ((from, before), (to, after)) in plans.iter().zip(plans.iter().skip(1)) {
        let mut periods = over.periods(planner, before);
        periods.extend(over.periods(planner, after));
        periods.sort_unstable();
        periods.dedup();
        for period in periods.into_iter().filter(|p| *p > 1) {
            let first = from.next_multiple_of(period);
            let found = by_period.entry(period).or_default();
            // A period of which there are too many is left out as a whole.
            let between = (first..*to).step_by(period as usize).take((room + 2).saturating_sub(found.len()));
            found.extend(between.flat_map(|edge| [edge, edge + 1]));
        }
    }
    let mut chosen: Vec<u64> = Vec::new();
    for sizes in by_period.into_values().rev() {
        if chosen.len() + sizes.len() <= room {
            chosen.extend(sizes);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gpu::{Catalog, DataType},
        op::gemm::{Force, Precision},
    };

    fn planner(tile: Option<(u32, u32)>, splits: Option<u32>) -> Planner {
        let gpu = Catalog::embedded().unwrap().find("a100-sxm4-80gb").unwrap().gpu;
        let precision = Precision::new(&gpu, DataType::Fp16, false).unwrap();
        Planner::new(&gpu, precision).unwrap().forced(Force { tile, splits }).unwrap()
    }

    fn swept(over: Over, range: &str, tile: Option<(u32, u32)>) -> Vec<u64> {
        let shape = Shape::new(1, 2304, 3000, 4096).unwrap();
        let plans = sweep(&planner(tile, None), shape, Reuse::Cold, over, range.parse().unwrap()).unwrap();
        plans.iter().map(|p| over.of(p.shape).unwrap()).collect()
    }

    #[test]
    fn both_sides_of_every_edge_and_the_shape_itself_are_sampled() {
        let sizes = swept(Over::N, "1000:30000", Some((256, 128)));
        assert!(sizes.len() <= 2000 && sizes.is_sorted(), "{}", sizes.len());
        for edge in (1000u64.next_multiple_of(128)..30_000).step_by(128) {
            assert!(sizes.contains(&edge) && sizes.contains(&(edge + 1)), "{edge}");
        }
        assert!(sizes.contains(&3000) && sizes.contains(&1000) && sizes.contains(&30_000));
        assert_eq!(swept(Over::N, "1:2000", None), (1..=2000).collect::<Vec<_>>());
        assert_eq!(swept(Over::N, "1024:4096:1024", None), [1024, 2048, 3000, 3072, 4096]);
        assert!(swept(Over::M, "1:1000000000", None).len() <= 2000);
        assert!(swept(Over::Mn, "1:100000", Some((256, 128))).len() <= 2000);
    }

    #[test]
    fn ranges_and_dimensions_say_what_they_are() {
        let read = |text: &str| text.parse::<Range>();
        assert_eq!(read("1:9"), Ok(Range { low: 1, high: 9, step: None }));
        assert_eq!(read("1024:8192:64"), Ok(Range { low: 1024, high: 8192, step: Some(64) }));
        for wrong in ["", "5", "9:1", "4:4", "0:4", "1:4:0", "1:2:3:4", "a:b", "-1:4"] {
            assert!(read(wrong).is_err_and(|e| e.to_string().contains("LOW:HIGH")), "{wrong}");
        }
        let many = read("1:100000:1").unwrap_err().to_string();
        assert!(many.contains("at least 50"), "{many}");
        assert!(read("1:100000:50").is_ok());
        assert_eq!("MN".parse(), Ok(Over::Mn));
        assert!("x".parse::<Over>().is_err_and(|e| e.to_string().contains("batch or mn")));
    }

    #[test]
    fn a_given_kernel_is_kept() {
        let plan = |planner: &Planner, k| planner.plan(Shape::new(1, 1, 4096, k).unwrap(), Reuse::Cold).chosen;
        let chosen = plan(&planner(Some((256, 64)), Some(7)), 4096);
        assert_eq!((chosen.tile.map(|t| (t.height, t.width)), chosen.splits), (Some((256, 64)), 7));
        assert_eq!(plan(&planner(None, Some(7)), 100).splits, 2, "a k of two steps");
        assert!(plan(&planner(None, Some(1)), 4096).tile.is_some(), "not the kernel without tiles");
        assert!(plan(&planner(None, None), 4096).tile.is_none());
        let refused = |force| planner(None, None).forced(force).unwrap_err().to_string();
        assert!(refused(Force { tile: Some((7, 9)), splits: None }).contains("7x9; those of this GPU are 256x128, "));
        for splits in [0, 33] {
            assert!(refused(Force { tile: None, splits: Some(splits) }).contains("from 1 to 32"));
        }
    }
}
