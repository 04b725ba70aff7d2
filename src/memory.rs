//! What a GPU must hold to train a network or to serve it, part by part, and whether it fits.
//!
//! [`Training`] and [`Inference`] are asked for the [`Anatomy`] of a [`Subject`]: a network, or a number of parameters where only
//! the states matter. Equations and their sources are in `docs/memory.md`.

mod activations;
mod anatomy;
mod cache;
mod error;
mod flops;
mod inference;
mod iteration;
mod parallel;
mod recipe;
mod search;
mod stage;
mod techniques;
mod train;

pub use crate::network::Recompute;
pub use activations::{Keep, Tensor, tensors};
pub use anatomy::{Anatomy, Fit, Overhead, Part, Piece};
pub use cache::{cache_of_sequence, cache_of_token};
pub use error::MemoryError;
pub use flops::{Work, work};
pub use inference::{Cache, Inference, Width};
pub use iteration::{Moment, Phase};
pub use parallel::{Parallel, Schedule, Zero};
pub use recipe::Recipe;
pub use search::{Grows, largest};
pub use techniques::Technique;
pub use train::Training;

use crate::network::Network;

/// What is held: a network, or so many parameters of one that is not described further.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subject<'a> {
    /// A network.
    Network(&'a Network),
    /// Parameters alone: states can be counted, activations and caches cannot.
    Parameters(u64),
}

/// A question about memory: training or inference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request {
    /// One step of training.
    Training(Training),
    /// Serving.
    Inference(Inference),
}

impl Request {
    /// What one GPU holds.
    ///
    /// # Errors
    /// As of [`Training::anatomy`] and [`Inference::anatomy`].
    pub fn anatomy(&self, subject: Subject) -> Result<Anatomy, MemoryError> {
        match self {
            Self::Training(training) => training.anatomy(subject),
            Self::Inference(inference) => inference.anatomy(subject),
        }
    }

    /// What was asked in a few words, for captions.
    pub fn words(&self) -> String {
        let Parallel { data, tensor, pipeline, sequence, zero, .. } = self.parallel();
        let degrees = [(data, "data"), (tensor, "tensor"), (pipeline, "pipeline")];
        let ranks =
            degrees.into_iter().filter(|(degree, _)| *degree > 1).map(|(degree, of)| format!("{degree} {of} ranks"));
        let mut words = match self {
            Self::Training(training) => vec![
                format!("training, micro-batch {}, {} tokens", training.batch, training.sequence),
                format!("recipe {}", training.recipe.name),
            ],
            Self::Inference(inference) => {
                vec![format!("inference, batch {}, {} tokens", inference.batch, inference.sequence)]
            }
        };
        words.extend(ranks);
        words.extend(sequence.then(|| "sequence parallel".to_owned()));
        words.extend((zero.stage() > 0).then(|| format!("ZeRO-{}", zero.stage())));
        words.join(", ")
    }

    /// How it is divided among GPUs.
    pub fn parallel(&self) -> Parallel {
        match self {
            Self::Training(training) => training.parallel,
            Self::Inference(inference) => inference.parallel(),
        }
    }
}
