//! The search for the kernel of an operation that is a matrix product in disguise, such as a convolution.

use super::{Planner, tiles::tile};
use crate::gpu::Gpu;

/// What differs from the kernels of plain matrix products.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernels<'a> {
    /// Tiles, height and width.
    pub tiles: &'a [[u32; 2]],
    /// Whether they may split k.
    pub splits: bool,
    /// Share of the datasheet peak that they sustain.
    pub sustained: f64,
    /// Loss of clock of long ones.
    pub droop: f64,
}

impl Planner {
    /// The same planner for the kernels of another operation.
    pub fn with_kernels(mut self, gpu: &Gpu, kernels: Kernels) -> Self {
        let pipeline = gpu.calibration.tiled_of(self.precision().pipe).pipeline;
        self.tiles = kernels.tiles.iter().map(|[height, width]| tile(gpu, pipeline, *height, *width)).collect();
        self.batched = self.tiles.clone();
        (self.single_splits, self.batched_splits, self.gemv) = (kernels.splits, kernels.splits, false);
        // Operands that are gathered have no rows far apart.
        self.machine.stride = 0.0;
        (self.machine.math, self.machine.droop) = (self.machine.peak * kernels.sustained, kernels.droop);
        self
    }
}
