//! What a kernel's figures mean, one sentence per subject, in the words of the device's vendor; text and HTML say the
//! same words.

use super::{
    KernelReport, PointReport, TermReport, WhatIfReport,
    layout::{number, percent, shown, time},
};
use crate::{
    gpu::Words,
    units::{Bytes, BytesPerSecond, FlopsPerSecond, grouped, plural},
};

/// Terms below this share of the largest are not drawn.
const LEAST_TERM: f64 = 0.01;

/// Measured and estimated time with the range.
pub(super) fn time_line(kernel: &KernelReport) -> String {
    let range = match (kernel.low_us, kernel.high_us) {
        (Some(low), Some(high)) => format!(" ({} to {})", time(low), time(high)),
        _ => String::new(),
    };
    let host = kernel.launch_us.map_or(String::new(), |us| format!(", {} of it the host's launch", time(us)));
    let model = kernel.time_us.map(|us| format!("{}{range}{host}", time(us)));
    let of = match (kernel.launches, kernel.total_us, kernel.shortest_us.zip(kernel.longest_us)) {
        (Some(launches), None, Some((low, high))) if launches > 1 => {
            format!(" (median of {launches}, {} to {})", time(low), time(high))
        }
        _ => String::new(),
    };
    match (kernel.measured_us, model) {
        (Some(measured), Some(model)) => {
            let ratio = kernel.measured_over_model.map_or(String::new(), |r| format!(", {} x the model", number(r)));
            format!("{} measured{of}{ratio}; model {model}", time(measured))
        }
        (Some(measured), None) => format!("{} measured{of}", time(measured)),
        (None, model) => shown(kernel, model),
    }
}

/// The words of the kernel's device.
pub(super) fn words(kernel: &KernelReport) -> Words {
    kernel.unit.as_deref().map_or_else(Words::default, Words::of_unit)
}

/// Theoretical and achieved occupancy, the blocks of an SM and what limits them; a core of a CPU has none.
pub(super) fn occupancy_line(kernel: &KernelReport) -> Option<String> {
    if kernel.unit.as_deref() == Some("core") {
        return None;
    }
    let mut text = shown(kernel, kernel.theoretical_occupancy_pct.map(percent));
    if let (Some(active), Some(most)) = (kernel.active_warps, kernel.max_warps) {
        text += &format!(", {active} of {most} warps");
    }
    if let Some(achieved) = kernel.achieved_occupancy_pct {
        text += &format!("; {} achieved", percent(achieved));
    }
    if let Some(blocks) = kernel.blocks_per_sm {
        let threads = kernel.threads_per_block.map_or(String::new(), |t| format!(" of {}", plural(t.into(), "thread")));
        text += &format!("; {blocks} {}{threads} per SM", if blocks == 1 { "block" } else { "blocks" });
    }
    if !kernel.limiters.is_empty() {
        let limiters: Vec<&str> = kernel.limiters.iter().map(|w| limiter(w)).collect();
        text += &format!(", limited by {}", limiters.join(" and "));
    }
    Some(words(kernel).say(&text))
}

/// Blocks per SM that each resource allows; absent where no limit is known.
pub(super) fn limits_line(kernel: &KernelReport) -> Option<String> {
    let (words, amd) = (words(kernel), kernel.gfx.is_some());
    let limits = [
        (words.warps(), kernel.limit_warps),
        (if amd { "VGPRs" } else { "regs" }, kernel.limit_regs),
        (if amd { "LDS" } else { "smem" }, kernel.limit_smem),
        (words.blocks(), kernel.limit_blocks),
        if amd { ("SGPRs", kernel.limit_sgprs) } else { ("barriers", kernel.limit_barriers) },
    ];
    limits.iter().any(|(_, limit)| limit.is_some()).then(|| {
        let all = limits.map(|(word, limit)| format!("{word} {}", shown(kernel, limit.map(|l| l.to_string()))));
        format!("{} ({})", all.join(", "), words.say("blocks per SM"))
    })
}

/// What HIP and LLVM say of an AMD kernel, by conventions of their own.
pub(super) fn conventions_line(kernel: &KernelReport) -> Option<String> {
    let (hip, llvm) = kernel.hip_blocks_per_cu.zip(kernel.llvm_waves_per_simd)?;
    let workgroups = if hip == 1 { "workgroup" } else { "workgroups" };
    Some(format!("HIP's occupancy query says {hip} {workgroups}, LLVM {llvm} wavefronts per SIMD"))
}

/// What gives one more block per SM; what is said again as advice is left out.
pub(super) fn next_steps(kernel: &KernelReport) -> impl Iterator<Item = &String> {
    kernel.next_steps.iter().filter(|s| !kernel.advice.contains(s))
}

/// A limiter's word as people say it.
pub(super) fn limiter(word: &str) -> &str {
    match word {
        "warps" => "warp slots",
        "regs" => "registers",
        "smem" => "shared memory",
        "blocks" => "block slots",
        "sgprs" => "SGPRs",
        other => other,
    }
}

/// Waves of the grid and what the tail costs.
pub(super) fn waves_line(kernel: &KernelReport) -> String {
    let Some(waves) = kernel.waves else {
        return shown(kernel, kernel.file_waves.map(number));
    };
    let blocks = kernel.grid_blocks.map_or(String::new(), |blocks| {
        let sms = kernel.sm_count.map_or(String::new(), |sms| format!(" on {sms} SMs"));
        format!(": {} {}{sms}", grouped(blocks), if blocks == 1 { "block" } else { "blocks" })
    });
    let mut text = format!("{}{blocks}", number(waves));
    match (kernel.full_waves, kernel.tail_blocks) {
        (Some(full), Some(0)) => text += &format!(", {} full, no tail", grouped(full)),
        (Some(full), Some(tail)) if full > 0 => {
            text += &format!(", {} full and a tail of {}", grouped(full), grouped(tail));
            if let Some(fill) = kernel.tail_fill_pct {
                text += &format!(" ({} filled", percent(fill));
                let idle = kernel.idle_sms_in_tail.filter(|idle| *idle > 0);
                text += &idle.map_or(")".into(), |idle| format!(", {idle} SMs idle)"));
            }
            if let Some(cost) = kernel.tail_cost_pct {
                text += &format!(" that costs {} of the time", percent(cost));
            }
        }
        (Some(0), _) => {
            let idle = kernel.idle_sms_in_tail.filter(|idle| *idle > 0);
            text += &idle.map_or(String::new(), |idle| format!(", {idle} of them without work"));
        }
        _ => {}
    }
    words(kernel).say(&text)
}

/// The peak of the pipe that takes longest, and its ridge point.
pub(super) fn peak_line(kernel: &KernelReport) -> Option<String> {
    let (peak, pipe) = kernel.peak_tflops.zip(kernel.pipe.as_ref())?;
    let ridge = kernel.ridge_flop_per_byte.map_or(String::new(), |r| format!(", ridge {} FLOP/B", number(r)));
    let reached = kernel.measured_us.and(kernel.tflops).map(|rate| rate / peak * 100.0).filter(|share| *share <= 100.0);
    let reached = reached.map_or(String::new(), |share| format!(", {} of it reached", percent(share)));
    Some(format!("{pipe} peak {}{reached}{ridge}", FlopsPerSecond(peak * 1e12)))
}

/// DRAM traffic and its rate against the peak; absent for a described kernel without traffic.
pub(super) fn dram_line(kernel: &KernelReport) -> Option<String> {
    let bandwidth = |gb: f64| BytesPerSecond(gb * 1e9).to_string();
    let Some(bytes) = kernel.dram_bytes.filter(|b| *b > 0.0 || kernel.is_observed()) else {
        return kernel.is_observed().then(|| "not in file".into());
    };
    let mut text = Bytes(bytes).to_string();
    if let Some(rate) = kernel.dram_gb_per_s {
        text += &format!(" at {}", bandwidth(rate));
        match kernel.peak_dram_gb_per_s {
            Some(peak) if rate > peak => {
                text += &format!(": above its peak of {}, the data come from L2 at least in part", bandwidth(peak));
            }
            Some(peak) => text += &format!(", {} of {}", percent(rate / peak * 100.0), bandwidth(peak)),
            None => {}
        }
    }
    Some(text)
}

/// The memory level of a point as people say it.
pub(super) fn level_word(point: &PointReport) -> &'static str {
    match point.level.as_str() {
        "dram" => "DRAM",
        "l2" => "L2",
        _ => "shared",
    }
}

/// Reached and attainable rate of a point, and why it may lie above the roof.
pub(super) fn point_line(point: &PointReport) -> String {
    let rates = format!(
        "{} of {} at {} FLOP/B",
        FlopsPerSecond(point.rate_tflops * 1e12),
        FlopsPerSecond(point.attainable_tflops * 1e12),
        number(point.intensity_flop_per_byte)
    );
    match point.share_pct {
        Some(_) => rates,
        None => format!("above the roof, {rates}: {}", point.above_roof.join("; or ")),
    }
}

/// The terms worth drawing, longest first.
pub(super) fn drawn_terms(kernel: &KernelReport) -> Vec<&TermReport> {
    let mut terms: Vec<_> = kernel.terms.iter().collect();
    terms.sort_by(|a, b| b.time_us.total_cmp(&a.time_us));
    let largest = terms.first().map_or(0.0, |t| t.time_us);
    terms.retain(|t| t.time_us >= largest * LEAST_TERM && t.time_us > 0.0);
    terms
}

/// The speed-up of a change, and the change with the bound after it where that is another.
pub(super) fn what_if_line(kernel: &KernelReport, what_if: &WhatIfReport) -> (String, String) {
    let after = match &kernel.bound {
        Some(bound) if *bound != what_if.bound_after => format!("; then {}-bound", what_if.bound_after),
        _ => String::new(),
    };
    (format!("{:.2}", what_if.speedup), format!("{}{after}", what_if.text))
}
