//! A list of shapes and texts, in pixels; every text leaves its box behind so that a layout can be checked.

use super::font::{one_line, text_width};
use super::geometry::{Point, Rect};
use super::palette::{Palette, Rgb};

/// Share by which text boxes are widened: another font than the embedded one may be wider.
pub(super) const SLACK: f64 = 1.1;

/// Which side of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Align {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Type {
    /// Font size in pixels.
    pub size: f64,
    pub bold: bool,
    pub ink: Rgb,
    pub align: Align,
    /// Degrees clockwise around the place of the text.
    pub turn: f64,
    /// An edge in the background's colour, so that lines behind do not cross the letters out.
    pub halo: bool,
}

impl Type {
    /// Regular, level text that starts at its place.
    pub fn new(size: f64, ink: Rgb) -> Self {
        Self { size, bold: false, ink, align: Align::Start, turn: 0.0, halo: false }
    }

    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub fn align(self, align: Align) -> Self {
        Self { align, ..self }
    }

    pub fn halo(self) -> Self {
        Self { halo: true, ..self }
    }

    pub fn turned(self, degrees: f64) -> Self {
        Self { turn: degrees, ..self }
    }

    /// Width and height of the box that `text` is given, slack included, in pixels.
    pub fn room(&self, text: &str) -> (f64, f64) {
        (text_width(text, self.size, self.bold) * SLACK, self.size + 3.0)
    }
}

/// How a line looks: colour, width in pixels, and an SVG dash pattern or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stroke {
    pub ink: Rgb,
    pub width: u32,
    pub dash: Option<&'static str>,
}

impl Stroke {
    /// A full line.
    pub fn new(ink: Rgb, width: u32) -> Self {
        Self { ink, width, dash: None }
    }

    pub fn dashed(self, pattern: &'static str) -> Self {
        Self { dash: Some(pattern), ..self }
    }
}

/// Form of a marker, so that a picture without colour still tells them apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mark {
    Circle,
    Square,
    Triangle,
    Diamond,
}

/// One thing drawn; coordinates are whole pixels.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Path {
        points: Vec<(i32, i32)>,
        stroke: Stroke,
    },
    Fill {
        points: Vec<(i32, i32)>,
        ink: Rgb,
    },
    Disc {
        center: (i32, i32),
        radius: u32,
        ink: Rgb,
    },
    /// Level bars of one height, as left, top and width.
    Strips {
        strips: Vec<(i32, i32, i32)>,
        height: u32,
        ink: Rgb,
    },
    Text {
        at: (i32, i32),
        text: String,
        style: Type,
    },
}

/// A text and the boxes that it covers: one if level, a chain of small ones if sloped.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TextBox {
    pub text: String,
    pub boxes: Vec<Rect>,
}

/// A drawing under construction.
#[derive(Clone, Debug)]
pub(super) struct Canvas {
    /// Width and height in pixels.
    pub size: (i32, i32),
    pub palette: Palette,
    pub shapes: Vec<Shape>,
    pub texts: Vec<TextBox>,
}

impl Canvas {
    /// An empty drawing.
    pub fn new(size: (i32, i32), palette: Palette) -> Self {
        Self { size, palette, shapes: Vec::new(), texts: Vec::new() }
    }

    /// Writes `text`, centred on the height of its place.
    pub fn text(&mut self, at: Point, text: &str, style: Type) {
        let text = one_line(text);
        if text.is_empty() {
            return;
        }
        self.texts.push(TextBox { boxes: text_boxes(at, &text, style), text: text.clone() });
        self.shapes.push(Shape::Text { at: pixel(at), text, style });
    }

    /// A line through `points`.
    pub fn path(&mut self, points: &[Point], stroke: Stroke) {
        let mut points: Vec<_> = points.iter().map(|&p| pixel(p)).collect();
        points.dedup();
        if points.len() > 1 {
            self.shapes.push(Shape::Path { points, stroke });
        }
    }

    /// A straight line.
    pub fn line(&mut self, from: Point, to: Point, stroke: Stroke) {
        self.path(&[from, to], stroke);
    }

    /// An upright dashed line at `x` from the first to the second of `span`, under a name that stays within `room`.
    pub fn mark_line(&mut self, x: f64, span: (f64, f64), name: &str, room: (f64, f64)) {
        let ink = self.palette.latency;
        self.line((x, span.0 + 8.0), (x, span.1), Stroke::new(ink, 2).dashed("2 2"));
        let style = Type::new(11.0, self.palette.ink).bold();
        let half = style.room(name).0 / 2.0;
        let at = x.clamp(room.0 + half, (room.1 - half).max(room.0 + half));
        self.text((at, span.0), name, style.align(Align::Middle));
    }

    /// A filled area.
    pub fn fill(&mut self, points: &[Point], ink: Rgb) {
        self.shapes.push(Shape::Fill { points: points.iter().map(|&p| pixel(p)).collect(), ink });
    }

    /// A filled box.
    pub fn bar(&mut self, r: Rect, ink: Rgb) {
        self.fill(&[(r.x0, r.y0), (r.x1, r.y0), (r.x1, r.y1), (r.x0, r.y1)], ink);
    }

    /// Very many level bars of one height and colour, each as left, top and width in whole pixels.
    pub fn strips(&mut self, strips: Vec<(i32, i32, i32)>, height: u32, ink: Rgb) {
        if !strips.is_empty() && height > 0 {
            self.shapes.push(Shape::Strips { strips, height, ink });
        }
    }

    /// A marker with a thin halo; `hollow` leaves its middle in the background's colour.
    pub fn mark(&mut self, at: Point, mark: Mark, ink: Rgb, hollow: bool) {
        let background = self.palette.background;
        self.mark_part(at, mark, 7, background);
        self.mark_part(at, mark, 5, ink);
        if hollow {
            self.mark_part(at, mark, 3, background);
        }
    }

    /// A small marker without a halo, for many points that may cover one another.
    pub fn dot(&mut self, at: Point, mark: Mark, radius: i32, ink: Rgb) {
        // A square is a pixel smaller than the other forms.
        self.mark_part(at, mark, radius + i32::from(mark == Mark::Square), ink);
    }

    fn mark_part(&mut self, at: Point, mark: Mark, radius: i32, ink: Rgb) {
        let (x, y) = pixel(at);
        let r = radius;
        let points = match mark {
            Mark::Circle => {
                self.shapes.push(Shape::Disc { center: (x, y), radius: r as u32, ink });
                return;
            }
            Mark::Square => {
                vec![(x - r + 1, y - r + 1), (x + r - 1, y - r + 1), (x + r - 1, y + r - 1), (x - r + 1, y + r - 1)]
            }
            Mark::Triangle => vec![(x, y - r - 1), (x + r + 1, y + r - 1), (x - r - 1, y + r - 1)],
            Mark::Diamond => vec![(x, y - r - 1), (x + r + 1, y), (x, y + r + 1), (x - r - 1, y)],
        };
        self.shapes.push(Shape::Fill { points, ink });
    }
}

/// The nearest whole pixel; places far off the canvas are held near it.
fn pixel((x, y): Point) -> (i32, i32) {
    let whole = |v: f64| v.round().clamp(-100_000.0, 100_000.0) as i32;
    (whole(x), whole(y))
}

/// The boxes that a text covers, slack included.
pub(super) fn text_boxes(at: Point, text: &str, style: Type) -> Vec<Rect> {
    let (width, height) = style.room(text);
    let along = match style.align {
        Align::Start => 0.0,
        Align::Middle => -width / 2.0,
        Align::End => -width,
    };
    if style.turn == 0.0 {
        let (x, y) = at;
        return vec![Rect::new(x + along, y - height / 2.0, x + along + width, y + height / 2.0)];
    }
    let angle = style.turn.to_radians();
    let (cos, sin) = (libm::cos(angle), libm::sin(angle));
    let pieces = (width / 8.0).ceil().max(1.0);
    let piece = width / pieces;
    let half = ((cos.abs() * piece + sin.abs() * height) / 2.0, (sin.abs() * piece + cos.abs() * height) / 2.0);
    (0..pieces as usize)
        .map(|i| {
            let t = along + (i as f64 + 0.5) * piece;
            Rect::around((at.0 + t * cos, at.1 + t * sin), 2.0 * half.0, 2.0 * half.1)
        })
        .collect()
}
