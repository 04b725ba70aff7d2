//! A row of a table by its operation: a matrix product, or a call of another operation.

use super::table::{Columns, PREDICTED, Record, Request, RowError, Timing, note};
use crate::gpu::DataType;

/// What every row has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head<'a> {
    /// Who measured; empty where the row is a question.
    pub source: &'a str,
    /// Name of the GPU; empty where the row names none.
    pub gpu: &'a str,
    /// The operation.
    pub op: &'static str,
    /// Type of the operands.
    pub data: DataType,
    /// What the clock saw, or is to see.
    pub timing: Timing,
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    /// A matrix product.
    Product(Request<'a>),
    /// Another operation.
    Call(Call<'a>),
}

impl<'a> Row<'a> {
    /// What every row has.
    pub fn head(&self) -> Head<'a> {
        match self {
            Self::Product(Request { source, gpu, op, data, timing, .. }) => {
                Head { source, gpu, op, data: *data, timing: *timing }
            }
            Self::Call(call) => call.head,
        }
    }
}

/// A call of an operation with the cells that its model reads.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// What every row has.
    pub head: Head<'a>,
    columns: &'a Columns,
    record: &'a Record,
}

impl<'a> Call<'a> {
    /// The text of a column; absent where it is empty.
    ///
    /// # Errors
    /// The bytes are not UTF-8.
    pub fn text(&self, column: &'static str) -> Result<Option<&'a str>, RowError> {
        Ok(Some(self.columns.text(self.record, column)?).filter(|text| !text.is_empty()))
    }

    /// The count in a column; absent where it is empty. 0 is left to the operation, which knows what it means.
    ///
    /// # Errors
    /// The text is no count.
    pub fn count(&self, column: &'static str) -> Result<Option<u64>, RowError> {
        let count = |text: &str| text.parse().map_err(|_| RowError::Count { column, value: text.into() });
        self.text(column)?.map(count).transpose()
    }

    /// The count in a column that the operation cannot do without.
    ///
    /// # Errors
    /// The column is empty, or its text is no count.
    pub fn needed(&self, column: &'static str) -> Result<u64, RowError> {
        self.count(column)?.ok_or_else(|| self.empty(column))
    }

    /// That a column is empty which the operation cannot do without.
    pub(super) fn empty(&self, column: &'static str) -> RowError {
        RowError::Empty { column, op: self.head.op.into() }
    }

    /// Whether the notes hold a word by itself.
    ///
    /// # Errors
    /// The bytes are not UTF-8.
    pub fn flagged(&self, word: &str) -> Result<bool, RowError> {
        Ok(self.text("notes")?.is_some_and(|notes| notes.split(';').any(|note| note.trim() == word)))
    }

    /// The value of a key of the notes.
    ///
    /// # Errors
    /// The bytes are not UTF-8.
    pub fn note(&self, key: &str) -> Result<Option<&'a str>, RowError> {
        Ok(self.text("notes")?.and_then(|notes| note(notes, key)))
    }
}

impl Columns {
    /// A row, by its operation.
    ///
    /// # Errors
    /// The row names no operation that can be predicted, or a product that needs a value which is absent or no such value.
    pub fn row<'a>(&'a self, record: &'a Record) -> Result<Row<'a>, RowError> {
        let op = self.op(record)?;
        if PREDICTED.contains(&op) {
            return Ok(Row::Product(self.request(record)?));
        }
        let data = self.data(record, op)?.ok_or_else(|| self.unknown_type(record))?;
        let (source, gpu) = (self.text(record, "source")?, self.text(record, "gpu")?);
        let head = Head { source, gpu, op, data, timing: self.timing(record)? };
        Ok(Row::Call(Call { head, columns: self, record }))
    }
}
