//! A lab as a page in Markdown: the question first, everything else folded until it is wanted.

use super::{Exercise, Observation, Question, within};

/// How an answer is written and judged, one sentence.
impl Question {
    /// "a share, such as "7.3 %" or 0.073; right within 0.5 %".
    pub fn form(&self) -> String {
        format!("{}, such as {}; {}", self.unit.what(), self.unit.example(), within(self.tolerance))
    }
}

/// A part of a page that opens when its line is chosen.
fn folded(summary: &str, body: &str) -> String {
    format!("<details>\n<summary>{summary}</summary>\n\n{}\n\n</details>\n\n", body.trim())
}

impl Exercise {
    /// The page. `output` gives what a command prints, where that should stand on the page; with `answers` the page is a
    /// teacher's, with the traps and the answer of the transfer question.
    pub fn markdown(&self, answers: bool, output: &dyn Fn(&Observation) -> Option<String>) -> String {
        let (predict, transfer) = (&self.predict, &self.transfer);
        let mut page = format!("# Lab {}: {}\n\n{} ({} minutes)\n\n", self.number, self.title, self.goal, self.minutes);
        if let Some(seed) = &self.seed {
            page += &format!("Numbers of: {seed}\n\n");
        }
        page += &format!("## Predict\n\n{}\n\n", predict.ask);
        page += &format!("Write down {}. Only then read on; the program judges it:\n\n", predict.form());
        page += &format!("```sh\nwavecast lab check {} --answer \"...\"\n```\n\n", self.called);
        for (place, hint) in predict.hints.iter().enumerate() {
            page += &folded(&format!("Hint {}", place + 1), hint);
        }
        page += "## Observe\n\n";
        let mut seen = String::new();
        for observation in &self.observe {
            // Who runs the page as a test wants a line between the output and the fence.
            let printed = output(observation).map_or_else(String::new, |printed| printed + "\n");
            seen += &format!("```console\n$ wavecast {}\n{printed}```\n\n{}\n\n", observation.run, observation.look);
        }
        page += &folded("When your number is written down: run this, and look", &seen);
        page += "## Explain\n\n";
        let mut why = format!("The answer is **{}**.\n\n", predict.unit.print(predict.answer));
        for (place, step) in self.explain.iter().enumerate() {
            why += &format!("{}. {step}\n", place + 1);
        }
        page += &folded("The answer and where it comes from", &(why + &known(predict)));
        page += &format!("## Transfer\n\n{}\n\n", transfer.ask);
        page += &format!("This answer is graded: {}.\n\n", transfer.form());
        page += &format!("```sh\nwavecast lab check {} --transfer --answer \"...\"\n```\n", self.called);
        if answers {
            let mut teacher = format!("The answer is **{}**.\n", transfer.unit.print(transfer.answer));
            teacher += &known(transfer);
            teacher += &format!("\nThe lab removes the belief that {}\n", self.removes);
            page += &format!("\n## For the teacher\n\n{}", folded("The answer of the transfer question", &teacher));
        }
        page.trim_end().to_owned() + "\n"
    }
}

/// The known wrong answers with their reasons.
fn known(question: &Question) -> String {
    if question.traps.is_empty() {
        return String::new();
    }
    let line = |trap: &super::Trap| format!("- {}: {}\n", question.unit.print(trap.value), trap.reason);
    format!("\nAnswers that are often given:\n\n{}", question.traps.iter().map(line).collect::<String>())
}
