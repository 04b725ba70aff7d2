//! rocprof: launches as CSV, in the four dialects of AMD's profilers.
//!
//! `rocprof` (`KernelName`, `grd`, `wgr`, `BeginNs`), `rocprofv2` and rocprofiler-compute's `pmc_perf.csv`
//! (`Kernel_Name`, `Grid_Size`, `Workgroup_Size`, counters beside them), `rocprofv3 --kernel-trace`
//! (`Workgroup_Size_X`, `Grid_Size_X`), and `rocprofv3 --pmc`, where a launch has a row for each counter. Grids are in
//! work-items and are divided by the workgroup. Summaries (`Calls`, `TotalDurationNs`) are read too. `sysinfo.csv`
//! alone describes a device. Not read: counters, the size of a wavefront, scratch memory.

mod places;

use std::io::BufRead;

use super::{
    Collector, LaunchRecord,
    error::ProfileError,
    lines::Line,
    rows::{DELIMITERS, LineReader, Log, Splitter, each_line},
};
use places::{Entry, Places};

/// Whether a file begins as a table of one of these tools.
pub(super) fn detect(head: &str) -> bool {
    head.lines().any(|line| header(line).is_some())
}

/// Reads a table of one of these tools.
pub(super) fn read(input: &mut dyn BufRead, collector: &mut Collector) -> Result<(), ProfileError> {
    each_line(input, collector, &mut Reader { table: None, origin: None, coarse: false, system: None })
}

fn header(line: &str) -> Option<(Splitter, Places)> {
    // All headers have one of these words; a row of one begins with a number or a quote.
    let lower = line.to_ascii_lowercase();
    let words = ["kernelname", "kernel_name", "totaldurationns", "gpu_arch", "source_agent_id"];
    if line.starts_with(|first: char| first.is_ascii_digit()) || !words.iter().any(|word| lower.contains(word)) {
        return None;
    }
    DELIMITERS.into_iter().find_map(|delimiter| {
        let mut splitter = Splitter::new(delimiter);
        let names: Vec<String> = splitter.split(line)?.iter().map(places::plain).collect();
        Some((splitter, Places::of(&names)?))
    })
}

struct Reader {
    table: Option<(Splitter, Places)>,
    /// The first time of the file in ns, so that the rest keep their digits.
    origin: Option<i128>,
    /// Whether times are printed with too few digits, which is said once.
    coarse: bool,
    /// What a description of a system says.
    system: Option<String>,
}

impl Reader {
    fn row(&mut self, line: &Line<'_>, collector: &mut Collector, log: &mut Log) -> Result<(), String> {
        let Some((splitter, places)) = &mut self.table else { return Ok(()) };
        let Some(fields) = splitter.split(&line.text) else { return Err("a quote opens and does not close".into()) };
        if fields.len() != places.columns() {
            return Err(format!("{} fields under {} columns", fields.len(), places.columns()));
        }
        match places.entry(fields, &mut self.origin)? {
            Entry::Launch { name, device, time, coarse, shape } => {
                if coarse && !std::mem::replace(&mut self.coarse, true) {
                    log.note(|| format!("line {}: times have too few digits for a duration", line.number));
                }
                let (start, duration) = time.unzip();
                collector.launch(&LaunchRecord { name, device, start, duration, shape });
            }
            Entry::Kernel(summary) => {
                collector.summary(&summary);
            }
            Entry::Transfer { name, device, start, duration } => {
                collector.transfer(name, device, Some(start), duration, None);
            }
            Entry::System(what) => self.system = Some(what),
            Entry::Other => {}
        }
        Ok(())
    }
}

impl LineReader for Reader {
    fn line(&mut self, line: &Line<'_>, collector: &mut Collector, log: &mut Log) {
        if line.text.trim().is_empty() {
            return;
        }
        if let Some(table) = header(&line.text) {
            self.table = Some(table);
        } else if let Err(reason) = self.row(line, collector, log) {
            log.skip(line, &reason);
        }
    }

    fn end(&mut self, _: &mut Collector, _: &mut Log) -> Result<(), ProfileError> {
        match self.system.take() {
            Some(what) => Err(ProfileError::DeviceAlone { what }),
            None => Ok(()),
        }
    }
}
