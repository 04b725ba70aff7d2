//! The charts of the page: what a state means, drawn, with what was pinned in grey.

use super::{
    answer::{Answer, Outcome, Residents},
    blocks::SIMULATED,
    race::Compared,
    run::{Launch, Product, Run},
    state::{State, Tab},
};
use crate::{
    analysis::Analysis,
    chart::{
        Chart, MemoryBar, MemoryBars, OccupancyPanels, PointKind, Theme, Timeline, TimelineMark,
        figures::{
            SweepRequest, crossover_figure, memory_figure, occupancy_figure, roofline_figure, sweep_figure,
            tail_figure, time_figure, timeline_figure,
        },
    },
    gpu::{Catalog, Gpu},
    lab::Quantity,
    memory::Part,
    op::gemm::{Force, Over, Range},
    simulation::{BlocksWork, GemmWork, LaunchSpec, Rows, Simulation},
    units::{Bytes, Flops, grouped},
};

/// Distance and number of the columns below and above those of a product.
const COLUMNS: (u64, u64) = (32, 48);
/// The names of what was pinned and of what was predicted.
const PINNED: &str = "pinned";
const PREDICTED: &str = "your prediction";

/// Why there is no such chart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoChart(pub String);

fn none(reason: impl std::fmt::Display) -> NoChart {
    NoChart(reason.to_string())
}

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The state.
    pub state: &'a State,
    /// Its answer.
    pub answer: &'a Answer,
    /// What was pinned, with its answer; drawn in grey.
    pub pinned: Option<(&'a State, &'a Answer)>,
    /// What was predicted, in base units, and what that is on a chart; drawn where it is on the axes.
    pub prediction: Option<(Quantity, f64)>,
}

/// The chart of a tab for a scene.
///
/// # Errors
/// The run has no such chart, with the reason.
pub fn chart(tab: Tab, scene: &Scene, theme: Theme, catalog: &Catalog) -> Result<Chart, NoChart> {
    let (state, answer) = (scene.state, scene.answer);
    if !state.run.tabs().contains(&tab) {
        let tabs: Vec<&str> = state.run.tabs().iter().map(|tab| tab.word()).collect();
        return Err(none(format!("{} has no such chart; it has {}", state.run.word(), tabs.join(", "))));
    }
    let before = scene.before();
    match (&answer.outcome, &state.run) {
        (Outcome::Residents(held), _) => Ok(scene.memory(held).draw(theme)),
        (Outcome::Compared(compared), _) => {
            let figure = |compared: &Compared, gpu: &Gpu| {
                crossover_figure(&compared.cpu, gpu, &compared.model, &compared.found).map_err(none)
            };
            let mut drawn = figure(compared, &answer.gpu)?;
            if let Some((_, Answer { outcome: Outcome::Compared(before), gpu, .. })) = scene.pinned {
                drawn.pinned = figure(before, gpu)?.samples;
            }
            Ok(drawn.draw(theme))
        }
        (Outcome::Blocks(run), _) if tab == Tab::Timeline => Ok(scene.marked(timeline_figure(run)).draw(theme)),
        (Outcome::Blocks(_), Run::Blocks(blocks)) => {
            let mut figure = blocks.tail(&answer.gpu);
            if let Some((State { run: Run::Blocks(blocks), .. }, answer)) = scene.pinned {
                figure.pinned = blocks.tail(&answer.gpu).samples;
            }
            Ok(figure.draw(theme))
        }
        (Outcome::Product(product), _) => analysed(tab, scene, &product.analysis, before.as_ref(), theme, catalog),
        (Outcome::Launch(analysis), _) => analysed(tab, scene, analysis, before.as_ref(), theme, catalog),
        (Outcome::Blocks(_), _) => Err(none("there is nothing to draw")),
    }
}

/// The chart of an analysed kernel, over `before` in grey.
fn analysed(
    tab: Tab,
    scene: &Scene,
    analysis: &Analysis,
    before: Option<&Analysis>,
    theme: Theme,
    catalog: &Catalog,
) -> Result<Chart, NoChart> {
    let nothing = || none("there is nothing to draw");
    match tab {
        Tab::Time => {
            let both: Vec<Analysis> = std::iter::once(analysis).chain(before).cloned().collect();
            let mut figure = time_figure("Where the time goes", &both).ok_or_else(nothing)?;
            figure.marked = scene.expected().map(|us| (PREDICTED.into(), us));
            Ok(figure.draw(theme))
        }
        Tab::Waves => match &scene.state.run {
            Run::Product(product) => waves(product, &scene.answer.gpu, scene.pinned, theme),
            _ => {
                let mut figure = tail_figure(analysis);
                figure.pinned = before.map_or_else(Vec::new, |analysis| tail_figure(analysis).samples);
                Ok(figure.draw(theme))
            }
        },
        Tab::Timeline => scene.timeline(analysis.launch.grid_blocks, theme),
        Tab::Occupancy => {
            let mut figure = stairs(analysis).ok_or_else(|| none("cores of CPUs have no occupancy"))?;
            if let Some(other) = before.and_then(stairs) {
                for (panel, other) in figure.panels.iter_mut().zip(other.panels) {
                    panel.pinned = other.steps;
                }
            }
            if let Some((Quantity::Occupancy, share)) = scene.prediction {
                for panel in &mut figure.panels {
                    panel.marked = panel.current.map(|(x, _)| (x, 100.0 * share));
                }
            }
            Ok(figure.draw(theme))
        }
        Tab::Mig => mig(scene.state, scene.answer, theme, catalog),
        _ => {
            let one = std::slice::from_ref(analysis);
            let mut figure = roofline_figure("Roofline", one).ok_or_else(nothing)?;
            let other = before.and_then(|analysis| roofline_figure("", std::slice::from_ref(analysis)));
            let points = other.into_iter().flat_map(|figure| figure.points);
            figure.points.extend(points.map(|mut point| {
                point.kind = PointKind::Pinned;
                point
            }));
            Ok(figure.draw(theme))
        }
    }
}

impl Scene<'_> {
    /// The analysed kernel that was pinned.
    fn before(&self) -> Option<Analysis> {
        self.pinned.and_then(|(_, answer)| answer.analysis()).map(named)
    }

    /// The time that a predicted ratio to the pinned run makes, in microseconds.
    fn expected(&self) -> Option<f64> {
        let pinned = self.before()?.time.estimate.get() * 1e6;
        match self.prediction? {
            (Quantity::Slowdown, ratio) => Some(pinned * ratio),
            (Quantity::Speedup, ratio) => Some(pinned / ratio),
            _ => None,
        }
    }

    /// A timeline with the ends of what was pinned and predicted.
    fn marked(&self, mut figure: Timeline) -> Timeline {
        let pinned = match self.pinned.map(|(_, answer)| &answer.outcome) {
            Some(Outcome::Blocks(run)) => Some(run.outcome.makespan),
            _ => self.before().map(|analysis| analysis.time.estimate),
        };
        let mark = |label: &str, us: f64| TimelineMark { label: label.into(), at_us: us };
        figure.marks.extend(pinned.map(|time| mark(PINNED, time.get() * 1e6)));
        if let Some((Quantity::Time, time)) = self.prediction {
            figure.marks.push(mark(PREDICTED, time * 1e6));
        }
        figure
    }

    fn timeline(&self, blocks: u64, theme: Theme) -> Result<Chart, NoChart> {
        if blocks > SIMULATED {
            let (blocks, most) = (grouped(blocks), grouped(SIMULATED));
            return Err(none(format!(
                "{blocks} blocks: the page simulates up to {most}; `wavecast simulate` takes more"
            )));
        }
        let gpu = &self.answer.gpu;
        let (title, launch) = match &self.state.run {
            Run::Product(product) => (format!("{}x{}x{}", product.m, product.n, product.k), product.simulated()?),
            Run::Launch(launch) => (format!("{} blocks", grouped(launch.grid)), launch.simulated()),
            _ => return Err(none("there is no timeline")),
        };
        let simulation = Simulation::of(&title, launch).map_err(none)?;
        let built = simulation.build("", gpu).map_err(none)?;
        let run = built.run(&simulation.title, "", gpu, &|_| ()).map_err(none)?;
        Ok(self.marked(timeline_figure(&run)).draw(theme))
    }

    /// The parts of what is held, with what was pinned as a bar of its own.
    fn memory(&self, held: &Residents) -> MemoryBars {
        let (words, gpu) = (held.request.words(), &self.answer.gpu);
        let mut figure = memory_figure((&held.name, &words), gpu, &held.anatomy, &held.techniques, held.capacity);
        if let Some(Outcome::Residents(before)) = self.pinned.map(|(_, answer)| &answer.outcome) {
            let bytes = Part::ALL.map(|part| before.anatomy.of(part).get()).into();
            figure.bars.insert(1, MemoryBar { label: PINNED.into(), bytes });
        }
        if let Some((Quantity::Memory, bytes)) = self.prediction {
            figure.marked = Some((PREDICTED.into(), bytes));
        }
        figure
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
