//! Element-wise and row-wise operations by their shape, with every check that can fail.

use super::kind::{Access, Kind};
use crate::{gpu::DataType, units::short};

/// What is done to a tensor of rows and columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// Every element by itself.
    Elementwise {
        /// The kind.
        kind: Kind,
        /// Tensors read.
        reads: u32,
        /// Tensors written.
        writes: u32,
        /// Bytes of one load of a thread.
        load: f64,
    },
    /// Softmax over each row.
    Softmax,
    /// Layer norm over each row.
    LayerNorm,
    /// RMS norm over each row.
    RmsNorm,
    /// A sum over each row, or over everything.
    Reduction {
        /// Over everything.
        full: bool,
    },
}

/// An operation on a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operation {
    /// What is done.
    pub what: What,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Type of what is read.
    pub input: DataType,
    /// Type of what is written.
    pub output: DataType,
    /// Whether the launch before left the operands in L2, as far as they fit (element-wise operations alone).
    pub warm: bool,
}

/// An operation that nothing can do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OperationError {
    /// A dimension of 0.
    #[error("{dimension} = 0: a tensor has at least 1 row and 1 column")]
    Zero {
        /// Its name.
        dimension: &'static str,
    },
    /// A dimension, or their product, beyond any memory.
    #[error("{rows} x {cols} elements: at most 2^40 rows, 2^40 columns and 2^60 elements are taken")]
    Huge {
        /// Rows.
        rows: u64,
        /// Columns.
        cols: u64,
    },
    /// Nothing is moved.
    #[error("{kind} with reads = 0 and writes = 0 moves nothing: give --reads or --writes of at least 1")]
    Nothing {
        /// The kind.
        kind: &'static str,
    },
    /// More tensors than a kernel has arguments for.
    #[error("{count} tensors {verb}: at most 64 are taken")]
    Many {
        /// Their count.
        count: u32,
        /// read or written.
        verb: &'static str,
    },
    /// A load that no thread can issue.
    #[error("a load of {} bytes: threads load 1, 2, 4, 8 or 16 bytes at once", short(*.bytes, 6))]
    Load {
        /// The bytes as given.
        bytes: f64,
    },
    /// A type that is no form of data in memory, or that no library computes with.
    #[error("{op} of {dtype}: {why}")]
    Type {
        /// The operation.
        op: &'static str,
        /// The type.
        dtype: &'static str,
        /// What is wrong and what would do.
        why: &'static str,
    },
}

/// Longest dimension, and most elements.
const LONGEST: u64 = 1 << 40;
const MOST: u64 = 1 << 60;
/// Most tensors of a kernel.
const TENSORS: u32 = 64;
/// Widest load of a thread, in bytes.
pub const WIDEST: f64 = 16.0;

/// Bytes of an element in memory.
pub fn bytes(data: DataType) -> f64 {
    match data {
        DataType::Fp64 => 8.0,
        DataType::Fp32 | DataType::Tf32 | DataType::Int32 => 4.0,
        DataType::Fp16 | DataType::Bf16 => 2.0,
        DataType::Fp8 | DataType::Int8 => 1.0,
        DataType::Fp6 => 0.75,
        DataType::Fp4 | DataType::Int4 => 0.5,
    }
}

impl Operation {
    /// An element-wise operation with the reads and writes of its kind.
    ///
    /// # Errors
    /// As [`Self::checked`].
    pub fn elementwise(kind: Kind, rows: u64, cols: u64, data: DataType) -> Result<Self, OperationError> {
        let facts = kind.facts();
        let load = if facts.access == Access::Scalar { bytes(data) } else { WIDEST };
        let what = What::Elementwise { kind, reads: facts.reads, writes: facts.writes, load };
        Self::new(what, rows, cols, data)
    }

    /// A cold operation whose result has the type of its input.
    ///
    /// # Errors
    /// As [`Self::checked`].
    pub fn new(what: What, rows: u64, cols: u64, data: DataType) -> Result<Self, OperationError> {
        Self { what, rows, cols, input: data, output: data, warm: false }.checked()
    }

    /// The operation, if anything can do it.
    ///
    /// # Errors
    /// A dimension is 0 or too long, nothing is moved, there are more than 64 tensors, a load has no legal width, or the type cannot be held
    /// in memory or computed with.
    pub fn checked(self) -> Result<Self, OperationError> {
        for (dimension, value) in [("rows", self.rows), ("cols", self.cols)] {
            if value == 0 {
                return Err(OperationError::Zero { dimension });
            }
        }
        let elements = self.rows.checked_mul(self.cols).filter(|n| *n <= MOST);
        if self.rows > LONGEST || self.cols > LONGEST || elements.is_none() {
            return Err(OperationError::Huge { rows: self.rows, cols: self.cols });
        }
        let op = self.name();
        for data in [self.input, self.output] {
            if data == DataType::Tf32 {
                let why = "tf32 is a mode of tensor cores, tensors are in memory as fp32";
                return Err(OperationError::Type { op, dtype: data.name(), why });
            }
        }
        let dtype = self.input.name();
        match self.what {
            What::Elementwise { kind, reads, writes, load } => {
                if reads == 0 && writes == 0 {
                    return Err(OperationError::Nothing { kind: op });
                }
                for (count, verb) in [(reads, "read"), (writes, "written")] {
                    if count > TENSORS {
                        return Err(OperationError::Many { count, verb });
                    }
                }
                if ![0.5, 0.75, 1.0, 2.0, 4.0, 8.0, 16.0].contains(&load) {
                    return Err(OperationError::Load { bytes: load });
                }
                let narrow = matches!(self.input, DataType::Fp6 | DataType::Fp4 | DataType::Int4);
                if narrow && !kind.moves_only() {
                    let why = "no GPU computes with elements below a byte outside its tensor cores; cast, copy, fill, transpose and embedding take them";
                    return Err(OperationError::Type { op, dtype, why });
                }
            }
            What::Reduction { .. } => {
                if matches!(self.input, DataType::Fp8 | DataType::Fp6 | DataType::Fp4 | DataType::Int4) {
                    let why = "libraries sum fp64 fp32 fp16 bf16 int32 and int8";
                    return Err(OperationError::Type { op, dtype, why });
                }
            }
            What::Softmax | What::LayerNorm | What::RmsNorm => {
                if !matches!(self.input, DataType::Fp64 | DataType::Fp32 | DataType::Fp16 | DataType::Bf16) {
                    let why = "libraries compute it on fp64 fp32 fp16 and bf16";
                    return Err(OperationError::Type { op, dtype, why });
                }
            }
        }
        Ok(self)
    }

    /// The name: of the kind, or of the operation.
    pub fn name(&self) -> &'static str {
        match self.what {
            What::Elementwise { kind, .. } => kind.name(),
            What::Softmax => "softmax",
            What::LayerNorm => "layernorm",
            What::RmsNorm => "rmsnorm",
            What::Reduction { .. } => "reduction",
        }
    }

    /// Elements of the tensor.
    pub fn elements(&self) -> f64 {
        self.rows as f64 * self.cols as f64
    }

    /// Least bytes read and written: every operand once.
    pub fn traffic(&self) -> (f64, f64) {
        let (elements, size, out) = (self.elements(), bytes(self.input), bytes(self.output));
        match self.what {
            What::Elementwise { kind, reads, writes, .. } => {
                let index = if kind.facts().access == Access::Gather { INDEX * self.rows as f64 } else { 0.0 };
                let written = elements * (f64::from(writes) * out + kind.facts().aside);
                (f64::from(reads) * elements * size + index, written)
            }
            What::Reduction { full } => (elements * size, out * if full { 1.0 } else { self.rows as f64 }),
            _ => (elements * size, elements * out),
        }
    }
}

/// Bytes of an index of a gathered row.
const INDEX: f64 = 8.0;
