//! `compare`: one scenario on several GPUs and what-ifs side by side, or two profiles or traces before and after.

mod before_after;
mod columns;
mod devices;
mod file;
mod grid;
mod label;
mod profiles;
mod side;
mod totals;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{Format, GpuArgs, OutputArgs},
    check::{Check, Fields},
    input::{self, Input},
    show::{NamedChart, write_files},
    world,
};
use crate::{
    chart::{Chart, Theme},
    report::{PageTable, Part, page},
    scenario::WhatIf,
};
use devices::Devices;
use file::File;
use profiles::{Profiles, Sort};

#[derive(ClapArgs)]
pub struct Args {
    /// One scenario, or two profiles or two traces: before and after
    #[arg(required = true, num_args = 1..=2, value_name = "FILE")]
    files: Vec<String>,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    devices: DeviceArgs,
    /// Order of the kernels of two profiles or traces [default: change]
    #[arg(long, value_enum)]
    sort: Option<Sort>,
    #[command(flatten)]
    output: OutputArgs,
    /// Folder for report and chart (SVG, PNG, and the data behind it as CSV)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Exit with 1 when this holds for a row, such as 'speedup < 0.95', 'time_us > 100' or, for profiles, 'change_pct > 5'
    #[arg(long, value_name = "EXPR")]
    fail_if: Vec<String>,
}

/// Which devices stand side by side.
#[derive(ClapArgs, Clone, Debug, Default)]
pub struct DeviceArgs {
    /// A further device beside each GPU: the GPU with these changes, such as 'more SMs: sm.count=144, memory.l2.capacity=60 MiB'
    #[arg(long, value_name = "NAME: KEY=VALUE, ...")]
    pub what_if: Vec<WhatIf>,
    /// Device that has speed-up 1: a GPU, a what-if, or both as 'GPU, WHAT-IF'; the first one without it
    #[arg(long, value_name = "DEVICE")]
    pub baseline: Option<String>,
}

/// A finished comparison.
trait Compared {
    /// What checks may name.
    fn fields(&self) -> Fields;
    /// A message for each row that a check fails.
    fn failures(&self, checks: &[Check]) -> Vec<String>;
    /// The report in a format other than HTML.
    fn render(&self, format: Format) -> Result<String>;
    /// Title and tables of the page for a browser.
    fn page(&self) -> (String, Vec<PageTable>);
    /// The chart; absent where there is nothing to draw.
    fn chart(&self, theme: Theme) -> Option<Chart>;
    /// What was assumed and changed; Markdown and HTML have it inside.
    fn notes(&self) -> &[String];
    /// What could not be evaluated.
    fn errors(&self) -> &[String];
}

pub fn run(args: Args) -> Result<u8> {
    let found = compared(&args.files, &args.gpu, &args.devices, args.sort)?;
    let checks = Check::parse_all(&args.fail_if, &found.fields())?;
    let report = |format| if format == Format::Html { Ok(html(&*found)) } else { found.render(format) };
    let rendered = report(args.output.format)?;
    if let Some(folder) = &args.out {
        let reports = [
            ("report.json", report(Format::Json)?),
            ("report.csv", report(Format::Csv)?),
            ("report.md", report(Format::Markdown)?),
            ("report.html", report(Format::Html)?),
        ];
        let named = |chart| NamedChart { name: "compare".into(), label: "Comparison".into(), chart };
        let charts: Vec<_> = found.chart(Theme::Light).map(named).into_iter().collect();
        write_files(folder, &reports, &charts, args.output.quiet)?;
    }
    args.output.emit(&rendered)?;
    found.errors().iter().for_each(|error| world::note(false, error));
    let told = args.output.quiet || matches!(args.output.format, Format::Markdown | Format::Html);
    found.notes().iter().for_each(|note| world::note(told, note));
    let failures = found.failures(&checks);
    failures.iter().for_each(|message| world::note(false, &format!("check failed: {message}")));
    Ok(if failures.is_empty() && found.errors().is_empty() { EXIT_OK } else { EXIT_CHECK })
}

/// The comparison as a page for a browser, with its chart, notes and errors inside.
fn html(found: &dyn Compared) -> String {
    let (title, tables) = found.page();
    let list = |heading: &str, items: &[String]| Part::List { heading: heading.into(), items: items.to_vec() };
    let chart = found.chart(Theme::Light);
    let figure = chart.map(|c| Part::Figure { label: "Comparison".into(), svg: c.svg().to_owned() });
    let tables = tables.into_iter().map(Part::Table);
    let parts = [list("Errors", found.errors())].into_iter().chain(figure).chain(tables);
    page(&title, &parts.chain([list("Notes", found.notes())]).collect::<Vec<_>>())
}

/// The chart of a comparison, for `chart compare`.
pub fn chart(files: &[String], gpu: &GpuArgs, devices: &DeviceArgs, theme: Theme) -> Result<Chart> {
    let found = compared(files, gpu, devices, None)?;
    found.errors().iter().for_each(|error| world::note(false, error));
    found.chart(theme).context("there is nothing to draw: the files hold no durations (`ncu --set basic` records them)")
}

/// Why a profile and a trace are not compared.
const MIXED: &str = "a profile of Nsight Compute and a trace are not compared: under Nsight Compute each launch runs by itself, \
    with clocks fixed and caches flushed by default, so that the durations are of other runs; take two profiles or two traces";

fn compared(files: &[String], gpu: &GpuArgs, devices: &DeviceArgs, sort: Option<Sort>) -> Result<Box<dyn Compared>> {
    let mut inputs =
        files.iter().map(|f| input::read(f, input::Opening::default(), true)).collect::<Result<Vec<_>>>()?.into_iter();
    match (inputs.next(), inputs.next()) {
        (Some(Input::Scenario(scenario)), None) => {
            if sort.is_some() {
                bail!("--sort is for two profiles or traces: a scenario keeps its order");
            }
            let catalog = gpu.folder.catalog()?;
            let title = scenario.title.clone();
            let cases = input::cases_with(*scenario, gpu, &devices.what_if, &catalog)?;
            Ok(Box::new(Devices::new(title, &cases, devices.baseline.as_deref())?))
        }
        (Some(before @ (Input::Profile(_) | Input::Trace(_))), Some(after @ (Input::Profile(_) | Input::Trace(_)))) => {
            let given = [
                ("--gpu", !gpu.gpu.is_empty()),
                ("--set", !gpu.set.is_empty()),
                ("--what-if", !devices.what_if.is_empty()),
                ("--baseline", devices.baseline.is_some()),
            ];
            if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
                bail!("{option} is for a scenario: two profiles are compared as they were measured");
            }
            let catalog = gpu.folder.catalog()?;
            let (old, new): (File, File) = match (&before, &after) {
                (Input::Profile(before), Input::Profile(after)) => (before.into(), after.into()),
                (Input::Trace(before), Input::Trace(after)) => ((&**before).into(), (&**after).into()),
                _ => bail!("{MIXED}"),
            };
            Ok(Box::new(Profiles::new(&old, &new, sort.unwrap_or_default(), &catalog)))
        }
        (Some(Input::Profile(_) | Input::Trace(_)), None) => {
            bail!("one profile was given: `compare` takes two, before and after (`analyze` takes one)")
        }
        _ => bail!("`compare` takes one scenario, or two profiles or traces: not a mixture, and not two scenarios"),
    }
}
