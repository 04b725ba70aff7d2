//! Headers of tables of operations: where the columns are, and names that are nearly those of columns.

use super::{COLUMNS, Columns};
use crate::op::batch::RESULTS;

/// A header that no table of operations has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// A required column is absent.
    #[error(
        "the table has no column `{0}`; matrix products need op, dtype, m, n and k, and may have gpu, batch, timing and notes"
    )]
    Absent(&'static str),
    /// A column is there twice.
    #[error("column `{column}` stands at places {first} and {second} of the header; leave one of them out")]
    Twice {
        /// Its name.
        column: &'static str,
        /// Place of the first, counted from 1.
        first: usize,
        /// Place of the second.
        second: usize,
    },
}

impl Columns {
    /// The places of the columns in a header; other columns may stand between them.
    ///
    /// # Errors
    /// The first column that no row can do without and that is absent, or a column that is there twice.
    pub fn new(header: &csv::ByteRecord) -> Result<Self, HeaderError> {
        let mut columns = Self([None; COLUMNS.len()]);
        for (place, name) in header.iter().enumerate() {
            let Some(known) = COLUMNS.iter().position(|column| name.trim_ascii() == column.as_bytes()) else {
                continue;
            };
            if let Some(first) = columns.0[known].replace(place) {
                return Err(HeaderError::Twice { column: COLUMNS[known], first: first + 1, second: place + 1 });
            }
        }
        // A table without the sizes of products is one of other operations.
        let others = ["rows", "heads_q", "conv_params"].into_iter().any(|name| columns.place(name).is_some());
        let needed = if others { &["op", "dtype"][..] } else { &["op", "dtype", "m", "n", "k"] };
        match needed.iter().copied().find(|name| columns.place(name).is_none()) {
            Some(missing) => Err(HeaderError::Absent(missing)),
            None => Ok(columns),
        }
    }
}

/// Columns of a header that nothing reads, each with the column whose name it nearly has.
pub fn nearly_known(header: &csv::ByteRecord) -> Vec<(String, &'static str)> {
    let has = |name: &str| header.iter().any(|given| given.trim_ascii() == name.as_bytes());
    let near = |given: &[u8]| {
        let given = String::from_utf8_lossy(given).trim().to_owned();
        let read = COLUMNS.contains(&given.as_str()) || RESULTS.contains(&given.as_str());
        let alike = |name: &&&str| strsim::jaro_winkler(&given.to_ascii_lowercase(), name) > 0.9;
        let meant = COLUMNS.iter().filter(|name| !read && !has(name)).find(alike)?;
        Some((given, *meant))
    };
    header.iter().filter_map(near).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use csv::ByteRecord;

    #[test]
    fn a_column_stands_once_and_near_names_are_seen() {
        let twice = ByteRecord::from(vec!["op", "dtype", "m", "n", "k", " m "]);
        let error = Columns::new(&twice).unwrap_err().to_string();
        assert!(error.starts_with("column `m` stands at places 3 and 6"), "{error}");
        let others =
            ByteRecord::from(vec!["op", "dtype", "m", "n", "k", "remark", "remark", "Timing", "mesured_us", "low_us"]);
        assert!(Columns::new(&others).is_ok());
        let near = nearly_known(&others);
        assert_eq!(near, [("Timing".to_owned(), "timing"), ("mesured_us".to_owned(), "measured_us")]);
        assert!(nearly_known(&ByteRecord::from(COLUMNS.to_vec())).is_empty());
    }
}
