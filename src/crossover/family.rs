//! Operations that grow with one size: their shapes, what they move and what they compute.

use super::CrossoverError;
use crate::{
    gpu::DataType,
    op::{
        gemm::Shape,
        rowwise::{Access, Kind, Operation, What, bytes},
    },
    units::plural,
};

/// An operation that grows with one size n.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// A matrix product; sides that are absent are n.
    Gemm {
        /// Rows of A and C.
        m: Option<u64>,
        /// Columns of B and C.
        n: Option<u64>,
        /// Columns of A, rows of B.
        k: Option<u64>,
    },
    /// An element-wise kernel of n elements.
    Elementwise {
        /// The kind.
        kind: Kind,
        /// Whether the result takes the place of an operand, as in y = a x + y.
        in_place: bool,
    },
    /// One sum of n elements.
    Reduction,
    /// Softmax over rows; sides that are absent are n.
    Softmax {
        /// Rows.
        rows: Option<u64>,
        /// Columns: the length of a row.
        cols: Option<u64>,
    },
}

/// What a call does at one size, for the side that has no model of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Work {
    /// Bytes read and written, each operand once.
    pub read: f64,
    pub written: f64,
    /// Tensors copied in; the result is one more.
    pub tensors: f64,
    /// Bytes that a cache must hold to have all operands.
    pub set: f64,
    /// Bytes that are read again while a row of so many bytes is at hand.
    pub again: f64,
    pub row: f64,
    /// Arithmetic.
    pub math: Math,
}

/// The arithmetic of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Math {
    /// A product of so many rows, columns and inner elements, in fused multiply-adds.
    Product(f64, f64, f64),
    /// Operations and special functions on single elements.
    Elements { flop: f64, special: f64 },
}

/// Operations per element of a softmax besides its exponential: maximum, difference, sum, product.
const SOFTMAX: f64 = 4.0;
/// Passes over a row of a softmax beyond the first.
const SOFTMAX_AGAIN: f64 = 2.0;

impl Family {
    /// The family of y = a x + y.
    pub fn axpy() -> Option<Self> {
        Some(Self::Elementwise { kind: "triad".parse().ok()?, in_place: true })
    }

    /// Whether a kind streams through memory in order, as both sides can.
    pub fn streams(kind: Kind) -> bool {
        matches!(kind.facts().access, Access::Stream | Access::Scalar)
    }

    /// Nothing unless it grows and streams.
    pub(super) fn checked(&self) -> Result<(), CrossoverError> {
        match self {
            Self::Gemm { m: Some(_), n: Some(_), k: Some(_) } => Err(CrossoverError::Still { sides: "m, n and k" }),
            Self::Softmax { rows: Some(_), cols: Some(_) } => Err(CrossoverError::Still { sides: "rows and cols" }),
            Self::Elementwise { kind, .. } if !Self::streams(*kind) => Err(CrossoverError::Kind { kind: kind.name() }),
            _ => Ok(()),
        }
    }

    /// The word of the command line.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Gemm { .. } => "gemm",
            Self::Elementwise { in_place: true, .. } => "axpy",
            Self::Elementwise { kind, .. } => kind.name(),
            Self::Reduction => "reduction",
            Self::Softmax { .. } => "softmax",
        }
    }

    /// The operation with its sizes, such as `gemm n x n x n` or `add of n elements`.
    pub fn name(&self) -> String {
        let side = |side: &Option<u64>| side.map_or("n".to_owned(), |s| s.to_string());
        match self {
            Self::Gemm { m, n, k } => format!("gemm {} x {} x {}", side(m), side(n), side(k)),
            Self::Elementwise { .. } => format!("{} of n elements", self.word()),
            Self::Reduction => "sum of n elements".into(),
            Self::Softmax { rows: Some(rows), cols: _ } => format!("softmax over {} of n", plural(*rows, "row")),
            Self::Softmax { rows: None, cols } => format!("softmax over n rows of {}", side(cols)),
        }
    }

    /// The product at a size; absent of what is none.
    pub(super) fn shape(&self, size: u64) -> Result<Option<Shape>, CrossoverError> {
        let Self::Gemm { m, n, k } = self else { return Ok(None) };
        let side = |side: &Option<u64>| side.unwrap_or(size);
        Ok(Some(Shape::new(1, side(m), side(n), side(k))?))
    }

    /// The element-wise or row-wise operation at a size; absent of a product.
    pub(super) fn operation(&self, size: u64, data: DataType) -> Result<Option<Operation>, CrossoverError> {
        Ok(Some(match self {
            Self::Gemm { .. } => return Ok(None),
            Self::Elementwise { kind, .. } => Operation::elementwise(*kind, 1, size, data)?,
            Self::Reduction => Operation::new(What::Reduction { full: true }, 1, size, data)?,
            Self::Softmax { rows, cols } => {
                Operation::new(What::Softmax, rows.unwrap_or(size), cols.unwrap_or(size), data)?
            }
        }))
    }

    /// What a call does at a size.
    pub(super) fn work(&self, size: u64, data: DataType) -> Result<Work, CrossoverError> {
        if let Some(shape) = self.shape(size)? {
            let [m, n, k] = [shape.m, shape.n, shape.k].map(|side| side as f64);
            // Narrow operands give results of 16 bits.
            let (input, output) = (bytes(data), bytes(data).max(2.0));
            let (read, written) = ((m * k + k * n) * input, m * n * output);
            let math = Math::Product(m, n, k);
            return Ok(Work { read, written, tensors: 2.0, set: read + written, again: 0.0, row: 0.0, math });
        }
        let Some(operation) = self.operation(size, data)? else {
            return Err(CrossoverError::Range { low: size, high: size });
        };
        let (read, written) = operation.traffic();
        let elements = operation.elements();
        let elementwise = |flop, special| Math::Elements { flop: flop * elements, special: special * elements };
        let plain = Work {
            read,
            written,
            tensors: 1.0,
            set: read + written,
            again: 0.0,
            row: 0.0,
            math: elementwise(1.0, 0.0),
        };
        Ok(match self {
            Self::Elementwise { kind, in_place } => {
                let facts = kind.facts();
                let set = if *in_place { read } else { read + written };
                let math = elementwise(facts.flop, facts.special);
                Work { tensors: f64::from(facts.reads), set, math, ..plain }
            }
            Self::Softmax { .. } => {
                let row = operation.cols as f64 * bytes(data);
                Work { again: SOFTMAX_AGAIN * read, row, math: elementwise(SOFTMAX, 1.0), ..plain }
            }
            _ => plain,
        })
    }
}
