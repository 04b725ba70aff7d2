//! A lab file as written, with the checks that need no numbers.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{LabError, Unit, scope::Value, short, text_of, told};

/// What messages call it.
const KIND: &str = "lab file";
/// Controls that a lab opens at most: with more, students try at random.
const MOST_UNLOCKED: usize = 3;
/// Most characters of a word or a setting.
const LONGEST_WORD: usize = 200;
/// Most that an answer may be off, as a share of it: what is 5 % off is wrong in every lab.
const LOOSEST: f64 = 0.04;

/// A lab as its file says, before numbers are drawn.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lab {
    #[serde(skip)]
    pub(super) origin: String,
    /// How commands call it: its number, or its file.
    #[serde(skip)]
    pub(super) called: String,
    schema: u32,
    /// Short name: the stem of its file behind the number.
    pub id: String,
    /// Place in the course, from 1.
    pub number: u32,
    /// Title.
    pub title: String,
    /// What a student can do afterwards.
    pub goal: String,
    /// The belief that the lab removes.
    pub removes: String,
    /// Minutes that it takes.
    pub minutes: u32,
    /// Controls of the page that the lab opens, by their keys in addresses, at most three; all without.
    #[serde(default)]
    pub unlock: Vec<String>,
    /// What the prediction is on the charts of the page, where it is on one.
    #[serde(default)]
    pub quantity: Option<Quantity>,
    /// Lists of safe values; the first of each without a seed.
    pub(super) numbers: BTreeMap<String, Vec<Value>>,
    /// What the program is asked, by name.
    #[serde(default)]
    pub(super) measure: BTreeMap<String, BTreeMap<String, Value>>,
    /// Expressions by name.
    #[serde(default, rename = "let")]
    pub(super) lets: BTreeMap<String, String>,
    /// Conditions that keep the lab's point for every draw.
    #[serde(default)]
    pub(super) require: Vec<String>,
    pub(super) predict: QuestionFile,
    pub(super) observe: Vec<ObservationFile>,
    /// The derivation, step by step.
    pub(super) explain: Vec<String>,
    pub(super) transfer: QuestionFile,
}

/// What a prediction is on a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// A share of the warps of an SM.
    Occupancy,
    /// A time.
    Time,
    /// Bytes in the memory of a GPU.
    Memory,
    /// How many times as long the last command takes as the first.
    Slowdown,
    /// How many times as fast the last command is as the first.
    Speedup,
}

/// A question as written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionFile {
    pub ask: String,
    pub unit: Unit,
    pub answer: String,
    #[serde(default)]
    pub tolerance: f64,
    pub traps: Vec<TrapFile>,
    pub hints: Vec<String>,
}

/// A known wrong answer as written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrapFile {
    pub value: String,
    pub reason: String,
}

/// A command as written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ObservationFile {
    pub run: String,
    pub look: String,
    pub shows: Vec<String>,
}

/// A word as a shell takes it: plain where it can be, else in double quotes.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':');
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    let escaped = |c: char| if matches!(c, '"' | '\\' | '$' | '`') { format!("\\{c}") } else { c.to_string() };
    format!("\"{}\"", word.chars().map(escaped).collect::<String>())
}

impl Lab {
    /// Most bytes of a lab file.
    pub const LONGEST: usize = super::LONGEST;

    /// Reads a lab file from its bytes; `origin` names it in messages.
    ///
    /// # Errors
    /// As of [`Lab::parse`], or it is longer than [`Lab::LONGEST`] or no UTF-8 text.
    pub fn read(origin: &str, bytes: &[u8]) -> Result<Self, LabError> {
        Self::parse(origin, text_of(KIND, origin, bytes)?)
    }

    /// Reads a lab file; `origin` names it in messages.
    ///
    /// # Errors
    /// The text is no lab file, or a value is out of its range. Expressions are checked when numbers are drawn.
    pub fn parse(origin: &str, text: &str) -> Result<Self, LabError> {
        let mut lab: Self = toml::from_str(text).map_err(|error| LabError::File {
            what: KIND,
            origin: origin.into(),
            message: told(&error),
        })?;
        lab.origin = origin.into();
        lab.called = quoted(origin);
        lab.check()?;
        Ok(lab)
    }

    /// An error at a key of this file.
    pub(super) fn bad(&self, key: &str, value: &str, problem: impl Into<String>) -> LabError {
        LabError::Value { origin: self.origin.clone(), key: short(key), value: short(value), problem: problem.into() }
    }

    fn check(&self) -> Result<(), LabError> {
        if self.schema != 1 {
            return Err(self.bad("schema", &self.schema.to_string(), "this program reads schema 1"));
        }
        if self.number == 0 {
            return Err(self.bad("number", "0", "labs are numbered from 1"));
        }
        if self.unlock.len() > MOST_UNLOCKED {
            let rule = format!("a lab opens at most {MOST_UNLOCKED} controls");
            return Err(self.bad("unlock", &self.unlock.join(", "), rule));
        }
        for (name, list) in &self.numbers {
            if list.is_empty() {
                return Err(self.bad(&format!("numbers.{name}"), "[]", "list at least one value"));
            }
        }
        // Every text may repeat a word, and every message a unit.
        let words = self.numbers.values().flatten().chain(self.measure.values().flat_map(BTreeMap::values));
        let words = words.filter_map(|value| if let Value::Word(word) = value { Some(word) } else { None });
        let units = [&self.predict, &self.transfer]
            .into_iter()
            .filter_map(|question| if let Unit::Count(noun) = &question.unit { Some(noun) } else { None });
        if let Some(long) = words.chain(units).find(|word| word.chars().count() > LONGEST_WORD) {
            return Err(self.bad("a word", long, format!("it has more than {LONGEST_WORD} characters")));
        }
        // A name stands for one thing.
        let names = self.numbers.keys().chain(self.measure.keys()).chain(self.lets.keys());
        let mut seen = std::collections::BTreeSet::new();
        for name in names {
            let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.len() <= LONGEST_WORD
                && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
            if !plain {
                return Err(self.bad(name, "...", "a name is written in small letters, digits and _, not too many"));
            }
            if !seen.insert(name) {
                return Err(self.bad(name, "...", "it has two meanings under [numbers], [measure] and [let]"));
            }
        }
        self.check_question("predict", &self.predict, 3..=3)?;
        self.check_question("transfer", &self.transfer, 1..=3)?;
        if self.observe.is_empty() || self.explain.is_empty() {
            return Err(self.bad("observe, explain", "[]", "a lab has something to run and an explanation"));
        }
        Ok(())
    }

    fn check_question(
        &self,
        part: &str,
        question: &QuestionFile,
        hints: std::ops::RangeInclusive<usize>,
    ) -> Result<(), LabError> {
        if !(0.0..=LOOSEST).contains(&question.tolerance) {
            let rule = format!("write a share of the answer from 0 to {LOOSEST}, so that 5 % off is wrong");
            return Err(self.bad(&format!("{part}.tolerance"), &question.tolerance.to_string(), rule));
        }
        if !hints.contains(&question.hints.len()) {
            let rule = format!("write {} to {} hints", hints.start(), hints.end());
            return Err(self.bad(&format!("{part}.hints"), &format!("{} hints", question.hints.len()), rule));
        }
        Ok(())
    }
}
