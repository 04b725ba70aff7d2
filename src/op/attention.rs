//! Attention: `O = softmax(Q K^T) V` per head, of many queries at once (prefill) or of one per sequence (decode).

mod blocks;
mod constants;
mod decode;
mod explain;
mod model;
mod prefill;
mod report;
mod row;
mod schedule;

pub use blocks::{Grid, Sums};
pub use constants::{Constants, Library};
pub use model::{Model, Parts, Request};
pub use report::{Attention, attention};
pub use row::Row;
pub use schedule::{List, Order};

use crate::{gpu::DataType, launch::LaunchError, op::gemm::PrecisionError, units::short};

/// Whether the queries are a whole prompt or the newest token of each sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Many queries per sequence.
    Prefill,
    /// One query per sequence.
    Decode,
}

impl Phase {
    /// The word used in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
        }
    }
}

impl std::str::FromStr for Phase {
    type Err = AttentionError;

    fn from_str(text: &str) -> Result<Self, AttentionError> {
        match text {
            "prefill" => Ok(Self::Prefill),
            "decode" => Ok(Self::Decode),
            _ => Err(AttentionError::Phase { input: text.into() }),
        }
    }
}

/// An attention call by its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Sequences.
    pub batch: u64,
    /// Query heads.
    pub heads_q: u64,
    /// Heads of K and V; each serves `heads_q / heads_kv` query heads.
    pub heads_kv: u64,
    /// Query tokens of each sequence.
    pub seq_q: u64,
    /// Tokens of each sequence in K and V, the new ones included.
    pub seq_kv: u64,
    /// Elements of a head.
    pub head_dim: u64,
    /// Whether a query sees no later token.
    pub causal: bool,
    /// Keys that a query sees, itself and those before it; absent for all of them.
    pub window: Option<u64>,
    /// Prefill or decode.
    pub phase: Phase,
}

/// A call that cannot be answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AttentionError {
    /// Not a phase.
    #[error("phase `{input}`: write prefill (many queries per sequence) or decode (one)")]
    Phase {
        /// As given.
        input: String,
    },
    /// Not a library.
    #[error("`{input}` is no library of attention kernels: fa2, fa2-kvcache, fa3, flashinfer, trtllm")]
    Library {
        /// As given.
        input: String,
    },
    /// A size of 0.
    #[error("{field} = 0: attention has at least one sequence, head, query and key")]
    Zero {
        /// Name of the size.
        field: &'static str,
    },
    /// A size beyond any GPU.
    #[error("{field} = {value}: at most {most} are taken")]
    Large {
        /// Name of the size.
        field: &'static str,
        /// As given.
        value: u64,
        /// The most.
        most: u64,
    },
    /// More work than any GPU does in years.
    #[error("the call is {} operations; at most 1e24 are taken", short(*.flop, 6))]
    Huge {
        /// Operations.
        flop: f64,
    },
    /// Query heads that the KV heads do not share evenly.
    #[error(
        "heads_q = {heads_q} is no multiple of heads_kv = {heads_kv}: each KV head serves the same number of query heads; take heads_kv = {near}"
    )]
    Heads {
        /// Query heads.
        heads_q: u64,
        /// KV heads.
        heads_kv: u64,
        /// The nearest smaller number of KV heads that divides them.
        near: u64,
    },
    /// A head size without kernels.
    #[error("head_dim = {head_dim}: kernels take multiples of 8 up to 256; take {near}")]
    HeadSize {
        /// As given.
        head_dim: u64,
        /// The nearest that has kernels.
        near: u64,
    },
    /// A window that sees nothing.
    #[error("window = 0: a query sees itself and window - 1 keys before it; leave the window out to see all of them")]
    NoWindow,
    /// A window without an order.
    #[error(
        "window = {window} needs causal attention: it looks back from each query; drop the window, or --no-causal (causal = 1 in a table)"
    )]
    WindowNotCausal {
        /// As given.
        window: u64,
    },
    /// Causal queries without keys of their own.
    #[error(
        "seq_q = {seq_q} is more than seq_kv = {seq_kv}: causal queries are among the keys (seq_kv includes the new tokens); take seq_kv = {seq_q} or more, or --no-causal"
    )]
    Chunk {
        /// Queries.
        seq_q: u64,
        /// Keys.
        seq_kv: u64,
    },
    /// Several queries in decode.
    #[error("decode has one query per sequence, seq_q = {seq_q}: several are a prefill (phase prefill)")]
    DecodeQueries {
        /// Queries.
        seq_q: u64,
    },
    /// A type that no attention kernel takes.
    #[error("attention kernels take bf16, fp16, fp8, tf32 and fp32, not {}", .input.name())]
    Type {
        /// As given.
        input: DataType,
    },
    /// The GPU has no unit for the type.
    #[error(transparent)]
    Precision(#[from] PrecisionError),
    /// Attention runs on GPUs of NVIDIA.
    #[error("{name} is {what}: the kernels of attention are known for GPUs of NVIDIA alone")]
    Device {
        /// Name of the device.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// No constants for a library on a GPU.
    #[error("no constants of {} for {}{gpu}; there are: {available}", .library.word(), .phase.map_or(String::new(), |p| format!("{} on ", p.word())))]
    NoConstants {
        /// The library.
        library: Library,
        /// The phase that lacks them, where the other one has some.
        phase: Option<Phase>,
        /// Name of the GPU.
        gpu: String,
        /// Libraries that have constants there.
        available: String,
    },
    /// The kernel cannot be launched.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The embedded constants cannot be read.
    #[error("the embedded constants of attention cannot be read: {message}")]
    File {
        /// The reader's words.
        message: String,
    },
}

/// Most sequences and tokens: products of a few sizes stay far from 2^64.
const LONGEST: u64 = 1 << 32;
/// Most heads.
const MOST_HEADS: u64 = 1 << 16;
/// Largest head, and what all heads are multiples of.
const LARGEST_HEAD: u64 = 256;
const HEAD_STEP: u64 = 8;

impl Shape {
    /// Causal attention of whole prompts.
    pub fn prefill(batch: u64, heads: (u64, u64), seq: u64, head_dim: u64) -> Self {
        let (heads_q, heads_kv) = heads;
        let phase = Phase::Prefill;
        Self { batch, heads_q, heads_kv, seq_q: seq, seq_kv: seq, head_dim, causal: true, window: None, phase }
    }

    /// One query per sequence against `seq_kv` keys.
    pub fn decode(batch: u64, heads: (u64, u64), seq_kv: u64, head_dim: u64) -> Self {
        Self { seq_q: 1, phase: Phase::Decode, ..Self::prefill(batch, heads, seq_kv, head_dim) }
    }

    /// The shape, if there is such a call. A window that covers all keys is dropped.
    ///
    /// # Errors
    /// A size of 0 or beyond any GPU, heads that do not divide, a head size without kernels, a window of 0 or without
    /// causality, more causal queries than keys, several queries in decode.
    pub fn checked(self) -> Result<Self, AttentionError> {
        for (field, value, most) in [
            ("batch", self.batch, LONGEST),
            ("heads_q", self.heads_q, MOST_HEADS),
            ("heads_kv", self.heads_kv, MOST_HEADS),
            ("seq_q", self.seq_q, LONGEST),
            ("seq_kv", self.seq_kv, LONGEST),
        ] {
            if value == 0 {
                return Err(AttentionError::Zero { field });
            }
            if value > most {
                return Err(AttentionError::Large { field, value, most });
            }
        }
        let Self { heads_q, heads_kv, seq_q, seq_kv, head_dim, .. } = self;
        if !heads_q.is_multiple_of(heads_kv) {
            let below = (1..=heads_kv.min(heads_q)).rev();
            let near = below.into_iter().find(|h| heads_q.is_multiple_of(*h)).unwrap_or(1);
            return Err(AttentionError::Heads { heads_q, heads_kv, near });
        }
        if head_dim == 0 || head_dim > LARGEST_HEAD || !head_dim.is_multiple_of(HEAD_STEP) {
            let near = head_dim.min(LARGEST_HEAD).next_multiple_of(HEAD_STEP).max(HEAD_STEP);
            return Err(AttentionError::HeadSize { head_dim, near });
        }
        if self.phase == Phase::Decode && seq_q > 1 {
            return Err(AttentionError::DecodeQueries { seq_q });
        }
        match self.window {
            Some(0) => return Err(AttentionError::NoWindow),
            Some(window) if !self.causal => return Err(AttentionError::WindowNotCausal { window }),
            _ => {}
        }
        if self.causal && seq_q > seq_kv {
            return Err(AttentionError::Chunk { seq_q, seq_kv });
        }
        let shape = Self { window: self.window.filter(|w| *w < seq_kv), ..self };
        let flop = shape.flop();
        if flop > 1e24 { Err(AttentionError::Huge { flop }) } else { Ok(shape) }
    }

    /// Query heads that share a KV head.
    pub fn group(&self) -> u64 {
        self.heads_q / self.heads_kv.max(1)
    }

    /// Keys before the first query: the chunks of a prompt that are in the cache already.
    pub fn before(&self) -> u64 {
        if self.causal { self.seq_kv.saturating_sub(self.seq_q) } else { 0 }
    }

    /// Pairs of a query and a key that it sees, of one head of one sequence.
    pub fn pairs(&self) -> f64 {
        let (q, kv) = (self.seq_q as f64, self.seq_kv as f64);
        if !self.causal {
            return q * kv;
        }
        let before = kv - q;
        let all = q * before + q * (q + 1.0) / 2.0;
        let Some(window) = self.window.map(|w| w as f64) else { return all };
        // Query i sees min(before + i + 1, window) keys; those with fewer come first.
        let short = (window - before).clamp(0.0, q);
        short * before + short * (short + 1.0) / 2.0 + (q - short) * window
    }

    /// Operations: 4 per pair and element of a head, in the two products; the exponentials are not counted.
    pub fn flop(&self) -> f64 {
        4.0 * self.batch as f64 * self.heads_q as f64 * self.head_dim as f64 * self.pairs()
    }

    /// Keys of a sequence that some query sees.
    pub fn keys_read(&self) -> u64 {
        self.window.map_or(self.seq_kv, |w| self.seq_kv.min(w.saturating_add(self.seq_q - 1)))
    }

    /// Bytes that a token takes in the K and V cache of one layer.
    pub fn cache_bytes_per_token(&self, bytes_per_element: f64) -> f64 {
        2.0 * self.heads_kv as f64 * self.head_dim as f64 * bytes_per_element
    }

    /// Elements of Q, and of O.
    pub fn query_elements(&self) -> f64 {
        self.batch as f64 * self.seq_q as f64 * self.heads_q as f64 * self.head_dim as f64
    }

    /// Elements of K and V together that are read.
    pub fn key_value_elements(&self) -> f64 {
        2.0 * self.batch as f64 * self.keys_read() as f64 * self.heads_kv as f64 * self.head_dim as f64
    }
}
