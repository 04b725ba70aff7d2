//! nvprof: CSV of the trace, of the summary and of metrics (`nvprof --csv`, with `--print-gpu-trace`, `--metrics`,
//! `--events`), which the tool writes among the lines `==PID== ...` of its own.
//!
//! Below the header of a trace or summary is a row of units, other ones from file to file; K and M are 2^10 and 2^20
//! here. Names of launches end in a number, as in `kernel(int) [1094]`, which is left out. A table of metrics has no
//! times: each kernel has its number of invocations, and the means over them. Not read: the text without `--csv`, API
//! traces, and metrics per launch.

mod metrics;
mod places;

use std::{collections::HashMap, io::BufRead};

use super::{
    Collector, LaunchSummary,
    error::{ProfileError, shorten},
    lines::Line,
    rows::{LineReader, Log, Splitter, each_line, name_device, numbered, quote},
};
use places::{Entry, MetricPlaces, Places};

/// The table that rows belong to.
enum Table {
    /// One row per launch, or per kernel; the places of the columns, and their units where the row of them was there.
    Times { places: Places, units_due: bool },
    /// One row per kernel and metric.
    Metrics(MetricPlaces),
}

/// Whether a file begins as CSV of nvprof.
pub(super) fn detect(head: &str) -> bool {
    let mut splitter = Splitter::new(b',');
    head.lines().any(|line| header(line, &mut splitter).is_some())
}

/// Reads CSV of nvprof.
pub(super) fn read(input: &mut dyn BufRead, collector: &mut Collector) -> Result<(), ProfileError> {
    let reader = &mut Reader {
        splitter: Splitter::new(b','),
        table: None,
        other: false,
        kernels: HashMap::new(),
        summed: Vec::new(),
    };
    each_line(input, collector, reader)
}

/// The table that a line is the header of.
fn header(line: &str, splitter: &mut Splitter) -> Option<Table> {
    // All headers of the tool have one of these words.
    if !["Duration", "Invocations", "Calls"].iter().any(|word| line.contains(word)) {
        return None;
    }
    let names: Vec<&str> = splitter.split(line)?.iter().collect();
    if let Some(places) = MetricPlaces::of(&names) {
        return Some(Table::Metrics(places));
    }
    Some(Table::Times { places: Places::of(&names)?, units_due: true })
}

struct Reader {
    splitter: Splitter,
    table: Option<Table>,
    /// Whether the rows are those of the API.
    other: bool,
    /// Kernels with metrics, by device and name.
    kernels: HashMap<(u32, String), metrics::Means>,
    /// Their order in the file.
    summed: Vec<(u32, String)>,
}

impl Reader {
    fn message(&mut self, line: &Line<'_>, log: &mut Log) {
        let text = line.text.trim_start_matches('=').split_once("== ").map_or("", |(_, text)| text);
        if text.starts_with("Warning") || text.starts_with("Error") {
            log.note(|| format!("line {}: {}", line.number, shorten(text, 200)));
        } else if text.ends_with(':') && !text.contains("command") {
            // Another result follows, with its header.
            self.other = text.starts_with("API calls");
            self.table = None;
        }
    }

    fn row(&mut self, line: &Line<'_>, collector: &mut Collector, log: &mut Log) -> Result<(), String> {
        let Some(table) = &mut self.table else { return Ok(()) };
        let Some(fields) = self.splitter.split(&line.text) else {
            return Err("a quote opens and does not close".into());
        };
        let columns = match table {
            Table::Times { places, .. } => places.columns,
            Table::Metrics(places) => places.columns,
        };
        if fields.len() != columns {
            return Err(format!("{} fields under {columns} columns", fields.len()));
        }
        match table {
            Table::Times { places, units_due } => {
                if std::mem::take(units_due) && places.units(fields) {
                    return Ok(());
                }
                if self.other {
                    return Ok(());
                }
                match places.entry(fields)? {
                    Entry::Launch(record, device) => {
                        if let Some(name) = device {
                            name_device(collector, record.device, name);
                        }
                        collector.launch(&record);
                    }
                    Entry::Transfer { name, device, start, duration, bytes } => {
                        collector.transfer(name, device, start, duration, bytes);
                    }
                    Entry::Kernel(summary) => {
                        collector.summary(&summary);
                    }
                    Entry::Transfers { name, count, total } => collector.transfers_in_total(name, count, total, None),
                    Entry::Other => {}
                }
            }
            Table::Metrics(places) => {
                let (device, kernel) = (fields.get(places.device), fields.get(places.kernel));
                let (name, number) = numbered(device).unwrap_or((device, 0));
                let launches = fields.get(places.invocations).parse().ok().filter(|count| *count > 0);
                let Some(launches) = launches.filter(|_| !kernel.is_empty()) else {
                    return Err(format!("`{}` is no number of invocations", quote(fields.get(places.invocations))));
                };
                if !name.is_empty() {
                    name_device(collector, number, name);
                }
                let key = (number, kernel.to_owned());
                if !self.kernels.contains_key(&key) {
                    self.summed.push(key.clone());
                }
                let means = self.kernels.entry(key).or_default();
                if means.add(launches, fields.get(places.metric), fields.get(places.mean)) {
                    log.note(|| {
                        format!("line {}: `{}` has another number of invocations here", line.number, quote(kernel))
                    });
                }
            }
        }
        Ok(())
    }
}

impl LineReader for Reader {
    fn line(&mut self, line: &Line<'_>, collector: &mut Collector, log: &mut Log) {
        if line.text.starts_with("==") {
            self.message(line, log);
        } else if line.text.trim().is_empty() {
            self.table = None;
        } else if let Some(table) = header(&line.text, &mut self.splitter) {
            self.table = Some(table);
        } else if let Err(reason) = self.row(line, collector, log) {
            log.skip(line, &reason);
        }
    }

    fn end(&mut self, collector: &mut Collector, log: &mut Log) -> Result<(), ProfileError> {
        if self.kernels.is_empty() {
            return Ok(());
        }
        if collector.launches() > 0 {
            log.note(|| "the file also has metrics, which are not read beside launches".into());
            return Ok(());
        }
        for key in self.summed.drain(..) {
            let Some(means) = self.kernels.remove(&key) else { continue };
            let (device, name) = (key.0, key.1.as_str());
            let kernel = collector.summary(&LaunchSummary {
                name,
                device,
                launches: means.launches,
                ..LaunchSummary::default()
            });
            means.fill(kernel);
        }
        Ok(())
    }
}
