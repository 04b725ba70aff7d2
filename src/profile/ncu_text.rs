//! Nsight Compute's text output, as it prints without `--csv`: per launch a line that names it, then sections with tables
//! and paragraphs of advice.
//!
//! Three kinds of table are read, by the columns that their rule of dashes draws. The tool of 2019 and 2020
//! (`nv-nsight-cu-cli`) prints name, unit and value without a row of titles, later ones with `Metric Name`, `Metric Unit`,
//! `Metric Value`, and `--print-summary` with `Minimum`, `Maximum`, `Average`: of these the average is taken. A launch
//! reads `name (grid)x(block), Context 1, Stream 7, Device 0, CC 8.6`, in old files `name, date, Context 1, Stream 7`, in
//! summaries `..., Device 0, CC 8.9, Invocations 4`. What the program or the tool's progress printed stands anywhere
//! between and is left out, and so are tables with other columns, which `--print-details` adds.
//!
//! The text has no number of a launch: launches are numbered from 0 in file order. Advice has no name there.

mod header;
mod table;

use header::{LaunchLine, process};
use table::{Row, Table};

use super::launch::{Collected, Keys, Launch};
use super::observed::{Metric, Rule, RuleKind};
use super::text::Warnings;

/// Whether a text holds a launch with a section or a table below it.
pub(super) fn detect(text: &str) -> bool {
    let mut named = false;
    for line in text.lines() {
        if named && (section(line).is_some() || table::is_rule(line)) {
            return true;
        }
        named = named || LaunchLine::of(line).is_some();
    }
    false
}

/// The title of a section.
fn section(line: &str) -> Option<&str> {
    line.trim().strip_prefix("Section: ").map(str::trim)
}

/// What stands open while the lines go by.
struct Reader<'a> {
    collected: Collected,
    keys: Keys,
    /// A launch that no section or table followed so far.
    named: Option<LaunchLine<'a>>,
    process: Option<u64>,
    section: &'a str,
    table: Option<Table>,
    /// The indentation of the mark of the rule that is open.
    rule: Option<usize>,
    summaries: u64,
    invocations: u64,
    other_tables: usize,
    first_other: usize,
}

/// Collects every launch of a text.
pub(super) fn collect(text: &str, warnings: &mut Warnings) -> Collected {
    let mut reader = Reader {
        collected: Collected::default(),
        keys: Keys::default(),
        named: None,
        process: None,
        section: "",
        table: None,
        rule: None,
        summaries: 0,
        invocations: 0,
        other_tables: 0,
        first_other: 0,
    };
    for (index, line) in text.lines().enumerate() {
        reader.line(index + 1, line.trim_end(), warnings);
    }
    reader.finish(warnings)
}

impl<'a> Reader<'a> {
    fn line(&mut self, number: usize, line: &'a str, warnings: &mut Warnings) {
        if line.starts_with("==") {
            self.rule = None;
            warnings.tool_line(number, line);
        } else if let Some(title) = section(line) {
            self.open();
            (self.section, self.table, self.rule) = (title, None, None);
        } else if table::is_rule(line) {
            self.open();
            self.rule = None;
            self.table = match self.table.take() {
                None => Some(Table::of(line)),
                Some(table) => table.next_rule(),
            };
        } else if let Some(named) = LaunchLine::of(line) {
            (self.named, self.section, self.table, self.rule) = (Some(named), "", None, None);
        } else if self.table.is_some() {
            self.row(number, line, warnings);
        } else if line.is_empty() {
            self.rule = None;
        } else {
            self.advice(line);
        }
        if let Some(id) = process(line) {
            self.process = Some(id);
        }
    }

    /// The launch named last begins with its first section or table.
    fn open(&mut self) {
        let Some(named) = self.named.take() else { return };
        if let Some(count) = named.invocations {
            self.summaries += 1;
            self.invocations = self.invocations.saturating_add(count);
        }
        let text = |part: Option<&str>| part.map(ToString::to_string);
        self.collected.launches.push(Launch {
            id: self.collected.launches.len() as u64,
            process_id: self.process,
            name: named.name.to_string(),
            device: text(named.device),
            compute_capability: text(named.compute_capability),
            block: text(named.block),
            grid: text(named.grid),
            ..Launch::default()
        });
    }

    fn row(&mut self, number: usize, line: &str, warnings: &mut Warnings) {
        let Some(table) = &mut self.table else { return };
        if line.is_empty() {
            self.table = None;
            return;
        }
        match table.row(line) {
            Row::Titles => {}
            Row::Other => {
                if self.other_tables == 0 {
                    self.first_other = number;
                }
                self.other_tables += 1;
            }
            Row::Skipped => {}
            Row::Broken => {
                warnings.push(|| format!("line {number}: no row of the table above it: left out"));
            }
            Row::Metric { name, unit, value } => {
                let Some(launch) = self.collected.launches.last_mut() else { return };
                self.collected.votes.see(&value);
                let key = self.keys.get(self.section, &name, &unit);
                launch.metrics.push(Metric { key, value: value.into() });
            }
        }
    }

    /// A paragraph such as `OPT   Est. Speedup: 20.5%` with lines below that stand further right.
    fn advice(&mut self, line: &str) {
        let Some(launch) = self.collected.launches.last_mut() else { return };
        if self.named.is_some() {
            return;
        }
        let content = line.trim_start();
        let indent = line.len() - content.len();
        let mark = content.get(..3).filter(|_| content.get(3..).is_some_and(|rest| rest.starts_with("   ")));
        if let Some(kind) = mark.and_then(kind) {
            let (text, scope, speedup) = estimate(content.get(3..).unwrap_or_default().trim());
            let rule = Rule {
                name: String::new(),
                section: self.section.to_string(),
                kind,
                text: text.to_string(),
                speedup_scope: scope.map(ToString::to_string),
                estimated_speedup_pct: None,
            };
            self.collected.votes.see(speedup);
            launch.rules.push((rule, speedup.to_string()));
            self.rule = Some(indent);
        } else if let (Some((rule, _)), Some(_)) = (launch.rules.last_mut(), self.rule.filter(|mark| indent > *mark)) {
            if !rule.text.is_empty() {
                rule.text.push(' ');
            }
            rule.text.push_str(content);
        } else {
            self.rule = None;
        }
    }

    fn finish(self, warnings: &mut Warnings) -> Collected {
        if self.other_tables > 0 {
            let (count, line) = (self.other_tables, self.first_other);
            warnings.push(|| {
                let what = if count == 1 {
                    "table with other columns than name, unit and value is"
                } else {
                    "tables with other columns than name, unit and value are"
                };
                format!("line {line}: {count} {what} not read")
            });
        }
        if self.summaries > 0 {
            let (groups, launches) = (self.summaries, self.invocations);
            warnings.push(|| {
                format!(
                    "the file is a summary: each of its {groups} kernels stands for all its launches, {launches} in all, with \
                     the average of every metric"
                )
            });
        }
        self.collected
    }
}

fn kind(mark: &str) -> Option<RuleKind> {
    match mark {
        "OPT" => Some(RuleKind::Optimization),
        "INF" => Some(RuleKind::Information),
        "WRN" => Some(RuleKind::Warning),
        "ERR" => Some(RuleKind::Other(mark.to_string())),
        _ => None,
    }
}

/// What follows the estimate that a paragraph may begin with, the estimate's scope, and its percentage as written.
fn estimate(text: &str) -> (&str, Option<&str>, &str) {
    for (lead, scope) in [
        ("Est. Speedup: ", "global"),
        ("Est. Local Speedup: ", "local"),
        ("Estimated Speedup: ", "global"),
        ("Estimated Local Speedup: ", "local"),
    ] {
        if let Some((percent, rest)) = text.strip_prefix(lead).and_then(|rest| rest.split_once('%')) {
            return (rest.trim_start(), Some(scope), percent.trim());
        }
    }
    (text, None, "")
}
