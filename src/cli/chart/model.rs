//! `chart model`: a step of a whole network.

use anyhow::Result;
use clap::{Args as ClapArgs, ValueEnum};

use super::Drawing;
use crate::{
    chart::{
        Chart, Theme,
        figures::{network_roofline, network_shares},
    },
    cli::model::Selection,
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    selection: Selection,
    /// What is shown
    #[arg(long, value_enum, default_value = "time")]
    show: Show,
    #[command(flatten)]
    pub drawing: Drawing,
}

#[derive(Clone, Copy, ValueEnum)]
enum Show {
    /// Where the time goes: bounds, kinds of operations, the operations that take most
    Time,
    /// The operations under the roofs
    Roofline,
}

/// The figure that was asked for.
pub fn drawn(args: &Args, theme: Theme) -> Result<Chart> {
    let (gpu, report, pipe) = args.selection.run()?;
    Ok(match args.show {
        Show::Time => network_shares(&gpu, &report).draw(theme),
        Show::Roofline => network_roofline(&gpu, &report, pipe).draw(theme),
    })
}
