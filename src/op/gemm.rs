//! Matrix products: `C[m,n] = A[m,k] B[k,n]`, `batch` times. A are the activations, B the weights.

mod band;
mod bound;
mod explain;
mod force;
mod groups;
mod kernels;
mod plan;
mod precision;
mod product;
mod quantise;
mod sweep;
mod tiles;

pub use band::{Uncalibrated, band, uncalibrated};
pub use force::{Force, ForceError};
pub use groups::{Groups, Products};
pub use kernels::Kernels;
pub use plan::{Candidate, Plan, Planner};
pub use precision::{Precision, PrecisionError};
pub use product::{GemmError, Product, Request, kernel, product};
pub use quantise::quantisation;
pub use sweep::{Over, Range, SweepError, sweep};
pub(crate) use tiles::tile;
pub use tiles::{SPLITS, Tile, sides};

use crate::units::short;

/// A matrix product by its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Products of the same shape.
    pub batch: u64,
    /// Rows of A and C.
    pub m: u64,
    /// Columns of B and C.
    pub n: u64,
    /// Columns of A, rows of B.
    pub k: u64,
}

/// A shape that no GPU multiplies.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// A dimension of 0.
    #[error("{dimension} = 0: a matrix product has at least 1 row, column and inner element")]
    Zero {
        /// Its letter.
        dimension: &'static str,
    },
    /// A dimension longer than any memory.
    #[error("{dimension} = {value}: at most 2^40 are taken")]
    Long {
        /// Its letter.
        dimension: &'static str,
        /// The value as given.
        value: u64,
    },
    /// More products than a kernel is planned for.
    #[error("a group of {groups} products: at most {most} are taken")]
    Groups {
        /// Products.
        groups: usize,
        /// Most of them.
        most: usize,
    },
    /// More operations than years of any GPU.
    #[error("{batch} x {m} x {n} x {k} is {} operations; at most 1e24 are taken", short(*.flop, 6))]
    Huge {
        /// Products.
        batch: u64,
        /// Rows.
        m: u64,
        /// Columns.
        n: u64,
        /// Inner dimension.
        k: u64,
        /// 2 batch m n k.
        flop: f64,
    },
}

/// Longest dimension: sums of a few of them stay far from 2^64.
pub const LONGEST: u64 = 1 << 40;

impl Shape {
    /// A checked shape.
    ///
    /// # Errors
    /// A dimension is 0 or above 2^40, or there are more than 1e24 operations.
    pub fn new(batch: u64, m: u64, n: u64, k: u64) -> Result<Self, ShapeError> {
        for (dimension, value) in [("batch", batch), ("m", m), ("n", n), ("k", k)] {
            if value == 0 {
                return Err(ShapeError::Zero { dimension });
            }
            if value > LONGEST {
                return Err(ShapeError::Long { dimension, value });
            }
        }
        let shape = Self { batch, m, n, k };
        let flop = shape.flop();
        if flop > 1e24 { Err(ShapeError::Huge { batch, m, n, k, flop }) } else { Ok(shape) }
    }

    /// Operations: 2 batch m n k.
    pub fn flop(&self) -> f64 {
        2.0 * self.batch as f64 * self.m as f64 * self.n as f64 * self.k as f64
    }
}

/// What was touched between two uses of the same data: what of it L2 still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reuse {
    /// Weights come from DRAM, activations and output were touched one product ago: a layer of a model.
    #[default]
    ColdWeights,
    /// Nothing is in L2.
    Cold,
    /// The same product again and again.
    Warm,
    /// Benchmarks that rotate so many copies of the weights over one A and one C.
    Rotated(u32),
}
