//! `lab`: labs for classes, their answers and how they are graded.

mod check;
mod forms;
mod grade;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args as ClapArgs, Subcommand};

use super::{
    EXIT_OK,
    args::{Format, GpuFolder, OutputArgs},
    table::{Cell, Table},
    world,
};
use crate::{
    gpu::Catalog,
    lab::{Exercise, Lab, find, labs},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// All labs with their goals
    List(ListArgs),
    /// One lab: its goal and its question
    Show(ShowArgs),
    /// Judges an answer, gives a hint, or grades files of answers
    Check(Box<check::Args>),
}

#[derive(ClapArgs)]
#[command(mut_arg("format", |format| format.value_parser(Format::among(&[Format::Text, Format::Json, Format::Csv, Format::Markdown], &[]))))]
struct ListArgs {
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(ClapArgs)]
#[command(mut_arg("format", |format| format.value_parser(Format::among(&[Format::Text, Format::Json, Format::Markdown], &[]))))]
struct ShowArgs {
    #[command(flatten)]
    which: Which,
    /// For the teacher: commands, explanation, known mistakes and both answers too
    #[arg(long)]
    answers: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// A lab with the numbers of a student.
#[derive(ClapArgs)]
struct Which {
    /// The lab by number or id, or a lab file of your own
    #[arg(value_name = "LAB|FILE.toml")]
    lab: String,
    #[command(flatten)]
    numbers: Numbers,
}

/// Where numbers come from.
#[derive(ClapArgs)]
struct Numbers {
    /// A student, who gets numbers of their own; case and outer spaces do not matter
    #[arg(long, value_name = "NAME")]
    seed: Option<String>,
    #[command(flatten)]
    folder: GpuFolder,
}

impl Numbers {
    fn exercise(&self, lab: &str) -> Result<Exercise> {
        self.of(lab, &self.folder.catalog()?)
    }

    fn of(&self, lab: &str, catalog: &Catalog) -> Result<Exercise> {
        Ok(one(lab)?.exercise(catalog, self.seed.as_deref())?)
    }
}

/// A built-in lab, or one from a file.
fn one(name: &str) -> Result<Lab> {
    let path = Path::new(name);
    if path.extension().is_some_and(|ending| ending == "toml") {
        return Ok(Lab::read(name, &world::read_within(path, Lab::LONGEST as u64 + 1)?)?);
    }
    let labs = labs()?;
    Ok(find(&labs, name)?.clone())
}

pub fn run(args: Args) -> Result<u8> {
    match args.command {
        Command::List(args) => list(&args.output),
        Command::Show(args) => show(&args),
        Command::Check(args) => check::run(*args),
    }
}

fn list(output: &OutputArgs) -> Result<u8> {
    let labs = labs()?;
    let row = |lab: &Lab| -> Vec<Cell> {
        vec![
            lab.number.into(),
            lab.id.clone().into(),
            lab.minutes.into(),
            lab.title.clone().into(),
            lab.goal.clone().into(),
        ]
    };
    let columns = vec![("Lab", "lab"), ("Id", "id"), ("Minutes", "minutes"), ("Title", "title"), ("Goal", "goal")];
    output.emit(&Table { columns, rows: labs.iter().map(row).collect() }.titled("Labs", output.format)?)?;
    Ok(EXIT_OK)
}

fn show(args: &ShowArgs) -> Result<u8> {
    let exercise = args.which.numbers.exercise(&args.which.lab)?;
    let text = match args.output.format {
        Format::Json => serde_json::to_string_pretty(&forms::json(&exercise, args.answers))? + "\n",
        Format::Markdown => exercise.markdown(args.answers, &|_| None),
        _ => forms::shown(&exercise, args.answers),
    };
    args.output.emit(&text)?;
    Ok(EXIT_OK)
}

/// A path as messages name it.
fn named(path: &Path) -> String {
    path.display().to_string()
}

/// A list of files.
type Paths = Vec<PathBuf>;
