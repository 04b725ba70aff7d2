//! The sheet around a figure: title, subtitle and footer, wrapped to the width.

use super::canvas::{Align, Canvas, SLACK, Stroke, Type};
use super::font::{elide, text_width, wrap};
use super::geometry::Rect;
use super::palette::{Palette, Theme};
use super::{Caption, Chart, svg};

/// Width of every figure in pixels.
pub(super) const WIDTH: f64 = 900.0;
/// Free border in pixels.
pub(super) const BORDER: f64 = 20.0;

/// An empty sheet with its words written, and the box left for the figure (`body_height` pixels high).
pub(super) fn open(caption: &Caption, subtitle: &str, theme: Theme, body_height: f64) -> (Canvas, Rect) {
    let palette = Palette::new(theme);
    let room = (WIDTH - 2.0 * BORDER) / SLACK;
    let title = wrap(&caption.title, 17.0, true, room);
    let subtitle = wrap(subtitle, 12.0, false, room);
    let footer = footer(caption, room);
    let top = 14.0 + 24.0 * title.len() as f64 + 17.0 * subtitle.len() as f64 + 8.0;
    let lines = footer.iter().filter(|f| f.1 == Align::Start).count()
        + usize::from(footer.last().is_some_and(|f| f.1 == Align::End));
    let bottom = if footer.is_empty() { 0.0 } else { 10.0 + 15.0 * lines as f64 };
    let height = top + body_height + bottom + 10.0;
    let mut canvas = Canvas::new((WIDTH as i32, height as i32), palette);
    let mut y = 14.0;
    for line in &title {
        canvas.text((BORDER, y + 12.0), line, Type::new(17.0, palette.ink).bold());
        y += 24.0;
    }
    for line in &subtitle {
        canvas.text((BORDER, y + 8.0), line, Type::new(12.0, palette.muted));
        y += 17.0;
    }
    let body = Rect::new(BORDER, top, WIDTH - BORDER, top + body_height);
    if !footer.is_empty() {
        canvas.line((BORDER, body.y1 + 6.0), (WIDTH - BORDER, body.y1 + 6.0), Stroke::new(palette.grid, 1));
    }
    let mut y = body.y1 + 19.0;
    for (line, align) in footer {
        let x = if align == Align::End { WIDTH - BORDER } else { BORDER };
        canvas.text((x, y), &line, Type::new(11.0, palette.muted).align(align));
        // The version shares the last line where it fits.
        if align == Align::Start {
            y += 15.0;
        }
    }
    (canvas, body)
}

/// GPU and assumptions in lines from the left, then the version at the right, beside the last line if there is room.
fn footer(caption: &Caption, room: f64) -> Vec<(String, Align)> {
    let mut words = Vec::new();
    if !caption.gpu.is_empty() {
        words.push(format!("Device: {}.", caption.gpu));
    }
    if !caption.assumptions.is_empty() {
        words.push(format!("Assumptions: {}.", caption.assumptions.join("; ")));
    }
    let lines = wrap(&words.join(" "), 11.0, false, room);
    let mut lines: Vec<_> = lines.into_iter().map(|l| (l, Align::Start)).collect();
    if !caption.version.is_empty() {
        let version = elide(&format!("Wavecast {}", caption.version), 11.0, false, room / 3.0);
        let beside = room - text_width(&version, 11.0, false) - 24.0;
        match lines.last() {
            // Before the last line, so that both stand at one height.
            Some((last, _)) if text_width(last, 11.0, false) <= beside => {
                lines.insert(lines.len() - 1, (version, Align::End))
            }
            _ => lines.push((version, Align::End)),
        }
    }
    lines
}

/// The finished chart.
pub(super) fn close(canvas: &Canvas, caption: &Caption, description: &str, csv: String) -> Chart {
    Chart { svg: svg::render(canvas, &caption.title, description), csv }
}
