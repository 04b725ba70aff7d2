//! `chart crossover`: the time on a CPU and on a GPU over the size.

use anyhow::Result;
use clap::Args as ClapArgs;

use super::Drawing;
use crate::{
    chart::{Chart, Theme, figures::crossover_figure},
    cli::crossover::Selection,
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    pub drawing: Drawing,
}

pub fn drawn(args: &Args, theme: Theme) -> Result<Chart> {
    let compared = args.selection.run()?;
    Ok(crossover_figure(&compared.cpu, &compared.gpu, &compared.model, &compared.found)?.draw(theme))
}
