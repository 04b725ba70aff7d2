//! The same operation on a CPU and on a GPU, from small to large: from which size the GPU wins. Equations: `docs/model.md`, section 17.

mod amdahl;
mod cpu;
mod device;
mod family;
mod search;
mod words;

pub use amdahl::{Sequential, SequentialError};
pub use cpu::CpuTime;
pub use device::{DeviceTime, Link, LinkTextError};
pub use family::Family;
pub use search::{Crossing, Crossover, From};

use crate::{
    gpu::{DataType, Gpu, GpuError},
    op::{
        gemm::{PrecisionError, ShapeError},
        rowwise::{ModelError, OperationError, link::LinkError},
    },
};

/// Where the operands are before the call, and the result after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// In the memory of the host: operands are copied in, the result is copied out.
    #[default]
    Host,
    /// The operands are copied in, the result stays on the device.
    Input,
    /// All of it is on the device and stays there.
    Resident,
}

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The operation that grows.
    pub family: Family,
    /// Type of the operands.
    pub data: DataType,
    /// Where the data are.
    pub place: Place,
    /// Calls that share one transfer, at least 1.
    pub reuse: u64,
    /// What the data travel over.
    pub link: Link,
    /// Whether operands are in DRAM before each call, instead of in the caches of the CPU and, where a call before has left them
    /// on the GPU, in its L2, as far as they fit.
    pub cold: bool,
}

impl Request {
    /// Data on the host, one call, the PCIe link of the GPU's file, warm caches.
    pub fn new(family: Family, data: DataType) -> Self {
        Self { family, data, place: Place::Host, reuse: 1, link: Link::Pcie, cold: false }
    }
}

/// A comparison that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CrossoverError {
    /// A GPU where the CPU should be.
    #[error("--cpu {name} is a GPU: name a CPU, such as epyc-9654 (`wavecast gpus list` shows all)")]
    NoCpu {
        /// Its name.
        name: String,
    },
    /// A CPU where the GPU should be.
    #[error("--gpu {name} is a CPU: name a GPU; CPUs go to --cpu")]
    NoGpu {
        /// Its name.
        name: String,
    },
    /// The CPU has no rate for the type.
    #[error("{name} has no unit of a known rate for {dtype} {what}; it takes {known}")]
    NoUnit {
        /// Name of the CPU.
        name: String,
        /// The type.
        dtype: &'static str,
        /// What should be computed.
        what: &'static str,
        /// Types that it takes.
        known: String,
    },
    /// Nothing grows.
    #[error("{sides} are all given: leave out the one that grows")]
    Still {
        /// The sides.
        sides: &'static str,
    },
    /// An element-wise kind that does not stream.
    #[error("{kind} does not stream through memory in order: take a kind that does, such as add, axpy, gelu or copy")]
    Kind {
        /// The kind.
        kind: &'static str,
    },
    /// No range of sizes.
    #[error("{low}:{high} is no range of sizes: write LOW:HIGH with LOW from 1 and HIGH above it, at most 2^40")]
    Range {
        /// Smallest size.
        low: u64,
        /// Largest size.
        high: u64,
    },
    /// No call at all.
    #[error("--reuse 0: a transfer serves at least 1 call")]
    Reuse,
    /// A product that no GPU multiplies.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// An operation that nothing can do.
    #[error(transparent)]
    Operation(#[from] OperationError),
    /// The GPU has no unit for the type.
    #[error(transparent)]
    Precision(#[from] PrecisionError),
    /// The GPU has no model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The link.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The device file.
    #[error(transparent)]
    Device(#[from] GpuError),
}

/// Both sides at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The size.
    pub n: u64,
    /// Bytes of operands and result.
    pub bytes: f64,
    /// Time on the CPU.
    pub cpu: CpuTime,
    /// Time on the GPU, transfer and launch included.
    pub gpu: DeviceTime,
}

impl Sample {
    /// Time on the CPU over time on the GPU: above 1 the GPU wins.
    pub fn speedup(&self) -> f64 {
        self.cpu.time / self.gpu.time
    }
}

/// A comparison that was checked; made once, then asked for many sizes.
#[derive(Clone, Debug)]
pub struct Model {
    request: Request,
    cpu: cpu::Cpu,
    device: device::Device,
}

impl Model {
    /// The comparison of a CPU and a GPU.
    ///
    /// # Errors
    /// The CPU is a GPU or the other way round, one of them has no unit for the type, no link is known, or nothing grows.
    pub fn new(cpu: &Gpu, gpu: &Gpu, request: &Request) -> Result<Self, CrossoverError> {
        if !cpu.is_cpu() {
            return Err(CrossoverError::NoCpu { name: cpu.name.clone() });
        }
        if gpu.is_cpu() {
            return Err(CrossoverError::NoGpu { name: gpu.name.clone() });
        }
        if request.reuse == 0 {
            return Err(CrossoverError::Reuse);
        }
        request.family.checked()?;
        let model = Self {
            cpu: cpu::Cpu::new(cpu, request)?,
            device: device::Device::new(gpu, request)?,
            request: request.clone(),
        };
        model.at(1)?;
        Ok(model)
    }

    /// What is compared.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// What the CPU computes with, such as `AVX of FP32`, and what had to be decided for it.
    pub fn cpu_note(&self) -> Option<&'static str> {
        self.cpu.note
    }

    /// Both times at a size.
    ///
    /// # Errors
    /// The size is 0 or too large.
    pub fn at(&self, n: u64) -> Result<Sample, CrossoverError> {
        let work = self.request.family.work(n, self.request.data)?;
        Ok(Sample {
            n,
            bytes: work.read + work.written,
            cpu: self.cpu.time(&work, self.request.cold),
            gpu: self.device.time(&self.request, &work, n)?,
        })
    }

    /// The same comparison with all data on the device.
    pub fn resident(&self) -> Self {
        let request = Request { place: Place::Resident, ..self.request.clone() };
        Self { request, ..self.clone() }
    }
}
