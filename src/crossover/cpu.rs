//! The time of a call on a CPU: cores and SIMD from its file, caches by size, the start of threads. Nothing here was measured: the
//! constants below were set by hand, and the range is as wide as they are uncertain.

use super::{
    CrossoverError, Family, Request,
    family::{Math, Work},
};
use crate::{
    gpu::{DataType, Gpu, Pipe},
    op::rowwise::bytes,
};

/// Time of a call on a CPU, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuTime {
    /// The estimate.
    pub time: f64,
    /// Everything goes well: boosted clocks, perfect overlap, cheap threads.
    pub low: f64,
    /// Nothing does: no overlap, write-allocation, caches that lose what does not fit whole.
    pub high: f64,
    /// Cores of the estimate.
    pub cores: u32,
    /// What serves most of the bytes: `L1`, `L2`, `L3` or `DRAM`.
    pub level: &'static str,
    /// Whether arithmetic takes longer than memory.
    pub math: bool,
}

/// How well things go.
#[derive(Clone, Copy, Debug)]
struct Luck {
    /// Share of the peak at the clock of the file that products reach, and that single operations reach of their half.
    product: f64,
    single: f64,
    /// Share of what two vector loads per cycle would bring from L1, and of half of it from L2.
    near: f64,
    /// Bytes per cycle and core from L3.
    l3: f64,
    /// Share of the DRAM bandwidth, and bytes per second of one core.
    dram: f64,
    core_dram: f64,
    /// A step of the tree that starts and joins threads, and a call, in seconds.
    fork: f64,
    call: f64,
    /// Operations of an exponential, root, reciprocal or logarithm.
    special: f64,
    /// Whether arithmetic and memory add up, stores read their line first and a cache too small for all serves nothing.
    worst: bool,
}

// By judgement, not by measurement. Products: tuned libraries reach 70 to 90 % of the peak, and files have base clocks, which
// cores exceed. DRAM: streams reach 75 to 85 %. L3: a third to all of a line per four cycles. A core has 20 to 50 lines of 64 B in
// flight over 100 ns. Threads that wait for work start within microseconds, in a tree.
const USUAL: Luck = Luck {
    product: 0.8,
    single: 0.8,
    near: 0.6,
    l3: 10.0,
    dram: 0.8,
    core_dram: 20e9,
    fork: 0.8e-6,
    call: 50e-9,
    special: 30.0,
    worst: false,
};
const BEST: Luck = Luck {
    product: 0.95,
    single: 1.0,
    near: 1.0,
    l3: 16.0,
    dram: 0.9,
    core_dram: 35e9,
    fork: 0.3e-6,
    call: 20e-9,
    special: 15.0,
    worst: false,
};
const WORST: Luck = Luck {
    product: 0.5,
    single: 0.4,
    near: 0.3,
    l3: 5.0,
    dram: 0.6,
    core_dram: 10e9,
    fork: 3e-6,
    call: 200e-9,
    special: 60.0,
    worst: true,
};
/// How much above the base clock of its file all cores may run at best; files without a base clock have that of all cores.
const BOOST: f64 = 1.3;

/// L1 and L2 of a core, in bytes. No file has them: the cores of 2021 to 2024 have 32 to 64 KiB and 0.5 to 2 MiB.
const L1: f64 = 32.0 * 1024.0;
const L2: f64 = 1024.0 * 1024.0;
/// Rows of the block of C that a product keeps in registers; it is two vectors wide.
const BLOCK_ROWS: f64 = 8.0;
/// Columns of such a block at most; those of matrix units are no wider.
const BLOCK_COLUMNS: f64 = 32.0;
/// Share of the peak that is left without fused multiply-adds.
const UNFUSED: f64 = 0.5;

const LEVELS: [&str; 4] = ["L1", "L2", "L3", "DRAM"];

/// A CPU with the unit that an operation runs on.
#[derive(Clone, Debug)]
pub(super) struct Cpu {
    cores: u32,
    clock: f64,
    /// Clock of the unit that multiplies, and its operations per cycle and core.
    unit: (f64, f64),
    /// FP32 operations per cycle and core: twice the lanes of all vector pipes.
    lanes: f64,
    l3: f64,
    dram: f64,
    boost: f64,
    pub note: Option<&'static str>,
}

impl Cpu {
    /// The CPU for the operation and type of a request.
    pub fn new(cpu: &Gpu, request: &Request) -> Result<Self, CrossoverError> {
        let product = matches!(request.family, Family::Gemm { .. });
        let Some((pipe, note)) = unit(cpu, request.data, product) else {
            let known: Vec<&str> =
                DataType::ALL.iter().filter(|data| unit(cpu, **data, product).is_some()).map(|d| d.name()).collect();
            return Err(CrossoverError::NoUnit {
                name: cpu.name.clone(),
                dtype: request.data.name(),
                what: if product { "products" } else { "elements" },
                known: if known.is_empty() { "no type at all".into() } else { known.join(", ") },
            });
        };
        let rate = cpu.rate(pipe).unwrap_or(0.0);
        Ok(Self {
            cores: cpu.sm.count.max(1),
            clock: cpu.clocks.vector.get(),
            unit: (cpu.clock(pipe).get(), rate),
            lanes: cpu.rate(Pipe::Vector(DataType::Fp32)).unwrap_or(rate),
            l3: cpu.memory.l2.capacity.get(),
            dram: cpu.memory.dram.bandwidth.get(),
            boost: if cpu.clocks.base.is_some() { BOOST } else { 1.0 },
            note,
        })
    }

    /// The time of a call with its range.
    pub fn time(&self, work: &Work, cold: bool) -> CpuTime {
        let usual = self.fastest(work, cold, &USUAL, 1.0);
        CpuTime {
            time: usual.time,
            low: self.fastest(work, cold, &BEST, self.boost).time,
            high: self.fastest(work, cold, &WORST, 1.0).time,
            cores: usual.cores,
            level: LEVELS[usual.level],
            math: usual.math,
        }
    }

    /// The number of cores with which a call ends first: powers of two, or all.
    fn fastest(&self, work: &Work, cold: bool, luck: &Luck, boost: f64) -> Run {
        let doublings = (0..u32::BITS).map(|i| 1_u32 << i).take_while(|cores| *cores < self.cores);
        let runs = doublings.chain([self.cores]).map(|cores| self.run(work, cold, luck, boost, cores));
        let first = self.run(work, cold, luck, boost, 1);
        runs.fold(first, |best, run| if run.time < best.time { run } else { best })
    }

    fn run(&self, work: &Work, cold: bool, luck: &Luck, boost: f64, cores: u32) -> Run {
        let all = f64::from(cores);
        let math = self.math(work, luck, boost, all);
        let written = if luck.worst { 2.0 * work.written } else { work.written };
        let shares = self.shares(work.set, cold, luck, all);
        let rates = self.rates(luck, boost, all);
        let through = |bytes: f64, shares: [f64; 4]| -> f64 {
            shares.iter().zip(rates).filter(|(share, _)| **share > 0.0).map(|(share, rate)| bytes * share / rate).sum()
        };
        // A row is re-read by the core that has just read it.
        let again = through(work.again, self.shares(work.row, false, luck, 1.0));
        let memory = through(work.read + written, shares) + again;
        let body = if luck.worst { math + memory } else { math.max(memory) };
        let start = if cores > 1 { luck.fork * (1.0 + libm::log2(all)) } else { 0.0 };
        let most = |best: usize, level: usize| if shares[level] > shares[best] { level } else { best };
        Run { time: luck.call + start + body, cores, level: (0..4).fold(0, most), math: math > memory }
    }

    /// Share of a working set that each level serves: what the level inside has no room for. At worst a cycle through more
    /// than a cache holds finds nothing there.
    fn shares(&self, set: f64, cold: bool, luck: &Luck, cores: f64) -> [f64; 4] {
        if cold {
            return [0.0, 0.0, 0.0, 1.0];
        }
        let l2 = L2 * cores;
        let rooms = [L1 * cores, l2, l2.max(self.l3), f64::INFINITY];
        let mut shares = [0.0; 4];
        if luck.worst || set <= 0.0 {
            let level = rooms.iter().position(|room| set <= *room).unwrap_or(3);
            shares[level] = 1.0;
            return shares;
        }
        let mut inside = 0.0;
        for (share, room) in shares.iter_mut().zip(rooms) {
            let held = set.min(room);
            *share = (held - inside) / set;
            inside = held;
        }
        shares
    }

    /// Bytes per second of each level for so many cores.
    fn rates(&self, luck: &Luck, boost: f64, cores: f64) -> [f64; 4] {
        let clock = self.clock * boost * cores;
        // Two pipes take an operand each per cycle: 4 bytes for every lane, and a lane is two operations.
        let l1 = self.lanes / 2.0 * bytes(DataType::Fp32) * luck.near * clock;
        let l3 = (luck.l3 * clock).min(l1 / 2.0);
        // No level is slower than the next: what is brought in passes through it.
        [l1, l1 / 2.0, l3, (self.dram * luck.dram).min(luck.core_dram * cores).min(l3)]
    }

    fn math(&self, work: &Work, luck: &Luck, boost: f64, cores: f64) -> f64 {
        let (clock, rate) = self.unit;
        let peak = clock * boost * rate;
        match work.math {
            Math::Product(m, n, k) => {
                let columns = (rate / 2.0).clamp(2.0, BLOCK_COLUMNS);
                let vector = columns / 2.0;
                let blocks = libm::ceil(m / BLOCK_ROWS) * libm::ceil(n / columns);
                // Cores take whole blocks; the last columns fill a vector, the last rows stand alone.
                let outputs =
                    (m * libm::ceil(n / vector) * vector).min(libm::ceil(blocks / cores) * BLOCK_ROWS * columns);
                2.0 * outputs * k / (peak * luck.product)
            }
            Math::Elements { flop, special } => {
                (flop + special * luck.special) / (peak * UNFUSED * luck.single * cores)
            }
        }
    }
}

/// A call on so many cores.
#[derive(Clone, Copy, Debug)]
struct Run {
    time: f64,
    cores: u32,
    level: usize,
    math: bool,
}

/// The unit for a type, and what had to be decided: products of 16 bits take the matrix unit where its rate is known, else
/// FP32 lanes after widening; elements narrower than 32 bits are widened, too.
fn unit(cpu: &Gpu, data: DataType, product: bool) -> Option<(Pipe, Option<&'static str>)> {
    let has = |pipe: Pipe| cpu.rate(pipe).is_some().then_some(pipe);
    let tensor = Pipe::Tensor { input: data, accumulate: data.default_accumulate(), sparse: false };
    let plain = |pipe: Option<Pipe>| pipe.map(|pipe| (pipe, None));
    let fp32 = Pipe::Vector(DataType::Fp32);
    match (data, product) {
        (DataType::Fp64, _) => plain(has(Pipe::Vector(data))),
        (DataType::Fp32, _) => plain(has(fp32)),
        (DataType::Fp16 | DataType::Bf16, true) => match has(tensor) {
            Some(tensor) => Some((tensor, Some("the CPU multiplies on its matrix units"))),
            None => Some((has(fp32)?, Some("the CPU widens the operands to FP32: no faster unit has a sourced rate"))),
        },
        (DataType::Int8, true) => Some((has(tensor)?, Some("the CPU multiplies on its matrix units"))),
        (DataType::Fp16 | DataType::Bf16, false) => Some((has(fp32)?, Some("the CPU widens the elements to FP32"))),
        (DataType::Int32 | DataType::Int8, false) => {
            Some((has(fp32)?, Some("the CPU has as many lanes for integers of 32 bits as for FP32")))
        }
        _ => None,
    }
}
