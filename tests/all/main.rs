//! All integration tests in one binary, so that the library is linked once.

mod architecture;
mod bandwidth_curve;
mod common;
mod console;
mod gpus;
mod gpus_names;
mod guide_numbers;
mod laws;
mod ncu;
mod ncu_launches;
mod occupancy;
mod questions;
mod report;
mod scenarios;
mod time_laws;
#[cfg(unix)]
mod world;
