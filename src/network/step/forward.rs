//! The forward pass.

use super::{Class, Op, Pass, Phase, Step, StepError, What, mixer};
use crate::{
    gpu::DataType,
    network::{Experts, Feed, Head, Layer, Mixer, Mlp, Network, Norm},
    op::{
        gemm, moe,
        rowwise::{self, Kind, Operation},
    },
};

/// Collects the operations of `count` equal layers.
pub(super) struct Pen<'a> {
    pub step: &'a Step,
    pub norm: Norm,
    pub count: u64,
    pub ops: Vec<Op>,
}

impl Pen<'_> {
    pub fn push(&mut self, part: &'static str, class: Class, what: What) {
        self.ops.push(Op { part, class, pass: Pass::Forward, what, count: self.count });
    }

    /// A product of activations with weights.
    pub fn product(&mut self, part: &'static str, m: u64, n: u64, k: u64) -> Result<(), StepError> {
        self.products(part, (1, m, n, k), true)
    }

    /// Products in one kernel.
    pub fn products(
        &mut self,
        part: &'static str,
        shape: (u64, u64, u64, u64),
        weights: bool,
    ) -> Result<(), StepError> {
        let (batch, m, n, k) = shape;
        gemm::Shape::new(batch, m, n, k)?;
        self.push(part, Class::Product, What::Product { batch, m, n, k, weights });
        Ok(())
    }

    pub fn norm(&mut self, part: &'static str, rows: u64, cols: u64) -> Result<(), StepError> {
        let what = match self.norm {
            Norm::Layer => rowwise::What::LayerNorm,
            Norm::Rms => rowwise::What::RmsNorm,
        };
        let operation = Operation::new(what, rows, cols, self.step.data)?;
        self.push(part, Class::Reduction, What::Rows(operation));
        Ok(())
    }

    pub fn softmax(&mut self, part: &'static str, rows: u64, cols: u64, data: DataType) -> Result<(), StepError> {
        let operation = Operation::new(rowwise::What::Softmax, rows, cols, data)?;
        self.push(part, Class::Reduction, What::Rows(operation));
        Ok(())
    }

    /// An element-wise operation by its usual name; what the operation before wrote is in L2 as far as it fits.
    pub fn each(&mut self, part: &'static str, kind: &str, rows: u64, cols: u64) -> Result<(), StepError> {
        let kind = kind.parse().unwrap_or(Kind::COPY);
        let operation = Operation { warm: true, ..Operation::elementwise(kind, rows, cols, self.step.data)? };
        self.push(part, Class::Elementwise, What::Rows(operation));
        Ok(())
    }

    /// The sum over the GPUs that share a layer.
    pub fn all_reduce(&mut self, rows: u64, cols: u64) {
        if self.step.tensor_parallel > 1 {
            let bytes = rows as f64 * cols as f64 * rowwise::bytes(self.step.data);
            self.push("all-reduce", Class::Communication, What::AllReduce { bytes });
        }
    }
}

impl Step {
    /// Tokens that run through the layers.
    pub fn rows(&self) -> u64 {
        match self.phase {
            Phase::Decode => self.batch,
            Phase::Prefill | Phase::Train => self.batch.saturating_mul(self.tokens),
        }
    }

    /// What a GPU has of a size that need not divide.
    pub(super) fn share(&self, size: u64) -> u64 {
        size.div_ceil(self.tensor_parallel)
    }
}

/// All operations from the embedding to the logits.
pub(super) fn operations(network: &Network, step: &Step) -> Result<Vec<Op>, StepError> {
    let (rows, hidden) = (step.rows(), network.hidden);
    let mut pen = Pen { step, norm: network.norm, count: 1, ops: Vec::new() };
    pen.each("embedding", "embedding", rows, hidden)?;
    if network.positions > 0 {
        pen.each("positions", "add", rows, hidden)?;
    }
    if network.embedding_norm {
        pen.norm("embedding norm", rows, hidden)?;
    }
    for (layer, count) in distinct(&network.layers) {
        pen.count = count;
        self::layer(&mut pen, network, layer)?;
    }
    pen.count = 1;
    if network.final_norm {
        pen.norm("final norm", rows, hidden)?;
    }
    head(&mut pen, network)?;
    Ok(pen.ops)
}

/// Layers that differ, each with how often it is there, in the order of their first.
fn distinct(layers: &[Layer]) -> Vec<(&Layer, u64)> {
    let mut found: Vec<(&Layer, u64)> = Vec::new();
    for layer in layers {
        match found.iter_mut().find(|(known, _)| *known == layer) {
            Some((_, count)) => *count += 1,
            None => found.push((layer, 1)),
        }
    }
    found
}

fn layer(pen: &mut Pen, network: &Network, layer: &Layer) -> Result<(), StepError> {
    let (rows, hidden) = (pen.step.rows(), network.hidden);
    for _ in 0..layer.norms {
        pen.norm("norm", rows, hidden)?;
    }
    if let Some(found) = &layer.mixer {
        let rotary = network.positions == 0;
        match found {
            Mixer::Attention(heads) => mixer::attention(pen, heads, hidden, rotary)?,
            Mixer::Latent(latent) => mixer::latent(pen, latent, hidden)?,
            Mixer::Mamba(mamba) => mixer::mamba(pen, mamba, hidden)?,
        }
        pen.all_reduce(rows, hidden);
        pen.each("residual", "add", rows, hidden)?;
    }
    if let Some(feed) = &layer.feed {
        match feed {
            Feed::Dense(mlp) => dense(pen, mlp, hidden, ["up projection", "activation", "down projection"])?,
            Feed::Experts(experts) => mixture(pen, experts, hidden)?,
        }
        pen.all_reduce(rows, hidden);
        pen.each("residual", "add", rows, hidden)?;
    }
    Ok(())
}

fn dense(pen: &mut Pen, mlp: &Mlp, hidden: u64, parts: [&'static str; 3]) -> Result<(), StepError> {
    let (rows, width) = (pen.step.rows(), pen.step.share(mlp.width));
    let [up, activation, down] = parts;
    pen.product(up, rows, if mlp.gated { 2 * width } else { width }, hidden)?;
    pen.each(activation, if mlp.gated { "silu_and_mul" } else { "gelu" }, rows, width)?;
    pen.product(down, rows, hidden, width)
}

fn mixture(pen: &mut Pen, experts: &Experts, hidden: u64) -> Result<(), StepError> {
    let rows = pen.step.rows();
    pen.product("router", rows, experts.count, hidden)?;
    pen.softmax("router", rows, experts.count, DataType::Fp32)?;
    let shape = moe::Shape {
        tokens: rows,
        experts: experts.count,
        top_k: experts.per_token,
        hidden,
        inter: pen.step.share(experts.expert.width),
        expert_parallel: 1,
    };
    pen.push("experts", Class::Product, What::Experts(shape.checked()?));
    if let Some(shared) = &experts.shared {
        let parts = ["shared experts, up", "shared experts, activation", "shared experts, down"];
        dense(pen, shared, hidden, parts)?;
        pen.each("shared experts, sum", "add", rows, hidden)?;
    }
    Ok(())
}

fn head(pen: &mut Pen, network: &Network) -> Result<(), StepError> {
    let (step, hidden) = (pen.step, network.hidden);
    // A prompt needs the logits of its last token alone.
    let rows = if step.phase == Phase::Prefill { step.batch } else { step.rows() };
    match network.head {
        Head::Language { .. } => pen.product("head", rows, step.share(network.vocabulary), hidden),
        Head::Masked => {
            let rows = step.rows();
            pen.product("head", rows, hidden, hidden)?;
            pen.each("head", "gelu", rows, hidden)?;
            pen.norm("head", rows, hidden)?;
            pen.product("head", rows, step.share(network.vocabulary), hidden)
        }
        Head::Pooler => {
            pen.product("pooler", step.batch, hidden, hidden)?;
            pen.each("pooler", "tanh", step.batch, hidden)
        }
        Head::None => Ok(()),
    }
}
