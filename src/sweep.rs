//! Parameter spaces: axes over anything that the model takes, their points evaluated row by row, and what is found among them.

mod batch;
mod crossing;
pub mod csv;
mod drive;
mod evaluate;
mod file;
mod find;
mod key;
#[cfg(feature = "parquet")]
pub mod parquet;
mod plan;
mod quantity;
mod sensitivity;
mod subject;
mod values;
mod words;

pub use batch::{ABSENT, Batch, Cell, Cells, Column, NONE, Texts, columns};
pub use crossing::{Condition, Crossing, CrossingError, crossings};
pub use drive::{Sweeper, chunks};
pub use evaluate::{Evaluator, Outcome, RESULTS};
pub use file::{Options, SweepError};
pub use find::{Found, Kept, MOST_GROUPS, Objective, ObjectiveError, Search};
pub use key::{KeyError, Place, Subject};
pub use plan::{Axis, Fixed, Group, MOST_SHARDS, Plan, Sample, Shard, ShardError, fingerprint};
pub use sensitivity::{Influence, Sensitivity, sensitivity};
pub use values::{Kind, Range, Spacing, Values, ValuesError};

mod files {
    include!(concat!(env!("OUT_DIR"), "/sweeps.rs"));
}

/// The built-in sweep files: name and text.
pub fn embedded() -> impl Iterator<Item = (&'static str, &'static str)> {
    files::SWEEP_FILES.iter().copied()
}
