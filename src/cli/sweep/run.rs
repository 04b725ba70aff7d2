//! The run: rows evaluated on all threads, written in order, looked at on the way.

use std::{
    io::{self, IsTerminal, Write},
    ops::Range,
    path::Path,
};

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};

use super::{
    Args, Swept, found, is_slow,
    parts::{self, Encoder, Form, Manifest, Piece},
};
use crate::{
    cli::{EXIT_CHECK, EXIT_OK, args::Format, world},
    sweep::{Batch, Column, Found, Search, Shard, Sweeper},
    units::grouped,
};

/// A sweep at work.
struct Work<'a> {
    sweeper: Sweeper<'a>,
    pool: rayon::ThreadPool,
    search: Search,
    bar: ProgressBar,
    found: Found,
    /// The first rows, for people.
    first: Option<Batch>,
}

impl Work<'_> {
    /// Rows through an encoder, or only looked at.
    fn rows(
        &mut self,
        rows: Range<u64>,
        encoder: Option<&Encoder>,
        to: &mut dyn FnMut(Piece) -> Result<()>,
    ) -> Result<()> {
        let Self { sweeper, pool, search, bar, found, first } = self;
        let keep = first.is_none();
        let finish = |batch: Batch| {
            let piece = encoder.map(|encoder| encoder.encode(&batch));
            (piece, search.look(&batch), keep.then_some(batch))
        };
        sweeper.run(rows, pool, finish, |count, (piece, looked, batch)| {
            found.join(looked);
            if first.is_none() {
                *first = batch;
            }
            bar.inc(count);
            piece.map_or(Ok(()), |piece| to(piece?))
        })
    }
}

pub fn run(args: &Args, space: &Swept, columns: &[Column]) -> Result<u8> {
    let Swept { plan, catalog, prices, .. } = space;
    let inputs = parts::inputs(plan);
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    let rows = shard.rows(plan.rows());
    let quiet = args.output.quiet;
    let mut builder = rayon::ThreadPoolBuilder::new();
    if let Some(jobs) = args.jobs {
        builder = builder.num_threads(jobs as usize);
    }
    let mut work = Work {
        sweeper: Sweeper::new(plan, catalog, prices),
        pool: builder.build()?,
        search: args.wanted.search(columns, inputs)?,
        bar: progress(rows.end - rows.start, quiet, is_slow(plan)),
        found: Found::default(),
        first: None,
    };
    let whole = Manifest::new(space, columns, Shard::WHOLE, rows.end, Form::Csv);
    match (&args.out, &args.output.output) {
        (Some(folder), _) => {
            let manifest = Manifest::new(space, columns, shard, args.part_rows, args.parts);
            folder_of_parts(&mut work, folder, &manifest, columns, args)?;
        }
        (None, Some(path)) if path != Path::new("-") => {
            let encoder = Encoder::new(Form::of(path)?, columns, inputs, &whole.about())?;
            world::replace(path, |file| encoder.write(file, |to| work.rows(rows, Some(&encoder), to)))?;
        }
        _ if args.output.format == Format::Csv => {
            let encoder = Encoder::new(Form::Csv, columns, inputs, &[])?;
            let stdout = io::stdout();
            encoder.write(stdout, |to| work.rows(rows, Some(&encoder), to))?;
        }
        _ => work.rows(rows, None, &mut |_| Ok(()))?,
    }
    work.bar.finish_and_clear();
    let Work { found, first, search, .. } = work;
    // Who has the rows in a file needs no first ones on the terminal.
    let written = args.out.as_ref().or(args.output.output.as_ref().filter(|path| *path != Path::new("-")));
    if found.rows > 0 && found.errors == found.rows && written.is_none() {
        bail!("no point can be evaluated: {}", found.first_error.unwrap_or_default());
    }
    let first = first.filter(|_| written.is_none());
    let report = found::Report { space, columns, inputs, found: &found, first: first.as_ref(), search: &search };
    match args.output.format {
        // The rows were the answer.
        Format::Csv if written.is_none() => {
            if found.errors > 0 {
                let (rows, errors) = (world::counted(found.rows, "row"), grouped(found.errors));
                world::note(quiet, &format!("note: {errors} of {rows} cannot run; their reasons are in `error`"));
            }
            if args.wanted.searches() {
                world::note(quiet, report.text(80).trim_end());
            }
        }
        Format::Json => print(&report.json())?,
        _ => {
            let place = written.map_or(String::new(), |path| {
                format!("\n{} in `{}`\n", world::counted(found.rows, "row"), path.display())
            });
            print(&(report.text(world::width()) + &place))?;
        }
    }
    Ok(if found.rows > 0 && found.errors == found.rows { EXIT_CHECK } else { EXIT_OK })
}

fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    Ok(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())?)
}

fn folder_of_parts(work: &mut Work, folder: &Path, manifest: &Manifest, columns: &[Column], args: &Args) -> Result<()> {
    let done = parts::prepare(folder, manifest, args.resume)?;
    let encoder = Encoder::new(args.parts, columns, manifest.inputs, &manifest.about())?;
    let mut kept = 0;
    for (name, rows) in manifest.parts() {
        let path = folder.join(&name);
        if done.contains(&name) {
            kept += 1;
            // What is there is not evaluated again, unless something is looked for in all of it.
            if !args.wanted.searches() {
                work.bar.inc(rows.end - rows.start);
                continue;
            }
            work.rows(rows, None, &mut |_| Ok(()))?;
            continue;
        }
        world::write_part(&path, |file| encoder.write(file, |to| work.rows(rows, Some(&encoder), to)))?;
    }
    if kept > 0 {
        let parts = world::counted(kept, "part");
        world::note(args.output.quiet, &format!("note: {parts} of an earlier run kept as they are"));
    }
    Ok(())
}

/// Rate and remaining time on standard error, where a person watches.
fn progress(rows: u64, quiet: bool, slow: bool) -> ProgressBar {
    if quiet || !io::stderr().is_terminal() || (!slow && rows < 100_000) {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(rows);
    let form = "{bar:30} {human_pos} of {human_len} points, {per_sec}, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(form) {
        bar.set_style(style);
    }
    bar
}
