//! What can be wrong with a simulation on a GPU.

use crate::{
    launch::LaunchError,
    op::{
        attention::AttentionError,
        gemm::{ForceError, PrecisionError, ShapeError},
        moe::MoeError,
    },
    schedule::simulate::SimulateError,
};

/// A launch that cannot be simulated on a GPU.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// What is simulated is refused.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// More launches than anyone reads.
    #[error("case `{case}` has {launches} launches; at most {most} are simulated together: split it into cases")]
    Launches {
        /// The case; empty where there is one.
        case: String,
        /// Its launches.
        launches: usize,
        /// The most.
        most: usize,
    },
    /// A block that the GPU cannot run.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A matrix product of no shape.
    #[error("launch `{name}`: {error}")]
    Shape {
        /// The launch.
        name: String,
        /// What is wrong.
        error: ShapeError,
    },
    /// A type that the GPU lacks.
    #[error("launch `{name}`: {error}")]
    Precision {
        /// The launch.
        name: String,
        /// What is wrong.
        error: PrecisionError,
    },
    /// A tile or split that its kernels do not have.
    #[error("launch `{name}`: {error}")]
    Force {
        /// The launch.
        name: String,
        /// What is wrong.
        error: ForceError,
    },
    /// An attention call that does not exist.
    #[error("launch `{name}`: {error}")]
    Attention {
        /// The launch.
        name: String,
        /// What is wrong.
        error: Box<AttentionError>,
    },
    /// A mixture of experts that does not exist.
    #[error("launch `{name}`: {error}")]
    Experts {
        /// The launch.
        name: String,
        /// What is wrong.
        error: Box<MoeError>,
    },
    /// A value that cannot be used.
    #[error("launch `{name}`: {key} = {value}: {rule}")]
    Value {
        /// The launch.
        name: String,
        /// The key.
        key: &'static str,
        /// As given.
        value: String,
        /// What is wrong and what would be right.
        rule: String,
    },
    /// CPUs have no block scheduler.
    #[error("{name} is a CPU: its blocks are placed by an operating system; name a GPU")]
    Cpu {
        /// Name of the CPU.
        name: String,
    },
}
