//! `simulate`: kernels block by block, from a file or from options.

mod flags;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{Format, GpuArgs, OutputArgs},
    show::{NamedChart, write_chart, write_files},
    world,
};
use crate::{
    chart::{Theme, figures::timeline_figure},
    gpu::{Catalog, Gpu},
    report::{SimulationReport, simulation_csv, simulation_json, simulation_markdown, simulation_text, trace},
    simulation::{self, BuildError, Built, Simulated, Simulation},
};
use flags::Flags;

/// What is simulated, and on which GPUs.
#[derive(ClapArgs)]
pub struct Selection {
    /// Simulation file (TOML, see scenarios/README.md) or the name of a built-in one; without it the options below
    #[arg(value_name = "FILE")]
    file: Option<String>,
    /// Only this case of the file
    #[arg(long, value_name = "NAME", requires = "file")]
    case: Option<String>,
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    gpu: GpuArgs,
}

/// The forms of a simulation's report; the page for a browser is refused with a word of what there is instead.
const FORMS: [Format; 4] = [Format::Text, Format::Json, Format::Csv, Format::Markdown];

#[derive(ClapArgs)]
#[command(mut_arg("format", |format| format.value_parser(Format::among(&FORMS, &[Format::Html]))))]
pub struct Args {
    #[command(flatten)]
    selection: Selection,
    /// Timeline of one simulation: .svg, .png or .csv (the data)
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// The same as a Chrome trace (JSON), for Perfetto or chrome://tracing
    #[arg(long, value_name = "FILE.json")]
    trace: Option<PathBuf>,
    /// Folder for the report in every form, and the timeline and trace of every simulation
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Simulations that run at a time; as many as there are cores
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
    #[command(flatten)]
    output: OutputArgs,
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

/// Simulations that were run.
struct Ran {
    title: String,
    assumptions: Vec<String>,
    runs: Vec<Simulated>,
    errors: Vec<String>,
}

impl Selection {
    /// Runs every case on every GPU, `jobs` at a time. One that is refused is an error beside the answers of the others.
    fn run(&self, jobs: Option<u32>, recorded: bool, quiet: bool) -> Result<Ran> {
        let catalog = self.gpu.folder.catalog()?;
        let simulation = match &self.file {
            Some(name) => read(name)?,
            None => {
                let (title, launch) = self.flags.launch()?;
                Simulation::of(&title, launch)?
            }
        };
        let (gpus, assumptions) = self.gpus(&simulation, &catalog)?;
        let cases = simulation.cases();
        let cases: Vec<&str> = match &self.case {
            None => cases,
            Some(name) if cases.contains(&name.as_str()) => vec![name],
            Some(name) => bail!("--case `{name}`: the file has no such case; there are {}", cases.join(", ")),
        };
        let pairs: Vec<(&str, &Gpu)> = gpus.iter().flat_map(|gpu| cases.iter().map(move |case| (*case, gpu))).collect();
        let built: Vec<_> = pairs.iter().map(|(case, gpu)| simulation.build(case, gpu)).collect();
        let bar = progress(&built, quiet);
        // More threads than simulations would have nothing to do.
        let threads = jobs.map_or(0, |jobs| pairs.len().min(jobs as usize));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let results: Vec<_> = pool.install(|| {
            let run = |((case, gpu), built): (&(&str, &Gpu), Result<Built, BuildError>)| {
                let run = built?.run(&simulation.title, case, gpu, &|blocks| bar.inc(blocks))?;
                Ok(if recorded { run } else { run.without_record() })
            };
            pairs.par_iter().zip(built).map(run).collect::<Vec<Result<_, BuildError>>>()
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
        Ok(Ran { title: simulation.title, assumptions, runs, errors })
    }

    /// The GPUs of the command line, else those of the file, with the what-ifs of `--set`.
    fn gpus(&self, simulation: &Simulation, catalog: &Catalog) -> Result<(Vec<Gpu>, Vec<String>)> {
        let mut given = self.gpu.clone();
        if given.gpu.is_empty() {
            given.gpu.clone_from(&simulation.gpus);
        }
        given.resolve(catalog)
    }

    /// The one simulation that a figure shows.
    pub fn run_one(&self) -> Result<Simulated> {
        self.run(None, true, true)?.one("a timeline")
    }
}

impl Ran {
    fn one(mut self, what: &str) -> Result<Simulated> {
        let names: Vec<String> = self.runs.iter().map(|run| format!("{} on {}", run.case, run.gpu.id)).collect();
        match self.runs.len() {
            1 => Ok(self.runs.remove(0)),
            _ => bail!(
                "{what} shows one simulation, and there are several ({}): --case and --gpu choose",
                names.join(", ")
            ),
        }
    }
}

pub fn run(args: Args) -> Result<u8> {
    let files: Vec<&PathBuf> = [&args.output.output, &args.chart, &args.trace].into_iter().flatten().collect();
    if let Some(twice) = files.iter().enumerate().find_map(|(i, file)| files[..i].contains(file).then_some(file)) {
        bail!("`{}` is named twice: --output, --chart and --trace are files of their own", twice.display());
    }
    let recorded = args.chart.is_some() || args.trace.is_some() || args.out.is_some();
    let ran = args.selection.run(args.jobs, recorded, args.output.quiet)?;
    let report = SimulationReport::new(&ran.title, ran.assumptions.clone(), &ran.runs, ran.errors.clone());
    let rendered = rendered(&report, args.output.format)?;
    let code = if report.errors.is_empty() { EXIT_OK } else { EXIT_CHECK };
    if let Some(folder) = &args.out {
        write_folder(folder, &ran.runs, &report, args.output.quiet)?;
    }
    if args.chart.is_some() || args.trace.is_some() {
        let run = ran.one(if args.chart.is_some() { "--chart" } else { "--trace" })?;
        if let Some(path) = &args.chart {
            write_chart(path, &timeline_figure(&run).draw(Theme::Light))?;
        }
        if let Some(path) = &args.trace {
            world::write(path, trace(&run).as_bytes())?;
        }
    }
    args.output.emit(&rendered)?;
    Ok(code)
}

/// Report, timelines and traces as files.
fn write_folder(folder: &Path, runs: &[Simulated], report: &SimulationReport, quiet: bool) -> Result<()> {
    let mut charts = Vec::new();
    let mut files = vec![
        ("simulation.json".to_owned(), simulation_json(report)),
        ("simulation.csv".into(), simulation_csv(report)?),
        ("simulation.md".into(), simulation_markdown(report)),
    ];
    for (number, run) in runs.iter().enumerate() {
        let suffix = if number > 0 { format!("-{}", number + 1) } else { String::new() };
        files.push((format!("trace{suffix}.json"), trace(run)));
        let (name, label) = (format!("timeline{suffix}"), format!("Timeline: {} on {}", run.case, run.gpu.name));
        charts.push(NamedChart { name, label, chart: timeline_figure(run).draw(Theme::Light) });
    }
    let reports: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    write_files(folder, &reports, &charts, quiet)
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
