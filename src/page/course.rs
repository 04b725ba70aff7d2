//! The labs on the page: a prediction opens the controls, the model answers, a second question counts.

use super::{
    command::split,
    query::Refusals,
    state::{State, Tab},
};
use crate::{
    gpu::Catalog,
    lab::{Exercise, Lab, LabError, Observation, Quantity, Question, Verdict, find, labs},
};

/// A lab as far as a student is.
#[derive(Clone, Debug)]
pub(super) struct Card {
    /// The lab with its numbers.
    pub exercise: Exercise,
    /// What became of the prediction.
    pub predicted: Option<Judged>,
    /// What became of the answer to the transfer question.
    pub transferred: Option<Judged>,
}

/// What became of an answer.
#[derive(Clone, Debug)]
pub(super) enum Judged {
    /// It is no number in the unit; the message.
    Unread(String),
    /// It was judged.
    Read(Verdict),
}

impl Judged {
    fn of(question: &Question, text: &str) -> Self {
        match question.check(text) {
            Ok(verdict) => Self::Read(verdict),
            Err(error) => Self::Unread(error.to_string()),
        }
    }
}

impl Card {
    /// The lab of a state; absent where none is open.
    ///
    /// # Errors
    /// There is no such lab, or no numbers for the seed.
    pub fn of(state: &State, catalog: &Catalog) -> Result<Option<Self>, Refusals> {
        let Some(number) = state.lab else { return Ok(None) };
        let refuse = |error: LabError| Refusals::one("lab", &number.to_string(), error);
        let all = labs().map_err(refuse)?;
        let lab = find(&all, &number.to_string()).map_err(refuse)?;
        let exercise = lab.exercise(catalog, state.seed.as_deref()).map_err(refuse)?;
        let judged = |question: &Question, text: &Option<String>| text.as_ref().map(|text| Judged::of(question, text));
        let predicted = judged(&exercise.predict, &state.guess);
        let transferred = judged(&exercise.transfer, &state.answer);
        Ok(Some(Self { exercise, predicted, transferred }))
    }

    /// Whether the controls stay locked: nothing that can be read was predicted.
    pub fn locked(&self) -> bool {
        !matches!(self.predicted, Some(Judged::Read(_)))
    }

    /// The controls that are open, by key; all of them where the answer is absent.
    pub fn open(&self) -> Option<&[String]> {
        let done = matches!(self.transferred, Some(Judged::Read(Verdict::Right)));
        (!done && !self.exercise.unlock.is_empty()).then_some(&self.exercise.unlock)
    }

    /// What was predicted, in base units, and what that is on a chart.
    pub fn prediction(&self, state: &State) -> Option<(Quantity, f64)> {
        let value = self.exercise.predict.unit.read(state.guess.as_ref()?).ok()?;
        Some((self.exercise.quantity?, value))
    }

    /// The states that the commands of the lab mean, where the page has them; the last with the one before it pinned where the
    /// prediction is about both.
    pub fn observed(&self, state: &State) -> Vec<(&Observation, Option<State>)> {
        let all = self.exercise.observe.iter();
        let mut found: Vec<_> = all.map(|observation| (observation, observed(state, observation))).collect();
        if let (Some(Quantity::Slowdown | Quantity::Speedup), [.., (_, Some(before)), (_, Some(last))]) =
            (self.exercise.quantity, &mut found[..])
        {
            (last.pin, last.tab) = (Some(before.bare().query()), Tab::Time);
        }
        found
    }
}

/// The state that a command of a lab means, where the page has it; with the lab of `state`.
fn observed(state: &State, observation: &Observation) -> Option<State> {
    let found = State::of_command(&split(&observation.run))?;
    let (lab, seed) = (state.lab, state.seed.clone());
    let (guess, answer) = (state.guess.clone(), state.answer.clone());
    Some(State { lab, seed, guess, answer, hints: state.hints, ..found })
}

/// The state in which a lab starts, that of its first command that the page has; with the lab of `state`.
pub(super) fn start(state: &State, exercise: &Exercise) -> Option<State> {
    exercise.observe.iter().find_map(|observation| observed(state, observation))
}

/// Every lab with the state in which it starts.
pub(super) fn starts(catalog: &Catalog, seed: Option<&str>) -> Vec<(Lab, State)> {
    let one = |lab: Lab| {
        let state = State { lab: Some(lab.number.into()), seed: seed.map(str::to_owned), ..State::default() };
        let found = lab.exercise(catalog, seed).ok().and_then(|exercise| start(&state, &exercise));
        (lab, found.unwrap_or(state))
    };
    labs().unwrap_or_default().into_iter().map(one).collect()
}
