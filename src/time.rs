//! The time of a launch: one term per resource, and how they combine. Equations: `docs/model.md`.

mod combine;
mod outline;
mod terms;
pub mod tiled;

pub(crate) use combine::{DROOP_TIME, p_sum};
use combine::{Sides, p_sums};
pub use outline::{Outline, outline};
pub use terms::{Rates, rates};

use crate::{
    gpu::{Gpu, Pipe},
    kernel::Level,
    launch::Launch,
    schedule::Schedule,
    units::Seconds,
};

/// What a term stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A pipe of the busiest SM.
    Pipe(Pipe),
    /// Instruction issue of the busiest SM at one instruction per scheduler and cycle.
    Issue,
    /// A memory level.
    Memory(Level),
    /// What the ports of the SMs can stream, where all of them have work.
    SmPorts,
    /// The same where too few SMs have blocks to draw the bandwidth.
    FewSms,
    /// Memory accesses that wait for each other, and the turnaround of blocks.
    Chain,
    /// Too few arithmetic instructions in flight to issue every cycle.
    ArithmeticLatency,
    /// Finished tiles of a matrix product on their way out of the busiest SM; follows its pipe or waiting.
    Store,
    /// Adding up the partial sums of a split matrix product.
    Split,
    /// Launch gap, ramp, first load and drain on the device.
    Fixed,
    /// What the host adds to a launch.
    Launch,
}

impl Resource {
    /// For people.
    pub fn label(self) -> String {
        match self {
            Self::Pipe(pipe) => pipe.label(),
            Self::Issue => "instruction issue".into(),
            Self::Memory(level) => level.label().into(),
            Self::SmPorts => "SM ports".into(),
            Self::FewSms => "too few SMs".into(),
            Self::Chain => "memory latency".into(),
            Self::ArithmeticLatency => "arithmetic latency".into(),
            Self::Store => "output store".into(),
            Self::Split => "split-K sum".into(),
            Self::Fixed => "fixed cost".into(),
            Self::Launch => "host launch".into(),
        }
    }

    /// The bound that this term belongs to.
    pub fn bound(self) -> Bound {
        match self {
            Self::Pipe(_) | Self::Issue | Self::Store => Bound::Math,
            Self::Memory(_) | Self::SmPorts => Bound::Memory,
            _ => Bound::Latency,
        }
    }
}

/// Issue within 5 % of a pipe counts as that pipe's own.
const ISSUE_TIE: f64 = 0.95;

/// What holds a kernel back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// The arithmetic units or instruction issue.
    Math,
    /// Bandwidth of a memory level.
    Memory,
    /// Neither: too little in flight, chains of waiting, fixed costs.
    Latency,
}

impl Bound {
    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Math => "math",
            Self::Memory => "memory",
            Self::Latency => "latency",
        }
    }
}

/// One resource and the time that it alone would take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The resource.
    pub resource: Resource,
    /// Time with the sustained rate of the calibration.
    pub time: Seconds,
    /// Time with the datasheet rate: no faster than this.
    pub least: Seconds,
}

/// What the range around an estimate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// The model's own: from perfect overlap at datasheet rates to no overlap between SMs, memory levels and ports.
    Overlap,
    /// Where four of five measured times of such kernels lie; wide where nobody measured them, which is said.
    Band {
        /// Why the band is no better known.
        unmeasured: Option<&'static str>,
    },
}

/// The predicted time of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeEstimate {
    /// The estimate.
    pub estimate: Seconds,
    /// Low end of the range.
    pub low: Seconds,
    /// High end of the range.
    pub high: Seconds,
    /// What the range is.
    pub range: Range,
    /// Share by which power lengthens the time of a long tensor kernel, 0 where it does not.
    pub power_droop: f64,
    /// Every resource that takes any time, in the order math, memory, latency.
    pub terms: Vec<Term>,
    /// Share of the estimate that a grid of whole waves would save, 0 to 1.
    pub tail_cost: f64,
    /// Share of the DRAM traffic that stays in L2 from the launch before, 0 to 1.
    pub l2_hit: f64,
    /// Whether pipes work one after the other, so that math is their sum; else beside each other.
    pub pipes_in_turn: bool,
}

impl TimeEstimate {
    /// Time of one resource; zero where it is not used.
    pub fn of(&self, resource: Resource) -> Seconds {
        of(&self.terms, resource)
    }

    /// The largest term of a bound, with its resource. For latency the fixed costs are added to the largest other
    /// term, for math the output of a matrix product, since these follow each other; the host's launch is left out of
    /// the bound.
    pub fn side(&self, bound: Bound) -> (Option<Resource>, Seconds) {
        side(&self.terms, self.pipes_in_turn, bound)
    }

    /// The bound, the resource that makes it, and its ratio to the next bound (1 = a tie).
    pub fn bound(&self) -> (Bound, Option<Resource>, f64) {
        bound(&self.terms, self.pipes_in_turn)
    }
}

fn of(terms: &[Term], resource: Resource) -> Seconds {
    terms.iter().find(|t| t.resource == resource).map_or(Seconds::ZERO, |t| t.time)
}

fn side(terms: &[Term], pipes_in_turn: bool, bound: Bound) -> (Option<Resource>, Seconds) {
    let own = terms.iter().filter(|t| {
        t.resource.bound() == bound
            && !matches!(t.resource, Resource::Fixed | Resource::Split | Resource::Launch | Resource::Store)
    });
    // Issue that is no longer than the pipe by more than rounding of instruction counts is the pipe's own issue.
    let weight = |t: &Term| t.time.get() * if t.resource == Resource::Issue { ISSUE_TIE } else { 1.0 };
    let largest = own.max_by(|a, b| weight(a).total_cmp(&weight(b)));
    let (resource, mut time) = largest.map_or((None, Seconds::ZERO), |t| (Some(t.resource), t.time));
    if pipes_in_turn && bound == Bound::Math {
        let pipes = terms.iter().filter(|t| matches!(t.resource, Resource::Pipe(_)));
        time = pipes.map(|t| t.time).sum();
    }
    let (follows, following) = match bound {
        Bound::Math => (Resource::Store, of(terms, Resource::Store)),
        Bound::Memory => return (resource, time),
        Bound::Latency => {
            let (fixed, split) = (of(terms, Resource::Fixed), of(terms, Resource::Split));
            (if split > fixed { Resource::Split } else { Resource::Fixed }, fixed + split)
        }
    };
    (if following > time { Some(follows) } else { resource }, following + time)
}

fn bound(terms: &[Term], pipes_in_turn: bool) -> (Bound, Option<Resource>, f64) {
    let mut sides = [Bound::Math, Bound::Memory, Bound::Latency].map(|b| (b, side(terms, pipes_in_turn, b)));
    sides.sort_by(|a, b| b.1.1.get().total_cmp(&a.1.1.get()));
    let margin = if sides[1].1.1.get() > 0.0 { sides[0].1.1 / sides[1].1.1 } else { f64::INFINITY };
    (sides[0].0, sides[0].1.0, margin)
}

/// Whether the host's part of a launch is inside the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Timing {
    /// Kernel time on the device, as a profiler measures it.
    #[default]
    Device,
    /// Time around a launch in a stream.
    Launch,
}

/// Predicts the time of a launch.
pub fn estimate(gpu: &Gpu, launch: &Launch, schedule: &Schedule, timing: Timing) -> TimeEstimate {
    let Found { terms, l2_hit, estimate, low, high, power_droop, tail_cost } = find(gpu, launch, schedule, timing);
    TimeEstimate {
        estimate,
        low,
        high,
        range: Range::Overlap,
        power_droop,
        terms: terms.into_vec(),
        tail_cost,
        l2_hit,
        pipes_in_turn: false,
    }
}

struct Found {
    terms: terms::Terms,
    l2_hit: f64,
    estimate: Seconds,
    low: Seconds,
    high: Seconds,
    power_droop: f64,
    tail_cost: f64,
}

fn find(gpu: &Gpu, launch: &Launch, schedule: &Schedule, timing: Timing) -> Found {
    let found = terms::terms(gpu, launch, &terms::Shares::quantised(schedule));
    let balanced = terms::terms(gpu, launch, &terms::Shares::balanced(schedule));
    let overhead = match timing {
        Timing::Device => Seconds::ZERO,
        Timing::Launch => gpu.calibration.constants.launch_overhead,
    };
    let (sides, balanced) = (Sides::new(gpu, &found.terms), Sides::new(gpu, &balanced.terms));
    let (body, without_tail) = p_sums(&sides.body, &balanced.body, gpu.calibration.constants.overlap_exponent);
    let (device, power_droop) = sides.total(body);
    let (without_tail, _) = balanced.total(without_tail);
    let (high, _) = sides.total(sides.body.iter().copied().sum());
    let work = |pick: fn(&Term) -> Seconds| {
        found.terms.iter().filter(|t| !matches!(t.resource, Resource::Fixed | Resource::Split)).map(pick)
    };
    let low = work(|t| t.least).fold(Seconds::ZERO, Seconds::max);
    let mut terms = found.terms;
    if overhead.get() > 0.0 {
        terms.push(Term { resource: Resource::Launch, time: overhead, least: overhead });
    }
    Found {
        terms,
        l2_hit: found.l2_hit,
        estimate: device + overhead,
        low: low + overhead,
        high: high + overhead,
        power_droop,
        tail_cost: (1.0 - without_tail / device).max(0.0),
    }
}
