//! Axes: one key of a kernel that takes several values, each of which gives a case of its own.

use std::fmt;

use serde::Deserialize;
use toml::Value;

use super::{Dims, KernelSpec, MAX_CASES, error::nearest};
use crate::units::{Bytes, significant};

/// A `[[vary]]` table as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VaryFile {
    pub kernel: String,
    pub key: String,
    pub values: Option<Vec<Value>>,
    pub range: Option<RangeFile>,
}

/// A range as written; both ends are included.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RangeFile {
    pub from: Value,
    pub to: Value,
    pub step: Value,
}

/// The values that one key of one kernel takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Index of the kernel in its scenario.
    pub kernel: usize,
    /// The key.
    pub key: VaryKey,
    /// The values in the order in which they are evaluated; at least one.
    pub values: Vec<Setting>,
}

/// A value of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// Extent of a grid or block.
    Dims(Dims),
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// A size.
    Size(Bytes),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dims(dims) => dims.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Number(number) => f.write_str(&significant(*number, 6)),
            // Four digits may hide a byte; then all are shown.
            Self::Size(size) if size.to_string().parse() == Ok(*size) => size.fmt(f),
            Self::Size(size) => write!(f, "{} B", size.get()),
        }
    }
}

/// What can be varied, with the field that it sets.
type Set = fn(&mut KernelSpec, Setting);

enum Kind {
    Dims,
    Count,
    Number,
    Size,
}

/// A key that an axis can vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaryKey(usize);

const KEYS: [(&str, Kind, Set); 15] = [
    ("grid", Kind::Dims, |k, v| {
        if let Setting::Dims(d) = v {
            k.grid = d
        }
    }),
    ("block", Kind::Dims, |k, v| {
        if let Setting::Dims(d) = v {
            k.block = d
        }
    }),
    ("registers_per_thread", Kind::Count, |k, v| {
        if let Setting::Count(n) = v {
            k.registers_per_thread = n
        }
    }),
    ("static_shared", Kind::Size, |k, v| {
        if let Setting::Size(s) = v {
            k.static_shared = s
        }
    }),
    ("dynamic_shared", Kind::Size, |k, v| {
        if let Setting::Size(s) = v {
            k.dynamic_shared = s
        }
    }),
    ("carveout", Kind::Count, |k, v| {
        if let Setting::Count(n) = v {
            k.carveout = Some(n)
        }
    }),
    ("barriers", Kind::Count, |k, v| {
        if let Setting::Count(n) = v {
            k.barriers = n
        }
    }),
    ("warp_instructions", Kind::Number, |k, v| {
        if let Setting::Number(n) = v {
            k.work.warp_instructions = Some(n)
        }
    }),
    ("reuse_distance", Kind::Size, |k, v| {
        if let Setting::Size(s) = v {
            k.traffic.reuse_distance = Some(s)
        }
    }),
    ("spill_per_thread", Kind::Size, |k, v| {
        if let Setting::Size(s) = v {
            k.traffic.spill_per_thread = s
        }
    }),
    ("bank_conflict", Kind::Number, |k, v| {
        if let Setting::Number(n) = v {
            k.traffic.shared.bank_conflict = Some(n)
        }
    }),
    ("bytes_in_flight", Kind::Number, |k, v| {
        if let Setting::Number(n) = v {
            k.concurrency.bytes_in_flight = Some(n)
        }
    }),
    ("instructions_in_flight", Kind::Number, |k, v| {
        if let Setting::Number(n) = v {
            k.concurrency.instructions_in_flight = Some(n)
        }
    }),
    ("dependent_accesses", Kind::Number, |k, v| {
        if let Setting::Number(n) = v {
            k.concurrency.dependent_accesses = n
        }
    }),
    ("read_sectors_per_request", Kind::Number, |k, v| {
        if let Setting::Number(n) = v {
            k.traffic.l2.get_or_insert(k.traffic.dram).read_sectors_per_request = Some(n)
        }
    }),
];

impl VaryKey {
    /// Every key that can be varied.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..KEYS.len()).map(Self)
    }

    /// The key as written.
    pub fn name(self) -> &'static str {
        KEYS[self.0].0
    }

    /// Sets the key of a kernel. A setting of another kind than the key's changes nothing.
    pub fn set(self, spec: &mut KernelSpec, setting: Setting) {
        (KEYS[self.0].2)(spec, setting);
    }

    /// The same from the text of a value.
    ///
    /// # Errors
    /// What the text should be.
    pub fn set_text(self, spec: &mut KernelSpec, text: &str) -> Result<(), String> {
        let value = match (text.parse(), text.parse()) {
            (Ok(whole), _) => Value::Integer(whole),
            (_, Ok(number)) => Value::Float(number),
            _ => Value::String(text.into()),
        };
        self.set(spec, self.setting(&value)?);
        Ok(())
    }

    /// The key of this name, or what to write instead.
    pub(super) fn find(name: &str) -> Result<Self, String> {
        Self::all().find(|key| key.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::all().map(Self::name).collect();
            let near = nearest(name, names.iter().copied());
            let hint = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            format!("this cannot be varied: {hint}write one of {}", names.join(", "))
        })
    }

    fn setting(self, value: &Value) -> Result<Setting, String> {
        let serde = |e: toml::de::Error| e.message().to_owned();
        match KEYS[self.0].1 {
            Kind::Dims => value.clone().try_into().map(Setting::Dims).map_err(serde),
            Kind::Size => value.clone().try_into().map(Setting::Size).map_err(serde),
            Kind::Count => {
                let count = value.as_integer().and_then(|n| u64::try_from(n).ok());
                count.map(Setting::Count).ok_or_else(|| "write a whole number of at least 0".to_owned())
            }
            Kind::Number => {
                let number = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
                let number = number.filter(|n| n.is_finite() && *n >= 0.0);
                number.map(Setting::Number).ok_or_else(|| "write a number of at least 0".to_owned())
            }
        }
    }

    /// The setting as a plain number, and back: how a range counts.
    fn number(self, key: &str, value: &Value) -> Result<f64, Wrong> {
        match self.setting(value).map_err(|rule| Wrong::new(key, value, rule))? {
            Setting::Dims(Dims([x, 1, 1])) | Setting::Count(x) => Ok(x as f64),
            Setting::Dims(_) => Err(Wrong::new(key, value, "a range counts in x alone: write one number")),
            Setting::Number(number) => Ok(number),
            Setting::Size(size) => Ok(size.get()),
        }
    }

    fn counted(self, number: f64) -> Setting {
        match KEYS[self.0].1 {
            Kind::Dims => Setting::Dims(Dims::from(number as u64)),
            Kind::Count => Setting::Count(number as u64),
            Kind::Number => Setting::Number(number),
            Kind::Size => Setting::Size(Bytes(number)),
        }
    }
}

/// A key below `[[vary]]` whose value cannot be used.
pub(super) struct Wrong {
    pub key: String,
    pub value: String,
    pub rule: String,
}

impl Wrong {
    fn new(key: &str, value: impl ToString, rule: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.to_string(), rule: rule.into() }
    }
}

/// The values of an axis; `kernels` are the names of the scenario's kernels.
pub(super) fn axis(file: &VaryFile, kernels: &[KernelSpec]) -> Result<Axis, Wrong> {
    let Some(kernel) = kernels.iter().position(|k| k.name == file.kernel) else {
        let names: Vec<&str> = kernels.iter().map(|k| k.name.as_str()).collect();
        return Err(Wrong::new(
            "kernel",
            &file.kernel,
            format!("no kernel has this name (there are: {})", names.join(", ")),
        ));
    };
    let key = VaryKey::find(&file.key).map_err(|rule| Wrong::new("key", &file.key, rule))?;
    let values = match (&file.values, &file.range) {
        (Some(values), None) => values
            .iter()
            .enumerate()
            .map(|(index, value)| {
                key.setting(value).map_err(|rule| Wrong::new(&format!("values.{index}"), value, rule))
            })
            .collect::<Result<Vec<_>, _>>()?,
        (None, Some(range)) => ranged(key, range)?,
        (Some(_), Some(_)) => return Err(Wrong::new("values", "...", "range is given too: keep one of them")),
        (None, None) => return Err(Wrong::new("values", "none", "give values = [...] or range = { from, to, step }")),
    };
    if values.is_empty() {
        return Err(Wrong::new("values", "[]", "give at least one value"));
    }
    Ok(Axis { kernel, key, values })
}

fn ranged(key: VaryKey, range: &RangeFile) -> Result<Vec<Setting>, Wrong> {
    let from = key.number("range.from", &range.from)?;
    let to = key.number("range.to", &range.to)?;
    let step = key.number("range.step", &range.step)?;
    if step <= 0.0 {
        return Err(Wrong::new("range.step", &range.step, "it must be above 0"));
    }
    if to < from {
        return Err(Wrong::new("range.to", &range.to, format!("it must be at least `from`, {}", range.from)));
    }
    // A little more than whole, so that 0.1 to 0.3 by 0.1 has three values.
    let steps = ((to - from) / step + 1e-9).floor();
    if steps >= MAX_CASES as f64 {
        let rule =
            format!("the range has {} values, more than {MAX_CASES}: take a larger step", significant(steps + 1.0, 6));
        return Err(Wrong::new("range.step", &range.step, rule));
    }
    Ok((0..=steps as u64).map(|index| key.counted(from + index as f64 * step)).collect())
}
