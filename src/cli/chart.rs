//! `chart KIND`: any chart by itself, as SVG, PNG or the data behind it.

mod attention;
mod crossover;
mod gemm;
mod memory;
mod model;
mod points;
mod rowwise;
mod validation;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::{
    EXIT_OK,
    args::GpuArgs,
    asked::Asked,
    ceilings,
    compare::{self, DeviceArgs},
    filter::Filter,
    input::{self, Input},
    show::{Outcome, write_chart},
    simulate, world,
};
use crate::{
    analysis::Analysis,
    chart::{
        Chart, Roofline, Theme,
        figures::{
            occupancy_figure, profile_roofline, roofline_figure, tail_figure, time_figure, timeline_figure,
            with_ceilings,
        },
    },
    profile::Judged,
    scenario::Scenario,
};

// A kind that reads no scenario is a command of its own, with its own options.
#[derive(ClapArgs)]
#[command(subcommand_negates_reqs = true, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    shaped: Option<Shaped>,
    /// Which chart
    #[arg(required = true)]
    kind: Option<Kind>,
    /// Scenario (file or built-in name); for the roofline also an Nsight Compute CSV or a CSV of matrix products (m, n,
    /// k), for `compare` also two profiles or two traces
    #[arg(required = true, num_args = 1..=2, value_name = "FILE")]
    files: Vec<String>,
    /// Kernel of the file, for charts of one kernel; the first one without it
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Measured ceilings to draw over a roofline: roofline.json of ERT, roofline.csv of rocprofiler-compute, or a CSV with
    /// name and rate
    #[arg(long, value_name = "FILE")]
    ceilings: Option<PathBuf>,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    devices: DeviceArgs,
    #[command(flatten)]
    drawing: Drawing,
}

/// Charts of shapes and tables.
#[derive(Subcommand)]
enum Shaped {
    /// Matrix products along one dimension: time, throughput and utilization, with the edges of tiles and waves
    Gemm(Box<gemm::Args>),
    /// Tables of measured times: predicted against measured, or the error by size
    Validation(Box<validation::Args>),
    /// An attention call against the length of the sequence, with the terms of its time
    Attention(Box<attention::Args>),
    /// An element-wise kernel by its size: bandwidth and time, launch, cache and DRAM
    Elementwise(Box<rowwise::ElementwiseArgs>),
    /// Softmax, layer norm, RMS norm or row sums by the length of the rows: bandwidth and time
    Rowwise(Box<rowwise::RowArgs>),
    /// A step of a whole network: its operations under the roofs, or where the time goes
    Model(Box<model::Args>),
    /// What a GPU holds to train or serve a network, part by part; with --step over one step of training
    Memory(Box<memory::Args>),
    /// An operation on a CPU and on a GPU over its size: both times, the copies, the size from which the GPU wins
    Crossover(Box<crossover::Args>),
    /// A simulation block by block: SMs over time, the tail, the critical block, what is used
    Timeline(Box<TimelineArgs>),
    /// A table of points: curves over one column
    Lines(Box<points::LinesArgs>),
    /// A table of points: colours over two columns, and where the bound changes
    Heatmap(Box<points::HeatArgs>),
    /// A table of points: the best trades between two columns
    Pareto(Box<points::ParetoArgs>),
    /// A table with parameter, low_value, high_value, low_us, base_us, high_us, elasticity: what moves the time
    Tornado(Box<points::TornadoArgs>),
    /// A table of points: curves over one column, a panel for each value of another
    Multiples(Box<points::MultiplesArgs>),
}

#[derive(ClapArgs)]
struct TimelineArgs {
    #[command(flatten)]
    selection: simulate::Selection,
    #[command(flatten)]
    drawing: Drawing,
}

/// Where a chart goes, and its colours.
#[derive(ClapArgs)]
pub struct Drawing {
    /// File for the chart: .svg, .png or .csv (the data); SVG on standard output without it
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The data behind the chart as CSV on standard output, instead of the drawing
    #[arg(long, conflicts_with = "output")]
    data: bool,
    /// Colours
    #[arg(long, value_enum, default_value = "light")]
    theme: ThemeArg,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Where the kernels lie below the roofs of every memory level and precision
    Roofline,
    /// Time and utilization against the number of blocks: the sawtooth
    Tail,
    /// Occupancy against threads, registers and shared memory
    Occupancy,
    /// The time that each resource alone would take
    Time,
    /// Where the time of a trace or profile goes: gaps, bounds, operations, the longest kernels
    Shares,
    /// Kernels on several GPUs and what-ifs; two profiles before and after
    Compare,
}

#[derive(Clone, Copy, ValueEnum)]
enum ThemeArg {
    Light,
    Dark,
}

pub fn run(args: Args) -> Result<u8> {
    let drawing = match &args.shaped {
        Some(Shaped::Gemm(own)) => &own.drawing,
        Some(Shaped::Validation(own)) => &own.drawing,
        Some(Shaped::Attention(own)) => &own.drawing,
        Some(Shaped::Elementwise(own)) => &own.drawing,
        Some(Shaped::Rowwise(own)) => &own.drawing,
        Some(Shaped::Model(own)) => &own.drawing,
        Some(Shaped::Memory(own)) => &own.drawing,
        Some(Shaped::Crossover(own)) => &own.drawing,
        Some(Shaped::Timeline(own)) => &own.drawing,
        Some(Shaped::Lines(own)) => &own.drawing,
        Some(Shaped::Heatmap(own)) => &own.drawing,
        Some(Shaped::Pareto(own)) => &own.drawing,
        Some(Shaped::Tornado(own)) => &own.drawing,
        Some(Shaped::Multiples(own)) => &own.drawing,
        None => &args.drawing,
    };
    let theme = match drawing.theme {
        ThemeArg::Light => Theme::Light,
        ThemeArg::Dark => Theme::Dark,
    };
    let chart = match (&args.shaped, args.kind) {
        (Some(Shaped::Gemm(own)), _) => gemm::drawn(own, theme)?,
        (Some(Shaped::Validation(own)), _) => validation::drawn(own, theme)?,
        (Some(Shaped::Attention(own)), _) => attention::drawn(own, theme)?,
        (Some(Shaped::Elementwise(own)), _) => rowwise::elementwise(own, theme)?,
        (Some(Shaped::Rowwise(own)), _) => rowwise::rows(own, theme)?,
        (Some(Shaped::Model(own)), _) => model::drawn(own, theme)?,
        (Some(Shaped::Memory(own)), _) => memory::drawn(own, theme)?,
        (Some(Shaped::Crossover(own)), _) => crossover::drawn(own, theme)?,
        (Some(Shaped::Timeline(own)), _) => timeline_figure(&own.selection.run_one()?).draw(theme),
        (Some(Shaped::Lines(own)), _) => points::lines(own, theme)?,
        (Some(Shaped::Heatmap(own)), _) => points::heat(own, theme)?,
        (Some(Shaped::Pareto(own)), _) => points::pareto(own, theme)?,
        (Some(Shaped::Tornado(own)), _) => points::tornado(own, theme)?,
        (Some(Shaped::Multiples(own)), _) => points::multiples(own, theme)?,
        (None, Some(kind)) => drawn(&args, kind, theme)?,
        (None, None) => bail!("which chart? See `wavecast chart --help`"),
    };
    match &drawing.output {
        Some(path) => write_chart(path, &chart)?,
        None if drawing.data => world::emit(None, chart.csv())?,
        None => world::emit(None, chart.svg())?,
    }
    Ok(EXIT_OK)
}

/// So many kernels are listed where the wanted one is not among them.
const NAMED: usize = 30;

fn drawn(args: &Args, kind: Kind, theme: Theme) -> Result<Chart> {
    if kind != Kind::Compare && (!args.devices.what_if.is_empty() || args.devices.baseline.is_some()) {
        bail!("--what-if and --baseline are for the chart `compare`; --set changes the GPU of this one");
    }
    if kind != Kind::Roofline && args.ceilings.is_some() {
        bail!("--ceilings draws measured ceilings over a roofline; this chart is none");
    }
    match kind {
        Kind::Compare if args.kernel.is_some() => bail!("--kernel is for charts of one kernel: `compare` shows all"),
        Kind::Compare => compare::chart(&args.files, &args.gpu, &args.devices, theme),
        Kind::Roofline => Ok(roofline(args)?.draw(theme)),
        Kind::Shares => {
            let outcome = observed(args, read(args)?)?;
            let figure = outcome.shares.first();
            Ok(figure.context("nothing to draw: the file has no two launches with a time")?.draw(theme))
        }
        Kind::Time => {
            let found = Found::read(args)?;
            Ok(time_figure(&found.title, &found.one_gpu).context("nothing to draw")?.draw(theme))
        }
        Kind::Tail => {
            let chosen = Found::read(args)?.chosen;
            if chosen.time.range != crate::time::Range::Overlap {
                bail!(
                    "{}: its kernel has another grid for every other shape; see `chart gemm`",
                    chosen.launch.kernel.name
                );
            }
            Ok(tail_figure(&chosen).draw(theme))
        }
        Kind::Occupancy => {
            let chosen = Found::read(args)?.chosen;
            let title = format!("Occupancy: {}", chosen.launch.kernel.name);
            let (gpu, resources) = (&chosen.gpu, &chosen.launch.kernel.resources);
            let figure = occupancy_figure(&title, &gpu.name, &gpu.changes, &gpu.limits, resources);
            let figure = figure.with_context(|| format!("{} is a CPU: its cores have no occupancy", gpu.name))?;
            Ok(figure.draw(theme))
        }
    }
}

/// The launches of a profile or trace, judged.
fn observed(args: &Args, found: Input) -> Result<Outcome> {
    let (mut outcome, catalog) = (Outcome::default(), args.gpu.folder.catalog()?);
    let name = args.files.first().map_or("", String::as_str);
    let (filter, asked) = (Filter::default(), Asked::default());
    let wanted = (&filter, &asked);
    match found {
        Input::Profile(file) => input::run_profile(name, file, &args.gpu, wanted, &catalog, &mut outcome)?,
        Input::Trace(trace) => input::run_trace(name, *trace, &args.gpu, wanted, &catalog, &mut outcome)?,
        _ => bail!("this chart needs a trace or a profile"),
    }
    Ok(outcome)
}

/// Why no launch of a file has a place on a roofline: what all of them lack.
fn unplaced(file: &str, judged: &[Judged]) -> String {
    let lacks = |has: fn(&Judged) -> bool, what| (!judged.iter().any(has)).then_some(what);
    let lacking: Vec<&str> = [
        lacks(|j| !j.observed.operations.is_empty(), "FLOP counters"),
        lacks(|j| j.observed.dram_bytes.or(j.observed.dram_read).is_some(), "DRAM traffic"),
        lacks(|j| j.observed.duration.is_some(), "a duration"),
        lacks(|j| j.observed.grid_blocks.is_some(), "a grid"),
        lacks(|j| j.resources.is_some(), "threads and registers"),
        lacks(|j| j.device.gpu.is_some(), "a GPU that is in the catalog (--gpu NAME)"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let what = match lacking.is_empty() {
        true => "no launch has all of FLOP counters, DRAM traffic, duration, grid, threads and registers".into(),
        false => format!("no launch has {}", lacking.join(" or ")),
    };
    format!("`{file}`: nothing can be placed on the roofline: {what}")
}

/// The roofline of a file, with the measured ceilings of another.
fn roofline(args: &Args) -> Result<Roofline> {
    let measured = args.ceilings.as_deref().map(|path| ceilings::to_draw(path, false)).transpose()?;
    let mut figure = match read(args)? {
        found @ Input::Profile(_) => {
            let outcome = observed(args, found)?;
            let figure = profile_roofline("Roofline of the profile", &outcome.judged);
            figure.with_context(|| unplaced(args.files.first().map_or("", String::as_str), &outcome.judged))?
        }
        Input::Compiled(_) => bail!("a compiler's report has no launches to place on a roofline"),
        Input::Trace(_) => bail!("a trace has no counters, so nothing can be placed on a roofline"),
        Input::Ceilings(_) => bail!("measured ceilings are drawn over the roofline of a file: --ceilings FILE"),
        Input::Shapes(rows) => gemm::roofline(&rows, &args.gpu)?,
        Input::Scenario(scenario) => {
            let found = Found::new(args, *scenario)?;
            roofline_figure(&found.title, &found.one_gpu).context("nothing to draw")?
        }
    };
    if let Some(measured) = &measured {
        with_ceilings(&mut figure, &measured.file, &measured.name);
    }
    Ok(figure)
}

/// The one file of a chart.
fn read(args: &Args) -> Result<Input> {
    match args.files.as_slice() {
        [file] => input::read(file, input::Opening::default(), true),
        _ => bail!("this chart takes one file; two profiles are for `compare`"),
    }
}

/// Launches of a scenario that a chart shows.
struct Found {
    title: String,
    /// All on the first GPU.
    one_gpu: Vec<Analysis>,
    /// The first one, or that of `--kernel`.
    chosen: Analysis,
}

impl Found {
    fn read(args: &Args) -> Result<Self> {
        match read(args)? {
            Input::Trace(_) | Input::Compiled(_) | Input::Ceilings(_) => bail!("this chart needs a scenario"),
            Input::Profile(_) => bail!("a profile gives a roofline; this chart needs a scenario"),
            Input::Shapes(_) => bail!("a list of matrix products gives a roofline; this chart needs a scenario"),
            Input::Scenario(scenario) => Self::new(args, *scenario),
        }
    }

    fn new(args: &Args, scenario: Scenario) -> Result<Self> {
        let mut outcome = Outcome::default();
        let title = scenario.title.clone();
        let cases = input::cases(scenario, &args.gpu, &args.gpu.folder.catalog()?)?;
        input::run_cases(&cases, true, &mut outcome);
        if let (true, Some(error)) = (outcome.analyses.is_empty(), outcome.errors.first()) {
            bail!("{}", error.message);
        }
        let first = outcome.analyses.first().context("the scenario has no kernel")?;
        let one_gpu: Vec<Analysis> = outcome
            .analyses
            .iter()
            .filter(|a| a.gpu.id == first.gpu.id && a.gpu.changes == first.gpu.changes)
            .cloned()
            .collect();
        let chosen = match &args.kernel {
            None => first,
            Some(name) => outcome.analyses.iter().find(|a| a.launch.kernel.name == *name).with_context(|| {
                let names = outcome.analyses.iter().map(|a| a.launch.kernel.name.as_str());
                let names: Vec<&str> = names.take(NAMED).collect();
                format!("the scenario has no kernel `{name}`; it has {}", names.join(", "))
            })?,
        };
        Ok(Self { title, one_gpu, chosen: chosen.clone() })
    }
}
