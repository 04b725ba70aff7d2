//! What the commands of operations share: GPU and report options, an answer on every GPU, what-ifs that change nothing.

use anyhow::{Context, Result};
use clap::Args as ClapArgs;

use super::{
    args::{GpuArgs, ReportArgs},
    show::{self, Outcome},
    world,
};
use crate::gpu::{Catalog, Gpu};

/// The options behind those of the operation.
#[derive(ClapArgs)]
pub struct OperationArgs {
    #[command(flatten)]
    pub gpu: GpuArgs,
    #[command(flatten)]
    pub report: ReportArgs,
}

/// How an operation is called where it is refused.
#[derive(Clone, Copy)]
pub struct Called<'a> {
    /// In a row of the report, such as `conv`.
    pub name: &'a str,
    /// In a sentence, such as `the convolution`.
    pub what: &'a str,
}

/// Adds the answer on a GPU to an outcome, and does nothing else: it is also asked without one of the what-ifs.
pub type AnswerOn<'a> = &'a dyn Fn(&Gpu, &mut Outcome) -> Result<()>;

impl OperationArgs {
    /// Answers on every GPU of the options, prints the report and gives the exit code; `assumptions` stand behind those on
    /// the GPUs' names.
    pub fn run(&self, called: Called, assumptions: Vec<String>, answer: AnswerOn) -> Result<u8> {
        let catalog = self.gpu.folder.catalog()?;
        let (gpus, mut assumed) = self.gpu.resolve(&catalog)?;
        assumed.extend(assumptions);
        let mut outcome = Outcome { assumptions: assumed, ..Outcome::default() };
        for gpu in &gpus {
            match answer(gpu, &mut outcome) {
                Ok(()) => {}
                Err(error) if gpus.len() == 1 => return Err(error).context(format!("{} is refused", called.what)),
                Err(error) => outcome.refused(called.name, gpu, format!("{error:#}")),
            }
        }
        let idle = self.idle(&catalog, &outcome, answer);
        let code = show::finish(outcome, &self.report)?;
        for change in idle {
            let text = format!("note: --set `{change}` leaves the time of {} as it is", called.what);
            world::note(self.report.output.quiet, &text);
        }
        Ok(code)
    }

    /// The what-ifs without which every time is the same.
    fn idle(&self, catalog: &Catalog, outcome: &Outcome, answer: AnswerOn) -> Vec<String> {
        let times = |outcome: &Outcome| -> Vec<_> {
            outcome.kernels.iter().map(|kernel| [kernel.time_us, kernel.low_us, kernel.high_us]).collect()
        };
        let with = times(outcome);
        let same_without = |place: usize| {
            let mut options = self.gpu.clone();
            options.set.remove(place);
            let Ok((gpus, _)) = options.resolve(catalog) else { return false };
            let mut other = Outcome::default();
            // One that is refused without the what-if is changed by it.
            gpus.iter().all(|gpu| answer(gpu, &mut other).is_ok()) && times(&other) == with
        };
        let set = self.gpu.set.iter().enumerate();
        set.filter(|(place, _)| same_without(*place))
            .map(|(_, change)| format!("{}={}", change.key, change.value))
            .collect()
    }
}
