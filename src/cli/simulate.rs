//! `simulate`: kernels block by block, from a file or from options.

use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::{Args as ClapArgs, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{self, Format, GpuArgs, OutputArgs},
    world,
};
use crate::{
    gpu::{DataType, Gpu, Pipe},
    report::{SimulationReport, simulation_csv, simulation_json, simulation_markdown, simulation_text},
    simulation::{
        self, AttentionWork, BlocksWork, BuildError, Built, GemmWork, LaunchSpec, Order, Rows, Schedule, Simulation,
    },
    units::{Bytes, Flops, Seconds},
};

#[derive(ClapArgs)]
pub struct Args {
    /// Simulation file (TOML, see scenarios/README.md) or the name of a built-in one; without it the options below
    #[arg(value_name = "FILE")]
    file: Option<String>,
    /// Only this case of the file
    #[arg(long, value_name = "NAME", requires = "file")]
    case: Option<String>,
    #[command(flatten)]
    flags: Flags,
    /// Simulations that run at a time; as many as there are cores
    #[arg(long, value_name = "COUNT")]
    jobs: Option<usize>,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// A single launch.
#[derive(ClapArgs)]
#[group(id = "launch", multiple = true, conflicts_with = "file")]
struct Flags {
    /// Equal blocks; what each needs is --math, --operations, --dram, --l2, --port, --latency
    #[arg(long, value_name = "COUNT")]
    blocks: Option<u64>,
    /// Time of an SM's arithmetic per block
    #[arg(long, value_name = "TIME", requires = "blocks", default_value = "0 us")]
    math: Seconds,
    /// Operations per block, on --pipe
    #[arg(long, value_name = "FLOP", requires = "blocks", default_value = "0 FLOP")]
    operations: Flops,
    /// Unit of the operations, such as tensor.bf16; vector.fp32 without it
    #[arg(long, value_name = "UNIT", requires = "operations")]
    pipe: Option<Pipe>,
    /// Bytes of DRAM per block
    #[arg(long, value_name = "SIZE", requires = "blocks", default_value = "0 B")]
    dram: Bytes,
    /// Bytes of L2 per block
    #[arg(long, value_name = "SIZE", requires = "blocks", default_value = "0 B")]
    l2: Bytes,
    /// Bytes through the SM's port per block
    #[arg(long, value_name = "SIZE", requires = "blocks", default_value = "0 B")]
    port: Bytes,
    /// Waiting of each block
    #[arg(long, value_name = "TIME", requires = "blocks", default_value = "0 us")]
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
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = args::tile, requires = "gemm")]
    tile: Option<(u32, u32)>,
    /// Shares into which k of the product is cut
    #[arg(long, value_name = "COUNT", requires = "gemm")]
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
    fn launch(&self) -> Result<(String, LaunchSpec)> {
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

/// Reads a file, or a built-in simulation by its name.
fn read(name: &str) -> Result<Simulation> {
    if let Some((_, text)) = simulation::embedded().find(|(known, _)| *known == name) {
        return Ok(Simulation::parse(name, text)?);
    }
    let path = Path::new(name);
    if !path.exists() && path.extension().is_none() && name != "-" {
        let known: Vec<&str> = simulation::embedded().map(|(name, _)| name).collect();
        bail!("`{name}` is neither a file nor a built-in simulation ({})", known.join(", "));
    }
    Ok(Simulation::parse(name, &world::read_text(path)?)?)
}

pub fn run(args: Args) -> Result<u8> {
    let catalog = args.gpu.folder.catalog()?;
    let mut simulation = match &args.file {
        Some(name) => read(name)?,
        None => {
            let (title, launch) = args.flags.launch()?;
            Simulation::of(&title, launch)?
        }
    };
    let (gpus, assumptions) = gpus(&args, &mut simulation, &catalog)?;
    let cases = simulation.cases();
    let cases: Vec<&str> = match &args.case {
        None => cases,
        Some(name) if cases.contains(&name.as_str()) => vec![name],
        Some(name) => bail!("--case `{name}`: the file has no such case; there are {}", cases.join(", ")),
    };
    let pairs: Vec<(&str, &Gpu)> = gpus.iter().flat_map(|gpu| cases.iter().map(move |case| (*case, gpu))).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.jobs.unwrap_or(0)).build()?;
    let built: Vec<_> = pairs.iter().map(|(case, gpu)| simulation.build(case, gpu)).collect();
    let bar = progress(&built, args.output.quiet);
    let work = pairs.par_iter().zip(built);
    let results: Vec<_> = pool.install(|| {
        let run = |((case, gpu), built): (&(&str, &Gpu), Result<Built, BuildError>)| {
            Ok(built?.run(&simulation.title, case, gpu, &|blocks| bar.inc(blocks))?)
        };
        work.map(run).collect::<Vec<Result<_, BuildError>>>()
    });
    bar.finish_and_clear();
    let (mut runs, mut errors) = (Vec::new(), Vec::new());
    for ((case, gpu), result) in pairs.iter().zip(results) {
        match result {
            Ok(run) => runs.push(run),
            Err(error) if pairs.len() == 1 => return Err(error).context("the simulation is refused"),
            Err(error) => {
                let of = if case.is_empty() { String::new() } else { format!("{case}, ") };
                errors.push(format!("{of}{}: {error}", gpu.name));
            }
        }
    }
    if let (true, Some(first)) = (runs.is_empty(), errors.first()) {
        bail!("{first}");
    }
    let report = SimulationReport::new(&simulation.title, assumptions, &runs, errors);
    args.output.emit(&rendered(&report, args.output.format)?)?;
    Ok(if report.errors.is_empty() { EXIT_OK } else { EXIT_CHECK })
}

/// Above so many blocks a bar is shown on a terminal.
const MANY_BLOCKS: u64 = 5_000_000;

fn progress(built: &[Result<Built, BuildError>], quiet: bool) -> ProgressBar {
    let grids = built.iter().flatten().flat_map(|built| &built.grids);
    let blocks = grids.map(|grid| grid.runs.blocks()).fold(0, u64::saturating_add);
    if quiet || blocks < MANY_BLOCKS {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(blocks);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {human_pos} of {human_len} blocks, {eta} left") {
        bar.set_style(style);
    }
    bar
}

fn rendered(report: &SimulationReport, format: Format) -> Result<String> {
    Ok(match format {
        Format::Text => simulation_text(report, world::width()),
        Format::Json => simulation_json(report),
        Format::Csv => simulation_csv(report)?,
        Format::Markdown => simulation_markdown(report),
        Format::Html => {
            bail!("--format html: a simulation is text, json, csv or markdown; its chart is --chart FILE.svg")
        }
    })
}

/// The GPUs of the command line, else those of the file, with the what-ifs of `--set`.
fn gpus(args: &Args, simulation: &mut Simulation, catalog: &crate::gpu::Catalog) -> Result<(Vec<Gpu>, Vec<String>)> {
    let mut given = args.gpu.clone();
    if given.gpu.is_empty() {
        given.gpu.clone_from(&simulation.gpus);
    }
    given.resolve(catalog)
}
