//! A step of a network: its operations under the roofs, and where its time goes.

use super::{caption, frame, roofs};
use crate::{
    chart::{Bound, KernelShare, PointKind, Roofline, RooflinePoint, Share, ShareBar, Shares},
    gpu::{Gpu, Pipe},
    report::{NetworkReport, PartReport},
    roofline::roofline,
};

/// What the time of a step is made of, in the caption.
fn assumptions(report: &NetworkReport) -> Vec<&str> {
    let mut said = vec!["estimates; equal layers together"];
    said.push(match report.host_us {
        None => "launches hidden by CUDA graphs",
        Some(host) if host > report.device_us => "the device's time alone: the host that launches takes longer",
        Some(_) => "launches hidden behind the device",
    });
    said
}

/// The operations of a step on the roofline of its GPU: those with arithmetic, at the intensity of their least traffic; `pipe`
/// multiplies, and its roof stands out.
pub fn network_roofline(gpu: &Gpu, report: &NetworkReport, pipe: Pipe) -> Roofline {
    let all = roofline(gpu, None);
    let (memory, compute) = roofs(&all, &[pipe]);
    let points = report.lines().into_iter().filter(|op| op.pass == "forward").filter_map(|op| {
        Some(RooflinePoint {
            label: op.operation.into(),
            intensity: op.intensity_flop_per_byte?,
            flops_per_second: op.flop / op.time_us * 1e6,
            level: "DRAM".into(),
            bound: Bound::of(op.bound)?,
            kind: PointKind::Estimate,
        })
    });
    let mut said = assumptions(report);
    said.insert(0, "dense datasheet peaks; points at the rate of the estimate, the forward pass alone");
    let (caption, frame) = (caption(&report.head(), gpu, &said), frame(&all));
    Roofline { caption, memory, compute, frame, points: points.collect(), ..Roofline::default() }
}

/// Where the time of a step goes: by bound, by kind of operation, by pass in training, and the operations that take most.
pub fn network_shares(gpu: &Gpu, report: &NetworkReport) -> Shares {
    let bar = |label: &str, parts: &[PartReport], bounds: bool| ShareBar {
        label: label.into(),
        parts: parts
            .iter()
            .map(|part| Share {
                label: part.what.into(),
                time_us: part.time_us,
                bound: Bound::of(part.what).filter(|_| bounds),
            })
            .collect(),
    };
    let mut bars = vec![bar("by bound", &report.by_bound, true), bar("by kind of operation", &report.by_class, false)];
    if !report.by_pass.is_empty() {
        bars.push(bar("by pass", &report.by_pass, false));
    }
    let kernels = report.lines().into_iter().map(|line| KernelShare {
        label: line.named(),
        launches: line.count,
        total_us: line.total_us,
        bound: Bound::of(line.bound),
    });
    Shares {
        caption: caption(&report.head(), gpu, &assumptions(report)),
        bars,
        kernels: kernels.collect(),
        what: "operation".into(),
        bound_word: "bound".into(),
    }
}
