//! Files of answers: one as results, a folder of them as a table.

use std::{
    collections::BTreeMap,
    io::IsTerminal,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use rayon::prelude::*;

use super::{Numbers, Paths, forms, named};
use crate::{
    cli::{EXIT_CHECK, EXIT_OK, world},
    gpu::Catalog,
    lab::{Graded, Lab, LabError, Sheet, find, labs},
    report::clean,
};

/// Files and students that notes name at most.
const NAMED: usize = 5;

/// What every sheet is graded by.
struct Course {
    catalog: Catalog,
    labs: Vec<Lab>,
    /// Places of the labs that count, in `labs`.
    counted: Vec<usize>,
}

impl Course {
    fn new(counted: &[String], numbers: &Numbers) -> Result<Self> {
        let labs = labs()?;
        let mut places = Vec::new();
        for name in counted {
            let number = find(&labs, name).context("--labs")?.number;
            places.extend(labs.iter().position(|lab| lab.number == number));
        }
        if counted.is_empty() {
            places = (0..labs.len()).collect();
        }
        places.sort_unstable();
        places.dedup();
        Ok(Self { catalog: numbers.folder.catalog()?, labs, counted: places })
    }

    fn counted(&self) -> Vec<&Lab> {
        self.counted.iter().map(|place| &self.labs[*place]).collect()
    }

    fn grade(&self, origin: &str, bytes: &[u8]) -> Result<Graded, LabError> {
        Sheet::read(origin, bytes)?.grade(&self.labs, &self.counted(), &self.catalog)
    }
}

/// A file of answers, or so much of it that it is refused as too long.
fn bytes(path: &Path) -> Result<Vec<u8>> {
    world::read_within(path, Sheet::LONGEST as u64 + 1)
}

/// Grades one file. Results are written of a file that is no sheet too, as Exercism's test runners do: they say what is wrong.
pub fn file(path: &Path, json: Option<&Path>, counted: &[String], numbers: &Numbers) -> Result<u8> {
    let course = Course::new(counted, numbers)?;
    let graded = course.grade(&named(path), &bytes(path)?);
    if let Some(target) = json {
        let value = graded.as_ref().map_or_else(|error| Graded::error_json(&error.to_string()), Graded::json);
        world::write(target, (serde_json::to_string_pretty(&value)? + "\n").as_bytes())?;
    }
    world::emit(None, &forms::graded(&graded?))?;
    Ok(EXIT_OK)
}

/// A cell that no spreadsheet takes for a formula: students write their names, and teachers open the table.
fn inert(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    clean(&if formula { format!("'{cell}") } else { cell.to_owned() })
}

/// Nobody may write into a pipe that a folder happens to hold.
fn regular(path: &Path) -> Result<()> {
    let what = std::fs::metadata(path).with_context(|| format!("`{}` cannot be read", path.display()))?;
    if what.is_file() { Ok(()) } else { bail!("`{}` is no regular file", path.display()) }
}

/// Above so many files a bar is shown on a terminal.
const MANY: usize = 100;

/// The first of some files.
fn some(files: &[String]) -> String {
    let more = if files.len() > NAMED { ", ..." } else { "" };
    files[..files.len().min(NAMED)].join(", ") + more
}

/// Grades all files of a folder.
pub fn folder(folder: &Path, output: Option<&Path>, counted: &[String], numbers: &Numbers, quiet: bool) -> Result<u8> {
    let course = Course::new(counted, numbers)?;
    let what = || format!("--folder `{}` cannot be read", folder.display());
    let mut paths: Paths = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(what)? {
        paths.push(entry.with_context(what)?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")));
    paths.sort();
    if paths.is_empty() {
        bail!("--folder `{}` has no file of answers (*.toml)", folder.display());
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let labs = course.counted();
    let mut header: Vec<String> = ["file", "student", "seed", "score", "of"].map(str::to_owned).to_vec();
    header.extend(labs.iter().map(|lab| format!("lab_{}", lab.number)));
    header.push("error".into());
    writer.write_record(&header)?;
    let mut left_out = Vec::new();
    let mut students: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let watched = !quiet && paths.len() > MANY && std::io::stderr().is_terminal();
    let bar = if watched { ProgressBar::new(paths.len() as u64) } else { ProgressBar::hidden() };
    let grade = |path: &PathBuf| {
        let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let graded = regular(path)
            .and_then(|()| bytes(path))
            .and_then(|bytes| Ok(course.grade(&file, &bytes)?))
            .map_err(|error| format!("{error:#}"));
        bar.inc(1);
        (file, graded)
    };
    let all: Vec<_> = paths.par_iter().map(grade).collect();
    bar.finish_and_clear();
    for (file, graded) in all {
        let mut row = vec![file.clone()];
        match graded {
            Ok(graded) => {
                students.entry(graded.student.trim().to_lowercase()).or_default().push(file);
                let seed = graded.seed.clone().unwrap_or_default();
                row.extend([graded.student.clone(), seed, graded.score().to_string(), graded.marks.len().to_string()]);
                let word = |mark: &crate::lab::Mark| match mark.answer {
                    Some(_) => mark.status.word().to_owned(),
                    None => "none".into(),
                };
                row.extend(graded.marks.iter().map(word));
                row.push(String::new());
            }
            Err(error) => {
                left_out.push(file);
                row.extend(vec![String::new(); 4 + labs.len()]);
                // A table has one line per row: of a parser's message with its caret the lines follow each other.
                row.push(error.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
        writer.write_record(row.iter().map(|cell| inert(cell)))?;
    }
    world::emit(output, &String::from_utf8(writer.into_inner()?)?)?;
    for (student, files) in students.iter().filter(|(_, files)| files.len() > 1).take(NAMED) {
        world::note(quiet, &format!("warning: {} are of the same student, {student}", some(files)));
    }
    let files = world::counted(paths.len() as u64, "file");
    let which = if left_out.is_empty() { String::new() } else { format!(": {}", some(&left_out)) };
    world::note(quiet, &format!("{files}, {} not graded{which}", left_out.len()));
    Ok(if left_out.is_empty() { EXIT_OK } else { EXIT_CHECK })
}
