//! What would save memory, how much, and what it costs.

use super::{Anatomy, Cache, Inference, MemoryError, Recompute, Request, Subject, Training, Width, Zero, flops::work};
use crate::units::{Bytes, decimal};

/// A change that saves memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Technique {
    /// What is changed.
    pub name: String,
    /// What it costs.
    pub cost: String,
    /// What the GPU holds then.
    pub anatomy: Anatomy,
    /// What it saves on each GPU.
    pub saves: Bytes,
}

impl Request {
    /// Changes that save memory, each alone and on as many GPUs as before unless it says otherwise, most saved first.
    ///
    /// # Errors
    /// The question itself is refused.
    pub fn techniques(&self, subject: Subject) -> Result<Vec<Technique>, MemoryError> {
        let total = self.anatomy(subject)?.total();
        let changes = match self {
            Self::Training(training) => training.changes(subject),
            Self::Inference(inference) => inference.changes(),
        };
        let mut found: Vec<Technique> = changes
            .into_iter()
            .filter_map(|(name, cost, request)| {
                // What the network or the other options do not allow is no proposal.
                let anatomy = request.anatomy(subject).ok()?;
                let saves = total - anatomy.total();
                (saves > total * LEAST).then_some(Technique { name, cost, anatomy, saves })
            })
            .collect();
        found.sort_by(|a, b| b.saves.get().total_cmp(&a.saves.get()));
        Ok(found)
    }
}

/// Least share of the whole that is worth a change.
const LEAST: f64 = 0.001;

type Change = (String, String, Request);

impl Training {
    fn changes(&self, subject: Subject) -> Vec<Change> {
        let mut all: Vec<Change> = Vec::new();
        let mut add = |name: &str, cost: String, training: Training| {
            all.push((name.into(), cost, Request::Training(training)));
        };
        let parallel = self.parallel;
        for zero in Zero::ALL.into_iter().filter(|zero| *zero > parallel.zero && parallel.data > 1) {
            let ratio = zero.traffic(parallel.data) / parallel.zero.traffic(parallel.data);
            let cost = if ratio > 1.0 {
                format!("{ratio} times the traffic of data parallelism")
            } else {
                "same traffic".into()
            };
            let name = match zero {
                Zero::Weights => "ZeRO-3 (FSDP)".to_owned(),
                other => format!("ZeRO-{}", other.stage()),
            };
            add(&name, cost, Training { parallel: super::Parallel { zero, ..parallel }, ..*self });
        }
        if let Subject::Network(network) = subject {
            let work = work(network, self.sequence);
            let percent = |recompute| {
                let more = work.added(recompute) - work.added(self.recomputed());
                format!("{} % more operations", decimal(100.0 * more, 1))
            };
            if self.recompute < Recompute::Selective {
                add(
                    "selective recomputation",
                    percent(Recompute::Selective),
                    Training { recompute: Recompute::Selective, ..*self },
                );
            }
            if self.recompute < Recompute::Full {
                add("full recomputation", percent(Recompute::Full), Training { recompute: Recompute::Full, ..*self });
            }
            if !self.flash {
                add("fused attention", "costs nothing, and is faster".into(), Training { flash: true, ..*self });
            }
            if parallel.tensor > 1 && !parallel.sequence {
                let sequence = super::Parallel { sequence: true, ..parallel };
                add(
                    "sequence parallelism",
                    "same traffic of tensor parallelism".into(),
                    Training { parallel: sequence, ..*self },
                );
            }
            if self.batch > 1 && parallel.pipeline == 1 {
                let batch = self.batch.div_ceil(2);
                let name = format!("micro-batches of {batch}, gradients accumulated");
                let twice = Some(self.micro_batches().saturating_mul(2));
                add(&name, "smaller products".into(), Training { batch, micro_batches: twice, ..*self });
            }
        }
        if self.recipe.optimizer > 2.0 {
            let recipe = self.recipe.with_optimizer("8bit-adam", 2.0);
            add("8-bit Adam", "coarser moments".into(), Training { recipe, ..*self });
        }
        all
    }
}

impl Inference {
    fn changes(&self) -> Vec<Change> {
        let named = |name: &str| Width::NAMED.into_iter().find(|width| width.name == name).unwrap_or(Width::BF16);
        let mut all: Vec<Change> = Vec::new();
        let mut add = |name: &str, cost: &str, inference: Inference| {
            all.push((name.into(), cost.into(), Request::Inference(inference)));
        };
        for (name, weights) in [("FP8 weights", "fp8"), ("4-bit weights", "int4")] {
            add(name, "coarser weights", Inference { weights: Some(named(weights)), ..*self });
        }
        for (name, width) in [("FP8 KV cache", "fp8"), ("4-bit KV cache", "int4")] {
            add(
                name,
                "coarser keys and values",
                Inference { cache: Cache { width: named(width), ..self.cache }, ..*self },
            );
        }
        if self.cache.expanded {
            add(
                "latent KV cache",
                "more operations per token",
                Inference { cache: Cache { expanded: false, ..self.cache }, ..*self },
            );
        }
        let twice = self.tensor.saturating_mul(2);
        let name = format!("tensor parallelism over {twice}");
        add(&name, "twice the GPUs, traffic in every layer", Inference { tensor: twice, ..*self });
        if self.batch > 1 {
            let batch = self.batch / 2;
            add(&format!("a batch of {batch}"), "fewer sequences at a time", Inference { batch, ..*self });
        }
        all
    }
}
