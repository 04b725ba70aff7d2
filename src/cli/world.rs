//! The one door to files and streams: inputs are read whole, outputs are written whole or not at all.

use std::{
    fs,
    io::{self, IsTerminal, Read, Write},
    path::Path,
};

use anyhow::{Context, Result, anyhow, bail};

use crate::report::clean;

mod temporary;
pub use temporary::{Hold, hold};

/// Reads a file, or standard input for `-`.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).context("standard input cannot be read")?;
        return Ok(bytes);
    }
    must_end(path)?;
    fs::read(path).with_context(|| format!("`{}` cannot be read", path.display()))
}

/// Refuses what is no file to read: a folder, or a device such as /dev/zero, which has no end.
pub fn must_end(path: &Path) -> Result<()> {
    if path.is_dir() {
        bail!("`{}` is a folder; name the files in it", path.display());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if fs::metadata(path).is_ok_and(|m| m.file_type().is_char_device()) {
            bail!("`{}` is a device, not a file; standard input is `-`", path.display());
        }
    }
    Ok(())
}

/// Refuses a pipe or device that was found in a folder, since nobody may ever write to it; one that is named is read.
pub fn must_be_file(path: &Path) -> Result<()> {
    if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        bail!("`{}` is a pipe or a device, not a file: move it out of its folder", path.display());
    }
    Ok(())
}

/// Reads a text file.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = read(path)?;
    String::from_utf8(bytes).map_err(|_| anyhow!("`{}` is not UTF-8 text", path.display()))
}

/// Reads a file, or standard input for `-`, up to so many bytes; what is longer is cut off there.
pub fn read_within(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut bytes).context("standard input cannot be read")?;
    } else {
        must_end(path)?;
        let what = || format!("`{}` cannot be read", path.display());
        fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).with_context(what)?;
    }
    Ok(bytes)
}

/// Writes a file whole: to a temporary file beside it, then by renaming. What killed runs left of the same file is removed.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    replace(path, |file| file.write_all(bytes))
}

/// Lets `fill` write a temporary file beside `path`, which replaces `path` only when all went well.
pub fn replace<E>(path: &Path, fill: impl FnOnce(&mut fs::File) -> std::result::Result<(), E>) -> Result<()>
where
    E: Into<anyhow::Error>,
{
    let what = || format!("`{}` cannot be written", path.display());
    // The file behind a link is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if target.is_dir() {
        bail!("{}: it is a folder", what());
    }
    // Devices and pipes are written to: replacing /dev/null by a file would harm everybody.
    if fs::metadata(&target).is_ok_and(|m| !m.is_file()) {
        let mut stream = fs::OpenOptions::new().write(true).open(&target).with_context(what)?;
        return fill(&mut stream).map_err(Into::into).with_context(what);
    }
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let problem = if folder.exists() { "is a file, not a folder" } else { "does not exist" };
        bail!("{}: `{}` {problem}", what(), folder.display());
    }
    let mut temporary = temporary::beside(&target, folder).with_context(what)?;
    fill(temporary.as_file_mut()).map_err(Into::into)?;
    // Temporary files are private; a result should be as readable as any new file.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&target).map_or(0o644, |m| m.permissions().mode());
        temporary.as_file().set_permissions(fs::Permissions::from_mode(mode)).with_context(what)?;
    }
    temporary.persist(&target).map_err(|e| e.error).with_context(what)?;
    Ok(())
}

/// End of the name of a part that is being written.
pub const UNFINISHED: &str = ".unfinished";

/// Writes a part of a larger result whole: to a file of a known name beside it, which a run after an interrupted one
/// writes again, then by renaming.
pub fn write_part<E>(path: &Path, fill: impl FnOnce(&mut fs::File) -> std::result::Result<(), E>) -> Result<()>
where
    E: Into<anyhow::Error>,
{
    let what = || format!("`{}` cannot be written", path.display());
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(UNFINISHED);
    let mut file = fs::File::create(&temporary).with_context(what)?;
    fill(&mut file).map_err(Into::into).with_context(what)?;
    // A part that is there is whole, even after a power cut.
    file.sync_all().with_context(what)?;
    fs::rename(&temporary, path).with_context(what)
}

/// Prints to the file given by `--output`, else to standard output.
pub fn emit(output: Option<&Path>, text: &str) -> Result<()> {
    match output {
        Some(path) if path != Path::new("-") => write(path, text.as_bytes()),
        _ => {
            let mut stdout = io::stdout().lock();
            stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).context("standard output cannot be written")
        }
    }
}

/// Says something to the person at the terminal, beside the results.
pub fn note(quiet: bool, text: &str) {
    if !quiet {
        // Names of files and kernels are not ours: they must not move the cursor.
        let lines: Vec<String> = text.split('\n').map(clean).collect();
        // Nobody may be listening: a closed standard error is no reason to fail.
        let _ = writeln!(io::stderr().lock(), "{}", lines.join("\n"));
    }
}

/// Runs what may catch panics of a library, without their messages.
pub fn hushed<T>(run: impl FnOnce() -> T) -> T {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = run();
    std::panic::set_hook(hook);
    result
}

pub use crate::units::plural as counted;

/// Makes the folder for `--out`.
pub fn folder(path: &Path) -> Result<()> {
    if path.is_file() {
        bail!("`{}` is a file, --out takes a folder", path.display());
    }
    fs::create_dir_all(path).with_context(|| format!("the folder `{}` cannot be made", path.display()))
}

/// Columns for text: the terminal's width, 80 when there is none, at most 120.
pub fn width() -> usize {
    if !io::stdout().is_terminal() {
        return 80;
    }
    console_width().clamp(60, 120)
}

fn console_width() -> usize {
    textwrap::termwidth()
}

/// Whether the reader of standard output went away (`wavecast ... | head`).
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|e| e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe))
}
