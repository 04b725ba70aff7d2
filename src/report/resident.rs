//! What is resident and in which waves: these parts of the text report, in the words of the device's vendor.

use super::{
    KernelReport,
    layout::{entry, number, percent, shown},
    text::entries,
};
use crate::{gpu::Words, units::grouped};

/// Occupancy, the limits of each resource, and the step to one more block; a core of a CPU has none.
pub(super) fn occupancy(out: &mut String, kernel: &KernelReport, width: usize) {
    if kernel.unit.as_deref() == Some("core") {
        return;
    }
    let words = words(kernel);
    let mut text = shown(kernel, kernel.theoretical_occupancy_pct.map(percent));
    if let (Some(active), Some(most)) = (kernel.active_warps, kernel.max_warps) {
        text += &format!(", {active} of {most} warps");
    }
    if let Some(achieved) = kernel.achieved_occupancy_pct {
        text += &format!("; {} achieved", percent(achieved));
    }
    if let Some(blocks) = kernel.blocks_per_sm {
        let threads = kernel.threads_per_block.map_or(String::new(), |t| format!(" of {t} threads"));
        text += &format!("; {blocks} {}{threads} per SM", if blocks == 1 { "block" } else { "blocks" });
    }
    if !kernel.limiters.is_empty() {
        let words: Vec<&str> = kernel.limiters.iter().map(|w| limiter(w)).collect();
        text += &format!(", limited by {}", words.join(" and "));
    }
    entry(out, "occupancy", &words.say(&text), width);
    let amd = kernel.gfx.is_some();
    let limits = [
        (words.warps(), kernel.limit_warps),
        (if amd { "VGPRs" } else { "regs" }, kernel.limit_regs),
        (if amd { "LDS" } else { "smem" }, kernel.limit_smem),
        (words.blocks(), kernel.limit_blocks),
        if amd { ("SGPRs", kernel.limit_sgprs) } else { ("barriers", kernel.limit_barriers) },
    ];
    if limits.iter().any(|(_, limit)| limit.is_some()) {
        let all = limits.map(|(word, limit)| format!("{word} {}", shown(kernel, limit.map(|l| l.to_string()))));
        entry(out, "limits", &format!("{} ({})", all.join(", "), words.say("blocks per SM")), width);
    }
    if let (Some(hip), Some(llvm)) = (kernel.hip_blocks_per_cu, kernel.llvm_waves_per_simd) {
        let workgroups = if hip == 1 { "workgroup" } else { "workgroups" };
        let text = format!("HIP's occupancy query says {hip} {workgroups}, LLVM {llvm} wavefronts per SIMD");
        entry(out, "conventions", &text, width);
    }
    // What is said again as advice need not stand here too.
    let steps = kernel.next_steps.iter().filter(|s| !kernel.advice.contains(s));
    entries(out, "next step", steps.map(|s| (String::new(), s.clone())), width);
}

/// A limiter's word as people say it.
fn limiter(word: &str) -> &str {
    match word {
        "warps" => "warp slots",
        "regs" => "registers",
        "smem" => "shared memory",
        "blocks" => "block slots",
        "sgprs" => "SGPRs",
        other => other,
    }
}

/// Waves and tail in one line.
pub(super) fn waves(kernel: &KernelReport) -> String {
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

/// The words of the kernel's device.
fn words(kernel: &KernelReport) -> Words {
    kernel.unit.as_deref().map_or_else(Words::default, Words::of_unit)
}
