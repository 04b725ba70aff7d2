//! What binds a kernel, by how much, what was found, and what would change it.

mod findings;
mod whatif;

pub use findings::confidence;
pub use whatif::{Change, WhatIf};

use crate::{
    gpu::Gpu,
    launch::Launch,
    schedule::Schedule,
    time::{Bound, Resource, TimeEstimate, Timing},
    units::decimal,
};

/// The verdict on one launch.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What holds it back.
    pub bound: Bound,
    /// The resource behind the bound.
    pub resource: Option<Resource>,
    /// Ratio of the bound's time to the next bound's; 1 is a tie.
    pub margin: f64,
    /// One sentence.
    pub sentence: String,
    /// Observations that matter for this bound.
    pub findings: Vec<String>,
    /// Changes that would help, best first; each was judged again after the change.
    pub what_ifs: Vec<WhatIf>,
    /// What the answer leaves out.
    pub ignored: Vec<String>,
    /// How sure it is and whose constants it uses.
    pub confidence: String,
}

/// Who gives the time of a launch.
#[derive(Clone, Copy)]
pub enum Model<'a> {
    /// The general model of kernels.
    General(Timing),
    /// An operation's own, on any GPU; absent where that GPU cannot run it.
    Operation(&'a dyn Fn(&Gpu) -> Option<TimeEstimate>),
}

/// Ratio below which two bounds count as balanced.
pub const BALANCED: f64 = 1.1;

/// Judges a launch.
pub fn verdict(gpu: &Gpu, launch: &Launch, schedule: &Schedule, time: &TimeEstimate, model: Model) -> Verdict {
    let (bound, resource, margin) = time.bound();
    let what_ifs = whatif::what_ifs(gpu, launch, time, model);
    // An operation chose its kernel by time: what could be said of its occupancy and traffic is no finding.
    let chosen = launch.kernel.tiled.is_some() || matches!(model, Model::Operation(_));
    Verdict {
        bound,
        resource,
        margin,
        sentence: sentence(bound, resource, margin, time),
        findings: findings::findings(gpu, launch, schedule, time, bound, chosen),
        what_ifs,
        ignored: findings::ignored(gpu, launch, chosen),
        confidence: confidence(gpu, launch, time.range),
    }
}

fn sentence(bound: Bound, resource: Option<Resource>, margin: f64, time: &TimeEstimate) -> String {
    let by = |resource: Option<Resource>| resource.map_or(String::new(), |r| format!(" ({})", r.label()));
    let head = format!("{}-bound{}", bound.word(), by(resource));
    let others = [Bound::Math, Bound::Memory, Bound::Latency].into_iter().filter(|b| *b != bound);
    let next = others.max_by(|a, b| time.side(*a).1.get().total_cmp(&time.side(*b).1.get()));
    let Some(next) = next.filter(|_| margin.is_finite()) else { return head };
    let next = format!("{}{}", next.word(), by(time.side(next).0));
    if margin < BALANCED {
        format!("{head}, nearly balanced with {next}")
    } else if margin < 100.0 {
        format!("{head}: {} times {next}", decimal(margin, 1))
    } else {
        format!("{head}: the other bounds take less than 1 % of its time")
    }
}
