//! What runs on the page: a matrix product, a kernel, equal blocks, a network in memory, a CPU against a GPU; with the keys of each in
//! an address.

use super::{
    blocks::Blocks,
    query::{Reader, Writer},
    race::Race,
    state::{Tab, WORDS},
};
use crate::{
    gpu::{DataType, Pipe},
    network::named,
    op::gemm::{Reuse, sides},
};

/// Longest side of a product on the page.
const LONGEST: u64 = 1 << 20;
/// Most blocks of a grid.
const MOST_BLOCKS: u64 = (1 << 31) - 1;
/// Most operations or bytes of a thread.
const MOST_WORK: f64 = 1e9;

/// What runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Run {
    /// A matrix product by its shape.
    Product(Product),
    /// A kernel as described.
    Launch(Launch),
    /// Equal blocks of a known time, one per SM.
    Blocks(Blocks),
    /// A network in memory.
    Network(Network),
    /// The same operation on a CPU and on the GPU.
    Race(Race),
}

/// A matrix product.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// Rows of A and C.
    pub m: u64,
    /// Columns of B and C.
    pub n: u64,
    /// Columns of A.
    pub k: u64,
    /// Type of A and B.
    pub dtype: DataType,
    /// Tile instead of the fastest.
    pub tile: Option<(u32, u32)>,
    /// Whether B is 2:4 sparse.
    pub sparse: bool,
    /// What L2 holds.
    pub l2: Reuse,
}

/// A launch of a kernel; work and traffic are per thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Blocks.
    pub grid: u64,
    /// Threads of a block.
    pub block: u64,
    /// Registers of a thread.
    pub registers: u64,
    /// Shared memory of a block in bytes.
    pub shared: u64,
    /// What computes.
    pub pipe: Pipe,
    /// Operations of a thread.
    pub flop: f64,
    /// Bytes that a thread reads from DRAM.
    pub read: f64,
    /// Bytes that a thread writes to DRAM.
    pub write: f64,
    /// Bytes of loads in flight per thread.
    pub flight: f64,
}

/// A network in the memory of a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// What is held.
    pub held: Held,
    /// Training or serving.
    pub phase: Phase,
    /// Sequences; 1 of parameters alone.
    pub batch: u64,
    /// Tokens of a sequence; 1 of parameters alone.
    pub seq: u64,
    /// Data-parallel ranks; 1 in serving.
    pub dp: u64,
    /// Stage of ZeRO; 0 in serving.
    pub zero: u64,
}

/// What a GPU holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// A built-in network, by its name.
    Network(String),
    /// So many parameters, without layers.
    Parameters(u64),
}

/// The word of `net` for parameters alone, and how many there are without more.
pub(super) const PARAMETERS: (&str, u64) = ("none", 7_000_000_000);
/// The unit of parameters in an address.
pub(super) const BILLION: f64 = 1e9;

/// What a network does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Training.
    Train,
    /// Serving.
    Inference,
}

impl Phase {
    pub(super) const WORDS: [(&str, Self); 2] = [("train", Self::Train), ("inference", Self::Inference)];

    /// As in commands.
    pub fn word(self) -> &'static str {
        if self == Self::Train { "train" } else { "inference" }
    }
}

impl Default for Product {
    fn default() -> Self {
        Self { m: 4096, n: 4096, k: 4096, dtype: DataType::Bf16, tile: None, sparse: false, l2: Reuse::default() }
    }
}

impl Default for Launch {
    fn default() -> Self {
        Self {
            grid: 65_536,
            block: 256,
            registers: 32,
            shared: 0,
            pipe: Pipe::Vector(DataType::Fp32),
            flop: 2.0,
            read: 8.0,
            write: 4.0,
            flight: 16.0,
        }
    }
}

impl Default for Network {
    fn default() -> Self {
        Self {
            held: Held::Network("llama-3.1-8b".into()),
            phase: Phase::Inference,
            batch: 1,
            seq: 4096,
            dp: 1,
            zero: 0,
        }
    }
}

/// What L2 may hold, with the words of addresses.
pub(super) const L2_WORDS: [(&str, Reuse); 3] =
    [("weights", Reuse::ColdWeights), ("cold", Reuse::Cold), ("warm", Reuse::Warm)];

impl Run {
    /// Words in addresses, those of the command line.
    const WORDS: [&str; 5] = ["gemm", "kernel", "simulate", "memory", "crossover"];

    /// The word in addresses, that of the command line.
    pub fn word(&self) -> &'static str {
        Self::WORDS[match self {
            Self::Product(_) => 0,
            Self::Launch(_) => 1,
            Self::Blocks(_) => 2,
            Self::Network(_) => 3,
            Self::Race(_) => 4,
        }]
    }

    /// The tabs that it has.
    pub fn tabs(&self) -> &'static [Tab] {
        match self {
            Self::Product(_) | Self::Launch(_) => {
                &[Tab::Roofline, Tab::Time, Tab::Waves, Tab::Timeline, Tab::Occupancy, Tab::Mig]
            }
            Self::Blocks(_) => &[Tab::Timeline, Tab::Waves],
            Self::Network(_) => &[Tab::Memory],
            Self::Race(_) => &[Tab::Crossover],
        }
    }

    pub(super) fn parse(reader: &mut Reader) -> Self {
        match reader.text("op").as_deref() {
            None | Some("gemm") => Self::Product(Product::parse(reader)),
            Some("kernel") => Self::Launch(Launch::parse(reader)),
            Some("simulate") => Self::Blocks(Blocks::parse(reader)),
            Some("memory") => Self::Network(Network::parse(reader)),
            Some("crossover") => Self::Race(Race::parse(reader)),
            Some(other) => {
                reader.refuse("op", other, format!("one of {}", Self::WORDS.join(", ")));
                Self::Product(Product::default())
            }
        }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        match self {
            Self::Product(product) => product.write(writer),
            Self::Launch(launch) => launch.write(writer),
            Self::Blocks(blocks) => blocks.write(writer),
            Self::Network(network) => network.write(writer),
            Self::Race(race) => race.write(writer),
        }
    }
}

impl Product {
    fn parse(reader: &mut Reader) -> Self {
        let usual = Self::default();
        let mut side = |key| reader.count(key, 1..=LONGEST);
        let (m, n, k) = (side("m"), side("n"), side("k"));
        let tile = reader.text("tile").and_then(|text| sides(&text).map_err(|e| reader.refuse("tile", &text, e)).ok());
        Self {
            m: m.unwrap_or(usual.m),
            n: n.unwrap_or(usual.n),
            k: k.unwrap_or(usual.k),
            dtype: reader.parsed("dtype").unwrap_or(usual.dtype),
            tile,
            sparse: reader.count("sparse", 0..=1) == Some(1),
            l2: reader.word("l2", &L2_WORDS).unwrap_or_default(),
        }
    }

    fn write(&self, writer: &mut Writer) {
        for (key, value) in [("m", self.m), ("n", self.n), ("k", self.k)] {
            writer.add(key, Some(value));
        }
        writer.add("dtype", Some(self.dtype.name()));
        writer.add("tile", self.tile.map(|(height, width)| format!("{height}x{width}")));
        writer.add("sparse", self.sparse.then_some(1));
        let l2 = L2_WORDS.iter().find(|(_, l2)| *l2 == self.l2 && *l2 != Reuse::default());
        writer.add("l2", l2.map(|(word, _)| word));
    }
}

impl Launch {
    fn parse(reader: &mut Reader) -> Self {
        let usual = Self::default();
        let mut count = |key, most, usual: u64| reader.count(key, u64::from(key != "smem")..=most).unwrap_or(usual);
        let grid = count("grid", MOST_BLOCKS, usual.grid);
        let block = count("block", 1024, usual.block);
        let registers = count("regs", 512, usual.registers);
        let shared = count("smem", 1 << 20, usual.shared);
        let pipe = reader.parsed("pipe").unwrap_or(usual.pipe);
        let mut real = |key, usual| reader.real(key, 0.0..=MOST_WORK).unwrap_or(usual);
        let (flop, read, write) = (real("flop", usual.flop), real("read", usual.read), real("write", usual.write));
        let flight = reader.real("flight", 1.0..=1024.0).unwrap_or(usual.flight);
        Self { grid, block, registers, shared, pipe, flop, read, write, flight }
    }

    fn write(&self, writer: &mut Writer) {
        for (key, value) in
            [("grid", self.grid), ("block", self.block), ("regs", self.registers), ("smem", self.shared)]
        {
            writer.add(key, Some(value));
        }
        writer.add("pipe", Some(self.pipe));
        for (key, value) in [("flop", self.flop), ("read", self.read), ("write", self.write), ("flight", self.flight)] {
            writer.add(key, Some(value));
        }
    }
}

impl Network {
    fn parse(reader: &mut Reader) -> Self {
        let usual = Self::default();
        let name = reader.short("net", WORDS);
        let billions = reader.real("billions", 0.001..=1e6);
        let held = match name {
            Some(name) if name != PARAMETERS.0 => Held::Network(name),
            None if billions.is_none() => usual.held,
            _ => Held::Parameters(billions.map_or(PARAMETERS.1, |n| libm::round(n * BILLION) as u64)),
        };
        let phase = reader.word("phase", &Phase::WORDS).unwrap_or(usual.phase);
        let mut count = |key, most, usual: u64| reader.count(key, 1..=most).unwrap_or(usual);
        // As long as the network takes, where the address does not say; a name that nothing has is refused with the answer.
        let longest = if let Held::Network(name) = &held { named(name).ok().map(|net| net.longest) } else { None };
        let longest = longest.filter(|longest| *longest > 0).unwrap_or(usual.seq);
        let (batch, seq) = (count("batch", 65_536, usual.batch), count("seq", LONGEST, usual.seq.min(longest)));
        let dp = count("dp", 65_536, 1);
        let zero = reader.count("zero", 0..=3).unwrap_or(0);
        Self { held, phase, batch, seq, dp, zero }.used()
    }

    /// Without what has no meaning here: who changes the kind or the phase keeps the address otherwise.
    pub(super) fn used(self) -> Self {
        // Parameters alone have no layers, so nothing depends on sequences; serving divides nothing among data-parallel ranks.
        let (batch, seq) = if let Held::Parameters(_) = self.held { (1, 1) } else { (self.batch, self.seq) };
        let (dp, zero) = if self.phase == Phase::Train { (self.dp, self.zero) } else { (1, 0) };
        Self { batch, seq, dp, zero, ..self }
    }

    fn write(&self, writer: &mut Writer) {
        let Self { batch, seq, dp, zero, .. } = *self;
        match &self.held {
            Held::Network(name) => writer.add("net", Some(name)),
            Held::Parameters(count) => writer.add("billions", Some(*count as f64 / BILLION)),
        }
        writer.add("phase", Some(self.phase.word()));
        if let Held::Network(_) = self.held {
            writer.add("batch", Some(batch));
            writer.add("seq", Some(seq));
        }
        if self.phase == Phase::Train {
            writer.add("dp", Some(dp));
            writer.add("zero", Some(zero));
        }
    }
}
