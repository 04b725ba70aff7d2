//! A profile for people: equal launches become one entry, and the entries that take longest come first.

use std::collections::HashMap;

use super::{KernelReport, Report};
use crate::profile::short_name;

/// Entries that a person reads; the rest is counted.
const MOST_ENTRIES: usize = 20;

/// The report with launches of one kernel, grid and resources merged, named by short name and count, longest total time
/// first: of a profile into the launch of median duration, of a trace into the sum of its groups, unless a what-if was
/// answered for each of them. Described kernels stay as they are.
pub fn compact(report: &Report) -> Report {
    let (described, observed): (Vec<&KernelReport>, Vec<&KernelReport>) =
        report.kernels.iter().partition(|k| !k.is_observed());
    let (answered, mergeable): (Vec<&KernelReport>, Vec<&KernelReport>) =
        observed.into_iter().partition(|kernel| kernel.launches.is_some() && !kernel.asked.is_empty());
    let mut groups = launch_groups(mergeable);
    groups.extend(answered.into_iter().map(|kernel| vec![kernel]));
    let total = |group: &[&KernelReport]| group.iter().map(|k| k.own_us()).sum::<f64>();
    groups.sort_by(|a, b| total(b).total_cmp(&total(a)));
    let entries = groups.iter().take(MOST_ENTRIES).map(|group| entry(group));
    let kernels = described.into_iter().cloned().chain(entries).collect();
    let mut compacted = Report { kernels, ..report.clone() };
    if groups.len() > MOST_ENTRIES {
        let rest: u64 = groups[MOST_ENTRIES..].iter().flatten().map(|kernel| kernel.launches.unwrap_or(1)).sum();
        compacted.warnings.push(format!("{rest} shorter launches are not shown; --format csv has them all"));
    }
    compacted
}

/// Launches of one kernel, grid and resources together, in the order of their first.
pub fn launch_groups<'a>(kernels: impl IntoIterator<Item = &'a KernelReport>) -> Vec<Vec<&'a KernelReport>> {
    let mut places = HashMap::new();
    let mut groups: Vec<Vec<&KernelReport>> = Vec::new();
    for kernel in kernels {
        let key = (
            (&kernel.kernel, &kernel.gpu_name),
            (kernel.grid_blocks, kernel.threads_per_block, kernel.registers_per_thread),
            (kernel.shared_bytes_per_block, kernel.shared_configuration_bytes),
        );
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(kernel),
            None => groups.push(vec![kernel]),
        }
    }
    groups
}

fn entry(group: &[&KernelReport]) -> KernelReport {
    let mut entry = if group.iter().any(|kernel| kernel.launches.is_some()) { summed(group) } else { median(group) };
    entry.kernel = short_name(&entry.kernel);
    let launches = entry.launches.unwrap_or(1);
    if launches > 1 {
        entry.kernel = format!("{launches} x {}", entry.kernel);
    }
    entry
}

/// The profiled launch of median duration, with the range of all.
fn median(group: &[&KernelReport]) -> KernelReport {
    let mut sorted: Vec<&KernelReport> = group.to_vec();
    sorted.sort_by(|a, b| a.measured_us.unwrap_or(0.0).total_cmp(&b.measured_us.unwrap_or(0.0)));
    let mut times = sorted.iter().filter_map(|kernel| kernel.measured_us);
    let mut entry = sorted[sorted.len() / 2].clone();
    if sorted.len() > 1 {
        entry.launches = Some(sorted.len() as u64);
        entry.shortest_us = times.next();
        entry.longest_us = times.next_back().or(entry.shortest_us);
    }
    entry
}

/// Groups of a trace as one: the sums of all, and the rest of the one that takes longest.
fn summed(group: &[&KernelReport]) -> KernelReport {
    let longest = group.iter().rev().max_by(|a, b| a.own_us().total_cmp(&b.own_us()));
    let mut entry = longest.map_or_else(KernelReport::default, |kernel| (*kernel).clone());
    if group.len() == 1 {
        return entry;
    }
    let sum = |of: fn(&KernelReport) -> Option<f64>| group.iter().filter_map(|k| of(k)).reduce(|all, one| all + one);
    entry.launches = Some(group.iter().map(|kernel| kernel.launches.unwrap_or(1)).sum());
    entry.total_us = sum(|k| k.total_us);
    entry.time_share_pct = sum(|k| k.time_share_pct);
    // A group without times takes no part in the mean.
    let timed: u64 = group.iter().filter(|k| k.total_us.is_some()).filter_map(|k| k.launches).sum();
    entry.measured_us = entry.total_us.filter(|_| timed > 0).map(|total| total / timed as f64);
    entry.shortest_us = group.iter().filter_map(|k| k.shortest_us).reduce(f64::min);
    entry.longest_us = group.iter().filter_map(|k| k.longest_us).reduce(f64::max);
    for (place, other) in entry.elsewhere.iter_mut().enumerate() {
        let all = || group.iter().filter_map(|kernel| kernel.elsewhere.get(place));
        (other.low_us, other.high_us) = (all().map(|one| one.low_us).sum(), all().map(|one| one.high_us).sum());
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_launches_are_one_entry_and_the_longest_comes_first() {
        let launch = |name: &str, grid, us| KernelReport {
            kernel: name.into(),
            source: super::super::NSIGHT_COMPUTE.into(),
            grid_blocks: Some(grid),
            measured_us: Some(us),
            ..KernelReport::default()
        };
        let report = Report::new(vec![
            launch("short", 1, 1.0),
            launch("void long<int>(int)", 8, 10.0),
            launch("void long<int>(int)", 8, 30.0),
            launch("void long<int>(int)", 8, 20.0),
            launch("void long<int>(int)", 9, 2.0),
        ]);
        let found: Vec<(String, f64)> =
            compact(&report).kernels.iter().map(|k| (k.kernel.clone(), k.measured_us.unwrap_or(0.0))).collect();
        let wanted = [("3 x long", 20.0), ("long", 2.0), ("short", 1.0)];
        assert_eq!(found, wanted.map(|(n, t)| (n.to_owned(), t)));
        let page = super::super::text(&compact(&report), super::super::TextOptions::default());
        assert!(page.contains("20 us measured (median of 3, 10 us to 30 us)"), "{page}");
    }

    #[test]
    fn groups_of_a_trace_are_summed() {
        let group = |launches, total: Option<f64>, share| KernelReport {
            kernel: "cut".into(),
            source: "nsight-systems".into(),
            launches: Some(launches),
            measured_us: total.map(|total| total / launches as f64),
            total_us: total,
            time_share_pct: Some(share),
            shortest_us: total.map(|_| 1.0),
            longest_us: total.map(|total| total - 1.0),
            elsewhere: vec![crate::report::ElsewhereReport { gpu: "other".into(), low_us: 5.0, high_us: 8.0 }],
            ..KernelReport::default()
        };
        let groups = vec![group(2, Some(20.0), 10.0), group(8, Some(180.0), 90.0), group(5, None, 0.0)];
        let entry = &compact(&Report::new(groups.clone())).kernels[0];
        assert_eq!((entry.kernel.as_str(), entry.total_us, entry.measured_us), ("15 x cut", Some(200.0), Some(20.0)));
        assert_eq!((entry.time_share_pct, entry.shortest_us, entry.longest_us), (Some(100.0), Some(1.0), Some(179.0)));
        assert_eq!((entry.elsewhere[0].low_us, entry.elsewhere[0].high_us), (15.0, 24.0));
        // Answers to what-ifs are sentences about one group.
        let asked = |mut kernel: KernelReport| {
            kernel.asked.push(crate::report::AskedReport::default());
            kernel
        };
        let apart = compact(&Report::new(groups.into_iter().map(asked).collect())).kernels;
        assert_eq!(apart.iter().map(|k| k.launches).collect::<Vec<_>>(), [Some(8), Some(2), Some(5)]);
    }
}
