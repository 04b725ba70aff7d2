//! From the columns of a table to a call.

use super::{AttentionError, Phase, Shape};

/// The columns that an attention row has; absent ones have the meaning that their comments name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row<'a> {
    /// Sequences; 1.
    pub batch: Option<u64>,
    /// Query heads.
    pub heads_q: u64,
    /// KV heads; as many as query heads.
    pub heads_kv: Option<u64>,
    /// Queries of a sequence; 1 in decode.
    pub seq_q: Option<u64>,
    /// Keys of a sequence, the new ones included; as many as queries.
    pub seq_kv: Option<u64>,
    /// Elements of a head.
    pub head_dim: u64,
    /// Whether a query sees no later key; it does not.
    pub causal: Option<bool>,
    /// `prefill` or `decode`; decode where there is one query.
    pub phase: Option<&'a str>,
    /// Window of the notes (`window=`); none.
    pub window: Option<u64>,
}

impl Row<'_> {
    /// The checked call.
    ///
    /// # Errors
    /// A phase that is none, no length at all, or a shape that no kernel takes.
    pub fn shape(&self) -> Result<Shape, AttentionError> {
        let phase = self.phase.map(str::parse).transpose()?;
        let (seq_q, seq_kv) = match (self.seq_q, self.seq_kv, phase) {
            (None, None, _) => return Err(AttentionError::Zero { field: "seq_q" }),
            (Some(q), None, Some(Phase::Decode)) if q > 1 => return Err(AttentionError::DecodeQueries { seq_q: q }),
            (Some(q), None, Some(Phase::Decode)) => {
                return Err(AttentionError::Zero { field: if q == 0 { "seq_q" } else { "seq_kv" } });
            }
            (Some(q), kv, _) => (q, kv.unwrap_or(q)),
            (None, Some(kv), Some(Phase::Prefill)) => (kv, kv),
            (None, Some(kv), _) => (1, kv),
        };
        let shape = Shape {
            batch: self.batch.unwrap_or(1),
            heads_q: self.heads_q,
            heads_kv: self.heads_kv.unwrap_or(self.heads_q),
            seq_q,
            seq_kv,
            head_dim: self.head_dim,
            causal: self.causal.unwrap_or(true),
            window: self.window,
            phase: phase.unwrap_or(if seq_q == 1 { Phase::Decode } else { Phase::Prefill }),
        };
        shape.checked()
    }
}
