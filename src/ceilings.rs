//! Measured ceilings of a device: what a roofline benchmark reached, or a table of one's own.
//!
//! Three forms are read, told apart by content: the Empirical Roofline Toolkit's `roofline.json`, rocprofiler-compute's
//! `roofline.csv`, and a CSV with the columns `name` and `rate`. None of a value's name is changed: the file's words stay.

mod ert;
mod own;
mod rocprof;

use crate::{
    gpu::{Basis, DataType, Gpu, Pipe},
    profile::{ProfileError, decode},
    units::{BytesPerSecond, FlopsPerSecond},
};

/// What wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// The Empirical Roofline Toolkit.
    Ert,
    /// rocprofiler-compute, before Omniperf.
    RocprofCompute,
    /// A table of one's own.
    Own,
}

impl Tool {
    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Ert => "ERT",
            Self::RocprofCompute => "rocprofiler-compute",
            Self::Own => "a table of peaks",
        }
    }
}

/// A memory whose bandwidth was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Device memory.
    Dram,
    /// Level-2 cache.
    L2,
    /// Level-1 cache.
    L1,
    /// Shared memory, LDS.
    Shared,
    /// Another one, such as an L3 or an Infinity Cache.
    Other,
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The bandwidth of a memory.
    Bandwidth(Memory),
    /// The rate of a unit; absent where the file gives none, or one that no GPU file has.
    Rate(Option<Pipe>),
}

/// One measured ceiling.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// As the file calls it.
    pub name: String,
    /// What it is.
    pub what: What,
    /// In bytes or operations per second, above 0; of several devices the median.
    pub rate: f64,
    /// The least and the most of several devices.
    pub spread: Option<(f64, f64)>,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceilings {
    /// What wrote it.
    pub tool: Tool,
    /// In file order, at least one.
    pub ceilings: Vec<Ceiling>,
    /// Devices that were measured.
    pub devices: usize,
    /// The GPU that the file names.
    pub gpu: Option<String>,
    /// Why it is the result of a CPU, where it is.
    pub cpu: Option<&'static str>,
    /// What was left aside and why, in sentences.
    pub notes: Vec<String>,
}

/// A file that holds no ceilings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CeilingsError {
    /// Not a text.
    #[error(transparent)]
    Text(#[from] ProfileError),
    /// None of the forms.
    #[error(
        "neither a roofline.json of ERT nor a roofline.csv of rocprofiler-compute nor a table with the columns name and \
         rate{0}"
    )]
    Form(String),
    /// The printout of one run of ERT.
    #[error(
        "a try file of ERT, the printout of one run{0}; the ceilings are in the file roofline.json that ERT writes into \
         the folder Run.NNN when its runs have ended"
    )]
    Try(String),
    /// A line of a table that cannot be meant.
    #[error("line {line}: {what}")]
    Line {
        /// Counted from 1.
        line: u64,
        /// The value and the cure.
        what: String,
    },
    /// One of the forms, without a single rate.
    #[error("no bandwidth and no rate is in it{0}")]
    Empty(String),
}

/// Whether a file with this beginning is one that [`read`] takes, or the printout of a run that it has a sentence for.
pub fn detect(head: &[u8]) -> bool {
    let Ok(text) = decode(head) else { return false };
    let text = text.trim_start();
    ert::detect(text) || ert::printout(text).is_some() || rocprof::detect(text) || own::detect(text)
}

/// Reads a file of any of the forms: UTF-8 or UTF-16, with any line ends.
///
/// # Errors
/// It is none of them, or holds no rate; of a table of one's own also a line that cannot be meant.
pub fn read(bytes: &[u8]) -> Result<Ceilings, CeilingsError> {
    let text = decode(bytes)?;
    let text = text.trim_start();
    let mut found = if text.starts_with('{') {
        ert::read(text)?
    } else if let Some(says) = ert::printout(text) {
        return Err(CeilingsError::Try(says));
    } else if rocprof::detect(text) {
        rocprof::read(text)
    } else if own::detect(text) {
        own::read(text)?
    } else {
        let first = text.lines().next().unwrap_or_default();
        return Err(CeilingsError::Form(format!(
            " (it begins with `{}`)",
            short(first.split(',').next().unwrap_or(""))
        )));
    };
    if found.ceilings.is_empty() {
        let why = if found.notes.is_empty() { String::new() } else { format!(": {}", found.notes.join("; ")) };
        return Err(CeilingsError::Empty(why));
    }
    if !found.ceilings.iter().any(|one| one.what == What::Bandwidth(Memory::Dram)) {
        found.notes.push("the file has no bandwidth of the device's memory".into());
    }
    Ok(found)
}

/// The beginning of a value of a file, fit for a sentence.
fn short(text: &str) -> String {
    text.trim().chars().filter(|c| !c.is_control()).take(30).collect()
}

/// More bytes or operations per second than all computers of the world together have.
const MOST: f64 = 1e21;

/// A rate that can have been measured.
fn possible(rate: f64) -> bool {
    rate > 0.0 && rate <= MOST
}

/// The dense matrix unit of a type, with the accumulator that libraries take.
fn matrix(input: DataType) -> Pipe {
    Pipe::Tensor { input, accumulate: input.default_accumulate(), sparse: false }
}

impl Ceiling {
    /// The ceiling of some devices; absent without any.
    fn of(name: &str, what: What, mut rates: Vec<f64>) -> Option<Self> {
        rates.sort_by(f64::total_cmp);
        let (least, most) = (*rates.first()?, *rates.last()?);
        let middle = rates.len() / 2;
        let rate = if rates.len() % 2 == 1 { rates[middle] } else { f64::midpoint(rates[middle - 1], rates[middle]) };
        Some(Self { name: name.trim().into(), what, rate, spread: (rates.len() > 1).then_some((least, most)) })
    }

    /// A rate in the unit of the ceiling.
    pub fn print(&self, rate: f64) -> String {
        match self.what {
            What::Bandwidth(_) => BytesPerSecond(rate).to_string(),
            What::Rate(Some(pipe)) if integer(pipe) => FlopsPerSecond(rate).to_string().replace("FLOP", "OP"),
            What::Rate(_) => FlopsPerSecond(rate).to_string(),
        }
    }

    /// What the file of a GPU says, in the same unit: its datasheet, but for [`Self::against_measurement`]. Absent where it
    /// says nothing.
    pub fn datasheet(&self, gpu: &Gpu) -> Option<f64> {
        let on_sms = |width: crate::units::BytesPerCycle| (width * gpu.clocks.vector * f64::from(gpu.sm.count)).get();
        match self.what {
            What::Bandwidth(Memory::Dram) => Some(gpu.memory.dram.bandwidth.get()),
            What::Bandwidth(Memory::L2) => gpu.memory.l2.bandwidth.map(BytesPerSecond::get),
            What::Bandwidth(Memory::Shared) => gpu.memory.shared.as_ref().map(|shared| on_sms(shared.bandwidth)),
            What::Bandwidth(Memory::L1) => gpu.memory.shared.as_ref()?.l1_bandwidth.map(on_sms),
            What::Bandwidth(Memory::Other) | What::Rate(None) => None,
            What::Rate(Some(pipe)) => gpu.peak(pipe).map(FlopsPerSecond::get),
        }
    }

    /// Whether the figure of the GPU's file that it is compared with was measured, too: no datasheet has it.
    pub fn against_measurement(&self, gpu: &Gpu) -> bool {
        match self.what {
            What::Bandwidth(Memory::L2) => gpu.memory.l2.bandwidth_basis == Some(Basis::Measured),
            What::Bandwidth(Memory::L1) => true,
            _ => false,
        }
    }

    /// What it is a ceiling of, as programs are told: `dram`, `tensor.bf16.fp32`; absent where nothing is known.
    pub fn key(&self) -> Option<String> {
        Some(match self.what {
            What::Bandwidth(Memory::Dram) => "dram".into(),
            What::Bandwidth(Memory::L2) => "l2".into(),
            What::Bandwidth(Memory::L1) => "l1".into(),
            What::Bandwidth(Memory::Shared) => "shared".into(),
            What::Bandwidth(Memory::Other) | What::Rate(None) => return None,
            What::Rate(Some(pipe)) => pipe.to_string(),
        })
    }
}

/// Whether a unit counts integer operations.
pub fn integer(pipe: Pipe) -> bool {
    let (Pipe::Vector(data) | Pipe::Tensor { input: data, .. }) = pipe else { return false };
    matches!(data, DataType::Int32 | DataType::Int8 | DataType::Int4)
}
