//! `validate`: predictions against measured times, by groups.

use std::{io::Cursor, path::PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args as ClapArgs, builder::PossibleValuesParser, builder::TypedValueParser};
use serde_json::{Map, Value, json};

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{Format, GpuArgs, OutputArgs},
    predict::fixed,
    table::{Cell, Table},
    world,
};
use crate::{
    op::predict::Predictor,
    units::significant,
    validate::{Group, Key, Score, Validation},
};

#[derive(ClapArgs)]
pub struct Args {
    /// Tables with measured_us (CSV, `-` for standard input); columns in `docs/cli.md`
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// What rows are grouped by
    #[arg(long, value_name = "KEY,...", value_delimiter = ',', default_value = "gpu,op,dtype",
        value_parser = PossibleValuesParser::new(Key::ALL.map(Key::word)).map(|word| key(&word)))]
    by: Vec<Key>,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    output: OutputArgs,
}

fn key(word: &str) -> Key {
    Key::ALL.into_iter().find(|key| key.word() == word).unwrap_or(Key::Gpu)
}

pub fn run(args: Args) -> Result<u8> {
    let catalog = args.gpu.folder.catalog()?;
    let (fixed, mut notes) = fixed(&args.gpu, &catalog)?;
    let mut predictor = Predictor::new(&catalog, fixed);
    let mut validation = Validation::new(&args.by);
    for file in &args.files {
        let table = Cursor::new(world::read(file)?);
        validation.add(table, &mut predictor).with_context(|| format!("`{}`", file.display()))?;
    }
    notes.append(&mut predictor.assumptions);
    for note in notes {
        world::note(args.output.quiet, &format!("note: {note}"));
    }
    let groups = validation.groups();
    if groups.is_empty() {
        let most = validation.left_out.iter().max_by_key(|(_, rows)| **rows);
        let why = most.map_or("the tables have no rows".into(), |(reason, rows)| format!("{rows} rows: {reason}"));
        bail!("no row can be compared ({why}); the tables need op, dtype, m, n, k and measured_us");
    }
    args.output.emit(&match args.output.format {
        Format::Text => text(&validation, &groups),
        Format::Json => json_text(&validation, &groups),
        Format::Csv => csv_text(&validation, &groups)?,
        Format::Markdown | Format::Html => bail!("validate writes text, json or csv"),
    })?;
    Ok(if validation.left_out.is_empty() { EXIT_OK } else { EXIT_CHECK })
}

fn text(validation: &Validation, groups: &[Group]) -> String {
    let mut columns: Vec<(&str, &str)> = validation.keys().iter().map(|key| (key.word(), key.word())).collect();
    let numbers = [
        "rows",
        "MAPE\n%",
        "median\n%",
        "p90\n%",
        "ratio\n",
        "within\n10 %",
        "\n25 %",
        "\n50 %",
        "Spear-\nman",
        "in band\n%",
        "datasheet\nMAPE %",
        "roofline\nMAPE %",
        "\nmedian %",
    ];
    columns.extend(numbers.map(|heading| (heading, "")));
    let rounded = |value: f64, places| Cell::Text(format!("{value:.places$}"));
    let rows = groups.iter().map(|group| {
        let score = &group.model;
        let mut row: Vec<Cell> = group.keys.iter().map(|key| key.as_str().into()).collect();
        row.push(Cell::Number(group.rows as f64));
        row.extend([score.mape, score.median, score.p90].map(|e| rounded(e, 1)));
        row.push(rounded(score.ratio, 3));
        row.extend(score.within.map(|share| rounded(share, 1)));
        row.push(score.spearman.map_or(Cell::Absent, |rank| rounded(rank, 3)));
        row.extend(
            [group.in_band, group.datasheet.mape, group.roofline.mape, group.roofline.median].map(|e| rounded(e, 1)),
        );
        row
    });
    let mut text = Table { columns, rows: rows.collect() }.wide();
    text += "\nErrors are |predicted / measured - 1|; ratio is the geometric mean of predicted / measured; the band is the 80 % band.\n\
             roofline: t0 + max(FLOP / a, bytes / b) with a, b and t0 fitted to the rows of the group.\n";
    let left_out: u64 = validation.left_out.values().sum();
    text += &format!("{} rows, {left_out} left out\n", validation.rows);
    for (reason, rows) in &validation.left_out {
        text += &format!("  {rows}: {reason}\n");
    }
    text
}

/// Columns of a score.
fn fields(prefix: &str, score: &Score) -> Vec<(String, Option<f64>)> {
    let [ten, quarter, half] = score.within;
    [
        ("mape_pct", Some(score.mape)),
        ("median_ape_pct", Some(score.median)),
        ("p90_ape_pct", Some(score.p90)),
        ("ratio", Some(score.ratio)),
        ("within_10_pct", Some(ten)),
        ("within_25_pct", Some(quarter)),
        ("within_50_pct", Some(half)),
        ("spearman", score.spearman),
    ]
    .map(|(name, value)| (format!("{prefix}{name}"), value))
    .to_vec()
}

/// Columns of a group behind its keys.
fn numbers(group: &Group) -> Vec<(String, Option<f64>)> {
    let mut all = fields("", &group.model);
    all.push(("in_band_pct".into(), Some(group.in_band)));
    all.extend(fields("datasheet_", &group.datasheet));
    all.extend(fields("roofline_", &group.roofline));
    all.push(("roofline_math_share".into(), Some(group.fitted.math_share)));
    all.push(("roofline_memory_share".into(), Some(group.fitted.memory_share)));
    all.push(("roofline_fixed_us".into(), Some(group.fitted.fixed * 1e6)));
    all
}

fn json_text(validation: &Validation, groups: &[Group]) -> String {
    let groups: Vec<Value> = groups
        .iter()
        .map(|group| {
            let mut object = Map::new();
            for (key, value) in validation.keys().iter().zip(&group.keys) {
                object.insert(key.word().into(), value.as_str().into());
            }
            object.insert("rows".into(), group.rows.into());
            for (name, value) in numbers(group) {
                let rounded = value.and_then(|v| significant(v, 6).parse::<f64>().ok());
                object.insert(name, rounded.map_or(Value::Null, Value::from));
            }
            Value::Object(object)
        })
        .collect();
    let left_out: Vec<Value> =
        validation.left_out.iter().map(|(reason, rows)| json!({ "reason": reason, "rows": rows })).collect();
    let whole = json!({
        "schema": "wavecast.validation/1",
        "rows": validation.rows,
        "groups": groups,
        "left_out": left_out,
    });
    format!("{whole:#}\n")
}

fn csv_text(validation: &Validation, groups: &[Group]) -> Result<String> {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    let names = groups.first().map_or(Vec::new(), |group| numbers(group).into_iter().map(|(name, _)| name).collect());
    let keys = validation.keys().iter().map(|key| key.word().to_owned());
    writer.write_record(keys.chain(["rows".to_owned()]).chain(names))?;
    for group in groups {
        let numbers = numbers(group).into_iter().map(|(_, value)| value.map_or(String::new(), |v| significant(v, 6)));
        writer.write_record(group.keys.iter().cloned().chain([group.rows.to_string()]).chain(numbers))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
