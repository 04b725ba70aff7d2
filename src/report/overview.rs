//! Many kernels in one table: the columns that text and Markdown share.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, presets::NOTHING};
use textwrap::core::display_width;

use super::{
    KernelReport,
    layout::{fit, number, percentage, time},
};
use crate::units::grouped;

/// The cells of an overview; column 0 is the kernel.
pub(super) struct Overview {
    /// Column heads.
    pub head: Vec<&'static str>,
    /// A row per kernel.
    pub rows: Vec<Vec<String>>,
    /// The numbers behind the cells of `rows`, times in us; infinite above the roof, absent for words and the unknown.
    pub values: Vec<Vec<Option<f64>>>,
    /// The GPU, where it is the same for all rows and therefore not a column.
    pub gpu: Option<String>,
}

/// The head of the column of launches.
const LAUNCHES: &str = "launches";

/// A cell: its text, and the number behind it.
type Cell = (String, Option<f64>);

/// The overview of kernels. Columns that no kernel fills are left out.
pub(super) fn overview(kernels: &[KernelReport]) -> Overview {
    type Column = (&'static str, fn(&KernelReport) -> Option<Cell>);
    fn word(text: Option<&String>) -> Option<Cell> {
        text.map(|text| (text.clone(), None))
    }
    fn value(number: Option<f64>, form: fn(f64) -> String) -> Option<Cell> {
        number.map(|n| (form(n), Some(n)))
    }
    const COLUMNS: [Column; 13] = [
        ("GPU", |k| word(k.gpu.as_ref().or(k.gpu_name.as_ref()))),
        (LAUNCHES, |k| k.launches.map(|launches| (grouped(launches), Some(launches as f64)))),
        ("share %", |k| value(k.time_share_pct, percentage)),
        ("total", |k| value(k.total_us, time)),
        ("measured", |k| value(k.measured_us, time)),
        ("time", |k| value(k.time_us, time)),
        ("bound", |k| word(k.bound.as_ref())),
        ("likely", |k| word(k.likely_bound.as_ref())),
        ("occ %", |k| value(k.theoretical_occupancy_pct, percentage)),
        ("achieved %", |k| value(k.achieved_occupancy_pct, percentage)),
        ("waves", |k| value(k.waves.or(k.file_waves), number)),
        ("tail %", |k| value(k.tail_cost_pct, percentage)),
        ("roof %", |k| match k.roof_pct {
            Some(share) => value(Some(share), percentage),
            None => k.is_above_dram_roof().then(|| ("above".into(), Some(f64::INFINITY))),
        }),
    ];
    let name = |k: &KernelReport| k.gpu_name.clone();
    let gpu = kernels.first().and_then(name).filter(|first| kernels.iter().all(|k| name(k).as_ref() == Some(first)));
    let used: Vec<Column> = COLUMNS
        .into_iter()
        .filter(|(head, cell)| (gpu.is_none() || *head != "GPU") && kernels.iter().any(|k| cell(k).is_some()))
        .collect();
    let row = |k: &KernelReport| -> (Vec<String>, Vec<Option<f64>>) {
        let cells = used.iter().map(|(_, cell)| cell(k).unwrap_or_else(|| ("-".into(), None)));
        std::iter::once((k.kernel.clone(), None)).chain(cells).unzip()
    };
    let (rows, values) = kernels.iter().map(row).unzip();
    Overview { head: std::iter::once("kernel").chain(used.iter().map(|(head, _)| *head)).collect(), rows, values, gpu }
}

impl Overview {
    /// Without the column of launches, for tables that name their number beside the kernel.
    pub fn without_launches(mut self) -> Self {
        if let Some(place) = self.head.iter().position(|head| *head == LAUNCHES) {
            self.head.remove(place);
            for (row, values) in self.rows.iter_mut().zip(&mut self.values) {
                row.remove(place);
                values.remove(place);
            }
        }
        self
    }

    /// Whether a column holds words rather than numbers.
    pub fn is_text(head: &str) -> bool {
        matches!(head, "kernel" | "GPU" | "bound" | "likely")
    }

    /// The table in at most `width` columns: names are shortened first, then columns dropped from the right.
    pub fn text(mut self, width: usize) -> String {
        const LEAST_NAME: usize = 12;
        // One column of padding and one that the style leaves between cells.
        const GAP: usize = 2;
        let widths = |o: &Self| -> Vec<usize> {
            let cells = |c: usize| o.rows.iter().map(move |row| display_width(&row[c]));
            (0..o.head.len()).map(|c| cells(c).max().unwrap_or(0).max(display_width(o.head[c]))).collect()
        };
        loop {
            let others: usize = widths(&self).iter().skip(1).map(|w| w + GAP).sum();
            if others + LEAST_NAME <= width || self.head.len() <= 2 {
                let room = width.saturating_sub(others).max(1);
                self.rows.iter_mut().for_each(|row| row[0] = fit(&row[0], room));
                break;
            }
            self.head.pop();
            self.rows.iter_mut().for_each(|row| row.truncate(self.head.len()));
        }
        let mut table = Table::new();
        let rule = LineStyle::none().fill('─').junction('─');
        table.load_style(NOTHING.header_separator(rule)).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(&self.head).add_rows(&self.rows);
        let last = self.head.len() - 1;
        for (index, (column, head)) in table.column_iter_mut().zip(&self.head).enumerate() {
            column.set_padding((0, if index == last { 0 } else { 1 }));
            if !Self::is_text(head) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let mut text = String::new();
        for line in table.lines() {
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}
