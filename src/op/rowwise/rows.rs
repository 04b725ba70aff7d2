//! Kernels over rows: how many threads have a row, and how often its data are read.

use super::operation::{Operation, What};

/// A kernel over rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowKernel {
    /// What it is called.
    pub name: &'static str,
    /// Threads that have a row.
    pub threads_per_row: u32,
    /// Rows that they have at once.
    pub rows_at_once: u32,
    /// Threads of a block.
    pub block: u32,
    /// Passes over the row, the first included; the last one writes where there is more than one.
    pub passes: f64,
    /// Elements that a thread loads at once.
    pub width: f64,
}

/// Longest row that softmax gives to one warp.
const WARP_SOFTMAX: u64 = 1024;

impl RowKernel {
    /// The kernel that libraries run. A warp has 32 threads or, on AMD CDNA, 64, whose blocks are larger as well.
    pub fn of(operation: &Operation, wide_warps: bool) -> Self {
        let cols = operation.cols;
        let block = |name, threads, passes, width| Self {
            name,
            threads_per_row: threads,
            rows_at_once: 1,
            block: threads,
            passes,
            width,
        };
        let warp: u32 = if wide_warps { 64 } else { 32 };
        match operation.what {
            What::Softmax if cols <= WARP_SOFTMAX => {
                let threads_per_row = cols.next_power_of_two().min(u64::from(warp)) as u32;
                let rows_at_once = if cols <= 128 { 2 } else { 1 };
                Self { name: "warp per row", threads_per_row, rows_at_once, block: 128, passes: 1.0, width: 1.0 }
            }
            What::Softmax if wide_warps => block("block per row", 1024, 3.0, 4.0),
            What::Softmax => block("block per row", if cols <= 2048 { 256 } else { 512 }, 3.0, 4.0),
            What::RmsNorm => block("block per row", cols.clamp(u64::from(warp), 1024) as u32, 2.0, 1.0),
            What::Reduction { .. } => block("block per row", 128, 1.0, 4.0),
            _ => block("block per row", if wide_warps { 256 } else { 128 }, 2.0, 4.0),
        }
    }

    /// Whether a warp or less has a row.
    pub fn by_warp(&self) -> bool {
        self.block > self.threads_per_row
    }

    /// Rows of a block.
    pub fn rows_per_block(&self) -> u32 {
        self.block / self.threads_per_row * self.rows_at_once
    }

    /// Rows in flight on a GPU whose SMs have so many thread slots.
    pub fn in_flight(&self, sms: f64, slots: f64) -> f64 {
        sms * libm::floor(slots / f64::from(self.threads_per_row)).max(1.0) * f64::from(self.rows_at_once)
    }

    /// Steps of the threads over a row.
    pub fn steps(&self, cols: u64) -> f64 {
        libm::ceil(cols as f64 / (f64::from(self.threads_per_row) * self.width))
    }
}
