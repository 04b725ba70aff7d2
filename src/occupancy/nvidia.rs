//! The resident-block calculation of NVIDIA GPUs, equal to the CUDA occupancy calculator.
//!
//! Rules: registers go to warps in units of 256 and each sub-partition holds whole warps; shared memory goes to
//! blocks in allocation units and includes what the driver reserves; the carve-out is the smallest configuration
//! that holds the preferred share and one block.

use super::{BlockLimits, Carveout, Occupancy, Resources};
use crate::gpu::SmLimits;

/// Resident blocks per SM for a block with these resources.
///
/// A block that cannot run is an answer: 0 blocks, with the limits at 0 that forbid it. `threads_per_block` must
/// be at least 1 (0 is answered as 1 warp).
pub fn occupancy(limits: &SmLimits, resources: &Resources) -> Occupancy {
    let warps_per_block = resources.threads_per_block.div_ceil(limits.warp_size).max(1);
    let too_many_threads = resources.threads_per_block > limits.max_threads_per_block;
    let by_warps = if too_many_threads { 0 } else { limits.max_warps_per_sm / warps_per_block };

    let unit = u64::from(limits.register_allocation_unit);
    let registers_per_warp =
        (u64::from(resources.registers_per_thread) * u64::from(limits.warp_size)).next_multiple_of(unit);
    let registers_per_block = registers_per_warp.saturating_mul(u64::from(warps_per_block));
    let by_registers = by_registers(limits, resources.registers_per_thread, registers_per_warp, warps_per_block);

    let shared_per_block = u64::from(resources.shared()) + u64::from(limits.reserved_shared_per_block);
    let shared_per_block = shared_per_block.next_multiple_of(u64::from(limits.shared_allocation_unit));
    let shared_per_block = u32::try_from(shared_per_block).unwrap_or(u32::MAX);
    let shared_capacity = shared_capacity(limits, resources.carveout, shared_per_block);
    let allowed = if resources.opt_in { limits.max_shared_per_block_optin } else { limits.max_shared_per_block };
    let by_shared = if resources.shared() > allowed {
        0
    } else {
        shared_capacity.checked_div(shared_per_block).unwrap_or(BlockLimits::UNLIMITED)
    };

    let by_barriers = match limits.barriers_per_sm {
        Some(total) => total.checked_div(resources.barriers).unwrap_or(BlockLimits::UNLIMITED),
        None => BlockLimits::UNLIMITED,
    };

    let limits_found =
        BlockLimits([by_warps, by_registers, by_shared, limits.max_blocks_per_sm, by_barriers, BlockLimits::UNLIMITED]);
    Occupancy {
        blocks_per_sm: limits_found.least(),
        limits: limits_found,
        warps_per_block,
        max_warps: limits.max_warps_per_sm,
        registers_per_block: u32::try_from(registers_per_block).unwrap_or(u32::MAX),
        shared_per_block,
        shared_capacity,
    }
}

/// Each sub-partition holds whole warps of its share of the registers.
fn by_registers(limits: &SmLimits, registers_per_thread: u32, registers_per_warp: u64, warps_per_block: u32) -> u32 {
    if registers_per_thread == 0 {
        return BlockLimits::UNLIMITED;
    }
    let sides = u64::from(limits.sub_partitions);
    // A block is checked with its warps rounded up to the sub-partitions; 6.0, with two, is checked for four as well.
    let checked_warps = u64::from(warps_per_block).next_multiple_of(sides.max(4));
    let too_many = registers_per_thread > limits.calculator_registers_per_thread
        || checked_warps.saturating_mul(registers_per_warp) > u64::from(limits.max_registers_per_block);
    if too_many {
        return 0;
    }
    let warps = u64::from(limits.registers_per_sm) / sides / registers_per_warp * sides;
    u32::try_from(warps / u64::from(warps_per_block)).unwrap_or(BlockLimits::UNLIMITED)
}

/// The configured shared memory: the smallest configuration that holds the preferred share and one block.
fn shared_capacity(limits: &SmLimits, carveout: Carveout, shared_per_block: u32) -> u32 {
    let preferred = match carveout {
        Carveout::Largest => return limits.shared_per_sm,
        Carveout::Bytes(bytes) => return bytes,
        Carveout::Percent(percent) => u64::from(limits.shared_per_sm) * u64::from(percent) / 100,
    };
    let wanted = preferred.max(u64::from(shared_per_block));
    limits.shared_configurations.iter().copied().find(|c| u64::from(*c) >= wanted).unwrap_or(limits.shared_per_sm)
}
