//! What one block asks of the unit that runs it, and the answer: limits, limiters, residency.

use crate::gpu::Limits;

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
    /// Blocks of a cluster, 1 without clusters; they do not change what one SM holds.
    pub cluster_blocks: u32,
    /// Accumulation registers (AGPRs) of one thread; AMD CDNA only.
    pub accumulation_registers: u32,
    /// Scalar registers (SGPRs) of one wavefront, those for VCC, XNACK and flat scratch included; AMD only.
    pub scalar_registers: u32,
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
            cluster_blocks: 1,
            accumulation_registers: 0,
            scalar_registers: 0,
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
    /// Scalar registers of an AMD GPU.
    Scalars,
}

impl Resource {
    /// Every resource, in the order of printed limits.
    pub const ALL: [Self; 6] =
        [Self::Warps, Self::Registers, Self::Shared, Self::Blocks, Self::Barriers, Self::Scalars];

    /// The resources that a device has, in the order of printed limits.
    pub fn of(limits: &Limits) -> &'static [Self] {
        match limits {
            Limits::Sm(_) => &Self::ALL[..5],
            Limits::Cu(_) => &[Self::Warps, Self::Registers, Self::Shared, Self::Blocks, Self::Scalars],
            Limits::Core => &[Self::Blocks],
        }
    }

    /// The word used in batch files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Warps => "warps",
            Self::Registers => "regs",
            Self::Shared => "smem",
            Self::Blocks => "blocks",
            Self::Barriers => "barriers",
            Self::Scalars => "sgprs",
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
            Self::Scalars => "SGPRs",
        }
    }
}

/// Blocks per SM that each resource alone would allow; `UNLIMITED` where a resource is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLimits(pub(super) [u32; 6]);

impl BlockLimits {
    /// The value of a limit that does not exist.
    pub const UNLIMITED: u32 = u32::MAX;

    /// One block slot and no other limit.
    pub(super) fn one_block() -> Self {
        let mut limits = [Self::UNLIMITED; 6];
        limits[Resource::Blocks as usize] = 1;
        Self(limits)
    }

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

    /// The set as bits, in the order of `Resource::ALL`; below 64.
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
        let others = Resource::ALL.into_iter().filter(|r| *r != Resource::Barriers).map(|r| self.limits.of(r));
        let least = others.fold(BlockLimits::UNLIMITED, u32::min);
        let attains = |r: &Resource| match r {
            Resource::Barriers => self.limits.of(*r) <= least,
            _ => self.limits.of(*r) == least,
        };
        Limiters(Resource::ALL.into_iter().filter(attains).fold(0, |set, r| set | 1 << r as u8))
    }
}
