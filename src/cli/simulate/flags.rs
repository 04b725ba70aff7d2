//! A single launch by options.

use anyhow::{Result, bail};
use clap::{Args as ClapArgs, ValueEnum};

use crate::{
    cli::args,
    gpu::{DataType, Pipe},
    simulation::{self, AttentionWork, BlocksWork, GemmWork, LaunchSpec, Order, Rows, Schedule},
    units::{Bytes, Flops, Seconds},
};

/// A single launch.
#[derive(ClapArgs)]
#[group(id = "launch", multiple = true, conflicts_with = "file")]
pub struct Flags {
    /// Equal blocks; what each needs is --math, --operations, --dram, --l2, --port, --latency
    #[arg(long, value_name = "COUNT")]
    blocks: Option<u64>,
    /// Time of an SM's arithmetic per block
    #[arg(long, value_name = "TIME", requires = "blocks", conflicts_with_all = ["gemm", "attention"], default_value = "0 us")]
    math: Seconds,
    /// Operations per block, on --pipe
    #[arg(long, value_name = "FLOP", requires = "blocks", conflicts_with_all = ["gemm", "attention"], default_value = "0 FLOP")]
    operations: Flops,
    /// Unit of the operations, such as tensor.bf16; vector.fp32 without it
    #[arg(long, value_name = "UNIT", requires = "operations")]
    pipe: Option<Pipe>,
    /// Bytes of DRAM per block
    #[arg(long, value_name = "SIZE", requires = "blocks", conflicts_with_all = ["gemm", "attention"], default_value = "0 B")]
    dram: Bytes,
    /// Bytes of L2 per block
    #[arg(long, value_name = "SIZE", requires = "blocks", conflicts_with_all = ["gemm", "attention"], default_value = "0 B")]
    l2: Bytes,
    /// Bytes through the SM's port per block
    #[arg(long, value_name = "SIZE", requires = "blocks", conflicts_with_all = ["gemm", "attention"], default_value = "0 B")]
    port: Bytes,
    /// Waiting of each block
    #[arg(long, value_name = "TIME", requires = "blocks", conflicts_with_all = ["gemm", "attention"], default_value = "0 us")]
    latency: Seconds,
    /// Blocks per SM; 1 without it and without --threads
    #[arg(long, value_name = "COUNT")]
    blocks_per_sm: Option<u64>,
    /// Threads of a block: with --registers and --shared they say how many fit on an SM
    #[arg(long, value_name = "COUNT", requires = "blocks", conflicts_with = "blocks_per_sm")]
    threads: Option<u64>,
    /// Registers of a thread
    #[arg(long, value_name = "COUNT", requires = "threads")]
    registers: Option<u64>,
    /// Shared memory of a block
    #[arg(long, value_name = "SIZE", requires = "threads")]
    shared: Option<Bytes>,
    /// A matrix product, M N K
    #[arg(long, value_names = ["M", "N", "K"], num_args = 3, conflicts_with_all = ["blocks", "attention"])]
    gemm: Option<Vec<u64>>,
    /// Tile of the product, such as 128x128
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = args::tile, requires = "gemm", conflicts_with_all = ["blocks", "attention"])]
    tile: Option<(u32, u32)>,
    /// Shares into which k of the product is cut
    #[arg(long, value_name = "COUNT", requires = "gemm", conflicts_with_all = ["blocks", "attention"])]
    split: Option<u64>,
    /// Causal attention of prompts: HEADS TOKENS [TOKENS ...], one length per sequence
    #[arg(long, value_name = "HEADS TOKENS", num_args = 2.., conflicts_with = "blocks")]
    attention: Option<Vec<u64>>,
    /// Type of the operands of --gemm and --attention
    #[arg(long, value_name = "TYPE", default_value = "bf16")]
    dtype: DataType,
    /// Order of the blocks
    #[arg(long, value_enum, default_value = "given")]
    order: OrderArg,
    /// How blocks come to slots
    #[arg(long, value_enum, default_value = "hardware")]
    schedule: ScheduleArg,
    /// Blocks that are placed together in one GPC
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    cluster: u64,
    /// Time from its placement until a block begins its work
    #[arg(long, value_name = "TIME", default_value = "0 us")]
    start: Seconds,
}

#[derive(Clone, Copy, ValueEnum)]
enum OrderArg {
    /// As they are numbered
    Given,
    /// By the time that each takes alone
    LongestFirst,
}

#[derive(Clone, Copy, ValueEnum)]
enum ScheduleArg {
    /// As blocks of a grid, placed by the hardware
    Hardware,
    /// As tiles of a persistent kernel, from a common queue
    Queue,
    /// As tiles of a persistent kernel, dealt out in turn
    Stride,
    /// The steps of a product's tiles, dealt out evenly
    StreamK,
}

impl Flags {
    /// The launch that the options describe, with a title.
    pub fn launch(&self) -> Result<(String, LaunchSpec)> {
        let mut launch = LaunchSpec {
            blocks_per_sm: self.blocks_per_sm,
            threads: self.threads,
            registers: self.registers,
            shared: self.shared,
            order: match self.order {
                OrderArg::Given => Order::Given,
                OrderArg::LongestFirst => Order::LongestFirst,
            },
            schedule: match self.schedule {
                ScheduleArg::Hardware => Schedule::Hardware,
                ScheduleArg::Queue => Schedule::Queue,
                ScheduleArg::Stride => Schedule::Stride,
                ScheduleArg::StreamK => Schedule::StreamK,
            },
            cluster: self.cluster,
            start: self.start,
            ..LaunchSpec::default()
        };
        if let Some(sizes) = &self.gemm {
            let (n, k, dtype) = (sizes[1], sizes[2], self.dtype);
            let (m, batch) = (Rows(vec![sizes[0]]), 1);
            launch.name = "gemm".into();
            let title = format!("gemm {}x{n}x{k} {}", sizes[0], dtype.name());
            launch.gemm = Some(GemmWork { m, n, k, batch, dtype, tile: self.tile, split: self.split });
            return Ok((title, launch));
        }
        if let Some(sizes) = &self.attention {
            launch.name = "attention".into();
            launch.attention = Some(AttentionWork::causal(sizes[0], sizes[1..].to_vec(), self.dtype));
            let lengths: Vec<String> = sizes[1..].iter().map(u64::to_string).collect();
            let title =
                format!("causal attention, {} heads, {} tokens, {}", sizes[0], lengths.join(" + "), self.dtype.name());
            return Ok((title, launch));
        }
        if let Some(count) = self.blocks {
            let Self { math, operations, pipe, dram, l2, port, latency, .. } = *self;
            launch.blocks = vec![BlocksWork { count, math, operations, pipe, dram, l2, port, latency }];
            return Ok((format!("{count} equal blocks"), launch));
        }
        let built_in: Vec<&str> = simulation::embedded().map(|(name, _)| name).collect();
        bail!(
            "nothing to simulate: name a file, a built-in simulation ({}), or give --blocks, --gemm or --attention",
            built_in.join(", ")
        )
    }
}
