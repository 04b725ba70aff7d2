//! Two profiles of one program, before and after a change: which launch belongs to which, and where they ran.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{ObservedDevice, ObservedKernel, Profile, plain_name};

/// A launch of one profile with its partner in the other; at least one of the two is there.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The launch in the first profile.
    pub before: Option<&'a ObservedKernel>,
    /// The launch in the second profile.
    pub after: Option<&'a ObservedKernel>,
    /// How many launches of this name stand before it in its file.
    pub occurrence: usize,
    /// Whether the names differ, so that the pairing rests on their equal plain names.
    pub renamed: bool,
}

/// Kernels with how often the name came before.
fn counted(profile: &Profile) -> Vec<(&ObservedKernel, usize)> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for kernel in &profile.kernels {
        let count = seen.entry(&kernel.name).or_default();
        all.push((kernel, *count));
        *count += 1;
    }
    all
}

/// Pairs launches by name and by how often the name came before, so that repeated launches meet their partners.
/// Names that stand in one profile only are then paired by plain name: other template arguments, the same kernel.
/// In the order of the first profile; what only the second has comes last.
pub fn pair<'a>(before: &'a Profile, after: &'a Profile) -> Vec<Pair<'a>> {
    let (old, new) = (counted(before), counted(after));
    let by_name: BTreeMap<(&str, usize), usize> =
        new.iter().enumerate().map(|(index, (k, n))| ((&*k.name, *n), index)).collect();
    let old_names: BTreeSet<&str> = old.iter().map(|(k, _)| &*k.name).collect();
    let new_names: BTreeSet<&str> = new.iter().map(|(k, _)| &*k.name).collect();
    let mut strangers: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
    for (index, (kernel, _)) in new.iter().enumerate().filter(|(_, (k, _))| !old_names.contains(&*k.name)) {
        strangers.entry(plain_name(&kernel.name)).or_default().push_back(index);
    }
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    let mut pairs: Vec<Pair> = Vec::new();
    for (kernel, occurrence) in &old {
        let renamed = !new_names.contains(&*kernel.name);
        let partner = if renamed {
            strangers.get_mut(&plain_name(&kernel.name)).and_then(VecDeque::pop_front)
        } else {
            by_name.get(&(&*kernel.name, *occurrence)).copied()
        };
        taken.extend(partner);
        let after = partner.and_then(|index| new.get(index)).map(|(kernel, _)| *kernel);
        let renamed = renamed && after.is_some();
        pairs.push(Pair { before: Some(kernel), after, occurrence: *occurrence, renamed });
    }
    let left = new.iter().enumerate().filter(|(index, _)| !taken.contains(index));
    pairs.extend(left.map(|(_, (kernel, occurrence))| Pair {
        before: None,
        after: Some(kernel),
        occurrence: *occurrence,
        renamed: false,
    }));
    pairs
}

/// What says that the two profiles do not differ by the code alone, one sentence each: other devices, other clocks.
pub fn circumstances(pairs: &[Pair]) -> Vec<String> {
    let both: Vec<_> = pairs.iter().filter_map(|p| p.before.zip(p.after)).collect();
    let mut said = Vec::new();
    if let Some((old, new)) = both.iter().find(|(old, new)| differ(&old.device, &new.device)) {
        said.push(format!("before ran on {}, after on {}", words(&old.device), words(&new.device)));
    }
    for (name, clock) in
        [("SM", (|k| k.sm_clock) as fn(&ObservedKernel) -> Option<crate::units::Hertz>), ("memory", |k| k.dram_clock)]
    {
        let mut ratios: Vec<_> = both
            .iter()
            .filter_map(|(old, new)| clock(old).zip(clock(new)))
            .filter(|(old, new)| old.get() > 0.0 && new.get() > 0.0)
            .collect();
        ratios.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
        if let Some((old, new)) = ratios.get(ratios.len() / 2).filter(|(o, n)| (*n / *o - 1.0).abs() > SAME_CLOCK) {
            said.push(format!("the {name} clock was {old} before and {new} after"));
        }
    }
    let end = "the difference is not the code's alone";
    said.into_iter().map(|what| format!("{what}: {end}")).collect()
}

/// Clocks this near to each other are the same one, read twice.
const SAME_CLOCK: f64 = 0.02;

/// Whether two devices contradict each other in what both state.
fn differ(a: &ObservedDevice, b: &ObservedDevice) -> bool {
    fn apart<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
        a.is_some() && b.is_some() && a != b
    }
    apart(&a.name, &b.name)
        || apart(&a.compute_capability, &b.compute_capability)
        || apart(&a.sm_count, &b.sm_count)
        || apart(&a.memory_bus_bits, &b.memory_bus_bits)
}

/// A device by its name and the facts that a file states.
fn words(device: &ObservedDevice) -> String {
    let facts: Vec<String> = [
        device.compute_capability.as_ref().map(|c| format!("compute capability {c}")),
        device.sm_count.map(|n| format!("{n} SMs")),
    ]
    .into_iter()
    .flatten()
    .collect();
    match (&device.name, facts.is_empty()) {
        (Some(name), true) => name.clone(),
        (Some(name), false) => format!("{name} ({})", facts.join(", ")),
        (None, false) => format!("a GPU of {}", facts.join(", ")),
        (None, true) => "a GPU that the file does not name".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{profile::Format, units::Hertz};

    fn profile(names: &[&str]) -> Profile {
        let kernel = |name: &&str| ObservedKernel { name: (*name).into(), ..ObservedKernel::default() };
        Profile { format: Format::NcuRawCsv, kernels: names.iter().map(kernel).collect(), warnings: Vec::new() }
    }

    fn paired(before: &[&str], after: &[&str]) -> Vec<(String, String, usize, bool)> {
        let (before, after) = (profile(before), profile(after));
        let name = |k: Option<&ObservedKernel>| k.map_or("-".to_owned(), |k| k.name.clone());
        pair(&before, &after).iter().map(|p| (name(p.before), name(p.after), p.occurrence, p.renamed)).collect()
    }

    fn row(before: &str, after: &str, occurrence: usize, renamed: bool) -> (String, String, usize, bool) {
        (before.into(), after.into(), occurrence, renamed)
    }

    #[test]
    fn names_meet_by_occurrence_and_strangers_by_plain_name() {
        assert_eq!(
            paired(&["a", "b", "a", "void g<int>(int)", "gone"], &["b", "a", "new", "void g<half>(int)"]),
            [
                row("a", "a", 0, false),
                row("b", "b", 0, false),
                row("a", "-", 1, false),
                row("void g<int>(int)", "void g<half>(int)", 0, true),
                row("gone", "-", 0, false),
                row("-", "new", 0, false),
            ]
        );
        // A name that both files have is never taken for another one, however often it came.
        assert_eq!(
            paired(&["void g<1>()", "void g<1>()"], &["void g<1>()", "void g<2>()"]),
            [
                row("void g<1>()", "void g<1>()", 0, false),
                row("void g<1>()", "-", 1, false),
                row("-", "void g<2>()", 0, false),
            ]
        );
        assert_eq!(
            paired(&["void g<1>()", "void g<2>()"], &["void g<3>()", "void g<4>()", "void g<5>()"]),
            [
                row("void g<1>()", "void g<3>()", 0, true),
                row("void g<2>()", "void g<4>()", 0, true),
                row("-", "void g<5>()", 0, false),
            ]
        );
    }

    #[test]
    fn other_devices_and_clocks_are_named() {
        let (mut before, mut after) = (profile(&["a", "b"]), profile(&["a", "b"]));
        assert!(circumstances(&pair(&before, &after)).is_empty());
        for (profile, sms, clock) in [(&mut before, 80, 1.30e9), (&mut after, 80, 1.31e9)] {
            for kernel in &mut profile.kernels {
                kernel.device.sm_count = Some(sms);
                kernel.sm_clock = Some(Hertz(clock));
            }
        }
        assert!(circumstances(&pair(&before, &after)).is_empty());
        after.kernels[1].device.sm_count = Some(108);
        after.kernels.iter_mut().for_each(|k| k.sm_clock = Some(Hertz(1.41e9)));
        assert_eq!(
            circumstances(&pair(&before, &after)),
            [
                "before ran on a GPU of 80 SMs, after on a GPU of 108 SMs: the difference is not the code's alone",
                "the SM clock was 1.3 GHz before and 1.41 GHz after: the difference is not the code's alone"
            ]
        );
    }
}
