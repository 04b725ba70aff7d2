//! From a profiled launch to its report.

use super::{
    BlockLimit, KernelReport, NSIGHT_COMPUTE, PointReport,
    build::{below_roof, slowest_pipe},
};
use crate::{
    gpu::Pipe,
    kernel::Level,
    profile::{Judged, Kind},
    time::Bound,
    units::{Flops, decimal, significant},
};

const NO_VERDICT: &str = "none: the file has neither throughput metrics nor counters for a place on the roofline";

/// No more warps than slots, with room for what a profiler's replay passes disagree on.
const MOST_OCCUPANCY: f64 = 100.5;

impl KernelReport {
    /// The report of a launch that a profiler observed: the file's figures, the recomputed ones, and where they differ.
    pub fn from_judged(judged: &Judged) -> Self {
        let observed = &judged.observed;
        let mut report = Self { kernel: observed.name.clone(), source: NSIGHT_COMPUTE.into(), ..Self::default() };
        report.operation = Some(Kind::of(&observed.name).word().into());
        match (judged.model.as_ref().map(|m| &m.gpu), &judged.device.gpu) {
            (Some(gpu), _) | (None, Some(gpu)) => report.set_gpu(gpu),
            (None, None) => report.gpu_name = Some(judged.device.name.clone()),
        }
        if let Some(limits) = &judged.device.limits {
            report.set_target(limits);
        }
        report.sm_count = judged.device.sm_count;
        report.grid_blocks = observed.grid_blocks;
        report.threads_per_block = observed.threads_per_block;
        report.registers_per_thread = observed.registers_per_thread;
        if let (Some(limits), Some(resources), Some(found)) =
            (&judged.device.limits, &judged.resources, &judged.occupancy)
        {
            report.set_occupancy(limits, resources, found);
        }
        if judged.occupancy.is_none() {
            report.set_stated_limits(judged);
        }
        if let Some(plan) = &judged.schedule {
            report.set_waves(plan);
        }
        report.achieved_occupancy_pct = observed.achieved_occupancy_pct.filter(|percent| *percent <= MOST_OCCUPANCY);
        report.file_theoretical_occupancy_pct = observed.theoretical_occupancy_pct;
        report.file_waves = observed.waves_per_sm;
        report.differences = judged.differences();
        report.differences.extend(observed.achieved_occupancy_pct.filter(|p| *p > MOST_OCCUPANCY).map(|percent| {
            format!(
                "achieved occupancy: {} % in the file, above 100 %: a sum of ratios, which is no occupancy (active warps of all over warp slots of all is one)",
                significant(percent, 5)
            )
        }));
        report.set_measurement(judged);
        match &judged.bound {
            Some((bound, evidence)) => {
                report.bound = Some(bound.word().into());
                report.verdict = Some(format!("{}-bound: {evidence}", bound.word()));
            }
            None => report.verdict = Some(NO_VERDICT.into()),
        }
        let sentence = |a: &crate::profile::Advice| match a.estimated_speedup_pct {
            Some(percent) => format!("{} (it estimates {} % less time)", a.text, decimal(percent, 1)),
            None => a.text.clone(),
        };
        report.advice = judged.advice.iter().map(sentence).collect();
        report.missing = judged.missing.clone();
        report
    }

    /// Occupancy and limits as the file states them, where they cannot be recomputed.
    fn set_stated_limits(&mut self, judged: &Judged) {
        let observed = &judged.observed;
        let limits = [
            ("warps", observed.limit_warps, &mut self.limit_warps),
            ("regs", observed.limit_registers, &mut self.limit_regs),
            ("smem", observed.limit_shared, &mut self.limit_smem),
            ("blocks", observed.limit_blocks, &mut self.limit_blocks),
            ("barriers", observed.limit_barriers, &mut self.limit_barriers),
        ];
        let least = limits.iter().filter_map(|(_, stated, _)| *stated).min();
        for (word, stated, place) in limits {
            *place = stated.map(BlockLimit::Blocks);
            if stated.is_some() && stated == least {
                self.limiters.push(word.into());
            }
        }
        self.blocks_per_sm = least;
        self.theoretical_occupancy_pct = observed.theoretical_occupancy_pct;
    }

    /// Times, traffic and rates of the file, and the model's estimate beside them.
    fn set_measurement(&mut self, judged: &Judged) {
        let observed = &judged.observed;
        self.measured_us = observed.duration.map(|d| d.get() * 1e6);
        if let Some(model) = &judged.model {
            self.set_time(model);
            // The launch was measured: what the tail of equal blocks would cost is the model's, not the file's.
            self.measured_over_model = self.measured_us.zip(self.time_us).map(|(measured, model)| measured / model);
            let operations: Vec<(Pipe, Flops)> = model.launch.kernel.operations.clone();
            let pipe = slowest_pipe(&model.gpu, &operations);
            self.pipe = pipe.map(Pipe::label);
            self.peak_tflops = model.roofline.mixed_peak(&operations).map(|p| p.get() / 1e12);
            self.ridge_flop_per_byte = pipe.and_then(|p| model.roofline.ridge(p, Level::Dram)).map(|r| r.get());
        }
        let read_write = observed.dram_read.zip(observed.dram_write).map(|(r, w)| r + w);
        self.dram_bytes = read_write.or(observed.dram_bytes).map(|b| b.get());
        self.l2_bytes = observed.l2_bytes.map(|b| b.get());
        let seconds = observed.duration.map(|d| d.get()).filter(|s| *s > 0.0);
        self.dram_gb_per_s = self.dram_bytes.zip(seconds).map(|(b, s)| b / s / 1e9);
        if !observed.operations.is_empty() {
            let flop: f64 = observed.operations.iter().map(|(_, count)| count).sum();
            self.flop = Some(flop);
            self.tflops = seconds.map(|s| flop / s / 1e12);
        }
        self.points = judged.points.iter().map(|(p, reasons)| PointReport::new(p, reasons.clone())).collect();
        self.roof_pct = match judged.points.iter().find(|(p, _)| p.level == Level::Dram) {
            Some((point, _)) => below_roof(point.share()),
            None => self.dram_gb_per_s.zip(self.peak_dram_gb_per_s).and_then(|(rate, peak)| below_roof(rate / peak)),
        };
        // Which resource holds a launch back is the model's word, where it agrees with the file on the bound.
        if let (Some(model), Some((bound, _))) = (&judged.model, &judged.bound) {
            let (modelled, resource, _) = model.time.bound();
            if modelled == *bound && modelled != Bound::Latency {
                self.bound_resource = resource.map(crate::time::Resource::label);
            }
        }
    }
}
