//! Mixtures of experts: tokens are routed to a few of many small networks, whose products run as one grouped kernel.

mod constants;
mod explain;
mod loads;
mod model;
mod notes;
mod report;

pub use constants::Constants;
pub use loads::{Expert, Loads, Routing};
pub use model::{Model, Parts};
pub use notes::row;
pub use report::{Mixture, Request, mixture};

use crate::{launch::LaunchError, op::gemm::PrecisionError, units::short};

/// A layer of experts by its sizes: each is up and gate (hidden x 2 inter), an activation, and down (inter x hidden).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Tokens of all ranks together.
    pub tokens: u64,
    /// Experts of all ranks together.
    pub experts: u64,
    /// Experts that each token goes to.
    pub top_k: u64,
    /// Width of a token.
    pub hidden: u64,
    /// Width inside an expert, after division by tensor parallelism.
    pub inter: u64,
    /// Ranks that the experts are divided among; the busiest one is timed.
    pub expert_parallel: u64,
}

/// A layer that cannot be answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MoeError {
    /// A size of 0.
    #[error(
        "{field} = 0: a mixture of experts has at least one of each of tokens, experts, top-k, hidden, inter and ranks"
    )]
    Zero {
        /// Name of the size.
        field: &'static str,
    },
    /// A size beyond any model.
    #[error("{field} = {value}: at most {most} are taken")]
    Large {
        /// Name of the size.
        field: &'static str,
        /// As given.
        value: u64,
        /// The most.
        most: u64,
    },
    /// Tokens cannot go to more experts than there are.
    #[error(
        "top-k = {top_k} is more than the {experts} experts: a token goes to each expert at most once; take top-k from 1 to {experts}"
    )]
    TopK {
        /// As given.
        top_k: u64,
        /// Experts.
        experts: u64,
    },
    /// Ranks that do not share the experts evenly.
    #[error("{ranks} ranks of expert parallelism do not divide {experts} experts; take {near}")]
    Ranks {
        /// Ranks.
        ranks: u64,
        /// Experts.
        experts: u64,
        /// The nearest smaller number that divides them.
        near: u64,
    },
    /// Counts for another number of experts.
    #[error("{given} counts for {experts} experts: give one count per expert")]
    Counts {
        /// Counts as given.
        given: u64,
        /// Experts.
        experts: u64,
    },
    /// Counts that do not add up.
    #[error("the counts add up to {sum}; {tokens} tokens to {top_k} experts each are {routed}")]
    Sum {
        /// Sum as given.
        sum: u64,
        /// Tokens.
        tokens: u64,
        /// Experts of a token.
        top_k: u64,
        /// Their product.
        routed: u64,
    },
    /// More tokens than there are.
    #[error("expert {expert} has {count} tokens of {tokens}: a token goes to each expert at most once")]
    Count {
        /// Place of the expert, from 0.
        expert: usize,
        /// As given.
        count: u64,
        /// Tokens.
        tokens: u64,
    },
    /// No exponent of a power law.
    #[error("alpha = {}: write a number from 0 (all loads alike) to {most}", short(*.alpha, 6))]
    Alpha {
        /// As given.
        alpha: f64,
        /// The most.
        most: f64,
    },
    /// No routing.
    #[error(
        "routing `{input}`: write balanced, power:ALPHA such as power:1.2, or one count per expert joined by commas"
    )]
    Routing {
        /// As given.
        input: String,
    },
    /// A note that a row needs.
    #[error("notes: {key}= is absent: write experts=;topk=; and optionally ep=;routing=")]
    Absent {
        /// The key.
        key: &'static str,
    },
    /// A note that is no number.
    #[error("notes: {key}={value}: write a whole number from 1 up")]
    Note {
        /// The key.
        key: &'static str,
        /// As given.
        value: String,
    },
    /// The GPU has no tensor cores for the type.
    #[error(transparent)]
    Precision(#[from] PrecisionError),
    /// Grouped kernels need tensor cores.
    #[error(
        "{gpu} has no tensor cores for {input}: fused kernels of experts need them; take --dtype fp16 or bf16 on a GPU that has"
    )]
    NoTensor {
        /// Name of the GPU.
        gpu: String,
        /// The type.
        input: &'static str,
    },
    /// The kernel cannot be launched.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// Experts run on GPUs.
    #[error("{name} is a CPU: the kernels of mixtures of experts are known for GPUs alone")]
    Cpu {
        /// Name of the CPU.
        name: String,
    },
}

/// Most of a size, and most experts.
const MOST: u64 = 1 << 31;
const MOST_EXPERTS: u64 = 1 << 16;

impl Shape {
    /// The shape, checked.
    ///
    /// # Errors
    /// A size is 0 or beyond any model, a token goes to more experts than there are, or the ranks do not divide them.
    pub fn checked(self) -> Result<Self, MoeError> {
        for (field, value, most) in [
            ("tokens", self.tokens, MOST),
            ("experts", self.experts, MOST_EXPERTS),
            ("top-k", self.top_k, MOST_EXPERTS),
            ("hidden", self.hidden, 1 << 24),
            ("inter", self.inter, 1 << 24),
            ("ranks", self.expert_parallel, MOST_EXPERTS),
        ] {
            if value == 0 {
                return Err(MoeError::Zero { field });
            }
            if value > most {
                return Err(MoeError::Large { field, value, most });
            }
        }
        if self.top_k > self.experts {
            return Err(MoeError::TopK { top_k: self.top_k, experts: self.experts });
        }
        if !self.experts.is_multiple_of(self.expert_parallel) {
            let near = (1..self.expert_parallel.min(self.experts)).rev().find(|r| self.experts.is_multiple_of(*r));
            let (ranks, experts) = (self.expert_parallel, self.experts);
            return Err(MoeError::Ranks { ranks, experts, near: near.unwrap_or(1) });
        }
        Ok(self)
    }

    /// Rows of all experts: every token, as often as it is routed.
    pub fn routed(&self) -> u64 {
        self.tokens * self.top_k
    }
}
