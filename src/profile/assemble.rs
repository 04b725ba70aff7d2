//! From metrics as written to an observed kernel: numbers in base units, totals from rates, operations by pipe.

use std::sync::Arc;

use super::fields::{Counter, Field, Form, Target, TextField};
use super::launch::Launch;
use super::notation::{DecimalMark, number};
use super::observed::{Measured, ObservedDevice, ObservedKernel, ObservedPipe, StallReason};
use super::plausible::{Implausible, LARGEST, LONGEST, MOST_PERCENT};
use super::tensor;
use crate::units::{Bytes, Hertz, Seconds};

/// A number in base units and half its last printed digit.
#[derive(Clone, Copy)]
struct Reading {
    value: f64,
    half_width: f64,
}

impl Reading {
    fn times(self, factor: f64) -> Self {
        Reading { value: self.value * factor, half_width: self.half_width * factor }
    }
}

/// Reads a number printed in units of `10^unit`. A whole number of a larger unit stands for two hidden decimals.
fn reading(text: &str, unit: i32, mark: DecimalMark) -> Option<Reading> {
    let printed = number(text, mark, unit)?;
    let half_width = match printed.decimals {
        ..=0 if unit <= 0 => 0.0,
        ..=0 => 0.5 * 10_f64.powi(unit - 2),
        decimals => 0.5 * 10_f64.powi(unit.saturating_sub(decimals)),
    };
    Some(Reading { value: printed.value, half_width })
}

/// Keeps the more precisely printed of two readings, the first of equals.
fn keep(slot: &mut Option<Reading>, found: Reading) {
    if slot.is_none_or(|old| found.half_width < old.half_width) {
        *slot = Some(found);
    }
}

/// The readings of one launch.
struct Readings {
    fields: [Option<Reading>; Field::Count as usize],
    counters: [[Option<Reading>; 3]; Counter::Count as usize],
    tensor: Vec<(Arc<str>, Form, f64)>,
}

impl Readings {
    fn reading(&self, field: Field) -> Option<Reading> {
        self.fields.get(field as usize).copied().flatten()
    }

    fn get(&self, field: Field) -> Option<f64> {
        self.reading(field).map(|r| r.value)
    }

    /// A whole number; `None` where it is not one.
    fn whole(&self, field: Field) -> Option<u64> {
        let value = self.get(field)?;
        (value >= 0.0 && value <= 2_f64.powi(53) && value.fract() == 0.0).then_some(value as u64)
    }

    fn count(&self, field: Field) -> Option<u32> {
        self.whole(field)?.try_into().ok()
    }

    fn bytes(&self, field: Field) -> Option<Bytes> {
        self.get(field).map(Bytes)
    }

    fn measured_bytes(&self, field: Field) -> Option<Measured<Bytes>> {
        self.reading(field).map(|r| Measured { value: Bytes(r.value), half_width: Bytes(r.half_width) })
    }

    fn hertz(&self, field: Field) -> Option<Hertz> {
        self.get(field).map(Hertz)
    }

    fn triple(&self, fields: [Field; 3]) -> Option<[u64; 3]> {
        let [x, y, z] = fields.map(|field| self.whole(field));
        Some([x?, y?, z?])
    }

    /// Cycles that per-cycle rates refer to.
    fn cycles(&self) -> Option<f64> {
        let from_clock = || Some(self.get(Field::SmClock)? * self.get(Field::Duration)?);
        self.get(Field::AverageCycles).or(self.get(Field::ElapsedCycles)).or_else(from_clock)
    }

    /// The factor from a rate to the total of the launch.
    fn factor(&self, form: Form) -> Option<f64> {
        match form {
            Form::Total => Some(1.0),
            Form::PerSecond => self.get(Field::Duration),
            Form::PerCycle => self.cycles(),
        }
    }

    fn total(&self, counter: Counter) -> Option<f64> {
        let forms = self.counters.get(counter as usize)?;
        [Form::Total, Form::PerSecond, Form::PerCycle]
            .into_iter()
            .find_map(|form| Some(forms.get(form as usize)?.as_ref()?.value * self.factor(form)?))
    }

    /// FLOP of a vector pipe, only where all three of its counters are there.
    fn vector(&self, [add, mul, fma]: [Counter; 3], width: f64) -> Option<f64> {
        Some((self.total(add)? + self.total(mul)? + 2.0 * self.total(fma)?) * width)
    }

    fn per_request(&self, ratio: Field, sectors: Field, requests: Field) -> Option<f64> {
        self.get(ratio).or_else(|| {
            let requests = self.get(requests).filter(|&r| r > 0.0)?;
            Some(self.get(sectors)? / requests)
        })
    }

    fn operations(&self) -> Vec<(ObservedPipe, f64)> {
        let vectors = [
            (ObservedPipe::Fp64, [Counter::Dadd, Counter::Dmul, Counter::Dfma], 1.0),
            (ObservedPipe::Fp32, [Counter::Fadd, Counter::Fmul, Counter::Ffma], 1.0),
            (ObservedPipe::Fp16, [Counter::Hadd, Counter::Hmul, Counter::Hfma], 2.0),
        ];
        let mut found: Vec<(ObservedPipe, f64)> = vectors
            .into_iter()
            .filter_map(|(pipe, counters, width)| Some((pipe, self.vector(counters, width)?)))
            .collect();
        found.extend(tensor::operations(&self.tensor_totals()));
        found
    }

    /// Each tensor path once, from the form that needs the least arithmetic.
    fn tensor_totals(&self) -> Vec<(&str, f64)> {
        let mut totals: Vec<(&str, f64)> = Vec::new();
        for wanted in [Form::Total, Form::PerSecond, Form::PerCycle] {
            for (path, form, value) in &self.tensor {
                let known = totals.iter().any(|(other, _)| *other == &**path);
                if let (true, false, Some(factor)) = (*form == wanted, known, self.factor(*form)) {
                    totals.push((path, value * factor));
                }
            }
        }
        totals
    }
}

/// Three numbers of a size column such as `(256, 1, 1)`.
fn size(text: Option<&String>) -> Option<[u64; 3]> {
    let mut numbers = text?.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    let sizes = [numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?];
    numbers.next().is_none().then_some(sizes)
}

fn product(sizes: Option<[u64; 3]>) -> Option<u64> {
    sizes?.into_iter().try_fold(1_u64, u64::checked_mul)
}

/// The largest value of a field that can be meant.
fn most(field: Field) -> f64 {
    match field {
        Field::Duration => LONGEST,
        Field::TheoreticalOccupancy
        | Field::AchievedOccupancy
        | Field::MemoryThroughput
        | Field::ComputeThroughput
        | Field::DramThroughput
        | Field::L2Throughput
        | Field::L1Throughput
        | Field::L1Hit
        | Field::L2Hit => MOST_PERCENT,
        _ => LARGEST,
    }
}

/// The kernel that a launch's metrics describe; what cannot be meant is left out and told to `implausible`.
pub(super) fn kernel(launch: Launch, mark: DecimalMark, implausible: &mut Implausible) -> ObservedKernel {
    let mut readings = Readings {
        fields: [None; Field::Count as usize],
        counters: [[None; 3]; Counter::Count as usize],
        tensor: Vec::new(),
    };
    let mut device = device(&launch);
    let mut stalls: Vec<StallReason> = Vec::new();
    for metric in &launch.metrics {
        let mut read_up_to = |unit: i32, most: f64| {
            let found = reading(&metric.value, unit, mark)?;
            implausible.keep(found.value, most, &metric.key.name).map(|_| found)
        };
        let mut read = |unit: i32| read_up_to(unit, LARGEST);
        match &metric.key.target {
            None => {}
            Some(Target::Field(field, unit)) => {
                let found = read_up_to(*unit, most(*field));
                if let (Some(found), Some(slot)) = (found, readings.fields.get_mut(*field as usize)) {
                    keep(slot, found);
                }
            }
            Some(Target::Counter(counter, form, unit, factor)) => {
                let forms = readings.counters.get_mut(*counter as usize);
                if let (Some(found), Some(slot)) =
                    (read(*unit).map(|found| found.times(*factor)), forms.and_then(|f| f.get_mut(*form as usize)))
                {
                    keep(slot, found);
                }
            }
            Some(Target::Tensor(path, form, unit)) => {
                readings.tensor.extend(read(*unit).map(|found| (Arc::clone(path), *form, found.value)));
            }
            Some(Target::Stall(name)) => {
                if let Some(found) = read(0).filter(|_| stalls.iter().all(|s| s.name != **name)) {
                    stalls.push(StallReason { name: name.to_string(), cycles_per_instruction: found.value });
                }
            }
            Some(Target::Text(TextField::DeviceName)) => device.name = Some(metric.value.to_string()),
            Some(Target::Text(TextField::Chip)) => device.chip = Some(metric.value.to_string()),
        }
    }
    complete(&mut device, &readings);
    fill(launch, device, &readings, stalls, mark)
}

/// The device as the identity columns give it.
fn device(launch: &Launch) -> ObservedDevice {
    let index = launch.device.as_ref().and_then(|text| text.parse().ok());
    let name = launch.device.clone().filter(|_| index.is_none());
    ObservedDevice { index, name, compute_capability: launch.compute_capability.clone(), ..ObservedDevice::default() }
}

fn complete(device: &mut ObservedDevice, r: &Readings) {
    let capability = || Some(format!("{}.{}", r.count(Field::CapabilityMajor)?, r.count(Field::CapabilityMinor)?));
    device.compute_capability = device.compute_capability.take().or_else(capability);
    device.sm_count = r.count(Field::SmCount);
    device.l2_capacity = r.bytes(Field::L2Capacity);
    device.memory_capacity = r.bytes(Field::MemoryCapacity);
    device.memory_bus_bits = r.count(Field::BusBits);
    device.max_sm_clock = r.hertz(Field::MaxSmClock);
    device.max_memory_clock = r.hertz(Field::MaxMemoryClock);
    device.max_warps_per_sm = r.count(Field::MaxWarps);
    device.max_blocks_per_sm = r.count(Field::MaxBlocks);
    device.registers_per_sm = r.count(Field::RegistersPerSm);
    device.shared_per_sm = r.bytes(Field::SharedPerSm);
}

fn fill(
    launch: Launch,
    device: ObservedDevice,
    r: &Readings,
    stalls: Vec<StallReason>,
    mark: DecimalMark,
) -> ObservedKernel {
    let grid = size(launch.grid.as_ref()).or_else(|| r.triple([Field::GridX, Field::GridY, Field::GridZ]));
    let block = size(launch.block.as_ref()).or_else(|| r.triple([Field::BlockX, Field::BlockY, Field::BlockZ]));
    let threads = r.count(Field::BlockThreads).or_else(|| product(block)?.try_into().ok());
    let (read, write) = (r.total(Counter::DramRead), r.total(Counter::DramWrite));
    let both = || Some(read? + write?);
    let with_speedup = |(mut rule, text): (super::Rule, String)| {
        rule.estimated_speedup_pct = number(&text, mark, 0).map(|n| n.value);
        rule
    };
    ObservedKernel {
        accumulation_registers: None,
        scalar_registers: None,
        id: Some(launch.id),
        process_id: launch.process_id,
        name: launch.name,
        device,
        grid,
        block,
        grid_blocks: r.whole(Field::GridBlocks).or_else(|| product(grid)),
        threads_per_block: threads,
        cluster_blocks: r.count(Field::ClusterBlocks).filter(|&blocks| blocks > 0),
        registers_per_thread: r.count(Field::Registers),
        static_shared: r.measured_bytes(Field::StaticShared),
        dynamic_shared: r.measured_bytes(Field::DynamicShared),
        driver_shared: r.measured_bytes(Field::DriverShared),
        shared_configuration: r.measured_bytes(Field::SharedConfiguration),
        barriers_per_block: r.count(Field::Barriers),
        limit_blocks: r.count(Field::LimitBlocks),
        limit_registers: r.count(Field::LimitRegisters),
        limit_shared: r.count(Field::LimitShared),
        limit_warps: r.count(Field::LimitWarps),
        limit_barriers: r.count(Field::LimitBarriers),
        theoretical_occupancy_pct: r.get(Field::TheoreticalOccupancy),
        achieved_occupancy_pct: r.get(Field::AchievedOccupancy),
        waves_per_sm: r.get(Field::Waves),
        duration: r.get(Field::Duration).map(Seconds),
        sm_clock: r.hertz(Field::SmClock),
        dram_clock: r.hertz(Field::DramClock),
        elapsed_cycles: r.get(Field::ElapsedCycles).or(r.get(Field::AverageCycles)),
        dram_read: read.map(Bytes),
        dram_write: write.map(Bytes),
        dram_bytes: both().or_else(|| r.total(Counter::Dram)).map(Bytes),
        l2_bytes: r.total(Counter::L2).map(Bytes),
        shared_bytes: r.total(Counter::Shared).map(Bytes),
        operations: r.operations(),
        memory_throughput_pct: r.get(Field::MemoryThroughput),
        compute_throughput_pct: r.get(Field::ComputeThroughput),
        dram_throughput_pct: r.get(Field::DramThroughput),
        l2_throughput_pct: r.get(Field::L2Throughput),
        l1_throughput_pct: r.get(Field::L1Throughput),
        l1_hit_pct: r.get(Field::L1Hit),
        l2_hit_pct: r.get(Field::L2Hit),
        sectors_per_request_load: r.per_request(Field::SectorsPerLoad, Field::LoadSectors, Field::LoadRequests),
        sectors_per_request_store: r.per_request(Field::SectorsPerStore, Field::StoreSectors, Field::StoreRequests),
        local_spill_requests: r.get(Field::SpillRequests),
        ipc: r.get(Field::Ipc),
        issue_active: r.get(Field::IssueActive),
        eligible_warps: r.get(Field::EligibleWarps),
        active_warps: r.get(Field::ActiveWarps),
        stalls,
        rules: launch.rules.into_iter().map(with_speedup).collect(),
        metrics: launch.metrics,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_precise_print_is_kept() {
        let coarse = reading("12.35", -6, DecimalMark::Point).expect("a number");
        let exact = reading("12,345", -9, DecimalMark::Point).expect("a number");
        for (first, second) in [(coarse, exact), (exact, coarse)] {
            let mut slot = Some(first);
            keep(&mut slot, second);
            assert_eq!(slot.map(|r| (r.value, r.half_width)), Some((12_345e-9, 0.0)));
        }
        assert!((coarse.half_width / 5e-9 - 1.0).abs() < 1e-12);
    }
}
