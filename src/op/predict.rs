//! A row of a table answered: the kernel, its time with a band, its bound, and whose constants these are.

use std::collections::HashMap;

use super::{
    answer::Answer,
    attention::AttentionError,
    calls::Calls,
    conv::ConvError,
    gemm::{
        Candidate, Force, ForceError, Plan, Planner, Precision, PrecisionError, Reuse, Uncalibrated, band, uncalibrated,
    },
    moe::MoeError,
    row::Row,
    rowwise,
    table::{Request, RowError, Timing},
};
use crate::{
    gpu::{Catalog, ConstantsOf, DataKind, DataType, Gpu, GpuError, Pipe, Protocol},
    time::Bound,
    units::Seconds,
};

/// A row that cannot be predicted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PredictError {
    /// The row itself.
    #[error(transparent)]
    Row(#[from] RowError),
    /// No GPU is named.
    #[error("gpu is empty; name one there or by --gpu")]
    NoGpu,
    /// The GPU is not known.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A processor that the model of tiled kernels does not hold for.
    #[error("{name} is a CPU; matrix products are predicted on GPUs")]
    Cpu {
        /// Name of the processor.
        name: String,
    },
    /// No attention call, or none on this GPU.
    #[error(transparent)]
    Attention(#[from] AttentionError),
    /// No convolution, or none on this GPU.
    #[error(transparent)]
    Conv(#[from] ConvError),
    /// No mixture of experts, or none on this GPU.
    #[error(transparent)]
    Moe(#[from] MoeError),
    /// No operation on elements or rows.
    #[error(transparent)]
    Rowwise(#[from] rowwise::RowError),
    /// No such operation on this GPU.
    #[error(transparent)]
    RowwiseModel(#[from] rowwise::ModelError),
    /// The GPU does not multiply the type.
    #[error(transparent)]
    Precision(#[from] PrecisionError),
    /// The library has no such kernel.
    #[error(transparent)]
    Force(#[from] ForceError),
}

/// The answer to one row; times in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'a> {
    /// The GPU.
    pub gpu: &'a Gpu,
    /// The chosen kernel.
    pub plan: Plan,
    /// Time, with the host's share where the row asks for it.
    pub time: f64,
    /// Low and high end of the 80 % band.
    pub band: (f64, f64),
    /// Math and output store.
    pub math: f64,
    /// DRAM.
    pub dram: f64,
    /// Operand feed from L2.
    pub feed: f64,
    /// Fixed device cost and split-K, with the longer of the serial k-chain and the ports where too few blocks draw the
    /// bandwidth.
    pub latency: f64,
    /// Host overhead; absent where only the device is timed.
    pub launch: Option<f64>,
    /// Resident waves of blocks.
    pub waves: f64,
    /// Why the band is wide, where no measurement of such a product stands behind it.
    pub uncalibrated: Option<Uncalibrated>,
    /// Whose constants were used.
    pub of: &'a ConstantsOf,
    /// The unit that multiplies.
    pub pipe: Pipe,
    /// Datasheet peak of the unit, in operations per second.
    pub peak: f64,
    /// Datasheet bandwidth, in bytes per second.
    pub bandwidth: f64,
}

impl Prediction<'_> {
    /// The largest of math, memory (the larger of DRAM and feed) and latency.
    pub fn bound(&self) -> Bound {
        let memory = self.dram.max(self.feed);
        if self.latency > memory.max(self.math) {
            Bound::Latency
        } else if memory > self.math {
            Bound::Memory
        } else {
            Bound::Math
        }
    }
}

/// GPUs and planners by name, made when first asked for.
pub struct Predictor<'a> {
    catalog: &'a Catalog,
    fixed: Option<Gpu>,
    names: HashMap<String, Result<usize, GpuError>>,
    known: Vec<Known>,
    /// What open names were taken for, each once.
    pub assumptions: Vec<String>,
    /// Rows that name another GPU than the one that stands for all.
    pub overridden: u64,
    /// Which names mean another GPU than that one.
    others: HashMap<String, bool>,
}

struct Known {
    gpu: Gpu,
    calls: Calls,
    planners: Vec<Made>,
}

/// The planner of a type and what its operands hold, or why the GPU has none.
struct Made {
    key: (DataType, bool, DataKind, Force),
    planner: Result<Planner, PredictError>,
}

impl<'a> Predictor<'a> {
    /// A predictor; `fixed` stands for whatever GPU a row names.
    pub fn new(catalog: &'a Catalog, fixed: Option<Gpu>) -> Self {
        Self {
            catalog,
            fixed,
            names: HashMap::new(),
            known: Vec::new(),
            assumptions: Vec::new(),
            overridden: 0,
            others: HashMap::new(),
        }
    }

    /// The place of a GPU by the name that a row gives.
    fn place(&mut self, name: &str) -> Result<usize, PredictError> {
        if self.fixed.is_some() && !self.known.is_empty() {
            return Ok(0);
        }
        if let Some(known) = self.names.get(name) {
            return Ok(known.clone()?);
        }
        let found = match &self.fixed {
            Some(gpu) => Ok(gpu.clone()),
            None if name.is_empty() => return Err(PredictError::NoGpu),
            None => self.catalog.find(name).map(|found| {
                self.assumptions.extend(found.assumption);
                found.gpu
            }),
        };
        let place = found.map(|gpu| {
            self.known.push(Known { gpu, calls: Calls::default(), planners: Vec::new() });
            self.known.len() - 1
        });
        self.names.insert(name.to_owned(), place.clone());
        Ok(place?)
    }

    /// Whether a row names another GPU than the one that stands for all.
    fn names_another(&mut self, name: &str) -> bool {
        let Some(gpu) = self.fixed.as_ref().filter(|_| !name.is_empty()) else { return false };
        if let Some(known) = self.others.get(name) {
            return *known;
        }
        // A name that nobody knows is another one.
        let other = !self.catalog.means(name, gpu).unwrap_or(false);
        self.others.insert(name.to_owned(), other);
        other
    }

    /// The answer to a row, whatever its operation.
    ///
    /// # Errors
    /// The GPU is not known, or it or the model of the operation does not take what the row asks for.
    pub fn answer(&mut self, row: &Row) -> Result<Answer<'_>, PredictError> {
        self.overridden += u64::from(self.names_another(row.head().gpu));
        match row {
            Row::Product(request) => Ok(Answer::product(&self.predict(request)?)),
            Row::Call(call) => {
                let place = self.place(call.head.gpu)?;
                let Known { gpu, calls, .. } = &mut self.known[place];
                let protocol = self.catalog.protocol(call.head.source, call.head.op, gpu);
                calls.answer(gpu, protocol, call)
            }
        }
    }

    /// The answer to a request.
    ///
    /// # Errors
    /// The GPU is not known, is a CPU, or does not multiply the type.
    pub fn predict(&mut self, request: &Request) -> Result<Prediction<'_>, PredictError> {
        let catalog = self.catalog;
        let (gpu, planner) = self.planner(request)?;
        let protocol = catalog.protocol(request.source, request.op, gpu);
        Ok(answer(gpu, planner, protocol, request))
    }

    /// The time on the device, in seconds, of the kernel that a prediction chose for the request, perhaps under other
    /// constants of the GPU.
    ///
    /// # Errors
    /// As of `predict`.
    pub fn time_of(&mut self, request: &Request, kernel: &Candidate) -> Result<f64, PredictError> {
        Ok(self.planner(request)?.1.time_of(kernel))
    }

    fn planner(&mut self, request: &Request) -> Result<(&Gpu, &Planner), PredictError> {
        let place = self.place(request.gpu)?;
        let Known { gpu, planners, .. } = &mut self.known[place];
        let protocol = self.catalog.protocol(request.source, request.op, gpu);
        if gpu.is_cpu() {
            return Err(PredictError::Cpu { name: gpu.name.clone() });
        }
        let content = request.content.or(protocol.map(|p| p.data)).unwrap_or_default();
        let key = (request.data, request.sparse, content, request.force);
        let index = planners.iter().position(|made| made.key == key).unwrap_or_else(|| {
            gpu.calibration.data = content;
            let made = || -> Result<Planner, PredictError> {
                let precision = Precision::new(gpu, request.data, request.sparse)?;
                let lacks = || PrecisionError::NoUnit {
                    gpu: gpu.name.clone(),
                    wanted: precision.pipe.label(),
                    available: "other types".into(),
                };
                Ok(Planner::new(gpu, precision).ok_or_else(lacks)?.forced(request.force)?)
            };
            planners.push(Made { key, planner: made() });
            planners.len() - 1
        });
        let planner = planners[index].planner.as_ref().map_err(Clone::clone)?;
        Ok((gpu, planner))
    }
}

fn answer<'a>(gpu: &'a Gpu, planner: &Planner, protocol: Option<&Protocol>, request: &Request) -> Prediction<'a> {
    let reuse = match request.weight_copies.or(protocol.map(|p| p.weight_copies)) {
        None => Reuse::ColdWeights,
        Some(1) => Reuse::Warm,
        Some(copies) => Reuse::Rotated(copies),
    };
    let plan = planner.plan(request.shape, reuse);
    let machine = planner.machine();
    let parts = plan.chosen.parts;
    let launch = (request.timing == Timing::Launch).then(|| {
        let of_source = protocol.and_then(|p| p.launch_overhead);
        of_source.unwrap_or(gpu.calibration.constants.launch_overhead).get()
    });
    let time = plan.time + launch.unwrap_or(0.0);
    let precision = planner.precision();
    let (low, high) = band(gpu, precision, request.shape, Seconds(time));
    let few = if parts.ports > parts.dram { parts.ports } else { 0.0 };
    Prediction {
        gpu,
        plan,
        time,
        band: (low.get(), high.get()),
        math: parts.math + parts.store,
        dram: parts.dram,
        feed: parts.feed,
        latency: parts.fixed + parts.split + parts.latency.max(few),
        launch,
        waves: plan.chosen.blocks / planner.slots(&plan.chosen),
        uncalibrated: uncalibrated(precision, request.shape),
        of: gpu.calibration.of_unit(precision.pipe),
        pipe: precision.pipe,
        peak: machine.peak * machine.sms,
        bandwidth: machine.dram_peak,
    }
}
