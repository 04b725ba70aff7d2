//! Built-in configurations, one file of `networks/` each.

use super::{Network, NetworkError};

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        /// Name and configuration.
        const BUILT_IN: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../networks/", $name, ".json")))),*];
    };
}

built_in!(
    "bert-base",
    "bert-large",
    "deepseek-v2",
    "deepseek-v3",
    "gpt2",
    "gpt2-xl",
    "gpt3-175b",
    "gpt-oss-20b",
    "gpt-oss-120b",
    "llama-2-7b",
    "llama-2-13b",
    "llama-2-70b",
    "llama-3.1-8b",
    "llama-3.1-70b",
    "llama-3.1-405b",
    "mistral-7b",
    "mixtral-8x7b",
    "nemotron-h-56b",
    "qwen2.5-7b",
    "qwen3-8b",
    "qwen3-30b-a3b",
);

/// Names of the built-in networks.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// A built-in network by its name, in any case.
///
/// # Errors
/// None has the name.
pub fn named(name: &str) -> Result<Network, NetworkError> {
    let lower = name.to_ascii_lowercase();
    match BUILT_IN.iter().find(|(known, _)| *known == lower) {
        Some((known, text)) => Network::read(known, text.as_bytes()),
        None => {
            let alike = |known: &&str| strsim::jaro_winkler(known, &lower);
            let near = names().max_by(|a, b| alike(a).total_cmp(&alike(b))).filter(|near| alike(near) > 0.8);
            Err(NetworkError::Unknown {
                name: name.into(),
                known: names().collect::<Vec<_>>().join(", "),
                near: near.map_or_else(String::new, |near| format!("; did you mean `{near}`?")),
            })
        }
    }
}
