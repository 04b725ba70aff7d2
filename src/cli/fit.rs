//! `fit`: the smallest GPU or MIG slice on which a network fits and is fast enough, with prices; slices against time-sharing.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args as ClapArgs, ValueEnum};

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{Format, GpuArgs, OutputArgs},
    model::{self, StepArgs},
    table::{Cell, Table},
    world,
};
use crate::{
    fit::{MOST_GPUS, Offer, Prices, Refused, Slices, Target, Wish, offer, slices, smallest_first, with_slices},
    gpu::{Catalog, Gpu},
    network::{Network, Phase, Step},
    units::{Bytes, Seconds, counted, significant},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    own: StepArgs,
    /// What is timed
    #[arg(long, value_enum, default_value = "decode")]
    phase: PhaseArg,
    /// Longest time of a step: of a token (decode) or of the prompts (prefill)
    #[arg(long, value_name = "TIME")]
    max_latency: Option<Seconds>,
    /// Fewest tokens per second of all sequences together
    #[arg(long, value_name = "TOKENS", value_parser = positive)]
    min_throughput: Option<f64>,
    /// Most GPUs that share every layer
    #[arg(long, value_name = "COUNT", default_value_t = 8)]
    most: u64,
    /// Slices of one GPU instead of GPUs: what each gives, how many go together, and what isolation costs against taking turns
    #[arg(long)]
    mig: bool,
    /// Prices instead of the built-in ones: a CSV with the columns gpu and usd_per_gpu_hour
    #[arg(long, value_name = "FILE.csv")]
    prices: Option<PathBuf>,
    /// Order
    #[arg(long, value_enum, default_value = "size")]
    by: By,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PhaseArg {
    /// Whole prompts
    Prefill,
    /// One new token per sequence
    Decode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// Least memory first
    Size,
    /// Shortest step first, on as many GPUs as make it shortest
    Time,
    /// Least money per token first
    Cost,
}

fn positive(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok().filter(|number| *number > 0.0 && *number < 1e15);
    number.ok_or_else(|| "write a number above 0, such as 1000".into())
}

impl Args {
    fn phase(&self) -> Phase {
        match self.phase {
            PhaseArg::Prefill => Phase::Prefill,
            PhaseArg::Decode => Phase::Decode,
        }
    }

    fn prices(&self) -> Result<Prices> {
        match &self.prices {
            None => Ok(Prices::embedded()),
            Some(path) => Ok(Prices::read(&world::read(path)?).with_context(|| format!("`{}`", path.display()))?),
        }
    }

    /// The GPUs that are tried: those named, or all of the catalog and their MIG slices.
    fn gpus(&self, catalog: &Catalog) -> Result<Vec<Gpu>> {
        if self.gpu.gpu.is_empty() {
            if !self.gpu.set.is_empty() {
                bail!("--set needs --gpu: it changes a figure of one GPU");
            }
            return Ok(with_slices(catalog, catalog.gpus().filter(|gpu| !gpu.is_cpu()).cloned().collect()));
        }
        let mut named = self.gpu.resolve(catalog)?.0;
        let mut seen = std::collections::BTreeSet::new();
        named.retain(|gpu| seen.insert(gpu.id.clone()));
        Ok(named)
    }
}

pub fn run(args: Args) -> Result<u8> {
    let catalog = args.gpu.folder.catalog()?;
    let network = model::read(&args.own.network)?;
    let gpus = args.gpus(&catalog)?;
    let prices = args.prices()?;
    let quiet = args.output.quiet;
    if prices.all().is_empty() {
        bail!("--prices: the table has no row; its columns are gpu and usd_per_gpu_hour");
    }
    for price in prices.unknown(&catalog) {
        world::note(quiet, &format!("note: no GPU is called `{}` (in the prices)", price.gpu));
    }
    // What does not depend on the GPU is refused before any is tried.
    let first = gpus.first().context("there is no GPU to try")?;
    let (step, _) = args.own.step(&network, first, args.phase())?;
    network.operations(&step)?;
    let memory = args.own.held(&step);
    let target = Target { latency: args.max_latency.map(|t| t.get()), throughput: args.min_throughput };
    if !(1..=MOST_GPUS).contains(&args.most) {
        bail!("--most {}: write a number of GPUs from 1 to {MOST_GPUS}", args.most);
    }
    let wish = Wish { network: &network, memory, target, most: args.most, fastest: args.by == By::Time };
    // A step that one GPU had is had by all: what differs is the unit of quantised weights.
    let step_on = |gpu: &Gpu, count: u64| {
        let own = args.own.step(&network, gpu, args.phase()).map_or(step, |(own, _)| own);
        Step { tensor_parallel: count, ..own }
    };
    network.notes.iter().for_each(|note| world::note(quiet, &format!("note: {note}")));
    let head = args.head(&network, &step);
    if args.mig {
        let (whole, _) = args.gpu.resolve_one(&catalog)?;
        let (found, refused) = slices(&wish, &whole, &step_on, &prices, &catalog);
        return args.show_slices(&head, &whole, &found, &refused);
    }
    let tried: Vec<Result<Offer, Refused>> =
        gpus.iter().map(|gpu| offer(&wish, gpu, &step_on, &prices, &catalog)).collect();
    let mut offers: Vec<Offer> = tried.iter().filter_map(|tried| tried.as_ref().ok().cloned()).collect();
    smallest_first(&mut offers);
    match args.by {
        By::Size => {}
        By::Time => offers.sort_by(|a, b| b.meets.cmp(&a.meets).then(a.time.0.total_cmp(&b.time.0))),
        By::Cost => {
            let cost = |offer: &Offer| offer.per_million().unwrap_or(f64::INFINITY);
            offers.sort_by(|a, b| b.meets.cmp(&a.meets).then(cost(a).total_cmp(&cost(b))));
        }
    }
    let refused: Vec<&Refused> = tried.iter().filter_map(|tried| tried.as_ref().err()).collect();
    args.show(&head, &offers, &refused)
}

/// Rows that a person reads.
const SHOWN: usize = 20;

impl Args {
    fn head(&self, network: &Network, step: &Step) -> String {
        let tokens = counted(step.tokens, "token");
        let target = match (self.max_latency, self.min_throughput) {
            (None, None) => String::new(),
            (Some(latency), None) => format!("; wanted: a step in {latency}"),
            (None, Some(rate)) => format!("; wanted: {} tokens/s", significant(rate, 6)),
            (Some(latency), Some(rate)) => {
                format!("; wanted: a step in {latency} and {} tokens/s", significant(rate, 6))
            }
        };
        let (phase, batch) = (step.phase.word(), step.batch);
        format!("{}: {phase}, batch {batch}, {tokens}, {}{target}", network.name, step.data.name())
    }

    fn show(&self, head: &str, offers: &[Offer], refused: &[&Refused]) -> Result<u8> {
        let text = self.output.format == Format::Text;
        let rows = if text { offers.len().min(SHOWN) } else { offers.len() };
        let wanted = self.max_latency.is_some() || self.min_throughput.is_some();
        let columns = [
            ("GPU", "gpu"),
            ("GPUs", "gpus"),
            ("GiB each", "need_gib"),
            ("of", "capacity_gib"),
            ("step ms", "time_ms"),
            ("low", "low_ms"),
            ("high", "high_ms"),
            ("tokens/s", "tokens_per_s"),
            ("$/h", "usd_per_hour"),
            ("$/M tok.", "usd_per_million_tokens"),
            ("meets", "meets_target"),
            ("price of", "price_provider"),
        ];
        // For people the band and the provider have no room.
        let shown = |name: &str| {
            !text || !(matches!(name, "low_ms" | "high_ms" | "price_provider") || name == "meets_target" && !wanted)
        };
        let row = |offer: &Offer| {
            let cells = vec![
                offer.gpu.clone().into(),
                Cell::Number(offer.count as f64),
                gib(offer.need),
                gib(offer.capacity),
                number(offer.time.0 * 1e3),
                number(offer.time.1 * 1e3),
                number(offer.time.2 * 1e3),
                number(offer.tokens_per_s),
                offer.per_hour().map_or(Cell::Absent, number),
                offer.per_million().map_or(Cell::Absent, number),
                if offer.meets { "yes" } else { "no" }.into(),
                offer.price.as_ref().map(|price| format!("{} {}", price.provider, price.date)).into(),
            ];
            cells.into_iter().zip(columns).filter(|(_, (_, name))| shown(name)).map(|(cell, _)| cell).collect()
        };
        let table = Table {
            columns: columns.into_iter().filter(|(_, name)| shown(name)).collect(),
            rows: offers.iter().take(rows).map(row).collect(),
        };
        let mut out = table.titled(head, self.output.format)?;
        if text {
            let wrap = |text: &str| textwrap::fill(text, world::width());
            out = format!("{}\n{}\n\n{out}{}\n", wrap(head), wrap(&answer(offers)), wrap(LEGEND));
            if offers.len() > rows {
                out += &format!("{} more fit: --format csv has all\n", offers.len() - rows);
            }
        }
        if offers.is_empty() {
            let reasons: Vec<String> = refused.iter().take(3).map(|r| format!("{}: {}", r.gpu, r.reason)).collect();
            bail!("{head}: it fits nowhere among {} ({})", counted(refused.len() as u64, "GPU"), reasons.join("; "));
        }
        self.output.emit(&out)?;
        if !refused.is_empty() {
            let first = refused.first().map_or(String::new(), |r| format!(", such as {}: {}", r.gpu, r.reason));
            let count = counted(refused.len() as u64, "GPU");
            world::note(self.output.quiet, &format!("note: {count} left out{first}"));
        }
        Ok(if offers.iter().any(|offer| offer.meets) { EXIT_OK } else { EXIT_CHECK })
    }

    fn show_slices(&self, head: &str, whole: &Gpu, found: &[Slices], refused: &[String]) -> Result<u8> {
        if found.is_empty() {
            bail!("{head}: no slice of {} holds it ({})", whole.name, refused.join("; "));
        }
        let row = |slices: &Slices| {
            vec![
                slices.one.gpu.rsplit(':').next().unwrap_or_default().into(),
                Cell::Number(slices.instances as f64),
                f64::from(slices.sms).into(),
                gib(slices.one.need),
                gib(slices.one.capacity),
                number(slices.one.time.0 * 1e3),
                number(slices.together),
                number(slices.shared),
                slices.batched.map_or(Cell::Absent, number),
                Cell::Fixed(100.0 * slices.cost(), 1),
                if slices.shared_fits { "yes" } else { "no" }.into(),
                if slices.one.meets { "yes" } else { "no" }.into(),
            ]
        };
        let table = Table {
            columns: vec![
                ("slice", "slice"),
                ("fit", "instances"),
                ("SMs", "sms"),
                ("GiB", "need_gib"),
                ("of", "capacity_gib"),
                ("step ms", "time_ms"),
                ("all\ntok/s", "tokens_per_s_of_all_slices"),
                ("turns\ntok/s", "tokens_per_s_time_shared"),
                ("batch\ntok/s", "tokens_per_s_one_batch"),
                ("cost %", "isolation_cost_pct"),
                ("turns\nfit", "copies_fit_whole_gpu"),
                ("meets", "meets_target"),
            ],
            rows: found.iter().map(row).collect(),
        };
        let mut out = table.titled(head, self.output.format)?;
        if self.output.format == Format::Text {
            let wrap = |text: &str| textwrap::fill(text, world::width());
            out = format!("{}\nSlices of {}\n\n{out}{}\n", wrap(head), whole.name, wrap(SLICES));
        }
        self.output.emit(&out)?;
        refused.iter().for_each(|why| world::note(self.output.quiet, &format!("note: left out: {why}")));
        Ok(if found.iter().any(|slices| slices.one.meets) { EXIT_OK } else { EXIT_CHECK })
    }
}

/// What the columns mean.
const LEGEND: &str = "step: time of one step, device alone; $/h: the cheapest known offer, for all GPUs of the row, dated \
    (gpus/prices.csv); $/M tok.: at full use, which nobody has.";
const SLICES: &str = "fit: slices that go together, each with the network and its batch; all: their tokens/s; turns: as many \
    processes in turn on the whole GPU; batch: one process with all their sequences; cost: what the slices make less than turns.";

/// The sentence above the table.
fn answer(offers: &[Offer]) -> String {
    let Some(first) = offers.first() else { return String::new() };
    let price = first.price.as_ref().map_or("no price known".to_owned(), |price| {
        let hour = first.per_hour().unwrap_or(0.0);
        let from: Vec<&str> =
            [price.provider.as_str(), &price.date].into_iter().filter(|part| !part.is_empty()).collect();
        let from = if from.is_empty() { String::new() } else { format!(" ({})", from.join(", ")) };
        format!("{} USD per hour{from}", significant(hour, 4))
    });
    let what = format!("{} x {}, {}", first.count, first.name, price);
    if first.meets {
        format!("First: {what}.")
    } else {
        format!("Nothing meets what is wanted; first of those that hold it: {what}.")
    }
}

fn gib(bytes: Bytes) -> Cell {
    Cell::Fixed(bytes.get() / f64::from(1 << 30), 1)
}

/// A number with as many digits as the model is worth.
fn number(value: f64) -> Cell {
    significant(value, 4).parse::<f64>().ok().into()
}
