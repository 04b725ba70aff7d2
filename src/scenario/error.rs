//! What can be wrong with a scenario, and the line where it is.

use std::fmt;

use toml::de::{DeTable, DeValue};

use crate::units::{grouped, short};

/// A scenario, or a kernel built from options, that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScenarioError {
    /// The text is not a scenario file: the parser's message with line and caret.
    #[error("{origin} is not a valid {what}: {message}")]
    File {
        /// What it should be.
        what: &'static str,
        /// Name of the scenario.
        origin: String,
        /// The message with line and caret.
        message: String,
    },
    /// A value that cannot be used.
    #[error("{0}")]
    Value(Box<ValueError>),
    /// A GPU name that is unknown or a what-if that does not fit.
    #[error("{at}{error}")]
    Gpu {
        /// Where it is written.
        at: Place,
        /// What is wrong.
        error: Box<crate::gpu::GpuError>,
    },
    /// The axes, GPUs and what-ifs multiply to more cases than anyone reads.
    #[error("{origin} has {} cases, more than {}: shorten an axis or split the file", grouped(*.count), grouped(super::MAX_CASES))]
    TooMany {
        /// Name of the scenario.
        origin: String,
        /// How many cases there would be.
        count: u64,
    },
}

/// A value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}{of}{key} = {value}: {rule}")]
pub struct ValueError {
    /// Where it is written.
    pub at: Place,
    /// The kernel it belongs to, in words; may be empty.
    pub of: String,
    /// Dotted path of the key.
    pub key: String,
    /// The value as given.
    pub value: String,
    /// What is wrong and what would be right.
    pub rule: String,
}

/// A file and line; empty for a kernel that comes from options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Name of the scenario; empty where there is none.
    pub origin: String,
    /// Line, counted from 1, where it is known.
    pub line: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            _ if self.origin.is_empty() => Ok(()),
            Some(line) => write!(f, "{}, line {line}: ", self.origin),
            None => write!(f, "{}: ", self.origin),
        }
    }
}

/// Longest number that is printed as it is: that of a 64-bit count.
const LONGEST: usize = 20;

impl ScenarioError {
    /// An error of a kernel's option, for now without a place.
    pub(super) fn option(kernel: &str, key: &str, value: impl fmt::Display, rule: impl Into<String>) -> Self {
        let value = value.to_string();
        // Numbers without an exponent may have hundreds of digits.
        let value = match value.parse() {
            Ok(number) if value.len() > LONGEST => short(number, 6),
            _ => value,
        };
        Self::value(format!("kernel `{kernel}`: "), key, value, rule.into())
    }

    /// An error of any value, for now without a place.
    pub(crate) fn value(of: String, key: &str, value: String, rule: String) -> Self {
        Self::Value(Box::new(ValueError { at: Place::default(), of, key: key.into(), value, rule }))
    }

    /// The same error with its place in a scenario: `table` is the path of the table that holds the key.
    pub(crate) fn placed(self, origin: &str, text: &str, table: &str) -> Self {
        let place = |path: &str| Place { origin: origin.into(), line: line_of(text, path) };
        match self {
            Self::Value(mut error) => {
                error.at = place(format!("{table}.{}", error.key).trim_start_matches('.'));
                Self::Value(error)
            }
            Self::Gpu { error, .. } => Self::Gpu { at: place(table), error },
            other => other,
        }
    }

    /// The same error of another kind of file, with a hint.
    pub(crate) fn of(self, kind: &'static str, hint: Option<&str>) -> Self {
        match self {
            Self::File { origin, message, .. } => {
                let message = message + &hint.map_or_else(String::new, |hint| format!("\n{hint}"));
                Self::File { what: kind, origin, message }
            }
            other => other,
        }
    }

    /// The parser's error, with the nearest key added where a key is unknown.
    pub(crate) fn file(origin: &str, text: &str, error: &toml::de::Error) -> Self {
        let mut message = crate::gpu::toml_message(error);
        // serde says: unknown field `A`, expected one of `B`, `C`
        let mut quoted = error.message().split('`').skip(1).step_by(2);
        if error.message().starts_with("unknown field") {
            let wrong = quoted.next().unwrap_or_default();
            if let Some(near) = nearest(wrong, quoted) {
                message += &format!("\ndid you mean `{near}`?");
            }
        }
        let line = error.span().and_then(|s| text.get(..s.start)).map(|before| before.matches('\n').count());
        let source = line.and_then(|l| text.lines().nth(l)).unwrap_or_default();
        if error.message().contains("map") && (source.contains("vector.") || source.contains("tensor.")) {
            message += "\nput the unit in quotes: { \"vector.fp32\" = \"2 FLOP\" }";
        }
        Self::File { what: "scenario", origin: origin.into(), message }
    }
}

/// The known name that looks most like `wrong`, if any looks like it at all.
pub(super) fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.map(|name| (strsim::jaro_winkler(wrong, name), name)).filter(|(score, _)| *score > 0.7);
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

/// The line of a dotted path such as `kernel.0.traffic.dram.read`, or of the deepest part of it that is written.
pub(super) fn line_of(text: &str, path: &str) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let start = offset(root.get_ref(), path)?;
    Some(text.get(..start)?.matches('\n').count() + 1)
}

fn offset(table: &DeTable<'_>, path: &str) -> Option<usize> {
    table.iter().find_map(|(key, value)| {
        let rest = path.strip_prefix(key.get_ref().as_ref())?;
        if !rest.is_empty() && !rest.starts_with('.') {
            return None;
        }
        Some(within(value.get_ref(), rest.trim_start_matches('.')).unwrap_or(key.span().start))
    })
}

fn within(value: &DeValue<'_>, path: &str) -> Option<usize> {
    if let Some(table) = value.as_table() {
        return offset(table, path);
    }
    let (index, rest) = path.split_once('.').unwrap_or((path, ""));
    let element = value.as_array()?.get(index.parse::<usize>().ok()?)?;
    Some(within(element.get_ref(), rest).unwrap_or(element.span().start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_paths() {
        let text = "a = 1\n[[k]]\nx = 1\n[[k]]\ny = { z = 2 }\nw = [\n 1,\n 2]\n[k.o]\n\"v.f\" = 1\n";
        let lines = ["a", "k.0.x", "k.1.y.z", "k.1.w.1", "k.1.o.v.f", "k.1.o.missing", "nothing"];
        let found: Vec<Option<usize>> = lines.iter().map(|path| line_of(text, path)).collect();
        assert_eq!(found, [Some(1), Some(3), Some(5), Some(8), Some(10), Some(9), None]);
    }
}
