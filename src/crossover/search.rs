//! From which size the GPU wins, and stays ahead.

use super::{CrossoverError, Model, Place, Sample, words::why};

/// From which size on the GPU is faster at every size of the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// At every size of the range.
    Always,
    /// From this size on.
    Size(u64),
    /// Not at its end.
    Never,
}

/// A change of the winner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// First size of the new winner.
    pub n: u64,
    /// Whether that is the GPU.
    pub gpu: bool,
}

/// The answer over a range of sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossover {
    /// Smallest and largest size.
    pub range: (u64, u64),
    /// By the estimates.
    pub from: From,
    /// Where the GPU is as fast and the CPU as slow as the bands allow.
    pub early: From,
    /// The other way round.
    pub late: From,
    /// The same without transfer, where there is one.
    pub resident: Option<From>,
    /// Every change of the winner by the estimates, by size.
    pub crossings: Vec<Crossing>,
    /// Both sides at the first size from which the GPU wins, else at the largest.
    pub decisive: Sample,
    /// What decides, one sentence.
    pub why: String,
}

/// Sizes that are all asked, and sizes for each doubling beyond.
const EVERY: u64 = 1024;
const PER_DOUBLING: u32 = 128;
/// Longest size.
const LONGEST: u64 = 1 << 40;

/// The winner by an estimate or by an end of the bands.
type Wins = fn(&Sample) -> bool;

/// The sizes of a range that are asked, the same for every comparison over it.
fn sizes(low: u64, high: u64) -> Vec<u64> {
    let mut found: Vec<u64> = (low..=high).take(EVERY as usize).collect();
    let Some(last) = found.last().copied().filter(|last| *last < high) else { return found };
    let grown = |i: u32| libm::round(last as f64 * libm::exp2(f64::from(i) / f64::from(PER_DOUBLING))) as u64;
    found.extend((1..).map(grown).take_while(|size| *size < high));
    found.push(high);
    found.dedup();
    found
}

impl Model {
    /// Checks a range and both of its ends.
    fn ends(&self, (low, high): (u64, u64)) -> Result<(), CrossoverError> {
        if low == 0 || high <= low || high > LONGEST {
            return Err(CrossoverError::Range { low, high });
        }
        self.at(low)?;
        self.at(high)?;
        Ok(())
    }

    /// About so many sizes of a range, evenly on a logarithmic scale, both ends among them.
    ///
    /// # Errors
    /// There is no such range, or a size is too large.
    pub fn samples(&self, range: (u64, u64), count: u32) -> Result<Vec<Sample>, CrossoverError> {
        self.ends(range)?;
        let (low, high) = (range.0 as f64, range.1 as f64);
        let share = |i: u32| f64::from(i) / f64::from(count.max(2) - 1);
        let inner = (1..count.max(2) - 1).map(|i| libm::round(low * libm::pow(high / low, share(i))) as u64);
        let mut sizes: Vec<u64> = [range.0].into_iter().chain(inner).chain([range.1]).collect();
        sizes.dedup();
        sizes.into_iter().map(|n| self.at(n)).collect()
    }

    /// From which size of a range the GPU wins. Every size up to the 1,024th and 128 for each doubling beyond are asked; changes
    /// between two of them are bisected.
    ///
    /// # Errors
    /// There is no such range, or a size is too large.
    pub fn crossover(&self, range: (u64, u64)) -> Result<Crossover, CrossoverError> {
        self.ends(range)?;
        let samples: Vec<Sample> = sizes(range.0, range.1).into_iter().map(|n| self.at(n)).collect::<Result<_, _>>()?;
        let usual: Wins = |s| s.gpu.time < s.cpu.time;
        let from = self.from(&samples, usual)?;
        let crossings = self.crossings(&samples, usual)?;
        let resident = match self.request().place {
            Place::Resident => None,
            _ => {
                let resident = self.resident();
                let samples: Vec<Sample> = samples.iter().map(|s| resident.at(s.n)).collect::<Result<_, _>>()?;
                Some(resident.from(&samples, usual)?)
            }
        };
        let decisive = self.at(match from {
            From::Always => range.0,
            From::Size(n) => n,
            From::Never => range.1,
        })?;
        Ok(Crossover {
            range,
            from,
            early: self.from(&samples, |s| s.gpu.low < s.cpu.high)?,
            late: self.from(&samples, |s| s.gpu.high < s.cpu.low)?,
            resident,
            crossings,
            why: why(self, &decisive, from, resident),
            decisive,
        })
    }

    fn from(&self, samples: &[Sample], wins: Wins) -> Result<From, CrossoverError> {
        match samples.iter().rposition(|sample| !wins(sample)) {
            None => Ok(From::Always),
            Some(last) if last + 1 == samples.len() => Ok(From::Never),
            Some(last) => Ok(From::Size(self.between(samples[last].n, samples[last + 1].n, true, wins)?)),
        }
    }

    fn crossings(&self, samples: &[Sample], wins: Wins) -> Result<Vec<Crossing>, CrossoverError> {
        let pairs = samples.windows(2).filter(|pair| wins(&pair[0]) != wins(&pair[1]));
        pairs
            .map(|pair| {
                let gpu = wins(&pair[1]);
                Ok(Crossing { n: self.between(pair[0].n, pair[1].n, gpu, wins)?, gpu })
            })
            .collect()
    }

    /// The first size of the winner at `high`, who is not ahead at `low`.
    fn between(&self, mut low: u64, mut high: u64, gpu: bool, wins: Wins) -> Result<u64, CrossoverError> {
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if wins(&self.at(middle)?) == gpu { high = middle } else { low = middle }
        }
        Ok(high)
    }
}
