//! What each event is: a launch, a copy, a call that launches, or nothing of interest.

use std::collections::HashMap;

use super::{
    devices::Devices,
    document::Kind,
    event::{Arguments, Event, Properties, mended},
};
use crate::{
    profile::{Collector, LaunchRecord, LaunchShape, Measured, text::Warnings},
    units::{Bytes, Seconds},
};

/// Calls that take the grid in work-items; their siblings take it in blocks.
const IN_WORK_ITEMS: [&str; 2] = ["hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel"];

/// So many calls are remembered until their kernel comes.
const CALLS: usize = 1 << 20;

/// What a call on the host says of the kernel that it launches.
struct Call {
    in_work_items: bool,
    grid: Option<[u64; 3]>,
    block: Option<[u64; 3]>,
    shared: Option<f64>,
}

/// What is kept while events go by.
pub(super) struct Reading<'c> {
    collector: &'c mut Collector,
    /// What was skipped or odd.
    pub warnings: Warnings,
    devices: Devices,
    /// The first beginning in nanoseconds: a float of seconds has no digits left for those of an absolute clock.
    origin: Option<i64>,
    /// AMD's calls by correlation, until their kernel comes.
    calls: HashMap<u64, Call>,
    mended: u64,
    untimed: u64,
    divided: u64,
    /// Launches on AMD with a grid of which it is not known what it counts.
    uncertain: u64,
}

impl<'c> Reading<'c> {
    pub fn new(collector: &'c mut Collector) -> Self {
        Self {
            collector,
            warnings: Warnings::default(),
            devices: Devices::default(),
            origin: None,
            calls: HashMap::new(),
            mended: 0,
            untimed: 0,
            divided: 0,
            uncertain: 0,
        }
    }

    /// Takes a key of the outermost object, with its quotes.
    pub fn key(&mut self, key: &[u8]) {
        if key.starts_with(b"\"hip_") || key.starts_with(b"\"roctracer") {
            self.devices.amd();
        }
    }

    /// Takes an object of a list; the error says why it cannot be used.
    pub fn element(&mut self, kind: Kind, bytes: &[u8]) -> Result<(), String> {
        if let Ok(taken) = self.take(kind, bytes) {
            return taken;
        }
        let text = mended(bytes).map_err(|error| error.to_string())?;
        self.take(kind, text.as_bytes())??;
        self.mended += 1;
        Ok(())
    }

    /// Reads and takes an object. The outer error is JSON that cannot be read, the inner one what it lacks.
    fn take(&mut self, kind: Kind, bytes: &[u8]) -> Result<Result<(), String>, String> {
        match kind {
            Kind::Event => serde_json::from_slice::<Event<'_>>(bytes).map(|event| self.event(&event)),
            Kind::Device => {
                serde_json::from_slice::<Properties<'_>>(bytes).map(|device| match self.devices.describe(&device) {
                    true => Ok(()),
                    false => Err("it has no number (`id`)".to_owned()),
                })
            }
        }
        .map_err(|error| error.to_string())
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        if event.ph != "X" {
            return Ok(());
        }
        let arguments = event.args.unwrap_or_default();
        let is = |words: &[&str]| words.iter().any(|word| event.cat.eq_ignore_ascii_case(word));
        if is(&["kernel"]) {
            return self.kernel(event, &arguments);
        }
        if is(&["gpu_memcpy", "gpu_memset", "memcpy", "memset"]) {
            let duration = event.dur.real().map(|micros| Seconds(micros / 1e6));
            let device = Devices::number(&arguments, event.pid.small());
            let bytes = arguments.bytes.real().map(Bytes);
            let start = self.start(event);
            match duration {
                Some(duration) => self.collector.transfer(&event.name, device, start, duration, bytes),
                None => self.untimed += 1,
            }
        } else if event.name.starts_with("hip") && event.name.ends_with("LaunchKernel") {
            self.devices.amd();
            if let Some(correlation) = arguments.correlation.whole().filter(|_| self.calls.len() < CALLS) {
                let call = Call {
                    in_work_items: IN_WORK_ITEMS.contains(&&*event.name),
                    grid: arguments.grid.sizes(),
                    block: arguments.block.sizes(),
                    shared: arguments.shared.real(),
                };
                self.calls.insert(correlation, call);
            }
        }
        Ok(())
    }

    fn kernel(&mut self, event: &Event<'_>, arguments: &Arguments<'_>) -> Result<(), String> {
        if event.name.trim().is_empty() {
            return Err("a kernel without a name".into());
        }
        let device = Devices::number(arguments, event.pid.small());
        let duration = event.dur.real().filter(|micros| *micros >= 0.0);
        self.untimed += u64::from(duration.is_none());
        let mut grid = arguments.grid.sizes();
        let mut block = arguments.block.sizes();
        let mut shared = arguments.shared.real();
        if arguments.amd() {
            self.devices.amd();
            let call = arguments.correlation.whole().and_then(|number| self.calls.remove(&number));
            let in_work_items = call.as_ref().map(|call| call.in_work_items);
            if let Some(call) = call {
                (grid, block, shared) = (grid.or(call.grid), block.or(call.block), shared.or(call.shared));
            }
            grid = self.in_blocks(grid, block, in_work_items);
        }
        if let (Some(grid), Some(per_sm)) = (grid, arguments.blocks_per_sm.real())
            && let Some(blocks) = grid.iter().try_fold(1u64, |all, size| all.checked_mul(*size))
        {
            self.devices.count(device, blocks, per_sm);
        }
        let shape = LaunchShape {
            grid,
            block,
            registers_per_thread: arguments.registers.small().filter(|count| *count > 0),
            dynamic_shared: shared
                .filter(|bytes| *bytes >= 0.0)
                .map(|bytes| Measured { value: Bytes(bytes), half_width: Bytes(0.0) }),
            ..LaunchShape::default()
        };
        let duration = duration.map(|micros| Seconds(micros / 1e6));
        let start = self.start(event);
        self.collector.launch(&LaunchRecord { name: &event.name, device, start, duration, shape });
        Ok(())
    }

    /// The beginning of an event, counted from the first.
    fn start(&mut self, event: &Event<'_>) -> Option<Seconds> {
        let nanos = event.ts.nanoseconds()?;
        let origin = *self.origin.get_or_insert(nanos);
        Some(Seconds(nanos.checked_sub(origin)? as f64 / 1e9))
    }

    /// The grid of an AMD launch in blocks, as far as the call that launched it tells.
    fn in_blocks(
        &mut self,
        grid: Option<[u64; 3]>,
        block: Option<[u64; 3]>,
        in_work_items: Option<bool>,
    ) -> Option<[u64; 3]> {
        let items = grid?;
        match (in_work_items, block) {
            (Some(false), _) => grid,
            (Some(true), Some(block)) if items.iter().zip(&block).all(|(items, threads)| items % threads == 0) => {
                self.divided += 1;
                Some([items[0] / block[0], items[1] / block[1], items[2] / block[2]])
            }
            _ => {
                self.uncertain += 1;
                grid
            }
        }
    }

    /// Hands devices and warnings over; `last` is one more warning.
    pub fn finish(mut self, last: Option<String>) {
        let (devices, notes) = self.devices.finish();
        self.collector.devices = devices;
        let launches = |count: u64| if count == 1 { "1 launch".to_owned() } else { format!("{count} launches") };
        if self.mended > 0 {
            let events = if self.mended == 1 { "1 event".to_owned() } else { format!("{} events", self.mended) };
            self.warnings
                .push(|| format!("{events} with illegal JSON (escapes, numbers, a key twice) mended and read"));
        }
        if self.untimed > 0 {
            let events = if self.untimed == 1 { "launch or copy" } else { "launches or copies" };
            self.warnings.push(|| format!("{} {events} without a duration (`dur`)", self.untimed));
        }
        if self.divided > 0 {
            let text = format!(
                "grids of {} by hipExtModuleLaunchKernel are work-items in the file, divided by the block",
                launches(self.divided)
            );
            self.warnings.push(|| text);
        }
        if self.uncertain > 0 {
            let text = format!(
                "grids of {} are taken as blocks, though the call is not in the file before them: \
                 of hipExtModuleLaunchKernel they would be work-items",
                launches(self.uncertain)
            );
            self.warnings.push(|| text);
        }
        for note in notes.into_iter().chain(last) {
            self.warnings.push(|| note);
        }
        self.collector.warnings.extend(self.warnings.finish());
    }
}
