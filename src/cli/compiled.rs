//! `analyze` of a compiler's report: occupancy against block size, without a launch.

use anyhow::Result;

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{Format, GpuArgs, OutputArgs},
    filter::Filter,
    table::{Cell, Table},
    world,
};
use crate::{
    gpu::{Catalog, Gpu, Limits},
    occupancy::{Occupancy, Resource},
    profile::{
        CompiledKernel, CompilerReport,
        compiler::{best, sizes},
    },
};

/// Block sizes that people try first, each a column.
const TRIED: [(u32, &str, &str); 4] = [
    (128, "128", "occupancy_128_pct"),
    (256, "256", "occupancy_256_pct"),
    (512, "512", "occupancy_512_pct"),
    (1024, "1024", "occupancy_1024_pct"),
];
/// Most best block sizes that a table names.
const NAMED: usize = 4;
/// What the columns of the text mean.
const LEGEND: &str = "\
128 to 1024: occupancy in % with so many threads per block. best: block sizes
with the most warps on an SM. spill, smem: bytes of spills and of static shared
memory; what is only given at launch is not in a report.
";

/// Prints the table of a report's kernels.
pub fn run(
    report: CompilerReport,
    gpus: &GpuArgs,
    filter: &Filter,
    catalog: &Catalog,
    output: &OutputArgs,
) -> Result<u8> {
    let chosen = if gpus.gpu.is_empty() { None } else { Some(gpus.resolve_one(catalog)?.0) };
    for warning in &report.warnings {
        world::note(output.quiet, &format!("warning: {warning}"));
    }
    let kernels = filter.of(report.kernels, |kernel: &CompiledKernel| &kernel.name)?;
    let mut unknown = Vec::new();
    let rows = kernels.iter().map(|kernel| match limits(kernel, chosen.as_ref(), catalog) {
        Ok(limits) => row(kernel, &limits),
        Err(reason) => {
            unknown.push(format!("{}: {reason}", kernel.name));
            let absent = std::iter::repeat_n(Cell::Absent, TRIED.len() + 2);
            head(kernel).into_iter().chain(absent).collect()
        }
    });
    let table = Table {
        columns: [
            ("kernel", "kernel"),
            ("target", "target"),
            ("regs", "registers_per_thread"),
            ("spill", "spill_bytes"),
            ("smem", "static_smem_bytes"),
        ]
        .into_iter()
        .chain(TRIED.map(|(_, heading, name)| (heading, name)))
        .chain([("best", "best_block_sizes"), ("limiter", "limiters")])
        .collect(),
        rows: rows.collect(),
    };
    let mut text = table.titled(report.compiler.label(), output.format)?;
    if output.format == Format::Text {
        text += LEGEND;
    }
    output.emit(&text)?;
    unknown.iter().for_each(|reason| world::note(false, &format!("error: {reason}")));
    Ok(if unknown.is_empty() { EXIT_OK } else { EXIT_CHECK })
}

/// The limits of the kernel's own target; a GPU of the command line stands for a target that the file does not name.
fn limits(kernel: &CompiledKernel, chosen: Option<&Gpu>, catalog: &Catalog) -> Result<Limits, String> {
    match (&kernel.target, chosen) {
        (_, Some(gpu)) => Ok(gpu.limits.clone()),
        (Some(target), None) => target.limits(catalog).map_err(|error| error.to_string()),
        (None, None) => Err("the report does not name the architecture: --gpu NAME".into()),
    }
}

fn head(kernel: &CompiledKernel) -> Vec<Cell> {
    let spilled = kernel.spill_stores.zip(kernel.spill_loads).map(|(stores, loads)| stores + loads);
    vec![
        Cell::Text(crate::profile::short_name(&kernel.name)),
        kernel.target.as_ref().map_or(Cell::Absent, |target| Cell::Text(target.to_string())),
        kernel.registers.into(),
        spilled.into(),
        kernel.static_shared.into(),
    ]
}

fn row(kernel: &CompiledKernel, limits: &Limits) -> Vec<Cell> {
    let sizes = sizes(kernel, limits);
    let mut row = head(kernel);
    for (threads, ..) in TRIED {
        let found = sizes.iter().find(|(size, _)| *size == threads);
        row.push(found.map_or(Cell::Absent, |(_, found)| Cell::Fixed(found.fraction() * 100.0, 1)));
    }
    let best = best(&sizes);
    let most: Vec<String> = best.iter().map(|(threads, _)| threads.to_string()).collect();
    row.push(Cell::Text(match most.len() {
        0 => "none".into(),
        1..=NAMED => most.join(" "),
        count => format!("{} +{}", most[0], count - 1),
    }));
    let words = |found: &Occupancy| found.limiters().iter().map(Resource::word).collect::<Vec<_>>().join(" ");
    row.push(best.first().map_or(Cell::Absent, |(_, found)| Cell::Text(words(found))));
    row
}
