//! Times at which a device is busy.

/// Intervals of a device, merged now and then so that they stay few.
#[derive(Clone, Debug, Default)]
pub(super) struct Intervals {
    pub list: Vec<(f64, f64)>,
    merged: usize,
}

/// So many intervals are kept before those that touch are joined.
const MERGE_AT: usize = 1 << 20;

impl Intervals {
    /// Adds one.
    pub fn add(&mut self, from: f64, to: f64) {
        if to > from {
            self.list.push((from, to));
        }
        // After a merge that freed little, wait until there are twice as many.
        if self.list.len() >= (2 * self.merged).max(MERGE_AT) {
            self.merge();
        }
    }

    /// Joins those that touch.
    pub fn merge(&mut self) {
        self.list.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut joined: Vec<(f64, f64)> = Vec::new();
        for (from, to) in self.list.drain(..) {
            match joined.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => joined.push((from, to)),
            }
        }
        self.merged = joined.len();
        self.list = joined;
    }

    /// Their length, after a merge.
    pub fn length(&self) -> f64 {
        self.list.iter().map(|(from, to)| to - from).sum()
    }
}
