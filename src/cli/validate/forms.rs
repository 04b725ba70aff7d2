//! A validation in every format.

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::{
    cli::{
        args::Format,
        show::NamedChart,
        table::{Cell, Table},
    },
    report::{Part, escape, page},
    units::{plural, significant},
    validate::{Group, Key, Score, Validation},
};

/// For people: all columns, then what they mean and what was left out.
pub fn text(validation: &Validation, groups: &[Group]) -> String {
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
    let rounded = Cell::Fixed;
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
    text += &format!("{}\n", counted(validation));
    for (reason, left) in &validation.left_out {
        text += &format!("  {left}: {reason}\n");
    }
    text
}

/// "1600 rows, 0 left out".
fn counted(validation: &Validation) -> String {
    format!("{}, {} left out", plural(validation.rows, "row"), validation.left_out_rows())
}

/// What the columns of [`short`] mean.
const MEANING: &str = "Errors are |predicted / measured - 1| in percent: mean, median and 90th percentile. Ratio is the geometric mean of \
                       predicted / measured, in band the share of rows inside the 80 % band. Datasheet and roofline are the mean errors of the datasheet roofline \
                       and of one whose three constants were fitted to the rows of the line.";

/// The columns of a page: keys, rows, errors, and the rooflines; `word` is how a value of a key is written.
fn short(validation: &Validation, groups: &[Group], word: impl Fn(Key, &str) -> String) -> Table<'static> {
    let heading = |key: Key| match key {
        Key::Gpu => "GPU",
        Key::Op => "Op",
        Key::Dtype => "Type",
        Key::Size => "Size",
        Key::Waves => "Waves",
        Key::Bound => "Bound",
        Key::Source => "Source",
    };
    let mut columns: Vec<(&str, &str)> = validation.keys().iter().map(|key| (heading(*key), key.word())).collect();
    let numbers = ["Rows", "Mean", "Median", "p90", "Ratio", "In band", "Datasheet", "Roofline"];
    columns.extend(numbers.map(|heading| (heading, "")));
    let rows = groups.iter().map(|group| {
        let (score, one) = (&group.model, |value| Cell::Fixed(value, 1));
        let mut row: Vec<Cell> =
            validation.keys().iter().zip(&group.keys).map(|(key, value)| word(*key, value).into()).collect();
        row.push(Cell::Number(group.rows as f64));
        row.extend([score.mape, score.median, score.p90].map(one));
        row.push(Cell::Fixed(score.ratio, 3));
        row.extend([group.in_band, group.datasheet.mape, group.roofline.mape].map(one));
        row
    });
    Table { columns, rows: rows.collect() }
}

/// A table to paste, and below it what was left out.
pub fn markdown(validation: &Validation, groups: &[Group]) -> Result<String> {
    // The words of the other keys are ours.
    let word = |key, value: &str| match key {
        Key::Gpu | Key::Source => escape(value),
        _ => value.to_owned(),
    };
    let mut text = short(validation, groups, word).render(Format::Markdown)?;
    text += &format!("\n{}.\n", counted(validation));
    for (reason, left) in &validation.left_out {
        text += &format!("- {}: {}\n", escape(&left.to_string()), escape(reason));
    }
    Ok(text)
}

/// A page with the table and the charts.
pub fn html(validation: &Validation, groups: &[Group], charts: &[NamedChart]) -> String {
    let table = short(validation, groups, |_, value| value.to_owned()).page();
    let mut parts = vec![Part::Table(table), Part::Text(MEANING.into()), Part::Text(counted(validation) + ".")];
    if !validation.left_out.is_empty() {
        let items = validation.left_out.iter().map(|(reason, left)| format!("{left}: {reason}")).collect();
        parts.push(Part::List { heading: "Left out".into(), items });
    }
    parts.extend(charts.iter().map(|c| Part::Figure { label: c.label.clone(), svg: c.chart.svg().to_owned() }));
    page("Predictions against measured times", &parts)
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

/// One object of the schema `wavecast.validation/1`.
pub fn json_text(validation: &Validation, groups: &[Group]) -> String {
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
    let left_out = validation.left_out.iter();
    let left_out: Vec<Value> =
        left_out.map(|(reason, left)| json!({ "reason": reason, "rows": left.rows, "first": left.first })).collect();
    let whole = json!({
        "schema": "wavecast.validation/1",
        "rows": validation.rows,
        "groups": groups,
        "left_out": left_out,
    });
    format!("{whole:#}\n")
}

/// A row per group, units in the column names.
pub fn csv_text(validation: &Validation, groups: &[Group]) -> Result<String> {
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
