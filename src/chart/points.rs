//! Charts of a table of points, one row each, as a sweep writes it: every column is asked for by its name.
//!
//! A figure is made from [`Points`] and the names of columns, and then drawn like any other.

mod column;
mod error;
mod front;
mod heat;
mod lines;
mod multiples;
mod parts;
mod scale;
mod table;
#[cfg(test)]
mod tests;
mod tornado;

pub use error::PointsError;
pub use front::{Front, FrontAsked};
pub use heat::{Heat, HeatAsked};
pub use lines::{Lines, LinesAsked};
pub use multiples::{Multiples, MultiplesAsked};
pub use scale::LogAxes;
pub use table::Points;
pub use tornado::Tornado;
