//! `lab check`: one answer at the terminal, or files of answers for a teacher.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args as ClapArgs, ValueEnum};

use super::{Numbers, forms, grade};
use crate::{
    cli::{EXIT_CHECK, EXIT_OK, world},
    lab::{Part, Verdict},
};

#[derive(ClapArgs)]
pub struct Args {
    /// The lab by number or id, or a lab file of your own
    #[arg(value_name = "LAB|FILE.toml", required_unless_present_any = ["file", "folder"], conflicts_with_all = ["file", "folder"])]
    lab: Option<String>,
    /// The answer with its unit, such as "37.5 %" or "2 ms"
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, required_unless_present_any = ["hint", "file", "folder"], conflicts_with_all = ["file", "folder"])]
    answer: Option<String>,
    /// A hint instead: 1 names the quantity, 2 the formula, 3 its numbers
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["answer", "file", "folder"])]
    hint: Option<usize>,
    /// The question that is answered: predict, before anything is shown, or transfer, which is graded
    #[arg(long, value_enum, default_value = "predict", conflicts_with_all = ["file", "folder"])]
    part: PartArg,
    /// Short for --part transfer
    #[arg(long, conflicts_with_all = ["part", "file", "folder"])]
    transfer: bool,
    #[command(flatten)]
    numbers: Numbers,
    /// Grade one file of answers (`-` for standard input); its form is in docs/labs/README.md
    #[arg(long, value_name = "ANSWERS.toml", conflicts_with_all = ["folder", "seed"])]
    file: Option<PathBuf>,
    /// With --file: results for a program, in the form of Exercism's test runners
    #[arg(long, value_name = "RESULTS.json", requires = "file")]
    json: Option<PathBuf>,
    /// Grade all files of answers (*.toml) in a folder: a table with a row per file
    #[arg(long, value_name = "DIR", conflicts_with = "seed")]
    folder: Option<PathBuf>,
    /// With --folder: file for the table (CSV), written whole; standard output without it
    #[arg(long, value_name = "SUMMARY.csv", requires = "folder")]
    output: Option<PathBuf>,
    /// With --file or --folder: the labs that count, by number or id; all without it
    #[arg(long, value_name = "LABS", value_delimiter = ',', conflicts_with = "lab")]
    labs: Vec<String>,
    /// No notes on standard error
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum PartArg {
    /// Before anything is shown
    Predict,
    /// With other numbers, after the explanation
    Transfer,
}

pub fn run(args: Args) -> Result<u8> {
    let counted = &args.labs;
    if let Some(path) = &args.file {
        return grade::file(path, args.json.as_deref(), counted, &args.numbers);
    }
    if let Some(folder) = &args.folder {
        return grade::folder(folder, args.output.as_deref(), counted, &args.numbers, args.quiet);
    }
    let exercise = args.numbers.exercise(args.lab.as_deref().unwrap_or_default())?;
    let part = match (args.transfer, args.part) {
        (false, PartArg::Predict) => Part::Predict,
        _ => Part::Transfer,
    };
    let question = exercise.question(part);
    if let Some(number) = args.hint {
        let Some(hint) = number.checked_sub(1).and_then(|place| question.hints.get(place)) else {
            bail!("--hint {number}: this question has hints 1 to {}", question.hints.len());
        };
        world::emit(None, &forms::hint(number, hint))?;
        return Ok(EXIT_OK);
    }
    let answer = args.answer.as_deref().unwrap_or_default();
    let verdict = question.check(answer)?;
    let right = verdict == Verdict::Right;
    world::emit(None, &forms::judged(&exercise, part, &verdict))?;
    Ok(if right { EXIT_OK } else { EXIT_CHECK })
}
