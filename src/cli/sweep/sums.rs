//! What each finished part held when it was finished, beside the manifest of its shard: damage from outside is seen, and a run that
//! goes on writes such a part anew.

use std::{
    collections::BTreeMap,
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::cli::world;

/// Length and CRC-32 of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sum {
    bytes: u64,
    crc: u32,
}

/// The sums of a shard's parts by name.
pub struct Sums {
    path: PathBuf,
    /// Absent of a folder that was written without sums.
    known: Option<BTreeMap<String, Sum>>,
}

impl Sum {
    fn of(path: &Path) -> Result<Self> {
        let what = || format!("`{}` cannot be read", path.display());
        let mut file = fs::File::open(path).with_context(what)?;
        let (mut crc, mut bytes, mut buffer) = (flate2::Crc::new(), 0, vec![0; 1 << 18]);
        loop {
            let read = file.read(&mut buffer).with_context(what)?;
            if read == 0 {
                return Ok(Self { bytes, crc: crc.sum() });
            }
            crc.update(&buffer[..read]);
            bytes += read as u64;
        }
    }

    /// `NAME BYTES CRC`; a line that a stopped run left half written is none.
    fn parse(line: &str) -> Option<(String, Self)> {
        let mut words = line.split(' ');
        let (name, bytes, crc) = (words.next()?, words.next()?, words.next()?);
        let crc = (crc.len() == 8).then(|| u32::from_str_radix(crc, 16).ok())??;
        words.next().is_none().then_some((name.into(), Self { bytes: bytes.parse().ok()?, crc }))
    }
}

impl Sums {
    /// The sums beside a manifest.
    pub fn read(manifest: &Path) -> Result<Self> {
        let path = manifest.with_extension("sums");
        let what = || format!("`{}` cannot be read", path.display());
        let known = match fs::read(&path) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).lines().filter_map(Sum::parse).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(what),
        };
        Ok(Self { path, known })
    }

    /// Whether a part is what was written. What a folder without sums holds is believed.
    pub fn holds(&self, part: &Path) -> Result<bool> {
        let Some(known) = &self.known else { return Ok(true) };
        let name = part.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        Ok(known.get(name) == Some(&Sum::of(part)?))
    }

    /// Notes a part that was finished.
    pub fn add(&mut self, part: &Path) -> Result<()> {
        let sum = Sum::of(part)?;
        let name = part.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let what = || format!("`{}` cannot be written", self.path.display());
        let mut file = fs::File::options().create(true).append(true).open(&self.path).with_context(what)?;
        // A line that a stopped run left half written ends here.
        writeln!(file, "\n{name} {} {:08x}", sum.bytes, sum.crc).with_context(what)?;
        self.known.get_or_insert_default().insert(name.into(), sum);
        Ok(())
    }

    /// Leaves the same file behind whatever was interrupted.
    pub fn finish(&self) -> Result<()> {
        let lines = self.known.iter().flatten().map(|(name, sum)| format!("{name} {} {:08x}\n", sum.bytes, sum.crc));
        world::write(&self.path, lines.collect::<String>().as_bytes())
    }
}
