//! The resident-block calculation of NVIDIA GPUs, equal to the CUDA occupancy calculator.
//!
//! Rules: registers go to warps in units of 256 and each sub-partition holds whole warps; shared memory goes to
//! blocks in allocation units and includes what the driver reserves; the carve-out is the smallest configuration
//! that holds the preferred share and one block.

use crate::gpu::SmLimits;

/// What one block asks of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Threads in a block (all dimensions multiplied).
    pub threads_per_block: u32,
    /// Registers of one thread, as the compiler reports them.
    pub registers_per_thread: u32,
    /// Statically declared shared memory per block, in bytes.
    pub static_shared: u32,
    /// Shared memory per block given at launch, in bytes.
    pub dynamic_shared: u32,
    /// How much of the unified cache is configured as shared memory.
    pub carveout: Carveout,
    /// Whether the kernel opted in to more than 48 KiB of shared memory per block.
    pub opt_in: bool,
    /// Hardware barriers per block.
    pub barriers: u32,
}

impl Default for Resources {
    fn default() -> Self {
        Self {
            threads_per_block: 0,
            registers_per_thread: 0,
            static_shared: 0,
            dynamic_shared: 0,
            carveout: Carveout::Largest,
            opt_in: true,
            barriers: 1,
        }
    }
}

impl Resources {
    /// Static and dynamic shared memory per block, in bytes.
    pub fn shared(&self) -> u32 {
        self.static_shared.saturating_add(self.dynamic_shared)
    }
}

/// The configured split between shared memory and L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carveout {
    /// The driver's default for the calculation: as much shared memory as the SM has.
    Largest,
    /// A preferred share of the most shared memory, 0 to 100 percent.
    Percent(u8),
    /// The size that a profiler saw for the launch, in bytes.
    Bytes(u32),
}

/// A resource that limits residency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Warp slots (threads).
    Warps,
    /// Registers.
    Registers,
    /// Shared memory.
    Shared,
    /// Block slots.
    Blocks,
    /// Hardware barriers.
    Barriers,
}

impl Resource {
    /// Every resource, in the order of printed limits.
    pub const ALL: [Self; 5] = [Self::Warps, Self::Registers, Self::Shared, Self::Blocks, Self::Barriers];

    /// The word used in batch files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Warps => "warps",
            Self::Registers => "regs",
            Self::Shared => "smem",
            Self::Blocks => "blocks",
            Self::Barriers => "barriers",
        }
    }

    /// The words used for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Warps => "warp slots",
            Self::Registers => "registers",
            Self::Shared => "shared memory",
            Self::Blocks => "block slots",
            Self::Barriers => "barriers",
        }
    }
}

/// Blocks per SM that each resource alone would allow; `UNLIMITED` where a resource is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLimits([u32; 5]);

impl BlockLimits {
    /// The value of a limit that does not exist.
    pub const UNLIMITED: u32 = u32::MAX;

    /// The limit set by one resource.
    pub fn of(&self, resource: Resource) -> u32 {
        self.0[resource as usize]
    }

    /// The least of all limits.
    pub fn least(&self) -> u32 {
        self.0.into_iter().fold(Self::UNLIMITED, u32::min)
    }
}

/// The resources that attain the least limit; ties are normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limiters(u8);

impl Limiters {
    /// The limiting resources in printing order.
    pub fn iter(self) -> impl Iterator<Item = Resource> {
        Resource::ALL.into_iter().filter(move |r| self.contains(*r))
    }

    /// Whether this resource is among the limiters.
    pub fn contains(self, resource: Resource) -> bool {
        self.0 & (1 << resource as u8) != 0
    }

    /// The set as bits, in the order of `Resource::ALL`; below 32.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// For people: "registers and shared memory".
    pub fn sentence(self) -> String {
        let labels: Vec<&str> = self.iter().map(Resource::label).collect();
        match labels.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            Some((last, _)) => (*last).to_owned(),
            None => String::new(),
        }
    }
}

/// The answer for one set of resources on one kind of SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Resident blocks per SM; 0 means that the block cannot run.
    pub blocks_per_sm: u32,
    /// What each resource alone would allow.
    pub limits: BlockLimits,
    /// Warps of one block.
    pub warps_per_block: u32,
    /// Warp slots of the SM.
    pub max_warps: u32,
    /// Registers that one block takes after rounding.
    pub registers_per_block: u32,
    /// Shared memory that one block takes after rounding and with the driver's share, in bytes.
    pub shared_per_block: u32,
    /// Shared memory that the SM is configured to, in bytes.
    pub shared_capacity: u32,
}

impl Occupancy {
    /// Resident warps per SM.
    pub fn active_warps(&self) -> u32 {
        self.blocks_per_sm * self.warps_per_block
    }

    /// Resident share of the warp slots, 0 to 1.
    pub fn fraction(&self) -> f64 {
        f64::from(self.active_warps()) / f64::from(self.max_warps)
    }

    /// The resources that attain the least limit. Where barriers allow fewer blocks than all others, NVIDIA's
    /// calculator adds them to the limiters found so far instead of replacing those; so does this.
    pub fn limiters(&self) -> Limiters {
        let others = &self.limits.0[..Resource::Barriers as usize];
        let least = others.iter().copied().fold(BlockLimits::UNLIMITED, u32::min);
        let attains = |r: &Resource| match r {
            Resource::Barriers => self.limits.of(*r) <= least,
            _ => self.limits.of(*r) == least,
        };
        Limiters(Resource::ALL.into_iter().filter(attains).fold(0, |set, r| set | 1 << r as u8))
    }
}

/// Resident blocks per SM for a block with these resources.
///
/// A block that cannot run is an answer: 0 blocks, with the limits at 0 that forbid it. `threads_per_block` must
/// be at least 1 (0 is answered as 1 warp).
pub fn occupancy(limits: &SmLimits, resources: &Resources) -> Occupancy {
    let warps_per_block = resources.threads_per_block.div_ceil(limits.warp_size).max(1);
    let too_many_threads = resources.threads_per_block > limits.max_threads_per_block;
    let by_warps = if too_many_threads { 0 } else { limits.max_warps_per_sm / warps_per_block };

    let unit = u64::from(limits.register_allocation_unit);
    let registers_per_warp =
        (u64::from(resources.registers_per_thread) * u64::from(limits.warp_size)).next_multiple_of(unit);
    let registers_per_block = registers_per_warp.saturating_mul(u64::from(warps_per_block));
    let by_registers = by_registers(limits, resources.registers_per_thread, registers_per_warp, warps_per_block);

    let shared_per_block = u64::from(resources.shared()) + u64::from(limits.reserved_shared_per_block);
    let shared_per_block = shared_per_block.next_multiple_of(u64::from(limits.shared_allocation_unit));
    let shared_per_block = u32::try_from(shared_per_block).unwrap_or(u32::MAX);
    let shared_capacity = shared_capacity(limits, resources.carveout, shared_per_block);
    let allowed = if resources.opt_in { limits.max_shared_per_block_optin } else { limits.max_shared_per_block };
    let by_shared = if resources.shared() > allowed {
        0
    } else {
        shared_capacity.checked_div(shared_per_block).unwrap_or(BlockLimits::UNLIMITED)
    };

    let by_barriers = match limits.barriers_per_sm {
        Some(total) => total.checked_div(resources.barriers).unwrap_or(BlockLimits::UNLIMITED),
        None => BlockLimits::UNLIMITED,
    };

    let limits_found = BlockLimits([by_warps, by_registers, by_shared, limits.max_blocks_per_sm, by_barriers]);
    Occupancy {
        blocks_per_sm: limits_found.least(),
        limits: limits_found,
        warps_per_block,
        max_warps: limits.max_warps_per_sm,
        registers_per_block: u32::try_from(registers_per_block).unwrap_or(u32::MAX),
        shared_per_block,
        shared_capacity,
    }
}

/// Each sub-partition holds whole warps of its share of the registers.
fn by_registers(limits: &SmLimits, registers_per_thread: u32, registers_per_warp: u64, warps_per_block: u32) -> u32 {
    if registers_per_thread == 0 {
        return BlockLimits::UNLIMITED;
    }
    let sides = u64::from(limits.sub_partitions);
    // A block is checked with its warps rounded up to the sub-partitions; 6.0, with two, is checked for four as well.
    let checked_warps = u64::from(warps_per_block).next_multiple_of(sides.max(4));
    let too_many = registers_per_thread > limits.calculator_registers_per_thread
        || checked_warps.saturating_mul(registers_per_warp) > u64::from(limits.max_registers_per_block);
    if too_many {
        return 0;
    }
    let warps = u64::from(limits.registers_per_sm) / sides / registers_per_warp * sides;
    u32::try_from(warps / u64::from(warps_per_block)).unwrap_or(BlockLimits::UNLIMITED)
}

/// The configured shared memory: the smallest configuration that holds the preferred share and one block.
fn shared_capacity(limits: &SmLimits, carveout: Carveout, shared_per_block: u32) -> u32 {
    let preferred = match carveout {
        Carveout::Largest => return limits.shared_per_sm,
        Carveout::Bytes(bytes) => return bytes,
        Carveout::Percent(percent) => u64::from(limits.shared_per_sm) * u64::from(percent) / 100,
    };
    let wanted = preferred.max(u64::from(shared_per_block));
    limits.shared_configurations.iter().copied().find(|c| u64::from(*c) >= wanted).unwrap_or(limits.shared_per_sm)
}
