//! Times at which a device is busy, in memory that does not grow with their number.

/// Intervals of a device. Those that touch are joined; of very many the oldest are summed up and forgotten, which is exact
/// where launches come in the order of their beginnings, give or take half of what is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Intervals {
    list: Vec<(f64, f64)>,
    /// Of those forgotten: the first beginning, the last end, and their length.
    sealed: Option<(f64, f64, f64)>,
    /// Length of what came too late, into the time of those forgotten: it may have been counted or not.
    late: f64,
    /// So many are kept; fewer than [`KEPT`] in tests alone.
    kept: Option<usize>,
}

/// Intervals that are kept, 16 bytes each: half a million launches may come in any order.
const KEPT: usize = 1 << 19;

/// What the intervals of a device come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Busy {
    /// From the first beginning to the last end.
    pub span: f64,
    /// Length of all, what overlaps once.
    pub length: f64,
    /// By so much the length may be too little.
    pub unsure: f64,
}

impl Intervals {
    /// Adds one.
    pub fn add(&mut self, from: f64, to: f64) {
        let mut from = from;
        if let Some((_, end, _)) = self.sealed.filter(|(_, end, _)| from < *end) {
            self.late += to.min(end) - from;
            if let Some(sealed) = &mut self.sealed {
                sealed.0 = sealed.0.min(from);
            }
            from = end;
        }
        if to > from {
            self.list.push((from, to));
        }
        let kept = self.kept.unwrap_or(KEPT);
        if self.list.len() >= kept {
            self.merge();
            if self.list.len() > kept / 2 {
                self.seal(kept / 4);
            }
        }
    }

    /// What they come to.
    pub fn busy(mut self) -> Busy {
        self.merge();
        self.seal(self.list.len());
        let (first, last, length) = self.sealed.unwrap_or_default();
        Busy { span: last - first, length, unsure: self.late }
    }

    /// Joins those that touch.
    fn merge(&mut self) {
        self.list.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        self.list.dedup_by(|next, last| {
            let touch = next.0 <= last.1;
            if touch {
                last.1 = last.1.max(next.1);
            }
            touch
        });
    }

    /// Forgets so many of the oldest.
    fn seal(&mut self, count: usize) {
        for (from, to) in self.list.drain(..count) {
            let (first, end, length) = self.sealed.unwrap_or((from, to, 0.0));
            self.sealed = Some((first.min(from), end.max(to), length + to - from));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(kept: usize, all: impl IntoIterator<Item = (f64, f64)>) -> Busy {
        let mut intervals = Intervals { kept: Some(kept), ..Intervals::default() };
        all.into_iter().for_each(|(from, to)| intervals.add(from, to));
        assert!(intervals.list.len() <= kept);
        intervals.busy()
    }

    #[test]
    fn few_are_exact_in_any_order() {
        let all = [(5.0, 6.0), (0.0, 1.0), (0.5, 2.0), (6.0, 7.0), (3.0, 3.0)];
        assert_eq!(busy(100, all), Busy { span: 7.0, length: 4.0, unsure: 0.0 });
        assert_eq!(busy(100, []), Busy::default());
    }

    #[test]
    fn many_are_exact_where_order_is_kept_nearly() {
        // Pairs swapped: the distance in order is one.
        let one = |i: u32| (f64::from(i ^ 1) * 2.0, f64::from(i ^ 1) * 2.0 + 1.0);
        assert_eq!(busy(16, (0..10_000).map(one)), Busy { span: 19_999.0, length: 10_000.0, unsure: 0.0 });
    }

    #[test]
    fn what_comes_late_is_owned_up_to() {
        let all = (0..1000).map(|i| (f64::from(i) * 2.0, f64::from(i) * 2.0 + 1.0));
        let found = busy(16, all.chain([(1.0, 1.5), (-4.0, 0.5)]));
        assert_eq!(found, Busy { span: 2003.0, length: 1000.0, unsure: 5.0 });
    }
}
