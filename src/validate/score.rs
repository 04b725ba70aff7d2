//! How far predictions are from measurements.

/// Errors of predictions against measurements of the same rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Mean of |predicted / measured - 1|, in percent.
    pub mape: f64,
    /// Median of the same.
    pub median: f64,
    /// 90th percentile of the same.
    pub p90: f64,
    /// Geometric mean of predicted / measured.
    pub ratio: f64,
    /// Share of rows within 10, 25 and 50 %, in percent.
    pub within: [f64; 3],
    /// Rank correlation; absent where all predictions or all measurements are equal.
    pub spearman: Option<f64>,
}

impl Score {
    /// The score of (predicted, measured) pairs, all above 0.
    pub fn of(pairs: &[(f64, f64)]) -> Self {
        if pairs.is_empty() {
            return Self::default();
        }
        let count = pairs.len() as f64;
        let mut errors: Vec<f64> = pairs.iter().map(|(p, m)| (p / m - 1.0).abs() * 100.0).collect();
        errors.sort_by(f64::total_cmp);
        let within = |most: f64| errors.partition_point(|e| *e <= most) as f64 / count * 100.0;
        Self {
            mape: errors.iter().sum::<f64>() / count,
            median: quantile(&errors, 0.5),
            p90: quantile(&errors, 0.9),
            ratio: libm::exp(pairs.iter().map(|(p, m)| libm::log(p / m)).sum::<f64>() / count),
            within: [within(10.0), within(25.0), within(50.0)],
            spearman: spearman(pairs),
        }
    }
}

/// The quantile of sorted values, between neighbours by straight lines; 0 of none.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = share * last as f64;
    let below = sorted[place as usize];
    let above = sorted[(place as usize + 1).min(last)];
    below + (above - below) * place.fract()
}

/// Correlation of the ranks.
fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let (x, y) = (ranks(pairs.iter().map(|p| p.0)), ranks(pairs.iter().map(|p| p.1)));
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let both = (product(&x, &x) * product(&y, &y)).sqrt();
    (both > 0.0).then(|| product(&x, &y) / both)
}

/// Ranks from 1; equal values share the mean of theirs.
fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> = values.enumerate().map(|(i, v)| (v, i)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = vec![0.0; order.len()];
    let mut start = 0;
    while start < order.len() {
        let end = start + order[start..].iter().take_while(|(v, _)| *v == order[start].0).count();
        for (_, index) in &order[start..end] {
            ranks[*index] = (start + 1 + end) as f64 / 2.0;
        }
        start = end;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_by_hand() {
        let score = Score::of(&[(1.1, 1.0), (2.0, 2.0), (3.0, 4.0), (8.0, 5.0)]);
        assert!((score.mape - (10.0 + 0.0 + 25.0 + 60.0) / 4.0).abs() < 1e-9);
        assert!((score.median - 17.5).abs() < 1e-9);
        assert!((score.ratio.powi(4) - 1.1 * 0.75 * 1.6).abs() < 1e-9);
        assert_eq!(score.within, [25.0, 75.0, 75.0]);
        assert_eq!(score.spearman, Some(1.0));
        assert_eq!(Score::of(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]).spearman, Some(-1.0));
        assert_eq!(Score::of(&[(1.0, 3.0)]).spearman, None);
        assert_eq!(ranks([5.0, 1.0, 5.0].into_iter()), [2.5, 1.0, 2.5]);
    }
}
