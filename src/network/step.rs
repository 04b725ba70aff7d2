//! The operations of one step of a network: a prompt, one new token per sequence, or one training iteration.

mod backward;
mod forward;
mod mixer;

use std::str::FromStr;

use super::{Feed, Mixer, Network};
use crate::{
    gpu::DataType,
    op::{attention, moe, rowwise::Operation},
};

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Whole prompts, and the first new token of each.
    Prefill,
    /// One new token per sequence.
    Decode,
    /// Forward, backward and optimizer over whole sequences.
    Train,
}

impl Phase {
    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::Train => "train",
        }
    }
}

/// What training computes a second time instead of keeping it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recompute {
    /// Nothing.
    #[default]
    None,
    /// Attention's scores, softmax and its dropout; a fused kernel does so anyway.
    Selective,
    /// Every layer: only its input is kept.
    Full,
}

impl FromStr for Recompute {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "none" => Ok(Self::None),
            "selective" => Ok(Self::Selective),
            "full" => Ok(Self::Full),
            _ => Err(format!(
                "`{text}` is no kind of recomputation: write none, selective (attention's scores) or full (whole layers)"
            )),
        }
    }
}

/// A step of a network on one GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// What it does.
    pub phase: Phase,
    /// Sequences.
    pub batch: u64,
    /// Tokens of a sequence: of the prompt, of the cache with the new one, or of the training sequence.
    pub tokens: u64,
    /// Type of activations, and of weights that are not quantised.
    pub data: DataType,
    /// Type of the products with weights: `data`, or narrower.
    pub products: DataType,
    /// Bytes of a weight of the products in memory.
    pub weight_bytes: f64,
    /// Bytes of a weight of chosen experts in memory.
    pub expert_bytes: f64,
    /// Bytes of an element of the cache of keys and values.
    pub cache_bytes: f64,
    /// GPUs that share every layer.
    pub tensor_parallel: u64,
    /// Whether attention is one kernel that keeps no scores.
    pub fused: bool,
    /// What training computes twice.
    pub recompute: Recompute,
}

/// A step that the network does not have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// A size of 0, or beyond any memory.
    #[error("{what} is {value}: write a number from 1 to {most}")]
    Size {
        /// Which.
        what: &'static str,
        /// As given.
        value: u64,
        /// The most.
        most: u64,
    },
    /// A sequence longer than the network allows.
    #[error(
        "{tokens} tokens are more than the {longest} that {network} allows (its configuration says so); take at most {longest}"
    )]
    Long {
        /// As given.
        tokens: u64,
        /// The most.
        longest: u64,
        /// Name of the network.
        network: String,
    },
    /// A degree of tensor parallelism that does not divide.
    #[error("tensor parallelism over {degree} GPUs does not divide {what} of {value}; {near} does")]
    Degree {
        /// As given.
        degree: u64,
        /// What is divided.
        what: &'static str,
        /// Its size.
        value: u64,
        /// The largest smaller degree that divides it.
        near: u64,
    },
    /// An encoder makes no tokens one by one.
    #[error("{network} is an encoder: it has no decode; take prefill or train")]
    Encoder {
        /// Name of the network.
        network: String,
    },
    /// No attention call.
    #[error(transparent)]
    Attention(#[from] attention::AttentionError),
    /// No mixture of experts.
    #[error(transparent)]
    Experts(#[from] moe::MoeError),
    /// No operation on elements or rows.
    #[error(transparent)]
    Rows(#[from] crate::op::rowwise::OperationError),
    /// No product.
    #[error(transparent)]
    Product(#[from] crate::op::gemm::ShapeError),
}

/// Kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Products of matrices, attention among them.
    Product,
    /// Norms, softmax, sums.
    Reduction,
    /// One result per element.
    Elementwise,
    /// Between GPUs.
    Communication,
}

impl Class {
    /// All, in the order of outputs.
    pub const ALL: [Self; 4] = [Self::Product, Self::Reduction, Self::Elementwise, Self::Communication];

    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Product => "matrix products",
            Self::Reduction => "reductions",
            Self::Elementwise => "element-wise",
            Self::Communication => "communication",
        }
    }
}

/// Which pass of a step an operation belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pass {
    /// Forward.
    Forward,
    /// Forward once more, for what was not kept.
    Again,
    /// Backward.
    Backward,
    /// Optimizer.
    Update,
}

/// What an operation is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// `batch` products of an m x k and a k x n matrix.
    Product {
        /// Products of this shape in one kernel.
        batch: u64,
        /// Rows of A.
        m: u64,
        /// Columns of B.
        n: u64,
        /// Columns of A.
        k: u64,
        /// Whether B are weights as they lie in memory, so that their stored bytes count.
        weights: bool,
    },
    /// Fused attention.
    Attention(attention::Shape),
    /// A mixture's chosen experts.
    Experts(moe::Shape),
    /// Rows or elements.
    Rows(Operation),
    /// What no model of its own exists for: operations on the unit of `data`, and bytes.
    Other {
        /// FLOP.
        flop: f64,
        /// Bytes read and written.
        bytes: f64,
    },
    /// A ring all-reduce of so many bytes between the GPUs.
    AllReduce {
        /// Bytes.
        bytes: f64,
    },
}

/// An operation of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Op {
    /// Its part of the network, such as `QKV projection`.
    pub part: &'static str,
    /// Its kind.
    pub class: Class,
    /// Its pass.
    pub pass: Pass,
    /// What it is.
    pub what: What,
    /// How often it runs in the step.
    pub count: u64,
}

impl Op {
    /// FLOP of one run: 2 per multiplication and addition; 0 for what is counted in bytes.
    pub fn flop(&self) -> f64 {
        match self.what {
            What::Product { batch, m, n, k, .. } => 2.0 * batch as f64 * m as f64 * n as f64 * k as f64,
            What::Attention(shape) => shape.flop(),
            What::Experts(shape) => {
                6.0 * (shape.tokens * shape.top_k) as f64 * shape.hidden as f64 * shape.inter as f64
            }
            What::Other { flop, .. } => flop,
            What::Rows(_) | What::AllReduce { .. } => 0.0,
        }
    }
}

/// Most sequences.
const MOST_SEQUENCES: u64 = 1 << 20;
/// Most GPUs that share a layer.
const MOST_DEGREE: u64 = 1024;

impl Network {
    /// The operations of a step on one GPU, those of equal layers together.
    ///
    /// # Errors
    /// A size is 0 or beyond what the network allows, or the degree of parallelism does not divide its layers.
    pub fn operations(&self, step: &Step) -> Result<Vec<Op>, StepError> {
        self.check_step(step)?;
        let forward = forward::operations(self, step)?;
        let all = match step.phase {
            Phase::Prefill | Phase::Decode => forward,
            Phase::Train => backward::operations(self, step, forward)?,
        };
        let mut ops: Vec<Op> = Vec::new();
        for op in all {
            match ops.iter_mut().find(|known| Op { count: op.count, ..**known } == op) {
                Some(known) => known.count += op.count,
                None => ops.push(op),
            }
        }
        Ok(ops)
    }

    fn check_step(&self, step: &Step) -> Result<(), StepError> {
        for (what, value, most) in [
            ("batch", step.batch, MOST_SEQUENCES),
            ("tokens", step.tokens, u64::from(u32::MAX)),
            ("the degree of tensor parallelism", step.tensor_parallel, MOST_DEGREE),
        ] {
            if value == 0 || value > most {
                return Err(StepError::Size { what, value, most });
            }
        }
        if step.tokens > self.longest {
            let (tokens, longest, network) = (step.tokens, self.longest, self.name.clone());
            return Err(StepError::Long { tokens, longest, network });
        }
        let causal = |layer: &super::Layer| !matches!(layer.mixer, Some(Mixer::Attention(heads)) if !heads.causal);
        if step.phase == Phase::Decode && !self.layers.iter().all(causal) {
            return Err(StepError::Encoder { network: self.name.clone() });
        }
        for layer in &self.layers {
            let heads = match &layer.mixer {
                Some(Mixer::Attention(heads)) => Some(("query heads", heads.query)),
                Some(Mixer::Latent(latent)) => Some(("heads", latent.heads)),
                Some(Mixer::Mamba(mamba)) => Some(("heads of state-space layers", mamba.heads)),
                None => None,
            };
            let width = match &layer.feed {
                Some(Feed::Dense(mlp)) => Some(("an MLP width", mlp.width)),
                Some(Feed::Experts(experts)) => Some(("a width of experts", experts.expert.width)),
                None => None,
            };
            for (what, value) in heads.into_iter().chain(width) {
                divided(value, step.tensor_parallel, what)?;
            }
        }
        Ok(())
    }
}

/// Its share of each GPU.
fn divided(value: u64, degree: u64, what: &'static str) -> Result<u64, StepError> {
    if value.is_multiple_of(degree) {
        return Ok(value / degree);
    }
    let near = (1..degree).rev().find(|near| value.is_multiple_of(*near)).unwrap_or(1);
    Err(StepError::Degree { degree, what, value, near })
}
