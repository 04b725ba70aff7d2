//! Full houses: instances that fit on a GPU together so that no further one does.

use std::collections::{BTreeMap, BTreeSet};

use super::{MigProfile, MigTable};

/// Instances that fit together.
#[derive(Clone, Debug, PartialEq)]
pub struct House<'a> {
    /// Profiles, largest first, with how many of each.
    pub instances: Vec<(&'a MigProfile, u32)>,
    /// SMs of the GPU that belong to no instance.
    pub idle_sm: u32,
    /// Memory slices of the GPU that belong to no instance.
    pub idle_memory_slices: u32,
}

impl std::fmt::Display for House<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, (profile, count)) in self.instances.iter().enumerate() {
            let plus = if index > 0 { " + " } else { "" };
            match count {
                1 => write!(f, "{plus}{}", profile.name)?,
                _ => write!(f, "{plus}{count}x {}", profile.name)?,
            }
        }
        Ok(())
    }
}

impl MigTable {
    /// As many instances of a profile as fit; absent where its SMs have no source.
    pub fn house_of<'a>(&self, profile: &'a MigProfile) -> Option<House<'a>> {
        self.house(vec![(profile, profile.max_instances)])
    }

    /// Full houses of two and more kinds of instances, from where these can start. Of the profiles with equally many
    /// compute slices only the first, with the least memory, takes part; without sourced SMs or starts, none does.
    pub fn mixed_houses(&self) -> Vec<House<'_>> {
        let mut kinds: Vec<&MigProfile> = Vec::new();
        for profile in self.profiles.iter().filter(|p| p.sourced_sm().is_some() && !p.starts.is_empty()) {
            if kinds.iter().all(|k| k.compute_slices != profile.compute_slices) {
                kinds.push(profile);
            }
        }
        kinds.sort_by_key(|k| std::cmp::Reverse(k.compute_slices));
        let mut found = BTreeSet::new();
        place(&kinds, self.memory_slices, 0, &mut vec![0; kinds.len()], &mut found);
        let more = |a: &Vec<u32>, b: &Vec<u32>| a != b && a.iter().zip(b).all(|(a, b)| a >= b);
        let full = found.iter().filter(|counts| !found.iter().any(|other| more(other, counts)));
        let mixed = full.filter(|counts| counts.iter().filter(|c| **c > 0).count() > 1);
        let house = |counts: &Vec<u32>| {
            self.house(kinds.iter().copied().zip(counts.iter().copied()).filter(|(_, count)| *count > 0).collect())
        };
        mixed.rev().filter_map(house).collect()
    }

    /// The mixed houses that leave equally much idle, joined; least idle SMs first, then least idle memory.
    pub fn mixed_houses_by_idle(&self) -> BTreeMap<(u32, u32), Vec<House<'_>>> {
        let mut groups = BTreeMap::<_, Vec<_>>::new();
        for house in self.mixed_houses() {
            groups.entry((house.idle_sm, house.idle_memory_slices)).or_default().push(house);
        }
        groups
    }

    fn house<'a>(&self, instances: Vec<(&'a MigProfile, u32)>) -> Option<House<'a>> {
        let (mut idle_sm, mut idle_memory_slices) = (self.sm_count, self.memory_slices);
        for (profile, count) in &instances {
            idle_sm = idle_sm.checked_sub(profile.sourced_sm()? * count)?;
            idle_memory_slices = idle_memory_slices.checked_sub(profile.memory_slices * count)?;
        }
        Some(House { instances, idle_sm, idle_memory_slices })
    }
}

/// Fills the memory slices from `at` on in every way, and notes how many of each kind there were.
fn place(kinds: &[&MigProfile], slices: u32, at: u32, counts: &mut Vec<u32>, found: &mut BTreeSet<Vec<u32>>) {
    if at >= slices {
        found.insert(counts.clone());
        return;
    }
    for (index, kind) in kinds.iter().enumerate() {
        let fits = at + kind.memory_slices <= slices && counts[index] < kind.max_instances;
        if fits && kind.starts.contains(&at) {
            counts[index] += 1;
            place(kinds, slices, at + kind.memory_slices, counts, found);
            counts[index] -= 1;
        }
    }
    place(kinds, slices, at + 1, counts, found);
}
