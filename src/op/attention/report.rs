//! Attention through the whole pipeline: the kernel analysed, its grid, shares of keys and limits explained.

use super::{AttentionError, Model, Parts, Request, Shape, explain, model::SLOT_BYTES};
use crate::{
    analysis::{Analysis, analyse_operation},
    gpu::{ConstantsOf, Gpu, Pipe},
    kernel::{Access, Concurrency, Kernel, Level, Traffic},
    occupancy::Resources,
    time::{Resource, Term, TimeEstimate},
    units::{Bytes, Flops, Seconds},
};

/// The answer for one call on one GPU.
#[derive(Clone, Debug)]
pub struct Attention {
    /// The kernel through the pipeline.
    pub analysis: Analysis,
    /// Time of the parts.
    pub parts: Parts,
    /// The shape, as it was checked.
    pub shape: Shape,
    /// Whose constants.
    pub of: ConstantsOf,
    /// The kernel, its grid and its shares of keys, one sentence each.
    pub choices: Vec<String>,
    /// What other lengths would take.
    pub sizes: Vec<String>,
}

/// Registers of an SM that a kernel with one block fills.
const REGISTERS: u32 = 65_536;
/// Registers are given to threads in steps of this, at most 255.
const REGISTER_STEP: u32 = 8;
const MOST_REGISTERS: u32 = 255;
/// Threads of a kernel that leaves room for a second block.
const SMALL_BLOCK: u32 = 128;

impl Model {
    /// What a block asks of an SM: the rows of Q and two tiles of K and V in shared memory, as far as that goes, and
    /// all registers where the kernel has one block per SM.
    pub(crate) fn resources(&self, gpu: &Gpu, shape: &Shape) -> Resources {
        let threads = self.kernel.threads;
        let room = gpu.limits.sm().map_or(0, |sm| sm.max_shared_per_block_optin);
        let bytes = if self.decodes(shape) { SLOT_BYTES } else { self.shared_bytes(shape) };
        Resources {
            threads_per_block: threads,
            registers_per_thread: (REGISTERS / threads / REGISTER_STEP * REGISTER_STEP).min(MOST_REGISTERS),
            dynamic_shared: (bytes as u32).min(room),
            ..Resources::default()
        }
    }

    /// Shared memory of a block of prefill.
    fn shared_bytes(&self, shape: &Shape) -> f64 {
        let (tile, place) = (&self.kernel.tile, self.place(shape));
        let rows = f64::from(tile.rows[place]) + 2.0 * f64::from(tile.columns[place]);
        rows * self.head(shape.head_dim) * self.precision.input_bytes
    }

    /// Blocks of prefill on an SM.
    pub(super) fn slots_of_prefill(&self, shape: &Shape) -> u32 {
        if self.kernel.threads > SMALL_BLOCK {
            return 1;
        }
        let by_registers = REGISTERS / (SMALL_BLOCK * (MOST_REGISTERS + 1));
        // A block has 1 KiB for the driver.
        let by_shared = (self.shared / (self.shared_bytes(shape) + 1024.0)) as u32;
        by_registers.min(by_shared).max(1)
    }

    /// The estimate for a report, with products and exponentials as terms of their own.
    fn timed(&self, shape: &Shape, parts: &Parts) -> TimeEstimate {
        let estimate = self.estimate_of(shape, parts);
        let mut time = estimate.report();
        let own = if estimate.pipe == Some(Pipe::Special) { parts.exponentials } else { parts.products };
        if let Some(term) = time.terms.first_mut() {
            term.time = Seconds(own);
        }
        time.pipes_in_turn = !self.kernel.prefill.overlapped;
        let other = if estimate.pipe == Some(Pipe::Special) {
            (self.precision.pipe, parts.products)
        } else {
            (Pipe::Special, parts.exponentials)
        };
        if other.1 > 0.0 {
            let term = Term { resource: Resource::Pipe(other.0), time: Seconds(other.1), least: Seconds::ZERO };
            time.terms.insert(1, term);
        }
        for term in &mut time.terms {
            term.least = Seconds(match term.resource {
                Resource::Pipe(Pipe::Special) => self.pairs_of_all(shape) / (self.exponentials * self.sms),
                Resource::Pipe(_) => shape.flop() / (self.rate * self.sms),
                Resource::Memory(Level::Dram) => self.least_bytes(shape) * parts.missed / self.bandwidth,
                _ => 0.0,
            });
        }
        time.tail_cost = parts.tail / parts.time;
        time.l2_hit = 1.0 - parts.missed;
        time
    }

    fn pairs_of_all(&self, shape: &Shape) -> f64 {
        shape.flop() / (4.0 * shape.head_dim as f64)
    }

    /// The kernel of a call with its blocks.
    fn described(&self, gpu: &Gpu, shape: &Shape, parts: &Parts) -> (Kernel, u64) {
        let output = shape.query_elements() * self.precision.output_bytes;
        let dram = Access { read: Bytes(self.least_bytes(shape) - output), write: Bytes(output), ..Access::default() };
        let kernel = Kernel {
            name: self.name(shape),
            resources: self.resources(gpu, shape),
            operations: vec![(self.precision.pipe, Flops(shape.flop()))],
            warp_instructions: None,
            traffic: Traffic { dram, ..Traffic::default() },
            concurrency: Concurrency::default(),
            tiled: None,
        };
        (kernel, parts.blocks as u64)
    }

    /// "attention prefill 1 x 32/8 x 4096 x 128 bf16 causal".
    fn name(&self, shape: &Shape) -> String {
        let heads = if shape.heads_q == shape.heads_kv {
            shape.heads_q.to_string()
        } else {
            format!("{}/{}", shape.heads_q, shape.heads_kv)
        };
        let length = match (self.decodes(shape), shape.seq_q == shape.seq_kv) {
            (true, _) => format!("1:{}", shape.seq_kv),
            (false, true) => shape.seq_q.to_string(),
            (false, false) => format!("{}:{}", shape.seq_q, shape.seq_kv),
        };
        let phase = if self.decodes(shape) { "decode" } else { "prefill" };
        let order = match (shape.causal, self.decodes(shape)) {
            (true, false) => " causal",
            _ => "",
        };
        let window = shape.window.map_or(String::new(), |w| format!(" window {w}"));
        let (batch, dim, input) = (shape.batch, shape.head_dim, self.precision.input.name());
        format!("attention {phase} {batch}x{heads}x{length}x{dim} {input}{order}{window}")
    }
}

/// Analyses a call on a GPU. The shape is checked first.
///
/// # Errors
/// There is no such call, the GPU lacks the type or the library, or the launch is beyond any GPU.
pub fn attention(gpu: &Gpu, shape: &Shape, request: &Request) -> Result<Attention, AttentionError> {
    let shape = shape.checked()?;
    let model = Model::new(gpu, request)?;
    let parts = model.parts(&shape)?;
    let time = model.timed(&shape, &parts);
    let (kernel, blocks) = model.described(gpu, &shape, &parts);
    let again = |gpu: &Gpu| {
        let model = Model::new(gpu, request).ok()?;
        let parts = model.parts(&shape).ok()?;
        Some(model.timed(&shape, &parts))
    };
    let mut analysis = analyse_operation(gpu, kernel, blocks, time, &again)?;
    let verdict = &mut analysis.verdict;
    verdict.findings.extend(explain::findings(&model, gpu, &shape, &parts));
    verdict.ignored.extend(explain::ignored(&model, &shape));
    verdict.confidence = explain::confidence(&model, gpu, &shape);
    let choices = explain::choices(&model, &shape, &parts);
    let sizes = explain::sizes(&model, &shape, &parts)?;
    Ok(Attention { analysis, parts, shape, of: model.of.clone(), choices, sizes })
}
