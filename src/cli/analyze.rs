//! `analyze FILE...` and `demo`: scenarios and profiles, answered launch by launch.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args as ClapArgs;

use super::{
    args::{Format, GpuArgs, GpuFolder, OutputArgs, ReportArgs},
    asked::Asked,
    ceilings, compiled,
    filter::Filter,
    input::{self, Input, Opening},
    show::{self, Outcome},
};
use crate::report::RowError;

#[derive(ClapArgs)]
pub struct Args {
    /// Scenario files (TOML), names of built-in scenarios, profiles, traces, or one compiler report or file of measured
    /// ceilings; gzip too
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    #[command(flatten)]
    filter: Filter,
    /// Measured ceilings (of ERT, rocprofiler-compute, or a CSV with name and rate) to draw over the rooflines of --out and
    /// of --format html
    #[arg(long, value_name = "FILE")]
    ceilings: Option<PathBuf>,
    #[command(flatten)]
    asked: Asked,
    #[command(flatten)]
    opening: Opening,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    report: ReportArgs,
}

pub fn run(args: Args) -> Result<u8> {
    let catalog = args.gpu.folder.catalog()?;
    let mut outcome = Outcome::default();
    let drawn = args.report.out.is_some() || args.report.output.format == Format::Html;
    if args.ceilings.is_some() && !drawn {
        bail!("--ceilings draws on rooflines: add --out DIR or --format html, or see `chart roofline`");
    }
    let quiet = args.report.output.quiet;
    outcome.ceilings = args.ceilings.as_deref().map(|path| ceilings::to_draw(path, quiet)).transpose()?;
    let mut unusable = 0;
    let read = |name: &str| input::read(name, args.opening, quiet);
    let wanted = (&args.filter, &args.asked);
    let mut first = None;
    if let [only] = args.files.as_slice() {
        match read(only)? {
            Input::Compiled(report) => {
                args.asked.refuse("a compiler's report has none", "it is answered for every block size already")?;
                return compiled::run(*report, &args.gpu, &args.filter, &catalog, &args.report.output);
            }
            Input::Ceilings(file) => {
                args.asked.refuse("a file of measured ceilings has none", "give a profile or a trace")?;
                args.filter.refuse("a file of measured ceilings has none")?;
                if args.ceilings.is_some() || args.report.out.is_some() || !args.report.fail_if.is_empty() {
                    bail!("`{only}` holds measured ceilings: --ceilings, --out and --fail-if are for launches");
                }
                return ceilings::run(&file, &args.gpu, &catalog, &args.report.output);
            }
            found => first = Some(found),
        }
    }
    for name in &args.files {
        let done = first.take().map_or_else(|| read(name), Ok).and_then(|found| match found {
            Input::Scenario(scenario) => {
                args.asked.refuse(
                    "a scenario describes its own",
                    "change the kernel in the file, or the GPU with `--gpu`, `--set` or `compare --what-if`",
                )?;
                args.filter.refuse("a scenario describes its own; take the others out of the file")?;
                if args.files.len() == 1 {
                    outcome.title = Some(scenario.title.clone());
                }
                let cases = input::cases(*scenario, &args.gpu, &catalog)?;
                input::run_cases(&cases, args.report.output.quiet, &mut outcome);
                Ok(())
            }
            Input::Profile(file) => input::run_profile(name, file, &args.gpu, wanted, &catalog, &mut outcome),
            Input::Trace(trace) => input::run_trace(name, *trace, &args.gpu, wanted, &catalog, &mut outcome),
            Input::Compiled(_) => bail!("`{name}` is a compiler's report, which is analysed by itself"),
            Input::Ceilings(_) => {
                bail!("`{name}` holds measured ceilings, which are analysed by themselves; --ceilings draws them")
            }
            Input::Shapes(_) => bail!("`{name}` is a list of matrix products, which `chart roofline` takes"),
        });
        match done {
            Ok(()) => {}
            Err(error) if args.files.len() == 1 => return Err(error),
            Err(error) => {
                unusable += 1;
                outcome.errors.push(RowError {
                    row: None,
                    kernel: name.clone(),
                    gpu: None,
                    message: format!("{error:#}"),
                });
            }
        }
    }
    if unusable == args.files.len() {
        let messages: Vec<String> = outcome.errors.iter().map(|e| e.message.clone()).collect();
        bail!("no file could be used:\n{}", messages.join("\n"));
    }
    show::finish(outcome, &args.report)
}

#[derive(ClapArgs)]
pub struct DemoArgs {
    /// Folder for report and charts
    #[arg(long, value_name = "DIR", default_value = "wavecast-out")]
    out: PathBuf,
    /// No notes on standard error
    #[arg(long)]
    quiet: bool,
}

/// The embedded scenario of the demo.
const DEMO: &str = "demo";

pub fn demo(args: DemoArgs) -> Result<u8> {
    run(Args {
        files: vec![DEMO.into()],
        filter: Filter::default(),
        asked: Asked::default(),
        ceilings: None,
        opening: Opening::default(),
        gpu: GpuArgs { gpu: Vec::new(), folder: GpuFolder { gpu_dir: None }, set: Vec::new() },
        report: ReportArgs {
            output: OutputArgs { format: Format::Text, output: None, quiet: args.quiet },
            out: Some(args.out),
            full: false,
            fail_if: Vec::new(),
        },
    })
}
