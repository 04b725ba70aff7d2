//! `occupancy`: one configuration explained, or a table of them.

mod answer;

use std::{
    io::{self, BufRead, BufReader, BufWriter},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use clap::{Args as ClapArgs, ValueEnum};

use self::answer::Answer;
use super::{
    EXIT_CHECK, EXIT_OK,
    args::{Format, GpuArgs, OutputArgs},
    world,
};
use crate::{
    gpu::{Accumulation, Catalog, ComputeCapability, CuLimits, Limits, WorkgroupMode},
    occupancy::{
        Carveout, Resources,
        batch::{BatchError, batch, nearly_optional},
        cluster::{clusters, most_active},
        occupancy,
        warpgroups::redistribution,
    },
    profile,
    scenario::Dims,
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
    /// Threads per block: 256 or 16x16
    #[arg(long, value_name = "THREADS", required_unless_present = "batch")]
    block: Option<Dims>,
    /// Registers per thread, as the compiler reports them; VGPRs of an AMD GPU
    #[arg(long, value_name = "COUNT", default_value_t = 0, visible_alias = "vgprs")]
    regs: u32,
    /// Static shared memory per block, such as "16 KiB"
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "0 B", value_parser = whole_bytes)]
    static_smem: u32,
    /// Dynamic shared memory per block; LDS of an AMD GPU
    #[arg(
        long,
        visible_alias = "lds",
        value_name = "SIZE",
        allow_hyphen_values = true,
        default_value = "0 B",
        value_parser = whole_bytes
    )]
    dynamic_smem: u32,
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
    #[arg(long, value_name = "IN.csv", conflicts_with_all = PER_CONFIGURATION)]
    batch: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Options that describe one configuration; a table has columns for them.
const PER_CONFIGURATION: [&str; 19] = [
    "gpu",
    "set",
    "cc",
    "gfx",
    "block",
    "regs",
    "static_smem",
    "dynamic_smem",
    "carveout",
    "no_opt_in",
    "barriers",
    "want",
    "cluster",
    "setmaxnreg",
    "agprs",
    "sgprs",
    "wave_size",
    "workgroup_mode",
    "no_trap_handler",
];

/// Shared memory of a block, checked here so that a message shows the text as it was typed.
fn whole_bytes(text: &str) -> Result<u32, String> {
    let bytes = text.parse::<Bytes>().map_err(|e| e.to_string())?.get();
    if bytes.fract() != 0.0 || bytes > f64::from(u32::MAX) {
        return Err("it must be a whole number of bytes below 4 GiB".into());
    }
    Ok(bytes as u32)
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

/// The limits with the AMD options applied; options of the other vendor are an error, not ignored.
fn in_mode(name: &str, limits: Limits, args: &Args) -> Result<Limits> {
    let amd = [
        ("--agprs", args.agprs > 0),
        ("--sgprs", args.sgprs > 0),
        ("--wave-size", args.wave_size.is_some()),
        ("--workgroup-mode", args.workgroup_mode.is_some()),
        ("--no-trap-handler", args.no_trap_handler),
    ];
    let nvidia =
        [("--carveout", args.carveout.is_some()), ("--barriers", args.barriers != 1), ("--no-opt-in", args.no_opt_in)];
    let other = if limits.cu().is_some() { &nvidia[..] } else { &amd[..] };
    let given = other.iter().find(|(_, given)| *given).map(|(option, _)| *option);
    match (limits, given) {
        (Limits::Core, _) => bail!("{name} is a CPU: a core runs one thread of work at a time, it has no occupancy"),
        (Limits::Cu(_), Some(option)) => bail!("{option} is for NVIDIA GPUs; {name} is none"),
        (Limits::Cu(unit), None) if unit.accumulation == Accumulation::None && args.agprs > 0 => {
            bail!("--agprs {}: {} has no accumulation registers", args.agprs, unit.gfx)
        }
        (Limits::Cu(unit), None) => {
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
    let block = args.block.unwrap_or_default();
    let threads_per_block = match block.total().map(u32::try_from) {
        Some(Ok(0)) => bail!("--block {block}: a block has at least 1 thread"),
        Some(Ok(threads)) => threads,
        _ => bail!("--block {block}: a block has at most {} threads", u32::MAX),
    };
    Ok(Resources {
        threads_per_block,
        registers_per_thread: args.regs,
        static_shared: args.static_smem,
        dynamic_shared: args.dynamic_smem,
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
    let mut from: Box<dyn BufRead> = match input {
        dash if dash == Path::new("-") => Box::new(BufReader::with_capacity(1 << 16, io::stdin().lock())),
        // Read whole, so that a missing input and an output onto the input are both harmless.
        file => Box::new(io::Cursor::new(world::read(file)?)),
    };
    check_start(from.fill_buf()?, output.quiet).with_context(|| format!("`{}`", input.display()))?;
    // What cannot be written is no fault of the table.
    let named = |error| match error {
        BatchError::Write(_) => anyhow::Error::from(error),
        _ => anyhow::Error::from(error).context(format!("`{}`", input.display())),
    };
    let summary = match &output.output {
        Some(path) if path != Path::new("-") => {
            let mut summary = None;
            world::replace(path, |file| {
                summary = Some(batch(from, file, &limits, units).map_err(named)?);
                anyhow::Ok(())
            })?;
            summary.unwrap_or_default()
        }
        _ => batch(from, BufWriter::new(io::stdout().lock()), &limits, units).map_err(named)?,
    };
    world::note(output.quiet, &format!("{}, {} not evaluated", world::counted(summary.rows, "row"), summary.errors));
    Ok(if summary.errors > 0 { EXIT_CHECK } else { EXIT_OK })
}

/// Says what a table is that is no CSV in UTF-8, and which columns are probably misspelt.
fn check_start(start: &[u8], quiet: bool) -> Result<()> {
    if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        bail!("the table is UTF-16 text; save it as UTF-8");
    }
    if let Some(what) = profile::binary(start, &String::from_utf8_lossy(start)) {
        bail!("the table is a binary file ({what}); --batch takes CSV");
    }
    if start.trim_ascii().is_empty() {
        bail!("the table is empty; its header needs compute_capability (NVIDIA) or gfx (AMD)");
    }
    let header = start.split(|b| matches!(b, b'\n' | b'\r')).next().unwrap_or_default();
    let header = String::from_utf8_lossy(header);
    let columns: Vec<&str> = header.split(',').map(|c| c.trim_matches(['\u{feff}', '"', ' '])).collect();
    for (column, meant) in nearly_optional(&columns) {
        world::note(quiet, &format!("warning: nothing reads the column `{column}`; did you mean `{meant}`?"));
    }
    Ok(())
}
