//! What one compute unit of an AMD GPU can hold, per gfx target: the fixed facts behind its occupancy.

use serde::Deserialize;

use super::{
    GpuError,
    limits::{LEAST_UNIT, MOST_REGISTERS, MOST_SHARED, MOST_THREADS},
    range::count,
};
use crate::units::Bytes;

/// Limits of one compute unit (CU), and how kernels run on it. Sizes in bytes, counts as integers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CuLimits {
    /// The target, such as gfx942; matched exactly.
    pub gfx: String,
    /// Architecture name.
    pub architecture: String,
    /// Threads in a wavefront: 64, or 32 where `wave32` is given.
    pub wave_size: u32,
    /// What a workgroup must fit in.
    pub workgroup_mode: WorkgroupMode,
    /// Whether a trap handler takes scalar registers of every wavefront (the default of the HSA runtime).
    pub trap_handler: bool,
    /// Most threads in one workgroup.
    pub max_threads_per_workgroup: u32,
    /// SIMD units of a CU.
    pub simds_per_cu: u32,
    /// Wavefront slots of a SIMD.
    pub max_waves_per_simd: u32,
    /// Wavefronts per SIMD at which HIP's occupancy query stops counting.
    pub hip_waves_per_simd: u32,
    /// Barrier slots of a CU: workgroups of more than one wavefront.
    pub max_workgroups_per_cu: u32,
    /// Vector registers in wavefronts of 64.
    pub wave64: VectorRegisters,
    /// Vector registers in wavefronts of 32, where the architecture has them.
    pub wave32: Option<VectorRegisters>,
    /// Most vector registers of one wavefront, accumulation registers included where they share the file.
    pub addressable_vgprs: u32,
    /// Whether and where accumulation registers are.
    pub accumulation: Accumulation,
    /// Scalar registers of a SIMD; absent where every wavefront has its full set (gfx10 and later).
    pub sgprs_per_simd: Option<u32>,
    /// Scalar registers go to a wavefront in multiples of this.
    pub sgpr_granule: Option<u32>,
    /// Scalar registers that the trap handler takes of every wavefront.
    pub trap_sgprs: Option<u32>,
    /// Most scalar registers of one wavefront.
    pub addressable_sgprs: u32,
    /// LDS of a CU, in bytes.
    #[serde(deserialize_with = "whole_bytes")]
    pub lds_per_cu: u32,
    /// LDS goes to a workgroup in multiples of this, in bytes.
    #[serde(deserialize_with = "whole_bytes")]
    pub lds_granule: u32,
    /// Most LDS of one workgroup, in bytes.
    #[serde(deserialize_with = "whole_bytes")]
    pub max_lds_per_workgroup: u32,
}

/// Vector registers of a SIMD, for one wavefront size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorRegisters {
    /// Registers per lane that all wavefronts of a SIMD share.
    pub vgprs: u32,
    /// Registers go to a wavefront in multiples of this.
    pub granule: u32,
}

/// What a workgroup must fit in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkgroupMode {
    /// One compute unit.
    Cu,
    /// A work-group processor: two compute units with both their LDS (RDNA).
    Wgp,
}

/// Where accumulation registers (AGPRs) are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accumulation {
    /// There are none.
    None,
    /// In a file of their own, as large as that of the vector registers.
    Separate,
    /// Behind the vector registers in one file.
    Unified,
}

fn whole_bytes<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let bytes = Bytes::deserialize(deserializer)?;
    if bytes.get().fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&bytes.get()) {
        Ok(bytes.get() as u32)
    } else {
        Err(serde::de::Error::custom(format!("{bytes} must be a whole number of bytes, 1 B to 4 GiB")))
    }
}

impl CuLimits {
    /// The limits, checked: what no compute unit has is an error that names the field, as in `LimitsFile::meant`.
    ///
    /// # Errors
    /// A count outside its range, a wavefront size or mode that the target does not have.
    pub fn checked(self) -> Result<Self, GpuError> {
        let value = |field: &str, value: String, rule: &str| {
            Err(GpuError::Value { field: format!("compute_unit.{field}"), value, rule: rule.into() })
        };
        let wave32 = self.wave32.unwrap_or(self.wave64);
        for (field, number, least, most) in [
            ("max_threads_per_workgroup", self.max_threads_per_workgroup, 1, MOST_THREADS),
            ("simds_per_cu", self.simds_per_cu, 1, 64),
            ("max_waves_per_simd", self.max_waves_per_simd, 1, 1024),
            ("hip_waves_per_simd", self.hip_waves_per_simd, 1, 1024),
            ("max_workgroups_per_cu", self.max_workgroups_per_cu, 1, MOST_THREADS),
            ("wave64.vgprs", self.wave64.vgprs, 1, MOST_THREADS),
            ("wave32.vgprs", wave32.vgprs, 1, MOST_THREADS),
            ("wave64.granule", self.wave64.granule, 1, MOST_REGISTERS),
            ("wave32.granule", wave32.granule, 1, MOST_REGISTERS),
            ("addressable_vgprs", self.addressable_vgprs, 1, MOST_REGISTERS),
            ("sgprs_per_simd", self.sgprs_per_simd.unwrap_or(1), 1, MOST_THREADS),
            ("sgpr_granule", self.sgpr_granule.unwrap_or(1), 1, MOST_REGISTERS),
            ("trap_sgprs", self.trap_sgprs.unwrap_or(0), 0, MOST_REGISTERS),
            ("addressable_sgprs", self.addressable_sgprs, 1, MOST_REGISTERS),
            ("lds_per_cu", self.lds_per_cu, 1, MOST_SHARED),
            ("lds_granule", self.lds_granule, LEAST_UNIT, MOST_SHARED),
            ("max_lds_per_workgroup", self.max_lds_per_workgroup, 1, MOST_SHARED),
        ] {
            count(&format!("compute_unit.{field}"), number, least, most)?;
        }
        match (self.wave_size, self.wave32) {
            (64, _) | (32, Some(_)) => {}
            (size, None) => return value("wave_size", size.to_string(), "64: this target has no other"),
            (size, Some(_)) => return value("wave_size", size.to_string(), "32 or 64"),
        }
        if self.workgroup_mode == WorkgroupMode::Wgp && self.wave32.is_none() {
            return value("workgroup_mode", "wgp".into(), "cu: only RDNA pairs its compute units");
        }
        Ok(self)
    }

    /// Compute units that one workgroup may use: 2 in WGP mode.
    pub fn cus_per_unit(&self) -> u32 {
        match self.workgroup_mode {
            WorkgroupMode::Cu => 1,
            WorkgroupMode::Wgp => 2,
        }
    }

    /// SIMD units of what a workgroup must fit in.
    pub fn simds(&self) -> u32 {
        self.simds_per_cu * self.cus_per_unit()
    }

    /// Wavefront slots of what a workgroup must fit in.
    pub fn max_waves(&self) -> u32 {
        self.simds() * self.max_waves_per_simd
    }

    /// Vector registers for the wavefront size in use.
    pub fn vector(&self) -> VectorRegisters {
        if self.wave_size == 32 { self.wave32.unwrap_or(self.wave64) } else { self.wave64 }
    }

    /// LDS of what a workgroup must fit in, in bytes.
    pub fn lds(&self) -> u32 {
        self.lds_per_cu.saturating_mul(self.cus_per_unit())
    }
}
