//! Questions that need few points: what moves the answer most, and from which value on something holds.

use anyhow::{Result, bail};
use clap::Args as ClapArgs;
use serde_json::json;

use super::Swept;
use crate::{
    cli::{
        EXIT_OK,
        args::{Format, OutputArgs},
        table::{Cell, Table},
        world,
    },
    report::clean,
    sweep::{Condition, Crossing, Sensitivity, crossings, sensitivity},
    units::{grouped, significant},
};

/// A question about the space instead of a run through it.
#[derive(ClapArgs, Clone)]
pub struct Questions {
    /// Which parameter moves the time most: every axis over its values, everything else by a swing, one at a time around a point
    #[arg(long, help_heading = "Finding", conflicts_with_all = ["best", "pareto", "out", "first"])]
    sensitivity: bool,
    /// How far what has no axis is moved for --sensitivity
    #[arg(long, value_name = "PERCENT", default_value_t = 20.0, requires = "sensitivity", help_heading = "Finding")]
    swing: f64,
    /// The point of --sensitivity: the middle of each axis without this
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::pair, requires = "sensitivity", help_heading = "Finding")]
    at: Vec<(String, String)>,
    /// From which value of --along this holds, such as 'bound = math' or 'percent_of_roof >= 80'
    #[arg(long, value_name = "CONDITION", requires = "along", help_heading = "Finding", conflicts_with_all = ["best", "pareto", "out"])]
    first: Option<String>,
    /// The axis of --first; each combination of the others has its answer
    #[arg(long, value_name = "KEY", requires = "first", help_heading = "Finding")]
    along: Option<String>,
}

/// Answers that are shown to people; --format csv has all.
const SHOWN: usize = 20;

impl Questions {
    /// The answer; absent where nothing of this kind is asked.
    pub fn answer(&self, space: &Swept, output: &OutputArgs) -> Result<Option<u8>> {
        if self.first.is_none() && !self.sensitivity {
            return Ok(None);
        }
        let format = form(output)?;
        let text = match (&self.first, &self.along) {
            (Some(first), Some(along)) => self.crossing(space, first, along, format)?,
            _ => self.influences(space, format)?,
        };
        output.emit(&text)?;
        Ok(Some(EXIT_OK))
    }

    fn influences(&self, space: &Swept, format: Format) -> Result<String> {
        if !(self.swing > 0.0 && self.swing < 100.0) {
            bail!("--swing {}: a share of the value in percent, above 0 and below 100", self.swing);
        }
        let found = sensitivity(&space.plan, &space.catalog, &space.prices, &self.at, self.swing / 100.0);
        let found = found.map_err(|error| anyhow::anyhow!("the point cannot run: {error}; give another by --at"))?;
        if format != Format::Text {
            return rows_of(&found).render(format);
        }
        let point: Vec<String> =
            found.point.iter().filter(|(key, _)| key != "op").map(|(key, value)| format!("{key} = {value}")).collect();
        let mut text = String::new();
        let lines = [format!("{} at {}", space.plan.op, point.join(", "))].into_iter().chain(found.sentences());
        for line in lines {
            text += &(textwrap::fill(&clean(&line), world::width()) + "\n");
        }
        let table = for_people(&found);
        Ok(text + "\n" + &table.unbroken().unwrap_or_else(|| table.wide()))
    }

    fn crossing(&self, space: &Swept, first: &str, along: &str, format: Format) -> Result<String> {
        let condition: Condition = first.parse()?;
        let found = crossings(&space.plan, &space.catalog, &space.prices, along, &condition)?;
        let ends = space.plan.axes().find(|(_, axis)| axis.key == along);
        let ends =
            ends.map(|(_, axis)| (axis.values.text(0), axis.values.text(axis.values.len() - 1))).unwrap_or_default();
        match format {
            Format::Json => {
                let of = |c: &Crossing| {
                    let others: serde_json::Map<String, serde_json::Value> =
                        c.others.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
                    json!({
                        "others": others, "along": along, "condition": first, "value": c.value, "holds_before": c.at_first,
                        "changes": c.changes, "evaluated": c.evaluated, "error": c.error,
                    })
                };
                Ok(format!("{:#}\n", json!({"schema": 1, "crossings": found.iter().map(of).collect::<Vec<_>>()})))
            }
            Format::Csv => {
                let others: Vec<&str> = found[0].others.iter().map(|(key, _)| key.as_str()).collect();
                let fixed = ["along", "condition", "value", "holds_before", "changes", "evaluated", "error"];
                let heads = others.iter().copied().chain(fixed).map(|name| (name, name)).collect();
                let row = |c: &Crossing| {
                    let mut cells: Vec<Cell> = c.others.iter().map(|(_, value)| Cell::from(value.as_str())).collect();
                    let holds = if c.at_first { "1" } else { "0" };
                    cells.extend([along, first].map(Cell::from));
                    cells.extend([Cell::from(c.value.clone()), holds.into()]);
                    cells.extend([Cell::Number(c.changes as f64), Cell::Number(c.evaluated as f64)]);
                    cells.push(Cell::from(c.error.clone()));
                    cells
                };
                Table { columns: heads, rows: found.iter().map(row).collect() }.render(format)
            }
            _ => {
                let mut text = String::new();
                for crossing in found.iter().take(SHOWN) {
                    let line = crossing.sentence(along, (&ends.0, &ends.1), &condition);
                    text += &(textwrap::fill(&clean(&line), world::width()) + "\n");
                }
                if found.len() > SHOWN {
                    text += &format!("and {} more combinations: --format csv\n", grouped((found.len() - SHOWN) as u64));
                }
                Ok(text)
            }
        }
    }
}

/// The form of an answer: that of the name of its file, unless --format says more.
fn form(output: &OutputArgs) -> Result<Format> {
    let ending = output.output.as_ref().and_then(|path| path.extension()?.to_str());
    match (ending, output.format) {
        (Some("parquet"), _) => {
            let name = output.output.as_ref().map_or(String::new(), |path| path.display().to_string());
            bail!("--output `{name}`: the answer to a question is .csv, .json or text; rows of points are .parquet")
        }
        (Some("csv"), Format::Text) => Ok(Format::Csv),
        (Some("json"), Format::Text) => Ok(Format::Json),
        (_, format) => Ok(format),
    }
}

/// What `chart tornado` reads.
fn rows_of(found: &Sensitivity) -> Table<'static> {
    let names =
        ["parameter", "low_value", "high_value", "low_us", "base_us", "high_us", "elasticity", "least_us", "most_us"];
    let row = |i: &crate::sweep::Influence| {
        let texts = [&i.parameter, &i.low_value, &i.high_value].map(|t| Cell::from(t.as_str()));
        let times = [i.low_us, Some(found.base_us), i.high_us, i.elasticity, Some(i.span_us.0), Some(i.span_us.1)];
        texts.into_iter().chain(times.map(Cell::from)).collect()
    };
    Table { columns: names.map(|name| (name, name)).to_vec(), rows: found.influences.iter().map(row).collect() }
}

fn for_people(found: &Sensitivity) -> Table<'static> {
    let names = ["parameter", "from", "to", "us at low", "us at high", "elasticity"];
    let us = |time: Option<f64>| time.map_or(Cell::Absent, |us| significant(us, 4).into());
    let row = |i: &crate::sweep::Influence| {
        vec![
            i.parameter.as_str().into(),
            i.low_value.as_str().into(),
            i.high_value.as_str().into(),
            us(i.low_us),
            us(i.high_us),
            // Without the minus of a zero.
            i.elasticity.map_or(Cell::Absent, |e| Cell::Fixed(if e.abs() < 0.005 { 0.0 } else { e }, 2)),
        ]
    };
    Table { columns: names.map(|name| (name, name)).to_vec(), rows: found.influences.iter().map(row).collect() }
}
