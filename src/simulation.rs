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
    schedule::simulate::{Balance, Grid, Machine, Outcome, Recorder, SimulateError, simulate},
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

/// Runs a simulation and keeps what charts need.
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
    let mut record = Recorder::new(&machine, grids.len(), KEPT_BLOCKS);
    let outcome = simulate(&machine, &grids, &mut record)?;
    let closed = grids.iter().map(|grid| grid.closed_form(&machine)).collect();
    let summed = grids.iter().map(|grid| {
        let terms = grid.terms(&machine);
        let all = terms.shares().map(Seconds).into_iter().chain([terms.latency]).collect::<Vec<_>>();
        p_sum(&all, gpu.calibration.constants.overlap_exponent) + grid.starts(&machine)
    });
    let summed = summed.collect();
    let balance = Balance::of(&machine, &grids);
    let (title, case, gpu) = (title.into(), case.into(), gpu.clone());
    let notes = vec![String::new(); grids.len()];
    Ok(Simulated { title, case, gpu, machine, grids, notes, closed, summed, balance, outcome, record })
}

impl Simulation {
    /// Builds and runs a case on a GPU.
    ///
    /// # Errors
    /// As [`Simulation::build`] and [`simulate`].
    pub fn run(&self, case: &str, gpu: &Gpu) -> Result<Simulated, BuildError> {
        let Built { machine, grids, notes } = self.build(case, gpu)?;
        Ok(Simulated { notes, ..simulated(&self.title, case, gpu, machine, grids)? })
    }
}
