//! `chart validation`: predictions against measured times, drawn.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args as ClapArgs, ValueEnum};

use super::Drawing;
use crate::{
    chart::{
        Chart, Theme,
        figures::{error_figure, scatter_figure},
    },
    cli::{args::GpuArgs, validate},
    validate::Key,
};

#[derive(ClapArgs)]
pub struct Args {
    /// Tables with measured_us, as for `validate` (CSV, `-` for standard input)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// What there is a panel for each of
    #[arg(long, value_name = "KEY", default_value = "gpu", value_parser = validate::keys())]
    by: Key,
    /// What is drawn
    #[arg(long, value_enum, default_value = "scatter")]
    kind: Kind,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    pub drawing: Drawing,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Predicted against measured times, with the lines 25 % beside the diagonal
    Scatter,
    /// Predicted / measured and mean error by measured time, beside a roofline fitted to the same rows
    Size,
}

/// The figure that was asked for.
pub fn drawn(args: &Args, theme: Theme) -> Result<Chart> {
    let found = validate::compared(&args.files, &[args.by], &args.gpu, false)?;
    let (series, tables) = (found.series(), validate::tables(&args.files));
    Ok(match args.kind {
        Kind::Scatter => scatter_figure(&found, &series, &tables).draw(theme),
        Kind::Size => error_figure(&found, &series, &tables).draw(theme),
    })
}
