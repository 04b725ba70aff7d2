//! Why a call takes its time: shares of keys, traffic, exponentials, what a longer sequence costs, what is left out.

use super::{AttentionError, Model, Parts, Shape, constants::Split};
use crate::{
    gpu::{ConstantsOf, Gpu},
    units::{Bytes, Flops, Seconds, counted, decimal, significant},
};

/// Parts of the time below this share are not named.
const WORTH: f64 = 0.05;

fn percent(part: f64, whole: f64) -> String {
    decimal(part / whole * 100.0, 0)
}

/// The kernel, its tile, its grid and its shares of keys.
pub(super) fn choices(model: &Model, shape: &Shape, parts: &Parts) -> Vec<String> {
    let mut choices = vec![format!("{} ({})", model.kernel.name, model.kernel.library.word())];
    let (rows, columns) = parts.tile;
    let blocks = parts.blocks as u64;
    if model.decodes(shape) {
        let together = match shape.group() {
            1 => String::new(),
            group => format!(" with its {group} query heads"),
        };
        choices.push(format!(
            "grid: {} x {}{together}{} = {}, {} keys at a time",
            counted(shape.batch, "sequence"),
            counted(shape.heads_kv, "KV head"),
            if parts.splits > 1 { format!(" x {} shares of the keys", parts.splits) } else { String::new() },
            counted(blocks, "block"),
            columns
        ));
    } else {
        let grid = model.grid(shape);
        let heads = if model.kernel.tile.packed {
            let group =
                if shape.group() > 1 { format!(" ({} query heads packed)", shape.group()) } else { String::new() };
            format!("{}{group}", counted(shape.heads_kv, "KV head"))
        } else {
            counted(shape.heads_q, "head")
        };
        choices.push(format!(
            "grid: {} x {heads} x {}{} = {}, tiles of {rows} x {columns}",
            counted(shape.batch, "sequence"),
            counted(grid.blocks(), "tile row"),
            if parts.splits > 1 { format!(" x {} shares of the keys", parts.splits) } else { String::new() },
            counted(blocks, "block"),
        ));
    }
    choices
}

/// Why the keys are cut, or why they are not although SMs have no work.
fn split(model: &Model, gpu: &Gpu, shape: &Shape, parts: &Parts) -> Option<String> {
    let (unit, name) = (gpu.limits.words().unit, model.kernel.library.word());
    let (uncut, slots) = (parts.uncut as u64, f64::from(parts.slots) * model.sms);
    if parts.splits > 1 {
        let (cut, combine) = (parts.splits, Seconds(parts.combine));
        return Some(format!(
            "too few blocks: split-KV {cut} cuts the keys so that {uncut} become {} on {} {unit}s; combining the shares takes {combine}",
            parts.blocks as u64, model.sms
        ));
    }
    if parts.uncut >= 0.8 * slots {
        return None;
    }
    let why = if model.decodes(shape) {
        match model.decode_constants(shape.group()).map(|d| d.rule) {
            Some(Split::Fa2) if shape.group() == 1 => "cuts no keys without grouped heads",
            Some(Split::Fa3) => "cuts no keys of four tiles or fewer",
            _ => "has no more keys to cut",
        }
    } else if model.kernel.tile.split {
        "cuts no keys of four tiles or fewer"
    } else {
        "cuts the keys in decode alone"
    };
    Some(format!("too few blocks: {uncut} for {slots} places, and {name} {why}"))
}

/// What matters for the time of this call.
pub(super) fn findings(model: &Model, gpu: &Gpu, shape: &Shape, parts: &Parts) -> Vec<String> {
    let mut found = Vec::from_iter(split(model, gpu, shape, parts));
    let bytes = model.least_bytes(shape);
    let input = model.precision.input_bytes;
    let keys = Bytes(shape.key_value_elements() * input);
    let token = shape.cache_bytes_per_token(input);
    found.push(format!(
        "{} in the two products{}; K and V {} ({} B per token), Q and O {}: {} FLOP per byte",
        Flops(shape.flop()),
        if shape.causal && !model.decodes(shape) { ", pairs that the mask drops not counted" } else { "" },
        keys,
        significant(token, 6),
        Bytes(bytes - keys.get()),
        significant(shape.flop() / bytes, 4)
    ));
    if model.kernel.tile.behind_mask && shape.causal && !model.decodes(shape) {
        let dropped = 1.0 - shape.pairs() / Shape { causal: false, window: None, ..*shape }.pairs();
        found.push(format!(
            "this kernel visits the keys behind the mask too: {} % of what it computes is dropped",
            percent(dropped, 1.0)
        ));
    }
    if parts.exponentials > 0.0 {
        let how = if model.kernel.prefill.overlapped { "run beside" } else { "are added to" };
        found.push(format!(
            "exponentials take {} % as long as the products and {how} them",
            percent(parts.exponentials, parts.products)
        ));
    }
    if model.decodes(shape) && shape.group() > 1 {
        found.push(format!(
            "each key is read once for {} query heads: with as many KV heads as query heads it would be {} times the bytes",
            shape.group(),
            shape.group()
        ));
    }
    let held = model.l2 * model.kernel.l2_share;
    if parts.missed == 0.0 && !model.decodes(shape) {
        found.push(format!("{} of Q, K, V and O stay in the {} of L2", Bytes(bytes), Bytes(model.l2)));
    } else if parts.missed == 0.0 {
        found.push(format!("{} fit in the {} of L2 that keep them from call to call", Bytes(bytes), Bytes(held)));
    }
    for (part, what) in [
        (parts.append, "the append to the KV cache"),
        (parts.transpose, "copies that put grouped heads into rows and back"),
    ] {
        if part >= WORTH * parts.time {
            found.push(format!("{what} takes {}, {} % of the time", Seconds(part), percent(part, parts.time)));
        }
    }
    found
}

/// What a longer sequence would take.
pub(super) fn sizes(model: &Model, shape: &Shape, parts: &Parts) -> Result<Vec<String>, AttentionError> {
    let mut sizes = Vec::new();
    let double = |length: u64| length.saturating_mul(2);
    let longer = if model.decodes(shape) || shape.before() > 0 {
        let seq_kv = double(shape.seq_kv);
        (Shape { seq_kv, ..*shape }, format!("seq_kv {seq_kv}"))
    } else {
        let (seq_q, seq_kv) = (double(shape.seq_q), double(shape.seq_kv));
        (Shape { seq_q, seq_kv, ..*shape }, format!("seq {seq_q}"))
    };
    let wider = Shape { batch: double(shape.batch), ..*shape };
    for (shape, what) in [longer, (wider, format!("batch {}", wider.batch))] {
        let Ok(shape) = shape.checked() else { continue };
        let time = model.parts(&shape)?.time;
        sizes.push(format!("{what} takes {}, {} times as long", Seconds(time), significant(time / parts.time, 3)));
    }
    Ok(sizes)
}

/// What the model leaves out.
pub(super) fn ignored(model: &Model, shape: &Shape) -> Vec<String> {
    let mut ignored = vec![
        "sequences of different lengths in one batch: all have the same".to_owned(),
        "page tables of the KV cache, dropout, biases, masks other than causal and window".into(),
    ];
    if !model.decodes(shape) {
        ignored
            .push("the backward pass: 2 times these operations, 2.5 times where it computes the scores again".into());
    }
    if !model.decodes(shape) && shape.group() > 1 && shape.group() < 8 && model.library().word() != "trtllm" {
        ignored.push("why 2 to 4 query heads per KV head take 5 to 15 % more at 64 to 1024 tokens".into());
    }
    if model.precision.input_bytes != 2.0 {
        ignored.push("scaling of narrow types and conversions".into());
    }
    ignored
}

/// Whose constants, and what the band means.
pub(super) fn confidence(model: &Model, gpu: &Gpu, shape: &Shape) -> String {
    let (name, whole) = match &gpu.mig {
        Some(slice) => (&slice.gpu_name, ", not on a slice of it"),
        None => (&gpu.name, ""),
    };
    let kernel = &model.kernel.name;
    let whose = match &model.of {
        ConstantsOf::Gpu => format!("constants of {kernel} measured on {name}{whole}"),
        ConstantsOf::Family(_) => match &model.kernel.gpu {
            Some(gpu) => format!("constants of {kernel} measured on {gpu}, not on {name}"),
            None => format!("rounded constants of {kernel}, not measured on {name}"),
        },
        _ => format!("rounded constants of {kernel}: nothing was measured on this architecture"),
    };
    match model.unmeasured(shape) {
        None => format!("{whose}; band: four of five measured calls lie in it"),
        Some(why) => format!("{whose}; band: wide, {why}"),
    }
}
