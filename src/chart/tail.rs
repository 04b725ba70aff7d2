//! The tail effect: time and utilization against the number of blocks, with a saw tooth at each full wave.

use super::axis::Axis;
use super::canvas::{Align, Canvas, Mark, Stroke, Type};
use super::data::{Table, cell};
use super::geometry::{Point, Rect, Segment};
use super::labels::{self, Surroundings, Wanted};
use super::{Caption, Chart, Theme, page};
use crate::{
    gpu::Words,
    units::{Seconds, grouped, significant},
};

/// Time and utilization of one launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TailSample {
    /// Blocks in the grid.
    pub blocks: u64,
    /// Time in microseconds.
    pub time_us: f64,
    /// Share of the block slots in use over the time, in percent.
    pub utilization_pct: f64,
}

/// Two panels over the number of blocks: time above, utilization below.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tail {
    /// Words around the figure.
    pub caption: Caption,
    /// The curve, by rising number of blocks.
    pub samples: Vec<TailSample>,
    /// Another launch's curve to compare with, in grey, as far as it lies on the axes.
    pub pinned: Vec<TailSample>,
    /// Blocks that run at once; each multiple is marked. 0 marks none.
    pub wave_blocks: u64,
    /// What the vendor calls blocks.
    pub words: Words,
    /// Blocks of the launch in question; marked, with its values where a sample has them.
    pub current: Option<u64>,
}

impl Tail {
    /// Draws the figure.
    pub fn draw(&self, theme: Theme) -> Chart {
        let canvas = self.canvas(theme);
        let waves = grouped(self.wave_blocks);
        let text = format!("Time and utilization against the number of blocks. {waves} blocks are one wave.");
        let mut text = self.words.say(&text);
        if let Some(now) = self.current_sample() {
            let (time, used) = (Seconds(now.time_us * 1e-6), significant(now.utilization_pct, 3));
            text += &format!(" {}: {time} at {used} % utilization.", self.blocks_text(now.blocks));
        }
        page::close(&canvas, &self.caption, &text, self.csv())
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["blocks", "waves", "time_us", "utilization_pct", "current"]);
        for s in &self.samples {
            let waves =
                if self.wave_blocks == 0 { String::new() } else { s.blocks.div_ceil(self.wave_blocks).to_string() };
            let current = if self.current == Some(s.blocks) { "yes" } else { "no" };
            table.row(&[s.blocks.to_string(), waves, cell(s.time_us), cell(s.utilization_pct), current.into()]);
        }
        for s in &self.pinned {
            let (time, used) = (cell(s.time_us), cell(s.utilization_pct));
            table.row(&[s.blocks.to_string(), String::new(), time, used, "pinned".into()]);
        }
        table.finish()
    }

    fn current_sample(&self) -> Option<TailSample> {
        self.samples.iter().copied().find(|s| Some(s.blocks) == self.current && usable(s))
    }

    pub(super) fn canvas(&self, theme: Theme) -> Canvas {
        let subtitle = match self.wave_blocks {
            0 => "A last wave that is partly empty takes as long as a full one".to_string(),
            n => format!(
                "A last wave that is partly empty takes as long as a full one; one wave is {}",
                self.blocks_text(n)
            ),
        };
        let (mut canvas, body) = page::open(&self.caption, &subtitle, theme, 500.0);
        let time_panel = Rect::new(body.x0 + 62.0, body.y0 + 24.0, body.x1 - 16.0, body.y0 + 250.0);
        let use_panel = Rect::new(time_panel.x0, time_panel.y1 + 26.0, time_panel.x1, body.y1 - 46.0);
        let mut samples: Vec<TailSample> = self.samples.iter().copied().filter(usable).collect();
        samples.sort_by_key(|s| s.blocks);

        let blocks = samples.iter().map(|s| s.blocks).chain(self.current);
        let low = blocks.clone().min().unwrap_or(0) as f64;
        let high = blocks.max().unwrap_or(1) as f64;
        let low = if low < 0.4 * high { 0.0 } else { low };
        let x = Axis::linear(low, high, 9, (time_panel.x0, time_panel.x1));
        // What is compared with must not leave the axes where it is slower.
        let others = self.pinned.iter().filter(|s| usable(s) && (s.blocks as f64) <= high).map(|s| s.time_us);
        let longest = samples.iter().map(|s| s.time_us).chain(others).fold(0.0, f64::max);
        let time = Axis::linear(0.0, longest, 6, (time_panel.y1, time_panel.y0));
        let used = Axis::stepped(0.0, 100.0, 25.0, (use_panel.y1, use_panel.y0));

        self.waves(&mut canvas, &x, time_panel, use_panel);
        time.draw_left(&mut canvas, time_panel, "Time (us)");
        used.draw_left(&mut canvas, use_panel, "Utilization (%)");
        canvas.line(
            (time_panel.x0, time_panel.y1),
            (time_panel.x1, time_panel.y1),
            Stroke::new(canvas.palette.axis, 1),
        );
        x.draw_below(&mut canvas, use_panel, &self.words.say("Blocks in the grid"));

        let now = self.current_sample();
        let times = |s: &TailSample| (x.place(s.blocks as f64), time.place(s.time_us));
        let uses = |s: &TailSample| (x.place(s.blocks as f64), used.place(s.utilization_pct.min(100.0)));
        let name = now.map(|s| format!("{}: {}", self.blocks_text(s.blocks), Seconds(s.time_us * 1e-6)));
        let share = now.map(|s| format!("{} %", significant(s.utilization_pct, 3)));
        if let Some(blocks) = self.current {
            let at = x.place(blocks as f64);
            let stroke = Stroke::new(canvas.palette.memory, 1).dashed("4 3");
            canvas.line((at, time_panel.y0), (at, time_panel.y1), stroke);
            canvas.line((at, use_panel.y0), (at, use_panel.y1), stroke);
            if now.is_none() {
                name_unsampled(&mut canvas, time_panel, at, &self.blocks_text(blocks));
            }
        }
        let held = |s: &&TailSample| usable(s) && (low..=high).contains(&(s.blocks as f64)) && s.time_us <= longest;
        let ghost: Vec<TailSample> = self.pinned.iter().filter(held).copied().collect();
        let grey = Stroke::new(canvas.palette.axis, 2).dashed("6 4");
        canvas.path(&ghost.iter().map(times).collect::<Vec<_>>(), grey);
        canvas.path(&ghost.iter().map(uses).collect::<Vec<_>>(), grey);
        let points: Vec<Point> = samples.iter().map(times).collect();
        curve(&mut canvas, time_panel, &points, now.as_ref().map(times), name);
        let points: Vec<Point> = samples.iter().map(uses).collect();
        curve(&mut canvas, use_panel, &points, now.as_ref().map(uses), share);
        canvas
    }

    /// "1 block", "2 workgroups".
    fn blocks_text(&self, count: u64) -> String {
        self.words.say(&if count == 1 { "1 block".into() } else { format!("{} blocks", grouped(count)) })
    }

    /// Light lines at whole waves, named above the upper panel as far as there is room.
    fn waves(&self, canvas: &mut Canvas, x: &Axis, upper: Rect, lower: Rect) {
        if self.wave_blocks == 0 {
            return;
        }
        let (low, high) = x.range();
        let wave = self.wave_blocks as f64;
        let each = wave / (high - low) * upper.width();
        let style = Type::new(11.0, canvas.palette.muted).align(Align::Middle);
        let widest = style.room(&waves_text(libm::floor(high / wave))).0;
        // The names at the ends are moved in by up to half their width.
        let rough = ((1.5 * widest + 6.0) / each).max(1.0);
        let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
        let every = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|e| *e >= rough).unwrap_or(rough);
        let line = Stroke::new(canvas.palette.axis, 1).dashed("1 3");
        let mut count = ((low / wave / every).ceil() * every).max(every);
        while count * wave <= high {
            let at = x.place(count * wave);
            canvas.line((at, upper.y0 - 6.0), (at, lower.y1), line);
            let name = waves_text(count);
            let half = style.room(&name).0 / 2.0;
            let middle = at.min(upper.x1 + 16.0 - half).max(upper.x0 + half);
            canvas.text((middle, upper.y0 - 15.0), &name, style);
            count += every;
        }
    }
}

/// "1 wave", "2 waves".
fn waves_text(count: f64) -> String {
    if count == 1.0 { "1 wave".into() } else { format!("{} waves", grouped(count as u64)) }
}

/// A sample that can be drawn.
fn usable(s: &TailSample) -> bool {
    s.time_us.is_finite() && s.time_us >= 0.0 && s.utilization_pct.is_finite() && s.utilization_pct >= 0.0
}

/// Names a launch of which no sample tells time and utilization.
fn name_unsampled(canvas: &mut Canvas, panel: Rect, at: f64, text: &str) {
    let style = Type::new(12.0, canvas.palette.ink).bold().halo();
    let align = if at > panel.center().0 { Align::End } else { Align::Start };
    let aside = if align == Align::End { -6.0 } else { 6.0 };
    canvas.text((at + aside, panel.y0 + 12.0), text, style.align(align));
}

/// The line through `points` with the current one marked and named.
pub(super) fn curve(canvas: &mut Canvas, panel: Rect, points: &[Point], now: Option<Point>, name: Option<String>) {
    let ink = canvas.palette.math;
    canvas.path(points, Stroke::new(ink, 2));
    if points.len() <= 30 {
        for &at in points {
            canvas.mark(at, Mark::Circle, ink, true);
        }
    }
    let (Some(at), Some(text)) = (now, name) else { return };
    let style = Type::new(12.0, canvas.palette.ink).bold().halo();
    let lines: Vec<Segment> =
        points.windows(2).map(|p| (p[0], p[1])).chain([((at.0, panel.y0), (at.0, panel.y1))]).collect();
    canvas.mark(at, Mark::Diamond, canvas.palette.memory, false);
    let wanted = [Wanted { at, text, style, rings: labels::ALL_RINGS }];
    let around = Surroundings { plot: panel, markers: vec![Rect::around(at, 14.0, 14.0)], texts: Vec::new(), lines };
    labels::draw(canvas, &wanted, &labels::place(&wanted, &around));
}
