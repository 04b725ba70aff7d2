//! All integration tests in one binary, so that the library is linked once.

mod bandwidth_curve;
mod ncu;
mod ncu_launches;
mod occupancy;
mod report;
mod scenarios;
