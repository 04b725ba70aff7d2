//! The answers of a student as a file, and how they are graded: 1 for each right transfer answer, predictions count nothing.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Lab, LabError, Part, Question, Verdict, find, short, text_of, told};
use crate::gpu::Catalog;

/// Version of the results: Exercism's interface of test runners, version 2.
const VERSION: u32 = 2;

/// What messages call it.
const KIND: &str = "file of answers";

/// Answers of a student.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// The student.
    pub student: String,
    /// Whose numbers were answered; absent for those that everybody sees.
    pub seed: Option<String>,
    /// Answers to the transfer questions, by number or id of the lab.
    answers: BTreeMap<String, Answer>,
    /// What was predicted, the same way.
    predictions: BTreeMap<String, Answer>,
    origin: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    student: toml::Value,
    seed: Option<toml::Value>,
    #[serde(default)]
    answers: BTreeMap<String, toml::Value>,
    #[serde(default)]
    predictions: BTreeMap<String, toml::Value>,
}

/// What stands behind a key.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    text: String,
    /// What it is where it is neither text nor a number that needs no quotes: such an answer is judged alone.
    other: Option<&'static str>,
}

impl From<toml::Value> for Answer {
    fn from(value: toml::Value) -> Self {
        use toml::Value;
        let other = match value {
            Value::Boolean(_) => Some("a truth value"),
            Value::Datetime(_) => Some("a date"),
            Value::Array(_) => Some("a list"),
            Value::Table(_) => Some("a table"),
            Value::String(_) | Value::Integer(_) | Value::Float(_) => None,
        };
        let text = match value {
            Value::String(text) => text,
            Value::Float(number) => number.to_string(),
            value => value.to_string(),
        };
        Self { text, other }
    }
}

/// How an answer was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Right.
    Pass,
    /// Wrong, or not answered.
    Fail,
    /// It cannot be read.
    Error,
}

impl Status {
    /// As in results: `pass`, `fail`, `error`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Error => "error",
        }
    }
}

/// The judgement of one lab.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Number of the lab.
    pub number: u32,
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The transfer answer as given, its beginning where it is long.
    pub answer: Option<String>,
    /// How it was judged.
    pub status: Status,
    /// Why it is not right.
    pub message: Option<String>,
    /// The prediction as given, and how it was judged.
    pub prediction: Option<(String, Status)>,
}

/// The judgement of a sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Graded {
    /// The student.
    pub student: String,
    /// Whose numbers were answered.
    pub seed: Option<String>,
    /// One mark for each lab that counts, by number.
    pub marks: Vec<Mark>,
}

impl Sheet {
    /// Most bytes of a file of answers.
    pub const LONGEST: usize = super::LONGEST;

    /// Reads a file of answers from its bytes. `origin` names it in messages.
    ///
    /// # Errors
    /// As of [`Sheet::parse`], or it is longer than [`Sheet::LONGEST`] or no UTF-8 text.
    pub fn read(origin: &str, bytes: &[u8]) -> Result<Self, LabError> {
        Self::parse(origin, text_of(KIND, origin, bytes)?)
    }

    /// Reads a file of answers. `origin` names it in messages.
    ///
    /// # Errors
    /// The text is no such file; the message names line, key and what is known.
    pub fn parse(origin: &str, text: &str) -> Result<Self, LabError> {
        let file: File = toml::from_str(text).map_err(|error| {
            // Who writes 1 = 37.5 % is told of syntax alone.
            let syntax = text.parse::<toml::Table>().is_err();
            let cure = if syntax { "; write answers in quotes, such as 1 = \"37.5 %\"" } else { "" };
            LabError::File { what: KIND, origin: origin.into(), message: told(&error) + cure }
        })?;
        let name = |key: &str, value: toml::Value| {
            let Answer { text, other } = value.into();
            let problem = match other {
                Some(what) => format!("it is {what}; write a name in quotes"),
                None if text.trim().is_empty() => format!("the {key} is empty; write a name in quotes"),
                None => return Ok(text),
            };
            Err(LabError::Value { origin: origin.into(), key: key.into(), value: short(&text), problem })
        };
        let answers =
            |table: BTreeMap<String, toml::Value>| table.into_iter().map(|(lab, value)| (lab, value.into())).collect();
        Ok(Self {
            student: name("student", file.student)?,
            seed: file.seed.map(|seed| name("seed", seed)).transpose()?,
            answers: answers(file.answers),
            predictions: answers(file.predictions),
            origin: origin.into(),
        })
    }

    /// The answers of a table by number of the lab.
    fn by_number<'a>(
        &'a self,
        key: &str,
        table: &'a BTreeMap<String, Answer>,
        labs: &[Lab],
    ) -> Result<BTreeMap<u32, &'a Answer>, LabError> {
        let mut found = BTreeMap::new();
        for (name, answer) in table {
            let bad = |problem: String| LabError::Value {
                origin: self.origin.clone(),
                key: format!("{key}.{}", short(name)),
                value: short(&answer.text),
                problem,
            };
            let lab = find(labs, name).map_err(|error| bad(error.to_string()))?;
            if found.insert(lab.number, answer).is_some() {
                return Err(bad(format!("lab {} is answered twice; leave one of them", lab.number)));
            }
        }
        Ok(found)
    }

    /// Grades the sheet. `counted` are the labs that count, in any order; a lab of these without an answer fails.
    ///
    /// # Errors
    /// An answer names no lab, names one twice, or the seed is empty.
    pub fn grade(&self, labs: &[Lab], counted: &[&Lab], catalog: &Catalog) -> Result<Graded, LabError> {
        let answers = self.by_number("answers", &self.answers, labs)?;
        let predictions = self.by_number("predictions", &self.predictions, labs)?;
        let mut marks = Vec::new();
        for lab in counted {
            let exercise = lab.exercise(catalog, self.seed.as_deref())?;
            let answer = answers.get(&lab.number).copied();
            let (status, message) = match answer {
                None => (Status::Fail, Some("no answer".into())),
                Some(answer) => judge(exercise.question(Part::Transfer), answer),
            };
            let prediction = predictions.get(&lab.number).copied();
            marks.push(Mark {
                number: lab.number,
                id: lab.id.clone(),
                title: lab.title.clone(),
                answer: answer.map(|answer| short(&answer.text)),
                status,
                message,
                prediction: prediction
                    .map(|answer| (short(&answer.text), judge(exercise.question(Part::Predict), answer).0)),
            });
        }
        marks.sort_by_key(|mark| mark.number);
        Ok(Graded { student: self.student.clone(), seed: self.seed.clone(), marks })
    }
}

fn judge(question: &Question, answer: &Answer) -> (Status, Option<String>) {
    if let Some(what) = answer.other {
        return (Status::Error, Some(format!("it is {what}; write {}", question.unit.how())));
    }
    match question.check(&answer.text) {
        Ok(Verdict::Right) => (Status::Pass, None),
        Ok(Verdict::Trap(reason)) => (Status::Fail, Some(reason)),
        Ok(Verdict::Wrong) => (Status::Fail, Some("not this, and no known mistake".into())),
        Err(error) => (Status::Error, Some(error.problem)),
    }
}

impl Graded {
    /// Right transfer answers.
    pub fn score(&self) -> usize {
        self.marks.iter().filter(|mark| mark.status == Status::Pass).count()
    }

    /// Pass where every lab is right.
    pub fn status(&self) -> Status {
        if self.score() == self.marks.len() { Status::Pass } else { Status::Fail }
    }

    /// The results as Exercism's test runners write them, with the student's fields beside.
    pub fn json(&self) -> Value {
        let test = |mark: &Mark| {
            json!({
                "name": format!("{} {}: {}", mark.number, mark.id, mark.title),
                "lab": mark.number,
                "status": mark.status.word(),
                "message": mark.message,
                "answer": mark.answer,
                "prediction": mark.prediction.as_ref().map(|(text, _)| text),
                "prediction_status": mark.prediction.as_ref().map(|(_, status)| status.word()),
            })
        };
        json!({
            "version": VERSION,
            "status": self.status().word(),
            "message": Value::Null,
            "student": self.student,
            "seed": self.seed,
            "score": self.score(),
            "of": self.marks.len(),
            "tests": self.marks.iter().map(test).collect::<Vec<_>>(),
        })
    }

    /// The results of a file that is no sheet of answers.
    pub fn error_json(message: &str) -> Value {
        json!({ "version": VERSION, "status": Status::Error.word(), "message": message, "tests": [] })
    }
}
