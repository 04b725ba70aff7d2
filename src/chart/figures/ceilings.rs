//! Measured ceilings over the roofline of a GPU.

use crate::{
    ceilings::{Ceilings, Tool, What, integer},
    chart::{MeasuredRoof, Roofline},
    units::plural,
};

/// Ceilings whose rates the caption names; the data behind the figure have all.
const NAMED: usize = 12;

/// Draws measured ceilings over a roofline; `source` is the name of their file. Rates of integer units have no place beside
/// FLOP/s unless the figure has their roof.
pub fn with_ceilings(figure: &mut Roofline, file: &Ceilings, source: &str) {
    let placed = |what: What| match what {
        What::Rate(Some(pipe)) if integer(pipe) => figure.compute.iter().any(|roof| roof.label.contains(&pipe.label())),
        _ => true,
    };
    let (drawn, left): (Vec<_>, Vec<_>) = file.ceilings.iter().partition(|one| placed(one.what));
    figure.measured = drawn
        .iter()
        .map(|one| MeasuredRoof {
            label: one.name.clone(),
            rate: one.rate,
            printed: one.print(one.rate),
            memory: matches!(one.what, What::Bandwidth(_)),
        })
        .collect();
    let by = if file.tool == Tool::Own { String::new() } else { format!(" by {}", file.tool.label()) };
    figure.measured_by = format!("measured{by} ({source})");
    let mut rates: Vec<String> =
        drawn.iter().take(NAMED).map(|one| format!("{} {}", one.name, one.print(one.rate))).collect();
    if drawn.len() > NAMED {
        rates.push(format!("{} more in the data", drawn.len() - NAMED));
    }
    let on = match (&file.gpu, file.cpu) {
        (Some(gpu), _) => format!(" on {gpu}"),
        (None, Some(_)) => " on a CPU".into(),
        (None, None) => String::new(),
    };
    let median =
        if file.devices > 1 { format!(", median of {}", plural(file.devices as u64, "device")) } else { String::new() };
    figure.caption.assumptions.push(format!("measured{by}{on} ({source}{median}): {}", rates.join(", ")));
    if !left.is_empty() {
        let names: Vec<&str> = left.iter().map(|one| one.name.as_str()).collect();
        figure.caption.assumptions.push(format!("measured and not drawn: {} (integers)", names.join(", ")));
    }
}
