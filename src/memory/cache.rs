//! The KV cache: what a token leaves behind in every layer.

use super::{MemoryError, Parallel, inference::Cache, stage::first_stage};
use crate::network::{Mixer, Network};

/// Bytes of an element of a state-space layer's state, which no cache type narrows.
const STATE: f64 = 2.0;

/// Bytes that one more token adds on one of `tensor` ranks, where no window is full. Heads of keys and values are divided, and
/// copied where there are fewer than ranks; a latent belongs to all heads, so that each rank holds it. An encoder
/// has no cache.
///
/// # Errors
/// `tensor` does not divide the network.
pub fn cache_of_token(network: &Network, cache: &Cache, tensor: u64) -> Result<f64, MemoryError> {
    let rank = first_stage(network, &Parallel { tensor, ..Parallel::default() })?;
    Ok(rank.layers.iter().filter_map(|layer| elements(layer.mixer.as_ref()?, cache.expanded)).sum::<u64>() as f64
        * cache.width.bytes)
}

/// Bytes of a sequence of so many tokens on one of `tensor` ranks: of layers with a window at most the window, of state-space layers
/// a state that does not grow.
///
/// # Errors
/// `tensor` does not divide the network.
pub fn cache_of_sequence(network: &Network, cache: &Cache, tensor: u64, tokens: u64) -> Result<f64, MemoryError> {
    let rank = first_stage(network, &Parallel { tensor, ..Parallel::default() })?;
    Ok(held(&rank, cache, tokens))
}

/// The same of a rank's own network.
pub(super) fn held(rank: &Network, cache: &Cache, tokens: u64) -> f64 {
    let of = |mixer: &Mixer| match mixer {
        Mixer::Mamba(mamba) => mamba.cached() as f64 * STATE,
        Mixer::Attention(heads) => {
            let seen = heads.window.map_or(tokens, |window| tokens.min(window));
            elements(mixer, cache.expanded).unwrap_or(0) as f64 * seen as f64 * cache.width.bytes
        }
        Mixer::Latent(_) => elements(mixer, cache.expanded).unwrap_or(0) as f64 * tokens as f64 * cache.width.bytes,
    };
    rank.layers.iter().filter_map(|layer| layer.mixer.as_ref()).map(of).sum()
}

/// Elements per token; none where nothing grows: in state-space layers, and in encoders, which see all tokens at once.
fn elements(mixer: &Mixer, expanded: bool) -> Option<u64> {
    match mixer {
        Mixer::Attention(heads) => heads.causal.then_some(2 * heads.kv * heads.dim),
        Mixer::Latent(latent) if expanded => Some(latent.heads * (latent.key() + latent.value)),
        Mixer::Latent(latent) => Some(latent.kv_rank + latent.rope),
        Mixer::Mamba(_) => None,
    }
}
