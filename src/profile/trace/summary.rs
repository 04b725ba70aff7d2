//! Launches that a file gives in total only.

use super::{Collector, LaunchRecord, LaunchShape, group};
use crate::{
    profile::ObservedKernel,
    units::{Bytes, Seconds},
};

/// Launches that a file lists in one row: how many there were and what they took together.
#[derive(Clone, Copy, Debug, Default)]
pub struct LaunchSummary<'a> {
    /// Name as written.
    pub name: &'a str,
    /// Number of the device; 0 where the file names none.
    pub device: u32,
    /// Launches.
    pub launches: u64,
    /// Their time, added up.
    pub total: Option<Seconds>,
    /// The shortest.
    pub shortest: Option<Seconds>,
    /// The longest.
    pub longest: Option<Seconds>,
    /// What they have in common.
    pub shape: LaunchShape,
}

/// A count above this is no count: the sum over any file stays within 64 bits.
const MOST_LAUNCHES: u64 = 1 << 40;

impl Collector {
    /// Adds launches as a group of their own, since two rows of a summary are two kernels even where their names are
    /// cut off to the same text. A total that is negative, no number or longer than 31 years counts as absent; extremes that are absent are
    /// the mean. Gives the kernel, for what else the file tells of it.
    pub fn summary(&mut self, summary: &LaunchSummary<'_>) -> &mut ObservedKernel {
        let record = LaunchRecord {
            name: summary.name,
            device: summary.device,
            shape: summary.shape,
            ..LaunchRecord::default()
        };
        let mut group = group(&record);
        group.launches = summary.launches.min(MOST_LAUNCHES);
        let [total, shortest, longest] =
            [summary.total, summary.shortest, summary.longest].map(|time| time.and_then(|time| self.duration(time)));
        if let Some(total) = total.filter(|_| summary.launches > 0) {
            let mean = total / summary.launches as f64;
            group.timed = group.launches;
            group.total = total;
            // One that the mean contradicts is not believed.
            group.shortest = shortest.filter(|least| *least <= mean).unwrap_or(mean);
            group.longest = longest.filter(|most| *most >= mean).unwrap_or(mean);
        }
        self.groups.push(group);
        let last = self.groups.len() - 1;
        &mut self.groups[last].kernel
    }

    /// Adds `count` copies or fills that took `total` together.
    pub fn transfers_in_total(&mut self, name: &str, count: u64, total: Seconds, bytes: Option<Bytes>) {
        let Some(total) = self.duration(total) else { return };
        self.add_transfers(name, count, total, bytes);
    }
}
