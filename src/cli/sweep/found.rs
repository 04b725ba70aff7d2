//! What a sweep says to people and programs: what it spans, what it found.

use anyhow::Result;
use clap::Args as ClapArgs;
use serde_json::{Map, Value, json};

use super::Swept;
use crate::{
    cli::{
        args::{Format, OutputArgs},
        table::{Cell as Drawn, Table},
        world,
    },
    sweep::{Batch, Cell, Column, Found, Kept, MOST_GROUPS, Objective, Plan, Search, Shard, csv},
    units::{counted, grouped, significant},
};

/// What is looked for.
#[derive(ClapArgs, Clone)]
pub struct Wanted {
    /// The best point: time, throughput, cost, or a column
    #[arg(long, value_name = "time|throughput|cost|COLUMN", help_heading = "Finding")]
    best: Option<String>,
    /// The best point of each group of equal values in these columns, such as m,n,k
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', requires = "best", help_heading = "Finding")]
    by: Vec<String>,
    /// Points that no other beats in both columns, such as time,cost
    #[arg(long, value_name = "COLUMN,COLUMN", value_delimiter = ',', num_args = 1, help_heading = "Finding")]
    pareto: Vec<String>,
}

/// Rows and groups that are shown to people; files hold all.
const SHOWN: usize = 20;

impl Wanted {
    /// Whether another question is asked than for all points.
    pub fn asks(&self) -> bool {
        false
    }

    /// Whether something is looked for in all rows.
    pub fn searches(&self) -> bool {
        self.best.is_some() || !self.pareto.is_empty()
    }

    pub fn answer(&self, _space: &Swept, _output: &OutputArgs) -> Result<u8> {
        Ok(0)
    }

    /// The search among rows of these columns.
    pub fn search(&self, columns: &[Column], inputs: usize) -> Result<Search> {
        let mut search = Search::new(columns, inputs);
        if let Some(best) = &self.best {
            let place = |name: &String| {
                let known: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
                let found = columns.iter().position(|c| c.name == name.trim());
                found.ok_or_else(|| anyhow::anyhow!("--by `{name}`: no such column; there are {}", known.join(", ")))
            };
            let by = self.by.iter().map(place).collect::<Result<Vec<_>>>()?;
            search.best = Some((Objective::new(best, columns)?, by));
        }
        match &self.pareto[..] {
            [] => {}
            [first, second] => {
                search.front = Some([Objective::new(first.trim(), columns)?, Objective::new(second.trim(), columns)?]);
            }
            other => anyhow::bail!("--pareto {}: name two columns, such as time,cost", other.join(",")),
        }
        Ok(search)
    }
}

/// The axes of a plan, one line each.
fn axes(plan: &Plan) -> Table<'static> {
    let mut table = table(&["axis", "values", "first", "last", "varies"]);
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
        table.rows.push(cells.map(Drawn::from).to_vec());
    }
    table
}

/// A table whose headings are the names of its columns.
fn table<'a>(heads: &[&'a str]) -> Table<'a> {
    Table { columns: heads.iter().map(|head| (*head, *head)).collect(), rows: Vec::new() }
}

/// A cell that stands to the right where it is a number; the times of a table are read by 4 digits.
fn drawn(text: &str) -> Drawn {
    match text.parse::<f64>() {
        Ok(number) if number.fract() != 0.0 => Drawn::from(significant(number, 4).parse::<f64>().unwrap_or(number)),
        Ok(number) => number.into(),
        Err(_) => text.into(),
    }
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
        let axis = |(_, axis): (usize, &crate::sweep::Axis)| json!({"key": axis.key, "values": axis.values.len()});
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
    text + "\n" + &axes(plan).text()
}

fn headline(plan: &Plan) -> String {
    let mut text = String::new();
    if !plan.title.is_empty() {
        text += &format!("{}\n", plan.title);
    }
    let sample = match plan.sample {
        None => String::new(),
        Some(s) => format!(", {} drawn with seed {}", grouped(s.count), s.seed),
    };
    text += &format!("{}: {}{sample}\n", plan.op, counted(plan.points(), "point"));
    let fixed = fixed(plan);
    if !fixed.is_empty() {
        let line = format!("fixed: {fixed}");
        text += &(textwrap::fill(&line, world::width()) + "\n");
    }
    text
}

/// The answer of a sweep.
pub struct Report<'a> {
    pub space: &'a Swept,
    pub columns: &'a [Column],
    pub inputs: usize,
    pub found: &'a Found,
    /// The first rows.
    pub first: Option<&'a Batch>,
    pub search: &'a Search,
}

impl Report<'_> {
    fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    fn cell<'k>(&self, kept: &'k [String], name: &str) -> &'k str {
        self.place(name).and_then(|place| kept.get(place)).map_or("", String::as_str)
    }

    /// `m = 64, gpu = h100`: the axes of a row.
    fn point(&self, cells: &[String]) -> String {
        let axes = (1..self.inputs).map(|place| format!("{} = {}", self.columns[place].name, cells[place]));
        axes.collect::<Vec<_>>().join(", ")
    }

    fn bounds(&self) -> String {
        let all = self.found.rows - self.found.errors;
        let part = |(count, word): (&u64, &str)| {
            (*count > 0).then(|| {
                format!("{} {word}-bound ({} %)", grouped(*count), significant(100.0 * *count as f64 / all as f64, 3))
            })
        };
        let parts: Vec<String> = self.found.bounds.iter().zip(["math", "memory", "latency"]).filter_map(part).collect();
        parts.join(", ")
    }

    /// For people.
    pub fn text(&self, width: usize) -> String {
        let found = self.found;
        let mut text = headline(&self.space.plan);
        let mut say = |line: String| text += &(textwrap::fill(&line, width) + "\n");
        if !self.bounds().is_empty() {
            say(self.bounds());
        }
        if found.errors > 0 {
            let reason = found.first_error.as_deref().unwrap_or_default();
            say(format!("{} of {} cannot run: {reason}", grouped(found.errors), counted(found.rows, "point")));
        }
        if let Some((fastest, slowest)) = found.span {
            let times = if fastest > 0.0 { significant(slowest / fastest, 3) } else { "inf".into() };
            say(format!("from {} to {} us, {times} times", significant(fastest, 4), significant(slowest, 4)));
        }
        if let Some((objective, by)) = &self.search.best {
            text += &self.best(objective, by, width);
        }
        if let Some(front) = &self.search.front {
            text += &self.front(front, width);
        }
        if !self.searched() && self.first.is_some() {
            text += &self.rows();
        }
        text
    }

    fn searched(&self) -> bool {
        self.search.best.is_some() || self.search.front.is_some()
    }

    fn best(&self, objective: &Objective, by: &[usize], width: usize) -> String {
        let name = &objective.name;
        let word = if objective.most { "largest" } else { "smallest" };
        if self.found.best.is_empty() {
            return format!("\nno point has a value in {name}: nothing is best\n");
        }
        if by.is_empty() {
            let Some(kept) = self.found.best.values().next() else { return String::new() };
            let (us, bound) = (self.cell(&kept.cells, "predicted_us"), self.cell(&kept.cells, "bound"));
            let tile = self.cell(&kept.cells, "tile");
            let tile = if tile.is_empty() { String::new() } else { format!(", kernel {tile}") };
            let value = if name == "predicted_us" {
                String::new()
            } else {
                format!("{name} {}, ", self.cell(&kept.cells, name))
            };
            let line =
                format!("Best ({word} {name}): {}: {value}{us} us, {bound}-bound{tile}.", self.point(&kept.cells));
            return format!("\n{}\n", textwrap::fill(&line, width));
        }
        let names: Vec<&str> = by.iter().map(|place| self.columns[*place].name.as_str()).collect();
        let rest: Vec<usize> = (1..self.inputs).filter(|place| !by.contains(place)).collect();
        let mut heads = names.clone();
        heads.extend(rest.iter().map(|place| self.columns[*place].name.as_str()));
        heads.extend(["predicted_us", "bound", "tile"]);
        if !heads.contains(&name.as_str()) {
            heads.push(name);
        }
        let line = format!("Best ({word} {name}) for each {}:", names.join(", "));
        let rows: Vec<&Kept> = self.found.best.values().collect();
        format!("\n{line}\n") + &self.table(&heads, &rows) + if self.found.left_out { LEFT_OUT } else { "" }
    }

    fn front(&self, [first, second]: &[Objective; 2], width: usize) -> String {
        let mut heads: Vec<&str> = (1..self.inputs).map(|place| self.columns[place].name.as_str()).collect();
        heads.extend([first.name.as_str(), second.name.as_str(), "bound"]);
        let rows: Vec<&Kept> = self.found.front.iter().collect();
        let line = match rows.len() {
            0 => format!("No point has values in both {} and {}.", first.name, second.name),
            n => format!("{} no other beats in both {} and {}:", counted(n as u64, "point"), first.name, second.name),
        };
        format!("\n{}\n", textwrap::fill(&line, width)) + &self.table(&heads, &rows)
    }

    fn table(&self, heads: &[&str], rows: &[&Kept]) -> String {
        if rows.is_empty() {
            return String::new();
        }
        let mut table = table(heads);
        for kept in rows.iter().take(SHOWN) {
            table.rows.push(heads.iter().map(|head| drawn(self.cell(&kept.cells, head))).collect());
        }
        table.text() + &more(rows.len())
    }

    /// The first rows.
    fn rows(&self) -> String {
        let Some(batch) = self.first else { return String::new() };
        let mut places: Vec<usize> = (1..self.inputs).collect();
        let results = ["predicted_us", "bound", "tile", "waves", "occupancy_pct", "tflop_per_s", "percent_of_roof"];
        let cell = |place, row| csv::cell(batch, place, row, self.inputs);
        let shown = batch.rows.min(SHOWN);
        let filled = |place: &usize| (0..shown).any(|row| !cell(*place, row).is_empty());
        places.extend(results.iter().filter_map(|name| self.place(name)).filter(filled));
        let heads: Vec<&str> = places.iter().map(|place| self.columns[*place].name.as_str()).collect();
        let mut table = table(&heads);
        for row in 0..shown {
            table.rows.push(places.iter().map(|place| drawn(&cell(*place, row))).collect());
        }
        let rows = self.found.rows as usize;
        format!("\n{}", table.text()) + &more(rows)
    }

    /// For programs.
    pub fn json(&self) -> String {
        let found = self.found;
        let row = |kept: &Kept| {
            let cells = self.columns.iter().zip(&kept.cells).map(|(column, text)| {
                let value = match (column.kind, text.as_str()) {
                    (_, "") => Value::Null,
                    (Cell::Text, text) => text.into(),
                    (_, text) => serde_json::from_str(text).unwrap_or(Value::Null),
                };
                (column.name.clone(), value)
            });
            Value::Object(cells.collect::<Map<String, Value>>())
        };
        let plan = &self.space.plan;
        let [math, memory, latency] = found.bounds;
        let value = json!({
            "schema": 1,
            "command": self.space.command,
            "title": plan.title,
            "op": plan.op,
            "points": plan.points(),
            "rows": found.rows,
            "errors": found.errors,
            "first_error": found.first_error,
            "bounds": {"math": math, "memory": memory, "latency": latency},
            "fastest_us": found.span.map(|s| s.0),
            "slowest_us": found.span.map(|s| s.1),
            "best": found.best.values().map(row).collect::<Vec<_>>(),
            "pareto": found.front.iter().map(row).collect::<Vec<_>>(),
        });
        format!("{value:#}\n")
    }
}

const LEFT_OUT: &str = "further groups are left out: write the rows to a file, or take fewer columns in --by\n";
const _: () = assert!(MOST_GROUPS >= 1000);

fn more(rows: usize) -> String {
    match rows.checked_sub(SHOWN) {
        None | Some(0) => String::new(),
        Some(rest) => {
            format!("and {} more: --format csv, or --output FILE.csv or FILE.parquet\n", grouped(rest as u64))
        }
    }
}
