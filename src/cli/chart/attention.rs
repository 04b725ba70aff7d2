//! `chart attention`: an attention call against the length of the sequence.

use anyhow::Result;
use clap::Args as ClapArgs;

use super::Drawing;
use crate::{
    chart::{Chart, Theme, figures::attention_figure},
    cli::{args::GpuArgs, attention::ShapeArgs},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    shape: ShapeArgs,
    /// Shortest and longest sequence
    #[arg(long, value_name = "LOW:HIGH", value_parser = range, default_value = "128:65536")]
    range: (u64, u64),
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    pub drawing: Drawing,
}

/// Two lengths, the first below the second.
fn range(text: &str) -> Result<(u64, u64), String> {
    let ends = text.split_once(':').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    let rising = ends.filter(|(low, high)| 0 < *low && low < high);
    rising.ok_or_else(|| "write LOW:HIGH in tokens, LOW below HIGH and from 1 up, such as 128:65536".into())
}

/// The figure that was asked for.
pub fn drawn(args: &Args, theme: Theme) -> Result<Chart> {
    let (gpu, _) = args.gpu.resolve_one(&args.gpu.folder.catalog()?)?;
    let shape = args.shape.shape()?;
    Ok(attention_figure(&gpu, &shape, &args.shape.request(), args.range)?.draw(theme))
}
