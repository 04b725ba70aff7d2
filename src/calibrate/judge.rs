//! What a user should know of a calibration: constants that nothing determines, ends of ranges, rows that do not fit.

use std::collections::BTreeMap;

use super::{
    CalibrateError, Constant, Found, Origin,
    ceilings::FromCeiling,
    constants::Values,
    evidence::{Evidence, LEAST_SHARE, SPEAKS, sensitivities},
    model::Model,
    rows::Row,
};
use crate::{
    gpu::Gpu,
    op::table::Timing,
    units::{Seconds, plural, significant},
    validate::{Score, quantile},
};

/// Whether the rows have products in which a constant plays a part.
pub(super) fn in_question(constant: Constant, rows: &[Row]) -> bool {
    rows.iter().any(|row| match constant {
        Constant::SustainedTensor | Constant::PowerDroop => row.tensor,
        Constant::SustainedSgemm | Constant::SgemmDroop => !row.tensor,
        Constant::DramEfficiency | Constant::FixedFactor => true,
        Constant::SustainedVector => false,
        launch => row.launch.is_some() && Constant::launch(row.request.op) == launch,
    })
}

/// The value of a constant for people.
pub(super) fn printed(constant: Constant, value: f64) -> String {
    if constant.of_table() { Seconds(value).to_string() } else { significant(value, 4) }
}

/// The constants before, with the host's times that the median row of each operation was predicted with.
pub(super) fn shown(before: Values, rows: &[Row]) -> Values {
    let mut shown = before;
    for launch in Constant::LAUNCHES {
        let own = rows.iter().filter(|row| Constant::launch(row.request.op) == launch);
        let mut times: Vec<f64> = own.filter_map(|row| row.launch).collect();
        times.sort_by(f64::total_cmp);
        shown.set(launch, quantile(&times, 0.5));
    }
    shown
}

/// Why a constant stays, and what would determine it.
pub(super) fn lacking(evidence: &Evidence, before: &Values, gpu: &Gpu) -> String {
    let constant = evidence.constant;
    let why = match (evidence.confounded, evidence.rows) {
        (Some(other), _) => format!(
            "what depends on it depends on {} in the same proportion, so that the two cannot be told apart",
            other.name()
        ),
        (None, 0) => "no row depends on it".into(),
        (None, rows) => {
            let few =
                if rows == 1 { "only 1 row depends on it".into() } else { format!("only {rows} rows depend on it") };
            if evidence.share < LEAST_SHARE {
                few + ", beside many that depend on it a little and would decide"
            } else {
                few + ", and too little"
            }
        }
    };
    let value = printed(constant, before.get(constant));
    format!("{} stays {value}: {why}; measure {}", constant.name(), constant.measure(gpu))
}

/// Refuses constants with which the median row is off by more than this factor.
const UNEXPLAINED: f64 = 2.0;

pub(super) fn explained(
    rows: &[Row],
    predicted: &[f64],
    counts: impl Fn(&Row) -> bool,
    gpu: &Gpu,
) -> Result<(), CalibrateError> {
    let pairs: Vec<(f64, f64)> =
        rows.iter().zip(predicted).filter(|(row, _)| counts(row)).map(|(row, time)| (*time, row.measured)).collect();
    let mut factors: Vec<f64> = pairs.iter().map(|(p, m)| (p / m).max(m / p)).collect();
    factors.sort_by(f64::total_cmp);
    let factor = quantile(&factors, 0.5);
    if factor <= UNEXPLAINED {
        return Ok(());
    }
    let three = |number| significant(number, 3);
    let ratio = three(Score::of(&pairs).ratio);
    Err(CalibrateError::Unexplained { factor: three(factor), ratio, gpu: gpu.name.clone() })
}

/// Shares below this are no ordinary GPU.
const LITTLE: f64 = 0.2;

/// Constants at an end of their range, each with the row that pulls most.
pub(super) fn ends(
    model: &Model,
    after: &Values,
    at_most: &[Constant],
    given: &[FromCeiling],
    predicted: &[f64],
) -> Vec<String> {
    let mut found = Vec::new();
    for one in given.iter().filter(|one| one.at_most) {
        let text =
            "at most, and the model is still below the measured rate: a clock above the datasheet's, or a rate from L2";
        found.push(format!("{} is 1 {text} ({})", one.constant.name(), one.how));
    }
    if at_most.is_empty() {
        return found;
    }
    let sensitivities = sensitivities(model, after, |_| true);
    for constant in at_most {
        let speaking = &sensitivities[*constant as usize];
        let pull = |place: &usize| predicted[*place] / model.rows[*place].measured;
        let rows = (0..model.rows.len()).filter(|place| speaking[*place].abs() >= SPEAKS);
        let Some(place) = rows.max_by(|a, b| pull(a).total_cmp(&pull(b))) else { continue };
        let row = &model.rows[place];
        let causes = match constant {
            Constant::DramEfficiency => {
                "data that stay in L2 (say so by weight_copies= in the notes; 1 is the same call again and again), another \
                 GPU, a memory clock above the datasheet's"
            }
            Constant::SustainedTensor | Constant::SustainedSgemm => {
                "a clock above the datasheet's, another GPU, TF32 in rows of fp32"
            }
            _ => "the host's time in rows whose timing is device, another unit of measured_us",
        };
        found.push(format!(
            "{} ends at {}, the most it may be; {row} pulls most: measured {}, {} at that value; likely causes: {causes}",
            constant.name(),
            printed(*constant, after.get(*constant)),
            Seconds(row.measured),
            Seconds(predicted[place]),
        ));
    }
    found
}

/// A row is odd where the calibrated model is off by this factor, or another row of the same product.
const ODD: f64 = 3.0;
/// Two measurements of one product contradict each other from this ratio on.
const CONTRADICTION: f64 = 1.5;
/// Rows may be this much faster than the datasheet before it is said.
const FASTER: f64 = 0.95;

/// Rows that do not fit the model, the datasheet or each other; each kind with its count and its worst.
pub(super) fn oddities(rows: &[Row], predicted: &[f64], constants: &[Found]) -> Vec<String> {
    let mut found = Vec::new();
    for one in constants.iter().filter(|one| one.determined() && one.after < LITTLE) {
        if matches!(one.constant, Constant::SustainedTensor | Constant::DramEfficiency | Constant::SustainedSgemm) {
            let text =
                "of the datasheet's rate is very little: check the unit of measured_us, the GPU and what else ran";
            found.push(format!("{} = {} {text}", one.constant.name(), printed(one.constant, one.after)));
        }
    }
    let counted = |count: usize| if count == 1 { "1 row is".to_owned() } else { format!("{count} rows are") };
    let fast = rows.iter().filter(|row| row.measured < FASTER * row.floor);
    if let Some(row) = fast.clone().max_by(|a, b| (a.floor / a.measured).total_cmp(&(b.floor / b.measured))) {
        found.push(format!(
            "{} faster than the datasheet's rates allow, most of all {row}: measured {}, at least {}; data that stay in \
             L2 (weight_copies= in the notes), another GPU, or a clock above the datasheet's",
            counted(fast.count()),
            Seconds(row.measured),
            Seconds(row.floor),
        ));
    }
    let factor = |(row, time): &(&Row, &f64)| (row.measured / **time).max(**time / row.measured);
    let odd = rows.iter().zip(predicted).filter(|pair| factor(pair) > ODD);
    if let Some(worst) = odd.clone().max_by(|a, b| factor(a).total_cmp(&factor(b))) {
        found.push(format!(
            "{} off by more than {ODD} times with the constants found, most of all {}: measured {}, predicted {}; such \
             rows hardly move the constants",
            counted(odd.count()),
            worst.0,
            Seconds(worst.0.measured),
            Seconds(*worst.1),
        ));
    }
    found.extend(contradictions(rows));
    found
}

/// The same product with very different times.
fn contradictions(rows: &[Row]) -> Option<String> {
    let mut products: BTreeMap<String, (&Row, &Row)> = BTreeMap::new();
    for row in rows {
        let (r, s) = (&row.request, row.request.shape);
        let launch = r.timing == Timing::Launch;
        let what = (r.op, r.data.name(), r.sparse, s.batch, s.m, s.n, s.k, launch, r.weight_copies);
        let (least, most) = products.entry(format!("{what:?}")).or_insert((row, row));
        if row.measured < least.measured {
            *least = row;
        }
        if row.measured > most.measured {
            *most = row;
        }
    }
    let ratio = |(least, most): &(&Row, &Row)| most.measured / least.measured;
    let apart: Vec<_> = products.into_values().filter(|pair| ratio(pair) > CONTRADICTION).collect();
    let worst = apart.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    let counted = if apart.len() == 1 { "1 product has".to_owned() } else { format!("{} products have", apart.len()) };
    Some(format!(
        "{counted} times more than {CONTRADICTION} times apart, most of all {} with {} and {} with {}",
        worst.0,
        Seconds(worst.0.measured),
        worst.1,
        Seconds(worst.1.measured),
    ))
}

/// Facts that are neither good nor bad.
pub(super) fn notes(rows: &[Row], constants: &[Found], counts: impl Fn(&Row) -> bool) -> Vec<String> {
    let mut notes = Vec::new();
    for found in constants {
        if let (true, Origin::Rows, Some(evidence)) = (found.constant.of_table(), &found.origin, &found.evidence) {
            let (name, value) = (found.constant.name(), printed(found.constant, found.after));
            let rows = plural(evidence.rows as u64, "row");
            notes.push(format!(
                "{name} rows is {value} (from {rows}): a figure of how the table was measured, no constant of the GPU"
            ));
        }
    }
    let cold = rows.iter().filter(|row| row.assumed_cold).count();
    if cold > 0 {
        let text = "nothing says what was in L2: weights are taken to come from DRAM, activations to be in L2; where a benchmark \
                    repeats one call write weight_copies=1 into the notes, where N copies of B take turns weight_copies=N";
        notes.push(format!("{}: {text}", plural(cold as u64, "row")));
    }
    let aside = rows.iter().filter(|row| !counts(row)).count();
    if aside > 0 {
        let text = "of types or shapes that the model was never compared with (not 16 bits or FP32, or n or k no multiple \
                    of 32): scored, but without a say in the constants beside the others";
        notes.push(format!("{} {text}", plural(aside as u64, "row")));
    }
    if !rows.is_empty() {
        for (tensor, text) in [
            (true, "no row runs on tensor cores: sustained_tensor and power_droop stay"),
            (false, "no row runs on vector units (fp32): sustained_sgemm and sgemm_droop stay"),
        ] {
            let given = constants.iter().any(|found| {
                let own = if tensor { Constant::SustainedTensor } else { Constant::SustainedSgemm };
                found.constant == own && found.determined()
            });
            if !given && !rows.iter().any(|row| row.tensor == tensor) {
                notes.push(text.into());
            }
        }
    }
    notes
}
