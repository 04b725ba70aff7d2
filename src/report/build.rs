//! From an analysis to its report.

use super::{BlockLimit, DESCRIBED, KernelReport, PointReport, TermReport, WhatIfReport};
use crate::{
    analysis::Analysis,
    gpu::{Gpu, Limits, Pipe, Words},
    kernel::Level,
    occupancy::{BlockLimits, Occupancy, Resource, Resources, advice, amd},
    op::{attention::Attention, gemm::Product},
    roofline::{Point, above_roof},
    schedule::Schedule,
    time::{Bound, Resource as TimeResource},
    units::{Flops, FlopsPerByte, decimal},
    verdict::Change,
};

impl KernelReport {
    /// The report of a kernel that its user described.
    pub fn from_analysis(analysis: &Analysis) -> Self {
        let mut report =
            Self { kernel: analysis.launch.kernel.name.clone(), source: DESCRIBED.into(), ..Self::default() };
        report.set_gpu(&analysis.gpu);
        report.set_occupancy(&analysis.gpu.limits, &analysis.launch.kernel.resources, &analysis.launch.occupancy);
        report.set_waves(&analysis.schedule);
        report.set_time(analysis);
        report.measured_us = analysis.measured.map(|t| t.get() * 1e6);
        report.measured_over_model = analysis.measured.map(|t| t / analysis.time.estimate);
        report.set_verdict(analysis);
        report.set_roofline(analysis);
        report.say(analysis.gpu.limits.words());
        report
    }

    /// A row of something other than a kernel on a GPU, to be filled in.
    pub fn of_gpu(gpu: &Gpu) -> Self {
        let mut report = Self { source: DESCRIBED.into(), ..Self::default() };
        report.set_gpu(gpu);
        report
    }

    /// The GPU and its what-ifs.
    pub(super) fn set_gpu(&mut self, gpu: &Gpu) {
        self.gpu = Some(gpu.id.clone());
        self.gpu_name = Some(gpu.name.clone());
        self.gpu_changes = gpu.changes.clone();
        self.set_target(&gpu.limits);
        self.sm_count = Some(gpu.units());
        self.calibration = Some(gpu.calibration.of.to_string());
        self.peak_dram_gb_per_s = Some(gpu.memory.dram.bandwidth.get() / 1e9);
    }

    /// The choice of a matrix product's kernel.
    pub fn set_product(&mut self, product: &Product) {
        let chosen = &product.plan.chosen;
        self.tile = chosen.tile.map(|t| format!("{}x{}", t.height, t.width));
        self.splits = Some(chosen.splits);
        self.choices = product.choices.clone();
        self.sizes = product.sizes.clone();
        // Tile and split were searched by time: more residency alone is no step.
        self.next_steps.clear();
    }

    /// The kernel of an attention call.
    pub fn set_attention(&mut self, attention: &Attention) {
        let parts = &attention.parts;
        self.tile = Some(format!("{}x{}", parts.tile.0, parts.tile.1));
        self.splits = Some(parts.splits);
        self.choices = attention.choices.clone();
        self.sizes = attention.sizes.clone();
        self.calibration = Some(attention.of.to_string());
        self.next_steps.clear();
    }

    /// What the limits belong to.
    pub(super) fn set_target(&mut self, limits: &Limits) {
        self.compute_capability = limits.capability().map(|c| c.to_string());
        self.gfx = limits.cu().map(|cu| cu.gfx.clone());
        self.unit = Some(limits.words().unit.into());
    }

    /// The model's sentences in the vendor's words.
    fn say(&mut self, words: Words) {
        let sentences = self.findings.iter_mut().chain(&mut self.next_steps).chain(&mut self.ignored);
        let sentences = sentences.chain(&mut self.verdict).chain(&mut self.confidence);
        for sentence in sentences.chain(self.what_ifs.iter_mut().map(|w| &mut w.text)) {
            *sentence = words.say(sentence);
        }
    }

    /// Residency of a block on an SM.
    pub(super) fn set_occupancy(&mut self, limits: &Limits, resources: &Resources, found: &Occupancy) {
        let limit = |resource| {
            let blocks = found.limits.of(resource);
            Some(if blocks == BlockLimits::UNLIMITED { BlockLimit::Unlimited } else { BlockLimit::Blocks(blocks) })
        };
        self.threads_per_block = Some(resources.threads_per_block);
        if matches!(limits, Limits::Core) {
            return;
        }
        self.registers_per_thread = Some(resources.registers_per_thread);
        self.shared_bytes_per_block = Some(resources.shared());
        self.alloc_registers_per_block = Some(found.registers_per_block);
        self.alloc_shared_bytes_per_block = Some(found.shared_per_block);
        self.shared_configuration_bytes = Some(found.shared_capacity);
        self.blocks_per_sm = Some(found.blocks_per_sm);
        self.limiters = found.limiters().iter().map(|r| r.word().to_owned()).collect();
        self.limit_warps = limit(Resource::Warps);
        self.limit_regs = limit(Resource::Registers);
        self.limit_smem = limit(Resource::Shared);
        self.limit_blocks = limit(Resource::Blocks);
        match limits {
            Limits::Cu(cu) => {
                let conventions = amd::residency(cu, resources);
                self.limit_sgprs = limit(Resource::Scalars);
                self.hip_blocks_per_cu = Some(conventions.hip_blocks);
                self.llvm_waves_per_simd = Some(conventions.llvm_waves_per_simd);
            }
            _ => self.limit_barriers = limit(Resource::Barriers),
        }
        self.active_warps = Some(found.active_warps());
        self.max_warps = Some(found.max_warps);
        self.theoretical_occupancy_pct = Some(found.fraction() * 100.0);
        self.next_steps = advice::joint_step(limits, resources, found).iter().map(|s| s.sentence(found)).collect();
    }

    /// Waves of the grid.
    pub(super) fn set_waves(&mut self, plan: &Schedule) {
        self.grid_blocks = Some(plan.blocks);
        self.waves = Some(plan.waves());
        self.full_waves = Some(plan.full_waves());
        self.tail_blocks = Some(plan.tail_blocks());
        self.tail_fill_pct = Some(plan.tail_fill() * 100.0);
        self.utilization_pct = Some(plan.utilization() * 100.0);
        self.idle_sms_in_tail = Some(plan.idle_sms_in_tail());
        self.few_blocks = Some(plan.is_small());
    }

    /// Estimate and terms.
    pub(super) fn set_time(&mut self, analysis: &Analysis) {
        let time = &analysis.time;
        let micros = |seconds: crate::units::Seconds| seconds.get() * 1e6;
        self.tail_cost_pct = Some(time.tail_cost * 100.0);
        self.time_us = Some(micros(time.estimate));
        self.low_us = Some(micros(time.low));
        self.high_us = Some(micros(time.high));
        let host = time.of(TimeResource::Launch);
        self.launch_us = (host.get() > 0.0).then(|| micros(host));
        let term = |t: &crate::time::Term| TermReport {
            resource: t.resource.label(),
            bound: t.resource.bound().word().into(),
            time_us: micros(t.time),
            least_us: micros(t.least),
        };
        self.terms = time.terms.iter().map(term).collect();
        self.math_us = Some(micros(time.side(Bound::Math).1));
        self.memory_us = Some(micros(time.side(Bound::Memory).1));
        self.latency_us = Some(micros(time.side(Bound::Latency).1));
        self.l2_hit_pct = Some(time.l2_hit * 100.0);
    }

    fn set_roofline(&mut self, analysis: &Analysis) {
        let kernel = &analysis.launch.kernel;
        let time = analysis.measured.unwrap_or(analysis.time.estimate);
        let dram = kernel.traffic.dram.moved();
        self.dram_bytes = Some(dram.get());
        self.l2_bytes = Some(kernel.l2_access().moved().get());
        self.dram_gb_per_s = Some((dram / time).get() / 1e9);
        self.flop = Some(kernel.flops().get());
        self.tflops = Some((kernel.flops() / time).get() / 1e12);
        let pipe = slowest_pipe(&analysis.gpu, &kernel.operations);
        self.pipe = pipe.map(Pipe::label);
        self.peak_tflops = analysis.roofline.mixed_peak(&kernel.operations).map(|p| p.get() / 1e12);
        self.ridge_flop_per_byte = pipe.and_then(|p| analysis.roofline.ridge(p, Level::Dram)).map(|r| r.get());
        let clock = pipe.map_or(analysis.gpu.clocks.vector, |p| analysis.gpu.clock(p));
        let points = if analysis.measured.is_some() { analysis.measured_points() } else { analysis.points.clone() };
        let above = |point: &Point| above_roof(&analysis.gpu, point, &kernel.operations, clock);
        self.points = points.iter().map(|point| PointReport::new(point, above(point))).collect();
        if let (true, Some(peak)) = (points.is_empty(), analysis.roofline.mixed_peak(&kernel.operations)) {
            // Without traffic there is no intensity to stand at, but still a peak that nothing exceeds.
            let rate = kernel.flops() / time;
            let (level, intensity) = (Level::Dram, FlopsPerByte(f64::INFINITY));
            let reasons = above(&Point { level, intensity, rate, attainable: peak, on_slope: false });
            if !reasons.is_empty() {
                let times = decimal(rate / peak, 2);
                self.findings.insert(0, format!("{rate} is {times} times the peak: {}", reasons.join("; or ")));
            }
        }
        self.roof_pct = match points.iter().find(|p| p.level == Level::Dram) {
            Some(point) => below_roof(point.share()),
            None if self.points.is_empty() => {
                below_roof(dram / time / analysis.gpu.memory.dram.bandwidth).filter(|p| *p > 0.0)
            }
            None => None,
        };
    }

    fn set_verdict(&mut self, analysis: &Analysis) {
        let verdict = &analysis.verdict;
        self.bound = Some(verdict.bound.word().into());
        self.bound_resource = verdict.resource.map(TimeResource::label);
        self.margin = Some(verdict.margin).filter(|m| m.is_finite());
        self.verdict = Some(verdict.sentence.clone());
        self.findings = verdict.findings.clone();
        let what_if = |w: &crate::verdict::WhatIf| WhatIfReport {
            change: change_word(w.change).into(),
            text: w.text.clone(),
            speedup: w.speedup,
            bound_after: w.bound_after.word().into(),
        };
        self.what_ifs = verdict.what_ifs.iter().map(what_if).collect();
        self.ignored = verdict.ignored.clone();
        self.confidence = Some(verdict.confidence.clone());
    }
}

impl PointReport {
    /// A point of the roofline with the diagnosis of [`above_roof`]; its share is absent above the roof.
    pub fn new(point: &Point, above_roof: Vec<String>) -> Self {
        let level = match point.level {
            Level::Dram => "dram",
            Level::L2 => "l2",
            Level::Shared => "shared",
        };
        Self {
            level: level.into(),
            intensity_flop_per_byte: point.intensity.get(),
            rate_tflops: point.rate.get() / 1e12,
            attainable_tflops: point.attainable.get() / 1e12,
            share_pct: below_roof(point.share()),
            above_roof,
        }
    }
}

/// A share as a percentage, absent above 1.
pub(super) fn below_roof(share: f64) -> Option<f64> {
    (share <= 1.0).then_some(share * 100.0)
}

/// The pipe that takes longest at its peak.
pub(super) fn slowest_pipe(gpu: &Gpu, operations: &[(Pipe, Flops)]) -> Option<Pipe> {
    let timed = operations.iter().filter(|(_, flops)| flops.get() > 0.0);
    let timed = timed.filter_map(|(pipe, flops)| Some((*pipe, flops.get() / gpu.peak(*pipe)?.get())));
    timed.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(pipe, _)| pipe)
}

/// The stable name of a change.
fn change_word(change: Change) -> &'static str {
    match change {
        Change::WholeWaves => "whole_waves",
        Change::SplitBlocks => "split_blocks",
        Change::Registers => "registers",
        Change::SharedMemory => "shared_memory",
        Change::BlockSize => "block_size",
        Change::Coalescing => "coalescing",
        Change::BankConflicts => "bank_conflicts",
        Change::Spills => "spills",
        Change::InFlight => "in_flight",
        Change::WorkPerThread => "work_per_thread",
        Change::Dependence => "dependence",
        Change::Reuse => "reuse",
        Change::Precision => "precision",
        Change::Sparsity => "sparsity",
        Change::Bandwidth => "bandwidth",
        Change::Math => "math",
    }
}
