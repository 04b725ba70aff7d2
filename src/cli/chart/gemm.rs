//! `chart gemm`: matrix products along one dimension. Also what a list of shapes gives a roofline.

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;

use super::Drawing;
use crate::{
    chart::{
        Chart, MOST_SERIES, Roofline, Theme,
        figures::{NamedPlan, SweepRequest, product_roofline, sweep_figure},
    },
    cli::{
        args::{GpuArgs, tile},
        gemm::ShapeArgs,
        shapes::Row,
    },
    gpu::{DataType, Gpu},
    op::gemm::{Force, Over, Planner, Precision, Range, Reuse},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    product: ShapeArgs,
    /// What grows: m, n, k, batch, or mn (M = N)
    #[arg(long, value_name = "DIMENSION")]
    over: Over,
    /// Its sizes; without a step both sides of every edge of a tile are among them. Without it from a quarter of the
    /// size to twice it
    #[arg(long, value_name = "LOW:HIGH[:STEP]")]
    range: Option<Range>,
    #[command(flatten)]
    gpu: GpuArgs,
    /// The tile instead of the fastest one; several times for a curve each, six at most
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = tile)]
    tile: Vec<(u32, u32)>,
    #[command(flatten)]
    pub drawing: Drawing,
}

/// The figure that was asked for.
pub fn drawn(args: &Args, theme: Theme) -> Result<Chart> {
    let (mut gpu, _) = args.gpu.resolve_one(&args.gpu.folder.catalog()?)?;
    (gpu.calibration.data, gpu.calibration.schedule) = (args.product.operands, args.product.schedule);
    let shape = args.product.shape()?;
    let range = match args.range {
        Some(range) => range,
        None => {
            let size = args.over.of(shape).unwrap_or(shape.m.max(shape.n));
            Range { low: (size / 4).max(1), high: size.saturating_mul(2), step: None }
        }
    };
    let mut forces: Vec<Force> = Vec::new();
    for tile in &args.tile {
        let force = Force { tile: Some(*tile), splits: args.product.split };
        if !forces.contains(&force) {
            forces.push(force);
        }
    }
    if forces.is_empty() {
        forces.push(Force { tile: None, splits: args.product.split });
    }
    if forces.len() > MOST_SERIES {
        bail!("--tile was given {} times: at most {MOST_SERIES} curves can be told apart", forces.len());
    }
    let reuse = args.product.reuse();
    let precision = precision(&gpu, args.product.dtype, args.product.sparse)?;
    let request = SweepRequest { gpu: &gpu, precision, shape, reuse, over: args.over, range, forces: &forces };
    Ok(sweep_figure(&request)?.draw(theme))
}

fn precision(gpu: &Gpu, input: DataType, sparse: bool) -> Result<Precision> {
    if gpu.is_cpu() {
        bail!("{} is a CPU: the kernels of matrix products are known for GPUs alone (--gpu)", gpu.name);
    }
    Ok(Precision::new(gpu, input, sparse)?)
}

/// The roofline of a list of shapes.
pub fn roofline(rows: &[Row], gpu: &GpuArgs) -> Result<Roofline> {
    let (gpu, _) = gpu.resolve_one(&gpu.folder.catalog()?)?;
    let mut products = Vec::new();
    for row in rows {
        let of = || format!("line {}: {}", row.line, row.name);
        let precision = precision(&gpu, row.input, false).with_context(of)?;
        let planner = Planner::new(&gpu, precision).with_context(of)?;
        let plan = planner.plan(row.shape, Reuse::ColdWeights);
        products.push(NamedPlan { name: row.name.clone(), pipe: precision.pipe, plan });
    }
    Ok(product_roofline("Roofline of matrix products", &gpu, &products, Reuse::ColdWeights))
}
