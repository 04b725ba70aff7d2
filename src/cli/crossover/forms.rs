//! A comparison of a CPU and a GPU as text, Markdown, CSV and JSON.

use anyhow::Result;
use serde_json::{Value, json};

use super::Compared;
use crate::{
    cli::{
        args::Format,
        table::{Cell, Table},
        world,
    },
    crossover::{From, Place, Sample, Sequential},
    gpu::Gpu,
    units::{Seconds, significant, times},
};

fn micros(seconds: f64) -> Cell {
    Cell::Number(seconds * 1e6)
}

/// The rows for programs.
fn full(samples: &[Sample], sequential: Option<Sequential>) -> Table<'static> {
    let mut columns = vec![
        ("n", "n"),
        ("bytes", "bytes"),
        ("CPU", "cpu_us"),
        ("low", "cpu_low_us"),
        ("high", "cpu_high_us"),
        ("cores", "cpu_cores"),
        ("level", "cpu_level"),
        ("GPU", "gpu_us"),
        ("low", "gpu_low_us"),
        ("high", "gpu_high_us"),
        ("kernel", "kernel_us"),
        ("launch", "launch_us"),
        ("transfer", "transfer_us"),
        ("speed-up", "speedup"),
    ];
    if sequential.is_some() {
        columns.push(("whole", "whole_speedup"));
    }
    let row = |s: &Sample| {
        let mut row = vec![
            Cell::Fixed(s.n as f64, 0),
            Cell::Number(s.bytes),
            micros(s.cpu.time),
            micros(s.cpu.low),
            micros(s.cpu.high),
            s.cpu.cores.into(),
            s.cpu.level.into(),
            micros(s.gpu.time),
            micros(s.gpu.low),
            micros(s.gpu.high),
            micros(s.gpu.kernel),
            micros(s.gpu.launch),
            micros(s.gpu.transfer),
            Cell::Number(s.speedup()),
        ];
        row.extend(sequential.map(|share| Cell::Number(share.whole(s.speedup()))));
        row
    };
    Table { columns, rows: samples.iter().map(row).collect() }
}

/// The rows for people.
fn short(samples: &[Sample], sequential: Option<Sequential>) -> Table<'static> {
    let mut columns = vec![
        ("n", ""),
        ("Data", ""),
        ("CPU", ""),
        ("Cores", ""),
        ("Level", ""),
        ("GPU", ""),
        ("of it copies", ""),
        ("Speed-up", ""),
    ];
    if sequential.is_some() {
        columns.push(("of all", ""));
    }
    let rounded = |value: f64| significant(value, 3).parse::<f64>().unwrap_or(value);
    let time = |seconds: f64| Seconds(rounded(seconds * 1e6) * 1e-6).to_string();
    let row = |s: &Sample| {
        let mut row: Vec<Cell> = vec![
            Cell::Fixed(s.n as f64, 0),
            size(s.bytes).into(),
            time(s.cpu.time).into(),
            s.cpu.cores.into(),
            s.cpu.level.into(),
            time(s.gpu.time).into(),
            s.gpu.link.is_some().then(|| time(s.gpu.transfer)).into(),
            times(s.speedup()).into(),
        ];
        row.extend(sequential.map(|share| Cell::from(times(share.whole(s.speedup())))));
        row
    };
    Table { columns, rows: samples.iter().map(row).collect() }
}

/// Three digits of bytes in decimal units, so that the column reads evenly.
fn size(bytes: f64) -> String {
    let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let (unit, scale) = units.into_iter().find(|(_, scale)| bytes >= *scale).unwrap_or(("B", 1.0));
    format!("{} {unit}", significant(bytes / scale, 3))
}

impl Compared {
    /// The answer in a form.
    pub fn render(&self, format: Format, samples: &[Sample], sequential: Option<Sequential>) -> Result<String> {
        match format {
            Format::Text | Format::Html => self.text(samples, sequential),
            Format::Markdown => self.markdown(samples, sequential),
            Format::Csv => full(samples, sequential).render(Format::Csv),
            Format::Json => self.json(samples, sequential),
        }
    }

    /// "gemm n x n x n, fp32: EPYC 9654 against H100 SXM5 80 GB, data on the host".
    fn head(&self) -> String {
        let request = self.model.request();
        let place = match request.place {
            Place::Host => "data on the host",
            Place::Input => "operands on the host, result stays on the GPU",
            Place::Resident => "data on the GPU",
        };
        let calls = match (request.place, request.reuse) {
            (Place::Resident, _) | (_, 1) => String::new(),
            (_, calls) => format!(", one transfer for {calls} calls"),
        };
        let changes = |gpu: &Gpu| gpu.changes.iter().map(|change| format!(", {change}")).collect::<String>();
        format!(
            "{}, {}: {}{} against {}{}, {place}{calls}",
            request.family.name(),
            request.data.name(),
            self.cpu.name,
            changes(&self.cpu),
            self.gpu.name,
            changes(&self.gpu)
        )
    }

    /// What there is to say, under labels.
    fn entries(&self, samples: &[Sample], sequential: Option<Sequential>) -> Vec<(&'static str, String)> {
        let mut entries = vec![("crossover", self.found.sentence()), ("why", self.found.why.clone())];
        entries.extend(self.found.changes().map(|changes| ("changes", changes)));
        if let (Some(share), Some(last)) = (sequential, samples.last()) {
            let limit = if share.share() > 0.0 { times(share.limit()) } else { "no limit".into() };
            entries.push((
                "Amdahl",
                format!(
                    "{} % of the time on the CPU stays there: {} at n = {}, limit {limit}",
                    significant(share.share() * 100.0, 4),
                    times(share.whole(last.speedup())),
                    last.n
                ),
            ));
        }
        entries
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.assumptions.clone();
        notes.extend(self.model.cpu_note().map(str::to_owned));
        let capacity = self.gpu.memory.dram.capacity;
        let end = self.model.at(self.found.range.1).ok();
        if let (Some(capacity), Some(end)) = (capacity, end)
            && end.bytes > capacity.get()
        {
            notes.push(format!("the largest data do not fit into the {capacity} of the GPU"));
        }
        let caches = if self.model.request().cold { "in DRAM" } else { "in its caches as far as they fit" };
        notes.push(format!("the CPU finds its operands {caches}; L1 32 KiB and L2 1 MiB per core, not of its file"));
        notes.push(
            "the CPU's rates were set by hand and never measured: its range is wide (model.md, section 17)".into(),
        );
        if self.model.request().place != Place::Resident {
            notes.push("copies from page-locked memory, one per tensor, none hidden behind a kernel".into());
        }
        notes
    }

    fn text(&self, samples: &[Sample], sequential: Option<Sequential>) -> Result<String> {
        let width = world::width();
        let mut text = textwrap::fill(&self.head(), width) + "\n";
        for (label, words) in self.entries(samples, sequential) {
            let first = format!("  {label:<11} ");
            let rest = " ".repeat(first.len());
            let options = textwrap::Options::new(width).initial_indent(&first).subsequent_indent(&rest);
            text += &(textwrap::fill(&words, options) + "\n");
        }
        text += &format!("\n{}\n", short(samples, sequential).render(Format::Text)?);
        for note in self.notes() {
            let options = textwrap::Options::new(width).initial_indent("- ").subsequent_indent("  ");
            text += &(textwrap::fill(&note, options) + "\n");
        }
        Ok(text)
    }

    fn markdown(&self, samples: &[Sample], sequential: Option<Sequential>) -> Result<String> {
        let mut text = format!("**{}**\n\n", self.head());
        for (label, words) in self.entries(samples, sequential) {
            text += &format!("- {label}: {words}\n");
        }
        text += &format!("\n{}\n", short(samples, sequential).render(Format::Markdown)?);
        for note in self.notes() {
            text += &format!("- {note}\n");
        }
        Ok(text)
    }

    fn json(&self, samples: &[Sample], sequential: Option<Sequential>) -> Result<String> {
        let rows: Value = serde_json::from_str(&full(samples, sequential).render(Format::Json)?)?;
        let word = |from: From| match from {
            From::Always => json!({ "wins": "always", "n": self.found.range.0 }),
            From::Size(n) => json!({ "wins": "from", "n": n }),
            From::Never => json!({ "wins": "never", "n": null }),
        };
        let (request, found) = (self.model.request(), &self.found);
        let crossings: Vec<Value> = found
            .crossings
            .iter()
            .map(|crossing| json!({ "n": crossing.n, "winner": if crossing.gpu { "gpu" } else { "cpu" } }))
            .collect();
        let value = json!({
            "schema": 1,
            "version": env!("CARGO_PKG_VERSION"),
            "operation": request.family.name(),
            "dtype": request.data.name(),
            "cpu": { "id": self.cpu.id, "name": self.cpu.name, "changes": self.cpu.changes },
            "gpu": { "id": self.gpu.id, "name": self.gpu.name, "changes": self.gpu.changes },
            "link": found.decisive.gpu.link,
            "reuse": request.reuse,
            "range": [found.range.0, found.range.1],
            "from": word(found.from),
            "from_early": word(found.early),
            "from_late": word(found.late),
            "from_resident": found.resident.map(word),
            "crossings": crossings,
            "sentence": found.sentence(),
            "why": found.why,
            "sequential_share": sequential.map(Sequential::share),
            "sizes": rows,
            "notes": self.notes(),
        });
        Ok(serde_json::to_string_pretty(&value)? + "\n")
    }
}
