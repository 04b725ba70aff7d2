//! Two profiles or traces before and after a change: what each kernel took, its share, and what else changed.

use clap::ValueEnum;

use super::{
    super::check::{Check, Fields},
    columns::{self, Column, four, hundredth, six, thousandth},
    file::{File, occupancy},
    label::labels,
    totals::{TOTALS, Totals, added_pct, ratio},
};
use crate::{
    gpu::Catalog,
    profile::{Pair, Seen, circumstances, pair},
};

/// Order of the rows of two files.
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

/// One launch in one of the files, or a group of equal launches.
#[derive(Clone, Debug)]
pub struct Side {
    /// Duration in microseconds, of a group added up.
    pub us: Option<f64>,
    /// Launches of a group.
    pub launches: Option<f64>,
    /// Mean duration of a group's launches in microseconds.
    pub mean_us: Option<f64>,
    /// Share of all durations of its file in percent.
    pub share_pct: Option<f64>,
    /// Blocks of the grid.
    pub grid_blocks: Option<f64>,
    /// Threads of a block.
    pub threads_per_block: Option<f64>,
    /// Registers per thread.
    pub registers: Option<f64>,
    /// Static and dynamic shared memory per block in bytes.
    pub shared_bytes: Option<f64>,
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

/// Two files, kernel by kernel.
pub struct Profiles {
    /// The tools that wrote them.
    pub tools: String,
    /// Whether a row is a group of launches.
    pub traced: bool,
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
pub const COLUMNS: [Column<Row>; 31] = [
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
    Column::number("Launches\nbefore", "before_launches", |r| before(r)?.launches, six),
    Column::number("Launches\nafter", "after_launches", |r| after(r)?.launches, six),
    Column::number("Mean us\nbefore", "before_mean_us", |r| before(r)?.mean_us, six),
    Column::number("Mean us\nafter", "after_mean_us", |r| after(r)?.mean_us, six),
    Column::number("Mean\nchange %", "mean_change_pct", Row::mean_change_pct, hundredth),
    Column::number("Shared B\nbefore", "before_shared_bytes", |r| before(r)?.shared_bytes, six),
    Column::number("Shared B\nafter", "after_shared_bytes", |r| after(r)?.shared_bytes, six),
];

const SHORT: [(&str, &str); 3] = [("change", "change_pct"), ("time", "after_us"), ("total_change", "total_change_pct")];

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
        self.both_us().and_then(added_pct)
    }

    /// Time added to a launch, on the mean, in percent of the time before.
    fn mean_change_pct(&self) -> Option<f64> {
        added_pct((before(self)?.mean_us?, after(self)?.mean_us?))
    }
}

impl Profiles {
    /// Pairs the launches of two files.
    pub fn new(old: &File, new: &File, sort: Sort, catalog: &Catalog) -> Self {
        let pairs = pair(&old.seen, &new.seen);
        let (before_us, after_us) = (old.total_us(), new.total_us());
        let traced = old.traced || new.traced;
        let full = |pair: &Pair| pair.before.or(pair.after).map_or(String::new(), |s| s.kernel.name.clone());
        let mut rows: Vec<Row> = pairs
            .iter()
            .zip(labels(&pairs))
            .map(|(pair, kernel)| Row {
                kernel,
                full_name: full(pair),
                before: pair.before.map(|seen| Side::new(&seen, before_us, traced, catalog)),
                after: pair.after.map(|seen| Side::new(&seen, after_us, traced, catalog)),
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
        let warnings = |which: &str, file: &File| -> Vec<String> {
            file.warnings.iter().map(|w| format!("{which}: {w}")).collect()
        };
        let mut notes = [warnings("before", old), warnings("after", new), circumstances(&pairs)].concat();
        let (before_tool, after_tool) = (old.format.tool(), new.format.tool());
        let mut tools = before_tool.to_owned();
        if before_tool != after_tool {
            tools += &format!(" and {after_tool}");
            notes.push(format!(
                "before was measured by {before_tool}, after by {after_tool}: what the tools cost differs, and so may names"
            ));
        }
        let untimed = old.untimed() + new.untimed();
        if untimed > 0 {
            notes.push(format!("{untimed} launches have no duration in the file: totals and shares leave them out"));
        }
        let logs: Vec<f64> = rows.iter().filter_map(Row::speedup).filter(|s| *s > 0.0).map(libm::log).collect();
        let geomean_speedup = (!logs.is_empty()).then(|| libm::exp(logs.iter().sum::<f64>() / logs.len() as f64));
        let spent = old.spent.zip(new.spent);
        let totals =
            (before_us > 0.0 && after_us > 0.0).then_some(Totals { before_us, after_us, geomean_speedup, spent });
        let mut devices: Vec<String> =
            old.seen.iter().chain(&new.seen).filter_map(|seen| seen.kernel.device.name.clone()).collect();
        devices.sort();
        devices.dedup();
        Self { tools, traced, rows, totals, notes, devices }
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
    fn new(seen: &Seen, total_us: f64, traced: bool, catalog: &Catalog) -> Self {
        let kernel = seen.kernel;
        let us = seen.total.map(|d| d.get() * 1e6);
        let dram_bytes = kernel.dram_bytes.map(|b| b.get());
        let shared = kernel.static_shared.iter().chain(&kernel.dynamic_shared).map(|m| m.value.get());
        let shared_known = kernel.static_shared.is_some() || kernel.dynamic_shared.is_some();
        Self {
            us,
            launches: traced.then_some(seen.launches as f64),
            mean_us: kernel.duration.filter(|_| traced).map(|d| d.get() * 1e6),
            share_pct: us.and_then(|us| ratio(us * 100.0, total_us)),
            grid_blocks: kernel.grid_blocks.map(|blocks| blocks as f64),
            threads_per_block: kernel.threads_per_block.map(f64::from),
            registers: kernel.registers_per_thread.map(f64::from),
            shared_bytes: shared_known.then(|| shared.sum()),
            occupancy_pct: occupancy(kernel, catalog),
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
    match (pair.before, pair.after) {
        (Some(_), None) => "only before".into(),
        (None, Some(_)) => "only after".into(),
        _ if pair.renamed => RENAMED.into(),
        (Some(old), Some(new)) => match old.kernel.grid_blocks.zip(new.kernel.grid_blocks) {
            Some((old, new)) if old != new => format!("grid {old} -> {new}"),
            _ => String::new(),
        },
        (None, None) => String::new(),
    }
}
