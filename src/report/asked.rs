//! What was asked of measured kernels, other registers, blocks or shared memory and other GPUs: rows, sentences, totals.

use super::{
    AskedReport, AskedTotal, ElsewhereReport, KernelReport, TraceReport,
    layout::{number, percent, time},
    sentences::{limiter, words},
};
use crate::{
    profile::{BAND, ChangedLaunch, LaunchChange, Obstacle, Span},
    time::Bound,
    units::{counted, decimal, grouped, plural},
};

impl KernelReport {
    /// Adds the answer to a what-if; `bound` is what the answer was given for.
    pub fn add_asked(&mut self, change: &LaunchChange, bound: Option<Bound>, found: &Result<ChangedLaunch, Obstacle>) {
        let change = change.to_string();
        let asked = match found {
            Ok(found) => self.answered(&change, bound, found),
            Err(obstacle) => AskedReport {
                text: format!("{change}: {obstacle}"),
                blocks_per_sm: matches!(obstacle, Obstacle::CannotRun { .. }).then_some(0),
                change,
                ..AskedReport::default()
            },
        };
        self.asked.push(asked);
    }

    fn answered(&self, change: &str, bound: Option<Bound>, found: &ChangedLaunch) -> AskedReport {
        let times = |us: Option<f64>| us.zip(found.factors).map(|(us, (low, high))| (us * low, us * high)).unzip();
        let (low_us, high_us) = times(self.measured_us);
        let (total_low_us, total_high_us) = times(self.total_us.or(self.measured_us));
        let mut asked = AskedReport {
            change: change.into(),
            text: String::new(),
            blocks_per_sm: Some(found.occupancy.blocks_per_sm),
            theoretical_occupancy_pct: Some(found.occupancy.fraction() * 100.0),
            limiters: found.occupancy.limiters().iter().map(|r| r.word().to_owned()).collect(),
            grid_blocks: found.schedule.map(|plan| plan.blocks),
            waves: found.schedule.map(|plan| plan.waves()),
            utilization_pct: found.schedule.map(|plan| plan.utilization() * 100.0),
            low_us,
            high_us,
            total_low_us,
            total_high_us,
        };
        asked.text = words(self).say(&self.sentence(&asked, bound, found));
        asked
    }

    fn sentence(&self, asked: &AskedReport, bound: Option<Bound>, found: &ChangedLaunch) -> String {
        let change = &asked.change;
        if found.same {
            return format!("{change}: the launch is like that already");
        }
        let moved = |old: Option<String>, new: Option<String>| match (old, new) {
            (Some(old), Some(new)) if old != new => format!("{old} -> {new}"),
            (_, new) => new.unwrap_or_default(),
        };
        let count = |blocks: Option<u32>| blocks.map(|b| b.to_string());
        let held = match moved(count(self.blocks_per_sm), count(asked.blocks_per_sm)) {
            one if one == "1" => "1 block".to_owned(),
            several => format!("{several} blocks"),
        };
        let mut parts = vec![format!("{held} per SM")];
        let share = |pct: Option<f64>| pct.map(|pct| decimal(pct, 1));
        let limiters = |all: &[String]| {
            let named: Vec<&str> = all.iter().map(|word| limiter(word)).collect();
            (!named.is_empty()).then(|| named.join(" and "))
        };
        parts.push(format!(
            "occupancy {} % ({})",
            moved(share(self.theoretical_occupancy_pct), share(asked.theoretical_occupancy_pct)),
            moved(limiters(&self.limiters), limiters(&asked.limiters))
        ));
        if self.grid_blocks != asked.grid_blocks && asked.grid_blocks.is_some() {
            parts.push(format!("grid {}", moved(self.grid_blocks.map(grouped), asked.grid_blocks.map(grouped))));
        }
        if asked.waves.is_some() {
            parts.push(format!("{} waves", moved(self.waves.map(number), asked.waves.map(number))));
        }
        let end = match (asked.low_us, asked.high_us, self.measured_us) {
            (Some(low), Some(high), Some(now)) => {
                let fewer = asked.theoretical_occupancy_pct < self.theoretical_occupancy_pct;
                let why = match found.unmoved {
                    true if asked.waves.is_some_and(|waves| waves <= 1.0) => {
                        "as now: the grid fills no more than a wave".into()
                    }
                    true => "as now: as many warps and waves".into(),
                    false => rule(bound, fewer),
                };
                format!("{} to {} instead of {} ({why})", time(low), time(high), time(now))
            }
            (_, _, None) => "no time: the file has no duration".into(),
            _ => "no time: the file does not say the grid or the GPU".into(),
        };
        format!("{change}: {}; {end}", parts.join(", "))
    }

    /// What the kernel would take on the other GPUs, one sentence each.
    pub(super) fn elsewhere_lines(&self) -> Vec<String> {
        // Of a trace the times are those of all launches that have one; their number follows from total and mean.
        let timed = match self.total_us.zip(self.measured_us) {
            Some((total, mean)) if mean > 0.0 => total / mean,
            _ => 1.0,
        };
        let line = |other: &ElsewhereReport| {
            let range =
                |launches: f64| format!("{} to {}", time(other.low_us / launches), time(other.high_us / launches));
            match self.total_us {
                Some(total) if timed > 1.5 => format!(
                    "{}: a launch {}; {} {} instead of {}",
                    other.gpu,
                    range(timed),
                    counted(timed.round() as u64, "launch"),
                    range(1.0),
                    time(total)
                ),
                _ => format!("{}: {}", other.gpu, range(1.0)),
            }
        };
        self.elsewhere.iter().map(line).collect()
    }

    /// Adds what the kernel would take on another GPU.
    pub fn add_elsewhere(&mut self, gpu: &str, span: Span) {
        let (low_us, high_us) = (span.low.get() * 1e6, span.high.get() * 1e6);
        self.elsewhere.push(ElsewhereReport { gpu: gpu.into(), low_us, high_us });
    }
}

/// Where the range comes from.
fn rule(bound: Option<Bound>, fewer_warps: bool) -> String {
    match bound {
        Some(Bound::Latency) => "latency-bound: unchanged to proportional to the resident warps".into(),
        Some(bound) if fewer_warps => {
            format!("{}-bound: as now but for waves, or bound by latency with fewer warps", bound.word())
        }
        Some(bound) => format!("{}-bound: as now but for waves and tail", bound.word()),
        None => "bound not known: the rules of all bounds".into(),
    }
}

impl TraceReport {
    /// Adds all kernels of the file with each change that was asked for; `shown` are the kernels that are changed.
    pub fn add_asked(&mut self, changes: &[LaunchChange], shown: &[KernelReport]) {
        for (index, change) in changes.iter().enumerate() {
            let (mut low_us, mut high_us) = (self.kernels_us, self.kernels_us);
            let (mut unable, mut unknown) = (0_usize, 0_usize);
            for row in shown {
                let now = row.own_us();
                match row.asked.get(index) {
                    Some(AskedReport { total_low_us: Some(low), total_high_us: Some(high), .. }) => {
                        low_us += low - now;
                        high_us += high - now;
                    }
                    Some(AskedReport { blocks_per_sm: Some(0), .. }) => unable += 1,
                    _ => unknown += 1,
                }
            }
            let mut text =
                format!("{change}: {} to {} instead of {}", time(low_us), time(high_us), time(self.kernels_us));
            // Of a profile, launches that are not shown were not read either.
            if self.bound_source == "likely" && (shown.len() as u64) < self.groups {
                text += &format!(", changing the {} shown", plural(shown.len() as u64, "kernel"));
            }
            let stay: Vec<String> = [(unable, "cannot run so"), (unknown, "cannot be judged")]
                .into_iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, what)| format!("{count} {what}"))
                .collect();
            if unable + unknown == shown.len() {
                text = format!("{change}: no answer: {}", stay.join(", "));
            } else if !stay.is_empty() {
                text += &format!("; counted as they are: {}", stay.join(", "));
            }
            self.asked.push(AskedTotal { change: change.to_string(), text, low_us: low_us.max(0.0), high_us });
        }
    }
}

/// What the answers to what-ifs assume, each sentence once.
pub fn asked_assumptions(changes: &[LaunchChange]) -> Vec<String> {
    let mut said = Vec::new();
    if changes.is_empty() {
        return said;
    }
    let any = |of: fn(&LaunchChange) -> Option<u32>| changes.iter().any(|change| of(change).is_some());
    if any(|change| change.registers) {
        said.push(
            "other registers: given fewer, the compiler spills or computes again; given more, it may keep more loads in flight: neither is counted"
                .into(),
        );
    }
    if any(|change| change.block) {
        said.push(
            "other blocks: as many threads in all, blocks rounded up; registers and dynamic shared memory per thread stay, static shared memory per block too"
                .into(),
        );
    }
    if any(|change| change.shared) {
        said.push(
            "other shared memory: static and dynamic together; what another tile moves and computes is not counted"
                .into(),
        );
    }
    said.push(format!(
        "what-ifs: {} each way, the largest error of the model against bandwidth measured at five occupancies; what-ifs themselves were never measured",
        percent(BAND * 100.0)
    ));
    said
}
