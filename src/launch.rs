//! A kernel with its grid on a GPU: every check that can fail is here, later stages are total.

use crate::{
    gpu::{Gpu, Limits, Pipe},
    kernel::Kernel,
    occupancy::{
        Occupancy, Resource, Resources, advice,
        cluster::{ClusterError, clusters},
        occupancy,
    },
    units::{Flops, plural, short},
};

/// Most blocks in the x dimension of a grid; y and z allow 65,535 each, so totals stay below 2^63.
pub const MAX_GRID_BLOCKS: u64 = 1 << 62;

/// A launch that was checked against its GPU.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel, with one entry per pipe.
    pub kernel: Kernel,
    /// Blocks of the grid.
    pub grid_blocks: u64,
    /// Residency of the kernel on one SM; at least one block.
    pub occupancy: Occupancy,
}

/// A launch that the GPU would refuse.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LaunchError {
    /// A count outside its range.
    #[error("kernel `{kernel}`: {field} = {value} must be {rule}")]
    Range {
        /// Kernel name.
        kernel: String,
        /// Field name.
        field: &'static str,
        /// The value as given.
        value: String,
        /// What it must be.
        rule: String,
    },
    /// Not one block fits on an SM.
    #[error("kernel `{kernel}` cannot run on {gpu}: {reason}; {cure}")]
    DoesNotFit {
        /// Kernel name.
        kernel: String,
        /// GPU name.
        gpu: String,
        /// The resource and the number asked for.
        reason: String,
        /// The largest legal value.
        cure: String,
    },
    /// The GPU cannot launch clusters of this size.
    #[error("kernel `{kernel}` cannot run on {gpu}: {error}")]
    Cluster {
        /// Kernel name.
        kernel: String,
        /// GPU name.
        gpu: String,
        /// Why not.
        error: ClusterError,
    },
    /// The kernel waits for memory, and how long that takes on this device is in no source.
    #[error(
        "kernel `{kernel}`: its dependent accesses need the memory latency of {gpu}, for which there is no source; give one: --set latency.dram=\"400 cycles\""
    )]
    Latency {
        /// Kernel name.
        kernel: String,
        /// Name of the device.
        gpu: String,
    },
    /// The GPU has no such unit.
    #[error("kernel `{kernel}`: {gpu} has no {pipe} unit; it has {available}")]
    NoSuchUnit {
        /// Kernel name.
        kernel: String,
        /// GPU name.
        gpu: String,
        /// The unit asked for.
        pipe: String,
        /// The units of the GPU.
        available: String,
    },
}

impl Launch {
    /// Checks the kernel and grid against the GPU.
    ///
    /// # Errors
    /// Names the kernel, the value and the largest legal one.
    pub fn new(gpu: &Gpu, kernel: Kernel, grid_blocks: u64) -> Result<Self, LaunchError> {
        check_numbers(&kernel, grid_blocks)?;
        for (pipe, flops) in &kernel.operations {
            if gpu.peak(*pipe).is_none() && flops.get() > 0.0 {
                return Err(LaunchError::NoSuchUnit {
                    kernel: kernel.name,
                    gpu: gpu.name.clone(),
                    pipe: pipe.to_string(),
                    available: gpu.pipes().iter().map(Pipe::to_string).collect::<Vec<_>>().join(", "),
                });
            }
        }
        let latency = gpu.latency.as_ref().and_then(|l| l.dram);
        // GPUs have a fitted latency to fall back on, CPUs have none.
        if gpu.is_cpu() && kernel.concurrency.dependent_accesses > 0.0 && latency.is_none() {
            return Err(LaunchError::Latency { kernel: kernel.name, gpu: gpu.name.clone() });
        }
        let found = occupancy(&gpu.limits, &kernel.resources);
        if found.blocks_per_sm == 0 {
            let (reason, cure) = why_not(&gpu.limits, &kernel.resources, &found);
            let words = gpu.limits.words();
            let (reason, cure) = (words.say(&reason), words.say(&cure));
            return Err(LaunchError::DoesNotFit { kernel: kernel.name, gpu: gpu.name.clone(), reason, cure });
        }
        let blocks = kernel.resources.cluster_blocks;
        if let Err(error) = clusters(&gpu.limits, blocks) {
            return Err(LaunchError::Cluster { kernel: kernel.name, gpu: gpu.name.clone(), error });
        }
        if !grid_blocks.is_multiple_of(u64::from(blocks)) {
            let rule = format!("a multiple of the cluster's {blocks} blocks");
            let (kernel, value) = (kernel.name, grid_blocks.to_string());
            return Err(LaunchError::Range { kernel, field: "grid", value, rule });
        }
        let mut kernel = kernel;
        merge(&mut kernel.operations);
        Ok(Self { kernel, grid_blocks, occupancy: found })
    }

    /// Threads of the whole grid.
    pub fn threads(&self) -> f64 {
        self.grid_blocks as f64 * f64::from(self.kernel.resources.threads_per_block)
    }

    /// Blocks resident on a busy SM: the occupancy, or fewer where the grid is small.
    pub fn active_blocks(&self, gpu: &Gpu) -> u64 {
        let share = self.grid_blocks.div_ceil(u64::from(gpu.units()));
        share.min(u64::from(self.occupancy.blocks_per_sm))
    }
}

/// One entry per pipe: the parts of a pipe's work follow each other, only different pipes run side by side.
fn merge(operations: &mut Vec<(Pipe, Flops)>) {
    let mut place = 0;
    while place < operations.len() {
        let (pipe, flops) = operations[place];
        match operations[..place].iter().position(|(other, _)| *other == pipe) {
            Some(earlier) => {
                operations[earlier].1 += flops;
                operations.remove(place);
            }
            None => place += 1,
        }
    }
}

fn check_numbers(kernel: &Kernel, grid_blocks: u64) -> Result<(), LaunchError> {
    let bad = |field, value: String, rule: &str| {
        Err(LaunchError::Range { kernel: kernel.name.clone(), field, value, rule: rule.into() })
    };
    if grid_blocks == 0 || grid_blocks > MAX_GRID_BLOCKS {
        return bad("grid", grid_blocks.to_string(), "at least 1 block and at most 2^62");
    }
    if kernel.resources.threads_per_block == 0 {
        return bad("block", "0".into(), "at least 1 thread");
    }
    let traffic = &kernel.traffic;
    let l2 = kernel.l2_access();
    for (field, share) in [
        ("traffic.dram.read_efficiency", traffic.dram.read_efficiency),
        ("traffic.dram.write_efficiency", traffic.dram.write_efficiency),
        ("traffic.l2.read_efficiency", l2.read_efficiency),
        ("traffic.l2.write_efficiency", l2.write_efficiency),
        ("traffic.shared.read_efficiency", traffic.shared.read_efficiency),
        ("traffic.shared.write_efficiency", traffic.shared.write_efficiency),
    ] {
        if !(share > 0.0 && share <= 1.0) {
            return bad(field, short(share, 6), "above 0 and at most 1 (bytes used / bytes moved)");
        }
    }
    let concurrency = &kernel.concurrency;
    for (field, number, least) in [
        ("bytes_in_flight", concurrency.bytes_in_flight, 1.0),
        ("instructions_in_flight", concurrency.instructions_in_flight, 1.0),
        ("dependent_accesses", concurrency.dependent_accesses, 0.0),
        ("warp_instructions", kernel.warp_instructions.unwrap_or(0.0), 0.0),
    ] {
        if !(number >= least && number.is_finite()) {
            return bad(field, short(number, 6), &format!("a finite number of at least {least}"));
        }
    }
    let totals = [
        ("operations", kernel.flops().get()),
        ("traffic.dram", traffic.dram.moved().get()),
        ("traffic.l2", l2.moved().get()),
        ("traffic.shared", traffic.shared.moved().get()),
    ];
    for (field, total) in totals {
        // 1e24 operations or bytes are years on any GPU; beyond it sums would overflow.
        if !(0.0..=1e24).contains(&total) {
            return bad(field, short(total, 6), "at most 1e24");
        }
    }
    Ok(())
}

/// Why no block fits, and the largest legal value of the resource that forbids it.
pub(crate) fn why_not(limits: &Limits, asked: &Resources, found: &Occupancy) -> (String, String) {
    let threads = asked.threads_per_block;
    match found.limiters().iter().next() {
        Some(Resource::Warps) => {
            let (largest, warps) = (limits.max_threads_per_block(), limits.max_warps());
            let held = warps.saturating_mul(limits.warp_size());
            let cure = if threads > largest || held >= threads {
                format!("the largest block is {}", plural(largest.into(), "thread"))
            } else {
                format!("an SM holds {} of {} threads at once", plural(warps.into(), "warp"), limits.warp_size())
            };
            (format!("{} per block", plural(threads.into(), "thread")), cure)
        }
        Some(Resource::Registers) => {
            let registers = asked.registers_per_thread;
            // Judged by registers alone: another resource may forbid the block as well.
            let alone = Resources { static_shared: 0, dynamic_shared: 0, ..*asked };
            let cure = match advice::largest_block(limits, &alone) {
                Some(block) => {
                    format!(
                        "with {registers} registers per thread the largest legal block is {}",
                        plural(block.into(), "thread")
                    )
                }
                None => format!("a thread holds at most {} registers", limits.max_registers_per_thread()),
            };
            let most = advice::most_registers(limits, asked, 1);
            let cure = most.map_or(cure.clone(), |m| {
                format!("{cure}; a block of {threads} threads may use {m} registers per thread")
            });
            (
                format!(
                    "{threads} threads with {registers} registers each need {} registers",
                    found.registers_per_block
                ),
                cure,
            )
        }
        Some(Resource::Shared) => {
            let optin = limits.max_shared(true);
            let allowed = limits.max_shared(asked.opt_in);
            let allowed = allowed.min(found.shared_capacity.saturating_sub(limits.reserved_shared()));
            let hint = if asked.opt_in || asked.shared() > optin { "" } else { " (the opt-in limit is higher)" };
            (
                format!(
                    "{} bytes ({:.1} KiB) of shared memory per block; this is on-chip memory, not GPU memory",
                    asked.shared(),
                    f64::from(asked.shared()) / 1024.0
                ),
                format!("a block may use at most {allowed} bytes ({:.1} KiB){hint}", f64::from(allowed) / 1024.0),
            )
        }
        Some(Resource::Barriers) => (
            format!("{} barriers per block", asked.barriers),
            format!("an SM has {}", limits.sm().and_then(|sm| sm.barriers_per_sm).unwrap_or(0)),
        ),
        Some(Resource::Scalars) => (
            format!("{} SGPRs per warp", asked.scalar_registers),
            "a warp addresses at most 102, and 6 for VCC, XNACK and flat scratch".into(),
        ),
        Some(Resource::Blocks) | None => ("the SM holds no block".into(), "check the limits of the GPU file".into()),
    }
}
