//! What to change for more resident blocks: the next threshold of each resource, block sizes, launch bounds.

use super::{BlockLimits, Occupancy, Resource, Resources, amd, occupancy};
use crate::{
    gpu::Limits,
    units::{decimal, grouped, plural},
};

/// The change of one resource that lifts its own limit to one more block, and what the whole then gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NextStep {
    /// The resource to change.
    pub resource: Resource,
    /// The largest value that gives one more block by this resource: registers per thread, bytes of shared memory
    /// per block, threads per block, or barriers per block.
    pub at_most: u32,
    /// Blocks per SM after this change alone.
    pub blocks_per_sm: u32,
    /// Occupancy after this change alone, 0 to 1.
    pub fraction: f64,
}

/// A size in bytes for people, never rounded: a threshold that was rounded up would be missed.
pub fn exact_bytes(bytes: u32) -> String {
    if bytes.is_multiple_of(1024) {
        format!("{} KiB", bytes / 1024)
    } else {
        format!("{} bytes", grouped(u64::from(bytes)))
    }
}

/// For each limiter, the threshold of the next block. A limiter that ties with another gains nothing alone: the
/// step is still listed, with the unchanged result. Block slots cannot be changed except by larger blocks, and
/// smaller blocks are no step where more of them hold no more warps.
pub fn next_steps(limits: &Limits, resources: &Resources, now: &Occupancy) -> Vec<NextStep> {
    let target = now.blocks_per_sm + 1;
    let now_scalars = resources.scalar_registers;
    let step = |resource, at_most, changed: Resources| {
        let then = occupancy(limits, &changed);
        Some(NextStep { resource, at_most, blocks_per_sm: then.blocks_per_sm, fraction: then.fraction() })
    };
    now.limiters()
        .iter()
        .filter_map(|resource| match resource {
            Resource::Registers => {
                let most = most_registers(limits, resources, target)?;
                step(resource, most, Resources { registers_per_thread: most, ..*resources })
            }
            Resource::Shared => {
                let most = most_shared(limits, resources, target)?;
                let dynamic = most.checked_sub(resources.static_shared);
                let changed = match dynamic {
                    Some(dynamic_shared) => Resources { dynamic_shared, ..*resources },
                    None => Resources { static_shared: most, dynamic_shared: 0, ..*resources },
                };
                step(resource, most, changed)
            }
            Resource::Warps => {
                let warps = limits.max_warps() / target;
                let most = (warps * limits.warp_size()).min(limits.max_threads_per_block());
                (most > 0).then_some(())?;
                step(resource, most, Resources { threads_per_block: most, ..*resources })
                    .filter(|then| then.blocks_per_sm <= now.blocks_per_sm || then.fraction > now.fraction())
            }
            Resource::Barriers => {
                let most = limits.sm()?.barriers_per_sm? / target;
                (most > 0).then_some(())?;
                step(resource, most, Resources { barriers: most, ..*resources })
            }
            Resource::Scalars => {
                let scalars = |scalar_registers| Resources { scalar_registers, ..*resources };
                // A wavefront cannot ask for more, however much was asked.
                let most = (1..now_scalars.min(amd::most_scalars(limits.cu()?) + 1))
                    .rev()
                    .find(|&s| occupancy(limits, &scalars(s)).limits.of(Resource::Scalars) >= target)?;
                step(resource, most, scalars(most))
            }
            Resource::Blocks => None,
        })
        .collect()
}

/// What gives one more block when every limiter gives way: limiters that tie must all change.
#[derive(Clone, Debug, PartialEq)]
pub struct JointStep {
    /// The resources with every limiter at its threshold.
    pub resources: Resources,
    /// What the SM then holds.
    pub then: Occupancy,
    /// The thresholds in words: "80 registers per thread".
    pub amounts: Vec<String>,
}

/// The thresholds of all limiters together; absent where they give no more occupancy.
pub fn joint_step(limits: &Limits, resources: &Resources, now: &Occupancy) -> Option<JointStep> {
    let mut changed = *resources;
    let mut amounts = Vec::new();
    for step in next_steps(limits, resources, now) {
        let most = step.at_most;
        amounts.push(match step.resource {
            Resource::Registers => {
                changed.registers_per_thread = most;
                format!("{most} registers per thread")
            }
            Resource::Shared => {
                changed.static_shared = resources.static_shared.min(most);
                changed.dynamic_shared = most - changed.static_shared;
                format!("{} of shared memory per block", exact_bytes(most))
            }
            Resource::Warps => {
                changed.threads_per_block = most;
                format!("{} per block", plural(most.into(), "thread"))
            }
            Resource::Barriers => {
                changed.barriers = most;
                format!("{} per block", plural(most.into(), "barrier"))
            }
            Resource::Scalars => {
                changed.scalar_registers = most;
                format!("{most} SGPRs per warp")
            }
            Resource::Blocks => continue,
        });
    }
    let then = occupancy(limits, &changed);
    let gains = then.blocks_per_sm > now.blocks_per_sm && then.fraction() > now.fraction();
    gains.then_some(JointStep { resources: changed, then, amounts })
}

impl JointStep {
    /// For people: "at most 80 registers per thread gives one more block: 62.5 -> 75 %".
    pub fn sentence(&self, now: &Occupancy) -> String {
        let verb = if self.amounts.len() == 1 { "gives" } else { "together give" };
        let blocks = match self.then.blocks_per_sm - now.blocks_per_sm {
            1 => "one more block".to_owned(),
            more => format!("{more} more blocks"),
        };
        let percent = |fraction: f64| decimal(fraction * 100.0, 1);
        let change = format!("{} -> {} %", percent(now.fraction()), percent(self.then.fraction()));
        format!("at most {} {verb} {blocks}: {change}", self.amounts.join(" and "))
    }
}

/// Most registers per thread with which `blocks` blocks fit by registers; absent where not even 1 does.
/// This is the maximum register count to give the compiler for a wanted number of resident blocks.
pub fn most_registers(limits: &Limits, resources: &Resources, blocks: u32) -> Option<u32> {
    (1..=limits.max_registers_per_thread()).rev().find(|&registers_per_thread| {
        occupancy(limits, &Resources { registers_per_thread, ..*resources }).limits.of(Resource::Registers) >= blocks
    })
}

/// Most shared memory per block (static and dynamic together, in bytes) with which `blocks` blocks fit by it. A block
/// that shrinks may also lower the carve-out that the driver chooses, so the answer is searched, not divided.
pub fn most_shared(limits: &Limits, resources: &Resources, blocks: u32) -> Option<u32> {
    let allowed = limits.max_shared(resources.opt_in);
    let (unit, reserved) = (limits.shared_unit(), limits.reserved_shared());
    let least = reserved.div_ceil(unit);
    let most = (allowed + reserved).div_ceil(unit);
    (least..=most).rev().find_map(|units| {
        let dynamic_shared = (units * unit - reserved).min(allowed);
        let then = occupancy(limits, &Resources { static_shared: 0, dynamic_shared, ..*resources });
        (then.limits.of(Resource::Shared) >= blocks).then_some(dynamic_shared)
    })
}

/// The largest block, in whole warps, that can run with these registers and this shared memory.
pub fn largest_block(limits: &Limits, resources: &Resources) -> Option<u32> {
    block_sizes(limits)
        .rev()
        .find(|&threads_per_block| occupancy(limits, &Resources { threads_per_block, ..*resources }).blocks_per_sm > 0)
}

/// A block size with the occupancy that it gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockSize {
    /// Threads per block.
    pub threads: u32,
    /// Resident blocks per SM.
    pub blocks_per_sm: u32,
    /// Occupancy, 0 to 1.
    pub fraction: f64,
}

/// The block sizes (whole warps) with the highest occupancy, largest first, as the CUDA runtime's suggestion, which
/// is the first of them. `shared_per_block` must not depend on the block size.
pub fn best_block_sizes(limits: &Limits, resources: &Resources) -> Vec<BlockSize> {
    let sizes: Vec<BlockSize> = block_sizes(limits)
        .rev()
        .map(|threads| {
            let then = occupancy(limits, &Resources { threads_per_block: threads, ..*resources });
            BlockSize { threads, blocks_per_sm: then.blocks_per_sm, fraction: then.fraction() }
        })
        .collect();
    let best = sizes.iter().map(|s| s.fraction).fold(0.0, f64::max);
    sizes.into_iter().filter(|s| s.fraction == best && best > 0.0).collect()
}

/// The most registers per thread, and the block sizes, that fill every warp slot; absent where registers above that
/// are not what keeps all block sizes from it.
pub fn registers_for_all(limits: &Limits, resources: &Resources) -> Option<(u32, Vec<BlockSize>)> {
    let full = |registers_per_thread| {
        let mut sizes = best_block_sizes(limits, &Resources { registers_per_thread, ..*resources });
        sizes.retain(|s| s.fraction == 1.0);
        (!sizes.is_empty()).then_some((registers_per_thread, sizes))
    };
    match full(resources.registers_per_thread) {
        Some(_) => None,
        None => (1..resources.registers_per_thread).rev().find_map(full),
    }
}

/// What `__launch_bounds__(threads, blocks)` asks for and what the GPU makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchBounds {
    /// Blocks per SM asked for.
    pub wanted_blocks: u32,
    /// Most blocks of this size that any kernel reaches on this SM.
    pub reachable_blocks: u32,
    /// Most registers per thread at `min(wanted, reachable)` blocks; absent where no block can run.
    pub max_registers: Option<u32>,
}

/// The register budget for a wanted number of resident blocks.
pub fn launch_bounds(limits: &Limits, resources: &Resources, wanted_blocks: u32) -> LaunchBounds {
    let free = occupancy(limits, &Resources { registers_per_thread: 0, ..*resources });
    let reachable_blocks = free.limits.least().min(BlockLimits::UNLIMITED - 1);
    let target = wanted_blocks.min(reachable_blocks).max(1);
    LaunchBounds { wanted_blocks, reachable_blocks, max_registers: most_registers(limits, resources, target) }
}

/// Block sizes in whole warps, ascending.
fn block_sizes(limits: &Limits) -> impl DoubleEndedIterator<Item = u32> + use<> {
    let warp = limits.warp_size();
    // A core has no block size that fits better than another.
    let most = if matches!(limits, Limits::Core) { 0 } else { limits.max_threads_per_block() / warp };
    (1..=most).map(move |warps| warps * warp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_blocks_that_hold_no_more_warps_are_no_step() {
        let limits = Limits::Sm(crate::gpu::Catalog::embedded().unwrap().limits("7.0".parse().unwrap()).unwrap());
        // 10 blocks of 6 warps and 12 of 5 are both 60 of 64 warps.
        let resources = Resources { threads_per_block: 192, registers_per_thread: 20, ..Resources::default() };
        let now = occupancy(&limits, &resources);
        assert_eq!((now.blocks_per_sm, now.active_warps()), (10, 60));
        assert_eq!(next_steps(&limits, &resources, &now), []);
    }
}
