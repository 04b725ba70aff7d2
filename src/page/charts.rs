//! The charts of the page: what a state means, drawn, with what was pinned in grey.

use super::{
    answer::{Answer, Held, Outcome},
    run::{Launch, Product, Run},
    state::{State, Tab},
};
use crate::{
    analysis::Analysis,
    chart::{
        Chart, MemoryBar, MemoryBars, OccupancyPanels, PointKind, Theme, TimelineMark,
        figures::{
            SweepRequest, memory_figure, occupancy_figure, roofline_figure, sweep_figure, tail_figure, time_figure,
            timeline_figure,
        },
    },
    gpu::{Catalog, Gpu},
    memory::Part,
    op::gemm::{Force, Over, Range},
    simulation::{BlocksWork, GemmWork, LaunchSpec, Rows, Simulation},
    units::{Bytes, Flops, grouped},
};

/// Blocks up to which the page simulates: more take longer than a drag of a slider may.
const SIMULATED: u64 = 20_000;
/// Distance and number of the columns below and above those of a product.
const COLUMNS: (u64, u64) = (32, 48);
/// The name of what was pinned.
const PINNED: &str = "pinned";

/// Why there is no such chart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoChart(pub String);

fn none(reason: impl std::fmt::Display) -> NoChart {
    NoChart(reason.to_string())
}

/// The chart of a tab for a state and its answer, over `pinned` in grey.
///
/// # Errors
/// The run has no such chart, with the reason.
pub fn chart(
    tab: Tab,
    (state, answer): (&State, &Answer),
    pinned: Option<(&State, &Answer)>,
    theme: Theme,
    catalog: &Catalog,
) -> Result<Chart, NoChart> {
    let before = pinned.map(|(_, answer)| answer);
    if let Outcome::Held(held) = &answer.outcome {
        if tab != Tab::Memory {
            return Err(none("a network in memory has one chart: memory"));
        }
        return Ok(memory(held, &answer.gpu, before).draw(theme));
    }
    let Some(analysis) = answer.analysis() else { return Err(none("there is nothing to draw")) };
    let before = before.and_then(Answer::analysis).map(named);
    match tab {
        Tab::Memory => Err(none("memory is a chart of networks")),
        Tab::Roofline => {
            let one = std::slice::from_ref(analysis);
            let mut figure = roofline_figure("Roofline", one).ok_or_else(|| none("there is nothing to draw"))?;
            let other = before.and_then(|analysis| roofline_figure("", &[analysis]));
            let points = other.into_iter().flat_map(|figure| figure.points);
            figure.points.extend(points.map(|mut point| {
                point.kind = PointKind::Pinned;
                point
            }));
            Ok(figure.draw(theme))
        }
        Tab::Time => {
            let both: Vec<Analysis> = [analysis.clone()].into_iter().chain(before).collect();
            Ok(time_figure("Where the time goes", &both).ok_or_else(|| none("there is nothing to draw"))?.draw(theme))
        }
        Tab::Waves => match &state.run {
            Run::Product(product) => waves(product, &answer.gpu, pinned, theme),
            _ => {
                let mut figure = tail_figure(analysis);
                figure.pinned = before.map_or_else(Vec::new, |analysis| tail_figure(&analysis).samples);
                Ok(figure.draw(theme))
            }
        },
        Tab::Timeline => timeline(state, answer, before.as_ref(), theme),
        Tab::Occupancy => {
            let mut figure = stairs(analysis).ok_or_else(|| none("cores of CPUs have no occupancy"))?;
            if let Some(other) = before.and_then(|analysis| stairs(&analysis)) {
                for (panel, other) in figure.panels.iter_mut().zip(other.panels) {
                    panel.pinned = other.steps;
                }
            }
            mark_prediction(&mut figure, state);
            Ok(figure.draw(theme))
        }
        Tab::Mig => mig(state, answer, theme, catalog),
    }
}

fn named(analysis: &Analysis) -> Analysis {
    let mut analysis = analysis.clone();
    analysis.launch.kernel.name = PINNED.into();
    analysis
}

/// The staircases of an analysed kernel.
fn stairs(analysis: &Analysis) -> Option<OccupancyPanels> {
    let gpu = &analysis.gpu;
    occupancy_figure("Occupancy", &gpu.name, &gpu.changes, &gpu.limits, &analysis.launch.kernel.resources)
}

/// A predicted share becomes a ring at the place of the launch: it is an occupancy where the staircases are in question.
fn mark_prediction(figure: &mut OccupancyPanels, state: &State) {
    let share = state.guess.as_ref().and_then(|text| crate::lab::Unit::Share.read(text).ok());
    for panel in &mut figure.panels {
        panel.marked = panel.current.zip(share).map(|((x, _), share)| (x, 100.0 * share));
    }
}

fn waves(product: &Product, gpu: &Gpu, pinned: Option<(&State, &Answer)>, theme: Theme) -> Result<Chart, NoChart> {
    let (step, count) = COLUMNS;
    let below = count.min((product.n - 1) / step);
    let range = Range { low: product.n - below * step, high: product.n + count * step, step: Some(step) };
    let figure = |product: &Product, gpu: &Gpu| {
        let request = product.request().map_err(none)?;
        let precision = crate::op::gemm::Precision::new(gpu, request.input, request.sparse).map_err(none)?;
        let forces = [Force { tile: product.tile, splits: None }];
        let (shape, reuse, over) = (request.shape, request.reuse, Over::N);
        sweep_figure(&SweepRequest { gpu, precision, shape, reuse, over, range, forces: &forces }).map_err(none)
    };
    let mut drawn = figure(product, gpu)?;
    if let Some((Run::Product(product), answer)) = pinned.map(|(state, answer)| (&state.run, answer)) {
        // A pinned product without these columns has no curve here; the chart says what is.
        if let Ok(other) = figure(product, &answer.gpu) {
            let curves = other.series.into_iter();
            drawn.series.extend(curves.map(|mut curve| {
                curve.label = PINNED.into();
                curve
            }));
        }
    }
    Ok(drawn.draw(theme))
}

fn timeline(state: &State, answer: &Answer, before: Option<&Analysis>, theme: Theme) -> Result<Chart, NoChart> {
    let blocks = answer.analysis().map_or(0, |analysis| analysis.launch.grid_blocks);
    if blocks > SIMULATED {
        let (blocks, most) = (grouped(blocks), grouped(SIMULATED));
        return Err(none(format!("{blocks} blocks: the page simulates up to {most}; `wavecast simulate` takes more")));
    }
    let (title, launch) = match &state.run {
        Run::Product(product) => (format!("{}x{}x{}", product.m, product.n, product.k), product.simulated()?),
        Run::Launch(launch) => (format!("{} blocks", grouped(launch.grid)), launch.simulated()),
        Run::Network(_) => return Err(none("a network in memory has no timeline")),
    };
    let simulation = Simulation::of(&title, launch).map_err(none)?;
    let built = simulation.build("", &answer.gpu).map_err(none)?;
    let run = built.run(&simulation.title, "", &answer.gpu, &|_| ()).map_err(none)?;
    let mut figure = timeline_figure(&run);
    figure.marks.extend(
        before.map(|analysis| TimelineMark { label: PINNED.into(), at_us: analysis.time.estimate.get() * 1e6 }),
    );
    Ok(figure.draw(theme))
}

impl Product {
    fn simulated(&self) -> Result<LaunchSpec, NoChart> {
        if self.sparse {
            return Err(none("the simulation of blocks knows dense products alone"));
        }
        let Self { m, n, k, dtype, tile, .. } = *self;
        let work = GemmWork { m: Rows(vec![m]), n, k, batch: 1, dtype, tile, split: None };
        Ok(LaunchSpec { name: "gemm".into(), gemm: Some(work), ..LaunchSpec::default() })
    }
}

impl Launch {
    fn simulated(&self) -> LaunchSpec {
        let threads = self.block as f64;
        let dram = Bytes((self.read + self.write) * threads);
        let work = BlocksWork {
            count: self.grid,
            operations: Flops(self.flop * threads),
            pipe: Some(self.pipe),
            dram,
            l2: dram,
            port: dram,
            ..BlocksWork::default()
        };
        LaunchSpec {
            blocks: vec![work],
            threads: Some(self.block),
            registers: Some(self.registers),
            shared: Some(Bytes::count(self.shared)),
            ..LaunchSpec::default()
        }
    }
}

/// The same run on the whole GPU and on each of its slices.
fn mig(state: &State, answer: &Answer, theme: Theme, catalog: &Catalog) -> Result<Chart, NoChart> {
    let whole = State { mig: None, ..state.bare() };
    let (gpu, _) = whole.found(catalog).map_err(none)?;
    let Some(table) = catalog.mig(&gpu) else {
        return Err(none(format!("no MIG profiles are known for {}", gpu.name)));
    };
    let profiles = table.profiles.iter().filter(|profile| profile.sourced_sm().is_some());
    let slices = profiles.map(|profile| State { mig: Some(profile.name.clone()), ..whole.clone() });
    let found: Vec<Analysis> = [whole.clone()]
        .into_iter()
        .chain(slices)
        .filter_map(|state| Some(state.answer(catalog).ok()?.analysis()?.clone()))
        .map(|mut analysis| {
            let slice =
                analysis.gpu.mig.as_ref().map(|slice| format!("{}: {} SMs", slice.profile.name, analysis.gpu.sm.count));
            let sms = format!("whole GPU: {} SMs", analysis.gpu.sm.count);
            analysis.launch.kernel.name = slice.unwrap_or(sms);
            // One GPU in several parts: its name stands in the footer once.
            analysis.gpu = answer.gpu.clone();
            analysis.gpu.name.clone_from(&gpu.name);
            analysis
        })
        .collect();
    if found.len() < 2 {
        return Err(none("no slice takes the what-if or the launch: change it"));
    }
    Ok(time_figure("The same on each MIG slice", &found).ok_or_else(|| none("there is nothing to draw"))?.draw(theme))
}

/// The parts of a network, with what was pinned as a bar of its own.
fn memory(held: &Held, gpu: &Gpu, before: Option<&Answer>) -> MemoryBars {
    let words = held.request.words();
    let mut figure = memory_figure((&held.network.name, &words), gpu, &held.anatomy, &held.techniques, held.capacity);
    if let Some(Outcome::Held(before)) = before.map(|answer| &answer.outcome) {
        let bytes = Part::ALL.map(|part| before.anatomy.of(part).get()).into();
        figure.bars.insert(1, MemoryBar { label: PINNED.into(), bytes });
    }
    figure
}
