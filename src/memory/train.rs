//! Memory of training: what one GPU of the first pipeline stage holds at the peak of a step.

use super::{
    Anatomy, Keep, MemoryError, Overhead, Parallel, Part, Recipe, Recompute, Schedule, Subject, Zero,
    activations::{Kept, sum},
    parallel::{MOST_PARAMETERS, counted},
    stage::first_stage,
};
use crate::{
    network::{Head, Network, Parameters},
    units::{grouped, plural, significant},
};

/// A step of training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Training {
    /// Bytes per parameter.
    pub recipe: Recipe,
    /// How the network is divided.
    pub parallel: Parallel,
    /// What is computed again in the backward pass.
    pub recompute: Recompute,
    /// Order of micro-batches in a pipeline.
    pub schedule: Schedule,
    /// Sequences of a micro-batch on one data-parallel rank.
    pub batch: u64,
    /// Tokens of a sequence.
    pub sequence: u64,
    /// Micro-batches of a step on one data-parallel rank, whose gradients are accumulated; absent for as many as fill the pipeline.
    pub micro_batches: Option<u64>,
    /// Whether attention is one fused kernel, which keeps no scores (FlashAttention).
    pub flash: bool,
    /// Whether embedding and layers have dropout; absent for what the family trains with.
    pub dropout: Option<bool>,
    /// What the process takes besides.
    pub overhead: Overhead,
}

impl Default for Training {
    fn default() -> Self {
        Self {
            recipe: Recipe::MIXED_ADAM,
            parallel: Parallel::default(),
            recompute: Recompute::None,
            schedule: Schedule::OneForwardOneBackward,
            batch: 1,
            sequence: 2048,
            micro_batches: None,
            flash: true,
            dropout: None,
            overhead: Overhead::default(),
        }
    }
}

/// What the activations of a step are made of, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Flow {
    /// One micro-batch on all layers of the stage.
    pub micro_batch: f64,
    /// Chunks of a stage.
    pub chunks: u64,
    /// Chunks that are held at the peak, of any micro-batch.
    pub in_flight: u64,
    /// The layer that is computed again.
    pub recomputed: f64,
    /// The embedding's part of one micro-batch.
    pub embedding: f64,
    /// Micro-batches whose embedding is held at the peak.
    pub embeddings: u64,
    /// Final norm, input of the head and logits.
    pub head: f64,
}

impl Flow {
    /// Activations of the layers at the peak.
    pub fn layers(&self) -> f64 {
        self.micro_batch * self.in_flight as f64 / self.chunks as f64
    }
}

impl Training {
    /// Micro-batches of a step.
    pub fn micro_batches(&self) -> u64 {
        // Stages with several chunks run ahead by more than one round of micro-batches.
        let rounds = if self.parallel.interleave > 1 { 2 } else { 1 };
        self.micro_batches.unwrap_or(rounds * self.parallel.pipeline)
    }

    /// Sequences of a step on all ranks.
    pub fn global_batch(&self) -> u64 {
        self.batch * self.micro_batches() * self.parallel.data
    }

    /// What is computed again in fact: a fused kernel keeps no scores that could be given up.
    pub fn recomputed(&self) -> Recompute {
        match self.recompute {
            Recompute::Selective if self.flash => Recompute::None,
            other => other,
        }
    }

    /// Bytes of an activation: as wide as the weights of the passes, 2 at least.
    pub(super) fn element(&self) -> f64 {
        if self.recipe.weights >= 4.0 { 4.0 } else { 2.0 }
    }

    fn dropout(&self, network: &Network) -> bool {
        self.dropout.unwrap_or(matches!(network.family.as_str(), "gpt2" | "bert"))
    }

    /// Refuses counts out of range and options that contradict each other.
    ///
    /// # Errors
    /// A count of 0, a schedule or chunks without the pipeline or the micro-batches that they need.
    pub fn check(&self) -> Result<(), MemoryError> {
        self.parallel.check()?;
        counted("the batch", self.batch)?;
        counted("the number of micro-batches", self.micro_batches())?;
        let (stages, micro) = (self.parallel.pipeline, self.micro_batches());
        if self.schedule == Schedule::GPipe && (stages == 1 || self.parallel.interleave > 1) {
            return Err(MemoryError::Contradiction {
                what: "GPipe is a schedule of pipelines with one chunk per stage".into(),
                cure: "give a pipeline-parallel degree of at least 2 and one chunk, or take 1f1b".into(),
            });
        }
        if self.parallel.interleave > 1 && !micro.is_multiple_of(stages) {
            return Err(MemoryError::Contradiction {
                what: format!("stages with several chunks take micro-batches by the {stages}, and there are {micro}"),
                cure: format!("give a multiple of {stages} micro-batches"),
            });
        }
        Ok(())
    }

    fn check_sequence(&self, network: &Network) -> Result<(), MemoryError> {
        check_sequence(self.sequence, network)?;
        let ranks = self.parallel.tensor;
        if self.parallel.sequence && !self.sequence.is_multiple_of(ranks) {
            return Err(MemoryError::Indivisible {
                degree: format!("sequence parallelism over {ranks} ranks"),
                what: format!("a sequence of {} tokens", self.sequence),
                cure: format!("take a multiple of {ranks} tokens"),
            });
        }
        Ok(())
    }

    /// The smaller network of the first stage, and its activations.
    pub(super) fn flow(&self, network: &Network) -> Result<(Network, Flow), MemoryError> {
        self.check()?;
        self.check_sequence(network)?;
        let stage = first_stage(network, &self.parallel)?;
        let Parallel { tensor, pipeline, interleave, sequence, .. } = self.parallel;
        let along = if sequence { tensor } else { 1 };
        let (element, tokens) = (self.element(), (self.batch * self.sequence) as f64);
        let dropout = self.dropout(network);
        let kept = Kept { element, sequence: self.sequence, flash: self.flash, dropout };
        let (mut micro_batch, mut recomputed) = (0.0, 0.0_f64);
        for layer in &stage.layers {
            let tensors = kept.tensors(layer, stage.hidden);
            let input = element * stage.hidden as f64 / along as f64;
            let all = sum(&tensors, along, |_| true);
            let scores = sum(&tensors, along, |keep| keep == Keep::Scores);
            let (held, again) = match self.recomputed() {
                Recompute::Full => (input, all),
                Recompute::Selective => (all - scores, scores),
                Recompute::None => (all, 0.0),
            };
            micro_batch += tokens * held;
            recomputed = recomputed.max(tokens * again);
        }
        let micro = self.micro_batches();
        let (in_flight, embeddings) = match self.schedule {
            Schedule::GPipe => (micro, micro),
            Schedule::OneForwardOneBackward => {
                let warm = if interleave == 1 { pipeline } else { pipeline * interleave + pipeline - 1 };
                (warm.min(micro * interleave), pipeline.min(micro))
            }
        };
        let along = along as f64;
        let hidden = stage.hidden as f64;
        let norm = if stage.final_norm { element * hidden / along } else { 0.0 };
        let logits = 4.0 * stage.vocabulary as f64;
        let head = match stage.head {
            Head::Language { .. } => norm + element * hidden / along + logits,
            // Inputs of the dense matrix, of its activation and of the norm, and the norm's output.
            Head::Masked => norm + 4.0 * element * hidden / along + logits,
            Head::Pooler | Head::None => norm,
        };
        let flow = Flow {
            micro_batch,
            chunks: interleave,
            in_flight,
            recomputed,
            embedding: if dropout { tokens * hidden / along } else { 0.0 },
            embeddings,
            head: tokens * head,
        };
        Ok((stage, flow))
    }

    /// What each stage would hold besides if the outputs that it has sent were not freed (Korthikanti et al., appendix B): 2sbh for
    /// each micro-batch in flight.
    pub fn sent_outputs(&self, network: &Network) -> f64 {
        let tokens = (self.batch * self.sequence) as f64;
        let micro = self.parallel.pipeline.min(self.micro_batches()) as f64;
        if self.parallel.pipeline > 1 { self.element() * tokens * network.hidden as f64 * micro } else { 0.0 }
    }

    /// What one GPU of the first pipeline stage, which holds most, has at the peak of a step.
    ///
    /// # Errors
    /// Degrees that do not divide the network, sequences longer than it takes, counts of 0, options that contradict each other.
    pub fn anatomy(&self, subject: Subject) -> Result<Anatomy, MemoryError> {
        let mut anatomy = Anatomy::default();
        match subject {
            Subject::Parameters(parameters) => {
                self.check()?;
                counted_parameters(parameters)?;
                let ranks = (self.parallel.tensor * self.parallel.pipeline) as f64;
                self.states(&mut anatomy, parameters as f64 / ranks);
                anatomy.notes.push("activations are left out: a number of parameters has no layers".into());
            }
            Subject::Network(network) => {
                let (stage, flow) = self.flow(network)?;
                self.states(&mut anatomy, stage.parameters().total() as f64);
                self.gathered(&mut anatomy, &stage);
                self.passing(&mut anatomy, network, &stage, &flow);
            }
        }
        if self.parallel.zero > Zero::None && self.parallel.data == 1 {
            let note = "ZeRO divides states among data-parallel ranks, and there is one: nothing is saved";
            anatomy.notes.push(note.into());
        }
        self.overhead.add(&mut anatomy, self.parallel.gpus());
        Ok(anatomy)
    }

    fn states(&self, anatomy: &mut Anatomy, parameters: f64) {
        let Parallel { data, .. } = self.parallel;
        let count = || grouped(parameters.round() as u64);
        let mut add = |part, bytes: f64, least| {
            let share = self.parallel.share(least);
            let ranks = if share < 1.0 { format!(", divided by {}", grouped(data)) } else { String::new() };
            let what = format!("{} x {}{ranks}", count(), significant(bytes, 4) + " B");
            anatomy.add(part, parameters * bytes * share, what);
        };
        add(Part::Weights, self.recipe.weights, Zero::Weights);
        add(Part::Master, self.recipe.master, Zero::Optimizer);
        add(Part::Gradients, self.recipe.gradients, Zero::Gradients);
        add(Part::Optimizer, self.recipe.optimizer, Zero::Optimizer);
    }

    /// Divided weights are gathered for the layer at work.
    fn gathered(&self, anatomy: &mut Anatomy, stage: &Network) {
        if self.parallel.share(Zero::Weights) == 1.0 {
            return;
        }
        let layer = |layer| Parameters::of_layer(layer, stage.hidden, stage.norm).total();
        let largest = stage.layers.iter().map(layer).max().unwrap_or(0);
        let ends = (stage.vocabulary + stage.positions) * stage.hidden;
        let what = if ends > largest { "the embedding" } else { "the largest layer" };
        anatomy.add(Part::Gathered, largest.max(ends) as f64 * self.recipe.weights, format!("{what}, whole"));
    }

    fn passing(&self, anatomy: &mut Anatomy, network: &Network, stage: &Network, flow: &Flow) {
        let layers = plural(stage.layers.len() as u64, "layer");
        let held = match (flow.in_flight, flow.chunks) {
            (1, 1) => layers,
            (several, 1) => format!("{layers} x {several} micro-batches"),
            (several, chunks) => format!("{layers} x {} micro-batches", significant(several as f64 / chunks as f64, 4)),
        };
        let kept = match self.recomputed() {
            Recompute::Full => ", inputs alone",
            Recompute::Selective => ", no scores",
            Recompute::None => "",
        };
        anatomy.add(Part::Activations, flow.layers(), held + kept);
        let ends = flow.embedding * flow.embeddings as f64 + flow.head;
        let logits = matches!(stage.head, Head::Language { .. } | Head::Masked);
        anatomy.add(
            Part::Ends,
            ends,
            if logits { "logits in FP32, what stands before them" } else { "dropout, final norm" },
        );
        let again = if self.recompute == Recompute::Full { "the layer at work" } else { "scores of the layer at work" };
        anatomy.add(Part::Recomputed, flow.recomputed, again);
        if self.recomputed() != self.recompute {
            anatomy
                .notes
                .push("selective recomputation changes nothing: fused attention keeps no scores to give up".into());
        }
        kv_note(anatomy, network, self.parallel.tensor);
    }
}

/// Refuses lengths that a network does not take.
pub(super) fn check_sequence(sequence: u64, network: &Network) -> Result<(), MemoryError> {
    match sequence {
        0 => Err(MemoryError::Range { what: "the sequence", value: 0, least: 1, most: network.longest }),
        _ if sequence > network.longest => Err(MemoryError::TooLong {
            sequence,
            longest: network.longest,
            network: network.name.clone(),
            key: if network.family == "gpt2" { "n_positions" } else { "max_position_embeddings" },
        }),
        _ => Ok(()),
    }
}

/// Refuses parameter counts of 0, and those beyond exact sums.
pub(super) fn counted_parameters(parameters: u64) -> Result<(), MemoryError> {
    let (what, most) = ("the number of parameters", MOST_PARAMETERS);
    match parameters {
        1..=MOST_PARAMETERS => Ok(()),
        value => Err(MemoryError::Range { what, value, least: 1, most }),
    }
}

/// Says where ranks hold copies of keys and values.
pub(super) fn kv_note(anatomy: &mut Anatomy, network: &Network, tensor: u64) {
    use crate::network::Mixer;
    let fewest = network.layers.iter().filter_map(|layer| match &layer.mixer {
        Some(Mixer::Attention(heads)) => Some(heads.kv),
        _ => None,
    });
    if let Some(kv) = fewest.min().filter(|kv| *kv < tensor) {
        let each = tensor / kv;
        anatomy
            .notes
            .push(format!("{kv} heads of keys and values on {tensor} ranks: {each} ranks hold a copy of each"));
    }
}
