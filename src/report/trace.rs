//! A simulation as a Chrome trace, to be opened in Perfetto (ui.perfetto.dev) or chrome://tracing.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    schedule::simulate::{BlockRun, Curve},
    simulation::Simulated,
    units::{Seconds, grouped, significant},
};

/// The only process: the GPU.
const PROCESS: u32 = 1;
/// Slots that an SM has at most; thread numbers leave room for them.
const SLOTS: u32 = 64;
/// Parts of the time in which the use of resources is averaged.
const PARTS: usize = 512;

/// The trace event format (JSON) of a simulation. Each slot of each SM is a thread, numbered SM x 64 + slot + 64: viewers
/// keep threads 0 and 1 for themselves. Blocks are complete events in microseconds, exact to a nanosecond; `args` hold the
/// block's place in its grid and its class, the number of its run. A kernel is an asynchronous event from the time when
/// it can start to its end, with a mark where its last block is placed. Counters in percent tell the filled slots and the
/// use of the resources. Where not all blocks were kept, `otherData.note` and the label of the process say so.
pub fn trace(simulated: &Simulated) -> String {
    let Simulated { grids, outcome, record, gpu, .. } = simulated;
    let words = gpu.limits.words();
    let mut events = Events::new(record.blocks.len());
    events.name("process_name", None, json!({ "name": gpu.name }));
    let note = (!record.is_complete()).then(|| {
        let (kept, all) = (grouped(record.blocks.len() as u64), grouped(record.seen));
        words.say(&format!("only the first {kept} of {all} blocks to end are here; the counters tell of all"))
    });
    if let Some(note) = &note {
        events.name("process_labels", None, json!({ "labels": note }));
    }
    let mut threads: BTreeMap<u32, &BlockRun> = BTreeMap::new();
    for run in &record.blocks {
        threads.entry(thread(run)).or_insert(run);
    }
    for (number, run) in threads {
        let name = format!("{} {} slot {}", words.unit, run.sm, run.lane);
        events.name("thread_name", Some(number), json!({ "name": name }));
        events.name("thread_sort_index", Some(number), json!({ "sort_index": number }));
    }
    for (id, (grid, times)) in grids.iter().zip(&outcome.grids).enumerate() {
        let span = |phase: &str, at: Seconds| json!({ "ph": phase, "cat": "kernel", "id": id, "name": grid.name, "pid": PROCESS, "ts": micros(nanos(at)) });
        events.push(&span("b", times.open));
        events.push(&json!({
            "ph": "i", "s": "p", "name": words.say("last block placed") + ": " + &grid.name, "pid": PROCESS,
            "ts": micros(nanos(times.placed)),
        }));
        events.push(&span("e", times.end));
    }
    for run in &record.blocks {
        let (start, end) = (nanos(run.start), nanos(run.end));
        // Ends and starts are rounded each by itself, so that the next block of a slot begins where this one ends.
        events.push(&json!({
            "ph": "X", "name": grids[run.grid as usize].name, "pid": PROCESS, "tid": thread(run), "ts": micros(start),
            "dur": micros(end - start), "args": { "block": run.index, "class": run.class },
        }));
    }
    counters(&mut events, simulated);
    events.finish(&json!({
        "gpu": gpu.name,
        "what_ifs": gpu.changes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "title": simulated.title,
        "case": simulated.case,
        "version": format!("wavecast {}", env!("CARGO_PKG_VERSION")),
        "note": note,
    }))
}

fn thread(run: &BlockRun) -> u32 {
    (run.sm + 1) * SLOTS + run.lane
}

/// A time in whole nanoseconds.
fn nanos(time: Seconds) -> u64 {
    (time.get() * 1e9).round() as u64
}

/// Whole nanoseconds in microseconds, without a fraction where there is none.
fn micros(nanos: u64) -> Value {
    if nanos.is_multiple_of(1000) { Value::from(nanos / 1000) } else { Value::from(nanos as f64 / 1e3) }
}

/// The use of slots and resources in percent, wherever it changes.
fn counters(events: &mut Events, simulated: &Simulated) {
    let Simulated { machine, grids, outcome, record, gpu, .. } = simulated;
    let end = outcome.makespan.get();
    let mut slots = vec![0.0; PARTS];
    for (grid, curve) in grids.iter().zip(&record.grids) {
        let all = f64::from(machine.sms) * f64::from(grid.blocks_per_sm);
        slots.iter_mut().zip(curve.means(PARTS, end)).for_each(|(sum, blocks)| *sum += blocks / all);
    }
    let words = gpu.limits.words();
    let share = |curve: &Curve| curve.means(PARTS, end);
    let [math, port, l2, dram] = record.shares.each_ref().map(share);
    let curves = [("slots filled", slots), ("arithmetic", math), ("DRAM", dram), ("L2", l2), ("SM ports", port)];
    for (name, parts) in curves {
        if parts.iter().all(|share| *share == 0.0) {
            continue;
        }
        let mut before = String::new();
        for (part, share) in parts.into_iter().chain([0.0]).enumerate() {
            let percent = significant((share * 100.0).min(100.0), 4);
            if percent == before {
                continue;
            }
            let at = Seconds(end * part as f64 / PARTS as f64);
            let value: f64 = percent.parse().unwrap_or_default();
            events.push(&json!({
                "ph": "C", "name": words.say(name), "pid": PROCESS, "ts": micros(nanos(at)), "args": { "%": value },
            }));
            before = percent;
        }
    }
}

/// The text of a trace, written event by event.
struct Events {
    text: String,
}

impl Events {
    /// Room for so many blocks.
    fn new(blocks: usize) -> Self {
        let mut text = String::with_capacity(1024 + 128 * blocks);
        text.push_str("{\"traceEvents\":[");
        Self { text }
    }

    fn push(&mut self, event: &Value) {
        if !self.text.ends_with('[') {
            self.text.push(',');
        }
        self.text.push('\n');
        self.text.push_str(&event.to_string());
    }

    /// Names the process or a thread.
    fn name(&mut self, what: &str, thread: Option<u32>, args: Value) {
        let mut event = json!({ "ph": "M", "name": what, "pid": PROCESS });
        if let Some(thread) = thread {
            event["tid"] = thread.into();
        }
        event["args"] = args;
        self.push(&event);
    }

    fn finish(mut self, about: &Value) -> String {
        self.text.push_str("\n],\"displayTimeUnit\":\"ns\",\"otherData\":");
        self.text.push_str(&about.to_string());
        self.text.push_str("}\n");
        self.text
    }
}
