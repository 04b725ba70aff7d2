//! Sweep files and the options of a command line: as written, then as meant. Format: `docs/sweep.md`.

use serde::Deserialize;
use toml::{Table, Value};

use super::{
    key::{KeyError, Subject},
    plan::{Axis, Fixed, Group, Plan, Sample},
    quantity::written,
    values::{Range, Spacing, Values, ValuesError},
};
use crate::{
    op::table::{CALLS, PREDICTED},
    units::grouped,
};

/// A sweep that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SweepError {
    /// Not a sweep file.
    #[error("`{origin}` is no sweep file: {message}")]
    File {
        /// Name of the file.
        origin: String,
        /// What the reader says, with the line.
        message: String,
    },
    /// An operation that nobody knows.
    #[error("op = `{op}` is not known; write {} or one of {}", "kernel, simulate", [&PREDICTED[..], &CALLS[..]].concat().join(", "))]
    Op {
        /// As given.
        op: String,
    },
    /// A key that nothing reads.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Values that are none.
    #[error("axis {key}: {error}")]
    Values {
        /// The key of the axis.
        key: String,
        /// What is wrong.
        error: ValuesError,
    },
    /// A key that is given twice.
    #[error("`{key}` is given twice: each key is either fixed or an axis, once")]
    Twice {
        /// The key.
        key: String,
    },
    /// Axes that should advance together and cannot.
    #[error("the axes of `{zip}` advance together and need equally many values: {lengths}")]
    Lengths {
        /// Name of the group.
        zip: String,
        /// The keys with their numbers of values.
        lengths: String,
    },
    /// A table that a sweep of this kind needs or does not take.
    #[error("{0}")]
    Table(String),
    /// More points than can be counted.
    #[error("the axes span more than 9.2e18 points; give fewer values")]
    TooMany,
    /// A sample that is none.
    #[error("a sample of {count} of {} points: take 1 to {}", grouped(*.points), grouped(*.points))]
    Sample {
        /// Points asked for.
        count: u64,
        /// Points that there are.
        points: u64,
    },
}

/// A sweep file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u64,
    #[serde(default)]
    title: String,
    op: String,
    #[serde(default)]
    fixed: Table,
    #[serde(default)]
    axis: Vec<AxisFile>,
    kernel: Option<Table>,
    launch: Option<Vec<Value>>,
    sample: Option<SampleFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AxisFile {
    key: String,
    values: Option<Vec<Value>>,
    range: Option<RangeFile>,
    zip: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RangeFile {
    from: Value,
    to: Value,
    step: Option<Value>,
    factor: Option<f64>,
    count: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SampleFile {
    count: u64,
    #[serde(default)]
    seed: u64,
}

/// What a command line adds to a sweep, or gives of one.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `KEY=VALUE`, which stay.
    pub fixed: Vec<(String, String)>,
    /// `KEY=VALUES`, in the order in which they vary, slowest first.
    pub axes: Vec<(String, String)>,
    /// `KEY=VALUES` that advance together.
    pub zipped: Vec<(String, String)>,
    /// Points that are drawn, and the seed.
    pub sample: Option<Sample>,
}

impl Plan {
    /// Reads a sweep file; options replace what it fixes and vary under the keys that they name.
    ///
    /// # Errors
    /// Names the file or the key, the value and the cure.
    pub fn parse(origin: &str, text: &str, options: &Options) -> Result<Self, SweepError> {
        let fail = |message: String| SweepError::File { origin: origin.into(), message };
        let file: File = toml::from_str(text).map_err(|e| fail(e.to_string()))?;
        if file.schema != 1 {
            return Err(fail(format!("schema = {}; this program reads schema 1", file.schema)));
        }
        let mut builder = Builder::new(&file.op)?;
        builder.tables(file.kernel, file.launch)?;
        flattened("", &file.fixed, &mut |key, value| builder.fix(key, &written(value)))?;
        for axis in &file.axis {
            let values = builder.values(axis)?;
            builder.vary(&axis.key, values, axis.zip.as_deref())?;
        }
        builder.sample = file.sample.map(|s| Sample { count: s.count, seed: s.seed });
        builder.title = file.title;
        builder.options(options)?.finish()
    }

    /// A sweep of an operation, or of a `kernel` or `launch` table, by options alone.
    ///
    /// # Errors
    /// Names the key, the value and the cure.
    pub fn of(op: &str, tables: (Option<Table>, Option<Vec<Value>>), options: &Options) -> Result<Self, SweepError> {
        let mut builder = Builder::new(op)?;
        builder.tables(tables.0, tables.1)?;
        builder.options(options)?.finish()
    }
}

/// Every value of a table with its dotted path.
fn flattened(
    prefix: &str,
    table: &Table,
    each: &mut dyn FnMut(&str, &Value) -> Result<(), SweepError>,
) -> Result<(), SweepError> {
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Table(inner) => flattened(&path, inner, each)?,
            value => each(&path, value)?,
        }
    }
    Ok(())
}

struct Builder {
    op: String,
    subject: Subject,
    title: String,
    fixed: Vec<Fixed>,
    /// With the name of what an axis advances with.
    axes: Vec<(Axis, Option<String>)>,
    sample: Option<Sample>,
}

impl Builder {
    fn new(op: &str) -> Result<Self, SweepError> {
        let subject = Subject::of(op).ok_or_else(|| SweepError::Op { op: op.into() })?;
        let mut new =
            Self { op: op.into(), subject, title: String::new(), fixed: Vec::new(), axes: Vec::new(), sample: None };
        if new.subject == Subject::Operation {
            new.fix("op", op)?;
        }
        Ok(new)
    }

    fn tables(&mut self, kernel: Option<Table>, launches: Option<Vec<Value>>) -> Result<(), SweepError> {
        let wrong = |text: &str| Err(SweepError::Table(text.into()));
        match (&mut self.subject, kernel, launches) {
            (Subject::Kernel(table), kernel, None) => {
                *table = kernel.unwrap_or_default();
                // What every kernel has; a name is no part of the question.
                let usual = [("name", "kernel".into()), ("grid", 1.into()), ("block", 32.into())];
                for (key, value) in usual.into_iter().chain([("registers_per_thread", 32.into())]) {
                    table.entry(key).or_insert(value);
                }
            }
            (Subject::Simulation(table), None, Some(launches)) => {
                table.insert("schema".into(), Value::Integer(1));
                table.insert("title".into(), Value::String("sweep".into()));
                table.insert("launch".into(), Value::Array(launches));
            }
            (Subject::Operation, None, None) => {}
            (Subject::Kernel(_), ..) => {
                return wrong("a sweep of a kernel has a table [kernel], as in a scenario, and no other");
            }
            (Subject::Simulation(_), ..) => {
                return wrong("a sweep of simulations has tables [[launch]], as in a simulation file, and no other");
            }
            (Subject::Operation, ..) => {
                return wrong("[kernel] and [[launch]] belong to op = \"kernel\" and op = \"simulate\"");
            }
        }
        Ok(())
    }

    fn taken(&self, key: &str) -> bool {
        self.fixed.iter().any(|f| f.key == key) || self.axes.iter().any(|(axis, _)| axis.key == key)
    }

    fn fix(&mut self, key: &str, value: &str) -> Result<(), SweepError> {
        if self.taken(key) {
            return Err(SweepError::Twice { key: key.into() });
        }
        let place = self.subject.place(key)?;
        self.fixed.push(Fixed { key: key.into(), place, value: value.trim().into() });
        Ok(())
    }

    fn values(&self, axis: &AxisFile) -> Result<Values, SweepError> {
        let counts = self.subject.place(&axis.key)?.counts();
        let of = |value: &str, rule: &str| {
            let error = ValuesError { value: value.into(), rule: rule.into() };
            Err(SweepError::Values { key: axis.key.clone(), error })
        };
        let found = match (&axis.values, &axis.range) {
            (Some(values), None) => Values::list(values.iter().map(written).collect()),
            (None, Some(range)) => {
                let spacing = match (&range.step, range.factor, range.count) {
                    (Some(step), None, None) => Spacing::Step(written(step)),
                    (None, Some(factor), None) => Spacing::Factor(factor),
                    (None, None, Some(count)) => Spacing::Count(count),
                    _ => return of("range", "give exactly one of step, factor and count"),
                };
                Values::range(&Range { from: written(&range.from), to: written(&range.to), spacing }, counts)
            }
            _ => return of("axis", "give values = [...] or range = { from, to, step | factor | count }"),
        };
        found.map_err(|error| SweepError::Values { key: axis.key.clone(), error })
    }

    fn vary(&mut self, key: &str, values: Values, zip: Option<&str>) -> Result<(), SweepError> {
        // The operation of the sweep is only its first word on what may vary.
        if key == "op" {
            self.fixed.retain(|f| f.key != "op");
        }
        if self.taken(key) {
            return Err(SweepError::Twice { key: key.into() });
        }
        let place = self.subject.place(key)?;
        self.axes.push((Axis { key: key.into(), place, values }, zip.map(str::to_owned)));
        Ok(())
    }

    /// Options stand for what a file says of the same key; an axis keeps its place.
    fn options(mut self, options: &Options) -> Result<Self, SweepError> {
        let is_given = |key: &str| options.fixed.iter().any(|(k, _)| k == key);
        self.axes.retain(|(axis, _)| !is_given(&axis.key));
        for (key, value) in &options.fixed {
            self.fixed.retain(|f| f.key != *key);
            self.fix(key, value)?;
        }
        let (axes, zipped) = (options.axes.iter(), options.zipped.iter());
        let all: Vec<_> = axes.map(|a| (a, None)).chain(zipped.map(|a| (a, Some("--zip")))).collect();
        for (index, ((key, text), zip)) in all.iter().enumerate() {
            let place = self.subject.place(key)?;
            let parsed = if place.is_worded() { Values::words(text) } else { Values::parse(text, place.counts()) };
            let values = parsed.map_err(|error| SweepError::Values { key: key.clone(), error })?;
            let again = all[..index].iter().any(|((other, _), _)| other == key) || is_given(key);
            match self.axes.iter_mut().find(|(axis, _)| axis.key == *key) {
                Some((axis, own)) if !again => {
                    axis.values = values;
                    *own = zip.map_or_else(|| own.clone(), |zip| Some(zip.to_owned()));
                }
                _ => {
                    self.fixed.retain(|f| f.key != *key || is_given(key));
                    self.vary(key, values, *zip)?;
                }
            }
        }
        self.sample = options.sample.or(self.sample);
        Ok(self)
    }

    fn finish(self) -> Result<Plan, SweepError> {
        let mut groups: Vec<(Option<String>, Group)> = Vec::new();
        for (axis, zip) in self.axes {
            let len = axis.values.len();
            match groups.iter_mut().find(|(name, _)| zip.is_some() && *name == zip) {
                Some((_, group)) => group.axes.push(axis),
                None => groups.push((zip, Group { axes: vec![axis], len })),
            }
        }
        for (zip, group) in &groups {
            if group.axes.iter().any(|axis| axis.values.len() != group.len) {
                let lengths: Vec<String> =
                    group.axes.iter().map(|a| format!("{} has {}", a.key, grouped(a.values.len()))).collect();
                let zip = zip.clone().unwrap_or_default();
                return Err(SweepError::Lengths { zip, lengths: lengths.join(", ") });
            }
        }
        let groups: Vec<Group> = groups.into_iter().map(|(_, group)| group).collect();
        let points = groups.iter().try_fold(1_u64, |all, group| all.checked_mul(group.len));
        let points = points.filter(|p| *p < 1 << 63).ok_or(SweepError::TooMany)?;
        if let Some(Sample { count, .. }) = self.sample.filter(|s| !(1..=points).contains(&s.count)) {
            return Err(SweepError::Sample { count, points });
        }
        let Self { op, subject, title, fixed, sample, .. } = self;
        Ok(Plan { title, subject, op, fixed, groups, sample })
    }
}
