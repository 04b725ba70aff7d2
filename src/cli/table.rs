//! Small tables in every output format.

use anyhow::Result;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table as Drawn, Width, presets};
use serde_json::{Map, Value};

use super::{args::Format, world};
use crate::report::{PageCell, PageColumn, PageTable, Part, page};

/// A cell: text, a number, or nothing known.
#[derive(Clone, Debug)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A number, printed with at most 6 significant digits.
    Number(f64),
    /// A number, printed with so many decimal places.
    Fixed(f64, usize),
    /// Not known or not applicable.
    Absent,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Self::Number(f64::from(number))
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

impl Cell {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => crate::units::significant(*number, 6),
            Self::Fixed(number, places) => format!("{number:.places$}"),
            Self::Absent => String::new(),
        }
    }

    /// What an unlimited count sorts by is above all numbers.
    fn page(&self) -> PageCell {
        let sort = if let Self::Number(number) | Self::Fixed(number, _) = self { Some(*number) } else { None };
        PageCell { text: self.text(), sort, ..PageCell::default() }
    }

    fn json(&self) -> Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            // Rounded as in print, so that all formats agree.
            Self::Number(_) | Self::Fixed(..) => self
                .text()
                .parse::<f64>()
                .map_or(Value::Null, |n| if n.fract() == 0.0 && n.abs() < 9e15 { (n as i64).into() } else { n.into() }),
            Self::Absent => Value::Null,
        }
    }
}

/// A line under the header and no other.
const UNDERLINED: comfy_table::TableStyle =
    presets::NOTHING.header_separator(LineStyle::none().fill('─').junction('─'));

/// Rows under columns; each column has a heading for people and a name with its unit for programs.
pub struct Table<'a> {
    /// Heading and name of each column.
    pub columns: Vec<(&'a str, &'a str)>,
    /// Rows of as many cells.
    pub rows: Vec<Vec<Cell>>,
}

impl Table<'_> {
    /// The table in a format; a page for a browser is called after the program.
    pub fn render(&self, format: Format) -> Result<String> {
        self.titled("Wavecast", format)
    }

    /// The table in a format; `title` heads the page for a browser.
    pub fn titled(&self, title: &str, format: Format) -> Result<String> {
        match format {
            Format::Html => Ok(page(title, &[Part::Table(self.page())])),
            Format::Text => Ok(self.text()),
            Format::Markdown => Ok(self.drawn(presets::ASCII_MARKDOWN, None)),
            Format::Json => {
                let object = |row: &Vec<Cell>| {
                    let pairs = self.columns.iter().zip(row).map(|((_, name), cell)| ((*name).to_owned(), cell.json()));
                    Value::Object(pairs.collect::<Map<_, _>>())
                };
                let rows: Vec<Value> = self.rows.iter().map(object).collect();
                Ok(serde_json::to_string_pretty(&rows)? + "\n")
            }
            Format::Csv => {
                let mut writer = csv::Writer::from_writer(Vec::new());
                writer.write_record(self.columns.iter().map(|(_, name)| *name))?;
                for row in &self.rows {
                    writer.write_record(row.iter().map(Cell::text))?;
                }
                Ok(String::from_utf8(writer.into_inner()?)?)
            }
        }
    }

    /// The table as text for the width of the terminal.
    pub fn text(&self) -> String {
        self.drawn(UNDERLINED, Some(world::width()))
    }

    /// The table as text for the width of the terminal without a break inside a word; absent where there is no room for that.
    pub fn unbroken(&self) -> Option<String> {
        let (width, least) = (world::width(), self.least_widths());
        // A column stands between two of them.
        let fits = least.iter().sum::<usize>() + least.len() <= width + 1;
        fits.then(|| self.arranged(UNDERLINED, Some(width), &least))
    }

    /// The table as text that no terminal's width wraps.
    pub fn wide(&self) -> String {
        self.drawn(UNDERLINED, Some(usize::from(u16::MAX)))
    }

    /// The table as part of a page. A column of numbers and blanks is numeric; one without a heading goes by its name.
    pub fn page(&self) -> PageTable {
        let column = |(index, (heading, name)): (usize, &(&str, &str))| {
            let cells = || self.rows.iter().filter_map(|row| row.get(index));
            PageColumn {
                heading: if heading.is_empty() { (*name).into() } else { heading.replace('\n', " ") },
                numeric: cells().any(|c| matches!(c, Cell::Number(_) | Cell::Fixed(..)))
                    && !cells().any(|c| matches!(c, Cell::Text(_))),
            }
        };
        let plural = if self.rows.len() == 1 { "" } else { "s" };
        PageTable {
            caption: format!("{} row{plural}", self.rows.len()),
            columns: self.columns.iter().enumerate().map(column).collect(),
            rows: self.rows.iter().map(|row| row.iter().map(Cell::page).collect()).collect(),
        }
    }

    /// What each column takes at least without a break inside a word, with the space behind it.
    fn least_widths(&self) -> Vec<usize> {
        let words = |text: &str| text.split_whitespace().map(textwrap::core::display_width).max().unwrap_or_default();
        let column = |(index, (heading, _)): (usize, &(&str, &str))| {
            let cells = self.rows.iter().filter_map(|row| row.get(index)).map(|cell| words(&cell.text()));
            let space = usize::from(index + 1 != self.columns.len());
            cells.fold(words(heading), usize::max) + space
        };
        self.columns.iter().enumerate().map(column).collect()
    }

    fn drawn(&self, preset: comfy_table::TableStyle, width: Option<usize>) -> String {
        self.arranged(preset, width, &[])
    }

    /// The table in a width, each column at least as wide as `least` says of it.
    fn arranged(&self, preset: comfy_table::TableStyle, width: Option<usize>, least: &[usize]) -> String {
        let mut table = Drawn::new();
        table.load_style(preset);
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        }
        // A Markdown header is one line.
        let line = if width.is_some() { "\n" } else { " " };
        table.set_header(self.columns.iter().map(|(heading, _)| heading.replace('\n', line)));
        for row in &self.rows {
            table.add_row(row.iter().map(|cell| {
                let align = if matches!(cell, Cell::Text(_)) { CellAlignment::Left } else { CellAlignment::Right };
                // Control characters of a kernel's name could move the cursor or break the table.
                let text = cell.text().replace(char::is_control, " ");
                comfy_table::Cell::new(text).set_alignment(align)
            }));
        }
        if width.is_some() {
            let last = self.columns.len().saturating_sub(1);
            for (index, column) in table.column_iter_mut().enumerate() {
                column.set_padding((0, u16::from(index != last)));
                if let Some(Ok(least)) = least.get(index).map(|least| u16::try_from(*least)) {
                    column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
                }
            }
        }
        table.trim_fmt() + "\n"
    }
}
