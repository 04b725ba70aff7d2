//! Every field of a report with its unit and meaning: the structs and their documentation come from this one list.

use serde::Serialize;

use super::{BlockLimit, schema::Field};

/// A struct whose fields know their unit and meaning.
macro_rules! record {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty, $unit:literal, $meaning:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize)]
        pub struct $name {
            $(#[doc = concat!($meaning, ". Unit: ", $unit, ".")] pub $field: $type,)*
        }

        impl $name {
            /// Name, unit and meaning of every field, in order.
            pub const FIELDS: &'static [Field] = &[$((stringify!($field), $unit, $meaning),)*];
        }
    };
}

record! {
    /// What was found about some launches.
    Report {
        schema: String, "text", "Name and version of this form: `wavecast.report/1`";
        version: String, "text", "Version of wavecast that wrote it";
        title: Option<String>, "text", "What the report is about, where its author said so";
        assumptions: Vec<String>, "sentences", "What was assumed where the input left something open";
        warnings: Vec<String>, "sentences", "What may make the answer wrong";
        kernels: Vec<KernelReport>, "list", "One entry per launch, in the order of the input";
        errors: Vec<RowError>, "list", "Launches that could not be evaluated";
        traces: Vec<TraceReport>, "list", "Where the time went, one entry per traced file, and per profile for which `--to` or `--what-if` was given";
    }
}

record! {
    /// Where the time of a traced file went.
    TraceReport {
        file: String, "text", "Name of the file";
        format: String, "text", "What wrote it";
        launches: u64, "count", "Kernel launches";
        groups: u64, "count", "Groups of launches with the same name, grid and resources";
        kernels_us: f64, "us", "Time of all launches, added up";
        span_us: Option<f64>, "us", "From the first beginning to the last end on a device, added up over devices";
        gaps_us: Option<f64>, "us", "Of it, time with neither kernel nor copy";
        transfers: Vec<String>, "sentences", "Copies and fills, most time first";
        parts: Vec<SharePart>, "list", "The time by bound and by operation";
        bound_source: String, "word", "How the bounds are known: measured (counters) or likely (length, grid and name)";
        elsewhere: Vec<String>, "sentences", "What the kernels would take on other GPUs that were asked for";
        asked: Vec<AskedTotal>, "list", "What all kernels together would take with each change that was asked for";
    }
}

record! {
    /// All kernels of a file, those that are shown after a change.
    AskedTotal {
        change: String, "text", "The change, such as `registers=64`";
        text: String, "sentence", "The times in words, and the kernels that stay as they are";
        low_us: f64, "us", "Least time of all kernels of the file";
        high_us: f64, "us", "Most time of all kernels of the file";
    }
}

record! {
    /// A measured kernel after a change that was asked for.
    AskedReport {
        change: String, "text", "The change, such as `registers=64`";
        text: String, "sentence", "What it does in words, or why there is no answer";
        blocks_per_sm: Option<u32>, "blocks", "Blocks that an SM then holds; 0 where the launch cannot run, absent where the file lacks facts";
        theoretical_occupancy_pct: Option<f64>, "%", "Theoretical occupancy then";
        limiters: Vec<String>, "words", "The limits that attain it then";
        grid_blocks: Option<u64>, "blocks", "Blocks of the grid then";
        waves: Option<f64>, "waves", "Waves then";
        utilization_pct: Option<f64>, "%", "Filled share of the slots of all waves then";
        low_us: Option<f64>, "us", "Least time of a launch then";
        high_us: Option<f64>, "us", "Most time of a launch then";
        total_low_us: Option<f64>, "us", "Least time of all launches of this row then";
        total_high_us: Option<f64>, "us", "Most time of all launches of this row then";
    }
}

record! {
    /// A measured kernel on another GPU that was asked for.
    ElsewhereReport {
        gpu: String, "text", "The other GPU by its name in the catalog";
        low_us: f64, "us", "Least time there, of all launches of this row added up as in `total_us`";
        high_us: f64, "us", "Most time there, of all launches of this row added up as in `total_us`";
    }
}

record! {
    /// A part of the time of a traced file.
    SharePart {
        by: String, "word", "What the time is divided by: bound or operation";
        what: String, "text", "The bound or operation, or `launch gaps`";
        time_us: f64, "us", "Its time";
        share_pct: f64, "%", "Its share of kernels and gaps together";
        kernel_share_pct: Option<f64>, "%", "Its share of the kernels alone; absent for `launch gaps`";
    }
}

record! {
    /// A launch that could not be evaluated.
    RowError {
        row: Option<u64>, "count", "Place in the input, from 1; the CSV keeps the row there";
        kernel: String, "text", "Name of the kernel";
        gpu: Option<String>, "text", "GPU that it was meant for";
        message: String, "sentence", "Why it could not be evaluated and what would help";
    }
}

record! {
    /// The time that one resource alone would take.
    TermReport {
        resource: String, "text", "The resource, such as `DRAM` or `BF16 tensor`";
        bound: String, "word", "The bound that it belongs to: math, memory or latency";
        time_us: f64, "us", "Time at the sustained rate of the calibration";
        least_us: f64, "us", "Time at the datasheet rate";
    }
}

record! {
    /// The place of a kernel on the roofline of one memory level.
    PointReport {
        level: String, "word", "Memory level: dram, l2 or shared";
        intensity_flop_per_byte: f64, "FLOP/B", "Operations per byte moved at this level";
        rate_tflops: f64, "TFLOP/s", "Rate reached: at the measured time where there is one, else at `time_us`";
        attainable_tflops: f64, "TFLOP/s", "The lower of the pipes' peak and intensity x bandwidth, at datasheet rates";
        share_pct: Option<f64>, "%", "`rate_tflops` / `attainable_tflops`; absent where the rate lies above the roof";
        above_roof: Vec<String>, "sentences", "What may have put the rate above the roof, likeliest first";
    }
}

record! {
    /// A change that would help, judged by the whole model.
    WhatIfReport {
        change: String, "word", "Stable name of the change, such as `coalescing`";
        text: String, "sentence", "The change in words";
        speedup: f64, "ratio", "Time before / time after";
        bound_after: String, "word", "What binds after the change: math, memory or latency";
    }
}

record! {
    /// One launch on one GPU.
    KernelReport {
        kernel: String, "text", "Name of the kernel";
        source: String, "word", "Where the kernel comes from: `described`, or the profiler that observed it, such as `nsight-compute`";
        gpu: Option<String>, "text", "GPU by its name in the catalog";
        gpu_name: Option<String>, "text", "GPU by its product name";
        gpu_changes: Vec<String>, "list", "What-if changes to the GPU, as `key = value (was old)`";
        compute_capability: Option<String>, "text", "Compute capability of an NVIDIA GPU";
        gfx: Option<String>, "text", "Target of an AMD GPU, such as gfx942";
        unit: Option<String>, "word", "What a block must fit in, `SM` below: SM; CU (compute unit) or WGP (a pair of them) of an AMD GPU; core of a CPU";
        sm_count: Option<u32>, "count", "SMs of the GPU (its CUs, WGPs or cores)";
        grid_blocks: Option<u64>, "blocks", "Blocks of the grid";
        threads_per_block: Option<u32>, "threads", "Threads of a block";
        registers_per_thread: Option<u32>, "registers", "Registers of a thread";
        shared_bytes_per_block: Option<u32>, "bytes", "Static and dynamic shared memory of a block as asked for";
        alloc_registers_per_block: Option<u32>, "registers", "Registers that a block takes after rounding";
        alloc_shared_bytes_per_block: Option<u32>, "bytes", "Shared memory that a block takes after rounding, with the share that the driver reserves";
        shared_configuration_bytes: Option<u32>, "bytes", "Shared memory that an SM is configured to";
        blocks_per_sm: Option<u32>, "blocks", "Blocks that an SM can hold: the least of the limits";
        limiters: Vec<String>, "words", "The limits that attain it: warps, regs, smem, blocks, barriers, sgprs";
        limit_warps: Option<BlockLimit>, "blocks", "Blocks per SM that the warp slots allow; `inf` = unlimited";
        limit_regs: Option<BlockLimit>, "blocks", "Blocks per SM that the registers allow; `inf` = unlimited";
        limit_smem: Option<BlockLimit>, "blocks", "Blocks per SM that the shared memory allows; `inf` = unlimited";
        limit_blocks: Option<BlockLimit>, "blocks", "Blocks per SM that the block slots allow; `inf` = unlimited";
        limit_barriers: Option<BlockLimit>, "blocks", "Blocks per SM that the barriers allow; `inf` = unlimited";
        limit_sgprs: Option<BlockLimit>, "blocks", "Workgroups per unit that the scalar registers of an AMD GPU allow; `inf` = unlimited";
        hip_blocks_per_cu: Option<u32>, "blocks", "What HIP's occupancy query answers, by its own convention";
        llvm_waves_per_simd: Option<u32>, "wavefronts", "What LLVM prints as occupancy of an AMD kernel";
        active_warps: Option<u32>, "warps", "Warps that an SM can hold of this kernel";
        max_warps: Option<u32>, "warps", "Warps that an SM can hold of any kernel";
        theoretical_occupancy_pct: Option<f64>, "%", "`active_warps` / `max_warps`";
        achieved_occupancy_pct: Option<f64>, "%", "Occupancy that a profiler measured";
        next_steps: Vec<String>, "sentences", "What gives one more block per SM, and the occupancy that it gives; limiters that tie must all give way";
        waves: Option<f64>, "waves", "`grid_blocks` / (SMs x `blocks_per_sm`)";
        full_waves: Option<u64>, "waves", "Waves that fill every slot";
        tail_blocks: Option<u64>, "blocks", "Blocks of the last, partial wave; 0 when the last wave is full";
        tail_fill_pct: Option<f64>, "%", "Filled share of the slots of the last wave";
        utilization_pct: Option<f64>, "%", "Filled share of the slots of all waves";
        idle_sms_in_tail: Option<u64>, "count", "SMs without any block in the last wave";
        tail_cost_pct: Option<f64>, "%", "Share of the time that the same work in whole waves would save";
        few_blocks: Option<bool>, "yes/no", "Whether the grid has fewer than 300 blocks, where tails matter";
        tile: Option<String>, "text", "Tile of a matrix product, height x width; of attention, queries x keys";
        splits: Option<u32>, "count", "Shares into which the inner dimension of a matrix product or the keys of attention are cut";
        choices: Vec<String>, "sentences", "The kernel chosen for a matrix product and the next best, fastest first; of attention the kernel and its grid";
        sizes: Vec<String>, "sentences", "What nearby sizes of a matrix product, or a longer sequence, would cost";
        time_us: Option<f64>, "us", "Estimated time";
        low_us: Option<f64>, "us", "Low end of the range: perfect overlap at datasheet rates; of matrix products the 80 % band";
        high_us: Option<f64>, "us", "High end of the range: no overlap between SMs, memory levels and ports; of matrix products the 80 % band";
        launch_us: Option<f64>, "us", "What the host adds to a launch, where the time is taken around it";
        terms: Vec<TermReport>, "list", "The time that each resource alone would take; in CSV `resource=time_us`";
        math_us: Option<f64>, "us", "The largest math term";
        memory_us: Option<f64>, "us", "The largest memory term";
        latency_us: Option<f64>, "us", "Fixed cost plus the largest latency term";
        bound: Option<String>, "word", "What holds the kernel back: math, memory or latency";
        bound_resource: Option<String>, "text", "The resource behind the bound";
        margin: Option<f64>, "ratio", "Time of the bound / time of the next one, 1 = a tie; absent where there is no other";
        verdict: Option<String>, "sentence", "The bound in words";
        flop: Option<f64>, "FLOP", "Operations of the launch; a fused multiply-add is 2";
        pipe: Option<String>, "text", "The pipe that takes longest at its peak";
        peak_tflops: Option<f64>, "TFLOP/s", "Datasheet peak of the pipes used, dense";
        tflops: Option<f64>, "TFLOP/s", "Rate reached: at the measured time where there is one, else at `time_us`";
        points: Vec<PointReport>, "list", "Place on the roofline, one per memory level; in CSV `level=share_pct`, or `level=above` for a rate above the roof";
        roof_pct: Option<f64>, "%", "Reached share of the DRAM roofline: of the attainable rate, or of the bandwidth where no operations are known; absent above the roof";
        ridge_flop_per_byte: Option<f64>, "FLOP/B", "Intensity at which the peak of `pipe` and the DRAM bandwidth meet";
        dram_bytes: Option<f64>, "bytes", "DRAM traffic, unused parts of sectors included; what L2 still holds (`l2_hit_pct`) is not taken off a described kernel";
        dram_gb_per_s: Option<f64>, "GB/s", "`dram_bytes` per time";
        peak_dram_gb_per_s: Option<f64>, "GB/s", "Datasheet bandwidth of the DRAM";
        l2_bytes: Option<f64>, "bytes", "Traffic between L2 and the SMs, unused parts of sectors included";
        l2_hit_pct: Option<f64>, "%", "Share of the DRAM traffic that L2 still holds from the launch before";
        findings: Vec<String>, "sentences", "Observations that matter for this bound";
        what_ifs: Vec<WhatIfReport>, "list", "Changes that gain 2 % or more, best first; in CSV `change=speedup`";
        advice: Vec<String>, "sentences", "What would help a profiled launch, from the metrics of its file";
        missing: Vec<String>, "words", "Metrics that the profiler's file lacks";
        ignored: Vec<String>, "sentences", "What the answer leaves out";
        confidence: Option<String>, "sentence", "Whose constants were used and what the range means";
        calibration: Option<String>, "word", "Whose constants were used: `gpu`, `family:NAME`, `datasheet`, or `user` for a what-if";
        measured_us: Option<f64>, "us", "Measured time";
        measured_over_model: Option<f64>, "ratio", "`measured_us` / `time_us`";
        file_theoretical_occupancy_pct: Option<f64>, "%", "Theoretical occupancy as the profiler's file states it";
        file_waves: Option<f64>, "waves", "Waves as the profiler's file states them";
        differences: Vec<String>, "sentences", "Where this model and the profiler's file disagree";
        launches: Option<u64>, "count", "Launches of a trace that this row stands for; `measured_us` is then their mean";
        total_us: Option<f64>, "us", "Their time, added up";
        time_share_pct: Option<f64>, "%", "Share of the time of all kernels of the file";
        shortest_us: Option<f64>, "us", "The shortest of them";
        longest_us: Option<f64>, "us", "The longest of them";
        operation: Option<String>, "text", "What the name of an observed kernel tells of its operation";
        likely_bound: Option<String>, "word", "The bound that length, grid and name of a traced kernel suggest; not measured";
        asked: Vec<AskedReport>, "list", "A measured kernel after each change that was asked for; in CSV `change: low_us to high_us`";
        elsewhere: Vec<ElsewhereReport>, "list", "A measured kernel on each GPU that was asked for, all launches of this row together; in CSV `gpu: low_us to high_us`";
    }
}
