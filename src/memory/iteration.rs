//! Memory over one step of training: up while layers run forward, down while they run backward, then the optimizer.

use super::{MemoryError, Part, Subject, Training};
use crate::units::Bytes;

/// What a step is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A forward pass.
    Forward,
    /// A backward pass.
    Backward,
    /// The optimizer.
    Optimizer,
}

/// A moment of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// What runs.
    pub phase: Phase,
    /// Micro-batch, from 0; the last one for the optimizer.
    pub micro_batch: u64,
    /// Activations of the layers that are held when a forward pass ends and a backward pass begins.
    pub activations: Bytes,
    /// Those of embedding and head.
    pub ends: Bytes,
    /// Those of the layer that is computed again.
    pub recomputed: Bytes,
    /// Weights gathered from all ranks.
    pub gathered: Bytes,
}

impl Moment {
    /// What comes and goes, of a part; nothing of the others.
    pub fn of(&self, part: Part) -> Option<Bytes> {
        match part {
            Part::Activations => Some(self.activations),
            Part::Ends => Some(self.ends),
            Part::Recomputed => Some(self.recomputed),
            Part::Gathered => Some(self.gathered),
            _ => None,
        }
    }

    /// All of it.
    pub fn total(&self) -> Bytes {
        self.activations + self.ends + self.recomputed + self.gathered
    }
}

/// Most moments of a step; of longer steps the first are given.
const MOST: usize = 4000;

impl Training {
    /// The moments of a step in order: one per layer and pass without a pipeline, one per chunk and pass with one. States are held
    /// throughout and are not part of it; gradients are counted as kept from step to step.
    ///
    /// # Errors
    /// As of [`Training::anatomy`], and a subject without layers.
    pub fn iteration(&self, subject: Subject) -> Result<Vec<Moment>, MemoryError> {
        let Subject::Network(network) = subject else {
            return Err(MemoryError::NoLayers { what: "memory over a step" });
        };
        let anatomy = self.anatomy(subject)?;
        let (stage, flow) = self.flow(network)?;
        // Passes of one micro-batch over the stage: its layers, or its chunks.
        let pieces = if self.parallel.pipeline == 1 { stage.layers.len() as u64 } else { flow.chunks };
        let piece = flow.micro_batch / pieces as f64;
        let all = self.micro_batches() * pieces;
        // So many pieces run forward before the first runs backward.
        let ahead = if self.parallel.pipeline == 1 { pieces } else { flow.in_flight.min(all) };
        let gathered = anatomy.of(Part::Gathered);
        let mut moments = Vec::new();
        let (mut forward, mut backward) = (0, 0);
        let moment = |phase, index: u64, held: u64, head: f64, again: f64| {
            // Embeddings of the micro-batches that are held, without those of a stage's further chunks.
            let embeddings = held.div_ceil(pieces).min(flow.embeddings) as f64;
            Moment {
                phase,
                micro_batch: index / pieces,
                activations: Bytes(held as f64 * piece),
                ends: Bytes(embeddings * flow.embedding + head),
                recomputed: Bytes(again),
                gathered,
            }
        };
        let whole = self.parallel.pipeline == 1;
        while backward < all && moments.len() < MOST {
            // One micro-batch after the other without a pipeline; in one, each pass back makes room for a pass forward.
            let room = forward - backward < ahead && (!whole || backward.is_multiple_of(pieces));
            // The head stands behind the last layer, forward and backward.
            let head = |at_head: bool| if whole && at_head { flow.head } else { 0.0 };
            if forward < all && room {
                forward += 1;
                let more = head(forward.is_multiple_of(pieces));
                moments.push(moment(Phase::Forward, forward - 1, forward - backward, more, 0.0));
            } else {
                let more = head(backward.is_multiple_of(pieces));
                moments.push(moment(Phase::Backward, backward, forward - backward, more, flow.recomputed));
                backward += 1;
            }
        }
        if backward == all {
            let (phase, micro_batch, none) = (Phase::Optimizer, self.micro_batches() - 1, Bytes(0.0));
            moments.push(Moment {
                phase,
                micro_batch,
                activations: none,
                ends: none,
                recomputed: none,
                gathered: none,
            });
        }
        Ok(moments)
    }
}
