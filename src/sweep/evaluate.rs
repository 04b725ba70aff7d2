//! From a point to its answer: the values of its axes put in their places, then the model of what is swept.

use std::{collections::HashMap, fmt::Write, ops::Range};

use super::{
    batch::{Batch, Cell, Column, columns},
    key::{Place, Subject},
    plan::Plan,
    subject::{Calls, Kernels, Simulations},
};
use crate::{
    fit::Prices,
    gpu::{Catalog, Gpu, Override},
    occupancy::Limiters,
    op::predict::Predictor,
};

/// The columns behind those of the axes.
pub const RESULTS: [(&str, Cell); 23] = [
    ("predicted_us", Cell::Number),
    ("low_us", Cell::Number),
    ("high_us", Cell::Number),
    ("math_us", Cell::Number),
    ("dram_us", Cell::Number),
    ("l2_us", Cell::Number),
    ("latency_us", Cell::Number),
    ("launch_us", Cell::Number),
    ("bound", Cell::Text),
    ("tile", Cell::Text),
    ("splits", Cell::Whole),
    ("grid_blocks", Cell::Whole),
    ("blocks_per_sm", Cell::Whole),
    ("waves", Cell::Number),
    ("tail_cost_pct", Cell::Number),
    ("occupancy_pct", Cell::Number),
    ("limiters", Cell::Text),
    ("tflop_per_s", Cell::Number),
    ("percent_of_roof", Cell::Number),
    ("usd_per_million", Cell::Number),
    ("gpu_name", Cell::Text),
    ("calibration", Cell::Text),
    ("error", Cell::Text),
];

/// The answer to a point. Times in seconds; what is not known is NaN or absent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome<'a> {
    /// The estimate.
    pub time: f64,
    /// Low and high end of its range.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Arithmetic.
    pub math: f64,
    /// DRAM.
    pub dram: f64,
    /// L2, shared memory and the ports of the SMs.
    pub l2: f64,
    /// What waits, with the fixed cost.
    pub latency: f64,
    /// What the host adds.
    pub launch: f64,
    /// `math`, `memory` or `latency`.
    pub bound: &'a str,
    /// Height and width of the tile.
    pub tile: Option<(u32, u32)>,
    /// The kind of kernel, which stands for the tile where there is none.
    pub kernel: &'a str,
    /// Shares of the inner dimension.
    pub splits: Option<u64>,
    /// Blocks.
    pub grid_blocks: Option<u64>,
    /// Resident blocks per SM.
    pub blocks_per_sm: Option<u64>,
    /// Waves of blocks.
    pub waves: f64,
    /// What whole waves would save, in percent.
    pub tail_cost_pct: f64,
    /// Theoretical occupancy in percent.
    pub occupancy_pct: f64,
    /// What limits the occupancy.
    pub limiters: Option<Limiters>,
    /// Useful operations per second, in 10^12.
    pub tflop_per_s: f64,
    /// Time at the datasheet roof as a share of the estimate, in percent.
    pub percent_of_roof: f64,
    /// Price of a million such calls, in US dollars.
    pub usd_per_million: f64,
    /// The GPU.
    pub gpu: &'a str,
    /// Whose constants were used.
    pub calibration: &'a str,
}

impl Default for Outcome<'_> {
    /// Nothing is known.
    fn default() -> Self {
        Self {
            time: f64::NAN,
            low: f64::NAN,
            high: f64::NAN,
            math: f64::NAN,
            dram: f64::NAN,
            l2: f64::NAN,
            latency: f64::NAN,
            launch: f64::NAN,
            bound: "",
            tile: None,
            kernel: "",
            splits: None,
            grid_blocks: None,
            blocks_per_sm: None,
            waves: f64::NAN,
            tail_cost_pct: f64::NAN,
            occupancy_pct: f64::NAN,
            limiters: None,
            tflop_per_s: f64::NAN,
            percent_of_roof: f64::NAN,
            usd_per_million: f64::NAN,
            gpu: "",
            calibration: "",
        }
    }
}

impl Outcome<'_> {
    pub(super) fn tile(&self, to: &mut String) {
        // Never fails: a string takes everything.
        let _ = match self.tile {
            Some((height, width)) => write!(to, "{height}x{width}"),
            None => to.write_str(self.kernel),
        };
    }

    pub(super) fn limiters(&self, to: &mut String) {
        for resource in self.limiters.iter().flat_map(|l| l.iter()) {
            if !to.is_empty() {
                to.push('|');
            }
            to.push_str(resource.word());
        }
    }
}

/// A GPU of the sweep with what is made of it once.
pub(super) struct Device<'a> {
    pub gpu: Gpu,
    pub predictor: Predictor<'a>,
    /// The words of its constants.
    pub calibration: String,
    pub usd_per_second: f64,
}

/// Devices that one evaluator keeps; with more, all are made again.
const MOST_DEVICES: usize = 256;

/// Evaluates points of a plan, one after the other. Each thread has its own.
pub struct Evaluator<'a> {
    plan: &'a Plan,
    catalog: &'a Catalog,
    prices: &'a Prices,
    /// Which groups decide over the device.
    device_groups: Vec<bool>,
    devices: HashMap<u64, Result<Box<Device<'a>>, String>>,
    subject: Box<dyn Model + Send>,
    columns: Vec<Column>,
    at: Vec<u64>,
    /// The places at the point before; none at first.
    before: Vec<u64>,
    scratch: String,
}

/// What is swept, ready for the values of points.
pub(super) trait Model {
    /// Takes a value that is new since the point before.
    fn set(&mut self, place: &Place, value: &str);
    /// The answer on a device with the values as they are set.
    fn answer<'d>(&'d mut self, device: &'d mut Device) -> Result<Outcome<'d>, String>;
}

impl<'a> Evaluator<'a> {
    /// An evaluator; the prices give the cost of a call where the GPU has one.
    pub fn new(plan: &'a Plan, catalog: &'a Catalog, prices: &'a Prices) -> Self {
        let mut subject: Box<dyn Model + Send> = match &plan.subject {
            Subject::Operation => Box::new(Calls::default()),
            Subject::Kernel(table) => Box::new(Kernels::new(table)),
            Subject::Simulation(table) => Box::new(Simulations::new(table)),
        };
        for fixed in &plan.fixed {
            subject.set(&fixed.place, &fixed.value);
        }
        Self {
            plan,
            catalog,
            prices,
            device_groups: plan.groups.iter().map(|g| g.axes.iter().any(|a| a.place.of_device())).collect(),
            devices: HashMap::new(),
            subject,
            columns: columns(plan),
            at: vec![0; plan.groups.len()],
            before: vec![u64::MAX; plan.groups.len()],
            scratch: String::new(),
        }
    }

    /// The rows of a range, in order.
    pub fn rows(&mut self, rows: Range<u64>) -> Batch {
        let mut batch = Batch::new(&self.columns);
        let (plan, mut scratch) = (self.plan, String::new());
        for row in rows {
            let point = plan.point(row);
            let mut at = std::mem::take(&mut self.at);
            plan.coordinates(point, &mut at);
            let answer = self.answer(&at);
            batch.push(plan, point, &at, &answer, &mut scratch);
            self.at = at;
        }
        batch
    }

    /// The answer at the given places of the groups.
    ///
    /// # Errors
    /// The point cannot run, or is none; in words for the row.
    pub fn answer(&mut self, at: &[u64]) -> Result<Outcome<'_>, String> {
        let plan = self.plan;
        for (index, group) in plan.groups.iter().enumerate() {
            if self.before[index] == at[index] {
                continue;
            }
            for axis in group.axes.iter().filter(|axis| !axis.place.of_device()) {
                axis.values.write(at[index], &mut self.scratch);
                self.subject.set(&axis.place, &self.scratch);
            }
            self.before[index] = at[index];
        }
        let id = self.device_id(at);
        if !self.devices.contains_key(&id) {
            if self.devices.len() >= MOST_DEVICES {
                self.devices.clear();
            }
            let made = self.device(at);
            self.devices.insert(id, made);
        }
        let device = match self.devices.get_mut(&id) {
            Some(Ok(device)) => device,
            Some(Err(error)) => return Err(error.clone()),
            None => return Err("the device cannot be made".into()),
        };
        self.subject.answer(device)
    }

    /// Whether the operation at the given places reads what a key of its row sets; absent where the point has no answer by itself. A value
    /// that no operation takes is noticed by the one that reads it.
    pub fn reads(&mut self, at: &[u64], place: &Place) -> Option<bool> {
        self.answer(at).ok()?;
        self.subject.set(place, "?");
        let read = self.answer(at).is_err();
        self.subject.set(place, "");
        // Everything is set anew for the next point.
        self.before.fill(u64::MAX);
        for fixed in &self.plan.fixed {
            self.subject.set(&fixed.place, &fixed.value);
        }
        Some(read)
    }

    /// The id of the GPU at the given places; absent where there is none.
    pub(super) fn gpu_id(&self, at: &[u64]) -> Option<String> {
        self.device(at).ok().map(|device| device.gpu.id)
    }

    fn device_id(&self, at: &[u64]) -> u64 {
        let groups = self.plan.groups.iter().zip(&self.device_groups).zip(at);
        groups.filter(|((_, of_device), _)| **of_device).fold(0, |id, ((group, _), at)| id * group.len + at)
    }

    /// The GPU at the given places, with its what-ifs.
    fn device(&self, at: &[u64]) -> Result<Box<Device<'a>>, String> {
        let (mut name, mut mig, mut figures) = (None, None, Vec::new());
        let mut take = |place: &Place, value: String| match place {
            Place::Gpu => name = Some(value),
            Place::Mig => mig = Some(value),
            Place::Figure(key) => figures.push(Override { key: key.clone(), value }),
            _ => {}
        };
        for fixed in &self.plan.fixed {
            take(&fixed.place, fixed.value.clone());
        }
        for (group, axis) in self.plan.axes() {
            take(&axis.place, axis.values.text(at[group]));
        }
        let Some(mut name) = name else {
            return Err("no GPU is named: fix one, such as gpu = \"h100-sxm5-80gb\"".into());
        };
        // The whole GPU beside its slices.
        if let Some(mig) = mig.filter(|mig| !["whole", "none"].contains(&mig.as_str())) {
            name = format!("{name}:{mig}");
        }
        let gpu = self.catalog.find_with(&name, &figures).map_err(|e| e.to_string())?.gpu;
        let price = self.prices.cheapest(self.catalog, &gpu);
        Ok(Box::new(Device {
            predictor: Predictor::new(self.catalog, Some(gpu.clone())),
            calibration: gpu.calibration.of.to_string(),
            usd_per_second: price.map_or(f64::NAN, |price| price.usd_per_hour / 3600.0),
            gpu,
        }))
    }
}
