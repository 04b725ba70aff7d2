//! From the report of a trace or profile to the figure of where its time goes.

use crate::{
    chart::{Bound, Caption, KernelShare, Share, ShareBar, Shares},
    profile::{short_name, telling_names},
    report::{KernelReport, TraceReport},
};

/// So many names, which may be drawn, are told apart.
const NAMED: usize = 40;

/// Where the time of a file goes: `rows` are the reports of its kernels; absent where it has no times.
pub fn shares_figure(trace: &TraceReport, rows: &[KernelReport]) -> Option<Shares> {
    if trace.kernels_us <= 0.0 {
        return None;
    }
    let part = |label: &str, time_us: f64| Share { label: label.into(), time_us, bound: None };
    let measured = trace.bound_source == "measured";
    let bound_word = if measured { "bound" } else { "likely bound" };
    let mut bars = Vec::new();
    if let Some((span, gaps)) = trace.span_us.zip(trace.gaps_us).filter(|(span, _)| *span > 0.0) {
        let parts = vec![part("kernels and copies", span - gaps), part("launch gaps", gaps)];
        bars.push(ShareBar { label: "from first to last".into(), parts });
    }
    for (by, label) in [("bound", format!("kernels by {bound_word}")), ("operation", "kernels by operation".into())] {
        let parts = trace.kernel_parts(by).map(|(found, _)| Share {
            label: found.what.clone(),
            time_us: found.time_us,
            bound: Bound::of(&found.what).filter(|_| by == "bound"),
        });
        bars.push(ShareBar { label, parts: parts.collect() });
    }
    let mut kernels: Vec<KernelShare> = crate::report::launch_groups(rows)
        .into_iter()
        .map(|group| KernelShare {
            label: group.first().map_or_else(String::new, |row| row.kernel.clone()),
            launches: group.iter().map(|row| row.launches.unwrap_or(1)).sum(),
            total_us: group.iter().map(|row| row.own_us()).sum(),
            bound: group
                .iter()
                .max_by(|a, b| a.own_us().total_cmp(&b.own_us()))
                .and_then(|row| Bound::of(row.likely_bound.as_ref().or(row.bound.as_ref())?)),
        })
        .filter(|kernel| kernel.total_us > 0.0)
        .collect();
    kernels.sort_by(|a, b| b.total_us.total_cmp(&a.total_us));
    let names: Vec<&str> = kernels.iter().take(NAMED).map(|kernel| kernel.label.as_str()).collect();
    let names = telling_names(&names);
    for (kernel, name) in kernels.iter_mut().zip(names.into_iter().map(Some).chain(std::iter::repeat(None))) {
        kernel.label = name.unwrap_or_else(|| short_name(&kernel.label));
    }
    let mut devices: Vec<&String> = rows.iter().filter_map(|row| row.gpu_name.as_ref()).collect();
    devices.sort();
    devices.dedup();
    let devices: Vec<&str> = devices.into_iter().map(String::as_str).collect();
    let how = match measured {
        true => "bounds from the counters of each launch",
        false => "bounds from length, grid and name, not from counters",
    };
    let caption = Caption {
        title: format!("Where the time goes: {}", trace.file.rsplit(['/', '\\']).next().unwrap_or_default()),
        gpu: devices.join(", "),
        assumptions: vec![format!("times as measured ({})", trace.format), how.into()],
        version: env!("CARGO_PKG_VERSION").into(),
    };
    Some(Shares { caption, bars, kernels, what: "kernel".into(), bound_word: bound_word.into() })
}
