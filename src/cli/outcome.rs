//! What a command found: launches, rows of the report, what was assumed and what failed.

use std::fmt::Display;

use super::ceilings::Named;
use crate::{
    analysis::Analysis,
    chart::Shares,
    gpu::{ConstantsOf, Gpu},
    op::{attention::Attention, gemm::Product},
    profile::{Device, Judged, short_name},
    report::{KernelReport, RowError, TraceReport},
};

/// What a command found, in the order of its input.
#[derive(Default)]
pub struct Outcome {
    /// One line about the whole.
    pub title: Option<String>,
    /// Described launches.
    pub analyses: Vec<Analysis>,
    /// Profiled launches.
    pub judged: Vec<Judged>,
    /// Rows of the report, one per launch.
    pub kernels: Vec<KernelReport>,
    /// What was assumed.
    pub assumptions: Vec<String>,
    /// What may make the answer wrong.
    pub warnings: Vec<String>,
    /// Where the time of traced files went.
    pub traces: Vec<TraceReport>,
    /// The same as figures, as far as there are times.
    pub shares: Vec<Shares>,
    /// Launches that could not be evaluated.
    pub errors: Vec<RowError>,
    /// Described launches that have a row but are not among `analyses`.
    pub uncharted: usize,
    /// Measured launches that their GPU cannot have run: how many rows, and the first with the reason.
    pub excess: (u64, String),
    /// Measured ceilings to draw over rooflines.
    pub ceilings: Option<Named>,
}

/// So many launches are kept whole for charts; of the rest, only the row is kept.
const CHARTED: usize = 2000;

impl Outcome {
    /// Adds a described launch.
    pub fn add(&mut self, analysis: Analysis) {
        self.kernels.push(KernelReport::from_analysis(&analysis));
        if self.analyses.len() < CHARTED {
            self.analyses.push(analysis);
        } else {
            self.uncharted += 1;
        }
    }

    /// Adds a matrix product.
    pub fn add_product(&mut self, product: Product) {
        let mut kernel = KernelReport::from_analysis(&product.analysis);
        kernel.set_product(&product);
        self.add(product.analysis);
        if let Some(last) = self.kernels.last_mut() {
            *last = kernel;
        }
    }

    /// Adds an attention call.
    pub fn add_attention(&mut self, attention: Attention) {
        let mut kernel = KernelReport::from_analysis(&attention.analysis);
        kernel.set_attention(&attention);
        self.add(attention.analysis);
        if let Some(last) = self.kernels.last_mut() {
            *last = kernel;
        }
    }

    /// Adds an operation with constants of its own; `more` fills in what the analysis does not know.
    pub fn add_operation(&mut self, analysis: Analysis, of: &ConstantsOf, more: impl FnOnce(&mut KernelReport)) {
        self.add(analysis);
        if let Some(last) = self.kernels.last_mut() {
            last.calibration = Some(of.to_string());
            // Its kernel was chosen by time: more residency alone is no step.
            last.next_steps.clear();
            more(last);
        }
    }

    /// One of several GPUs refuses what is asked: a row beside the answers of the others.
    pub fn refused(&mut self, kernel: impl Into<String>, gpu: &Gpu, error: impl Display) {
        // Of a chain of causes all of them.
        let message = format!("{error:#}");
        self.errors.push(RowError { row: None, kernel: kernel.into(), gpu: Some(gpu.id.clone()), message });
    }

    /// What a profile and the catalog say of its device, each sentence once.
    pub fn note_device(&mut self, device: &Device) {
        for (said, known) in
            [(&device.contradictions, &mut self.warnings), (&device.assumptions, &mut self.assumptions)]
        {
            for sentence in said {
                if !known.contains(sentence) {
                    known.push(sentence.clone());
                }
            }
        }
    }

    /// Counts a launch that its GPU cannot have run.
    pub fn note_excess(&mut self, judged: &Judged) {
        let Some(reason) = judged.excess() else { return };
        if self.excess.0 == 0 {
            self.excess.1 = format!("{} on {}: {reason}", short_name(&judged.observed.name), judged.device.name);
        }
        self.excess.0 += 1;
    }

    /// All warnings, those about limits last.
    pub fn all_warnings(&self) -> Vec<String> {
        let (count, first) = &self.excess;
        let more = if *count > 1 { format!(" ({} more kernels like that)", count - 1) } else { String::new() };
        let excess =
            format!("the file's launch exceeds the limits of the GPU, so that it cannot have run there: {first}{more}");
        self.warnings.iter().cloned().chain((*count > 0).then_some(excess)).collect()
    }

    /// Adds sentences to what was assumed, each once.
    pub fn assume(&mut self, sentences: Vec<String>) {
        for sentence in sentences {
            if !self.assumptions.contains(&sentence) {
                self.assumptions.push(sentence);
            }
        }
    }

    /// Adds a profiled launch with its row.
    pub fn add_judged(&mut self, judged: Judged, row: KernelReport) {
        self.note_device(&judged.device);
        self.note_excess(&judged);
        self.kernels.push(row);
        if self.judged.len() < CHARTED {
            self.judged.push(judged);
        }
    }
}
