//! Simulation files as written: launches of one GPU, each a shape or blocks of its own. Format: `scenarios/README.md`.

use serde::Deserialize;

use super::works::one;
pub use super::works::{AttentionWork, BlocksWork, ExpertsWork, GemmWork, Order, Rows, Schedule};

use crate::{
    scenario::{ScenarioError, words},
    units::{Bytes, Seconds},
};

/// A simulation: launches that share a GPU, in one case or several that are compared.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simulation {
    #[serde(deserialize_with = "words::count")]
    schema: u64,
    /// One line for people.
    pub title: String,
    /// GPU names, MIG slices too; the usual one where there is none.
    #[serde(default)]
    pub gpus: Vec<String>,
    /// The launches in the order in which the host enqueues them.
    #[serde(default, rename = "launch")]
    pub launches: Vec<LaunchSpec>,
}

/// One kernel launch. Exactly one of `gemm`, `attention`, `experts` and `blocks` says what it does.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchSpec {
    /// Name for people, unique in its case.
    pub name: String,
    /// The case it belongs to; each is simulated by itself.
    #[serde(default)]
    pub case: String,
    /// A matrix product, or products that differ in their rows.
    pub gemm: Option<GemmWork>,
    /// Attention of a prompt, or of prompts of different lengths.
    pub attention: Option<AttentionWork>,
    /// The two products of a mixture of experts.
    pub experts: Option<ExpertsWork>,
    /// Blocks by what each needs, in order.
    #[serde(default)]
    pub blocks: Vec<BlocksWork>,
    /// How often the list of blocks repeats.
    #[serde(default = "one", deserialize_with = "words::count")]
    pub repeat: u64,
    /// Threads of a block, with which registers and shared memory decide how many fit on an SM.
    #[serde(default, deserialize_with = "words::some_count")]
    pub threads: Option<u64>,
    /// Registers of a thread; 32.
    #[serde(default, deserialize_with = "words::some_count")]
    pub registers: Option<u64>,
    /// Shared memory of a block; none.
    pub shared: Option<Bytes>,
    /// Blocks per SM, where they are given and not derived.
    #[serde(default, deserialize_with = "words::some_count")]
    pub blocks_per_sm: Option<u64>,
    /// Order of the blocks.
    #[serde(default)]
    pub order: Order,
    /// How blocks come to slots.
    #[serde(default)]
    pub schedule: Schedule,
    /// Blocks placed together in one GPC; 1.
    #[serde(default = "one", deserialize_with = "words::count")]
    pub cluster: u64,
    /// Time from placement until a block begins its work; 0.
    #[serde(default)]
    pub start: Seconds,
    /// Launches of one stream follow each other; streams run beside each other.
    #[serde(default, deserialize_with = "words::count")]
    pub stream: u64,
    /// Blocks of a higher priority are placed first; 0.
    #[serde(default)]
    pub priority: i32,
    /// Launches of other streams that have to end before.
    #[serde(default)]
    pub after: Vec<String>,
    /// Time between what it waits for and its first block; 0.
    #[serde(default)]
    pub gap: Seconds,
    /// Programmatic dependent launch: its blocks come to slots and start while the launch before drains.
    #[serde(default)]
    pub early: bool,
    /// First SM and the one after the last that it may use; all.
    pub sms: Option<[u32; 2]>,
}

impl Default for LaunchSpec {
    /// A launch without work.
    fn default() -> Self {
        Self {
            name: "kernel".into(),
            case: String::new(),
            gemm: None,
            attention: None,
            experts: None,
            blocks: Vec::new(),
            repeat: 1,
            threads: None,
            registers: None,
            shared: None,
            blocks_per_sm: None,
            order: Order::default(),
            schedule: Schedule::default(),
            cluster: 1,
            start: Seconds::ZERO,
            stream: 0,
            priority: 0,
            after: Vec::new(),
            gap: Seconds::ZERO,
            early: false,
            sms: None,
        }
    }
}

impl Simulation {
    /// Reads a file. `origin` is used in messages.
    ///
    /// # Errors
    /// Names the line, the key, the value and the cure.
    pub fn parse(origin: &str, text: &str) -> Result<Self, ScenarioError> {
        let file: Self = toml::from_str(text).map_err(|e| {
            let error = ScenarioError::file(origin, text, &e);
            let is_scenario = text.lines().any(|line| ["[[kernel]]", "[[gemm]]"].contains(&line.trim()));
            error.of("simulation", is_scenario.then_some("it looks like a scenario: `wavecast analyze` takes those"))
        })?;
        let bad = |table: &str, key: &str, value: &str, rule: &str| {
            let error = ScenarioError::value(String::new(), key, value.into(), rule.into());
            Err(error.placed(origin, text, table))
        };
        if file.schema != 1 {
            return bad("", "schema", &file.schema.to_string(), "this program reads schema 1");
        }
        if file.launches.is_empty() {
            return bad("", "launch", "none", "give at least one [[launch]]");
        }
        for (index, launch) in file.launches.iter().enumerate() {
            let table = format!("launch.{index}");
            if let Err((key, value, rule)) = launch.check(&file.launches[..index]) {
                return bad(&table, key, &value, &rule);
            }
        }
        Ok(file)
    }

    /// As `parse`, from a table; messages have no lines.
    ///
    /// # Errors
    /// Names the key, the value and the cure.
    pub fn of_table(table: toml::Table) -> Result<Self, ScenarioError> {
        let refused =
            |key: &str, value: String, rule: &str| ScenarioError::value(String::new(), key, value, rule.into());
        let file: Self = table.try_into().map_err(|e: toml::de::Error| refused("launch", "...".into(), e.message()))?;
        if file.launches.is_empty() {
            return Err(refused("launch", "none".into(), "give at least one [[launch]]"));
        }
        for (index, launch) in file.launches.iter().enumerate() {
            launch.check(&file.launches[..index]).map_err(|(key, value, rule)| refused(key, value, &rule))?;
        }
        Ok(file)
    }

    /// One launch without a file.
    ///
    /// # Errors
    /// Its options contradict each other.
    pub fn of(title: &str, launch: LaunchSpec) -> Result<Self, ScenarioError> {
        let refused = |(key, value, rule)| ScenarioError::value(String::new(), key, value, rule);
        launch.check(&[]).map_err(refused)?;
        Ok(Self { schema: 1, title: title.into(), gpus: Vec::new(), launches: vec![launch] })
    }

    /// Names of the cases in the order of the file; one empty name where there are none.
    pub fn cases(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for launch in &self.launches {
            if !names.contains(&launch.case.as_str()) {
                names.push(&launch.case);
            }
        }
        names
    }
}

impl LaunchSpec {
    /// What can be checked without a GPU: key, value and rule of what is wrong.
    fn check(&self, before: &[Self]) -> Result<(), (&'static str, String, String)> {
        let wrong = |key, value: String, rule: &str| Err((key, value, rule.to_owned()));
        if self.name.trim().is_empty() {
            return wrong("name", "\"\"".into(), "give the launch a name");
        }
        if before.iter().any(|other| other.name == self.name && other.case == self.case) {
            return wrong("name", self.name.clone(), "another launch of the case has this name: each needs its own");
        }
        let kinds = [self.gemm.is_some(), self.attention.is_some(), self.experts.is_some(), !self.blocks.is_empty()];
        if kinds.into_iter().filter(|given| *given).count() != 1 {
            return wrong("name", self.name.clone(), "give it one of gemm, attention, experts and blocks");
        }
        if self.schedule == Schedule::StreamK && self.gemm.as_ref().is_none_or(|g| g.split.is_some_and(|s| s > 1)) {
            return wrong("schedule", "stream-k".into(), "only a gemm without split is dealt out by steps");
        }
        if !self.blocks.is_empty() && self.threads.is_none() && (self.registers.is_some() || self.shared.is_some()) {
            return wrong(
                "threads",
                "none".into(),
                "registers and shared count per thread and block: give threads too",
            );
        }
        if self.threads.is_some() && self.blocks_per_sm.is_some() {
            let rule = "threads say how many blocks an SM holds: leave one of both out";
            return wrong("blocks_per_sm", self.blocks_per_sm.unwrap_or_default().to_string(), rule);
        }
        if self.blocks_per_sm == Some(0) {
            return wrong("blocks_per_sm", "0".into(), "an SM holds at least 1");
        }
        if self.repeat != 1 && (self.blocks.is_empty() || self.repeat == 0) {
            return wrong("repeat", self.repeat.to_string(), "it is for a list of blocks, at least 1");
        }
        for work in &self.blocks {
            let operations = work.operations.get() > 0.0;
            if operations && work.math.get() > 0.0 {
                return wrong(
                    "math",
                    work.math.to_string(),
                    "operations give the time of arithmetic: leave one of both out",
                );
            }
            if work.pipe.is_some() && !operations {
                return wrong("pipe", "given".into(), "it is the unit of operations, which are missing");
            }
        }
        if self.blocks.is_empty() && (self.threads.is_some() || self.registers.is_some() || self.shared.is_some()) {
            return wrong(
                "name",
                self.name.clone(),
                "threads, registers and shared are for blocks; its kernel has its own",
            );
        }
        Ok(())
    }
}
