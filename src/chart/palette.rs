//! Colours by role, light and dark; the hues are those of Okabe and Ito, told apart with colour-blind eyes.

/// A colour as red, green, blue.
pub(super) type Rgb = (u8, u8, u8);

/// Ground on which a chart is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on white, for paper and light pages.
    #[default]
    Light,
    /// Light ink on near-black.
    Dark,
}

/// One colour per role. Text is only ever `ink` or `muted`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Palette {
    pub background: Rgb,
    pub ink: Rgb,
    pub muted: Rgb,
    pub grid: Rgb,
    pub axis: Rgb,
    pub math: Rgb,
    pub memory: Rgb,
    pub latency: Rgb,
    /// For a fourth series.
    pub spare: Rgb,
}

impl Palette {
    /// The colours of `theme`.
    pub fn new(theme: Theme) -> Self {
        match theme {
            Theme::Light => Self {
                background: (255, 255, 255),
                ink: (27, 31, 36),
                muted: (88, 94, 102),
                grid: (230, 233, 236),
                axis: (140, 146, 153),
                math: (0, 114, 178),
                memory: (213, 94, 0),
                latency: (0, 138, 100),
                spare: (204, 121, 167),
            },
            Theme::Dark => Self {
                background: (24, 26, 31),
                ink: (232, 234, 237),
                muted: (165, 171, 179),
                grid: (44, 48, 56),
                axis: (122, 128, 138),
                math: (86, 180, 233),
                memory: (230, 116, 40),
                latency: (40, 185, 142),
                spare: (204, 121, 167),
            },
        }
    }

    /// `color` with `share` (0 to 1) of it left, the rest background.
    pub fn soft(&self, color: Rgb, share: f64) -> Rgb {
        let mix = |c: u8, b: u8| (f64::from(c) * share + f64::from(b) * (1.0 - share)).round() as u8;
        let b = self.background;
        (mix(color.0, b.0), mix(color.1, b.1), mix(color.2, b.2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance((r, g, b): Rgb) -> f64 {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_and_marks_stand_out() {
        for theme in [Theme::Light, Theme::Dark] {
            let p = Palette::new(theme);
            for text in [p.ink, p.muted] {
                assert!(contrast(text, p.background) >= 4.5, "{theme:?} {text:?}");
            }
            for mark in [p.math, p.memory, p.latency, p.spare, p.axis] {
                assert!(contrast(mark, p.background) >= 3.0, "{theme:?} {mark:?}");
            }
        }
    }
}
