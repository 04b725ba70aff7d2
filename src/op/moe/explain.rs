//! What the experts have to do, and where the time goes: sentences for people.

use super::{Expert, Loads, Model, Parts, Shape};
use crate::{
    gpu::{ConstantsOf, Gpu},
    units::{Seconds, counted, decimal, grouped},
};

/// Experts that are named where there are more than twice as many.
const NAMED: usize = 4;

/// The products and the passes around them, each with its time.
pub fn choices(shape: &Shape, parts: &Parts) -> Vec<String> {
    let product = |i: usize, name: &str, n: u64, k: u64| {
        let bound = if parts.memory[i] > parts.math[i] { "the weights decide" } else { "arithmetic decides" };
        format!(
            "{name}: {} with tiles of {} x 128, {} in {} waves of one per SM, n = {}, k = {}: {bound}",
            Seconds(parts.products[i]),
            parts.height,
            counted(parts.tiles[i] as u64, "tile"),
            decimal(parts.waves[i], 1),
            grouped(n),
            grouped(k)
        )
    };
    let mut all = vec![
        product(0, "gate and up", 2 * shape.inter, shape.hidden),
        product(1, "down", shape.hidden, shape.inter),
        format!("activation, zero fill and sum over all routed rows: {}", Seconds(parts.elementwise)),
    ];
    if parts.sort > 0.0 {
        all.push(format!("sorting of the tokens by expert: {}", Seconds(parts.sort)));
    }
    all.push(format!("launches and routing: {}", Seconds(parts.fixed)));
    all
}

/// The experts by their load, their padding, and what balance would gain.
pub fn findings(shape: &Shape, loads: &Loads, parts: &Parts, balanced: f64) -> Vec<String> {
    let experts = loads.experts(parts.height);
    let mean = loads.total() as f64 / experts.len().max(1) as f64;
    let mut found = Vec::new();
    if shape.expert_parallel > 1 {
        found.push(format!(
            "the busiest of {} ranks has experts {} to {} with {} of {} routed rows",
            grouped(shape.expert_parallel),
            grouped(loads.first as u64),
            grouped((loads.first + experts.len() - 1) as u64),
            grouped(loads.total()),
            grouped(shape.routed())
        ));
    }
    let idle = experts.len() as u64 - loads.active();
    found.push(format!(
        "{} experts, {} without tokens; {} rows in {} tiles of {}: {} % of the rows of the tiles are padding",
        grouped(experts.len() as u64),
        grouped(idle),
        grouped(loads.total()),
        grouped(loads.tiles(parts.height)),
        parts.height,
        decimal(padding(&experts, parts.height) * 100.0, 1)
    ));
    let dropped = shape.routed().saturating_sub(loads.total());
    if shape.expert_parallel == 1 && dropped > 0 {
        found.push(format!(
            "{} routed rows are left out: the power law gives an expert more than all {} tokens, which is the most",
            grouped(dropped),
            grouped(shape.tokens)
        ));
    }
    let mut sorted = experts;
    // The hottest first; of equal ones the first.
    sorted.sort_by(|a, b| b.tokens.cmp(&a.tokens).then(a.place.cmp(&b.place)));
    let (hottest, coldest) = (sorted.first().map_or(0, |e| e.tokens), sorted.last().map_or(0, |e| e.tokens));
    let named = match sorted.len() {
        _ if hottest <= coldest + 1 => 1,
        all if all <= 2 * NAMED => all,
        _ => NAMED,
    };
    for (index, expert) in sorted.iter().enumerate().take(named) {
        let word = if index == 0 { " (hottest)" } else { "" };
        found.push(format!(
            "expert {}{word}: {}, {} times the mean, {}, {} % padding",
            expert.place,
            counted(expert.tokens, "token"),
            decimal(expert.tokens as f64 / mean.max(f64::MIN_POSITIVE), 2),
            counted(expert.tiles, "tile"),
            decimal(expert.padding * 100.0, 1)
        ));
    }
    let rest = &sorted[named.min(sorted.len())..];
    if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
        let tokens = if first.tokens == last.tokens {
            counted(last.tokens, "token")
        } else {
            format!("{} to {} tokens", grouped(last.tokens), grouped(first.tokens))
        };
        let count = counted(rest.len() as u64, "other expert");
        found.push(format!("{count}: {tokens} each (--experts FILE.csv writes all of them)"));
    }
    let gain = parts.time / balanced;
    if gain > 1.02 {
        found.push(format!(
            "the same tokens spread evenly would take {}, {} times less",
            Seconds(balanced),
            decimal(gain, 2)
        ));
    }
    found
}

/// Share of the rows of all tiles that hold no token.
fn padding(experts: &[Expert], height: u64) -> f64 {
    let rows: u64 = experts.iter().map(|e| e.tiles * height).sum();
    let tokens: u64 = experts.iter().map(|e| e.tokens).sum();
    if rows > 0 { 1.0 - tokens as f64 / rows as f64 } else { 0.0 }
}

/// Whose constants, and what the band means.
pub fn confidence(model: &Model, gpu: &Gpu) -> String {
    let c = &model.constants;
    let whose = match &c.of {
        ConstantsOf::Gpu if gpu.mig.is_some() => "constants measured on the whole GPU, not on a slice of it".into(),
        ConstantsOf::Gpu => format!("constants measured on this GPU ({})", c.source),
        ConstantsOf::Family(family) => format!("constants of the {family} family, not of {} ({})", gpu.name, c.source),
        _ => format!("constants of another family ({})", c.source),
    };
    let error = decimal(c.mape, 1);
    match model.unmeasured() {
        None => {
            format!("{whose}; mean error {error} %; band: 1.6 times the mean error of the size")
        }
        Some(why) => format!("{whose}; band: wide, {why}"),
    }
}

/// What the answer leaves out.
pub fn ignored(shape: &Shape) -> Vec<String> {
    let mut all = vec![
        "tuned tile tables, which libraries have for some layers and not for others: 15 to 30 %".to_owned(),
        "the router, and shared experts".into(),
    ];
    if shape.expert_parallel > 1 {
        all.push("sending the tokens to the ranks and back".into());
    }
    all
}
