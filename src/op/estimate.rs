//! What the model of an operation says of one launch, lean enough for tables of millions of rows.

use crate::{
    gpu::{ConstantsOf, Gpu, Pipe},
    kernel::Level,
    time::{Bound, Range, Resource, Term, TimeEstimate},
    units::Seconds,
};

/// The time of an operation on one GPU by the operation's own model. Times are in seconds, on the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate<'a> {
    /// The estimate.
    pub time: f64,
    /// Low end of the 80 % band.
    pub low: f64,
    /// High end of the 80 % band.
    pub high: f64,
    /// Arithmetic of the busiest SM, by the pipe that takes longest.
    pub math: f64,
    /// The pipe of `math`; absent where the operation has no arithmetic that counts.
    pub pipe: Option<Pipe>,
    /// DRAM.
    pub dram: f64,
    /// L2 and the ports of the SMs.
    pub l2: f64,
    /// What waits: chains of accesses, prologues of blocks.
    pub latency: f64,
    /// Fixed cost of the launches of the call.
    pub fixed: f64,
    /// Name of the kernel's kind, such as `fa2` or `block per row`.
    pub kernel: &'static str,
    /// Tile, height and width, where the kernel has one.
    pub tile: Option<(u32, u32)>,
    /// Shares into which the inner dimension is cut.
    pub splits: u32,
    /// Blocks.
    pub blocks: f64,
    /// Resident blocks per SM.
    pub blocks_per_sm: u32,
    /// Operations that the call is credited with.
    pub flop: f64,
    /// Least traffic of the call, in bytes: every operand once.
    pub bytes: f64,
    /// Datasheet peak of the pipe that a roofline would use, in operations per second; infinite without arithmetic.
    pub peak: f64,
    /// Whose constants were used.
    pub of: &'a ConstantsOf,
    /// Why no measurement stands behind the time; absent where one does.
    pub unmeasured: Option<&'static str>,
}

impl Estimate<'_> {
    /// Waves of blocks on a GPU.
    pub fn waves(&self, gpu: &Gpu) -> f64 {
        self.blocks / (f64::from(gpu.units()) * f64::from(self.blocks_per_sm.max(1)))
    }

    /// The largest of math, memory (the larger of DRAM and L2) and latency with the fixed cost.
    pub fn bound(&self) -> Bound {
        let (memory, latency) = (self.dram.max(self.l2), self.latency + self.fixed);
        if latency > memory.max(self.math) {
            Bound::Latency
        } else if memory > self.math {
            Bound::Memory
        } else {
            Bound::Math
        }
    }

    /// The same for a report.
    pub fn report(&self) -> TimeEstimate {
        let mut terms = Vec::new();
        let mut term = |resource, time: f64| {
            if time > 0.0 {
                terms.push(Term { resource, time: Seconds(time), least: Seconds::ZERO });
            }
        };
        if let Some(pipe) = self.pipe {
            term(Resource::Pipe(pipe), self.math);
        }
        term(Resource::Memory(Level::Dram), self.dram);
        term(Resource::Memory(Level::L2), self.l2);
        term(Resource::Chain, self.latency);
        term(Resource::Fixed, self.fixed);
        TimeEstimate {
            estimate: Seconds(self.time),
            low: Seconds(self.low),
            high: Seconds(self.high),
            range: Range::Band { unmeasured: self.unmeasured },
            power_droop: 0.0,
            terms,
            tail_cost: 0.0,
            l2_hit: 0.0,
            pipes_in_turn: false,
        }
    }
}
