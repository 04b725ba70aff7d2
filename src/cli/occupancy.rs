//! `occupancy`: one configuration explained, or a table of them.

use std::{
    fmt::Write,
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};
use clap::Args as ClapArgs;
use serde_json::json;

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{Format, GpuArgs, OutputArgs},
    table::{Cell, Table},
    world,
};
use crate::{
    gpu::{ComputeCapability, SmLimits},
    occupancy::{
        BlockLimits, Carveout, Occupancy, Resource, Resources,
        advice::{self, BlockSize},
        batch::batch,
        occupancy,
    },
    report::{Part, page},
    units::{Bytes, decimal},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    gpu: GpuArgs,
    /// Compute capability instead of a GPU, such as 9.0
    #[arg(long, value_name = "CC", conflicts_with_all = ["gpu", "set"])]
    cc: Option<ComputeCapability>,
    /// Threads per block
    #[arg(long, value_name = "THREADS", required_unless_present = "batch")]
    block: Option<u32>,
    /// Registers per thread, as the compiler reports them
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    regs: u32,
    /// Static shared memory per block, such as "16 KiB"
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "0 B")]
    static_smem: Bytes,
    /// Dynamic shared memory per block
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "0 B")]
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
    /// Table of configurations (CSV, `-` for standard input); columns in `docs/cli.md`
    #[arg(long, value_name = "IN.csv", conflicts_with_all = ["block", "cc", "want", "carveout"])]
    batch: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

pub fn run(args: Args) -> Result<u8> {
    let catalog = args.gpu.folder.catalog()?;
    if let Some(input) = &args.batch {
        return table(input, &args.output, &catalog.all_limits()?);
    }
    let (name, limits, notes) = match args.cc {
        Some(capability) => (format!("compute capability {capability}"), catalog.limits(capability)?, Vec::new()),
        None => {
            let (gpu, assumptions) = args.gpu.resolve_one(&catalog)?;
            let changes = gpu.changes.iter().map(|c| format!("what-if: {c}"));
            (gpu.name.clone(), gpu.limits, assumptions.into_iter().chain(changes).collect())
        }
    };
    let resources = resources(&args)?;
    let answer = Answer::new(name, notes, &limits, resources, args.want);
    args.output.emit(&answer.render(args.output.format)?)?;
    Ok(EXIT_OK)
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
    })
}

fn table(input: &Path, output: &OutputArgs, limits: &[SmLimits]) -> Result<u8> {
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
                summary = Some(batch(from, file, limits)?);
                anyhow::Ok(())
            })?;
            summary.unwrap_or_default()
        }
        _ => batch(from, BufWriter::new(io::stdout().lock()), limits)?,
    };
    world::note(output.quiet, &format!("{} rows, {} not evaluated", summary.rows, summary.errors));
    Ok(if summary.errors > 0 { EXIT_CHECK } else { EXIT_OK })
}

/// One configuration with everything that is said about it.
struct Answer {
    name: String,
    notes: Vec<String>,
    resources: Resources,
    found: Occupancy,
    steps: Vec<String>,
    sizes: Vec<BlockSize>,
    bounds: Option<String>,
}

fn percent(fraction: f64) -> String {
    decimal(fraction * 100.0, 1)
}

fn count(blocks: u32) -> String {
    format!("{blocks} block{}", if blocks == 1 { "" } else { "s" })
}

impl Answer {
    fn new(name: String, notes: Vec<String>, limits: &SmLimits, resources: Resources, want: Option<u32>) -> Self {
        let found = occupancy(limits, &resources);
        let joint = advice::joint_step(limits, &resources, &found);
        let mut steps: Vec<String> = joint.iter().map(|s| s.sentence(&found)).collect();
        if found.blocks_per_sm == 0 {
            if let Some(block) = advice::largest_block(limits, &resources) {
                steps.push(format!("the largest legal block is {block} threads"));
            }
        } else if found.limiters().contains(Resource::Blocks) && found.active_warps() < found.max_warps {
            steps.push("all block slots are taken: larger blocks fill more warp slots".into());
        }
        let bounds = want.map(|wanted| {
            let b = advice::launch_bounds(limits, &resources, wanted);
            let budget =
                b.max_registers.map_or("no register count".to_owned(), |r| format!("at most {r} registers per thread"));
            if b.reachable_blocks < wanted {
                format!(
                    "__launch_bounds__({}, {wanted}) cannot be met: at most {} of this size fit, with {budget}",
                    resources.threads_per_block,
                    count(b.reachable_blocks)
                )
            } else {
                format!("__launch_bounds__({}, {wanted}): {budget}", resources.threads_per_block)
            }
        });
        let sizes = advice::best_block_sizes(limits, &resources);
        Self { name, notes, resources, found, steps, sizes, bounds }
    }

    fn limits(&self) -> Table {
        let r = &self.resources;
        let used = |resource| match resource {
            Resource::Warps => format!("{} threads = {} warps", r.threads_per_block, self.found.warps_per_block),
            Resource::Registers => {
                format!("{} per thread = {} per block", r.registers_per_thread, self.found.registers_per_block)
            }
            Resource::Shared => format!("{} B asked = {} B taken", r.shared(), self.found.shared_per_block),
            Resource::Blocks => String::new(),
            Resource::Barriers => r.barriers.to_string(),
        };
        let limiters = self.found.limiters();
        let rows = Resource::ALL.into_iter().map(|resource| {
            let blocks = match self.found.limits.of(resource) {
                BlockLimits::UNLIMITED => Cell::Number(f64::INFINITY),
                blocks => Cell::from(blocks),
            };
            let mark = if limiters.contains(resource) { "limiter" } else { "" };
            vec![resource.label().into(), used(resource).into(), blocks, mark.into()]
        });
        Table {
            columns: vec![
                ("Resource", "resource"),
                ("A block takes", "used"),
                ("Blocks per SM", "blocks_per_sm"),
                ("", "limiter"),
            ],
            rows: rows.collect(),
        }
    }

    /// Residency, and what limits it.
    fn summary(&self) -> [String; 2] {
        let found = &self.found;
        let limiters = found.limiters().sentence();
        [
            format!(
                "{}: {} per SM, {} of {} warps, occupancy {} %",
                self.name,
                count(found.blocks_per_sm),
                found.active_warps(),
                found.max_warps,
                percent(found.fraction())
            ),
            if found.blocks_per_sm == 0 {
                format!("The block cannot run (limit: {limiters}).")
            } else {
                format!("Limited by {limiters}.")
            },
        ]
    }

    /// What follows the table: headings with their lines.
    fn lists(&self) -> Vec<(String, Vec<String>)> {
        let mut lists = vec![("Next step".to_owned(), self.steps.clone())];
        lists.extend(self.bounds.iter().map(|bounds| ("Launch bounds".to_owned(), vec![bounds.clone()])));
        if let Some(best) = self.sizes.first() {
            let sizes: Vec<String> = self.sizes.iter().map(|s| s.threads.to_string()).collect();
            let heading = format!("Block sizes with the most occupancy ({} %)", percent(best.fraction));
            lists.push((heading, vec![sizes.join(", ")]));
        }
        lists.retain(|(_, items)| !items.is_empty());
        lists
    }

    fn render(&self, format: Format) -> Result<String> {
        match format {
            Format::Json => Ok(serde_json::to_string_pretty(&self.json())? + "\n"),
            Format::Csv => self.limits().render(Format::Csv),
            Format::Html => {
                let lists = self.lists().into_iter().map(|(heading, items)| Part::List { heading, items });
                let notes = self.notes.iter().map(|n| Part::Text(format!("Note: {n}")));
                let parts = self.summary().into_iter().map(Part::Text).chain([Part::Table(self.limits().page())]);
                Ok(page(&format!("Occupancy on {}", self.name), &parts.chain(lists).chain(notes).collect::<Vec<_>>()))
            }
            Format::Text | Format::Markdown => {
                let mut text = self.summary().join("\n") + "\n";
                write!(text, "\n{}", self.limits().render(format)?)?;
                let options = textwrap::Options::new(world::width()).initial_indent("- ").subsequent_indent("  ");
                for (heading, items) in self.lists() {
                    write!(text, "\n{heading}\n")?;
                    items.iter().for_each(|item| text += &(textwrap::fill(item, &options) + "\n"));
                }
                self.notes.iter().for_each(|n| text += &format!("\nNote: {n}\n"));
                Ok(text)
            }
        }
    }

    fn json(&self) -> serde_json::Value {
        let limit = |resource| match self.found.limits.of(resource) {
            BlockLimits::UNLIMITED => "inf".into(),
            blocks => serde_json::Value::from(blocks),
        };
        json!({
            "schema": "wavecast.occupancy/1",
            "version": env!("CARGO_PKG_VERSION"),
            "device": self.name,
            "notes": self.notes,
            "threads_per_block": self.resources.threads_per_block,
            "registers_per_thread": self.resources.registers_per_thread,
            "static_smem_bytes": self.resources.static_shared,
            "dynamic_smem_bytes": self.resources.dynamic_shared,
            "blocks_per_sm": self.found.blocks_per_sm,
            "limiters": self.found.limiters().iter().map(Resource::word).collect::<Vec<_>>(),
            "active_warps": self.found.active_warps(),
            "max_warps": self.found.max_warps,
            "theoretical_occupancy_pct": self.found.fraction() * 100.0,
            "limit_warps": limit(Resource::Warps),
            "limit_regs": limit(Resource::Registers),
            "limit_smem": limit(Resource::Shared),
            "limit_blocks": limit(Resource::Blocks),
            "limit_barriers": limit(Resource::Barriers),
            "alloc_regs_per_block": self.found.registers_per_block,
            "alloc_smem_per_block": self.found.shared_per_block,
            "next_steps": self.steps,
            "launch_bounds": self.bounds,
            "best_block_sizes": self.sizes.iter().map(|s| s.threads).collect::<Vec<_>>(),
        })
    }
}
