//! The tables, whose columns are drawn by a rule of dashes.

use std::ops::Range;

/// A table that is open.
#[derive(Debug)]
pub(super) struct Table {
    /// The columns in characters of the line.
    columns: Vec<Range<usize>>,
    kind: Kind,
}

/// What the columns hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Three columns and nothing read so far: either a row of titles comes or the first metric.
    Unknown,
    /// Name, unit and value, or a summary with the value in the last column; titles were just read.
    Titled,
    /// Name, unit and value in the last column.
    Metrics,
    /// Something else.
    Other,
}

/// What a line of a table is.
#[derive(Debug, PartialEq)]
pub(super) enum Row {
    /// The titles of the columns.
    Titles,
    /// A metric.
    Metric {
        /// Its name.
        name: String,
        /// Its unit, empty where it has none.
        unit: String,
        /// Its value as written.
        value: String,
    },
    /// The first line of a table that is not read.
    Other,
    /// Another line of it.
    Skipped,
    /// Not a row of this table.
    Broken,
}

/// Whether a line is a rule: two or more runs of dashes with a space between.
pub(super) fn is_rule(line: &str) -> bool {
    let content = line.trim();
    content.starts_with("---")
        && content.contains(' ')
        && content.split(' ').all(|run| run.len() > 2 && run.bytes().all(|b| b == b'-'))
}

impl Table {
    /// A table that begins with this rule.
    pub fn of(rule: &str) -> Self {
        let indent = rule.chars().take_while(|c| *c == ' ' || *c == '\t').count();
        let mut at = indent;
        let columns: Vec<Range<usize>> = rule
            .trim()
            .split(' ')
            .map(|run| {
                let column = at..at + run.len();
                at = column.end + 1;
                column
            })
            .collect();
        // Only old tables have no titles, and they have three columns.
        let kind = if columns.len() == 3 || columns.len() == 5 { Kind::Unknown } else { Kind::Other };
        Table { columns, kind }
    }

    /// What another rule makes of it: the rows begin below the titles' rule, any other one ends a table that is read.
    pub fn next_rule(mut self) -> Option<Self> {
        match self.kind {
            Kind::Titled => self.kind = Kind::Metrics,
            Kind::Other => {}
            Kind::Unknown | Kind::Metrics => return None,
        }
        Some(self)
    }

    /// Reads a line.
    pub fn row(&mut self, line: &str) -> Row {
        if self.kind == Kind::Other {
            // The first line is told apart from the rest by the columns that are dropped with it.
            let first = !self.columns.is_empty();
            self.columns.clear();
            return if first { Row::Other } else { Row::Skipped };
        }
        let Some(cells) = self.cells(line).or_else(|| spaced(line, self.columns.len())) else {
            return Row::Broken;
        };
        let cell = |at: usize| cells.get(at).map(String::as_str).unwrap_or_default();
        if self.kind == Kind::Unknown {
            let name = matches!(cell(0), "Metric Name" | "Name");
            let values = match cells.len() {
                3 => matches!(cell(2), "Metric Value" | "Value"),
                _ => [cell(2), cell(3), cell(4)] == ["Minimum", "Maximum", "Average"],
            };
            if name && values {
                self.kind = Kind::Titled;
                return Row::Titles;
            }
            if cells.len() != 3 {
                self.kind = Kind::Other;
                return self.row(line);
            }
            self.kind = Kind::Metrics;
        }
        let (name, value) = (cell(0), cells.last().map(String::as_str).unwrap_or_default());
        // Dashes are what a cut left of a rule.
        if name.is_empty() || value.is_empty() || name.bytes().all(|b| b == b'-') {
            return Row::Broken;
        }
        Row::Metric { name: name.to_string(), unit: cell(1).to_string(), value: value.to_string() }
    }

    /// The cells where the columns are drawn; `None` where text stands between or beyond them, or two pieces in one.
    fn cells(&self, line: &str) -> Option<Vec<String>> {
        let mut cells = vec![String::new(); self.columns.len()];
        let mut column = 0;
        for (at, c) in line.chars().enumerate() {
            while self.columns.get(column).is_some_and(|range| at >= range.end) {
                column += 1;
            }
            let inside = self.columns.get(column).is_some_and(|range| range.contains(&at));
            match cells.get_mut(column) {
                Some(cell) if inside => cell.push(c),
                _ if c.is_whitespace() => {}
                _ => return None,
            }
        }
        for cell in &mut cells {
            *cell = cell.trim().to_string();
        }
        // A row that is wider than its columns may have spaces where they end.
        cells.iter().all(|cell| !cell.contains("  ")).then_some(cells)
    }
}

/// The cells of a line that does not keep to the columns, told by two or more spaces between them.
fn spaced(line: &str, columns: usize) -> Option<Vec<String>> {
    let parts: Vec<&str> = line.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect();
    let whole = |parts: &[&str]| parts.iter().map(|part| (*part).to_string()).collect::<Vec<_>>();
    match parts.len() {
        count if count == columns => Some(whole(&parts)),
        // A metric without unit.
        count if count + 1 == columns => {
            let mut cells = whole(&parts);
            cells.insert(1, String::new());
            Some(cells)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(name: &str, unit: &str, value: &str) -> Row {
        Row::Metric { name: name.into(), unit: unit.into(), value: value.into() }
    }

    #[test]
    fn tables_of_every_version() {
        let mut old = Table::of("    ---------- ----- --------");
        assert_eq!(old.row("    SOL FB         %     3.15"), metric("SOL FB", "%", "3.15"));
        assert_eq!(old.row("    Block Size            512"), metric("Block Size", "", "512"));
        assert!(old.next_rule().is_none());

        let mut new = Table::of("  ----------- ----------- ------------");
        assert_eq!(new.row("  Metric Name Metric Unit Metric Value"), Row::Titles);
        let mut new = new.next_rule().expect("rows");
        assert_eq!(new.row("  Executed It  inst/cycle    1,234.50"), metric("Executed It", "inst/cycle", "1,234.50"));
        assert_eq!(new.row("  A name that is too long  cycle  12"), metric("A name that is too long", "cycle", "12"));
        assert_eq!(new.row("  what the program said"), Row::Broken);
        assert_eq!(new.row("  Cache        x          "), Row::Broken, "a cut row");

        let mut summary = Table::of("--- --- --- --- ---");
        assert_eq!(summary.row("Metric Name  Metric Unit  Minimum  Maximum  Average"), Row::Titles);
        let mut summary = summary.next_rule().expect("rows");
        assert_eq!(summary.row("A   %   1.0 3.0 2.0"), metric("A", "%", "2.0"));

        let mut other = Table::of("---- ---- ---- ----");
        assert_eq!((other.row("a    b    c    d"), other.row("e    f    g    h")), (Row::Other, Row::Skipped));
        let mut other = Table::of("---- ---- ---- ---- ----");
        assert_eq!((other.row("a    b    c    d    e"), other.row("e")), (Row::Other, Row::Skipped));
        for no in ["----", "--- --", "--- -x-", "", "Section: ---", "== --- ---"] {
            assert!(!is_rule(no), "{no}");
        }
    }
}
