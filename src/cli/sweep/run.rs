//! The run: rows evaluated on all threads, written in order, looked at on the way.

use std::{
    io::{self, IsTerminal, Write},
    ops::Range,
    path::Path,
};

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::{
    Args, Swept, folder, found, is_slow,
    parts::{self, Encoder, Form, Manifest, Piece},
    sums::Sums,
};
use crate::{
    cli::{EXIT_CHECK, EXIT_OK, args::Format, world},
    sweep::{Batch, Column, Found, Search, Shard, Sweeper},
    units::{counted, grouped},
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
    if args.out.is_some() && args.output.format == Format::Csv {
        bail!("--format csv is the form of standard output; --parts csv is that of the files of --out");
    }
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
    let mut unseen = 0;
    match (&args.out, &args.output.output) {
        (Some(folder), _) => {
            let manifest = Manifest::new(space, columns, shard, args.part_rows, args.parts);
            unseen = folder_of_parts(&mut work, folder, &manifest, columns, args)?;
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
    let report =
        found::Report { space, columns, inputs, found: &found, first: first.as_ref(), search: &search, unseen };
    match args.output.format {
        // The rows were the answer.
        Format::Csv if written.is_none() => {
            if found.errors > 0 {
                let (rows, errors) = (counted(found.rows, "row"), grouped(found.errors));
                world::note(quiet, &format!("note: {errors} of {rows} cannot run; their reasons are in `error`"));
            }
            if args.wanted.searches() {
                world::note(quiet, report.text(80).trim_end());
            }
        }
        Format::Json => print(&report.json())?,
        _ => {
            let earlier = match unseen {
                0 => String::new(),
                rows => format!("; {} of an earlier run, which the lines above leave out", grouped(rows)),
            };
            let place = written.map_or(String::new(), |path| {
                let rows = counted(found.rows + unseen, "row");
                "\n".to_owned()
                    + &textwrap::fill(&format!("{rows} in `{}`{earlier}", path.display()), world::width())
                    + "\n"
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

/// Writes the parts of a folder that are not there yet; how many rows of an earlier run were left as they are, unseen.
fn folder_of_parts(
    work: &mut Work,
    folder: &Path,
    manifest: &Manifest,
    columns: &[Column],
    args: &Args,
) -> Result<u64> {
    let ready = folder::prepare(folder, manifest, args.resume)?;
    let mut sums = Sums::read(&folder.join(manifest.name()))?;
    let encoder = Encoder::new(args.parts, columns, manifest.inputs, &manifest.about())?;
    let (mut kept, mut damaged, mut unseen) = (0, 0, 0);
    for (name, rows) in manifest.parts() {
        let path = folder.join(&name);
        if ready.done.contains(&name) {
            if sums.holds(&path)? {
                kept += 1;
                // What is there is not evaluated again, unless something is looked for in all of it.
                if args.wanted.searches() {
                    work.rows(rows, None, &mut |_| Ok(()))?;
                } else {
                    unseen += rows.end - rows.start;
                    work.bar.inc(rows.end - rows.start);
                }
                continue;
            }
            damaged += 1;
        }
        world::write_part(&path, |file| encoder.write(file, |to| work.rows(rows, Some(&encoder), to)))?;
        sums.add(&path)?;
    }
    sums.finish()?;
    let quiet = args.output.quiet;
    if kept > 0 {
        world::note(quiet, &format!("note: {} of an earlier run kept as they are", counted(kept, "part")));
    }
    if damaged > 0 {
        let parts = counted(damaged, "part");
        world::note(quiet, &format!("note: {parts} of an earlier run not as they were written, and written anew"));
    }
    Ok(unseen)
}

/// Rate and remaining time on standard error, where a person watches.
fn progress(rows: u64, quiet: bool, slow: bool) -> ProgressBar {
    if quiet || !io::stderr().is_terminal() || (!slow && rows < 100_000) {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(rows);
    let form = "{bar:30} {human_pos} of {human_len} points, {rate}, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(form) {
        let rate = |state: &ProgressState, to: &mut dyn std::fmt::Write| {
            // A bar that cannot be drawn is no error of the sweep.
            let _ = write!(to, "{}/s", grouped(state.per_sec() as u64));
        };
        bar.set_style(style.with_key("rate", rate));
    }
    bar
}
