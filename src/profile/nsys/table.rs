//! What the tables of `nsys stats` hold, row by row.

use super::layout::Columns;
use crate::{
    profile::{
        Collector, LaunchRecord, LaunchShape, LaunchSummary, Measured,
        notation::{DecimalMark, number},
        rows::{byte_unit, extents, numbered, quote, seconds, size, time_unit},
    },
    units::{Bytes, Seconds},
};

/// A MB of this tool has 10^6 bytes.
const THOUSAND: f64 = 1000.0;

/// A table that counts, with the places of its columns.
pub(super) enum Content {
    /// One row per launch or copy.
    Launches(LaunchPlaces),
    /// One row per kernel.
    Kernels(KernelPlaces),
    /// One row per kind of copy.
    Transfers(TransferPlaces),
}

/// A column of numbers: its place, and its unit as a power of ten or in bytes.
type Scaled<T> = Option<(usize, T)>;

/// The columns of `cuda_gpu_trace`.
pub(super) struct LaunchPlaces {
    start: (usize, i32),
    duration: (usize, i32),
    name: usize,
    grid: [usize; 3],
    block: Option<[usize; 3]>,
    registers: Option<usize>,
    shared: [Scaled<f64>; 2],
    bytes: Scaled<f64>,
    device: Option<usize>,
}

/// The columns of the summaries of kernels.
pub(super) struct KernelPlaces {
    /// 0: by shape, 1: by name, 2: with copies among the kernels.
    pub kind: usize,
    name: usize,
    instances: usize,
    total: (usize, i32),
    shortest: Scaled<i32>,
    longest: Scaled<i32>,
    shape: Option<[usize; 2]>,
    category: Option<usize>,
}

/// The columns of the summaries of copies.
pub(super) struct TransferPlaces {
    name: usize,
    count: usize,
    total: Scaled<i32>,
    bytes: Scaled<f64>,
}

/// A row of `cuda_gpu_trace`.
pub(super) enum Launch<'a> {
    /// A kernel, and its device where that is named.
    Kernel(Box<LaunchRecord<'a>>, Option<(&'a str, u32)>),
    /// A copy or fill.
    Transfer { name: &'a str, device: u32, start: Option<Seconds>, duration: Seconds, bytes: Option<Bytes> },
}

/// A row of a summary of kernels.
pub(super) struct Kernel {
    name: String,
    /// Launches.
    pub launches: u64,
    /// Their time.
    pub total: Option<Seconds>,
    shortest: Option<Seconds>,
    longest: Option<Seconds>,
    shape: LaunchShape,
}

/// A row of a summary of copies.
#[derive(Clone, PartialEq)]
pub(super) struct Transfer {
    /// As the tool calls it.
    pub name: String,
    /// How often.
    pub count: u64,
    /// Time, in a summary of times.
    pub total: Option<Seconds>,
    /// Bytes, in a summary of sizes.
    pub bytes: Option<Bytes>,
    /// Whether the row stood among kernels.
    among_kernels: bool,
}

/// Words for what a row does not have.
fn absent(text: &str) -> bool {
    matches!(text, "" | "None" | "-" | "nan" | "NaN")
}

/// A size that is more than the rounding of its print: `0.000 MB` is not nothing.
fn sized(size: Measured<Bytes>) -> Option<Bytes> {
    (size.value.get() > size.half_width.get() || size.half_width == Bytes::ZERO).then_some(size.value)
}

fn whole(text: &str, mark: DecimalMark) -> Option<u64> {
    let value = number(text, mark, 0)?.value;
    (value >= 1.0 && value <= 2_f64.powi(40) && value.fract() == 0.0).then_some(value as u64)
}

impl Content {
    /// The table that has these columns; `None` for one that does not count.
    pub fn of(columns: &Columns) -> Option<Self> {
        let place = |name: &str| columns.find(name).map(|(place, _)| place);
        let time = |names: &[&str], missing: Option<i32>| {
            let (place, unit) = names.iter().find_map(|name| columns.find(name))?;
            Some((place, time_unit(unit).or(missing)?))
        };
        let bytes = |name: &str| {
            let (place, unit) = columns.find(name)?;
            Some((place, byte_unit(unit, THOUSAND)?))
        };
        let all = |names: [&str; 3]| {
            let [x, y, z] = names.map(place);
            Some([x?, y?, z?])
        };
        if let Some(grid) = all(["grdx", "grdy", "grdz"]) {
            return Some(Self::Launches(LaunchPlaces {
                start: time(&["start"], Some(-9))?,
                duration: time(&["duration"], Some(-9))?,
                name: place("name")?,
                grid,
                block: all(["blkx", "blky", "blkz"]),
                registers: place("reg/trd"),
                shared: [bytes("stcsmem"), bytes("dymsmem")],
                bytes: bytes("bytes"),
                device: place("device"),
            }));
        }
        let total = time(&["total time"], Some(-9));
        if let (Some(instances), Some(total)) = (place("instances"), total) {
            let category = place("category");
            let shape = place("gridxyz").zip(place("blockxyz")).map(|(grid, block)| [grid, block]);
            return Some(Self::Kernels(KernelPlaces {
                kind: if category.is_some() { 2 } else { usize::from(shape.is_none()) },
                name: place(if category.is_some() { "operation" } else { "name" })?,
                instances,
                total,
                shortest: time(&["min", "minimum"], Some(total.1)),
                longest: time(&["max", "maximum"], Some(total.1)),
                shape,
                category,
            }));
        }
        let bytes = bytes("total");
        (total.is_some() || bytes.is_some()).then_some(())?;
        let count = place("count").or(place("operations"))?;
        Some(Self::Transfers(TransferPlaces { name: place("operation")?, count, total, bytes }))
    }

    /// Which summary of kernels it is.
    pub fn summary(&self) -> Option<usize> {
        match self {
            Self::Kernels(places) => Some(places.kind),
            _ => None,
        }
    }
}

impl LaunchPlaces {
    /// A kernel has a grid, a copy none.
    ///
    /// # Errors
    /// A cell that must be a number is none.
    pub fn launch<'a>(&self, cells: &[&'a str], mark: DecimalMark) -> Result<Launch<'a>, String> {
        let cell = |place: usize| cells.get(place).copied().unwrap_or_default();
        let time = |(place, exponent): (usize, i32), what: &str| {
            seconds(cell(place), exponent, mark).ok_or_else(|| format!("{what} `{}` is no time", quote(cell(place))))
        };
        let bytes = |column: Scaled<f64>| column.and_then(|(place, scale)| size(cell(place), scale, mark));
        let name = cell(self.name);
        if name.is_empty() {
            return Err("it has no name".into());
        }
        let (start, duration) = (Some(time(self.start, "start")?), time(self.duration, "duration")?);
        let device = self.device.and_then(|place| numbered(cell(place)));
        let number = device.map_or(0, |(_, number)| number);
        if absent(cell(self.grid[0])) {
            let bytes = bytes(self.bytes).and_then(sized);
            return Ok(Launch::Transfer { name, device: number, start, duration, bytes });
        }
        let grid = extents(self.grid.map(cell))
            .ok_or_else(|| format!("grid `{}` is none", quote(&self.grid.map(cell).join(" "))))?;
        let shape = LaunchShape {
            grid: Some(grid),
            block: self.block.and_then(|block| extents(block.map(cell))),
            registers_per_thread: self.registers.and_then(|place| cell(place).parse().ok()),
            static_shared: bytes(self.shared[0]),
            dynamic_shared: bytes(self.shared[1]),
            ..LaunchShape::default()
        };
        let record = LaunchRecord { name, device: number, start, duration: Some(duration), shape };
        Ok(Launch::Kernel(Box::new(record), device))
    }
}

impl KernelPlaces {
    fn counted<'a>(&self, cells: &[&'a str], mark: DecimalMark) -> Result<(&'a str, u64, Seconds), String> {
        let cell = |place: usize| cells.get(place).copied().unwrap_or_default();
        let launches = whole(cell(self.instances), mark)
            .ok_or_else(|| format!("`{}` is no number of launches", quote(cell(self.instances))))?;
        let total = seconds(cell(self.total.0), self.total.1, mark)
            .ok_or_else(|| format!("`{}` is no time", quote(cell(self.total.0))))?;
        match cell(self.name) {
            "" => Err("it has no name".into()),
            name => Ok((name, launches, total)),
        }
    }

    /// A kernel; `None` for a copy among the kernels.
    ///
    /// # Errors
    /// A cell that must be a number is none.
    pub fn kernel(&self, cells: &[&str], mark: DecimalMark) -> Result<Option<Kernel>, String> {
        let cell = |place: usize| cells.get(place).copied().unwrap_or_default();
        if self.category.is_some_and(|place| !cell(place).contains("KERNEL")) {
            return Ok(None);
        }
        let (name, launches, total) = self.counted(cells, mark)?;
        let time = |column: Scaled<i32>| column.and_then(|(place, exponent)| seconds(cell(place), exponent, mark));
        let three = |place: usize| {
            let mut parts = cell(place).split_whitespace();
            extents([(); 3].map(|()| parts.next().unwrap_or_default()))
        };
        let shape = LaunchShape {
            grid: self.shape.and_then(|[grid, _]| three(grid)),
            block: self.shape.and_then(|[_, block]| three(block)),
            ..LaunchShape::default()
        };
        let (shortest, longest) = (time(self.shortest), time(self.longest));
        Ok(Some(Kernel { name: name.into(), launches, total: Some(total), shortest, longest, shape }))
    }

    /// A copy among the kernels.
    ///
    /// # Errors
    /// A cell that must be a number is none.
    pub fn transfer(&self, cells: &[&str], mark: DecimalMark) -> Result<Option<Transfer>, String> {
        let (name, count, total) = self.counted(cells, mark)?;
        Ok(Some(Transfer { name: name.into(), count, total: Some(total), bytes: None, among_kernels: true }))
    }
}

impl TransferPlaces {
    /// Copies of one kind.
    ///
    /// # Errors
    /// A cell that must be a number is none.
    pub fn transfer(&self, cells: &[&str], mark: DecimalMark) -> Result<Transfer, String> {
        let cell = |place: usize| cells.get(place).copied().unwrap_or_default();
        let count = whole(cell(self.count), mark)
            .ok_or_else(|| format!("`{}` is no number of copies", quote(cell(self.count))))?;
        let total = self.total.and_then(|(place, exponent)| seconds(cell(place), exponent, mark));
        let bytes = self.bytes.and_then(|(place, scale)| size(cell(place), scale, mark));
        if total.is_none() && bytes.is_none() {
            return Err("its total is no number".into());
        }
        let bytes = bytes.and_then(sized);
        Ok(Transfer { name: cell(self.name).into(), count, total, bytes, among_kernels: false })
    }
}

impl Kernel {
    /// Hands it over.
    pub fn add(&self, collector: &mut Collector) {
        collector.summary(&LaunchSummary {
            name: &self.name,
            device: 0,
            launches: self.launches,
            total: self.total,
            shortest: self.shortest,
            longest: self.longest,
            shape: self.shape,
        });
    }
}

impl Transfer {
    /// Times and sizes of the same copies put together; a row that is there twice counts once, and what stands among
    /// kernels counts where no summary of copies has it.
    pub fn joined(list: Vec<Self>) -> Vec<Self> {
        let mut joined: Vec<Self> = Vec::new();
        for (place, row) in list.iter().enumerate() {
            let better = |other: &Self| other.name == row.name && other.total.is_some() && !other.among_kernels;
            if list[..place].contains(row) || row.total.is_none() || (row.among_kernels && list.iter().any(better)) {
                continue;
            }
            let size =
                list.iter().find(|size| size.name == row.name && size.count == row.count && size.bytes.is_some());
            joined.push(Self { bytes: size.and_then(|size| size.bytes), ..row.clone() });
        }
        joined
    }
}
