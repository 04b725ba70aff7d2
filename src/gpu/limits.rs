//! What one SM of a compute capability can hold: the fixed facts behind occupancy.

use serde::Deserialize;

use super::GpuError;
use crate::units::Bytes;

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
    /// The limits as meant. Zero where a division follows is an error that names the field.
    pub(super) fn meant(&self) -> Result<SmLimits, GpuError> {
        let positive = [
            ("warp_size", self.warp_size),
            ("max_threads_per_block", self.max_threads_per_block),
            ("max_warps_per_sm", self.max_warps_per_sm),
            ("max_blocks_per_sm", self.max_blocks_per_sm),
            ("registers_per_sm", self.registers_per_sm),
            ("register_allocation_unit", self.register_allocation_unit),
            ("sub_partitions", self.sub_partitions),
        ];
        if let Some((field, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(GpuError::Value {
                field: format!("limits.{field}"),
                value: "0".into(),
                rule: "at least 1".into(),
            });
        }
        let size = |field: &str, bytes: Bytes| {
            let whole = bytes.get().fract() == 0.0 && bytes.get() <= f64::from(u32::MAX);
            if whole { Ok(bytes.get() as u32) } else { Err(whole_bytes(field, bytes)) }
        };
        let mut configurations = self
            .shared_configurations
            .iter()
            .map(|b| size("shared_configurations", *b))
            .collect::<Result<Vec<_>, _>>()?;
        configurations.sort_unstable();
        let shared_allocation_unit = size("shared_allocation_unit", self.shared_allocation_unit)?;
        if shared_allocation_unit == 0 {
            return Err(whole_bytes("shared_allocation_unit", self.shared_allocation_unit));
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

fn whole_bytes(field: &str, value: Bytes) -> GpuError {
    GpuError::Value {
        field: format!("limits.{field}"),
        value: value.to_string(),
        rule: "a whole number of bytes, 1 B to 4 GiB".into(),
    }
}
