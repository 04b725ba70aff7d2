//! Many kernels in one table: the columns that text and Markdown share.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets::UTF8_HORIZONTAL_ONLY};
use textwrap::core::display_width;

use super::{
    KernelReport,
    layout::{fit, number, percent, time},
};

/// The cells of an overview; column 0 is the kernel.
pub(super) struct Overview {
    /// Column heads.
    pub head: Vec<&'static str>,
    /// A row per kernel.
    pub rows: Vec<Vec<String>>,
    /// The GPU, where it is the same for all rows and therefore not a column.
    pub gpu: Option<String>,
}

/// The overview of kernels. Columns that no kernel fills are left out.
pub(super) fn overview(kernels: &[KernelReport]) -> Overview {
    type Column = (&'static str, fn(&KernelReport) -> Option<String>);
    const COLUMNS: [Column; 9] = [
        ("GPU", |k| k.gpu.clone().or_else(|| k.gpu_name.clone())),
        ("measured", |k| k.measured_us.map(time)),
        ("time", |k| k.time_us.map(time)),
        ("bound", |k| k.bound.clone()),
        ("occupancy", |k| k.theoretical_occupancy_pct.map(percent)),
        ("achieved", |k| k.achieved_occupancy_pct.map(percent)),
        ("waves", |k| k.waves.or(k.file_waves).map(number)),
        ("tail", |k| k.tail_cost_pct.map(percent)),
        ("of roof", |k| match k.roof_pct {
            Some(share) => Some(percent(share)),
            None => k.is_above_dram_roof().then(|| "above".into()),
        }),
    ];
    let name = |k: &KernelReport| k.gpu_name.clone();
    let gpu = kernels.first().and_then(name).filter(|first| kernels.iter().all(|k| name(k).as_ref() == Some(first)));
    let used: Vec<Column> = COLUMNS
        .into_iter()
        .filter(|(head, cell)| (gpu.is_none() || *head != "GPU") && kernels.iter().any(|k| cell(k).is_some()))
        .collect();
    let row = |k: &KernelReport| {
        let cells = used.iter().map(|(_, cell)| cell(k).unwrap_or_else(|| "-".into()));
        std::iter::once(k.kernel.clone()).chain(cells).collect()
    };
    Overview {
        head: std::iter::once("kernel").chain(used.iter().map(|(head, _)| *head)).collect(),
        rows: kernels.iter().map(row).collect(),
        gpu,
    }
}

impl Overview {
    /// Whether a column holds words rather than numbers.
    pub fn is_text(head: &str) -> bool {
        matches!(head, "kernel" | "GPU" | "bound")
    }

    /// The table in at most `width` columns: names are shortened first, then columns dropped from the right.
    pub fn text(mut self, width: usize) -> String {
        const LEAST_NAME: usize = 12;
        const PADDING: usize = 3;
        let widths = |o: &Self| -> Vec<usize> {
            let cells = |c: usize| o.rows.iter().map(move |row| display_width(&row[c]));
            (0..o.head.len()).map(|c| cells(c).max().unwrap_or(0).max(display_width(o.head[c]))).collect()
        };
        loop {
            let others: usize = widths(&self).iter().skip(1).map(|w| w + PADDING).sum();
            if others + PADDING + LEAST_NAME <= width || self.head.len() <= 2 {
                let room = width.saturating_sub(others + PADDING).max(1);
                self.rows.iter_mut().for_each(|row| row[0] = fit(&row[0], room));
                break;
            }
            self.head.pop();
            self.rows.iter_mut().for_each(|row| row.truncate(self.head.len()));
        }
        let mut table = Table::new();
        table.load_style(UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(&self.head).add_rows(&self.rows);
        for (column, head) in table.column_iter_mut().zip(&self.head) {
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
