//! What a prediction has to beat: rooflines.

use super::Search;

/// What a roofline needs of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needs {
    /// Time of the arithmetic at the datasheet peak, in seconds.
    pub math: f64,
    /// Time of the traffic at the datasheet bandwidth, in seconds.
    pub memory: f64,
}

impl Needs {
    /// The datasheet roofline.
    pub fn datasheet(&self) -> f64 {
        self.math.max(self.memory)
    }
}

/// A roofline with three constants fitted to measurements: t0 + max(math / a, memory / b).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitted {
    /// Share of the peak that is reached.
    pub math_share: f64,
    /// Share of the bandwidth that is reached.
    pub memory_share: f64,
    /// Time of an empty kernel, in seconds.
    pub fixed: f64,
}

impl Fitted {
    /// Its prediction.
    pub fn time(&self, needs: &Needs) -> f64 {
        self.fixed + (needs.math / self.math_share).max(needs.memory / self.memory_share)
    }

    /// The constants with the least mean |log(predicted / measured)|, by a search that halves its steps. The shares may
    /// exceed 1: data from L2, and clocks above the datasheet's.
    pub fn new(rows: &[(Needs, f64)]) -> Self {
        let logs: Vec<(Needs, f64)> = rows.iter().map(|(needs, measured)| (*needs, libm::log(*measured))).collect();
        let least = rows.iter().map(|row| row.1).fold(f64::INFINITY, f64::min);
        let of = |at: &[f64; 3]| {
            let [math_share, memory_share, fixed] = at.map(libm::exp);
            Self { math_share, memory_share, fixed }
        };
        let loss = |at: &[f64; 3]| {
            let roofline = of(at);
            logs.iter().map(|(needs, log)| (libm::log(roofline.time(needs)) - log).abs()).sum::<f64>()
        };
        let search = Search::new(3, false, 0.4, 1e-3);
        let mut best = ([0.0; 3], f64::INFINITY);
        for start in [[0.8, 0.8, 0.9], [0.4, 0.8, 0.5], [0.8, 1.6, 0.9], [0.2, 0.4, 0.9]] {
            let start = [libm::log(start[0]), libm::log(start[1]), libm::log(start[2] * least)];
            let (at, found) = search.least(&start, |at| loss(&[at[0], at[1], at[2]]));
            if found < best.1 {
                best = ([at[0], at[1], at[2]], found);
            }
        }
        of(&best.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_constants_behind_its_own_times() {
        let truth = Fitted { math_share: 0.7, memory_share: 0.85, fixed: 3e-6 };
        let rows: Vec<(Needs, f64)> = (0..200)
            .map(|i| {
                let needs = Needs { math: 1e-6 * f64::from(1 + i * i), memory: 2e-4 / f64::from(1 + i) };
                (needs, truth.time(&needs))
            })
            .collect();
        let found = Fitted::new(&rows);
        assert!((found.math_share / truth.math_share - 1.0).abs() < 0.01, "{found:?}");
        assert!((found.memory_share / truth.memory_share - 1.0).abs() < 0.01, "{found:?}");
        assert!((found.fixed / truth.fixed - 1.0).abs() < 0.05, "{found:?}");
    }
}
