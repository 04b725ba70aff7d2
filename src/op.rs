//! Operations by shape: which kernel a library would run for them, and its launch; tables of them.

pub mod answer;
pub mod attention;
pub mod batch;
mod calls;
pub mod conv;
pub mod estimate;
pub mod gemm;
pub mod moe;
pub mod pool;
pub mod predict;
pub mod row;
pub mod rowwise;
pub mod table;
