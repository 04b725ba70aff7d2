//! Addresses: percent signs, keys in order, values in their ranges. What is out of range is refused and never moved into it.

use std::{fmt, ops::RangeInclusive};

use crate::units::{grouped, significant};

/// Longest query that is read, in bytes.
const LONGEST: usize = 4096;
/// Most keys of a query.
const MOST_KEYS: usize = 64;
/// Characters of a value that a message repeats.
const SHOWN: usize = 60;

/// A value that is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: {problem}")]
pub struct Refusal {
    /// The key.
    pub key: String,
    /// Its value, cut where it is long.
    pub value: String,
    /// What is wrong, and what is taken.
    pub problem: String,
}

/// Everything that is not taken of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct Refusals(pub Vec<Refusal>);

impl fmt::Display for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(Refusal::to_string).collect();
        f.write_str(&all.join("; "))
    }
}

impl Refusals {
    /// One refusal.
    pub(super) fn one(key: &str, value: &str, problem: impl fmt::Display) -> Self {
        Self(vec![refusal(key, value, problem)])
    }
}

fn refusal(key: &str, value: &str, problem: impl fmt::Display) -> Refusal {
    let mut short: String = value.chars().take(SHOWN).collect();
    if short.len() < value.len() {
        short.push('…');
    }
    Refusal { key: key.chars().take(SHOWN).collect(), value: short, problem: problem.to_string() }
}

/// A text as a value of a query: letters, digits and `-._~:x` stay, all else becomes `%XX`.
pub fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The text behind a value of a query, where `+` is a space; absent where it is no UTF-8 or a `%` has no two digits.
pub fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |b: Option<u8>| char::from(b?).to_digit(16);
                (digit(rest.next())? * 16 + digit(rest.next())?) as u8
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// The keys of a query, taken one by one; what is wrong is collected, so that one answer names all of it.
pub(super) struct Reader {
    pairs: Vec<(String, String)>,
    refused: Vec<Refusal>,
}

impl Reader {
    /// The pairs of a query; an empty value is an absent one, as forms send it.
    ///
    /// # Errors
    /// The query is too long, a key stands twice, or an escape is none.
    pub fn new(query: &str) -> Result<Self, Refusals> {
        if query.len() > LONGEST {
            let most = format!("an address has at most {} bytes behind the question mark", grouped(LONGEST as u64));
            return Err(Refusals::one("query", &grouped(query.len() as u64), most));
        }
        let mut reader = Self { pairs: Vec::new(), refused: Vec::new() };
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let (Some(key), Some(text)) = (decoded(key), decoded(value)) else {
                reader.refused.push(refusal(key, value, "write %XX with two hexadecimal digits, in UTF-8"));
                continue;
            };
            if reader.pairs.len() == MOST_KEYS {
                return Err(Refusals::one(&key, &text, format!("an address has at most {MOST_KEYS} keys")));
            }
            let text = text.trim().to_owned();
            if reader.pairs.iter().any(|(known, _)| *known == key) {
                reader.refused.push(refusal(&key, &text, "the key stands twice; leave one out"));
            } else if text.is_empty() {
                // Known as given, so that a second one is noticed; taken as absent.
                reader.pairs.push((key, text));
            } else if text.chars().any(char::is_control) {
                reader.refused.push(refusal(&key, "...", "a value has no control characters"));
            } else {
                reader.pairs.push((key, text));
            }
        }
        Ok(reader)
    }

    /// The text of a key, which is then used up.
    pub fn text(&mut self, key: &str) -> Option<String> {
        let place = self.pairs.iter().position(|(known, _)| known == key)?;
        Some(self.pairs.remove(place).1).filter(|text| !text.is_empty())
    }

    /// A text of at most `most` characters.
    pub fn short(&mut self, key: &str, most: usize) -> Option<String> {
        let text = self.text(key)?;
        if text.chars().count() > most {
            self.refuse(key, &text, format!("at most {most} characters"));
            return None;
        }
        Some(text)
    }

    /// Notes what is wrong with a key.
    pub fn refuse(&mut self, key: &str, value: &str, problem: impl fmt::Display) {
        self.refused.push(refusal(key, value, problem));
    }

    /// A whole number in its range.
    pub fn count(&mut self, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let text = self.text(key)?;
        let number = text.parse().ok().filter(|number| range.contains(number));
        if number.is_none() {
            let (low, high) = (grouped(*range.start()), grouped(*range.end()));
            self.refuse(key, &text, format!("a whole number from {low} to {high}, in digits"));
        }
        number
    }

    /// A number in its range.
    pub fn real(&mut self, key: &str, range: RangeInclusive<f64>) -> Option<f64> {
        let text = self.text(key)?;
        let number = text.parse().ok().filter(|number| range.contains(number));
        if number.is_none() {
            let (low, high) = (significant(*range.start(), 6), significant(*range.end(), 6));
            self.refuse(key, &text, format!("a number from {low} to {high}"));
        }
        number
    }

    /// One of a few words.
    pub fn word<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(key)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.refuse(key, &text, format!("one of {}", known.join(", ")));
        }
        found
    }

    /// A value that its own type reads.
    pub fn parsed<T: std::str::FromStr<Err: fmt::Display>>(&mut self, key: &str) -> Option<T> {
        let text = self.text(key)?;
        text.parse().map_err(|problem| self.refuse(key, &text, problem)).ok()
    }

    /// Notices about keys that nothing read, or everything that was refused.
    pub fn finish(self) -> Result<Vec<String>, Refusals> {
        if !self.refused.is_empty() {
            return Err(Refusals(self.refused));
        }
        let unknown = self.pairs.iter().filter(|(_, text)| !text.is_empty());
        Ok(unknown
            .map(|(key, _)| format!("nothing here reads `{}`: it is ignored", refusal(key, "", "").key))
            .collect())
    }
}

/// Pairs in the order of an address.
#[derive(Default)]
pub(super) struct Writer(String);

impl Writer {
    /// Adds a key where it has a value.
    pub fn add(&mut self, key: &str, value: Option<impl fmt::Display>) {
        let Some(value) = value else { return };
        if !self.0.is_empty() {
            self.0.push('&');
        }
        self.0.push_str(&format!("{key}={}", encoded(&value.to_string())));
    }

    /// The query.
    pub fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_survive_an_address() {
        for text in ["h100-sxm5-80gb", "37.5 %", "ä & ö = ü + 1", "µ"] {
            assert_eq!(decoded(&encoded(text)).as_deref(), Some(text));
        }
        assert_eq!(decoded("%"), None);
        assert_eq!(decoded("%zz"), None);
        assert_eq!(decoded("%ff"), None);
        assert_eq!(decoded("a+b").as_deref(), Some("a b"));
    }

    #[test]
    fn all_that_is_wrong_is_named_at_once() {
        let mut reader = Reader::new("m=0&n=x&m=3&bw=nan&new=1&gone=").unwrap();
        assert_eq!(
            (reader.count("m", 1..=8), reader.count("n", 1..=8), reader.real("bw", 0.1..=9.0)),
            (None, None, None)
        );
        let said = reader.finish().unwrap_err().to_string();
        for part in ["m = 3: the key stands twice", "m = 0: a whole number from 1 to 8", "n = x", "bw = nan"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert_eq!(Reader::new("new=1&gone=").unwrap().finish().unwrap().len(), 1);
    }
}
