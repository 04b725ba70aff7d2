//! What can be wrong with a lab or a sheet of answers.

/// A lab that cannot be used, or a name that is no lab's.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LabError {
    /// The text is not such a file: the parser's message with line and caret.
    #[error("{origin} is not a valid {what}: {message}")]
    File {
        /// What it should be.
        what: &'static str,
        /// Name of the file.
        origin: String,
        /// The message with line and caret.
        message: String,
    },
    /// A value that cannot be used.
    #[error("{origin}: {key} = {value}: {problem}")]
    Value {
        /// Name of the file.
        origin: String,
        /// Dotted path of the key.
        key: String,
        /// As written.
        value: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// No draw meets the lab's conditions.
    #[error(
        "{origin}: no numbers drawn for the seed `{seed}` meet all of `require` (last: {last}); give the lists under [numbers] values that do"
    )]
    Draw {
        /// Name of the lab.
        origin: String,
        /// The seed; empty for the first value of each list.
        seed: String,
        /// The condition that the last draw broke.
        last: String,
    },
    /// A seed that names nobody.
    #[error("the seed is empty: give a name, such as --seed ada")]
    Seed,
    /// No lab of this number or id.
    #[error("there is no lab `{name}`; there are {known}")]
    Unknown {
        /// As asked.
        name: String,
        /// All labs.
        known: String,
    },
}
