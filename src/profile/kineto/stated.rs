//! What PyTorch's profiler computes for a launch and writes beside its times.

use crate::{
    gpu::SmLimits,
    occupancy::{Resources, nvidia},
};

/// Figures of a launch as PyTorch's traces state them; computed by the profiler, none of them measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KinetoFigures {
    /// `blocks per SM`: blocks of the grid per SM, however many fit at a time.
    pub blocks_per_sm: f64,
    /// `warps per SM`: the threads of these in warps, with fraction.
    pub warps_per_sm: f64,
    /// `est. achieved occupancy %`, in traces of 2021 `theoretical occupancy %`: threads of the blocks that an SM
    /// holds, or that it gets where the grid has fewer, as a share of the most. The profiler counts with the 48 KiB
    /// that need no opt-in, so it is 0 for a block with more shared memory, and says nothing there.
    pub occupancy_pct: u32,
}

/// The figures that PyTorch's profiler states for a launch on an NVIDIA GPU of `sms` SMs, to compare a trace with.
/// `registers` are per thread, `shared` bytes per block, static and dynamic. 0 SMs count as one.
pub fn kineto_figures(
    limits: &SmLimits,
    sms: u32,
    grid: [u64; 3],
    block: [u64; 3],
    registers: u32,
    shared: u32,
) -> KinetoFigures {
    // The profiler computes in single precision, which decides halves of a percent.
    let product = |sizes: [u64; 3]| sizes.iter().fold(1u64, |all, size| all.saturating_mul(*size));
    let threads = product(block);
    let blocks_per_sm = product(grid) as f32 / sms.max(1) as f32;
    let resources = Resources {
        threads_per_block: u32::try_from(threads).unwrap_or(u32::MAX),
        registers_per_thread: registers,
        dynamic_shared: shared,
        opt_in: false,
        ..Resources::default()
    };
    let resident = blocks_per_sm.min(nvidia::occupancy(limits, &resources).blocks_per_sm as f32);
    let most = limits.max_warps_per_sm as f32 * limits.warp_size as f32;
    let occupancy = resident * threads as f32 / most;
    KinetoFigures {
        blocks_per_sm: f64::from(blocks_per_sm),
        warps_per_sm: f64::from(blocks_per_sm * threads as f32 / limits.warp_size as f32),
        occupancy_pct: (0.5 + f64::from(occupancy) * 100.0) as u32,
    }
}
