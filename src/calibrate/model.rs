//! The rows under any constants: the kernels chosen for them, and the times of these kernels.

use super::{
    constants::{AS_PREDICTED, Constant, Values},
    rows::Row,
};
use crate::{
    gpu::{Catalog, Gpu},
    op::{gemm::Candidate, predict::Predictor},
};

/// The rows on the GPU.
pub(super) struct Model<'a> {
    pub catalog: &'a Catalog,
    pub gpu: &'a Gpu,
    pub rows: &'a [Row<'a>],
}

impl Model<'_> {
    fn predictor(&self, values: &Values) -> Predictor<'_> {
        Predictor::new(self.catalog, Some(values.on(self.gpu)))
    }

    /// What the host adds to a row.
    fn launch(row: &Row, values: &Values) -> f64 {
        row.launch.map_or(0.0, |predicted| {
            let of_table = values.get(Constant::launch(row.request.op));
            if of_table == AS_PREDICTED { predicted } else { of_table }
        })
    }

    /// The kernel that is fastest for each row, or for every so many-th.
    pub fn kernels(&self, values: &Values, every: usize) -> Vec<Option<Candidate>> {
        let mut predictor = self.predictor(values);
        let mut kernel = |(place, row): (usize, &Row)| {
            if place % every == 0 { Some(predictor.predict(&row.request).ok()?.plan.chosen) } else { None }
        };
        self.rows.iter().enumerate().map(&mut kernel).collect()
    }

    /// Times of given kernels in seconds, with what the host adds; a row without a kernel has its measured time. Most of a
    /// search takes place between them, as they are quick and the choice of a kernel seldom changes.
    pub fn times(&self, values: &Values, kernels: &[Option<Candidate>], times: &mut Vec<f64>) {
        let mut predictor = self.predictor(values);
        times.clear();
        times.extend(self.rows.iter().zip(kernels).map(|(row, kernel)| {
            let time = kernel.as_ref().and_then(|kernel| predictor.time_of(&row.request, kernel).ok());
            time.map_or(row.measured, |time| time + Self::launch(row, values))
        }));
    }

    /// Predictions in seconds, each with the kernel that is fastest.
    pub fn predictions(&self, values: &Values) -> Vec<f64> {
        let mut times = Vec::with_capacity(self.rows.len());
        self.times(values, &self.kernels(values, 1), &mut times);
        times
    }
}

/// Mean |log(predicted / measured)|.
pub(super) fn loss(rows: &[Row], times: &[f64], counts: impl Fn(&Row) -> bool) -> f64 {
    let mut sum = 0.0;
    let mut count = 0_u32;
    for (row, time) in rows.iter().zip(times).filter(|(row, _)| counts(row)) {
        sum += libm::log(time / row.measured).abs();
        count += 1;
    }
    sum / f64::from(count.max(1))
}
