//! From a trace to its report: a row per group of equal launches, and where the time of the whole file went.

use super::{
    KernelReport, SharePart, TraceReport,
    compact::launch_groups,
    layout::{percent, time},
};
use crate::{
    profile::{DeviceTime, Format, Judged, KernelGroup, Span, Trace, TransferGroup, likely_bound},
    units::{Seconds, counted, significant},
};

/// The part of the time in which a device has neither kernel nor copy.
const LAUNCH_GAPS: &str = "launch gaps";
/// The parts of what no bound and no operation is known of.
const REST: [&str; 2] = ["unknown", "other"];

fn us(time: Seconds) -> f64 {
    time.get() * 1e6
}

fn transfer(group: &TransferGroup) -> String {
    let rate = group.bytes.filter(|_| group.total.get() > 0.0).map(|bytes| bytes.get() / group.total.get() / 1e9);
    let rate = rate.map_or(String::new(), |rate| format!(", {} GB/s", significant(rate, 4)));
    format!("{} x {}: {}{rate}", group.count, group.name, group.total)
}

impl KernelReport {
    /// Time of the launches that the row stands for, in us; 0 where the file has none.
    pub fn own_us(&self) -> f64 {
        self.total_us.or(self.measured_us).unwrap_or(0.0)
    }

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
        // Those of AMD's profilers and most of nvprof's are of kinds that are not read.
        let read = if matches!(trace.format, Format::Rocprof | Format::Nvprof) { " that are read" } else { "" };
        report.verdict = Some(match likely {
            Some((bound, why)) => format!("likely {}-bound ({why}); the file has no counters{read}", bound.word()),
            None => format!("none: the file has no counters{read}, and the name tells nothing"),
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
        let timed = !trace.times.is_empty();
        let all = |of: fn(&DeviceTime) -> Seconds| timed.then(|| trace.times.iter().map(|time| us(of(time))).sum());
        let gaps_us = all(|time| time.gaps);
        Self {
            bound_source: "likely".into(),
            launches: trace.launches(),
            groups: trace.groups.len() as u64,
            span_us: all(|time| time.span),
            gaps_us,
            transfers: trace.transfers.iter().map(transfer).collect(),
            ..Self::of_rows(file, trace.format, rows, gaps_us)
        }
    }

    /// Where the time of a profile's launches went; absent with fewer than two that have a time, unless something was
    /// `asked` of them.
    pub fn of_profile(file: &str, format: Format, rows: &[KernelReport], asked: bool) -> Option<Self> {
        let timed = rows.iter().filter(|row| row.measured_us.is_some()).count();
        (timed > 1 || asked && !rows.is_empty()).then(|| Self {
            bound_source: "measured".into(),
            launches: rows.len() as u64,
            groups: launch_groups(rows).len() as u64,
            ..Self::of_rows(file, format, rows, None)
        })
    }

    /// What rows alone tell: the time of all and its parts.
    fn of_rows(file: &str, format: Format, rows: &[KernelReport], gaps_us: Option<f64>) -> Self {
        let kernels_us = rows.iter().map(KernelReport::own_us).sum::<f64>();
        let gaps = gaps_us.unwrap_or(0.0);
        let share = |time: f64, whole: f64| if whole > 0.0 { 100.0 * time / whole } else { 0.0 };
        let mut parts = Vec::new();
        let mut by = |by: &str, key: fn(&KernelReport) -> Option<&String>, rest: &str| {
            let mut found: Vec<(String, f64)> = Vec::new();
            for row in rows {
                let name = key(row).map_or(rest, String::as_str);
                match found.iter_mut().find(|(known, _)| known == name) {
                    Some(part) => part.1 += row.own_us(),
                    None => found.push((name.to_owned(), row.own_us())),
                }
            }
            found.push((LAUNCH_GAPS.into(), gaps));
            found.retain(|(_, time)| *time > 0.0);
            found.sort_by(|a, b| b.1.total_cmp(&a.1));
            parts.extend(found.into_iter().map(|(what, time_us)| SharePart {
                by: by.into(),
                kernel_share_pct: (what != LAUNCH_GAPS).then(|| share(time_us, kernels_us)),
                what,
                time_us,
                share_pct: share(time_us, kernels_us + gaps),
            }));
        };
        by("bound", |row| row.likely_bound.as_ref().or(row.bound.as_ref()), REST[0]);
        by("operation", |row| row.operation.as_ref(), REST[1]);
        Self { file: file.into(), format: format.label().into(), kernels_us, parts, ..Self::default() }
    }

    /// The parts of kernels' time by bound or operation, largest first.
    pub fn kernel_parts(&self, by: &str) -> impl Iterator<Item = (&SharePart, f64)> {
        self.parts.iter().filter(move |part| part.by == by).filter_map(|part| Some((part, part.kernel_share_pct?)))
    }

    /// The file, and how much it holds.
    pub(super) fn head(&self) -> String {
        let (launches, groups) = (counted(self.launches, "launch"), counted(self.groups, "group"));
        format!("{}: {launches} in {groups}, {}", self.file, self.format)
    }

    /// What there is to say, under labels.
    pub(super) fn entries(&self) -> [(&'static str, Vec<String>); 6] {
        let parts = |by: &str| {
            let parts: Vec<String> =
                self.kernel_parts(by).map(|(part, share)| format!("{} {}", part.what, percent(share))).collect();
            // That all is of no kind tells nothing.
            let known = self.kernel_parts(by).any(|(part, _)| !REST.contains(&part.what.as_str()));
            if known { vec![parts.join(", ")] } else { Vec::new() }
        };
        [
            ("kernels", vec![self.time_words()]),
            (if self.bound_source == "likely" { "likely" } else { "bound" }, parts("bound")),
            ("operation", parts("operation")),
            ("copies", self.transfers.clone()),
            ("elsewhere", self.elsewhere.clone()),
            ("what if", self.asked.iter().map(|asked| asked.text.clone()).collect()),
        ]
    }

    /// The whole in words: the kernels' time, and what lies between them.
    fn time_words(&self) -> String {
        if self.kernels_us <= 0.0 {
            return "no times in the file".into();
        }
        let kernels = time(self.kernels_us);
        match self.span_us.zip(self.gaps_us) {
            Some((span, gaps)) => {
                let share = if span > 0.0 { format!(" ({})", percent(100.0 * gaps / span)) } else { String::new() };
                format!("{kernels} in {}, of which {}{share} without kernel or copy", time(span), time(gaps))
            }
            None => kernels,
        }
    }

    /// Whether it holds answers that a user asked for.
    pub(super) fn is_asked(&self) -> bool {
        !self.elsewhere.is_empty() || !self.asked.is_empty()
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
