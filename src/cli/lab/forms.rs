//! Labs and judgements as text for a terminal, and labs as JSON.

use serde_json::{Value, json};

use crate::{
    cli::world,
    lab::{Exercise, Graded, Part, Question, Status, Verdict},
};

/// Version of a lab in JSON.
const SCHEMA: &str = "wavecast.lab/1";

/// A paragraph as wide as the terminal, `first` before its first line.
fn paragraph(first: &str, text: &str) -> String {
    let indent = " ".repeat(first.chars().count());
    let options = textwrap::Options::new(world::width()).initial_indent(first).subsequent_indent(&indent);
    // Backquotes are Markdown; at a terminal quotes mark what is printed.
    textwrap::fill(&text.replace('`', "'"), options) + "\n"
}

fn title(exercise: &Exercise) -> String {
    let seed = exercise.seed.as_ref().map_or_else(String::new, |seed| format!(", numbers of {seed}"));
    let text = format!("Lab {}: {} ({} minutes{seed})", exercise.number, exercise.title, exercise.minutes);
    paragraph("", &crate::report::clean(&text))
}

fn asked(question: &Question) -> String {
    paragraph("", &question.ask) + "\n" + &paragraph("Answer: ", &question.form())
}

/// The words of a command that checks the next answer.
fn next(exercise: &Exercise, more: &str) -> String {
    crate::report::clean(&format!("wavecast lab check {}{more}", exercise.called))
}

fn observations(exercise: &Exercise) -> String {
    let one = |o: &crate::lab::Observation| format!("  wavecast {}\n{}", o.run, paragraph("    ", &o.look));
    exercise.observe.iter().map(one).collect()
}

fn explanation(exercise: &Exercise) -> String {
    let step = |(place, text): (usize, &String)| paragraph(&format!("  {}. ", place + 1), text);
    exercise.explain.iter().enumerate().map(step).collect()
}

fn solution(question: &Question) -> String {
    let mut text = format!("Right: {}\n", question.unit.print(question.answer));
    for trap in &question.traps {
        text += &paragraph("  not ", &format!("{}: {}", question.unit.print(trap.value), trap.reason));
    }
    for (place, text_of_hint) in question.hints.iter().enumerate() {
        text += &paragraph(&format!("  hint {}: ", place + 1), text_of_hint);
    }
    text
}

/// The lab before anything is answered; with `answers` all of it.
pub fn shown(exercise: &Exercise, answers: bool) -> String {
    let (predict, transfer) = (&exercise.predict, &exercise.transfer);
    let mut text = format!("{}\n{}\n{}", title(exercise), paragraph("Goal: ", &exercise.goal), asked(predict));
    if !answers {
        text += &format!("\nThen:   {} --answer \"...\"\n", next(exercise, ""));
        return text + &format!("Hints:  {}\n", next(exercise, " --hint 1"));
    }
    text += &format!("\n{}\nThen they run\n{}\n", solution(predict), observations(exercise));
    text += &format!("Explanation\n{}\nTransfer\n", explanation(exercise));
    text += &format!("{}\n{}\n", asked(transfer), solution(transfer));
    text += &paragraph("", &format!("The lab removes the belief that {}", exercise.removes));
    let drawn: Vec<String> = exercise.drawn.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    text + &paragraph("Drawn: ", &drawn.join(", "))
}

/// A hint.
pub fn hint(number: usize, text: &str) -> String {
    paragraph(&format!("Hint {number}: "), text)
}

/// What an answer earns.
pub fn judged(exercise: &Exercise, part: Part, verdict: &Verdict) -> String {
    let question = exercise.question(part);
    let more = if part == Part::Transfer { " --transfer" } else { "" };
    match (verdict, part) {
        (Verdict::Right, Part::Predict) => {
            let mut text = format!("Right: {}\n\n{}", question.unit.print(question.answer), explanation(exercise));
            text += &format!("\nSee it:\n{}", observations(exercise));
            text += &format!("\nNow with other numbers.\n{}", asked(&exercise.transfer));
            text + &format!("Then:   {} --answer \"...\"\n", next(exercise, " --transfer"))
        }
        (Verdict::Right, Part::Transfer) => {
            format!("Right: {}. Lab {} is done.\n", question.unit.print(question.answer), exercise.number)
        }
        (wrong, part) => {
            let mut text = match (wrong, question.hints.first()) {
                (Verdict::Trap(reason), _) => paragraph("Not this: ", reason),
                (_, Some(first)) => format!("Not this.\n{}", hint(1, first)),
                (_, None) => "Not this.\n".into(),
            };
            if part == Part::Predict {
                text += &format!("\nSee what happens, then answer again:\n{}", observations(exercise));
            }
            text + &format!("\nHints:  {} --hint 1\n", next(exercise, more))
        }
    }
}

/// The judgement of a file of answers.
pub fn graded(graded: &Graded) -> String {
    let mut text = format!("{}: {} of {}\n", crate::report::clean(&graded.student), graded.score(), graded.marks.len());
    for mark in &graded.marks {
        let why = mark.message.as_ref().map_or_else(String::new, |message| format!(": {message}"));
        let answer = mark.answer.as_ref().filter(|_| mark.status != Status::Pass);
        let answer = answer.map_or_else(String::new, |answer| format!(" `{}`", crate::report::clean(answer)));
        let line = format!("{} {}{answer}{why}", mark.number, mark.id);
        text += &paragraph(&format!("  {:5} ", mark.status.word()), &line);
    }
    text
}

fn question_json(question: &Question, answers: bool) -> Value {
    let mut value = json!({
        "ask": question.ask,
        "unit": question.unit.what(),
        "write_like": question.unit.example(),
        "tolerance": question.tolerance,
        "hints": question.hints,
    });
    if answers {
        let traps = question.traps.iter().map(|trap| json!({ "value": trap.value, "reason": trap.reason }));
        value["answer"] = question.answer.into();
        value["traps"] = traps.collect();
    }
    value
}

/// The lab for a program; with `answers` all of it.
pub fn json(exercise: &Exercise, answers: bool) -> Value {
    let mut value = json!({
        "schema": SCHEMA,
        "number": exercise.number,
        "id": exercise.id,
        "title": exercise.title,
        "goal": exercise.goal,
        "minutes": exercise.minutes,
        "seed": exercise.seed,
        "predict": question_json(&exercise.predict, answers),
    });
    if answers {
        let observe = exercise.observe.iter().map(|o| json!({ "run": format!("wavecast {}", o.run), "look": o.look }));
        value["removes"] = exercise.removes.as_str().into();
        value["observe"] = observe.collect();
        value["explain"] = exercise.explain.clone().into();
        value["transfer"] = question_json(&exercise.transfer, true);
    }
    value
}
