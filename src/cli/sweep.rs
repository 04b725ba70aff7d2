//! `sweep`: parameter spaces, point by point, and what is found in them; `merge` joins the results of shards.

mod ask;
mod check;
mod command;
mod folder;
mod found;
mod merge;
mod parts;
mod run;
mod span;
mod sums;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use toml::{Table, Value};

use super::{
    EXIT_OK,
    args::{DEFAULT_GPU, Format, GpuArgs, OutputArgs},
    world,
};
use crate::{
    fit::Prices,
    gpu::Catalog,
    scenario, simulation,
    sweep::{Options, Place, Plan, Sample, Shard, Subject, Values, columns, embedded},
};
pub use merge::{MergeArgs, merge};

/// What is swept.
#[derive(ClapArgs, Clone)]
pub struct Space {
    /// Sweep file (TOML, see docs/sweep.md) or the name of a built-in one; without it --op and --axis say what is swept
    #[arg(value_name = "FILE", required_unless_present_any = ["op", "kernel", "simulation"])]
    file: Option<PathBuf>,
    /// An operation of `predict` (gemm, attention, softmax ...), kernel or simulate
    #[arg(long, value_name = "OP", conflicts_with = "file")]
    op: Option<String>,
    /// The kernel of a scenario, with or without --op kernel; the first one, or that named after a #
    #[arg(long, value_name = "SCENARIO[#NAME]", conflicts_with = "file")]
    kernel: Option<String>,
    /// The launches of a simulation file or built-in simulation, with or without --op simulate
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "kernel"])]
    simulation: Option<String>,
    /// Values of a key: a,b,c, LOW:HIGH, LOW:HIGH:STEP, LOW:HIGH:x2 (powers), LOW:HIGH:/9 (so many); "a,b",c where a value has a comma; the first axis varies slowest
    #[arg(long, value_name = "KEY=VALUES", value_parser = values)]
    axis: Vec<(String, String)>,
    /// The same for keys that advance together
    #[arg(long, value_name = "KEY=VALUES", value_parser = values)]
    zip: Vec<(String, String)>,
    /// A value that stays; in a file's place where it has one
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    fix: Vec<(String, String)>,
    /// So many points, drawn from all without drawing any twice
    #[arg(long, value_name = "COUNT")]
    sample: Option<u64>,
    /// What the draw starts from: equal seeds draw equal points everywhere
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "sample")]
    seed: u64,
    /// Offers of GPUs (CSV: gpu, usd_per_gpu_hour) for the cost; the built-in ones without it
    #[arg(long, value_name = "FILE.csv")]
    prices: Option<PathBuf>,
    #[command(flatten)]
    gpu: GpuArgs,
}

/// The forms of a sweep's result.
const FORMS: [Format; 3] = [Format::Text, Format::Json, Format::Csv];

#[derive(ClapArgs)]
#[command(mut_arg("format", |format| format.value_parser(Format::among(&FORMS, &[]))), mut_arg("output", |output| output.help("Rows as .csv or .parquet, written whole; without it they go to standard output with --format csv")))]
pub struct Args {
    #[command(flatten)]
    space: Space,
    /// Count the points and show the axes, without evaluating any
    #[arg(long)]
    dry_run: bool,
    /// Folder for the rows in parts, each written whole, so that a stopped run can go on
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    out: Option<PathBuf>,
    /// Rows of a part of --out
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..), requires = "out")]
    part_rows: u64,
    /// Form of the parts of --out: csv or parquet
    #[arg(long, value_name = "FORM", value_enum, default_value = parts::DEFAULT_FORM, requires = "out")]
    parts: parts::Form,
    /// Go on where a run with the same --out stopped
    #[arg(long, requires = "out")]
    resume: bool,
    /// Only part K of N of the points, for several machines; `merge` joins them
    #[arg(long, value_name = "K/N", requires = "out")]
    shard: Option<Shard>,
    /// Threads; as many as there are cores
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=4096))]
    jobs: Option<u32>,
    #[command(flatten)]
    wanted: found::Wanted,
    #[command(flatten)]
    questions: ask::Questions,
    #[command(flatten)]
    output: OutputArgs,
}

/// A key and its value, with or without quotes around it.
fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUES, such as m=64:8192:64")?;
    let (key, value) = (key.trim(), value.trim().trim_matches('"'));
    if key.is_empty() || value.is_empty() {
        return Err("write KEY=VALUES, such as m=64:8192:64".into());
    }
    Ok((key.into(), value.into()))
}

/// The same for a list or range. Quotes around it go only where they keep no comma from parting values.
fn values(text: &str) -> Result<(String, String), String> {
    let (key, value) = pair(text)?;
    let as_written = text.split_once('=').map_or("", |(_, value)| value.trim());
    Ok((key, if value.contains(',') { as_written.into() } else { value }))
}

/// A sweep with all that its points need.
pub struct Swept {
    plan: Plan,
    catalog: Catalog,
    prices: Prices,
    /// The sweep as one line of a shell.
    command: String,
    notes: Vec<String>,
}

impl Space {
    /// The plan, with the files that it names.
    fn read(&self) -> Result<Swept> {
        let mut catalog = self.gpu.folder.catalog()?;
        let prices = match &self.prices {
            None => Prices::embedded(),
            Some(path) => Prices::read(&world::read(path)?).with_context(|| format!("`{}`", path.display()))?,
        };
        if let Some((key, _)) =
            self.fix.iter().enumerate().find(|(i, f)| self.fix[..*i].iter().any(|g| g.0 == f.0)).map(|(_, f)| f)
        {
            bail!("--fix {key} stands twice: one value stays, several are an --axis {key}=A,B");
        }
        let mut options = Options {
            fixed: self.fix.clone(),
            axes: self.axis.clone(),
            zipped: self.zip.clone(),
            sample: self.sample.map(|count| Sample { count, seed: self.seed }),
        };
        options.fixed.extend(self.gpu.set.iter().map(|set| (set.key.clone(), set.value.clone())));
        match &self.gpu.gpu[..] {
            [] => {}
            [one] => options.fixed.push(("gpu".into(), one.clone())),
            several => options.axes.push(("gpu".into(), Values::joined(several))),
        }
        let mut notes = Vec::new();
        let mut plan = self.plan(&options)?;
        let has_gpu =
            plan.fixed.iter().map(|f| &f.place).chain(plan.axes().map(|(_, a)| &a.place)).any(|p| *p == Place::Gpu);
        if !has_gpu {
            notes.push(format!("no GPU is named: {DEFAULT_GPU} is taken"));
            options.fixed.push(("gpu".into(), DEFAULT_GPU.into()));
            plan = self.plan(&options)?;
        }
        for name in gpu_names(&plan) {
            let (file, _) = name.split_once(".toml").map_or((None, ()), |(stem, _)| (Some(format!("{stem}.toml")), ()));
            if let Some(file) = file {
                let text = world::read_text(file.as_ref())?;
                catalog.add(&file, &text).with_context(|| format!("`{file}`"))?;
            }
            notes.extend(catalog.find(&name)?.assumption);
        }
        check::check(&plan, &catalog, &prices)?;
        Ok(Swept { command: self.command(&plan), plan, catalog, prices, notes })
    }

    fn plan(&self, options: &Options) -> Result<Plan> {
        if let Some(path) = &self.file {
            let name = path.display().to_string();
            let known = || embedded().map(|(known, _)| known);
            let text = match embedded().find(|(known, _)| *known == name) {
                Some((_, text)) => text.to_owned(),
                None if !path.exists() && path.extension().is_none() && name != "-" => {
                    bail!(
                        "`{name}` is neither a file nor a built-in sweep ({})",
                        known().collect::<Vec<_>>().join(", ")
                    )
                }
                None => world::read_text(path)?,
            };
            return Ok(Plan::parse(&name, &text, options)?);
        }
        let implied = if self.kernel.is_some() { "kernel" } else { "simulate" };
        let op = self.op.as_deref().unwrap_or(implied);
        Ok(Plan::of(op, (self.kernel_table()?, self.launch_tables()?), options)?)
    }

    /// The table of `--kernel SCENARIO#NAME`.
    fn kernel_table(&self) -> Result<Option<Table>> {
        let Some(given) = &self.kernel else { return Ok(None) };
        let (file, name) = given.rsplit_once('#').map_or((given.as_str(), None), |(file, name)| (file, Some(name)));
        let text = match scenario::embedded_named(file) {
            Some(text) => text.to_owned(),
            None => world::read_text(file.as_ref())?,
        };
        scenario::Scenario::parse(file, &text)?;
        let tables: Table = toml::from_str(&text).with_context(|| format!("`{file}`"))?;
        let kernels = tables.get("kernel").and_then(Value::as_array).cloned().unwrap_or_default();
        let named = |kernel: &Value| kernel.get("name").and_then(Value::as_str).map(str::to_owned).unwrap_or_default();
        let names: Vec<String> = kernels.iter().map(named).collect();
        let wanted = |kernel: &&Value| name.is_none_or(|name| named(kernel) == name);
        match kernels.iter().find(wanted).and_then(Value::as_table) {
            Some(table) => {
                let mut table = table.clone();
                // What a scenario expects is no part of the kernel.
                table.remove("expect");
                Ok(Some(table))
            }
            None => bail!("--kernel `{given}`: no such kernel; `{file}` has {}", names.join(", ")),
        }
    }

    fn launch_tables(&self) -> Result<Option<Vec<Value>>> {
        let Some(file) = &self.simulation else { return Ok(None) };
        let text = match simulation::embedded().find(|(name, _)| name == file) {
            Some((_, text)) => text.to_owned(),
            None => world::read_text(file.as_ref())?,
        };
        simulation::Simulation::parse(file, &text)?;
        let table: Table = toml::from_str(&text).with_context(|| format!("`{file}`"))?;
        Ok(table.get("launch").and_then(Value::as_array).cloned())
    }
}

/// Every name that the sweep gives a GPU.
fn gpu_names(plan: &Plan) -> Vec<String> {
    let fixed = plan.fixed.iter().filter(|f| f.place == Place::Gpu).map(|f| f.value.clone());
    let axes = plan.axes().filter(|(_, a)| a.place == Place::Gpu);
    fixed.chain(axes.flat_map(|(_, a)| (0..a.values.len()).map(|i| a.values.text(i)))).collect()
}

pub fn run(args: Args) -> Result<u8> {
    let space = args.space.read()?;
    let columns = columns(&space.plan);
    for note in &space.notes {
        world::note(args.output.quiet, &format!("note: {note}"));
    }
    if args.dry_run {
        args.output.emit(&span::dry(
            &space.plan,
            &space.command,
            args.shard.unwrap_or(Shard::WHOLE),
            args.output.format,
        ))?;
        return Ok(EXIT_OK);
    }
    if let Some(code) = args.questions.answer(&space, &args.output)? {
        return Ok(code);
    }
    run::run(&args, &space, &columns)
}

/// Whether a sweep is of simulations, whose points take long.
fn is_slow(plan: &Plan) -> bool {
    matches!(plan.subject, Subject::Simulation(_))
}
