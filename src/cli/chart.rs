//! `chart KIND`: any chart by itself, as SVG, PNG or the data behind it.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args as ClapArgs, ValueEnum};

use super::{
    EXIT_OK,
    args::GpuArgs,
    input::{self, Input},
    show::{Outcome, write_chart},
    world,
};
use crate::{
    analysis::Analysis,
    chart::{
        Chart, Theme,
        figures::{occupancy_figure, profile_roofline, roofline_figure, tail_figure, time_figure},
    },
};

#[derive(ClapArgs)]
pub struct Args {
    /// Which chart
    kind: Kind,
    /// Scenario (file or built-in name); for the roofline also an Nsight Compute CSV
    #[arg(value_name = "FILE")]
    file: String,
    /// Kernel of the file, for charts of one kernel; the first one without it
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    #[command(flatten)]
    gpu: GpuArgs,
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
}

#[derive(Clone, Copy, ValueEnum)]
enum ThemeArg {
    Light,
    Dark,
}

pub fn run(args: Args) -> Result<u8> {
    let theme = match args.theme {
        ThemeArg::Light => Theme::Light,
        ThemeArg::Dark => Theme::Dark,
    };
    let chart = drawn(&args, theme)?;
    match &args.output {
        Some(path) => write_chart(path, &chart)?,
        None if args.data => world::emit(None, chart.csv())?,
        None => world::emit(None, chart.svg())?,
    }
    Ok(EXIT_OK)
}

/// So many kernels are listed where the wanted one is not among them.
const NAMED: usize = 30;

fn drawn(args: &Args, theme: Theme) -> Result<Chart> {
    let catalog = args.gpu.folder.catalog()?;
    let mut outcome = Outcome::default();
    match input::read(&args.file)? {
        Input::Profile(file) => {
            if args.kind != Kind::Roofline {
                bail!("a profile gives a roofline; this chart needs a scenario");
            }
            input::run_profile(file, &args.gpu, &catalog, &mut outcome)?;
            let figure = profile_roofline("Roofline of the profile", &outcome.judged);
            let why = "nothing can be placed: the file needs FLOP counters, DRAM traffic and duration, and its GPU must be in the catalog (--gpu)";
            return Ok(figure.context(why)?.draw(theme));
        }
        Input::Scenario(scenario) => {
            outcome.title = Some(scenario.title.clone());
            let cases = input::cases(*scenario, &args.gpu, &catalog)?;
            input::run_cases(&cases, true, &mut outcome);
        }
    }
    if let (true, Some(error)) = (outcome.analyses.is_empty(), outcome.errors.first()) {
        bail!("{}", error.message);
    }
    let title = outcome.title.unwrap_or_default();
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
    Ok(match args.kind {
        Kind::Roofline => roofline_figure(&title, &one_gpu).context("nothing to draw")?.draw(theme),
        Kind::Time => time_figure(&title, &one_gpu).context("nothing to draw")?.draw(theme),
        Kind::Tail => tail_figure(chosen).draw(theme),
        Kind::Occupancy => occupancy_figure(
            &format!("Occupancy: {}", chosen.launch.kernel.name),
            &chosen.gpu.name,
            &chosen.gpu.changes,
            &chosen.gpu.limits,
            &chosen.launch.kernel.resources,
        )
        .with_context(|| format!("{} is a CPU: its cores have no occupancy", chosen.gpu.name))?
        .draw(theme),
    })
}
