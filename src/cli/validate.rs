//! `validate`: predictions against measured times, by groups.

mod forms;

use std::{
    io::Cursor,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use clap::{
    Args as ClapArgs,
    builder::{PossibleValuesParser, TypedValueParser},
};

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{Format, GpuArgs, OutputArgs},
    predict::{fixed, near_columns, overridden},
    show::{NamedChart, write_files},
    world,
};
use crate::{
    chart::{
        Theme,
        figures::{error_figure, scatter_figure},
    },
    op::predict::Predictor,
    validate::{Key, Validation},
};

#[derive(ClapArgs)]
pub struct Args {
    /// Tables with measured_us (CSV, `-` for standard input); columns in `docs/cli.md`
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// What rows are grouped by; charts have a panel for each value of the first key
    #[arg(long, value_name = "KEY,...", value_delimiter = ',', default_value = "gpu,op,dtype", value_parser = keys())]
    by: Vec<Key>,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Folder for the table in every form and the charts (SVG, PNG, and the data behind each as CSV)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Reads the word of a key.
pub fn keys() -> impl TypedValueParser<Value = Key> {
    let key = |word: String| Key::ALL.into_iter().find(|key| key.word() == word).unwrap_or(Key::Gpu);
    PossibleValuesParser::new(Key::ALL.map(Key::word)).map(key)
}

pub fn run(args: Args) -> Result<u8> {
    let validation = compared(&args.files, &args.by, &args.gpu, args.output.quiet)?;
    let groups = validation.groups();
    let drawn = args.out.is_some() || args.output.format == Format::Html;
    let charts = if drawn { charts(&validation, &tables(&args.files)) } else { Vec::new() };
    let rendered = match args.output.format {
        Format::Text => forms::text(&validation, &groups),
        Format::Json => forms::json_text(&validation, &groups),
        Format::Csv => forms::csv_text(&validation, &groups)?,
        Format::Markdown => forms::markdown(&validation, &groups)?,
        Format::Html => forms::html(&validation, &groups, &charts),
    };
    if let Some(folder) = &args.out {
        let reports = [
            ("validation.json", forms::json_text(&validation, &groups)),
            ("validation.csv", forms::csv_text(&validation, &groups)?),
            ("validation.md", forms::markdown(&validation, &groups)?),
            ("validation.html", forms::html(&validation, &groups, &charts)),
        ];
        write_files(folder, &reports, &charts, args.output.quiet)?;
    }
    args.output.emit(&rendered)?;
    Ok(if validation.left_out.is_empty() { EXIT_OK } else { EXIT_CHECK })
}

/// The rows of all tables, predicted.
pub fn compared(files: &[PathBuf], by: &[Key], gpu: &GpuArgs, quiet: bool) -> Result<Validation> {
    let catalog = gpu.folder.catalog()?;
    let (fixed, mut notes) = fixed(gpu, &catalog)?;
    let mut predictor = Predictor::new(&catalog, fixed);
    let mut validation = Validation::new(by);
    for file in files {
        let table = world::read(file)?;
        notes.extend(near_columns(&table));
        let name = file.display().to_string();
        let name = if name == "-" { "standard input" } else { &name };
        validation.add(name, Cursor::new(table), &mut predictor).with_context(|| format!("`{name}`"))?;
    }
    notes.append(&mut predictor.assumptions);
    notes.extend(overridden(&predictor, gpu.gpu.first().map(String::as_str)));
    for note in notes {
        world::note(quiet, &format!("note: {note}"));
    }
    if validation.gpus.is_empty() {
        let most = validation.left_out.iter().max_by_key(|(_, left)| left.rows);
        let why = most.map_or("the tables have no rows".into(), |(reason, left)| format!("{left}: {reason}"));
        bail!("no row can be compared ({why}); the tables need op, dtype, m, n, k and measured_us");
    }
    Ok(validation)
}

/// Tables named one by one.
const NAMED: usize = 3;

/// The tables as captions name them, without their folders.
pub fn tables(files: &[PathBuf]) -> String {
    if files.len() > NAMED {
        return format!("{} tables", files.len());
    }
    let name = |file: &PathBuf| match file.file_name() {
        _ if file == Path::new("-") => "standard input".to_owned(),
        name => name.unwrap_or_default().to_string_lossy().into_owned(),
    };
    files.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Both charts.
fn charts(validation: &Validation, tables: &str) -> Vec<NamedChart> {
    let series = validation.series();
    let chart = |name: &str, label: &str, chart| NamedChart { name: name.into(), label: label.into(), chart };
    vec![
        chart(
            "scatter",
            "Predicted against measured time",
            scatter_figure(validation, &series, tables).draw(Theme::Light),
        ),
        chart("error-by-size", "Error by measured time", error_figure(validation, &series, tables).draw(Theme::Light)),
    ]
}
