//! How kernels, waves and filled slots look, and the legend that tells it.

use super::{RIGHT, Rows, Scene, Timeline, rows::Form};
use crate::chart::{
    canvas::{Canvas, SLACK, Stroke, Type},
    font::elide,
    geometry::{Point, Rect},
    palette::{Palette, Rgb},
};

/// Kernels that are named; the longest of more.
pub(super) const NAMED: usize = 12;
/// Height of a kernel's row and of a line of swatches.
const ROW: f64 = 15.0;
/// Tones of filled slots.
pub(super) const TONES: usize = 8;
/// Tones of the waves, one after the other.
const WAVES: [f64; 3] = [1.0, 0.62, 0.34];

/// Colour of a block, and of the stripe along it, if any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    pub ink: Rgb,
    pub stripe: Option<Rgb>,
}

/// Kernels after which looks begin anew.
pub(super) const LOOKS: usize = 8;
/// Share of the full colour, and whether a stripe is of the ink (or else of the background).
const KERNELS: [(f64, Option<bool>); LOOKS] = [
    (1.0, None),
    (0.55, Some(true)),
    (0.85, Some(false)),
    (0.6, None),
    (0.45, Some(true)),
    (1.0, Some(false)),
    (0.4, Some(true)),
    (0.9, Some(true)),
];

/// Looks of successive kernels: without colour they still differ in lightness or stripe.
pub(super) fn kernel_look(kernel: usize, palette: &Palette) -> Look {
    let (share, stripe) = KERNELS[kernel % LOOKS];
    let stripe = stripe.map(|ink| if ink { palette.ink } else { palette.background });
    Look { ink: palette.soft(hue(kernel, palette), share), stripe }
}

fn hue(kernel: usize, palette: &Palette) -> Rgb {
    [palette.math, palette.memory, palette.latency, palette.spare][kernel % 4]
}

/// Looks of successive waves: three tones in turn.
pub(super) fn wave_look(wave: usize, palette: &Palette) -> Look {
    Look { ink: palette.soft(palette.math, WAVES[wave % WAVES.len()]), stripe: None }
}

/// The colour of slots filled to `tone` of [`TONES`]; without a kernel, where it is not known, grey.
pub(super) fn tone(kernel: Option<usize>, tone: usize, palette: &Palette) -> Rgb {
    let hue = kernel.map_or(palette.muted, |k| hue(k, palette));
    palette.soft(hue, 0.1 + 0.9 * tone as f64 / TONES as f64)
}

impl Timeline {
    /// Numbers of the kernels that have a row of their own: the longest, in their order.
    fn named(&self) -> Vec<usize> {
        let long = |k: usize| self.kernels[k].end_us - self.kernels[k].first_us;
        let mut order: Vec<usize> = (0..self.kernels.len()).collect();
        order.sort_by(|a, b| long(*b).total_cmp(&long(*a)));
        order.truncate(NAMED);
        order.sort_unstable();
        order
    }

    /// Pixels of the legend.
    pub(super) fn legend_height(&self, rows: &Rows) -> f64 {
        let kernels = if self.kernels.len() > 1 { self.named().len() as f64 * ROW + 6.0 } else { 0.0 };
        let swatches = if self.swatches(rows).is_empty() { 0.0 } else { ROW + 5.0 };
        kernels + swatches
    }

    /// What the tones mean: waves of a single kernel, or filled slots.
    fn swatches(&self, rows: &Rows) -> Vec<(String, usize)> {
        if rows.form == Form::Cells {
            let tones = [2, 4, 6, TONES].map(|t| (format!("{} %", t * 100 / TONES), t));
            return tones.into();
        }
        let Some(kernel) = self.single() else { return Vec::new() };
        let waves = self.blocks.iter().map(|b| b.index).max().unwrap_or(0) / kernel.wave_blocks.max(1) + 1;
        let turn = WAVES.len() as u64;
        let name = |first: u64| {
            let all: Vec<u64> = (first..=waves).step_by(WAVES.len()).take(4).collect();
            let shown = all.iter().take(3).map(u64::to_string).collect::<Vec<_>>().join(", ");
            let more = if all.len() > 3 { " …" } else { "" };
            format!("wave{} {shown}{more}", if all.len() > 1 { "s" } else { "" })
        };
        if waves < 2 { Vec::new() } else { (1..=waves.min(turn)).map(|w| (name(w), w as usize - 1)).collect() }
    }

    /// The legend at the top of the figure: kernels with the time in which they ran, or tones.
    pub(super) fn draw_legend(&self, canvas: &mut Canvas, scene: &Scene, top: f64) {
        let palette = canvas.palette;
        let (mut x, mut y) = (scene.plot.x0, top);
        let style = Type::new(11.0, palette.muted);
        let swatches = self.swatches(&scene.rows);
        let last = swatches.len().saturating_sub(1);
        for (index, (words, step)) in swatches.into_iter().enumerate() {
            let ink = match scene.rows.form {
                Form::Blocks => wave_look(step, &palette).ink,
                Form::Cells => tone(self.single().map(|_| 0), step, &palette),
            };
            canvas.bar(Rect::new(x, y + 2.0, x + 16.0, y + 12.0), ink);
            let words = match scene.rows.form {
                Form::Cells if index == last => self.words.say(&format!("{words} of the block slots filled")),
                _ => words,
            };
            canvas.text((x + 22.0, y + ROW / 2.0), &words, style);
            x += 22.0 + style.room(&words).0 + 14.0;
            if index == last {
                y += ROW + 5.0;
            }
        }
        if self.kernels.len() > 1 {
            for kernel in self.named() {
                self.draw_kernel(canvas, scene, kernel, y + ROW / 2.0);
                y += ROW;
            }
        }
    }

    /// A kernel's row: dots while it waits, a bar while its blocks are placed, a frame while the last ones run.
    fn draw_kernel(&self, canvas: &mut Canvas, scene: &Scene, number: usize, y: f64) {
        let (palette, kernel) = (canvas.palette, &self.kernels[number]);
        let Look { ink, stripe } = match scene.rows.form {
            Form::Blocks => kernel_look(number, &palette),
            Form::Cells => Look { ink: tone(Some(number), TONES, &palette), ..kernel_look(number, &palette) },
        };
        let (from, to) = (scene.at(kernel.first_us), scene.at(kernel.end_us).max(scene.at(kernel.first_us) + 2.0));
        let placed = scene.at(kernel.placed_us).clamp(from + 1.0, to);
        let waits = Stroke::new(palette.muted, 1).dashed("1 3");
        canvas.line((scene.at(kernel.open_us), y), (from, y), waits);
        canvas.bar(Rect::new(from, y - 4.0, placed, y + 5.0), ink);
        canvas.path(&outline(Rect::new(from, y - 4.0, to, y + 5.0)), Stroke::new(ink, 1));
        // Of a kernel that is placed at once the row is but a frame.
        let swatch = Rect::new(scene.plot.x1 + 10.0, y - 4.0, scene.plot.x1 + 26.0, y + 5.0);
        canvas.bar(swatch, ink);
        if let Some(ink) = stripe {
            canvas.line((from, y), (placed, y), Stroke::new(ink, 1));
            canvas.line((swatch.x0, y), (swatch.x1 - 1.0, y), Stroke::new(ink, 1));
        }
        let dotted = Stroke::new(palette.ink, 1).dashed("1 4");
        for x in [from, to] {
            canvas.line((x, y + 6.0), (x, scene.plot.y1), dotted);
        }
        let name = elide(&kernel.label, 11.0, false, (RIGHT - 32.0) / SLACK);
        canvas.text((swatch.x1 + 6.0, y), &name, Type::new(11.0, palette.ink));
    }
}

/// The edge of a box, closed.
pub(super) fn outline(r: Rect) -> [Point; 5] {
    [(r.x0, r.y0), (r.x1, r.y0), (r.x1, r.y1), (r.x0, r.y1), (r.x0, r.y0)]
}
