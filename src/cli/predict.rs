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
    },
};

#[derive(ClapArgs)]
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
    if !matches!(args.output.format, Format::Text | Format::Csv) {
        bail!("predict --batch writes CSV; leave --format out");
    }
    let catalog = args.gpu.folder.catalog()?;
    let (fixed, mut notes) = fixed(&args.gpu, &catalog)?;
    let mut predictor = Predictor::new(&catalog, fixed);
    // Read whole, so that an output onto the input is harmless.
    let from = Cursor::new(world::read(&args.batch)?);
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
    for note in notes {
        world::note(args.output.quiet, &format!("note: {note}"));
    }
    if summary.uncalibrated > 0 {
        let text = "rows of a type or a batch that was never measured, or whose n or k is no multiple of 32: their bands are wide";
        world::note(args.output.quiet, &format!("note: {} {text}", summary.uncalibrated));
    }
    world::note(args.output.quiet, &format!("{} rows, {} not predicted", summary.rows, summary.errors));
    Ok(if summary.errors > 0 { EXIT_CHECK } else { EXIT_OK })
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
