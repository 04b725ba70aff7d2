//! A profile for people: equal launches become one entry, and the entries that take longest come first.

use std::collections::HashMap;

use super::{KernelReport, Report};
use crate::profile::short_name;

/// Entries that a person reads; the rest is counted.
const MOST_ENTRIES: usize = 20;

/// The report with launches of one kernel, grid and resources merged into the one of median duration, named by its
/// short name and count, longest total time first. Described kernels stay as they are.
pub fn compact(report: &Report) -> Report {
    let (described, observed): (Vec<&KernelReport>, Vec<&KernelReport>) =
        report.kernels.iter().partition(|k| !k.is_observed());
    let mut groups = launch_groups(observed);
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
    let mut sorted: Vec<&KernelReport> = group.to_vec();
    sorted.sort_by(|a, b| a.measured_us.unwrap_or(0.0).total_cmp(&b.measured_us.unwrap_or(0.0)));
    let mut entry = sorted[sorted.len() / 2].clone();
    entry.kernel = short_name(&entry.kernel);
    let launches = group.iter().map(|kernel| kernel.launches.unwrap_or(1)).sum::<u64>();
    if launches > 1 {
        entry.kernel = format!("{launches} x {}", entry.kernel);
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
    }
}
