//! From a comparison of a CPU and a GPU to the figure of both times over the size.

use super::caption;
use crate::{
    chart::{Race, RaceSample},
    crossover::{Crossover, CrossoverError, From, Model, Place, Sample},
    gpu::Gpu,
};

/// Sizes that are drawn.
const SIZES: u32 = 160;
/// Changes of the winner that are marked.
const MARKED: usize = 20;

/// Both times with their bands over the range of an answer, the transfer, and the size from which the GPU wins.
///
/// # Errors
/// A size of the range is too large.
pub fn crossover_figure(cpu: &Gpu, gpu: &Gpu, model: &Model, found: &Crossover) -> Result<Race, CrossoverError> {
    let request = model.request();
    let mut samples = model.samples(found.range, SIZES)?;
    let crossing = match found.from {
        From::Size(n) => Some(n),
        From::Always | From::Never => None,
    };
    let changes: Vec<u64> = found.crossings.iter().map(|crossing| crossing.n).take(MARKED).collect();
    for n in changes.iter().copied().chain(crossing) {
        if let Err(place) = samples.binary_search_by_key(&n, |sample| sample.n) {
            samples.insert(place, model.at(n)?);
        }
    }
    let others =
        if changes.iter().any(|n| Some(*n) != crossing) { ". Hollow marks: other changes of the winner" } else { "" };
    let title = format!("{}, {}: CPU or GPU", request.family.name(), request.data.name());
    let place = match request.place {
        Place::Host => "data on the host",
        Place::Input => "operands on the host",
        Place::Resident => "data on the GPU",
    };
    let reuse = format!("{place}, one transfer for {} calls", request.reuse);
    let place = if request.reuse > 1 && request.place != Place::Resident { &reuse } else { place };
    let mut caption = caption(&title, gpu, &[place, "rates of the CPU set by hand"]);
    caption.gpu = format!("{}; {}", cpu.name, gpu.name);
    caption.assumptions.extend(cpu.changes.iter().map(|change| format!("what-if, CPU: {change}")));
    let sample = |s: &Sample| RaceSample {
        size: s.n,
        cpu_us: [s.cpu.low, s.cpu.time, s.cpu.high].map(|t| t * 1e6),
        gpu_us: [s.gpu.low, s.gpu.time, s.gpu.high].map(|t| t * 1e6),
        transfer_us: s.gpu.transfer * 1e6,
    };
    Ok(Race {
        caption,
        subtitle: found.sentence().replacen("the", "The", 1) + others,
        over: "n".into(),
        samples: samples.iter().map(sample).collect(),
        pinned: Vec::new(),
        crossing,
        changes,
    })
}
