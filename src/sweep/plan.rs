//! A sweep as meant: its axes, the points that they span, and which of them a run takes.

use std::ops::Range;

use super::{
    key::{Place, Subject},
    values::Values,
};

/// One key with its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The key as written.
    pub key: String,
    /// What it sets.
    pub place: Place,
    /// Its values.
    pub values: Values,
}

/// Axes that advance together; mostly one.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The axes, all of the same length.
    pub axes: Vec<Axis>,
    /// Values of each.
    pub len: u64,
}

/// A key with the one value that it has at every point.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    /// The key as written.
    pub key: String,
    /// What it sets.
    pub place: Place,
    /// The value as text.
    pub value: String,
}

/// Points drawn from all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// How many; all differ.
    pub count: u64,
    /// What the draw starts from; equal seeds draw equal points.
    pub seed: u64,
}

/// A checked sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// One line for people.
    pub title: String,
    /// What is evaluated.
    pub subject: Subject,
    /// The operation; `kernel` or `simulate` where it is none.
    pub op: String,
    /// Values that stay, in the order in which they were given.
    pub fixed: Vec<Fixed>,
    /// Axes; the first varies slowest.
    pub groups: Vec<Group>,
    /// Points that are taken where not all are.
    pub sample: Option<Sample>,
}

/// A part of the points for one of several machines: number `index` of `count`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub index: u64,
    /// Of how many.
    pub count: u64,
}

/// Most shards of a sweep; job arrays end far below.
pub const MOST_SHARDS: u64 = 1_000_000;

impl Shard {
    /// All points.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// The rows of the shard of `total`: contiguous, disjoint, complete, and of lengths that differ by at most 1.
    pub fn rows(self, total: u64) -> Range<u64> {
        let at = |shard: u64| (u128::from(total) * u128::from(shard) / u128::from(self.count)) as u64;
        at(self.index - 1)..at(self.index)
    }
}

/// `K/N`, 1 to N.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no shard: write K/N with K from 1 to N and N at most {MOST_SHARDS}, such as 3/16")]
pub struct ShardError(String);

impl std::str::FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let numbers = text.split_once('/').and_then(|(k, n)| Some((k.trim().parse().ok()?, n.trim().parse().ok()?)));
        match numbers {
            Some((index, count)) if (1..=count).contains(&index) && count <= MOST_SHARDS => Ok(Self { index, count }),
            _ => Err(ShardError(text.into())),
        }
    }
}

impl Plan {
    /// Points that the axes span; `Plan`s are made only where that is below 2^63.
    pub fn points(&self) -> u64 {
        self.groups.iter().map(|group| group.len).product()
    }

    /// Rows that a run of the whole gives: the points, or those of the sample.
    pub fn rows(&self) -> u64 {
        self.sample.map_or(self.points(), |sample| sample.count)
    }

    /// The point of a row.
    pub fn point(&self, row: u64) -> u64 {
        self.sample.map_or(row, |sample| shuffled(row, self.points(), sample.seed))
    }

    /// The index of the value of each group at a point; `at` has one place per group.
    pub fn coordinates(&self, mut point: u64, at: &mut [u64]) {
        for (place, group) in at.iter_mut().zip(&self.groups).rev() {
            *place = point % group.len;
            point /= group.len;
        }
    }

    /// All axes with the places of their groups, in order.
    pub fn axes(&self) -> impl Iterator<Item = (usize, &Axis)> {
        self.groups.iter().enumerate().flat_map(|(group, g)| g.axes.iter().map(move |axis| (group, axis)))
    }

    /// Rows that are evaluated and written in one go. They follow from the plan alone, so that the bytes of a file
    /// do not depend on the machine, the number of threads or where a run was interrupted.
    pub fn chunk(&self) -> u64 {
        // A simulation takes as long as thousands of other points.
        let (least, most) = if matches!(self.subject, Subject::Simulation(_)) { (1, 256) } else { (256, 16_384) };
        self.rows().div_ceil(64).clamp(least, most)
    }

    /// Everything that decides over the rows, as text.
    pub fn canonical(&self) -> String {
        let mut text = format!("op={}\n", self.op);
        if let Subject::Kernel(table) | Subject::Simulation(table) = &self.subject {
            text += &format!("table={table}\n");
        }
        for fixed in &self.fixed {
            text += &format!("fixed {}={}\n", fixed.key, fixed.value);
        }
        for (index, axis) in self.axes() {
            text += &format!("axis {index} {}={:?}\n", axis.key, axis.values);
        }
        text + &format!("sample={:?}\n", self.sample)
    }
}

/// Place `index` of a shuffle of 0..`all` that `seed` decides: a Feistel network over the next even power of two, walked
/// on until it lands below `all` (Black and Rogaway 2002, "Ciphers with arbitrary finite domains"). Nothing is kept, so
/// that samples of any size cost no memory.
fn shuffled(index: u64, all: u64, seed: u64) -> u64 {
    if all < 2 {
        return index;
    }
    let half = (64 - (all - 1).leading_zeros()).div_ceil(2);
    let mask = (1_u64 << half) - 1;
    let mut value = index;
    loop {
        let (mut left, mut right) = (value >> half, value & mask);
        for round in 0..6 {
            (left, right) = (right, left ^ (mixed(right ^ mixed(seed.wrapping_add(round))) & mask));
        }
        value = left << half | right;
        if value < all {
            return value;
        }
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// FNV-1a over bytes (Fowler, Noll, Vo), 64 bits: one number that tells sweeps apart on every machine.
pub fn fingerprint(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_meets_every_point_once() {
        for all in [1, 2, 3, 100, 4097] {
            let mut seen: Vec<u64> = (0..all).map(|i| shuffled(i, all, 7)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..all).collect::<Vec<_>>());
        }
        assert_ne!(
            (0..10).map(|i| shuffled(i, 1000, 1)).collect::<Vec<_>>(),
            (0..10).map(|i| shuffled(i, 1000, 2)).collect::<Vec<_>>()
        );
    }

    #[test]
    fn shards_are_disjoint_complete_and_even() {
        for (total, count) in [(10, 3), (1, 4), (1_000_003, 16), (u64::MAX / 2, 7)] {
            let rows: Vec<_> = (1..=count).map(|index| Shard { index, count }.rows(total)).collect();
            assert_eq!((rows[0].start, rows[rows.len() - 1].end), (0, total));
            assert!(rows.windows(2).all(|pair| pair[0].end == pair[1].start));
            let lengths = rows.iter().map(|r| r.end - r.start);
            assert!(lengths.clone().max().unwrap() - lengths.min().unwrap() <= 1);
        }
        for wrong in ["0/4", "5/4", "1", "a/b", "1/0", "-1/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
