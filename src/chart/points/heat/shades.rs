//! The colours of values: from dark blue over grey to yellow, ever lighter, so that grey prints keep the order.

use crate::chart::palette::Rgb;

/// Colours that are told apart.
pub(super) const SHADES: usize = 64;

/// Five colours of cividis at equal distances (J. R. Nuñez, C. R. Anderton, R. S. Renslow, PLOS ONE 13(7): e0199239, 2018),
/// which people with and without colour-blindness see alike.
const STOPS: [(f64, f64, f64); 5] =
    [(0.0, 34.0, 78.0), (65.0, 77.0, 107.0), (124.0, 123.0, 120.0), (188.0, 174.0, 108.0), (254.0, 232.0, 56.0)];

/// The `level`-th colour, the darkest first.
pub(super) fn shade(level: usize) -> Rgb {
    let at = level.min(SHADES - 1) as f64 / (SHADES - 1) as f64 * (STOPS.len() - 1) as f64;
    let first = (at as usize).min(STOPS.len() - 2);
    let share = at - first as f64;
    let (a, b) = (STOPS[first], STOPS[first + 1]);
    let mix = |a: f64, b: f64| (a + (b - a) * share).round() as u8;
    (mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ever_lighter_in_grey() {
        let grey = |(r, g, b): Rgb| 0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b);
        assert!((1..SHADES).all(|level| grey(shade(level)) > grey(shade(level - 1)) + 1.0));
    }
}
