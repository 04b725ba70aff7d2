//! Shapes to SVG text: drawn by plotters' SVG backend, then made crisp and accessible.

use super::canvas::{Align, Canvas, Shape};
use super::font::{FAMILY, one_line};
use super::palette::Rgb;
use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle};

/// plotters writes `size / 1.24` as the font size.
fn px(size: f64) -> f64 {
    size * 1.24
}

fn style(ink: Rgb, width: u32) -> ShapeStyle {
    ShapeStyle { color: RGBColor(ink.0, ink.1, ink.2).into(), filled: true, stroke_width: width }
}

/// The SVG document of `canvas`, with a title and a description for those who cannot see it.
pub(super) fn render(canvas: &Canvas, title: &str, description: &str) -> String {
    let mut drawn = String::new();
    let size = (canvas.size.0.max(0) as u32, canvas.size.1.max(0) as u32);
    let mut backend = SVGBackend::with_string(&mut drawn, size);
    // Errors of this backend come from writing a file, and it writes to memory.
    backend.draw_rect((0, 0), canvas.size, &style(canvas.palette.background, 0), true).ok();
    for shape in &canvas.shapes {
        match shape {
            Shape::Path { points, stroke } => {
                backend.draw_path(points.iter().copied(), &style(stroke.ink, stroke.width)).ok()
            }
            Shape::Fill { points, ink } => backend.fill_polygon(points.iter().copied(), &style(*ink, 0)).ok(),
            // One line of SVG that `finish` replaces: plotters has no path with gaps.
            Shape::Strips { ink, .. } => backend.fill_polygon([(0, 0)], &style(*ink, 0)).ok(),
            Shape::Disc { center, radius, ink } => backend.draw_circle(*center, *radius, &style(*ink, 0), true).ok(),
            Shape::Text { at, text, style } => {
                let font = if style.bold { FontStyle::Bold } else { FontStyle::Normal };
                let side = match style.align {
                    Align::Start => HPos::Left,
                    Align::Middle => HPos::Center,
                    Align::End => HPos::Right,
                };
                let ink = RGBColor(style.ink.0, style.ink.1, style.ink.2);
                let look = TextStyle::from(FontDesc::new(FontFamily::Name(FAMILY), px(style.size), font))
                    .color(&ink)
                    .pos(Pos::new(side, VPos::Center));
                backend.draw_text(text, &look, *at).ok()
            }
        };
    }
    backend.present().ok();
    drop(backend);
    finish(&drawn, canvas, title, description)
}

/// Adds what plotters cannot write: role, title and description, dashes, slopes, halos, and half a pixel of shift so
/// that lines of odd width fill whole pixels. The background stays unshifted, or its edge would show.
fn finish(drawn: &str, canvas: &Canvas, title: &str, description: &str) -> String {
    let mut out = String::with_capacity(drawn.len() + 512);
    let mut lines = drawn.lines();
    let root = lines.next().unwrap_or_default();
    out.push_str(&root.replacen("<svg ", "<svg role=\"img\" ", 1));
    out.push_str(&format!("\n<title>{}</title>\n<desc>{}</desc>\n", escape(title), escape(description)));
    out.push_str(lines.next().unwrap_or_default());
    out.push_str(&format!("\n<g transform=\"translate(0.5 0.5)\" font-family=\"{FAMILY}\">\n"));
    let own_family = format!(" font-family=\"{FAMILY}\"");
    let mut shapes = canvas.shapes.iter();
    while let Some(line) = lines.next() {
        if line == "</svg>" {
            break;
        }
        let line = line.replacen(" opacity=\"1\"", "", 1).replacen(&own_family, "", 1);
        match shapes.next() {
            Some(Shape::Text { at, style, .. }) => {
                out.push_str(line.trim_end_matches('>'));
                if style.turn != 0.0 {
                    out.push_str(&format!(" transform=\"rotate({} {} {})\"", style.turn, at.0, at.1));
                }
                if style.halo {
                    let (r, g, b) = canvas.palette.background;
                    out.push_str(&format!(
                        " stroke=\"#{r:02X}{g:02X}{b:02X}\" stroke-width=\"3\" paint-order=\"stroke\""
                    ));
                }
                out.push('>');
                out.extend(lines.by_ref().take_while(|l| *l != "</text>"));
                out.push_str("</text>\n");
            }
            Some(Shape::Path { stroke, .. }) => {
                let dash = stroke.dash.map(|d| format!(" stroke-dasharray=\"{d}\"")).unwrap_or_default();
                out.push_str(&format!("{} stroke-linejoin=\"round\"{dash}/>\n", line.trim_end_matches("/>")));
            }
            Some(Shape::Strips { strips, height, ink }) => push_strips(&mut out, strips, *height, *ink),
            _ => {
                out.push_str(&line);
                out.push('\n');
            }
        }
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// All strips as one stroke as wide as they are high, which takes a third of the bytes of boxes. The shift puts their edges
/// on whole pixels, where they stay sharp.
fn push_strips(out: &mut String, strips: &[(i32, i32, i32)], height: u32, (r, g, b): Rgb) {
    let down = f64::from(height) / 2.0 - 0.5;
    out.push_str(&format!(
        "<path fill=\"none\" stroke=\"#{r:02X}{g:02X}{b:02X}\" stroke-width=\"{height}\" \
         transform=\"translate(-0.5 {down})\" d=\""
    ));
    for (x, y, width) in strips {
        out.push_str(&format!("M{x} {y}h{width}"));
    }
    out.push_str("\"/>\n");
}

fn escape(text: &str) -> String {
    one_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
