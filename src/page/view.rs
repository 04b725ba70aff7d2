//! What the page says of an answer: a sentence, numbers each with its formula, what would help, what was assumed.

use super::{
    answer::{Answer, Outcome, Residents},
    run::Run,
    state::State,
};
use crate::{
    analysis::Analysis,
    gpu::Words,
    kernel::Level,
    memory::Part,
    occupancy::{BlockLimits, Resource},
    op::gemm,
    report::{KernelReport, Report, json},
    units::{Flops, Seconds, decimal, grouped, plural, significant, times},
};

/// A number with where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// What it is.
    pub name: String,
    /// The number with its unit.
    pub value: String,
    /// How it follows from others.
    pub formula: String,
}

/// What is said of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// What it is about.
    pub title: String,
    /// The answer in a sentence.
    pub verdict: String,
    /// The numbers.
    pub numbers: Vec<Number>,
    /// Changes that would help, best first.
    pub helps: Vec<String>,
    /// What was found besides.
    pub findings: Vec<String>,
    /// What was assumed, what is left out, whose constants were used.
    pub assumptions: Vec<String>,
}

fn percent(share: f64) -> String {
    format!("{} %", decimal(100.0 * share, 1))
}

/// Collects numbers in order.
#[derive(Default)]
pub(super) struct Numbers(pub Vec<Number>);

impl Numbers {
    pub fn add(&mut self, name: &str, value: impl ToString, formula: impl Into<String>) {
        self.0.push(Number { name: name.into(), value: value.to_string(), formula: formula.into() });
    }

    /// In the words of a vendor.
    pub fn said(self, words: Words) -> Vec<Number> {
        let say =
            |n: Number| Number { name: words.say(&n.name), value: words.say(&n.value), formula: words.say(&n.formula) };
        self.0.into_iter().map(say).collect()
    }
}

impl View {
    /// What is said of a state and its answer.
    pub fn new(state: &State, answer: &Answer) -> Self {
        let mut view = match &answer.outcome {
            Outcome::Product(product) => Self::of_product(product),
            Outcome::Launch(analysis) => Self::of_launch(analysis, &[]),
            Outcome::Blocks(run) => match &state.run {
                Run::Blocks(blocks) => blocks.view(run),
                _ => Self::default(),
            },
            Outcome::Residents(held) => Self::of_held(held, answer),
            Outcome::Compared(compared) => compared.view(&answer.gpu),
        };
        let changes = answer.gpu.changes.iter().map(|change| format!("what-if: {change}"));
        view.assumptions.splice(0..0, answer.assumptions.iter().cloned().chain(changes));
        if let (Run::Launch(_), Some(analysis)) = (&state.run, answer.analysis()) {
            view.assumptions.extend(analysis.verdict.ignored.iter().map(|what| format!("left out: {what}")));
        }
        view
    }

    /// The row of the report that commands print, as JSON; absent where commands print none.
    pub fn report(answer: &Answer) -> Option<String> {
        let row = match &answer.outcome {
            Outcome::Product(product) => {
                let mut row = KernelReport::from_analysis(&product.analysis);
                row.set_product(product);
                row
            }
            Outcome::Launch(analysis) => KernelReport::from_analysis(analysis),
            Outcome::Blocks(_) | Outcome::Residents(_) | Outcome::Compared(_) => return None,
        };
        Some(json(&Report::new(vec![row])))
    }

    fn of_product(product: &gemm::Product) -> Self {
        let plan = &product.plan;
        let chosen = &plan.chosen;
        let tile = chosen.tile.map_or_else(|| "none".into(), |tile| format!("{}x{}", tile.height, tile.width));
        let split = if chosen.splits > 1 { format!(", k in {} shares", chosen.splits) } else { String::new() };
        let mut numbers = Numbers::default();
        let blocks = grouped(chosen.blocks as u64);
        numbers.add("Tile", tile + &split, format!("the kernel that a library would run: {blocks} blocks"));
        let shape = plan.shape;
        let flop = format!("2 x {} x {} x {}", grouped(shape.m), grouped(shape.n), grouped(shape.k));
        let mut view = Self::of_launch(&product.analysis, &numbers.0);
        view.set("Operations", &flop);
        view.findings.extend(product.sizes.iter().cloned());
        view
    }

    /// Replaces the formula of a number.
    fn set(&mut self, name: &str, formula: &str) {
        if let Some(number) = self.numbers.iter_mut().find(|number| number.name == name) {
            formula.clone_into(&mut number.formula);
        }
    }

    fn of_launch(analysis: &Analysis, first: &[Number]) -> Self {
        let words = analysis.gpu.limits.words();
        let Analysis { launch, schedule, time, verdict, roofline, .. } = analysis;
        let (kernel, found) = (&launch.kernel, &launch.occupancy);
        let mut numbers = Numbers::default();
        let (low, high) = (time.low, time.high);
        numbers.add("Time", time.estimate, format!("between {low} and {high}; the terms are in the tab Time"));
        numbers.0.extend(first.iter().cloned());
        let (active, most) = (found.active_warps(), found.max_warps);
        let blocks = found.blocks_per_sm;
        let formula = format!(
            "{} x {} warps / {most} warp slots = {active} / {most}",
            plural(blocks.into(), "block"),
            found.warps_per_block
        );
        numbers.add("Occupancy", percent(found.fraction()), formula);
        let limit = |resource: &Resource| match found.limits.of(*resource) {
            BlockLimits::UNLIMITED => None,
            blocks => Some(format!("{} {blocks}", resource.label())),
        };
        let limits: Vec<String> = Resource::of(&analysis.gpu.limits).iter().filter_map(limit).collect();
        let limited = format!("least of {}: {}", limits.join(", "), found.limiters().sentence());
        numbers.add("Blocks per SM", blocks, limited);
        let (grid, wave) = (grouped(schedule.blocks), grouped(schedule.wave_blocks()));
        let formula = format!("{grid} blocks / ({} SMs x {} per SM = {wave})", schedule.sms, schedule.blocks_per_sm);
        numbers.add("Waves", significant(schedule.waves(), 4), formula);
        let formula = match schedule.tail_blocks() {
            0 => "the last wave is full".to_owned(),
            tail => format!(
                "the last wave has {} of {wave} blocks, {} SMs idle",
                grouped(tail),
                schedule.idle_sms_in_tail()
            ),
        };
        numbers.add("Cost of the tail", percent(time.tail_cost), formula);
        let flops = kernel.flops();
        let of_pipe: Vec<String> =
            kernel.operations.iter().map(|(pipe, flops)| format!("{flops} {}", pipe.label())).collect();
        numbers.add("Operations", flops, of_pipe.join(" + "));
        let dram = kernel.traffic.dram;
        let (read, write, moved) = (dram.read / dram.read_efficiency, dram.write / dram.write_efficiency, dram.moved());
        numbers.add("DRAM traffic", moved, format!("{read} read + {write} written"));
        let rate = flops / time.estimate;
        if flops > Flops::ZERO {
            let peak = roofline.mixed_peak(&kernel.operations);
            let share = peak.map_or_else(String::new, |peak| format!(": {} of the peak {peak}", percent(rate / peak)));
            numbers.add("Rate", rate, format!("{flops} / {}{share}", time.estimate));
        }
        if let Some(point) = analysis.points.iter().find(|point| point.level == Level::Dram) {
            numbers.add("Intensity", point.intensity, format!("{flops} / DRAM traffic"));
            let share = point.share();
            let place = if point.on_slope { "intensity x bandwidth" } else { "peak of the unit" };
            numbers.add("Share of the roof", percent(share), format!("{rate} / {} ({place})", point.attainable));
        }
        if let Some((pipe, _)) = kernel.operations.first()
            && let Some(ridge) = roofline.ridge(*pipe, Level::Dram)
            && let (Some(ceiling), Some(roof)) = (roofline.ceiling(*pipe), roofline.roof(Level::Dram))
        {
            numbers.add("Ridge point", ridge, format!("{} / {}", ceiling.peak, roof.peak));
        }
        let bandwidth = moved / time.estimate;
        let of_peak = percent(bandwidth / analysis.gpu.memory.dram.bandwidth);
        let formula = format!("{moved} / {}: {of_peak} of {}", time.estimate, analysis.gpu.memory.dram.bandwidth);
        numbers.add("DRAM rate", bandwidth, formula);
        let help = |what: &crate::verdict::WhatIf| {
            let after = format!("then {}-bound", what.bound_after.word());
            format!("{}: {}; {after}", times(what.speedup), words.say(&what.text))
        };
        Self {
            title: format!("{} on {}", kernel.name, analysis.gpu.name),
            verdict: words.say(&format!("{}. {}.", sentence(time.estimate), capital(&verdict.sentence))),
            numbers: numbers.said(words),
            helps: verdict.what_ifs.iter().map(help).collect(),
            findings: verdict.findings.iter().map(|finding| words.say(finding)).collect(),
            assumptions: vec![words.say(&verdict.confidence)],
        }
    }

    fn of_held(held: &Residents, answer: &Answer) -> Self {
        let (need, capacity) = (held.anatomy.total(), held.capacity);
        let fits = held.anatomy.fit(capacity).fits();
        let share = percent(need / capacity);
        let gib = |bytes: crate::units::Bytes| format!("{} GiB", significant(bytes.get() / f64::from(1 << 30), 4));
        let mut numbers = Numbers::default();
        numbers.add("In all", gib(need), format!("{share} of {}", gib(capacity)));
        for part in Part::ALL {
            let bytes = held.anatomy.of(part);
            if bytes.get() > 0.0 {
                numbers.add(&capital(part.label()), gib(bytes), format!("{} of what is held", percent(bytes / need)));
            }
        }
        let saves = held.techniques.iter().map(|change| {
            let saved = need - change.anatomy.total();
            let then = if !fits && change.anatomy.fit(capacity).fits() { "; then it fits" } else { "" };
            format!("{} less: {} ({}){then}", gib(saved), change.name, change.cost)
        });
        let verdict = if fits { "It fits" } else { "It does not fit" };
        Self {
            title: format!("{} on {}", held.name, answer.gpu.name),
            verdict: format!("{verdict}: {} of {}.", gib(need), gib(capacity)),
            numbers: numbers.0,
            helps: saves.collect(),
            findings: held.anatomy.notes.clone(),
            assumptions: vec![held.request.words()],
        }
    }
}

fn sentence(time: Seconds) -> String {
    format!("It takes {time}")
}

pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
