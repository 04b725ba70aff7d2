//! Lines of a text that is read once: UTF-8 or UTF-16, any line end, and no line without limit.

use std::{
    borrow::Cow,
    io::{self, BufRead, Cursor, ErrorKind, Read},
};

use super::error::ProfileError;

/// Bytes of a line that are kept; what follows is left out.
const LONGEST: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Utf8,
    Utf16Little,
    Utf16Big,
}

/// One line without its end.
pub(super) struct Line<'a> {
    /// From 1.
    pub number: usize,
    /// Its text; bad bytes are replaced.
    pub text: Cow<'a, str>,
    /// Whether the file ends in it, before a line end.
    pub last: bool,
}

/// Gives the lines of a stream.
pub(super) struct Lines<'a> {
    input: Box<dyn BufRead + 'a>,
    encoding: Encoding,
    number: usize,
    bytes: u64,
    raw: Vec<u8>,
}

impl<'a> Lines<'a> {
    /// Looks at the first two bytes for the encoding.
    ///
    /// # Errors
    /// The stream cannot be read.
    pub fn new(input: &'a mut dyn BufRead) -> Result<Self, ProfileError> {
        let mut first = Vec::new();
        while first.len() < 2 {
            match take(input, |chunk| chunk.first().copied().map_or((0, None), |byte| (1, Some(byte)))) {
                Ok(Some(byte)) => first.push(byte),
                Ok(None) => break,
                Err(error) => return Err(ProfileError::Stream { bytes: 0, message: error.to_string() }),
            }
        }
        let (encoding, mark) = match first[..] {
            [0xff, 0xfe] => (Encoding::Utf16Little, 2),
            [0xfe, 0xff] => (Encoding::Utf16Big, 2),
            [1..=u8::MAX, 0] => (Encoding::Utf16Little, 0),
            [0, 1..=u8::MAX] => (Encoding::Utf16Big, 0),
            _ => (Encoding::Utf8, 0),
        };
        let input = Box::new(Cursor::new(first.split_off(mark)).chain(input));
        Ok(Self { input, encoding, number: 0, bytes: 0, raw: Vec::new() })
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// The stream cannot be read on.
    pub fn next(&mut self) -> Result<Option<Line<'_>>, ProfileError> {
        let found = self.fill().map_err(|e| ProfileError::Stream { bytes: self.bytes, message: e.to_string() })?;
        let Some(ended) = found else { return Ok(None) };
        self.number += 1;
        let raw = match self.number {
            1 => self.raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.raw),
            _ => &self.raw,
        };
        let mut text = match self.encoding {
            Encoding::Utf8 => String::from_utf8_lossy(raw),
            Encoding::Utf16Little => Cow::Owned(utf16(raw, u16::from_le_bytes)),
            Encoding::Utf16Big => Cow::Owned(utf16(raw, u16::from_be_bytes)),
        };
        let length = text.trim_end_matches(['\n', '\r']).len();
        match &mut text {
            Cow::Borrowed(text) => *text = &text[..length],
            Cow::Owned(text) => text.truncate(length),
        }
        Ok(Some(Line { number: self.number, text, last: !ended }))
    }

    /// Reads a line into `raw`: whether it has an end, or `None` where nothing is left.
    fn fill(&mut self) -> io::Result<Option<bool>> {
        self.raw.clear();
        let (mut total, mut before) = (0_u64, 0_u8);
        loop {
            let raw = &mut self.raw;
            let mut keep = |bytes: &[u8]| raw.extend_from_slice(&bytes[..bytes.len().min(LONGEST - raw.len())]);
            let found = take(&mut *self.input, |chunk| {
                let end = chunk.iter().position(|byte| *byte == b'\n');
                let used = end.map_or(chunk.len(), |at| at + 1);
                keep(&chunk[..used]);
                (
                    used,
                    (used > 0)
                        .then(|| (used, end.is_some(), chunk[..used].iter().rev().nth(1).copied(), chunk[used - 1])),
                )
            })?;
            let Some((used, end, penultimate, last)) = found else {
                return Ok((total > 0).then_some(false));
            };
            total += used as u64;
            self.bytes += used as u64;
            let ahead = penultimate.unwrap_or(before);
            before = last;
            if !end {
                continue;
            }
            match self.encoding {
                Encoding::Utf8 => return Ok(Some(true)),
                // The byte 0x0a may be half of another character.
                Encoding::Utf16Big if total % 2 == 0 && ahead == 0 => return Ok(Some(true)),
                Encoding::Utf16Little if total % 2 == 1 => {
                    let high = take(&mut *self.input, |chunk| match chunk.first() {
                        Some(byte) => (1, Some(*byte)),
                        None => (0, None),
                    })?;
                    let Some(high) = high else { return Ok(Some(false)) };
                    keep(&[high]);
                    (total, self.bytes, before) = (total + 1, self.bytes + 1, high);
                    if high == 0 {
                        return Ok(Some(true));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Looks at what is buffered, and uses as much of it as `look` says.
fn take<T>(input: &mut dyn BufRead, look: impl FnOnce(&[u8]) -> (usize, T)) -> io::Result<T> {
    loop {
        match input.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) => break,
        }
    }
    let (used, found) = look(input.fill_buf()?);
    input.consume(used);
    Ok(found)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn lines(bytes: &[u8], buffer: usize) -> Vec<(String, bool)> {
        let mut input = BufReader::with_capacity(buffer, bytes);
        let mut lines = Lines::new(&mut input).unwrap();
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            assert_eq!(line.number, found.len() + 1);
            found.push((line.text.into_owned(), line.last));
        }
        found
    }

    /// `ċ` and `਀` have the byte of a line end in one half.
    const TEXT: &str = "Name,ċ\r\n\nb਀\u{a0a}…\nend";

    #[test]
    fn every_encoding_gives_the_same_lines() {
        let wanted: Vec<(String, bool)> =
            [("Name,ċ", false), ("", false), ("b਀\u{a0a}…", false), ("end", true)].map(|(t, l)| (t.into(), l)).into();
        let units: Vec<u16> = TEXT.encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        for bytes in [
            TEXT.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", TEXT.as_bytes()].concat(),
            little.clone(),
            big.clone(),
            [&[0xff, 0xfe], &little[..]].concat(),
            [&[0xfe, 0xff], &big[..]].concat(),
        ] {
            for buffer in [1, 2, 3, 64] {
                assert_eq!(lines(&bytes, buffer), wanted, "{bytes:?} in pieces of {buffer}");
            }
        }
    }

    #[test]
    fn empty_files_and_long_lines() {
        assert!(lines(b"", 8).is_empty());
        assert_eq!(lines(b"\n", 8), [(String::new(), false)]);
        let long = [vec![b'a'; LONGEST + 9], b"\nb\n".to_vec()].concat();
        let found = lines(&long, 4096);
        assert_eq!((found.len(), found[0].0.len(), found[1].0.as_str()), (2, LONGEST, "b"));
    }
}
