//! The answer to one row of a table, whatever its operation.

use super::{estimate::Estimate, predict::Prediction};
use crate::{
    gpu::{ConstantsOf, Gpu},
    time::Bound,
};

/// The answer to one row. Times are in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The GPU.
    pub gpu: &'a Gpu,
    /// The time, with the host's share where the row asks for it.
    pub time: f64,
    /// Low and high end of the 80 % band.
    pub band: (f64, f64),
    /// Arithmetic, and the output of tiles.
    pub math: f64,
    /// DRAM.
    pub dram: f64,
    /// L2 into the SMs.
    pub l2: f64,
    /// What waits, and the fixed cost of the device.
    pub latency: f64,
    /// Host overhead; absent where only the device is timed.
    pub launch: Option<f64>,
    /// The largest of math, memory and latency.
    pub bound: Bound,
    /// Tile, height and width.
    pub tile: Option<(u32, u32)>,
    /// The kind of kernel, which stands for the tile where there is none.
    pub kernel: &'static str,
    /// Shares into which the inner dimension is cut.
    pub splits: u32,
    /// Blocks.
    pub blocks: f64,
    /// Resident blocks per SM.
    pub blocks_per_sm: u32,
    /// Waves of blocks.
    pub waves: f64,
    /// Whose constants were used.
    pub of: &'a ConstantsOf,
    /// Whether no measurement of such a row stands behind the time.
    pub unmeasured: bool,
    /// Time of the arithmetic at the datasheet peak.
    pub least_math: f64,
    /// Time of the least traffic at the datasheet bandwidth.
    pub least_memory: f64,
    /// Operations that the row is credited with.
    pub flop: f64,
}

impl<'a> Answer<'a> {
    /// The answer of a matrix product.
    pub fn product(found: &Prediction<'a>) -> Self {
        let chosen = &found.plan.chosen;
        let tile = chosen.tile.map(|tile| (tile.height, tile.width));
        Self {
            gpu: found.gpu,
            time: found.time,
            band: found.band,
            math: found.math,
            dram: found.dram,
            l2: found.feed,
            latency: found.latency,
            launch: found.launch,
            bound: found.bound(),
            tile,
            kernel: "gemv",
            splits: chosen.splits,
            blocks: chosen.blocks,
            blocks_per_sm: chosen.tile.map_or(1, |tile| tile.per_sm),
            waves: found.waves,
            of: found.of,
            unmeasured: found.uncalibrated.is_some(),
            least_math: found.plan.shape.flop() / found.peak,
            least_memory: found.plan.bytes.get() / found.bandwidth,
            flop: found.plan.shape.flop(),
        }
    }

    /// The answer of another operation; `time` with the host's share `launch`, by which the band is as wide as without.
    pub fn operation(gpu: &'a Gpu, found: &Estimate<'a>, time: f64, launch: Option<f64>) -> Self {
        let scale = time / found.time;
        Self {
            gpu,
            time,
            band: (found.low * scale, found.high * scale),
            math: found.math,
            dram: found.dram,
            l2: found.l2,
            latency: found.latency + found.fixed,
            launch,
            bound: found.bound(),
            tile: found.tile,
            kernel: found.kernel,
            splits: found.splits,
            blocks: found.blocks,
            blocks_per_sm: found.blocks_per_sm,
            waves: found.waves(gpu),
            of: found.of,
            unmeasured: found.unmeasured.is_some(),
            least_math: found.flop / found.peak,
            least_memory: found.bytes / gpu.memory.dram.bandwidth.get(),
            flop: found.flop,
        }
    }
}
