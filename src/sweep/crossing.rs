//! From which value of one axis on something holds: by bisection where it changes once, by trying all where it does not.

use std::str::FromStr;

use super::{
    evaluate::{Evaluator, Outcome},
    plan::Plan,
};
use crate::{fit::Prices, gpu::Catalog, units::grouped};

/// A comparison of a result with a number or word: `bound = math`, `predicted_us < 100`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    field: Field,
    operator: Operator,
    /// The text as given.
    text: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Field {
    Bound(String),
    Number(&'static str, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

const OPERATORS: [(&str, Operator); 7] = [
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("!=", Operator::NotEqual),
    ("==", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("=", Operator::Equal),
];

/// A result that a condition may name.
type Get = fn(&Outcome) -> f64;

const NUMBERS: [(&str, Get); 12] = [
    ("predicted_us", |o| o.time * 1e6),
    ("math_us", |o| o.math * 1e6),
    ("dram_us", |o| o.dram * 1e6),
    ("l2_us", |o| o.l2 * 1e6),
    ("latency_us", |o| o.latency * 1e6),
    ("waves", |o| o.waves),
    ("blocks_per_sm", |o| o.blocks_per_sm.map_or(f64::NAN, |n| n as f64)),
    ("tail_cost_pct", |o| o.tail_cost_pct),
    ("occupancy_pct", |o| o.occupancy_pct),
    ("tflop_per_s", |o| o.tflop_per_s),
    ("percent_of_roof", |o| o.percent_of_roof),
    ("usd_per_million", |o| o.usd_per_million),
];

/// A condition or an axis that cannot be asked about.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CrossingError {
    /// Not a condition.
    #[error("`{0}` is no condition: write 'bound = math', or a result and a number such as 'percent_of_roof >= 80'; results: {names}", names = NUMBERS.map(|n| n.0).join(", "))]
    Condition(String),
    /// No axis of this name with more than one value.
    #[error("`{key}` is no axis of the sweep; its axes are {axes}")]
    Axis {
        /// As given.
        key: String,
        /// The axes.
        axes: String,
    },
    /// Names have no order.
    #[error("the values of `{0}` are names: a crossing is looked for along numbers in rising order")]
    Order(String),
    /// Too many combinations of the other axes.
    #[error("{} combinations of the other axes: at most {} are tried; fix some", grouped(*.0), grouped(MOST_COMBINATIONS))]
    TooMany(u64),
}

/// Most combinations of the other axes.
const MOST_COMBINATIONS: u64 = 10_000;
/// Places of the axis that are tried first.
const PROBES: u64 = 17;
/// Longest axis that is tried value by value; of a longer one, only where the probes see more than one change.
const SCANNED: u64 = 2_048;
/// Longest axis that is tried value by value at all.
const MOST_SCANNED: u64 = 20_000;
/// How near a value between two of the axis is found, as a share of it.
const NEAR: f64 = 1e-4;

impl FromStr for Condition {
    type Err = CrossingError;

    fn from_str(text: &str) -> Result<Self, CrossingError> {
        let wrong = || CrossingError::Condition(text.into());
        let places = OPERATORS.iter().filter_map(|(word, operator)| Some((text.find(word)?, *word, *operator)));
        // Of two that start at one place the longer is meant.
        let (at, word, operator) = places.min_by_key(|(at, word, _)| (*at, 2 - word.len())).ok_or_else(wrong)?;
        let (name, value) = (text[..at].trim(), text[at + word.len()..].trim());
        let field = if name == "bound" {
            let value = value.trim_end_matches("-bound").trim_matches('"');
            let equal = matches!(operator, Operator::Equal | Operator::NotEqual);
            if !equal || !["math", "memory", "latency"].contains(&value) {
                return Err(wrong());
            }
            Field::Bound(value.into())
        } else {
            let (name, _) = NUMBERS.iter().find(|(known, _)| *known == name).ok_or_else(wrong)?;
            let number: f64 = value.trim_end_matches('%').trim().parse().map_err(|_| wrong())?;
            if !number.is_finite() {
                return Err(wrong());
            }
            Field::Number(name, number)
        };
        Ok(Self { field, operator, text: text.trim().into() })
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Condition {
    fn holds(&self, found: &Outcome) -> bool {
        let number = |name: &str| NUMBERS.iter().find(|(n, _)| *n == name).map_or(f64::NAN, |(_, get)| get(found));
        match (&self.field, self.operator) {
            (Field::Bound(word), Operator::NotEqual) => found.bound != word,
            (Field::Bound(word), _) => found.bound == word,
            (Field::Number(name, limit), Operator::Less) => number(name) < *limit,
            (Field::Number(name, limit), Operator::LessOrEqual) => number(name) <= *limit,
            (Field::Number(name, limit), Operator::Greater) => number(name) > *limit,
            (Field::Number(name, limit), Operator::GreaterOrEqual) => number(name) >= *limit,
            (Field::Number(name, limit), Operator::Equal) => number(name) == *limit,
            (Field::Number(name, limit), Operator::NotEqual) => number(name) != *limit,
        }
    }
}

/// What was found along the axis, for one combination of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// The other axes with their values.
    pub others: Vec<(String, String)>,
    /// Whether the condition holds at the first value of the axis.
    pub at_first: bool,
    /// The first value from which it is otherwise; absent where it never changes.
    pub value: Option<String>,
    /// Changes along the whole axis; more than 1 where it is not monotone.
    pub changes: usize,
    /// Points that were evaluated.
    pub evaluated: u64,
    /// Whether every value of the axis was; else a change between two probes may have been missed.
    pub every: bool,
    /// Why nothing can be said: no point can run.
    pub error: Option<String>,
}

/// Looks along an axis for where a condition begins or ends to hold, for each combination of the other axes.
///
/// # Errors
/// There is no such axis of numbers, or there are too many combinations.
pub fn crossings(
    plan: &Plan,
    catalog: &Catalog,
    prices: &Prices,
    along: &str,
    condition: &Condition,
) -> Result<Vec<Crossing>, CrossingError> {
    let axes: Vec<&str> = plan.axes().map(|(_, axis)| axis.key.as_str()).collect();
    let no_axis = || CrossingError::Axis { key: along.into(), axes: axes.join(", ") };
    let (group, axis) = plan.axes().find(|(_, axis)| axis.key == along).ok_or_else(no_axis)?;
    let rising = |i: u64| axis.values.number(i) < axis.values.number(i + 1);
    let checked = axis.values.len().saturating_sub(1).min(MOST_SCANNED);
    if !(0..checked).all(rising) {
        return Err(CrossingError::Order(along.into()));
    }
    let combinations = plan.points() / plan.groups[group].len;
    if combinations > MOST_COMBINATIONS {
        return Err(CrossingError::TooMany(combinations));
    }
    let mut evaluator = Evaluator::new(plan, catalog, prices);
    let mut found = Vec::new();
    for combination in 0..combinations {
        let mut at = vec![0; plan.groups.len()];
        let mut rest = combination;
        for (place, other) in plan.groups.iter().enumerate().rev().filter(|(place, _)| *place != group) {
            at[place] = rest % other.len;
            rest /= other.len;
        }
        let mut search = Search {
            plan,
            catalog,
            prices,
            condition,
            group,
            evaluator: &mut evaluator,
            at,
            evaluated: 0,
            error: None,
        };
        found.push(search.along(along));
    }
    Ok(found)
}

struct Search<'s, 'a> {
    plan: &'a Plan,
    catalog: &'a Catalog,
    prices: &'a Prices,
    condition: &'s Condition,
    group: usize,
    evaluator: &'s mut Evaluator<'a>,
    at: Vec<u64>,
    evaluated: u64,
    error: Option<String>,
}

impl Search<'_, '_> {
    /// Whether the condition holds at a place of the axis; a point that cannot run does not meet it.
    fn holds(&mut self, index: u64) -> bool {
        self.evaluated += 1;
        self.at[self.group] = index;
        match self.evaluator.answer(&self.at) {
            Ok(found) => self.condition.holds(&found),
            Err(error) => {
                self.error.get_or_insert(error);
                false
            }
        }
    }

    fn along(&mut self, key: &str) -> Crossing {
        let len = self.plan.groups[self.group].len;
        let others = self.plan.axes().filter(|(group, _)| *group != self.group);
        let others = others.map(|(group, axis)| (axis.key.clone(), axis.values.text(self.at[group]))).collect();
        let probes = if len <= SCANNED { len } else { PROBES };
        let place = |i: u64| if probes < 2 { 0 } else { i * (len - 1) / (probes - 1) };
        let tried: Vec<(u64, bool)> = (0..probes).map(place).map(|i| (i, self.holds(i))).collect();
        let at_first = tried[0].1;
        let switches: Vec<_> = tried.windows(2).filter(|pair| pair[0].1 != pair[1].1).collect();
        let mut changes = switches.len();
        let (mut value, mut every) = (None, probes == len);
        if let Some([(low, _), (high, _)]) = switches.first().copied() {
            let (mut low, mut high) = (*low, *high);
            if changes > 1 && probes < len && len <= MOST_SCANNED {
                let all: Vec<bool> = (0..len).map(|i| self.holds(i)).collect();
                changes = all.windows(2).filter(|pair| pair[0] != pair[1]).count();
                high = all.iter().position(|holds| *holds != at_first).unwrap_or_default() as u64;
                low = high.saturating_sub(1);
                every = true;
            }
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if self.holds(middle) == at_first { low = middle } else { high = middle }
            }
            value = Some(self.between(key, low, high, at_first));
        }
        let error = self.error.take().filter(|_| tried.iter().all(|(_, holds)| !holds));
        Crossing { others, at_first, value, changes, evaluated: self.evaluated, every, error }
    }

    /// The value between two neighbours of the axis where the condition changes, if there are values between.
    fn between(&mut self, key: &str, low: u64, high: u64, before: bool) -> String {
        let Some((_, axis)) = self.plan.axes().find(|(_, axis)| axis.key == key) else { return String::new() };
        self.at[self.group] = high;
        let base = self.plan.at(&self.at);
        let (mut from, mut to) = (low as f64, high as f64);
        let mut value = axis.values.text(high);
        while let Some(middle) = axis.values.between((from + to) / 2.0).filter(|_| !axis.place.counts()) {
            let (a, b) = (axis.values.at(from), axis.values.at(to));
            if (b - a).abs() <= NEAR * b.abs() {
                break;
            }
            self.evaluated += 1;
            let plan = base.with(key, &axis.place, &middle);
            let mut evaluator = Evaluator::new(&plan, self.catalog, self.prices);
            let holds = evaluator.answer(&[]).is_ok_and(|found| self.condition.holds(&found));
            if holds == before {
                from = (from + to) / 2.0;
            } else {
                to = (from + to) / 2.0;
                value = middle;
            }
        }
        value
    }
}

impl Crossing {
    /// The answer as a sentence about `along`.
    pub fn sentence(&self, along: &str, ends: (&str, &str), condition: &Condition) -> String {
        let others: Vec<String> = self.others.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let of = if others.is_empty() { String::new() } else { format!(" with {}", others.join(", ")) };
        if let Some(error) = &self.error {
            return format!("Nothing can be said{of}: {error}");
        }
        let (first, last) = ends;
        let more = match self.changes {
            0 | 1 if !self.every => " (By bisection; not every value was tried.)".into(),
            0 | 1 => String::new(),
            n => format!(" It is not monotone: it changes {n} times."),
        };
        match (&self.value, self.at_first) {
            (None, true) => format!("`{condition}` holds from {along} = {first} to {last}{of}.{more}"),
            (None, false) => format!("`{condition}` holds nowhere from {along} = {first} to {last}{of}.{more}"),
            (Some(value), false) => format!("`{condition}` holds from {along} = {value} on{of}.{more}"),
            (Some(value), true) => {
                format!("`{condition}` holds below {along} = {value}{of}, and no longer from there on.{more}")
            }
        }
    }
}
