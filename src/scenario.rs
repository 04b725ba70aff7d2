//! Scenario files: kernels with their grids, on GPUs and what-ifs; as written, then as meant. Format: `scenarios/README.md`.

mod build;
mod case;
mod dims;
mod error;
mod product;
mod spec;
mod vary;
mod what_if;
pub(crate) mod words;

use serde::Deserialize;

pub use build::{MAX_BLOCK, MAX_GRID};
pub use case::{Answer, Case, Task, summary};
pub use dims::{Dims, DimsError};
pub use error::{Place, ScenarioError, ValueError};
pub use product::GemmSpec;
pub use spec::{AccessSpec, ConcurrencySpec, KernelSpec, SharedSpec, TrafficSpec, WorkSpec};
pub use vary::{Axis, Setting, VaryKey};
pub use what_if::WhatIfError;
pub use words::Per;

use crate::{
    gpu::{Catalog, Override},
    time::{Bound, Timing},
};

mod files {
    include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));
}

/// Most cases of one scenario.
pub const MAX_CASES: u64 = 100_000;

/// A scenario file as written; kernels are written as they are meant, with absent options filled in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(deserialize_with = "words::count")]
    schema: u64,
    title: String,
    gpus: Vec<String>,
    #[serde(default, deserialize_with = "words::timing")]
    timing: Timing,
    #[serde(default, rename = "kernel")]
    kernels: Vec<KernelSpec>,
    #[serde(default, rename = "gemm")]
    products: Vec<GemmSpec>,
    #[serde(default)]
    what_if: Vec<WhatIfFile>,
    #[serde(default)]
    vary: Vec<vary::VaryFile>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WhatIfFile {
    name: String,
    set: Vec<String>,
    gpus: Option<Vec<String>>,
    #[serde(default, deserialize_with = "words::bound")]
    expect: Option<Bound>,
}

/// A change of the GPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    /// Name for people.
    pub name: String,
    /// The changes, at least one.
    pub set: Vec<Override>,
    /// The GPUs of the scenario that it applies to; absent: all.
    pub gpus: Option<Vec<String>>,
    /// The bound that every kernel is expected to have then.
    pub expect: Option<Bound>,
}

impl WhatIf {
    fn on(&self, gpu: &str) -> bool {
        self.gpus.as_ref().is_none_or(|names| names.iter().any(|name| name == gpu))
    }
}

/// A checked scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Name of the file without `.toml`, or what the caller calls it.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// GPU names, at least one.
    pub gpus: Vec<String>,
    /// Whether the host's part of a launch counts.
    pub timing: Timing,
    /// The kernels, each with a name of its own.
    pub kernels: Vec<KernelSpec>,
    /// The matrix products, each with a name of its own; there is at least one kernel or product.
    pub products: Vec<GemmSpec>,
    /// Changes of the GPUs.
    pub what_ifs: Vec<WhatIf>,
    /// Axes; each makes a family of its kernel.
    pub axes: Vec<Axis>,
    /// The file, to find lines in.
    text: String,
}

impl Scenario {
    /// Reads a scenario. `name` is used in messages.
    ///
    /// # Errors
    /// Names the line, the key, the value and the cure.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScenarioError> {
        let file: File = toml::from_str(text).map_err(|e| ScenarioError::file(name, text, &e))?;
        let bad = |table: &str, key: &str, value: &dyn std::fmt::Display, rule: String| {
            Err(ScenarioError::value(String::new(), key, value.to_string(), rule).placed(name, text, table))
        };
        if file.schema != 1 {
            return bad("", "schema", &file.schema, "this program reads schema 1".into());
        }
        if file.gpus.is_empty() {
            return bad("", "gpus", &"[]", "name at least one GPU; `wavecast gpus list` shows them".into());
        }
        if let Some(index) = twice(&file.gpus, |gpu| gpu) {
            return bad("", &format!("gpus.{index}"), &file.gpus[index], "this GPU is named twice".into());
        }
        if file.kernels.is_empty() && file.products.is_empty() {
            return bad("", "kernel", &"none", "give at least one [[kernel]] or [[gemm]]".into());
        }
        for (index, product) in file.products.iter().enumerate() {
            let table = format!("gemm.{index}");
            let taken = file.kernels.iter().any(|k| k.name == product.name)
                || file.products[..index].iter().any(|p| p.name == product.name);
            if taken || product.name.trim().is_empty() {
                return bad(&table, "name", &product.name, "give each kernel and product a name of its own".into());
            }
            product.build(file.timing).map_err(|e| e.placed(name, text, &table))?;
        }
        if let Some(index) = twice(&file.kernels, |kernel| &kernel.name) {
            let rule = "another kernel has this name: each needs its own".into();
            return bad(&format!("kernel.{index}"), "name", &file.kernels[index].name, rule);
        }
        for (index, kernel) in file.kernels.iter().enumerate() {
            let table = format!("kernel.{index}");
            if kernel.name.trim().is_empty() {
                return bad(&table, "name", &"\"\"", "give the kernel a name".into());
            }
            if kernel.is_empty() {
                let rule = "it neither computes nor moves anything: give [kernel.work] operations, [kernel.traffic] bytes or dependent_accesses";
                return bad(&table, "name", &kernel.name, rule.into());
            }
            kernel.build().map_err(|e| e.placed(name, text, &table))?;
        }
        let mut axes = Vec::with_capacity(file.vary.len());
        for (index, vary) in file.vary.iter().enumerate() {
            let table = format!("vary.{index}");
            let axis = match vary::axis(vary, &file.kernels) {
                Ok(axis) => axis,
                Err(wrong) => return bad(&table, &wrong.key, &wrong.value, wrong.rule),
            };
            if axes.iter().any(|a: &Axis| a.kernel == axis.kernel && a.key == axis.key) {
                return bad(&table, "key", &vary.key, "this key of the kernel is varied twice: join the values".into());
            }
            axes.push(axis);
        }
        let mut what_ifs = Vec::with_capacity(file.what_if.len());
        for (index, what_if) in file.what_if.iter().enumerate() {
            let table = format!("what_if.{index}");
            if what_if.set.is_empty() {
                return bad(&table, "set", &"[]", "give at least one KEY=VALUE, such as sm.count=144".into());
            }
            let mut set = Vec::with_capacity(what_if.set.len());
            for (place, text_form) in what_if.set.iter().enumerate() {
                match text_form.parse() {
                    Ok(change) => set.push(change),
                    Err(error) => return bad(&table, &format!("set.{place}"), text_form, format!("{error}")),
                }
            }
            for (place, gpu) in what_if.gpus.iter().flatten().enumerate() {
                if !file.gpus.contains(gpu) {
                    let rule = format!("it must be one of the scenario's gpus: {}", file.gpus.join(", "));
                    return bad(&table, &format!("gpus.{place}"), gpu, rule);
                }
            }
            let WhatIfFile { name, gpus, expect, .. } = what_if.clone();
            what_ifs.push(WhatIf { name, set, gpus, expect });
        }
        let File { title, gpus, timing, kernels, products, .. } = file;
        Ok(Self { name: name.into(), title, gpus, timing, kernels, products, what_ifs, axes, text: text.into() })
    }

    /// Every kernel, varied value, GPU and what-if as a case, in the order of the file; a GPU's what-ifs follow it.
    ///
    /// # Errors
    /// A GPU is unknown, a what-if or a varied value cannot be used, or there are more than `MAX_CASES` cases.
    /// A launch that a GPU refuses is an error of that case alone, from `Case::analyse`.
    pub fn cases(&self, catalog: &Catalog) -> Result<Vec<Case>, ScenarioError> {
        case::cases(self, catalog)
    }

    fn placed(&self, error: ScenarioError, table: &str) -> ScenarioError {
        error.placed(&self.name, &self.text, table)
    }
}

/// Index of the first item whose name an earlier one has.
fn twice<T>(items: &[T], name: fn(&T) -> &String) -> Option<usize> {
    (1..items.len()).find(|index| items[..*index].iter().any(|earlier| name(earlier) == name(&items[*index])))
}

/// The built-in scenarios, by name, with their text.
pub fn embedded() -> impl Iterator<Item = (&'static str, &'static str)> {
    files::SCENARIO_FILES.iter().copied()
}

/// The text of a built-in scenario.
pub fn embedded_named(name: &str) -> Option<&'static str> {
    embedded().find(|(known, _)| *known == name).map(|(_, text)| text)
}
