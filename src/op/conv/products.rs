//! The matrix product of a convolution, and groups that channels can be cut into.

use crate::op::gemm::{self, Tile};

/// The matrix product of a convolution, whose operands are in memory once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Products {
    /// The product of each group.
    pub shape: gemm::Shape,
    /// Elements of B and A in memory.
    pub stored: [f64; 2],
}

impl gemm::Products for Products {
    fn outline(&self) -> gemm::Shape {
        self.shape
    }

    fn rows(&self) -> f64 {
        self.shape.rows()
    }

    fn tiles(&self, tile: &Tile) -> f64 {
        self.shape.tiles(tile)
    }

    fn rows_of_tile(&self, height: f64) -> f64 {
        self.shape.rows_of_tile(height)
    }

    fn stored(&self) -> [f64; 2] {
        self.stored
    }
}

/// Numbers of groups that divide both channels, the two below and the two above.
pub(super) fn divisors(channels: u64, filters: u64, groups: u64) -> String {
    let divides = |g: &u64| channels.is_multiple_of(*g) && filters.is_multiple_of(*g);
    let least = channels.min(filters);
    // Channels beyond this are no network's; the search ends there.
    let (below, above) = (groups.min(least + 1).min(1 << 20), groups.saturating_add(1));
    let mut near: Vec<u64> = (1..below).rev().filter(divides).take(2).collect();
    near.reverse();
    near.extend((above..=least.min(1 << 20)).filter(divides).take(2));
    if near.is_empty() {
        near.push(1);
    }
    near.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
