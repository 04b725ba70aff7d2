//! What the occupancy of one block is said to be, at the terminal and on the page: in CUDA's words, which `Words::say` translates.

use crate::{
    gpu::Limits,
    launch::why_not,
    occupancy::{
        Occupancy, Resources,
        advice::{self, BlockSize},
    },
    units::{decimal, plural},
};

/// A share of the warps in percent, without the sign.
pub(crate) fn occupancy_percent(fraction: f64) -> String {
    decimal(100.0 * fraction, 1)
}

/// What is resident: `3 blocks per SM, 24 of 64 warps, occupancy 37.5 %`.
pub(crate) fn residency(found: &Occupancy) -> String {
    format!(
        "{} per SM, {} of {} warps, occupancy {} %",
        plural(found.blocks_per_sm.into(), "block"),
        found.active_warps(),
        found.max_warps,
        occupancy_percent(found.fraction())
    )
}

/// What limits it, or why no block can run and what would help.
pub(crate) fn limit(limits: &Limits, resources: &Resources, found: &Occupancy) -> String {
    if found.blocks_per_sm > 0 {
        return format!("Limited by {}.", found.limiters().sentence());
    }
    let (reason, cure) = why_not(limits, resources, found);
    format!("The block cannot run: {reason}; {cure}.")
}

/// Of a block that cannot run: the largest that can.
pub(crate) fn largest_block(limits: &Limits, resources: &Resources) -> Option<String> {
    let most = advice::largest_block(limits, resources)?;
    Some(format!("the largest legal block is {}", plural(most.into(), "thread")))
}

/// The registers with which all warps are resident.
pub(crate) fn registers_for_all(limits: &Limits, resources: &Resources) -> Option<String> {
    let (registers, sizes) = advice::registers_for_all(limits, resources)?;
    Some(format!("100 % takes at most {registers} registers per thread, in blocks of {} threads", block_sizes(&sizes)))
}

/// Block sizes in a row.
pub(crate) fn block_sizes(sizes: &[BlockSize]) -> String {
    sizes.iter().map(|size| size.threads.to_string()).collect::<Vec<_>>().join(", ")
}

/// What HIP's own count says of the same block.
pub(crate) fn hip_answers(blocks: u32) -> String {
    format!("HIP's hipOccupancyMaxActiveBlocksPerMultiprocessor answers {blocks}")
}
