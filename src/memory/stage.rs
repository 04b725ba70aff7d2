//! What one rank of the first pipeline stage has of a network: a smaller network.

use super::{MemoryError, Parallel};
use crate::network::{Experts, Feed, Head, Heads, Latent, Layer, Mamba, Mixer, Mlp, Network};

/// The part of `network` that one tensor-parallel rank of the first pipeline stage holds. Heads and the width of MLPs are divided;
/// norms, routers and the projections down to latent ranks are copies; of fewer heads of keys and values than ranks each rank has
/// one; rows of the vocabulary are padded up to a multiple of the ranks, as Megatron-LM pads them.
pub(super) fn first_stage(network: &Network, parallel: &Parallel) -> Result<Network, MemoryError> {
    parallel.check()?;
    let layers = network.layers.len() as u64;
    if layers == 0 {
        return Err(MemoryError::Range { what: "the number of layers", value: 0, least: 1, most: 10_000 });
    }
    let pieces = parallel.pipeline * parallel.interleave;
    if !layers.is_multiple_of(pieces) {
        let chunks = match parallel.interleave {
            1 => String::new(),
            chunks => format!(" with {chunks} chunks each"),
        };
        return Err(MemoryError::Indivisible {
            degree: format!("a pipeline of {} stages{chunks}", parallel.pipeline),
            what: format!("{layers} layers"),
            cure: divisors("stages x chunks", layers),
        });
    }
    let (own, whole) = ((layers / pieces) as usize, (layers / parallel.interleave) as usize);
    let mut stage = network.clone();
    // A stage has the first of each run of chunks.
    let chunks = network.layers.chunks(whole).flat_map(|run| run.iter().take(own));
    stage.layers = chunks.map(|layer| rank(layer, parallel.tensor)).collect::<Result<_, _>>()?;
    stage.vocabulary = network.vocabulary.div_ceil(parallel.tensor);
    if parallel.pipeline > 1 {
        (stage.head, stage.final_norm) = (Head::None, false);
    }
    Ok(stage)
}

/// What a rank has of a layer.
fn rank(layer: &Layer, tensor: u64) -> Result<Layer, MemoryError> {
    let mixer = match layer.mixer {
        Some(Mixer::Attention(heads)) => Some(Mixer::Attention(Heads {
            query: part("attention heads", heads.query, tensor)?,
            kv: kv("heads of keys and values", heads.kv, tensor)?,
            ..heads
        })),
        Some(Mixer::Latent(latent)) => {
            Some(Mixer::Latent(Latent { heads: part("attention heads", latent.heads, tensor)?, ..latent }))
        }
        Some(Mixer::Mamba(mamba)) => Some(Mixer::Mamba(Mamba {
            heads: part("heads of state-space layers", mamba.heads, tensor)?,
            groups: kv("groups of state-space layers", mamba.groups, tensor)?,
            ..mamba
        })),
        None => None,
    };
    let mlp = |mlp: Mlp| Ok(Mlp { width: part("columns of an MLP", mlp.width, tensor)?, ..mlp });
    let feed = match layer.feed {
        Some(Feed::Dense(dense)) => Some(Feed::Dense(mlp(dense)?)),
        Some(Feed::Experts(experts)) => Some(Feed::Experts(Experts {
            expert: mlp(experts.expert)?,
            shared: experts.shared.map(mlp).transpose()?,
            ..experts
        })),
        None => None,
    };
    Ok(Layer { mixer, feed, norms: layer.norms })
}

fn part(what: &str, count: u64, tensor: u64) -> Result<u64, MemoryError> {
    match count.is_multiple_of(tensor) {
        true => Ok(count / tensor),
        false => Err(MemoryError::Indivisible {
            degree: format!("a tensor-parallel degree of {tensor}"),
            what: format!("{count} {what}"),
            cure: divisors("a degree", count),
        }),
    }
}

/// Of fewer than there are ranks each rank has one.
fn kv(what: &str, count: u64, tensor: u64) -> Result<u64, MemoryError> {
    if tensor > count && tensor.is_multiple_of(count) { Ok(1) } else { part(what, count, tensor) }
}

/// "a degree of 1, 2, 4 or 8 does".
fn divisors(what: &str, count: u64) -> String {
    let all: Vec<String> = (1..=count.min(64)).filter(|d| count.is_multiple_of(*d)).map(|d| d.to_string()).collect();
    let (last, rest) = all.split_last().map_or(("1", &[][..]), |(last, rest)| (last.as_str(), rest));
    if rest.is_empty() {
        format!("{what} of {last} does")
    } else {
        format!("{what} of {} or {last} does", rest.join(", "))
    }
}
