//! What compilers say of kernels: registers, shared memory and spills, before anything ran.
//!
//! Read are the lines of `ptxas -v` and `nvcc --resource-usage`, of `nvlink`, which adds them up where device code is linked
//! (`nvcc -rdc=true`), of `cuobjdump --dump-resource-usage`, and the remarks of
//! `clang -Rpass-analysis=kernel-resource-usage` for AMD. They may stand in a build's log, in a Markdown file or among any
//! other output, coloured or not. A report has no launch: [`sizes`] says what every block size would give.
//!
//! What a line leaves out is 0 where the compiler names only what is used (`ptxas`: shared memory) and `None` elsewhere.

mod cuobjdump;
mod name;
mod ptxas;
mod remarks;
mod report;

use crate::{
    gpu::{Catalog, ComputeCapability, GpuError, Limits},
    occupancy::{Occupancy, Resources, occupancy},
};

use super::{
    error::{self, ProfileError},
    text,
};
use report::Collector;

/// What a kernel was compiled for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// An NVIDIA architecture such as `sm_90`; `sm_90a` is 9.0 too.
    Sm(ComputeCapability),
    /// An AMD target such as `gfx942`.
    Gfx(String),
}

impl Target {
    /// Reads `sm_80`, `sm_120a`, `compute_75` or `gfx90a:xnack-`; `None` for anything else.
    pub fn of(text: &str) -> Option<Self> {
        if let Some(number) = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_")) {
            let digits = number.trim_end_matches(|c: char| c.is_ascii_lowercase());
            let number: u16 = digits.parse().ok().filter(|n| (10..=2559).contains(n))?;
            let major = u8::try_from(number / 10).ok()?;
            return Some(Self::Sm(ComputeCapability { major, minor: (number % 10) as u8 }));
        }
        let gfx = text.split(':').next()?;
        let rest = gfx.strip_prefix("gfx")?;
        let known = (3..=6).contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_hexdigit());
        known.then(|| Self::Gfx(gfx.to_ascii_lowercase()))
    }

    /// The limits of a unit of this target.
    ///
    /// # Errors
    /// The catalog does not know the target.
    pub fn limits(&self, catalog: &Catalog) -> Result<Limits, GpuError> {
        match self {
            Self::Sm(capability) => catalog.limits(*capability).map(Limits::Sm),
            Self::Gfx(gfx) => catalog.compute_unit(gfx).map(Limits::Cu),
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sm(ComputeCapability { major, minor }) => write!(f, "sm_{major}{minor}"),
            Self::Gfx(gfx) => f.write_str(gfx),
        }
    }
}

/// What a compiler says of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CompiledKernel {
    /// The symbol as written, mangled for C++.
    pub symbol: String,
    /// The name for people: demangled, or the symbol where it is none of C++.
    pub name: String,
    /// What it was compiled for, where the report says so.
    pub target: Option<Target>,
    /// Registers per thread; VGPRs on AMD.
    pub registers: u32,
    /// Accumulation registers (AGPRs) per thread, AMD.
    pub accumulation_registers: Option<u32>,
    /// Scalar registers (SGPRs) per wavefront, AMD.
    pub scalar_registers: Option<u32>,
    /// Static shared memory per block (LDS), bytes.
    pub static_shared: Option<u32>,
    /// Bytes that a thread writes when registers spill, NVIDIA.
    pub spill_stores: Option<u32>,
    /// Bytes that a thread reads back, NVIDIA.
    pub spill_loads: Option<u32>,
    /// Vector registers that spilled, AMD.
    pub spilled_vectors: Option<u32>,
    /// Scalar registers that spilled, AMD.
    pub spilled_scalars: Option<u32>,
    /// Stack of a thread in bytes, that of the functions it calls included where the compiler states it; scratch on AMD.
    pub stack: Option<u32>,
    /// Barriers per block, NVIDIA.
    pub barriers: Option<u32>,
    /// Occupancy as the compiler states it: wavefronts per SIMD, AMD.
    pub stated_occupancy: Option<u32>,
    /// Line of the report that names it first, from 1.
    pub line: usize,
    /// How often the report says the same of it.
    pub times: u32,
}

/// Which compiler wrote a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// `ptxas -v`, `nvcc --resource-usage`, `nvlink -v`.
    Ptxas,
    /// `cuobjdump --dump-resource-usage`.
    Cuobjdump,
    /// `clang -Rpass-analysis=kernel-resource-usage` for AMD.
    AmdRemarks,
}

impl Compiler {
    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Ptxas => "ptxas -v",
            Self::Cuobjdump => "cuobjdump --dump-resource-usage",
            Self::AmdRemarks => "kernel-resource-usage remarks",
        }
    }
}

/// What a compiler report holds.
#[derive(Clone, Debug, PartialEq)]
pub struct CompilerReport {
    /// Who wrote the first kernel.
    pub compiler: Compiler,
    /// The kernels in the order of the report; what it says twice of one stands once.
    pub kernels: Vec<CompiledKernel>,
    /// What was skipped or odd.
    pub warnings: Vec<String>,
}

/// Whether a file with this beginning is a compiler report. Give the whole file where it is a build's log: the first
/// kernel may stand far below.
pub fn detect_compiler(head: &[u8]) -> bool {
    text::decode(head).is_ok_and(|text| !text::returns_alone(&text) && first_line(&text).is_some())
}

/// The first line of a compiler, with its number.
fn first_line(text: &str) -> Option<(usize, &str)> {
    text.lines()
        .enumerate()
        .find(|(_, line)| ptxas::is_line(line) || remarks::is_line(line) || cuobjdump::is_line(line))
        .map(|(index, line)| (index + 1, line))
}

/// Reads a compiler report.
///
/// # Errors
/// The file is empty, binary, no compiler report, or states the registers of no kernel.
pub fn read_compiler(bytes: &[u8]) -> Result<CompilerReport, ProfileError> {
    let text = text::decode(bytes)?;
    let first = first_line(&text);
    if first.is_none() {
        return Err(error::no_resources(&text, first));
    }
    let mut found = Collector::default();
    let mut ptxas = ptxas::Reader::default();
    let mut cuobjdump = cuobjdump::Reader::default();
    let mut remarks = remarks::Reader::default();
    for (index, line) in text.lines().enumerate() {
        let plain = report::without_colours(line);
        let number = index + 1;
        if !ptxas.line(number, &plain, &mut found) && !remarks.line(number, &plain, &mut found) {
            cuobjdump.line(number, &plain, &mut found);
        }
    }
    ptxas.finish(&mut found);
    remarks.finish(&mut found);
    cuobjdump.finish(&mut found);
    found.report().ok_or_else(|| error::no_resources(&text, first))
}

impl CompiledKernel {
    /// What a block of so many threads asks of an SM. Shared memory that is only given at launch is not known and taken
    /// as none.
    pub fn resources(&self, threads_per_block: u32) -> Resources {
        Resources {
            threads_per_block,
            registers_per_thread: self.registers,
            static_shared: self.static_shared.unwrap_or(0),
            barriers: self.barriers.unwrap_or(1),
            accumulation_registers: self.accumulation_registers.unwrap_or(0),
            scalar_registers: self.scalar_registers.unwrap_or(0),
            ..Resources::default()
        }
    }

    /// Whether registers spill to memory.
    pub fn spills(&self) -> bool {
        [self.spill_stores, self.spill_loads, self.spilled_vectors].into_iter().flatten().any(|amount| amount > 0)
    }
}

/// The residency of every block size in whole warps, from one warp to the largest block. Sizes that cannot run have 0
/// blocks. Launch bounds that the source may set are not in a report. Empty for a CPU.
pub fn sizes(kernel: &CompiledKernel, limits: &Limits) -> Vec<(u32, Occupancy)> {
    if let Limits::Core = limits {
        return Vec::new();
    }
    let warp = limits.warp_size().max(1);
    (1..=limits.max_threads_per_block() / warp)
        .map(|warps| (warps * warp, occupancy(limits, &kernel.resources(warps * warp))))
        .collect()
}

/// The sizes with the most resident warps, in the order given; each one's [`Occupancy::limiters`] say what holds it there.
/// Empty where no size can run.
pub fn best(sizes: &[(u32, Occupancy)]) -> Vec<(u32, Occupancy)> {
    let most = sizes.iter().map(|(_, found)| found.active_warps()).max().unwrap_or(0);
    sizes.iter().filter(|(_, found)| most > 0 && found.active_warps() == most).copied().collect()
}
