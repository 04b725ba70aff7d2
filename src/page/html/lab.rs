//! The card of a lab: predict, observe, explain, transfer; and the list of labs.

use maud::{Markup, html};

use crate::{
    lab::{Part, Question, Verdict},
    page::{
        course::{Judged, starts},
        site::{Shown, Site},
        state::State,
    },
};

/// Every lab as a link to the state in which it starts.
pub(super) fn menu(site: &Site, state: &State) -> Markup {
    html! {
        details.labs {
            summary { "Labs" }
            ol {
                @for (lab, start) in starts(&site.catalog, state.seed.as_deref()) {
                    li {
                        a href={ "/?" (start.query()) } aria-current=[(state.lab == start.lab).then_some("true")] { (lab.title) }
                        " " span.hint { (lab.minutes) " min" }
                    }
                }
            }
        }
    }
}

/// The card of the lab that is open.
pub(super) fn card(shown: &Shown) -> Markup {
    let Some(card) = &shown.card else { return html! {} };
    let (state, exercise) = (&shown.state, &card.exercise);
    let closed = State { lab: None, seed: None, guess: None, answer: None, hints: 0, ..state.clone() };
    let seen = card.predicted.is_some() && !card.locked();
    html! {
        section.card aria-label={ "Lab " (exercise.number) } {
            h2 { "Lab " (exercise.number) ": " (exercise.title) }
            p.hint { (exercise.goal) @if let Some(seed) = &exercise.seed { " Numbers of " (seed) "." } }
            h3 { "Predict" }
            p { (coded(&exercise.predict.ask)) }
            (answer_form(state, Part::Predict, &exercise.predict, state.guess.as_deref()))
            (judged(card.predicted.as_ref(), Part::Predict))
            @if !seen { (hints(state, &exercise.predict)) }
            @if seen {
                h3 { "Observe" }
                ol {
                    @for (observation, there) in card.observed(state) {
                        li {
                            code { "wavecast " (observation.run) }
                            @if let Some(there) = there {
                                " " a href={ "/?" (there.query()) } { "set the page to it" }
                            }
                            br; (coded(&observation.look))
                        }
                    }
                }
                details open[matches!(card.predicted, Some(Judged::Read(Verdict::Right)))] {
                    summary { "Explain" }
                    p { "The answer is " b { (exercise.predict.unit.print(exercise.predict.answer)) }
                        @if let Some(guess) = &state.guess { "; you predicted " b { (guess) } } "." }
                    ol { @for step in &exercise.explain { li { (coded(step)) } } }
                }
                h3 { "Transfer" }
                p { (coded(&exercise.transfer.ask)) }
                (answer_form(state, Part::Transfer, &exercise.transfer, state.answer.as_deref()))
                (judged(card.transferred.as_ref(), Part::Transfer))
                (hints(state, &exercise.transfer))
            }
            p.tools { a.button href={ "/?" (closed.query()) } { "Close the lab" } }
        }
    }
}

/// A text whose parts in backquotes are what programs say.
fn coded(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// A form that keeps the state and sends an answer.
fn answer_form(state: &State, part: Part, question: &Question, given: Option<&str>) -> Markup {
    let key = if part == Part::Predict { "guess" } else { "answer" };
    let label = if part == Part::Predict { "Your prediction" } else { "Your answer" };
    let kept = State { hints: 0, ..state.clone() };
    html! {
        form.answer method="get" action="/" {
            @for pair in kept.query().split('&') {
                @if let Some((name, value)) = pair.split_once('=').filter(|(name, _)| *name != key) {
                    input type="hidden" name=(name) value=(crate::page::decoded(value).unwrap_or_default());
                }
            }
            label for=(key) { (label) }
            input type="text" id=(key) name=(key) value=[given] placeholder=(question.unit.example()) maxlength="60"
                autocomplete="off" required;
            button type="submit" { (if part == Part::Predict { "Commit" } else { "Check" }) }
            p.hint { (question.form()) }
        }
    }
}

fn judged(judged: Option<&Judged>, part: Part) -> Markup {
    let graded = part == Part::Transfer;
    html! {
        @match judged {
            None => {},
            Some(Judged::Unread(message)) => p.refused role="alert" { (message) },
            Some(Judged::Read(Verdict::Right)) => p.right { (if graded { "Right. The lab is done." } else { "Right. Now see why." }) },
            Some(Judged::Read(Verdict::Trap(reason))) => p.wrong { "Not this: " (coded(reason)) },
            Some(Judged::Read(Verdict::Wrong)) => p.wrong { "Not this. " (if graded { "Think again." } else { "See what happens." }) },
        }
    }
}

/// Hints one after the other.
fn hints(state: &State, question: &Question) -> Markup {
    let opened = (state.hints as usize).min(question.hints.len());
    let more = State { hints: state.hints + 1, ..state.clone() };
    html! {
        @for (place, hint) in question.hints.iter().take(opened).enumerate() { p.hint { "Hint " (place + 1) ": " (coded(hint)) } }
        @if opened < question.hints.len() {
            p.tools { a.button href={ "/?" (more.query()) } { "Hint " (opened + 1) } }
        }
    }
}
