//! What a launch does, as written: a shape, or blocks by what each needs, and in which order they run.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

use crate::{
    gpu::{DataType, Pipe},
    op::{attention::Library, gemm::sides, moe::Routing},
    scenario::words,
    schedule::simulate::Policy,
    units::{Bytes, Flops, Seconds},
};

/// `C[m,n] = A[m,k] B[k,n]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GemmWork {
    /// Rows of A, one number, or one per product of a ragged batch.
    pub m: Rows,
    /// Columns of B.
    #[serde(deserialize_with = "words::count")]
    pub n: u64,
    /// Inner dimension.
    #[serde(deserialize_with = "words::count")]
    pub k: u64,
    /// Equal products in one launch; 1.
    #[serde(default = "one", deserialize_with = "words::count")]
    pub batch: u64,
    /// Type of A and B.
    #[serde(default = "bf16")]
    pub dtype: DataType,
    /// Height and width of the tile, such as "128x128"; the one that `gemm` would choose.
    #[serde(default, deserialize_with = "tile")]
    pub tile: Option<(u32, u32)>,
    /// Shares into which k is cut, those that `gemm` would take without it; a second kernel adds up the partial sums.
    #[serde(default, deserialize_with = "words::some_count")]
    pub split: Option<u64>,
}

/// Rows of one product or of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows(pub Vec<u64>);

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Rows;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a whole number or a list of them")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Rows, E> {
                let count = u64::try_from(number);
                count.map(|n| Rows(vec![n])).map_err(|_| E::custom(format!("{number} is negative")))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Rows, A::Error> {
                let mut rows = Vec::new();
                while let Some(row) = seq.next_element::<u64>()? {
                    rows.push(row);
                }
                Ok(Rows(rows))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Attention of prompts, as `wavecast attention` takes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttentionWork {
    /// Tokens of each prompt: one number, or one per sequence of a ragged batch.
    pub seq: Rows,
    /// Tokens before the prompt that are in the cache already; 0.
    #[serde(default, deserialize_with = "words::count")]
    pub before: u64,
    /// Sequences of each length; 1.
    #[serde(default = "one", deserialize_with = "words::count")]
    pub batch: u64,
    /// Query heads.
    #[serde(deserialize_with = "words::count")]
    pub heads: u64,
    /// Heads of K and V; as many.
    #[serde(default, deserialize_with = "words::some_count")]
    pub kv_heads: Option<u64>,
    /// Elements of a head; 128.
    #[serde(default = "head_dim", deserialize_with = "words::count")]
    pub head_dim: u64,
    /// Whether a query sees no later key; true.
    #[serde(default = "yes")]
    pub causal: bool,
    /// Keys that a query sees.
    #[serde(default, deserialize_with = "words::some_count")]
    pub window: Option<u64>,
    /// Type of Q, K and V.
    #[serde(default = "bf16")]
    pub dtype: DataType,
    /// Whose kernel, instead of the usual one.
    #[serde(default, deserialize_with = "parsed")]
    pub library: Option<Library>,
}

impl AttentionWork {
    /// Causal prompts of these lengths, with as many KV heads as query heads of 128.
    pub fn causal(heads: u64, seq: Vec<u64>, dtype: DataType) -> Self {
        Self {
            seq: Rows(seq),
            before: 0,
            batch: 1,
            heads,
            kv_heads: None,
            head_dim: head_dim(),
            causal: true,
            window: None,
            dtype,
            library: None,
        }
    }
}

/// Up (with gate) and down of a mixture of experts, as `wavecast moe` takes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpertsWork {
    /// Tokens.
    #[serde(deserialize_with = "words::count")]
    pub tokens: u64,
    /// Experts.
    #[serde(deserialize_with = "words::count")]
    pub experts: u64,
    /// Experts that each token goes to.
    #[serde(deserialize_with = "words::count")]
    pub top_k: u64,
    /// Width of a token.
    #[serde(deserialize_with = "words::count")]
    pub hidden: u64,
    /// Width inside an expert.
    #[serde(deserialize_with = "words::count")]
    pub inter: u64,
    /// "balanced", "power:1.2" or counts joined by commas.
    #[serde(default, deserialize_with = "parsed")]
    pub routing: Option<Routing>,
    /// Type of the weights.
    #[serde(default = "bf16")]
    pub dtype: DataType,
    /// Height and width of the tile.
    #[serde(default, deserialize_with = "tile")]
    pub tile: Option<(u32, u32)>,
}

/// Equal blocks by what each needs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BlocksWork {
    /// Blocks.
    #[serde(deserialize_with = "words::count")]
    pub count: u64,
    /// Time of an SM's arithmetic.
    pub math: Seconds,
    /// Operations, on a pipe.
    pub operations: Flops,
    /// The pipe, such as "tensor.bf16"; "vector.fp32".
    #[serde(deserialize_with = "parsed")]
    pub pipe: Option<Pipe>,
    /// Bytes of DRAM.
    pub dram: Bytes,
    /// Bytes of L2.
    pub l2: Bytes,
    /// Bytes through the SM's port.
    pub port: Bytes,
    /// Waiting of its own.
    pub latency: Seconds,
}

/// Order of the blocks of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they are numbered.
    #[default]
    Given,
    /// By the time that each takes alone.
    LongestFirst,
}

impl Order {
    /// The words of files and options.
    pub const WORDS: [(&str, Self); 2] = [("given", Self::Given), ("longest-first", Self::LongestFirst)];
}

/// How blocks come to slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// As the blocks of a grid, by the hardware.
    #[default]
    Hardware,
    /// As tiles of a persistent kernel, from a common queue.
    Queue,
    /// As tiles of a persistent kernel, dealt out in turn beforehand.
    Stride,
    /// The steps of a product's tiles dealt out evenly (stream-K).
    StreamK,
}

impl Schedule {
    /// The words of files and options.
    pub const WORDS: [(&str, Self); 4] =
        [("hardware", Self::Hardware), ("queue", Self::Queue), ("stride", Self::Stride), ("stream-k", Self::StreamK)];

    /// The policy of the scheduler. The blocks of stream-K are all there from the beginning.
    pub fn policy(self) -> Policy {
        match self {
            Self::Hardware | Self::StreamK => Policy::Hardware,
            Self::Queue => Policy::Queue,
            Self::Stride => Policy::Stride,
        }
    }
}

impl<'de> Deserialize<'de> for Order {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        words::word(deserializer, &Self::WORDS)
    }
}

impl<'de> Deserialize<'de> for Schedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        words::word(deserializer, &Self::WORDS)
    }
}

/// What counts are without a figure.
pub(super) fn one() -> u64 {
    1
}

fn yes() -> bool {
    true
}

fn head_dim() -> u64 {
    128
}

fn bf16() -> DataType {
    DataType::Bf16
}

fn parsed<'de, D: Deserializer<'de>, T: FromStr>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T::Err: std::fmt::Display,
{
    String::deserialize(deserializer)?.parse().map(Some).map_err(de::Error::custom)
}

fn tile<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<(u32, u32)>, D::Error> {
    sides(&String::deserialize(deserializer)?).map(Some).map_err(de::Error::custom)
}
