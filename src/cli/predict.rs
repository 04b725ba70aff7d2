//! `predict`: tables of shapes answered row by row.

use std::{
    io::{self, BufWriter, Cursor},
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};
use clap::Args as ClapArgs;

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{Format, GpuArgs, OutputArgs},
    world,
};
use crate::{
    gpu::{Catalog, Gpu},
    op::{
        batch::{Summary, batch},
        predict::Predictor,
        table::nearly_known,
    },
};

#[derive(ClapArgs)]
#[command(mut_arg("format", |format| format.value_parser(Format::among(&[Format::Csv], &[Format::Text])).default_value("csv")))]
pub struct Args {
    /// Table of shapes (CSV, `-` for standard input); columns in `docs/cli.md`
    #[arg(long, value_name = "IN.csv")]
    batch: PathBuf,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub fn run(args: Args) -> Result<u8> {
    let catalog = args.gpu.folder.catalog()?;
    let (fixed, mut notes) = fixed(&args.gpu, &catalog)?;
    let mut predictor = Predictor::new(&catalog, fixed);
    // Read whole, so that an output onto the input is harmless.
    let table = world::read(&args.batch)?;
    notes.extend(near_columns(&table));
    let from = Cursor::new(table);
    let summary = match &args.output.output {
        Some(path) if path != Path::new("-") => {
            let mut summary = Summary::default();
            world::replace(path, |file| {
                summary = batch(from, file, &mut predictor)?;
                anyhow::Ok(())
            })?;
            summary
        }
        _ => batch(from, BufWriter::new(io::stdout().lock()), &mut predictor)?,
    };
    notes.append(&mut predictor.assumptions);
    notes.extend(overridden(&predictor, args.gpu.gpu.first().map(String::as_str)));
    for note in notes {
        world::note(args.output.quiet, &format!("note: {note}"));
    }
    if summary.uncalibrated > 0 {
        let text =
            "of a type or a batch that was never measured, or whose n or k is no multiple of 32: bands are wide there";
        world::note(args.output.quiet, &format!("note: {} {text}", world::counted(summary.uncalibrated, "row")));
    }
    world::note(
        args.output.quiet,
        &format!("{}, {} not predicted", world::counted(summary.rows, "row"), summary.errors),
    );
    Ok(if summary.errors > 0 { EXIT_CHECK } else { EXIT_OK })
}

/// Notes on columns of a table that nothing reads and that nearly have the name of one that would be read.
pub fn near_columns(table: &[u8]) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(table);
    let near = reader.byte_headers().map(nearly_known).unwrap_or_default();
    near.into_iter()
        .map(|(column, meant)| format!("nothing reads the column `{column}`; did you mean `{meant}`?"))
        .collect()
}

/// That `--gpu` stands for other GPUs that rows name; nothing where it does not.
pub fn overridden(predictor: &Predictor, gpu: Option<&str>) -> Option<String> {
    let (gpu, rows) = (gpu?, predictor.overridden);
    let name = if rows == 1 { "names" } else { "name" };
    (rows > 0).then(|| format!("{} {name} another GPU: --gpu {gpu} stands for it", world::counted(rows, "row")))
}

/// The GPU of `--gpu`, which stands for those of the rows, and what was assumed about it.
pub fn fixed(gpu: &GpuArgs, catalog: &Catalog) -> Result<(Option<Gpu>, Vec<String>)> {
    if gpu.gpu.is_empty() {
        if !gpu.set.is_empty() {
            bail!("--set changes the GPU of --gpu; name one");
        }
        return Ok((None, Vec::new()));
    }
    let (gpu, notes) = gpu.resolve_one(catalog)?;
    Ok((Some(gpu), notes))
}
