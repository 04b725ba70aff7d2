//! All kernels of two files together, and the time around them.

use super::{
    columns::{Column, four, hundredth, six, thousandth},
    file::Spent,
};

/// All kernels together.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// Sum of durations in the first file in microseconds.
    pub before_us: f64,
    /// Sum of durations in the second file in microseconds.
    pub after_us: f64,
    /// Geometric mean of the speed-ups of kernels in both files.
    pub geomean_speedup: Option<f64>,
    /// Span, gaps and copies before and after, where both files have the beginnings of launches.
    pub spent: Option<(Spent, Spent)>,
}

/// What checks may name of all kernels together.
pub const TOTALS: [Column<Totals>; 16] = [
    Column::number("Before\nus", "total_before_us", |t| Some(t.before_us), six),
    Column::number("After\nus", "total_after_us", |t| Some(t.after_us), six),
    Column::number("Change\nus", "total_change_us", |t| Some(t.after_us - t.before_us), four),
    Column::number("Change\n%", "total_change_pct", Totals::change_pct, hundredth),
    Column::number("Speed-up", "total_speedup", |t| ratio(t.before_us, t.after_us), thousandth),
    Column::number("Geometric mean\nof speed-ups", "geomean_speedup", |t| t.geomean_speedup, thousandth),
    Column::number("Span us\nbefore", "span_before_us", |t| t.of(|s| s.span_us).map(|s| s.0), six),
    Column::number("Span us\nafter", "span_after_us", |t| t.of(|s| s.span_us).map(|s| s.1), six),
    Column::number("Span\nchange us", "span_change_us", |t| t.of(|s| s.span_us).map(|s| s.1 - s.0), four),
    Column::number("Span\nchange %", "span_change_pct", |t| t.of(|s| s.span_us).and_then(added_pct), hundredth),
    Column::number("Gaps us\nbefore", "gaps_before_us", |t| t.of(|s| s.gaps_us).map(|s| s.0), six),
    Column::number("Gaps us\nafter", "gaps_after_us", |t| t.of(|s| s.gaps_us).map(|s| s.1), six),
    Column::number("Gaps\nchange us", "gaps_change_us", |t| t.of(|s| s.gaps_us).map(|s| s.1 - s.0), four),
    Column::number("Gaps\nchange %", "gaps_change_pct", |t| t.of(|s| s.gaps_us).and_then(added_pct), hundredth),
    Column::number("Copies us\nbefore", "copies_before_us", |t| t.of(|s| s.copies_us).map(|s| s.0), six),
    Column::number("Copies us\nafter", "copies_after_us", |t| t.of(|s| s.copies_us).map(|s| s.1), six),
];

/// A quotient, absent where it has no value.
pub fn ratio(over: f64, under: f64) -> Option<f64> {
    (under > 0.0).then_some(over / under)
}

/// What was added in percent of what was there before.
pub fn added_pct((before, after): (f64, f64)) -> Option<f64> {
    ratio((after - before) * 100.0, before)
}

impl Totals {
    /// Time added in percent of the time before.
    pub fn change_pct(&self) -> Option<f64> {
        added_pct((self.before_us, self.after_us))
    }

    /// A part of the time around the kernels, before and after.
    fn of(&self, part: fn(&Spent) -> f64) -> Option<(f64, f64)> {
        self.spent.as_ref().map(|(before, after)| (part(before), part(after)))
    }

    /// The parts of the time around the kernels that are in a file, with their names for people.
    pub fn around(&self) -> Vec<(&'static str, (f64, f64))> {
        let parts = [
            ("span", self.of(|s| s.span_us)),
            ("launch gaps", self.of(|s| s.gaps_us)),
            ("copies", self.of(|s| s.copies_us)),
        ];
        let known =
            |(name, part): (_, Option<(f64, f64)>)| part.filter(|(old, new)| old + new > 0.0).map(|p| (name, p));
        parts.into_iter().filter_map(known).collect()
    }
}
