//! A transformer as its configuration describes it: layers, parameters, the operations of a step.
//!
//! [`Network::read`] takes a Hugging Face `config.json`. What a configuration does not name is not guessed: an unknown
//! architecture is refused, and keys that nothing here reads are named in [`Network::notes`].

mod config;
mod error;
mod families;
mod layer;
mod named;
mod parameters;

pub use config::{Quantised, Storage};
pub use error::NetworkError;
pub use layer::{Experts, Feed, Heads, Latent, Layer, Mamba, Mixer, Mlp, Norm};
pub use named::{named, names};
pub use parameters::{Parameters, Part};

use crate::gpu::DataType;

/// What stands behind the last layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// Logits over the vocabulary, with the embedding's own matrix where `tied`.
    Language {
        /// Whether the matrix is that of the embedding.
        tied: bool,
    },
    /// BERT's masked-language head: dense h x h, norm, the embedding's matrix, and a bias over the vocabulary.
    Masked,
    /// BERT's pooler: dense h x h over the first token.
    Pooler,
    /// None: hidden states are the result.
    None,
}

/// A transformer.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Name of the file or of the built-in configuration.
    pub name: String,
    /// `model_type` of the configuration.
    pub family: String,
    /// Width of the residual stream, `h`.
    pub hidden: u64,
    /// Tokens of the vocabulary, `v`.
    pub vocabulary: u64,
    /// Learned positions; 0 where positions are rotary.
    pub positions: u64,
    /// Learned token types (segments); 0 without.
    pub token_types: u64,
    /// Longest sequence that the configuration allows, in tokens.
    pub longest: u64,
    /// Kind of the norms.
    pub norm: Norm,
    /// Whether the embeddings are normalised, as in BERT.
    pub embedding_norm: bool,
    /// Whether a norm stands behind the last layer.
    pub final_norm: bool,
    /// Layers in order.
    pub layers: Vec<Layer>,
    /// Multi-token prediction layers, which serve training and speculation and are part of no plain step.
    pub extra_layers: u64,
    /// What stands behind them.
    pub head: Head,
    /// Type of the weights as stored, where the configuration names it.
    pub stored: Option<DataType>,
    /// How most weights are quantised, where they are.
    pub quantised: Option<Quantised>,
    /// What the configuration has that is not read, and what was taken where it is silent.
    pub notes: Vec<String>,
}
