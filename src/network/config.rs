//! Reading a Hugging Face `config.json`: keys by name, which of them were read, and what is common to all families.

use std::{cell::RefCell, collections::BTreeSet};

use serde_json::{Map, Value};

use super::{Network, NetworkError, families};
use crate::{
    gpu::DataType,
    profile::{ProfileError, decode, repaired_json},
};

/// Bits of stored weights by the method that the configuration names.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantised {
    /// `quant_method` of the configuration.
    pub method: String,
    /// How the quantised weights are stored.
    pub storage: Storage,
}

/// How weights are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Storage {
    /// Bytes of a weight, with its share of a scale where blocks have one.
    pub bytes_per_weight: f64,
    /// Type of the products.
    pub data: DataType,
}

/// Most of a count: products of four of them stay within 64 bits.
const MOST: u64 = 1 << 24;

/// Keys that change no shape: token ids, initial values, dropout, loss, generation.
const OTHER: [&str; 80] = [
    "activation_function",
    "architectures",
    "attention_dropout",
    "attention_probs_dropout_prob",
    "attn_pdrop",
    "auto_map",
    "aux_loss_alpha",
    "beta_fast",
    "bos_token_id",
    "chunk_size",
    "classifier_dropout",
    "decoder_sparse_step",
    "do_sample",
    "dtype",
    "embd_pdrop",
    "eos_token_id",
    "ep_size",
    "experts_per_token",
    "gradient_checkpointing",
    "hidden_act",
    "hidden_activation",
    "hidden_dropout",
    "hidden_dropout_prob",
    "id2label",
    "image_token_id",
    "initial_context_length",
    "initializer_range",
    "label2id",
    "layer_norm_eps",
    "layer_norm_epsilon",
    "mamba_hidden_act",
    "max_window_layers",
    "mlp_hidden_act",
    "moe_layer_freq",
    "n_ctx",
    "n_group",
    "n_inner_ratio",
    "norm_topk_prob",
    "num_logits_to_keep",
    "output_router_logits",
    "pad_token_id",
    "partial_rotary_factor",
    "position_embedding_type",
    "pretraining_tp",
    "quantization_config",
    "reorder_and_upcast_attn",
    "rescale_prenorm_residual",
    "resid_pdrop",
    "residual_in_fp32",
    "rms_norm_eps",
    "rope_parameters",
    "rope_scaling",
    "rope_theta",
    "routed_scaling_factor",
    "router_aux_loss_coef",
    "router_jitter_noise",
    "scale_attn_by_inverse_layer_idx",
    "scale_attn_weights",
    "scoring_func",
    "seq_aux",
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    "swiglu_limit",
    "task_specific_params",
    "time_step_floor",
    "time_step_limit",
    "time_step_max",
    "time_step_min",
    "time_step_rank",
    "topk_group",
    "topk_method",
    "torch_dtype",
    "transformers_version",
    "use_cache",
    "use_mamba_kernels",
    "video_token_id",
    "expand",
];

/// The keys of one object, and which were asked for.
pub(super) struct Keys<'a> {
    family: &'a str,
    map: &'a Map<String, Value>,
    /// Before each key in messages, `text_config.` within that.
    prefix: &'static str,
    asked: RefCell<BTreeSet<String>>,
}

impl<'a> Keys<'a> {
    pub fn new(family: &'a str, map: &'a Map<String, Value>, prefix: &'static str) -> Self {
        Self { family, map, prefix, asked: RefCell::default() }
    }

    /// A value, absent where the key is missing or null.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        self.asked.borrow_mut().insert(key.to_owned());
        self.map.get(key).filter(|value| !value.is_null())
    }

    pub fn wrong(&self, key: &str, wanted: impl Into<String>) -> NetworkError {
        let value = self.map.get(key).map_or_else(String::new, Value::to_string);
        let short: String = value.chars().take(60).collect();
        NetworkError::Value { key: format!("{}{key}", self.prefix), value: short, wanted: wanted.into() }
    }

    fn missing(&self, key: &str) -> NetworkError {
        NetworkError::Missing { key: format!("{}{key}", self.prefix), family: self.family.into() }
    }

    /// A count of at least `least`, absent where the key is missing.
    pub fn optional(&self, key: &str, least: u64) -> Result<Option<u64>, NetworkError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let count = value.as_u64().filter(|count| (least..=MOST).contains(count));
        count.map(Some).ok_or_else(|| self.wrong(key, format!("a whole number from {least} to {MOST} is wanted")))
    }

    /// A positive count that must be there, by the first of its names that is.
    pub fn count(&self, keys: &[&str]) -> Result<u64, NetworkError> {
        for key in keys {
            if let Some(count) = self.optional(key, 1)? {
                return Ok(count);
            }
        }
        Err(self.missing(keys.first().unwrap_or(&"")))
    }

    /// A positive count, or what stands for it.
    pub fn count_or(&self, key: &str, otherwise: u64) -> Result<u64, NetworkError> {
        Ok(self.optional(key, 1)?.unwrap_or(otherwise))
    }

    /// A yes or no, or what stands for it.
    pub fn flag(&self, key: &str, otherwise: bool) -> Result<bool, NetworkError> {
        match self.value(key) {
            None => Ok(otherwise),
            Some(value) => value.as_bool().ok_or_else(|| self.wrong(key, "true or false is wanted")),
        }
    }

    /// A text.
    pub fn text(&self, key: &str) -> Result<Option<&'a str>, NetworkError> {
        self.value(key).map(|value| value.as_str().ok_or_else(|| self.wrong(key, "a text is wanted"))).transpose()
    }

    /// A list of texts, one per layer.
    pub fn words(&self, key: &str, layers: u64) -> Result<Option<Vec<&'a str>>, NetworkError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let list = value.as_array().and_then(|list| list.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
        let list = list.ok_or_else(|| self.wrong(key, "a list of texts is wanted"))?;
        if list.len() as u64 != layers {
            return Err(NetworkError::Contradiction {
                what: format!("`{}{key}` has {} entries and the network {layers} layers", self.prefix, list.len()),
                cure: "one entry per layer is wanted".into(),
            });
        }
        Ok(Some(list))
    }

    /// Keys that were not asked for and may matter.
    pub fn unread(&self) -> Vec<String> {
        let asked = self.asked.borrow();
        let other = |key: &&String| !asked.contains(*key) && !OTHER.contains(&key.as_str()) && !key.starts_with('_');
        let set = |key: &&String| !matches!(self.map.get(*key), Some(Value::Null | Value::Bool(false)));
        let short = |key: &String| key.chars().take(40).collect::<String>();
        self.map.keys().filter(other).filter(set).map(|key| format!("`{}{}`", self.prefix, short(key))).collect()
    }
}

impl Network {
    /// Reads a configuration; `name` stands for it in outputs.
    ///
    /// # Errors
    /// It is no configuration, of no supported family, or lacks or contradicts what its family needs.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, NetworkError> {
        let text = decode(bytes).map_err(|error| {
            let what = if error == ProfileError::Empty { "the file is empty" } else { "the file is binary" };
            NetworkError::Json(what.into())
        })?;
        let value: Value = match serde_json::from_str(&text) {
            Ok(value) => value,
            // Some configurations have infinities, which JSON has not.
            Err(error) => serde_json::from_str(&repaired_json(text.as_bytes()))
                .map_err(|_| NetworkError::Json(error.to_string()))?,
        };
        let map = value.as_object().ok_or(NetworkError::NoObject)?;
        let supported = || families::NAMES.join(", ");
        let family = match map.get("model_type") {
            None | Some(Value::Null) => return Err(NetworkError::NoFamily { supported: supported() }),
            Some(Value::String(family)) => family.as_str(),
            Some(other) => return Err(NetworkError::Family { family: other.to_string(), supported: supported() }),
        };
        let keys = Keys::new(family, map, "");
        keys.value("model_type");
        let mut network = families::read(family, &keys)
            .unwrap_or_else(|| Err(NetworkError::Family { family: family.into(), supported: supported() }))?;
        network.name = name.into();
        network.check()?;
        let unread = keys.unread();
        network.notes.extend(left_out(&unread));
        Ok(network)
    }
}

/// Keys that are named; of more, how many they are.
const NAMED: usize = 12;

/// A note on keys that were not read.
pub(super) fn left_out(keys: &[String]) -> Option<String> {
    let named = keys.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match keys.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!keys.is_empty()).then(|| format!("not read: {named}{more}"))
}

/// Type of the weights as stored.
pub(super) fn stored(keys: &Keys) -> Result<Option<DataType>, NetworkError> {
    let key = if keys.value("torch_dtype").is_some() { "torch_dtype" } else { "dtype" };
    let Some(word) = keys.text(key)? else { return Ok(None) };
    match word.trim_start_matches("torch.") {
        "float32" | "float" => Ok(Some(DataType::Fp32)),
        "float16" | "half" => Ok(Some(DataType::Fp16)),
        "bfloat16" => Ok(Some(DataType::Bf16)),
        "float8_e4m3fn" | "float8_e5m2" => Ok(Some(DataType::Fp8)),
        _ => Err(keys.wrong(key, "float32, float16, bfloat16 or float8_e4m3fn is wanted")),
    }
}

/// How weights are quantised. Bytes with scales: FP8 in blocks of 128 x 128 with an FP32 scale; MXFP4 with an 8-bit scale per
/// 32 (OCP Microscaling Formats 1.0); GPTQ and AWQ with an FP16 scale and a zero of the weight's own bits per group.
pub(super) fn quantised(keys: &Keys) -> Result<Option<Quantised>, NetworkError> {
    let Some(value) = keys.value("quantization_config") else { return Ok(None) };
    let wrong = || keys.wrong("quantization_config", "an object with `quant_method` fp8, mxfp4, gptq or awq is wanted");
    let map = value.as_object().ok_or_else(wrong)?;
    let method = map.get("quant_method").and_then(Value::as_str).ok_or_else(wrong)?;
    let number = |key: &str| map.get(key).and_then(Value::as_f64);
    let storage = match method {
        "fp8" => {
            let block: Option<f64> = map
                .get("weight_block_size")
                .and_then(Value::as_array)
                .and_then(|sides| sides.iter().map(|s| s.as_f64().filter(|s| *s >= 1.0)).product());
            Storage { bytes_per_weight: 1.0 + block.map_or(0.0, |weights| 4.0 / weights), data: DataType::Fp8 }
        }
        "mxfp4" => Storage { bytes_per_weight: 0.5 + 1.0 / 32.0, data: DataType::Fp4 },
        "gptq" | "awq" => {
            let bits =
                number("bits").or(number("w_bit")).filter(|bits| [2.0, 3.0, 4.0, 8.0].contains(bits)).ok_or_else(
                    || keys.wrong("quantization_config", "`bits` of 2, 3, 4 or 8 is wanted for gptq and awq"),
                )?;
            let group = number("group_size").or(number("q_group_size")).unwrap_or(128.0);
            let scales = if group > 0.0 { (16.0 + bits) / group } else { 0.0 };
            // Weights are unpacked to 16 bits before the product.
            Storage { bytes_per_weight: (bits + scales) / 8.0, data: DataType::Fp16 }
        }
        _ => return Err(wrong()),
    };
    Ok(Some(Quantised { method: method.into(), storage }))
}
