//! A change to the launches of a file, as an option gives it: `registers=64, block=256, shared=32 KiB`.

use std::{fmt, str::FromStr};

use crate::units::{Bytes, UnitError};

/// What is changed in a launch; at least one of the three.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchChange {
    /// Registers per thread.
    pub registers: Option<u32>,
    /// Threads per block.
    pub block: Option<u32>,
    /// Static and dynamic shared memory per block in bytes.
    pub shared: Option<u32>,
}

/// A text that is no change.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChangeError {
    /// Nothing is changed.
    #[error("`{0}` changes nothing: write {FORM}")]
    Empty(String),
    /// A part without a value.
    #[error("`{0}` is no change: write {FORM}")]
    NoPair(String),
    /// A name that no launch has.
    #[error("`{name}` cannot be changed in a launch that was measured: {KEYS} can{near}; write {FORM}")]
    Unknown {
        /// The name.
        name: String,
        /// What may have been meant.
        near: String,
    },
    /// The same key again.
    #[error("`{0}` is given twice: give each of {KEYS} once, and a second --what-if for a second change")]
    Twice(&'static str),
    /// A count that no launch has.
    #[error("{name} = `{value}` must be {rule}")]
    Count {
        /// The key.
        name: &'static str,
        /// The value as given.
        value: String,
        /// What it must be.
        rule: &'static str,
    },
    /// A size without a unit, or none at all.
    #[error("shared: {0}")]
    Size(#[from] UnitError),
}

const FORM: &str = "'registers=64', 'block=256', 'shared=32 KiB', or several with commas";
const KEYS: &str = "registers, block and shared";

/// Most registers per thread and threads per block that are taken; the limits of the GPU are lower.
const MOST: u32 = 4096;
/// Most bytes of shared memory that are taken.
const MOST_SHARED: f64 = 1024.0 * 1024.0;

impl FromStr for LaunchChange {
    type Err = ChangeError;

    fn from_str(text: &str) -> Result<Self, ChangeError> {
        let mut change = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').ok_or_else(|| ChangeError::NoPair(part.into()))?;
            let value = value.trim();
            match name.trim() {
                "registers" | "regs" => once("registers", &mut change.registers, count("registers", value)?)?,
                "block" | "threads" => once("block", &mut change.block, count("block", value)?)?,
                "shared" | "smem" => once("shared", &mut change.shared, size(value)?)?,
                other => {
                    let near = ["registers", "block", "shared"].into_iter();
                    let near =
                        near.max_by(|a, b| strsim::jaro_winkler(a, other).total_cmp(&strsim::jaro_winkler(b, other)));
                    let near = near.filter(|near| strsim::jaro_winkler(near, other) > 0.8);
                    let near = near.map_or(String::new(), |near| format!(" (did you mean `{near}`?)"));
                    return Err(ChangeError::Unknown { name: other.into(), near });
                }
            }
        }
        if change == Self::default() { Err(ChangeError::Empty(text.into())) } else { Ok(change) }
    }
}

fn once(name: &'static str, place: &mut Option<u32>, value: u32) -> Result<(), ChangeError> {
    match place.replace(value) {
        Some(_) => Err(ChangeError::Twice(name)),
        None => Ok(()),
    }
}

/// A count from 1; a block also as `16x16`.
fn count(name: &'static str, value: &str) -> Result<u32, ChangeError> {
    let factors = value.split('x').map(|factor| factor.trim().parse::<u32>().ok());
    let product = factors.reduce(|all, factor| all?.checked_mul(factor?)).flatten();
    let rule =
        if name == "block" { "1 to 4096 threads, such as 256 or 16x16" } else { "1 to 4096 registers per thread" };
    let single = name == "block" || !value.contains('x');
    product.filter(|n| single && (1..=MOST).contains(n)).ok_or(ChangeError::Count { name, value: value.into(), rule })
}

/// Whole bytes; 0 needs no unit.
fn size(value: &str) -> Result<u32, ChangeError> {
    let bytes = if value == "0" { Bytes::ZERO } else { value.parse::<Bytes>()? };
    let whole = bytes.get().ceil();
    let rule = "at most 1 MiB per block";
    if whole > MOST_SHARED {
        return Err(ChangeError::Count { name: "shared", value: value.into(), rule });
    }
    Ok(whole as u32)
}

impl fmt::Display for LaunchChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registers = self.registers.map(|n| format!("registers={n}"));
        let block = self.block.map(|n| format!("block={n}"));
        let shared = self.shared.map(|bytes| match bytes {
            _ if bytes > 0 && bytes.is_multiple_of(1024) => format!("shared={} KiB", bytes / 1024),
            _ => format!("shared={bytes} B"),
        });
        f.write_str(&[registers, block, shared].into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_in_any_order() {
        let read = |text: &str| text.parse::<LaunchChange>().map_err(|e| e.to_string());
        let all = LaunchChange { registers: Some(64), block: Some(256), shared: Some(32 * 1024) };
        assert_eq!(read(" shared = 32 KiB,registers=64, block=16x16,"), Ok(all.clone()));
        assert_eq!(all.to_string(), "registers=64, block=256, shared=32 KiB");
        assert_eq!(read("smem=0").map(|c| c.to_string()), Ok("shared=0 B".into()));
        assert_eq!(read("shared=1000 B").map(|c| c.to_string()), Ok("shared=1000 B".into()));
        for (text, says) in [
            ("", "changes nothing"),
            (" , ", "changes nothing"),
            ("registers", "is no change"),
            ("register=64", "did you mean `registers`?"),
            ("grid=64", "registers, block and shared can"),
            ("registers=64, regs=32", "`registers` is given twice"),
            ("registers=0", "registers = `0` must be 1 to 4096"),
            ("registers=8x8", "registers = `8x8`"),
            ("block=", "block = ``"),
            ("block=70000x70000", "block = `70000x70000` must be"),
            ("shared=48", "the unit is missing"),
            ("shared=48 KB", "kB or KiB?"),
            ("shared=2 MiB", "at most 1 MiB"),
        ] {
            assert!(read(text).is_err_and(|e| e.contains(says)), "{text}: {:?}", read(text));
        }
    }
}
