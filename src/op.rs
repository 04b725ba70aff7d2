//! Operations by shape: which kernel a library would run for them, and its launch.

pub mod gemm;
