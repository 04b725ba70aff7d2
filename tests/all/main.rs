//! All integration tests in one binary, so that the library is linked once.

mod bandwidth_curve;
mod occupancy;
mod scenarios;
