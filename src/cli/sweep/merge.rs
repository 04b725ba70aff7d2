//! `merge`: the shards of a sweep, checked that all are there and belong together, as one file.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;

use super::{
    parts::{Encoder, Form, Manifest},
    sums::Sums,
};
use crate::{
    cli::{EXIT_OK, world},
    sweep::{Cell, Column},
    units::{counted, grouped},
};

#[derive(ClapArgs)]
pub struct MergeArgs {
    /// Folders of `sweep --out`, or one that holds all shards
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// File for all rows: .csv or .parquet
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// No notes on standard error
    #[arg(long)]
    quiet: bool,
}

/// A shard with the folder that its parts are in.
struct Held {
    folder: PathBuf,
    path: PathBuf,
    manifest: Manifest,
}

fn manifests(folders: &[PathBuf]) -> Result<Vec<Held>> {
    let mut held = Vec::new();
    for folder in folders {
        let what = || format!("`{}` cannot be read", folder.display());
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).with_context(what)? {
            paths.push(entry.with_context(what)?.path());
        }
        let is_manifest = |p: &PathBuf| {
            let name = p.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            name.starts_with("shard-") && name.ends_with(".json")
        };
        paths.retain(is_manifest);
        paths.sort();
        if paths.is_empty() {
            bail!("`{}` holds no shard of a sweep: name the folders of `wavecast sweep --out`", folder.display());
        }
        for path in paths {
            world::must_be_file(&path)?;
            held.push(Held { folder: folder.clone(), manifest: Manifest::read(&path)?, path });
        }
    }
    held.sort_by_key(|h| h.manifest.first_row);
    Ok(held)
}

/// All shards of one sweep, in order.
fn checked(folders: &[PathBuf], output: &Path) -> Result<Vec<Held>> {
    let held = manifests(folders)?;
    apart(output, &held)?;
    let first = &held[0];
    for other in &held[1..] {
        if let Some(difference) = other.manifest.apart_from(&first.manifest) {
            bail!("`{}` and `{}` are not of one sweep: {difference}", other.path.display(), first.path.display());
        }
    }
    let shards = first.manifest.shards;
    let there = |shard: u64| held.iter().filter(|h| h.manifest.shard == shard).count();
    let missing: Vec<u64> = (1..=shards).filter(|s| there(*s) == 0).collect();
    if !missing.is_empty() {
        let named: Vec<String> = missing.iter().take(10).map(|s| format!("{s}/{shards}")).collect();
        let more = if missing.len() > named.len() { " and others" } else { "" };
        let count = counted(missing.len() as u64, "shard");
        bail!("{count} of {shards} missing: run `sweep` with --shard {}{more}", named.join(", "));
    }
    if let Some(twice) = (1..=shards).find(|s| there(*s) > 1) {
        let paths: Vec<String> =
            held.iter().filter(|h| h.manifest.shard == twice).map(|h| h.path.display().to_string()).collect();
        bail!("shard {twice}/{shards} is there twice: {}", paths.join(" and "));
    }
    for Held { folder, manifest, path } in &held {
        if let Some((name, _)) = manifest.parts().find(|(name, _)| !folder.join(name).is_file()) {
            bail!("`{}`: its part {name} is missing: finish it with `sweep --resume`", path.display());
        }
        let sums = Sums::read(path)?;
        for (name, _) in manifest.parts() {
            let part = folder.join(name);
            if !sums.holds(&part)? {
                let cure = "run its sweep again with --resume, which writes it anew";
                bail!("`{}` is not as it was written: {cure}: {}", part.display(), manifest.command);
            }
        }
    }
    Ok(held)
}

/// Refuses to write over what is read: the result takes the place of its file, whatever its form.
fn apart(output: &Path, held: &[Held]) -> Result<()> {
    let Ok(target) = fs::canonicalize(output) else { return Ok(()) };
    let same = |path: &Path| fs::canonicalize(path).is_ok_and(|path| path == target);
    for Held { folder, manifest, path } in held {
        if same(path) || manifest.parts().any(|(name, _)| same(&folder.join(name))) {
            bail!("--output `{}` is a part of what is merged: name another file", output.display());
        }
    }
    Ok(())
}

pub fn merge(args: MergeArgs) -> Result<u8> {
    let held = checked(&args.folders, &args.output)?;
    let first = &held[0].manifest;
    let to = Form::of(&args.output)?;
    if to == Form::Parquet && first.form == Form::Csv {
        bail!(
            "`{}`: the parts are CSV and become .csv; sweep with --parts parquet for the other",
            args.output.display()
        );
    }
    let columns = columns(first)?;
    let encoder = Encoder::new(to, &columns, first.inputs, &first.about())?;
    let parts = held.iter().flat_map(|h| h.manifest.parts().map(|(name, rows)| (h.folder.join(name), rows)));
    world::replace(&args.output, |file| match first.form {
        Form::Csv => {
            file.write_all(&crate::sweep::csv::header(&columns))?;
            for (path, rows) in parts {
                lines(&path, &columns, rows.end - rows.start, file)?;
            }
            anyhow::Ok(())
        }
        Form::Parquet => world::hushed(|| groups(parts, &encoder, &columns, first.chunk_rows, file)),
    })?;
    let rows = counted(first.rows, "row");
    let shards = counted(held.len() as u64, "shard");
    world::note(args.quiet, &format!("{rows} of {shards} in `{}`: {}", args.output.display(), first.command));
    Ok(EXIT_OK)
}

fn columns(manifest: &Manifest) -> Result<Vec<Column>> {
    let column = |named: &super::parts::Named| {
        let kind = [Cell::Whole, Cell::Number, Cell::Text].into_iter().find(|kind| format!("{kind:?}") == named.kind);
        let kind = kind.with_context(|| format!("column `{}` is of the unknown kind {}", named.name, named.kind))?;
        Ok(Column { name: named.name.clone(), kind })
    };
    manifest.columns.iter().map(column).collect()
}

/// Copies the lines of a part behind its header, once they are counted.
fn lines(path: &Path, columns: &[Column], rows: u64, to: &mut fs::File) -> Result<()> {
    let what = || format!("`{}` cannot be read", path.display());
    let open = || fs::File::open(path).with_context(what);
    let mut reader = csv::Reader::from_reader(BufReader::with_capacity(1 << 18, open()?));
    let header: Vec<String> = reader.headers().with_context(what)?.iter().map(str::to_owned).collect();
    if !header.iter().eq(columns.iter().map(|c| &c.name)) {
        bail!("`{}` has other columns than its manifest says", path.display());
    }
    let mut record = csv::ByteRecord::new();
    let mut count = 0;
    while reader.read_byte_record(&mut record).with_context(what)? {
        count += 1;
    }
    if count != rows {
        let (has, should) = (grouped(count), grouped(rows));
        bail!(
            "`{}` has {has} rows and should have {should}: remove it and finish with `sweep --resume`",
            path.display()
        );
    }
    let mut rest = BufReader::with_capacity(1 << 18, open()?);
    rest.skip_until(b'\n').with_context(what)?;
    std::io::copy(&mut rest.by_ref(), to)?;
    Ok(())
}

#[cfg(feature = "parquet")]
fn groups(
    parts: impl Iterator<Item = (PathBuf, std::ops::Range<u64>)>,
    encoder: &Encoder,
    columns: &[Column],
    chunk: u64,
    to: &mut fs::File,
) -> Result<()> {
    encoder.write(to, |push| {
        // Row groups as a single run would have them, wherever shards and parts were cut.
        let mut waiting = crate::sweep::Batch::new(columns);
        for (path, rows) in parts {
            let what = || format!("`{}` cannot be read", path.display());
            let reader = crate::sweep::parquet::Reader::open(fs::File::open(&path).with_context(what)?, columns)
                .with_context(what)?;
            if reader.rows() != rows.end - rows.start {
                let (has, should) = (grouped(reader.rows()), grouped(rows.end - rows.start));
                bail!(
                    "`{}` has {has} rows and should have {should}: remove it and finish with `sweep --resume`",
                    path.display()
                );
            }
            for group in 0..reader.groups() {
                let batch = reader.group(group).with_context(what)?;
                let mut taken = 0;
                while taken < batch.rows {
                    let room = chunk as usize - waiting.rows;
                    let end = (taken + room).min(batch.rows);
                    waiting.extend(&batch, taken..end);
                    taken = end;
                    if waiting.rows == chunk as usize {
                        push(encoder.encode(&waiting)?)?;
                        waiting = crate::sweep::Batch::new(columns);
                    }
                }
            }
        }
        if waiting.rows > 0 { push(encoder.encode(&waiting)?) } else { Ok(()) }
    })
}

#[cfg(not(feature = "parquet"))]
fn groups(
    _: impl Iterator<Item = (PathBuf, std::ops::Range<u64>)>,
    _: &Encoder,
    _: &[Column],
    _: u64,
    _: &mut fs::File,
) -> Result<()> {
    bail!("this program was built without the feature `parquet`")
}
