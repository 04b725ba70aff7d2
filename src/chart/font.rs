//! The embedded fonts and text measured by them, so that a layout never depends on the fonts of a machine.

use super::widths::WIDTHS;

/// Noto Sans Regular, the subset used by charts (TrueType); serve it to a page that shows the SVG.
pub const FONT_REGULAR: &[u8] = include_bytes!("../../assets/fonts/NotoSans-Regular-subset.ttf");

/// Noto Sans Bold, the subset used by charts (TrueType).
pub const FONT_BOLD: &[u8] = include_bytes!("../../assets/fonts/NotoSans-Bold-subset.ttf");

/// Font list written into the SVG: the fallbacks are no wider than Noto Sans by more than the slack of label boxes.
pub(super) const FAMILY: &str = "Noto Sans, Open Sans, Segoe UI, Helvetica, Arial, sans-serif";

/// Width of `text` in pixels at `size` pixels.
pub(super) fn text_width(text: &str, size: f64, bold: bool) -> f64 {
    let mille: u32 = text.chars().map(|c| u32::from(advance(c, bold))).sum();
    f64::from(mille) * size / 1000.0
}

/// Advance in thousandths of the size; a character outside the subset counts as a wide one.
fn advance(c: char, bold: bool) -> u16 {
    match WIDTHS.binary_search_by_key(&c, |w| w.0) {
        Ok(index) if bold => WIDTHS[index].2,
        Ok(index) => WIDTHS[index].1,
        Err(_) if c < '\u{1100}' => 700,
        Err(_) => 1050,
    }
}

/// `text` as one line fit for XML: control characters and line ends become spaces.
pub(super) fn one_line(text: &str) -> String {
    let clean: String =
        text.chars().map(|c| if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') { ' ' } else { c }).collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `text` in at most `width` pixels: the middle gives way to an ellipsis, so that both ends stay readable.
pub(super) fn elide(text: &str, size: f64, bold: bool, width: f64) -> String {
    let text = one_line(text);
    if text_width(&text, size, bold) <= width {
        return text;
    }
    let chars: Vec<char> = text.chars().collect();
    for kept in (0..chars.len()).rev() {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let left: String = chars[..head].iter().collect();
        let right: String = chars[chars.len() - tail..].iter().collect();
        let short = format!("{}…{}", left.trim_end(), right.trim_start());
        if text_width(&short, size, bold) <= width {
            return short;
        }
    }
    String::new()
}

/// `text` broken at spaces into lines of at most `width` pixels; a longer word is elided.
pub(super) fn wrap(text: &str, size: f64, bold: bool, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in one_line(text).split(' ').filter(|w| !w.is_empty()) {
        let word = elide(word, size, bold, width);
        match lines.last_mut() {
            Some(line)
                if text_width(line, size, bold) + text_width(" ", size, bold) + text_width(&word, size, bold)
                    <= width =>
            {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_ascii_character_has_a_width() {
        for c in ' '..='~' {
            let found = WIDTHS.binary_search_by_key(&c, |w| w.0).map(|i| WIDTHS[i]);
            assert!(found.is_ok_and(|(_, regular, bold)| regular > 0 && bold > 0), "{c:?}");
        }
        assert!(WIDTHS.windows(2).all(|w| w[0].0 < w[1].0));
        for c in "×µ–—·≥≤²³⁻…→∞".chars() {
            assert!(WIDTHS.binary_search_by_key(&c, |w| w.0).is_ok(), "{c:?}");
        }
    }

    #[test]
    fn long_text_keeps_both_ends() {
        let short = elide("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", 11.0, false, 120.0);
        assert!(short.starts_with("sm90_") && short.ends_with("8x64") && short.contains('…'), "{short}");
        assert!(text_width(&short, 11.0, false) <= 120.0);
        assert_eq!(elide("abc", 11.0, false, 0.0), "");
        assert_eq!(wrap("a  b\nc", 11.0, false, 1000.0), ["a b c"]);
        assert!(wrap(&"word ".repeat(50), 11.0, true, 200.0).iter().all(|l| text_width(l, 11.0, true) <= 200.0));
    }
}
