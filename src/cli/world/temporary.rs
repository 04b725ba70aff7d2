//! Temporary files beside results, held while they are written, so that what a killed run left behind is known and removed.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

/// Who holds a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// This process, until the file is closed, however it ends.
    Own,
    /// Another process.
    Other,
    /// The file system or the operating system cannot tell.
    Unknown,
}

/// Holds a file that is open for writing.
#[cfg(unix)]
pub fn hold(file: &fs::File) -> Hold {
    use rustix::{
        fs::{FlockOperation, flock},
        io::Errno,
    };
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Hold::Own,
        Err(Errno::WOULDBLOCK) => Hold::Other,
        Err(_) => Hold::Unknown,
    }
}

/// Holds a file that is open for writing.
#[cfg(not(unix))]
pub fn hold(_: &fs::File) -> Hold {
    Hold::Unknown
}

/// Characters that make a temporary name unlike others.
const RANDOM: usize = 6;
/// Bytes of the name of a result in that of its temporary file; file systems take 255 in all.
const MOST_NAME: usize = 200;

/// What the temporary files of a result start with.
fn prefix(target: &Path) -> String {
    let mut name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    while name.len() > MOST_NAME {
        name.pop();
    }
    format!(".wavecast-{name}-")
}

/// A new temporary file of a result, in the result's folder; those that nobody writes any more are removed.
pub fn beside(target: &Path, folder: &Path) -> io::Result<NamedTempFile> {
    let prefix = prefix(target);
    for stale in named(&prefix, folder) {
        // Who can neither be asked nor removed stays; the result does not depend on it.
        if fs::File::options().append(true).open(&stale).is_ok_and(|file| hold(&file) == Hold::Own) {
            let _ = fs::remove_file(&stale);
        }
    }
    loop {
        let made = tempfile::Builder::new().prefix(&prefix).rand_bytes(RANDOM).tempfile_in(folder)?;
        // A run that started just now may have taken it for one that nobody writes.
        if hold(made.as_file()) != Hold::Other && made.path().exists() {
            return Ok(made);
        }
    }
}

fn named(prefix: &str, folder: &Path) -> Vec<PathBuf> {
    let is_own = |name: &str| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.len() == RANDOM && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.filter(|entry| entry.file_name().to_str().is_some_and(is_own)).map(|entry| entry.path()).collect()
}
