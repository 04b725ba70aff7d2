//! From a trace to its report: a row per group of equal launches, and where the time of the whole file went.

use super::{KernelReport, SharePart, TraceReport};
use crate::{
    profile::{Judged, KernelGroup, Span, Trace, likely_bound},
    units::Seconds,
};

fn us(time: Seconds) -> f64 {
    time.get() * 1e6
}

impl KernelReport {
    /// The report of a group of a trace: what its launches have in common. `all` is the time of all kernels of the file.
    pub fn from_group(group: &KernelGroup, judged: &Judged, trace: &Trace, all: Seconds) -> Self {
        let likely = likely_bound(group, judged);
        let mut report = Self {
            source: trace.format.word().into(),
            launches: Some(group.launches),
            operation: Some(group.kind.word().into()),
            likely_bound: likely.map(|(bound, _)| bound.word().into()),
            ..Self::from_judged(judged)
        };
        report.missing.retain(|missing| !missing.contains("FLOP") && !missing.contains("metric"));
        report.verdict = Some(match likely {
            Some((bound, why)) => format!("likely {}-bound ({why}); the file has no counters", bound.word()),
            None => "none: the file has no counters, and the name tells nothing".into(),
        });
        if group.timed > 0 {
            report.total_us = Some(us(group.total));
            report.shortest_us = Some(us(group.shortest));
            report.longest_us = Some(us(group.longest));
            report.time_share_pct = (all.get() > 0.0).then(|| 100.0 * (group.total / all));
        }
        report
    }
}

impl TraceReport {
    /// Where the time of a trace went: `rows` are the reports of its groups.
    pub fn new(file: &str, trace: &Trace, rows: &[KernelReport]) -> Self {
        let kernels = us(trace.kernel_time());
        let span = trace.times.iter().map(|time| us(time.span)).sum::<f64>();
        let gaps = trace.times.iter().map(|time| us(time.gaps)).sum::<f64>();
        let timed = !trace.times.is_empty();
        // Where launches have beginnings, idle time is a part like the others.
        let whole = kernels + if timed { gaps } else { 0.0 };
        let mut parts = Vec::new();
        let mut by = |by: &str, key: fn(&KernelReport) -> Option<&String>, rest: &str| {
            let mut found: Vec<(String, f64)> = Vec::new();
            for row in rows {
                let name = key(row).map_or(rest, String::as_str);
                let time = row.total_us.unwrap_or(0.0);
                match found.iter_mut().find(|(known, _)| known == name) {
                    Some(part) => part.1 += time,
                    None => found.push((name.to_owned(), time)),
                }
            }
            if timed {
                found.push(("launch gaps".into(), gaps));
            }
            found.retain(|(_, time)| *time > 0.0);
            found.sort_by(|a, b| b.1.total_cmp(&a.1));
            let share = |time: f64| if whole > 0.0 { 100.0 * time / whole } else { 0.0 };
            parts.extend(found.into_iter().map(|(what, time_us)| SharePart {
                by: by.into(),
                what,
                time_us,
                share_pct: share(time_us),
            }));
        };
        by("bound", |row| row.likely_bound.as_ref(), "unknown");
        by("operation", |row| row.operation.as_ref(), "other");
        Self {
            file: file.into(),
            format: trace.format.label().into(),
            launches: trace.launches(),
            groups: trace.groups.len() as u64,
            kernels_us: kernels,
            span_us: timed.then_some(span),
            gaps_us: timed.then_some(gaps),
            transfers: trace
                .transfers
                .iter()
                .map(|t| {
                    let rate = t.bytes.filter(|_| t.total.get() > 0.0).map(|bytes| bytes.get() / t.total.get() / 1e9);
                    let rate =
                        rate.map_or(String::new(), |rate| format!(", {} GB/s", crate::units::significant(rate, 4)));
                    format!("{} x {}: {}{rate}", t.count, t.name, t.total)
                })
                .collect(),
            parts,
            elsewhere: Vec::new(),
            asked: Vec::new(),
        }
    }

    /// Adds what the kernels would take on another GPU; `by` says what scaled them.
    pub fn add_elsewhere(&mut self, from: &str, to: &str, span: Span, by: &str) {
        let gaps = if self.gaps_us.is_some() { "; gaps are the host's and stay" } else { "" };
        self.elsewhere.push(format!(
            "{to}: {} to {} instead of {} on {from}, each kernel scaled by {by}{gaps}",
            span.low,
            span.high,
            Seconds(self.kernels_us * 1e-6)
        ));
    }
}
