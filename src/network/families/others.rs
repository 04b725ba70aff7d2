//! Families of their own kind: GPT-2, GPT-NeoX, BERT, a hybrid with state-space layers, a language model with a vision part.

use serde_json::Value;

use crate::network::{
    Feed, Head, Heads, Layer, Mamba, Mixer, Mlp, Network, NetworkError, Norm,
    config::{Keys, left_out, quantised, stored},
};

use super::{common, decoder, depth, head, heads, width_of_head};

/// A stack of equal layers with layer norms and biases everywhere.
struct Plain {
    hidden: u64,
    heads: u64,
    layers: u64,
    width: u64,
    causal: bool,
}

impl Plain {
    fn layers(&self) -> Result<Vec<Layer>, NetworkError> {
        let heads = Heads {
            query: self.heads,
            kv: self.heads,
            dim: width_of_head(self.hidden, self.heads)?,
            bias: true,
            output_bias: true,
            normalised: false,
            sinks: false,
            window: None,
            causal: self.causal,
        };
        let feed = Feed::Dense(Mlp { width: self.width, gated: false, bias: true });
        let layer = Layer { mixer: Some(Mixer::Attention(heads)), feed: Some(feed), norms: 2 };
        Ok(vec![layer; usize::try_from(self.layers).unwrap_or(0)])
    }
}

/// A network of such layers.
fn plain(
    family: &str,
    keys: &Keys,
    longest: u64,
    head: (Head, Option<String>),
    of: &Plain,
) -> Result<Network, NetworkError> {
    Ok(Network {
        name: String::new(),
        family: family.into(),
        hidden: of.hidden,
        vocabulary: keys.count(&["vocab_size"])?,
        positions: 0,
        token_types: 0,
        longest,
        norm: Norm::Layer,
        embedding_norm: false,
        final_norm: true,
        layers: of.layers()?,
        extra_layers: 0,
        head: head.0,
        stored: stored(keys)?,
        quantised: quantised(keys)?,
        notes: head.1.into_iter().collect(),
    })
}

pub(super) fn gpt2(keys: &Keys) -> Result<Network, NetworkError> {
    let hidden = keys.count(&["n_embd", "hidden_size"])?;
    let of = Plain {
        hidden,
        heads: keys.count(&["n_head", "num_attention_heads"])?,
        layers: depth(keys, &["n_layer", "num_hidden_layers"])?,
        width: keys.count_or("n_inner", 4 * hidden)?,
        causal: true,
    };
    let longest = keys.count(&["n_positions", "n_ctx", "max_position_embeddings"])?;
    let head = head(keys, keys.flag("tie_word_embeddings", true)?)?;
    Ok(Network { positions: longest, ..plain("gpt2", keys, longest, head, &of)? })
}

pub(super) fn gpt_neox(keys: &Keys) -> Result<Network, NetworkError> {
    for key in ["rotary_pct", "rotary_emb_base", "use_parallel_residual"] {
        keys.value(key);
    }
    if !keys.flag("attention_bias", true)? {
        return Err(keys.wrong("attention_bias", "networks of this family with biases alone are read"));
    }
    let of = Plain {
        hidden: keys.count(&["hidden_size"])?,
        heads: keys.count(&["num_attention_heads"])?,
        layers: depth(keys, &["num_hidden_layers"])?,
        width: keys.count(&["intermediate_size"])?,
        causal: true,
    };
    let head = head(keys, keys.flag("tie_word_embeddings", false)?)?;
    plain("gpt_neox", keys, keys.count(&["max_position_embeddings"])?, head, &of)
}

pub(super) fn bert(keys: &Keys) -> Result<Network, NetworkError> {
    let of = Plain {
        hidden: keys.count(&["hidden_size"])?,
        heads: keys.count(&["num_attention_heads"])?,
        layers: depth(keys, &["num_hidden_layers"])?,
        width: keys.count(&["intermediate_size"])?,
        causal: false,
    };
    let longest = keys.count(&["max_position_embeddings"])?;
    // Without a class it is the plain encoder, which pools.
    let head = match keys.value("architectures") {
        Some(_) => head(keys, true)?,
        None => (Head::Pooler, None),
    };
    let token_types = keys.count_or("type_vocab_size", 2)?;
    let network = plain("bert", keys, longest, head, &of)?;
    Ok(Network { positions: longest, token_types, embedding_norm: true, final_norm: false, ..network })
}

/// Nemotron-H: each layer is one part, as the pattern says.
pub(super) fn hybrid(keys: &Keys) -> Result<Network, NetworkError> {
    let mut network = common("nemotron_h", keys)?;
    let layers = depth(keys, &["num_hidden_layers"])?;
    let pattern = keys.text("hybrid_override_pattern")?.unwrap_or_default();
    if pattern.chars().count() as u64 != layers {
        return Err(NetworkError::Contradiction {
            what: format!(
                "`hybrid_override_pattern` names {} layers and `num_hidden_layers` is {layers}",
                pattern.chars().count()
            ),
            cure: "one of M (Mamba), - (MLP) and * (attention) per layer is wanted".into(),
        });
    }
    let attention = heads(keys, network.hidden)?;
    let mamba = Mamba {
        heads: keys.count(&["mamba_num_heads"])?,
        dim: keys.count(&["mamba_head_dim"])?,
        groups: keys.count(&["n_groups"])?,
        state: keys.count(&["ssm_state_size"])?,
        taps: keys.count(&["conv_kernel"])?,
        convolution_bias: keys.flag("use_conv_bias", true)?,
        bias: keys.flag("mamba_proj_bias", false)? || keys.flag("use_bias", false)?,
    };
    let mlp = Mlp { width: keys.count(&["intermediate_size"])?, gated: false, bias: keys.flag("mlp_bias", false)? };
    network.layers = pattern
        .chars()
        .map(|part| match part {
            'M' => Ok(Layer { mixer: Some(Mixer::Mamba(mamba)), feed: None, norms: 1 }),
            '*' => Ok(Layer { mixer: Some(Mixer::Attention(attention)), feed: None, norms: 1 }),
            '-' => Ok(Layer { mixer: None, feed: Some(Feed::Dense(mlp)), norms: 1 }),
            _ => Err(keys.wrong("hybrid_override_pattern", "M (Mamba), - (MLP) and * (attention) are read")),
        })
        .collect::<Result<_, _>>()?;
    Ok(network)
}

/// Qwen3-VL: its language part, which is a Qwen3.
pub(super) fn with_vision(keys: &Keys) -> Result<Network, NetworkError> {
    let Some(Value::Object(map)) = keys.value("text_config") else {
        return Err(keys.wrong("text_config", "an object with the language part is wanted"));
    };
    let inner = Keys::new("qwen3_vl", map, "text_config.");
    inner.value("model_type");
    let mut network = decoder("qwen3", &inner)?;
    let tied = keys.flag("tie_word_embeddings", false)?;
    (network.family, network.head) = ("qwen3_vl".into(), Head::Language { tied });
    if keys.value("vision_config").is_some() {
        network.notes.push("the vision part (`vision_config`) is left out".into());
    }
    keys.value("vision_start_token_id");
    keys.value("vision_end_token_id");
    network.notes.extend(left_out(&inner.unread()));
    Ok(network)
}
