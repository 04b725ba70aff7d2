//! All integration tests in one binary, so that the library is linked once.

mod accuracy;
mod amd_cpu;
mod architecture;
mod bad_input;
mod bandwidth_curve;
mod cli;
mod common;
mod compare;
mod console;
mod cookbook;
mod gemm;
mod gemm_charts;
mod gpus;
mod gpus_names;
mod guide_gemm;
mod guide_numbers;
mod judged;
mod laws;
mod mig;
mod ncu;
mod ncu_launches;
mod newcomer;
mod occupancy;
mod page;
mod place;
mod predict;
mod questions_files;
mod questions_occupancy;
mod questions_roofline;
mod report;
mod robust;
mod scenarios;
mod stream;
mod time_laws;
#[cfg(unix)]
mod world;
