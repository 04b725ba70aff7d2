//! Labs for classes: a question answered by a number before anything is shown, what to run, why it is so, a second question.
//!
//! A [`Lab`] is a file of `docs/labs`; [`Lab::exercise`] draws the numbers of a student and computes the answers, traps and texts from
//! the GPU files and the model. Nothing is written down twice: a corrected GPU file corrects the labs. The format is in
//! `docs/labs/README.md`.

mod error;
mod exercise;
mod expr;
mod file;
mod measure;
mod page;
mod scope;
mod seed;
mod sheet;
mod unit;

pub use error::LabError;
pub use exercise::{Exercise, Observation, Part, Question, Trap, Verdict};
pub use file::{Lab, Quantity};
pub use sheet::{Graded, Mark, Sheet, Status};
pub use unit::{AnswerError, Unit};

use crate::{gpu::toml_message, units::significant};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/labs.rs"));
}

/// The built-in labs by number.
///
/// # Errors
/// A lab file is not valid, which a test excludes.
pub fn labs() -> Result<Vec<Lab>, LabError> {
    let mut labs: Vec<Lab> = embedded::LAB_FILES
        .iter()
        .map(|(name, text)| Lab::parse(&format!("docs/labs/{name}.toml"), text))
        .collect::<Result<_, _>>()?;
    labs.sort_by_key(|lab| lab.number);
    for lab in &mut labs {
        lab.called = lab.number.to_string();
    }
    Ok(labs)
}

/// The lab with this number or id.
///
/// # Errors
/// There is none; the error lists all.
pub fn find<'a>(labs: &'a [Lab], name: &str) -> Result<&'a Lab, LabError> {
    let wanted = name.trim();
    let found = labs.iter().find(|lab| lab.id == wanted || wanted.parse() == Ok(lab.number));
    found.ok_or_else(|| {
        let known: Vec<String> = labs.iter().map(|lab| format!("{} ({})", lab.number, lab.id)).collect();
        LabError::Unknown { name: short(name), known: known.join(", ") }
    })
}

/// Most bytes of a file of a lab or of answers: none has a reason to be longer.
const LONGEST: usize = 256 << 10;
/// Characters of what somebody wrote that messages and results repeat.
const SHOWN: usize = 100;

/// What somebody wrote, its beginning where it is long.
fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// A parser's message, in which a value may stand whole, with the middle of long lines left out.
fn told(error: &toml::de::Error) -> String {
    let line = |line: &str| {
        let letters: Vec<char> = line.chars().collect();
        if letters.len() <= 4 * SHOWN {
            return line.to_owned();
        }
        let part = |letters: &[char]| letters.iter().collect::<String>();
        format!("{}...{}", part(&letters[..2 * SHOWN]), part(&letters[letters.len() - SHOWN..]))
    };
    toml_message(error).lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The text of a file that should be `what`.
fn text_of<'a>(what: &'static str, origin: &str, bytes: &'a [u8]) -> Result<&'a str, LabError> {
    let bad = |message: String| LabError::File { what, origin: origin.into(), message };
    if bytes.len() > LONGEST {
        return Err(bad(format!("it is longer than {}", crate::units::Bytes(LONGEST as f64))));
    }
    std::str::from_utf8(bytes).map_err(|_| bad("it is not UTF-8 text; save it as UTF-8".into()))
}

/// A tolerance in words: `right within 0.5 %`.
fn within(tolerance: f64) -> String {
    match tolerance {
        0.0 => "only the exact number is right".into(),
        _ => format!("right within {} %", significant(100.0 * tolerance, 3)),
    }
}
