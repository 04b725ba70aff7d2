//! The answer in sentences.

use super::{Crossover, From, Model, Place, Sample};
use crate::units::{grouped, significant};

/// Changes of the winner that are named.
const NAMED: usize = 5;

impl Crossover {
    /// From which size the GPU wins, with the range of the bands, one sentence.
    pub fn sentence(&self) -> String {
        let (low, high) = (grouped(self.range.0), grouped(self.range.1));
        match (self.from, self.early, self.late) {
            (From::Never, From::Never, _) => {
                format!("the GPU never wins up to n = {high}, not even where the bands favour it most")
            }
            (From::Never, early, _) => {
                format!(
                    "the GPU never wins up to n = {high} by the estimates; at the favourable end of the bands {}",
                    gpu_from(early)
                )
            }
            (From::Always, _, From::Always) => {
                format!("the GPU always wins from n = {low} up, whatever of the bands holds")
            }
            (From::Always, _, late) => {
                format!(
                    "the GPU always wins from n = {low} up by the estimates; at the unfavourable end of the bands {}",
                    gpu_from(late)
                )
            }
            (From::Size(n), early, late) => {
                let end = |from: From| match from {
                    From::Always => format!("{low} or less"),
                    From::Size(n) => grouped(n),
                    From::Never => format!("none up to {high}"),
                };
                format!("the GPU wins from n = {} on; by the bands from {} to {}", grouped(n), end(early), end(late))
            }
        }
    }

    /// The changes of the winner, where there are several or the last winner is not the GPU; one sentence.
    pub fn changes(&self) -> Option<String> {
        let settled = self.crossings.len() < 2 && self.crossings.iter().all(|crossing| crossing.gpu);
        if settled {
            return None;
        }
        let winner = |gpu: bool| if gpu { "GPU" } else { "CPU" };
        let named = self.crossings.iter().take(NAMED).map(|c| format!("{} from {}", winner(c.gpu), grouped(c.n)));
        let named: Vec<String> = named.collect();
        let more = match self.crossings.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => {
                format!(", and {more} more up to {}", self.crossings.last().map_or(String::new(), |c| grouped(c.n)))
            }
        };
        Some(format!("the winner changes {} times: {}{more}", self.crossings.len(), named.join(", ")))
    }
}

/// "it wins from 120 on".
fn gpu_from(from: From) -> String {
    match from {
        From::Always => "it always wins".into(),
        From::Size(n) => format!("it wins from {} on", grouped(n)),
        From::Never => "it never does".into(),
    }
}

/// What decides at the size in question.
pub(super) fn why(model: &Model, at: &Sample, from: From, resident: Option<From>) -> String {
    let gpu = &at.gpu;
    let n = grouped(at.n);
    let link = gpu.link.as_deref().unwrap_or("no link");
    let without = match resident {
        Some(From::Size(n)) => format!("; with the data on the GPU it would win from n = {} on", grouped(n)),
        Some(From::Always) => "; with the data on the GPU it would always win".into(),
        Some(From::Never) => "; it would not win with the data on the GPU either".into(),
        None => String::new(),
    };
    let shared = model.request().reuse > 1 && model.request().place != Place::Resident;
    let copies = if shared { "this call's share of the copies" } else { "the copies" };
    let linear = !matches!(model.request().family, super::Family::Gemm { .. }) && at.cpu.level == "DRAM";
    let alike = if linear { ", and both grow with n" } else { "" };
    if from == From::Never && gpu.transfer > at.cpu.time {
        let times = significant(gpu.transfer / at.cpu.time, 2);
        let take = if shared { "takes" } else { "take" };
        return format!(
            "{copies} over {link} alone {take} {times} times as long as the whole call on the CPU at n = {n}{alike}{without}"
        );
    }
    let parts = [
        (gpu.transfer, format!("{copies} over {link}"), shared),
        (gpu.launch, "the launch".into(), true),
        (gpu.kernel, "the kernel".into(), true),
    ];
    let (time, name, one) = parts.iter().fold(&parts[0], |best, part| if part.0 > best.0 { part } else { best });
    let take = if *one { "takes" } else { "take" };
    format!("{name} {take} {} % of the GPU's time at n = {n}{without}", significant(100.0 * time / gpu.time, 3))
}
