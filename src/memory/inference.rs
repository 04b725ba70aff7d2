//! Memory of serving: weights, KV cache, activations of the prompt at work.

use std::{fmt, str::FromStr};

use super::{
    Anatomy, MemoryError, Overhead, Parallel, Part, Subject,
    cache::held,
    parallel::counted,
    stage::first_stage,
    train::{check_sequence, counted_parameters, kv_note},
};
use crate::{
    gpu::DataType,
    network::{Feed, Head, Layer, Mixer, Network, Part as Weights, Quantised, Storage},
    units::{Bytes, grouped, plural, significant},
};

/// Bytes of a stored element, with its share of a scale where blocks have one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width {
    /// Name, or `own`.
    pub name: &'static str,
    /// Bytes.
    pub bytes: f64,
}

impl Width {
    /// 16 bits.
    pub const BF16: Self = Self { name: "bf16", bytes: 2.0 };

    /// Those with a name. Blocks of MX formats have a scale of 8 bits per 32 (OCP Microscaling Formats 1.0).
    pub const NAMED: [Self; 11] = [
        Self { name: "fp32", bytes: 4.0 },
        Self::BF16,
        Self { name: "fp16", bytes: 2.0 },
        Self { name: "fp8", bytes: 1.0 },
        Self { name: "int8", bytes: 1.0 },
        Self { name: "fp6", bytes: 0.75 },
        Self { name: "fp4", bytes: 0.5 },
        Self { name: "int4", bytes: 0.5 },
        Self { name: "mxfp8", bytes: 1.031_25 },
        Self { name: "mxfp6", bytes: 0.781_25 },
        Self { name: "mxfp4", bytes: 0.531_25 },
    ];
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            "own" => write!(f, "{} B each", significant(self.bytes, 6)),
            name => f.write_str(name),
        }
    }
}

impl FromStr for Width {
    type Err = MemoryError;

    /// A name, or bytes per element as `0.58 B`.
    fn from_str(text: &str) -> Result<Self, MemoryError> {
        let lower = text.trim().to_ascii_lowercase();
        if let Some(named) = Self::NAMED.iter().find(|named| named.name == lower) {
            return Ok(*named);
        }
        match text.trim().parse::<Bytes>() {
            Ok(bytes) if (0.125..=16.0).contains(&bytes.get()) => Ok(Self { name: "own", bytes: bytes.get() }),
            _ => Err(MemoryError::Word {
                input: text.into(),
                what: "type of elements",
                known: format!(
                    "write {} or bytes per element from 0.125 B to 16 B, such as \"0.58 B\"",
                    Self::NAMED.map(|named| named.name).join(", ")
                ),
            }),
        }
    }
}

/// How keys and values are cached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cache {
    /// Bytes of an element.
    pub width: Width,
    /// Whether an engine caches the keys and values of every head where latent attention could cache the latent.
    pub expanded: bool,
}

impl Default for Cache {
    fn default() -> Self {
        Self { width: Width::BF16, expanded: false }
    }
}

/// Serving a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inference {
    /// Stored type of the weights; that of the configuration without.
    pub weights: Option<Width>,
    /// The cache.
    pub cache: Cache,
    /// Sequences at a time.
    pub batch: u64,
    /// Tokens of each, prompt and answer.
    pub sequence: u64,
    /// Most prompt tokens of one forward pass.
    pub chunk: u64,
    /// Tensor-parallel ranks.
    pub tensor: u64,
    /// What the process takes besides.
    pub overhead: Overhead,
}

impl Default for Inference {
    fn default() -> Self {
        Self {
            weights: None,
            cache: Cache::default(),
            batch: 1,
            sequence: 2048,
            chunk: 8192,
            tensor: 1,
            overhead: Overhead::default(),
        }
    }
}

impl Inference {
    /// How the network is divided.
    pub fn parallel(&self) -> Parallel {
        Parallel { tensor: self.tensor, ..Parallel::default() }
    }

    /// What one GPU holds while a prompt runs beside the caches of all sequences. Of a mixture of experts all experts are held, not
    /// those alone that a token meets.
    ///
    /// # Errors
    /// Tensor-parallel ranks that do not divide the network, sequences longer than it takes, counts of 0.
    pub fn anatomy(&self, subject: Subject) -> Result<Anatomy, MemoryError> {
        self.parallel().check()?;
        counted("the batch", self.batch)?;
        counted("the chunk of a prompt", self.chunk)?;
        let mut anatomy = Anatomy::default();
        match subject {
            Subject::Parameters(parameters) => {
                counted_parameters(parameters)?;
                let width = self.weights.unwrap_or(Width::BF16);
                let what = format!("{} x {} B", grouped(parameters / self.tensor), significant(width.bytes, 6));
                anatomy.add(Part::Weights, parameters as f64 / self.tensor as f64 * width.bytes, what);
                anatomy.notes.push("cache and activations are left out: a number of parameters has no layers".into());
            }
            Subject::Network(network) => self.network(&mut anatomy, network)?,
        }
        self.overhead.add(&mut anatomy, self.tensor);
        Ok(anatomy)
    }

    fn network(&self, anatomy: &mut Anatomy, network: &Network) -> Result<(), MemoryError> {
        check_sequence(self.sequence, network)?;
        let rank = self.stored(&first_stage(network, &self.parallel())?);
        let what = match &rank.quantised {
            Some(quantised) => format!(
                "{} ({} B), the rest {} B",
                quantised.method,
                significant(quantised.storage.bytes_per_weight, 4),
                significant(self.rest(network), 4)
            ),
            None => format!("{} x {} B", grouped(rank.parameters().total()), significant(self.rest(network), 4)),
        };
        anatomy.add(Part::Weights, rank.weight_bytes(self.rest(network)), what);
        let cache = self.batch as f64 * held(&rank, &self.cache, self.sequence);
        let sequences = plural(self.batch, "sequence");
        anatomy.add(
            Part::Cache,
            cache,
            format!("{sequences} x {} tokens in {}", grouped(self.sequence), self.cache.width),
        );
        let tokens = self.chunk.min(self.batch.saturating_mul(self.sequence));
        let most = rank.layers.iter().map(|layer| working(layer, rank.hidden)).max().unwrap_or(0);
        let what = format!("{} prompt tokens in the widest layer", grouped(tokens));
        anatomy.add(Part::Activations, 2.0 * tokens as f64 * most as f64, what);
        if matches!(rank.head, Head::Language { .. }) {
            let logits = 4.0 * self.batch as f64 * rank.vocabulary as f64;
            anatomy.add(Part::Ends, logits, "FP32 logits of the last tokens");
        }
        kv_note(anatomy, network, self.tensor);
        let latent = network.layers.iter().any(|layer| matches!(layer.mixer, Some(Mixer::Latent(_))));
        if latent && !self.cache.expanded && self.tensor > 1 {
            anatomy
                .notes
                .push("the cached latent belongs to all heads: each tensor-parallel rank holds it whole".into());
        }
        if self.cache.expanded && !latent {
            return Err(MemoryError::Contradiction {
                what: format!("{} has no latent attention whose cache could be expanded", network.name),
                cure: "leave the expanded cache out".into(),
            });
        }
        Ok(())
    }

    /// Bytes of the weights that are not quantised: as stored, 16 bits where that is narrower or not known.
    fn rest(&self, network: &Network) -> f64 {
        match (self.weights, network.stored) {
            (Some(width), _) => width.bytes.max(2.0),
            (None, Some(DataType::Fp32)) => 4.0,
            _ => 2.0,
        }
    }

    /// The rank's network with its weights stored as wanted: below 16 bits the matrices of layers alone, as quantised checkpoints
    /// have them.
    fn stored(&self, rank: &Network) -> Network {
        let quantised = match self.weights {
            None => rank.quantised.clone(),
            Some(width) if width.bytes < 2.0 => Some(Quantised {
                method: format!("matrices in {width}"),
                storage: Storage { bytes_per_weight: width.bytes, data: DataType::Bf16 },
            }),
            Some(_) => None,
        };
        Network { quantised, ..rank.clone() }
    }

    /// Whether it answers token by token: encoders do not.
    pub fn decodes(&self, subject: Subject) -> bool {
        match subject {
            Subject::Network(network) => matches!(network.head, Head::Language { .. }),
            Subject::Parameters(_) => true,
        }
    }

    /// Bytes that a step of decoding reads at least: the weights that its tokens meet and the cache. Of experts each sequence meets
    /// its own few, chosen evenly; of the input embedding a row per token, which is left out.
    ///
    /// # Errors
    /// As of [`Self::anatomy`].
    pub fn read_per_step(&self, subject: Subject) -> Result<Bytes, MemoryError> {
        let anatomy = self.anatomy(subject)?;
        let Subject::Network(network) = subject else { return Ok(anatomy.of(Part::Weights)) };
        let rank = self.stored(&first_stage(network, &self.parallel())?);
        let rest = self.rest(network);
        let mut unread = match rank.head {
            Head::Language { tied: true } | Head::Masked => 0.0,
            _ => rank.parameters().of(Weights::Embedding) as f64 * rest,
        };
        // Weights of experts that nobody meets, by what the whole would be without them.
        for layer in &rank.layers {
            if let Some(Feed::Experts(experts)) = &layer.feed {
                let missed = libm::pow(1.0 - experts.per_token as f64 / experts.count as f64, self.batch as f64);
                let one = experts.expert.parameters(rank.hidden) as f64;
                let bytes = rank.quantised.as_ref().map_or(rest, |quantised| quantised.storage.bytes_per_weight);
                unread += one * experts.count as f64 * missed * bytes;
            }
        }
        Ok(anatomy.of(Part::Weights) + anatomy.of(Part::Cache) - Bytes(unread))
    }
}

/// Elements per token while a layer works: the residual stream, the normed input, and what its widest part makes of them.
fn working(layer: &Layer, hidden: u64) -> u64 {
    let mixer = match &layer.mixer {
        Some(Mixer::Attention(heads)) => (2 * heads.query + 2 * heads.kv) * heads.dim,
        Some(Mixer::Latent(latent)) => {
            latent.query_rank.unwrap_or(0) + latent.kv_rank + latent.heads * (2 * latent.key() + 2 * latent.value)
        }
        Some(Mixer::Mamba(mamba)) => 2 * mamba.inner() + 2 * mamba.channels() + mamba.heads,
        None => 0,
    };
    let gated = |gated: bool| if gated { 3 } else { 2 };
    let feed = match &layer.feed {
        Some(Feed::Dense(mlp)) => gated(mlp.gated) * mlp.width,
        // Copies for the experts go in and come out.
        Some(Feed::Experts(experts)) => {
            let routed = experts.per_token * (gated(experts.expert.gated) * experts.expert.width + 2 * hidden);
            routed + experts.shared.map_or(0, |shared| gated(shared.gated) * shared.width)
        }
        None => 0,
    };
    2 * hidden + mixer.max(feed)
}
