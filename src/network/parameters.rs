//! Parameters of a network, counted matrix by matrix.

use super::{Experts, Feed, Head, Heads, Latent, Layer, Mamba, Mixer, Mlp, Network, NetworkError, Norm};

/// Most parameters: their bytes are sums without rounding.
const MOST_PARAMETERS: u64 = 1_000_000_000_000_000;

/// Where parameters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Embeddings of tokens, positions and token types.
    Embedding,
    /// Projections around attention.
    Attention,
    /// State-space layers.
    StateSpace,
    /// Dense MLPs and shared experts.
    Mlp,
    /// Experts that are chosen.
    Experts,
    /// Routers.
    Router,
    /// Norms.
    Norm,
    /// What stands behind the last layer, unless it is the embedding's matrix.
    Head,
}

impl Part {
    /// All, in the order of outputs.
    pub const ALL: [Self; 8] = [
        Self::Embedding,
        Self::Attention,
        Self::StateSpace,
        Self::Mlp,
        Self::Experts,
        Self::Router,
        Self::Norm,
        Self::Head,
    ];

    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::Attention => "attention",
            Self::StateSpace => "state space",
            Self::Mlp => "MLP",
            Self::Experts => "experts",
            Self::Router => "router",
            Self::Norm => "norms",
            Self::Head => "head",
        }
    }
}

/// Parameters of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    of: [u64; Part::ALL.len()],
    /// Those of the chosen experts that a token does not go to.
    idle: u64,
}

impl Parameters {
    /// Those of a part.
    pub fn of(&self, part: Part) -> u64 {
        self.of[part as usize]
    }

    /// All.
    pub fn total(&self) -> u64 {
        self.of.iter().sum()
    }

    /// Those that a token meets: of the experts that are chosen only as many as it goes to.
    pub fn active(&self) -> u64 {
        self.total() - self.idle
    }

    fn add(&mut self, part: Part, count: u64) {
        self.of[part as usize] += count;
    }

    /// Those of one layer.
    pub fn of_layer(layer: &Layer, hidden: u64, norm: Norm) -> Self {
        let mut all = Self::default();
        all.add(Part::Norm, layer.norms * norm.weights(hidden));
        match &layer.mixer {
            Some(Mixer::Attention(heads)) => all.add(Part::Attention, heads.parameters(hidden)),
            Some(Mixer::Latent(latent)) => all.add(Part::Attention, latent.parameters(hidden)),
            Some(Mixer::Mamba(mamba)) => all.add(Part::StateSpace, mamba.parameters(hidden)),
            None => {}
        }
        match &layer.feed {
            Some(Feed::Dense(mlp)) => all.add(Part::Mlp, mlp.parameters(hidden)),
            Some(Feed::Experts(experts)) => experts.count_into(&mut all, hidden),
            None => {}
        }
        all
    }
}

impl Heads {
    /// Parameters of the projections: queries, keys, values, output, biases, norms over a head, sinks.
    pub fn parameters(&self, hidden: u64) -> u64 {
        let (queries, keys) = (self.query * self.dim, self.kv * self.dim);
        let matrices = hidden * (2 * queries + 2 * keys);
        let bias = if self.bias { queries + 2 * keys } else { 0 } + if self.output_bias { hidden } else { 0 };
        matrices + bias + if self.normalised { 2 * self.dim } else { 0 } + if self.sinks { self.query } else { 0 }
    }
}

impl Latent {
    /// Parameters of the projections down to the ranks and up to the heads, and of the norms over the ranks.
    pub fn parameters(&self, hidden: u64) -> u64 {
        let queries = self.heads * self.key();
        let query = self.query_rank.map_or(hidden * queries, |rank| hidden * rank + rank + rank * queries);
        let down = hidden * (self.kv_rank + self.rope) + self.kv_rank;
        let up = self.kv_rank * self.heads * (self.nope + self.value);
        query + down + up + self.heads * self.value * hidden
    }
}

impl Mamba {
    /// Parameters: input projection (gate, heads, input and output matrices, step), convolution, decay, step and skip of each
    /// head, gated norm, output projection.
    pub fn parameters(&self, hidden: u64) -> u64 {
        let input = self.inner() + self.channels() + self.heads;
        let bias = if self.bias { input + hidden } else { 0 };
        let convolution = self.channels() * (self.taps + u64::from(self.convolution_bias));
        hidden * input + convolution + 3 * self.heads + self.inner() + self.inner() * hidden + bias
    }
}

impl Mlp {
    /// Parameters of the matrices and their biases.
    pub fn parameters(&self, hidden: u64) -> u64 {
        let up = if self.gated { 2 } else { 1 };
        let bias = if self.bias { up * self.width + hidden } else { 0 };
        hidden * self.width * (up + 1) + bias
    }
}

impl Experts {
    fn count_into(&self, all: &mut Parameters, hidden: u64) {
        let one = self.expert.parameters(hidden);
        all.add(Part::Experts, self.count * one);
        all.idle += (self.count - self.per_token.min(self.count)) * one;
        all.add(Part::Router, hidden * self.count + if self.router_bias { self.count } else { 0 });
        all.add(Part::Mlp, self.shared.map_or(0, |shared| shared.parameters(hidden)));
        all.add(Part::Router, if self.shared_gate { hidden } else { 0 });
    }
}

impl Network {
    /// All parameters, those of left-out parts not among them.
    pub fn parameters(&self) -> Parameters {
        let mut all = Parameters::default();
        all.add(Part::Embedding, (self.vocabulary + self.positions + self.token_types) * self.hidden);
        let norms = u64::from(self.embedding_norm) + u64::from(self.final_norm);
        all.add(Part::Norm, norms * self.norm.weights(self.hidden));
        for layer in &self.layers {
            let own = Parameters::of_layer(layer, self.hidden, self.norm);
            Part::ALL.into_iter().for_each(|part| all.add(part, own.of(part)));
            all.idle += own.idle;
        }
        let square = self.hidden * self.hidden + self.hidden;
        all.add(
            Part::Head,
            match self.head {
                Head::Language { tied: false } => self.vocabulary * self.hidden,
                Head::Masked => square + self.norm.weights(self.hidden) + self.vocabulary,
                Head::Pooler => square,
                Head::Language { tied: true } | Head::None => 0,
            },
        );
        all
    }

    /// Bytes of the weights: those of the attention, MLPs and experts as they are quantised, the rest in `bytes` each.
    pub fn weight_bytes(&self, bytes: f64) -> f64 {
        let all = self.parameters();
        let Some(quantised) = &self.quantised else { return all.total() as f64 * bytes };
        let parts = match quantised.method.as_str() {
            // Only the experts of gpt-oss are.
            "mxfp4" => vec![Part::Experts],
            _ => vec![Part::Attention, Part::Mlp, Part::Experts],
        };
        let small: u64 = parts.into_iter().map(|part| all.of(part)).sum();
        small as f64 * quantised.storage.bytes_per_weight + (all.total() - small) as f64 * bytes
    }
}

/// Refuses networks whose sizes are beyond exact counts: configurations may name any.
pub(super) fn countable(network: &Network) -> Result<(), NetworkError> {
    let of = |count: u64| count as f64;
    let hidden = of(network.hidden);
    let layer = |layer: &Layer| {
        let mixer = match &layer.mixer {
            Some(Mixer::Attention(heads)) => hidden * of(heads.query) * of(heads.dim),
            Some(Mixer::Latent(latent)) => {
                let ranks = hidden + of(latent.kv_rank) + of(latent.query_rank.unwrap_or(0));
                ranks * of(latent.heads) * (of(latent.key()) + of(latent.value))
            }
            Some(Mixer::Mamba(mamba)) => {
                let channels = of(mamba.heads) * of(mamba.dim) + 2.0 * of(mamba.groups) * of(mamba.state);
                channels * (hidden + of(mamba.state) + of(mamba.taps))
            }
            None => 0.0,
        };
        let feed = match &layer.feed {
            Some(Feed::Dense(mlp)) => hidden * of(mlp.width),
            Some(Feed::Experts(experts)) => {
                let shared = experts.shared.map_or(0.0, |shared| of(shared.width));
                hidden * (of(experts.count) * (of(experts.expert.width) + 1.0) + shared)
            }
            None => 0.0,
        };
        mixer + feed
    };
    let ends = hidden * (of(network.vocabulary) + of(network.positions));
    match network.layers.iter().map(layer).sum::<f64>() + ends {
        size if size <= MOST_PARAMETERS as f64 => Ok(()),
        _ => Err(NetworkError::Contradiction {
            what: format!("the sizes give more than {MOST_PARAMETERS} parameters"),
            cure: "check the sizes of the configuration".into(),
        }),
    }
}
