//! The rows of SMs: blocks one by one, or cells of filled slots where blocks could not be told apart.

use std::collections::BTreeMap;

use super::{
    Scene, Timeline, TimelineBlock,
    looks::{LOOKS, Look, NAMED, TONES, kernel_look, tone, wave_look},
};
use crate::{
    chart::{canvas::Canvas, geometry::Rect},
    units::grouped,
};

/// Pixels of all rows together, where there are many, and the least of few.
const TALL: u32 = 660;
const LOW: u32 = 64;
/// Most rows; of more SMs several share a row.
const MOST_ROWS: u32 = 220;
/// Most blocks that are drawn one by one.
const MOST_BLOCKS: usize = 10_000;
/// Share of blocks that may be narrower than a bar with an edge.
const NARROW: f64 = 0.25;
/// Parts of the time into which cells are divided.
pub(super) const PARTS: usize = 200;

/// How blocks are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Each by itself.
    Blocks,
    /// Filled slots of each SM in each part of the time.
    Cells,
}

/// Rows of SMs, in whole pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rows {
    pub form: Form,
    /// SMs that share a row.
    per_row: u32,
    count: u32,
    /// Pixels of a row with the gap below it, and of a slot.
    pitch: u32,
    lane: u32,
}

/// Level bars by look.
type Strips<K> = BTreeMap<K, Vec<(i32, i32, i32)>>;

impl Rows {
    /// The rows that fit a timeline.
    pub fn of(timeline: &Timeline) -> Self {
        let per_row = timeline.sms.div_ceil(MOST_ROWS).max(1);
        let count = timeline.sms.div_ceil(per_row).max(1);
        let slots = timeline.slots.max(1);
        let pitch = (TALL / count).clamp(3, 24.max(6 * slots + 1)).max(LOW / count);
        let lane = (pitch - 1) / slots;
        let narrow = |b: &&TimelineBlock| (b.end_us - b.start_us) * 640.0 < 2.0 * timeline.axis_end();
        let blocks = &timeline.blocks;
        let each = per_row == 1 && lane >= 2 && !blocks.is_empty() && blocks.len() <= MOST_BLOCKS;
        let each = each && blocks.iter().filter(narrow).count() as f64 <= NARROW * blocks.len() as f64;
        Self { form: if each { Form::Blocks } else { Form::Cells }, per_row, count, pitch, lane }
    }

    /// Pixels of all rows.
    pub fn height(&self) -> f64 {
        f64::from(self.count * self.pitch)
    }

    /// Pixels of a row of cells: a gap between low ones would only flicker.
    fn bar(&self) -> u32 {
        self.pitch - u32::from(self.pitch >= 6)
    }

    /// Pixels of an SM.
    pub fn pixels_per_sm(&self) -> f64 {
        f64::from(self.pitch) / f64::from(self.per_row)
    }

    /// What a row is, in the model's words.
    pub fn what(&self, timeline: &Timeline) -> String {
        let row = match self.per_row {
            1 => "One row per SM".to_owned(),
            n => format!("One row per {n} SMs"),
        };
        match (self.form, timeline.slots) {
            (Form::Cells, _) => format!("{row}, the stronger its colour the more of its block slots are filled"),
            (Form::Blocks, 0 | 1) => format!("{row}, one bar per block"),
            (Form::Blocks, slots) => format!("{row} with {slots} slots, one bar per block"),
        }
    }

    /// What the caption says of blocks that are not drawn one by one, and of kernels without a row.
    pub fn notes(&self, timeline: &Timeline) -> Vec<String> {
        let (count, kernels) = (grouped(timeline.block_count), timeline.kernels.len());
        let colour = match (kernels, timeline.blocks.is_empty()) {
            (0 | 1, _) => "",
            (_, true) => ", in the colour of the kernel with most of them on all SMs",
            (_, false) => ", in the colour of the kernel with most of them",
        };
        let cells = format!("{count} blocks shown as filled slots{colour}");
        let named = format!("names of the {NAMED} longest of {} kernels", grouped(kernels as u64));
        let notes = [(self.form == Form::Cells, cells), (kernels > NAMED, named)];
        notes.into_iter().filter(|(said, _)| *said).map(|(_, note)| timeline.words.say(&note)).collect()
    }

    /// The box of a block, at least a pixel wide, as it is drawn in this form.
    pub fn room(&self, block: &TimelineBlock, scene: &Scene) -> Rect {
        let plot = scene.plot;
        let x0 = scene.at(block.start_us).round().clamp(plot.x0, plot.x1 - 1.0);
        let x1 = scene.at(block.end_us).round().clamp(x0 + 1.0, plot.x1);
        let row = plot.y0 + f64::from(block.sm / self.per_row * self.pitch);
        match self.form {
            Form::Blocks => {
                let y0 = row + f64::from(block.slot * self.lane);
                Rect::new(x0, y0, x1, y0 + f64::from(self.lane))
            }
            Form::Cells => Rect::new(x0, row, x1.max(x0 + 2.0).min(plot.x1), row + f64::from(self.bar())),
        }
    }

    /// Draws the blocks.
    pub fn draw(&self, canvas: &mut Canvas, timeline: &Timeline, scene: &Scene) {
        match self.form {
            Form::Blocks => self.draw_blocks(canvas, timeline, scene),
            Form::Cells => self.draw_cells(canvas, timeline, scene),
        }
    }

    fn draw_blocks(&self, canvas: &mut Canvas, timeline: &Timeline, scene: &Scene) {
        let palette = canvas.palette;
        let single = timeline.kernels.len() < 2;
        let wave = timeline.kernels.first().map_or(1, |k| k.wave_blocks.max(1));
        let mut strips: Strips<usize> = BTreeMap::new();
        // Slots beyond those of the timeline would lie in the next row.
        for block in timeline.blocks.iter().filter(|b| b.sm < timeline.sms && b.slot < timeline.slots) {
            let look = if single { (block.index / wave % 3) as usize } else { block.kernel % LOOKS };
            let room = self.room(block, scene);
            // An edge to the next block in the slot, where there is room for one.
            let width = room.width() - if room.width() >= 4.0 { 1.0 } else { 0.0 };
            strips.entry(look).or_default().push((room.x0 as i32, room.y0 as i32, width as i32));
        }
        for (number, strips) in strips {
            let Look { ink, stripe } = if single { wave_look(number, &palette) } else { kernel_look(number, &palette) };
            let height = self.lane - u32::from(self.lane >= 6);
            let middle = strips.iter().map(|(x, y, width)| (*x, y + height as i32 / 2, *width)).collect();
            canvas.strips(strips, height, ink);
            if let (Some(ink), 3..) = (stripe, height) {
                canvas.strips(middle, if height >= 9 { 2 } else { 1 }, ink);
            }
        }
    }

    fn draw_cells(&self, canvas: &mut Canvas, timeline: &Timeline, scene: &Scene) {
        let (cells, several) = (self.cells(timeline), timeline.kernels.len() > 1);
        let edge = |part: usize| scene.at(timeline.end_us * part as f64 / PARTS as f64).round() as i32;
        let edges: Vec<i32> = (0..=PARTS).map(edge).collect();
        let mut strips: Strips<Cell> = BTreeMap::new();
        for (row, parts) in cells.chunks(PARTS).enumerate() {
            let y = scene.plot.y0 as i32 + (row as u32 * self.pitch) as i32;
            let mut from = 0;
            // Neighbours that look the same are one bar.
            for same in parts.chunk_by(|a, b| a == b) {
                let to = from + same.len();
                if same[0].tone > 0 {
                    strips.entry(same[0]).or_default().push((edges[from], y, edges[to] - edges[from]));
                }
                from = to;
            }
        }
        for (cell, strips) in strips {
            let middle = strips.iter().map(|(x, y, width)| (*x, y + self.bar() as i32 / 2, *width)).collect();
            canvas.strips(strips, self.bar(), tone(cell.kernel, cell.tone, &canvas.palette));
            let stripe = cell.kernel.filter(|_| several).and_then(|k| kernel_look(k, &canvas.palette).stripe);
            if let (Some(ink), 3..) = (stripe, self.bar()) {
                canvas.strips(middle, 1, ink);
            }
        }
    }

    /// Row by row the cells of all parts of the time.
    fn cells(&self, timeline: &Timeline) -> Vec<Cell> {
        let (rows, looks) = (self.count as usize, timeline.kernels.len().clamp(1, LOOKS));
        if timeline.blocks.is_empty() {
            let share = |row: usize, part: usize| {
                let sms = timeline.filled.iter().skip(row * self.per_row as usize).take(self.per_row as usize);
                let of = |sm: &Vec<f64>| sm.get(part * sm.len() / PARTS).copied().unwrap_or(0.0);
                sms.map(of).sum::<f64>() / f64::from(self.per_row)
            };
            let all = (0..rows).flat_map(|row| (0..PARTS).map(move |part| (row, part)));
            let leading = |part: usize| timeline.leading.get(part * timeline.leading.len() / PARTS).copied();
            return all.map(|(row, part)| Cell::of(leading(part).map(|k| k % looks), share(row, part))).collect();
        }
        let mut shares = vec![0.0; rows * PARTS * looks];
        let each = timeline.end_us / PARTS as f64;
        for block in timeline.blocks.iter().filter(|b| b.sm < timeline.sms) {
            let slots = timeline.kernels.get(block.kernel).map_or(1, |k| k.blocks_per_sm.max(1));
            let weight = 1.0 / (f64::from(slots) * f64::from(self.per_row) * each);
            let first = ((block.start_us / each) as usize).min(PARTS - 1);
            let last = ((block.end_us / each) as usize).min(PARTS - 1);
            let row = (block.sm / self.per_row) as usize;
            for part in first..=last {
                let (from, to) = (part as f64 * each, (part + 1) as f64 * each);
                let shared = block.end_us.min(to) - block.start_us.max(from);
                shares[(row * PARTS + part) * looks + block.kernel % looks] += shared.max(0.0) * weight;
            }
        }
        let cell = |shares: &[f64]| {
            let most = (0..looks).rev().max_by(|a, b| shares[*a].total_cmp(&shares[*b]));
            Cell::of(most, shares.iter().sum())
        };
        shares.chunks(looks).map(cell).collect()
    }
}

/// What a part of the time of an SM looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cell {
    kernel: Option<usize>,
    tone: usize,
}

impl Cell {
    /// Filled to a share of the slots.
    fn of(kernel: Option<usize>, share: f64) -> Self {
        // A rounding error fills nothing.
        let tone = libm::ceil(share * TONES as f64 - 1e-3).clamp(0.0, TONES as f64) as usize;
        Self { kernel: if tone == 0 { None } else { kernel }, tone }
    }
}
