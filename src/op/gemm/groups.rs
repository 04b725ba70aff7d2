//! Products of one kernel: all of the same shape, or of unequal heights.

use super::{LONGEST, Shape, ShapeError, Tile};

/// What the search for a kernel asks of the products that it is to run.
pub trait Products: Copy {
    /// A shape that holds each of them: their number, the largest height, width and depth.
    fn outline(&self) -> Shape;
    /// Rows of all of them.
    fn rows(&self) -> f64;
    /// Tiles of the output.
    fn tiles(&self, tile: &Tile) -> f64;
    /// Rows that a tile of this height holds, on average.
    fn rows_of_tile(&self, height: f64) -> f64;
    /// Elements of B and of A in memory: fewer than `k n` and `m k` where one element stands in several places.
    fn stored(&self) -> [f64; 2] {
        let Shape { batch, n, k, .. } = self.outline();
        [batch as f64 * k as f64 * n as f64, self.rows() * k as f64]
    }
}

impl Products for Shape {
    fn outline(&self) -> Shape {
        *self
    }

    #[inline]
    fn rows(&self) -> f64 {
        self.batch as f64 * self.m as f64
    }

    #[inline]
    fn tiles(&self, tile: &Tile) -> f64 {
        self.batch as f64 * across(self.m, tile.height) * across(self.n, tile.width)
    }

    #[inline]
    fn rows_of_tile(&self, height: f64) -> f64 {
        height.min(self.m as f64)
    }
}

/// More groups than any layer of experts has: the search looks at each of them for every tile.
const MOST_GROUPS: usize = 4096;

/// A grouped product: `C_i[m_i, n] = A_i[m_i, k] B_i[k, n]`, such as the experts of a layer with the tokens that each got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups<'a> {
    /// Rows of each product.
    pub rows: &'a [u64],
    /// Columns of B and C.
    pub n: u64,
    /// Columns of A, rows of B.
    pub k: u64,
}

impl<'a> Groups<'a> {
    /// Checked groups.
    ///
    /// # Errors
    /// There is no product or more than 4,096, a dimension is 0 or above 2^40, or there are more than 1e24 operations.
    pub fn new(rows: &'a [u64], n: u64, k: u64) -> Result<Self, ShapeError> {
        let largest = rows.iter().copied().max().unwrap_or(0);
        if rows.len() > MOST_GROUPS {
            return Err(ShapeError::Groups { groups: rows.len(), most: MOST_GROUPS });
        }
        let smallest = rows.iter().copied().min().unwrap_or(0);
        let total = rows.iter().fold(0u64, |sum, m| sum.saturating_add(*m));
        for (dimension, value) in [("m", largest), ("n", n), ("k", k)] {
            if value > LONGEST {
                return Err(ShapeError::Long { dimension, value });
            }
        }
        if smallest == 0 {
            return Err(ShapeError::Zero { dimension: "m" });
        }
        Shape::new(1, total.min(LONGEST), n, k)?;
        Shape::new(rows.len() as u64, largest, n, k)?;
        Ok(Self { rows, n, k })
    }
}

impl Products for Groups<'_> {
    fn outline(&self) -> Shape {
        let m = self.rows.iter().copied().max().unwrap_or(1);
        Shape { batch: self.rows.len() as u64, m, n: self.n, k: self.k }
    }

    fn rows(&self) -> f64 {
        self.rows.iter().map(|m| *m as f64).sum()
    }

    fn tiles(&self, tile: &Tile) -> f64 {
        self.rows.iter().map(|m| across(*m, tile.height)).sum::<f64>() * across(self.n, tile.width)
    }

    fn rows_of_tile(&self, height: f64) -> f64 {
        let tiles = |m: &u64| (*m as f64 / height).ceil();
        let rows: f64 = self.rows.iter().map(|m| tiles(m) * height.min(*m as f64)).sum();
        rows / self.rows.iter().map(tiles).sum::<f64>()
    }
}

/// Tiles along one side.
#[inline]
fn across(extent: u64, side: u32) -> f64 {
    extent.div_ceil(u64::from(side)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gpu::{Catalog, DataType},
        op::gemm::{Planner, Precision, Reuse},
    };

    #[test]
    fn equal_groups_are_a_batch_and_unequal_ones_cost_their_tiles() {
        let gpu = Catalog::embedded().unwrap().find("a100-sxm4-80gb").unwrap().gpu;
        let planner = Planner::new(&gpu, Precision::new(&gpu, DataType::Bf16, false).unwrap()).unwrap();
        let time = |rows: &[u64]| planner.plan(Groups::new(rows, 2048, 4096).unwrap(), Reuse::ColdWeights).time;
        for m in [1, 37, 128, 1000] {
            let batch = planner.plan(Shape::new(8, m, 2048, 4096).unwrap(), Reuse::ColdWeights);
            assert_eq!(time(&[m; 8]), batch.time, "{m}");
            assert_eq!(batch.rows, 8.0 * m as f64);
        }
        // The same rows in fewer tiles take less time than in more.
        assert!(time(&[256, 256, 256, 256]) < time(&[257, 255, 257, 255]));
        assert_eq!(time(&[1024, 1, 300]), time(&[1, 300, 1024]));
        assert!(time(&[1024, 1, 300]) > time(&[1024, 300]));
    }

    #[test]
    fn groups_are_checked() {
        let error = |rows: &[u64], n, k| Groups::new(rows, n, k).unwrap_err().to_string();
        assert!(error(&[], 1, 1).contains("m = 0") && error(&[5, 0], 1, 1).contains("m = 0"));
        assert!(error(&[1], 0, 1).contains("n = 0") && error(&[1], 1, 0).contains("k = 0"));
        assert!(error(&[1, (1 << 40) + 1], 1, 1).contains("at most 2^40"));
        assert!(error(&[1; 4097], 1, 1).contains("4097 products: at most 4096 are taken"));
        assert!(error(&[1 << 30, 1 << 30], 1 << 30, 1 << 30).contains("at most 1e24"));
    }
}
