//! Simulations of kernels block by block on one GPU, beside the closed form and perfect balance.

use crate::{
    gpu::Gpu,
    schedule::simulate::{Balance, Grid, Machine, Outcome, Recorder, SimulateError, simulate},
    units::Seconds,
};

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
    /// What the closed form says of each kernel by itself: equal blocks of the mean demand in whole waves.
    pub closed: Vec<Seconds>,
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
    let balance = Balance::of(&machine, &grids);
    let (title, case, gpu) = (title.into(), case.into(), gpu.clone());
    Ok(Simulated { title, case, gpu, machine, grids, closed, balance, outcome, record })
}
