//! SVG to PNG through resvg, with no other font than the embedded ones.

use super::ChartError;
use super::font::{FONT_BOLD, FONT_REGULAR};
use resvg::{tiny_skia, usvg};

const LONGEST_SIDE: f32 = 16_384.0;

/// The picture in `svg` as PNG bytes, `scale` pixels per SVG unit.
pub(super) fn rasterise(svg: &str, scale: f32) -> Result<Vec<u8>, ChartError> {
    let mut options = usvg::Options { font_family: "Noto Sans".into(), ..usvg::Options::default() };
    let fonts = options.fontdb_mut();
    fonts.load_font_data(FONT_REGULAR.to_vec());
    fonts.load_font_data(FONT_BOLD.to_vec());
    fonts.set_sans_serif_family("Noto Sans");
    let tree = usvg::Tree::from_str(svg, &options).map_err(|e| ChartError::Raster(e.to_string()))?;
    let (width, height) = ((tree.size().width() * scale).round(), (tree.size().height() * scale).round());
    let refused = ChartError::Scale { scale, width: width as u32, height: height as u32 };
    if !(scale >= 0.1 && width <= LONGEST_SIDE && height <= LONGEST_SIDE) {
        return Err(refused);
    }
    let mut pixmap = tiny_skia::Pixmap::new(width as u32, height as u32).ok_or(refused)?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| ChartError::Raster(e.to_string()))
}
