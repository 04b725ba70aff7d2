//! Measured kernels on another GPU: every time scaled by what holds the kernel back.

use super::{Judged, KernelGroup, kind::Kind};
use crate::{
    gpu::{DataType, Gpu, Pipe},
    time::Bound,
    units::Seconds,
};

/// Mean errors of models on a GPU that they did not see (`docs/accuracy.md`): 7 to 17 % for products and 13 % for attention where a
/// GPU with the same kind of kernels was seen, 10 to 20 % where none was.
const SAME_KIND: f64 = 0.15;
const OTHER_KIND: f64 = 0.20;

/// Least and most time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// Least.
    pub low: Seconds,
    /// Most.
    pub high: Seconds,
}

impl Span {
    /// Both, added up.
    pub fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }
}

/// By how much longer or shorter a kernel takes on another GPU: least and most factor.
fn factors(from: &Gpu, to: &Gpu, work: &Work) -> (f64, f64) {
    let dram = |gpu: &Gpu| gpu.memory.dram.bandwidth.get() * gpu.calibration.dram_efficiency;
    let memory = dram(from) / dram(to);
    let math = math(from, to, &work.pipes);
    let both = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
    match work.bound {
        Some(Bound::Memory) => (memory, memory),
        Some(Bound::Math) => math,
        // Launch, ramp and too few blocks: clocks differ little.
        Some(Bound::Latency) => (1.0, 1.0),
        None => both(both(math, (memory, memory)), (1.0, 1.0)),
    }
}

/// Ratio of sustained rates over the pipes that were counted, else over the types that a file leaves open: half precision
/// on tensor cores, FP32 on both units.
fn math(from: &Gpu, to: &Gpu, counted: &[Pipe]) -> (f64, f64) {
    let tensor = |input| Pipe::Tensor { input, accumulate: DataType::Fp32, sparse: false };
    let rate = |gpu: &Gpu, pipe: Pipe| gpu.peak(pipe).map(|peak| peak.get() * gpu.calibration.sustained(pipe));
    let pipes = [tensor(DataType::Bf16), tensor(DataType::Fp16), tensor(DataType::Tf32), Pipe::Vector(DataType::Fp32)];
    let span = |pipes: &[Pipe]| {
        let ratios = pipes.iter().filter_map(|pipe| Some(rate(from, *pipe)? / rate(to, *pipe)?));
        let (low, high) = ratios.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), r| (low.min(r), high.max(r)));
        (high > 0.0).then_some((low, high))
    };
    // A pipe that the other GPU lacks leaves the types open again.
    span(counted).or_else(|| span(&pipes)).unwrap_or((1.0, 1.0))
}

/// A measured kernel, as far as its time on another GPU depends on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Its time, of all its launches.
    pub total: Seconds,
    /// What holds it back.
    pub bound: Option<Bound>,
    /// The pipe that takes longest, where operations were counted.
    pub pipes: Vec<Pipe>,
}

impl Work {
    /// The launches of a group of a trace, held back by `bound`.
    pub fn of_group(group: &KernelGroup, bound: Option<Bound>) -> Self {
        let bound = bound.filter(|_| group.kind != Kind::Communication);
        Self { total: group.total, bound, pipes: Vec::new() }
    }

    /// A profiled launch, held back by what its counters say; absent where the file has no duration.
    pub fn of_launch(judged: &Judged) -> Option<Self> {
        let bound = judged.bound.as_ref().map(|(bound, _)| *bound);
        Some(Self { total: judged.observed.duration?, bound, pipes: judged.slowest_pipe().into_iter().collect() })
    }
}

/// The time of a kernel on another GPU, with the error of such predictions.
pub fn elsewhere(work: &Work, from: &Gpu, to: &Gpu) -> Span {
    let (low, high) = factors(from, to, work);
    let error = if from.limits.target() == to.limits.target() { SAME_KIND } else { OTHER_KIND };
    Span { low: work.total * (low * (1.0 - error)), high: work.total * (high * (1.0 + error)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Catalog;

    #[test]
    fn each_bound_scales_by_its_own_rate() {
        let catalog = Catalog::embedded().unwrap();
        let gpu = |name: &str| catalog.find(name).unwrap().gpu;
        let (a100, h100) = (gpu("a100-sxm4-80gb"), gpu("h100-sxm5-80gb"));
        let work = |bound, pipes: &[Pipe]| Work { total: Seconds(1e-3), bound, pipes: pipes.to_vec() };
        let middle = |work: &Work| {
            let span = elsewhere(work, &a100, &h100);
            assert!(span.low < span.high);
            (span.low.get() / (1.0 - OTHER_KIND), span.high.get() / (1.0 + OTHER_KIND))
        };
        let (low, high) = middle(&work(Some(Bound::Memory), &[]));
        // 2.039 TB/s against 3.35 TB/s, and the shares of them that are sustained.
        assert!((low - high).abs() < 1e-15 && (0.4e-3..0.75e-3).contains(&low), "{low}");
        assert_eq!(middle(&work(Some(Bound::Latency), &[])), (1e-3, 1e-3));
        let (low, high) = middle(&work(Some(Bound::Math), &[]));
        assert!(low > 0.2e-3 && high < 0.7e-3, "{low} {high}");
        let unknown = middle(&work(None, &[]));
        assert!(unknown.0 <= low && unknown.1 >= 0.999e-3, "{unknown:?}");
        // FP64 vector units: 9.7 and 33.5 TFLOP/s by the datasheets, one ratio instead of those of four types.
        let (low, high) = middle(&work(Some(Bound::Math), &[Pipe::Vector(DataType::Fp64)]));
        assert!((low - high).abs() < 1e-15 && (low * 1e3 - 9.7 / 33.5).abs() < 0.01, "{low} {high}");
        let same = elsewhere(&work(Some(Bound::Memory), &[]), &a100, &a100);
        assert_eq!(same.low, Seconds(1e-3) * (1.0 - SAME_KIND));
    }
}
