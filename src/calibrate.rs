//! The constants of a GPU from measured matrix products and measured rates: which of them the measurements determine, and
//! their values. What a row can determine follows from the model: from how far its time moves with each constant.

mod benchmark;
mod ceilings;
mod constants;
mod evidence;
mod fit;
mod judge;
mod model;
mod rows;
mod scores;
mod write;

pub use benchmark::{Benchmark, BenchmarkError, benchmark};
pub use ceilings::{Ceiling, FromCeiling};
pub use constants::{Constant, Values};
pub use evidence::{Evidence, LEAST, LEAST_SECOND, LEAST_SHARE, SPEAKS};
pub use rows::{LeftOut, Table};
pub use scores::Scores;
pub use write::{WholeError, whole};

use crate::{
    gpu::{Band, Catalog, DataKind, Gpu},
    op::gemm::PrecisionError,
    units::{plural, significant},
};
use model::Model;
use rows::{Row, usable};

/// What is to be calibrated, and from what.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The GPU with its present constants, from which a search starts and which stay where nothing determines others.
    pub gpu: &'a Gpu,
    /// Tables of measured times.
    pub tables: &'a [Table],
    /// Measured rates; the constants that they give are not moved by rows.
    pub ceilings: &'a [Ceiling],
    /// What the operands of the measurements held; the constants found stand for it.
    pub data: DataKind,
    /// Whether rows that name another GPU count as well.
    pub any_gpu: bool,
}

/// A calibration that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalibrateError {
    /// No GPU.
    #[error("{name} is a CPU: it has no constants of matrix products")]
    Cpu {
        /// Its name.
        name: String,
    },
    /// Rows, but none of use.
    #[error(
        "no row can be used ({why}); rows need op, dtype, m, n, k and measured_us, and a gpu that is {gpu} or empty"
    )]
    NoRows {
        /// The reason of most rows.
        why: String,
        /// Name of the GPU.
        gpu: String,
    },
    /// Nothing is determined.
    #[error("no constant of {gpu} follows from {}:\n{}", plural(*.rows as u64, "row"), .why.join("\n"))]
    Undetermined {
        /// Name of the GPU.
        gpu: String,
        /// Rows that could be used.
        rows: usize,
        /// What each constant lacks.
        why: Vec<String>,
    },
    /// The best constants explain nothing.
    #[error(
        "no constants within their ranges explain the rows: with the best ones the median row is still off by a factor of \
         {factor} (predicted / measured {ratio}); likely causes: measured_us in another unit, another GPU than {gpu}, the \
         host's time in rows whose timing is device"
    )]
    Unexplained {
        /// Median factor.
        factor: String,
        /// Geometric mean of predicted over measured.
        ratio: String,
        /// Name of the GPU.
        gpu: String,
    },
    /// A rate that is none of this GPU.
    #[error(
        "{given} as {what} against {datasheet} of the datasheet: not a measurement of this GPU, or in another unit"
    )]
    Ceiling {
        /// What it is to be.
        what: String,
        /// The rate as given.
        given: String,
        /// That of the datasheet.
        datasheet: String,
    },
    /// A rate of a type that the model has no constant for.
    #[error(
        "{rate} of {data}: a GPU file holds one sustained share for all types of the tensor cores, that of bf16 and fp16; give a \
         rate of one of these (`validate` shows how well it fits measured {data} products)"
    )]
    OneType {
        /// The type.
        data: &'static str,
        /// The rate.
        rate: String,
    },
    /// Two rates for one constant.
    #[error("two of the given rates set {constant}; give one")]
    Twice {
        /// The constant.
        constant: &'static str,
    },
    /// No product streams there.
    #[error("{gpu} multiplies neither bf16 nor fp16 nor fp32, so that no bandwidth can be compared")]
    NoProduct {
        /// Name of the GPU.
        gpu: String,
    },
    /// A unit that the GPU lacks.
    #[error("{gpu} has no {unit} unit, whose rate was given")]
    NoUnit {
        /// Name of the GPU.
        gpu: String,
        /// The unit.
        unit: String,
    },
    /// A type that the GPU lacks.
    #[error(transparent)]
    Precision(#[from] PrecisionError),
}

/// Where the value of a constant comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// The rows that speak of it.
    Rows,
    /// A measured rate: how.
    Ceiling(String),
    /// Nothing determines it: why, and what would. Without words where the rows have no such products at all.
    Kept(Option<String>),
}

/// One constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The constant.
    pub constant: Constant,
    /// Its value before; of a host's time in seconds.
    pub before: f64,
    /// Its value now, with four significant digits.
    pub after: f64,
    /// Where that comes from.
    pub origin: Origin,
    /// What the rows say; absent where a rate was given, or no rows.
    pub evidence: Option<Evidence>,
}

impl Found {
    /// Whether anything measured stands behind it.
    pub fn determined(&self) -> bool {
        !matches!(self.origin, Origin::Kept(_))
    }
}

/// A calibrated GPU.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// The GPU as it was.
    pub before: Gpu,
    /// The GPU with the constants found.
    pub after: Gpu,
    /// Every constant.
    pub constants: Vec<Found>,
    /// Rows of the tables.
    pub rows: u64,
    /// Rows that were compared.
    pub used: usize,
    /// Rows that were not.
    pub left_out: Vec<LeftOut>,
    /// Errors before and after: of all rows, then by measured size where there are any.
    pub scores: Vec<Scores>,
    /// Spread of the rows on tensor cores, where there are enough.
    pub band: Option<Band>,
    /// The same on vector units.
    pub band_sgemm: Option<Band>,
    /// What a user should look at.
    pub warnings: Vec<String>,
    /// What a user should know.
    pub notes: Vec<String>,
}

/// Digits of a constant that is written.
const DIGITS: usize = 4;

/// Finds the constants that the measurements determine.
///
/// # Errors
/// The GPU is a CPU, a given rate is none of this GPU, no row can be used, nothing is determined, or the model does not
/// describe the rows with any constants.
pub fn calibrate(catalog: &Catalog, request: &Request) -> Result<Calibrated, CalibrateError> {
    let Request { gpu, tables, ceilings, data, any_gpu } = *request;
    let mut gpu = gpu.clone();
    gpu.calibration.fold(data);
    let gpu = &gpu;
    if gpu.is_cpu() {
        return Err(CalibrateError::Cpu { name: gpu.name.clone() });
    }
    let before = Values::of(gpu);
    let mut start = before;
    let given = ceilings::apply(gpu, ceilings, &mut start)?;
    let held: Vec<Constant> = given.iter().map(|one| one.constant).chain([Constant::SustainedVector]).collect();
    let (rows, left_out, mut notes) = usable(tables, catalog, gpu, any_gpu);
    if rows.is_empty() && !tables.is_empty() {
        let why = left_out
            .first()
            .map_or("the tables have no rows".into(), |l| format!("{}: {}", plural(l.rows, "row"), l.reason));
        return Err(CalibrateError::NoRows { why, gpu: gpu.name.clone() });
    }
    let model = Model { catalog, gpu, rows: &rows };
    // Products that the model was never compared with set a constant only where the unit has no others.
    let has_known = [false, true].map(|tensor| rows.iter().any(|row| row.tensor == tensor && row.known));
    let counts = |row: &Row| row.known || !has_known[usize::from(row.tensor)];
    let fit = fit::fit(&model, &start, &held, &counts);
    let mut after = fit.values;
    for constant in Constant::ALL {
        let value = significant(after.get(constant), DIGITS).parse().unwrap_or(after.get(constant));
        after.set(constant, if after.get(constant) == before.get(constant) { before.get(constant) } else { value });
    }
    let shown = judge::shown(before, &rows);
    let constants: Vec<Found> = Constant::ALL
        .into_iter()
        .map(|constant| {
            let evidence = fit.evidence.iter().find(|e| e.constant == constant && !rows.is_empty()).cloned();
            let ceiling = given.iter().find(|one| one.constant == constant);
            let origin = match (&evidence, ceiling) {
                (_, Some(ceiling)) => Origin::Ceiling(ceiling.how.clone()),
                (Some(evidence), _) if evidence.determined => Origin::Rows,
                (evidence, _) => {
                    let evidence = evidence.as_ref().filter(|_| judge::in_question(constant, &rows));
                    Origin::Kept(evidence.map(|e| judge::lacking(e, &shown, gpu)))
                }
            };
            let value = if matches!(origin, Origin::Kept(_)) { &shown } else { &after };
            Found { constant, before: shown.get(constant), after: value.get(constant), origin, evidence }
        })
        .collect();
    if !constants.iter().any(Found::determined) {
        let why = constants.iter().filter_map(|found| match &found.origin {
            Origin::Kept(why) => why.clone(),
            _ => None,
        });
        return Err(CalibrateError::Undetermined { gpu: gpu.name.clone(), rows: rows.len(), why: why.collect() });
    }
    let predicted = [&before, &after].map(|values| model.predictions(values));
    let [old, new] = &predicted;
    let scores = scores::scores(&rows, old, new);
    if !rows.is_empty() {
        judge::explained(&rows, new, counts, gpu)?;
    }
    let mut warnings: Vec<String> = constants
        .iter()
        .filter_map(|found| if let Origin::Kept(Some(why)) = &found.origin { Some(why.clone()) } else { None })
        .collect();
    warnings.extend(judge::ends(&model, &after, &fit.at_most, &given, new));
    warnings.extend(judge::oddities(&rows, new, &constants));
    notes.extend(judge::notes(&rows, &constants, counts));
    let known = |tensor: bool| move |row: &Row| row.known && row.tensor == tensor;
    Ok(Calibrated {
        before: gpu.clone(),
        after: after.on(gpu),
        band: scores::band(&rows, new, known(true)),
        band_sgemm: scores::band(&rows, new, known(false)),
        constants,
        rows: tables.iter().map(|table| table.rows() as u64).sum(),
        used: rows.len(),
        left_out,
        scores,
        warnings,
        notes,
    })
}
