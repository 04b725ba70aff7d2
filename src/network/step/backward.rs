//! Training: what the backward pass and the optimizer add to the forward pass.

use super::{Class, Op, Pass, Recompute, Step, StepError, What};
use crate::{
    gpu::DataType,
    network::Network,
    op::rowwise::{self, Operation},
};

/// Backward FLOP of fused attention against forward: five products instead of two (FlashAttention-2, arXiv 2307.08691).
const FUSED_BACKWARD: f64 = 2.5;
/// Bytes that Adam in mixed precision moves per parameter: gradient, master weight and two moments of 4 bytes are read, the
/// latter three written, and the 16-bit weight.
const ADAM_BYTES: f64 = 4.0 * 4.0 + 3.0 * 4.0 + 2.0;
/// Operations of Adam per parameter: two moving averages, a root, a quotient, decay.
const ADAM_FLOP: f64 = 14.0;

/// The operations of an iteration from those of its forward pass.
pub(super) fn operations(network: &Network, step: &Step, forward: Vec<Op>) -> Result<Vec<Op>, StepError> {
    let mut ops = forward.clone();
    let vocabulary = step.share(network.vocabulary);
    let loss = Operation::new(rowwise::What::Softmax, step.rows(), vocabulary, DataType::Fp32)?;
    let row = |part, class, pass, what| Op { part, class, pass, what, count: 1 };
    ops.push(row("loss", Class::Reduction, Pass::Forward, What::Rows(loss)));
    ops.push(row(
        "loss",
        Class::Elementwise,
        Pass::Backward,
        What::Rows(Operation::new(
            rowwise::What::Elementwise { kind: rowwise::Kind::COPY, reads: 1, writes: 1, load: 16.0 },
            step.rows(),
            vocabulary,
            step.data,
        )?),
    ));
    ops.extend(forward.iter().filter(|op| again(op, step.recompute)).map(|op| Op { pass: Pass::Again, ..*op }));
    forward.iter().for_each(|op| backward(op, &mut ops));
    let own = network.parameters().total() as f64 / step.tensor_parallel as f64;
    let what = What::Other { flop: ADAM_FLOP * own, bytes: ADAM_BYTES * own };
    ops.push(row("optimizer", Class::Elementwise, Pass::Update, what));
    Ok(ops)
}

/// Whether an operation runs forward a second time.
fn again(op: &Op, recompute: Recompute) -> bool {
    match recompute {
        Recompute::None => false,
        // A fused kernel computes its scores again within the backward pass.
        Recompute::Selective => op.part.starts_with("attention ") && !matches!(op.what, What::Attention(_)),
        Recompute::Full => !matches!(op.part, "embedding" | "positions" | "head" | "final norm"),
    }
}

/// What goes backward through an operation.
fn backward(op: &Op, ops: &mut Vec<Op>) {
    let mut add = |what, count| ops.push(Op { pass: Pass::Backward, what, count, ..*op });
    match op.what {
        What::Product { batch, m, n, k, .. } => {
            // To the left operand, then to the right one.
            add(What::Product { batch, m, n: k, k: n, weights: false }, op.count);
            add(What::Product { batch, m: k, n, k: m, weights: false }, op.count);
        }
        // As one kernel of more work; its speed backward was never measured here.
        What::Attention(shape) => {
            let bytes = 2.0 * (2.0 * shape.query_elements() + shape.key_value_elements()) * 2.0;
            add(What::Other { flop: FUSED_BACKWARD * shape.flop(), bytes }, op.count);
        }
        What::Experts(_) => add(op.what, 2 * op.count),
        What::Other { flop, bytes } => add(What::Other { flop: 2.0 * flop, bytes: 2.0 * bytes }, op.count),
        // Norms and activations read their input and the gradient and write one; a sum passes its gradient on.
        What::Rows(_) if op.part == "residual" || op.part == "positions" => {}
        What::Rows(_) => add(op.what, 2 * op.count),
        What::AllReduce { .. } => add(op.what, op.count),
    }
}
