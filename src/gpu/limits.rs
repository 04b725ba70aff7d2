//! What one SM of a compute capability can hold: the fixed facts behind occupancy.

use serde::Deserialize;

use super::{GpuError, range::count};
use crate::units::Bytes;

/// Most threads, warps, blocks and barriers of an SM.
pub(super) const MOST_THREADS: u32 = 1 << 16;

/// Most registers of a thread.
pub(super) const MOST_REGISTERS: u32 = 1 << 12;

/// Most on-chip memory of an SM, in bytes.
pub(super) const MOST_SHARED: u32 = 4 << 20;

/// Least unit in which on-chip memory is given to blocks, in bytes.
pub(super) const LEAST_UNIT: u32 = 32;

/// Most carve-outs.
const MOST_CONFIGURATIONS: usize = 64;

/// A compute capability such as 9.0; matched exactly, never as "at least".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCapability {
    /// Before the point.
    pub major: u8,
    /// After the point.
    pub minor: u8,
}

impl std::str::FromStr for ComputeCapability {
    type Err = GpuError;

    fn from_str(text: &str) -> Result<Self, GpuError> {
        let parts = text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match parts {
            Some((major, minor)) => Ok(Self { major, minor }),
            None => Err(GpuError::CapabilityText { input: text.into() }),
        }
    }
}

impl std::fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl<'de> Deserialize<'de> for ComputeCapability {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Limits of one SM, per compute capability. Sizes in bytes, counts as integers.
#[derive(Clone, Debug, PartialEq)]
pub struct SmLimits {
    /// The capability that these limits belong to.
    pub compute_capability: ComputeCapability,
    /// Threads in a warp.
    pub warp_size: u32,
    /// Most threads in one block.
    pub max_threads_per_block: u32,
    /// Most resident threads.
    pub max_threads_per_sm: u32,
    /// Most resident warps.
    pub max_warps_per_sm: u32,
    /// Most resident blocks.
    pub max_blocks_per_sm: u32,
    /// 32-bit registers of the SM.
    pub registers_per_sm: u32,
    /// Most registers that one block may hold.
    pub max_registers_per_block: u32,
    /// Most registers that the compiler gives one thread.
    pub max_registers_per_thread: u32,
    /// Most registers per thread for which NVIDIA's calculator still answers.
    pub calculator_registers_per_thread: u32,
    /// Registers are allocated to a warp in multiples of this.
    pub register_allocation_unit: u32,
    /// Sub-partitions, each with its share of the registers and one warp scheduler.
    pub sub_partitions: u32,
    /// Most shared memory of the SM, in bytes.
    pub shared_per_sm: u32,
    /// Shared memory that a block may use without opting in, in bytes.
    pub max_shared_per_block: u32,
    /// Shared memory that a block may use after opting in, in bytes.
    pub max_shared_per_block_optin: u32,
    /// Shared memory is allocated to a block in multiples of this, in bytes.
    pub shared_allocation_unit: u32,
    /// Shared memory that the driver takes for itself in every block, in bytes.
    pub reserved_shared_per_block: u32,
    /// Sizes that shared memory can be configured to (the carve-out), ascending, in bytes.
    pub shared_configurations: Vec<u32>,
    /// Hardware barriers of the SM, where they limit residency (9.0 and later).
    pub barriers_per_sm: Option<u32>,
    /// Largest cluster that every GPU of this capability launches.
    pub max_cluster_portable: Option<u32>,
    /// Largest cluster after opting in to non-portable sizes.
    pub max_cluster_nonportable: Option<u32>,
}

/// As written in a file; sizes are text with units there.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsFile {
    compute_capability: ComputeCapability,
    warp_size: u32,
    max_threads_per_block: u32,
    max_threads_per_sm: u32,
    max_warps_per_sm: u32,
    max_blocks_per_sm: u32,
    registers_per_sm: u32,
    max_registers_per_block: u32,
    max_registers_per_thread: u32,
    calculator_registers_per_thread: u32,
    register_allocation_unit: u32,
    sub_partitions: u32,
    shared_per_sm: Bytes,
    max_shared_per_block: Bytes,
    max_shared_per_block_optin: Bytes,
    shared_allocation_unit: Bytes,
    reserved_shared_per_block: Bytes,
    shared_configurations: Vec<Bytes>,
    barriers_per_sm: Option<u32>,
    max_cluster_portable: Option<u32>,
    max_cluster_nonportable: Option<u32>,
    #[serde(rename = "notes")]
    _notes: Option<String>,
}

impl LimitsFile {
    /// The limits as meant. What no SM has is an error that names the field: a division by zero would follow, an
    /// overflow, or a search without end, for advice tries every block size, register count and unit of shared memory.
    pub(super) fn meant(&self) -> Result<SmLimits, GpuError> {
        for (field, value, most) in [
            ("warp_size", self.warp_size, 1024),
            ("max_threads_per_block", self.max_threads_per_block, MOST_THREADS),
            ("max_threads_per_sm", self.max_threads_per_sm, MOST_THREADS),
            ("max_warps_per_sm", self.max_warps_per_sm, MOST_THREADS),
            ("max_blocks_per_sm", self.max_blocks_per_sm, MOST_THREADS),
            ("registers_per_sm", self.registers_per_sm, 1 << 24),
            ("max_registers_per_block", self.max_registers_per_block, 1 << 24),
            ("max_registers_per_thread", self.max_registers_per_thread, MOST_REGISTERS),
            ("calculator_registers_per_thread", self.calculator_registers_per_thread, MOST_REGISTERS),
            ("register_allocation_unit", self.register_allocation_unit, MOST_THREADS),
            ("sub_partitions", self.sub_partitions, 1024),
            ("barriers_per_sm", self.barriers_per_sm.unwrap_or(1), MOST_THREADS),
            ("max_cluster_portable", self.max_cluster_portable.unwrap_or(1), MOST_THREADS),
            ("max_cluster_nonportable", self.max_cluster_nonportable.unwrap_or(1), MOST_THREADS),
        ] {
            count(&format!("limits.{field}"), value, 1, most)?;
        }
        let size = |field: &str, bytes: Bytes| {
            let whole = bytes.get().fract() == 0.0 && bytes.get() <= f64::from(MOST_SHARED);
            let rule = "a whole number of bytes, at most 4 MiB";
            if whole { Ok(bytes.get() as u32) } else { Err(wrong_size(field, bytes, rule)) }
        };
        let mut configurations = self
            .shared_configurations
            .iter()
            .map(|b| size("shared_configurations", *b))
            .collect::<Result<Vec<_>, _>>()?;
        configurations.sort_unstable();
        let shared_allocation_unit = size("shared_allocation_unit", self.shared_allocation_unit)?;
        if shared_allocation_unit < LEAST_UNIT {
            return Err(wrong_size("shared_allocation_unit", self.shared_allocation_unit, "at least 32 B"));
        }
        if configurations.len() > MOST_CONFIGURATIONS {
            return Err(GpuError::Value {
                field: "limits.shared_configurations".into(),
                value: format!("{} sizes", configurations.len()),
                rule: format!("at most {MOST_CONFIGURATIONS} sizes"),
            });
        }
        Ok(SmLimits {
            compute_capability: self.compute_capability,
            warp_size: self.warp_size,
            max_threads_per_block: self.max_threads_per_block,
            max_threads_per_sm: self.max_threads_per_sm,
            max_warps_per_sm: self.max_warps_per_sm,
            max_blocks_per_sm: self.max_blocks_per_sm,
            registers_per_sm: self.registers_per_sm,
            max_registers_per_block: self.max_registers_per_block,
            max_registers_per_thread: self.max_registers_per_thread,
            calculator_registers_per_thread: self.calculator_registers_per_thread,
            register_allocation_unit: self.register_allocation_unit,
            sub_partitions: self.sub_partitions,
            shared_per_sm: size("shared_per_sm", self.shared_per_sm)?,
            max_shared_per_block: size("max_shared_per_block", self.max_shared_per_block)?,
            max_shared_per_block_optin: size("max_shared_per_block_optin", self.max_shared_per_block_optin)?,
            shared_allocation_unit,
            reserved_shared_per_block: size("reserved_shared_per_block", self.reserved_shared_per_block)?,
            shared_configurations: configurations,
            barriers_per_sm: self.barriers_per_sm,
            max_cluster_portable: self.max_cluster_portable,
            max_cluster_nonportable: self.max_cluster_nonportable,
        })
    }
}

fn wrong_size(field: &str, value: Bytes, rule: &str) -> GpuError {
    GpuError::Value { field: format!("limits.{field}"), value: value.to_string(), rule: rule.into() }
}
