//! A what-if in one line, as an option gives it: `NAME: key=value, key=value`.

use std::str::FromStr;

use super::WhatIf;
use crate::gpu::{Override, OverrideError};

/// A text that is not a what-if.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WhatIfError {
    /// Nothing is changed.
    #[error("`{0}` changes nothing: write 'NAME: KEY=VALUE, KEY=VALUE', such as 'more SMs: sm.count=144'")]
    Empty(String),
    /// A change that is not one.
    #[error(transparent)]
    Override(#[from] OverrideError),
}

impl FromStr for WhatIf {
    type Err = WhatIfError;

    /// `NAME: KEY=VALUE, KEY=VALUE`; without a name, the changes are the name.
    fn from_str(text: &str) -> Result<Self, WhatIfError> {
        // A colon behind the first `=` belongs to a value.
        let (name, changes) = match text.split_once(':') {
            Some((name, changes)) if !name.contains('=') => (name.trim(), changes),
            _ => (text.trim(), text),
        };
        // A comma may stand in a value: what has no `=` goes on with the value before it.
        let mut pieces: Vec<String> = Vec::new();
        for piece in changes.split(',') {
            match pieces.last_mut() {
                Some(last) if !piece.contains('=') && !piece.trim().is_empty() => *last += &format!(",{piece}"),
                _ if piece.trim().is_empty() => {}
                _ => pieces.push(piece.to_owned()),
            }
        }
        let set = pieces.iter().map(|p| p.parse()).collect::<Result<Vec<Override>, _>>()?;
        if set.is_empty() || name.is_empty() {
            return Err(WhatIfError::Empty(text.into()));
        }
        Ok(Self { name: name.into(), set, gpus: None, expect: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(String, Vec<(String, String)>), String> {
        let what_if: WhatIf = text.parse().map_err(|e: WhatIfError| e.to_string())?;
        Ok((what_if.name, what_if.set.into_iter().map(|o| (o.key, o.value)).collect()))
    }

    #[test]
    fn names_and_changes() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            read("H200 memory: memory.dram.bandwidth=\"4.8 TB/s\", sm.count = 144,"),
            Ok(("H200 memory".into(), vec![pair("memory.dram.bandwidth", "4.8 TB/s"), pair("sm.count", "144")]))
        );
        assert_eq!(read("sm.count=144"), Ok(("sm.count=144".into(), vec![pair("sm.count", "144")])));
        assert_eq!(read("x: name=a, b: c"), Ok(("x".into(), vec![pair("name", "a, b: c")])));
        for (text, says) in [
            ("", "changes nothing"),
            ("more SMs:", "changes nothing"),
            (": sm.count=1", "changes nothing"),
            ("more SMs: 144", "write KEY=VALUE"),
            ("more SMs: sm.count=", "write KEY=VALUE"),
            ("144", "write KEY=VALUE"),
        ] {
            assert!(read(text).is_err_and(|e| e.contains(says)), "{text}: {:?}", read(text));
        }
    }
}
