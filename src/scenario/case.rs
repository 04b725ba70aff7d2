//! Cases: one kernel on one GPU each, from every kernel, axis, GPU and what-if of a scenario.

use std::sync::Arc;

use super::{Axis, KernelSpec, MAX_CASES, Scenario, ScenarioError, Setting, VaryKey, WhatIf};
use crate::{
    analysis::{Analysis, analyse},
    gpu::{Catalog, Gpu, Override},
    kernel::Kernel,
    op::gemm::{GemmError, Product, Request, product},
    time::{Bound, Timing},
    units::grouped,
};

/// One kernel on one GPU.
#[derive(Clone, Debug)]
pub struct Case {
    /// For people: the kernel with its varied values, and the what-if. The GPU has a name of its own.
    pub label: String,
    /// The GPU, with the what-if applied.
    pub gpu: Arc<Gpu>,
    /// What runs, checked as far as that goes without a GPU.
    pub task: Task,
    /// Whether the host's part of the launch counts.
    pub timing: Timing,
    /// The bound that the scenario's author expects.
    pub expect: Option<Bound>,
    /// Varied keys with this case's values.
    pub varied: Vec<(VaryKey, Setting)>,
    /// Name of the what-if; absent for the GPU as it is.
    pub what_if: Option<String>,
    /// What was assumed, one sentence each.
    pub assumptions: Vec<String>,
}

/// What a case runs.
#[derive(Clone, Debug)]
pub enum Task {
    /// A kernel with the blocks of its grid.
    Kernel(Box<Kernel>, u64),
    /// A matrix product, whose kernel depends on the GPU.
    Product(Request),
}

/// What came of a case.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A described kernel.
    Kernel(Box<Analysis>),
    /// A matrix product with its choice.
    Product(Box<Product>),
}

impl Answer {
    /// The analysis, to be named after its case.
    pub fn analysis_mut(&mut self) -> &mut Analysis {
        match self {
            Self::Kernel(analysis) => analysis,
            Self::Product(product) => &mut product.analysis,
        }
    }
}

impl Case {
    /// Runs the pipeline.
    ///
    /// # Errors
    /// The task cannot run on the GPU; other cases of the scenario may.
    pub fn answer(&self) -> Result<Answer, GemmError> {
        match &self.task {
            Task::Kernel(kernel, blocks) => {
                let analysis = analyse(&self.gpu, (**kernel).clone(), *blocks, self.timing)?;
                Ok(Answer::Kernel(Box::new(analysis)))
            }
            Task::Product(request) => Ok(Answer::Product(Box::new(product(&self.gpu, request)?))),
        }
    }

    /// The analysis alone.
    ///
    /// # Errors
    /// As `answer`.
    pub fn analyse(&self) -> Result<Analysis, GemmError> {
        Ok(match self.answer()? {
            Answer::Kernel(analysis) => *analysis,
            Answer::Product(product) => product.analysis,
        })
    }

    /// Whether an analysis of this case has the expected bound; `None` where nothing is expected.
    pub fn meets(&self, analysis: &Analysis) -> Option<bool> {
        self.expect.map(|bound| bound == analysis.verdict.bound)
    }
}

struct Device {
    gpu: Arc<Gpu>,
    what_if: Option<usize>,
    assumption: Option<String>,
}

pub(super) fn cases(scenario: &Scenario, catalog: &Catalog) -> Result<Vec<Case>, ScenarioError> {
    count(scenario)?;
    let devices = devices(scenario, catalog)?;
    let mut cases = Vec::new();
    for (index, spec) in scenario.kernels.iter().enumerate() {
        for (varied, spec, table) in family(scenario, index, spec) {
            let (kernel, blocks, assumptions) = spec.build().map_err(|e| scenario.placed(e, &table))?;
            let task = Task::Kernel(Box::new(kernel), blocks);
            let named = (spec.name.as_str(), spec.expect);
            cases.extend(devices.iter().map(|device| case(scenario, named, &varied, (&task, &assumptions), device)));
        }
    }
    for (index, spec) in scenario.products.iter().enumerate() {
        let table = format!("gemm.{index}");
        let task = Task::Product(spec.build(scenario.timing).map_err(|e| scenario.placed(e, &table))?);
        let named = (spec.name.as_str(), spec.expect);
        cases.extend(devices.iter().map(|device| case(scenario, named, &[], (&task, &[]), device)));
    }
    Ok(cases)
}

fn case(
    scenario: &Scenario,
    (name, expect): (&str, Option<Bound>),
    varied: &[(VaryKey, Setting)],
    (task, assumptions): (&Task, &[String]),
    device: &Device,
) -> Case {
    let what_if = device.what_if.and_then(|index| scenario.what_ifs.get(index));
    let mut label = name.to_owned();
    for (key, value) in varied {
        label += &format!(", {} {value}", key.name());
    }
    if let Some(what_if) = what_if {
        label += &format!(" ({})", what_if.name);
    }
    Case {
        label,
        gpu: Arc::clone(&device.gpu),
        task: task.clone(),
        timing: scenario.timing,
        expect: match what_if {
            Some(what_if) => what_if.expect,
            None => expect,
        },
        varied: varied.to_vec(),
        what_if: what_if.map(|w| w.name.clone()),
        assumptions: device.assumption.iter().chain(assumptions).cloned().collect(),
    }
}

/// The GPUs of the scenario, each followed by its what-ifs.
fn devices(scenario: &Scenario, catalog: &Catalog) -> Result<Vec<Device>, ScenarioError> {
    let mut devices = Vec::new();
    let find = |name: &str, set: &[Override], what_if: Option<usize>, table: String| {
        let found = catalog.find_with(name, set).map_err(|error| {
            scenario.placed(ScenarioError::Gpu { at: super::Place::default(), error: Box::new(error) }, &table)
        })?;
        Ok(Device { gpu: Arc::new(found.gpu), what_if, assumption: found.assumption })
    };
    for (index, name) in scenario.gpus.iter().enumerate() {
        devices.push(find(name, &[], None, format!("gpus.{index}"))?);
        for (place, what_if) in scenario.what_ifs.iter().enumerate().filter(|(_, w)| w.on(name)) {
            devices.push(find(name, &what_if.set, Some(place), format!("what_if.{place}.set"))?);
        }
    }
    Ok(devices)
}

fn axes(scenario: &Scenario, kernel: usize) -> impl Iterator<Item = (usize, &Axis)> {
    scenario.axes.iter().enumerate().filter(move |(_, axis)| axis.kernel == kernel)
}

/// Refuses more cases than `MAX_CASES`, before any is made.
fn count(scenario: &Scenario) -> Result<(), ScenarioError> {
    let on = |what_if: &WhatIf| scenario.gpus.iter().filter(|name| what_if.on(name)).count() as u64;
    let devices = scenario.gpus.len() as u64 + scenario.what_ifs.iter().map(on).sum::<u64>();
    let family = |kernel| {
        axes(scenario, kernel).fold(1_u64, |product, (_, axis)| product.saturating_mul(axis.values.len() as u64))
    };
    let specs = (0..scenario.kernels.len()).map(family).fold(scenario.products.len() as u64, u64::saturating_add);
    let count = specs.saturating_mul(devices);
    if count > MAX_CASES {
        return Err(ScenarioError::TooMany { origin: scenario.name.clone(), count });
    }
    Ok(())
}

type Member = (Vec<(VaryKey, Setting)>, KernelSpec, String);

/// The kernel with every combination of its axes' values, the first axis slowest; the last part names the table
/// whose lines an error should point to.
fn family(scenario: &Scenario, index: usize, spec: &KernelSpec) -> Vec<Member> {
    let mut members: Vec<Member> = vec![(Vec::new(), spec.clone(), format!("kernel.{index}"))];
    for (place, axis) in axes(scenario, index) {
        members = members
            .into_iter()
            .flat_map(|(varied, spec, _)| {
                axis.values.iter().map(move |value| {
                    let (mut varied, mut spec) = (varied.clone(), spec.clone());
                    axis.key.set(&mut spec, *value);
                    varied.push((axis.key, *value));
                    (varied, spec, format!("vary.{place}"))
                })
            })
            .collect();
    }
    members
}

/// What a scenario multiplies out to, for people: "6 kernels on 2 GPUs, 18 cases".
pub fn summary(cases: &[Case]) -> String {
    let name = |case: &Case| match &case.task {
        Task::Kernel(kernel, _) => kernel.name.clone(),
        Task::Product(_) => case.label.clone(),
    };
    let mut kernels: Vec<String> = cases.iter().map(name).collect();
    kernels.dedup();
    let mut gpus: Vec<&str> = cases.iter().map(|c| c.gpu.id.as_str()).collect();
    gpus.sort_unstable();
    gpus.dedup();
    let many =
        |count: usize, what: &str| format!("{} {what}{}", grouped(count as u64), if count == 1 { "" } else { "s" });
    format!("{} on {}, {}", many(kernels.len(), "kernel"), many(gpus.len(), "GPU"), many(cases.len(), "case"))
}
