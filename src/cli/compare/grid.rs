//! Tables of a comparison for people: names, aligned columns, and a summary below; as text and as Markdown.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use textwrap::{Options, WordSplitter, core::display_width};

use crate::report::{clean, code, escape, fit};

/// A table whose first column holds names, which give way where the width is small.
#[derive(Default)]
pub struct Grid {
    /// Heads of all columns; long ones are wrapped to the width of their column.
    pub heads: Vec<String>,
    /// Rows of as many cells.
    pub rows: Vec<Vec<String>>,
    /// Rows below a line of their own: totals and means.
    pub summary: Vec<Vec<String>>,
    /// The columns of numbers, which stand at the right.
    pub right: Range<usize>,
}

/// Columns between two columns.
const GAP: usize = 2;
/// Columns that names need at least to be told apart.
const LEAST_NAME: usize = 14;

impl Grid {
    /// Widths of all columns but the first: those of the cells, and of the longest word of the head up to a limit.
    fn others(&self) -> Vec<usize> {
        let all = || self.rows.iter().chain(&self.summary);
        let width = |column: usize| {
            let cells = all().filter_map(|row| row.get(column)).map(|cell| display_width(cell)).max().unwrap_or(0);
            let head = self.heads.get(column).map_or(0, |h| h.split(' ').map(display_width).max().unwrap_or(0));
            cells.max(head.min(16))
        };
        (1..self.heads.len()).map(width).collect()
    }

    /// Columns that are left for names in `width`.
    fn room(&self, width: usize) -> usize {
        width.saturating_sub(self.others().iter().map(|w| w + GAP).sum())
    }

    /// Whether the text stays within `width`.
    pub fn fits(&self, width: usize) -> bool {
        let longest = self.rows.iter().filter_map(|row| row.first()).map(|name| display_width(name)).max();
        self.room(width) >= LEAST_NAME.min(longest.unwrap_or(0))
    }

    /// The table as text.
    pub fn text(&self, width: usize) -> String {
        let others = self.others();
        let room = self.room(width).max(8);
        let names: Vec<String> = self.rows.iter().filter_map(|row| row.first()).cloned().collect();
        let names = fitted(&names, room);
        let labels: Vec<String> = self.summary.iter().map(|row| fit(row.first().map_or("", |l| l), room)).collect();
        let first = names.iter().chain(&labels).chain(self.heads.first()).map(|n| display_width(n)).max().unwrap_or(0);
        let widths: Vec<usize> = std::iter::once(first).chain(others).collect();
        let heads: Vec<Vec<String>> = self.heads.iter().zip(&widths).map(|(h, w)| wrapped(h, *w)).collect();
        let tall = heads.iter().map(Vec::len).max().unwrap_or(0);
        let mut out = String::new();
        for line in 0..tall {
            let cell = |head: &Vec<String>| head.get(line).cloned().unwrap_or_default();
            self.line(&mut out, heads.iter().map(cell), &widths);
        }
        let rule = "─".repeat(widths.iter().sum::<usize>() + GAP * (widths.len().saturating_sub(1))) + "\n";
        out += &rule;
        for (row, name) in self.rows.iter().zip(&names) {
            self.line(&mut out, std::iter::once(name.clone()).chain(row.iter().skip(1).cloned()), &widths);
        }
        if !self.summary.is_empty() {
            out += &rule;
        }
        for (row, label) in self.summary.iter().zip(labels) {
            self.line(&mut out, std::iter::once(label).chain(row.iter().skip(1).cloned()), &widths);
        }
        out
    }

    fn line(&self, out: &mut String, cells: impl Iterator<Item = String>, widths: &[usize]) {
        let mut line = String::new();
        for (index, (cell, width)) in cells.zip(widths).enumerate() {
            let space = " ".repeat(width.saturating_sub(display_width(&cell)));
            let gap = if index > 0 { " ".repeat(GAP) } else { String::new() };
            line += &if self.right.contains(&index) {
                format!("{gap}{space}{cell}")
            } else {
                format!("{gap}{cell}{space}")
            };
        }
        *out += line.trim_end();
        out.push('\n');
    }

    /// The table as Markdown: names as code, the summary in bold.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = line(self.heads.iter().map(|h| escape(h)).collect());
        let rule = |index: usize| if self.right.contains(&index) { "---:" } else { "---" };
        out += &line((0..self.heads.len()).map(|i| rule(i).to_owned()).collect());
        let one = |cell: &str| escape(&cell.split_whitespace().collect::<Vec<_>>().join(" "));
        for row in &self.rows {
            let cell = |(index, cell): (usize, &String)| if index == 0 { code(cell) } else { one(cell) };
            out += &line(row.iter().enumerate().map(cell).collect());
        }
        for row in &self.summary {
            let bold =
                |cell: &String| if cell.trim().is_empty() { String::new() } else { format!("**{}**", one(cell)) };
            out += &line(row.iter().map(bold).collect());
        }
        out
    }
}

fn wrapped(head: &str, width: usize) -> Vec<String> {
    let options = Options::new(width.max(1)).word_splitter(WordSplitter::NoHyphenation).break_words(true);
    textwrap::wrap(&clean(head), options).into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// The names, each in at most `room` columns: namespaces give way first, then the middle, and what tells names apart in
/// brackets last; different names that still look alike give up the beginning that they share.
pub fn fitted(names: &[String], room: usize) -> Vec<String> {
    let short: Vec<String> = names.iter().map(|name| fitted_one(name, room)).collect();
    let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (short, name) in short.iter().zip(names) {
        groups.entry(short).or_default().insert(name);
    }
    let fitted = names.iter().zip(&short).map(|(name, short)| {
        let group = groups.get(short.as_str()).filter(|g| g.len() > 1);
        match group.and_then(|group| behind_shared(name, group)) {
            Some(rest) => fit(&format!("…{rest}"), room),
            None => short.clone(),
        }
    });
    fitted.collect()
}

fn fitted_one(name: &str, room: usize) -> String {
    // The grid that tells launches of one kernel apart stays whole where it leaves room for the beginning of the name.
    if let Some((named, grid)) = name.rfind(" (").and_then(|at| name.split_at_checked(at))
        && let (whole, tail) = (display_width(name), display_width(grid))
        && whole > room
        && tail * 3 <= room * 2
    {
        return fitted_one(named, room - tail) + grid;
    }
    match name.split_once(" [") {
        Some((plain, part)) if display_width(name) > room => {
            // Some of the plain name stays, and all of the part that fits beside it.
            let least = (room / 4).max(1);
            let part = fit(&format!(" [{part}"), room - least);
            let plain_room = room - display_width(&part);
            fit(without_namespaces(plain, plain_room), plain_room) + &part
        }
        _ => fit(without_namespaces(name, room), room),
    }
}

fn without_namespaces(name: &str, room: usize) -> &str {
    let mut name = name;
    while display_width(name) > room
        && let Some((namespace, rest)) = name.split_once("::")
        && !namespace.contains([' ', '[', '(', '<'])
        && !rest.is_empty()
    {
        name = rest;
    }
    name
}

/// What follows the beginning that all names of a group share, from the start of a word.
fn behind_shared<'a>(name: &'a str, group: &BTreeSet<&str>) -> Option<&'a str> {
    let (first, last) = (group.first()?, group.last()?);
    let shared = first.char_indices().zip(last.chars()).find(|((_, a), b)| a != b).map_or(first.len(), |((i, _), _)| i);
    let start = name.get(..shared)?.rfind(|c: char| !c.is_alphanumeric())? + 1;
    name.get(start..).filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_what_tells_them_apart() {
        let all = |names: &[&str], room| fitted(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>(), room);
        assert_eq!(all(&["at::native::copy", "saxpy"], 12), ["native::copy", "saxpy"]);
        assert_eq!(all(&["at::native::copy"], 8), ["copy"]);
        assert_eq!(all(&["at::native::vectorized_kernel [add<float>] #2"], 24), ["vecto…el [add<float>] #2"]);
        let grids = ["vectorized_kernel [add<float>] (grid 1564)", "vectorized_kernel [add<float>] (grid 18)"];
        assert_eq!(all(&grids, 24), ["ve… [add<…>] (grid 1564)", "ve… [add<f…t>] (grid 18)"]);
        let (one, two) = ("sm90_xmma_gemm_bf16_tile_128x64_k1", "sm90_xmma_gemm_bf16_tile_64x256_k1");
        assert_eq!(all(&[one, two], 16), ["sm90_xmma_…64_k1", "sm90_xmma_…56_k1"]);
        assert_eq!(all(&[one, two], 10), ["…128x64_k1", "…64x256_k1"]);
    }

    #[test]
    fn text_keeps_its_width_and_markdown_its_columns() {
        let row = |name: &str| vec![name.to_owned(), "1 us".into(), "2 | us".into()];
        let grid = Grid {
            heads: vec!["Kernel".into(), "a | b".into(), "a-gpu-of-a-long-name, more SMs".into()],
            rows: vec![row(&"long".repeat(30)), row("カーネル|_x_")],
            summary: vec![row("total")],
            right: 1..3,
        };
        for width in [40, 60, 80] {
            assert!(grid.fits(width));
            let text = grid.text(width);
            assert!(text.lines().all(|l| display_width(l) <= width), "{text}");
            assert_eq!(text.lines().filter(|l| l.starts_with('─')).count(), 2, "{text}");
        }
        assert!(!grid.fits(30));
        let markdown = grid.markdown();
        let columns = |line: &str| line.replace("\\|", "").matches('|').count();
        assert!(markdown.lines().all(|l| columns(l) == 4), "{markdown}");
        assert!(markdown.contains("| **total** | **1 us** | **2 \\| us** |"), "{markdown}");
    }
}
