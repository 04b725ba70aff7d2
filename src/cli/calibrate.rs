//! `calibrate`: the constants of a GPU from measured products and rates.

use std::{
    io::Cursor,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use serde_json::{Value, json};

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{Format, GpuArgs, OutputArgs, file_of},
    ceilings,
    predict::near_columns,
    world,
};
use crate::{
    calibrate::{Calibrated, Ceiling, Constant, Found, Origin, Request, Table, benchmark, calibrate, whole},
    gpu::{Band, DataKind, DataType},
    units::{BytesPerSecond, FlopsPerSecond, significant},
    validate::Score,
};

#[derive(ClapArgs)]
#[command(mut_arg("format", |format| format.value_parser(Format::among(&[Format::Text, Format::Json], &[]))))]
pub struct Args {
    /// Tables with measured_us (CSV, `-` for standard input); columns in `docs/cli.md`
    #[arg(value_name = "MEASURED.csv")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    gpu: GpuArgs,
    /// DRAM bandwidth that a copy or STREAM reached, such as "3.0 TB/s"; sets dram_efficiency
    #[arg(long, value_name = "RATE")]
    bandwidth: Option<BytesPerSecond>,
    /// Rate that large matrix products reached, such as "bf16=800 TFLOP/s": bf16 or fp16 set sustained_tensor, types of the
    /// vector units (fp32) sustained_sgemm
    #[arg(long, value_name = "TYPE=RATE", value_parser = rate)]
    math: Vec<(DataType, FlopsPerSecond)>,
    /// Measured ceilings: roofline.json of ERT, roofline.csv of rocprofiler-compute, or a CSV with name and rate
    #[arg(long, value_name = "FILE")]
    roofline: Option<PathBuf>,
    /// What the operands of the benchmark held: random numbers, or zeros and memory that was never written
    #[arg(long, value_name = "random|uninitialised", default_value = "random")]
    operands: DataKind,
    /// Take rows that name another GPU, too
    #[arg(long)]
    any_gpu: bool,
    /// The whole GPU file with the new table in it, for --gpu of other commands
    #[arg(long)]
    whole: bool,
    #[command(flatten)]
    output: OutputArgs,
}

fn rate(text: &str) -> Result<(DataType, FlopsPerSecond), String> {
    let (data, rate) =
        text.split_once('=').ok_or("write TYPE=RATE, such as \"bf16=800 TFLOP/s\" or \"fp32=60 TFLOP/s\"")?;
    let types = || DataType::ALL.map(DataType::name).join(", ");
    let data = data.trim().parse().map_err(|_| format!("`{}` is no type: {}", data.trim(), types()))?;
    Ok((data, rate.parse().map_err(|e| format!("{e}"))?))
}

pub fn run(args: Args) -> Result<u8> {
    let Args { files, gpu: named, output, .. } = &args;
    if named.gpu.is_empty() {
        bail!("name the GPU that was measured: --gpu NAME or --gpu FILE.toml");
    }
    if files.is_empty() && args.bandwidth.is_none() && args.math.is_empty() && args.roofline.is_none() {
        bail!("nothing to calibrate from: give a table of measured times, --bandwidth, --math or --roofline");
    }
    if args.whole && matches!(output.format, Format::Json) {
        bail!("--whole writes a GPU file; leave --format out");
    }
    if args.whole && !named.set.is_empty() {
        bail!("--whole writes the GPU's file, which lacks the changes of --set; change a copy of the file instead");
    }
    let catalog = named.folder.catalog()?;
    let (gpu, mut notes) = named.resolve_one(&catalog)?;
    let file = file_of(&catalog, &named.gpu[0], &gpu)?;

    let mut tables = Vec::new();
    for path in files {
        let name = path.display().to_string();
        let bytes = world::read(path)?;
        // At once: such a column may be why nothing can be found.
        for note in near_columns(&bytes) {
            world::note(output.quiet, &format!("note: {note}"));
        }
        let name = if name == "-" { "standard input" } else { &name };
        tables.push(Table::read(name, Cursor::new(bytes)).with_context(|| format!("`{name}`"))?);
    }
    let mut rates: Vec<Ceiling> = args.bandwidth.map(Ceiling::Bandwidth).into_iter().collect();
    rates.extend(args.math.iter().map(|(data, rate)| Ceiling::Product(*data, *rate)));
    if let Some(path) = &args.roofline {
        let found = benchmark(&ceilings::read(path)?.file).with_context(|| format!("`{}`", path.display()))?;
        rates.extend(found.ceilings);
        notes.extend(found.notes);
    }
    let request = Request { gpu: &gpu, tables: &tables, ceilings: &rates, data: args.operands, any_gpu: args.any_gpu };
    let found = calibrate(&catalog, &request)?;

    let text = match output.format {
        Format::Json => format!("{:#}\n", json(&found, args.operands)),
        _ => {
            let table = found.table(&file, args.operands.word(), &origin(&args, &found))?;
            if args.whole { whole(&file, &table)? } else { table }
        }
    };
    output.emit(&text)?;
    if gpu.mig.is_some() {
        notes.push("measured on a MIG slice: the table belongs into the file of the whole GPU".into());
    }
    notes.extend_from_slice(&found.notes);
    if let (true, Some(path)) = (args.whole, output.output.as_deref().filter(|path| *path != Path::new("-"))) {
        notes.push(format!("next: wavecast gemm 4096 4096 4096 --gpu {}", path.display()));
    }
    say(output.quiet, &notes, &found);
    Ok(if found.left_out.is_empty() { EXIT_OK } else { EXIT_CHECK })
}

/// What the constants come from, for the file that they end in; names of files without folders.
fn origin(args: &Args, found: &Calibrated) -> String {
    let name = |path: &PathBuf| match path.file_name() {
        Some(name) if path != Path::new("-") => name.to_string_lossy().into_owned(),
        _ => "standard input".into(),
    };
    let mut parts = Vec::new();
    if !args.files.is_empty() {
        let files: Vec<String> = args.files.iter().map(name).collect();
        parts.push(format!("{} of {}", world::counted(found.used as u64, "row"), files.join(", ")));
    }
    if args.bandwidth.is_some() || !args.math.is_empty() {
        parts.push("measured rates".into());
    }
    parts.extend(args.roofline.as_ref().map(name));
    parts.join(" and ")
}

/// Most reasons of rows left out that are printed.
const MOST_REASONS: usize = 10;

fn say(quiet: bool, notes: &[String], found: &Calibrated) {
    for note in notes {
        world::note(quiet, &format!("note: {note}"));
    }
    for warning in &found.warnings {
        world::note(quiet, &format!("warning: {warning}"));
    }
    for left in found.left_out.iter().take(MOST_REASONS) {
        let first = if left.rows > 1 { "first " } else { "" };
        let rows = world::counted(left.rows, "row");
        world::note(quiet, &format!("warning: {rows} left out ({first}{}): {}", left.first, left.reason));
    }
    if let Some(more) = found.left_out.len().checked_sub(MOST_REASONS).filter(|more| *more > 0) {
        world::note(quiet, &format!("warning: rows were left out for {more} more reasons"));
    }
    let determined = found.constants.iter().filter(|one| one.determined()).count();
    let constants = world::counted(determined as u64, "constant");
    let rows = world::counted(found.rows, "row");
    world::note(quiet, &format!("{rows}, {} left out; {constants} found", found.rows - found.used as u64));
}

fn number(value: f64) -> Value {
    significant(value, 6).parse::<f64>().map_or(Value::Null, Value::from)
}

fn json(found: &Calibrated, data: DataKind) -> Value {
    let score = |score: &Score| {
        json!({
            "mape_pct": number(score.mape),
            "median_ape_pct": number(score.median),
            "ratio": number(score.ratio),
        })
    };
    let errors = found.scores.iter().map(|scores| {
        json!({
            "size": scores.size.unwrap_or("all"),
            "rows": scores.rows,
            "before": score(&scores.before),
            "after": score(&scores.after),
        })
    });
    let left_out =
        found.left_out.iter().map(|left| json!({ "reason": left.reason, "rows": left.rows, "first": left.first }));
    let band = |band: &Option<Band>| band.map(|band| json!({ "low": band.low, "high": band.high }));
    let of = |table: bool| found.constants.iter().filter(move |one| one.constant.of_table() == table);
    json!({
        "schema": "wavecast.calibration/1",
        "gpu": found.before.id,
        "gpu_name": found.before.name,
        "constants_before": found.before.calibration.of.to_string(),
        "data": data.word(),
        "rows": found.rows,
        "rows_used": found.used,
        "constants": of(false).map(constant).collect::<Vec<_>>(),
        "protocol": of(true).map(constant).collect::<Vec<_>>(),
        "errors": errors.collect::<Vec<_>>(),
        "band": band(&found.band),
        "band_sgemm": band(&found.band_sgemm),
        "left_out": left_out.collect::<Vec<_>>(),
        "warnings": found.warnings,
        "notes": found.notes,
    })
}

/// One constant; the host's times are in microseconds.
fn constant(found: &Found) -> Value {
    let (name, scale) = match found.constant {
        Constant::LaunchGemm => ("launch_overhead_us.gemm", 1e6),
        Constant::LaunchBmm => ("launch_overhead_us.bmm", 1e6),
        Constant::LaunchGrouped => ("launch_overhead_us.grouped_gemm", 1e6),
        own => (own.name(), 1.0),
    };
    let (from, why) = match &found.origin {
        Origin::Rows => (Value::from("rows"), None),
        Origin::Ceiling(how) => ("rate".into(), Some(how.clone())),
        Origin::Kept(why) => (Value::Null, why.clone()),
    };
    json!({
        "name": name,
        "before": number(found.before * scale),
        "after": number(found.after * scale),
        "determined": found.determined(),
        "from": from,
        "rows": found.evidence.as_ref().map_or(0, |e| e.rows),
        "information": number(found.evidence.as_ref().map_or(0.0, |e| e.own)),
        "why": why,
    })
}
