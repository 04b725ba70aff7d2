//! What a GPU is: counts, clocks, rates, memory, SM limits and the calibration of its time model.

mod calibration;
mod catalog;
mod compute_unit;
mod limits;
mod meant;
mod message;
mod mig;
mod overrides;
mod pipe;
mod range;
mod read;
mod tables;
mod target;

use serde::Deserialize;

pub use calibration::{
    Band, Calibration, Constants, ConstantsOf, DataKind, Pipeline, Protocol, RandomData, TensorPower, TileSchedule,
    Tiled,
};
pub use catalog::{Catalog, Deviation};
pub use compute_unit::{Accumulation, CuLimits, VectorRegisters, WorkgroupMode};
pub use limits::{ComputeCapability, SmLimits};
pub(crate) use message::toml_message;
pub use mig::{Fraction, House, MigError, MigProfile, MigSlice, MigTable, SmStatus, split_profile};
pub use overrides::{Override, OverrideError};
pub use pipe::{DataType, Pipe, PipeError};
pub use tables::{Basis, Clocks, Dram, InfinityCache, L2, Latency, Links, Memory, Published, Rates, Shared, Sm};
pub use target::{Limits, Words};

use crate::units::{BytesPerSecond, Cycles, FlopsPerSecond, Hertz, Seconds, Watts};

/// A GPU that cannot be read, found or changed as asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GpuError {
    /// No product of this name.
    #[error("no GPU is called `{name}`{}: `wavecast gpus list` shows all, `--gpu FILE.toml` takes your own", near_names(.near))]
    Unknown {
        /// The name asked for.
        name: String,
        /// Names that look alike, best first.
        near: Vec<String>,
    },
    /// The text is not a compute capability.
    #[error("`{input}` is not a compute capability; write it like \"9.0\"")]
    CapabilityText {
        /// The text as given.
        input: String,
    },
    /// A compute capability without a row in the limits table.
    #[error(
        "no limits are known for compute capability {capability} (known: {known}); a GPU file can bring its own [limits] table"
    )]
    Capability {
        /// The capability asked for.
        capability: String,
        /// The capabilities of the table.
        known: String,
    },
    /// A gfx target without a row in the table of compute units.
    #[error(
        "no compute unit is known for target `{gfx}`{} (known: {known}); a GPU file can bring its own [compute_unit] table",
        near_names(.near)
    )]
    Gfx {
        /// The target asked for.
        gfx: String,
        /// The targets of the table.
        known: String,
        /// Targets that look alike.
        near: Vec<String>,
    },
    /// A file that is not a GPU file.
    #[error("{origin} is not a valid GPU file: {message}")]
    File {
        /// Where the text came from.
        origin: String,
        /// The parser's message with line and caret.
        message: String,
    },
    /// A value outside its range.
    #[error("{field} = {value} must be {rule}")]
    Value {
        /// Dotted path of the field.
        field: String,
        /// The value as given.
        value: String,
        /// What it must be.
        rule: String,
    },
    /// A what-if that cannot be applied.
    #[error(transparent)]
    Override(#[from] OverrideError),
    /// A MIG slice that cannot be had.
    #[error(transparent)]
    Mig(#[from] MigError),
}

fn near_names(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(", ")) }
}

/// One product, complete: what the file says, its SM limits and the constants of its time model.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// Stable name: the stem of its file.
    pub id: String,
    /// Marketing name with form factor and memory.
    pub name: String,
    /// Architecture name of the vendor.
    pub architecture: String,
    /// Chip name, where the vendor gives one.
    pub chip: Option<String>,
    /// Year of release, where sourced.
    pub release_year: Option<u16>,
    /// Power limit of the board or, of a CPU, of the socket, where sourced.
    pub power: Option<Watts>,
    /// Names that drivers and people use for it.
    pub aliases: Vec<String>,
    /// Product names that leave the form open, with what is assumed when they are used.
    pub family_aliases: Vec<FamilyAlias>,
    /// Figures on which sources disagree, and which was taken.
    pub disagreements: Vec<String>,
    /// Count of SMs and GPCs; of an AMD GPU compute units, of a CPU cores.
    pub sm: Sm,
    /// The clock of each kind of unit.
    pub clocks: Clocks,
    /// Operations per SM and cycle.
    pub rates: Rates,
    /// DRAM, L2 and shared memory.
    pub memory: Memory,
    /// Unloaded latencies, where measured.
    pub latency: Option<Latency>,
    /// Host and peer links.
    pub links: Option<Links>,
    /// The vendor's printed peaks; only tests and `gpus check` read them.
    pub published: Published,
    /// What a block must fit in.
    pub limits: Limits,
    /// Constants of the time model and whose they are.
    pub calibration: Calibration,
    /// What-if changes applied to the file, as "key = value (was old)".
    pub changes: Vec<String>,
    /// What it was cut from, where it is a MIG slice.
    pub mig: Option<MigSlice>,
}

/// A product name that leaves the form open.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyAlias {
    /// The open name.
    pub name: String,
    /// What is assumed when it is used.
    pub assumes: String,
}

impl Gpu {
    /// Operations per SM and cycle of a pipe that the product lets through, with sparsity as its factor; absent where the
    /// GPU has no such unit.
    pub fn rate(&self, pipe: Pipe) -> Option<f64> {
        match pipe {
            Pipe::Vector(data) => {
                let cap = if data == DataType::Fp64 { self.rates.fp64_cap } else { None };
                Some(self.rates.vector.get(&data)? * cap.unwrap_or(1.0))
            }
            Pipe::Special => self.rates.special,
            Pipe::Tensor { input, accumulate, sparse } => {
                let dense = *self.rates.tensor.get(&input)?.get(&accumulate)? * self.rates.tensor_cap.unwrap_or(1.0);
                match (sparse, input) {
                    (false, _) => Some(dense),
                    // No tensor core skips zeros of FP64.
                    (true, DataType::Fp64) => None,
                    (true, _) => Some(dense * self.rates.sparsity?),
                }
            }
        }
    }

    /// The clock at which a pipe's published peak holds.
    pub fn clock(&self, pipe: Pipe) -> Hertz {
        match pipe {
            Pipe::Vector(_) | Pipe::Special => self.clocks.vector,
            Pipe::Tensor { input: DataType::Fp64, .. } => {
                self.clocks.tensor_fp64.or(self.clocks.tensor).unwrap_or(self.clocks.vector)
            }
            Pipe::Tensor { .. } => self.clocks.tensor.unwrap_or(self.clocks.vector),
        }
    }

    /// Peak of the whole GPU: SMs x operations per SM and cycle x clock of the unit.
    pub fn peak(&self, pipe: Pipe) -> Option<FlopsPerSecond> {
        Some(FlopsPerSecond(self.rate(pipe)? * f64::from(self.sm.count) * self.clock(pipe).get()))
    }

    /// Every dense pipe of the GPU, vector first.
    pub fn pipes(&self) -> Vec<Pipe> {
        let tensor = self.rates.tensor.iter().flat_map(|(input, by)| {
            by.keys().map(|accumulate| Pipe::Tensor { input: *input, accumulate: *accumulate, sparse: false })
        });
        self.rates
            .vector
            .keys()
            .map(|t| Pipe::Vector(*t))
            .chain(tensor)
            .chain(self.rates.special.map(|_| Pipe::Special))
            .collect()
    }

    /// Units that take whole blocks: SMs, compute units or pairs of them, cores; at least 1.
    pub fn units(&self) -> u32 {
        (self.sm.count / self.limits.pairing()).max(1)
    }

    /// Bandwidth of the shared memories of all SMs together, where known.
    pub fn shared_bandwidth(&self) -> Option<BytesPerSecond> {
        let shared = self.memory.shared.as_ref()?;
        Some(shared.bandwidth * self.clocks.vector * f64::from(self.sm.count))
    }

    /// Whether this is a CPU: a roofline without occupancy and launch costs.
    pub fn is_cpu(&self) -> bool {
        matches!(self.limits, Limits::Core)
    }

    /// Time of one access to device memory: the measured chase, else the fitted loaded latency of the shared constants.
    pub fn dram_latency(&self) -> Seconds {
        self.latency_of(|l| l.dram).unwrap_or(self.calibration.constants.loaded_latency)
    }

    /// Time of one hit in L2, where measured.
    pub fn l2_latency(&self) -> Option<Seconds> {
        self.latency_of(|l| l.l2)
    }

    fn latency_of(&self, level: impl Fn(&Latency) -> Option<Cycles>) -> Option<Seconds> {
        let latency = self.latency.as_ref()?;
        Some(level(latency)? / latency.clock.unwrap_or(self.clocks.vector))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_are_derived_with_the_clock_of_the_unit() {
        let catalog = Catalog::embedded().expect("embedded files are valid");
        let h100 = catalog.find("h100-sxm5-80gb").expect("H100 is in the catalog").gpu;
        let tera = |text: &str| h100.peak(text.parse().expect("a pipe")).map(|p| (p.get() / 1e11).round() / 10.0);
        assert_eq!(tera("tensor.bf16"), Some(989.4));
        assert_eq!(tera("tensor.tf32"), Some(494.7));
        assert_eq!(tera("tensor.bf16.sparse"), Some(1978.9));
        assert_eq!(tera("vector.fp32"), Some(66.9));
        assert_eq!(tera("tensor.fp4"), None);
    }
    #[test]
    fn a_capped_rate_keeps_the_clock_of_the_silicon() {
        let catalog = Catalog::embedded().expect("embedded files are valid");
        let h20 = catalog.find("H20").expect("H20 is in the catalog").gpu;
        let tera = |text: &str| h20.peak(text.parse().expect("a pipe")).map(|p| p.get() / 1e12);
        let near = |text: &str, published: f64| {
            let derived = tera(text).expect(text);
            assert!((derived / published - 1.0).abs() < 0.01, "{text}: {derived} and {published}");
        };
        near("tensor.bf16", 148.0);
        near("tensor.bf16.sparse", 296.0);
        near("tensor.fp8", 296.0);
        near("vector.fp64", 1.0);
        let clock = h20.clock("tensor.bf16".parse().expect("a pipe"));
        assert!(clock.get() > 1.5e9, "463 MHz is no clock of a GH100: {clock}");

        let free = |key: &str| Override { key: key.into(), value: "1".into() };
        let free = catalog.find_with("H20", &[free("rates.tensor_cap"), free("rates.fp64_cap")]);
        let free = free.expect("a cap of 1 lets everything through").gpu;
        for text in ["tensor.bf16", "vector.fp64"] {
            let pipe = text.parse().expect("a pipe");
            assert!(free.peak(pipe) > h20.peak(pipe), "{text}");
        }
        let fp32 = "vector.fp32".parse().expect("a pipe");
        assert_eq!(free.peak(fp32), h20.peak(fp32));
    }
}
