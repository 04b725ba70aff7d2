//! Times taken around a call: what the host adds, and how much of the kernel hides behind it.

use super::{
    constants::{Stack, stack, stacks},
    model::Model,
    operation::{Operation, What},
};
use crate::{
    gpu::{Band, Gpu},
    op::estimate::Estimate,
    units::Seconds,
};

/// Whose clock stood around the call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Caller {
    /// Launches that follow each other in a stream: each adds so much.
    Stream(Seconds),
    /// One call at a time, as a source of measured times made it.
    Stack(&'static Stack),
}

/// A source whose host is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nothing is known of the host of `{source_name}`; known: {known}")]
pub struct CallerError {
    source_name: String,
    known: String,
}

/// An operation as a clock around its call sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call<'a> {
    /// The kernel, with the time and band of the call.
    pub estimate: Estimate<'a>,
    /// What the call takes beyond the kernel, in seconds: negative nowhere.
    pub launch: f64,
}

/// Share of the hidden part of a kernel that shows all the same.
const SHOWN: f64 = 0.05;

/// Time of a call that takes `launch` by itself, around a kernel of `body`, of which `hidden` runs while the host is still busy:
/// launch + max(0, body - hidden) + 0.05 min(body, hidden).
pub fn around(launch: f64, body: f64, hidden: f64) -> f64 {
    launch + (body - hidden).max(0.0) + SHOWN * body.min(hidden)
}

impl Caller {
    /// The host of a source.
    ///
    /// # Errors
    /// The source is not known.
    pub fn of(source: &str, gpu: &Gpu) -> Result<Self, CallerError> {
        let unknown = || CallerError { source_name: source.into(), known: stacks().join(", ") };
        stack(source, gpu).map(Self::Stack).ok_or_else(unknown)
    }

    /// The host of a source, or launches in a stream with the shared overhead where it is not known.
    pub fn of_or_stream(source: &str, gpu: &Gpu) -> Self {
        let stream = || Self::Stream(gpu.calibration.constants.launch_overhead);
        stack(source, gpu).map_or_else(stream, Self::Stack)
    }
}

impl Model {
    /// The time around a call.
    pub fn call(&self, operation: &Operation, caller: &Caller) -> Call<'_> {
        let mut estimate = self.estimate(operation);
        let device = estimate.time;
        let band = self.call_band(operation);
        let time = match caller {
            Caller::Stream(overhead) => device + overhead.get(),
            Caller::Stack(stack) => {
                let (launch, hidden) = self.class(operation, stack);
                around(launch.get(), device - estimate.fixed, hidden.get())
            }
        };
        let (low, high) = match (caller, estimate.unmeasured) {
            (Caller::Stack(_), None) => {
                let regime = Band::regime(Seconds(time));
                (band.low[regime].min(1.0), band.high[regime].max(1.0))
            }
            _ => (estimate.low / device, estimate.high / device),
        };
        (estimate.time, estimate.low, estimate.high) = (time, time * low, time * high);
        Call { estimate, launch: (time - device).max(0.0) }
    }

    fn call_band(&self, operation: &Operation) -> Band {
        match operation.what {
            What::Softmax => self.constants.softmax.launch,
            What::LayerNorm => {
                self.constants.layernorm[usize::from(super::operation::bytes(operation.input) > 2.0)].launch
            }
            What::RmsNorm | What::Reduction { .. } => self.constants.rmsnorm.launch,
            What::Elementwise { .. } => self.constants.elementwise.launch,
        }
    }

    fn class(&self, operation: &Operation, stack: &Stack) -> (Seconds, Seconds) {
        match operation.what {
            What::Elementwise { kind, .. } => {
                let own = &stack.elementwise;
                let usual = if kind.facts().wrapped { own.wrapped } else { own.plain };
                let gelu = own.gelu.filter(|_| kind.name() == "gelu");
                (gelu.unwrap_or(usual), own.hidden)
            }
            What::Softmax => {
                let by_warp = self.row_kernel(operation).is_some_and(|kernel| kernel.by_warp());
                (if by_warp { stack.softmax.warp } else { stack.softmax.block }, stack.softmax.hidden)
            }
            _ => (stack.layernorm.launch, stack.layernorm.hidden),
        }
    }
}
