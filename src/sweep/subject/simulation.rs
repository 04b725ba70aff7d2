//! Launches block by block: the values are set in the tables of the launches, which are then read again.

use toml::{Table, Value};

use super::{
    super::{
        evaluate::{Device, Model, Outcome},
        key::Place,
    },
    put,
};
use crate::simulation::Simulation;

/// Launches with the values of a point.
pub struct Simulations {
    table: Table,
    case: String,
    refused: Option<String>,
}

impl Simulations {
    /// The launches of a table.
    pub fn new(table: &Table) -> Self {
        Self { table: table.clone(), case: String::new(), refused: None }
    }

    /// The tables that a path is about: those of the launch that its first part names, else all.
    fn put(&mut self, path: &[String], value: &str) -> Result<(), String> {
        let Some(Value::Array(launches)) = self.table.get_mut("launch") else { return Ok(()) };
        let named = |launch: &Value| path.len() > 1 && launch.get("name").and_then(Value::as_str) == Some(&path[0]);
        let own = launches.iter().any(named);
        for launch in launches.iter_mut().filter(|launch| !own || named(launch)) {
            let Value::Table(table) = launch else { continue };
            put(table, &path[usize::from(own)..], value)?;
        }
        Ok(())
    }
}

impl Model for Simulations {
    fn set(&mut self, place: &Place, value: &str) {
        match place {
            // A path that has no place has none for any value.
            Place::Path(path) => self.refused = self.refused.take().or(self.put(path, value).err()),
            Place::Case => self.case = value.into(),
            _ => {}
        }
    }

    fn answer<'d>(&'d mut self, device: &'d mut Device) -> Result<Outcome<'d>, String> {
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        let simulation = Simulation::of_table(self.table.clone()).map_err(|e| e.to_string())?;
        let cases = simulation.cases();
        let case = if self.case.is_empty() { cases[0] } else { &self.case };
        if !cases.contains(&case) {
            return Err(format!("case `{case}`: the launches have {}", cases.join(", ")));
        }
        let built = simulation.build(case, &device.gpu).map_err(|e| e.to_string())?;
        let run = built.run("", case, &device.gpu, &|_| {}).map_err(|e| e.to_string())?;
        let time = run.outcome.makespan.get();
        let spread = run.balance.spread;
        let memory = spread.dram.max(spread.l2).max(spread.port);
        let waits = time - spread.math.max(memory).get();
        // What the whole machine needs for the longest of its work; the rest is waiting, start and tail.
        let bound = [("math", spread.math.get()), ("memory", memory.get()), ("latency", waits)];
        let bound = bound.into_iter().fold(("latency", 0.0), |best, side| if side.1 > best.1 { side } else { best }).0;
        Ok(Outcome {
            time,
            math: spread.math.get(),
            dram: spread.dram.get(),
            l2: spread.l2.max(spread.port).get(),
            latency: waits,
            bound,
            grid_blocks: Some(run.outcome.blocks),
            tail_cost_pct: 100.0 * run.outcome.tail_cost(),
            usd_per_million: device.usd_per_second * time * 1e6,
            gpu: &device.gpu.name,
            calibration: &device.calibration,
            ..Outcome::default()
        })
    }
}
