//! Two profiles or traces for people: the table of times, what else changed, and the chart; the long form for programs.

use anyhow::Result;

use super::{
    super::{
        args::Format,
        check::{Check, Fields},
        world,
    },
    Compared,
    columns::{self, four, six, tenth},
    grid::{Grid, fitted},
    profiles::{COLUMNS, Profiles, RENAMED, Row, Side},
    totals::{TOTALS, Totals, added_pct},
};
use crate::{
    chart::{BeforeAfter, Caption, Change, Chart, Theme},
    report::{PageTable, escape},
    units::{grouped, significant, times},
};

/// Rows that a person reads; programs get all.
const SHOWN: usize = 30;

/// Below this share a change of DRAM traffic is noise of the measurement.
const SAME_TRAFFIC: f64 = 0.02;

/// Characters of a name in the chart.
const CHART_NAME: usize = 30;

/// A change with its sign.
fn signed(value: f64, text: String) -> String {
    if value > 0.0 && text != "0" { format!("+{text}") } else { text }
}

/// A quantity that may have changed: its head, its values, its print, and the share below which a change is noise.
type Line = (&'static str, fn(&Row) -> Option<(f64, f64)>, fn(f64) -> String, f64);

/// A quantity before and after, where both are known.
fn both(row: &Row, of: fn(&Side) -> Option<f64>) -> Option<(f64, f64)> {
    Some((of(row.before.as_ref()?)?, of(row.after.as_ref()?)?))
}

/// The quantity before and after, where both are known and differ.
fn changed(row: &Row, (_, of, show, least): &Line) -> Option<String> {
    let (old, new) = of(row)?;
    let apart = (new - old).abs() > old.abs() * least && show(old) != show(new);
    apart.then(|| format!("{} -> {}", show(old), show(new)))
}

fn megabytes(bytes: f64) -> String {
    significant(bytes / 1e6, 4)
}

/// The mean of a launch, where totals do not tell it: the number of launches is another.
fn per_launch(row: &Row) -> Option<(f64, f64)> {
    let (old, new) = both(row, |s| s.launches)?;
    both(row, |s| s.mean_us).filter(|_| old != new)
}

/// How often a kernel ran before and after.
fn ran(row: &Row) -> String {
    let launches = |side: &Option<Side>| side.as_ref().and_then(|s| s.launches);
    match (launches(&row.before), launches(&row.after)) {
        (Some(old), Some(new)) if old != new => format!("{} -> {}", six(old), six(new)),
        (old, new) => old.or(new).map(six).unwrap_or_default(),
    }
}

impl Profiles {
    /// What each kernel took; of traces also how often it ran, where that fits.
    fn times(&self, width: usize) -> Grid {
        let grid = self.times_with(self.traced);
        if grid.fits(width) { grid } else { self.times_with(false) }
    }

    fn times_with(&self, launches: bool) -> Grid {
        let heads = ["Kernel", "Before us", "After us", "Change us", "Change %", "Share %", "Note"];
        let number = |value: Option<f64>| value.map(four).unwrap_or_default();
        let percent = |value: Option<f64>| value.map(|v| signed(v, tenth(v))).unwrap_or_default();
        let row = |row: &Row| {
            vec![
                row.kernel.clone(),
                number(row.before.as_ref().and_then(|s| s.us)),
                number(row.after.as_ref().and_then(|s| s.us)),
                row.change_us().map(|v| signed(v, four(v))).unwrap_or_default(),
                percent(row.change_pct()),
                row.before.as_ref().or(row.after.as_ref()).and_then(|s| s.share_pct).map(tenth).unwrap_or_default(),
                row.note.clone(),
            ]
        };
        let mut grid = Grid {
            heads: heads.map(str::to_owned).into(),
            rows: self.rows.iter().take(SHOWN).map(row).collect(),
            right: 1..6,
            ..Grid::default()
        };
        let sum = |label: String, (before, after): (f64, f64)| {
            let change = signed(after - before, four(after - before));
            let empty = String::new();
            vec![label, four(before), four(after), change, percent(added_pct((before, after))), empty.clone(), empty]
        };
        if let Some(totals) = &self.totals {
            let all = format!("all {}", grouped(self.rows.len() as u64));
            grid.summary.push(sum(all, (totals.before_us, totals.after_us)));
            grid.summary.extend(totals.around().into_iter().map(|(name, both)| sum(name.to_owned(), both)));
        }
        if grid.rows.iter().all(|row| row.last().is_none_or(String::is_empty)) {
            grid.heads.pop();
            for row in grid.rows.iter_mut().chain(&mut grid.summary) {
                row.pop();
            }
        }
        if launches {
            grid.heads.insert(1, "Launches".into());
            for (row, cells) in self.rows.iter().zip(&mut grid.rows) {
                cells.insert(1, ran(row));
            }
            grid.summary.iter_mut().for_each(|cells| cells.insert(1, String::new()));
            grid.right = 1..7;
        }
        grid
    }

    /// What else changed, kernel by kernel: the launch, then its time and traffic. What did not change has no row and no
    /// column.
    fn resources(&self) -> Vec<Grid> {
        const LAUNCH: [Line; 4] = [
            ("Grid", |r| both(r, |s| s.grid_blocks), six, 0.0),
            ("Block", |r| both(r, |s| s.threads_per_block), six, 0.0),
            ("Registers", |r| both(r, |s| s.registers), six, 0.0),
            ("Occupancy %", |r| both(r, |s| s.occupancy_pct), tenth, 0.0),
        ];
        const TRAFFIC: [Line; 5] = [
            ("Launches", |r| both(r, |s| s.launches), six, 0.0),
            ("us per launch", per_launch, four, 0.0),
            ("Shared B", |r| both(r, |s| s.shared_bytes), six, 0.0),
            ("DRAM MB", |r| both(r, |s| s.dram_bytes), megabytes, SAME_TRAFFIC),
            ("DRAM GB/s", |r| both(r, |s| s.dram_gb_per_s), four, SAME_TRAFFIC),
        ];
        [self.changes(&LAUNCH), self.changes(&TRAFFIC)].into_iter().flatten().collect()
    }

    fn changes(&self, lines: &[Line]) -> Option<Grid> {
        let shown = || self.rows.iter().take(SHOWN);
        let used: Vec<&Line> = lines.iter().filter(|line| shown().any(|row| changed(row, line).is_some())).collect();
        let cells = |row: &Row| {
            let cells: Vec<Option<String>> = used.iter().map(|line| changed(row, line)).collect();
            let all = std::iter::once(row.kernel.clone()).chain(cells.iter().map(|c| c.clone().unwrap_or_default()));
            cells.iter().any(Option::is_some).then(|| all.collect::<Vec<_>>())
        };
        let rows: Vec<Vec<String>> = shown().filter_map(cells).collect();
        let heads = std::iter::once("Kernel".to_owned()).chain(used.iter().map(|line| line.0.to_owned())).collect();
        (!rows.is_empty()).then(|| Grid { heads, rows, right: 1..6, ..Grid::default() })
    }

    /// Sentences below the tables.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(rest) = self.rows.get(SHOWN..).filter(|rest| !rest.is_empty()) {
            let change: f64 = rest.iter().filter_map(Row::change_us).sum();
            let change = signed(change, four(change));
            remarks.push(format!("{} more kernels, {change} us together: --format csv has all.", rest.len()));
        }
        if let Some(mean) = self.totals.and_then(|t| t.geomean_speedup) {
            remarks.push(format!("Geometric mean of the speed-ups: {}.", times(mean)));
        }
        remarks
    }

    fn text(&self, width: usize) -> String {
        let mut out = self.times(width).text(width);
        self.remarks().iter().for_each(|remark| out += &format!("{remark}\n"));
        self.resources().iter().for_each(|grid| out += &format!("\n{}", grid.text(width)));
        out
    }

    fn markdown(&self) -> String {
        let mut out = format!("### Before and after\n\n{}", self.times_with(self.traced).markdown());
        for (index, grid) in self.resources().iter().enumerate() {
            let head = if index == 0 { "What else changed:\n\n" } else { "" };
            out += &format!("\n{head}{}", grid.markdown());
        }
        let version = format!("Measured by {}, compared by Wavecast {}.", self.tools, env!("CARGO_PKG_VERSION"));
        out += "\n";
        out += &self.remarks().into_iter().chain([version]).collect::<Vec<_>>().join(" ");
        out += "\n";
        for (index, note) in self.notes.iter().enumerate() {
            out += &format!("{}- {}\n", if index == 0 { "\n" } else { "" }, escape(note));
        }
        out
    }

    fn figure(&self) -> Option<BeforeAfter> {
        let names: Vec<String> = self.rows.iter().map(|row| row.kernel.clone()).collect();
        let change = |(row, label): (&Row, String)| {
            let us = |side: &Option<Side>| side.as_ref().and_then(|s| s.us);
            let (before_us, after_us) = (us(&row.before), us(&row.after));
            before_us.or(after_us)?;
            Some(Change { label, before_us, after_us })
        };
        let changes: Vec<Change> = self.rows.iter().zip(fitted(&names, CHART_NAME)).filter_map(change).collect();
        let mut assumptions = vec![format!("measured by {}", self.tools)];
        if let Some(totals) = &self.totals {
            let change = totals.change_pct().map(|v| format!(" ({} %)", signed(v, tenth(v)))).unwrap_or_default();
            assumptions.push(format!("all: {} us -> {} us{change}", four(totals.before_us), four(totals.after_us)));
            let around = totals.around().into_iter();
            assumptions
                .extend(around.map(|(name, (old, new))| format!("{name}: {} us -> {} us", four(old), four(new))));
        }
        match self.rows.iter().filter(|row| row.note == RENAMED).count() {
            0 => {}
            renamed => assumptions.push(format!("paired though the name changed: {renamed}")),
        }
        assumptions.extend(self.notes.iter().cloned());
        let caption = Caption {
            title: "Before and after".into(),
            gpu: self.devices.join(", "),
            assumptions,
            version: env!("CARGO_PKG_VERSION").into(),
        };
        (!changes.is_empty()).then_some(BeforeAfter { caption, changes })
    }
}

impl Compared for Profiles {
    fn fields(&self) -> Fields {
        Self::check_fields()
    }

    fn failures(&self, checks: &[Check]) -> Vec<String> {
        self.failed(checks)
    }

    fn render(&self, format: Format) -> Result<String> {
        match format {
            Format::Text => Ok(self.text(world::width())),
            Format::Markdown => Ok(self.markdown()),
            _ => columns::table(&COLUMNS, &self.rows).render(format),
        }
    }

    fn page(&self) -> (String, Vec<PageTable>) {
        let totals: Vec<Totals> = self.totals.into_iter().collect();
        let all = (!totals.is_empty()).then(|| columns::table(&TOTALS, &totals).page());
        let kernels = columns::table(&COLUMNS, &self.rows).page();
        let what = if self.traced { "traces" } else { "profiles" };
        (format!("Two {what}, before and after"), std::iter::once(kernels).chain(all).collect())
    }

    fn chart(&self, theme: Theme) -> Option<Chart> {
        self.figure().map(|figure| figure.draw(theme))
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn errors(&self) -> &[String] {
        &[]
    }
}
