//! What a sweep says to people and programs: what it spans, what it found.

use anyhow::Result;
use clap::Args as ClapArgs;
use serde_json::{Map, Value, json};

use super::{Swept, span::headline};
use crate::{
    cli::{
        table::{Cell as Drawn, Table},
        world,
    },
    report::clean,
    sweep::{Batch, Cell, Column, Found, Kept, Objective, Search, csv},
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
    /// Whether something is looked for in all rows.
    pub fn searches(&self) -> bool {
        self.best.is_some() || !self.pareto.is_empty()
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

const TIME: &str = "predicted_us";
/// Headings of results for people.
const SHORT: [(&str, &str); 9] = [
    ("predicted_us", "us"),
    ("occupancy_pct", "occ %"),
    ("percent_of_roof", "roof %"),
    ("tflop_per_s", "TFLOP/s"),
    ("usd_per_million", "USD/1M"),
    ("tail_cost_pct", "tail %"),
    ("blocks_per_sm", "per SM"),
    ("gpu_name", "GPU"),
    ("limiters", "limits"),
];

/// A cell that stands to the right where it is a number; the times of a table are read by 4 digits.
fn drawn(text: &str) -> Drawn {
    match text.parse::<f64>() {
        Ok(number) if number.fract() != 0.0 => Drawn::from(significant(number, 4).parse::<f64>().unwrap_or(number)),
        Ok(number) => number.into(),
        Err(_) => text.into(),
    }
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
    /// Rows of an earlier run, which nothing here was said of.
    pub unseen: u64,
}

impl Report<'_> {
    fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    fn cell<'k>(&self, kept: &'k [String], name: &str) -> &'k str {
        self.place(name).and_then(|place| kept.get(place)).map_or("", String::as_str)
    }

    /// The key of the axis in a column.
    fn key(&self, place: usize) -> &str {
        self.space.plan.axes().nth(place - 1).map_or("", |(_, axis)| axis.key.as_str())
    }

    /// The value of an axis in a row as it was written, from the number of the point.
    fn value(&self, cells: &[String], place: usize) -> String {
        let plan = &self.space.plan;
        let mut at = vec![0; plan.groups.len()];
        plan.coordinates(cells[0].parse().unwrap_or_default(), &mut at);
        plan.axes().nth(place - 1).map_or(String::new(), |(group, axis)| axis.values.text(at[group]))
    }

    /// `m = 64, gpu = h100`: the axes of a row.
    fn point(&self, cells: &[String]) -> String {
        let axes = (1..self.inputs).map(|place| format!("{} = {}", self.key(place), self.value(cells, place)));
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
        let mut say = |line: String| text += &(textwrap::fill(&clean(&line), width) + "\n");
        if !self.bounds().is_empty() {
            say(self.bounds());
        }
        if found.errors > 0 {
            let reason = found.first_error.as_deref().unwrap_or_default();
            let first = if found.errors > 1 { "; the first" } else { "" };
            say(format!("{} of {} cannot run{first}: {reason}", grouped(found.errors), counted(found.rows, "point")));
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
            return format!("\n{}\n", textwrap::fill(&clean(&line), width));
        }
        let names: Vec<&str> = by.iter().map(|place| self.columns[*place].name.as_str()).collect();
        let mut places = by.to_vec();
        places.extend((1..self.inputs).filter(|place| !by.contains(place)));
        places.extend(["predicted_us", "bound", "tile", name].iter().filter_map(|name| self.place(name)));
        let line = format!("Best ({word} {name}) for each {}:", names.join(", "));
        let mut rows: Vec<&Kept> = self.found.best.values().collect();
        // By what the rows are grouped, numbers as numbers.
        let order = |kept: &Kept| -> Vec<(f64, String)> {
            by.iter()
                .map(|place| (kept.cells[*place].parse().unwrap_or(f64::INFINITY), kept.cells[*place].clone()))
                .collect()
        };
        rows.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
        let rows: Vec<_> = rows.into_iter().map(|kept| kept.cells.clone()).collect();
        let total = rows.len();
        format!("\n{line}\n")
            + &self.table(places, &[TIME, name], rows, total)
            + if self.found.left_out { LEFT_OUT } else { "" }
    }

    fn front(&self, [first, second]: &[Objective; 2], width: usize) -> String {
        let mut places: Vec<usize> = (1..self.inputs).collect();
        places.extend([&first.name, &second.name, "bound", "tile"].iter().filter_map(|name| self.place(name)));
        let rows: Vec<Vec<String>> = self.found.front.iter().map(|kept| kept.cells.clone()).collect();
        let line = match rows.len() {
            0 => format!("No point has values in both {} and {}.", first.name, second.name),
            n => format!("{} no other beats in both {} and {}:", counted(n as u64, "point"), first.name, second.name),
        };
        format!("\n{}\n", textwrap::fill(&line, width))
            + &self.table(places, &[&first.name, &second.name], rows, self.found.front.len())
    }

    /// The heading of a column for people.
    fn head(&self, place: usize) -> String {
        if (1..self.inputs).contains(&place) {
            return self.key(place).into();
        }
        let name = self.columns[place].name.as_str();
        SHORT.iter().find(|(long, _)| *long == name).map_or(name, |(_, short)| short).into()
    }

    /// Rows in some of their columns, each once; those that are empty throughout are left out, and where the terminal has no room for
    /// all without a break inside a word, the last ones of which `keep` has none.
    fn table(&self, mut places: Vec<usize>, keep: &[&str], rows: Vec<Vec<String>>, total: usize) -> String {
        if rows.is_empty() {
            return String::new();
        }
        let shown = &rows[..rows.len().min(SHOWN)];
        let mut seen = Vec::new();
        places.retain(|place| {
            let new = !seen.contains(place) && shown.iter().any(|cells| !cells[*place].is_empty());
            seen.push(*place);
            new
        });
        let axis = |place: usize| (1..self.inputs).contains(&place);
        let table = |places: &[usize], heads: &[String]| {
            let cell =
                |cells: &[String], p: usize| if axis(p) { self.value(cells, p).into() } else { drawn(&cells[p]) };
            let row = |cells: &Vec<String>| places.iter().map(|p| cell(cells, *p)).collect();
            let columns = heads.iter().map(|head| (head.as_str(), head.as_str())).collect();
            let table = Table { columns, rows: shown.iter().map(row).collect() };
            table.unbroken().ok_or_else(|| table.wide())
        };
        let mut heads: Vec<String> = places.iter().map(|p| self.head(*p)).collect();
        let mut without = Vec::new();
        let mut text = table(&places, &heads);
        while text.is_err() {
            let name = |place: &usize| self.columns[*place].name.as_str();
            let long = heads.iter_mut().filter(|head| !head.contains('\n') && head.contains(['.', '_']));
            // A long key goes on in the next line; then columns go.
            if let Some(head) = long.max_by_key(|head| head.len()) {
                *head = head.replace('.', ".\n").replace('_', "_\n");
            } else if let Some(last) = places.iter().rposition(|p| !axis(*p) && !keep.contains(&name(p))) {
                without.insert(0, name(&places.remove(last)));
                heads.remove(last);
            } else {
                break;
            }
            text = table(&places, &heads);
        }
        // Where even the axes have no room, the lines are longer.
        let mut text = text.unwrap_or_else(|wide| wide);
        if !without.is_empty() {
            let line = format!("no room for {}: they are in --format csv and --output", without.join(", "));
            text += &(textwrap::fill(&line, world::width()) + "\n");
        }
        text + &more(total)
    }

    /// The first rows.
    fn rows(&self) -> String {
        let Some(batch) = self.first else { return String::new() };
        let mut places: Vec<usize> = (1..self.inputs).collect();
        let results = ["predicted_us", "bound", "tile", "waves", "occupancy_pct", "tflop_per_s", "percent_of_roof"];
        places.extend(results.iter().filter_map(|name| self.place(name)));
        let cells = |row| (0..self.columns.len()).map(|place| csv::cell(batch, place, row, self.inputs)).collect();
        let rows = (0..batch.rows.min(SHOWN)).map(cells).collect();
        format!("\n{}", self.table(places, &[TIME], rows, self.found.rows as usize))
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
            "rows_of_earlier_run": self.unseen,
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
fn more(rows: usize) -> String {
    match rows.checked_sub(SHOWN) {
        None | Some(0) => String::new(),
        Some(rest) => {
            format!("and {} more: --format csv, or --output FILE.csv or FILE.parquet\n", grouped(rest as u64))
        }
    }
}
