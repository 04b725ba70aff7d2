//! Families with mixtures of experts.

use crate::network::{Experts, Feed, Heads, Latent, Layer, Mixer, Mlp, Network, NetworkError, config::Keys};

use super::{common, depth, heads, windows};

/// Mixtral, Qwen and gpt-oss.
pub(super) fn read(family: &str, keys: &Keys) -> Result<Network, NetworkError> {
    let mut network = common(family, keys)?;
    let layers = depth(keys, &["num_hidden_layers"])?;
    let mut heads = heads(keys, network.hidden)?;
    match family {
        "gpt_oss" => heads.sinks = true,
        "qwen2_moe" => heads.bias = true,
        "qwen3_moe" => heads.normalised = true,
        _ => {}
    }
    let bias = family == "gpt_oss";
    let own_width = family.starts_with("qwen");
    let width = keys.count(&[if own_width { "moe_intermediate_size" } else { "intermediate_size" }])?;
    let shared = match family {
        "qwen2_moe" => Some(Mlp { width: keys.count(&["shared_expert_intermediate_size"])?, gated: true, bias }),
        _ => None,
    };
    let experts = Experts {
        count: keys.count(&["num_local_experts", "num_experts"])?,
        per_token: keys.count(&["num_experts_per_tok", "experts_per_token"])?,
        expert: Mlp { width, gated: true, bias },
        shared,
        shared_gate: shared.is_some(),
        router_bias: bias,
    };
    let (step, alone) = if own_width {
        (keys.count_or("decoder_sparse_step", 1)?, dense_layers(keys, layers)?)
    } else {
        (1, Vec::new())
    };
    let dense = match own_width && (step > 1 || !alone.is_empty()) {
        true => Some(Mlp { width: keys.count(&["intermediate_size"])?, gated: true, bias }),
        false => {
            keys.value("intermediate_size");
            None
        }
    };
    network.layers = (0..)
        .zip(windows(family, keys, layers)?)
        .map(|(layer, window)| {
            let sparse = !alone.contains(&layer) && (layer + 1) % step == 0;
            let feed = dense.filter(|_| !sparse).map_or(Feed::Experts(experts), Feed::Dense);
            Layer { mixer: Some(Mixer::Attention(Heads { window, ..heads })), feed: Some(feed), norms: 2 }
        })
        .collect();
    Ok(network)
}

/// Layers without experts, by number.
fn dense_layers(keys: &Keys, layers: u64) -> Result<Vec<u64>, NetworkError> {
    let Some(value) = keys.value("mlp_only_layers") else { return Ok(Vec::new()) };
    let wrong = || keys.wrong("mlp_only_layers", format!("a list of layers from 0 to {} is wanted", layers - 1));
    let list = value.as_array().ok_or_else(wrong)?;
    list.iter().map(|layer| layer.as_u64().filter(|layer| *layer < layers).ok_or_else(wrong)).collect()
}

/// DeepSeek-V2 and V3: latent attention, some dense layers first, then experts with shared ones.
pub(super) fn latent(family: &str, keys: &Keys) -> Result<Network, NetworkError> {
    let mut network = common(family, keys)?;
    let layers = depth(keys, &["num_hidden_layers"])?;
    // Its heads of keys and values are made from the latent: there are as many as query heads.
    keys.value("num_key_value_heads");
    if keys.flag("attention_bias", false)? {
        return Err(keys.wrong("attention_bias", "no published network of this family has one, and it is not read"));
    }
    let mixer = Mixer::Latent(Latent {
        heads: keys.count(&["num_attention_heads"])?,
        query_rank: keys.optional("q_lora_rank", 1)?,
        kv_rank: keys.count(&["kv_lora_rank"])?,
        nope: keys.count(&["qk_nope_head_dim"])?,
        rope: keys.count(&["qk_rope_head_dim"])?,
        value: keys.count(&["v_head_dim"])?,
    });
    let first_sparse = keys.optional("first_k_dense_replace", 0)?.unwrap_or(0);
    if first_sparse > layers {
        return Err(NetworkError::Contradiction {
            what: format!("`first_k_dense_replace` is {first_sparse} and there are {layers} layers"),
            cure: "it must be at most the number of layers".into(),
        });
    }
    let mlp = |width: u64| Mlp { width, gated: true, bias: false };
    let width = keys.count(&["moe_intermediate_size"])?;
    let shared = keys.optional("n_shared_experts", 0)?.filter(|shared| *shared > 0);
    let experts = Experts {
        count: keys.count(&["n_routed_experts"])?,
        per_token: keys.count(&["num_experts_per_tok"])?,
        expert: mlp(width),
        shared: shared.map(|shared| mlp(width * shared)),
        shared_gate: false,
        // V3 corrects the scores by a bias per expert.
        router_bias: family == "deepseek_v3",
    };
    let dense = mlp(keys.count(&["intermediate_size"])?);
    network.extra_layers = keys.optional("num_nextn_predict_layers", 0)?.unwrap_or(0);
    if network.extra_layers > 0 {
        let what = "layers that predict further tokens (`num_nextn_predict_layers`) are left out";
        network.notes.push(format!("{} {what}", network.extra_layers));
    }
    network.layers = (0..layers)
        .map(|layer| Layer {
            mixer: Some(mixer),
            feed: Some(if layer < first_sparse { Feed::Dense(dense) } else { Feed::Experts(experts) }),
            norms: 2,
        })
        .collect();
    Ok(network)
}
