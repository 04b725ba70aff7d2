//! How terms combine: what overlaps, the p-sum, and the droop of long kernels.

use super::{Resource, Term};
use crate::{
    gpu::{Gpu, Pipe},
    kernel::Level,
    units::Seconds,
};

/// The terms by what overlaps with what.
pub(super) struct Sides {
    /// What the SM itself does (pipes, issue, waiting) overlaps within an SM and counts once, by its largest; memory levels
    /// and the ports of the SMs each count for themselves.
    pub body: [Seconds; 5],
    /// What comes before and behind: the fixed cost, and the sum of a split.
    around: Seconds,
    /// What keeps the arithmetic at work, for the droop.
    busy: Seconds,
    /// The largest droop of the pipes.
    droop: f64,
}

impl Sides {
    pub fn new(gpu: &Gpu, terms: &[Term]) -> Self {
        let [mut own, mut store, mut fixed, mut split, mut tensor] = [Seconds::ZERO; 5];
        let mut levels = [Seconds::ZERO; 4];
        let mut most: Option<Pipe> = None;
        let is_tensor = |pipe: Pipe| matches!(pipe, Pipe::Tensor { .. });
        for Term { resource, time, .. } in terms {
            let longest = match resource {
                Resource::Pipe(pipe) => {
                    if is_tensor(*pipe) {
                        tensor = tensor.max(*time);
                    }
                    if most.is_none_or(|other| is_tensor(*pipe) >= is_tensor(other)) {
                        most = Some(*pipe);
                    }
                    &mut own
                }
                Resource::Issue | Resource::Chain | Resource::ArithmeticLatency => &mut own,
                Resource::Store => &mut store,
                Resource::Memory(Level::Dram) => &mut levels[0],
                Resource::Memory(Level::L2) => &mut levels[1],
                Resource::Memory(Level::Shared) => &mut levels[2],
                Resource::SmPorts | Resource::FewSms => &mut levels[3],
                Resource::Fixed => &mut fixed,
                Resource::Split => &mut split,
                Resource::Launch => continue,
            };
            *longest = longest.max(*time);
        }
        let compute = own + store;
        let [dram, l2, shared, ports] = levels;
        Self {
            body: [compute, dram, l2, shared, ports],
            around: fixed + split,
            // The output of a matrix product keeps its SM at work as its math does, be it on tensor cores or vector units.
            busy: if store.get() > 0.0 { compute } else { tensor },
            droop: most.map_or(0.0, |pipe| gpu.calibration.droop(pipe)),
        }
    }

    /// Fixed cost plus the body, with the share that power adds to it: long tensor kernels lose clock to power,
    /// t (1 + pw u t / (t + 3 ms)), u = share of the math term.
    pub fn total(&self, body: Seconds) -> (Seconds, f64) {
        let total = self.around + body;
        let share = if total.get() > 0.0 { (self.busy / total).min(1.0) } else { 0.0 };
        let droop = self.droop * share * (total / (total + DROOP_TIME));
        (total * (1.0 + droop), droop)
    }
}

/// Time scale of the power droop, set by hand in the fit of the shared constants.
pub(crate) const DROOP_TIME: Seconds = Seconds(3e-3);

/// (sum of t^p)^(1/p), computed after division by the largest term; an infinite p is the maximum.
pub(crate) fn p_sum(terms: &[Seconds], p: f64) -> Seconds {
    let largest = terms.iter().copied().fold(Seconds::ZERO, Seconds::max);
    if largest.get() <= 0.0 || !p.is_finite() {
        return largest;
    }
    let sum: f64 = terms.iter().map(|t| power(*t / largest, p)).sum();
    largest * power(sum, 1.0 / p)
}

/// The p-sums of terms and of the same terms where some are shorter: powers are dear, and most terms are equal.
pub(super) fn p_sums(terms: &[Seconds; 5], shorter: &[Seconds; 5], p: f64) -> (Seconds, Seconds) {
    let largest = terms.iter().copied().fold(Seconds::ZERO, Seconds::max);
    if largest.get() <= 0.0 || !p.is_finite() {
        return (largest, shorter.iter().copied().fold(Seconds::ZERO, Seconds::max));
    }
    let (mut sum, mut other_sum) = (0.0, 0.0);
    for (term, other) in terms.iter().zip(shorter) {
        let own = power(*term / largest, p);
        sum += own;
        other_sum += if term == other { own } else { power(*other / largest, p) };
    }
    let root = largest * power(sum, 1.0 / p);
    (root, if sum == other_sum { root } else { largest * power(other_sum, 1.0 / p) })
}

/// base^exponent of a base of at least 0, to some units in the last place; the same bits on every machine.
pub(super) fn power(base: f64, exponent: f64) -> f64 {
    match (base, exponent) {
        (0.0 | 1.0, _) | (_, 1.0) => base,
        // Twice as fast as libm::pow, whose last bits are not needed.
        _ => libm::exp2(exponent * libm::log2(base)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_sum_lies_between_the_largest_and_the_sum() {
        let terms = [Seconds(3.0), Seconds(4.0), Seconds(0.0)];
        assert!((p_sum(&terms, 2.0).get() - 5.0).abs() < 1e-12);
        assert!((p_sum(&terms, 1.0).get() - 7.0).abs() < 1e-12);
        assert_eq!(p_sum(&terms, f64::INFINITY), Seconds(4.0));
        assert_eq!(p_sum(&[], 3.3), Seconds::ZERO);
        assert!(p_sum(&[Seconds(1e-300), Seconds(1e-300)], 3.3).get() > 1e-300);
        let pair = |p| p_sums(&[3.0, 4.0, 0.0, 2.0, 1.0].map(Seconds), &[2.5, 4.0, 0.0, 2.0, 1.0].map(Seconds), p);
        for p in [1.0, 3.3, f64::INFINITY] {
            let apart = (p_sum(&[3.0, 4.0, 2.0, 1.0].map(Seconds), p), p_sum(&[2.5, 4.0, 2.0, 1.0].map(Seconds), p));
            assert!((pair(p).0 / apart.0 - 1.0).abs() < 1e-14 && (pair(p).1 / apart.1 - 1.0).abs() < 1e-14);
        }
        assert_eq!(p_sums(&[Seconds::ZERO; 5], &[Seconds::ZERO; 5], 3.3), (Seconds::ZERO, Seconds::ZERO));
    }
}
