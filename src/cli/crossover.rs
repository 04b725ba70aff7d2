//! `crossover`: the same operation on a CPU and on a GPU, and the size from which the GPU wins.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args as ClapArgs, ValueEnum};
use serde_json::{Value, json};

use super::{
    EXIT_OK,
    args::{Format, GpuArgs, OutputArgs},
    show::write_chart,
    table::{Cell, Table},
    world,
};
use crate::{
    chart::{Theme, figures::crossover_figure},
    crossover::{Crossover, Family, From, Link, Model, Place, Request, Sample, Sequential},
    gpu::{DataType, Gpu, Override},
    op::{gemm::Range, rowwise::Kind},
    units::{Bytes, Seconds, significant, times},
};

/// The forms of the answer.
const FORMS: [Format; 4] = [Format::Text, Format::Json, Format::Csv, Format::Markdown];
/// The CPU without `--cpu`.
const DEFAULT_CPU: &str = "epyc-9654";

#[derive(ClapArgs)]
#[command(mut_arg("format", |format| format.value_parser(Format::among(&FORMS, &[]))))]
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
    data: PlaceArg,
    /// Calls that share one transfer
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    reuse: u64,
    /// Link to the host: pcie (of the GPU's file), c2c (NVLink-C2C of Grace Hopper), or the rate of one direction
    #[arg(long, value_name = "pcie|c2c|RATE", default_value = "pcie")]
    link: Link,
    /// The CPU finds its operands in DRAM, not in its caches as far as they fit
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
            place: match self.data {
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
    let text = match args.output.format {
        Format::Text | Format::Html => compared.text(&samples, sequential)?,
        Format::Markdown => compared.markdown(&samples, sequential)?,
        Format::Csv => full(&samples, sequential).render(Format::Csv)?,
        Format::Json => compared.json(&samples, sequential)?,
    };
    args.output.emit(&text)?;
    Ok(EXIT_OK)
}

fn micros(seconds: f64) -> Cell {
    Cell::Number(seconds * 1e6)
}

/// The rows for programs.
fn full(samples: &[Sample], sequential: Option<Sequential>) -> Table {
    let mut columns = vec![
        ("n", "n"),
        ("bytes", "bytes"),
        ("CPU", "cpu_us"),
        ("low", "cpu_low_us"),
        ("high", "cpu_high_us"),
        ("cores", "cpu_cores"),
        ("level", "cpu_level"),
        ("GPU", "gpu_us"),
        ("low", "gpu_low_us"),
        ("high", "gpu_high_us"),
        ("kernel", "kernel_us"),
        ("launch", "launch_us"),
        ("transfer", "transfer_us"),
        ("speed-up", "speedup"),
    ];
    if sequential.is_some() {
        columns.push(("whole", "whole_speedup"));
    }
    let row = |s: &Sample| {
        let mut row = vec![
            Cell::Fixed(s.n as f64, 0),
            Cell::Number(s.bytes),
            micros(s.cpu.time),
            micros(s.cpu.low),
            micros(s.cpu.high),
            s.cpu.cores.into(),
            s.cpu.level.into(),
            micros(s.gpu.time),
            micros(s.gpu.low),
            micros(s.gpu.high),
            micros(s.gpu.kernel),
            micros(s.gpu.launch),
            micros(s.gpu.transfer),
            Cell::Number(s.speedup()),
        ];
        row.extend(sequential.map(|share| Cell::Number(share.whole(s.speedup()))));
        row
    };
    Table { columns, rows: samples.iter().map(row).collect() }
}

/// The rows for people.
fn short(samples: &[Sample], sequential: Option<Sequential>) -> Table {
    let mut columns = vec![
        ("n", ""),
        ("Data", ""),
        ("CPU", ""),
        ("Cores", ""),
        ("From", ""),
        ("GPU", ""),
        ("of it copies", ""),
        ("Speed-up", ""),
    ];
    if sequential.is_some() {
        columns.push(("of all", ""));
    }
    let rounded = |value: f64| significant(value, 3).parse::<f64>().unwrap_or(value);
    let time = |seconds: f64| Seconds(rounded(seconds * 1e6) * 1e-6).to_string();
    let row = |s: &Sample| {
        let mut row: Vec<Cell> = vec![
            Cell::Fixed(s.n as f64, 0),
            Bytes(rounded(s.bytes)).to_string().into(),
            time(s.cpu.time).into(),
            s.cpu.cores.into(),
            s.cpu.level.into(),
            time(s.gpu.time).into(),
            time(s.gpu.transfer).into(),
            times(s.speedup()).into(),
        ];
        row.extend(sequential.map(|share| Cell::from(times(share.whole(s.speedup())))));
        row
    };
    Table { columns, rows: samples.iter().map(row).collect() }
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

    /// "gemm n x n x n, fp32: EPYC 9654 against H100 SXM5 80 GB, data on the host".
    fn head(&self) -> String {
        let request = self.model.request();
        let place = match request.place {
            Place::Host => "data on the host",
            Place::Input => "operands on the host, result stays on the GPU",
            Place::Resident => "data on the GPU",
        };
        let calls = match (request.place, request.reuse) {
            (Place::Resident, _) | (_, 1) => String::new(),
            (_, calls) => format!(", one transfer for {calls} calls"),
        };
        let changes = |gpu: &Gpu| gpu.changes.iter().map(|change| format!(", {change}")).collect::<String>();
        format!(
            "{}, {}: {}{} against {}{}, {place}{calls}",
            request.family.name(),
            request.data.name(),
            self.cpu.name,
            changes(&self.cpu),
            self.gpu.name,
            changes(&self.gpu)
        )
    }

    /// What there is to say, under labels.
    fn entries(&self, samples: &[Sample], sequential: Option<Sequential>) -> Vec<(&'static str, String)> {
        let mut entries = vec![("crossover", self.found.sentence()), ("why", self.found.why.clone())];
        entries.extend(self.found.changes().map(|changes| ("changes", changes)));
        if let (Some(share), Some(last)) = (sequential, samples.last()) {
            let limit = if share.share() > 0.0 { times(share.limit()) } else { "no limit".into() };
            entries.push((
                "Amdahl",
                format!(
                    "{} % of the time on the CPU stays there: {} at n = {}, limit {limit}",
                    significant(share.share() * 100.0, 4),
                    times(share.whole(last.speedup())),
                    last.n
                ),
            ));
        }
        entries
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.assumptions.clone();
        notes.extend(self.model.cpu_note().map(str::to_owned));
        let capacity = self.gpu.memory.dram.capacity;
        let end = self.model.at(self.found.range.1).ok();
        if let (Some(capacity), Some(end)) = (capacity, end)
            && end.bytes > capacity.get()
        {
            notes.push(format!("the largest data do not fit into the {capacity} of the GPU"));
        }
        let caches = if self.model.request().cold { "in DRAM" } else { "in its caches as far as they fit" };
        notes.push(format!("the CPU finds its operands {caches}; L1 32 KiB and L2 1 MiB per core, not of its file"));
        notes.push(
            "the CPU's rates were set by hand and never measured: its range is wide (model.md, section 17)".into(),
        );
        if self.model.request().place != Place::Resident {
            notes.push("copies from page-locked memory, one per tensor, none hidden behind a kernel".into());
        }
        notes
    }

    fn text(&self, samples: &[Sample], sequential: Option<Sequential>) -> Result<String> {
        let width = world::width();
        let mut text = textwrap::fill(&self.head(), width) + "\n";
        for (label, words) in self.entries(samples, sequential) {
            let first = format!("  {label:<11} ");
            let rest = " ".repeat(first.len());
            let options = textwrap::Options::new(width).initial_indent(&first).subsequent_indent(&rest);
            text += &(textwrap::fill(&words, options) + "\n");
        }
        text += &format!("\n{}\n", short(samples, sequential).render(Format::Text)?);
        for note in self.notes() {
            let options = textwrap::Options::new(width).initial_indent("- ").subsequent_indent("  ");
            text += &(textwrap::fill(&note, options) + "\n");
        }
        Ok(text)
    }

    fn markdown(&self, samples: &[Sample], sequential: Option<Sequential>) -> Result<String> {
        let mut text = format!("**{}**\n\n", self.head());
        for (label, words) in self.entries(samples, sequential) {
            text += &format!("- {label}: {words}\n");
        }
        text += &format!("\n{}\n", short(samples, sequential).render(Format::Markdown)?);
        for note in self.notes() {
            text += &format!("- {note}\n");
        }
        Ok(text)
    }

    fn json(&self, samples: &[Sample], sequential: Option<Sequential>) -> Result<String> {
        let rows: Value = serde_json::from_str(&full(samples, sequential).render(Format::Json)?)?;
        let word = |from: From| match from {
            From::Always => json!("always"),
            From::Size(n) => json!(n),
            From::Never => json!("never"),
        };
        let (request, found) = (self.model.request(), &self.found);
        let crossings: Vec<Value> = found
            .crossings
            .iter()
            .map(|crossing| json!({ "n": crossing.n, "winner": if crossing.gpu { "gpu" } else { "cpu" } }))
            .collect();
        let value = json!({
            "schema": 1,
            "wavecast": env!("CARGO_PKG_VERSION"),
            "operation": request.family.name(),
            "dtype": request.data.name(),
            "cpu": { "id": self.cpu.id, "name": self.cpu.name, "changes": self.cpu.changes },
            "gpu": { "id": self.gpu.id, "name": self.gpu.name, "changes": self.gpu.changes },
            "link": found.decisive.gpu.link,
            "reuse": request.reuse,
            "range": [found.range.0, found.range.1],
            "from": word(found.from),
            "from_early": word(found.early),
            "from_late": word(found.late),
            "from_resident": found.resident.map(word),
            "crossings": crossings,
            "sentence": found.sentence(),
            "why": found.why,
            "sequential_share": sequential.map(Sequential::share),
            "sizes": rows,
            "notes": self.notes(),
        });
        Ok(serde_json::to_string_pretty(&value)? + "\n")
    }
}
