//! From the values of a row of a table to its operation.

use super::{
    kind::{Kind, KindError},
    operation::{Operation, OperationError, What, bytes},
};
use crate::gpu::DataType;

/// The values of a row that an operation needs; tensors are of one type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// Who measured, or empty.
    pub source: &'a str,
    /// `elementwise`, `gelu`, `softmax`, `layernorm`, `rmsnorm`, `reduction` or `memcpy`.
    pub op: &'a str,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Type of the elements.
    pub data: DataType,
    /// The notes, `key=value` joined by semicolons: `kind=`, `reads=`, `writes=`, `load_bytes=`, `full`.
    pub notes: &'a str,
}

/// A row that gives no operation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RowError {
    /// Not one of these operations.
    #[error("op `{op}` is not one of elementwise gelu softmax layernorm rmsnorm reduction memcpy")]
    Op {
        /// The text as given.
        op: String,
    },
    /// A kind that is not known, and whose reads and writes the notes do not give either.
    #[error("notes: {0}")]
    Kind(#[from] KindError),
    /// A note that is no number.
    #[error("notes: {key}={value} is no whole number from 0 to 64")]
    Note {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
    },
    /// The operation itself.
    #[error(transparent)]
    Operation(#[from] OperationError),
}

/// Kernels that a source ran with one element per load.
const SCALAR: [(&str, &str); 1] = [("vidur", "gelu")];

/// The operation of a row.
///
/// # Errors
/// The operation or its kind is not known, a note is no number, or nothing can do it.
pub fn operation(row: &Row) -> Result<Operation, RowError> {
    let note = |key: &str| row.notes.split(';').find_map(|note| note.trim().strip_prefix(key)?.strip_prefix('='));
    let count = |key: &'static str| {
        let wrong = |value: &str| RowError::Note { key, value: value.into() };
        note(key).map(|value| value.trim().parse::<u32>().map_err(|_| wrong(value))).transpose()
    };
    let new = |what| Ok(Operation::new(what, row.rows, row.cols, row.data)?);
    let kind: Kind = match row.op {
        "softmax" => return new(What::Softmax),
        "layernorm" => return new(What::LayerNorm),
        "rmsnorm" => return new(What::RmsNorm),
        "reduction" => {
            let full = row.notes.split(';').any(|note| note.trim() == "full");
            return new(What::Reduction { full });
        }
        "memcpy" => "copy".parse()?,
        "gelu" => "gelu".parse()?,
        "elementwise" => match note("kind").map(str::parse) {
            Some(Ok(kind)) => kind,
            // Its bytes say enough.
            Some(Err(_)) if note("reads").is_some() && note("writes").is_some() => "other".parse()?,
            Some(Err(error)) => return Err(error.into()),
            None => "other".parse()?,
        },
        other => return Err(RowError::Op { op: other.into() }),
    };
    let plain = Operation::elementwise(kind, row.rows, row.cols, row.data)?;
    let What::Elementwise { reads, writes, load, .. } = plain.what else { return Ok(plain) };
    let scalar = SCALAR.iter().any(|(source, name)| row.source.starts_with(source) && kind.name() == *name);
    let load = if scalar { bytes(row.data) } else { load };
    let load = count("load_bytes")?.map_or(load, f64::from);
    let (reads, writes) = (count("reads")?.unwrap_or(reads), count("writes")?.unwrap_or(writes));
    Ok(Operation { what: What::Elementwise { kind, reads, writes, load }, ..plain }.checked()?)
}
