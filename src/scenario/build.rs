//! From the options of a kernel to the kernel of the model: every check of a value that needs no GPU.

use super::{
    KernelSpec, ScenarioError,
    spec::{AccessSpec, SharedSpec},
    words::Per,
};
use crate::{
    kernel::{Access, Concurrency, Kernel, Level, Traffic},
    occupancy::{Carveout, Resources},
    units::{Bytes, decimal, short},
};

/// Most blocks in x, y and z of a grid.
pub const MAX_GRID: [u64; 3] = [(1 << 31) - 1, 65_535, 65_535];

/// Most threads in x, y and z of a block; their product has a limit of its own, which the launch checks.
pub const MAX_BLOCK: [u64; 3] = [u32::MAX as u64, u32::MAX as u64, 64];

/// Totals below this are no byte or operation by any account; ratios of such numbers overflow.
const LEAST: f64 = 1e-9;

/// Totals above this are years on any GPU.
const MOST: f64 = 1e24;

impl KernelSpec {
    /// The kernel, the blocks of its grid, and what had to be assumed.
    ///
    /// # Errors
    /// Names the key, the value and what it may be. Limits of a GPU are checked by its launch.
    pub fn build(&self) -> Result<(Kernel, u64, Vec<String>), ScenarioError> {
        let grid_blocks = self.extent("grid", self.grid, MAX_GRID, "blocks")?;
        let threads = self.extent("block", self.block, MAX_BLOCK, "threads")?;
        let threads_per_block =
            u32::try_from(threads).map_err(|_| self.bad("block", self.block, "at most 1024 threads run in a block"))?;
        let resources = Resources {
            threads_per_block,
            registers_per_thread: self.small("registers_per_thread", self.registers_per_thread, 1)?,
            static_shared: self.whole("static_shared", self.static_shared)?,
            dynamic_shared: self.whole("dynamic_shared", self.dynamic_shared)?,
            carveout: self.carveout()?,
            opt_in: self.opt_in,
            barriers: self.small("barriers", self.barriers, 0)?,
            cluster_blocks: self.cluster_blocks()?,
            accumulation_registers: self.small("accumulation_registers", self.accumulation_registers, 0)?,
            scalar_registers: self.small("scalar_registers", self.scalar_registers, 0)?,
        };
        let count = |per: Per| match per {
            Per::Launch => 1.0,
            Per::Block => grid_blocks as f64,
            Per::Thread => grid_blocks as f64 * f64::from(threads_per_block),
        };
        let (work, moved) = (count(self.work.per), count(self.traffic.per));
        let mut operations = Vec::with_capacity(self.work.operations.len());
        for (pipe, flops) in &self.work.operations {
            let total = *flops * work;
            self.finite(&format!("work.operations.{pipe}"), flops, total.get(), self.work.per)?;
            operations.push((*pipe, total));
        }
        let warp_instructions = match self.work.warp_instructions {
            Some(given) => {
                self.finite("work.warp_instructions", given, given * work, self.work.per)?;
                Some(given * work)
            }
            None => None,
        };
        let traffic = Traffic {
            dram: self.access("traffic.dram", &self.traffic.dram, moved)?,
            l2: self.traffic.l2.map(|l2| self.access("traffic.l2", &l2, moved)).transpose()?,
            shared: self.shared(&self.traffic.shared, moved)?,
            reuse_distance: self.traffic.reuse_distance,
            spill_per_thread: self.traffic.spill_per_thread,
        };
        let spilled = self.traffic.spill_per_thread;
        self.finite("traffic.spill_per_thread", spilled, spilled.get() * count(Per::Thread), Per::Thread)?;
        let mut assumptions = Vec::new();
        let concurrency = self.concurrency(&resources, &traffic, &mut assumptions)?;
        if self.is_empty() {
            assumptions.push("neither work nor traffic is given: the time is that of launching empty blocks".into());
        }
        let name = self.name.clone();
        let kernel = Kernel { name, resources, operations, warp_instructions, traffic, concurrency, tiled: None };
        Ok((kernel, grid_blocks, assumptions))
    }

    /// Whether the kernel neither computes nor moves anything.
    pub fn is_empty(&self) -> bool {
        let (work, traffic) = (&self.work, &self.traffic);
        let l2 = traffic.l2.map_or(Bytes::ZERO, |l2| l2.read + l2.write);
        let bytes = traffic.dram.read + traffic.dram.write + l2 + traffic.shared.read + traffic.shared.write;
        work.operations.iter().all(|(_, flops)| flops.get() == 0.0)
            && work.warp_instructions.unwrap_or(0.0) == 0.0
            && (bytes + traffic.spill_per_thread).get() == 0.0
            && self.concurrency.dependent_accesses == 0.0
    }

    fn bad(&self, key: &str, value: impl std::fmt::Display, rule: impl Into<String>) -> ScenarioError {
        ScenarioError::option(&self.name, key, value, rule)
    }

    fn extent(&self, key: &str, dims: super::Dims, most: [u64; 3], what: &str) -> Result<u64, ScenarioError> {
        if let Some((axis, value, most)) = dims.outside(most) {
            // The launch knows how many threads the GPU allows in all; this is only about numbers beyond any GPU.
            let rule = match (what, value) {
                ("threads", 1025..) => format!("{axis} is {value}; a block has at most 1024 threads"),
                ("threads", 0) => format!("{axis} is 0; a block has 1 to 1024 threads"),
                _ => format!("{axis} is {value}, it must be at least 1 and at most {most} {what}"),
            };
            return Err(self.bad(key, dims, rule));
        }
        dims.total().ok_or_else(|| self.bad(key, dims, format!("more than 2^64 {what}")))
    }

    /// Blocks of a cluster; each dimension of the grid holds whole clusters.
    fn cluster_blocks(&self) -> Result<u32, ScenarioError> {
        let blocks = self.extent("cluster", self.cluster, [1 << 20; 3], "blocks")?;
        let split = self.grid.0.iter().zip(self.cluster.0).any(|(grid, cluster)| !grid.is_multiple_of(cluster));
        if split {
            let rule = format!("each dimension of the grid {} must be a multiple of it", self.grid);
            return Err(self.bad("cluster", self.cluster, rule));
        }
        self.small("cluster", blocks, 1)
    }

    fn small(&self, key: &str, value: u64, least: u32) -> Result<u32, ScenarioError> {
        let narrow = u32::try_from(value).ok().filter(|v| *v >= least && *v <= 1 << 20);
        narrow.ok_or_else(|| self.bad(key, value, format!("it must be a whole number from {least} to {}", 1 << 20)))
    }

    fn whole(&self, key: &str, size: Bytes) -> Result<u32, ScenarioError> {
        let bytes = size.get();
        if bytes.fract() == 0.0 && (0.0..=f64::from(1 << 30)).contains(&bytes) {
            return Ok(bytes as u32);
        }
        let rule = "it must be a whole number of bytes, at most 1 GiB: this is on-chip memory of a block (SMs have some 100 KiB)";
        Err(self.bad(key, size, rule))
    }

    fn carveout(&self) -> Result<Carveout, ScenarioError> {
        let Some(percent) = self.carveout else { return Ok(Carveout::Largest) };
        match u8::try_from(percent) {
            Ok(narrow @ 0..=100) => Ok(Carveout::Percent(narrow)),
            _ => Err(self.bad("carveout", percent, "it must be a percentage from 0 to 100")),
        }
    }

    fn finite(&self, key: &str, one: impl std::fmt::Display, total: f64, per: Per) -> Result<(), ScenarioError> {
        if total == 0.0 || (LEAST..=MOST).contains(&total) {
            return Ok(());
        }
        let rule = match per {
            Per::Launch => "it must be 0, or at least 1e-9 and at most 1e24".to_owned(),
            _ => {
                format!(
                    "per {}, {} in all; the total must be 0, or at least 1e-9 and at most 1e24",
                    per.word(),
                    short(total, 6)
                )
            }
        };
        Err(self.bad(key, one, rule))
    }

    fn access(&self, key: &str, spec: &AccessSpec, count: f64) -> Result<Access, ScenarioError> {
        let at = |name: &str| format!("{key}.{name}");
        for (name, bytes) in [("read", spec.read), ("write", spec.write)] {
            self.finite(&at(name), bytes, bytes.get() * count, self.traffic.per)?;
        }
        let width = spec.bytes_per_access.unwrap_or(4.0);
        if !(width > 0.0 && width <= 16.0) {
            let rule = "it must be above 0 and at most 16 bytes, what one thread accesses at once";
            return Err(self.bad(&at("bytes_per_access"), width, rule));
        }
        let efficiency = |direction: &str, given: Option<f64>, sectors: Option<f64>| {
            let (name, by_sectors) =
                (at(&format!("{direction}_efficiency")), at(&format!("{direction}_sectors_per_request")));
            match (given, sectors) {
                (Some(_), Some(sectors)) => {
                    Err(self.bad(&by_sectors, sectors, format!("{direction}_efficiency is given too: keep one")))
                }
                (Some(share), None) if !(share > 0.0 && share <= 1.0) => {
                    Err(self.bad(&name, share, "it must be above 0 and at most 1: bytes used / bytes moved"))
                }
                (None, Some(sectors)) if !(1.0..=128.0).contains(&sectors) => {
                    let rule = "it must be from 1 to 128: 4 for coalesced 4-byte accesses, 32 where each thread has a sector of its own";
                    Err(self.bad(&by_sectors, sectors, rule))
                }
                (None, Some(sectors)) => Ok(Access::efficiency_of(width, sectors)),
                (given, None) => Ok(given.unwrap_or(1.0)),
            }
        };
        Ok(Access {
            read: spec.read * count,
            write: spec.write * count,
            read_efficiency: efficiency("read", spec.read_efficiency, spec.read_sectors_per_request)?,
            write_efficiency: efficiency("write", spec.write_efficiency, spec.write_sectors_per_request)?,
        })
    }

    fn shared(&self, spec: &SharedSpec, count: f64) -> Result<Access, ScenarioError> {
        for (key, bytes) in [("traffic.shared.read", spec.read), ("traffic.shared.write", spec.write)] {
            self.finite(key, bytes, bytes.get() * count, self.traffic.per)?;
        }
        let share = |key: &str, own: Option<f64>| {
            let ways = own.or(spec.bank_conflict).unwrap_or(1.0);
            if (1.0..=32.0).contains(&ways) {
                return Ok(1.0 / ways);
            }
            let key = if own.is_some() { key } else { "traffic.shared.bank_conflict" };
            Err(self.bad(key, ways, "it must be from 1 (no conflict) to 32 (all threads of a warp in one bank)"))
        };
        Ok(Access {
            read: spec.read * count,
            write: spec.write * count,
            read_efficiency: share("traffic.shared.read_bank_conflict", spec.read_bank_conflict)?,
            write_efficiency: share("traffic.shared.write_bank_conflict", spec.write_bank_conflict)?,
        })
    }

    fn concurrency(
        &self,
        resources: &Resources,
        traffic: &Traffic,
        assumptions: &mut Vec<String>,
    ) -> Result<Concurrency, ScenarioError> {
        let spec = &self.concurrency;
        let usual = Concurrency::default();
        // A tiled kernel double-buffers: half of its shared memory is being filled while the other half is used.
        let buffered = f64::from(resources.shared()) / f64::from(resources.threads_per_block) / 2.0;
        let bytes_in_flight = spec.bytes_in_flight.unwrap_or(usual.bytes_in_flight.max(buffered));
        let reads = traffic.l2.unwrap_or(traffic.dram).read.get() > 0.0;
        if spec.bytes_in_flight.is_none() && reads {
            let why = if buffered > usual.bytes_in_flight {
                "half the shared memory of a block is being filled while the other half is used"
            } else {
                "one 16-byte load or four of 4 bytes"
            };
            assumptions.push(format!("{} bytes in flight per thread: {why}", decimal(bytes_in_flight, 2)));
        }
        let found = Concurrency {
            bytes_in_flight,
            instructions_in_flight: spec.instructions_in_flight.unwrap_or(usual.instructions_in_flight),
            dependent_accesses: spec.dependent_accesses,
            dependent_level: spec.dependent_level.unwrap_or(Level::Dram),
        };
        for (key, value, least) in [
            ("concurrency.bytes_in_flight", found.bytes_in_flight, 1.0),
            ("concurrency.instructions_in_flight", found.instructions_in_flight, 1.0),
            ("concurrency.dependent_accesses", found.dependent_accesses, 0.0),
        ] {
            if !(least..=1e12).contains(&value) {
                return Err(self.bad(key, value, format!("it must be a number from {least} to 1e12")));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Dims;

    #[test]
    fn amounts_per_thread_and_block_are_multiplied_out() {
        let mut spec = KernelSpec { grid: Dims([10, 2, 1]), block: Dims([16, 16, 1]), ..KernelSpec::default() };
        spec.work.per = Per::Block;
        spec.work.operations = vec![("vector.fp32".parse().unwrap(), crate::units::Flops(3.0))];
        spec.traffic.per = Per::Thread;
        spec.traffic.dram.read = Bytes(8.0);
        spec.dynamic_shared = Bytes(32.0 * 1024.0);
        let (kernel, blocks, assumptions) = spec.build().unwrap();
        assert_eq!((blocks, kernel.resources.threads_per_block), (20, 256));
        assert_eq!((kernel.flops().get(), kernel.traffic.dram.read.get()), (60.0, 40_960.0));
        assert_eq!(kernel.concurrency.bytes_in_flight, 64.0);
        assert!(assumptions[0].starts_with("64 bytes in flight"));
    }
}
