//! Of the launches of a profile those that a roofline shows: one of each group of equal ones, of many groups the longest.

use std::collections::HashMap;

use crate::{
    profile::Judged,
    units::{counted, decimal},
};

/// Most groups of a roofline: more points hide one another.
const GROUPS: usize = 20;

/// The launch of median duration of each group with the same name, grid and block, most time first, and in words what was
/// left out.
pub(super) fn longest<'a>(launches: &[&'a Judged]) -> (Vec<&'a Judged>, Vec<String>) {
    let time = |judged: &Judged| judged.observed.duration.map_or(0.0, |duration| duration.get());
    let mut places = HashMap::new();
    let mut groups: Vec<Vec<&Judged>> = Vec::new();
    for launch in launches {
        let key = (&launch.observed.name, launch.observed.grid_blocks, launch.observed.threads_per_block);
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(launch),
            None => groups.push(vec![launch]),
        }
    }
    let total = |group: &[&Judged]| group.iter().map(|launch| time(launch)).sum::<f64>();
    groups.sort_by(|a, b| total(b).total_cmp(&total(a)));
    let mut words = Vec::new();
    if groups.len() < launches.len() {
        words.push("of equal launches the one of median time".into());
    }
    if groups.len() > GROUPS {
        let all: f64 = groups.iter().map(|group| total(group)).sum();
        let shown: f64 = groups.iter().take(GROUPS).map(|group| total(group)).sum();
        let share = decimal(100.0 * shown / all, 0);
        words.push(format!(
            "the {GROUPS} longest of {}, {share} % of their time",
            counted(groups.len() as u64, "kernel")
        ));
        groups.truncate(GROUPS);
    }
    let median = |mut group: Vec<&'a Judged>| {
        group.sort_by(|a, b| time(a).total_cmp(&time(b)));
        group.get(group.len() / 2).copied()
    };
    (groups.into_iter().filter_map(median).collect(), words)
}
