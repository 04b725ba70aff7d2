//! What rows of a comparison are called: the kernel, and what tells launches of one kernel apart.

use std::collections::{BTreeMap, BTreeSet};

use crate::profile::{Pair, Seen, telling_names};

/// A name for each pair: the grid and the GPU where the launches of a kernel differ in it, then a number.
pub fn labels(pairs: &[Pair]) -> Vec<String> {
    let first: Vec<Option<Seen>> = pairs.iter().map(|pair| pair.before.or(pair.after)).collect();
    let full: Vec<&str> = first.iter().map(|seen| seen.as_ref().map_or("", |seen| &seen.kernel.name)).collect();
    let mut grids: BTreeMap<&str, BTreeSet<Option<u64>>> = BTreeMap::new();
    let mut devices: BTreeMap<&str, BTreeSet<Option<u32>>> = BTreeMap::new();
    for (name, seen) in full.iter().zip(&first) {
        grids.entry(name).or_default().insert(seen.as_ref().and_then(|seen| seen.kernel.grid_blocks));
        devices.entry(name).or_default().insert(seen.as_ref().and_then(|seen| seen.device));
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let label = |((name, full), seen): ((String, &&str), &Option<Seen>)| {
        let mut label = name;
        let seen = seen.as_ref();
        let several = |count: Option<usize>| count.is_some_and(|count| count > 1);
        if let Some(blocks) = seen.and_then(|s| s.kernel.grid_blocks)
            && several(grids.get(full).map(BTreeSet::len))
        {
            label += &format!(" (grid {blocks})");
        }
        if let Some(device) = seen.and_then(|s| s.device)
            && several(devices.get(full).map(BTreeSet::len))
        {
            label += &format!(" on GPU {device}");
        }
        let count = counts.entry(label.clone()).or_default();
        *count += 1;
        if *count > 1 { format!("{label} #{count}") } else { label }
    };
    telling_names(&full).into_iter().zip(&full).zip(&first).map(label).collect()
}
