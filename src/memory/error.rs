//! Why memory cannot be counted.

/// Why memory cannot be counted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MemoryError {
    /// A degree of parallelism does not divide what it should.
    #[error("{degree} does not divide {what}: {cure}")]
    Indivisible {
        /// The degree with its name, such as `a tensor-parallel degree of 3`.
        degree: String,
        /// What it should divide, such as `32 attention heads`.
        what: String,
        /// What would be right.
        cure: String,
    },
    /// A count out of range.
    #[error("{what} is {value}: {least} to {most} is wanted")]
    Range {
        /// What is counted.
        what: &'static str,
        /// As given.
        value: u64,
        /// Least that is taken.
        least: u64,
        /// Most that is taken.
        most: u64,
    },
    /// A sequence longer than the network takes.
    #[error(
        "a sequence of {sequence} tokens is longer than the {longest} that {network} takes: shorten it, or raise `{key}` in the \
         configuration"
    )]
    TooLong {
        /// Tokens.
        sequence: u64,
        /// Most tokens.
        longest: u64,
        /// Name of the network.
        network: String,
        /// Where the configuration has the length.
        key: &'static str,
    },
    /// Options that do not go together.
    #[error("{what}: {cure}")]
    Contradiction {
        /// What contradicts what.
        what: String,
        /// What would be right.
        cure: String,
    },
    /// A word that names nothing.
    #[error("`{input}` is no {what}: {known}")]
    Word {
        /// As written.
        input: String,
        /// What was wanted.
        what: &'static str,
        /// What there is.
        known: String,
    },
    /// Parameters alone have no layers.
    #[error("{what} takes a network: a number of parameters has no layers; name a network or its config.json")]
    NoLayers {
        /// What was asked.
        what: &'static str,
    },
    /// Not even the least fits.
    #[error("nothing fits: already {least} needs {need} and {gpu} has {capacity}")]
    NothingFits {
        /// Least that was tried, such as `a batch of 1`.
        least: String,
        /// What it needs.
        need: String,
        /// The GPU.
        gpu: String,
        /// What it has.
        capacity: String,
    },
}
