//! One of the two files of a comparison: a profile, launch by launch, or a trace, group by group.

use crate::{
    gpu::Catalog,
    profile::{Format, ObservedKernel, Profile, Seen, Trace, device, judge},
    units::Seconds,
};

/// A profile or a trace, with what is said of the whole.
pub struct File<'a> {
    /// What wrote it.
    pub format: Format,
    /// Its launches.
    pub seen: Vec<Seen<'a>>,
    /// What was skipped or odd.
    pub warnings: &'a [String],
    /// Whether an entry of `seen` is a group of launches.
    pub traced: bool,
    /// How the time of the devices was spent, where launches have beginnings.
    pub spent: Option<Spent>,
}

/// How the time of the devices was spent, in microseconds, added up over devices.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// From the first beginning to the last end.
    pub span_us: f64,
    /// Of it, with neither kernel nor copy.
    pub gaps_us: f64,
    /// Copies and fills, added up.
    pub copies_us: f64,
}

fn us(time: Seconds) -> f64 {
    time.get() * 1e6
}

impl<'a> From<&'a Profile> for File<'a> {
    fn from(file: &'a Profile) -> Self {
        Self { format: file.format, seen: file.seen(), warnings: &file.warnings, traced: false, spent: None }
    }
}

impl<'a> From<&'a Trace> for File<'a> {
    fn from(file: &'a Trace) -> Self {
        let spent = (!file.times.is_empty()).then(|| Spent {
            span_us: us(file.times.iter().map(|time| time.span).sum()),
            gaps_us: us(file.times.iter().map(|time| time.gaps).sum()),
            copies_us: us(file.transfers.iter().map(|copies| copies.total).sum()),
        });
        Self { format: file.format, seen: file.seen(), warnings: &file.warnings, traced: true, spent }
    }
}

impl File<'_> {
    /// Time of all launches in microseconds.
    pub fn total_us(&self) -> f64 {
        self.seen.iter().filter_map(|seen| seen.total).map(us).sum()
    }

    /// Launches without a duration.
    pub fn untimed(&self) -> u64 {
        self.seen.iter().map(|seen| seen.untimed).sum()
    }
}

/// Theoretical occupancy in percent: the file's, else what follows from the resources and the GPU that the file names.
pub fn occupancy(kernel: &ObservedKernel, catalog: &Catalog) -> Option<f64> {
    let computed = || {
        let judged = judge(kernel.clone(), device(catalog, &kernel.device, None));
        judged.occupancy.map(|found| found.fraction() * 100.0)
    };
    kernel.theoretical_occupancy_pct.or_else(computed)
}
