//! Blocks on the SMs over time: a row per SM, the tail, the critical block, and below how much of the GPU is in use.

mod looks;
mod marks;
mod rows;
mod uses;

use rows::Rows;

use super::axis::Axis;
use super::canvas::{Canvas, Stroke, Type};
use super::data::{Table, cell};
use super::geometry::Rect;
use super::terms::time;
use super::{Caption, Chart, Theme, page};
use crate::{
    gpu::Words,
    units::{counted, grouped, significant},
};

/// One block in its slot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimelineBlock {
    /// Number of its kernel.
    pub kernel: usize,
    /// Its place in the kernel's grid.
    pub index: u64,
    /// SM.
    pub sm: u32,
    /// Slot of the SM.
    pub slot: u32,
    /// Start in microseconds.
    pub start_us: f64,
    /// End in microseconds.
    pub end_us: f64,
}

/// When a kernel ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimelineKernel {
    /// Name of the kernel.
    pub label: String,
    /// Blocks of it that fit on an SM.
    pub blocks_per_sm: u32,
    /// Blocks of it that run at once.
    pub wave_blocks: u64,
    /// When its blocks could first be placed, in microseconds.
    pub open_us: f64,
    /// When its first block was placed, in microseconds.
    pub first_us: f64,
    /// When its last block was placed, in microseconds.
    pub placed_us: f64,
    /// When its last block ended, in microseconds.
    pub end_us: f64,
}

/// Use of a resource over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimelineUse {
    /// What is used, such as `DRAM`.
    pub label: String,
    /// Mean use in equal parts of the whole time, in percent; empty where nobody uses it.
    pub parts_pct: Vec<f64>,
}

/// A time to compare with, such as that of perfect balance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimelineMark {
    /// What takes so long.
    pub label: String,
    /// Time in microseconds.
    pub at_us: f64,
}

/// Kernels on one GPU over time, block by block; as filled slots where blocks are too many or too short to be seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Words around the figure.
    pub caption: Caption,
    /// What the vendor calls blocks and SMs.
    pub words: Words,
    /// SMs, numbered from 0.
    pub sms: u32,
    /// Slots of an SM, numbered from 0.
    pub slots: u32,
    /// Blocks that ran.
    pub block_count: u64,
    /// End of the last block, in microseconds.
    pub end_us: f64,
    /// The kernels.
    pub kernels: Vec<TimelineKernel>,
    /// All blocks; empty where they were not kept.
    pub blocks: Vec<TimelineBlock>,
    /// For each SM the filled share of its slots in equal parts of the time, 0 to 1; asked only where blocks were not kept.
    pub filled: Vec<Vec<f64>>,
    /// In each of these parts the number of the kernel that fills most slots of the GPU.
    pub leading: Vec<usize>,
    /// When the first SM ran out of blocks, in microseconds.
    pub tail_us: f64,
    /// SM time that lies idle from then on, in percent of all SM time.
    pub tail_pct: f64,
    /// The block that ended last.
    pub critical: Option<TimelineBlock>,
    /// Curves below: slots, then arithmetic, DRAM, L2, SM ports; each place has its own look.
    pub uses: Vec<TimelineUse>,
    /// Times to compare with.
    pub marks: Vec<TimelineMark>,
}

/// Pixels left and right of the panels, between them, of the lower one, and below it.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 158.0;
const GAP: f64 = 16.0;
const USE: f64 = 112.0;
const BELOW: f64 = 46.0;
/// A time to compare with widens the axis up to this multiple of the simulated one.
const WIDEST: f64 = 1.5;

/// Where things stand.
struct Scene {
    /// SMs over time.
    plot: Rect,
    /// Use over time.
    lower: Rect,
    axis: Axis,
    /// Microseconds of the axis' unit.
    scale: f64,
    rows: Rows,
}

impl Scene {
    /// The pixel of a time.
    fn at(&self, us: f64) -> f64 {
        self.axis.place(us / self.scale)
    }
}

/// Unit of the axis and its size in microseconds.
fn unit(longest_us: f64) -> (&'static str, f64) {
    let units = [("s", 1e6), ("ms", 1e3), ("us", 1.0), ("ns", 1e-3)];
    units.into_iter().find(|u| longest_us >= 1.5 * u.1).unwrap_or(units[3])
}

impl Timeline {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let mut text = self.subtitle(&Rows::of(self));
        for mark in &self.marks {
            text += &format!(" {}: {}.", mark.label, time(mark.at_us));
        }
        if self.has_tail() {
            text += &format!(" {}.", self.words.say(&self.tail_text()));
        }
        page::close(&self.canvas(theme), &self.caption, &text, self.csv())
    }

    pub(super) fn canvas(&self, theme: Theme) -> Canvas {
        let rows = Rows::of(self);
        let (legend, marks) = (self.legend_height(&rows), self.marks_height());
        let height = legend + marks + rows.height() + GAP + USE + BELOW;
        let mut caption = self.caption.clone();
        caption.assumptions.extend(rows.notes(self));
        let (mut canvas, body) = page::open(&caption, &self.subtitle(&rows), theme, height);
        let top = body.y0 + legend + marks;
        let plot = Rect::new(body.x0 + LEFT, top, body.x1 - RIGHT, top + rows.height());
        let lower = Rect::new(plot.x0, plot.y1 + GAP, plot.x1, plot.y1 + GAP + USE);
        let (unit, scale) = unit(self.axis_end());
        let axis = Axis::exact(0.0, self.axis_end() / scale, 9, (plot.x0, plot.x1));
        let scene = Scene { plot, lower, axis, scale, rows };

        axis.draw_below(&mut canvas, lower, &format!("Time ({unit})"));
        let line = Stroke::new(canvas.palette.grid, 1);
        for tick in axis.ticks() {
            canvas.line((tick.at, plot.y0), (tick.at, plot.y1), line);
        }
        self.shade_tail(&mut canvas, &scene);
        scene.rows.draw(&mut canvas, self, &scene);
        self.draw_sms(&mut canvas, &scene);
        self.draw_uses(&mut canvas, &scene);
        self.draw_legend(&mut canvas, &scene, body.y0);
        self.draw_marks(&mut canvas, &scene, body.y0 + legend);
        self.draw_critical(&mut canvas, &scene);
        canvas
    }

    /// "109 blocks on 108 SMs in 4 us: ...".
    fn subtitle(&self, rows: &Rows) -> String {
        let blocks = counted(self.block_count, "block");
        let (sms, end) = (counted(self.sms.into(), "SM"), time(self.end_us));
        self.words.say(&format!("{blocks} on {sms} in {end}. {}", rows.what(self)))
    }

    /// The longest time on the axis, in microseconds.
    fn axis_end(&self) -> f64 {
        let marks = self.marks.iter().map(|m| m.at_us).filter(|us| self.is_near(*us));
        let end = marks.fold(self.end_us, f64::max);
        if end.is_finite() && end > 0.0 { end } else { 1.0 }
    }

    fn is_near(&self, us: f64) -> bool {
        us.is_finite() && us >= 0.0 && us <= self.end_us * WIDEST
    }

    fn has_tail(&self) -> bool {
        // What ends a rounding error before the others leaves no tail.
        self.tail_us < self.end_us * (1.0 - 1e-9)
    }

    fn tail_text(&self) -> String {
        format!("tail: {}, {} % of SM time idle", time(self.end_us - self.tail_us), significant(self.tail_pct, 3))
    }

    /// The kernel of a timeline that has only one.
    fn single(&self) -> Option<&TimelineKernel> {
        if let [kernel] = self.kernels.as_slice() { Some(kernel) } else { None }
    }

    /// SM numbers and frame of the upper panel.
    fn draw_sms(&self, canvas: &mut Canvas, scene: &Scene) {
        let (plot, palette) = (scene.plot, canvas.palette);
        let each = scene.rows.pixels_per_sm();
        let steps = (0..6).flat_map(|e| [1, 2, 5].map(|m| m * 10_u32.pow(e)));
        let step = steps.into_iter().find(|step| f64::from(*step) * each >= 28.0).unwrap_or(1_000_000);
        let style = Type::new(11.0, palette.muted).align(super::canvas::Align::End);
        for sm in (0..self.sms).step_by(step as usize) {
            let y = plot.y0 + (f64::from(sm) + 0.5) * each;
            canvas.line((plot.x0 - 6.0, y), (plot.x0, y), Stroke::new(palette.axis, 1));
            canvas.text((plot.x0 - 9.0, y), &sm.to_string(), style);
        }
        let frame = Stroke::new(palette.axis, 1);
        canvas.path(&[(plot.x0, plot.y0), (plot.x0, plot.y1), (plot.x1, plot.y1)], frame);
        let style = Type::new(12.0, palette.ink).align(super::canvas::Align::Middle).turned(-90.0);
        canvas.text((plot.x0 - 52.0, plot.center().1), &self.words.say("SM"), style);
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["kind", "name", "sm", "slot", "block", "start_us", "end_us", "share_pct"]);
        let name = |kernel: usize| self.kernels.get(kernel).map_or("", |k| &k.label);
        for k in &self.kernels {
            table.row(&["kernel", &k.label, "", "", "", &cell(k.first_us), &cell(k.end_us), ""]);
        }
        let ends = [("simulated", self.end_us)].into_iter().chain(self.marks.iter().map(|m| (&*m.label, m.at_us)));
        for (label, us) in ends {
            table.row(&["mark", label, "", "", "", "0", &cell(us), ""]);
        }
        table.row(&["tail", "", "", "", "", &cell(self.tail_us), &cell(self.end_us), &cell(self.tail_pct)]);
        for (kind, blocks) in [("critical", self.critical.as_slice()), ("block", &self.blocks)] {
            for b in blocks {
                let place = [b.sm.to_string(), b.slot.to_string(), b.index.to_string()];
                let (from, to) = (cell(b.start_us), cell(b.end_us));
                table.row(&[kind, name(b.kernel), &place[0], &place[1], &place[2], &from, &to, ""]);
            }
        }
        if self.blocks.is_empty() {
            for (sm, parts) in self.filled.iter().enumerate() {
                let sm = sm.to_string();
                self.parts(&mut table, ["filled", "", &sm], parts.iter().map(|share| share * 100.0));
            }
        }
        for curve in &self.uses {
            self.parts(&mut table, ["use", &curve.label, ""], curve.parts_pct.iter().copied());
        }
        table.finish()
    }

    /// A row for each of the equal parts of the time.
    fn parts(&self, table: &mut Table, [kind, name, sm]: [&str; 3], parts: impl ExactSizeIterator<Item = f64>) {
        let each = self.end_us / parts.len().max(1) as f64;
        for (part, share) in parts.enumerate() {
            let (from, to) = (part as f64 * each, (part + 1) as f64 * each);
            table.row(&[kind, name, sm, "", "", &cell(from), &cell(to), &cell(share)]);
        }
    }

    /// A block for people: "gemm", "block 7", "SM 3 slot 0".
    fn block_name(&self, block: &TimelineBlock) -> [String; 3] {
        let kernel = self.kernels.get(block.kernel).map_or("", |k| &k.label);
        let number = self.words.say(&format!("block {}", grouped(block.index)));
        [kernel.to_owned(), number, self.words.say(&format!("SM {} slot {}", block.sm, block.slot))]
    }
}
