//! A kernel as its user describes it, option by option; `KernelSpec::build` checks it and says what it means.

use serde::Deserialize;

use super::{
    dims::Dims,
    words::{self, Per},
};
use crate::{
    gpu::Pipe,
    kernel::Level,
    time::Bound,
    units::{Bytes, Flops},
};

/// The options of one kernel, as a `[[kernel]]` table or the flags of `wavecast kernel` give them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelSpec {
    /// Name for people.
    pub name: String,
    /// Blocks of the grid.
    pub grid: Dims,
    /// Threads of a block.
    pub block: Dims,
    /// Registers of one thread, as the compiler reports them.
    #[serde(deserialize_with = "words::count")]
    pub registers_per_thread: u64,
    /// Statically declared shared memory per block.
    #[serde(default)]
    pub static_shared: Bytes,
    /// Shared memory per block given at launch.
    #[serde(default)]
    pub dynamic_shared: Bytes,
    /// Preferred share of shared memory in the unified cache, in percent.
    #[serde(default, deserialize_with = "words::some_count")]
    pub carveout: Option<u64>,
    /// Whether the kernel opted in to more than 48 KiB of shared memory per block.
    #[serde(default = "yes")]
    pub opt_in: bool,
    /// Hardware barriers per block.
    #[serde(default = "one", deserialize_with = "words::count")]
    pub barriers: u64,
    /// Blocks of a cluster.
    #[serde(default)]
    pub cluster: Dims,
    /// Accumulation registers (AGPRs) of one thread, AMD CDNA only.
    #[serde(default, deserialize_with = "words::count")]
    pub accumulation_registers: u64,
    /// Scalar registers (SGPRs) of one wavefront, AMD only.
    #[serde(default, deserialize_with = "words::count")]
    pub scalar_registers: u64,
    /// The bound that the author expects; checked by `Case::meets`.
    #[serde(default, deserialize_with = "words::bound")]
    pub expect: Option<Bound>,
    /// Operations.
    #[serde(default)]
    pub work: WorkSpec,
    /// Bytes at each memory level.
    #[serde(default)]
    pub traffic: TrafficSpec,
    /// What is in flight.
    #[serde(default)]
    pub concurrency: ConcurrencySpec,
}

fn yes() -> bool {
    true
}

fn one() -> u64 {
    1
}

impl Default for KernelSpec {
    /// One block of one warp that does nothing, with 32 registers per thread.
    fn default() -> Self {
        Self {
            name: "kernel".into(),
            grid: Dims::from(1),
            block: Dims::from(32),
            registers_per_thread: 32,
            static_shared: Bytes::ZERO,
            dynamic_shared: Bytes::ZERO,
            carveout: None,
            opt_in: true,
            barriers: 1,
            cluster: Dims::default(),
            accumulation_registers: 0,
            scalar_registers: 0,
            expect: None,
            work: WorkSpec::default(),
            traffic: TrafficSpec::default(),
            concurrency: ConcurrencySpec::default(),
        }
    }
}

/// Operations of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkSpec {
    /// What the amounts are for.
    pub per: Per,
    /// Operations by pipe, FMA = 2.
    #[serde(deserialize_with = "words::operations")]
    pub operations: Vec<(Pipe, Flops)>,
    /// Warp instructions, where known; else they are counted from operations and requests.
    pub warp_instructions: Option<f64>,
}

/// Bytes at each memory level.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrafficSpec {
    /// What the amounts are for.
    pub per: Per,
    /// Between DRAM and L2.
    pub dram: AccessSpec,
    /// Between L2 and the SMs; where absent, the DRAM traffic passes through once.
    pub l2: Option<AccessSpec>,
    /// At the shared memories.
    pub shared: SharedSpec,
    /// Bytes touched between two uses of the same data; absent: nothing is left in L2 from before.
    pub reuse_distance: Option<Bytes>,
    /// Bytes that one thread spills to and reloads from local memory; always per thread.
    pub spill_per_thread: Bytes,
}

/// Bytes used at DRAM or L2, and how well the moved sectors are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AccessSpec {
    /// Bytes that the kernel reads and uses.
    pub read: Bytes,
    /// Bytes that the kernel writes.
    pub write: Bytes,
    /// Used share of the bytes moved for reads, above 0 to 1.
    pub read_efficiency: Option<f64>,
    /// Used share of the bytes moved for writes, above 0 to 1.
    pub write_efficiency: Option<f64>,
    /// Sectors of 32 bytes that one warp load touches; the read efficiency follows from it.
    pub read_sectors_per_request: Option<f64>,
    /// Sectors of 32 bytes that one warp store touches; the write efficiency follows from it.
    pub write_sectors_per_request: Option<f64>,
    /// Bytes that one thread accesses per request; 4 unless given. Used with the sectors only.
    pub bytes_per_access: Option<f64>,
}

/// Bytes at the shared memories, and bank conflicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SharedSpec {
    /// Bytes that the kernel reads.
    pub read: Bytes,
    /// Bytes that the kernel writes.
    pub write: Bytes,
    /// Accesses that one bank serves after each other, 1 (none) to 32; for reads and writes.
    pub bank_conflict: Option<f64>,
    /// The same for reads alone; wins over `bank_conflict`.
    pub read_bank_conflict: Option<f64>,
    /// The same for writes alone; wins over `bank_conflict`.
    pub write_bank_conflict: Option<f64>,
}

/// What is in flight, and what waits for what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConcurrencySpec {
    /// Bytes of loads that one thread has outstanding. Absent: 16, or half the shared memory of a block spread over
    /// its threads where that is more.
    pub bytes_in_flight: Option<f64>,
    /// Independent arithmetic instructions that one warp has in flight; 2 unless given.
    pub instructions_in_flight: Option<f64>,
    /// Memory accesses of a thread that each wait for the one before.
    pub dependent_accesses: f64,
    /// Where the dependent accesses end; DRAM unless given.
    #[serde(deserialize_with = "words::level")]
    pub dependent_level: Option<Level>,
}
