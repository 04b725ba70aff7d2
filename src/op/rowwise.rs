//! Element-wise operations, operations over rows (softmax, layer norm, RMS norm, sums) and copies, which bandwidth, launches and
//! waiting decide.

mod call;
mod constants;
mod explain;
mod kind;
pub mod link;
mod model;
mod operation;
mod regime;
mod rows;
mod table;

pub use call::{Call, Caller, CallerError, around};
pub use constants::Stack;
pub use explain::{RowwiseError, analysis, name};
pub use kind::{Access, Facts, Kind, KindError};
pub use model::{Model, ModelError};
pub use operation::{Operation, OperationError, What, bytes};
pub use regime::Regime;
pub use rows::RowKernel;
pub use table::{Row, RowError, operation};
