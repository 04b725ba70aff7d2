//! Two profiles before and after a change: what each kernel took, its share, and what else changed.

use clap::ValueEnum;

use super::{
    super::check::{Check, Fields},
    columns::{self, Column, four, hundredth, six, thousandth},
};
use crate::profile::{ObservedKernel, Pair, Profile, circumstances, pair, telling_names};

/// Order of the rows of two profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// The largest change of time first, faster or slower
    #[default]
    Change,
    /// By name
    Name,
    /// As in the first file
    File,
}

/// One launch in one of the files.
#[derive(Clone, Debug)]
pub struct Side {
    /// Duration in microseconds.
    pub us: Option<f64>,
    /// Share of all durations of its file in percent.
    pub share_pct: Option<f64>,
    /// Blocks of the grid.
    pub grid_blocks: Option<f64>,
    /// Threads of a block.
    pub threads_per_block: Option<f64>,
    /// Registers per thread.
    pub registers: Option<f64>,
    /// Theoretical occupancy in percent.
    pub occupancy_pct: Option<f64>,
    achieved_pct: Option<f64>,
    /// DRAM traffic in bytes.
    pub dram_bytes: Option<f64>,
    /// DRAM traffic per time in GB/s.
    pub dram_gb_per_s: Option<f64>,
}

/// One kernel before and after.
#[derive(Clone, Debug)]
pub struct Row {
    /// Short name, with what tells it apart.
    pub kernel: String,
    /// The name as in the file, of the second file where only that has it.
    pub full_name: String,
    /// In the first file.
    pub before: Option<Side>,
    /// In the second file.
    pub after: Option<Side>,
    /// What is odd about the pair.
    pub note: String,
}

/// All kernels together.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// Sum of durations in the first file in microseconds.
    pub before_us: f64,
    /// Sum of durations in the second file in microseconds.
    pub after_us: f64,
    /// Geometric mean of the speed-ups of kernels in both files.
    pub geomean_speedup: Option<f64>,
}

/// Two profiles, kernel by kernel.
pub struct Profiles {
    /// Kernels in the wanted order.
    pub rows: Vec<Row>,
    /// All kernels together; absent where a file has no durations.
    pub totals: Option<Totals>,
    /// Warnings, and what the difference is due to beside the code.
    pub notes: Vec<String>,
    /// Where they ran, for the caption of the chart.
    pub devices: Vec<String>,
}

fn before(row: &Row) -> Option<&Side> {
    row.before.as_ref()
}

fn after(row: &Row) -> Option<&Side> {
    row.after.as_ref()
}

/// The columns for programs.
pub const COLUMNS: [Column<Row>; 24] = [
    Column::text("Kernel", "kernel", |r| r.kernel.clone()),
    Column::number("Before\nus", "before_us", |r| before(r)?.us, six),
    Column::number("After\nus", "after_us", |r| after(r)?.us, six),
    Column::number("Speed-up", "speedup", Row::speedup, thousandth),
    Column::number("Occ. %\nbefore", "before_occupancy_pct", |r| before(r)?.occupancy_pct, six),
    Column::number("Occ. %\nafter", "after_occupancy_pct", |r| after(r)?.occupancy_pct, six),
    Column::number("Regs\nbefore", "before_registers", |r| before(r)?.registers, six),
    Column::number("Regs\nafter", "after_registers", |r| after(r)?.registers, six),
    Column::text("", "note", |r| r.note.clone()),
    Column::number("Change\nus", "change_us", Row::change_us, four),
    Column::number("Change\n%", "change_pct", Row::change_pct, hundredth),
    Column::number("Share %\nbefore", "before_share_pct", |r| before(r)?.share_pct, hundredth),
    Column::number("Share %\nafter", "after_share_pct", |r| after(r)?.share_pct, hundredth),
    Column::number("Achieved %\nbefore", "before_achieved_occupancy_pct", |r| before(r)?.achieved_pct, six),
    Column::number("Achieved %\nafter", "after_achieved_occupancy_pct", |r| after(r)?.achieved_pct, six),
    Column::number("DRAM bytes\nbefore", "before_dram_bytes", |r| before(r)?.dram_bytes, six),
    Column::number("DRAM bytes\nafter", "after_dram_bytes", |r| after(r)?.dram_bytes, six),
    Column::number("DRAM GB/s\nbefore", "before_dram_gb_per_s", |r| before(r)?.dram_gb_per_s, four),
    Column::number("DRAM GB/s\nafter", "after_dram_gb_per_s", |r| after(r)?.dram_gb_per_s, four),
    Column::number("Grid\nbefore", "before_grid_blocks", |r| before(r)?.grid_blocks, six),
    Column::number("Grid\nafter", "after_grid_blocks", |r| after(r)?.grid_blocks, six),
    Column::number("Block\nbefore", "before_threads_per_block", |r| before(r)?.threads_per_block, six),
    Column::number("Block\nafter", "after_threads_per_block", |r| after(r)?.threads_per_block, six),
    Column::text("Full name", "full_name", |r| r.full_name.clone()),
];

/// What checks may name of all kernels together.
const TOTALS: [Column<Totals>; 6] = [
    Column::number("Before\nus", "total_before_us", |t| Some(t.before_us), six),
    Column::number("After\nus", "total_after_us", |t| Some(t.after_us), six),
    Column::number("Change\nus", "total_change_us", |t| Some(t.after_us - t.before_us), four),
    Column::number("Change\n%", "total_change_pct", Totals::change_pct, hundredth),
    Column::number("Speed-up", "total_speedup", |t| ratio(t.before_us, t.after_us), thousandth),
    Column::number("Geometric mean\nof speed-ups", "geomean_speedup", |t| t.geomean_speedup, thousandth),
];

const SHORT: [(&str, &str); 3] = [("change", "change_pct"), ("time", "after_us"), ("total_change", "total_change_pct")];

fn ratio(over: f64, under: f64) -> Option<f64> {
    (under > 0.0).then_some(over / under)
}

impl Row {
    /// Both durations in microseconds, where both files have the kernel and its duration.
    pub fn both_us(&self) -> Option<(f64, f64)> {
        Some((before(self)?.us?, after(self)?.us?))
    }

    /// Time before / time after.
    pub fn speedup(&self) -> Option<f64> {
        self.both_us().and_then(|(old, new)| ratio(old, new))
    }

    /// Time added in microseconds; a kernel of one file alone counts whole.
    pub fn change_us(&self) -> Option<f64> {
        match (&self.before, &self.after) {
            (Some(old), Some(new)) => Some(new.us? - old.us?),
            (Some(old), None) => old.us.map(|us| -us),
            (None, new) => new.as_ref()?.us,
        }
    }

    /// Time added in percent of the time before.
    pub fn change_pct(&self) -> Option<f64> {
        self.both_us().and_then(|(old, new)| ratio((new - old) * 100.0, old))
    }
}

impl Totals {
    /// Time added in percent of the time before.
    pub fn change_pct(&self) -> Option<f64> {
        ratio((self.after_us - self.before_us) * 100.0, self.before_us)
    }
}

impl Profiles {
    /// Pairs the launches of two profiles.
    pub fn new(old: &Profile, new: &Profile, sort: Sort) -> Self {
        let pairs = pair(old, new);
        let sum = |profile: &Profile| -> f64 {
            profile.kernels.iter().filter_map(|k| k.duration).map(|d| d.get() * 1e6).sum()
        };
        let (before_us, after_us) = (sum(old), sum(new));
        let full = |pair: &Pair| pair.before.or(pair.after).map_or("", |k| &k.name).to_owned();
        let full_names: Vec<String> = pairs.iter().map(full).collect();
        let names = telling_names(&full_names.iter().map(String::as_str).collect::<Vec<_>>());
        let mut rows: Vec<Row> = pairs
            .iter()
            .zip(names)
            .zip(full_names)
            .map(|((pair, name), full_name)| Row {
                kernel: if pair.occurrence > 0 { format!("{name} #{}", pair.occurrence + 1) } else { name },
                full_name,
                before: pair.before.map(|k| Side::new(k, before_us)),
                after: pair.after.map(|k| Side::new(k, after_us)),
                note: note(pair),
            })
            .collect();
        match sort {
            // What has no time comes last; equal changes keep the order of the file.
            Sort::Change => rows.sort_by(|a, b| {
                let size = |row: &Row| row.change_us().map_or(-1.0, f64::abs);
                size(b).total_cmp(&size(a))
            }),
            Sort::Name => rows.sort_by(|a, b| a.kernel.cmp(&b.kernel)),
            Sort::File => {}
        }
        let warnings = |which: &str, profile: &Profile| -> Vec<String> {
            profile.warnings.iter().map(|w| format!("{which}: {w}")).collect()
        };
        let mut notes = [warnings("before", old), warnings("after", new), circumstances(&pairs)].concat();
        let untimed = |profile: &Profile| profile.kernels.iter().filter(|k| k.duration.is_none()).count();
        if untimed(old) + untimed(new) > 0 {
            let what = "launches have no duration in the file: totals and shares leave them out";
            notes.push(format!("{} {what}", untimed(old) + untimed(new)));
        }
        let logs: Vec<f64> = rows.iter().filter_map(Row::speedup).filter(|s| *s > 0.0).map(libm::log).collect();
        let geomean_speedup = (!logs.is_empty()).then(|| libm::exp(logs.iter().sum::<f64>() / logs.len() as f64));
        let totals = (before_us > 0.0 && after_us > 0.0).then_some(Totals { before_us, after_us, geomean_speedup });
        let mut devices: Vec<String> =
            old.kernels.iter().chain(&new.kernels).filter_map(|k| k.device.name.clone()).collect();
        devices.sort();
        devices.dedup();
        Self { rows, totals, notes, devices }
    }

    /// The fields that a check may name.
    pub fn check_fields() -> Fields {
        columns::fields(&SHORT, &COLUMNS, &TOTALS)
    }

    /// What fails, kernel by kernel and in total.
    pub fn failed(&self, checks: &[Check]) -> Vec<String> {
        let rows = columns::failures(checks, &COLUMNS, &self.rows, |r| r.kernel.clone());
        let totals: Vec<Totals> = self.totals.into_iter().collect();
        [rows, columns::failures(checks, &TOTALS, &totals, |_| "all kernels".into())].concat()
    }
}

impl Side {
    fn new(kernel: &ObservedKernel, total_us: f64) -> Self {
        let us = kernel.duration.map(|d| d.get() * 1e6);
        let dram_bytes = kernel.dram_bytes.map(|b| b.get());
        Self {
            us,
            share_pct: us.and_then(|us| ratio(us * 100.0, total_us)),
            grid_blocks: kernel.grid_blocks.map(|blocks| blocks as f64),
            threads_per_block: kernel.threads_per_block.map(f64::from),
            registers: kernel.registers_per_thread.map(f64::from),
            occupancy_pct: kernel.theoretical_occupancy_pct,
            achieved_pct: kernel.achieved_occupancy_pct,
            dram_bytes,
            dram_gb_per_s: dram_bytes.zip(us).and_then(|(bytes, us)| ratio(bytes / 1e3, us)),
        }
    }
}

/// Note of kernels that were paired although their names differ.
pub const RENAMED: &str = "name changed";

/// What is odd about a pair.
fn note(pair: &Pair) -> String {
    let note = match (pair.before, pair.after) {
        (Some(_), None) => "only before",
        (None, Some(_)) => "only after",
        _ if pair.renamed => RENAMED,
        _ => "",
    };
    note.into()
}
