//! Where the events of a trace begin and end: the outline of a JSON document that may be damaged.
//!
//! Only brackets and strings are told apart here, so that what is inside one event can be wrong without loss of the
//! next; the events themselves go to a JSON parser.

use std::ops::Range;

use super::source::Source;

/// What an element of a list describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An event of `traceEvents`, or of a list that is the whole file.
    Event,
    /// A GPU of `deviceProperties`.
    Device,
}

/// What comes next in a document.
#[derive(Debug, PartialEq)]
pub(super) enum Item {
    /// A key of the outermost object, with its quotes.
    Key(Range<usize>),
    /// An object of one of the lists.
    Element(Kind, Range<usize>),
    /// Something that does not belong here, in words.
    Damage(String),
}

/// Where the reader is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Outside,
    Object,
    List(Kind),
}

/// Longer events are not read: those of profilers have some kB.
const LONGEST: usize = 4 << 20;

/// So many bytes may be gone over again after damage, besides four times as many as the file has had so far.
const AGAIN: u64 = 8 << 20;

/// A document, item by item.
pub(super) struct Document<'r> {
    source: Source<'r>,
    level: Level,
    /// Whether the list is in an object, which goes on after it.
    in_object: bool,
    told_end: bool,
    told_stray: bool,
    /// Whether a document has begun, and whether another one behind it.
    begun: (bool, bool),
    again: u64,
}

fn space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b','
}

impl<'r> Document<'r> {
    pub fn new(source: Source<'r>) -> Self {
        let level = Level::Outside;
        Self { source, level, in_object: false, told_end: false, told_stray: false, begun: (false, false), again: 0 }
    }

    /// The file behind it.
    pub fn source(&self) -> &Source<'r> {
        &self.source
    }

    /// The text of an item, until the next is asked for.
    pub fn text(&self, range: &Range<usize>) -> &[u8] {
        self.source.bytes().get(range.clone()).unwrap_or_default()
    }

    /// The next item; `None` at the end.
    pub fn next(&mut self) -> Option<Item> {
        loop {
            self.source.release();
            let Some(byte) = self.source.skip(space) else {
                return self.end();
            };
            if self.level == Level::Outside && matches!(byte, b'{' | b'[') && self.begins_again() {
                let offset = self.source.offset();
                let text = "a second document begins here; its launches are added to those of the first";
                return Some(Item::Damage(format!("byte {offset}: {text}")));
            }
            match (self.level, byte) {
                (Level::Outside, b'{') => {
                    self.bump();
                    (self.level, self.in_object) = (Level::Object, true);
                }
                (Level::Outside, b'[') => {
                    self.bump();
                    (self.level, self.in_object) = (Level::List(Kind::Event), false);
                }
                (Level::Object, b'}') => {
                    self.bump();
                    self.level = Level::Outside;
                }
                (Level::Object, b'"') => return Some(self.key()),
                (Level::List(_), b']') => {
                    self.bump();
                    self.level = if self.in_object { Level::Object } else { Level::Outside };
                }
                (Level::List(kind), b'{') => return Some(self.element(kind)),
                (Level::List(_), _) if byte != b'}' => self.pass(),
                _ => {
                    let offset = self.source.offset();
                    self.bump();
                    if !std::mem::replace(&mut self.told_stray, true) {
                        let word = char::from(byte).escape_default();
                        return Some(Item::Damage(format!("byte {offset}: `{word}` is out of place and was skipped")));
                    }
                }
            }
        }
    }

    /// Goes on with the next event that begins within an element that could not be read, if one does. False where
    /// there is none, or where too much was gone over again already.
    pub fn resume_within(&mut self, element: &Range<usize>) -> bool {
        let inside = element.start + 1..self.source.position();
        let Some(begin) = self.source.bytes().get(inside.clone()).and_then(event_in) else { return false };
        let position = inside.start + begin;
        let length = (inside.end - position) as u64;
        if self.again + length > AGAIN + 4 * self.source.offset() {
            return false;
        }
        self.again += length;
        self.source.go_to(position);
        true
    }

    /// Whether this document is the second; it is told once.
    fn begins_again(&mut self) -> bool {
        let second = self.begun == (true, false);
        self.begun = (true, self.begun.0);
        second
    }

    fn bump(&mut self) {
        self.source.go_to(self.source.position() + 1);
    }

    fn end(&mut self) -> Option<Item> {
        if self.level == Level::Outside || std::mem::replace(&mut self.told_end, true) {
            return None;
        }
        let offset = self.source.offset();
        Some(Item::Damage(format!("the file breaks off at byte {offset}; what comes before was read")))
    }

    /// A key, and its value unless that is a list to read.
    fn key(&mut self) -> Item {
        let key = match self.whole() {
            Ok(key) => key,
            Err(range) => return Item::Damage(self.too_long(&range)),
        };
        if self.source.skip(space) == Some(b':') {
            self.bump();
        }
        let list = match self.text(&key) {
            b"\"traceEvents\"" => Some(Kind::Event),
            b"\"deviceProperties\"" | b"\"computeProperties\"" => Some(Kind::Device),
            _ => None,
        };
        match (self.source.skip(space), list) {
            (Some(b'['), Some(kind)) => {
                self.bump();
                self.level = Level::List(kind);
            }
            (Some(b'}') | None, _) => {}
            _ => self.pass(),
        }
        Item::Key(key)
    }

    fn element(&mut self, kind: Kind) -> Item {
        match self.whole() {
            Ok(range) => Item::Element(kind, range),
            Err(range) => {
                let text = self.too_long(&range);
                self.resume_within(&range);
                Item::Damage(text)
            }
        }
    }

    fn too_long(&self, range: &Range<usize>) -> String {
        let offset = self.source.offset_of(range.start);
        match range.len() > LONGEST {
            true => format!("byte {offset}: an event of more than {LONGEST} bytes was skipped"),
            false => format!("byte {offset}: the file ends within what begins here, which was skipped"),
        }
    }

    /// Takes a value into the buffer as a whole; the error is a value without end.
    fn whole(&mut self) -> Result<Range<usize>, Range<usize>> {
        let start = self.source.position();
        let mut walk = Walk::default();
        let mut seen = start;
        loop {
            let fresh = self.source.bytes().get(seen..).unwrap_or_default();
            let ended = walk.advance(fresh);
            seen += ended.unwrap_or(fresh.len());
            let too_long = seen - start > LONGEST;
            if too_long || ended.is_some() || !self.source.more() {
                self.source.go_to(seen);
                let range = start..seen;
                return if ended.is_some() && !too_long { Ok(range) } else { Err(range) };
            }
        }
    }

    /// Passes over a value of any length without keeping it.
    fn pass(&mut self) {
        let Some(first) = self.source.peek() else { return };
        if !matches!(first, b'{' | b'[' | b'"') {
            self.bump();
            self.source.skip(|byte| !matches!(byte, b',' | b'{' | b'[' | b'"' | b'}' | b']'));
            return;
        }
        let mut walk = Walk::default();
        while self.source.peek().is_some() {
            let position = self.source.position();
            let fresh = self.source.bytes().get(position..).unwrap_or_default();
            let ahead = fresh.len();
            let ended = walk.advance(fresh);
            self.source.go_to(position + ended.unwrap_or(ahead));
            if ended.is_some() {
                return;
            }
            self.source.release();
        }
    }
}

/// Where an event begins in a text: a brace with the key `ph`, which these files write first.
fn event_in(text: &[u8]) -> Option<usize> {
    let begins = |rest: &[u8]| rest.trim_ascii_start().starts_with(b"\"ph\"");
    let mut from = 0;
    while let Some(at) = text.get(from..)?.iter().position(|byte| *byte == b'{').map(|at| from + at) {
        // White space between brace and key is short, which keeps the search from reading it again and again.
        let next = text.get(at + 1..).unwrap_or_default();
        if begins(&next[..next.len().min(64)]) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// Follows brackets and strings of one value, in as many pieces as it comes.
#[derive(Default)]
struct Walk {
    depth: u32,
    place: Place,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Between,
    String,
    Escape,
}

impl Walk {
    /// Goes over a piece; the number of its bytes up to the end of the value, where that is in it.
    ///
    /// A line break ends a string. None of these files has one in a string, but a path that ends in a backslash hides
    /// the quote that ends it, and without this rule everything after it would be on the wrong side of its quotes.
    fn advance(&mut self, piece: &[u8]) -> Option<usize> {
        for (at, byte) in piece.iter().enumerate() {
            match (self.place, byte) {
                (Place::Between, b'"') => self.place = Place::String,
                (Place::Between, b'{' | b'[') => self.depth = self.depth.saturating_add(1),
                (Place::Between, b'}' | b']') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                (Place::String, b'"') | (Place::String | Place::Escape, b'\n') => {
                    self.place = Place::Between;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                (Place::String, b'\\') => self.place = Place::Escape,
                (Place::Escape, _) => self.place = Place::String,
                _ => {}
            }
        }
        None
    }
}
