//! Nsight Systems: tables of `nsys stats` and the SQLite export.
//!
//! `nsys stats` writes each report as CSV, as text in columns or with borders, and several of them one below the
//! other, at times in the middle of a job's log. Read are `cuda_gpu_trace` (one row per launch, before 2022
//! `gputrace`), `cuda_gpu_kern_gb_sum`, `cuda_gpu_kern_sum` (`gpukernsum`) and `cuda_gpu_sum` (one row per kernel), and
//! of copies `cuda_gpu_mem_time_sum` and `cuda_gpu_mem_size_sum`. Where a file has several of the first four, the one
//! that tells most counts, since they list the same launches. Columns are found by name and have their unit in
//! parentheses; shared memory in MB with three decimals is a range. Names in text are cut off with an ellipsis.
//! Not read: the reports of the API, of the operating system, NVTX ranges.

mod layout;
#[cfg(feature = "sqlite")]
mod sqlite;
mod table;

use std::io::BufRead;

use super::{
    Collector,
    error::ProfileError,
    lines::Line,
    rows::{LineReader, Log, each_line, name_device},
};
use crate::units::Seconds;
use layout::{Columns, Shape};
use table::{Content, Kernel, Launch, Transfer};

#[cfg(feature = "sqlite")]
pub use sqlite::read_sqlite;

/// Words of the tool that no other text has, for logs whose tables are far down.
const MARKS: [&str; 4] = ["nsight-systems/", "Generating SQLite file ", ".nsys-rep", ".qdstrm"];

/// What every SQLite database begins with.
pub(super) const EXPORT: &str = "SQLite format 3\0";

/// Whether a file is an SQLite database.
pub(super) fn is_export(head: &str) -> bool {
    head.starts_with(EXPORT)
}

/// Whether a file begins as output of `nsys stats`.
pub(super) fn detect(head: &str) -> bool {
    let start = head.trim_start();
    // JSON has names of files in it too.
    if start.starts_with(['{', '[']) && !start.starts_with("[1/1]") {
        return false;
    }
    MARKS.iter().any(|mark| head.contains(mark)) || {
        let mut reader = Reader::default();
        head.lines().any(|line| {
            reader.header(line);
            line.clone_into(&mut reader.above);
            reader.table.is_some()
        })
    }
}

/// Reads tables of `nsys stats`.
pub(super) fn read(input: &mut dyn BufRead, collector: &mut Collector) -> Result<(), ProfileError> {
    each_line(input, collector, &mut Reader::default())
}

/// Reads an SQLite export that is held in memory as a whole.
#[cfg(feature = "sqlite")]
pub(super) fn read_export(input: &mut dyn BufRead, collector: &mut Collector) -> Result<(), ProfileError> {
    sqlite::read(input, collector)
}

/// Says that this program cannot read an SQLite export.
#[cfg(not(feature = "sqlite"))]
pub(super) fn read_export(_: &mut dyn BufRead, _: &mut Collector) -> Result<(), ProfileError> {
    let message = "this program is built without the feature `sqlite`; build it with it, or write the export as CSV with \
                   `nsys stats --report cuda_gpu_trace --format csv FILE.sqlite`";
    Err(ProfileError::Sqlite { message: message.into() })
}

/// A table that is being read.
struct Table {
    content: Content,
    columns: Columns,
}

#[derive(Default)]
struct Reader {
    table: Option<Table>,
    /// The last line with text, which is a header where a line of dashes follows.
    above: String,
    launches: u64,
    /// Summaries by what they are, as they cannot count together.
    kernels: [Vec<Kernel>; 3],
    /// Launches and time of each finished summary, to know one that is there twice.
    seen: Vec<(usize, u64, Seconds)>,
    /// Where the summary that is being read begins in its list.
    begins: usize,
    transfers: Vec<Transfer>,
}

impl Reader {
    /// Opens a table where a line is the header of one that counts, and closes the one before.
    fn header(&mut self, line: &str) {
        let columns = match layout::separator(line) {
            Some(extents) => Columns::fixed(&self.above, extents),
            None => Columns::delimited(line),
        };
        if let Some((columns, content)) = columns.and_then(|c| Content::of(&c).map(|content| (c, content))) {
            self.begins = content.summary().map_or(0, |kind| self.kernels[kind].len());
            self.table = Some(Table { content, columns });
        }
    }

    /// A summary that is there once more does not count.
    fn close(&mut self, log: &mut Log) {
        let Some(kind) = self.table.take().and_then(|table| table.content.summary()) else { return };
        let rows = &self.kernels[kind][self.begins..];
        let sums = (kind, rows.iter().map(|k| k.launches).sum(), rows.iter().filter_map(|k| k.total).sum());
        if rows.is_empty() {
            return;
        }
        if self.seen.contains(&sums) {
            self.kernels[kind].truncate(self.begins);
            log.note(|| "a summary of kernels is there twice and counts once".into());
        } else {
            self.seen.push(sums);
        }
    }

    fn row(&mut self, line: &Line<'_>, collector: &mut Collector) -> Result<(), String> {
        let Some(Table { content, columns }) = &mut self.table else { return Ok(()) };
        columns.row(&line.text, |cells, mark| {
            match content {
                Content::Launches(places) => match places.launch(cells, mark)? {
                    Launch::Kernel(record, device) => {
                        if let Some((name, number)) = device {
                            name_device(collector, number, name);
                        }
                        self.launches += 1;
                        collector.launch(&record);
                    }
                    Launch::Transfer { name, device, start, duration, bytes } => {
                        collector.transfer(name, device, start, duration, bytes);
                    }
                },
                Content::Kernels(places) => match places.kernel(cells, mark)? {
                    Some(kernel) => self.kernels[places.kind].push(kernel),
                    None => self.transfers.extend(places.transfer(cells, mark)?),
                },
                Content::Transfers(places) => self.transfers.push(places.transfer(cells, mark)?),
            }
            Ok(())
        })
    }
}

/// Lines between tables that the tool itself writes.
fn of_the_tool(line: &str) -> bool {
    ["Processing [", "SKIPPED", "NOTICE", "Generating ", "Generated", " **"].iter().any(|mark| line.starts_with(mark))
}

impl LineReader for Reader {
    fn line(&mut self, line: &Line<'_>, collector: &mut Collector, log: &mut Log) {
        let text = line.text.trim_end();
        let ends = text.trim().is_empty() || of_the_tool(text);
        let border = layout::separator(text).is_some();
        let fixed = self.table.as_ref().is_some_and(|table| table.columns.shape() == Shape::Fixed);
        if ends || (border && fixed) {
            self.close(log);
        } else if self.table.is_none() || border {
            self.header(text);
        } else if Columns::delimited(text).is_some_and(|columns| Content::of(&columns).is_some()) {
            self.close(log);
            self.header(text);
        } else if let Err(reason) = self.row(line, collector) {
            log.skip(line, &reason);
        }
        if !border {
            text.clone_into(&mut self.above);
        }
    }

    fn end(&mut self, collector: &mut Collector, log: &mut Log) -> Result<(), ProfileError> {
        self.close(log);
        let best = self.kernels.iter().position(|rows| !rows.is_empty());
        if self.launches > 0 {
            if best.is_some() {
                log.note(|| "the file also has summaries of kernels: launches are those of the trace".into());
            }
            return Ok(());
        }
        let Some(best) = best else { return Ok(()) };
        if self.kernels[best + 1..].iter().any(|rows| !rows.is_empty()) {
            log.note(|| "the file has several summaries of kernels: the one that tells most counts".into());
        }
        for kernel in self.kernels[best].drain(..) {
            kernel.add(collector);
        }
        for transfer in Transfer::joined(std::mem::take(&mut self.transfers)) {
            let total = transfer.total.unwrap_or(Seconds::ZERO);
            collector.transfers_in_total(&transfer.name, transfer.count, total, transfer.bytes);
        }
        Ok(())
    }
}
