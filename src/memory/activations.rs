//! What a layer keeps of its forward pass for the backward pass, tensor by tensor (Korthikanti et al., arXiv 2205.05198, section 4).

use crate::network::{Experts, Feed, Heads, Latent, Layer, Mamba, Mixer, Mlp};

/// How tensor-parallel ranks hold a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Divided: the sizes are already those of one rank.
    Divided,
    /// A copy on each rank, divided along the sequence with sequence parallelism.
    Copied,
    /// A copy on each rank in any case.
    Whole,
    /// Attention's scores and what is made of them, divided by heads: what selective recomputation does not keep.
    Scores,
}

/// A tensor that is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tensor {
    /// What it is.
    pub what: &'static str,
    /// Its bytes per token on one rank, before any division along the sequence.
    pub bytes_per_token: f64,
    /// How ranks hold it.
    pub keep: Keep,
}

/// What decides which tensors are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kept {
    /// Bytes of an activation.
    pub element: f64,
    /// Tokens of a sequence.
    pub sequence: u64,
    /// Whether a fused kernel computes the scores again in the backward pass by itself.
    pub flash: bool,
    /// Whether layers have dropout, whose masks take a byte per element.
    pub dropout: bool,
}

struct List {
    of: Kept,
    all: Vec<Tensor>,
}

impl List {
    /// A tensor of so many elements per token.
    fn keep(&mut self, what: &'static str, elements: u64, keep: Keep) {
        self.bytes(what, elements as f64 * self.of.element, keep);
    }

    fn bytes(&mut self, what: &'static str, bytes_per_token: f64, keep: Keep) {
        if bytes_per_token > 0.0 {
            self.all.push(Tensor { what, bytes_per_token, keep });
        }
    }

    fn mask(&mut self, what: &'static str, elements: u64) {
        if self.of.dropout {
            self.bytes(what, elements as f64, Keep::Copied);
        }
    }

    /// Scores of so many heads. Fused kernels keep one FP32 number per head and token, the logarithm of the softmax's sum
    /// (FlashAttention-2, arXiv 2307.08691).
    fn scores(&mut self, heads: u64) {
        let (pairs, element) = (heads as f64 * self.of.sequence as f64, self.of.element);
        if self.of.flash {
            self.bytes("sums of the softmax", 4.0 * heads as f64, Keep::Scores);
            return;
        }
        self.bytes("output of the softmax", element * pairs, Keep::Scores);
        if self.of.dropout {
            self.bytes("mask of the softmax's dropout", pairs, Keep::Scores);
            self.bytes("output of the softmax's dropout", element * pairs, Keep::Scores);
        }
    }

    fn heads(&mut self, heads: &Heads) {
        let (queries, keys) = (heads.query * heads.dim, heads.kv * heads.dim);
        if heads.normalised {
            self.keep("queries and keys before their norm", queries + keys, Keep::Divided);
        }
        self.keep("queries", queries, Keep::Divided);
        self.keep("keys", keys, Keep::Divided);
        self.keep("values", keys, Keep::Divided);
        self.scores(heads.query);
        self.keep("input of the output projection", queries, Keep::Divided);
    }

    fn latent(&mut self, latent: &Latent) {
        let ranks = latent.query_rank.unwrap_or(0) + latent.kv_rank;
        self.keep("latents before their norms", ranks, Keep::Copied);
        self.keep("latents", ranks, Keep::Copied);
        self.keep("queries", latent.heads * latent.key(), Keep::Divided);
        self.keep("keys", latent.heads * latent.key(), Keep::Divided);
        self.keep("values", latent.heads * latent.value, Keep::Divided);
        self.scores(latent.heads);
        self.keep("input of the output projection", latent.heads * latent.value, Keep::Divided);
    }

    fn mamba(&mut self, mamba: &Mamba) {
        self.keep("output of the input projection", mamba.inner() + mamba.channels() + mamba.heads, Keep::Divided);
        self.keep("output of the convolution", mamba.channels(), Keep::Divided);
        self.keep("output of the scan", mamba.inner(), Keep::Divided);
        self.keep("input of the output projection", mamba.inner(), Keep::Divided);
    }

    /// An MLP whose input is counted elsewhere; a fused activation keeps gate and up, but no product of its own.
    fn mlp(&mut self, mlp: &Mlp, copies: u64) {
        let (before, matrices) = if mlp.gated { ("gate and up", 2) } else { ("input of the activation", 1) };
        self.keep(before, matrices * mlp.width * copies, Keep::Divided);
        self.keep("input of the second matrix", mlp.width * copies, Keep::Divided);
    }

    fn experts(&mut self, experts: &Experts, hidden: u64) {
        self.bytes("scores of the router", 4.0 * experts.count as f64, Keep::Copied);
        self.keep("tokens sent to experts", experts.per_token * hidden, Keep::Whole);
        self.mlp(&experts.expert, experts.per_token);
        self.keep("outputs of experts", experts.per_token * hidden, Keep::Whole);
        if let Some(shared) = &experts.shared {
            self.mlp(shared, 1);
        }
    }
}

/// The tensors that one rank keeps of a layer for the backward pass; `layer` has the sizes of the rank. `element` is the bytes of an
/// activation, `flash` whether scores are fused away, `dropout` whether the layer has dropout.
pub fn tensors(layer: &Layer, hidden: u64, element: f64, sequence: u64, flash: bool, dropout: bool) -> Vec<Tensor> {
    Kept { element, sequence, flash, dropout }.tensors(layer, hidden)
}

impl Kept {
    /// The tensors of a rank's layer.
    pub fn tensors(self, layer: &Layer, hidden: u64) -> Vec<Tensor> {
        let mut list = List { of: self, all: Vec::new() };
        list.keep("inputs of the norms", layer.norms * hidden, Keep::Copied);
        if let Some(mixer) = &layer.mixer {
            list.keep("input of the mixer's projections", hidden, Keep::Copied);
            match mixer {
                Mixer::Attention(heads) => list.heads(heads),
                Mixer::Latent(latent) => list.latent(latent),
                Mixer::Mamba(mamba) => list.mamba(mamba),
            }
            list.mask("mask of the dropout behind the mixer", hidden);
        }
        if let Some(feed) = &layer.feed {
            list.keep("input of the MLP", hidden, Keep::Copied);
            match feed {
                Feed::Dense(mlp) => list.mlp(mlp, 1),
                Feed::Experts(experts) => list.experts(experts, hidden),
            }
            list.mask("mask of the dropout behind the MLP", hidden);
        }
        list.all
    }
}

/// Bytes per token of the tensors for which `wanted` holds; those that are copies are divided by `along` ranks of the sequence.
pub(super) fn sum(tensors: &[Tensor], along: u64, wanted: impl Fn(Keep) -> bool) -> f64 {
    let of = |keep: Keep| -> f64 {
        tensors.iter().filter(|t| t.keep == keep && wanted(keep)).map(|t| t.bytes_per_token).sum()
    };
    of(Keep::Divided) + of(Keep::Whole) + of(Keep::Scores) + of(Keep::Copied) / along as f64
}
