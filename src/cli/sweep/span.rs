//! What a sweep spans: the answer to `--dry-run`, and the first lines of every report.

use serde_json::json;

use crate::{
    cli::{
        args::Format,
        table::{Cell, Table},
        world,
    },
    report::clean,
    sweep::{Axis, Plan, Shard},
    units::{counted, grouped},
};

/// The axes of a plan, one line each.
fn axes(plan: &Plan) -> Table<'static> {
    let columns = ["axis", "values", "first", "last", "varies"].map(|name| (name, name)).to_vec();
    let mut table = Table { columns, rows: Vec::new() };
    for (group, axis) in plan.axes() {
        let together = plan.groups[group].axes.iter().filter(|a| a.key != axis.key).map(|a| a.key.as_str());
        let together: Vec<&str> = together.collect();
        let varies = match (together.is_empty(), group) {
            (false, _) => format!("with {}", together.join(", ")),
            (true, 0) => "slowest".into(),
            (true, _) => String::new(),
        };
        let values = &axis.values;
        let (first, last) = (values.text(0), values.text(values.len() - 1));
        let cells = [axis.key.clone(), grouped(values.len()), first, last, varies];
        table.rows.push(cells.map(Cell::from).to_vec());
    }
    table
}

fn fixed(plan: &Plan) -> String {
    let fixed: Vec<String> =
        plan.fixed.iter().filter(|f| f.key != "op").map(|f| format!("{} = {}", f.key, f.value)).collect();
    fixed.join(", ")
}

/// How many points, and of what: the answer to `--dry-run`.
pub fn dry(plan: &Plan, command: &str, shard: Shard, format: Format) -> String {
    let rows = shard.rows(plan.rows());
    let count = rows.end - rows.start;
    if format == Format::Json {
        let axis = |(_, axis): (usize, &Axis)| json!({"key": axis.key, "values": axis.values.len()});
        let value = json!({
            "schema": 1, "command": command, "op": plan.op, "points": plan.points(), "rows": plan.rows(),
            "shard": {"index": shard.index, "count": shard.count, "first_row": rows.start, "end_row": rows.end},
            "axes": plan.axes().map(axis).collect::<Vec<_>>(),
        });
        return format!("{value:#}\n");
    }
    let mut text = headline(plan);
    if shard != Shard::WHOLE {
        text += &format!(
            "shard {} of {}: {}, from row {}\n",
            shard.index,
            shard.count,
            counted(count, "row"),
            grouped(rows.start)
        );
    }
    let axes = axes(plan);
    text + "\n" + &axes.unbroken().unwrap_or_else(|| axes.wide())
}

/// Title, operation, number of points, what stays.
pub fn headline(plan: &Plan) -> String {
    let mut text = String::new();
    if !plan.title.is_empty() {
        text += &format!("{}\n", clean(&plan.title));
    }
    let sample = match plan.sample {
        None => String::new(),
        Some(s) => format!(", {} drawn with seed {}", grouped(s.count), s.seed),
    };
    text += &format!("{}: {}{sample}\n", plan.op, counted(plan.points(), "point"));
    let fixed = fixed(plan);
    if !fixed.is_empty() {
        let line = clean(&format!("fixed: {fixed}"));
        text += &(textwrap::fill(&line, world::width()) + "\n");
    }
    text
}
