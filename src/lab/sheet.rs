//! The answers of a student as a file, and how they are graded: 1 for each right transfer answer, predictions count nothing.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Lab, LabError, Part, Question, Verdict, find};
use crate::gpu::{Catalog, toml_message};

/// Version of the results: Exercism's interface of test runners, version 2.
const VERSION: u32 = 2;

/// Characters of an answer that results show.
const SHOWN: usize = 100;

/// Answers of a student.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// The student.
    pub student: String,
    /// Whose numbers were answered; absent for those that everybody sees.
    pub seed: Option<String>,
    /// Answers to the transfer questions, by number or id of the lab.
    answers: BTreeMap<String, String>,
    /// What was predicted, the same way.
    predictions: BTreeMap<String, String>,
    origin: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    student: Text,
    seed: Option<Text>,
    #[serde(default)]
    answers: BTreeMap<String, Text>,
    #[serde(default)]
    predictions: BTreeMap<String, Text>,
}

/// What stands behind a key: text, a number that needs no quotes, or what is no answer and is judged as its text.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text(toml::Value);

impl Text {
    fn text(self) -> String {
        match self.0 {
            toml::Value::String(text) => text,
            toml::Value::Float(number) => number.to_string(),
            other => other.to_string(),
        }
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
    /// Reads a file of answers. `origin` names it in messages.
    ///
    /// # Errors
    /// The text is no such file; the message names line, key and what is known.
    pub fn parse(origin: &str, text: &str) -> Result<Self, LabError> {
        let file: File = toml::from_str(text).map_err(|error| LabError::File {
            what: "file of answers",
            origin: origin.into(),
            message: toml_message(&error),
        })?;
        let texts = |table: BTreeMap<String, Text>| table.into_iter().map(|(lab, text)| (lab, text.text())).collect();
        Ok(Self {
            student: file.student.text(),
            seed: file.seed.map(Text::text),
            answers: texts(file.answers),
            predictions: texts(file.predictions),
            origin: origin.into(),
        })
    }

    /// The answers of a table by number of the lab.
    fn by_number<'a>(
        &'a self,
        key: &str,
        table: &'a BTreeMap<String, String>,
        labs: &[Lab],
    ) -> Result<BTreeMap<u32, &'a str>, LabError> {
        let mut found = BTreeMap::new();
        for (name, text) in table {
            let bad = |problem: String| LabError::Value {
                origin: self.origin.clone(),
                key: format!("{key}.{name}"),
                value: text.clone(),
                problem,
            };
            let lab = find(labs, name).map_err(|error| bad(error.to_string()))?;
            if found.insert(lab.number, text.as_str()).is_some() {
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
                answer: answer.map(short),
                status,
                message,
                prediction: prediction.map(|text| (short(text), judge(exercise.question(Part::Predict), text).0)),
            });
        }
        marks.sort_by_key(|mark| mark.number);
        Ok(Graded { student: self.student.clone(), seed: self.seed.clone(), marks })
    }
}

/// An answer as results show it: its beginning where it is too long to be one.
fn short(answer: &str) -> String {
    match answer.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &answer[..end]),
        None => answer.to_owned(),
    }
}

fn judge(question: &Question, answer: &str) -> (Status, Option<String>) {
    match question.check(answer) {
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
