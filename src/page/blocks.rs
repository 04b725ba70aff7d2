//! Equal blocks of a known time, one on each SM at a time: what the last wave costs, with nothing else in the way.

use super::{
    command::Options,
    query::{Reader, Refusals, Writer},
    view::{Numbers, View},
};
use crate::{
    chart::{
        Tail, TailSample,
        figures::{caption, tail_counts},
    },
    gpu::Gpu,
    schedule::{Schedule, schedule},
    simulation::{BlocksWork, LaunchSpec, Simulated, Simulation},
    units::{Seconds, decimal, grouped, plural, times},
};

/// Blocks up to which the page simulates: more take longer than a drag of a slider may.
pub(super) const SIMULATED: u64 = 20_000;
/// Longest time of a block in milliseconds.
const LONGEST: f64 = 1e6;

/// Equal blocks, one per SM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blocks {
    /// Blocks.
    pub count: u64,
    /// Time of each in milliseconds.
    pub ms: f64,
}

impl Default for Blocks {
    fn default() -> Self {
        Self { count: 133, ms: 1.0 }
    }
}

impl Blocks {
    pub(super) fn parse(reader: &mut Reader) -> Self {
        let usual = Self::default();
        Self {
            count: reader.count("blocks", 1..=SIMULATED).unwrap_or(usual.count),
            ms: reader.real("ms", 1e-6..=LONGEST).unwrap_or(usual.ms),
        }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.add("blocks", Some(self.count));
        writer.add("ms", Some(self.ms));
    }

    pub(super) fn words(&self) -> Vec<String> {
        ["--blocks".into(), self.count.to_string(), "--latency".into(), format!("{} ms", self.ms)].into()
    }

    pub(super) fn of_options(options: &mut Options) -> Option<Self> {
        let count = options.take("--blocks")?.parse().ok()?;
        let latency: Seconds = options.take("--latency")?.parse().ok()?;
        let ms = libm::round(latency.get() * 1e12) / 1e9;
        (1..=SIMULATED).contains(&count).then_some(Self { count, ms })
    }

    pub(super) fn simulated(self, gpu: &Gpu) -> Result<Simulated, Refusals> {
        let refuse = |problem: String| Refusals::one("blocks", &self.count.to_string(), problem);
        let work = BlocksWork { count: self.count, latency: Seconds(self.ms / 1e3), ..BlocksWork::default() };
        let launch = LaunchSpec { blocks: vec![work], ..LaunchSpec::default() };
        let title = format!("{} equal {}", grouped(self.count), if self.count == 1 { "block" } else { "blocks" });
        let simulation = Simulation::of(&title, launch).map_err(|error| refuse(error.to_string()))?;
        let built = simulation.build("", gpu).map_err(|error| refuse(error.to_string()))?;
        built.run(&simulation.title, "", gpu, &|_| ()).map_err(|error| refuse(error.to_string()))
    }

    fn plan(self, gpu: &Gpu) -> Schedule {
        schedule(self.count, gpu.units(), 1)
    }

    pub(super) fn view(self, run: &Simulated) -> View {
        let words = run.gpu.limits.words();
        let plan = self.plan(&run.gpu);
        let (took, least) = (run.outcome.makespan, run.balance.least());
        let mut numbers = Numbers::default();
        let whole = plan.whole_waves();
        numbers.add("Time", took, format!("{} of {} ms, one after the other", plural(whole, "wave"), self.ms));
        let waves = format!("{} blocks / {} SMs", grouped(plan.blocks), plan.sms);
        numbers.add("Waves", decimal(plan.waves(), 4), waves);
        let last = if plan.tail_blocks() == 0 { plan.wave_blocks() } else { plan.tail_blocks() };
        numbers.add("Last wave", plural(last, "block"), format!("of {} slots", grouped(plan.wave_blocks())));
        let share = format!("{} %", decimal(100.0 * plan.utilization(), 1));
        let slots = format!("{} blocks / {} x {} slots", grouped(plan.blocks), whole, grouped(plan.wave_blocks()));
        numbers.add("Slots used", &share, slots);
        numbers.add("Perfect balance", least, format!("{} x {} ms / {} SMs", grouped(plan.blocks), self.ms, plan.sms));
        let over = format!("{took} / {least}");
        numbers.add("Against perfect balance", times(took.get() / least.get()), over);
        let mut helps = Vec::new();
        if plan.tail_blocks() > 0 {
            let fill = plan.filled() - plan.blocks;
            helps.push(format!("room for {} more at no cost: the last wave is not full", plural(fill, "block")));
            helps.extend((whole > 1).then(|| {
                let fewer = plural(plan.tail_blocks(), "block");
                format!("with {fewer} fewer a whole wave is saved: {} ms", self.ms)
            }));
        }
        let idle = format!("{} % of all SM time lies idle", decimal(100.0 * run.outcome.idle(), 1));
        View {
            title: format!("{} on {}", run.title, run.gpu.name),
            verdict: words.say(&format!("It takes {took}: {}, slots used {share}.", plural(whole, "wave"))),
            numbers: numbers.said(words),
            helps: helps.iter().map(|help| words.say(help)).collect(),
            findings: vec![words.say(&idle)],
            assumptions: vec![words.say("equal blocks, one per SM at a time, that wait for nothing but themselves")],
        }
    }

    /// Time and use of the slots over the number of blocks.
    pub(super) fn tail(self, gpu: &Gpu) -> Tail {
        let words = gpu.limits.words();
        let wave = self.plan(gpu).wave_blocks();
        let sample = |blocks: u64| {
            let plan = Self { count: blocks, ..self }.plan(gpu);
            let time_us = plan.whole_waves() as f64 * self.ms * 1e3;
            TailSample { blocks, time_us, utilization_pct: 100.0 * plan.utilization() }
        };
        let samples: Vec<TailSample> = tail_counts(wave, self.count).into_iter().map(sample).collect();
        let current = samples.iter().any(|sample| sample.blocks == self.count).then_some(self.count);
        let about = words.say(&format!("equal blocks of {} ms, one per SM", self.ms));
        Tail {
            caption: caption("Time over the number of blocks", gpu, &[&about]),
            samples,
            pinned: Vec::new(),
            wave_blocks: wave,
            words,
            current,
        }
    }
}
