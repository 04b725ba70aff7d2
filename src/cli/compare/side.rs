//! Devices side by side for people, the long form for programs, and the chart.

use anyhow::Result;

use super::{
    super::{
        args::Format,
        check::{Check, Fields},
        world,
    },
    Compared,
    columns::{self, Column, four, hundredth, tenth},
    devices::{Devices, Found, KernelRow, Row, Summary},
    grid::{Grid, fitted},
};
use crate::{
    chart::{Caption, Chart, KernelBars, SideBySide, Theme, TimeBar, figures},
    report::{PageTable, escape},
    time::Bound,
    units::{Seconds, times},
};

const COLUMNS: [Column<Row>; 8] = [
    Column::text("Kernel", "kernel", |r| r.kernel.clone()),
    Column::text("Device", "device", |r| r.device.clone()),
    Column::number("Time\nus", "time_us", |r| Some(r.time_us), four),
    Column::number("Speed-up", "speedup", |r| r.speedup, hundredth),
    Column::text("Bound", "bound", |r| r.bound.word().into()),
    Column::number("Occ.\n%", "theoretical_occupancy_pct", |r| Some(r.occupancy_pct), tenth),
    Column::number("Waves", "waves", |r| Some(r.waves), four),
    Column::number("Tail\n%", "tail_cost_pct", |r| Some(r.tail_cost_pct), tenth),
];

const SUMMARY: [Column<Summary>; 4] = [
    Column::text("Device", "device", |s| s.device.clone()),
    Column::number("Total\nus", "total_us", |s| Some(s.total_us), four),
    Column::number("Speed-up\nof the total", "total_speedup", |s| Some(s.total_speedup), hundredth),
    Column::number("Geometric mean\nof speed-ups", "geomean_speedup", |s| Some(s.geomean_speedup), hundredth),
];

const SHORT: [(&str, &str); 3] =
    [("time", "time_us"), ("tail_cost", "tail_cost_pct"), ("occupancy", "theoretical_occupancy_pct")];

/// Columns of a kernel's name in the long form.
const LONG_NAME: usize = 24;

/// How the bound of a cell is written.
#[derive(Clone, Copy)]
enum Words {
    Full,
    Short,
}

impl Words {
    fn of(self, bound: Bound) -> &'static str {
        match (self, bound) {
            (Self::Full, bound) => bound.word(),
            (Self::Short, Bound::Math) => "math",
            (Self::Short, Bound::Memory) => "mem",
            (Self::Short, Bound::Latency) => "lat",
        }
    }
}

impl Devices {
    /// Kernels as rows, devices as columns, in each cell time, speed-up and bound at fixed places.
    fn grid(&self, words: Words) -> Grid {
        let parts = |kernel: &KernelRow, column: usize| match kernel.found.get(column).and_then(Option::as_ref) {
            Some(found) => [time(found.time_us), self.speedup(kernel, column).map_or_else(|| "-".into(), times), {
                words.of(found.bound).to_owned()
            }],
            None => ["does not run".into(), String::new(), String::new()],
        };
        let mut grid = Grid {
            heads: std::iter::once("Kernel".to_owned()).chain(self.devices.iter().map(|d| d.name.clone())).collect(),
            rows: self.kernels.iter().map(|k| vec![k.name.clone()]).collect(),
            ..Grid::default()
        };
        let summary = self.shown_summary();
        if !summary.is_empty() {
            grid.summary = vec![vec!["total".into()], vec!["geometric mean".into()]];
        }
        for column in 0..self.devices.len() {
            let mut cells: Vec<[String; 3]> = self.kernels.iter().map(|k| parts(k, column)).collect();
            if let Some(all) = summary.get(column) {
                cells.push([time(all.total_us), times(all.total_speedup), String::new()]);
                cells.push([String::new(), times(all.geomean_speedup), String::new()]);
            }
            let runs = |cell: &&[String; 3]| !cell[1].is_empty();
            let widest = |part: usize| cells.iter().filter(runs).map(|c| c[part].len()).max().unwrap_or(0);
            let (first, second) = (widest(0), widest(1));
            let rows = grid.rows.iter_mut().chain(&mut grid.summary);
            for (row, [time, speedup, bound]) in rows.zip(cells) {
                let cell = format!("{time:>first$}  {speedup:>second$}  {bound}");
                row.push(cell.trim_end().to_owned());
            }
        }
        grid
    }

    /// The summary for people: of one kernel it would say the same again.
    fn shown_summary(&self) -> Vec<Summary> {
        if self.kernels.len() > 1 { self.summary() } else { Vec::new() }
    }

    fn text(&self, width: usize) -> Result<String> {
        let against = format!("Speed-up against {}.", self.devices[self.baseline].name);
        for words in [Words::Full, Words::Short] {
            let grid = self.grid(words);
            if grid.fits(width) {
                let legend = match words {
                    Words::Full => "",
                    Words::Short => " mem: memory-bound, lat: latency-bound.",
                };
                return Ok(format!("{}{against}{legend}\n", grid.text(width)));
            }
        }
        let mut rows = self.rows();
        let names: Vec<String> = rows.iter().map(|r| r.kernel.clone()).collect();
        for (row, name) in rows.iter_mut().zip(fitted(&names, LONG_NAME)) {
            row.kernel = name;
        }
        let long = columns::table(&COLUMNS, &rows).render(Format::Text)?;
        let summary = self.shown_summary();
        let all = match summary.is_empty() {
            true => String::new(),
            false => format!("\n{}", columns::table(&SUMMARY, &summary).render(Format::Text)?),
        };
        Ok(format!("{long}{all}{against}\n"))
    }

    fn markdown(&self) -> String {
        let mut grid = self.grid(Words::Full);
        for row in grid.rows.iter_mut().chain(&mut grid.summary) {
            for cell in row.iter_mut().skip(1) {
                *cell = cell.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
            }
        }
        let mut out = format!("### {}\n\n{}\n", escape(&self.title), grid.markdown());
        out += &format!(
            "Estimates of Wavecast {}; speed-up against {}.\n",
            env!("CARGO_PKG_VERSION"),
            escape(&self.devices[self.baseline].name)
        );
        for (index, note) in self.errors.iter().chain(&self.notes).enumerate() {
            out += &format!("{}- {}\n", if index == 0 { "\n" } else { "" }, escape(note));
        }
        out
    }

    fn figure(&self) -> SideBySide {
        let bar = |kernel: &KernelRow, column: usize, found: &Found| TimeBar {
            time_us: found.time_us,
            speedup: self.speedup(kernel, column),
            bound: figures::drawn(found.bound),
        };
        let bars = |kernel: &KernelRow| KernelBars {
            label: kernel.name.clone(),
            bars: kernel.found.iter().enumerate().map(|(c, f)| f.as_ref().map(|f| bar(kernel, c, f))).collect(),
        };
        let mut products: Vec<&str> = self.devices.iter().map(|d| d.product.as_str()).collect();
        products.dedup();
        let mut assumptions: Vec<String> =
            self.notes.iter().map(|note| note.trim_start_matches("assumed: ").to_owned()).collect();
        let means = self.shown_summary().into_iter().enumerate().filter(|(column, _)| *column != self.baseline);
        let means: Vec<String> = means.map(|(_, s)| format!("{} {}", s.device, times(s.geomean_speedup))).collect();
        if !means.is_empty() {
            assumptions.insert(0, format!("geometric mean of speed-ups: {}", means.join(", ")));
        }
        SideBySide {
            caption: Caption {
                title: format!("Compared: {}", self.title),
                gpu: products.join(", "),
                assumptions,
                version: env!("CARGO_PKG_VERSION").into(),
            },
            devices: self.devices.iter().map(|d| d.name.clone()).collect(),
            baseline: self.baseline,
            kernels: self.kernels.iter().map(bars).collect(),
        }
    }
}

/// A time for people.
fn time(us: f64) -> String {
    Seconds(us * 1e-6).to_string()
}

impl Compared for Devices {
    fn fields(&self) -> Fields {
        columns::fields(&SHORT, &COLUMNS, &SUMMARY)
    }

    fn failures(&self, checks: &[Check]) -> Vec<String> {
        let rows = columns::failures(checks, &COLUMNS, &self.rows(), |r| format!("{} on {}", r.kernel, r.device));
        let summary = columns::failures(checks, &SUMMARY, &self.summary(), |s| format!("all kernels on {}", s.device));
        [rows, summary].concat()
    }

    fn render(&self, format: Format) -> Result<String> {
        match format {
            Format::Text => self.text(world::width()),
            Format::Markdown => Ok(self.markdown()),
            _ => columns::table(&COLUMNS, &self.rows()).render(format),
        }
    }

    fn page(&self) -> (String, Vec<PageTable>) {
        let tables = [columns::table(&COLUMNS, &self.rows()), columns::table(&SUMMARY, &self.summary())];
        (self.title.clone(), tables.iter().map(|t| t.page()).collect())
    }

    fn chart(&self, theme: Theme) -> Option<Chart> {
        Some(self.figure().draw(theme))
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn errors(&self) -> &[String] {
        &self.errors
    }
}
