//! Simulations block by block: one flat, versioned value and its text, JSON, CSV and Markdown.

mod forms;

use serde::Serialize;

pub use forms::{simulation_markdown, simulation_text};

use super::{
    CsvError,
    csv::{cell, table},
    layout::clean,
};
use crate::{
    schedule::simulate::SmLoad,
    simulation::Simulated,
    units::{Seconds, significant},
};

/// Name and version of the form.
const SCHEMA: &str = "wavecast.simulation/1";

/// Simulations that one command ran.
#[derive(Clone, Debug, Serialize)]
pub struct SimulationReport {
    /// Name and version of this form.
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Title of the file or of the options.
    pub title: String,
    /// What was assumed.
    pub assumptions: Vec<String>,
    /// One entry per case and GPU.
    pub runs: Vec<RunReport>,
    /// Cases that could not be simulated, with their reason.
    pub errors: Vec<String>,
}

/// One case on one GPU. Times are in microseconds, shares in percent.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// Name of the case; empty where there is one.
    pub case: String,
    /// Id of the GPU.
    pub gpu: String,
    /// Name of the GPU.
    pub gpu_name: String,
    /// What-if changes to the GPU.
    pub gpu_changes: Vec<String>,
    /// What takes blocks: SM, CU or WGP.
    pub unit: &'static str,
    /// How many there are.
    pub sms: u32,
    /// How many of them never get a block.
    pub unused_sms: u64,
    /// Blocks, or tiles of persistent kernels.
    pub blocks: u64,
    /// From the beginning to the end of the last block.
    pub makespan_us: f64,
    /// What no order of blocks could beat.
    pub balance_us: f64,
    /// When the first SM ran out of blocks for good.
    pub tail_start_us: f64,
    /// Time of all SMs that lies idle from there on.
    pub tail_cost_pct: f64,
    /// Time of all SMs without a block, the tail included.
    pub idle_pct: f64,
    /// Used share of the arithmetic of all SMs.
    pub math_pct: f64,
    /// Used share of the ports of all SMs.
    pub port_pct: f64,
    /// Used share of L2.
    pub l2_pct: f64,
    /// Used share of DRAM.
    pub dram_pct: f64,
    /// Time of the least and most loaded SM with a block.
    pub sm_busy_us: [f64; 2],
    /// Blocks of the SM with fewest and most of them.
    pub sm_blocks: [u64; 2],
    /// SM by SM, from 0.
    pub loads: Vec<LoadReport>,
    /// The block that ended last.
    pub critical: CriticalReport,
    /// The kernels in the order of the file.
    pub kernels: Vec<GridReport>,
}

/// The block that ended last.
#[derive(Clone, Debug, Serialize)]
pub struct CriticalReport {
    /// Its kernel.
    pub kernel: String,
    /// Its place in the grid.
    pub block: u64,
    /// Its SM.
    pub sm: u32,
    /// Placement.
    pub start_us: f64,
    /// End.
    pub end_us: f64,
    /// Time that it would take with the GPU to itself.
    pub alone_us: f64,
    /// Its largest demand: `math`, `port`, `l2`, `dram` or `latency`; `none` without work.
    pub bound: &'static str,
}

/// The work of one SM.
#[derive(Clone, Debug, Serialize)]
pub struct LoadReport {
    /// Blocks or tiles that it ran.
    pub blocks: u64,
    /// Time with at least one block.
    pub busy_us: f64,
    /// Time of its blocks, added up.
    pub block_time_us: f64,
}

/// One kernel.
#[derive(Clone, Debug, Serialize)]
pub struct GridReport {
    /// Name.
    pub kernel: String,
    /// Tiles and residency, for people.
    pub note: String,
    /// Blocks or tiles.
    pub blocks: u64,
    /// Blocks per SM.
    pub blocks_per_sm: u32,
    /// Blocks over slots.
    pub waves: f64,
    /// When its blocks could first be placed.
    pub open_us: f64,
    /// When its first block was placed.
    pub first_us: f64,
    /// When its last block was placed.
    pub placed_us: f64,
    /// When its last block ended.
    pub end_us: f64,
    /// The closed form of the kernel by itself: equal blocks in whole waves, with perfect overlap.
    pub closed_form_us: f64,
    /// The same by the p-sum of the time model.
    pub p_sum_us: f64,
}

fn us(time: Seconds) -> f64 {
    rounded(time.get() * 1e6)
}

/// At most 6 significant digits, as in every table.
fn rounded(value: f64) -> f64 {
    significant(value, 6).parse().unwrap_or(value)
}

impl SimulationReport {
    /// The report of simulations.
    pub fn new(title: &str, assumptions: Vec<String>, runs: &[Simulated], errors: Vec<String>) -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            title: title.into(),
            assumptions,
            runs: runs.iter().map(RunReport::new).collect(),
            errors,
        }
    }
}

impl RunReport {
    fn new(run: &Simulated) -> Self {
        let (outcome, balance) = (&run.outcome, &run.balance);
        let whole = outcome.makespan.get();
        let share = |time: Seconds| if whole > 0.0 { rounded(100.0 * time.get() / whole) } else { 0.0 };
        let of_sms = |pick: fn(f64, f64) -> f64, start: f64| {
            us(Seconds(outcome.sms.iter().map(|sm| sm.busy.get()).fold(start, pick)))
        };
        let blocks = outcome.sms.iter().map(|sm| sm.blocks);
        let critical = &outcome.critical;
        let grid = &run.grids[critical.grid as usize];
        let demand = grid.runs.classes()[critical.class as usize].demand;
        let [math, port, l2, dram] = std::array::from_fn(|r| demand.shares()[r] / run.machine.caps[r]);
        let sides = [("math", math), ("port", port), ("l2", l2), ("dram", dram), ("latency", demand.latency.get())];
        let bound = sides.into_iter().fold(("none", 0.0), |best, side| if side.1 > best.1 { side } else { best });
        Self {
            case: run.case.clone(),
            gpu: run.gpu.id.clone(),
            gpu_name: run.gpu.name.clone(),
            gpu_changes: run.gpu.changes.clone(),
            unit: run.gpu.limits.words().unit,
            sms: run.machine.sms,
            unused_sms: outcome.sms.iter().filter(|sm| sm.blocks == 0).count() as u64,
            blocks: outcome.blocks,
            makespan_us: us(outcome.makespan),
            balance_us: us(balance.least()),
            tail_start_us: us(outcome.tail_start()),
            tail_cost_pct: rounded(100.0 * outcome.tail_cost()),
            idle_pct: rounded(100.0 * outcome.idle()),
            math_pct: share(balance.spread.math),
            port_pct: share(balance.spread.port),
            l2_pct: share(balance.spread.l2),
            dram_pct: share(balance.spread.dram),
            sm_busy_us: [of_sms(f64::min, f64::INFINITY), of_sms(f64::max, 0.0)],
            sm_blocks: [blocks.clone().min().unwrap_or(0), blocks.max().unwrap_or(0)],
            loads: outcome.sms.iter().map(LoadReport::new).collect(),
            critical: CriticalReport {
                kernel: grid.name.clone(),
                block: critical.index,
                sm: critical.sm,
                start_us: us(critical.start),
                end_us: us(critical.end),
                alone_us: us(run.machine.alone(&demand)),
                bound: bound.0,
            },
            kernels: (0..run.grids.len()).map(|number| GridReport::new(run, number)).collect(),
        }
    }

    /// Case and GPU.
    fn name(&self) -> String {
        if self.case.is_empty() { self.gpu_name.clone() } else { format!("{}, {}", self.case, self.gpu_name) }
    }
}

impl LoadReport {
    fn new(load: &SmLoad) -> Self {
        Self { blocks: load.blocks, busy_us: us(load.busy), block_time_us: us(load.slot_time) }
    }
}

impl GridReport {
    fn new(run: &Simulated, number: usize) -> Self {
        let (grid, times) = (&run.grids[number], &run.outcome.grids[number]);
        Self {
            kernel: grid.name.clone(),
            note: run.notes[number].clone(),
            blocks: grid.runs.blocks(),
            blocks_per_sm: grid.blocks_per_sm,
            waves: rounded(grid.runs.blocks() as f64 / grid.slots(&run.machine).max(1) as f64),
            open_us: us(times.open),
            first_us: us(times.first),
            placed_us: us(times.placed),
            end_us: us(times.end),
            closed_form_us: us(run.closed[number]),
            p_sum_us: us(run.summed[number]),
        }
    }
}

/// JSON.
pub fn simulation_json(report: &SimulationReport) -> String {
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}

/// Columns of a kernel and its simulation; those of the block that ended last begin with `critical_`.
const COLUMNS: [&str; 27] = [
    "case",
    "gpu",
    "kernel",
    "blocks",
    "blocks_per_sm",
    "waves",
    "open_us",
    "first_us",
    "placed_us",
    "end_us",
    "closed_form_us",
    "p_sum_us",
    "sms",
    "makespan_us",
    "balance_us",
    "tail_start_us",
    "tail_cost_pct",
    "idle_pct",
    "math_pct",
    "port_pct",
    "l2_pct",
    "dram_pct",
    "critical_kernel",
    "critical_block",
    "critical_sm",
    "gpu_changes",
    "error",
];

/// CSV: one row per kernel, with the figures of its simulation; a case that could not be simulated is a row with its
/// reason.
///
/// # Errors
/// The CSV writer failed.
pub fn simulation_csv(report: &SimulationReport) -> Result<String, CsvError> {
    let mut rows = Vec::new();
    for run in &report.runs {
        let whole = serde_json::to_value(run).unwrap_or_default();
        for kernel in &run.kernels {
            let own = serde_json::to_value(kernel).unwrap_or_default();
            let value = |name: &str| match name.strip_prefix("critical_") {
                Some(part) => whole["critical"][part].clone(),
                None => own.get(name).unwrap_or(&whole[name]).clone(),
            };
            rows.push(COLUMNS.iter().map(|name| cell(name, &value(name))).collect());
        }
    }
    for error in &report.errors {
        let mut row = vec![String::new(); COLUMNS.len()];
        row[COLUMNS.len() - 1] = clean(error);
        rows.push(row);
    }
    table(&COLUMNS, rows)
}
