//! The parts of what a GPU holds, their sum, and whether it fits.

use crate::units::Bytes;

/// Part of a GPU's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Weights that the passes use.
    Weights,
    /// FP32 copy of the weights.
    Master,
    /// Gradients.
    Gradients,
    /// Moments of the optimizer.
    Optimizer,
    /// Weights of the layer at work, gathered from all ranks.
    Gathered,
    /// Activations of the layers, kept for the backward pass; in inference those of the layer at work.
    Activations,
    /// Activations of embedding and head, the logits among them.
    Ends,
    /// Activations of the layer that is computed again.
    Recomputed,
    /// Keys and values of the tokens so far, and states of state-space layers.
    Cache,
    /// CUDA context, kernels and workspaces of libraries.
    Context,
    /// Buffers of NCCL.
    Nccl,
}

impl Part {
    /// All, in the order of outputs: what stays, then what comes and goes.
    pub const ALL: [Self; 11] = [
        Self::Weights,
        Self::Master,
        Self::Gradients,
        Self::Optimizer,
        Self::Context,
        Self::Nccl,
        Self::Cache,
        Self::Activations,
        Self::Ends,
        Self::Recomputed,
        Self::Gathered,
    ];

    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Weights => "weights",
            Self::Master => "master weights",
            Self::Gradients => "gradients",
            Self::Optimizer => "optimizer",
            Self::Gathered => "gathered weights",
            Self::Activations => "activations",
            Self::Ends => "embedding and logits",
            Self::Recomputed => "recomputed",
            Self::Cache => "KV cache",
            Self::Context => "context, workspace",
            Self::Nccl => "NCCL",
        }
    }

    /// For programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Weights => "weights",
            Self::Master => "master_weights",
            Self::Gradients => "gradients",
            Self::Optimizer => "optimizer",
            Self::Gathered => "gathered_weights",
            Self::Activations => "activations",
            Self::Ends => "embedding_and_logits",
            Self::Recomputed => "recomputed",
            Self::Cache => "kv_cache",
            Self::Context => "context_and_workspace",
            Self::Nccl => "nccl",
        }
    }

    /// Whether it is a state of a parameter.
    pub fn is_state(self) -> bool {
        matches!(self, Self::Weights | Self::Master | Self::Gradients | Self::Optimizer)
    }
}

/// A part with its size.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The part.
    pub part: Part,
    /// Its size.
    pub bytes: Bytes,
    /// What it is made of, such as `18 bytes per parameter`.
    pub what: String,
}

/// What one GPU holds at the peak.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Anatomy {
    /// Parts that are not empty, in the order of [`Part::ALL`].
    pub pieces: Vec<Piece>,
    /// What was taken, or should be known.
    pub notes: Vec<String>,
}

impl Anatomy {
    /// Adds a part, unless it is empty.
    pub(super) fn add(&mut self, part: Part, bytes: f64, what: impl Into<String>) {
        if bytes > 0.0 {
            let place = |part: Part| Part::ALL.iter().position(|other| *other == part);
            self.pieces.push(Piece { part, bytes: Bytes(bytes), what: what.into() });
            self.pieces.sort_by_key(|piece| place(piece.part));
        }
    }

    /// Size of a part.
    pub fn of(&self, part: Part) -> Bytes {
        self.pieces.iter().filter(|piece| piece.part == part).map(|piece| piece.bytes).sum()
    }

    /// All parts together.
    pub fn total(&self) -> Bytes {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }

    /// Weights, gradients and optimizer states together.
    pub fn states(&self) -> Bytes {
        self.pieces.iter().filter(|piece| piece.part.is_state()).map(|piece| piece.bytes).sum()
    }

    /// Whether it fits a GPU with so much memory.
    pub fn fit(&self, capacity: Bytes) -> Fit {
        Fit { need: self.total(), capacity }
    }
}

/// What is needed beside what there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// What is needed.
    pub need: Bytes,
    /// What the GPU has.
    pub capacity: Bytes,
}

impl Fit {
    /// Whether it fits.
    pub fn fits(&self) -> bool {
        self.need <= self.capacity
    }

    /// What is left, negative where it does not fit.
    pub fn margin(&self) -> Bytes {
        self.capacity - self.need
    }

    /// What is left, as a share of the capacity.
    pub fn share(&self) -> f64 {
        self.margin() / self.capacity
    }
}

/// What a process takes beside the network: constants of planners, not of this model (`systems/*.yaml` of
/// ai-dynamo/aiconfigurator: 3.5 GiB other, 342 to 392 MiB for NCCL, of which the most is taken).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overhead {
    /// CUDA context, kernels, workspaces of libraries.
    pub context: Bytes,
    /// NCCL's buffers, where there is more than one GPU.
    pub nccl: Bytes,
}

impl Default for Overhead {
    fn default() -> Self {
        Self { context: Bytes(3.5 * GIB), nccl: Bytes(392.0 * 1_048_576.0) }
    }
}

impl Overhead {
    /// So much in all, NCCL included.
    pub fn all(context: Bytes) -> Self {
        Self { context, nccl: Bytes(0.0) }
    }

    pub(super) fn add(&self, anatomy: &mut Anatomy, gpus: u64) {
        anatomy.add(Part::Context, self.context.get(), "CUDA context, kernels, workspaces");
        if gpus > 1 {
            anatomy.add(Part::Nccl, self.nccl.get(), "buffers of collectives");
        }
    }
}

/// Bytes of a GiB.
pub(super) const GIB: f64 = 1_073_741_824.0;
