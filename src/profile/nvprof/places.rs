//! Rows with times: launches, copies, and kernels in total.

use crate::{
    profile::{
        LaunchRecord, LaunchShape, LaunchSummary,
        notation::{DecimalMark, number},
        rows::{Fields, byte_unit, extents, numbered, quote, seconds, size, time_unit},
    },
    units::{Bytes, Seconds},
};

const POINT: DecimalMark = DecimalMark::Point;

/// A KB of this tool has 2^10 bytes.
const THOUSAND: f64 = 1024.0;

/// The columns of a trace or of a summary, with the units of those that have one.
pub(super) struct Places {
    /// How many there are.
    pub columns: usize,
    kind: Kind,
    name: usize,
    /// Of all columns: units of time as powers of ten, of size in bytes.
    times: Vec<Option<i32>>,
    sizes: Vec<Option<f64>>,
}

enum Kind {
    Trace {
        start: usize,
        duration: usize,
        grid: Option<[usize; 3]>,
        block: Option<[usize; 3]>,
        registers: Option<usize>,
        shared: [Option<usize>; 2],
        bytes: Option<usize>,
        device: Option<usize>,
    },
    Summary {
        of: Option<usize>,
        calls: usize,
        total: usize,
        shortest: Option<usize>,
        longest: Option<usize>,
    },
}

/// The columns of a table of metrics or events.
pub(super) struct MetricPlaces {
    /// How many there are.
    pub columns: usize,
    /// Name and number of the device.
    pub device: usize,
    /// Name of the kernel.
    pub kernel: usize,
    /// How often it ran.
    pub invocations: usize,
    /// Name of the metric.
    pub metric: usize,
    /// Mean over the invocations.
    pub mean: usize,
}

/// A row with times.
pub(super) enum Entry<'a> {
    /// A launch, and the name of its device.
    Launch(LaunchRecord<'a>, Option<&'a str>),
    /// A copy or fill.
    Transfer { name: &'a str, device: u32, start: Option<Seconds>, duration: Seconds, bytes: Option<Bytes> },
    /// Launches in total.
    Kernel(LaunchSummary<'a>),
    /// Copies or fills in total.
    Transfers { name: &'a str, count: u64, total: Seconds },
    /// A row that is neither, such as a call of the API.
    Other,
}

fn place(names: &[&str], name: &str) -> Option<usize> {
    names.iter().position(|own| *own == name)
}

impl MetricPlaces {
    /// The places in a header with these names.
    pub fn of(names: &[&str]) -> Option<Self> {
        Some(Self {
            columns: names.len(),
            device: place(names, "Device")?,
            kernel: place(names, "Kernel")?,
            invocations: place(names, "Invocations")?,
            metric: place(names, "Metric Name").or(place(names, "Event Name"))?,
            mean: place(names, "Avg")?,
        })
    }
}

impl Places {
    /// The places in a header with these names.
    pub fn of(names: &[&str]) -> Option<Self> {
        let place = |name: &str| place(names, name);
        let three = |what: &str| {
            let [x, y, z] = ["X", "Y", "Z"].map(|axis| place(&format!("{what} {axis}")));
            Some([x?, y?, z?])
        };
        let kind = match (place("Start"), place("Duration"), place("Calls")) {
            (Some(start), Some(duration), None) => Kind::Trace {
                start,
                duration,
                // A table of copies alone has no grid, one of the API neither grid nor device.
                grid: three("Grid"),
                block: three("Block"),
                registers: place("Registers Per Thread"),
                shared: [place("Static SMem"), place("Dynamic SMem")],
                bytes: place("Size"),
                device: Some(place("Device")?),
            },
            (None, None, Some(calls)) => Kind::Summary {
                of: place("Type"),
                calls,
                total: place("Time")?,
                shortest: place("Min"),
                longest: place("Max"),
            },
            _ => return None,
        };
        let columns = names.len();
        Some(Self { columns, kind, name: place("Name")?, times: vec![None; columns], sizes: vec![None; columns] })
    }

    /// Takes the row of units; `false` where the row is none.
    pub fn units(&mut self, fields: Fields<'_>) -> bool {
        if !fields.get(self.name).is_empty() || fields.iter().any(|field| number(field, POINT, 0).is_some()) {
            return false;
        }
        self.times = fields.iter().map(time_unit).collect();
        self.sizes = fields.iter().map(|unit| byte_unit(unit, THOUSAND)).collect();
        true
    }

    fn time(&self, fields: Fields<'_>, place: usize) -> Option<Seconds> {
        seconds(fields.get(place), self.times.get(place).copied().flatten()?, POINT)
    }

    fn needed(&self, fields: Fields<'_>, place: usize) -> Result<Seconds, String> {
        if self.times.get(place).copied().flatten().is_none() {
            return Err("the row of units is missing below the header".into());
        }
        self.time(fields, place).ok_or_else(|| format!("`{}` is no time", quote(fields.get(place))))
    }

    /// What a row says.
    ///
    /// # Errors
    /// A field that must be a number is none.
    pub fn entry<'a>(&self, fields: Fields<'a>) -> Result<Entry<'a>, String> {
        let name = without_number(fields.get(self.name));
        if name.is_empty() {
            return Err("it has no name".into());
        }
        match &self.kind {
            Kind::Trace { start, duration, grid, block, registers, shared, bytes, device } => {
                let sized = |column: &Option<usize>| {
                    let place = (*column)?;
                    size(fields.get(place), self.sizes.get(place).copied().flatten()?, POINT)
                };
                let device = device.and_then(|place| numbered(fields.get(place)));
                let number = device.map_or(0, |(_, number)| number);
                let has_grid = grid.is_some_and(|[x, ..]| !matches!(fields.get(x), "" | "-"));
                // Page faults and the like have no duration.
                if !has_grid && matches!(fields.get(*duration), "" | "-") {
                    return Ok(Entry::Other);
                }
                let (start, duration) = (self.time(fields, *start), self.needed(fields, *duration)?);
                let Some(grid) = grid.filter(|_| has_grid) else {
                    let bytes = sized(bytes).map(|size| size.value);
                    return Ok(Entry::Transfer { name, device: number, start, duration, bytes });
                };
                let parts = grid.map(|place| fields.get(place));
                let grid = extents(parts).ok_or_else(|| format!("grid `{}` is none", quote(&parts.join(" "))))?;
                let shape = LaunchShape {
                    grid: Some(grid),
                    block: block.and_then(|block| extents(block.map(|place| fields.get(place)))),
                    registers_per_thread: registers.and_then(|place| fields.get(place).parse().ok()),
                    static_shared: sized(&shared[0]),
                    dynamic_shared: sized(&shared[1]),
                    ..LaunchShape::default()
                };
                let record = LaunchRecord { name, device: number, start, duration: Some(duration), shape };
                Ok(Entry::Launch(record, device.map(|(name, _)| name)))
            }
            Kind::Summary { of, calls, total, shortest, longest } => {
                if of.is_some_and(|place| fields.get(place) != "GPU activities") {
                    return Ok(Entry::Other);
                }
                let count = fields.get(*calls).parse().ok().filter(|count| *count > 0);
                let count: u64 =
                    count.ok_or_else(|| format!("`{}` is no number of calls", quote(fields.get(*calls))))?;
                let total = self.needed(fields, *total)?;
                if name.starts_with('[') {
                    return Ok(Entry::Transfers { name, count, total });
                }
                Ok(Entry::Kernel(LaunchSummary {
                    name,
                    launches: count,
                    total: Some(total),
                    shortest: shortest.and_then(|place| self.time(fields, place)),
                    longest: longest.and_then(|place| self.time(fields, place)),
                    ..LaunchSummary::default()
                }))
            }
        }
    }
}

/// A name without the number of its launch, `kernel(int) [1094]`.
fn without_number(name: &str) -> &str {
    let inside = name.strip_suffix(']').and_then(|rest| rest.rsplit_once(" ["));
    match inside {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}
