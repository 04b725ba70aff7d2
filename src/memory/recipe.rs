//! Bytes per parameter of weights, gradients and optimizer states.

use std::{fmt, str::FromStr};

use super::MemoryError;

/// Bytes per parameter while training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// Name of the convention, or `own`.
    pub name: &'static str,
    /// Weights that the passes use.
    pub weights: f64,
    /// FP32 copy of the weights, where the passes use narrower ones.
    pub master: f64,
    /// Gradients.
    pub gradients: f64,
    /// Moments of the optimizer.
    pub optimizer: f64,
}

const fn of(name: &'static str, weights: f64, master: f64, gradients: f64, optimizer: f64) -> Recipe {
    Recipe { name, weights, master, gradients, optimizer }
}

impl Recipe {
    /// FP32 gradients: 2 + 4 + 4 + 8 = 18 bytes (Hugging Face `model_memory_anatomy`; Korthikanti et al., arXiv 2205.05198).
    pub const MIXED_ADAM: Self = of("mixed-adam", 2.0, 4.0, 4.0, 8.0);
    /// 16-bit gradients: 2 + 4 + 2 + 8 = 16 bytes (Rajbhandari et al., ZeRO, arXiv 1910.02054).
    pub const ZERO: Self = of("zero", 2.0, 4.0, 2.0, 8.0);

    /// The conventions that have a name, with what each is. Moments of 8-bit Adam take 2 bytes, FP32 momentum of SGD 4
    /// (`model_memory_anatomy`), BF16 moments of AdamW 4 (stas00/ml-engineering).
    pub const NAMED: [(Self, &str); 6] = [
        (Self::MIXED_ADAM, "Adam in mixed precision with FP32 gradients (Hugging Face, Megatron-LM)"),
        (Self::ZERO, "Adam in mixed precision with 16-bit gradients (ZeRO)"),
        (of("8bit-adam", 2.0, 4.0, 4.0, 2.0), "8-bit Adam (bitsandbytes) in mixed precision"),
        (of("bf16-states", 2.0, 4.0, 4.0, 4.0), "Adam in mixed precision with BF16 moments"),
        (of("sgd", 2.0, 4.0, 4.0, 4.0), "SGD with FP32 momentum in mixed precision"),
        (of("fp32", 4.0, 0.0, 4.0, 8.0), "Adam in FP32"),
    ];

    /// Bytes of a parameter with all its states.
    pub fn bytes(&self) -> f64 {
        self.weights + self.master + self.gradients + self.optimizer
    }

    /// Bytes that optimizer-state sharding divides: master weights and moments, `K` of the ZeRO paper.
    pub fn states(&self) -> f64 {
        self.master + self.optimizer
    }

    /// What it is, in words.
    pub fn what(&self) -> &'static str {
        Self::NAMED.iter().find(|(named, _)| named.name == self.name).map_or("bytes as given", |(_, what)| what)
    }

    /// The same with other moments.
    #[must_use]
    pub fn with_optimizer(self, name: &'static str, optimizer: f64) -> Self {
        Self { name, optimizer, ..self }
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}+{}+{}", self.weights, self.master, self.gradients, self.optimizer)
    }
}

impl FromStr for Recipe {
    type Err = MemoryError;

    /// A name, or the bytes of weights, master weights, gradients and optimizer as `2+4+4+8`.
    fn from_str(text: &str) -> Result<Self, MemoryError> {
        let lower = text.trim().to_ascii_lowercase();
        if let Some((named, _)) = Self::NAMED.iter().find(|(named, _)| named.name == lower) {
            return Ok(*named);
        }
        let bytes: Option<Vec<f64>> = lower.split('+').map(|part| part.trim().parse().ok()).collect();
        match bytes.as_deref() {
            Some(&[weights, master, gradients, optimizer])
                if weights > 0.0
                    && [weights, master, gradients, optimizer].iter().all(|b| (0.0..=16.0).contains(b)) =>
            {
                Ok(of("own", weights, master, gradients, optimizer))
            }
            _ => Err(MemoryError::Word {
                input: text.into(),
                what: "recipe",
                known: format!(
                    "write {} or the bytes of weights, master weights, gradients and optimizer, such as 2+4+4+8",
                    Self::NAMED.map(|(named, _)| named.name).join(", ")
                ),
            }),
        }
    }
}
