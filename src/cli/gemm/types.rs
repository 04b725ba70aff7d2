//! `gemm --types`: the product in every type that the GPU multiplies, dense and 2:4 sparse, against one of them.

use anyhow::{Context, Result};

use super::super::{
    EXIT_OK,
    operation::OperationArgs,
    table::{Cell, Table},
    world,
};
use crate::{
    gpu::{DataType, Gpu},
    op::gemm::{Precision, Product, Request, product, quantisation},
    units::significant,
};

/// What the columns of the text mean.
const LEGEND: &str = "gain: speed-up predicted against the first row; peaks: the ratio of the dense or sparse peaks, which short, \
    thin or memory-bound products do not reach; narrowed: the gain with the pass that narrows 16-bit activations before the \
    product; measured: whether such products were, so that low and high are their spread.";

/// A type with its answer.
struct Typed {
    name: String,
    product: Product,
    peak: f64,
    /// Time with the pass that narrows the activations.
    narrowed: Option<f64>,
}

/// Prints the table of types; the first row is the type and sparsity of the request.
pub fn run(request: &Request, operation: &OperationArgs) -> Result<u8> {
    let catalog = operation.gpu.folder.catalog()?;
    let (gpus, assumed) = operation.gpu.resolve(&catalog)?;
    let quiet = operation.report.output.quiet;
    assumed.iter().for_each(|text| world::note(quiet, &format!("assumed: {text}")));
    let mut rows = Vec::new();
    for gpu in &gpus {
        // Without a unit for the type the table begins with one that there is.
        let usual = [request.input, DataType::Fp16, DataType::Fp32];
        let has = |input: &DataType| Precision::new(gpu, *input, request.sparse).is_ok();
        let input = usual.into_iter().find(has).unwrap_or(request.input);
        if input != request.input && !gpu.is_cpu() {
            let (name, missing) = (&gpu.name, request.input.name());
            world::note(quiet, &format!("note: {name} has no {missing} products: against {}", input.name()));
        }
        let first = typed(gpu, &Request { input, ..request.clone() }).context("the product is refused")?;
        let variants = DataType::ALL.into_iter().flat_map(|input| [(input, false), (input, true)]);
        let others = variants.filter(|variant| *variant != (input, request.sparse)).filter_map(|(input, sparse)| {
            // What the GPU has no unit for is no row.
            typed(gpu, &Request { input, sparse, ..request.clone() }).ok()
        });
        let mut others: Vec<Typed> = others.collect();
        others.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
        let base = (first.seconds(), first.peak);
        rows.push(first.row(gpu, base));
        rows.extend(others.iter().map(|other| other.row(gpu, base)));
    }
    let several = gpus.len() > 1;
    let columns = [
        ("GPU", "gpu"),
        ("type", "type"),
        ("time us", "time_us"),
        ("low", "low_us"),
        ("high", "high_us"),
        ("gain", "speedup"),
        ("peaks", "peak_ratio"),
        ("narrowed", "speedup_with_quantisation"),
        ("bound", "bound"),
        ("tile", "tile"),
        ("measured", "measured"),
    ];
    let format = operation.report.output.format;
    let text_form = format == super::super::args::Format::Text;
    // For people the GPU stands above the table where it is one, and tiles have no room.
    let shown = |name: &str| !text_form || !(name == "tile" || name == "gpu" && !several);
    let kept = |row: Vec<Cell>| {
        row.into_iter().zip(columns).filter(|(_, (_, name))| shown(name)).map(|(cell, _)| cell).collect()
    };
    let table = Table {
        columns: columns.into_iter().filter(|(_, name)| shown(name)).collect(),
        rows: rows.into_iter().map(kept).collect(),
    };
    let shape = request.shape;
    let what = if request.groups.is_empty() { "" } else { "grouped, rows up to " };
    let batch = if shape.batch > 1 { format!("{} x ", shape.batch) } else { String::new() };
    let title = format!("{batch}{what}{} x {} x {} in every type", shape.m, shape.n, shape.k);
    let mut text = table.titled(&title, format)?;
    if text_form {
        let on = gpus.first().filter(|_| !several).map_or(String::new(), |gpu| format!(" on {}", gpu.name));
        text = format!("{title}{on}\n{text}{}\n", textwrap::fill(LEGEND, world::width()));
    }
    operation.report.output.emit(&text)?;
    Ok(EXIT_OK)
}

/// The product in one type.
fn typed(gpu: &Gpu, request: &Request) -> Result<Typed> {
    let product = product(gpu, request)?;
    let sparse = if request.sparse { ", 2:4" } else { "" };
    let pass = quantisation(gpu, request, &product.precision)?;
    let narrowed = pass.map(|pass| (pass.time.estimate + product.analysis.time.estimate).get());
    let peak = gpu.peak(product.precision.pipe).map_or(0.0, |peak| peak.get());
    Ok(Typed { name: format!("{}{sparse}", request.input.name()), product, peak, narrowed })
}

impl Typed {
    fn seconds(&self) -> f64 {
        self.product.analysis.time.estimate.get()
    }

    fn row(&self, gpu: &Gpu, (base, peak): (f64, f64)) -> Vec<Cell> {
        let time = &self.product.analysis.time;
        // As many digits as the model is worth.
        let us = |seconds: f64| significant(seconds * 1e6, 4).parse::<f64>().ok().into();
        let ratio = |value: f64| Cell::Fixed(value, 2);
        let unmeasured = matches!(time.range, crate::time::Range::Band { unmeasured: Some(_) });
        let tile = self.product.plan.chosen.tile;
        vec![
            gpu.id.clone().into(),
            self.name.clone().into(),
            us(self.seconds()),
            us(time.low.get()),
            us(time.high.get()),
            ratio(base / self.seconds()),
            ratio(self.peak / peak),
            self.narrowed.map_or(Cell::Absent, |whole| ratio(base / whole)),
            self.product.analysis.verdict.bound.word().into(),
            tile.map_or(Cell::Absent, |tile| format!("{}x{}", tile.height, tile.width).into()),
            if unmeasured { "no" } else { "yes" }.into(),
        ]
    }
}
