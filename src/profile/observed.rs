//! What a profiler states about a launch and its device; whatever a file lacks is `None`, never 0.

use std::sync::Arc;

use super::fields::Target;
use crate::units::{Bytes, Hertz, Seconds};

/// A value and how far rounding in print may have moved it: `16.38 Kbyte` is 16380 byte, 5 byte either way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured<T> {
    /// The value as printed.
    pub value: T,
    /// Half a unit of the last printed digit; 0 where the print is exact.
    pub half_width: T,
}

/// The execution pipe that counted operations ran on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObservedPipe {
    /// Double precision on the vector units.
    Fp64,
    /// Single precision on the vector units.
    Fp32,
    /// Half precision on the vector units, each instruction taken as two wide as the tool's own roofline does
    /// (scalar half code is overstated up to twofold).
    Fp16,
    /// A tensor path as the counter names it: input type and, where stated, accumulate type (`bf16`, `fp32`).
    Tensor {
        /// Type of the inputs.
        input: String,
        /// Type of the accumulator, where the counter states it.
        accumulate: Option<String>,
    },
}

/// Why warps waited.
#[derive(Clone, Debug, PartialEq)]
pub struct StallReason {
    /// The reason in lower case with underscores, such as `long_scoreboard`.
    pub name: String,
    /// Cycles that a warp spends in it per issued instruction.
    pub cycles_per_instruction: f64,
}

/// What kind of advice a rule gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// `OPT`: an optimization, often with an estimated speedup.
    Optimization,
    /// `INF`: information.
    Information,
    /// `WRN`: a warning.
    Warning,
    /// Any other mark, as written.
    Other(String),
}

/// One piece of advice that the tool wrote into the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Identifier of the rule, such as `TheoreticalOccupancy`; empty in the tool's text output, which has none.
    pub name: String,
    /// Identifier of the section that it belongs to.
    pub section: String,
    /// Its kind.
    pub kind: RuleKind,
    /// Its text.
    pub text: String,
    /// What the estimate refers to as written, `global` or `local`.
    pub speedup_scope: Option<String>,
    /// Estimated speedup, percent.
    pub estimated_speedup_pct: Option<f64>,
}

/// Which metric a value belongs to. The same name can stand twice with two units.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricKey {
    /// Section title; empty on the raw page.
    pub section: String,
    /// Metric name.
    pub name: String,
    /// Unit as written; empty where the file gives none.
    pub unit: String,
    /// What it means, told by name and unit.
    pub(super) target: Option<Target>,
}

/// One metric as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Section, name and unit, shared among launches.
    pub key: Arc<MetricKey>,
    /// The value as written.
    pub value: Arc<str>,
}

/// The device that a launch ran on, as far as the file tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedDevice {
    /// Number of the device in the profiled process.
    pub index: Option<u32>,
    /// Marketing name.
    pub name: Option<String>,
    /// Compute capability, such as `9.0`.
    pub compute_capability: Option<String>,
    /// Chip as the tool identifies it.
    pub chip: Option<String>,
    /// Number of SMs.
    pub sm_count: Option<u32>,
    /// L2 capacity.
    pub l2_capacity: Option<Bytes>,
    /// Device memory.
    pub memory_capacity: Option<Bytes>,
    /// Width of the memory bus, bits.
    pub memory_bus_bits: Option<u32>,
    /// Highest SM clock.
    pub max_sm_clock: Option<Hertz>,
    /// Highest memory clock.
    pub max_memory_clock: Option<Hertz>,
    /// Warps that fit on an SM.
    pub max_warps_per_sm: Option<u32>,
    /// Blocks that fit on an SM.
    pub max_blocks_per_sm: Option<u32>,
    /// Registers of an SM.
    pub registers_per_sm: Option<u32>,
    /// Largest shared memory of an SM.
    pub shared_per_sm: Option<Bytes>,
}

/// One profiled launch. Percentages are of the sustained peak at the profiler's clocks, as the tool states them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedKernel {
    /// Launch number in the process.
    pub id: Option<u64>,
    /// Process that launched it.
    pub process_id: Option<u64>,
    /// Kernel name as written, several kB at times; see [`short_name`](super::short_name).
    pub name: String,
    /// Where it ran.
    pub device: ObservedDevice,
    /// Blocks in x, y, z.
    pub grid: Option<[u64; 3]>,
    /// Threads of a block in x, y, z.
    pub block: Option<[u64; 3]>,
    /// Blocks of the grid.
    pub grid_blocks: Option<u64>,
    /// Threads of a block.
    pub threads_per_block: Option<u32>,
    /// Blocks of a cluster; `None` also for a launch without clusters, which the tool prints as 0.
    pub cluster_blocks: Option<u32>,
    /// Registers per thread.
    pub registers_per_thread: Option<u32>,
    /// Accumulation registers (AGPRs) per thread, AMD.
    pub accumulation_registers: Option<u32>,
    /// Scalar registers (SGPRs) per wavefront, AMD.
    pub scalar_registers: Option<u32>,
    /// Static shared memory per block.
    pub static_shared: Option<Measured<Bytes>>,
    /// Dynamic shared memory per block.
    pub dynamic_shared: Option<Measured<Bytes>>,
    /// Shared memory that the driver reserves per block.
    pub driver_shared: Option<Measured<Bytes>>,
    /// Shared-memory carve-out of the SM configured for this launch.
    pub shared_configuration: Option<Measured<Bytes>>,
    /// Barriers per block.
    pub barriers_per_block: Option<u32>,
    /// Blocks per SM that the hardware's block slots allow.
    pub limit_blocks: Option<u32>,
    /// Blocks per SM that registers allow.
    pub limit_registers: Option<u32>,
    /// Blocks per SM that shared memory allows.
    pub limit_shared: Option<u32>,
    /// Blocks per SM that warp slots allow.
    pub limit_warps: Option<u32>,
    /// Blocks per SM that barriers allow.
    pub limit_barriers: Option<u32>,
    /// Theoretical occupancy, percent.
    pub theoretical_occupancy_pct: Option<f64>,
    /// Achieved occupancy, percent.
    pub achieved_occupancy_pct: Option<f64>,
    /// Waves per SM, with fraction.
    pub waves_per_sm: Option<f64>,
    /// Duration on the device.
    pub duration: Option<Seconds>,
    /// SM clock while profiled.
    pub sm_clock: Option<Hertz>,
    /// Memory clock while profiled.
    pub dram_clock: Option<Hertz>,
    /// Elapsed SM cycles.
    pub elapsed_cycles: Option<f64>,
    /// Bytes read from device memory.
    pub dram_read: Option<Bytes>,
    /// Bytes written to device memory.
    pub dram_write: Option<Bytes>,
    /// Device memory traffic: read plus write, a stated total, or stated throughput x duration (as rounded in print).
    pub dram_bytes: Option<Bytes>,
    /// L2 traffic (32-byte sectors where no byte counter is given).
    pub l2_bytes: Option<Bytes>,
    /// Shared memory traffic that instructions asked for.
    pub shared_bytes: Option<Bytes>,
    /// Executed floating-point (tensor: also integer) operations by pipe; a fused multiply-add is 2. A vector pipe is
    /// listed only where its add, multiply and fused counters are all in the file; tensor paths that ran 0 are not.
    pub operations: Vec<(ObservedPipe, f64)>,
    /// Busiest memory path, percent of peak.
    pub memory_throughput_pct: Option<f64>,
    /// Busiest compute path, percent of peak.
    pub compute_throughput_pct: Option<f64>,
    /// Device memory, percent of peak.
    pub dram_throughput_pct: Option<f64>,
    /// L2, percent of peak.
    pub l2_throughput_pct: Option<f64>,
    /// L1, percent of peak.
    pub l1_throughput_pct: Option<f64>,
    /// L1 hit rate, percent.
    pub l1_hit_pct: Option<f64>,
    /// L2 hit rate, percent.
    pub l2_hit_pct: Option<f64>,
    /// 32-byte sectors per global load request of a warp.
    pub sectors_per_request_load: Option<f64>,
    /// 32-byte sectors per global store request of a warp.
    pub sectors_per_request_store: Option<f64>,
    /// Local-memory requests caused by spilled registers.
    pub local_spill_requests: Option<f64>,
    /// Instructions executed per active cycle of an SM.
    pub ipc: Option<f64>,
    /// Instructions issued per cycle of a scheduler.
    pub issue_active: Option<f64>,
    /// Warps ready to issue per cycle of a scheduler.
    pub eligible_warps: Option<f64>,
    /// Resident warps per cycle of a scheduler.
    pub active_warps: Option<f64>,
    /// Why warps waited, in file order.
    pub stalls: Vec<StallReason>,
    /// The tool's advice, in file order.
    pub rules: Vec<Rule>,
    /// Every metric as written, those read above included, in file order.
    pub metrics: Vec<Metric>,
}

impl ObservedKernel {
    /// A metric's value as written, by name; the first one where several units are given.
    pub fn metric(&self, name: &str) -> Option<&str> {
        self.metrics.iter().find(|m| m.key.name == name).map(|m| &*m.value)
    }
}
