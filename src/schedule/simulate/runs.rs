//! What blocks ask for, and grids of unequal blocks as run-length classes.

use crate::units::Seconds;

/// Shared resources, in the order of [`Demand::shares`].
pub const RESOURCES: usize = 4;

/// What a block needs, each as the time that the resource would take for this block alone. All of it runs beside each
/// other; the block ends with the last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Demand {
    /// Arithmetic, of one SM.
    pub math: Seconds,
    /// Bytes through the port of one SM.
    pub port: Seconds,
    /// Bytes of L2, of the whole GPU.
    pub l2: Seconds,
    /// Bytes of DRAM, of the whole GPU.
    pub dram: Seconds,
    /// Waiting that nobody shares, such as a chain of accesses.
    pub latency: Seconds,
}

impl Demand {
    /// The shared demands: arithmetic, port, L2, DRAM.
    pub fn shares(&self) -> [f64; RESOURCES] {
        [self.math.get(), self.port.get(), self.l2.get(), self.dram.get()]
    }

    /// Time of the block with the GPU to itself.
    pub fn alone(&self) -> Seconds {
        self.shares().into_iter().map(Seconds).fold(self.latency, Seconds::max)
    }

    /// The sum with a multiple of another demand.
    pub fn plus(self, times: f64, other: Self) -> Self {
        Self {
            math: self.math + other.math * times,
            port: self.port + other.port * times,
            l2: self.l2 + other.l2 * times,
            dram: self.dram + other.dram * times,
            latency: self.latency + other.latency * times,
        }
    }

    /// All of it, so many times.
    pub fn times(self, factor: f64) -> Self {
        Self::default().plus(factor, self)
    }

    /// Whether every part is a time.
    pub fn is_legal(&self) -> bool {
        let time = |t: f64| t.is_finite() && t >= 0.0;
        self.shares().into_iter().all(time) && time(self.latency.get())
    }
}

/// Successive blocks with the same demand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Blocks.
    pub count: u64,
    /// What each needs.
    pub demand: Demand,
}

/// The blocks of a grid in order: runs of equal ones, the whole sequence repeated.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Runs {
    runs: Vec<Run>,
    /// Blocks up to and including a run.
    ends: Vec<u64>,
    repeat: u64,
}

impl Runs {
    /// So many equal blocks.
    pub fn equal(count: u64, demand: Demand) -> Self {
        Self::new([Run { count, demand }], 1)
    }

    /// A sequence of runs, repeated; neighbours with the same demand become one, empty ones vanish.
    pub fn new(runs: impl IntoIterator<Item = Run>, repeat: u64) -> Self {
        let mut joined: Vec<Run> = Vec::new();
        for run in runs.into_iter().filter(|run| run.count > 0) {
            match joined.last_mut() {
                Some(last) if last.demand == run.demand => last.count = last.count.saturating_add(run.count),
                _ => joined.push(run),
            }
        }
        if let ([only], true) = (joined.as_mut_slice(), repeat > 0) {
            only.count = only.count.saturating_mul(repeat);
            return Self { ends: vec![joined[0].count], runs: joined, repeat: 1 };
        }
        let mut end = 0u64;
        let ends = joined.iter().map(|run| {
            end = end.saturating_add(run.count);
            end
        });
        Self { ends: ends.collect(), runs: joined, repeat }
    }

    /// Blocks.
    pub fn blocks(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0).saturating_mul(self.repeat)
    }

    /// The runs of one repetition.
    pub fn classes(&self) -> &[Run] {
        &self.runs
    }

    /// How often the runs repeat.
    pub fn repeat(&self) -> u64 {
        self.repeat
    }

    /// The same blocks with the longest first, by the time that each takes alone; equal ones keep their order.
    pub fn longest_first(&self) -> Self {
        let mut runs = self.runs.clone();
        for run in &mut runs {
            run.count = run.count.saturating_mul(self.repeat);
        }
        runs.sort_by(|a, b| b.demand.alone().get().total_cmp(&a.demand.alone().get()));
        Self::new(runs, 1)
    }

    /// What all blocks together need.
    pub fn total(&self) -> Demand {
        let sum = self.runs.iter().fold(Demand::default(), |sum, run| sum.plus(run.count as f64, run.demand));
        sum.times(self.repeat as f64)
    }

    /// Class of a block and its demand, by its place in the grid, which is less than [`Self::blocks`].
    pub fn at(&self, index: u64) -> (u32, Demand) {
        let round = self.ends.last().copied().unwrap_or(1).max(1);
        let class = self.ends.partition_point(|end| *end <= index % round);
        (class as u32, self.runs[class].demand)
    }
}

/// A place in a sequence of blocks that moves forward without a search.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    class: usize,
    left: u64,
    /// Blocks that were given out.
    pub next: u64,
}

impl Cursor {
    /// The next block: its place in the grid, class and demand. The caller asks no more often than there are blocks.
    pub fn take(&mut self, runs: &Runs) -> (u64, u32, Demand) {
        if self.next == 0 {
            (self.class, self.left) = (0, runs.runs[0].count);
        } else if self.left == 0 {
            self.class = if self.class + 1 < runs.runs.len() { self.class + 1 } else { 0 };
            self.left = runs.runs[self.class].count;
        }
        self.left -= 1;
        self.next += 1;
        (self.next - 1, self.class as u32, runs.runs[self.class].demand)
    }
}
