//! The parts of memory as text, JSON, CSV and tables.

use anyhow::Result;
use serde_json::{Value, json};

use super::Found;
use crate::{
    cli::{
        args::Format,
        table::{Cell, Table},
        world,
    },
    memory::{Anatomy, Grows, Recompute, Request, Subject, Training, work},
    units::{Bytes, decimal, grouped, plural, significant},
};

const GIB: f64 = 1_073_741_824.0;

fn gib(bytes: Bytes) -> f64 {
    bytes.get() / GIB
}

/// "74.51 GiB (80 GB)".
fn both(bytes: Bytes) -> String {
    format!("{} GiB ({} GB)", significant(gib(bytes), 4), significant(bytes.get() / 1e9, 4))
}

/// The answer in a format.
pub fn rendered(found: &Found, format: Format) -> Result<String> {
    match format {
        Format::Text => text(found),
        Format::Json => Ok(serde_json::to_string_pretty(&json(found)?)? + "\n"),
        Format::Csv => table(&found.anatomy, true).render(format),
        Format::Markdown | Format::Html => table(&found.anatomy, false).titled(&title(found), format),
    }
}

fn title(found: &Found) -> String {
    let (phase, gpus) = match found.asked.request {
        Request::Training(training) => ("training", training.parallel.gpus()),
        Request::Inference(inference) => ("inference", inference.tensor),
    };
    let each = if gpus > 1 { format!(", each of {}", grouped(gpus)) } else { String::new() };
    format!("{}, {phase}, {}{each}", found.asked.name, found.asked.gpu.name)
}

fn table(anatomy: &Anatomy, exact: bool) -> Table<'static> {
    let total = anatomy.total();
    let row = |name: &str, label: &str, bytes: Bytes, what: &str| -> Vec<Cell> {
        let share = 100.0 * (bytes / total);
        let mut row: Vec<Cell> = vec![if exact { name } else { label }.into()];
        if exact {
            row.extend([Cell::Number(bytes.get() / 1e9), Cell::Number(gib(bytes)), Cell::Number(share)]);
            row.push(Cell::Text(format!("{}", bytes.get().round())));
        } else {
            row.extend([Cell::Fixed(bytes.get() / 1e9, 3), Cell::Fixed(gib(bytes), 3), Cell::Fixed(share, 1)]);
        }
        row.push(what.into());
        row
    };
    let mut rows: Vec<_> =
        anatomy.pieces.iter().map(|p| row(p.part.name(), p.part.label(), p.bytes, &p.what)).collect();
    rows.push(row("total", "total", total, ""));
    let mut columns = vec![("Part", "part"), ("GB", "gb"), ("GiB", "gib"), ("%", "share_pct")];
    columns.extend(exact.then_some(("Bytes", "bytes")));
    columns.push(("Made of", "what"));
    Table { columns, rows }
}

/// Appends a labelled sentence, its further lines below its first word.
fn say(out: &mut String, label: &str, text: &str) {
    hang(out, &format!("  {label:<11} "), text);
}

/// Appends a sentence behind `head`, its further lines below its first word.
fn hang(out: &mut String, head: &str, text: &str) {
    let indent = " ".repeat(head.len());
    let options = textwrap::Options::new(world::width())
        .initial_indent(head)
        .subsequent_indent(&indent)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    for line in textwrap::wrap(&text.replace(" %", "\u{a0}%").replace(" GiB", "\u{a0}GiB"), options) {
        *out += line.trim_end().replace('\u{a0}', " ").as_str();
        out.push('\n');
    }
}

fn text(found: &Found) -> Result<String> {
    let Found { asked, anatomy, .. } = found;
    let mut out = textwrap::fill(&title(found), world::width()) + "\n";
    out += &table(anatomy, false).render(Format::Text)?;
    out.push('\n');
    say(&mut out, "fits", &verdict(found));
    match &asked.request {
        Request::Training(training) => described(&mut out, training, found),
        Request::Inference(inference) if !inference.decodes(asked.subject()) => {}
        Request::Inference(inference) => {
            let read = inference.read_per_step(asked.subject())?;
            let most = asked.gpu.memory.dram.bandwidth.get() / read.get();
            let steps = significant(most, 3);
            let rate = asked.gpu.memory.dram.bandwidth;
            say(
                &mut out,
                "decode",
                &format!("a step reads {} at least: at {rate} no more than {steps} steps per second", both(read)),
            );
        }
    }
    if let Some((grows, most, ended)) = found.largest {
        say(&mut out, "largest", &grown(found, grows, most, ended));
    }
    for (index, technique) in found.techniques.iter().enumerate() {
        let fit = technique.anatomy.fit(asked.capacity);
        let then = if fit.fits() && !anatomy.fit(asked.capacity).fits() { "; then it fits" } else { "" };
        let label = if index == 0 { "saves" } else { "" };
        let head = format!("  {label:<11} {:>6} GiB  ", significant(gib(technique.saves), 3));
        hang(&mut out, &head, &format!("{}: {}{then}", technique.name, technique.cost));
    }
    for note in &anatomy.notes {
        say(&mut out, "note", note);
    }
    if let Subject::Network(network) = asked.subject() {
        network.notes.iter().for_each(|note| say(&mut out, "network", note));
    }
    say(&mut out, "leaves out", left_out(&asked.request));
    for assumption in &asked.assumptions {
        say(&mut out, "assumed", assumption);
    }
    for change in &asked.gpu.changes {
        say(&mut out, "with", &change.to_string());
    }
    Ok(out)
}

fn verdict(found: &Found) -> String {
    let fit = found.anatomy.fit(found.asked.capacity);
    let (share, most) = (decimal(100.0 * fit.share().abs(), 1), found.anatomy.pieces.iter());
    let largest = most.max_by(|a, b| a.bytes.get().total_cmp(&b.bytes.get())).map_or("", |piece| piece.part.label());
    let capacity = both(fit.capacity);
    match fit.fits() {
        true => format!("yes: {} of {capacity} are left, {share} %", both(fit.margin())),
        false => format!(
            "no: {} too much for {capacity}, {share} % of it; the largest part: {largest}",
            both(Bytes(-fit.margin().get()))
        ),
    }
}

fn described(out: &mut String, training: &Training, found: &Found) {
    let recipe = training.recipe;
    say(
        out,
        "recipe",
        &format!(
            "{} ({recipe}: weights, master weights, gradients, optimizer), {} bytes per parameter: {}; states on this GPU {}",
            recipe.name,
            significant(recipe.bytes(), 4),
            recipe.what(),
            both(found.anatomy.states())
        ),
    );
    let parallel = training.parallel;
    if parallel.gpus() > 1 {
        let sequence = if parallel.sequence { " with sequence parallelism" } else { "" };
        let chunks =
            if parallel.interleave > 1 { format!(" of {} chunks", parallel.interleave) } else { String::new() };
        let stage = if parallel.pipeline > 1 { "; the first stage holds most and is shown" } else { "" };
        say(
            out,
            "GPUs",
            &format!(
                "{} = {} data x {} tensor{sequence} x {}{chunks}; ZeRO stage {}{stage}",
                grouped(parallel.gpus()),
                parallel.data,
                parallel.tensor,
                plural(parallel.pipeline, "stage"),
                parallel.zero.stage()
            ),
        );
    }
    let Subject::Network(network) = found.asked.subject() else { return };
    say(
        out,
        "step",
        &format!(
            "{} of {} tokens: {} per micro-batch x {} x {}; attention {}",
            plural(training.global_batch(), "sequence"),
            grouped(training.sequence),
            training.batch,
            plural(training.micro_batches(), "micro-batch"),
            plural(parallel.data, "data-parallel rank"),
            if training.flash { "fused (FlashAttention), keeps no scores" } else { "keeps its scores" }
        ),
    );
    if training.recomputed() != Recompute::None {
        let added = work(network, training.sequence).added(training.recomputed());
        say(out, "recompute", &format!("{} % more operations per step", decimal(100.0 * added, 1)));
    }
    if parallel.pipeline > 1 {
        let kept = Bytes(training.sent_outputs(network));
        say(out, "outputs", &format!("counted as freed once sent to the next stage; kept they take {}", both(kept)));
    }
}

fn grown(found: &Found, grows: Grows, most: u64, ended: bool) -> String {
    let (unit, what) = match (grows, &found.asked.request) {
        (Grows::Batch, Request::Training(_)) => ("sequence", "per micro-batch"),
        (Grows::Batch, Request::Inference(_)) => ("sequence", "at a time"),
        (Grows::Context, _) => ("token", "per sequence"),
    };
    let why = match (ended, grows) {
        (false, _) => "one more does not fit",
        (true, Grows::Context) => "the network takes no more",
        (true, Grows::Batch) => "the search ends there",
    };
    format!("{} {what}: {why}", crate::units::counted(most, unit))
}

/// What no part counts.
fn left_out(request: &Request) -> &'static str {
    match request {
        Request::Training(_) => {
            "fragmentation of the allocator, buffers of gradient buckets, gradients of activations, \
             prefetched weights of a second layer; GB = 10^9, GiB = 2^30 bytes"
        }
        Request::Inference(_) => {
            "fragmentation, unfilled blocks of a paged cache, captured graphs; GB = 10^9, GiB = 2^30 bytes"
        }
    }
}

fn json(found: &Found) -> Result<Value> {
    let Found { asked, anatomy, techniques, .. } = found;
    let fit = anatomy.fit(asked.capacity);
    let number = |value: f64| significant(value, 6).parse::<f64>().unwrap_or(value);
    let bytes = |value: Bytes| value.get().round() as i64;
    let pieces = |anatomy: &Anatomy| -> Vec<Value> {
        let piece = |piece: &crate::memory::Piece| {
            let size = piece.bytes;
            json!({"part": piece.part.name(), "bytes": bytes(size), "gb": number(size.get() / 1e9), "gib": number(gib(size)), "what": piece.what})
        };
        anatomy.pieces.iter().map(piece).collect()
    };
    let (phase, sequence, batch) = match &asked.request {
        Request::Training(training) => ("train", training.sequence, training.batch),
        Request::Inference(inference) => ("inference", inference.sequence, inference.batch),
    };
    let network = matches!(asked.subject(), Subject::Network(_));
    let mut all = json!({
        "schema": "wavecast.memory/1",
        "version": env!("CARGO_PKG_VERSION"),
        "network": asked.name,
        "phase": phase,
        "gpu": asked.gpu.id,
        "gpus": asked.request.parallel().gpus(),
        "sequence_tokens": network.then_some(sequence),
        "batch": batch,
        "parts": pieces(anatomy),
        "total_bytes": bytes(anatomy.total()),
        "total_gb": number(anatomy.total().get() / 1e9),
        "total_gib": number(gib(anatomy.total())),
        "states_bytes": bytes(anatomy.states()),
        "capacity_bytes": bytes(asked.capacity),
        "capacity_gib": number(gib(asked.capacity)),
        "fits": fit.fits(),
        "margin_bytes": bytes(fit.margin()),
        "margin_gib": number(gib(fit.margin())),
        "margin_pct": number(100.0 * fit.share()),
        "techniques": techniques.iter().map(|t| json!({
            "name": t.name,
            "cost": t.cost,
            "saves_bytes": bytes(t.saves),
            "saves_gib": number(gib(t.saves)),
            "fits": t.anatomy.fit(asked.capacity).fits(),
        })).collect::<Vec<_>>(),
        "notes": anatomy.notes,
        "assumptions": asked.assumptions,
    });
    match &asked.request {
        Request::Training(training) => {
            all["recipe"] = training.recipe.name.into();
            all["bytes_per_parameter"] = number(training.recipe.bytes()).into();
            all["zero_stage"] = training.parallel.zero.stage().into();
            all["micro_batches"] = training.micro_batches().into();
        }
        Request::Inference(inference) if !inference.decodes(asked.subject()) => {}
        Request::Inference(inference) => {
            all["read_per_step_bytes"] = bytes(inference.read_per_step(asked.subject())?).into();
        }
    }
    if let Some((grows, most, ended)) = found.largest {
        let key = if grows == Grows::Batch { "largest_batch" } else { "largest_context_tokens" };
        all[key] = most.into();
        all["largest_ended_by_memory"] = (!ended).into();
    }
    Ok(all)
}
