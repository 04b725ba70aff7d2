//! `kernel`: one launch described on the command line.

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;

use super::{
    args::{GpuArgs, ReportArgs},
    show::{self, Outcome},
};
use crate::{
    analysis::{Analysis, analyse},
    gpu::{Gpu, Pipe},
    kernel::Level,
    scenario::{AccessSpec, ConcurrencySpec, Dims, KernelSpec, Per, SharedSpec, TrafficSpec, WorkSpec},
    time::Timing,
    units::{Bytes, Flops, Seconds},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    gpu: GpuArgs,
    /// Name of the kernel
    #[arg(long, default_value = "kernel")]
    name: String,
    /// Blocks of the grid: 65536, 128x32 or 8x8x8
    #[arg(long, value_name = "BLOCKS")]
    grid: Dims,
    /// Threads of a block: 256 or 16x16
    #[arg(long, value_name = "THREADS")]
    block: Dims,
    /// Registers per thread, as the compiler reports them
    #[arg(long, value_name = "COUNT", default_value_t = 32)]
    regs: u64,
    /// Static shared memory per block, such as "16 KiB"
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "0 B", help_heading = "Resources")]
    static_smem: Bytes,
    /// Dynamic shared memory per block
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "0 B", help_heading = "Resources")]
    dynamic_smem: Bytes,
    /// Preferred share of shared memory in percent
    #[arg(long, value_name = "PERCENT", help_heading = "Resources")]
    carveout: Option<u64>,
    /// The kernel does not opt in to more than 48 KiB per block
    #[arg(long, help_heading = "Resources")]
    no_opt_in: bool,
    /// Hardware barriers per block
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=16), help_heading = "Resources")]
    barriers: u64,
    /// Blocks of a thread-block cluster: 2 or 2x1x1
    #[arg(long, value_name = "BLOCKS", default_value = "1", help_heading = "Resources")]
    cluster: Dims,
    /// Accumulation registers (AGPRs) per thread, AMD CDNA only
    #[arg(long, value_name = "COUNT", default_value_t = 0, help_heading = "Resources")]
    agprs: u64,
    /// Scalar registers (SGPRs) per wavefront, AMD only
    #[arg(long, value_name = "COUNT", default_value_t = 0, help_heading = "Resources")]
    sgprs: u64,
    /// What --op and the traffic options count
    #[arg(long, value_enum, default_value = "launch", help_heading = "Work and traffic")]
    per: PerArg,
    /// Operations of a unit (FMA = 2), such as vector.fp32="2 FLOP" or tensor.bf16="137 GFLOP"
    #[arg(long = "op", value_name = "UNIT=AMOUNT", value_parser = operation, help_heading = "Work and traffic")]
    operations: Vec<(Pipe, Flops)>,
    /// Bytes read from DRAM and used
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        default_value = "0 B",
        help_heading = "Work and traffic"
    )]
    dram_read: Bytes,
    /// Bytes written to DRAM
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        default_value = "0 B",
        help_heading = "Work and traffic"
    )]
    dram_write: Bytes,
    /// Bytes read from L2; without it the DRAM traffic passes once
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, help_heading = "Work and traffic")]
    l2_read: Option<Bytes>,
    /// Bytes written to L2
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, help_heading = "Work and traffic")]
    l2_write: Option<Bytes>,
    /// 32-byte sectors that one load of a warp touches (4 = coalesced 4-byte loads)
    #[arg(long, value_name = "COUNT", help_heading = "Work and traffic")]
    read_sectors: Option<f64>,
    /// 32-byte sectors that one store of a warp touches
    #[arg(long, value_name = "COUNT", help_heading = "Work and traffic")]
    write_sectors: Option<f64>,
    /// Bytes per thread of one such access
    #[arg(long, value_name = "BYTES", default_value_t = 4.0, help_heading = "Work and traffic")]
    access_bytes: f64,
    /// Bytes read from shared memory
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        default_value = "0 B",
        help_heading = "Work and traffic"
    )]
    shared_read: Bytes,
    /// Bytes written to shared memory
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        default_value = "0 B",
        help_heading = "Work and traffic"
    )]
    shared_write: Bytes,
    /// Accesses that one bank serves after each other, 1 to 32
    #[arg(long, value_name = "WAYS", help_heading = "Work and traffic")]
    bank_conflict: Option<f64>,
    /// Bytes touched between two uses of the same data: what fits in L2 is found there
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, help_heading = "Work and traffic")]
    reuse_distance: Option<Bytes>,
    /// Bytes that a thread spills and reloads
    #[arg(
        long,
        value_name = "SIZE",
        allow_hyphen_values = true,
        default_value = "0 B",
        help_heading = "Work and traffic"
    )]
    spill: Bytes,
    /// Bytes of loads that a thread has outstanding
    #[arg(long, value_name = "BYTES", help_heading = "Concurrency")]
    bytes_in_flight: Option<f64>,
    /// Independent arithmetic instructions of a warp
    #[arg(long, value_name = "COUNT", help_heading = "Concurrency")]
    instructions_in_flight: Option<f64>,
    /// Accesses of a thread that each wait for the one before
    #[arg(long, value_name = "COUNT", default_value_t = 0.0, help_heading = "Concurrency")]
    dependent_accesses: f64,
    /// Where the dependent accesses end
    #[arg(long, value_enum, default_value = "dram", help_heading = "Concurrency")]
    dependent_level: LevelArg,
    /// Time that a device took for the launch: its rate is set against the roofs, and what lies above one is explained
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    measured: Option<Seconds>,
    /// Include what the host adds to a launch
    #[arg(long)]
    launch_overhead: bool,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum PerArg {
    Launch,
    Block,
    Thread,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum LevelArg {
    Dram,
    L2,
    Shared,
}

/// Measured times that can be meant, in seconds.
const MEASURED: std::ops::RangeInclusive<f64> = 1e-9..=1e6;

fn operation(text: &str) -> Result<(Pipe, Flops), String> {
    let (pipe, amount) = text.split_once('=').ok_or("write UNIT=AMOUNT, such as vector.fp32=\"2 FLOP\"")?;
    let amount = amount.trim().trim_matches('"').parse().map_err(|e: crate::units::UnitError| e.to_string())?;
    Ok((pipe.trim().parse().map_err(|e: crate::gpu::PipeError| e.to_string())?, amount))
}

pub fn run(args: Args) -> Result<u8> {
    let catalog = args.gpu.folder.catalog()?;
    let (gpus, mut assumptions) = args.gpu.resolve(&catalog)?;
    if args.name.trim().is_empty() {
        bail!("--name `{}`: give the kernel a name", args.name);
    }
    if let Some(time) = args.measured.filter(|t| !MEASURED.contains(&t.get())) {
        bail!("--measured {time}: a launch takes 1 ns to 1,000,000 s");
    }
    let spec = args.spec();
    let (kernel, grid_blocks, assumed) = spec.build()?;
    assumptions.extend(assumed);
    let timing = if args.launch_overhead { Timing::Launch } else { Timing::Device };
    args.check_vendor(&gpus)?;
    let mut outcome = Outcome { assumptions, ..Outcome::default() };
    for gpu in &gpus {
        match analyse(gpu, kernel.clone(), grid_blocks, timing) {
            Ok(analysis) => outcome.add(Analysis { measured: args.measured, ..analysis }),
            // One GPU: a launch that cannot run is the answer to the question, an error with its cure.
            Err(error) if gpus.len() == 1 => return Err(error).context("the launch is refused"),
            Err(error) => outcome.refused(&kernel.name, gpu, error),
        }
    }
    show::finish(outcome, &args.report)
}

impl Args {
    /// Options that none of the devices knows are refused, not ignored.
    fn check_vendor(&self, gpus: &[Gpu]) -> Result<()> {
        let amd = [("--agprs", self.agprs > 0), ("--sgprs", self.sgprs > 0)];
        let nvidia = [
            ("--carveout", self.carveout.is_some()),
            ("--no-opt-in", self.no_opt_in),
            ("--barriers", self.barriers != 1),
        ];
        let given = |options: &[(&'static str, bool)]| options.iter().find(|(_, given)| *given).map(|(name, _)| *name);
        let is_amd = |gpu: &Gpu| gpu.limits.cu().is_some();
        let is_nvidia = |gpu: &Gpu| gpu.limits.sm().is_some();
        let names = || gpus.iter().map(|gpu| gpu.name.as_str()).collect::<Vec<_>>().join(", ");
        match (given(&amd), given(&nvidia)) {
            (Some(option), _) if !gpus.iter().any(is_amd) => bail!("{option} is for AMD GPUs; {} is none", names()),
            (_, Some(option)) if !gpus.iter().any(is_nvidia) => {
                bail!("{option} is for NVIDIA GPUs; {} is none", names())
            }
            _ => Ok(()),
        }
    }

    fn spec(&self) -> KernelSpec {
        let access = |read, write| AccessSpec {
            read,
            write,
            read_sectors_per_request: self.read_sectors,
            write_sectors_per_request: self.write_sectors,
            bytes_per_access: (self.read_sectors.is_some() || self.write_sectors.is_some())
                .then_some(self.access_bytes),
            ..AccessSpec::default()
        };
        let l2 = (self.l2_read.is_some() || self.l2_write.is_some())
            .then(|| access(self.l2_read.unwrap_or_default(), self.l2_write.unwrap_or_default()));
        let dram = match l2 {
            // Sectors are what a warp asks of L2; where that is given, DRAM moves whole lines for it.
            Some(_) => AccessSpec { read: self.dram_read, write: self.dram_write, ..AccessSpec::default() },
            None => access(self.dram_read, self.dram_write),
        };
        KernelSpec {
            name: self.name.clone(),
            grid: self.grid,
            block: self.block,
            registers_per_thread: self.regs,
            static_shared: self.static_smem,
            dynamic_shared: self.dynamic_smem,
            carveout: self.carveout,
            opt_in: !self.no_opt_in,
            barriers: self.barriers,
            cluster: self.cluster,
            accumulation_registers: self.agprs,
            scalar_registers: self.sgprs,
            expect: None,
            work: WorkSpec { per: self.per(), operations: self.operations.clone(), warp_instructions: None },
            traffic: TrafficSpec {
                per: self.per(),
                dram,
                l2,
                shared: SharedSpec {
                    read: self.shared_read,
                    write: self.shared_write,
                    bank_conflict: self.bank_conflict,
                    ..SharedSpec::default()
                },
                reuse_distance: self.reuse_distance,
                spill_per_thread: self.spill,
            },
            concurrency: ConcurrencySpec {
                bytes_in_flight: self.bytes_in_flight,
                instructions_in_flight: self.instructions_in_flight,
                dependent_accesses: self.dependent_accesses,
                dependent_level: Some(match self.dependent_level {
                    LevelArg::Dram => Level::Dram,
                    LevelArg::L2 => Level::L2,
                    LevelArg::Shared => Level::Shared,
                }),
            },
        }
    }

    fn per(&self) -> Per {
        match self.per {
            PerArg::Launch => Per::Launch,
            PerArg::Block => Per::Block,
            PerArg::Thread => Per::Thread,
        }
    }
}
