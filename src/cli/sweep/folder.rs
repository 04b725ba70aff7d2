//! The folder of `--out` before a run: what is there is of the same sweep and shard, and nobody else is writing it.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result, bail};

use super::parts::Manifest;
use crate::{cli::world, units::grouped};

/// Most parts of a shard: more files than that no folder likes.
const MOST_PARTS: u64 = 1_000_000;

/// A folder of `--out` that is ready: nobody else writes the parts of the shard while this lives.
pub struct Ready {
    /// Names of the parts that are there.
    pub done: BTreeSet<String>,
    _held: Option<fs::File>,
}

/// Makes the folder of `--out` ready: the manifest in place, earlier parts kept only on `--resume`, and what an interrupted
/// run left half written removed.
pub fn prepare(folder: &Path, manifest: &Manifest, resume: bool) -> Result<Ready> {
    let rows = manifest.end_row - manifest.first_row;
    if rows / manifest.part_rows > MOST_PARTS {
        let least = rows.div_ceil(MOST_PARTS);
        let (rows, most) = (grouped(rows), grouped(MOST_PARTS));
        bail!("--part-rows {}: {rows} rows in more than {most} parts; take at least {least}", manifest.part_rows);
    }
    world::folder(folder)?;
    let what = || format!("`{}` cannot be read", folder.display());
    let (mut done, mut half, mut others) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
    let own = manifest.name();
    for entry in fs::read_dir(folder).with_context(what)? {
        let Ok(name) = entry.with_context(what)?.file_name().into_string() else { continue };
        if name.starts_with("shard-") && name.ends_with(".json") && name != own {
            others.insert(name);
            continue;
        }
        let number = name.strip_prefix("rows-").and_then(|rest| rest.split('.').next()?.parse().ok());
        if number.is_none_or(|first: u64| !(manifest.first_row..manifest.end_row).contains(&first)) {
            continue;
        }
        if name.ends_with(world::UNFINISHED) {
            half.push(name);
        } else {
            done.insert(name);
        }
    }
    let path = folder.join(&own);
    let held = path.exists().then(|| held(&path)).transpose()?;
    if held.is_some() {
        if !resume {
            bail!("`{}` is there already: go on with --resume, or name another folder by --out", path.display());
        }
        let found = Manifest::read(&path)?;
        if found != *manifest {
            let difference = found.difference(manifest);
            let cure = "remove the folder, or name another by --out";
            bail!("`{}` was written by another sweep: {difference}; {cure}", path.display());
        }
    } else {
        another(folder, manifest, &others)?;
        if let Some(first) = done.first() {
            let cure = "remove its rows, or name another folder by --out";
            bail!("`{}` holds {first} without its manifest {own}: {cure}", folder.display());
        }
        world::write(&path, (serde_json::to_string_pretty(manifest)? + "\n").as_bytes())?;
    }
    let held = match held {
        Some(held) => held,
        None => self::held(&path)?,
    };
    for name in half {
        // It may be gone, which is as good.
        let _ = fs::remove_file(folder.join(name));
    }
    Ok(Ready { done, _held: held })
}

/// Holds a manifest while its shard is written; absent where it cannot be held at all.
fn held(path: &Path) -> Result<Option<fs::File>> {
    world::must_be_file(path)?;
    let file = fs::File::options().append(true).open(path).ok();
    if file.as_ref().is_some_and(|file| world::hold(file) == world::Hold::Other) {
        let cure = "wait for it or stop it, or name another folder by --out";
        let command = Manifest::read(path).map(|found| found.command).unwrap_or_default();
        bail!("another run is writing the shard of `{}` now: {cure}: {command}", path.display());
    }
    Ok(file)
}

/// Refuses a folder that another sweep, or the same in another number of shards, is in already. One of its shards tells.
fn another(folder: &Path, manifest: &Manifest, names: &BTreeSet<String>) -> Result<()> {
    let shards = format!("-of-{}.json", manifest.shards);
    let Some(name) = names.iter().find(|name| !name.ends_with(&shards)).or(names.first()) else { return Ok(()) };
    let path = folder.join(name);
    // One that cannot be read is for `merge` to say.
    let found = world::must_be_file(&path).and_then(|()| Manifest::read(&path));
    match found.ok().and_then(|found| found.apart_from(manifest)) {
        Some(difference) => {
            bail!("`{}` is of another run: {difference}; name another folder by --out", path.display())
        }
        None => Ok(()),
    }
}
