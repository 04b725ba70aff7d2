//! Launches of a trace, which may be millions: grouped as they are read, so that memory holds the groups alone.

mod summary;

use std::collections::{BTreeMap, HashMap};

use super::{
    Format, Measured, ObservedDevice, ObservedKernel,
    intervals::Intervals,
    kind::Kind,
    plausible::{Implausible, LATEST, LONGEST, MOST_BYTES},
};
use crate::units::{Bytes, Seconds};

pub use summary::LaunchSummary;

/// What a trace says of a launch besides its name and time; launches that differ in it are different groups.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaunchShape {
    /// Blocks in x, y, z.
    pub grid: Option<[u64; 3]>,
    /// Threads of a block in x, y, z.
    pub block: Option<[u64; 3]>,
    /// Blocks, where the file has their number alone.
    pub grid_blocks: Option<u64>,
    /// Threads of a block, where the file has their number alone.
    pub threads_per_block: Option<u32>,
    /// Registers per thread; VGPRs on AMD.
    pub registers_per_thread: Option<u32>,
    /// AGPRs per thread, AMD.
    pub accumulation_registers: Option<u32>,
    /// SGPRs per wavefront, AMD.
    pub scalar_registers: Option<u32>,
    /// Static shared memory per block, or LDS.
    pub static_shared: Option<Measured<Bytes>>,
    /// Dynamic shared memory per block.
    pub dynamic_shared: Option<Measured<Bytes>>,
    /// Shared-memory carve-out of the SM for this launch.
    pub shared_configuration: Option<Measured<Bytes>>,
}

/// Equal for equal shapes and for those alone.
type ShapeKey = ([Option<[u64; 3]>; 2], Option<u64>, [Option<u32>; 4], [Option<(u64, u64)>; 3]);

impl LaunchShape {
    fn key(&self) -> ShapeKey {
        let size =
            |size: Option<Measured<Bytes>>| size.map(|m| (m.value.get().to_bits(), m.half_width.get().to_bits()));
        (
            [self.grid, self.block],
            self.grid_blocks,
            [self.threads_per_block, self.registers_per_thread, self.accumulation_registers, self.scalar_registers],
            [self.static_shared, self.dynamic_shared, self.shared_configuration].map(size),
        )
    }
}

/// A launch as a reader finds it.
#[derive(Clone, Copy, Debug, Default)]
pub struct LaunchRecord<'a> {
    /// Name as written.
    pub name: &'a str,
    /// Number of the device; 0 where the file has one and names none.
    pub device: u32,
    /// Beginning, on the clock of the file.
    pub start: Option<Seconds>,
    /// Duration on the device.
    pub duration: Option<Seconds>,
    /// The rest.
    pub shape: LaunchShape,
}

/// Equal launches.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelGroup {
    /// Number of the device.
    pub device: u32,
    /// What they have in common; its duration is their mean.
    pub kernel: ObservedKernel,
    /// What the name tells of the operation.
    pub kind: Kind,
    /// Launches.
    pub launches: u64,
    /// Launches with a duration.
    pub timed: u64,
    /// Their time, added up.
    pub total: Seconds,
    /// The shortest.
    pub shortest: Seconds,
    /// The longest.
    pub longest: Seconds,
}

/// Copies or fills of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferGroup {
    /// As the file calls it, such as `[CUDA memcpy HtoD]`.
    pub name: String,
    /// How often.
    pub count: u64,
    /// Time, added up.
    pub total: Seconds,
    /// Bytes, where the file has them for each.
    pub bytes: Option<Bytes>,
}

/// How the time of one device was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceTime {
    /// Number of the device.
    pub device: u32,
    /// From the first beginning to the last end of a kernel or copy.
    pub span: Seconds,
    /// Time with a kernel.
    pub kernels: Seconds,
    /// Time with neither kernel nor copy.
    pub gaps: Seconds,
}

/// What a trace holds.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The format that the file is in.
    pub format: Format,
    /// The devices by number, as far as the file describes them.
    pub devices: Vec<(u32, ObservedDevice)>,
    /// Groups of equal launches, most time first.
    pub groups: Vec<KernelGroup>,
    /// Copies and fills, most time first.
    pub transfers: Vec<TransferGroup>,
    /// Devices whose launches have beginnings.
    pub times: Vec<DeviceTime>,
    /// What was skipped or odd.
    pub warnings: Vec<String>,
}

impl Trace {
    /// Launches of all groups.
    pub fn launches(&self) -> u64 {
        self.groups.iter().map(|group| group.launches).sum()
    }

    /// Time of all launches, added up.
    pub fn kernel_time(&self) -> Seconds {
        self.groups.iter().map(|group| group.total).sum()
    }
}

/// Takes launches one by one.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    /// What the file says of its devices.
    pub devices: Vec<(u32, ObservedDevice)>,
    /// What was skipped or odd.
    pub warnings: Vec<String>,
    /// By name, then by device and shape: the place of each group.
    places: HashMap<String, HashMap<(u32, ShapeKey), usize>>,
    groups: Vec<KernelGroup>,
    transfers: HashMap<String, TransferGroup>,
    /// By device: kernels, and copies with them.
    busy: BTreeMap<u32, [Intervals; 2]>,
    implausible: Implausible,
}

impl Collector {
    /// A duration that can be meant.
    fn duration(&mut self, time: Seconds) -> Option<Seconds> {
        self.implausible.keep(time.get(), LONGEST, "a time in s").filter(|time| *time >= 0.0).map(Seconds)
    }

    /// A beginning that can be meant.
    fn beginning(&mut self, time: Seconds) -> Option<Seconds> {
        self.implausible.keep(time.get(), LATEST, "a beginning in s").map(Seconds)
    }

    /// Adds a launch. A time that is negative, no number or longer than 31 years counts as absent.
    pub fn launch(&mut self, record: &LaunchRecord<'_>) {
        let duration = record.duration.and_then(|time| self.duration(time));
        let start = record.start.and_then(|time| self.beginning(time));
        if let (Some(start), Some(duration)) = (start, duration) {
            let (from, to) = (start.get(), start.get() + duration.get());
            let lists = self.busy.entry(record.device).or_default();
            lists.iter_mut().for_each(|list| list.add(from, to));
        }
        let key = (record.device, record.shape.key());
        let known = self.places.get(record.name).and_then(|same_name| same_name.get(&key));
        let place = match known {
            Some(place) => *place,
            None => {
                // The name is copied for a new group alone.
                let place = self.groups.len();
                self.places.entry(record.name.into()).or_default().insert(key, place);
                self.groups.push(group(record));
                place
            }
        };
        let group = &mut self.groups[place];
        group.launches += 1;
        if let Some(duration) = duration {
            group.shortest = if group.timed == 0 { duration } else { group.shortest.min(duration) };
            group.longest = group.longest.max(duration);
            group.total += duration;
            group.timed += 1;
        }
    }

    /// Adds a copy or fill.
    pub fn transfer(
        &mut self,
        name: &str,
        device: u32,
        start: Option<Seconds>,
        duration: Seconds,
        bytes: Option<Bytes>,
    ) {
        let Some(duration) = self.duration(duration) else { return };
        if let Some(start) = start.and_then(|time| self.beginning(time)) {
            let [_, everything] = self.busy.entry(device).or_default();
            everything.add(start.get(), start.get() + duration.get());
        }
        self.add_transfers(name, 1, duration, bytes);
    }

    fn add_transfers(&mut self, name: &str, count: u64, total: Seconds, bytes: Option<Bytes>) {
        let bytes = bytes.and_then(|bytes| self.implausible.keep(bytes.get(), MOST_BYTES, "bytes").map(Bytes));
        match self.transfers.get_mut(name) {
            Some(group) => {
                group.count = group.count.saturating_add(count);
                group.total += total;
                group.bytes = group.bytes.zip(bytes).map(|(all, more)| all + more);
            }
            None => {
                self.transfers.insert(name.into(), TransferGroup { name: name.into(), count, total, bytes });
            }
        }
    }

    /// Launches so far.
    pub fn launches(&self) -> u64 {
        self.groups.iter().map(|group| group.launches).sum()
    }

    /// The trace.
    pub fn finish(mut self, format: Format) -> Trace {
        let devices = std::mem::take(&mut self.devices);
        let device = |number: u32| devices.iter().find(|(n, _)| *n == number).map(|(_, device)| device.clone());
        for group in &mut self.groups {
            group.kernel.device = device(group.device).unwrap_or_default();
            if group.timed > 0 {
                group.kernel.duration = Some(group.total / group.timed as f64);
            }
        }
        self.groups.sort_by(|a, b| b.total.get().total_cmp(&a.total.get()));
        let mut transfers: Vec<TransferGroup> = self.transfers.into_values().collect();
        transfers.sort_by(|a, b| b.total.get().total_cmp(&a.total.get()).then_with(|| a.name.cmp(&b.name)));
        let mut warnings = self.warnings;
        warnings.extend(self.implausible.warning());
        let times = self.busy.into_iter().map(|(device, lists)| {
            let [kernels, all] = lists.map(Intervals::busy);
            if all.unsure > 0.0 {
                warnings.push(format!(
                    "launches of {} lie far from their place in time: gaps may be too long by as much",
                    Seconds(all.unsure)
                ));
            }
            let gaps = Seconds((all.span - all.length).max(0.0));
            DeviceTime { device, span: Seconds(all.span), kernels: Seconds(kernels.length), gaps }
        });
        let times = times.collect();
        Trace { format, devices, groups: self.groups, transfers, times, warnings }
    }
}

fn group(record: &LaunchRecord<'_>) -> KernelGroup {
    let shape = &record.shape;
    let product = |dims: [u64; 3]| dims.iter().try_fold(1u64, |all, d| all.checked_mul(*d));
    let threads = shape.block.and_then(product).and_then(|threads| u32::try_from(threads).ok());
    KernelGroup {
        device: record.device,
        kernel: ObservedKernel {
            name: record.name.into(),
            grid: shape.grid,
            block: shape.block,
            grid_blocks: shape.grid.and_then(product).or(shape.grid_blocks),
            threads_per_block: threads.or(shape.threads_per_block),
            registers_per_thread: shape.registers_per_thread,
            accumulation_registers: shape.accumulation_registers,
            scalar_registers: shape.scalar_registers,
            static_shared: shape.static_shared,
            dynamic_shared: shape.dynamic_shared,
            shared_configuration: shape.shared_configuration,
            ..ObservedKernel::default()
        },
        kind: Kind::of(record.name),
        launches: 0,
        timed: 0,
        total: Seconds::ZERO,
        shortest: Seconds::ZERO,
        longest: Seconds::ZERO,
    }
}

#[cfg(test)]
mod tests;
