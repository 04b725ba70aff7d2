//! The time of element-wise and row-wise operations on one GPU; equations in `docs/model.md`.

use super::{
    constants::{Chosen, Constants, Rms, Rowwise},
    kind::{Access, Kind},
    operation::{Operation, WIDEST, What, bytes},
    rows::RowKernel,
};
use crate::{
    gpu::{Band, ConstantsOf, DataType, Gpu, Pipe},
    op::estimate::Estimate,
    units::Seconds,
};

/// A processor that these kernels have no model for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A CPU.
    #[error("{name} is a CPU: element-wise and row-wise kernels are known for GPUs alone (--gpu)")]
    Cpu {
        /// Its name.
        name: String,
    },
    /// The embedded constants cannot be read.
    #[error("gpus/operations/rowwise.toml: {0}")]
    Constants(String),
}

/// The model on one GPU: everything that does not depend on the operation.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) constants: Constants,
    sms: f64,
    slots: f64,
    clock: f64,
    bandwidth: f64,
    l2: f64,
    l2_held: f64,
    residency: f64,
    l2_rate: f64,
    wide_warps: bool,
    /// Vector peaks of FP64, of FP32 and of special functions, in operations per second.
    peaks: [Option<f64>; 3],
}

/// What takes time, in seconds, before it is summed.
struct Parts {
    dram: f64,
    l2: f64,
    latency: f64,
    fixed: f64,
}

/// (a^4 + b^4 + ...)^(1/4).
fn fourth(parts: [f64; 4]) -> f64 {
    parts.iter().map(|t| (t * t) * (t * t)).sum::<f64>().sqrt().sqrt()
}

impl Model {
    /// The model on a GPU.
    ///
    /// # Errors
    /// The GPU is a CPU.
    pub fn new(gpu: &Gpu) -> Result<Self, ModelError> {
        if gpu.is_cpu() {
            return Err(ModelError::Cpu { name: gpu.name.clone() });
        }
        let constants = Constants::of(gpu).map_err(ModelError::Constants)?;
        let shared = &gpu.calibration.constants;
        let core = gpu.clocks.tensor.unwrap_or(gpu.clocks.vector).get();
        let ports = f64::from(gpu.sm.count) * shared.l2_port.get() * shared.l2_feed * core;
        let l2 = gpu.memory.l2.capacity.get();
        let halves = if gpu.memory.l2.partitions > 1 { shared.l2_two_partitions } else { 1.0 };
        let bandwidth = gpu.memory.dram.bandwidth.get();
        let stream = shared.l2_stream_ratio * bandwidth * constants.elementwise.constants.efficiency;
        let peak = |pipe| gpu.peak(pipe).map(|peak| peak.get());
        Ok(Self {
            sms: f64::from(gpu.units()),
            slots: f64::from(gpu.limits.max_warps()) * f64::from(gpu.limits.warp_size()),
            clock: gpu.clocks.vector.get(),
            bandwidth,
            l2,
            l2_held: l2 * shared.l2_effective * halves,
            residency: shared.residency_exponent,
            l2_rate: ports.min(stream),
            wide_warps: gpu.limits.warp_size() == 64,
            peaks: [peak(Pipe::Vector(DataType::Fp64)), peak(Pipe::Vector(DataType::Fp32)), peak(Pipe::Special)],
            constants,
        })
    }

    /// The kernel over rows that an operation runs; absent of an element-wise one.
    pub fn row_kernel(&self, operation: &Operation) -> Option<RowKernel> {
        let rowwise = !matches!(operation.what, What::Elementwise { .. });
        rowwise.then(|| RowKernel::of(operation, self.wide_warps))
    }

    /// Threads of a block of an element-wise kernel, and blocks.
    pub fn grid(&self, operation: &Operation) -> (u32, f64) {
        if let Some(kernel) = self.row_kernel(operation) {
            return (kernel.block, libm::ceil(operation.rows as f64 / f64::from(kernel.rows_per_block())));
        }
        let What::Elementwise { kind, .. } = operation.what else { return (128, 1.0) };
        let block = if self.wide_warps { 256 } else { 128 };
        match kind.facts().access {
            Access::Scalar => (operation.cols.clamp(32, 1024) as u32, operation.rows as f64),
            Access::Strided | Access::Tiled => {
                let tiles = |side: u64| libm::ceil(side as f64 / TILE);
                (256, tiles(operation.rows) * tiles(operation.cols))
            }
            _ => (block, libm::ceil(operation.elements() / (f64::from(block) * PER_THREAD))),
        }
    }

    /// The time on the device.
    pub fn estimate(&self, operation: &Operation) -> Estimate<'_> {
        match operation.what {
            What::Elementwise { kind, reads, load, .. } => self.elementwise(operation, kind, reads, load),
            What::Softmax => self.rows(operation, &self.constants.softmax, SOFTMAX_WORK),
            What::LayerNorm => {
                let wide = usize::from(bytes(operation.input) > 2.0);
                self.rows(operation, &self.constants.layernorm[wide], NORM_WORK)
            }
            What::RmsNorm => self.rms(operation, &self.constants.rmsnorm),
            What::Reduction { full } => self.reduction(operation, full),
        }
    }

    /// Share of what was touched just before that L2 still holds.
    fn held(&self, touched: f64) -> f64 {
        1.0 / (1.0 + libm::pow(touched / self.l2_held, self.residency))
    }

    fn elementwise(&self, op: &Operation, kind: Kind, reads: u32, load: f64) -> Estimate<'_> {
        let chosen = &self.constants.elementwise;
        let own = &chosen.constants;
        let facts = kind.facts();
        let (read, written) = op.traffic();
        let elements = op.elements();
        // A gathered row moves whole sectors.
        let row = op.cols as f64 * bytes(op.input);
        let sectors = if facts.access == Access::Gather { libm::ceil(row / SECTOR) * SECTOR / row } else { 1.0 };
        let all = read * sectors + written;
        let held = if op.warm { self.held(all) } else { 0.0 };
        let kept = written.min(own.resident * self.l2);
        let dram = (read * sectors * (1.0 - held) + (written - kept)) / (self.bandwidth * own.efficiency);
        let spread = if facts.access == Access::Strided { (SECTOR / bytes(op.output)).max(1.0) } else { 1.0 };
        let l2 = (read * sectors + written * spread) / self.l2_rate;
        let latency = if load < WIDEST && reads > 0 {
            let clock = own.clock.map_or(self.clock, |c| c.get());
            read / (own.scalar.get() * (load / 2.0) * self.sms * clock)
        } else {
            0.0
        };
        let flop = if kind.is_power() { own.pow.unwrap_or(facts.flop) } else { facts.flop };
        // Each further tensor is combined with the result so far.
        let flop = flop * f64::from(1 + reads.saturating_sub(facts.reads));
        let work = (flop * elements, facts.special * elements);
        let parts = Parts { dram, l2, latency, fixed: own.fixed.get() };
        let untested = match facts.access {
            Access::Strided | Access::Tiled => Some("transposes were never measured"),
            Access::Gather => Some("gathers of rows were never measured"),
            _ if kind.name() == "dropout" => Some("dropout was never measured"),
            _ if op.warm => Some("operands in L2 were never measured"),
            _ => None,
        };
        let name = match facts.access {
            Access::Stream => "stream",
            Access::Scalar => "scalar stream",
            Access::Strided => "strided transpose",
            Access::Tiled => "tiled transpose",
            Access::Gather => "gather",
        };
        let name = if load < WIDEST { "scalar stream" } else { name };
        self.finish(op, parts, work, chosen, &chosen.device, name, untested)
    }

    fn rows<'a>(&'a self, op: &Operation, chosen: &'a Chosen<Rowwise>, per_element: (f64, f64)) -> Estimate<'a> {
        let own = &chosen.constants;
        let kernel = RowKernel::of(op, self.wide_warps);
        let (size, rows, out) = (bytes(op.input), op.rows as f64, bytes(op.output));
        let data = op.elements() * size;
        let written = op.elements() * out;
        let in_flight = kernel.in_flight(self.sms, self.slots);
        let miss = self.miss(op, &kernel, own);
        let rate = self.bandwidth * own.efficiency;
        let dram = (data * (1.0 + miss * (kernel.passes - 1.0)) + written) / rate;
        let l2 = (data * kernel.passes + written) / (rate * own.l2_ratio);
        let clock = own.clock.map_or(self.clock, |c| c.get());
        let step = if kernel.by_warp() { own.warp_step.unwrap_or(own.step) } else { own.step };
        let steps = (kernel.passes + 1.0) * kernel.steps(op.cols) * f64::from(kernel.rows_at_once);
        let latency = (rows / in_flight).max(1.0) * (own.row.get() + steps * step.get()) / clock;
        let elements = op.elements();
        let work = (per_element.0 * elements, per_element.1 * elements);
        let parts = Parts { dram, l2, latency, fixed: own.fixed.get() };
        let other = own.bits.is_some_and(|bits| f64::from(bits) != 8.0 * size) || size > 4.0;
        let untested = other.then_some("elements of this width were never measured");
        self.finish(op, parts, work, chosen, &chosen.device, kernel.name, untested)
    }

    /// Rows that are in flight at once; 0 of an element-wise operation.
    pub fn rows_in_flight(&self, operation: &Operation) -> f64 {
        let rows = operation.rows as f64;
        self.row_kernel(operation).map_or(0.0, |kernel| kernel.in_flight(self.sms, self.slots).min(rows))
    }

    /// Share of the re-reads of rows that miss L2, 0 to 1; 0 where nothing is read again, or registers and L1 keep it.
    pub fn missed(&self, operation: &Operation) -> f64 {
        let own = match operation.what {
            What::Softmax => &self.constants.softmax,
            What::LayerNorm => &self.constants.layernorm[usize::from(bytes(operation.input) > 2.0)],
            _ => return 0.0,
        };
        let kernel = RowKernel::of(operation, self.wide_warps);
        if kernel.passes > 1.0 { self.miss(operation, &kernel, &own.constants) } else { 0.0 }
    }

    /// Share of the re-reads of a row that miss L2, 0 to 1.
    fn miss(&self, op: &Operation, kernel: &RowKernel, own: &Rowwise) -> f64 {
        let in_flight = kernel.in_flight(self.sms, self.slots).min(op.rows as f64);
        let held = in_flight * op.cols as f64 * bytes(op.input) / (self.l2 * own.l2.unwrap_or(1.0));
        ((held - own.miss_from) / (0.6 * own.miss_from)).clamp(0.0, 1.0)
    }

    fn rms<'a>(&'a self, op: &Operation, chosen: &'a Chosen<Rms>) -> Estimate<'a> {
        let own = &chosen.constants;
        let kernel = RowKernel::of(op, self.wide_warps);
        let size = bytes(op.input);
        let moved = (op.elements() * (size + bytes(op.output)) - own.resident * self.l2).max(0.0);
        let clock = own.clock.map_or(self.clock, |c| c.get());
        let dram = moved / (self.bandwidth * own.efficiency);
        let in_flight = moved / (own.in_flight.get() * size / 2.0 * self.sms * clock);
        let waves = libm::ceil(op.rows as f64 / kernel.in_flight(self.sms, self.slots));
        let row = waves * (own.row.get() + 3.0 * kernel.steps(op.cols) * own.step.get()) / clock;
        // The streams of all rows end together, at the slower of DRAM and what is in flight; rows wait besides.
        let slower = dram.max(in_flight);
        let fourth_power = |t: f64| (t * t) * (t * t);
        let latency = (fourth_power(row) + fourth_power(slower) - fourth_power(dram)).max(0.0).sqrt().sqrt();
        let parts = Parts { dram, l2: 0.0, latency, fixed: own.fixed.get() };
        let work = (NORM_WORK.0 * op.elements(), op.rows as f64);
        let untested = (size != 2.0).then_some("elements of this width were never measured");
        self.finish(op, parts, work, chosen, &chosen.device, kernel.name, untested)
    }

    fn reduction(&self, op: &Operation, full: bool) -> Estimate<'_> {
        let chosen = &self.constants.elementwise;
        let (own, rows) = (&chosen.constants, &self.constants.layernorm[1].constants);
        let kernel = RowKernel::of(op, self.wide_warps);
        let (read, written) = op.traffic();
        let dram = (read + written) / (self.bandwidth * own.efficiency);
        let l2 = (read + written) / self.l2_rate;
        let clock = rows.clock.map_or(self.clock, |c| c.get());
        // Long rows are shared by as many blocks as the GPU has room for.
        let whole = kernel.in_flight(self.sms, self.slots);
        let tensor_rows = if full { 1.0 } else { op.rows as f64 };
        let shares = libm::floor(whole / tensor_rows).max(1.0);
        let length = if full { op.elements() } else { op.cols as f64 };
        let per_step = f64::from(kernel.threads_per_row) * kernel.width;
        let steps = libm::ceil(length / per_step / shares);
        let latency = (tensor_rows / whole).max(1.0) * (REDUCTION_ROW + steps * rows.step.get()) / clock;
        let launches = if shares > 1.0 && steps * shares > 1.0 { 2.0 } else { 1.0 };
        let parts = Parts { dram, l2, latency, fixed: launches * own.fixed.get() };
        let untested = Some("reductions were never measured");
        let name = if launches > 1.0 { "blocks share a row" } else { kernel.name };
        self.finish(op, parts, (op.elements(), 0.0), chosen, &self.constants.rmsnorm.device, name, untested)
    }

    #[expect(clippy::too_many_arguments, reason = "one place that builds every estimate")]
    fn finish<'a, C>(
        &'a self,
        op: &Operation,
        parts: Parts,
        (flop, special): (f64, f64),
        chosen: &'a Chosen<C>,
        band: &Band,
        kernel: &'static str,
        untested: Option<&'static str>,
    ) -> Estimate<'a> {
        let wide = op.input == DataType::Fp64;
        let vector = if wide { self.peaks[0] } else { self.peaks[1] };
        // Without special-function units the vector units work the results out, eight operations each.
        let (flop, special) = if self.peaks[2].is_some() { (flop, special) } else { (flop + 8.0 * special, 0.0) };
        let time = |work: f64, peak: Option<f64>| peak.map_or(0.0, |p| work / p);
        let (vector_time, special_time) = (time(flop, vector), time(special, self.peaks[2]));
        let math = vector_time.max(special_time);
        let pipe = if special_time > vector_time {
            Some(Pipe::Special)
        } else {
            (flop > 0.0).then_some(Pipe::Vector(if wide { DataType::Fp64 } else { DataType::Fp32 }))
        };
        let body = fourth([parts.dram, parts.l2, parts.latency, math]);
        let time = parts.fixed + body;
        let regime = Band::regime(Seconds(time));
        let (read, written) = op.traffic();
        let (threads, blocks) = self.grid(op);
        let per_sm = (self.slots / f64::from(threads)) as u32;
        let unknown = chosen.of == ConstantsOf::Datasheet;
        let untested = untested.or(unknown.then_some("such kernels were never measured on this family"));
        let (low, high) = match untested {
            Some(_) => (band.low[regime].min(UNTESTED.0), band.high[regime].max(UNTESTED.1)),
            None => (band.low[regime].min(1.0), band.high[regime].max(1.0)),
        };
        Estimate {
            time,
            low: time * low,
            high: time * high,
            math,
            pipe,
            dram: parts.dram,
            l2: parts.l2,
            latency: parts.latency,
            fixed: parts.fixed,
            kernel,
            tile: None,
            splits: 1,
            blocks,
            blocks_per_sm: per_sm.max(1),
            flop: flop + special,
            bytes: read + written,
            peak: vector.unwrap_or(f64::INFINITY),
            of: &chosen.of,
            unmeasured: untested,
        }
    }
}

/// Elements that a thread of an element-wise kernel takes.
const PER_THREAD: f64 = 4.0;
/// Side of a tile of a transpose.
const TILE: f64 = 32.0;
/// Bytes of a sector.
const SECTOR: f64 = 32.0;
/// Arithmetic and special-function results per element: maximum, difference, exponential, sum, quotient.
const SOFTMAX_WORK: (f64, f64) = (4.0, 1.0);
/// Mean, variance, scale and shift.
const NORM_WORK: (f64, f64) = (8.0, 0.0);
/// Cycles that a row of a sum takes besides its steps: the tree over warps and the block's own start, as in the rows of RMS norm.
const REDUCTION_ROW: f64 = 1200.0;
/// Least width of a band that no measurement stands behind.
const UNTESTED: (f64, f64) = (0.7, 1.5);
