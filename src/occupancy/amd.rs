//! The resident-workgroup calculation of AMD GPUs, by the rules of LLVM's AMDGPU back end and the hardware's granules.
//!
//! Wavefronts take vector registers of a SIMD lane and, up to gfx9, scalar registers, both in granules; workgroups take
//! LDS in granules and, with more than one wavefront, a barrier slot. Sources: `gpus/amd/gfx.toml`.
//!
//! Two conventions differ from these rules and are answered beside them. LLVM prints wavefronts per SIMD, rounded up,
//! without rounding LDS to its granule. HIP's occupancy query counts no barrier slots, no LDS granule, no registers of
//! the trap handler, the LDS of one compute unit also in WGP mode, and at most 8 wavefronts per SIMD up to gfx9.

use super::{BlockLimits, Occupancy, Resources};
use crate::gpu::{Accumulation, CuLimits};

/// Every step of the calculation for one workgroup on what it must fit in: a compute unit, or in WGP mode a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Wavefronts of one workgroup.
    pub waves_per_workgroup: u32,
    /// Vector registers that a wavefront takes per lane after rounding, accumulation registers included.
    pub allocated_vgprs: u32,
    /// Wavefronts per SIMD that the vector registers allow, at most the slots.
    pub waves_per_simd_vgpr: u32,
    /// Wavefronts per SIMD that the scalar registers allow, at most the slots.
    pub waves_per_simd_sgpr: u32,
    /// Workgroups that the wavefront slots allow.
    pub limit_waves: u32,
    /// Workgroups that the barrier slots allow; unlimited for workgroups of one wavefront.
    pub limit_workgroups: u32,
    /// Workgroups that the vector registers allow.
    pub limit_vgprs: u32,
    /// Workgroups that the scalar registers allow.
    pub limit_sgprs: u32,
    /// Workgroups that the LDS allows; unlimited without LDS.
    pub limit_lds: u32,
    /// Whether one workgroup is legal at all: threads, registers and LDS within what can be addressed.
    pub legal: bool,
    /// Resident workgroups.
    pub workgroups: u32,
    /// Wavefront slots.
    pub max_waves: u32,
    /// What HIP's `hipOccupancyMaxActiveBlocksPerMultiprocessor` answers.
    pub hip_blocks: u32,
    /// What LLVM prints as `Occupancy`: wavefronts per SIMD.
    pub llvm_waves_per_simd: u32,
}

/// The calculation for a workgroup with these resources: threads, vector registers (`registers_per_thread`),
/// accumulation and scalar registers, LDS (`shared()`).
pub fn residency(unit: &CuLimits, asked: &Resources) -> Residency {
    let simds = unit.simds();
    let most = unit.max_waves_per_simd;
    let waves_per_workgroup = asked.threads_per_block.div_ceil(unit.wave_size).max(1);
    let vector = unit.vector();
    let need = vgprs_needed(unit, asked);
    let allocated_vgprs = need.max(1).checked_next_multiple_of(vector.granule).unwrap_or(u32::MAX);
    let waves_per_simd_vgpr = (vector.vgprs / allocated_vgprs).min(most);
    let by_scalars = |trap: u32| match unit.sgprs_per_simd {
        None => most,
        Some(total) => {
            let granule = unit.sgpr_granule.unwrap_or(1);
            let taken = asked.scalar_registers.max(1).checked_next_multiple_of(granule).unwrap_or(u32::MAX);
            (total / taken.saturating_add(trap)).min(most)
        }
    };
    let waves_per_simd_sgpr = by_scalars(if unit.trap_handler { unit.trap_sgprs.unwrap_or(0) } else { 0 });
    let workgroups_of = |waves_per_simd: u32| simds * waves_per_simd / waves_per_workgroup;
    let lds = asked.shared();
    let taken_lds = lds.checked_next_multiple_of(unit.lds_granule).unwrap_or(u32::MAX);
    let limit_lds = unit.lds().checked_div(taken_lds).unwrap_or(BlockLimits::UNLIMITED);
    let limit_workgroups =
        if waves_per_workgroup > 1 { unit.max_workgroups_per_cu * unit.cus_per_unit() } else { BlockLimits::UNLIMITED };
    let limit_waves = workgroups_of(most);
    let (limit_vgprs, limit_sgprs) = (workgroups_of(waves_per_simd_vgpr), workgroups_of(waves_per_simd_sgpr));
    let legal = asked.threads_per_block <= unit.max_threads_per_workgroup
        && need <= unit.addressable_vgprs
        && lds <= unit.max_lds_per_workgroup
        && asked.scalar_registers <= most_scalars(unit)
        && (unit.accumulation != Accumulation::None || asked.accumulation_registers == 0);
    let least =
        [limit_waves, limit_workgroups, limit_vgprs, limit_sgprs, limit_lds].into_iter().fold(u32::MAX, u32::min);

    let hip_waves = unit.hip_waves_per_simd.min(waves_per_simd_vgpr).min(by_scalars(0));
    let hip_lds = unit.max_lds_per_workgroup.checked_div(lds).unwrap_or(BlockLimits::UNLIMITED);
    let hip_blocks = (simds * hip_waves / waves_per_workgroup).min(hip_lds);
    let unrounded_lds = unit.lds().checked_div(lds).unwrap_or(BlockLimits::UNLIMITED);
    let by_workgroups = limit_waves.min(limit_workgroups).min(unrounded_lds);
    let llvm = (by_workgroups.saturating_mul(waves_per_workgroup)).div_ceil(simds).clamp(1, most);
    Residency {
        waves_per_workgroup,
        allocated_vgprs,
        waves_per_simd_vgpr,
        waves_per_simd_sgpr,
        limit_waves,
        limit_workgroups,
        limit_vgprs,
        limit_sgprs,
        limit_lds,
        legal,
        workgroups: if legal { least } else { 0 },
        max_waves: unit.max_waves(),
        hip_blocks: if legal { hip_blocks } else { 0 },
        llvm_waves_per_simd: if legal { llvm.min(waves_per_simd_vgpr).min(waves_per_simd_sgpr) } else { 0 },
    }
}

/// Vector registers of one wavefront: with a file of their own the accumulation registers hide behind the vector
/// registers, in one file they follow them at a multiple of 4.
fn vgprs_needed(unit: &CuLimits, asked: &Resources) -> u32 {
    let (vector, accumulation) = (asked.registers_per_thread, asked.accumulation_registers);
    match unit.accumulation {
        Accumulation::Unified if accumulation > 0 => {
            vector.checked_next_multiple_of(4).unwrap_or(u32::MAX).saturating_add(accumulation)
        }
        _ => vector.max(accumulation),
    }
}

/// Scalar registers that a wavefront can ask for: the addressable ones and 6 for VCC, XNACK and flat scratch.
pub(super) fn most_scalars(unit: &CuLimits) -> u32 {
    unit.addressable_sgprs + 6
}

/// The answer in the form that all vendors share. Registers that are below the slots' share limit nothing here, as in
/// NVIDIA's calculator; `residency` has LLVM's way of counting, in which they tie with the slots.
pub fn occupancy(unit: &CuLimits, asked: &Resources) -> Occupancy {
    let found = residency(unit, asked);
    let simds = unit.simds();
    let legal = |lawful: bool, limit: u32| if lawful { limit } else { 0 };
    let needed = vgprs_needed(unit, asked);
    let lawful_registers = needed <= unit.addressable_vgprs
        && (unit.accumulation != Accumulation::None || asked.accumulation_registers == 0);
    let by_registers = match needed {
        0 => BlockLimits::UNLIMITED,
        _ => simds * (unit.vector().vgprs / found.allocated_vgprs) / found.waves_per_workgroup,
    };
    let by_scalars = match unit.sgprs_per_simd {
        Some(_) if asked.scalar_registers > 0 && found.waves_per_simd_sgpr < unit.max_waves_per_simd => {
            found.limit_sgprs
        }
        _ => BlockLimits::UNLIMITED,
    };
    let limits = BlockLimits([
        legal(asked.threads_per_block <= unit.max_threads_per_workgroup, found.limit_waves),
        legal(lawful_registers, by_registers),
        legal(asked.shared() <= unit.max_lds_per_workgroup, found.limit_lds),
        found.limit_workgroups,
        BlockLimits::UNLIMITED,
        legal(asked.scalar_registers <= most_scalars(unit), by_scalars),
    ]);
    let registers = u64::from(found.allocated_vgprs) * u64::from(unit.wave_size) * u64::from(found.waves_per_workgroup);
    Occupancy {
        blocks_per_sm: found.workgroups,
        limits,
        warps_per_block: found.waves_per_workgroup,
        max_warps: found.max_waves,
        registers_per_block: if needed == 0 { 0 } else { u32::try_from(registers).unwrap_or(u32::MAX) },
        shared_per_block: asked.shared().checked_next_multiple_of(unit.lds_granule).unwrap_or(u32::MAX),
        shared_capacity: unit.lds(),
    }
}
