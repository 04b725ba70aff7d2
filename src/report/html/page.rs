//! A page for a browser in one file: style and script inside, nothing fetched, every table sorts.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::super::layout::clean;
use crate::units::significant;

const STYLE: PreEscaped<&str> = PreEscaped(include_str!("style.css"));
const SCRIPT: PreEscaped<&str> = PreEscaped(include_str!("sort.js"));

/// A line end, so that the pages of two runs can be compared line by line.
pub(super) const LINE: PreEscaped<&str> = PreEscaped("\n");

/// Bytes of a text that stays on one line.
const SHORT: usize = 20;

/// What the page may load: its own style and script, and nothing from anywhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// A piece of a simple page.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A paragraph.
    Text(String),
    /// A list below a heading.
    List {
        /// The heading.
        heading: String,
        /// One line each.
        items: Vec<String>,
    },
    /// A table.
    Table(PageTable),
    /// A chart.
    Figure {
        /// What it shows.
        label: String,
        /// The picture.
        svg: String,
    },
}

/// A table that its reader can sort.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageTable {
    /// What the table shows.
    pub caption: String,
    /// Columns; the first one names the row.
    pub columns: Vec<PageColumn>,
    /// Rows of as many cells.
    pub rows: Vec<Vec<PageCell>>,
}

/// A column of a [`PageTable`].
#[derive(Clone, Debug, PartialEq)]
pub struct PageColumn {
    /// Heading, with the unit.
    pub heading: String,
    /// Whether the column holds numbers: aligned to the right, sorted by value.
    pub numeric: bool,
}

/// A cell of a [`PageTable`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageCell {
    /// What is shown; empty or `-` sorts last.
    pub text: String,
    /// The number to sort by, in the unit of its column; infinite values sort above all others.
    pub sort: Option<f64>,
    /// The full text, where `text` is a shortened one.
    pub full: Option<String>,
    /// Part of the page that the cell leads to: the id of an element.
    pub link: Option<String>,
}

/// A page of simple parts.
pub fn page(title: &str, parts: &[Part]) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => html! { p { (text) } },
        Part::List { heading, items } => list(heading, items),
        Part::Table(shown) => table(shown),
        Part::Figure { label, svg } => figure(label, svg),
    };
    let body = html! {
        header { h1 { (title) } }
        (LINE)
        main { @for p in parts { (part(p)) (LINE) } }
        footer { p { (written_by()) } }
    };
    shell(title, &body)
}

/// The program and its version.
pub(super) fn written_by() -> String {
    format!("Wavecast {}", env!("CARGO_PKG_VERSION"))
}

/// The whole document around its body. Characters that could turn lines around are blanked, wherever they come from.
pub(super) fn shell(title: &str, body: &Markup) -> String {
    let document = html! {
        (DOCTYPE) (LINE)
        html lang="en" {
            head {
                (LINE) meta charset="utf-8";
                (LINE) meta name="viewport" content="width=device-width, initial-scale=1";
                (LINE) meta http-equiv="Content-Security-Policy" content=(POLICY);
                (LINE) meta name="color-scheme" content="light dark";
                (LINE) meta name="generator" content=(written_by());
                (LINE) title { (title) }
                (LINE) style { (LINE) (STYLE) }
            }
            (LINE)
            body { (LINE) (body) (LINE) script { (LINE) (SCRIPT) } }
        }
    };
    document.into_string().lines().map(|line| clean(line) + "\n").collect()
}

/// A chart in a box of its own; its drawing is ours and needs no escaping.
pub(super) fn figure(label: &str, svg: &str) -> Markup {
    html! { figure tabindex="0" aria-label=(label) { (LINE) (PreEscaped(svg)) } }
}

/// A heading and a line per item; nothing without items.
pub(super) fn list(heading: &str, items: &[String]) -> Markup {
    html! {
        @if !items.is_empty() {
            section {
                h2 { (heading) }
                ul { @for item in items { (LINE) li { (item) } } }
            }
            (LINE)
        }
    }
}

/// A table in a box of its own, so that a narrow screen scrolls the box and not the page.
pub(super) fn table(table: &PageTable) -> Markup {
    let number = |column: usize| table.columns.get(column).is_some_and(|c| c.numeric).then_some("number");
    let kind = |column, text: &str| number(column).or((text.len() <= SHORT).then_some("short"));
    html! {
        div.scroll role="region" tabindex="0" aria-label=(table.caption) {
            table.sortable {
                caption { (table.caption) }
                (LINE)
                thead { tr {
                    @for (index, column) in table.columns.iter().enumerate() {
                        th scope="col" class=[number(index)] { (column.heading) }
                    }
                } }
                (LINE)
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (index, shown) in row.iter().enumerate() {
                                @if index == 0 {
                                    th scope="row" class=[kind(index, &shown.text)] data-sort=[sort(shown)] { (cell(shown)) }
                                } @else {
                                    td class=[kind(index, &shown.text)] data-sort=[sort(shown)] { (cell(shown)) }
                                }
                            }
                        }
                        (LINE)
                    }
                }
            }
        }
        (LINE)
    }
}

fn cell(cell: &PageCell) -> Markup {
    html! {
        @match &cell.link {
            Some(id) => a href={ "#" (id) } title=[cell.full.as_ref()] { (cell.text) },
            None => @if let Some(full) = &cell.full { span title=(full) { (cell.text) } } @else { (cell.text) },
        }
    }
}

/// A number as scripts read it, with the digits that every machine agrees on.
fn sort(cell: &PageCell) -> Option<String> {
    cell.sort.map(|value| match value {
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        finite => significant(finite, 6),
    })
}
