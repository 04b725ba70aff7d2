//! `chart memory`: the parts of a GPU's memory, or its memory over a step of training.

use anyhow::{Result, bail};
use clap::Args as ClapArgs;

use super::Drawing;
use crate::{
    chart::{
        Chart, Theme,
        figures::{memory_figure, step_figure},
    },
    cli::memory::Question,
    memory::Request,
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    /// Memory over the moments of one step of training, instead of its parts at the peak
    #[arg(long)]
    step: bool,
    #[command(flatten)]
    pub drawing: Drawing,
}

/// The figure that was asked for.
pub fn drawn(args: &Args, theme: Theme) -> Result<Chart> {
    let asked = args.question.asked()?;
    let (subject, request, capacity) = (asked.subject(), asked.request, asked.capacity);
    if args.step {
        let Request::Training(training) = request else {
            bail!("--step is about training: serving has no step that memory rises and falls in");
        };
        return Ok(step_figure(&asked.name, &asked.gpu, &training, subject, capacity)?.draw(theme));
    }
    let (anatomy, techniques) = (request.anatomy(subject)?, request.techniques(subject)?);
    Ok(memory_figure((&asked.name, &request.words()), &asked.gpu, &anatomy, &techniques, capacity).draw(theme))
}
