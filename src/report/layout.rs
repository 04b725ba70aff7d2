//! Lines that never exceed the width: labelled entries, shortened names, bars.

use textwrap::{Options, WordSplitter, core::display_width};

use super::KernelReport;
use crate::units::{Seconds, decimal, significant};

/// Columns of the label before an entry, with its indent.
pub(super) const LABEL: usize = 14;

/// Appends `text` after `label`, wrapped to `width` with the text aligned; an empty label continues the entry before.
pub(super) fn entry(out: &mut String, label: &str, text: &str, width: usize) {
    hanging(out, &format!("  {label:<w$}", w = LABEL - 2), text, width);
}

/// Appends `text` after `head`, its further lines indented to the end of `head`.
pub(super) fn hanging(out: &mut String, head: &str, text: &str, width: usize) {
    let indent = " ".repeat(display_width(head));
    let options = Options::new(width)
        .initial_indent(head)
        .subsequent_indent(&indent)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(true);
    // A number stays on the line of its percent sign.
    for line in textwrap::wrap(&clean(text).replace(" %", "\u{a0}%"), options) {
        *out += &line.trim_end().replace('\u{a0}', " ");
        out.push('\n');
    }
}

/// The text without control characters, marks of writing direction and what is no character: they could move the cursor,
/// break a table or turn a line around.
pub(crate) fn clean(text: &str) -> String {
    let turns = |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let moves = |c: char| c.is_control() || turns(c) || matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|c| if moves(c) { ' ' } else { c }).collect()
}

/// The text in at most `width` columns, with an ellipsis in the middle where it is longer: both the start of a
/// kernel's name and the arguments at its end tell it apart.
pub(crate) fn fit(text: &str, width: usize) -> String {
    let text = clean(text);
    if display_width(&text) <= width {
        return text;
    }
    let room = width.saturating_sub(1);
    let tail_room = room / 3;
    let head = take(text.chars(), room - tail_room);
    let tail: String = take(text.chars().rev(), tail_room).chars().rev().collect();
    format!("{head}…{tail}")
}

fn take(characters: impl Iterator<Item = char>, room: usize) -> String {
    let mut taken = String::new();
    let mut used = 0;
    for character in characters {
        used += display_width(character.encode_utf8(&mut [0; 4]));
        if used > room {
            break;
        }
        taken.push(character);
    }
    taken
}

/// A bar of `share` (0 to 1) of `width` columns, in steps of an eighth.
pub(super) fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    let eighths = if share > 0.0 && width > 0 { eighths.max(1) } else { eighths };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// `text` padded with spaces to `width` columns.
pub(super) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
}

/// A time for people.
pub(super) fn time(us: f64) -> String {
    Seconds(us * 1e-6).to_string()
}

/// A percentage for people, with its sign.
pub(super) fn percent(value: f64) -> String {
    format!("{} %", percentage(value))
}

/// A percentage for people with one decimal place; little is not 0 and nearly all is not 100.
pub(super) fn percentage(value: f64) -> String {
    match value {
        v if v > 0.0 && v < 0.05 => "<0.1".into(),
        // Parts that are all of a sum miss 100 by the rounding of the sum alone.
        v if v > 99.9 && v < 100.0 * (1.0 - 1e-9) => "99.9".into(),
        v => decimal(v, 1),
    }
}

/// A ratio or count for people: two decimal places, fewer where the number is large.
pub(super) fn number(value: f64) -> String {
    if value.abs() < 1.0 { significant(value, 3) } else { significant(value, 4) }
}

/// A value of the kernel for people; what is absent was not in the profiler's file, or does not apply.
pub(super) fn shown(kernel: &KernelReport, value: Option<String>) -> String {
    value.unwrap_or_else(|| if kernel.is_observed() { "not in file".into() } else { "-".into() })
}

#[cfg(test)]
mod tests {
    use super::percentage;

    #[test]
    fn all_of_a_sum_is_100_and_nearly_all_is_not() {
        let sum: f64 = (0..3).map(|_| 100.0 / 3.0 - 1e-12).sum();
        assert!(sum < 100.0);
        assert_eq!([sum, 100.0, 100.0 + 1e-11].map(percentage), ["100"; 3]);
        assert_eq!([99.999_999, 99.96, 99.94].map(percentage), ["99.9"; 3]);
    }
}
