//! What mixes tokens: attention by heads, latent attention, state-space layers.

use super::{Class, Phase, StepError, What, forward::Pen};
use crate::{
    network::{Heads, Latent, Mamba},
    op::{attention::Shape, rowwise},
};

/// Attention by heads: projections, rotary positions, attention, output.
pub(super) fn attention(pen: &mut Pen, heads: &Heads, hidden: u64, rotary: bool) -> Result<(), StepError> {
    let (step, rows) = (pen.step, pen.step.rows());
    // Fewer heads of keys and values than GPUs: each has a copy of one.
    let (query, kv) = (step.share(heads.query), step.share(heads.kv));
    pen.product("QKV projection", rows, (query + 2 * kv) * heads.dim, hidden)?;
    if heads.normalised {
        pen.norm("query and key norm", rows * (query + kv), heads.dim)?;
    }
    if rotary {
        // Two sources, the elements and their angles, like a product of tensors.
        pen.each("rotary positions", "mul", rows, (query + kv) * heads.dim)?;
    }
    let shape = Shape { causal: heads.causal, window: heads.window, ..shape(pen, (query, kv), heads.dim) };
    scores(pen, shape)?;
    pen.product("output projection", rows, hidden, query * heads.dim)
}

/// The call of a step.
fn shape(pen: &Pen, heads: (u64, u64), dim: u64) -> Shape {
    let step = pen.step;
    match step.phase {
        Phase::Decode => Shape::decode(step.batch, heads, step.tokens, dim),
        Phase::Prefill | Phase::Train => Shape::prefill(step.batch, heads, step.tokens, dim),
    }
}

/// Attention in one kernel, or as product, softmax, product with the scores in memory.
fn scores(pen: &mut Pen, shape: Shape) -> Result<(), StepError> {
    let shape = shape.checked()?;
    if pen.step.fused {
        pen.push("attention", Class::Product, What::Attention(shape));
        return Ok(());
    }
    let heads = shape.batch * shape.heads_q;
    pen.products("attention scores", (heads, shape.seq_q, shape.seq_kv, shape.head_dim), false)?;
    pen.each("attention scale and mask", "add", heads * shape.seq_q, shape.seq_kv)?;
    pen.softmax("attention softmax", heads * shape.seq_q, shape.seq_kv, pen.step.data)?;
    pen.products("attention values", (heads, shape.seq_q, shape.head_dim, shape.seq_kv), false)
}

/// Latent attention. A prompt expands keys and values and attends head by head; a new token is moved into the latent space, where
/// all heads share one key of `kv_rank + rope` elements (DeepSeek-V2, arXiv 2405.04434, appendix C).
pub(super) fn latent(pen: &mut Pen, latent: &Latent, hidden: u64) -> Result<(), StepError> {
    let (step, rows) = (pen.step, pen.step.rows());
    let heads = step.share(latent.heads);
    match latent.query_rank {
        Some(rank) => {
            pen.product("query down projection", rows, rank, hidden)?;
            pen.norm("query norm", rows, rank)?;
            pen.product("query up projection", rows, heads * latent.key(), rank)?;
        }
        None => pen.product("query projection", rows, heads * latent.key(), hidden)?,
    }
    pen.product("latent projection", rows, latent.kv_rank + latent.rope, hidden)?;
    pen.norm("latent norm", rows, latent.kv_rank)?;
    pen.each("rotary positions", "mul", rows, (heads + 1) * latent.rope)?;
    if step.phase == Phase::Decode {
        pen.products("query into the latent space", (heads, rows, latent.kv_rank, latent.nope), true)?;
        let (keys, cached) = (step.tokens as f64 * step.batch as f64, (latent.kv_rank + latent.rope) as f64);
        let flop = 2.0 * keys * heads as f64 * (cached + latent.kv_rank as f64);
        let queries = step.batch as f64 * (heads * (latent.key() + latent.kv_rank)) as f64;
        let bytes = keys * cached * step.cache_bytes + queries * rowwise::bytes(step.data);
        pen.push("latent attention", Class::Product, What::Other { flop, bytes });
        pen.products("values out of the latent space", (heads, rows, latent.value, latent.kv_rank), true)?;
    } else {
        pen.product("key and value up projection", rows, heads * (latent.nope + latent.value), latent.kv_rank)?;
        // Queries and keys are wider than values: the mean width has their FLOP.
        let dim = ((latent.key() + latent.value) / 2).next_multiple_of(8);
        let shape = shape(pen, (heads, heads), dim);
        scores(pen, shape)?;
    }
    pen.product("output projection", rows, hidden, heads * latent.value)
}

/// Tokens of a chunk of the state-space scan, inside which it runs as products (Mamba-2's own default in training).
const CHUNK: u64 = 256;

/// A layer of Mamba-2: projection, convolution, scan, gated norm, projection.
pub(super) fn mamba(pen: &mut Pen, mamba: &Mamba, hidden: u64) -> Result<(), StepError> {
    let (step, rows) = (pen.step, pen.step.rows());
    let (inner, heads) = (step.share(mamba.inner()), step.share(mamba.heads));
    let channels = inner + 2 * step.share(mamba.groups) * mamba.state;
    pen.product("input projection", rows, inner + channels + heads, hidden)?;
    pen.each("convolution", "silu", rows, channels)?;
    let size = rowwise::bytes(step.data);
    let elements = rows as f64 * (2 * inner + 2 * step.share(mamba.groups) * mamba.state) as f64;
    let state = inner as f64 * mamba.state as f64;
    let (flop, bytes) = if step.phase == Phase::Decode {
        // The state of each sequence, in 32 bits, is read, moved on by one token, and written.
        (6.0 * rows as f64 * state, elements * size + 2.0 * 4.0 * step.batch as f64 * state)
    } else {
        // Mamba-2, section 6: within a chunk the scores and their product with the values; across chunks the states in and out.
        let chunk = CHUNK.min(step.tokens) as f64;
        let within = rows as f64 * chunk * (step.share(mamba.groups) * mamba.state + inner) as f64;
        let states = rows as f64 / chunk * state;
        (2.0 * within + 4.0 * rows as f64 * state, elements * size + 2.0 * 4.0 * states)
    };
    pen.push("state-space scan", Class::Product, What::Other { flop, bytes });
    pen.norm("gated norm", rows, inner)?;
    pen.product("output projection", rows, hidden, inner)
}
