//! Why a configuration is no network.

/// Why a configuration cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// Not JSON.
    #[error("not JSON: {0}; a Hugging Face config.json is expected")]
    Json(String),
    /// JSON, but no object.
    #[error("the file holds no JSON object; a Hugging Face config.json is expected")]
    NoObject,
    /// No `model_type`.
    #[error("`model_type` is missing, so the architecture is not known; supported are {supported}")]
    NoFamily {
        /// The families.
        supported: String,
    },
    /// An architecture that is not supported.
    #[error("`model_type` \"{family}\" is not supported; supported are {supported}")]
    Family {
        /// As the file names it.
        family: String,
        /// The families.
        supported: String,
    },
    /// A key is missing.
    #[error("`{key}` is missing: a configuration of `model_type` \"{family}\" needs it")]
    Missing {
        /// The key.
        key: String,
        /// The family.
        family: String,
    },
    /// A value of the wrong kind, or out of range.
    #[error("`{key}` is {value}: {wanted}")]
    Value {
        /// The key.
        key: String,
        /// As written.
        value: String,
        /// What would be right.
        wanted: String,
    },
    /// Two values that do not go together.
    #[error("{what}: {cure}")]
    Contradiction {
        /// What contradicts what, with values.
        what: String,
        /// What would be right.
        cure: String,
    },
    /// No built-in network has the name.
    #[error("`{name}` is neither a file nor a built-in network ({known}){near}")]
    Unknown {
        /// The name.
        name: String,
        /// All names.
        known: String,
        /// `; did you mean ...` or nothing.
        near: String,
    },
}
