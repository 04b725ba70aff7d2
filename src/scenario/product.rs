//! Matrix products in a scenario: `[[gemm]]` tables.

use serde::Deserialize;

use super::{ScenarioError, words};
use crate::{
    gpu::{DataKind, DataType},
    op::gemm::{Request, Reuse, Shape},
    time::{Bound, Timing},
};

/// A `[[gemm]]` table as written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GemmSpec {
    /// Name for people.
    pub name: String,
    /// Products of this shape in one kernel.
    #[serde(default = "one", deserialize_with = "words::count")]
    pub batch: u64,
    /// Rows of A and C.
    #[serde(deserialize_with = "words::count")]
    pub m: u64,
    /// Columns of B and C.
    #[serde(deserialize_with = "words::count")]
    pub n: u64,
    /// Columns of A, rows of B.
    #[serde(deserialize_with = "words::count")]
    pub k: u64,
    /// Type of A and B.
    #[serde(default = "bf16")]
    pub dtype: DataType,
    /// Whether the weights are 2:4 sparse.
    #[serde(default)]
    pub sparse: bool,
    /// What L2 holds at the start.
    #[serde(default, deserialize_with = "words::reuse")]
    pub reuse: Reuse,
    /// What the operands hold.
    #[serde(default)]
    pub data: DataKind,
    /// The bound that the author expects.
    #[serde(default, deserialize_with = "words::bound")]
    pub expect: Option<Bound>,
}

fn one() -> u64 {
    1
}

fn bf16() -> DataType {
    DataType::Bf16
}

impl GemmSpec {
    /// The request, checked as far as that goes without a GPU.
    ///
    /// # Errors
    /// A dimension of 0, or more operations than years of any GPU.
    pub fn build(&self, timing: Timing) -> Result<Request, ScenarioError> {
        let shape = Shape::new(self.batch, self.m, self.n, self.k).map_err(|error| {
            let extent = format!("{} x {} x {} x {}", self.batch, self.m, self.n, self.k);
            ScenarioError::option(&self.name, "m", extent, error.to_string())
        })?;
        let Self { sparse, reuse, data, .. } = *self;
        Ok(Request { sparse, reuse, data, timing, ..Request::new(shape, self.dtype) })
    }
}
