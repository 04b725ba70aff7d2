//! Which parameter moves the time most: one at a time, from a point in the middle, and by elasticity.

use super::{
    evaluate::Evaluator,
    key::Place,
    plan::{Axis, Fixed, Group, Plan},
    quantity::{number, scaled, written},
    values::Kind,
};
use crate::{
    fit::Prices,
    gpu::Catalog,
    units::{short, significant},
};

/// What one parameter does to the time while all others stay.
#[derive(Clone, Debug, PartialEq)]
pub struct Influence {
    /// Its key.
    pub parameter: String,
    /// Its value at the point.
    pub base_value: String,
    /// Its lowest value, or the fastest name.
    pub low_value: String,
    /// Its highest value, or the slowest name.
    pub high_value: String,
    /// Time at the lowest value, microseconds; absent where the point cannot run there.
    pub low_us: Option<f64>,
    /// The same at the highest value.
    pub high_us: Option<f64>,
    /// Least and largest time over all its values.
    pub span_us: (f64, f64),
    /// Relative change of the time over relative change of the parameter around the point; absent for names.
    pub elasticity: Option<f64>,
    /// Whether the values are those of an axis; else a swing around the value that stays.
    pub axis: bool,
}

/// Influences around a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// The point: every key with its value.
    pub point: Vec<(String, String)>,
    /// Its time, microseconds.
    pub base_us: f64,
    /// What holds it back.
    pub bound: String,
    /// By falling span.
    pub influences: Vec<Influence>,
    /// Numbers that no other value could stand for.
    pub firm: Vec<String>,
}

/// Figures of a GPU that are varied beside what the sweep names.
const FIGURES: [&str; 7] = [
    "sm.count",
    "clocks.vector",
    "clocks.tensor",
    "memory.dram.bandwidth",
    "memory.l2.capacity",
    "memory.l2.bandwidth",
    "latency.dram",
];
/// Values of an axis that are tried; of more, even steps.
const MOST_TRIED: u64 = 2001;
/// The step of an elasticity: a tenth up and down, so that a single tile edge decides little.
const STEP: f64 = 1.1;

impl Plan {
    /// The one point at the given places of the groups.
    pub fn at(&self, at: &[u64]) -> Self {
        let axes = self.axes().map(|(group, axis)| Fixed {
            key: axis.key.clone(),
            place: axis.place.clone(),
            value: axis.values.text(at[group]),
        });
        let fixed = self.fixed.iter().cloned().chain(axes).collect();
        Self { fixed, groups: Vec::new(), sample: None, ..self.clone() }
    }

    /// The same with another value of a key, which no axis has.
    pub fn with(&self, key: &str, place: &Place, value: &str) -> Self {
        let mut plan = self.clone();
        plan.fixed.retain(|f| f.key != key);
        plan.fixed.push(Fixed { key: key.into(), place: place.clone(), value: value.into() });
        plan
    }
}

struct Around<'a> {
    catalog: &'a Catalog,
    prices: &'a Prices,
    base: Plan,
    base_us: f64,
}

impl Around<'_> {
    /// The time of a plan without axes.
    fn time(&self, plan: &Plan) -> Result<(f64, String), String> {
        let mut evaluator = Evaluator::new(plan, self.catalog, self.prices);
        let found = evaluator.answer(&[])?;
        Ok((found.time * 1e6, found.bound.to_owned()))
    }

    fn with(&self, parameter: &Fixed, value: &str) -> Option<f64> {
        self.time(&self.base.with(&parameter.key, &parameter.place, value)).ok().map(|(us, _)| us)
    }

    fn elasticity(&self, parameter: &Fixed) -> Option<f64> {
        let counts = parameter.place.counts();
        let (low, high) = (scaled(&parameter.value, 1.0 / STEP, counts)?, scaled(&parameter.value, STEP, counts)?);
        let ratio = number(&high)?.0 / number(&low)?.0;
        let times = self.with(parameter, &high)? / self.with(parameter, &low)?;
        // Rounding alone is no influence.
        Some(libm::log(times) / libm::log(ratio))
            .filter(|e| e.is_finite())
            .map(|e| if e.abs() < 1e-6 { 0.0 } else { e })
    }

    /// Every value of an axis in turn.
    fn axis(&self, axis: &Axis, base: &Fixed) -> Option<Influence> {
        let len = axis.values.len();
        let tried = len.min(MOST_TRIED);
        let index =
            |i: u64| if tried < 2 { 0 } else { (u128::from(i) * u128::from(len - 1) / u128::from(tried - 1)) as u64 };
        let mut plan = self.base.clone();
        plan.fixed.retain(|f| f.key != axis.key);
        plan.groups = vec![Group { axes: vec![axis.clone()], len }];
        let mut evaluator = Evaluator::new(&plan, self.catalog, self.prices);
        let mut times: Vec<(u64, f64)> = Vec::new();
        for i in (0..tried).map(index) {
            if let Ok(found) = evaluator.answer(&[i]) {
                times.push((i, found.time * 1e6));
            }
        }
        let by_time = |a: &&(u64, f64), b: &&(u64, f64)| a.1.total_cmp(&b.1);
        let (fastest, slowest) = (*times.iter().min_by(by_time)?, *times.iter().max_by(by_time)?);
        // Names have no order but that of their times.
        let (low, high) = match axis.values.kind() {
            Kind::Text => (fastest.0, slowest.0),
            _ => {
                let by_number =
                    |a: &&(u64, f64), b: &&(u64, f64)| axis.values.number(a.0).total_cmp(&axis.values.number(b.0));
                (times.iter().min_by(by_number)?.0, times.iter().max_by(by_number)?.0)
            }
        };
        let at = |index: u64| times.iter().find(|(i, _)| *i == index).map(|(_, us)| *us);
        Some(Influence {
            parameter: axis.key.clone(),
            base_value: base.value.clone(),
            low_value: axis.values.text(low),
            high_value: axis.values.text(high),
            low_us: at(low),
            high_us: at(high),
            span_us: (fastest.1, slowest.1),
            elasticity: self.elasticity(base),
            axis: true,
        })
    }

    /// A value that stays, moved by a share both ways.
    fn swing(&self, fixed: &Fixed, share: f64) -> Option<Influence> {
        let counts = fixed.place.counts();
        let moved = |by: [f64; 2]| {
            let [low, high] = by.map(|factor| scaled(&fixed.value, factor, counts));
            let (low, high) = (low?, high?);
            let times = (self.with(fixed, &low), self.with(fixed, &high));
            // What cannot be moved a little, such as heads in groups, may be halved or doubled.
            (low != high && (times.0.is_some() || times.1.is_some())).then_some((low, high, times))
        };
        let (low, high, (low_us, high_us)) = moved([1.0 - share, 1.0 + share]).or_else(|| moved([0.5, 2.0]))?;
        let all = [low_us, high_us, Some(self.base_us)];
        let span = all.into_iter().flatten().fold((f64::INFINITY, 0.0_f64), |s, us| (s.0.min(us), s.1.max(us)));
        Some(Influence {
            parameter: fixed.key.clone(),
            base_value: fixed.value.clone(),
            low_value: low,
            high_value: high,
            low_us,
            high_us,
            span_us: span,
            elasticity: self.elasticity(fixed),
            axis: false,
        })
    }

    /// A figure of the GPU as its file has it.
    fn figure(&self, key: &str) -> Option<Fixed> {
        let evaluator = Evaluator::new(&self.base, self.catalog, self.prices);
        let id = evaluator.gpu_id(&[])?;
        let table: toml::Table = toml::from_str(self.catalog.text(id.split(':').next()?)?).ok()?;
        let mut parts = key.split('.');
        let mut value = table.get(parts.next()?)?;
        for part in parts {
            value = value.get(part)?;
        }
        let value = written(value);
        Some(Fixed { key: key.into(), place: Place::Figure(key.into()), value })
    }
}

/// The influences of every axis, of every number that stays, and of the main figures of the GPU, around the point at the
/// middle of the axes; `at` gives other values there. What stays is moved by `swing`, a share from 0 to 1, both ways.
///
/// # Errors
/// The point cannot run.
pub fn sensitivity(
    plan: &Plan,
    catalog: &Catalog,
    prices: &Prices,
    at: &[(String, String)],
    swing: f64,
) -> Result<Sensitivity, String> {
    let middle: Vec<u64> = plan.groups.iter().map(|group| group.len / 2).collect();
    let mut base = plan.at(&middle);
    for (key, value) in at {
        let place = plan.subject.place(key).map_err(|e| e.to_string())?;
        base = base.with(key, &place, value);
    }
    let mut around = Around { catalog, prices, base, base_us: f64::NAN };
    let (base_us, bound) = around.time(&around.base)?;
    around.base_us = base_us;
    let fixed = |key: &str| around.base.fixed.iter().find(|f| f.key == key);
    let mut influences: Vec<Influence> = Vec::new();
    for (_, axis) in plan.axes() {
        if let Some(base) = fixed(&axis.key) {
            influences.extend(around.axis(axis, base));
        }
    }
    let is_axis = |key: &str| plan.axes().any(|(_, axis)| axis.key == key);
    let stay = around.base.fixed.iter().filter(|f| !is_axis(&f.key)).cloned();
    let figures = FIGURES.into_iter().filter(|key| fixed(key).is_none()).filter_map(|key| around.figure(key));
    let mut firm = Vec::new();
    for fixed in stay.chain(figures) {
        match around.swing(&fixed, swing) {
            Some(influence) => influences.push(influence),
            None if number(&fixed.value).is_some() => firm.push(format!("{} = {}", fixed.key, fixed.value)),
            None => {}
        }
    }
    let width = |i: &Influence| i.span_us.1 - i.span_us.0;
    influences.sort_by(|a, b| width(b).total_cmp(&width(a)));
    let point = around.base.fixed.iter().map(|f| (f.key.clone(), f.value.clone())).collect();
    Ok(Sensitivity { point, base_us, bound, influences, firm })
}

impl Sensitivity {
    /// What moves the time most, and what does not at all, as sentences.
    pub fn sentences(&self) -> Vec<String> {
        let mut said =
            vec![format!("The point takes {} us and is {}-bound.", significant(self.base_us, 4), self.bound)];
        if let Some(first) = self.influences.first() {
            let (low, high) = first.span_us;
            let (kind, times) = (if first.axis { "over its values" } else { "by its swing" }, short(high / low, 3));
            said.push(format!(
                "{} moves it most: {} to {} us {kind}, {times} times.",
                first.parameter,
                significant(low, 4),
                significant(high, 4)
            ));
        }
        let steep = self.influences.iter().filter_map(|i| Some((i, i.elasticity?)));
        if let Some((i, e)) = steep.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())) {
            let per_cent = significant(e.abs(), 2);
            let way = if e < 0.0 { "shortens" } else { "lengthens" };
            said.push(format!("By elasticity {} is first: 1 % more {way} the time by {per_cent} %.", i.parameter));
        }
        let idle: Vec<&str> = self
            .influences
            .iter()
            .filter(|i| i.span_us.1 <= i.span_us.0 * 1.001)
            .map(|i| i.parameter.as_str())
            .collect();
        if !idle.is_empty() {
            said.push(format!("No effect of 0.1 % or more: {}.", idle.join(", ")));
        }
        if !self.firm.is_empty() {
            said.push(format!("Without another value that can run: {}.", self.firm.join(", ")));
        }
        said
    }
}
