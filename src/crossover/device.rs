//! The time of a call on a GPU: the kernel by its own model, the host's launch, and the copies.

use std::{fmt, str::FromStr};

use super::{CrossoverError, Family, Place, Request, family::Work};
use crate::{
    gpu::Gpu,
    op::{
        gemm::{self, Planner, Precision, PrecisionError, Reuse},
        rowwise::{
            self, Operation,
            link::{Direction, LinkCopy, copy, copy_over},
        },
    },
    units::{BytesPerSecond, Seconds},
};

/// What data travel over between host and device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Link {
    /// The PCIe link of the GPU's file.
    #[default]
    Pcie,
    /// NVLink-C2C of Grace Hopper and Grace Blackwell.
    C2c,
    /// A link of this rate in one direction.
    Rate(BytesPerSecond),
}

/// Bytes per second of NVLink-C2C in one direction: 900 GB/s for both, NVIDIA Grace Hopper Superchip Architecture In-Depth
/// (developer.nvidia.com).
const C2C: f64 = 450e9;
/// Largest rate that is taken, in bytes per second.
const FASTEST: f64 = 1e15;

/// A text that names no link.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{input}` is no link: write pcie, c2c, or the rate of one direction such as \"25 GB/s\"")]
pub struct LinkTextError {
    /// As given.
    input: String,
}

impl FromStr for Link {
    type Err = LinkTextError;

    fn from_str(text: &str) -> Result<Self, LinkTextError> {
        match text {
            "pcie" => Ok(Self::Pcie),
            "c2c" => Ok(Self::C2c),
            _ => {
                let rate: Option<BytesPerSecond> = text.parse().ok();
                let rate = rate.filter(|rate| rate.get() > 0.0 && rate.get() <= FASTEST);
                rate.map(Self::Rate).ok_or_else(|| LinkTextError { input: text.into() })
            }
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pcie => f.write_str("PCIe"),
            Self::C2c => f.write_str("NVLink-C2C"),
            Self::Rate(rate) => write!(f, "a link of {rate}"),
        }
    }
}

/// Time of a call on a GPU, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceTime {
    /// The estimate: transfer, launch and kernel, one after the other.
    pub time: f64,
    /// Both ends of its band.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// The kernel.
    pub kernel: f64,
    /// What the host adds to a launch.
    pub launch: f64,
    /// This call's share of the copies.
    pub transfer: f64,
    /// The link, such as `PCIe Gen5 x16`; absent where nothing is copied.
    pub link: Option<String>,
}

/// How much less and more than on an A100 under Linux a launch costs: 1.6 us (L40) and 5 us (Windows) instead of 2.7 us, see
/// `launch_overhead` in `gpus/calibration.toml`.
const LAUNCH: (f64, f64) = (0.6, 1.9);

/// A GPU with the model of an operation.
#[derive(Clone, Debug)]
pub(super) struct Device {
    gpu: Gpu,
    kernel: Kernel,
}

#[derive(Clone, Debug)]
enum Kernel {
    Product(Box<Planner>),
    Rows(Box<rowwise::Model>),
}

impl Device {
    /// The GPU for the operation and type of a request.
    pub fn new(gpu: &Gpu, request: &Request) -> Result<Self, CrossoverError> {
        let Family::Gemm { .. } = request.family else {
            return Ok(Self { kernel: Kernel::Rows(Box::new(rowwise::Model::new(gpu)?)), gpu: gpu.clone() });
        };
        let precision = Precision::new(gpu, request.data, false)?;
        let planner = Planner::new(gpu, precision).ok_or_else(|| PrecisionError::NoUnit {
            gpu: gpu.name.clone(),
            wanted: precision.pipe.label(),
            available: "other types".into(),
        })?;
        Ok(Self { kernel: Kernel::Product(Box::new(planner)), gpu: gpu.clone() })
    }

    /// The time of a call of so much work at size `n`.
    pub fn time(&self, request: &Request, work: &Work, n: u64) -> Result<DeviceTime, CrossoverError> {
        let (kernel, low, high) = self.kernel(request, n)?;
        let launch = self.gpu.calibration.constants.launch_overhead.get();
        let copies = self.copies(request, work)?;
        let calls = request.reuse as f64;
        let sum = |of: fn(&LinkCopy) -> f64| copies.iter().map(|(copy, count)| of(copy) * count).sum::<f64>() / calls;
        let transfer = sum(|copy| copy.time);
        Ok(DeviceTime {
            time: kernel + launch + transfer,
            low: low + launch * LAUNCH.0 + sum(|copy| copy.low),
            high: high + launch * LAUNCH.1 + sum(|copy| copy.high),
            kernel,
            launch,
            transfer,
            link: copies.into_iter().next().map(|(copy, _)| copy.link),
        })
    }

    /// The kernel alone: estimate, low and high. What has just come over the link is not in L2; what a call before has used
    /// is there as far as it fits, as in the caches of the CPU.
    fn kernel(&self, request: &Request, n: u64) -> Result<(f64, f64, f64), CrossoverError> {
        let warm = !request.cold && (request.place == Place::Resident || request.reuse > 1);
        let none = || CrossoverError::Range { low: n, high: n };
        match &self.kernel {
            Kernel::Product(planner) => {
                let shape = request.family.shape(n)?.ok_or_else(none)?;
                let time = Seconds(planner.plan(shape, if warm { Reuse::Warm } else { Reuse::Cold }).time);
                let (low, high) = gemm::band(&self.gpu, planner.precision(), shape, time);
                Ok((time.get(), low.get().min(time.get()), high.get().max(time.get())))
            }
            Kernel::Rows(model) => {
                let operation = request.family.operation(n, request.data)?.ok_or_else(none)?;
                let found = model.estimate(&Operation { warm, ..operation });
                Ok((found.time, found.low, found.high))
            }
        }
    }

    /// One copy per tensor, and how many of them.
    fn copies(&self, request: &Request, work: &Work) -> Result<Vec<(LinkCopy, f64)>, CrossoverError> {
        let over = |bytes: f64, direction| match request.link {
            Link::Pcie => copy(&self.gpu, bytes, direction),
            Link::C2c => copy_over("NVLink-C2C", C2C, bytes),
            Link::Rate(rate) => copy_over(&request.link.to_string(), rate.get(), bytes),
        };
        let mut copies = Vec::new();
        // Fractions of a byte are those of types narrower than one.
        if request.place != Place::Resident && work.tensors > 0.0 {
            let each = (work.read / work.tensors).max(1.0);
            copies.push((over(each, Direction::HostToDevice)?, work.tensors));
        }
        if request.place == Place::Host {
            copies.push((over(work.written.max(1.0), Direction::DeviceToHost)?, 1.0));
        }
        Ok(copies)
    }
}
