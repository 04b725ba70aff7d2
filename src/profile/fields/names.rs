//! The tables of metric names: labels of the details page by version, then names of the raw page.

use super::{BYTES, CYCLES, Counter, Field, HERTZ, PERCENT, Row, SECONDS, Want};

const PLAIN: Want = Want::Plain;

/// Launch configuration and occupancy.
pub(super) const LAUNCH: &[Row] = &[
    (&["Grid Size", "launch__grid_size"], PLAIN, Field::GridBlocks, 0),
    (&["launch__grid_dim_x"], PLAIN, Field::GridX, 0),
    (&["launch__grid_dim_y"], PLAIN, Field::GridY, 0),
    (&["launch__grid_dim_z"], PLAIN, Field::GridZ, 0),
    (&["Block Size", "launch__block_size"], PLAIN, Field::BlockThreads, 0),
    (&["launch__block_dim_x"], PLAIN, Field::BlockX, 0),
    (&["launch__block_dim_y"], PLAIN, Field::BlockY, 0),
    (&["launch__block_dim_z"], PLAIN, Field::BlockZ, 0),
    (&["Cluster Size", "launch__cluster_size"], PLAIN, Field::ClusterBlocks, 0),
    (&["Registers Per Thread", "launch__registers_per_thread"], PLAIN, Field::Registers, 0),
    (&["Static Shared Memory Per Block", "launch__shared_mem_per_block_static"], BYTES, Field::StaticShared, 0),
    (&["Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"], BYTES, Field::DynamicShared, 0),
    (&["Driver Shared Memory Per Block", "launch__shared_mem_per_block_driver"], BYTES, Field::DriverShared, 0),
    (&["Shared Memory Configuration Size", "launch__shared_mem_config_size"], BYTES, Field::SharedConfiguration, 0),
    (&["launch__barrier_count"], PLAIN, Field::Barriers, 0),
    (&["Block Limit SM", "launch__occupancy_limit_blocks"], PLAIN, Field::LimitBlocks, 0),
    (&["Block Limit Registers", "launch__occupancy_limit_registers"], PLAIN, Field::LimitRegisters, 0),
    (&["Block Limit Shared Mem", "launch__occupancy_limit_shared_mem"], PLAIN, Field::LimitShared, 0),
    (&["Block Limit Warps", "launch__occupancy_limit_warps"], PLAIN, Field::LimitWarps, 0),
    (&["Block Limit Barriers", "launch__occupancy_limit_barriers"], PLAIN, Field::LimitBarriers, 0),
    (&["Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"], PERCENT, Field::TheoreticalOccupancy, 0),
    (
        &["Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"],
        PERCENT,
        Field::AchievedOccupancy,
        0,
    ),
    (&["Waves Per SM", "launch__waves_per_multiprocessor"], PLAIN, Field::Waves, 0),
];

/// Durations, clocks and cycles.
pub(super) const TIMES: &[Row] = &[
    (&["Duration", "gpu__time_duration.sum", "gpu__time_duration.avg"], SECONDS, Field::Duration, 0),
    (
        &[
            "SM Frequency",
            "smsp__cycles_elapsed.avg.per_second",
            "sm__cycles_elapsed.avg.per_second",
            "gpc__cycles_elapsed.avg.per_second",
        ],
        HERTZ,
        Field::SmClock,
        0,
    ),
    (&["DRAM Frequency", "Memory Frequency", "dram__cycles_elapsed.avg.per_second"], HERTZ, Field::DramClock, 0),
    (&["Elapsed Cycles", "gpc__cycles_elapsed.max", "sm__cycles_elapsed.max"], CYCLES, Field::ElapsedCycles, 0),
    (&["smsp__cycles_elapsed.avg", "sm__cycles_elapsed.avg"], CYCLES, Field::AverageCycles, 0),
];

/// Utilization, caches and scheduling.
pub(super) const RATES: &[Row] = &[
    (
        &[
            "Memory Throughput",
            "Memory [%]",
            "SOL Memory",
            "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
        ],
        PERCENT,
        Field::MemoryThroughput,
        0,
    ),
    (
        &[
            "Compute (SM) Throughput",
            "Compute (SM) [%]",
            "SM [%]",
            "SOL SM",
            "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        ],
        PERCENT,
        Field::ComputeThroughput,
        0,
    ),
    (
        &[
            "DRAM Throughput",
            "SOL DRAM",
            "SOL FB",
            "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
            "dram__throughput.avg.pct_of_peak_sustained_elapsed",
        ],
        PERCENT,
        Field::DramThroughput,
        0,
    ),
    (
        &["L2 Cache Throughput", "SOL L2 Cache", "SOL L2", "lts__throughput.avg.pct_of_peak_sustained_elapsed"],
        PERCENT,
        Field::L2Throughput,
        0,
    ),
    (
        &[
            "L1/TEX Cache Throughput",
            "SOL L1/TEX Cache",
            "SOL TEX",
            "l1tex__throughput.avg.pct_of_peak_sustained_active",
        ],
        PERCENT,
        Field::L1Throughput,
        0,
    ),
    (&["L1/TEX Hit Rate", "L1 Hit Rate", "l1tex__t_sector_hit_rate.pct"], PERCENT, Field::L1Hit, 0),
    (&["L2 Hit Rate", "lts__t_sector_hit_rate.pct"], PERCENT, Field::L2Hit, 0),
    (&["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"], PLAIN, Field::SectorsPerLoad, 0),
    (&["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"], PLAIN, Field::SectorsPerStore, 0),
    (&["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], PLAIN, Field::LoadSectors, 0),
    (&["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], PLAIN, Field::LoadRequests, 0),
    (&["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], PLAIN, Field::StoreSectors, 0),
    (&["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"], PLAIN, Field::StoreRequests, 0),
    (&["Local Memory Spilling Requests"], PLAIN, Field::SpillRequests, 0),
    (&["Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active"], PLAIN, Field::Ipc, 0),
    (&["Issued Warp Per Scheduler", "smsp__issue_active.avg.per_cycle_active"], PLAIN, Field::IssueActive, 0),
    (&["Eligible Warps Per Scheduler", "smsp__warps_eligible.avg.per_cycle_active"], PLAIN, Field::EligibleWarps, 0),
    (&["Active Warps Per Scheduler", "smsp__warps_active.avg.per_cycle_active"], PLAIN, Field::ActiveWarps, 0),
];

/// The device. Attributes carry no unit: clocks are in kHz, sizes in bytes.
pub(super) const DEVICE: &[Row] = &[
    (&["# SMs", "launch__sm_count", "device__attribute_multiprocessor_count"], PLAIN, Field::SmCount, 0),
    (&["device__attribute_l2_cache_size"], PLAIN, Field::L2Capacity, 0),
    (&["device__attribute_total_memory"], PLAIN, Field::MemoryCapacity, 0),
    (&["device__attribute_global_memory_bus_width", "device__attribute_fb_bus_width"], PLAIN, Field::BusBits, 0),
    (&["device__attribute_max_gpu_frequency_khz", "device__attribute_clock_rate"], PLAIN, Field::MaxSmClock, 3),
    (
        &["device__attribute_max_mem_frequency_khz", "device__attribute_memory_clock_rate"],
        PLAIN,
        Field::MaxMemoryClock,
        3,
    ),
    (&["device__attribute_max_warps_per_multiprocessor"], PLAIN, Field::MaxWarps, 0),
    (&["device__attribute_max_blocks_per_multiprocessor"], PLAIN, Field::MaxBlocks, 0),
    (&["device__attribute_max_registers_per_multiprocessor"], PLAIN, Field::RegistersPerSm, 0),
    (&["device__attribute_max_shared_memory_per_multiprocessor"], PLAIN, Field::SharedPerSm, 0),
    (&["device__attribute_compute_capability_major"], PLAIN, Field::CapabilityMajor, 0),
    (&["device__attribute_compute_capability_minor"], PLAIN, Field::CapabilityMinor, 0),
];

/// The two base names of a counter of executed thread instructions.
macro_rules! op {
    ($op:literal) => {
        [
            concat!("smsp__sass_thread_inst_executed_op_", $op, "_pred_on"),
            concat!("sm__sass_thread_inst_executed_op_", $op, "_pred_on"),
        ]
    };
}

/// Bytes of a sector.
const SECTOR: f64 = 32.0;

/// Base names of counters, the counter, whether the unit is bytes, and the factor to base units.
pub(super) const COUNTERS: &[(&[&str], Counter, bool, f64)] = &[
    (&op!("dadd"), Counter::Dadd, false, 1.0),
    (&op!("dmul"), Counter::Dmul, false, 1.0),
    (&op!("dfma"), Counter::Dfma, false, 1.0),
    (&op!("fadd"), Counter::Fadd, false, 1.0),
    (&op!("fmul"), Counter::Fmul, false, 1.0),
    (&op!("ffma"), Counter::Ffma, false, 1.0),
    (&op!("hadd"), Counter::Hadd, false, 1.0),
    (&op!("hmul"), Counter::Hmul, false, 1.0),
    (&op!("hfma"), Counter::Hfma, false, 1.0),
    (&["dram__bytes_read", "dram__bytes_op_read"], Counter::DramRead, true, 1.0),
    (&["dram__bytes_write", "dram__bytes_op_write"], Counter::DramWrite, true, 1.0),
    (&["dram__bytes"], Counter::Dram, true, 1.0),
    (&["dram__sectors_read", "dram__sectors_op_read"], Counter::DramRead, false, SECTOR),
    (&["dram__sectors_write", "dram__sectors_op_write"], Counter::DramWrite, false, SECTOR),
    (&["lts__t_bytes"], Counter::L2, true, 1.0),
    (&["lts__t_sectors"], Counter::L2, false, SECTOR),
    (&["smsp__sass_data_bytes_mem_shared", "sm__sass_data_bytes_mem_shared"], Counter::Shared, true, 1.0),
];

/// Per-cycle rates that the tool derives for its roofline, with the factor back to instructions.
pub(super) const DERIVED_PER_CYCLE: &[(&str, Counter, f64)] = &[
    ("derived__smsp__sass_thread_inst_executed_op_dfma_pred_on_x2", Counter::Dfma, 0.5),
    ("derived__smsp__sass_thread_inst_executed_op_ffma_pred_on_x2", Counter::Ffma, 0.5),
    ("derived__smsp__sass_thread_inst_executed_op_hadd_pred_on_x2", Counter::Hadd, 0.5),
    ("derived__smsp__sass_thread_inst_executed_op_hmul_pred_on_x2", Counter::Hmul, 0.5),
    ("derived__smsp__sass_thread_inst_executed_op_hfma_pred_on_x4", Counter::Hfma, 0.25),
];
