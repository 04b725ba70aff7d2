//! The time of a step on a GPU, operation by operation.

use super::{Class, Network, Op, Pass, Phase, Step, StepError, What};
use crate::{
    gpu::{DataType, Gpu},
    op::{
        attention,
        estimate::Estimate,
        gemm::{self, Planner, Precision, PrecisionError, Reuse},
        moe,
        rowwise::{self, link},
    },
    time::Bound,
    units::Seconds,
};

/// A step that a GPU cannot run, or nothing is known of it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TimedError {
    /// The network has no such step.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The GPU does not multiply the type.
    #[error(transparent)]
    Precision(#[from] PrecisionError),
    /// A processor that the models do not hold for.
    #[error("{name} is a CPU; networks are timed on GPUs")]
    Cpu {
        /// Name of the processor.
        name: String,
    },
    /// No operation on elements or rows.
    #[error(transparent)]
    Rows(#[from] rowwise::ModelError),
    /// No experts.
    #[error(transparent)]
    Experts(#[from] moe::MoeError),
    /// No link between GPUs.
    #[error("the all-reduce of tensor parallelism: {0}")]
    Link(#[from] link::LinkError),
}

/// An operation with its time. Times are in seconds, of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// The operation.
    pub op: Op,
    /// The estimate.
    pub time: f64,
    /// Low end of the 80 % band.
    pub low: f64,
    /// High end of the 80 % band.
    pub high: f64,
    /// What holds it back.
    pub bound: Bound,
    /// FLOP, of rows and elements those of their usual formulas.
    pub flop: f64,
    /// Least bytes from and to DRAM.
    pub bytes: f64,
    /// Kernels that are launched.
    pub kernels: u64,
    /// Why no measurement stands behind the time; absent where one does.
    pub unmeasured: Option<&'static str>,
}

impl Timed {
    /// Time of all its runs.
    pub fn total(&self) -> f64 {
        self.time * self.op.count as f64
    }
}

/// A step on a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedStep {
    /// What was asked.
    pub step: Step,
    /// The operations in order.
    pub ops: Vec<Timed>,
    /// Time on the device in seconds, and the ends of its band if all errors have one sign.
    pub device: (f64, f64, f64),
    /// Kernels that are launched.
    pub kernels: u64,
    /// Peak of the products' unit, dense, in FLOP per second.
    pub peak: f64,
}

/// The models of a GPU that a step needs.
struct Models<'a> {
    gpu: &'a Gpu,
    weights: Planner,
    plain: Planner,
    attention: Option<attention::Model>,
    rows: rowwise::Model,
    experts: Option<moe::Model>,
    /// Sustained rate of the plain products' unit, and of DRAM; fixed cost of a kernel.
    rates: (f64, f64, f64),
}

/// Ends of the band of what nobody measured and no model of its own stands behind, against the estimate; by judgement.
const ROUGH: (f64, f64) = (0.67, 1.5);

impl Network {
    /// The time of a step on a GPU.
    ///
    /// # Errors
    /// The network has no such step, or the GPU cannot run it.
    pub fn timed(&self, gpu: &Gpu, step: &Step) -> Result<TimedStep, TimedError> {
        let ops = self.operations(step)?;
        let models = Models::new(gpu, step, ops.iter().any(|op| matches!(op.what, What::Experts(_))))?;
        let ops: Vec<Timed> = ops.iter().map(|op| models.timed(op, step)).collect::<Result<_, _>>()?;
        let sum = |of: fn(&Timed) -> f64| ops.iter().map(|op| of(op) * op.op.count as f64).sum();
        let device = (sum(|op| op.time), sum(|op| op.low), sum(|op| op.high));
        let kernels = ops.iter().map(|op| op.kernels * op.op.count).sum();
        let machine = models.weights.machine();
        Ok(TimedStep { step: *step, ops, device, kernels, peak: machine.peak * machine.sms })
    }
}

/// A planner of products of a type, the stored bytes of a weight against its type's.
fn planner(gpu: &Gpu, data: DataType, weight_bytes: Option<f64>) -> Result<Planner, PrecisionError> {
    let mut precision = Precision::new(gpu, data, false)?;
    if let Some(bytes) = weight_bytes {
        precision.weight_share = bytes / precision.input_bytes;
    }
    let lacks = || PrecisionError::NoUnit {
        gpu: gpu.name.clone(),
        wanted: precision.pipe.label(),
        available: "other types".into(),
    };
    Planner::new(gpu, precision).ok_or_else(lacks)
}

impl<'a> Models<'a> {
    fn new(gpu: &'a Gpu, step: &Step, experts: bool) -> Result<Self, TimedError> {
        if gpu.is_cpu() {
            return Err(TimedError::Cpu { name: gpu.name.clone() });
        }
        let (weights, plain) = (planner(gpu, step.products, Some(step.weight_bytes))?, planner(gpu, step.data, None)?);
        let request = attention::Request { input: step.data, library: None, bare: step.phase == Phase::Train };
        let pipe = plain.precision().pipe;
        let machine = plain.machine();
        let calibration = &gpu.calibration;
        let rates = (
            machine.peak * machine.sms * calibration.sustained_product(pipe),
            gpu.memory.dram.bandwidth.get() * calibration.dram_efficiency,
            calibration.constants.fixed.0 / gpu.clocks.vector.get(),
        );
        Ok(Self {
            gpu,
            attention: attention::Model::new(gpu, &request).ok(),
            rows: rowwise::Model::new(gpu)?,
            experts: if experts { Some(moe::Model::new(gpu, step.products)?) } else { None },
            weights,
            plain,
            rates,
        })
    }

    fn timed(&self, op: &Op, step: &Step) -> Result<Timed, TimedError> {
        Ok(match op.what {
            What::Product { batch, m, n, k, weights } => self.product(op, gemm::Shape { batch, m, n, k }, weights),
            What::Attention(shape) => {
                let found = self.attention.as_ref().map(|model| model.estimate(&shape));
                match found {
                    Some(Ok(found)) if step.phase == Phase::Decode => {
                        let saved =
                            shape.key_value_elements() * (rowwise::bytes(step.data) - step.cache_bytes).max(0.0);
                        self.narrowed(op, &found, saved, "attention on narrow caches was never measured")
                    }
                    Some(Ok(found)) => estimated(op, &found, 1),
                    // No kernel of this size or for this GPU was measured: its products and its traffic.
                    _ => {
                        let size = rowwise::bytes(step.data);
                        let elements = 2.0 * shape.query_elements() + shape.key_value_elements();
                        self.rough(op, shape.flop(), elements * size, "attention of this kind was never measured")
                    }
                }
            }
            What::Rows(operation) => estimated(op, &self.rows.estimate(&operation), 1),
            What::Experts(shape) => self.mixture(op, &shape, step)?,
            What::Other { flop, bytes } => self.rough(op, flop, bytes, "no model of its own: arithmetic and traffic"),
            What::AllReduce { bytes } => {
                // A ring passes each part on twice, reduced and then spread.
                let degree = step.tensor_parallel as f64;
                let passed = 2.0 * (degree - 1.0) / degree * bytes;
                let found = link::copy(self.gpu, passed, link::Direction::Peer)?;
                let (time, low, high, bound) = (found.time, found.low, found.high, found.bound());
                let unmeasured = Some("all-reduces were never measured: a ring at the rate of the link");
                Timed { op: *op, time, low, high, bound, flop: 0.0, bytes: passed, kernels: 1, unmeasured }
            }
        })
    }

    fn product(&self, op: &Op, shape: gemm::Shape, weights: bool) -> Timed {
        // The head keeps the type of the activations, as checkpoints with narrow layers do.
        let planner = if weights && op.part != "head" { &self.weights } else { &self.plain };
        // The weights of other layers have passed since; what the layer before wrote is in L2 as far as it fits.
        let plan = planner.plan(shape, Reuse::ColdWeights);
        let (low, high) = gemm::band(self.gpu, planner.precision(), shape, Seconds(plan.time));
        let unmeasured = gemm::uncalibrated(planner.precision(), shape).map(gemm::Uncalibrated::reason);
        let parts = plan.chosen.parts;
        let memory = parts.dram.max(parts.feed);
        let math = parts.math + parts.store;
        let bound = match parts.fixed + parts.split + parts.latency {
            latency if latency > memory.max(math) => Bound::Latency,
            _ if memory > math => Bound::Memory,
            _ => Bound::Math,
        };
        let (time, bytes) = (plan.time, plan.bytes.get());
        Timed {
            op: *op,
            time,
            low: low.get(),
            high: high.get(),
            bound,
            flop: shape.flop(),
            bytes,
            kernels: 1,
            unmeasured,
        }
    }

    fn mixture(&self, op: &Op, shape: &moe::Shape, step: &Step) -> Result<Timed, TimedError> {
        let Some(model) = &self.experts else {
            return Ok(self.rough(op, op.flop(), 0.0, "no model of its own: arithmetic and traffic"));
        };
        let loads = moe::Loads::new(shape, &moe::Routing::Counts(expected_loads(shape)))?;
        let found = model.estimate(shape, &loads);
        // Its weights are of the products' type; stored narrower, they take less time where DRAM decides.
        let weights = 3.0 * loads.active() as f64 * (shape.hidden * shape.inter) as f64;
        let saved = weights * (rowwise::bytes(step.products) - step.expert_bytes).max(0.0);
        let why = "narrow weights of experts were never measured";
        Ok(Timed { kernels: 3, ..self.narrowed(op, &found, saved, why) })
    }

    /// An estimate whose operands lie in memory in so many bytes less: their time is spared, as far as there is more than arithmetic.
    fn narrowed(&self, op: &Op, found: &Estimate, saved: f64, why: &'static str) -> Timed {
        let timed = estimated(op, found, 1);
        if saved <= 0.0 {
            return timed;
        }
        let spared = (saved / self.rates.1).min((found.time - found.math).max(0.0) * 0.999);
        let scale = (found.time - spared) / found.time;
        let (time, low, high) = (found.time * scale, found.low * scale, found.high * scale);
        Timed { time, low, high, bytes: found.bytes - saved, unmeasured: timed.unmeasured.or(Some(why)), ..timed }
    }

    /// The longer of arithmetic and traffic at sustained rates, behind the fixed cost of a kernel.
    fn rough(&self, op: &Op, flop: f64, bytes: f64, why: &'static str) -> Timed {
        let (rate, bandwidth, fixed) = self.rates;
        let (math, memory) = (flop / rate, bytes / bandwidth);
        let time = fixed + math.max(memory);
        let bound = match () {
            () if fixed > math.max(memory) => Bound::Latency,
            () if memory > math => Bound::Memory,
            () => Bound::Math,
        };
        let (low, high) = (time * ROUGH.0, time * ROUGH.1);
        Timed { op: *op, time, low, high, bound, flop, bytes, kernels: 1, unmeasured: Some(why) }
    }
}

/// Tokens of each expert, evenly among as many experts as tokens that choose at random meet on average: E (1 - (1 - k / E)^T).
fn expected_loads(shape: &moe::Shape) -> Vec<u64> {
    let missed = libm::pow(1.0 - shape.top_k as f64 / shape.experts as f64, shape.tokens as f64);
    let met = ((shape.experts as f64 * (1.0 - missed)).round() as u64).clamp(shape.top_k, shape.experts);
    let (each, rest) = (shape.tokens * shape.top_k / met, shape.tokens * shape.top_k % met);
    (0..shape.experts).map(|expert| if expert < met { each + u64::from(expert < rest) } else { 0 }).collect()
}

fn estimated(op: &Op, found: &Estimate, kernels: u64) -> Timed {
    Timed {
        op: *op,
        time: found.time,
        low: found.low,
        high: found.high,
        bound: found.bound(),
        flop: found.flop,
        bytes: found.bytes,
        kernels,
        unmeasured: found.unmeasured,
    }
}

impl TimedStep {
    /// Time of a class of operations in seconds.
    pub fn of_class(&self, class: Class) -> f64 {
        self.ops.iter().filter(|op| op.op.class == class).map(Timed::total).sum()
    }

    /// Time of a pass in seconds.
    pub fn of_pass(&self, pass: Pass) -> f64 {
        self.ops.iter().filter(|op| op.op.pass == pass).map(Timed::total).sum()
    }

    /// Time with a host that launches kernel by kernel, so much apart: the longer of device and host.
    pub fn with_launches(&self, apart: f64) -> f64 {
        self.device.0.max(apart * self.kernels as f64)
    }

    /// Time that no kernel beats, in seconds: of each operation the longer of its FLOP at the dense peak of the products' unit
    /// and its least bytes at the datasheet's bandwidth (bytes per second), one after another.
    pub fn roofline(&self, bandwidth: f64) -> f64 {
        let least = |op: &Timed| match op.op.what {
            What::AllReduce { .. } => 0.0,
            What::Rows(_) => op.bytes / bandwidth,
            _ => (op.flop / self.peak).max(op.bytes / bandwidth),
        };
        self.ops.iter().map(|op| least(op) * op.op.count as f64).sum()
    }

    /// The same with causal attention counted as if every token saw all (the convention of Megatron-LM, arXiv 2104.04473).
    pub fn all_pairs_flop(&self) -> f64 {
        let attention = |op: &Timed| match op.op.what {
            What::Attention(shape) if op.op.pass == Pass::Forward => {
                let all = attention::Shape { causal: false, window: None, ..shape };
                (all.flop() - shape.flop()) * op.op.count as f64
            }
            _ => 0.0,
        };
        let more: f64 = self.ops.iter().map(attention).sum();
        self.model_flop() + if self.step.phase == Phase::Train { 3.0 * more } else { more }
    }

    /// FLOP that the step is credited with: products and attention of the forward pass, three times that in training
    /// (PaLM, arXiv 2204.02311, appendix B); causal attention counts the pairs that are seen.
    pub fn model_flop(&self) -> f64 {
        let forward = self.ops.iter().filter(|op| op.op.pass == Pass::Forward);
        let once: f64 = forward.map(|op| op.op.flop() * op.op.count as f64).sum();
        if self.step.phase == Phase::Train { 3.0 * once } else { once }
    }

    /// FLOP that run: those of the model, and what is computed again.
    pub fn hardware_flop(&self) -> f64 {
        let again = self.ops.iter().filter(|op| op.op.pass == Pass::Again);
        self.model_flop() + again.map(|op| op.op.flop() * op.op.count as f64).sum::<f64>()
    }

    /// Tokens that the step takes in or makes.
    pub fn tokens(&self) -> u64 {
        self.step.rows()
    }
}
