//! From attention calls to the figure of time against length.

use super::caption;
use crate::{
    chart::{Bound, LengthLine, Lengths},
    gpu::Gpu,
    op::attention::{AttentionError, Model, Parts, Request, Shape},
};

/// Lengths per doubling.
const PER_DOUBLING: u32 = 8;

/// A term: its name, what it decides over, whether it is the second one there, and its place among the parts.
type TermOf = (&'static str, Option<Bound>, bool, fn(&Parts) -> f64);

/// The lines of the figure.
const LINES: [TermOf; 7] = [
    ("whole call", None, false, |p| p.time),
    ("matrix products", Some(Bound::Math), false, |p| p.products),
    ("exponentials", Some(Bound::Math), true, |p| p.exponentials),
    ("DRAM", Some(Bound::Memory), false, |p| p.dram),
    ("L2", Some(Bound::Memory), true, |p| p.l2),
    ("blocks and waiting", Some(Bound::Latency), false, |p| p.waiting),
    ("launches", Some(Bound::Latency), true, |p| p.fixed),
];

/// Time of a call and its terms from a shortest to a longest sequence. In decode and for chunks the keys grow, else the
/// queries with them.
///
/// # Errors
/// One of the calls cannot be answered.
pub fn attention_figure(
    gpu: &Gpu,
    shape: &Shape,
    request: &Request,
    (low, high): (u64, u64),
) -> Result<Lengths, AttentionError> {
    let model = Model::new(gpu, request)?;
    let shape = shape.checked()?;
    let keys_alone = model.decodes(&shape) || shape.seq_q != shape.seq_kv;
    let current = shape.seq_kv;
    // Causal queries are among the keys.
    let low = if keys_alone && shape.causal { low.max(shape.seq_q) } else { low };
    let mut lengths = vec![low, high];
    if (low..=high).contains(&current) {
        lengths.push(current);
    }
    let steps = (libm::log2(high as f64 / low as f64) * f64::from(PER_DOUBLING)).ceil() as u32;
    lengths
        .extend((0..steps).map(|i| (low as f64 * libm::exp2(f64::from(i) / f64::from(PER_DOUBLING))).round() as u64));
    lengths.sort_unstable();
    lengths.dedup();
    let mut lines: Vec<LengthLine> = LINES
        .iter()
        .map(|&(label, bound, second, _)| LengthLine { label: label.into(), bound, second, times_us: Vec::new() })
        .collect();
    for length in &lengths {
        let seq_q = if keys_alone { shape.seq_q } else { *length };
        let parts = model.parts(&Shape { seq_q, seq_kv: *length, ..shape }.checked()?)?;
        for (line, (_, _, _, of)) in lines.iter_mut().zip(LINES) {
            line.times_us.push(of(&parts) * 1e6);
        }
    }
    lines.retain(|line| line.times_us.iter().any(|us| *us > 0.0));
    let call =
        if request.bare { "the attention kernel alone" } else { "a serving call with the append to the KV cache" };
    let constants = format!("constants: {}", model.constants());
    let assumptions = [call, model.kernel_name(), &constants];
    Ok(Lengths {
        caption: caption(&title(&shape, request, keys_alone), gpu, &assumptions),
        subtitle: "The whole call and the time of each of its terms alone".into(),
        over: if keys_alone { "Keys of the sequence (tokens)" } else { "Length of the sequence (tokens)" }.into(),
        lengths,
        lines,
        current: (low..=high).contains(&current).then_some(current),
    })
}

fn title(shape: &Shape, request: &Request, keys_alone: bool) -> String {
    let heads = match shape.group() {
        1 => format!("{} heads", shape.heads_q),
        _ => format!("{} query and {} KV heads", shape.heads_q, shape.heads_kv),
    };
    let what = match (keys_alone, shape.seq_q) {
        (true, 1) => "Decode attention".to_owned(),
        (true, queries) => format!("Attention of {queries} queries"),
        (false, _) => "Prefill attention".to_owned(),
    };
    let order = if shape.causal && shape.seq_q > 1 { ", causal" } else { "" };
    let window = shape.window.map_or(String::new(), |w| format!(", window {w}"));
    let (batch, dim, input) = (shape.batch, shape.head_dim, request.input.name());
    format!("{what}: batch {batch}, {heads} of {dim}, {input}{order}{window}")
}
