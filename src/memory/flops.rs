//! Operations of a step, and what recomputation adds (Korthikanti et al., equations 7 and 8; Megatron-LM, arXiv 2104.04473).

use super::Recompute;
use crate::network::{Feed, Head, Heads, Layer, Mixer, Mlp, Network, Norm, Parameters};

/// Operations of one forward pass over one sequence; a multiply-add is 2.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Products with the matrices of the layers.
    pub matrices: f64,
    /// Scores of attention and their product with the values, every token seeing every other, as the papers count.
    pub scores: f64,
    /// The matrix of the logits.
    pub head: f64,
}

impl Work {
    /// Operations of forward and backward pass, which is twice the forward: equation 7.
    pub fn model(&self) -> f64 {
        3.0 * (self.matrices + self.scores + self.head)
    }

    /// The same with what is computed again: equation 8 for the scores, which adds them three times over where one more forward
    /// pass would add them once; one more forward pass through the layers for all.
    pub fn hardware(&self, recompute: Recompute) -> f64 {
        self.model()
            + match recompute {
                Recompute::None => 0.0,
                Recompute::Selective => 3.0 * self.scores,
                Recompute::Full => self.matrices + self.scores,
            }
    }

    /// Share of operations that recomputation adds.
    pub fn added(&self, recompute: Recompute) -> f64 {
        self.hardware(recompute) / self.model() - 1.0
    }
}

/// Operations of a sequence of so many tokens; of experts those that a token meets.
pub fn work(network: &Network, tokens: u64) -> Work {
    let count = tokens as f64;
    let mut all = Work::default();
    for layer in &network.layers {
        all.matrices += 2.0 * count * Parameters::of_layer(&bare(layer), network.hidden, Norm::Rms).active() as f64;
        let pairs = match &layer.mixer {
            Some(Mixer::Attention(heads)) => 2 * heads.query * heads.dim,
            Some(Mixer::Latent(latent)) => latent.heads * (latent.key() + latent.value),
            _ => 0,
        };
        all.scores += 2.0 * count * count * pairs as f64;
    }
    if matches!(network.head, Head::Language { .. } | Head::Masked) {
        all.head = 2.0 * count * (network.hidden * network.vocabulary) as f64;
    }
    all
}

/// A layer without what is no matrix.
fn bare(layer: &Layer) -> Layer {
    let mixer = layer.mixer.map(|mixer| match mixer {
        Mixer::Attention(heads) => {
            Mixer::Attention(Heads { bias: false, output_bias: false, normalised: false, sinks: false, ..heads })
        }
        other => other,
    });
    let feed = layer.feed.map(|feed| match feed {
        Feed::Dense(mlp) => Feed::Dense(Mlp { bias: false, ..mlp }),
        other @ Feed::Experts(_) => other,
    });
    Layer { mixer, feed, norms: 0 }
}
