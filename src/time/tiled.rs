//! The terms of a tiled matrix product on one GPU, lean enough to be asked for every candidate tile: numbers only, no
//! allocation. Equations: `docs/model.md`, section 9.

use crate::{
    gpu::{self, Gpu, Pipe},
    kernel::{Operand, Tiled},
};

/// h of a tile of 256 x 128, on which the sustained rates were fitted.
pub const REFERENCE_TILE: f64 = 256.0 * 128.0 / (256.0 + 128.0);

const KIB: f64 = 1024.0;

/// What a GPU can do for one matrix product, in seconds, bytes and operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// SMs.
    pub sms: f64,
    /// Sustained operations per second and SM of the pipe.
    pub math: f64,
    /// Datasheet operations per second and SM of the pipe.
    pub peak: f64,
    /// Time between steps of the k-loop where nothing else binds.
    pub step: f64,
    /// Operands from L2 into one SM, bytes per second.
    pub feed: f64,
    /// Finished tiles out of one SM, bytes per second.
    pub store: f64,
    /// Largest stream of one SM, bytes per second.
    pub stream: f64,
    /// Sustained DRAM bandwidth, bytes per second.
    pub dram: f64,
    /// Datasheet DRAM bandwidth, bytes per second.
    pub dram_peak: f64,
    /// Resident data from L2, bytes per second.
    pub l2: f64,
    /// Partial sums of a split product through L2, bytes per second.
    pub partials: f64,
    /// Fixed cost of a kernel.
    pub fixed: f64,
    /// Fixed cost of splitting.
    pub split: f64,
    /// Effective L2 for residency, bytes.
    pub l2_capacity: f64,
    /// Steepness of the residency transition.
    pub residency_exponent: f64,
    /// Small-tile inefficiency, elements.
    pub small_tile: f64,
    /// What a byte between the rows of an operand adds to it.
    pub stride: f64,
    /// Share of a partial wave that is lost.
    pub quantisation: f64,
    /// Exponent of the p-sum.
    pub overlap: f64,
    /// Loss of clock in long kernels.
    pub droop: f64,
}

impl Machine {
    /// The machine for products on a pipe; absent where the GPU has no such unit.
    pub fn new(gpu: &Gpu, pipe: Pipe) -> Option<Self> {
        let constants = &gpu.calibration.constants;
        let gpu::Tiled { depth, feed_factor, partials_factor, store_factor, quantisation, split_factor, .. } =
            gpu.calibration.tiled_of(pipe);
        let clock = gpu.clocks.tensor.unwrap_or(gpu.clocks.vector).get();
        let peak = gpu.rate(pipe)? * gpu.clock(pipe).get();
        let sms = f64::from(gpu.sm.count);
        let dram_peak = gpu.memory.dram.bandwidth.get();
        let dram = dram_peak * gpu.calibration.dram_efficiency;
        let port = constants.l2_port.get() * constants.l2_feed * clock;
        let halves = if gpu.memory.l2.partitions > 1 { constants.l2_two_partitions } else { 1.0 };
        Some(Self {
            sms,
            math: peak * gpu.calibration.sustained_product(pipe),
            peak,
            step: constants.loaded_latency.get() / depth,
            feed: port * feed_factor,
            store: constants.store.get() * store_factor * clock,
            stream: gpu.calibration.sm_stream.get() * clock,
            dram,
            dram_peak,
            l2: (dram * constants.l2_stream_ratio).min(sms * port),
            partials: port * partials_factor,
            fixed: constants.fixed.get() * gpu.calibration.fixed_factor / clock,
            split: constants.split_cost.get() * split_factor / clock,
            l2_capacity: gpu.memory.l2.capacity.get() * constants.l2_effective * halves,
            residency_exponent: constants.residency_exponent,
            small_tile: constants.small_tile,
            stride: match pipe {
                Pipe::Tensor { .. } => 0.0,
                Pipe::Vector(_) | Pipe::Special => gpu.calibration.sgemm_stride / KIB,
            },
            quantisation,
            overlap: constants.overlap_exponent,
            droop: gpu.calibration.droop(pipe),
        })
    }

    /// Share of data still in L2 when so many bytes were touched between two uses: 1 / (1 + (R / Ceff)^8).
    pub fn hit(&self, distance: f64) -> f64 {
        if distance.is_infinite() {
            return 0.0;
        }
        1.0 / (1.0 + libm::pow(distance / self.l2_capacity, self.residency_exponent))
    }

    /// Quantised share of work: the busiest of `units` gets whole pieces, as far as the schedule does not even them out.
    #[inline]
    pub fn quantised(&self, pieces: f64) -> f64 {
        (self.quantisation * ceil(pieces) + (1.0 - self.quantisation) * pieces).max(1.0)
    }
}

impl Machine {
    /// Traffic in equivalents of DRAM: what L2 still holds streams at the rate of L2.
    pub fn streamed(&self, operands: &[Operand; 2]) -> f64 {
        let (all, resident) = self.resident(operands);
        all - resident + resident * self.dram / self.l2
    }

    /// All bytes, and those that L2 still holds.
    pub fn resident(&self, operands: &[Operand; 2]) -> (f64, f64) {
        let held = |o: &Operand| o.bytes * o.cached * self.hit(o.distance);
        (operands.iter().map(|o| o.bytes).sum(), operands.iter().map(held).sum())
    }
}

/// A matrix product cut into blocks of one tile and one share of k.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Blocks.
    pub blocks: f64,
    /// Resident blocks per SM.
    pub per_sm: f64,
    /// Steps of the k-loop of a block.
    pub steps: f64,
    /// Operations of a block, padding included.
    pub math: f64,
    /// Tile area / (height + width), elements.
    pub shape: f64,
    /// Bytes from one row of an operand to the next; 0 where they are near.
    pub stride: f64,
    /// Bytes of finished output per block.
    pub out: f64,
    /// Operand bytes that a block loads from L2.
    pub feed: f64,
    /// Bytes of all partial sums, written and read; 0 without split-K.
    pub partials: f64,
    /// DRAM traffic in equivalents: cold bytes, and resident ones at the rate of L2.
    pub streamed: f64,
}

/// The time of each resource, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Arithmetic of the busiest SM.
    pub math: f64,
    /// Steps of the k-loop that wait for memory.
    pub latency: f64,
    /// Output of the busiest SM; follows math or latency.
    pub store: f64,
    /// Operands from L2 into the busiest SM.
    pub feed: f64,
    /// DRAM, with resident data at the rate of L2.
    pub dram: f64,
    /// Streams of the SMs that have work.
    pub ports: f64,
    /// Launch, ramp and drain.
    pub fixed: f64,
    /// Split-K: its fixed cost and its partial sums.
    pub split: f64,
}

/// The time that one block takes of each part of its SM, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Block {
    /// Arithmetic.
    pub math: f64,
    /// Steps of the k-loop that wait for memory.
    pub latency: f64,
    /// Output.
    pub store: f64,
    /// Operands from L2.
    pub feed: f64,
}

impl Work {
    /// The work of a kernel in so many blocks.
    pub fn new(tiled: &Tiled, blocks: f64, per_sm: f64, machine: &Machine) -> Self {
        let Tiled { steps, math, shape, stride, out, feed, partials, operands } = *tiled;
        Self { blocks, per_sm, steps, math, shape, stride, out, feed, partials, streamed: machine.streamed(&operands) }
    }

    /// What one block asks of an SM that it has to itself.
    #[inline]
    pub fn block(&self, machine: &Machine) -> Block {
        let small_tile = machine.small_tile + machine.stride * self.stride;
        let tile_loss = (1.0 + small_tile / self.shape) / (1.0 + machine.small_tile / REFERENCE_TILE);
        Block {
            math: self.math / machine.math * tile_loss,
            latency: (self.steps - 1.0).max(0.0) * machine.step,
            store: self.out / machine.store,
            feed: self.feed / machine.feed,
        }
    }

    /// The parts on a machine; `balanced` without the loss of a partial wave.
    #[inline]
    pub fn parts(&self, machine: &Machine, balanced: bool) -> Parts {
        let share = |pieces: f64| if balanced { pieces.max(1.0) } else { machine.quantised(pieces) };
        let tiles = share(self.blocks / machine.sms);
        let waves = share(self.blocks / (machine.sms * self.per_sm));
        let block = self.block(machine);
        Parts {
            math: tiles * block.math,
            latency: waves * block.latency,
            store: tiles * block.store,
            feed: tiles * block.feed,
            dram: self.streamed / machine.dram,
            ports: self.streamed / (self.blocks.min(machine.sms) * machine.stream),
            fixed: machine.fixed,
            split: if self.partials > 0.0 {
                machine.split + self.partials / (machine.sms * machine.partials)
            } else {
                0.0
            },
        }
    }
}

impl Parts {
    /// What an SM does: math or waiting, whichever is longer, then the output.
    #[inline]
    pub fn compute(&self) -> f64 {
        self.math.max(self.latency) + self.store
    }

    /// The p-sum of compute, DRAM, ports and feed after the fixed costs, without droop.
    pub fn time(&self, overlap: f64) -> f64 {
        self.fixed + self.split + psum([self.compute(), self.dram, self.ports, self.feed], overlap)
    }

    /// Whether the time is surely longer than a limit, without the p-sum: powers of a higher exponent, which are quick,
    /// are no more than those of `overlap` where each part is within the limit.
    #[inline]
    pub fn exceed(&self, limit: f64, overlap: f64) -> bool {
        let left = limit - self.fixed - self.split;
        let parts = [self.compute(), self.dram, self.ports, self.feed].map(|part| part / left);
        let power = |part: f64| if overlap <= 3.5 { part * part * part * part.sqrt() } else { 0.0 };
        // The last places of both sums differ.
        let most = 1.0 + 1e-9;
        left.is_finite()
            && (left <= 0.0
                || parts.iter().any(|part| *part > most)
                || parts.into_iter().map(power).sum::<f64>() > most)
    }
}

/// The next whole number; of more pieces than fit in an integer each is one.
#[inline]
fn ceil(pieces: f64) -> f64 {
    if pieces < 9e18 {
        let whole = pieces as i64 as f64;
        if whole < pieces { whole + 1.0 } else { whole }
    } else {
        pieces
    }
}

fn psum(terms: [f64; 4], p: f64) -> f64 {
    let largest = terms.into_iter().fold(0.0, f64::max);
    if largest <= 0.0 || p.is_infinite() {
        return largest;
    }
    // Most sums have a largest term that is 1 and one or two that are 0: powers that need no work.
    let power = |t: f64| {
        if t == largest {
            1.0
        } else if t <= 0.0 {
            0.0
        } else {
            libm::pow(t / largest, p)
        }
    };
    let sum: f64 = terms.into_iter().map(power).sum();
    largest * libm::pow(sum, 1.0 / p)
}
