//! The SQLite export of Nsight Systems.
//!
//! Read are `CUPTI_ACTIVITY_KIND_KERNEL`, `_MEMCPY` and `_MEMSET`, names from `StringIds`, devices from
//! `TARGET_INFO_GPU`. `sharedMemoryExecuted` is the carve-out of the SM that the driver configured for the launch.
//! A process numbers the GPUs that it sees from 0: `TARGET_INFO_CUDA_DEVICE` says which of the machine's they are, so
//! that launches of several processes do not fall together. Columns differ by version; what a table lacks is `None`.
//! A database is someone else's program too: views and virtual tables in place of these tables are not run.

use std::{
    collections::{HashMap, hash_map::Entry},
    io::BufRead,
};

use rusqlite::{Connection, Error, Row, config::DbConfig, limits::Limit, types::ValueRef};

use crate::{
    profile::{Collector, Format, LaunchRecord, LaunchShape, Measured, ObservedDevice, ProfileError, Trace},
    units::{Bytes, Hertz, Seconds},
};

const KERNELS: &str = "CUPTI_ACTIVITY_KIND_KERNEL";
const COPIES: &str = "CUPTI_ACTIVITY_KIND_MEMCPY";
const FILLS: &str = "CUPTI_ACTIVITY_KIND_MEMSET";

/// The longest text or blob of a database that is looked at.
const LONGEST: i32 = 16 << 20;

/// Reads an SQLite export of Nsight Systems (`nsys export --type sqlite`), launch by launch: memory holds its groups
/// alone. The connection should be opened for reading only.
///
/// # Errors
/// The database is no such export, is damaged before the first launch, or holds no launch.
pub fn read_sqlite(connection: &Connection) -> Result<Trace, ProfileError> {
    let mut collector = Collector::default();
    collect(connection, &mut collector)?;
    match collector.launches() {
        0 => Err(ProfileError::NoLaunch { format: Format::NsysSqlite }),
        _ => Ok(collector.finish(Format::NsysSqlite)),
    }
}

/// Reads an export that lies in memory as a whole.
pub(in crate::profile) fn read(input: &mut dyn BufRead, collector: &mut Collector) -> Result<(), ProfileError> {
    let mut bytes = Vec::new();
    if let Err(error) = input.read_to_end(&mut bytes) {
        return Err(ProfileError::Stream { bytes: bytes.len() as u64, message: error.to_string() });
    }
    let mut connection = Connection::open_in_memory().map_err(damaged)?;
    connection.deserialize_read_exact("main", bytes.as_slice(), bytes.len(), true).map_err(damaged)?;
    drop(bytes);
    collect(&connection, collector)
}

fn damaged(error: Error) -> ProfileError {
    ProfileError::Sqlite { message: format!("{error}; write it again with `nsys export --type sqlite FILE.nsys-rep`") }
}

/// The columns of a table of this name; none where it is absent, a view or virtual.
fn columns(connection: &Connection, table: &str) -> Result<Vec<String>, Error> {
    let plain = "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name = ?1";
    let count: i64 = connection.query_row(plain, [table], |row| row.get(0))?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

/// `SELECT` of these columns in this order, NULL for those that the table lacks.
fn select(table: &str, wanted: &[&str], has: &[String]) -> String {
    let list: Vec<String> = wanted
        .iter()
        .map(|name| if has.iter().any(|own| own == name) { format!("\"{name}\"") } else { "NULL".into() })
        .collect();
    format!("SELECT {} FROM \"{table}\"", list.join(", "))
}

fn integer(row: &Row<'_>, place: usize) -> Option<i64> {
    match row.get_ref(place) {
        Ok(ValueRef::Integer(value)) => Some(value),
        _ => None,
    }
}

fn number<T: TryFrom<i64>>(row: &Row<'_>, place: usize) -> Option<T> {
    integer(row, place)?.try_into().ok()
}

fn bytes(row: &Row<'_>, place: usize) -> Option<Bytes> {
    number::<u64>(row, place).map(|value| Bytes(value as f64))
}

fn text(row: &Row<'_>, place: usize) -> Option<String> {
    match row.get_ref(place) {
        Ok(ValueRef::Text(text)) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    }
}

/// Beginning and duration from nanoseconds in the first two columns.
fn times(row: &Row<'_>) -> Option<(Seconds, Seconds)> {
    let (start, end) = (integer(row, 0)?, integer(row, 1)?);
    let duration = end.checked_sub(start).filter(|duration| *duration >= 0)?;
    Some((Seconds(start as f64 / 1e9), Seconds(duration as f64 / 1e9)))
}

/// Which GPU of the machine a process means by a number.
struct Numbers {
    of_process: HashMap<(i64, i64), u32>,
    /// Where all processes mean the same.
    of_all: HashMap<i64, Option<u32>>,
}

impl Numbers {
    fn read(connection: &Connection) -> Result<Self, Error> {
        const TABLE: &str = "TARGET_INFO_CUDA_DEVICE";
        let mut numbers = Self { of_process: HashMap::new(), of_all: HashMap::new() };
        let has = columns(connection, TABLE)?;
        if has.is_empty() {
            return Ok(numbers);
        }
        let mut statement = connection.prepare(&select(TABLE, &["gpuId", "cudaId", "pid"], &has))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (Some(gpu), Some(cuda)) = (number(row, 0), integer(row, 1)) else { continue };
            if let Some(process) = integer(row, 2) {
                numbers.of_process.insert((process, cuda), gpu);
            }
            numbers.of_all.entry(cuda).and_modify(|own| *own = own.filter(|own| *own == gpu)).or_insert(Some(gpu));
        }
        Ok(numbers)
    }

    /// The number of a process is the middle of its serialized one, which has three parts of 24 bits.
    fn device(&self, cuda: Option<i64>, global: Option<i64>) -> u32 {
        let cuda = cuda.unwrap_or(0);
        let process = global.map(|global| (global >> 24) & 0xff_ffff);
        let own = process.and_then(|process| self.of_process.get(&(process, cuda)).copied());
        own.or(self.of_all.get(&cuda).copied().flatten()).or(u32::try_from(cuda).ok()).unwrap_or(0)
    }
}

fn devices(connection: &Connection) -> Result<Vec<(u32, ObservedDevice)>, Error> {
    const TABLE: &str = "TARGET_INFO_GPU";
    const WANTED: [&str; 13] = [
        "id",
        "name",
        "l2CacheSize",
        "totalMemory",
        "clockRate",
        "smCount",
        "chipName",
        "computeMajor",
        "computeMinor",
        "maxWarpsPerSm",
        "maxBlocksPerSm",
        "maxRegistersPerSm",
        "maxShmemPerSm",
    ];
    let has = columns(connection, TABLE)?;
    if has.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare(&select(TABLE, &WANTED, &has))?;
    let found = statement.query_map([], |row| {
        let index = number(row, 0).unwrap_or(0);
        let positive = |place| number::<u32>(row, place).filter(|value| *value > 0);
        let size = |place| bytes(row, place).filter(|size| size.get() > 0.0);
        let capability = number::<u32>(row, 7).zip(number::<u32>(row, 8)).filter(|(major, _)| *major > 0);
        let device = ObservedDevice {
            index: Some(index),
            name: text(row, 1).filter(|name| !name.is_empty()),
            compute_capability: capability.map(|(major, minor)| format!("{major}.{minor}")),
            chip: text(row, 6).filter(|chip| !chip.is_empty()),
            sm_count: positive(5),
            l2_capacity: size(2),
            memory_capacity: size(3),
            max_sm_clock: number::<u64>(row, 4).filter(|clock| *clock > 0).map(|clock| Hertz(clock as f64)),
            max_warps_per_sm: positive(9),
            max_blocks_per_sm: positive(10),
            registers_per_sm: positive(11),
            shared_per_sm: size(12),
            ..ObservedDevice::default()
        };
        Ok((index, device))
    })?;
    found.collect()
}

/// The launch of a row of the table of kernels, without its name.
fn launch(row: &Row<'_>, numbers: &Numbers) -> LaunchRecord<'static> {
    let extents = |from: usize| -> Option<[u64; 3]> {
        let part = |place: usize| number::<u64>(row, place).filter(|part| *part > 0);
        Some([part(from)?, part(from + 1)?, part(from + 2)?])
    };
    let exact = |place: usize| bytes(row, place).map(|value| Measured { value, half_width: Bytes::ZERO });
    let times = times(row);
    LaunchRecord {
        name: "",
        device: numbers.device(integer(row, 2), integer(row, 3)),
        start: times.map(|(start, _)| start),
        duration: times.map(|(_, duration)| duration),
        shape: LaunchShape {
            grid: extents(7),
            block: extents(10),
            registers_per_thread: number(row, 13),
            static_shared: exact(14),
            dynamic_shared: exact(15),
            shared_configuration: exact(16).filter(|size| size.value.get() > 0.0),
            ..LaunchShape::default()
        },
    }
}

fn kernels(connection: &Connection, numbers: &Numbers, collector: &mut Collector) -> Result<(), Error> {
    const WANTED: [&str; 17] = [
        "start",
        "end",
        "deviceId",
        "globalPid",
        "demangledName",
        "shortName",
        "mangledName",
        "gridX",
        "gridY",
        "gridZ",
        "blockX",
        "blockY",
        "blockZ",
        "registersPerThread",
        "staticSharedMemory",
        "dynamicSharedMemory",
        "sharedMemoryExecuted",
    ];
    let mut statement = connection.prepare(&select(KERNELS, &WANTED, &columns(connection, KERNELS)?))?;
    let mut names = connection.prepare("SELECT value FROM StringIds WHERE id = ?1")?;
    let mut known: HashMap<i64, Option<String>> = HashMap::new();
    let mut nameless = 0_u64;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let record = launch(row, numbers);
        let mut name = None;
        for id in (4..7).filter_map(|place| integer(row, place)) {
            let found = match known.entry(id) {
                Entry::Occupied(found) => found.into_mut(),
                Entry::Vacant(place) => {
                    let mut rows = names.query([id])?;
                    place.insert(rows.next()?.and_then(|row| text(row, 0)).filter(|name| !name.is_empty()))
                }
            };
            name = found.as_deref();
            if name.is_some() {
                break;
            }
        }
        match name {
            Some(name) => collector.launch(&LaunchRecord { name, ..record }),
            None => nameless += 1,
        }
    }
    if nameless > 0 {
        collector.warnings.push(format!("launches left out because StringIds lacks their name: {nameless}"));
    }
    Ok(())
}

fn transfers(connection: &Connection, numbers: &Numbers, collector: &mut Collector) -> Result<(), Error> {
    const KINDS: &str = "ENUM_CUDA_MEMCPY_OPER";
    const WANTED: [&str; 6] = ["start", "end", "deviceId", "globalPid", "bytes", "copyKind"];
    let mut kinds: HashMap<i64, String> = HashMap::new();
    let has = columns(connection, KINDS)?;
    if !has.is_empty() {
        let mut statement = connection.prepare(&select(KINDS, &["id", "label"], &has))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            kinds.extend(integer(row, 0).zip(text(row, 1)));
        }
    }
    for table in [COPIES, FILLS] {
        let has = columns(connection, table)?;
        if has.is_empty() {
            continue;
        }
        let mut statement = connection.prepare(&select(table, &WANTED, &has))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let Some((start, duration)) = times(row) else { continue };
            let kind = integer(row, 5).and_then(|kind| kinds.get(&kind));
            let name = match (table, kind) {
                (FILLS, _) => "[CUDA memset]".into(),
                (_, Some(kind)) => format!("[CUDA memcpy {kind}]"),
                (_, None) => "[CUDA memcpy]".into(),
            };
            let device = numbers.device(integer(row, 2), integer(row, 3));
            collector.transfer(&name, device, Some(start), duration, bytes(row, 4));
        }
    }
    Ok(())
}

fn collect(connection: &Connection, collector: &mut Collector) -> Result<(), ProfileError> {
    for (setting, value) in
        [(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true), (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)]
    {
        connection.set_db_config(setting, value).map_err(damaged)?;
    }
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST).map_err(damaged)?;
    for (table, cure) in [
        (KERNELS, "no kernel was traced: profile with `nsys profile --trace=cuda`, and let the program launch one"),
        (
            "StringIds",
            "the names of kernels are missing: write it again with `nsys export --type sqlite FILE.nsys-rep`",
        ),
    ] {
        if columns(connection, table).map_err(damaged)?.is_empty() {
            return Err(ProfileError::Sqlite { message: format!("it has no table {table}, so {cure}") });
        }
    }
    let numbers = Numbers::read(connection).map_err(damaged)?;
    collector.devices = devices(connection).map_err(damaged)?;
    let read = kernels(connection, &numbers, collector).and_then(|()| transfers(connection, &numbers, collector));
    match read {
        Err(error) if collector.launches() == 0 => Err(damaged(error)),
        Err(error) => {
            collector.warnings.push(format!("the database is damaged ({error}): what was read until then counts"));
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
