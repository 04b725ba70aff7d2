//! Metrics of a kernel, and what they say of it.

use std::{collections::HashMap, sync::Arc};

use crate::{
    profile::{
        Metric, MetricKey, ObservedKernel, ObservedPipe,
        notation::{DecimalMark, Number, number},
        plausible::LARGEST,
    },
    units::Bytes,
};

/// Bytes of a memory transaction of L2 and device memory.
const SECTOR: f64 = 32.0;

/// Means over the invocations of a kernel.
#[derive(Default)]
pub(super) struct Means {
    /// Invocations.
    pub launches: u64,
    values: HashMap<String, f64>,
    metrics: Vec<Metric>,
}

/// The number of a value and the unit behind it, without space: `99.5%`, `179.2GB/s`, `High (8)` is text.
fn parts(text: &str) -> (Option<f64>, &str) {
    let at = text.find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E') || c == '%').unwrap_or(text.len());
    let (value, unit) = text.split_at(at);
    (number(value, DecimalMark::Point, 0).map(|Number { value, .. }| value), unit)
}

impl Means {
    /// Adds a metric; whether the number of invocations is another one than before.
    pub fn add(&mut self, launches: u64, name: &str, mean: &str) -> bool {
        let (value, unit) = parts(mean);
        let (value, unit) = value.map_or((None, ""), |value| (Some(value), unit));
        // Rates have a unit; none of them is read.
        self.values.extend(value.filter(|_| matches!(unit, "" | "%")).map(|value| (name.to_owned(), value)));
        let key = MetricKey { section: String::new(), name: name.into(), unit: unit.into(), target: None };
        let printed = mean.strip_suffix(unit).unwrap_or(mean);
        self.metrics.push(Metric { key: Arc::new(key), value: printed.into() });
        let other = self.launches != 0 && self.launches != launches;
        self.launches = self.launches.max(launches);
        other
    }

    /// Puts into a kernel what the metrics say; all of them stand in its list as written.
    pub fn fill(self, kernel: &mut ObservedKernel) {
        let value = |name: &str| self.values.get(name).copied().filter(|value| (0.0..=LARGEST).contains(value));
        let sectors = |name: &str| value(name).map(|count| Bytes(SECTOR * count));
        let bytes = |name: &str| value(name).map(Bytes);
        // Occupancy is a share, most others are percentages.
        kernel.achieved_occupancy_pct = value("achieved_occupancy").map(|share| 100.0 * share);
        kernel.dram_read = bytes("dram_read_bytes").or(sectors("dram_read_transactions"));
        kernel.dram_write = bytes("dram_write_bytes").or(sectors("dram_write_transactions"));
        kernel.dram_bytes = kernel.dram_read.zip(kernel.dram_write).map(|(read, write)| read + write);
        kernel.l2_bytes =
            sectors("l2_read_transactions").zip(sectors("l2_write_transactions")).map(|(read, write)| read + write);
        kernel.l1_hit_pct = value("global_hit_rate");
        kernel.l2_hit_pct = value("l2_tex_hit_rate");
        kernel.ipc = value("ipc");
        // The counts are of operations, a fused multiply-add as 2.
        for (pipe, name) in [
            (ObservedPipe::Fp64, "flop_count_dp"),
            (ObservedPipe::Fp32, "flop_count_sp"),
            (ObservedPipe::Fp16, "flop_count_hp"),
        ] {
            kernel.operations.extend(value(name).map(|count| (pipe, count)));
        }
        kernel.metrics = self.metrics;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_units() {
        for (text, value, unit) in [
            ("99.500000%", Some(99.5), "%"),
            ("179.248818GB/s", Some(179.248818), "GB/s"),
            ("1.5e+03B/s", Some(1500.0), "B/s"),
            ("0.732105", Some(0.732105), ""),
            ("-7", Some(-7.0), ""),
        ] {
            assert_eq!(parts(text), (value, unit), "{text}");
        }
        assert_eq!(parts("Idle (0)").0, None);
    }
}
