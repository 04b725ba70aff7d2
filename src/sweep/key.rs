//! What the key of an axis or of a fixed value sets.

use crate::{
    op::table::{CALLS, COLUMNS, PREDICTED},
    scenario::VaryKey,
};

/// What a sweep evaluates at each point.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// Operations by shape, as rows of `predict`.
    Operation,
    /// A described kernel: the `[kernel]` table, as in a scenario.
    Kernel(toml::Table),
    /// Launches block by block: the `[[launch]]` tables, as in a simulation file.
    Simulation(toml::Table),
}

/// Where a value goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// The GPU by name, which may have a slice behind it.
    Gpu,
    /// The MIG profile of the GPU.
    Mig,
    /// A figure of the GPU, as of `--set`.
    Figure(String),
    /// Whether the host's share of a launch counts.
    Timing,
    /// A column of `predict`, by its place among `COLUMNS`.
    Column(usize),
    /// A key of the notes, `KEY=VALUE`.
    Note(&'static str),
    /// A word of the notes, which is there or not.
    Word(&'static str),
    /// A parameter of a convolution.
    Conv(&'static str),
    /// A key of a kernel that is set without reading the kernel again.
    Quick(VaryKey),
    /// A dotted path into the table of the kernel or of a launch.
    Path(Vec<String>),
    /// The case of a simulation file.
    Case,
}

/// A key that nothing reads.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("nothing reads the key `{key}`{near}")]
pub struct KeyError {
    /// As given.
    pub key: String,
    /// Keys that look alike, or what there is.
    pub near: String,
}

/// The note whose value `2:4` is a word, and the word for its absence.
pub(super) const SPARSITY: &str = "sparsity";
pub(super) const DENSE: &str = "dense";
/// Keys of the notes with values, as `predict` reads them.
const NOTES: [&str; 15] = [
    "tile",
    "splits",
    SPARSITY,
    "weight_copies",
    "data",
    "library",
    "window",
    "kind",
    "reads",
    "writes",
    "load_bytes",
    "experts",
    "topk",
    "ep",
    "routing",
];
/// Words of the notes.
const WORDS: [&str; 2] = ["bare", "full"];
/// Parameters of a convolution, as `conv.C`.
const CONV: [&str; 12] = ["N", "C", "H", "W", "K", "R", "S", "stride", "pad", "dil", "groups", "layout"];
/// Columns of a table that a sweep fills itself or that hold other keys.
const NOT_SET: [&str; 4] = ["measured_us", "notes", "conv_params", "gpu"];
/// Tables of a GPU file.
const OF_GPU: [&str; 10] =
    ["sm", "clocks", "rates", "memory", "latency", "calibration", "power", "limits", "compute_unit", "links"];
/// Columns that are no counts.
const WORDED: [&str; 8] = ["source", "gpu", "op", "dtype", "causal", "phase", "timing", "conv_params"];
/// Tables of a kernel.
const OF_KERNEL: [&str; 3] = ["work", "traffic", "concurrency"];

impl Subject {
    /// The word of the file: an operation stands for itself.
    pub fn of(op: &str) -> Option<Self> {
        match op {
            "kernel" => Some(Self::Kernel(toml::Table::new())),
            "simulate" => Some(Self::Simulation(toml::Table::new())),
            op if PREDICTED.contains(&op) || CALLS.contains(&op) => Some(Self::Operation),
            _ => None,
        }
    }

    /// What a key sets.
    ///
    /// # Errors
    /// Nothing reads it; the message names near ones.
    pub fn place(&self, key: &str) -> Result<Place, KeyError> {
        match key {
            "gpu" => return Ok(Place::Gpu),
            "mig" => return Ok(Place::Mig),
            _ => {}
        }
        let first = key.split('.').next().unwrap_or_default();
        if OF_GPU.contains(&first) {
            return Ok(Place::Figure(key.into()));
        }
        // Operations are keyed by the dotted name of their unit.
        let path = || match key.strip_prefix("work.operations.") {
            Some(unit) => ["work", "operations", unit].map(str::to_owned).to_vec(),
            None => key.split('.').map(str::to_owned).collect(),
        };
        let found = match self {
            Self::Operation => operation(key),
            _ if key == "timing" => Some(Place::Timing),
            Self::Kernel(_) => {
                let known = || {
                    OF_KERNEL.contains(&first) || ["cluster", "opt_in"].contains(&key) || first.ends_with("_registers")
                };
                let quick = VaryKey::all().find(|k| k.name() == key).map(Place::Quick);
                quick.or_else(|| known().then(|| Place::Path(path())))
            }
            Self::Simulation(_) if key == "case" => Some(Place::Case),
            // The reader of the launch knows its keys, and says what it does not.
            Self::Simulation(_) => Some(Place::Path(path())),
        };
        found.ok_or_else(|| self.unknown(key))
    }

    /// The keys that there are, without figures of the GPU and paths.
    fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = vec!["gpu".into(), "mig".into(), "timing".into()];
        match self {
            Self::Operation => {
                keys.extend(
                    COLUMNS.iter().filter(|c| !NOT_SET.contains(c) && **c != "timing").map(|c| (*c).to_owned()),
                );
                keys.extend(NOTES.iter().chain(&WORDS).map(|n| (*n).to_owned()));
                keys.extend(CONV.iter().map(|c| format!("conv.{c}")));
            }
            Self::Kernel(_) => keys.extend(VaryKey::all().map(|k| k.name().to_owned())),
            Self::Simulation(_) => {}
        }
        keys
    }

    fn unknown(&self, key: &str) -> KeyError {
        let mut keys = self.keys();
        let score = |name: &String| strsim::jaro_winkler(name, key);
        keys.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.cmp(b)));
        let all = keys.len() <= 20;
        if !all {
            keys.truncate(4);
        }
        let what = if all { "the keys are" } else { "near:" };
        let gpu = "a figure of the GPU is written as for --set, such as sm.count";
        KeyError { key: key.into(), near: format!("; {what} {}; {gpu}", keys.join(", ")) }
    }
}

fn operation(key: &str) -> Option<Place> {
    let column = || COLUMNS.iter().position(|c| *c == key && !NOT_SET.contains(c)).map(Place::Column);
    let note = || NOTES.iter().find(|n| **n == key).map(|n| Place::Note(n));
    let word = || WORDS.iter().find(|n| **n == key).map(|n| Place::Word(n));
    let conv = || CONV.iter().find(|c| key.strip_prefix("conv.") == Some(**c)).map(|c| Place::Conv(c));
    column().or_else(note).or_else(word).or_else(conv)
}

impl Place {
    /// Whether only whole numbers make sense there.
    pub fn counts(&self) -> bool {
        match self {
            Self::Column(place) => !WORDED.contains(&COLUMNS[*place]),
            Self::Note(key) => {
                ["splits", "weight_copies", "window", "reads", "writes", "experts", "topk", "ep"].contains(key)
            }
            Self::Conv(_) => true,
            Self::Quick(key) => ["grid", "block", "registers_per_thread", "carveout", "barriers"].contains(&key.name()),
            Self::Figure(key) => key == "sm.count",
            _ => false,
        }
    }

    /// Whether a value is a word even where it looks like a range, as `2:4` does.
    pub fn is_worded(&self) -> bool {
        *self == Self::Note(SPARSITY)
    }

    /// Whether some operations read it and others do not.
    pub fn is_of_an_operation(&self) -> bool {
        match self {
            Self::Column(place) => !["op", "source", "timing"].contains(&COLUMNS[*place]),
            Self::Note(_) | Self::Word(_) | Self::Conv(_) => true,
            _ => false,
        }
    }

    /// The one operation that reads it, of a key that takes values which are none without a word.
    pub fn reader(&self) -> Option<&'static str> {
        match self {
            Self::Note("kind") => Some("elementwise"),
            Self::Word("bare") => Some("attention"),
            Self::Word(_) => Some("reduction"),
            _ => None,
        }
    }

    /// All keys that some operations read and others do not.
    pub fn of_operations() -> impl Iterator<Item = (String, Self)> {
        let keys = Subject::Operation.keys().into_iter();
        keys.filter_map(|key| operation(&key).map(|place| (key, place))).filter(|(_, place)| place.is_of_an_operation())
    }

    /// Whether the value belongs to the GPU, so that points that share it share what is made of it.
    pub fn of_device(&self) -> bool {
        matches!(self, Self::Gpu | Self::Mig | Self::Figure(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_where_they_belong_or_name_what_is_near() {
        let operation = Subject::of("gemm").unwrap();
        assert_eq!(operation.place("tile"), Ok(Place::Note("tile")));
        assert_eq!(operation.place("conv.C"), Ok(Place::Conv("C")));
        assert_eq!(operation.place("memory.dram.bandwidth"), Ok(Place::Figure("memory.dram.bandwidth".into())));
        assert!(operation.place("m").unwrap().counts() && !operation.place("dtype").unwrap().counts());
        let kernel = Subject::of("kernel").unwrap();
        assert!(matches!(kernel.place("grid"), Ok(Place::Quick(_))));
        assert!(matches!(kernel.place("traffic.dram.read"), Ok(Place::Path(_))));
        let error = operation.place("head_dims").unwrap_err().to_string();
        assert!(error.contains("head_dim,") && error.contains("sm.count"), "{error}");
        assert!(kernel.place("m").unwrap_err().to_string().contains("registers_per_thread"));
        assert_eq!(Subject::of("sorting"), None);
    }
}
