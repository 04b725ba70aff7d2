//! `occupancy`: one configuration explained, or a table of them.

mod answer;

use std::{
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};
use clap::{Args as ClapArgs, ValueEnum};

use self::answer::Answer;
use super::{
    EXIT_CHECK, EXIT_OK,
    args::{Format, GpuArgs, OutputArgs},
    world,
};
use crate::{
    gpu::{Catalog, ComputeCapability, CuLimits, Limits, WorkgroupMode},
    occupancy::{
        Carveout, Resources,
        batch::batch,
        cluster::{clusters, most_active},
        occupancy,
        warpgroups::redistribution,
    },
    units::Bytes,
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    gpu: GpuArgs,
    /// Compute capability instead of a GPU, such as 9.0
    #[arg(long, value_name = "CC", conflicts_with_all = ["gpu", "set", "gfx"])]
    cc: Option<ComputeCapability>,
    /// Target of an AMD GPU instead of a GPU, such as gfx942
    #[arg(long, value_name = "TARGET", conflicts_with_all = ["gpu", "set"])]
    gfx: Option<String>,
    /// Threads per block
    #[arg(long, value_name = "THREADS", required_unless_present = "batch")]
    block: Option<u32>,
    /// Registers per thread, as the compiler reports them; VGPRs of an AMD GPU
    #[arg(long, value_name = "COUNT", default_value_t = 0, visible_alias = "vgprs")]
    regs: u32,
    /// Static shared memory per block, such as "16 KiB"
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "0 B")]
    static_smem: Bytes,
    /// Dynamic shared memory per block; LDS of an AMD GPU
    #[arg(long, visible_alias = "lds", value_name = "SIZE", allow_hyphen_values = true, default_value = "0 B")]
    dynamic_smem: Bytes,
    /// Preferred share of shared memory in percent; without it as much as the SM has
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    carveout: Option<u8>,
    /// The kernel does not opt in to more than 48 KiB per block
    #[arg(long)]
    no_opt_in: bool,
    /// Hardware barriers per block
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    barriers: u32,
    /// Wanted blocks per SM: what __launch_bounds__ or the maximum register count must be
    #[arg(long, value_name = "BLOCKS", value_parser = clap::value_parser!(u32).range(1..))]
    want: Option<u32>,
    /// Blocks of a thread-block cluster
    #[arg(long, value_name = "BLOCKS", default_value_t = 1)]
    cluster: u32,
    /// Register counts that the warpgroups set with setmaxnreg, such as 40,232,232; --regs is the launch's own count
    #[arg(long, value_name = "COUNTS", value_delimiter = ',')]
    setmaxnreg: Vec<u32>,
    /// Accumulation registers (AGPRs) per thread
    #[arg(long, value_name = "COUNT", default_value_t = 0, help_heading = "AMD GPUs")]
    agprs: u32,
    /// Scalar registers (SGPRs) per wavefront
    #[arg(long, value_name = "COUNT", default_value_t = 0, help_heading = "AMD GPUs")]
    sgprs: u32,
    /// Threads of a wavefront: 64, or 32 on RDNA
    #[arg(long, value_name = "THREADS", help_heading = "AMD GPUs")]
    wave_size: Option<u32>,
    /// What a workgroup must fit in on RDNA; LLVM compiles for wgp unless told otherwise
    #[arg(long, value_enum, value_name = "MODE", help_heading = "AMD GPUs")]
    workgroup_mode: Option<ModeArg>,
    /// No trap handler takes scalar registers
    #[arg(long, help_heading = "AMD GPUs")]
    no_trap_handler: bool,
    /// Table of configurations (CSV, `-` for standard input); columns in `docs/cli.md`
    #[arg(long, value_name = "IN.csv", conflicts_with_all = ["block", "cc", "gfx", "want", "carveout"])]
    batch: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    /// One compute unit
    Cu,
    /// A work-group processor: two compute units
    Wgp,
}

pub fn run(args: Args) -> Result<u8> {
    let catalog = args.gpu.folder.catalog()?;
    if let Some(input) = &args.batch {
        return table(input, &args.output, &catalog);
    }
    let (name, limits, sm, mut notes) = match (args.cc, &args.gfx) {
        (Some(capability), _) => {
            let limits = Limits::Sm(catalog.limits(capability)?);
            (format!("compute capability {capability}"), limits, None, Vec::new())
        }
        (None, Some(gfx)) => (gfx.clone(), Limits::Cu(catalog.compute_unit(gfx)?), None, Vec::new()),
        (None, None) => {
            let (gpu, assumptions) = args.gpu.resolve_one(&catalog)?;
            let changes = gpu.changes.iter().map(|c| format!("what-if: {c}"));
            (gpu.name.clone(), gpu.limits, Some(gpu.sm), assumptions.into_iter().chain(changes).collect())
        }
    };
    let limits = in_mode(&name, limits, &args)?;
    let mut resources = resources(&args)?;
    if !args.setmaxnreg.is_empty() {
        let moved = redistribution(&limits, &resources, &args.setmaxnreg)?;
        resources.registers_per_thread = moved.launched;
        notes.push(moved.sentence());
    }
    if args.cluster != 1 {
        let legal = clusters(&limits, args.cluster)?;
        let resident = occupancy(&limits, &resources).blocks_per_sm;
        notes.push(legal.sentence(sm.and_then(|sm| most_active(&sm, resident, legal))));
    }
    let answer = Answer::new(name, notes, &limits, resources, args.want);
    args.output.emit(&answer.render(args.output.format)?)?;
    Ok(EXIT_OK)
}

/// The limits with the AMD options applied; on other devices these are an error, not ignored.
fn in_mode(name: &str, limits: Limits, args: &Args) -> Result<Limits> {
    let amd = [
        ("--agprs", args.agprs > 0),
        ("--sgprs", args.sgprs > 0),
        ("--wave-size", args.wave_size.is_some()),
        ("--workgroup-mode", args.workgroup_mode.is_some()),
        ("--no-trap-handler", args.no_trap_handler),
    ];
    let given = amd.iter().find(|(_, given)| *given).map(|(option, _)| *option);
    match (limits, given) {
        (Limits::Core, _) => bail!("{name} is a CPU: a core runs one thread of work at a time, it has no occupancy"),
        (Limits::Cu(unit), _) => {
            let mode = args.workgroup_mode.map(|mode| match mode {
                ModeArg::Cu => WorkgroupMode::Cu,
                ModeArg::Wgp => WorkgroupMode::Wgp,
            });
            let unit = CuLimits {
                wave_size: args.wave_size.unwrap_or(unit.wave_size),
                workgroup_mode: mode.unwrap_or(unit.workgroup_mode),
                trap_handler: unit.trap_handler && !args.no_trap_handler,
                ..unit
            };
            Ok(Limits::Cu(unit.checked()?))
        }
        (Limits::Sm(_), Some(option)) => bail!("{option} is for AMD GPUs; {name} is none"),
        (limits, None) => Ok(limits),
    }
}

fn resources(args: &Args) -> Result<Resources> {
    let threads_per_block = args.block.unwrap_or(0);
    if threads_per_block == 0 {
        bail!("--block 0: a block has at least 1 thread");
    }
    let size = |option: &str, bytes: Bytes| {
        if bytes.get().fract() != 0.0 || bytes.get() > f64::from(u32::MAX) {
            bail!("{option} {bytes} must be a whole number of bytes below 4 GiB");
        }
        Ok(bytes.get() as u32)
    };
    Ok(Resources {
        threads_per_block,
        registers_per_thread: args.regs,
        static_shared: size("--static-smem", args.static_smem)?,
        dynamic_shared: size("--dynamic-smem", args.dynamic_smem)?,
        carveout: args.carveout.map_or(Carveout::Largest, Carveout::Percent),
        opt_in: !args.no_opt_in,
        barriers: args.barriers,
        cluster_blocks: args.cluster,
        accumulation_registers: args.agprs,
        scalar_registers: args.sgprs,
    })
}

fn table(input: &Path, output: &OutputArgs, catalog: &Catalog) -> Result<u8> {
    let (limits, units) = (catalog.all_limits()?, catalog.all_compute_units());
    if !matches!(output.format, Format::Text | Format::Csv) {
        bail!("--batch writes CSV; --format is for single configurations");
    }
    let open = || -> Result<Box<dyn io::Read>> {
        if input == Path::new("-") {
            return Ok(Box::new(io::stdin().lock()));
        }
        // Read whole, so that a missing input and an output onto the input are both harmless.
        Ok(Box::new(io::Cursor::new(world::read(input)?)))
    };
    let from = open()?;
    let summary = match &output.output {
        Some(path) if path != Path::new("-") => {
            let mut summary = None;
            world::replace(path, |file| {
                summary = Some(batch(from, file, &limits, units)?);
                anyhow::Ok(())
            })?;
            summary.unwrap_or_default()
        }
        _ => batch(from, BufWriter::new(io::stdout().lock()), &limits, units)?,
    };
    world::note(output.quiet, &format!("{} rows, {} not evaluated", summary.rows, summary.errors));
    Ok(if summary.errors > 0 { EXIT_CHECK } else { EXIT_OK })
}
