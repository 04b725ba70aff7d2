//! What probably holds a traced launch back: a trace has times but no counters.

use super::{Judged, KernelGroup, kind::Kind};
use crate::{time::Bound, units::Seconds};

/// A kernel of this length or less is mostly launch, ramp and drain: these take 2 to 5 us on every stack that was
/// measured (`docs/model.md`, section 13).
const SHORT: Seconds = Seconds(5e-6);
/// Share of a wave below which SMs lack blocks.
const FEW_BLOCKS: f64 = 0.5;

/// The bound that length, grid and name suggest, with the reason; absent where they suggest none.
pub fn likely_bound(group: &KernelGroup, judged: &Judged) -> Option<(Bound, &'static str)> {
    let mean = group.kernel.duration?;
    if mean <= SHORT {
        return Some((Bound::Latency, "5 us or less: launch, ramp and drain"));
    }
    if group.kind == Kind::Communication {
        return None;
    }
    if judged.schedule.as_ref().is_some_and(|s| s.waves() < FEW_BLOCKS) {
        return Some((Bound::Latency, "blocks for less than half of the slots"));
    }
    match group.kind {
        Kind::MatrixProduct | Kind::Convolution => Some((Bound::Math, "by its name: math unless it has few rows")),
        Kind::Attention => Some((Bound::Math, "by its name: math in a prompt, memory in a decode")),
        Kind::Norm | Kind::Reduction | Kind::ElementWise | Kind::Index => {
            Some((Bound::Memory, "by its name: it moves more than it computes"))
        }
        Kind::Communication | Kind::Other => None,
    }
}
