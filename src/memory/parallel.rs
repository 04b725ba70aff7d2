//! How a network is divided among GPUs.

use std::str::FromStr;

use super::MemoryError;

/// What data-parallel ranks divide among themselves (ZeRO, arXiv 1910.02054), each stage with those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zero {
    /// Nothing.
    #[default]
    None,
    /// Optimizer states and master weights: stage 1.
    Optimizer,
    /// And gradients: stage 2, `SHARD_GRAD_OP` of FSDP.
    Gradients,
    /// And weights: stage 3, `FULL_SHARD` of FSDP.
    Weights,
}

impl Zero {
    /// All, from nothing divided to everything.
    pub const ALL: [Self; 4] = [Self::None, Self::Optimizer, Self::Gradients, Self::Weights];

    /// Number of the stage.
    pub fn stage(self) -> u8 {
        self as u8
    }

    /// Elements that a rank sends in a step per parameter: twice the gradients, three times with divided weights, none alone.
    pub fn traffic(self, data: u64) -> f64 {
        match self {
            _ if data < 2 => 0.0,
            Self::Weights => 3.0,
            _ => 2.0,
        }
    }
}

impl FromStr for Zero {
    type Err = MemoryError;

    fn from_str(text: &str) -> Result<Self, MemoryError> {
        match text.trim().to_ascii_lowercase().as_str() {
            "0" | "none" => Ok(Self::None),
            "1" => Ok(Self::Optimizer),
            "2" => Ok(Self::Gradients),
            "3" | "fsdp" => Ok(Self::Weights),
            _ => Err(MemoryError::Word {
                input: text.into(),
                what: "ZeRO stage",
                known: "write 0, 1 (optimizer), 2 (and gradients) or 3 (and weights; fsdp)".into(),
            }),
        }
    }
}

/// Order of the micro-batches in a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// One forward, one backward: the first stage holds as many micro-batches as there are stages.
    #[default]
    OneForwardOneBackward,
    /// All forward, then all backward (GPipe): a stage holds every micro-batch.
    GPipe,
}

impl FromStr for Schedule {
    type Err = MemoryError;

    fn from_str(text: &str) -> Result<Self, MemoryError> {
        match text.trim().to_ascii_lowercase().as_str() {
            "1f1b" => Ok(Self::OneForwardOneBackward),
            "gpipe" => Ok(Self::GPipe),
            _ => Err(MemoryError::Word { input: text.into(), what: "schedule", known: "write 1f1b or gpipe".into() }),
        }
    }
}

/// Degrees of parallelism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parallel {
    /// Data-parallel ranks.
    pub data: u64,
    /// Tensor-parallel ranks, which divide heads, MLPs and vocabulary.
    pub tensor: u64,
    /// Whether tensor-parallel ranks divide the sequence where they would hold copies (Korthikanti et al.).
    pub sequence: bool,
    /// Pipeline stages.
    pub pipeline: u64,
    /// Chunks of layers that a stage holds.
    pub interleave: u64,
    /// What data-parallel ranks divide.
    pub zero: Zero,
}

impl Default for Parallel {
    fn default() -> Self {
        Self { data: 1, tensor: 1, sequence: false, pipeline: 1, interleave: 1, zero: Zero::None }
    }
}

/// Most of a degree, a batch or a number of micro-batches.
pub(super) const MOST: u64 = 1 << 20;

/// Most parameters: their bytes are sums without rounding.
pub(super) const MOST_PARAMETERS: u64 = 1_000_000_000_000_000;

/// Refuses a count that is 0 or beyond all use.
pub(super) fn counted(what: &'static str, value: u64) -> Result<(), MemoryError> {
    match value {
        1..=MOST => Ok(()),
        _ => Err(MemoryError::Range { what, value, least: 1, most: MOST }),
    }
}

impl Parallel {
    /// GPUs of all ranks.
    pub fn gpus(&self) -> u64 {
        self.data * self.tensor * self.pipeline
    }

    /// Refuses degrees of 0 and those that contradict each other.
    ///
    /// # Errors
    /// A degree out of range, sequence parallelism without tensor parallelism, chunks without a pipeline.
    pub fn check(&self) -> Result<(), MemoryError> {
        counted("the data-parallel degree", self.data)?;
        counted("the tensor-parallel degree", self.tensor)?;
        counted("the pipeline-parallel degree", self.pipeline)?;
        counted("the chunks of a stage", self.interleave)?;
        if self.sequence && self.tensor == 1 {
            return Err(MemoryError::Contradiction {
                what: "sequence parallelism divides what tensor-parallel ranks hold copies of, and there is one rank"
                    .into(),
                cure: "give a tensor-parallel degree of at least 2, or leave sequence parallelism out".into(),
            });
        }
        if self.interleave > 1 && self.pipeline == 1 {
            return Err(MemoryError::Contradiction {
                what: format!("{} chunks per stage need a pipeline, and there is one stage", self.interleave),
                cure: "give a pipeline-parallel degree of at least 2, or leave the chunks out".into(),
            });
        }
        Ok(())
    }

    /// `1 / N` where the ranks divide what `least` adds, else 1.
    pub(super) fn share(&self, least: Zero) -> f64 {
        if self.zero >= least { 1.0 / self.data as f64 } else { 1.0 }
    }
}
