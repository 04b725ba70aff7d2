//! Why a table of points gives no chart.

/// Why a table of points gives no chart; every message names the table.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PointsError {
    /// No header, or nothing below it.
    #[error("`{file}`: {what}; a chart needs a header and a row for each point, separated by commas")]
    Empty {
        /// The table.
        file: String,
        /// What is missing.
        what: &'static str,
    },
    /// No CSV.
    #[error("`{file}`: {problem}")]
    Form {
        /// The table.
        file: String,
        /// What is wrong, where, and the cure.
        problem: String,
    },
    /// No column of that name.
    #[error("`{file}` has no column `{column}`; {instead}")]
    Absent {
        /// The table.
        file: String,
        /// The name asked for.
        column: String,
        /// The name that was probably meant, or the names that are there.
        instead: String,
    },
    /// A column of that name is there twice.
    #[error("`{file}`: column `{column}` stands at places {first} and {second} of the header; leave one of them out")]
    Twice {
        /// The table.
        file: String,
        /// Its name.
        column: String,
        /// Place of the first, counted from 1.
        first: usize,
        /// Place of the second.
        second: usize,
    },
    /// A cell that is no number where one is needed.
    #[error("`{file}`, line {line}: {column} = `{value}` is not a number; {cure}")]
    Number {
        /// The table.
        file: String,
        /// Line in the file, counted from 1.
        line: u64,
        /// The column.
        column: String,
        /// The cell.
        value: String,
        /// What to do.
        cure: &'static str,
    },
    /// A value without a place on the logarithmic axis that was asked for.
    #[error(
        "`{file}`, line {line}: {column} = {value} has no place on a logarithmic axis; leave out --log (--log-z) or the row"
    )]
    Log {
        /// The table.
        file: String,
        /// Line in the file, counted from 1.
        line: u64,
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
    /// No row that can be drawn.
    #[error("`{file}`: no row has {what}; {why}")]
    Nothing {
        /// The table.
        file: String,
        /// The columns.
        what: String,
        /// The first error of the table, or what else is known.
        why: String,
    },
    /// More than can be told apart.
    #[error("`{file}`: {columns} gives {count} {what}: at most {most} can be told apart; {cure}")]
    Many {
        /// The table.
        file: String,
        /// The columns that set them apart.
        columns: String,
        /// How many there are.
        count: usize,
        /// What they are.
        what: &'static str,
        /// How many there may be.
        most: usize,
        /// What to do.
        cure: String,
    },
    /// Columns or words that do not go together.
    #[error("{0}")]
    Asked(String),
}
