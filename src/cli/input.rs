//! Input files, told apart by content: scenarios, Nsight Compute CSVs, lists of matrix products.

use std::{
    collections::BTreeSet,
    io::{BufRead, Cursor, Read},
    path::Path,
};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

use super::{args::GpuArgs, asked::Asked, filter::Filter, shapes, show::Outcome, unpack};
use crate::{
    ceilings::{self, Ceilings},
    chart::figures::shares_figure,
    gpu::{Catalog, Gpu},
    profile::{self, CompilerReport, Trace, Work, device, judge, likely_bound},
    report::{KernelReport, RowError, TraceReport},
    scenario::{self, Answer, Case, Scenario, WhatIf},
    simulation,
    units::Bytes,
};

/// What a file turned out to be.
pub enum Input {
    /// A scenario.
    Scenario(Box<Scenario>),
    /// A profiler's file.
    Profile(profile::Profile),
    /// A trace of launches.
    Trace(Box<Trace>),
    /// What a compiler says of its kernels.
    Compiled(Box<CompilerReport>),
    /// Matrix products by shape.
    Shapes(Vec<shapes::Row>),
    /// Measured ceilings.
    Ceilings(Box<Ceilings>),
}

/// How files are opened.
#[derive(Args, Clone, Copy, Debug)]
pub struct Opening {
    /// Most that a gzip file may unpack to
    #[arg(long, value_name = "SIZE", default_value = "16 GiB")]
    unpack_limit: Bytes,
}

impl Default for Opening {
    /// As the option without a value.
    fn default() -> Self {
        Self { unpack_limit: Bytes(16.0 * 1024.0 * 1024.0 * 1024.0) }
    }
}

impl Opening {
    /// A file, or standard input for `-`, unpacked.
    pub fn open(self, path: &Path, quiet: bool) -> Result<Box<dyn BufRead>> {
        unpack::open(path, self.unpack_limit, quiet)
    }
}

/// Files that are no traces are read whole, up to so many bytes: profiles of a hundred thousand launches have less.
const WHOLE: u64 = 1 << 29;

fn is_utf16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

/// Reads a file, or a built-in scenario by its name.
pub fn read(name: &str, opening: Opening, quiet: bool) -> Result<Input> {
    let path = Path::new(name);
    if let Some(text) = scenario::embedded_named(name) {
        return Ok(Input::Scenario(Box::new(Scenario::parse(name, text)?)));
    }
    let simulated = || format!("`{name}` is a simulation of several launches: `wavecast simulate {name}`");
    if simulation::embedded().any(|(known, _)| known == name) {
        bail!(simulated());
    }
    if !path.exists() && path.extension().is_none() && name != "-" {
        let known: Vec<&str> = scenario::embedded().map(|(n, _)| n).collect();
        let alike = |known: &&str| strsim::jaro_winkler(known, name);
        let near = known.iter().copied().max_by(|a, b| alike(a).total_cmp(&alike(b))).filter(|n| alike(n) > 0.8);
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        bail!("`{name}` is neither a file nor a built-in scenario ({}){near}", known.join(", "));
    }
    let what = || format!("`{name}`");
    let mut stream = opening.open(path, quiet)?;
    let broken = || format!("`{name}` cannot be read");
    let mut bytes = Vec::new();
    stream.by_ref().take(profile::HEAD as u64).read_to_end(&mut bytes).with_context(broken)?;
    if ceilings::detect(&bytes) {
        stream.read_to_end(&mut bytes).with_context(broken)?;
        return Ok(Input::Ceilings(Box::new(ceilings::read(&bytes).with_context(what)?)));
    }
    if let Some(format) = profile::detect_trace(&bytes) {
        #[cfg(feature = "sqlite")]
        if format == profile::Format::NsysSqlite && path.is_file() && bytes.starts_with(b"SQLite") {
            // A database is read in place: it may be larger than memory.
            let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY | rusqlite::OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = rusqlite::Connection::open_with_flags(path, flags).with_context(broken)?;
            return Ok(Input::Trace(Box::new(profile::read_sqlite(&connection).with_context(what)?)));
        }
        let mut whole = Cursor::new(bytes).chain(stream);
        return Ok(Input::Trace(Box::new(profile::read_trace(format, &mut whole).with_context(what)?)));
    }
    let head = String::from_utf8_lossy(&bytes);
    if !is_utf16(&bytes)
        && let Some(what_it_is) = profile::binary(&bytes, &head)
    {
        // As the reader says it, but without reading on.
        return Err(profile::read(&bytes).err().map_or_else(|| anyhow!("a binary file: {what_it_is}"), Into::into))
            .with_context(what);
    }
    stream.by_ref().take(WHOLE).read_to_end(&mut bytes).with_context(broken)?;
    if !stream.fill_buf().with_context(broken)?.is_empty() {
        bail!(
            "`{name}` is longer than {} and no trace, which alone are read piece by piece; is it what it should be?",
            Bytes(WHOLE as f64)
        );
    }
    if shapes::detect(&bytes) {
        return Ok(Input::Shapes(shapes::read(&bytes).with_context(what)?));
    }
    if profile::detect(&bytes).is_none() && looks_like_scenario(path, &bytes) {
        let text = std::str::from_utf8(&bytes).map_err(|_| anyhow!("`{name}` is not UTF-8 text"))?;
        if text.lines().any(|line| line.trim_start().starts_with("[[launch]]")) {
            bail!(simulated());
        }
        return Ok(Input::Scenario(Box::new(Scenario::parse(name, text)?)));
    }
    if profile::detect(&bytes).is_none() && profile::detect_compiler(&bytes[..bytes.len().min(profile::HEAD)]) {
        return Ok(Input::Compiled(Box::new(profile::read_compiler(&bytes).with_context(what)?)));
    }
    Ok(Input::Profile(profile::read(&bytes).with_context(what)?))
}

/// A TOML ending, or one of the tables that every scenario has at the start of a line.
fn looks_like_scenario(path: &Path, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 16)]);
    path.extension().is_some_and(|e| e == "toml") || text.lines().any(|l| l.trim_start().starts_with("[[kernel]]"))
}

/// Above this many cases a bar is shown on a terminal.
const MANY: usize = 500;

/// Runs every case of a scenario; one that cannot run becomes an error of the report and the rest goes on.
pub fn run_cases(cases: &[Case], quiet: bool, outcome: &mut Outcome) {
    let bar = if cases.len() > MANY && !quiet { ProgressBar::new(cases.len() as u64) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} launches, {eta} left") {
        bar.set_style(style);
    }
    let known = outcome.assumptions.clone();
    let mut assumed = BTreeSet::new();
    // In portions, so that of very many cases only those kept by the outcome stay in memory.
    let analysed = cases.chunks(MANY).flat_map(|portion| {
        let results: Vec<_> = portion.par_iter().map(Case::answer).inspect(|_| bar.inc(1)).collect();
        results
    });
    for (index, (case, result)) in cases.iter().zip(analysed).enumerate() {
        match result {
            Ok(mut answer) => {
                let analysis = answer.analysis_mut();
                analysis.launch.kernel.name.clone_from(&case.label);
                if case.meets(analysis) == Some(false) {
                    let expected = case.expect.map_or("", |b| b.word());
                    outcome
                        .warnings
                        .push(format!("{} on {}: the file expects {expected}-bound", case.label, case.gpu.id));
                }
                match answer {
                    Answer::Kernel(analysis) => outcome.add(*analysis),
                    Answer::Product(product) => outcome.add_product(*product),
                }
            }
            Err(error) => outcome.errors.push(RowError {
                row: Some(index as u64 + 1),
                kernel: case.label.clone(),
                gpu: Some(case.gpu.id.clone()),
                message: error.to_string(),
            }),
        }
        for assumption in &case.assumptions {
            if assumed.insert(assumption.as_str()) && !known.contains(assumption) {
                outcome.assumptions.push(assumption.clone());
            }
        }
    }
    bar.finish_and_clear();
}

/// The cases of a scenario on its own GPUs, or on those named on the command line, with its what-ifs.
pub fn cases(scenario: Scenario, gpus: &GpuArgs, catalog: &Catalog) -> Result<Vec<Case>> {
    cases_with(scenario, gpus, &[], catalog)
}

/// The same, with what-ifs of the command line behind each GPU.
pub fn cases_with(mut scenario: Scenario, gpus: &GpuArgs, what_ifs: &[WhatIf], catalog: &Catalog) -> Result<Vec<Case>> {
    let wrong = |what_if: &WhatIf| format!("--what-if `{}`", what_if.name);
    if gpus.gpu.is_empty() && gpus.set.is_empty() {
        for what_if in what_ifs {
            // Tried here, so that a message names the option and not a line of the file.
            for gpu in &scenario.gpus {
                catalog.find_with(gpu, &what_if.set).with_context(|| wrong(what_if))?;
            }
            scenario.what_ifs.push(what_if.clone());
        }
        return Ok(scenario.cases(catalog)?);
    }
    let named = if gpus.gpu.is_empty() { scenario.gpus.clone() } else { gpus.gpu.clone() };
    // Named GPUs replace those of the file, and with them its what-ifs: these were written for the file's GPUs.
    scenario.what_ifs.clear();
    scenario.gpus = vec![super::args::DEFAULT_GPU.into()];
    let template = scenario.cases(catalog)?;
    let mut cases = Vec::new();
    for name in named {
        for what_if in std::iter::once(None).chain(what_ifs.iter().map(Some)) {
            let mut wanted = GpuArgs { gpu: vec![name.clone()], ..gpus.clone() };
            wanted.set.extend(what_if.iter().flat_map(|w| w.set.clone()));
            let (gpu, assumptions) = match what_if {
                Some(what_if) => wanted.resolve_one(catalog).with_context(|| wrong(what_if))?,
                None => wanted.resolve_one(catalog)?,
            };
            let gpu = std::sync::Arc::new(gpu);
            cases.extend(template.iter().map(|case| {
                let mut case = Case { gpu: gpu.clone(), expect: None, ..case.clone() };
                if let Some(what_if) = what_if {
                    case.label += &format!(" ({})", what_if.name);
                    case.what_if = Some(what_if.name.clone());
                }
                case.assumptions.extend(assumptions.clone());
                case
            }));
        }
    }
    Ok(cases)
}

/// Judges every group of a trace.
pub fn run_trace(
    file: &str,
    mut trace: Trace,
    gpus: &GpuArgs,
    (filter, asked): (&Filter, &Asked),
    catalog: &Catalog,
    outcome: &mut Outcome,
) -> Result<()> {
    let chosen = chosen(gpus, catalog)?;
    outcome.warnings.append(&mut trace.warnings);
    let all = trace.kernel_time();
    let mut answers = asked.answers(catalog)?;
    let mut rows = Vec::new();
    for group in &trace.groups {
        let judged = judge(group.kernel.clone(), device(catalog, &group.kernel.device, chosen.as_ref()));
        outcome.note_device(&judged.device);
        outcome.note_excess(&judged);
        let bound = likely_bound(group, &judged).map(|(bound, _)| bound);
        let mut row = KernelReport::from_group(group, &judged, &trace, all);
        answers.add(&mut row, &judged, bound, Some(Work::of_group(group, bound)))?;
        rows.push(row);
    }
    let mut report = TraceReport::new(file, &trace, &rows);
    outcome.shares.extend(shares_figure(&report, &rows));
    let shown = filter.of(rows, |row| &row.kernel)?;
    answers.finish(&mut report, &shown, "its likely bound");
    outcome.assume(answers.assumptions());
    outcome.traces.push(report);
    outcome.kernels.extend(shown);
    Ok(())
}

/// The GPU that stands for the one of a profile.
fn chosen(gpus: &GpuArgs, catalog: &Catalog) -> Result<Option<Gpu>> {
    match gpus.gpu.len() {
        0 if !gpus.set.is_empty() => bail!("--set needs --gpu: a profile names its own GPU"),
        0 => Ok(None),
        _ => Ok(Some(gpus.resolve_one(catalog)?.0)),
    }
}

/// Judges every launch of a profile.
pub fn run_profile(
    name: &str,
    file: profile::Profile,
    gpus: &GpuArgs,
    (filter, asked): (&Filter, &Asked),
    catalog: &Catalog,
    outcome: &mut Outcome,
) -> Result<()> {
    let chosen = chosen(gpus, catalog)?;
    outcome.warnings.extend(file.warnings);
    let mut answers = asked.answers(catalog)?;
    let before = outcome.kernels.len();
    // In portions, so that of very many launches only those kept by the outcome stay in memory.
    let mut kernels = filter.of(file.kernels, |kernel| &kernel.name)?.into_iter().peekable();
    while kernels.peek().is_some() {
        let portion: Vec<_> = kernels.by_ref().take(MANY).collect();
        let judged: Vec<_> = portion
            .into_par_iter()
            .map(|kernel| {
                let device = device(catalog, &kernel.device, chosen.as_ref());
                judge(kernel, device)
            })
            .collect();
        for judged in judged {
            let bound = judged.bound.as_ref().map(|(bound, _)| *bound);
            let mut row = KernelReport::from_judged(&judged);
            answers.add(&mut row, &judged, bound, Work::of_launch(&judged))?;
            outcome.add_judged(judged, row);
        }
    }
    let rows = &outcome.kernels[before..];
    if let Some(mut report) = TraceReport::of_profile(name, file.format, rows, answers.wanted()) {
        answers.finish(&mut report, rows, "what its counters say of its bound, at the clocks of the profile");
        outcome.shares.extend(shares_figure(&report, rows));
        outcome.traces.push(report);
    }
    outcome.assume(answers.assumptions());
    Ok(())
}
