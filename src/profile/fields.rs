//! Which metric means what, under the names that its versions and pages give it.

use std::sync::Arc;

use super::unit::{Dimension, unit};

/// A single value of a launch or its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    GridBlocks,
    GridX,
    GridY,
    GridZ,
    BlockThreads,
    BlockX,
    BlockY,
    BlockZ,
    ClusterBlocks,
    Registers,
    StaticShared,
    DynamicShared,
    DriverShared,
    SharedConfiguration,
    Barriers,
    LimitBlocks,
    LimitRegisters,
    LimitShared,
    LimitWarps,
    LimitBarriers,
    TheoreticalOccupancy,
    AchievedOccupancy,
    Waves,
    Duration,
    SmClock,
    DramClock,
    ElapsedCycles,
    AverageCycles,
    MemoryThroughput,
    ComputeThroughput,
    DramThroughput,
    L2Throughput,
    L1Throughput,
    L1Hit,
    L2Hit,
    SectorsPerLoad,
    SectorsPerStore,
    LoadSectors,
    LoadRequests,
    StoreSectors,
    StoreRequests,
    SpillRequests,
    Ipc,
    IssueActive,
    EligibleWarps,
    ActiveWarps,
    SmCount,
    L2Capacity,
    MemoryCapacity,
    BusBits,
    MaxSmClock,
    MaxMemoryClock,
    MaxWarps,
    MaxBlocks,
    RegistersPerSm,
    SharedPerSm,
    CapabilityMajor,
    CapabilityMinor,
    /// Last, and no value: how many there are.
    Count,
}

/// A count over the whole launch, which files give as a total or as a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counter {
    Dadd,
    Dmul,
    Dfma,
    Fadd,
    Fmul,
    Ffma,
    Hadd,
    Hmul,
    Hfma,
    DramRead,
    DramWrite,
    Dram,
    L2,
    Shared,
    /// Last, and no counter: how many there are.
    Count,
}

/// How a counter is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Total,
    PerSecond,
    PerCycle,
}

/// A text about the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextField {
    DeviceName,
    Chip,
}

/// What a metric means, with the power of ten of its unit and, for counters, a factor to base units.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    Field(Field, i32),
    Counter(Counter, Form, i32, f64),
    Text(TextField),
    /// Operations on a tensor path such as `bf16_dst_fp32`.
    Tensor(Arc<str>, Form, i32),
    Stall(Arc<str>),
}

/// Dimensions that a field accepts.
#[derive(Clone, Copy)]
enum Want {
    Plain,
    Is(Dimension),
}

const PERCENT: Want = Want::Is(Dimension::Percent);
const BYTES: Want = Want::Is(Dimension::Bytes);
const SECONDS: Want = Want::Is(Dimension::Seconds);
const CYCLES: Want = Want::Is(Dimension::Cycles);
const HERTZ: Want = Want::Is(Dimension::Hertz);

impl Want {
    fn accepts(self, dimension: Dimension) -> bool {
        match self {
            Want::Plain => matches!(dimension, Dimension::Count | Dimension::CountPerCycle | Dimension::Cycles),
            Want::Is(wanted) => wanted == dimension,
        }
    }
}

/// The meaning of a metric, told by name and unit; `None` where it is only kept as written.
pub(super) fn target(name: &str, unit_text: &str) -> Option<Target> {
    let (dimension, exponent) = unit(unit_text);
    let as_field = |rows: &[Row]| {
        rows.iter()
            .find(|(names, want, _, _)| names.contains(&name) && want.accepts(dimension))
            .map(|&(_, _, field, own)| Target::Field(field, exponent + own))
    };
    as_field(names::LAUNCH)
        .or_else(|| as_field(names::TIMES))
        .or_else(|| as_field(names::RATES))
        .or_else(|| as_field(names::DEVICE))
        .or_else(|| counter(name, dimension, exponent))
        .or_else(|| other(name, exponent))
}

fn counter(name: &str, dimension: Dimension, exponent: i32) -> Option<Target> {
    let bytes = matches!(dimension, Dimension::Bytes | Dimension::BytesPerSecond | Dimension::BytesPerCycle);
    if name == "Memory Throughput" && dimension == Dimension::BytesPerSecond {
        return Some(Target::Counter(Counter::Dram, Form::PerSecond, exponent, 1.0));
    }
    for &(derived, counter, factor) in names::DERIVED_PER_CYCLE {
        if name == derived {
            return Some(Target::Counter(counter, Form::PerCycle, exponent, factor));
        }
    }
    let (base, form) = form_of(name)?;
    let &(_, counter, in_bytes, factor) = names::COUNTERS.iter().find(|(names, ..)| names.contains(&base))?;
    (in_bytes == bytes).then_some(Target::Counter(counter, form, exponent, factor))
}

fn form_of(name: &str) -> Option<(&str, Form)> {
    let (base, rest) = name.split_once(".sum")?;
    let form = match rest {
        "" => Form::Total,
        ".per_second" => Form::PerSecond,
        ".per_cycle_elapsed" => Form::PerCycle,
        _ => return None,
    };
    Some((base, form))
}

fn other(name: &str, exponent: i32) -> Option<Target> {
    match name {
        "device__attribute_display_name" => return Some(Target::Text(TextField::DeviceName)),
        "device__attribute_chip" => return Some(Target::Text(TextField::Chip)),
        _ => {}
    }
    if let Some((base, form)) = form_of(name)
        && let Some(path) = base.strip_prefix("sm__ops_path_tensor_src_")
    {
        return Some(Target::Tensor(path.into(), form, exponent));
    }
    let reason = name
        .strip_prefix("smsp__average_warps_issue_stalled_")
        .and_then(|rest| rest.strip_suffix("_per_issue_active.ratio"))
        .filter(|reason| !reason.ends_with("_not_issued"))
        .or_else(|| name.strip_prefix("Stall "))?;
    Some(Target::Stall(reason.to_lowercase().replace(' ', "_").into()))
}

/// Names, accepted dimension, field, power of ten to base units where the unit does not say it.
type Row = (&'static [&'static str], Want, Field, i32);

mod names;
