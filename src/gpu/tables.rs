//! The tables of a GPU file: counts, clocks, rates, memory levels, latencies, links and the vendor's printed peaks.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{DataType, Pipe};
use crate::units::{Bytes, BytesPerCycle, BytesPerSecond, Cycles, FlopsPerSecond, Hertz};

/// Streaming multiprocessors of the product.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sm {
    /// Enabled SMs.
    pub count: u32,
    /// Graphics processing clusters.
    pub gpc_count: Option<u32>,
    /// SMs of a GPC with none disabled: no GPC of the product has more.
    pub max_per_gpc: Option<u32>,
    /// Where the figures come from.
    pub source: String,
}

/// Clocks that the published peak of each unit implies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// Guaranteed base clock.
    pub base: Option<Hertz>,
    /// Clock of the vector units, instruction issue and caches.
    pub vector: Hertz,
    /// Clock of the tensor cores.
    pub tensor: Option<Hertz>,
    /// Clock that the published FP64 tensor peak implies.
    pub tensor_fp64: Option<Hertz>,
    /// Where the figures come from.
    pub source: String,
}

/// Operations per SM and clock cycle, dense, FMA = 2.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Special-function results, where sourced.
    pub special: Option<f64>,
    /// Factor of 2:4 structured sparsity on the tensor rate.
    pub sparsity: Option<f64>,
    /// Share of every tensor rate that the vendor lets this product use.
    pub tensor_cap: Option<f64>,
    /// Share of the FP64 vector rate that the vendor lets this product use.
    pub fp64_cap: Option<f64>,
    /// Vector rate by data type.
    pub vector: BTreeMap<DataType, f64>,
    /// Tensor rate by input type and accumulate type.
    #[serde(default)]
    pub tensor: BTreeMap<DataType, BTreeMap<DataType, f64>>,
    /// Where the figures come from.
    pub source: String,
}

/// Memory levels.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Device memory.
    pub dram: Dram,
    /// Level-2 cache.
    pub l2: L2,
    /// AMD's Infinity Cache between L2 and DRAM.
    pub infinity_cache: Option<InfinityCache>,
    /// Shared memory and L1 of one SM (LDS of a compute unit), where sourced.
    pub shared: Option<Shared>,
}

/// Device memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dram {
    /// Technology, such as HBM3.
    pub kind: String,
    /// Marketed capacity; of a CPU, what its board carries is open.
    pub capacity: Option<Bytes>,
    /// Datasheet bandwidth.
    pub bandwidth: BytesPerSecond,
    /// Width of the bus in bits.
    pub bus_bits: Option<u32>,
    /// Where the figures come from.
    pub source: String,
}

/// Last-level cache of AMD GPUs, beside the memory. The model takes data there as if in DRAM.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InfinityCache {
    /// Total size.
    pub capacity: Bytes,
    /// Peak bandwidth.
    pub bandwidth: Option<BytesPerSecond>,
    /// Where the figures come from.
    pub source: String,
}

/// Level-2 cache; of a CPU its last-level cache.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L2 {
    /// Total size.
    pub capacity: Bytes,
    /// 2 where two halves may both hold a line that all SMs share, else 1.
    pub partitions: u32,
    /// Read bandwidth of the whole cache.
    pub bandwidth: Option<BytesPerSecond>,
    /// Whether `bandwidth` is measured or specified.
    pub bandwidth_basis: Option<Basis>,
    /// Where the figures come from.
    pub source: String,
}

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// A micro-benchmark.
    Measured,
    /// The vendor.
    Specified,
}

/// Shared memory and L1 of one SM.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// Bytes per cycle and SM.
    pub bandwidth: BytesPerCycle,
    /// Bytes per cycle and SM of L1 hits, where measured.
    pub l1_bandwidth: Option<BytesPerCycle>,
    /// Where the figures come from.
    pub source: String,
}

/// Unloaded latencies from a pointer chase.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// The clock of these cycles; the vector clock where the source states none.
    pub clock: Option<Hertz>,
    /// A hit in L1.
    pub l1: Option<Cycles>,
    /// A hit in L2.
    pub l2: Option<Cycles>,
    /// An access to device memory.
    pub dram: Option<Cycles>,
    /// Where the figures come from.
    pub source: String,
}

/// Links to the host and to peers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// PCIe generation and width.
    pub pcie: Option<String>,
    /// NVLink bandwidth, both directions together.
    pub nvlink: Option<BytesPerSecond>,
    /// Where the figures come from.
    pub source: String,
}

/// The vendor's printed dense peaks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// FP64 vector.
    pub fp64: Option<FlopsPerSecond>,
    /// FP32 vector.
    pub fp32: Option<FlopsPerSecond>,
    /// FP16 vector.
    pub fp16: Option<FlopsPerSecond>,
    /// Tensor by input and accumulate type.
    #[serde(default)]
    pub tensor: BTreeMap<DataType, BTreeMap<DataType, FlopsPerSecond>>,
    /// Where the figures come from.
    pub source: String,
}

impl Published {
    /// Every printed peak with the pipe that it belongs to.
    pub fn peaks(&self) -> Vec<(Pipe, FlopsPerSecond)> {
        let vector = [(DataType::Fp64, self.fp64), (DataType::Fp32, self.fp32), (DataType::Fp16, self.fp16)];
        let vector = vector.into_iter().filter_map(|(t, peak)| Some((Pipe::Vector(t), peak?)));
        let tensor = self.tensor.iter().flat_map(|(input, by)| {
            by.iter().map(|(accumulate, peak)| {
                (Pipe::Tensor { input: *input, accumulate: *accumulate, sparse: false }, *peak)
            })
        });
        vector.chain(tensor).collect()
    }
}
