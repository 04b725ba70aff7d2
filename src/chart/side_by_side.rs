//! Kernels on several devices: for each kernel one row per device, as bars, or as dots where times lie far apart.

use super::axis::Axis;
use super::canvas::{Align, Canvas, SLACK, Stroke, Type};
use super::data::{Table, cell, optional};
use super::font::elide;
use super::geometry::Rect;
use super::palette::Rgb;
use super::terms::{time, unit};
use super::{Bound, Caption, Chart, Theme, page};
use crate::units::{grouped, times};

/// A kernel's time on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeBar {
    /// Time in microseconds.
    pub time_us: f64,
    /// Time on the baseline / this time, where the kernel runs on the baseline.
    pub speedup: Option<f64>,
    /// What bounds the kernel there.
    pub bound: Bound,
}

/// A kernel on every device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelBars {
    /// Name of the kernel.
    pub label: String,
    /// One entry per device, in their order; absent where the kernel does not run.
    pub bars: Vec<Option<TimeBar>>,
}

/// Times of kernels side by side on several devices. Of many kernels, the longest are drawn and all are in the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideBySide {
    /// Words around the figure.
    pub caption: Caption,
    /// Names of the devices: GPUs as they are or with a what-if.
    pub devices: Vec<String>,
    /// Which device has speed-up 1.
    pub baseline: usize,
    /// Kernels from top to bottom.
    pub kernels: Vec<KernelBars>,
}

/// Most kernels and most rows of a figure; a longer figure is no figure.
const KERNELS: usize = 24;
const ROWS: usize = 72;
/// Ratio of the longest to the shortest time from which short ones are lost on a linear axis.
const FAR_APART: f64 = 20.0;
/// Height of a device's row, of a kernel's name, and of the space between kernels, in pixels.
const ROW: f64 = 18.0;
const NAME: f64 = 20.0;
const GAP: f64 = 10.0;
/// Room for the devices' names left of the axis and for values right of it, in pixels.
const LEFT: f64 = 210.0;
const ASIDE: f64 = 190.0;
/// Kernels up to which one axis, below, is near enough to all rows.
const ONE_AXIS: usize = 6;

impl SideBySide {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let canvas = self.canvas(theme);
        let mut text = String::from("Time of each kernel on each device.");
        for (kernel, device, bar) in self.bars() {
            text += &format!(" {} on {device}: {}, {}.", kernel.label, time(bar.time_us), bar.bound.word());
        }
        page::close(&canvas, &self.caption, &text, self.csv())
    }

    fn bars(&self) -> impl Iterator<Item = (&KernelBars, &str, &TimeBar)> {
        self.kernels.iter().flat_map(move |kernel| {
            let pairs = self.devices.iter().zip(&kernel.bars);
            pairs.filter_map(move |(device, bar)| Some((kernel, device.as_str(), bar.as_ref()?)))
        })
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["kernel", "device", "time_us", "speedup", "bound"]);
        for (kernel, device, bar) in self.bars() {
            let bound = bar.bound.word().trim_end_matches("-bound");
            table.row(&[kernel.label.as_str(), device, &cell(bar.time_us), &optional(bar.speedup), bound]);
        }
        table.finish()
    }

    /// The kernels that are drawn, in their order: of too many those that take longest on any device.
    fn shown(&self) -> Vec<&KernelBars> {
        let most = KERNELS.min(ROWS / self.devices.len().max(1)).max(1);
        let longest = |k: &KernelBars| k.bars.iter().flatten().map(|b| b.time_us).fold(0.0, f64::max);
        let mut order: Vec<usize> = (0..self.kernels.len()).collect();
        order.sort_by(|a, b| longest(&self.kernels[*b]).total_cmp(&longest(&self.kernels[*a])));
        order.truncate(most);
        order.sort_unstable();
        order.into_iter().filter_map(|index| self.kernels.get(index)).collect()
    }

    pub(super) fn canvas(&self, theme: Theme) -> Canvas {
        let shown = self.shown();
        let each = NAME + ROW * self.devices.len() as f64 + GAP;
        let rows = each * shown.len() as f64;
        let times: Vec<f64> =
            shown.iter().flat_map(|k| &k.bars).flatten().map(|b| b.time_us).filter(|t| known(*t)).collect();
        let (least, longest) =
            (times.iter().copied().fold(f64::INFINITY, f64::min), times.iter().copied().fold(0.0, f64::max));
        let dots = longest > least * FAR_APART;
        let mut caption = self.caption.clone();
        if shown.len() < self.kernels.len() {
            let count = grouped(self.kernels.len() as u64);
            caption.assumptions.insert(0, format!("the {} longest of {count} kernels", shown.len()));
        }
        let baseline = self.devices.get(self.baseline).map_or("the first device", String::as_str);
        let what = if dots { format!("One dot per device (hollow: {baseline})") } else { "One bar per device".into() };
        let subtitle = format!("{what}, with the speed-up against {baseline} and what binds");
        let head = if shown.len() > ONE_AXIS { 26.0 } else { 4.0 };
        let (mut canvas, body) = page::open(&caption, &subtitle, theme, head + rows + 48.0);
        let plot = Rect::new(body.x0 + LEFT, body.y0 + head, body.x1 - ASIDE, body.y0 + head + rows);
        let (unit, scale) = if dots { ("us, logarithmic", 1.0) } else { unit(longest) };
        let x = match dots {
            true => {
                let decade = |v: f64| libm::log10(v).clamp(-30.0, 30.0);
                Axis::log(libm::floor(decade(least)) as i32, libm::ceil(decade(longest)) as i32, (plot.x0, plot.x1))
            }
            false => Axis::linear(0.0, longest / scale, 8, (plot.x0, plot.x1)),
        };
        x.draw_below(&mut canvas, plot, &format!("Time ({unit})"));
        if shown.len() > ONE_AXIS {
            for tick in x.ticks() {
                let style = Type::new(11.0, canvas.palette.muted).align(Align::Middle);
                canvas.text((tick.at, plot.y0 - 10.0), &tick.label.unwrap_or_default(), style);
            }
        }
        let mut y = plot.y0;
        for kernel in shown {
            self.kernel(&mut canvas, kernel, (body.x0, y), plot, dots, &|us| x.place(us / scale));
            y += each;
        }
        canvas.line((plot.x0, plot.y0), (plot.x0, plot.y1), Stroke::new(canvas.palette.axis, 1));
        canvas
    }

    fn kernel(
        &self,
        canvas: &mut Canvas,
        kernel: &KernelBars,
        (left, top): (f64, f64),
        plot: Rect,
        dots: bool,
        place: &dyn Fn(f64) -> f64,
    ) {
        let palette = canvas.palette;
        if top > plot.y0 {
            canvas.line((left, top), (plot.x1 + ASIDE, top), Stroke::new(palette.grid, 1));
        }
        let name = elide(&kernel.label, 12.0, true, (LEFT - 8.0) / SLACK);
        canvas.text((left, top + GAP / 2.0 + NAME / 2.0), &name, Type::new(12.0, palette.ink).bold());
        for (index, device) in self.devices.iter().enumerate() {
            let y = top + GAP / 2.0 + NAME + ROW * (index as f64 + 0.5);
            let is_baseline = index == self.baseline;
            let ink = if is_baseline { palette.ink } else { palette.muted };
            let style = Type { bold: is_baseline, ..Type::new(11.0, ink) };
            let device = elide(device, 11.0, is_baseline, (LEFT - 16.0) / SLACK);
            canvas.text((plot.x0 - 8.0, y), &device, style.align(Align::End));
            let bar = kernel.bars.get(index).and_then(Option::as_ref).filter(|b| known(b.time_us));
            let Some(bar) = bar else {
                canvas.text((plot.x0 + 7.0, y), "does not run", Type::new(11.0, palette.muted));
                continue;
            };
            let (at, ink) = (place(bar.time_us), bar.bound.ink(&palette));
            let mut end = at.max(plot.x0 + 1.0);
            if dots {
                canvas.line((plot.x0, y), (at, y), Stroke::new(palette.soft(ink, 0.5), 1).dashed("1 3"));
                canvas.mark((at, y), bar.bound.mark(), ink, is_baseline);
                end += 5.0;
            } else {
                fill(canvas, Rect::new(plot.x0, y - 6.0, end, y + 6.0), ink, index);
            }
            let speedup = bar.speedup.filter(|s| s.is_finite()).map_or(String::new(), |s| format!("{} · ", times(s)));
            let words = format!("{} · {speedup}{}", time(bar.time_us), bar.bound.word().trim_end_matches("-bound"));
            let words = elide(&words, 11.0, is_baseline, (plot.x1 + ASIDE - end - 7.0) / SLACK);
            canvas.text((end + 7.0, y), &words, Type { bold: is_baseline, ..Type::new(11.0, palette.ink).halo() });
        }
    }
}

fn known(us: f64) -> bool {
    us > 0.0 && us.is_finite()
}

/// A bar in one of six ways that differ without colour: full, pale or empty, each also with a stripe.
fn fill(canvas: &mut Canvas, bar: Rect, ink: Rgb, way: usize) {
    let palette = canvas.palette;
    let inside = match way % 3 {
        0 => ink,
        1 => palette.soft(ink, 0.4),
        _ => palette.background,
    };
    canvas.bar(bar, ink);
    let edge = 1.0;
    if bar.width() > 2.0 * edge {
        canvas.bar(Rect::new(bar.x0 + edge, bar.y0 + edge, bar.x1 - edge, bar.y1 - edge), inside);
    }
    if way % 6 >= 3 {
        let y = bar.center().1;
        let stripe = if way.is_multiple_of(3) { palette.background } else { ink };
        canvas.line((bar.x0 + 1.0, y), (bar.x1 - 1.0, y), Stroke::new(stripe, 2));
    }
}
