//! The table behind a figure, as CSV.

use crate::units::significant;

/// Rows of text under a header, quoted where CSV needs it.
pub(super) struct Table {
    writer: csv::Writer<Vec<u8>>,
}

impl Table {
    /// A table with these column names; units belong into the names.
    pub fn new(header: &[&str]) -> Self {
        let mut table = Self { writer: csv::WriterBuilder::new().flexible(true).from_writer(Vec::new()) };
        table.row(header);
        table
    }

    /// Adds one row.
    pub fn row<T: AsRef<[u8]>>(&mut self, cells: &[T]) {
        self.writer.write_record(cells).expect("memory takes every row");
    }

    /// The table as text.
    pub fn finish(self) -> String {
        let bytes = self.writer.into_inner().expect("memory needs no flush");
        String::from_utf8(bytes).expect("every cell is text")
    }
}

/// A number as a cell: at most six significant digits.
pub(super) fn cell(value: f64) -> String {
    significant(value, 6)
}

/// A number that may be absent as a cell: empty where it is.
pub(super) fn optional(value: Option<f64>) -> String {
    value.map(cell).unwrap_or_default()
}
