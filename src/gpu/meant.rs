//! From a GPU file as written to the checked `Gpu` that is meant.

use super::{
    ComputeCapability, ConstantsOf, CuLimits, DataType, Gpu, GpuError, Latency, Limits, Override, Pipe, SmLimits,
    limits::LimitsFile,
    range::{count, positive, share},
    read::{GpuFile, Kind, Tables},
};
use crate::units::{Bytes, BytesPerCycle, BytesPerSecond, Cycles, Hertz, Watts};

/// Checks a file and resolves what it leaves to the tables beside it.
pub(super) fn meant(
    id: &str,
    file: GpuFile,
    changes: Vec<String>,
    overrides: &[Override],
    rated_power: Option<Watts>,
    tables: &Tables,
) -> Result<Gpu, GpuError> {
    let value =
        |field: &str, value: String, rule: &str| Err(GpuError::Value { field: field.into(), value, rule: rule.into() });
    if file.schema != 1 {
        return value("schema", file.schema.to_string(), "1: this program reads schema 1");
    }
    if let Some(field) = missing(&file) {
        return value(field, "absent".into(), "given for an NVIDIA GPU");
    }
    figures(&file)?;
    let (rates, fp64) = (&file.rates, DataType::Fp64);
    for (field, cap, capped, rule) in [
        ("rates.tensor_cap", rates.tensor_cap, !rates.tensor.is_empty(), "absent where rates.tensor is"),
        ("rates.fp64_cap", rates.fp64_cap, rates.vector.contains_key(&fp64), "absent where rates.vector.fp64 is"),
    ] {
        share(field, cap)?;
        match cap {
            Some(cap) if !capped => return value(field, cap.to_string(), rule),
            _ => {}
        }
    }
    if !matches!(file.memory.l2.partitions, 1 | 2) {
        return value("memory.l2.partitions", file.memory.l2.partitions.to_string(), "1 or 2");
    }
    if !file.rates.tensor.is_empty() && file.clocks.tensor.is_none() {
        return value("clocks.tensor", "absent".into(), "given where rates.tensor is");
    }
    let limits = limits(&file, tables)?;
    let calibration = tables.calibration.resolve(&limits, file.calibration.as_ref())?;
    let mut gpu = Gpu {
        id: id.into(),
        name: file.name,
        architecture: file.architecture,
        chip: file.chip,
        release_year: file.release_year,
        power: file.power,
        aliases: file.aliases,
        family_aliases: file.family_aliases,
        disagreements: file.disagreements,
        sm: file.sm,
        clocks: file.clocks,
        rates: file.rates,
        memory: file.memory,
        latency: file.latency,
        links: file.links,
        published: file.published,
        limits,
        calibration,
        changes,
        mig: None,
    };
    if overrides.iter().any(|o| o.key.starts_with("calibration.")) {
        gpu.calibration.of = ConstantsOf::User;
    }
    let named = |keys: &[&str]| overrides.iter().any(|o| keys.contains(&o.key.as_str()));
    if named(&["calibration.sustained_tensor", "calibration.power_droop"]) {
        // What the user says holds for the user's data.
        gpu.calibration.random = None;
    }
    if let Some(power) = gpu.power {
        let own = file.calibration.is_some_and(|own| own.sustained_tensor.is_some());
        follow_power(&mut gpu, power, rated_power, own, named(&["power"]));
    }
    Ok(gpu)
}

/// Refuses figures that no device has: the model's products of the others all stay finite.
fn figures(file: &GpuFile) -> Result<(), GpuError> {
    count("sm.count", file.sm.count, 1, u32::MAX)?;
    let (clocks, memory, rates, own) = (&file.clocks, &file.memory, &file.rates, file.calibration.as_ref());
    let latency = file.latency.as_ref();
    let cycles = |of: fn(&Latency) -> Option<Cycles>| latency.and_then(of).map(Cycles::get);
    for (field, figure) in [
        ("power", file.power.map(Watts::get)),
        ("clocks.base", clocks.base.map(Hertz::get)),
        ("clocks.vector", Some(clocks.vector.get())),
        ("clocks.tensor", clocks.tensor.map(Hertz::get)),
        ("clocks.tensor_fp64", clocks.tensor_fp64.map(Hertz::get)),
        ("memory.dram.capacity", memory.dram.capacity.map(Bytes::get)),
        ("memory.dram.bandwidth", Some(memory.dram.bandwidth.get())),
        ("memory.l2.capacity", Some(memory.l2.capacity.get())),
        ("memory.l2.bandwidth", memory.l2.bandwidth.map(BytesPerSecond::get)),
        ("memory.shared.bandwidth", memory.shared.as_ref().map(|s| s.bandwidth.get())),
        ("memory.infinity_cache.capacity", memory.infinity_cache.as_ref().map(|c| c.capacity.get())),
        ("rates.special", rates.special),
        ("rates.sparsity", rates.sparsity),
        ("latency.clock", latency.and_then(|l| l.clock).map(Hertz::get)),
        ("latency.l1", cycles(|l| l.l1)),
        ("latency.l2", cycles(|l| l.l2)),
        ("latency.dram", cycles(|l| l.dram)),
        ("calibration.sm_stream", own.and_then(|c| c.sm_stream).map(BytesPerCycle::get)),
        ("calibration.tensor_power.energy", own.and_then(|c| c.tensor_power).map(|p| p.energy.get())),
    ] {
        positive(field, figure)?;
    }
    for (data, rate) in &rates.vector {
        positive(&format!("rates.vector.{}", data.name()), Some(*rate))?;
    }
    for (input, accumulate, rate) in rates.tensor.iter().flat_map(|(i, by)| by.iter().map(move |(a, r)| (i, a, r))) {
        positive(&format!("rates.tensor.{}.{}", input.name(), accumulate.name()), Some(*rate))?;
    }
    Ok(())
}

/// What an NVIDIA file must have; of other devices some figures are nowhere to be had.
fn missing(file: &GpuFile) -> Option<&'static str> {
    let nvidia = file.compute_capability.is_some();
    [
        ("power", nvidia && file.power.is_none()),
        ("release_year", nvidia && file.release_year.is_none()),
        ("memory.dram.capacity", nvidia && file.memory.dram.capacity.is_none()),
        ("memory.dram.bus_bits", nvidia && file.memory.dram.bus_bits.is_none()),
        ("memory.shared", nvidia && file.memory.shared.is_none()),
        ("rates.special", nvidia && file.rates.special.is_none()),
        ("published.source", nvidia && file.published.source.is_empty()),
    ]
    .into_iter()
    .find_map(|(field, missing)| missing.then_some(field))
}

/// What a block must fit in: by compute capability, by gfx target, or a CPU's core.
fn limits(file: &GpuFile, tables: &Tables) -> Result<Limits, GpuError> {
    let value = |field: &str, value: &str, rule: &str| GpuError::Value {
        field: field.into(),
        value: value.into(),
        rule: rule.into(),
    };
    let cpu = file.kind == Some(Kind::Cpu);
    match (file.compute_capability, &file.gfx, cpu) {
        (Some(capability), None, false) if file.vendor == "nvidia" => Ok(Limits::Sm(match &file.limits {
            Some(own) => own.meant()?,
            None => limits_for(tables.limits, capability)?,
        })),
        (None, Some(gfx), false) if file.vendor == "amd" => Ok(Limits::Cu(match &file.compute_unit {
            Some(own) => own.clone().checked()?,
            None => compute_unit_for(tables.compute_units, gfx)?,
        })),
        (None, None, true) => Ok(Limits::Core),
        (None, None, false) => Err(value(
            "compute_capability",
            "absent",
            "given for an NVIDIA GPU, `gfx` for an AMD GPU, or `kind = \"cpu\"`",
        )),
        (Some(_), None, false) => Err(value("vendor", &file.vendor, "nvidia, which alone has compute capabilities")),
        (None, Some(_), false) => Err(value("vendor", &file.vendor, "amd, which alone has gfx targets")),
        _ => Err(value(
            "kind",
            if cpu { "cpu" } else { "gpu" },
            "alone: compute_capability, gfx and cpu exclude each other",
        )),
    }
}

/// The rule was tested from this share of the board's own limit on.
const LEAST_TESTED_POWER: f64 = 0.6;

/// The sustained tensor rate by the board's power: of a GPU without a measurement of its own in place of its family's,
/// of one with a measurement where a what-if changes the limit.
fn follow_power(gpu: &mut Gpu, power: Watts, rated: Option<Watts>, own: bool, changed: bool) {
    let bf16 = Pipe::Tensor { input: DataType::Bf16, accumulate: DataType::Fp32, sparse: false };
    let (Some(rule), Some(peak)) = (gpu.calibration.tensor_power, gpu.peak(bf16)) else {
        if changed {
            let text = "power: no energy per operation is known for this GPU, so the time does not follow it";
            gpu.changes.push(text.into());
        }
        return;
    };
    let share = rule.share(power, peak);
    if own {
        let before = rated.map_or(share, |rated| rule.share(rated, peak));
        gpu.calibration.sustained_tensor *= (share / before).min(1.0);
    } else {
        gpu.calibration.sustained_tensor = share;
        gpu.calibration.by_power = true;
    }
    if let Some(rated) = rated.filter(|rated| changed && power / *rated < LEAST_TESTED_POWER) {
        gpu.changes.push(format!("power: below 60 % of the board's {rated} the rule is untested"));
    }
}

/// The SM limits of a compute capability, matched exactly.
pub(super) fn limits_for(table: &[LimitsFile], capability: ComputeCapability) -> Result<SmLimits, GpuError> {
    let rows = table.iter().map(LimitsFile::meant).collect::<Result<Vec<_>, _>>()?;
    let known = rows.iter().map(|r| r.compute_capability.to_string()).collect::<Vec<_>>().join(" ");
    rows.into_iter()
        .find(|r| r.compute_capability == capability)
        .ok_or_else(|| GpuError::Capability { capability: capability.to_string(), known })
}

/// The compute unit of a gfx target, matched exactly.
pub(super) fn compute_unit_for(table: &[CuLimits], gfx: &str) -> Result<CuLimits, GpuError> {
    let known = || table.iter().map(|r| r.gfx.as_str()).collect::<Vec<_>>().join(" ");
    let number = |gfx: &str| gfx.trim().to_ascii_lowercase().trim_start_matches("gfx").to_owned();
    let alike = |known: &str| strsim::jaro_winkler(&number(known), &number(gfx)) > 0.9;
    let near = || {
        let exact = table.iter().filter(|r| number(&r.gfx) == number(gfx));
        let others = table.iter().filter(|r| number(&r.gfx) != number(gfx) && alike(&r.gfx));
        // A target that differs in spelling alone is the one meant.
        let least = if exact.clone().next().is_some() { 1 } else { 3 };
        exact.chain(others).take(least).map(|r| r.gfx.clone()).collect()
    };
    let row = table.iter().find(|r| r.gfx == gfx);
    row.cloned().ok_or_else(|| GpuError::Gfx { gfx: gfx.into(), known: known(), near: near() })?.checked()
}
