//! Where the cells of a row are: CSV, or columns under a line of dashes.

use std::ops::Range;

use crate::profile::{
    notation::{DecimalMark, Votes},
    rows::{DELIMITERS, Splitter},
};

/// How a table is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// CSV.
    Delimited,
    /// Text in columns.
    Fixed,
}

/// The columns of a table: what they are called, their units, and how a row divides.
pub(super) struct Columns {
    names: Vec<(String, String)>,
    layout: Layout,
}

enum Layout {
    Delimited(Box<Splitter>, u8),
    Fixed(Vec<Range<usize>>),
}

/// The runs of dashes of a line that has nothing else, in characters: `--- -----` or `+---+-----+`.
pub(super) fn separator(line: &str) -> Option<Vec<Range<usize>>> {
    let line = line.trim_end();
    if !line.bytes().all(|byte| matches!(byte, b'-' | b' ' | b'+' | b'|')) {
        return None;
    }
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in line.bytes().enumerate().filter(|(_, byte)| *byte == b'-') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    (runs.len() >= 3).then_some(runs)
}

/// A name and the unit behind it in parentheses: `Start (ns)`, `Time(%)`.
fn with_unit(text: &str) -> (String, String) {
    match text.trim().strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
        Some((name, unit)) => (name.trim().to_lowercase(), unit.trim().into()),
        None => (text.trim().to_lowercase(), String::new()),
    }
}

/// Characters of a line, to its end for the last column.
fn cut<'a>(line: &'a str, range: &Range<usize>, last: bool) -> &'a str {
    let at = |place: usize| line.char_indices().nth(place).map_or(line.len(), |(at, _)| at);
    let end = if last { line.len() } else { at(range.end) };
    line.get(at(range.start)..end).unwrap_or_default().trim().trim_end_matches('|').trim_end()
}

impl Columns {
    /// A header in CSV: no cell of it is empty or a number.
    pub fn delimited(line: &str) -> Option<Self> {
        // A name is the one column that all tables have, in one of two words; rows begin with a number.
        let number = line.starts_with(|first: char| first.is_ascii_digit());
        if number || !(line.contains("Name") || line.contains("Operation")) {
            return None;
        }
        DELIMITERS.into_iter().find_map(|delimiter| {
            let mut splitter = Splitter::new(delimiter);
            let names: Vec<_> = splitter.split(line)?.iter().map(with_unit).collect();
            (names.len() >= 4).then_some(Self { names, layout: Layout::Delimited(Box::new(splitter), delimiter) })
        })
    }

    /// A header above a line of dashes.
    pub fn fixed(line: &str, extents: Vec<Range<usize>>) -> Option<Self> {
        let last = extents.len() - 1;
        let names: Vec<_> =
            extents.iter().enumerate().map(|(place, range)| with_unit(cut(line, range, place == last))).collect();
        (names.len() >= 4).then_some(Self { names, layout: Layout::Fixed(extents) })
    }

    /// How the table is laid out.
    pub fn shape(&self) -> Shape {
        match self.layout {
            Layout::Delimited(..) => Shape::Delimited,
            Layout::Fixed(_) => Shape::Fixed,
        }
    }

    /// The place of a column and its unit.
    pub fn find(&self, name: &str) -> Option<(usize, &str)> {
        let place = self.names.iter().position(|(own, _)| own == name)?;
        Some((place, &self.names[place].1))
    }

    /// Gives the cells of a row to `take`, with the decimal mark of its numbers.
    ///
    /// # Errors
    /// The row does not have these columns, or `take` refuses it.
    pub fn row(
        &mut self,
        line: &str,
        take: impl FnOnce(&[&str], DecimalMark) -> Result<(), String>,
    ) -> Result<(), String> {
        let wanted = self.names.len();
        let mut votes = Votes::default();
        match &mut self.layout {
            Layout::Delimited(splitter, delimiter) => {
                let Some(fields) = splitter.split(line) else { return Err("a quote opens and does not close".into()) };
                if fields.len() != wanted {
                    return Err(format!("{} fields under {wanted} columns", fields.len()));
                }
                let cells: Vec<&str> = fields.iter().collect();
                // Between commas a number has a point.
                if *delimiter != b',' {
                    cells.iter().for_each(|cell| votes.see(cell));
                }
                take(&cells, votes.decide(*delimiter))
            }
            Layout::Fixed(extents) => {
                let last = extents.len() - 1;
                let cells: Vec<&str> =
                    extents.iter().enumerate().map(|(place, range)| cut(line, range, place == last)).collect();
                cells[..last].iter().for_each(|cell| votes.see(cell));
                take(&cells, votes.decide(b' '))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_and_names() {
        assert_eq!(separator(" ---  -- -"), Some(vec![1..4, 6..8, 9..10]));
        assert_eq!(separator("+--+---+-+"), Some(vec![1..3, 4..7, 8..9]));
        for line in ["", "-- --", "--- --- x ---", "----------"] {
            assert_eq!(separator(line), None, "{line}");
        }
        assert_eq!(with_unit("Time(%)"), ("time".into(), "%".into()));
        assert_eq!(with_unit(" StcSMem (MB) "), ("stcsmem".into(), "MB".into()));
        assert_eq!(with_unit("GrdX"), ("grdx".into(), String::new()));
    }

    #[test]
    fn cells_by_characters_not_bytes() {
        let mut columns = Columns::fixed("a b c     name", vec![0..1, 2..3, 4..5, 6..14]).unwrap();
        let check = |cells: &[&str], mark| {
            assert_eq!(cells, ["…", "5", "ċ", "longer than the dashes"]);
            assert_eq!(mark, DecimalMark::Point);
            Ok(())
        };
        columns.row("… 5 ċ longer than the dashes", check).unwrap();
        columns.row("… 5 ċ longer than the dashes |", check).unwrap();
        assert!(columns.row("", |cells, _| if cells.concat().is_empty() { Err("e".into()) } else { Ok(()) }).is_err());
    }
}
