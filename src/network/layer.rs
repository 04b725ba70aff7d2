//! The parts of a layer.

/// What mixes tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mixer {
    /// Attention with keys and values per head or group of heads.
    Attention(Heads),
    /// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434).
    Latent(Latent),
    /// A state-space layer of Mamba-2 (arXiv 2405.21060).
    Mamba(Mamba),
}

/// Attention by heads: multi-head where `kv == query`, grouped below, multi-query at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// Query heads.
    pub query: u64,
    /// Heads of keys and values.
    pub kv: u64,
    /// Elements of a head.
    pub dim: u64,
    /// Whether the projections to queries, keys and values have a bias.
    pub bias: bool,
    /// Whether the projection behind attention has one.
    pub output_bias: bool,
    /// Whether queries and keys are normalised, one norm over `dim` each.
    pub normalised: bool,
    /// Whether each query head has a learned sink.
    pub sinks: bool,
    /// Keys that a token sees, itself among them; all without.
    pub window: Option<u64>,
    /// Whether a token sees no later ones.
    pub causal: bool,
}

/// Latent attention: what is cached per token is `kv_rank + rope` elements for all heads together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latent {
    /// Heads.
    pub heads: u64,
    /// Rank of the queries; straight from the hidden state without.
    pub query_rank: Option<u64>,
    /// Rank of keys and values.
    pub kv_rank: u64,
    /// Elements of a head's query and key without position.
    pub nope: u64,
    /// Elements with rotary position, of keys shared by the heads.
    pub rope: u64,
    /// Elements of a head's value.
    pub value: u64,
}

/// A layer of Mamba-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mamba {
    /// Heads.
    pub heads: u64,
    /// Elements of a head.
    pub dim: u64,
    /// Groups that share the input and output matrices.
    pub groups: u64,
    /// Elements of the state per element of a head.
    pub state: u64,
    /// Taps of the causal convolution.
    pub taps: u64,
    /// Whether the convolution has a bias.
    pub convolution_bias: bool,
    /// Whether the projections have one.
    pub bias: bool,
}

/// What works on each token alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feed {
    /// The same matrices for all tokens.
    Dense(Mlp),
    /// A router and experts.
    Experts(Experts),
}

/// Two matrices around an activation, three where the activation is gated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mlp {
    /// Width between the matrices.
    pub width: u64,
    /// Whether a third matrix gates the activation.
    pub gated: bool,
    /// Whether the matrices have biases.
    pub bias: bool,
}

/// A mixture of experts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experts {
    /// Experts to choose from.
    pub count: u64,
    /// Experts that a token goes to.
    pub per_token: u64,
    /// One of them.
    pub expert: Mlp,
    /// Experts that all tokens go to, as one of their common width.
    pub shared: Option<Mlp>,
    /// Whether the shared expert has a gate of its own, `h` weights.
    pub shared_gate: bool,
    /// Whether the router has a bias.
    pub router_bias: bool,
}

/// Kind of a norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// Layer norm: scale and shift.
    Layer,
    /// RMS norm: scale.
    Rms,
}

impl Norm {
    /// Weights over `width` elements.
    pub fn weights(self, width: u64) -> u64 {
        match self {
            Self::Layer => 2 * width,
            Self::Rms => width,
        }
    }
}

/// One layer: each part adds to the residual stream behind a norm of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// What mixes tokens, where the layer does.
    pub mixer: Option<Mixer>,
    /// What works on each token, where the layer does.
    pub feed: Option<Feed>,
    /// Norms over the hidden state.
    pub norms: u64,
}

impl Mamba {
    /// Elements of all heads together.
    pub fn inner(&self) -> u64 {
        self.heads * self.dim
    }

    /// Channels of the convolution: the heads, and input and output matrix of each group.
    pub fn channels(&self) -> u64 {
        self.inner() + 2 * self.groups * self.state
    }

    /// Elements of a token's cache: the state, and the last taps of the convolution.
    pub fn cached(&self) -> u64 {
        self.inner() * self.state + self.channels() * self.taps
    }
}

impl Latent {
    /// Elements of a head's query and key.
    pub fn key(&self) -> u64 {
        self.nope + self.rope
    }
}
