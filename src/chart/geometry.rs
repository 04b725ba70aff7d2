//! Points, boxes and segments on the canvas, in pixels, y down.

/// A place on the canvas: x, y.
pub(super) type Point = (f64, f64);

/// A line from one place to another.
pub(super) type Segment = (Point, Point);

/// An upright box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub x0: f64,
    pub y0: f64,
    pub x1: f64,
    pub y1: f64,
}

impl Rect {
    /// The box between two corners, left top and right bottom.
    pub fn new(x0: f64, y0: f64, x1: f64, y1: f64) -> Self {
        Self { x0, y0, x1, y1 }
    }

    /// The box around `center`.
    pub fn around(center: Point, width: f64, height: f64) -> Self {
        let (x, y) = center;
        Self::new(x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0)
    }

    pub fn width(&self) -> f64 {
        self.x1 - self.x0
    }

    pub fn height(&self) -> f64 {
        self.y1 - self.y0
    }

    pub fn center(&self) -> Point {
        ((self.x0 + self.x1) / 2.0, (self.y0 + self.y1) / 2.0)
    }

    /// Shared area in square pixels.
    pub fn overlap(&self, other: &Rect) -> f64 {
        let width = self.x1.min(other.x1) - self.x0.max(other.x0);
        let height = self.y1.min(other.y1) - self.y0.max(other.y0);
        width.max(0.0) * height.max(0.0)
    }

    /// Pixels by which this box leaves `frame`, summed over the four sides.
    pub fn outside(&self, frame: &Rect) -> f64 {
        (frame.x0 - self.x0).max(0.0)
            + (self.x1 - frame.x1).max(0.0)
            + (frame.y0 - self.y0).max(0.0)
            + (self.y1 - frame.y1).max(0.0)
    }

    /// The point of this box nearest to `p`.
    pub fn nearest(&self, p: Point) -> Point {
        (p.0.clamp(self.x0, self.x1), p.1.clamp(self.y0, self.y1))
    }

    /// Length of a segment inside this box (Liang and Barsky).
    pub fn crossed(&self, (a, b): Segment) -> f64 {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for (p, q) in [(-dx, a.0 - self.x0), (dx, self.x1 - a.0), (-dy, a.1 - self.y0), (dy, self.y1 - a.1)] {
            if p == 0.0 {
                if q < 0.0 {
                    return 0.0;
                }
            } else if p < 0.0 {
                enter = enter.max(q / p);
            } else {
                leave = leave.min(q / p);
            }
        }
        (leave - enter).max(0.0) * length((dx, dy))
    }
}

/// Length of a vector in pixels.
pub(super) fn length((dx, dy): Point) -> f64 {
    (dx * dx + dy * dy).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossing_and_overlap() {
        let r = Rect::new(0.0, 0.0, 10.0, 4.0);
        assert_eq!(r.crossed(((-5.0, 2.0), (20.0, 2.0))), 10.0);
        assert_eq!(r.crossed(((-5.0, 5.0), (20.0, 5.0))), 0.0);
        assert_eq!(r.crossed(((3.0, -3.0), (3.0, 2.0))), 2.0);
        assert_eq!(r.overlap(&Rect::new(8.0, 2.0, 20.0, 20.0)), 4.0);
        assert_eq!(r.outside(&Rect::new(1.0, 0.0, 8.0, 4.0)), 3.0);
    }
}
