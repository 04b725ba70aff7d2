//! What a GPU holds as figures: parts with each change that saves, and the moments of a step.

use super::caption;
use crate::{
    chart::{MemoryBar, MemoryBars, MemoryRun, MemorySteps},
    gpu::Gpu,
    memory::{Anatomy, MemoryError, Moment, Part, Phase, Request, Subject, Technique, Training},
    units::Bytes,
};

fn labels() -> Vec<String> {
    Part::ALL.map(|part| part.label().to_owned()).into()
}

fn sizes(anatomy: &Anatomy) -> Vec<f64> {
    Part::ALL.map(|part| anatomy.of(part).get()).into()
}

/// The parts as asked, and with each change alone; `words` say what was asked.
pub fn memory_figure(
    (network, words): (&str, &str),
    gpu: &Gpu,
    anatomy: &Anatomy,
    techniques: &[Technique],
    capacity: Bytes,
) -> MemoryBars {
    let asked = MemoryBar { label: "as asked".into(), bytes: sizes(anatomy) };
    let changed =
        techniques.iter().map(|change| MemoryBar { label: change.name.clone(), bytes: sizes(&change.anatomy) });
    MemoryBars {
        caption: caption(&format!("Memory of {network}"), gpu, &[words, "each change alone", "GiB = 2^30 bytes"]),
        parts: labels(),
        bars: std::iter::once(asked).chain(changed).collect(),
        capacity: Some(capacity.get()),
        marked: None,
    }
}

/// The moments of a step of training.
///
/// # Errors
/// As of [`Training::iteration`].
pub fn step_figure(
    network: &str,
    gpu: &Gpu,
    training: &Training,
    subject: Subject,
    capacity: Bytes,
) -> Result<MemorySteps, MemoryError> {
    let anatomy = training.anatomy(subject)?;
    let moments = training.iteration(subject)?;
    let sizes = |moment: &Moment| -> Vec<f64> {
        Part::ALL.map(|part| moment.of(part).unwrap_or_else(|| anatomy.of(part)).get()).into()
    };
    let several = training.micro_batches() > 1;
    let name = |moment: &Moment| {
        let number = if several { format!(" {}", moment.micro_batch + 1) } else { String::new() };
        match moment.phase {
            Phase::Forward => format!("forward{number}"),
            Phase::Backward => format!("backward{number}"),
            Phase::Optimizer => "optimizer".into(),
        }
    };
    let mut runs: Vec<MemoryRun> = Vec::new();
    for moment in &moments {
        let label = name(moment);
        match runs.last_mut() {
            Some(run) if run.label == label => run.moments.push(sizes(moment)),
            _ => runs.push(MemoryRun { label, moments: vec![sizes(moment)] }),
        }
    }
    let words = Request::Training(*training).words();
    let assumptions = [words.as_str(), "gradients are kept from step to step", "GiB = 2^30 bytes"];
    Ok(MemorySteps {
        caption: caption(&format!("Memory of {network} over a step of training"), gpu, &assumptions),
        parts: labels(),
        runs,
        capacity: Some(capacity.get()),
    })
}
