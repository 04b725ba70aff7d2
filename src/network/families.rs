//! The supported families: which keys say what, and what each takes where the configuration is silent.
//!
//! Defaults and shapes are those of the `configuration_*.py` and `modeling_*.py` files of Hugging Face transformers 4.57;
//! Nemotron-H's those of the model's own repository.

mod experts;
mod others;

use super::{
    Feed, Head, Heads, Layer, Mixer, Mlp, Network, NetworkError, Norm,
    config::{Keys, quantised, stored},
    parameters::countable,
};

/// Values of `model_type` that are read.
pub(super) const NAMES: [&str; 18] = [
    "llama",
    "mistral",
    "mixtral",
    "qwen2",
    "qwen2_moe",
    "qwen3",
    "qwen3_moe",
    "qwen3_vl",
    "phi3",
    "gemma",
    "gemma2",
    "deepseek_v2",
    "deepseek_v3",
    "gpt_oss",
    "gpt2",
    "gpt_neox",
    "bert",
    "nemotron_h",
];

/// Reads a configuration of a family; absent where it is not supported.
pub(super) fn read(family: &str, keys: &Keys) -> Option<Result<Network, NetworkError>> {
    Some(match family {
        "llama" | "mistral" | "qwen2" | "qwen3" | "phi3" | "gemma" | "gemma2" => decoder(family, keys),
        "qwen3_vl" => others::with_vision(keys),
        "mixtral" | "qwen2_moe" | "qwen3_moe" | "gpt_oss" => experts::read(family, keys),
        "deepseek_v2" | "deepseek_v3" => experts::latent(family, keys),
        "gpt2" => others::gpt2(keys),
        "gpt_neox" => others::gpt_neox(keys),
        "bert" => others::bert(keys),
        "nemotron_h" => others::hybrid(keys),
        _ => return None,
    })
}

/// What all decoders of the Llama kind have: RMS norms before each part and at the end, rotary positions, no layers yet.
fn common(family: &str, keys: &Keys) -> Result<Network, NetworkError> {
    let tied_by_default = family.starts_with("gemma");
    let tied = keys.flag("tie_word_embeddings", tied_by_default)?;
    let (head, note) = head(keys, tied)?;
    Ok(Network {
        name: String::new(),
        family: family.into(),
        hidden: keys.count(&["hidden_size"])?,
        vocabulary: keys.count(&["vocab_size"])?,
        positions: 0,
        token_types: 0,
        longest: keys.count(&["max_position_embeddings"])?,
        norm: Norm::Rms,
        embedding_norm: false,
        final_norm: true,
        layers: Vec::new(),
        extra_layers: 0,
        head,
        stored: stored(keys)?,
        quantised: quantised(keys)?,
        notes: note.into_iter().collect(),
    })
}

/// What stands behind the last layer, by the class that the file names.
fn head(keys: &Keys, tied: bool) -> Result<(Head, Option<String>), NetworkError> {
    let class = keys.value("architectures").and_then(|list| list.get(0)).and_then(|class| class.as_str());
    let language = Head::Language { tied };
    Ok(match class {
        Some("BertModel") => (Head::Pooler, None),
        Some("BertForMaskedLM" | "BertLMHeadModel") => (Head::Masked, None),
        None => (language, None),
        Some(class) if class.ends_with("ForCausalLM") || class.ends_with("LMHeadModel") => (language, None),
        Some(class) if class.ends_with("ForConditionalGeneration") => (language, None),
        Some(class) if class.ends_with("Model") => (Head::None, None),
        Some(class) => (Head::None, Some(format!("the head of `{class}` is left out"))),
    })
}

/// Layers of the network, checked before a list of so many is made.
fn depth(keys: &Keys, names: &[&str]) -> Result<u64, NetworkError> {
    const DEEPEST: u64 = 10_000;
    let layers = keys.count(names)?;
    if layers > DEEPEST {
        return Err(keys.wrong(names[0], format!("at most {DEEPEST} layers are read")));
    }
    Ok(layers)
}

/// Query heads, heads of keys and values, and their width.
fn heads(keys: &Keys, hidden: u64) -> Result<Heads, NetworkError> {
    let query = keys.count(&["num_attention_heads"])?;
    let kv = keys.count_or("num_key_value_heads", query)?;
    let dim = match keys.optional("head_dim", 1)?.or(keys.optional("attention_head_dim", 1)?) {
        Some(dim) => dim,
        None => width_of_head(hidden, query)?,
    };
    let bias = keys.flag("attention_bias", false)?;
    Ok(Heads { query, kv, dim, bias, output_bias: bias, normalised: false, sinks: false, window: None, causal: true })
}

/// `hidden / heads`, which must be whole.
fn width_of_head(hidden: u64, heads: u64) -> Result<u64, NetworkError> {
    if !hidden.is_multiple_of(heads) {
        return Err(NetworkError::Contradiction {
            what: format!("{heads} heads do not divide a hidden size of {hidden}"),
            cure: "a number of heads that does, or `head_dim`, is wanted".into(),
        });
    }
    Ok(hidden / heads)
}

/// The window of each layer: of `layer_types` where the file has it, else of what the family does with `sliding_window`.
fn windows(family: &str, keys: &Keys, layers: u64) -> Result<Vec<Option<u64>>, NetworkError> {
    let window = keys.optional("sliding_window", 1)?;
    let first_windowed = keys.optional("max_window_layers", 0)?.unwrap_or(0);
    let used = keys.flag("use_sliding_window", false)?;
    if let Some(types) = keys.words("layer_types", layers)? {
        return types
            .into_iter()
            .map(|kind| match kind {
                "full_attention" => Ok(None),
                "sliding_attention" => match window {
                    Some(window) => Ok(Some(window)),
                    None => Err(NetworkError::Contradiction {
                        what: "`layer_types` has sliding attention and `sliding_window` is missing".into(),
                        cure: "the tokens of the window are wanted".into(),
                    }),
                },
                _ => Err(keys.wrong("layer_types", "full_attention and sliding_attention are read")),
            })
            .collect();
    }
    let of = |layer: u64| match family {
        "mistral" | "mixtral" | "phi3" => window,
        "qwen2" | "qwen2_moe" | "qwen3" | "qwen3_moe" => window.filter(|_| used && layer >= first_windowed),
        // Every second layer, the first among them.
        "gemma2" | "gpt_oss" => window.filter(|_| layer.is_multiple_of(2)),
        _ => None,
    };
    Ok((0..layers).map(of).collect())
}

/// A decoder with dense layers.
fn decoder(family: &str, keys: &Keys) -> Result<Network, NetworkError> {
    let mut network = common(family, keys)?;
    let layers = depth(keys, &["num_hidden_layers"])?;
    let mut heads = heads(keys, network.hidden)?;
    (heads.bias, heads.normalised) = (heads.bias || family == "qwen2", family.starts_with("qwen3"));
    let mlp = Mlp { width: keys.count(&["intermediate_size"])?, gated: true, bias: keys.flag("mlp_bias", false)? };
    let norms = if family == "gemma2" { 4 } else { 2 };
    network.layers = windows(family, keys, layers)?
        .into_iter()
        .map(|window| Layer {
            mixer: Some(Mixer::Attention(Heads { window, ..heads })),
            feed: Some(Feed::Dense(mlp)),
            norms,
        })
        .collect();
    Ok(network)
}

impl Network {
    /// What no family may lack.
    ///
    /// # Errors
    /// Heads of keys and values do not divide the query heads, a token goes to more experts than there are, or the sizes are beyond
    /// exact counts.
    pub(super) fn check(&self) -> Result<(), NetworkError> {
        for layer in &self.layers {
            if let Some(Mixer::Attention(heads)) = &layer.mixer
                && !heads.query.is_multiple_of(heads.kv)
            {
                return Err(NetworkError::Contradiction {
                    what: format!("{} heads of keys and values do not divide {} query heads", heads.kv, heads.query),
                    cure: "`num_key_value_heads` must divide `num_attention_heads`".into(),
                });
            }
            if let Some(Feed::Experts(experts)) = &layer.feed
                && experts.per_token > experts.count
            {
                return Err(NetworkError::Contradiction {
                    what: format!("a token goes to {} of {} experts", experts.per_token, experts.count),
                    cure: "`num_experts_per_tok` must be at most the number of experts".into(),
                });
            }
        }
        countable(self)
    }
}
