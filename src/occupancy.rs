//! How many blocks fit on an SM (a compute unit, a core), and which resource is the limit.

pub mod advice;
pub mod amd;
mod answer;
pub mod batch;
pub mod cluster;
pub mod nvidia;
pub mod warpgroups;

pub use answer::{BlockLimits, Carveout, Limiters, Occupancy, Resource, Resources};

use crate::gpu::Limits;

/// Resident blocks per unit for a block with these resources, by the rules of the device's vendor. A core of a CPU
/// runs one block at a time, whatever it asks.
///
/// A block that cannot run is an answer: 0 blocks, with the limits at 0 that forbid it.
pub fn occupancy(limits: &Limits, resources: &Resources) -> Occupancy {
    match limits {
        Limits::Sm(sm) => nvidia::occupancy(sm, resources),
        Limits::Cu(cu) => amd::occupancy(cu, resources),
        Limits::Core => Occupancy {
            blocks_per_sm: 1,
            limits: BlockLimits::one_block(),
            warps_per_block: 1,
            max_warps: 1,
            registers_per_block: 0,
            shared_per_block: 0,
            shared_capacity: 0,
        },
    }
}
