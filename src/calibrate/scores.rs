//! Errors before and after, and the spread that is left.

use super::rows::Row;
use crate::{
    gpu::Band,
    units::{Seconds, significant},
    validate::{SIZES, Score, quantile, size},
};

/// Errors of some rows with the constants before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// Measured size; absent for all rows together.
    pub size: Option<&'static str>,
    /// Rows.
    pub rows: usize,
    /// With the constants before.
    pub before: Score,
    /// With those found.
    pub after: Score,
}

/// Errors of all rows, and by measured size where there is more than one.
pub(super) fn scores(rows: &[Row], before: &[f64], after: &[f64]) -> Vec<Scores> {
    let of = |place: Option<usize>| {
        let own: Vec<usize> =
            (0..rows.len()).filter(|i| place.is_none_or(|place| size(rows[*i].measured) == place)).collect();
        let score = |times: &[f64]| Score::of(&own.iter().map(|i| (times[*i], rows[*i].measured)).collect::<Vec<_>>());
        Scores { size: place.map(|p| SIZES[p]), rows: own.len(), before: score(before), after: score(after) }
    };
    let sizes: Vec<Scores> = (0..SIZES.len()).map(|p| of(Some(p))).filter(|scores| scores.rows > 0).collect();
    let all = (!rows.is_empty()).then(|| of(None));
    all.into_iter().chain(if sizes.len() > 1 { sizes } else { Vec::new() }).collect()
}

/// Fewer rows give no band.
pub const LEAST_BAND: usize = 20;
/// With fewer rows a regime of the band has the percentiles of all rows.
const LEAST_REGIME: usize = 10;

/// The 10th and 90th percentile of measured over predicted times of the rows that count, by predicted time.
pub(super) fn band(rows: &[Row], predicted: &[f64], counts: impl Fn(&Row) -> bool) -> Option<Band> {
    let mut regimes: [Vec<f64>; 4] = Default::default();
    for (row, time) in rows.iter().zip(predicted).filter(|(row, _)| counts(row)) {
        regimes[Band::regime(Seconds(*time))].push(row.measured / time);
    }
    let mut all = regimes.concat();
    if all.len() < LEAST_BAND {
        return None;
    }
    regimes.iter_mut().chain([&mut all]).for_each(|ratios| ratios.sort_by(f64::total_cmp));
    let at = |share: f64| {
        [0, 1, 2, 3].map(|regime| {
            let ratios: &[f64] = if regimes[regime].len() < LEAST_REGIME { &all } else { &regimes[regime] };
            let ratio = quantile(ratios, share);
            significant(ratio, 3).parse().unwrap_or(ratio)
        })
    };
    Some(Band { low: at(0.1), high: at(0.9) })
}
