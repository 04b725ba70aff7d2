//! Attention of prompts as blocks: the mask makes them unequal, ragged batches more so.

use super::{
    BuildError,
    build::{Piece, need},
    spec::AttentionWork,
};
use crate::{
    gpu::Gpu,
    op::attention::{AttentionError, Model, Phase, Request, Shape},
    schedule::simulate::{Demand, Run, Runs},
    time::Rates,
    units::Seconds,
};

/// Most blocks that differ, which are kept one by one.
const MOST_CLASSES: u64 = 1 << 21;

/// The launch of a call: the blocks of each length in turn.
pub fn pieces(gpu: &Gpu, name: &str, work: &AttentionWork, rates: &Rates) -> Result<Vec<Piece>, BuildError> {
    let refused = |error| BuildError::Attention { name: name.into(), error: Box::new(error) };
    let request = Request { input: work.dtype, library: work.library, bare: true };
    let model = Model::new(gpu, &request).map_err(refused)?;
    let shape = |seq: u64| {
        let shape = Shape {
            batch: work.batch,
            heads_q: work.heads,
            heads_kv: work.kv_heads.unwrap_or(work.heads),
            seq_q: seq,
            seq_kv: seq.saturating_add(work.before),
            head_dim: work.head_dim,
            causal: work.causal,
            window: work.window,
            phase: Phase::Prefill,
        };
        shape.checked().map_err(refused)
    };
    let shapes = work.seq.0.iter().map(|seq| shape(*seq)).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = shapes.first() else {
        let (name, rule) = (name.into(), "give the tokens of at least one prompt".into());
        return Err(BuildError::Value { name, key: "seq", value: "[]".into(), rule });
    };
    if let Some(short) = work.seq.0.iter().find(|seq| **seq == 1) {
        let rule = "one query per sequence is a decode, whose kernel is another one: prompts have 2 or more".into();
        return Err(BuildError::Value { name: name.into(), key: "seq", value: short.to_string(), rule });
    }
    let classes = shapes.iter().map(|shape| model.blocks_per_copy(shape)).fold(0, u64::saturating_add);
    let copies = if shapes.len() > 1 { first.batch.saturating_mul(first.heads_q) } else { 1 };
    if classes.saturating_mul(copies) > MOST_CLASSES {
        let rule = format!(
            "{classes} tiles of queries per head differ{}; at most {MOST_CLASSES} different blocks are simulated: give fewer tokens",
            if copies > 1 { format!(", in {copies} heads") } else { String::new() }
        );
        let lengths: Vec<String> = work.seq.0.iter().take(3).map(u64::to_string).collect();
        return Err(BuildError::Value { name: name.into(), key: "seq", value: lengths.join(", "), rule });
    }
    let runs = match shapes.as_slice() {
        [only] => streamed(&model, only, rates).map_err(refused)?,
        several => {
            // Each length with its own repetitions, one after the other.
            let mut each = Vec::new();
            for shape in several {
                let runs = streamed(&model, shape, rates).map_err(refused)?;
                (0..runs.repeat()).for_each(|_| each.extend_from_slice(runs.classes()));
            }
            Runs::new(each, 1)
        }
    };
    let parts = model.parts(first).map_err(refused)?;
    Ok(vec![Piece {
        suffix: String::new(),
        runs,
        blocks_per_sm: parts.slots,
        need: need(gpu, &model.resources(gpu, first)),
        gap: Seconds::ZERO,
        note: format!("{}, tiles of {}x{}, {} per SM", model.kernel_name(), parts.tile.0, parts.tile.1, parts.slots),
    }])
}

/// The blocks of a prefill with what Q, K, V and O take of DRAM, each in proportion to its work.
fn streamed(model: &Model, shape: &Shape, rates: &Rates) -> Result<Runs, AttentionError> {
    let runs = model.runs(shape);
    let share = model.parts(shape)?.dram / runs.total().math.get();
    let with_dram = |run: &Run| {
        let dram = run.demand.math * share;
        // What comes from DRAM passes the port of the SM too.
        let port = dram * (rates.dram / rates.stream);
        Run { demand: Demand { dram, port, ..run.demand }, ..*run }
    };
    Ok(Runs::new(runs.classes().iter().map(with_dram), runs.repeat()))
}
