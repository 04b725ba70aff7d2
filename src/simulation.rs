//! Simulations of kernels block by block on one GPU, beside the closed form and perfect balance.

mod attention;
mod build;
mod error;
mod gemm;
mod spec;
mod works;

pub use build::Built;
pub use error::BuildError;
pub use spec::{AttentionWork, BlocksWork, ExpertsWork, GemmWork, LaunchSpec, Order, Rows, Schedule, Simulation};

use crate::{
    gpu::Gpu,
    schedule::simulate::{Balance, BlockRun, Grid, Machine, Observer, Outcome, Recorder, SimulateError, simulate},
    time::p_sum,
    units::Seconds,
};

mod files {
    include!(concat!(env!("OUT_DIR"), "/simulations.rs"));
}

/// The built-in simulation files: name and text.
pub fn embedded() -> impl Iterator<Item = (&'static str, &'static str)> {
    files::SIMULATION_FILES.iter().copied()
}

/// Kernels that ran together on one GPU.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// Title of the file or of the options.
    pub title: String,
    /// Name of the case, where several are compared; empty where there is one.
    pub case: String,
    /// The GPU, with what-ifs applied.
    pub gpu: Gpu,
    /// The GPU as the scheduler sees it.
    pub machine: Machine,
    /// The kernels.
    pub grids: Vec<Grid>,
    /// How each came about, for people; may be empty.
    pub notes: Vec<String>,
    /// What the closed form says of each kernel by itself: equal blocks of the mean demand in whole waves.
    pub closed: Vec<Seconds>,
    /// The same by the p-sum of the terms, as the time model adds them up.
    pub summed: Vec<Seconds>,
    /// What no order of blocks could beat.
    pub balance: Balance,
    /// Times, loads, the critical block.
    pub outcome: Outcome,
    /// Blocks and shares over time.
    pub record: Recorder,
}

/// Blocks that are kept one by one for charts and traces; more are shown as shares over time.
pub const KEPT_BLOCKS: usize = 100_000;

/// How many blocks end between two reports of progress.
const STEP: u64 = 1 << 16;

/// A recorder that tells now and then how far the simulation is.
struct Watched<'a> {
    record: Recorder,
    progress: &'a dyn Fn(u64),
}

impl Observer for Watched<'_> {
    fn ended(&mut self, run: &BlockRun) {
        self.record.ended(run);
        if self.record.seen.is_multiple_of(STEP) {
            (self.progress)(STEP);
        }
    }

    fn used(&mut self, resource: usize, from: f64, to: f64, share: f64) {
        self.record.used(resource, from, to, share);
    }
}

impl Simulated {
    /// The same without what charts and traces need, which is most of its memory.
    pub fn without_record(mut self) -> Self {
        self.record = Recorder::new(&Machine { sms: 0, ..self.machine }, 0, 0);
        self
    }
}

impl Built {
    /// Runs the grids and keeps what charts need; `progress` hears how many more blocks have ended.
    ///
    /// # Errors
    /// As [`simulate`].
    pub fn run(self, title: &str, case: &str, gpu: &Gpu, progress: &dyn Fn(u64)) -> Result<Simulated, SimulateError> {
        let Self { machine, grids, notes } = self;
        let mut watched = Watched { record: Recorder::new(&machine, grids.len(), KEPT_BLOCKS), progress };
        let outcome = simulate(&machine, &grids, &mut watched)?;
        let summed = grids.iter().map(|grid| {
            let terms = grid.terms(&machine);
            let all: Vec<Seconds> = terms.shares().map(Seconds).into_iter().chain([terms.latency]).collect();
            p_sum(&all, gpu.calibration.constants.overlap_exponent) + grid.starts(&machine)
        });
        Ok(Simulated {
            title: title.into(),
            case: case.into(),
            gpu: gpu.clone(),
            machine,
            closed: grids.iter().map(|grid| grid.closed_form(&machine)).collect(),
            summed: summed.collect(),
            balance: Balance::of(&machine, &grids),
            outcome,
            record: watched.record,
            grids,
            notes,
        })
    }
}

/// Runs grids on a machine and keeps what charts need.
///
/// # Errors
/// As [`simulate`].
pub fn simulated(
    title: &str,
    case: &str,
    gpu: &Gpu,
    machine: Machine,
    grids: Vec<Grid>,
) -> Result<Simulated, SimulateError> {
    let notes = vec![String::new(); grids.len()];
    Built { machine, grids, notes }.run(title, case, gpu, &|_| ())
}
