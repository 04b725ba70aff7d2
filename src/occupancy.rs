//! How many blocks fit on an SM, and which resource is the limit.

pub mod advice;
pub mod batch;
pub mod nvidia;

pub use nvidia::{BlockLimits, Carveout, Limiters, Occupancy, Resource, Resources, occupancy};
