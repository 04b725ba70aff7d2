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
    /// Activations of the layers that are held when it ends.
    pub activations: Bytes,
    /// What else comes and goes: logits, the layer that is computed again, gathered weights.
    pub passing: Bytes,
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
        let mut push = |phase, index: u64, held: u64, more: f64| {
            // Embeddings of the micro-batches that are held, without those of a stage's further chunks.
            let embeddings = held.div_ceil(pieces).min(flow.embeddings) as f64;
            moments.push(Moment {
                phase,
                micro_batch: index / pieces,
                activations: Bytes(held as f64 * piece + embeddings * flow.embedding),
                passing: Bytes(more) + gathered,
            });
        };
        while backward < all && forward + backward < MOST as u64 {
            let whole = self.parallel.pipeline == 1;
            // One micro-batch after the other without a pipeline; in one, each pass back makes room for a pass forward.
            let room = if whole { forward - backward < ahead && forward / pieces == backward / pieces } else { forward - backward < ahead };
            if forward < all && room && (whole && backward.is_multiple_of(pieces) || !whole) {
                forward += 1;
                // The head stands behind the last layer.
                let head = if whole && forward.is_multiple_of(pieces) { flow.head } else { 0.0 };
                push(Phase::Forward, forward - 1, forward - backward, head);
            } else {
                push(Phase::Backward, backward, forward - backward, flow.recomputed);
                backward += 1;
                if backward == all || forward - backward == 0 {
                    push(Phase::Backward, backward - 1, forward - backward, 0.0);
                }
            }
        }
        if backward == all {
            let last = self.micro_batches() * pieces - 1;
            moments.push(Moment { phase: Phase::Optimizer, micro_batch: last / pieces, activations: Bytes(0.0), passing: Bytes(0.0) });
        }
        Ok(moments)
    }
}
