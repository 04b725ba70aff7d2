//! A trace on another GPU: every kernel's time scaled by what probably holds it back.

use super::{KernelGroup, kind::Kind};
use crate::{
    gpu::{DataType, Gpu, Pipe},
    time::Bound,
    units::Seconds,
};

/// Times of kernels on a GPU that a model did not see err by 10 to 15 % (`docs/accuracy.md`: leave one GPU out, attention
/// with all of a GPU's rows left out).
const ERROR: f64 = 0.15;

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
fn factors(from: &Gpu, to: &Gpu, bound: Option<Bound>) -> (f64, f64) {
    let dram = |gpu: &Gpu| gpu.memory.dram.bandwidth.get() * gpu.calibration.dram_efficiency;
    let memory = dram(from) / dram(to);
    let math = math(from, to);
    let both = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
    match bound {
        Some(Bound::Memory) => (memory, memory),
        Some(Bound::Math) => math,
        // Launch, ramp and too few blocks: clocks differ little.
        Some(Bound::Latency) => (1.0, 1.0),
        None => both(both(math, (memory, memory)), (1.0, 1.0)),
    }
}

/// Ratio of sustained rates over the types that a trace leaves open: half precision on tensor cores, FP32 on both units.
fn math(from: &Gpu, to: &Gpu) -> (f64, f64) {
    let tensor = |input| Pipe::Tensor { input, accumulate: DataType::Fp32, sparse: false };
    let rate = |gpu: &Gpu, pipe: Pipe| gpu.peak(pipe).map(|peak| peak.get() * gpu.calibration.sustained(pipe));
    let pipes = [tensor(DataType::Bf16), tensor(DataType::Fp16), tensor(DataType::Tf32), Pipe::Vector(DataType::Fp32)];
    let ratios = pipes.into_iter().filter_map(|pipe| Some(rate(from, pipe)? / rate(to, pipe)?));
    let (low, high) = ratios.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), r| (low.min(r), high.max(r)));
    if high > 0.0 { (low, high) } else { (1.0, 1.0) }
}

/// The time of a group on another GPU, with the error of such predictions.
pub fn elsewhere(group: &KernelGroup, bound: Option<Bound>, from: &Gpu, to: &Gpu) -> Span {
    let bound = bound.filter(|_| group.kind != Kind::Communication);
    let (low, high) = factors(from, to, bound);
    Span { low: group.total * (low * (1.0 - ERROR)), high: group.total * (high * (1.0 + ERROR)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gpu::Catalog,
        profile::{Collector, Format, LaunchRecord},
    };

    #[test]
    fn each_bound_scales_by_its_own_rate() {
        let catalog = Catalog::embedded().unwrap();
        let gpu = |name: &str| catalog.find(name).unwrap().gpu;
        let (a100, h100) = (gpu("a100-sxm4-80gb"), gpu("h100-sxm5-80gb"));
        let mut collector = Collector::default();
        let duration = Some(Seconds(1e-3));
        collector.launch(&LaunchRecord { name: "add", duration, ..LaunchRecord::default() });
        let trace = collector.finish(Format::NcuRawCsv);
        let middle = |bound| {
            let span = elsewhere(&trace.groups[0], bound, &a100, &h100);
            assert!(span.low < span.high);
            (span.low.get() / (1.0 - ERROR), span.high.get() / (1.0 + ERROR))
        };
        let (low, high) = middle(Some(Bound::Memory));
        // 2.039 TB/s against 3.35 TB/s, and the shares of them that are sustained.
        assert!((low - high).abs() < 1e-15 && (0.4e-3..0.75e-3).contains(&low), "{low}");
        assert_eq!(middle(Some(Bound::Latency)), (1e-3, 1e-3));
        let (low, high) = middle(Some(Bound::Math));
        assert!(low > 0.2e-3 && high < 0.7e-3, "{low} {high}");
        let unknown = middle(None);
        assert!(unknown.0 <= low && unknown.1 >= 0.999e-3, "{unknown:?}");
        assert_eq!(elsewhere(&trace.groups[0], Some(Bound::Memory), &a100, &a100).low, Seconds(1e-3) * (1.0 - ERROR));
    }
}
