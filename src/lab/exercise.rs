//! A lab with the numbers of a student: questions with their answers, commands, explanation.

use std::collections::BTreeMap;

use super::{
    AnswerError, Lab, LabError, Unit,
    file::{Quantity, QuestionFile, quoted},
    scope::{Form, Scope, Value},
    seed::Stream,
    short,
};
use crate::gpu::Catalog;

/// Draws until the conditions of a lab hold.
const MOST_DRAWS: u32 = 1000;
/// Questions to the program in draws that came to nothing.
const MOST_ASKED: usize = 500;
/// Steps of rounding between two ways to compute the same number.
const NOISE: f64 = 1e-9;

/// How far a known wrong answer may be rounded and is still known, as a share of it.
const ROUNDED: f64 = 0.01;

/// The half of a lab that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Before anything is shown; never graded.
    Predict,
    /// With other numbers, after the explanation; this is what counts.
    Transfer,
}

impl Part {
    /// As in commands: `predict`, `transfer`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Predict => "predict",
            Self::Transfer => "transfer",
        }
    }
}

/// A lab with its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Exercise {
    /// Place in the course.
    pub number: u32,
    /// Short name.
    pub id: String,
    /// Behind `wavecast lab check` and `show`: the lab with the seed, quoted for a shell.
    pub called: String,
    /// Title.
    pub title: String,
    /// What a student can do afterwards.
    pub goal: String,
    /// The belief that the lab removes.
    pub removes: String,
    /// Minutes that it takes.
    pub minutes: u32,
    /// Controls of the page that it opens; all where there are none.
    pub unlock: Vec<String>,
    /// What the prediction is on a chart.
    pub quantity: Option<Quantity>,
    /// Whose numbers they are; absent for those that everybody sees.
    pub seed: Option<String>,
    /// What was drawn, by name, for a teacher.
    pub drawn: Vec<(String, String)>,
    /// The question before anything is shown.
    pub predict: Question,
    /// What to run afterwards.
    pub observe: Vec<Observation>,
    /// The derivation, step by step.
    pub explain: Vec<String>,
    /// The same thought with other numbers.
    pub transfer: Question,
}

/// A question that a number answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The question.
    pub ask: String,
    /// What the answer is counted in.
    pub unit: Unit,
    /// The right answer, in base units.
    pub answer: f64,
    /// How far off is still right, as a share of the answer.
    pub tolerance: f64,
    /// Known wrong answers.
    pub traps: Vec<Trap>,
    /// From the quantity to the formula to its numbers.
    pub hints: Vec<String>,
}

/// A wrong answer that is known by its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Trap {
    /// The value, in base units.
    pub value: f64,
    /// What was thought, and why it is wrong.
    pub reason: String,
}

/// A command and what to look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Words behind `wavecast`.
    pub run: String,
    /// What to look at.
    pub look: String,
    /// Texts that the command prints: the numbers of the explanation.
    pub shows: Vec<String>,
}

/// What an answer is.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Right.
    Right,
    /// A known mistake, with its reason.
    Trap(String),
    /// Wrong in another way.
    Wrong,
}

/// Whether two numbers are the same within a share of both.
fn near(a: f64, b: f64, share: f64) -> bool {
    (a - b).abs() <= (share + NOISE) * (a.abs() + b.abs())
}

impl Question {
    /// Judges the text of an answer.
    ///
    /// # Errors
    /// It is no number in the unit of the question.
    pub fn check(&self, answer: &str) -> Result<Verdict, AnswerError> {
        Ok(self.judge(self.unit.read(answer)?))
    }

    /// Judges an answer in base units.
    pub fn judge(&self, value: f64) -> Verdict {
        let off = |right: f64| (value - right).abs() / right.abs();
        if off(self.answer) <= self.tolerance + NOISE {
            return Verdict::Right;
        }
        // A wrong answer may be rounded more than a right one; where only whole numbers count, it may not.
        let rounded = if self.tolerance > 0.0 { self.tolerance.max(ROUNDED) } else { NOISE };
        let nearest = self.traps.iter().min_by(|a, b| off(a.value).total_cmp(&off(b.value)));
        match nearest.filter(|trap| off(trap.value) <= rounded) {
            Some(trap) => Verdict::Trap(trap.reason.clone()),
            None => Verdict::Wrong,
        }
    }
}

impl Exercise {
    /// The question of a part.
    pub fn question(&self, part: Part) -> &Question {
        match part {
            Part::Predict => &self.predict,
            Part::Transfer => &self.transfer,
        }
    }
}

impl Lab {
    /// The lab with the numbers of a seed, or the first of each list without one.
    ///
    /// # Errors
    /// An expression or a name is wrong, no draw meets the conditions, or a wrong answer cannot be told from the right one;
    /// the error names file, key and value.
    pub fn exercise(&self, catalog: &Catalog, seed: Option<&str>) -> Result<Exercise, LabError> {
        let seed = seed.map(str::trim);
        if seed == Some("") {
            return Err(LabError::Seed);
        }
        let mut stream = seed.map(|seed| Stream::new(seed, &self.id));
        let mut last = "";
        // Short lists give the same numbers again and again, and a condition may ask the program for much.
        let mut asked = 0;
        let mut known: BTreeMap<Vec<usize>, &str> = BTreeMap::new();
        for _ in 0..MOST_DRAWS {
            let mut place = |list: &Vec<Value>| stream.as_mut().map_or(0, |stream| stream.place(list.len()));
            let places: Vec<usize> = self.numbers.values().map(&mut place).collect();
            last = match known.get(&places) {
                Some(condition) => condition,
                None => {
                    let drawn = self.numbers.iter().zip(&places);
                    let drawn = drawn.map(|((name, list), place)| (name.as_str(), &list[*place])).collect();
                    let scope = Scope::new(self, catalog, drawn);
                    let Some(condition) = self.broken(&scope)? else { return self.filled(&scope, seed) };
                    asked += scope.asked();
                    known.insert(places, condition);
                    condition
                }
            };
            if stream.is_none() || asked > MOST_ASKED {
                break;
            }
        }
        Err(LabError::Draw { origin: self.origin.clone(), seed: short(seed.unwrap_or("")), last: short(last) })
    }

    /// The lab with every combination of its numbers that meets its conditions, up to `most` of them; for tests of lab files.
    ///
    /// # Errors
    /// As of [`Lab::exercise`], for any of them.
    pub fn every_exercise(&self, catalog: &Catalog, most: usize) -> Result<Vec<Exercise>, LabError> {
        let total: usize = self.numbers.values().map(Vec::len).fold(1, usize::saturating_mul);
        let mut found = Vec::new();
        for index in 0..total {
            let mut rest = index;
            let mut drawn = BTreeMap::new();
            for (name, list) in &self.numbers {
                drawn.insert(name.as_str(), &list[rest % list.len()]);
                rest /= list.len();
            }
            let scope = Scope::new(self, catalog, drawn);
            if self.broken(&scope)?.is_none() {
                found.push(self.filled(&scope, None)?);
            }
            if found.len() == most {
                break;
            }
        }
        Ok(found)
    }

    /// The first condition that does not hold.
    fn broken(&self, scope: &Scope) -> Result<Option<&str>, LabError> {
        for condition in &self.require {
            if scope.number(condition).map_err(|e| self.bad("require", condition, e))? == 0.0 {
                return Ok(Some(condition));
            }
        }
        Ok(None)
    }

    fn filled(&self, scope: &Scope, seed: Option<&str>) -> Result<Exercise, LabError> {
        // What no text uses is checked all the same.
        for (name, expression) in &self.lets {
            scope.number(name).map_err(|e| self.bad(&format!("let.{name}"), expression, e))?;
        }
        let text = |key: &str, template: &str, form| scope.text(template, form).map_err(|e| self.bad(key, template, e));
        let texts = |key: &str, templates: &[String]| {
            templates.iter().map(|template| text(key, template, Form::Prose)).collect::<Result<Vec<_>, _>>()
        };
        let observe = self.observe.iter().map(|written| {
            Ok(Observation {
                run: text("observe.run", &written.run, Form::Command)?,
                look: text("observe.look", &written.look, Form::Prose)?,
                shows: texts("observe.shows", &written.shows)?,
            })
        });
        let drawn =
            self.numbers.keys().map(|name| Ok((name.clone(), text(name, &format!("{{{name}}}"), Form::Command)?)));
        Ok(Exercise {
            number: self.number,
            id: self.id.clone(),
            called: match seed {
                // Behind a space it would be an option.
                Some(seed) if seed.starts_with('-') => format!("{} --seed={}", self.called, quoted(seed)),
                Some(seed) => format!("{} --seed {}", self.called, quoted(seed)),
                None => self.called.clone(),
            },
            title: self.title.clone(),
            goal: self.goal.clone(),
            removes: self.removes.clone(),
            minutes: self.minutes,
            unlock: self.unlock.clone(),
            quantity: self.quantity,
            seed: seed.map(str::to_owned),
            drawn: drawn.collect::<Result<_, LabError>>()?,
            predict: self.question(scope, Part::Predict, &self.predict)?,
            observe: observe.collect::<Result<_, LabError>>()?,
            explain: texts("explain", &self.explain)?,
            transfer: self.question(scope, Part::Transfer, &self.transfer)?,
        })
    }

    fn question(&self, scope: &Scope, part: Part, written: &QuestionFile) -> Result<Question, LabError> {
        let key = |name: &str| format!("{}.{name}", part.word());
        let text = |name: &str, template: &str| {
            scope.text(template, Form::Prose).map_err(|e| self.bad(&key(name), template, e))
        };
        let value = |name: &str, expression: &str| match scope.number(expression) {
            Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
            Ok(value) => Err(self.bad(&key(name), expression, format!("it is {value}; it must be a number above 0"))),
            Err(error) => Err(self.bad(&key(name), expression, error)),
        };
        let answer = value("answer", &written.answer)?;
        let mut traps: Vec<Trap> = Vec::new();
        for (place, trap) in written.traps.iter().enumerate() {
            let found = value("traps.value", &trap.value)?;
            let taken = std::iter::once(("the answer", answer, &written.answer)).chain(
                traps.iter().zip(&written.traps).map(|(other, file)| ("another trap", other.value, &file.value)),
            );
            for (what, other, expression) in taken {
                if near(found, other, written.tolerance) {
                    let print = |value| written.unit.print(value);
                    let problem = format!(
                        "trap {} is {}, {what} ({expression}) is {}: they cannot be told apart ({}); leave the trap out, narrow the \
                         tolerance, or draw other numbers by `require`",
                        place + 1,
                        print(found),
                        print(other),
                        super::within(written.tolerance)
                    );
                    return Err(self.bad(&key("traps.value"), &trap.value, problem));
                }
            }
            traps.push(Trap { value: found, reason: text("traps.reason", &trap.reason)? });
        }
        Ok(Question {
            ask: text("ask", &written.ask)?,
            unit: written.unit.clone(),
            answer,
            tolerance: written.tolerance,
            traps,
            hints: written.hints.iter().map(|hint| text("hints", hint)).collect::<Result<_, _>>()?,
        })
    }
}

impl Value {
    /// For messages.
    pub(super) fn print(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Word(word) => word.clone(),
        }
    }
}
