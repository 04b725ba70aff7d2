//! JSON that is not quite JSON, as profilers write it: made good where only one reading is possible.

use std::{iter::Peekable, str::CharIndices};

/// Words for numbers that JSON does not have; they become `null`.
const NOT_NUMBERS: [&str; 8] = ["-Infinity", "Infinity", "-inf", "inf", "-nan", "nan", "-NaN", "NaN"];

/// The text with what a JSON parser refuses made good: bytes that are not UTF-8, backslashes that begin no escape (as
/// in Windows paths), control characters in strings, halves of surrogate pairs, numbers that are none, missing values
/// and commas before a closing bracket.
pub fn repair(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut fixed = String::with_capacity(text.len() + 16);
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => string(&text, &mut characters, &mut fixed),
            ',' | '}' | ']' => {
                let kept = fixed.trim_end().len();
                if fixed[..kept].ends_with(':') {
                    fixed.push_str("null");
                } else if character != ',' && fixed[..kept].ends_with(',') {
                    fixed.truncate(kept - 1);
                }
                fixed.push(character);
            }
            _ => match NOT_NUMBERS.iter().find(|word| text[at..].starts_with(**word)) {
                Some(word) => {
                    fixed.push_str("null");
                    characters.nth(word.len() - 2);
                }
                None => fixed.push(character),
            },
        }
    }
    fixed
}

/// A string from after its first quote to its last.
fn string(text: &str, characters: &mut Peekable<CharIndices<'_>>, fixed: &mut String) {
    fixed.push('"');
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => {
                fixed.push('"');
                return;
            }
            '\\' => {
                let rest = &text[at + 1..];
                match rest.chars().next() {
                    Some('"') if !ends_the_line(&rest[1..]) => {
                        fixed.push_str("\\\"");
                        characters.next();
                    }
                    Some(escape @ ('\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => {
                        fixed.extend(['\\', escape]);
                        characters.next();
                    }
                    Some('u') if unit(rest).is_some() => {
                        let (replacement, length) = code_point(rest);
                        fixed.push_str(&replacement);
                        characters.nth(length - 1);
                    }
                    _ => fixed.push_str("\\\\"),
                }
            }
            control if control < ' ' => fixed.push(' '),
            other => fixed.push(other),
        }
    }
}

/// Whether a quote before this text ends its string: nothing but brackets and commas is left on the line, and a string
/// has no line break.
fn ends_the_line(rest: &str) -> bool {
    let end = rest.trim_start_matches([',', '}', ']', ' ', '\t', '\r']);
    end.starts_with('\n')
}

/// The unit of UTF-16 of `uXXXX`.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('u')?.get(..4)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// The escape for `uXXXX`, or for a pair of them, and how many characters after the backslash it takes.
fn code_point(text: &str) -> (String, usize) {
    let low = || text.get(5..)?.strip_prefix('\\').and_then(unit).filter(|low| (0xdc00..0xe000).contains(low));
    match unit(text) {
        Some(0xd800..=0xdbff) if low().is_some() => (format!("\\{}", &text[..11]), 11),
        Some(0xd800..=0xdfff) | None => ("\\ufffd".into(), 5),
        Some(_) => (format!("\\{}", &text[..5]), 5),
    }
}

#[cfg(test)]
mod tests {
    use super::repair;

    #[test]
    fn what_profilers_write() {
        for (broken, good) in [
            (r#"{"a": "C:\Users\x"}"#, r#"{"a": "C:\\Users\\x"}"#),
            ("{\"a\": \"C:\\dir\\\",\n \"b\": 1}", "{\"a\": \"C:\\\\dir\\\\\",\n \"b\": 1}"),
            (r#"{"a": "say \"x\""}"#, r#"{"a": "say \"x\""}"#),
            ("{\"a\": \"x\ny\u{1}\"}", "{\"a\": \"x y \"}"),
            (
                r#"{"a": "\ud800x \ud83d\ude00 \udc00 \u00e9 \uZZ"}"#,
                r#"{"a": "\ufffdx \ud83d\ude00 \ufffd \u00e9 \\uZZ"}"#,
            ),
            (r#"{"a": inf, "b": -nan, "c": [NaN, -Infinity]}"#, r#"{"a": null, "b": null, "c": [null, null]}"#),
            (r#"{"a": , "b": [1, 2, ], "c": }"#, r#"{"a": null, "b": [1, 2], "c": null}"#),
        ] {
            assert_eq!(repair(broken.as_bytes()), good);
            serde_json::from_str::<serde_json::Value>(good).unwrap();
        }
        assert_eq!(repair(b"{\"a\": \"\xff\"}"), "{\"a\": \"\u{fffd}\"}");
    }
}
