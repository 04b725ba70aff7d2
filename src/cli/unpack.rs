//! Files as streams: unpacked where they are gzip, with a limit, and with progress on a terminal.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use anyhow::{Context, Result};
use flate2::bufread::MultiGzDecoder;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

use super::world;
use crate::units::Bytes;

/// Files from this size on have a bar on a terminal.
const LARGE: u64 = 50_000_000;

/// Reads at most so many bytes; a file that unpacks to more is refused, not cut.
struct Limited<R> {
    inner: R,
    left: u64,
    limit: Bytes,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                let message = format!("it unpacks to more than {}; --unpack-limit raises that", self.limit);
                return Err(io::Error::other(message));
            }
        }
        Ok(read)
    }
}

/// A file, or standard input for `-`, from its beginning; gzip is unpacked.
pub fn open(path: &Path, limit: Bytes, quiet: bool) -> Result<Box<dyn BufRead>> {
    let what = || format!("`{}` cannot be read", path.display());
    let raw: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        world::must_end(path)?;
        let file = File::open(path).with_context(what)?;
        let size = file.metadata().map_or(0, |m| m.len());
        Box::new(bar(size, quiet).wrap_read(file))
    };
    let mut raw = BufReader::with_capacity(1 << 16, raw);
    if !raw.fill_buf().with_context(what)?.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(raw));
    }
    let limited = Limited { inner: MultiGzDecoder::new(raw), left: limit.get() as u64, limit };
    Ok(Box::new(BufReader::with_capacity(1 << 16, limited)))
}

fn bar(size: u64, quiet: bool) -> ProgressBar {
    if quiet || size < LARGE {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(size);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}, {eta} left") {
        bar.set_style(style);
    }
    bar.with_finish(ProgressFinish::AndClear)
}
