//! What a kernel does: resources per block, operations per pipe, traffic per memory level. Totals are per launch.

use crate::{
    gpu::Pipe,
    occupancy::Resources,
    units::{Bytes, Flops, FlopsPerByte},
};

/// Bytes of one DRAM or L2 sector; a request of a warp moves whole sectors.
pub const SECTOR: Bytes = Bytes(32.0);

/// Operations per byte, or bytes per operation, beyond which a kernel has no place on a roofline.
const MOST_INTENSITY: f64 = 1e40;

/// A kernel as its user describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Name for people.
    pub name: String,
    /// What one block asks of an SM.
    pub resources: Resources,
    /// Operations of the whole launch, by pipe.
    pub operations: Vec<(Pipe, Flops)>,
    /// Warp instructions of the whole launch, where known; else they are counted from the operations and requests.
    pub warp_instructions: Option<f64>,
    /// Traffic of the whole launch.
    pub traffic: Traffic,
    /// What a thread has in flight and what it must wait for.
    pub concurrency: Concurrency,
    /// The loop over k of a matrix product, which then decides over the time instead of `concurrency`.
    pub tiled: Option<Tiled>,
}

/// The blocks of a tiled matrix product: each loops over its share of k, then stores its tile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tiled {
    /// Steps of the loop.
    pub steps: f64,
    /// Operations of a block, padding included.
    pub math: f64,
    /// Tile area / (height + width), elements.
    pub shape: f64,
    /// Bytes from one row of an operand to the next; 0 where they are near.
    pub stride: f64,
    /// Bytes of output that a block stores.
    pub out: f64,
    /// Operand bytes that a block loads from L2.
    pub feed: f64,
    /// Bytes of all partial sums of split-K, written and read; 0 without it.
    pub partials: f64,
    /// The weights, and the activations with the output.
    pub operands: [Operand; 2],
}

/// Data of a matrix product and how long ago it was used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operand {
    /// Bytes.
    pub bytes: f64,
    /// Bytes touched between two uses; infinite for data that come from DRAM.
    pub distance: f64,
    /// Share of the data that L2 may hold: a stream past L2 leaves less of it.
    pub cached: f64,
}

/// Bytes that a level moves: what the kernel uses, divided by the share of each moved sector that is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// Bytes that the kernel reads.
    pub read: Bytes,
    /// Bytes that the kernel writes.
    pub write: Bytes,
    /// Used share of the bytes moved for reads, 0 (exclusive) to 1.
    pub read_efficiency: f64,
    /// Used share of the bytes moved for writes, 0 (exclusive) to 1.
    pub write_efficiency: f64,
}

impl Default for Access {
    fn default() -> Self {
        Self { read: Bytes::ZERO, write: Bytes::ZERO, read_efficiency: 1.0, write_efficiency: 1.0 }
    }
}

impl Access {
    /// Bytes used.
    pub fn used(&self) -> Bytes {
        self.read + self.write
    }

    /// Bytes moved.
    pub fn moved(&self) -> Bytes {
        self.read / self.read_efficiency + self.write / self.write_efficiency
    }

    /// Used share of the bytes moved.
    pub fn efficiency(&self) -> f64 {
        if self.moved().get() > 0.0 { self.used() / self.moved() } else { 1.0 }
    }

    /// Used share of the sectors that one warp request moves: `bytes_per_thread` of 32 threads against
    /// `sectors_per_request` sectors of 32 bytes.
    pub fn efficiency_of(bytes_per_thread: f64, sectors_per_request: f64) -> f64 {
        (32.0 * bytes_per_thread / (sectors_per_request * SECTOR.get())).min(1.0)
    }
}

/// Traffic of a launch at each memory level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Between DRAM and L2.
    pub dram: Access,
    /// Between L2 and the SMs; where absent, the DRAM traffic passes through once.
    pub l2: Option<Access>,
    /// At the shared memories; the efficiency is 1 without bank conflicts.
    pub shared: Access,
    /// Bytes touched between two uses of the same line by successive launches: data that was used less than an L2
    /// ago is still there. Absent: everything comes from DRAM (cold).
    pub reuse_distance: Option<Bytes>,
    /// Bytes that one thread spills to and reloads from local memory.
    pub spill_per_thread: Bytes,
}

/// What a thread has in flight and what it must wait for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Concurrency {
    /// Bytes of loads that one thread has outstanding.
    pub bytes_in_flight: f64,
    /// Independent arithmetic instructions that one warp has in flight.
    pub instructions_in_flight: f64,
    /// Memory accesses of a thread that each wait for the one before.
    pub dependent_accesses: f64,
    /// Where the dependent accesses end.
    pub dependent_level: Level,
}

impl Default for Concurrency {
    /// One 16-byte load (or four of 4 bytes) and two independent instructions: what compilers reach without tuning.
    fn default() -> Self {
        Self {
            bytes_in_flight: 16.0,
            instructions_in_flight: 2.0,
            dependent_accesses: 0.0,
            dependent_level: Level::Dram,
        }
    }
}

/// A memory level with its own roof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Device memory.
    Dram,
    /// Level-2 cache.
    L2,
    /// Shared memory (and L1) of the SMs.
    Shared,
}

impl Level {
    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Dram => "DRAM",
            Self::L2 => "L2",
            Self::Shared => "shared/L1",
        }
    }
}

impl Kernel {
    /// Operations of all arithmetic pipes (FMA = 2); special functions count as one each.
    pub fn flops(&self) -> Flops {
        self.operations.iter().map(|(_, flops)| *flops).sum()
    }

    /// Traffic that the kernel itself asks of L2: given, or the DRAM traffic once. Without spills.
    pub fn l2_access(&self) -> Access {
        self.traffic.l2.unwrap_or(self.traffic.dram)
    }

    /// The same kernel in a launch of `factor` times the work: operations, instructions and traffic scale, what a
    /// block asks of an SM stays.
    pub fn scaled(&self, factor: f64) -> Self {
        let mut scaled = self.clone();
        let by = |a: Access| Access { read: a.read * factor, write: a.write * factor, ..a };
        scaled.operations.iter_mut().for_each(|(_, flops)| *flops = *flops * factor);
        scaled.warp_instructions = self.warp_instructions.map(|i| i * factor);
        scaled.traffic.dram = by(self.traffic.dram);
        scaled.traffic.l2 = self.traffic.l2.map(by);
        scaled.traffic.shared = by(self.traffic.shared);
        scaled
    }

    /// Operations per byte used at a level; absent without operations or traffic there, or where one of them is
    /// nothing against the other.
    pub fn intensity(&self, level: Level) -> Option<FlopsPerByte> {
        let bytes = match level {
            Level::Dram => self.traffic.dram.moved(),
            Level::L2 => self.l2_access().moved(),
            Level::Shared => self.traffic.shared.moved(),
        };
        let intensity = (bytes.get() > 0.0).then(|| self.flops() / bytes);
        intensity.filter(|i| (1.0 / MOST_INTENSITY..=MOST_INTENSITY).contains(&i.get()))
    }

    /// Warp instructions, at least: one per 32 FMAs, and one per warp request (32 threads with `bytes_in_flight`
    /// up to 16 bytes each).
    pub fn least_warp_instructions(&self) -> f64 {
        if let Some(given) = self.warp_instructions {
            return given;
        }
        let arithmetic: f64 = self
            .operations
            .iter()
            .map(|(pipe, flops)| match pipe {
                Pipe::Vector(_) => flops.get() / 64.0,
                Pipe::Special => flops.get() / 32.0,
                // One tensor instruction does thousands of operations: its issue is negligible.
                Pipe::Tensor { .. } => 0.0,
            })
            .sum();
        let request = 32.0 * self.concurrency.bytes_in_flight.clamp(1.0, 16.0);
        arithmetic + (self.l2_access().used() + self.traffic.shared.used()).get() / request
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_give_the_used_share() {
        assert_eq!(Access::efficiency_of(4.0, 4.0), 1.0);
        assert_eq!(Access::efficiency_of(4.0, 32.0), 0.125);
        assert_eq!(Access::efficiency_of(16.0, 16.0), 1.0);
        let strided = Access { read: Bytes(100.0), write: Bytes(100.0), read_efficiency: 1.0, write_efficiency: 0.125 };
        assert_eq!(strided.moved(), Bytes(900.0));
    }
}
