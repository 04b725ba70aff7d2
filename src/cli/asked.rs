//! What `analyze` is asked of measured kernels: other registers, blocks or shared memory, and other GPUs.

use anyhow::{Result, bail};
use clap::Args;

use crate::{
    gpu::{Catalog, Gpu},
    profile::{Judged, LaunchChange, Span, Work, elsewhere, what_if},
    report::{KernelReport, TraceReport, asked_assumptions},
    time::Bound,
};

/// What-ifs on measured kernels.
#[derive(Args, Clone, Debug, Default)]
pub struct Asked {
    /// What the kernels of a profile or trace would take on this GPU; may be repeated
    #[arg(long, value_name = "NAME")]
    to: Vec<String>,
    /// Measured kernels with other resources: 'registers=64', 'block=256', 'shared=32 KiB', or several with commas; may be repeated
    #[arg(long, value_name = "KEY=VALUE, ...")]
    what_if: Vec<LaunchChange>,
}

/// The answers to what was asked of one file.
pub struct Answers<'a> {
    changes: &'a [LaunchChange],
    others: Vec<Gpu>,
    spans: Vec<Span>,
    from: Option<String>,
}

impl Asked {
    /// Refuses what is for measured kernels alone where `what` is none.
    pub fn refuse(&self, what: &str, instead: &str) -> Result<()> {
        match (self.what_if.first(), self.to.first()) {
            (Some(change), _) => bail!("--what-if '{change}' is for measured kernels, and {what}: {instead}"),
            (None, Some(gpu)) => bail!("--to {gpu} is for measured kernels, and {what}: {instead}"),
            (None, None) => Ok(()),
        }
    }

    /// Finds the other GPUs; nothing is answered yet.
    pub fn answers(&self, catalog: &Catalog) -> Result<Answers<'_>> {
        let other = |name: &String| {
            let gpu = catalog.find(name)?.gpu;
            if gpu.is_cpu() {
                bail!("--to {name}: {} is a CPU, and times of a GPU are scaled to GPUs alone: name a GPU", gpu.name);
            }
            Ok(gpu)
        };
        let others = self.to.iter().map(other).collect::<Result<Vec<_>>>()?;
        let spans = vec![Span::default(); others.len()];
        Ok(Answers { changes: &self.what_if, others, spans, from: None })
    }
}

impl Answers<'_> {
    /// Whether anything was asked.
    pub fn wanted(&self) -> bool {
        !self.changes.is_empty() || !self.others.is_empty()
    }

    /// Answers for one kernel, in its row; `work` is absent where it has no duration.
    pub fn add(
        &mut self,
        row: &mut KernelReport,
        judged: &Judged,
        bound: Option<Bound>,
        work: Option<Work>,
    ) -> Result<()> {
        for change in self.changes {
            row.add_asked(change, bound, &what_if(judged, bound, change));
        }
        match (&judged.device.gpu, work) {
            (None, _) if !self.others.is_empty() => {
                bail!("--to needs to know the GPU of the file, which the file does not name: --gpu NAME")
            }
            (Some(gpu), Some(work)) => {
                for (other, sum) in self.others.iter().zip(&mut self.spans) {
                    let span = elsewhere(&work, gpu, other);
                    *sum = sum.plus(span);
                    row.add_elsewhere(&other.id, span);
                }
                self.from.get_or_insert_with(|| gpu.name.clone());
            }
            _ => {}
        }
        Ok(())
    }

    /// The sums, in the summary of the file, of which the `shown` kernels are changed; `by` says whose bound scaled them.
    pub fn finish(&self, report: &mut TraceReport, shown: &[KernelReport], by: &str) {
        if let Some(from) = &self.from {
            self.others
                .iter()
                .zip(&self.spans)
                .for_each(|(other, span)| report.add_elsewhere(from, &other.name, *span, by));
        }
        report.add_asked(self.changes, shown);
    }

    /// What the answers assume.
    pub fn assumptions(&self) -> Vec<String> {
        asked_assumptions(self.changes)
    }
}
