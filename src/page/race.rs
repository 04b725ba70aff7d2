//! The same operation on a CPU and on the GPU, from small to large.

use super::{
    command::Options,
    query::{Reader, Refusals, Writer},
    state::WORDS,
    view::{Numbers, View},
};
use crate::{
    crossover::{Crossover, CrossoverError, Family, Model, Place, Request},
    gpu::{Catalog, DataType, Gpu},
    op::gemm::Range,
    units::{Bytes, Seconds, grouped, times},
};

/// Most calls of one transfer, and the longest range of sizes.
const MOST_CALLS: u64 = 1_000_000;
const LONGEST: u64 = 1 << 32;
/// Rows of the largest square product.
const MOST_ROWS: u64 = 1 << 16;
/// Columns of a softmax whose rows grow.
const COLUMNS: u64 = 1024;

/// Operations of the page: the words behind `crossover`, and the kind of element-wise ones.
pub(super) const OPERATIONS: [(&str, Option<&str>); 9] = [
    ("gemm", None),
    ("elementwise", Some("add")),
    ("elementwise", Some("axpy")),
    ("elementwise", Some("mul")),
    ("elementwise", Some("gelu")),
    ("elementwise", Some("exp")),
    ("elementwise", Some("copy")),
    ("reduction", None),
    ("softmax", None),
];

/// Words of addresses for where the data are.
pub(super) const PLACES: [(&str, Place); 3] =
    [("host", Place::Host), ("input", Place::Input), ("resident", Place::Resident)];

/// An operation that grows, on a CPU and on the GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Race {
    /// Word of the operation: `gemm`, `reduction`, `softmax`, or an element-wise kind.
    pub kind: String,
    /// Id of the CPU.
    pub cpu: String,
    /// Type of the operands.
    pub dtype: DataType,
    /// Where the data are.
    pub place: Place,
    /// Calls that share one transfer.
    pub reuse: u64,
    /// Smallest and largest size.
    pub range: (u64, u64),
}

/// A comparison with its answer.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The CPU.
    pub cpu: Gpu,
    /// Both models.
    pub model: Model,
    /// What was found.
    pub found: Crossover,
}

impl Default for Race {
    fn default() -> Self {
        Self {
            kind: "add".into(),
            cpu: "epyc-9654".into(),
            dtype: DataType::Fp32,
            place: Place::Host,
            reuse: 1,
            range: (1, usually("add")),
        }
    }
}

/// The longest size of an operation on the page, and the one without more.
pub(super) fn longest(kind: &str) -> u64 {
    if kind == "gemm" { MOST_ROWS } else { LONGEST }
}

fn usually(kind: &str) -> u64 {
    match kind {
        "gemm" => 1 << 14,
        "softmax" => 1 << 20,
        _ => 1 << 28,
    }
}

fn word(operation: &(&'static str, Option<&'static str>)) -> &'static str {
    operation.1.unwrap_or(operation.0)
}

/// The words of the operations in the order of the page.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    OPERATIONS.iter().map(word)
}

impl Race {
    pub(super) fn parse(reader: &mut Reader) -> Self {
        let usual = Self::default();
        let known: Vec<(&str, &str)> = kinds().map(|kind| (kind, kind)).collect();
        let low = reader.count("low", 1..=LONGEST - 1).unwrap_or(usual.range.0);
        let kind = reader.word("kind", &known).map_or(usual.kind, str::to_owned);
        let race = Self {
            cpu: reader.short("cpu", WORDS).unwrap_or(usual.cpu),
            dtype: reader.parsed("dtype").unwrap_or(usual.dtype),
            place: reader.word("place", &PLACES).unwrap_or(usual.place),
            reuse: reader.count("reuse", 1..=MOST_CALLS).unwrap_or(usual.reuse),
            range: (low, reader.count("n", 2..=longest(&kind)).unwrap_or(usually(&kind))),
            kind,
        };
        if race.range.0 >= race.range.1 {
            reader.refuse("n", &race.range.1.to_string(), format!("a size above the smallest, {}", grouped(low)));
        }
        race
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.add("kind", Some(&self.kind));
        writer.add("cpu", Some(&self.cpu));
        writer.add("dtype", Some(self.dtype.name()));
        writer.add("place", Some(self.place_word()));
        writer.add("reuse", Some(self.reuse));
        writer.add("low", Some(self.range.0));
        writer.add("n", Some(self.range.1));
    }

    pub(super) fn place_word(&self) -> &'static str {
        PLACES.iter().find(|(_, place)| *place == self.place).map_or("", |(word, _)| word)
    }

    fn operation(&self) -> (&'static str, Option<&'static str>) {
        OPERATIONS.into_iter().find(|operation| word(operation) == self.kind).unwrap_or(OPERATIONS[0])
    }

    /// The operation, in front of the options.
    pub(super) fn name(&self) -> &'static str {
        self.operation().0
    }

    pub(super) fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut add = |option: &str, value: &str| words.extend([option.to_owned(), value.to_owned()]);
        if let Some(kind) = self.operation().1 {
            add("--kind", kind);
        }
        add("--cpu", &self.cpu);
        add("--dtype", self.dtype.name());
        add("--place", self.place_word());
        add("--reuse", &self.reuse.to_string());
        add("--range", &format!("{}:{}", self.range.0, self.range.1));
        words
    }

    pub(super) fn of_options(operation: &str, options: &mut Options) -> Option<Self> {
        let usual = Self::default();
        let kind = options.take("--kind");
        let found = OPERATIONS.into_iter().find(|known| *known == (operation, kind.or(known.1)) && kind == known.1)?;
        let range: Range = options.take("--range")?.parse().ok()?;
        let place = options.take("--place").unwrap_or("host");
        let kind = word(&found).to_owned();
        (range.high <= longest(&kind)).then_some(())?;
        Some(Self {
            kind,
            cpu: options.take("--cpu").map_or(usual.cpu, str::to_owned),
            dtype: options.take("--dtype").map_or(Some(usual.dtype), |text| text.parse().ok())?,
            place: PLACES.into_iter().find(|(word, _)| *word == place)?.1,
            reuse: options.take("--reuse").map_or(Some(1), |text| text.parse().ok())?,
            range: (range.low, range.high),
        })
    }

    fn family(&self) -> Option<Family> {
        Some(match self.operation() {
            ("gemm", _) => Family::Gemm { m: None, n: None, k: None },
            ("reduction", _) => Family::Reduction,
            ("softmax", _) => Family::Softmax { rows: None, cols: Some(COLUMNS) },
            (_, Some("axpy")) => Family::axpy()?,
            (_, kind) => Family::Elementwise { kind: kind?.parse().ok()?, in_place: false },
        })
    }

    pub(super) fn compared(&self, gpu: &Gpu, catalog: &Catalog) -> Result<Compared, Refusals> {
        let refuse = |key: &str, value: &str, problem: String| Refusals::one(key, value, problem);
        let cpu = catalog.find(&self.cpu).map_err(|e| refuse("cpu", &self.cpu, e.to_string()))?.gpu;
        let family = self.family().ok_or_else(|| refuse("kind", &self.kind, "it is not known".into()))?;
        let request = Request { place: self.place, reuse: self.reuse, ..Request::new(family, self.dtype) };
        let named = |error: CrossoverError| match &error {
            CrossoverError::NoCpu { .. } => refuse("cpu", &self.cpu, error.to_string()),
            CrossoverError::NoUnit { .. } | CrossoverError::Precision(_) | CrossoverError::Model(_) => {
                refuse("dtype", self.dtype.name(), error.to_string())
            }
            CrossoverError::Link(_) => refuse("place", self.place_word(), error.to_string()),
            _ => refuse("n", &self.range.1.to_string(), error.to_string()),
        };
        let model = Model::new(&cpu, gpu, &request).map_err(named)?;
        let found = model.crossover(self.range).map_err(named)?;
        Ok(Compared { cpu, model, found })
    }
}

impl Compared {
    pub(super) fn view(&self, gpu: &Gpu) -> View {
        let (found, at) = (&self.found, &self.found.decisive);
        let time = |seconds: f64| Seconds(seconds).to_string();
        let range = |low: f64, high: f64| format!("between {} and {}", time(low), time(high));
        let mut numbers = Numbers::default();
        let (n, bytes) = (grouped(at.n), Bytes(at.bytes));
        numbers.add("Size n", &n, format!("{bytes} of operands and result; the numbers below are for it"));
        let cores = format!("{} cores, data in {}", at.cpu.cores, at.cpu.level);
        numbers.add("On the CPU", time(at.cpu.time), format!("{}; {cores}", range(at.cpu.low, at.cpu.high)));
        numbers.add("On the GPU", time(at.gpu.time), range(at.gpu.low, at.gpu.high));
        let link = at.gpu.link.as_deref().unwrap_or("no link");
        numbers.add("Of it copies", time(at.gpu.transfer), format!("over {link}, of one call"));
        numbers.add("Of it launch", time(at.gpu.launch), "what the host adds");
        numbers.add("Of it the kernel", time(at.gpu.kernel), "by the time model");
        let ratio = format!("{} / {}", time(at.cpu.time), time(at.gpu.time));
        numbers.add("GPU against CPU", times(at.speedup()), ratio);
        numbers.add("CPU against GPU", times(1.0 / at.speedup()), "the other way round");
        let mut verdict = found.sentence().replacen("the", "The", 1);
        verdict.push('.');
        View {
            title: format!("{}: {} against {}", self.model.request().family.name(), self.cpu.name, gpu.name),
            verdict,
            numbers: numbers.0,
            helps: Vec::new(),
            findings: [found.why.clone()].into_iter().chain(found.changes()).collect(),
            assumptions: [
                Some("the CPU's rates were set by hand and never measured: its range is wide".to_owned()),
                self.model.cpu_note().map(str::to_owned),
                Some("copies from page-locked memory, none hidden behind a kernel".into()),
            ]
            .into_iter()
            .flatten()
            .collect(),
        }
    }
}
