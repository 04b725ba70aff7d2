//! `gpus list / show / limits / check`: the catalog and a user's own files.

mod limits;
mod mig;

use std::{fmt::Write, path::PathBuf};

use anyhow::{Context, Result};
use clap::{Args as ClapArgs, Subcommand};

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{Format, GpuFolder, OutputArgs, stem},
    table::Table,
    world,
};
use crate::{
    gpu::{Catalog, DataType, Gpu, Pipe},
    kernel::Level,
    roofline::roofline,
    units::{FlopsPerSecond, significant},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// All GPUs with their main figures
    List {
        #[command(flatten)]
        folder: GpuFolder,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// A GPU's file with its sources, the peaks and ridge points derived from it, and its MIG profiles; a start for your
    /// own: > mine.toml
    Show {
        /// Name or alias, or NAME:PROFILE for a MIG slice
        name: String,
        #[command(flatten)]
        folder: GpuFolder,
        /// File for the result
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// What a block may use and an SM holds, per compute capability and gfx target (workgroup and CU or WGP there)
    Limits {
        /// Targets such as 8.6 or gfx942; without any, all that are known
        #[arg(value_name = "TARGET")]
        targets: Vec<String>,
        #[command(flatten)]
        folder: GpuFolder,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Compare derived with published peaks, of your files or of built-in ones; exit code 1 above 2 %
    Check {
        /// GPU files or names; without any, all built-in ones
        #[arg(value_name = "FILE|NAME")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Derived and published peaks may differ by this much.
const TOLERANCE: f64 = 0.02;

pub fn run(args: Args) -> Result<u8> {
    match args.command {
        Command::List { folder, output } => list(&folder.catalog()?, &output),
        Command::Show { name, folder, output } => show(&folder.catalog()?, &name, output),
        Command::Limits { targets, folder, output } => {
            let table = limits::table(&folder.catalog()?, &targets)?;
            output.emit(&table.titled("Limits of a block and an SM", output.format)?)?;
            Ok(EXIT_OK)
        }
        Command::Check { files, output } => check(&files, &output),
    }
}

fn tensor(input: DataType) -> Pipe {
    Pipe::Tensor { input, accumulate: input.default_accumulate(), sparse: false }
}

fn four(peak: FlopsPerSecond) -> String {
    significant(peak.get() / 1e12, 4)
}

fn list(catalog: &Catalog, output: &OutputArgs) -> Result<u8> {
    // Four digits: the fifth of a derived peak means nothing.
    let tera = |gpu: &Gpu, pipe: Pipe| gpu.peak(pipe).and_then(|p| four(p).parse::<f64>().ok()).into();
    let rows = catalog.gpus().map(|gpu| {
        vec![
            gpu.id.as_str().into(),
            gpu.limits.target().into(),
            gpu.sm.count.into(),
            (gpu.memory.dram.bandwidth.get() / 1e9).into(),
            (gpu.memory.l2.capacity.get() / 1_048_576.0).into(),
            tera(gpu, Pipe::Vector(DataType::Fp32)),
            tera(gpu, tensor(DataType::Fp16)),
            tera(gpu, tensor(DataType::Fp8)),
            gpu.release_year.map_or_else(String::new, |year| year.to_string()).into(),
        ]
    });
    let table = Table {
        columns: vec![
            ("GPU", "gpu"),
            ("Target", "target"),
            ("SMs", "sm_count"),
            ("DRAM\nGB/s", "dram_gb_per_s"),
            ("L2\nMiB", "l2_mib"),
            ("FP32\nTFLOP/s", "fp32_tflops"),
            ("FP16\ntensor", "fp16_tensor_tflops"),
            ("FP8\ntensor", "fp8_tensor_tflops"),
            ("Year", "release_year"),
        ],
        rows: rows.collect(),
    };
    output.emit(&table.titled("GPUs", output.format)?)?;
    Ok(EXIT_OK)
}

fn show(catalog: &Catalog, name: &str, output: Option<PathBuf>) -> Result<u8> {
    let found = catalog.find(name)?;
    let gpu = &found.gpu;
    let mut text = match &gpu.mig {
        Some(slice) => mig::slice(gpu, slice)?,
        None => catalog.text(&gpu.id).unwrap_or_default().to_owned(),
    };
    text.truncate(text.trim_end().len());
    text += "\n\n# Derived from the figures above; FMA = 2 operations; the ridge is where DRAM and peak meet.\n";
    writeln!(text, "# {:<42} {:>9} {:>10}  ridge", "TFLOP/s (TOP/s)", "datasheet", "sustained")?;
    if let Some(assumption) = &found.assumption {
        writeln!(text, "# {assumption}")?;
    }
    let roofs = roofline(gpu, None);
    for ceiling in &roofs.ceilings {
        let ridge = ceiling.pipe.and_then(|p| roofs.ridge(p, Level::Dram)).map_or(String::new(), |r| r.to_string());
        let line =
            format!("# {:<42} {:>9} {:>10}  {ridge}", ceiling.label, four(ceiling.peak), four(ceiling.sustained));
        writeln!(text, "{}", line.trim_end())?;
    }
    for roof in &roofs.roofs {
        let sustained = roof.sustained.map_or(String::new(), |s| format!(", sustained {s}"));
        writeln!(text, "# {} {}{sustained}", roof.level.label(), roof.peak)?;
    }
    for missing in &roofs.missing {
        writeln!(text, "# {missing}")?;
    }
    writeln!(text, "# constants of the time model: {}", gpu.calibration.of)?;
    if let Some(table) = catalog.mig(gpu) {
        text += &mig::profiles(catalog, gpu, table)?;
    }
    world::emit(output.as_deref(), &text)?;
    Ok(EXIT_OK)
}

fn check(files: &[PathBuf], output: &OutputArgs) -> Result<u8> {
    let catalog = Catalog::embedded()?;
    let deviations = Catalog::deviations()?;
    let own: Vec<Gpu> = files
        .iter()
        .map(|path| {
            let file = path.exists() || path.extension().is_some_and(|e| e == "toml");
            if let (false, Some(name)) = (file, path.to_str()) {
                return Ok(catalog.find(name)?.gpu);
            }
            let text = world::read_text(path)?;
            catalog.read(&stem(path), &text, &[]).with_context(|| format!("`{}`", path.display()))
        })
        .collect::<Result<_>>()?;
    let gpus: Vec<&Gpu> = if files.is_empty() { catalog.gpus().collect() } else { own.iter().collect() };
    let (mut rows, mut reasons) = (Vec::new(), Vec::new());
    let mut failed = 0;
    // Sentences would crush the columns of a table for people; they follow below it.
    let below = output.format == Format::Text;
    for gpu in &gpus {
        for (pipe, published) in gpu.published.peaks() {
            let derived = gpu.peak(pipe);
            let difference = derived.map(|d| d / published - 1.0);
            let name = pipe.to_string();
            let known = deviations.iter().find(|d| d.gpu == gpu.id && d.peak == name);
            let verdict = match (difference, known) {
                (Some(d), _) if d.abs() <= TOLERANCE => "ok".to_owned(),
                (_, Some(known)) if below => {
                    reasons.push(format!("{} {name}: {}", gpu.id, known.reason));
                    "named deviation".into()
                }
                (_, Some(known)) => format!("named deviation: {}", known.reason),
                (None, None) => "no rate for this peak".to_owned(),
                (Some(_), None) => "more than 2 % apart".to_owned(),
            };
            if verdict != "ok" && known.is_none() {
                failed += 1;
            }
            rows.push(vec![
                gpu.id.as_str().into(),
                name.into(),
                derived.map(|d| d.get() / 1e12).into(),
                (published.get() / 1e12).into(),
                difference.map(|d| (d * 1e4).round() / 100.0).into(),
                verdict.into(),
            ]);
        }
    }
    let count = rows.len();
    let table = Table {
        columns: vec![
            ("GPU", "gpu"),
            ("Peak", "peak"),
            ("Derived\nTFLOP/s", "derived_tflops"),
            ("Published\nTFLOP/s", "published_tflops"),
            ("Diff\n%", "difference_pct"),
            ("", "verdict"),
        ],
        rows,
    };
    let mut text = table.titled("Derived and published peaks", output.format)?;
    for reason in reasons {
        let options = textwrap::Options::new(world::width()).initial_indent("- ").subsequent_indent("  ");
        text += &format!("\n{}\n", textwrap::fill(&reason, options));
    }
    output.emit(&text)?;
    world::note(
        output.quiet,
        &format!(
            "{} of {} checked, {failed} failed",
            world::counted(count as u64, "peak"),
            world::counted(gpus.len() as u64, "device")
        ),
    );
    Ok(if failed > 0 { EXIT_CHECK } else { EXIT_OK })
}
