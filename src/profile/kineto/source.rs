//! The bytes of a file through a window that moves along, with their place in the file.

use std::io::{BufRead, ErrorKind};

/// So many bytes that were read are dropped at once.
const DROP_AT: usize = 1 << 20;

/// A file read once from front to end. Text in UTF-16 with a byte order mark comes out as UTF-8, and places then count
/// the bytes of that.
pub(super) struct Source<'r> {
    input: &'r mut dyn BufRead,
    buffer: Vec<u8>,
    /// The next byte in the buffer.
    at: usize,
    /// Bytes before the buffer.
    dropped: u64,
    /// How two bytes make a unit of UTF-16; absent for UTF-8.
    unit: Option<fn([u8; 2]) -> u16>,
    /// Bytes of UTF-16 that wait for the rest of their character.
    waiting: Vec<u8>,
    ended: bool,
    failure: Option<String>,
}

impl<'r> Source<'r> {
    /// At the first byte after the byte order mark.
    pub fn new(input: &'r mut dyn BufRead) -> Self {
        let mut source = Self {
            input,
            buffer: Vec::new(),
            at: 0,
            dropped: 0,
            unit: None,
            waiting: Vec::new(),
            ended: false,
            failure: None,
        };
        while source.buffer.len() < 3 && source.more() {}
        source.unit = match source.buffer[..] {
            [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
            [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
            _ => None,
        };
        if source.unit.is_some() {
            let bytes = source.buffer.split_off(2);
            source.buffer.clear();
            source.widen(&bytes);
        } else if source.buffer.starts_with(b"\xef\xbb\xbf") {
            source.at = 3;
        }
        source
    }

    /// The place of the next byte in the file.
    pub fn offset(&self) -> u64 {
        self.offset_of(self.at)
    }

    /// The place in the file of a position of the buffer.
    pub fn offset_of(&self, position: usize) -> u64 {
        self.dropped + position as u64
    }

    /// Why the file could not be read to its end.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The position of the next byte in [`Self::bytes`], good until [`Self::release`].
    pub fn position(&self) -> usize {
        self.at
    }

    /// Everything that is held.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    /// Goes on from a position, which may be before the present one.
    pub fn go_to(&mut self, position: usize) {
        self.at = position.min(self.buffer.len());
    }

    /// Forgets bytes before the next one, when they are many.
    pub fn release(&mut self) {
        if self.at >= DROP_AT {
            self.buffer.drain(..self.at);
            self.dropped += self.at as u64;
            self.at = 0;
        }
    }

    /// The next byte, which stays.
    pub fn peek(&mut self) -> Option<u8> {
        while self.at >= self.buffer.len() {
            if !self.more() {
                return None;
            }
        }
        self.buffer.get(self.at).copied()
    }

    /// Passes over bytes of this kind and gives the first other, which stays.
    pub fn skip(&mut self, among: fn(u8) -> bool) -> Option<u8> {
        while let Some(byte) = self.peek() {
            if !among(byte) {
                return Some(byte);
            }
            self.at += 1;
            // What is passed over is not held, however long it is.
            if self.at == self.buffer.len() {
                self.release();
            }
        }
        None
    }

    /// Reads on into the buffer; false at the end.
    pub fn more(&mut self) -> bool {
        while !self.ended {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.failure = Some(error.to_string());
                    &[]
                }
            };
            let length = chunk.len();
            if length == 0 {
                self.ended = true;
            } else if self.unit.is_some() {
                let chunk = chunk.to_vec();
                self.input.consume(length);
                self.widen(&chunk);
                return true;
            } else {
                self.buffer.extend_from_slice(chunk);
                self.input.consume(length);
                return true;
            }
        }
        false
    }

    /// Appends bytes of UTF-16 as UTF-8.
    fn widen(&mut self, bytes: &[u8]) {
        let Some(unit) = self.unit else { return };
        self.waiting.extend_from_slice(bytes);
        let units: Vec<u16> = self.waiting.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        // The first half of a pair waits for the second.
        let whole = match units.last() {
            Some(0xd800..=0xdbff) => units.len() - 1,
            _ => units.len(),
        };
        for found in char::decode_utf16(units[..whole].iter().copied()) {
            let mut utf8 = [0; 4];
            let character = found.unwrap_or(char::REPLACEMENT_CHARACTER);
            self.buffer.extend_from_slice(character.encode_utf8(&mut utf8).as_bytes());
        }
        self.waiting.drain(..2 * whole);
    }
}
