//! How the blocks of a grid share the SMs over time.

pub mod simulate;
pub mod waves;

pub use waves::{Schedule, schedule};
