//! `crossover`: the same operation on a CPU and on a GPU, and the size from which the GPU wins.

mod forms;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args as ClapArgs, ValueEnum};

use super::{
    EXIT_OK,
    args::{Format, GpuArgs, OutputArgs},
    show::write_chart,
};
use crate::{
    chart::{Theme, figures::crossover_figure},
    crossover::{Crossover, Family, From, Link, Model, Place, Request, Sample, Sequential},
    gpu::{DataType, Gpu, Override},
    op::{gemm::Range, rowwise::Kind},
};

/// The forms of the answer.
const FORMS: [Format; 4] = [Format::Text, Format::Json, Format::Csv, Format::Markdown];
/// The CPU without `--cpu`.
const DEFAULT_CPU: &str = "epyc-9654";

#[derive(ClapArgs)]
#[command(mut_arg("format", |format| format.value_parser(Format::among(&FORMS, &[]))))]
#[command(mut_arg("place", |place| place.visible_alias("data")))]
pub struct Args {
    #[command(flatten)]
    selection: Selection,
    /// Share of the time on the CPU that stays sequential, 0 to 1: what the whole program gains, by Amdahl's law
    #[arg(long, value_name = "SHARE")]
    sequential: Option<f64>,
    /// File for the chart: .svg, .png or .csv (the data)
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// What is compared.
#[derive(ClapArgs)]
pub struct Selection {
    /// The operation
    #[arg(value_enum)]
    operation: OperationArg,
    /// Of elementwise: axpy, or a kind that streams, such as add, mul, gelu, exp, copy
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<Family>,
    /// Of gemm: rows of A and C that stay, instead of n
    #[arg(long, value_name = "ROWS")]
    m: Option<u64>,
    /// Of gemm: columns of B and C that stay, instead of n
    #[arg(long, value_name = "COLUMNS")]
    n: Option<u64>,
    /// Of gemm: inner dimension that stays, instead of n
    #[arg(long, value_name = "SIZE")]
    k: Option<u64>,
    /// Of softmax: rows that stay while their length grows
    #[arg(long, value_name = "COUNT")]
    rows: Option<u64>,
    /// Of softmax: length of a row that stays while rows grow; 1024 without either
    #[arg(long, value_name = "COUNT")]
    cols: Option<u64>,
    /// Type of the operands
    #[arg(long, value_name = "TYPE", default_value = "fp32")]
    dtype: DataType,
    /// The CPU by name, alias or file; epyc-9654 without it
    #[arg(long, value_name = "NAME|FILE.toml")]
    cpu: Option<String>,
    /// What-if: change a figure of the CPU, such as sm.count=16 or clocks.vector="3.5 GHz"
    #[arg(long, value_name = "KEY=VALUE")]
    set_cpu: Vec<Override>,
    /// Where the data are: host (copied in, result copied out), input (copied in, the result stays), resident (on the GPU)
    #[arg(long, value_enum, default_value = "host")]
    place: PlaceArg,
    /// Calls that share one transfer
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    reuse: u64,
    /// Link to the host: pcie (of the GPU's file), c2c (NVLink-C2C of Grace Hopper), or the rate of one direction
    #[arg(long, value_name = "pcie|c2c|RATE", default_value = "pcie")]
    link: Link,
    /// Operands are in DRAM before each call, not in caches as far as they fit
    #[arg(long)]
    cold: bool,
    /// Sizes; 1:65536 for gemm, 1:1048576 for softmax, 1:4294967296 for others
    #[arg(long, value_name = "LOW:HIGH")]
    range: Option<Range>,
    #[command(flatten)]
    gpu: GpuArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OperationArg {
    /// Matrix product, n x n x n unless sides are given
    Gemm,
    /// An operation on every one of n elements
    Elementwise,
    /// One sum of n elements
    Reduction,
    /// Softmax over rows
    Softmax,
}

#[derive(Clone, Copy, ValueEnum)]
enum PlaceArg {
    Host,
    Input,
    Resident,
}

fn kind(text: &str) -> Result<Family, String> {
    if ["axpy", "saxpy", "daxpy"].contains(&text.to_ascii_lowercase().as_str()) {
        return Family::axpy().ok_or_else(|| "axpy is not known".into());
    }
    let kind: Kind = text.parse().map_err(|_| {
        let streams: Vec<&str> = Kind::all().filter(|kind| Family::streams(*kind)).map(Kind::name).collect();
        format!("`{text}` is no element-wise kind; known: axpy {}", streams.join(" "))
    })?;
    Ok(Family::Elementwise { kind, in_place: false })
}

/// Columns of a softmax where neither rows nor columns are given.
const COLUMNS: u64 = 1024;

impl Selection {
    fn family(&self) -> Result<Family> {
        let only = |given: bool, option: &str, operation: &str| match given {
            true => bail!("{option} is for `crossover {operation}`"),
            false => Ok(()),
        };
        let is = |operation: OperationArg| self.operation == operation;
        only(self.kind.is_some() && !is(OperationArg::Elementwise), "--kind", "elementwise")?;
        for (given, option) in [(self.m, "--m"), (self.n, "--n"), (self.k, "--k")] {
            only(given.is_some() && !is(OperationArg::Gemm), option, "gemm")?;
        }
        for (given, option) in [(self.rows, "--rows"), (self.cols, "--cols")] {
            only(given.is_some() && !is(OperationArg::Softmax), option, "softmax")?;
        }
        Ok(match self.operation {
            OperationArg::Gemm => Family::Gemm { m: self.m, n: self.n, k: self.k },
            OperationArg::Elementwise => match self.kind {
                Some(family) => family,
                None => bail!("elementwise needs its --kind, such as axpy, add, gelu or copy"),
            },
            OperationArg::Reduction => Family::Reduction,
            OperationArg::Softmax => Family::Softmax {
                rows: self.rows,
                cols: if self.rows.is_none() { Some(self.cols.unwrap_or(COLUMNS)) } else { self.cols },
            },
        })
    }

    fn range(&self) -> Result<(u64, u64)> {
        match self.range {
            Some(Range { step: Some(_), .. }) => bail!("--range takes LOW:HIGH here: the sizes in between are chosen"),
            Some(range) => Ok((range.low, range.high)),
            None => Ok(match self.operation {
                OperationArg::Gemm => (1, 1 << 16),
                OperationArg::Softmax => (1, 1 << 20),
                _ => (1, 1 << 32),
            }),
        }
    }

    /// Both devices, what is compared, and what was assumed.
    pub fn run(&self) -> Result<Compared> {
        let catalog = self.gpu.folder.catalog()?;
        let (gpu, mut assumptions) = self.gpu.resolve_one(&catalog)?;
        let named = self.cpu.as_deref().unwrap_or(DEFAULT_CPU);
        if self.cpu.is_none() {
            assumptions.push(format!("no --cpu was given: {DEFAULT_CPU}"));
        }
        let cpu = GpuArgs { gpu: vec![named.into()], folder: self.gpu.folder.clone(), set: self.set_cpu.clone() };
        let (cpu, assumed) = cpu.resolve_one(&catalog).context("--cpu")?;
        assumptions.extend(assumed);
        let request = Request {
            place: match self.place {
                PlaceArg::Host => Place::Host,
                PlaceArg::Input => Place::Input,
                PlaceArg::Resident => Place::Resident,
            },
            reuse: self.reuse,
            link: self.link,
            cold: self.cold,
            ..Request::new(self.family()?, self.dtype)
        };
        let model = Model::new(&cpu, &gpu, &request)?;
        let found = model.crossover(self.range()?)?;
        Ok(Compared { cpu, gpu, model, found, assumptions })
    }
}

/// A comparison with its answer.
pub struct Compared {
    pub cpu: Gpu,
    pub gpu: Gpu,
    pub model: Model,
    pub found: Crossover,
    assumptions: Vec<String>,
}

/// Sizes in the table.
const ROWS: u32 = 12;

pub fn run(args: Args) -> Result<u8> {
    let sequential = args.sequential.map(Sequential::new).transpose().context("--sequential")?;
    let compared = args.selection.run()?;
    let samples = compared.samples()?;
    if let Some(path) = &args.chart {
        let (cpu, gpu) = (&compared.cpu, &compared.gpu);
        write_chart(path, &crossover_figure(cpu, gpu, &compared.model, &compared.found)?.draw(Theme::Light))?;
    }
    args.output.emit(&compared.render(args.output.format, &samples, sequential)?)?;
    Ok(EXIT_OK)
}

impl Compared {
    /// Sizes over the range, and the one at which the GPU begins to win.
    fn samples(&self) -> Result<Vec<Sample>> {
        let mut samples = self.model.samples(self.found.range, ROWS)?;
        if let From::Size(n) = self.found.from
            && samples.iter().all(|sample| sample.n != n)
        {
            samples.push(self.model.at(n)?);
            samples.sort_by_key(|sample| sample.n);
        }
        Ok(samples)
    }
}
