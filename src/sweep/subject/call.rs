//! Operations by shape: the point becomes a row of `predict`.

use std::{collections::BTreeMap, fmt::Write, sync::LazyLock};

use super::super::{
    evaluate::{Device, Model, Outcome},
    key::{DENSE, Place, SPARSITY},
};
use crate::op::{
    answer::Answer,
    table::{COLUMNS, Columns, HeaderError, Record},
};

/// All columns, in their own order.
static HEADER: LazyLock<Result<Columns, HeaderError>> = LazyLock::new(|| Columns::new(&Record::from(COLUMNS.to_vec())));

/// The row of a point.
#[derive(Default)]
pub struct Calls {
    cells: [String; COLUMNS.len()],
    notes: BTreeMap<&'static str, String>,
    words: BTreeMap<&'static str, bool>,
    conv: BTreeMap<&'static str, String>,
    record: Record,
    /// What the whole row says of the constants.
    calibration: String,
}

fn column(name: &str) -> usize {
    COLUMNS.iter().position(|c| *c == name).unwrap_or_default()
}

/// `KEY=VALUE` between `;`.
fn pairs<'a>(to: &mut String, pairs: impl Iterator<Item = (&'a &'static str, &'a String)>) {
    for (key, value) in pairs.filter(|(_, value)| !value.is_empty()) {
        // Never fails: a string takes everything.
        let _ = write!(to, "{key}={value};");
    }
}

impl Model for Calls {
    fn set(&mut self, place: &Place, value: &str) {
        let replace = |to: &mut String| {
            to.clear();
            to.push_str(value);
        };
        match place {
            Place::Column(index) => return replace(&mut self.cells[*index]),
            Place::Note(SPARSITY) if value == DENSE => self.notes.entry(SPARSITY).or_default().clear(),
            Place::Note(key) => replace(self.notes.entry(key).or_default()),
            Place::Word(key) => {
                self.words.insert(key, !["0", "false", "no", ""].contains(&value));
            }
            Place::Conv(key) => {
                replace(self.conv.entry(key).or_default());
                let cell = &mut self.cells[column("conv_params")];
                cell.clear();
                return pairs(cell, self.conv.iter());
            }
            _ => return,
        }
        let cell = &mut self.cells[column("notes")];
        cell.clear();
        pairs(cell, self.notes.iter());
        for (word, _) in self.words.iter().filter(|(_, there)| **there) {
            cell.push_str(word);
            cell.push(';');
        }
    }

    fn answer<'d>(&'d mut self, device: &'d mut Device) -> Result<Outcome<'d>, String> {
        self.record.clear();
        for cell in &self.cells {
            self.record.push_field(cell.as_bytes());
        }
        let columns = HEADER.as_ref().map_err(ToString::to_string)?;
        let row = columns.row(&self.record).map_err(|e| e.to_string())?;
        let found = device.predictor.answer(&row).map_err(|e| e.to_string())?;
        self.calibration.clear();
        let _ = write!(self.calibration, "{}", found.of);
        Ok(outcome(&found, device.usd_per_second, &self.calibration))
    }
}

fn outcome<'a>(found: &Answer<'a>, usd_per_second: f64, calibration: &'a str) -> Outcome<'a> {
    Outcome {
        time: found.time,
        low: found.band.0,
        high: found.band.1,
        math: found.math,
        dram: found.dram,
        l2: found.l2,
        latency: found.latency,
        launch: found.launch.unwrap_or(f64::NAN),
        bound: found.bound.word(),
        tile: found.tile,
        kernel: found.kernel,
        splits: Some(found.splits.into()),
        grid_blocks: Some(found.blocks.round() as u64),
        blocks_per_sm: Some(found.blocks_per_sm.into()),
        waves: found.waves,
        tflop_per_s: if found.flop > 0.0 { found.flop / found.time * 1e-12 } else { f64::NAN },
        percent_of_roof: 100.0 * found.least_math.max(found.least_memory) / found.time,
        usd_per_million: usd_per_second * found.time * 1e6,
        gpu: &found.gpu.name,
        calibration,
        ..Outcome::default()
    }
}
