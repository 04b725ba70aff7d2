//! Rows of tables of operations, as written: the columns of measured times, read into typed requests.

mod header;

pub use header::{HeaderError, nearly_known};

use super::gemm::{Force, LONGEST, Shape, ShapeError};
use crate::gpu::{DataKind, DataType};

/// The columns of measured times. Only those that an operation needs must be there.
pub const COLUMNS: [&str; 21] = [
    "source",
    "gpu",
    "op",
    "dtype",
    "batch",
    "m",
    "n",
    "k",
    "rows",
    "cols",
    "heads_q",
    "heads_kv",
    "seq_q",
    "seq_kv",
    "head_dim",
    "causal",
    "phase",
    "conv_params",
    "timing",
    "measured_us",
    "notes",
];

/// Matrix products.
pub const PREDICTED: [&str; 3] = ["gemm", "bmm", "grouped_gemm"];
/// Other operations that can be predicted.
pub const CALLS: [&str; 10] =
    ["attention", "conv", "elementwise", "gelu", "layernorm", "memcpy", "moe", "reduction", "rmsnorm", "softmax"];
/// Types that a table may hold.
const TYPES: [&str; 8] = ["fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8"];

/// "a, b and c".
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).into(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

fn predicted() -> String {
    list(&[&PREDICTED[..], &CALLS[..]].concat())
}

/// A row that names no operation that can be predicted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RowError {
    /// A column is absent or empty.
    #[error("{column} is empty; {op} needs it")]
    Empty {
        /// The column.
        column: &'static str,
        /// What needs it.
        op: String,
    },
    /// The bytes are not UTF-8.
    #[error("{column} is not UTF-8 text")]
    Text {
        /// The column.
        column: &'static str,
    },
    /// No operation.
    #[error("op `{op}` is not known; {} can be predicted", predicted())]
    Op {
        /// The text as given.
        op: String,
    },
    /// Another operation than a matrix product, where one is wanted.
    #[error("op `{op}` is no matrix product; {} are", list(&PREDICTED))]
    NoProduct {
        /// The operation.
        op: String,
    },
    /// No data type.
    #[error("dtype `{dtype}` is not known; write fp64 fp32 tf32 fp16 bf16 fp8 fp4 or int8")]
    DataType {
        /// The text as given.
        dtype: String,
    },
    /// Not a count.
    #[error("{column} = `{value}` is not a whole number from 1 to {LONGEST} (2^40)")]
    Count {
        /// The column.
        column: &'static str,
        /// The text as given.
        value: String,
    },
    /// A shape that no GPU multiplies.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// Neither `device` nor `launch`.
    #[error("timing = `{value}` is neither device (the default) nor launch")]
    Timing {
        /// The text as given.
        value: String,
    },
    /// Neither yes nor no.
    #[error("{column} = `{value}` is neither 1 nor 0")]
    Flag {
        /// The column.
        column: &'static str,
        /// The text as given.
        value: String,
    },
    /// Not a time.
    #[error("measured_us = `{value}` is not a time above 0: from 1e-3 to 1e13 microseconds")]
    Measured {
        /// The text as given.
        value: String,
    },
    /// A note that steers the prediction and cannot be read.
    #[error(
        "notes: {key}={value}: write weight_copies=COUNT (1 is the same product again and again), sparsity=2:4, data=random or data=uninitialised, tile=128x256, splits=COUNT"
    )]
    Note {
        /// The key.
        key: &'static str,
        /// The value as given.
        value: String,
    },
}

/// What a clock saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// The kernel alone.
    Device,
    /// The kernel and a launch.
    Launch,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request<'a> {
    /// Who measured; empty where the row is a question.
    pub source: &'a str,
    /// Name of the GPU; empty where the row names none.
    pub gpu: &'a str,
    /// The operation, one of `PREDICTED`.
    pub op: &'static str,
    /// Type of A and B.
    pub data: DataType,
    /// 2:4 sparse weights.
    pub sparse: bool,
    /// The product.
    pub shape: Shape,
    /// What the clock saw, or is to see.
    pub timing: Timing,
    /// Copies of the weights that take turns, where the notes say so.
    pub weight_copies: Option<u32>,
    /// What the operands hold, where the notes say so.
    pub content: Option<DataKind>,
    /// Tile and split, where the notes say so.
    pub force: Force,
}

/// A row of cells as read.
pub type Record = csv::ByteRecord;

/// Where the columns are.
#[derive(Clone, Debug)]
pub struct Columns([Option<usize>; COLUMNS.len()]);

impl Columns {
    fn place(&self, column: &str) -> Option<usize> {
        self.0[COLUMNS.iter().position(|c| *c == column)?]
    }

    /// The text of a column; empty where the table has no such column.
    ///
    /// # Errors
    /// The bytes are not UTF-8.
    pub fn text<'a>(&self, record: &'a csv::ByteRecord, column: &'static str) -> Result<&'a str, RowError> {
        let bytes = self.place(column).and_then(|place| record.get(place)).unwrap_or_default();
        std::str::from_utf8(bytes).map(str::trim).map_err(|_| RowError::Text { column })
    }

    /// The measured time in seconds; absent where the row has none.
    ///
    /// # Errors
    /// The text is no time above 0.
    pub fn measured(&self, record: &csv::ByteRecord) -> Result<Option<f64>, RowError> {
        match self.text(record, "measured_us")? {
            "" => Ok(None),
            text => match text.parse::<f64>() {
                Ok(us) if (1e-3..=1e13).contains(&us) => Ok(Some(us * 1e-6)),
                _ => Err(RowError::Measured { value: text.into() }),
            },
        }
    }

    /// The operation of a row, where it can be predicted.
    pub(super) fn op(&self, record: &csv::ByteRecord) -> Result<&'static str, RowError> {
        let wanted = self.text(record, "op")?;
        PREDICTED.into_iter().chain(CALLS).find(|op| *op == wanted).ok_or_else(|| match wanted {
            "" => RowError::Empty { column: "op", op: "every row".into() },
            other => RowError::Op { op: other.into() },
        })
    }

    /// The type of a row; absent where it is none, which is reported after what else is wrong.
    pub(super) fn data(&self, record: &csv::ByteRecord, op: &str) -> Result<Option<DataType>, RowError> {
        match self.text(record, "dtype")? {
            "" => Err(RowError::Empty { column: "dtype", op: op.into() }),
            known if TYPES.contains(&known) => Ok(known.parse().ok()),
            _ => Ok(None),
        }
    }

    pub(super) fn unknown_type(&self, record: &csv::ByteRecord) -> RowError {
        RowError::DataType { dtype: self.text(record, "dtype").unwrap_or_default().into() }
    }

    /// What the clock of a row saw.
    pub(super) fn timing(&self, record: &csv::ByteRecord) -> Result<Timing, RowError> {
        match self.text(record, "timing")? {
            "" | "device" => Ok(Timing::Device),
            "launch" => Ok(Timing::Launch),
            other => Err(RowError::Timing { value: other.into() }),
        }
    }

    /// The matrix product of a row.
    ///
    /// # Errors
    /// The row names no matrix product, or a value that it needs is absent or no such value.
    pub fn request<'a>(&self, record: &'a csv::ByteRecord) -> Result<Request<'a>, RowError> {
        let text = |column| self.text(record, column);
        let op = self.op(record)?;
        if !PREDICTED.contains(&op) {
            return Err(RowError::NoProduct { op: op.into() });
        }
        let data = self.data(record, op)?;
        let count = |column, default: Option<u64>| match (text(column)?, default) {
            ("", Some(default)) => Ok(default),
            ("", None) => Err(RowError::Empty { column, op: op.into() }),
            (text, _) => match text.parse() {
                Ok(0) => Err(ShapeError::Zero { dimension: column }.into()),
                Ok(number) => Ok(number),
                Err(_) => Err(RowError::Count { column, value: text.into() }),
            },
        };
        let shape = Shape::new(count("batch", Some(1))?, count("m", None)?, count("n", None)?, count("k", None)?)?;
        let timing = self.timing(record)?;
        let notes = text("notes")?;
        fn read<T>(notes: &str, key: &'static str, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, RowError> {
            let wrong = |value: &str| RowError::Note { key, value: value.into() };
            note(notes, key).map(|value| read(value).ok_or_else(|| wrong(value))).transpose()
        }
        let weight_copies = read(notes, "weight_copies", |value| value.parse().ok().filter(|copies| *copies > 0))?;
        let sparse = read(notes, "sparsity", |value| (value == "2:4").then_some(true))?.unwrap_or(false);
        let content = read(notes, "data", |value| value.parse().ok())?;
        let sides = |value: &str| {
            let (height, width) = value.split_once('x')?;
            Some((height.trim().parse().ok()?, width.trim().parse().ok()?))
        };
        let force =
            Force { tile: read(notes, "tile", sides)?, splits: read(notes, "splits", |value| value.parse().ok())? };
        let data = data.ok_or_else(|| self.unknown_type(record))?;
        let (source, gpu) = (text("source")?, text("gpu")?);
        Ok(Request { source, gpu, op, data, sparse, shape, timing, weight_copies, content, force })
    }
}

/// The value of a key in `key=value` pairs between `;`.
pub(super) fn note<'a>(notes: &'a str, key: &str) -> Option<&'a str> {
    notes.split(';').find_map(|pair| Some(pair.trim().strip_prefix(key)?.strip_prefix('=')?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Result<String, String> {
        let header = csv::ByteRecord::from(vec!["gpu", "op", "dtype", "batch", "m", "n", "k", "timing", "notes"]);
        let columns = Columns::new(&header).unwrap();
        let record = csv::ByteRecord::from(text.split(',').collect::<Vec<_>>());
        columns.request(&record).map(|r| format!("{r:?}")).map_err(|e| e.to_string())
    }

    #[test]
    fn times_are_those_that_a_clock_can_measure() {
        let columns = Columns::new(&Record::from(vec!["op", "dtype", "rows", "measured_us"])).unwrap();
        let measured = |text: &str| columns.measured(&Record::from(vec!["", "", "", text]));
        assert_eq!((measured("").unwrap(), measured("2").unwrap()), (None, Some(2e-6)));
        for wrong in ["0", "-5", "nan", "inf", "1e300", "1e-300"] {
            assert!(measured(wrong).unwrap_err().to_string().contains("from 1e-3 to 1e13"), "{wrong}");
        }
    }

    #[test]
    fn rows_are_read_or_say_what_is_wrong() {
        let good = request("T4,bmm,fp16,,1,2,3,launch,bias;weight_copies=6; sparsity=2:4").unwrap();
        assert!(good.contains("batch: 1, m: 1, n: 2, k: 3") && good.contains("Some(6)") && good.contains("Launch"));
        for (row, expected) in [
            ("T4,conv,fp16,,,,,,", "op `conv` is no matrix product; gemm, bmm and grouped_gemm are"),
            (
                "T4,gem,fp16,,1,1,1,,",
                "op `gem` is not known; gemm, bmm, grouped_gemm, attention, conv, elementwise, gelu, layernorm, memcpy, moe, \
                 reduction, rmsnorm and softmax can be predicted",
            ),
            ("T4,gemm,fp16,,1,,1,,", "n is empty; gemm needs it"),
            ("T4,gemm,int4,,1,1,1,,", "dtype `int4` is not known; write fp64 fp32 tf32 fp16 bf16 fp8 fp4 or int8"),
            ("T4,gemm,fp16,,1,0,1,,", "n = 0: a matrix product has at least 1 row, column and inner element"),
            ("T4,gemm,fp16,,-1,1,1,,", "m = `-1` is not a whole number from 1 to 1099511627776 (2^40)"),
            ("T4,gemm,fp16,,1e3,1,1,,", "m = `1e3` is not a whole number from 1 to 1099511627776 (2^40)"),
            ("T4,gemm,fp16,,1099511627777,1,1,,", "m = 1099511627777: at most 2^40 are taken"),
            ("T4,gemm,fp16,,1,1,1,cpu,", "timing = `cpu` is neither device (the default) nor launch"),
        ] {
            assert_eq!(request(row).unwrap_err(), expected);
        }
        let huge = request("T4,gemm,fp16,1000000000000,9999999999,9999999999,1,,").unwrap_err();
        assert!(huge.contains("at most 1e24"), "{huge}");
        for wrong in ["weight_copies=0", "data=zeros", "sparsity=4:2"] {
            let error = request(&format!("T4,gemm,fp16,,1,1,1,,{wrong}")).unwrap_err();
            assert!(error.starts_with(&format!("notes: {wrong}: write weight_copies=COUNT")), "{error}");
        }
        assert!(request("T4,gemm,fp16,,1,1,1,,data=uninitialised").unwrap().contains("Some(Uninitialised)"));
    }
}
