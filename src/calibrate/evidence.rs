//! What rows say about constants: how far the predicted times move with each, and which of these movements are its own.

use super::{
    constants::{COUNT, Constant, Values},
    judge,
    model::Model,
};

/// A row speaks of a constant where at least this share of the constant's relative change reaches its time.
pub const SPEAKS: f64 = 0.25;
/// Sum of the squares of these shares that determines a rate: one row half of whose time hangs on it, for instance. An
/// error of 5 % in each row is then one of 10 % in the constant.
pub const LEAST: f64 = 0.25;
/// The same for the constants that only bend what the rates set.
pub const LEAST_SECOND: f64 = 1.0;

/// At least this share of all sensitivity to a constant must be that of rows that speak of it: in a mean of absolute
/// deviations the many that hardly depend on it would decide otherwise.
pub const LEAST_SHARE: f64 = 0.25;

/// What the rows say about one constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The constant.
    pub constant: Constant,
    /// Rows that speak of it.
    pub rows: usize,
    /// Sum of the squares of their sensitivities.
    pub information: f64,
    /// Their share of the sensitivity of all rows, 0 to 1.
    pub share: f64,
    /// What of `information` is left once the constants that are determined before it have explained theirs.
    pub own: f64,
    /// The constant it is mixed up with, where that is why it is not determined.
    pub confounded: Option<Constant>,
    /// Whether the rows determine it.
    pub determined: bool,
}

/// Half the step of a finite difference, in logarithms.
const STEP: f64 = 0.01;

/// Derivatives of the logarithms of the rows' times by that of each constant; of a droop by that of its factor. A row that
/// does not count has none.
pub(super) fn sensitivities(model: &Model, at: &Values, counts: impl Fn(usize) -> bool) -> Vec<Vec<f64>> {
    let kernels = model.kernels(at, 1);
    let (mut above, mut below) = (Vec::new(), Vec::new());
    let of = |constant: Constant| {
        if !judge::in_question(constant, model.rows) {
            return vec![0.0; model.rows.len()];
        }
        let shifted = |by: f64| {
            let mut values = *at;
            values.shift_to(constant, at.place(constant) + by);
            values
        };
        model.times(&shifted(STEP), &kernels, &mut above);
        model.times(&shifted(-STEP), &kernels, &mut below);
        let pairs = above.iter().zip(&below).enumerate();
        pairs.map(|(row, (a, b))| if counts(row) { libm::log(a / b) / (2.0 * STEP) } else { 0.0 }).collect()
    };
    Constant::ALL.into_iter().map(of).collect()
}

/// Which constants the rows determine. The one of which they say most comes first, those that only bend what others set
/// come last; what a constant shares with those before it does not count for it. `held` ones are known and say nothing.
pub(super) fn evidence(sensitivities: &[Vec<f64>], held: &[Constant]) -> Vec<Evidence> {
    let square = |column: &[f64]| column.iter().map(|s| s * s).sum::<f64>();
    let mut found: Vec<Evidence> = Constant::ALL
        .into_iter()
        .zip(sensitivities)
        .filter(|(constant, _)| !held.contains(constant))
        .map(|(constant, column)| {
            let speaking: Vec<f64> = column.iter().copied().filter(|s| s.abs() >= SPEAKS).collect();
            let information = square(&speaking);
            let sum = |column: &[f64]| column.iter().map(|s| s.abs()).sum::<f64>();
            let share = sum(&speaking) / sum(column).max(f64::MIN_POSITIVE);
            let rows = speaking.len();
            Evidence { constant, rows, information, share, own: 0.0, confounded: None, determined: false }
        })
        .collect();
    found.sort_by(|a, b| {
        let order = a.constant.second_order().cmp(&b.constant.second_order());
        order.then(b.information.total_cmp(&a.information)).then(a.constant.cmp(&b.constant))
    });
    // Columns of the determined constants, made orthogonal one after the other.
    let mut basis: Vec<(Constant, Vec<f64>)> = Vec::with_capacity(COUNT);
    for evidence in &mut found {
        let least = if evidence.constant.second_order() { LEAST_SECOND } else { LEAST };
        let mut column = sensitivities[evidence.constant as usize].clone();
        let mut most = 0.0;
        for (constant, known) in &basis {
            let dot: f64 = column.iter().zip(known).map(|(a, b)| a * b).sum();
            if dot.abs() > most {
                (most, evidence.confounded) = (dot.abs(), Some(*constant));
            }
            column.iter_mut().zip(known).for_each(|(a, b)| *a -= dot * b);
        }
        evidence.own = square(&column).min(evidence.information);
        let heard = evidence.information >= least && evidence.share >= LEAST_SHARE;
        evidence.determined = heard && evidence.own >= least;
        if evidence.determined || !heard {
            evidence.confounded = None;
        }
        if evidence.determined {
            let length = square(&column).sqrt();
            column.iter_mut().for_each(|a| *a /= length);
            basis.push((evidence.constant, column));
        }
    }
    found.sort_by_key(|evidence| evidence.constant);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evidence from sensitivities of some constants, one list of rows each.
    fn judged(columns: &[(Constant, &[f64])], held: &[Constant]) -> Vec<Evidence> {
        let rows = columns[0].1.len();
        let of = |constant| columns.iter().find(|(c, _)| *c == constant).map_or(vec![0.0; rows], |(_, s)| s.to_vec());
        evidence(&Constant::ALL.map(of), held)
    }

    fn determined(columns: &[(Constant, &[f64])]) -> Vec<Constant> {
        judged(columns, &[]).into_iter().filter(|e| e.determined).map(|e| e.constant).collect()
    }

    #[test]
    fn a_constant_needs_rows_of_its_own() {
        use Constant::{DramEfficiency, FixedFactor, PowerDroop, SustainedTensor};
        assert_eq!(
            determined(&[(SustainedTensor, &[-0.8, -0.05]), (DramEfficiency, &[-0.05, -0.8])]),
            [SustainedTensor, DramEfficiency]
        );
        // One row that hangs on both cannot tell them apart.
        let one = [(SustainedTensor, &[-0.6][..]), (DramEfficiency, &[-0.7])];
        assert_eq!(determined(&one), [DramEfficiency]);
        let mixed = judged(&one, &[]);
        assert_eq!(mixed.iter().find(|e| e.constant == SustainedTensor).unwrap().confounded, Some(DramEfficiency));
        // A thousand rows of which each says nearly nothing say nothing.
        assert_eq!(determined(&[(DramEfficiency, &[-0.1; 1000])]), []);
        // Two that speak of it are not heard among a thousand that whisper.
        let crowd = [&[-0.8, -0.8][..], &[-0.02; 1000]].concat();
        assert_eq!(determined(&[(DramEfficiency, &crowd)]), []);
        assert_eq!(determined(&[(DramEfficiency, &crowd[..200])]), [DramEfficiency]);
        // Durations of one size do not part a rate from its droop; short and long ones do.
        let (rate, short, long) = ([-0.9; 8], [0.45; 8], [0.05, 0.05, 0.05, 0.05, 0.7, 0.7, 0.7, 0.7]);
        assert_eq!(determined(&[(SustainedTensor, &rate), (PowerDroop, &short)]), [SustainedTensor]);
        // 8 rows, of which the average explains a part: 4 x 0.325^2 x 2 = 0.85 is left.
        assert_eq!(determined(&[(SustainedTensor, &rate), (PowerDroop, &long)]), [SustainedTensor]);
        let (rate, long) = ([-0.9; 16], [long, long].concat());
        assert_eq!(determined(&[(SustainedTensor, &rate), (PowerDroop, &long)]), [SustainedTensor, PowerDroop]);
        // What is held back is not judged, and takes nothing from the others.
        let held = judged(&one, &[DramEfficiency]);
        assert!(held.iter().all(|e| e.constant != DramEfficiency));
        assert!(held.iter().any(|e| e.constant == SustainedTensor && e.determined));
        assert_eq!(determined(&[(FixedFactor, &[0.9]), (DramEfficiency, &[-0.05])]), []);
    }
}
