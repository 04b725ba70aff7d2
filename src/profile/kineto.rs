//! Traces of PyTorch's profiler (Kineto): an object with `traceEvents`, or a bare list of events.
//!
//! - Launches are the complete events (`ph` `X`) of category `kernel`, in any case (`Kernel` in 2021). The calls that
//!   launched them can have a grid too (AMD's do, category `cuda_runtime`), but they are the host's time.
//! - Copies and fills are of category `gpu_memcpy` and `gpu_memset`, in 2021 `Memcpy` and `Memset`.
//! - `ts` and `dur` are microseconds with a fraction, also where `displayTimeUnit` says `ns`, and at times in quotes.
//!   Beginnings count from that of the first launch or copy.
//! - `shared memory` is static and dynamic together, in bytes; it is read as dynamic.
//! - Devices are in `deviceProperties` (in 2021 `computeProperties` with other spellings), at times empty or absent;
//!   the number of SMs then follows from the launches. AMD's compute capability is no NVIDIA capability and is left
//!   out.
//! - On AMD a launch takes from its call, told by `correlation`, what it does not state itself: grid and block before
//!   ROCm 6.4, always the dynamic shared memory. A launch from a graph has neither grid nor block.
//! - Grids of `hipExtModuleLaunchKernel` are work-items and are divided by the block.
//! - Occupancy that the file states is the profiler's arithmetic, see [`kineto_figures`], and is not read.
//!
//! `document` finds the events in the stream, `event` reads one, `repair` mends what JSON does not allow, `reading` tells
//! what an event is.

mod devices;
mod document;
mod event;
mod reading;
mod repair;
mod source;
mod stated;

use std::io::BufRead;

use super::{Collector, ProfileError, error::shorten};
use document::{Document, Item, Kind};
use reading::Reading;
pub(crate) use repair::repair as repaired_json;
use source::Source;
pub use stated::{KinetoFigures, kineto_figures};

/// Whether a file with this beginning is such a trace.
pub(super) fn detect(head: &str) -> bool {
    let head = head.trim_start_matches('\u{feff}').trim_start();
    let has = |key: &str| head.contains(key);
    match head.as_bytes().first() {
        Some(b'{') => {
            has("\"traceEvents\"")
                || has("\"deviceProperties\"")
                || has("\"computeProperties\"")
                || has("\"schemaVersion\"") && has("\"distributedInfo\"")
        }
        Some(b'[') => has("\"ph\""),
        _ => false,
    }
}

/// Reads a trace, event by event.
pub(super) fn read(input: &mut dyn BufRead, collector: &mut Collector) -> Result<(), ProfileError> {
    let mut document = Document::new(Source::new(input));
    let mut reading = Reading::new(collector);
    while let Some(item) = document.next() {
        match item {
            Item::Key(range) => reading.key(document.text(&range)),
            Item::Damage(text) => reading.warnings.push(|| text),
            Item::Element(kind, range) => {
                let offset = document.source().offset_of(range.start);
                if let Err(error) = reading.element(kind, document.text(&range)) {
                    let what = if kind == Kind::Event { "event" } else { "description of a device" };
                    let error = shorten(&error, 120);
                    reading
                        .warnings
                        .push(|| format!("byte {offset}: the {what} that begins here was skipped: {error}"));
                    if kind == Kind::Event {
                        document.resume_within(&range);
                    }
                }
            }
        }
    }
    let bytes = document.source().offset();
    let failure = document.source().failure().map(str::to_owned);
    reading
        .finish(failure.as_ref().map(|message| format!("the file cannot be read on after {bytes} bytes: {message}")));
    match failure {
        Some(message) if collector.launches() == 0 => Err(ProfileError::Stream { bytes, message }),
        _ => Ok(()),
    }
}
