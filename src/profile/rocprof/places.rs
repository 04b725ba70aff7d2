//! Columns of the dialects, by names that are the same in all but case and underscores.

use crate::{
    profile::{
        LaunchShape, LaunchSummary, Measured,
        notation::{DecimalMark, number},
        rows::{Fields, extents, quote, seconds},
    },
    units::{Bytes, Seconds},
};

/// The columns of a table.
pub(super) struct Places {
    columns: usize,
    kind: Kind,
}

enum Kind {
    Launches(Box<Launches>),
    Summary { name: usize, calls: usize, total: usize, shortest: Option<usize>, longest: Option<usize> },
    Copies { kind: usize, device: usize, start: usize, end: usize },
    System(Vec<(&'static str, usize)>),
}

struct Launches {
    name: usize,
    kind: Option<usize>,
    device: Option<usize>,
    times: Option<[usize; 2]>,
    grid: Option<usize>,
    group: Option<usize>,
    grid_by_axis: Option<[usize; 3]>,
    group_by_axis: Option<[usize; 3]>,
    vector: Option<usize>,
    accumulation: Option<usize>,
    scalar: Option<usize>,
    shared: Option<usize>,
    counter: Option<usize>,
    /// The counter whose rows stand for the launch.
    first: Option<String>,
}

/// What a row says.
pub(super) enum Entry<'a> {
    /// A launch: beginning from the first of the file on and duration; whether its times are too coarse.
    Launch { name: &'a str, device: u32, time: Option<(Seconds, Seconds)>, coarse: bool, shape: LaunchShape },
    /// Launches in total.
    Kernel(LaunchSummary<'a>),
    /// A copy.
    Transfer { name: &'a str, device: u32, start: Seconds, duration: Seconds },
    /// A description of a system.
    System(String),
    /// A row that counts elsewhere or is none of these.
    Other,
}

/// A name of a column in lower case without what the dialects differ in.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// What of a system is said, with words for it.
const SYSTEM: [(&str, &str); 6] = [
    ("gpumodel", ""),
    ("gpuarch", ""),
    ("cupergpu", "compute units: "),
    ("maxsclk", "highest clock in MHz: "),
    ("maxmclk", "highest memory clock in MHz: "),
    ("hbmbw", "memory bandwidth in GB/s: "),
];

impl Places {
    /// The places in a header with these names.
    pub fn of(names: &[String]) -> Option<Self> {
        let any = |wanted: &[&str]| wanted.iter().find_map(|wanted| names.iter().position(|name| name == wanted));
        let axes = |what: &str| {
            let [x, y, z] = ["x", "y", "z"].map(|axis| any(&[&format!("{what}{axis}")]));
            Some([x?, y?, z?])
        };
        let both = |start: Option<usize>, end: Option<usize>| Some([start?, end?]);
        let times = both(any(&["starttimestamp", "beginns"]), any(&["endtimestamp", "endns"]));
        let kind = if let Some(name) = any(&["kernelname"]) {
            let launches = Launches {
                name,
                kind: any(&["kind"]),
                device: any(&["gpuid", "agentid"]),
                times,
                grid: any(&["gridsize", "grd"]),
                group: any(&["workgroupsize", "wgr"]),
                grid_by_axis: axes("gridsize"),
                group_by_axis: axes("workgroupsize"),
                vector: any(&["archvgpr", "vgprcount", "archvgprcount", "vgpr"]),
                accumulation: any(&["accumvgpr", "accumvgprcount"]),
                scalar: any(&["sgpr", "sgprcount"]),
                shared: any(&["ldsperworkgroup", "ldsblocksize", "groupsegmentsize", "lds"]),
                counter: any(&["countername"]),
                first: None,
            };
            // Other tools have a column of this name too.
            let known = launches.grid.or(launches.times.map(|[start, _]| start)).or(launches.group);
            known.or(launches.grid_by_axis.map(|[x, ..]| x))?;
            Kind::Launches(Box::new(launches))
        } else if let (Some(name), Some(calls), Some(total)) =
            (any(&["name"]), any(&["calls"]), any(&["totaldurationns"]))
        {
            Kind::Summary { name, calls, total, shortest: any(&["minns"]), longest: any(&["maxns"]) }
        } else if let (Some(kind), Some(device), Some([start, end])) =
            (any(&["direction"]), any(&["sourceagentid"]), times)
        {
            Kind::Copies { kind, device, start, end }
        } else {
            any(&["gpuarch"])?;
            any(&["cupergpu"])?;
            Kind::System(SYSTEM.into_iter().filter_map(|(name, word)| Some((word, any(&[name])?))).collect())
        };
        Some(Self { columns: names.len(), kind })
    }

    /// How many there are.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// What a row says; `origin` is the first time of the file.
    ///
    /// # Errors
    /// A field that must be a number is none.
    pub fn entry<'a>(&mut self, fields: Fields<'a>, origin: &mut Option<i128>) -> Result<Entry<'a>, String> {
        let nanoseconds = |place: usize| seconds(fields.get(place), -9, DecimalMark::Point);
        match &mut self.kind {
            Kind::Launches(launches) => launches.entry(fields, origin),
            Kind::Summary { name, calls, total, shortest, longest } => {
                let name = without_suffix(fields.get(*name));
                // The same table lists calls of the runtime.
                let runtime = ["hip", "hsa_", "roctx"].iter().any(|prefix| name.starts_with(prefix));
                if runtime && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                    return Ok(Entry::Other);
                }
                let launches = fields.get(*calls).parse().ok().filter(|count| *count > 0);
                let launches =
                    launches.ok_or_else(|| format!("`{}` is no number of calls", quote(fields.get(*calls))))?;
                let total = nanoseconds(*total).ok_or_else(|| format!("`{}` is no time", quote(fields.get(*total))))?;
                Ok(Entry::Kernel(LaunchSummary {
                    name,
                    launches,
                    total: Some(total),
                    shortest: shortest.and_then(nanoseconds),
                    longest: longest.and_then(nanoseconds),
                    ..LaunchSummary::default()
                }))
            }
            Kind::Copies { kind, device, start, end } => {
                let Some((start, duration)) = time(fields, [*start, *end], origin)? else { return Ok(Entry::Other) };
                Ok(Entry::Transfer { name: fields.get(*kind), device: agent(fields.get(*device)), start, duration })
            }
            Kind::System(places) => {
                let parts = places.iter().filter(|(_, place)| !fields.get(*place).is_empty());
                let parts: Vec<String> =
                    parts.map(|(word, place)| format!("{word}{}", quote(fields.get(*place)))).collect();
                Ok(Entry::System(parts.join(", ")))
            }
        }
    }
}

impl Launches {
    fn entry<'a>(&mut self, fields: Fields<'a>, origin: &mut Option<i128>) -> Result<Entry<'a>, String> {
        if self.kind.is_some_and(|place| fields.get(place) != "KERNEL_DISPATCH") {
            return Ok(Entry::Other);
        }
        if let Some(place) = self.counter {
            let counter = fields.get(place);
            if self.first.get_or_insert_with(|| counter.to_owned()) != counter {
                return Ok(Entry::Other);
            }
        }
        let name = without_suffix(fields.get(self.name));
        if name.is_empty() {
            return Err("it has no name".into());
        }
        let (time, coarse) = match self.times {
            Some(places) => match time(fields, places, origin)? {
                Some(time) => (Some(time), false),
                None => (None, true),
            },
            None => (None, false),
        };
        let whole = |place: Option<usize>| -> Option<u64> { fields.get(place?).parse().ok() };
        let count = |place: Option<usize>| whole(place).and_then(|count| u32::try_from(count).ok());
        let by_axis = |places: Option<[usize; 3]>| extents(places?.map(|place| fields.get(place)));
        let (items, block) = (by_axis(self.grid_by_axis), by_axis(self.group_by_axis));
        let threads = whole(self.group).filter(|threads| *threads > 0);
        let shape = LaunchShape {
            grid: items.zip(block).map(|(items, block)| [0, 1, 2].map(|axis| items[axis].div_ceil(block[axis]))),
            block,
            grid_blocks: whole(self.grid).zip(threads).map(|(items, threads)| items.div_ceil(threads)),
            threads_per_block: threads.and_then(|threads| u32::try_from(threads).ok()),
            registers_per_thread: count(self.vector),
            accumulation_registers: count(self.accumulation),
            scalar_registers: count(self.scalar),
            static_shared: whole(self.shared)
                .map(|size| Measured { value: Bytes(size as f64), half_width: Bytes::ZERO }),
            ..LaunchShape::default()
        };
        let device = self.device.map_or(0, |place| agent(fields.get(place)));
        Ok(Entry::Launch { name, device, time, coarse, shape })
    }
}

/// Beginning since the origin and duration, from times in ns; absent where a spreadsheet left too few digits of them,
/// as in `8.1097E+14`.
fn time(
    fields: Fields<'_>,
    places: [usize; 2],
    origin: &mut Option<i128>,
) -> Result<Option<(Seconds, Seconds)>, String> {
    let [start, end] = places.map(|place| fields.get(place));
    let parsed = [start, end].map(|text| text.parse::<u64>().map(i128::from));
    let [Ok(from), Ok(to)] = parsed else {
        let coarse = [start, end].iter().all(|text| number(text, DecimalMark::Point, 0).is_some());
        return if coarse { Ok(None) } else { Err(format!("times `{}` and `{}` are none", quote(start), quote(end))) };
    };
    if to < from {
        return Err(format!("it ends at {to} before it begins at {from}"));
    }
    let origin = *origin.get_or_insert(from);
    Ok(Some((Seconds((from - origin) as f64 / 1e9), Seconds((to - from) as f64 / 1e9))))
}

/// The number of a device, `2` or `Agent 2`.
fn agent(text: &str) -> u32 {
    text.strip_prefix("Agent ").unwrap_or(text).parse().unwrap_or(0)
}

/// A name without what tells that it is a kernel's descriptor: ` [clone .kd]`, ` (.kd)`, `.kd`.
fn without_suffix(name: &str) -> &str {
    [" [clone .kd]", " (.kd)", ".kd"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name).trim_end()
}
