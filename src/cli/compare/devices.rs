//! One scenario on several devices (GPUs and what-ifs): every kernel on each, the speed-ups, and the summary.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use rayon::prelude::*;

use crate::{scenario::Case, time::Bound};

/// A GPU as it is or with a what-if.
pub struct Device {
    /// Name in tables: the GPU's id and the what-if.
    pub name: String,
    /// Id of the GPU.
    pub id: String,
    /// The GPU by its product name.
    pub product: String,
    /// Name of the what-if.
    pub what_if: Option<String>,
}

/// What was found for one kernel on one device.
pub struct Found {
    /// Estimated time in microseconds.
    pub time_us: f64,
    /// What binds.
    pub bound: Bound,
    occupancy_pct: f64,
    waves: f64,
    tail_cost_pct: f64,
}

/// A kernel on all devices; `None` where it cannot run.
pub struct KernelRow {
    /// Name, with the values of the axes.
    pub name: String,
    /// One entry per device.
    pub found: Vec<Option<Found>>,
}

/// Kernels by devices.
pub struct Devices {
    /// Title of the scenario.
    pub title: String,
    /// The devices in order.
    pub devices: Vec<Device>,
    /// The kernels in order.
    pub kernels: Vec<KernelRow>,
    /// Which device has speed-up 1.
    pub baseline: usize,
    /// What was changed and assumed, once each.
    pub notes: Vec<String>,
    /// Launches that cannot run.
    pub errors: Vec<String>,
}

/// One kernel on one device, as a row.
pub struct Row {
    /// Name of the kernel.
    pub kernel: String,
    /// Name of the device.
    pub device: String,
    /// Estimated time in microseconds.
    pub time_us: f64,
    /// Time on the baseline / time here; absent where the kernel does not run on the baseline.
    pub speedup: Option<f64>,
    /// What binds.
    pub bound: Bound,
    /// Theoretical occupancy in percent.
    pub occupancy_pct: f64,
    /// Waves.
    pub waves: f64,
    /// Cost of the tail in percent of the time.
    pub tail_cost_pct: f64,
}

/// All kernels that run everywhere, on one device.
pub struct Summary {
    /// Name of the device.
    pub device: String,
    /// Sum of the times in microseconds, each kernel once.
    pub total_us: f64,
    /// Sum on the baseline / sum here.
    pub total_speedup: f64,
    /// Geometric mean of the kernels' speed-ups.
    pub geomean_speedup: f64,
}

impl Devices {
    /// Runs all cases.
    ///
    /// # Errors
    /// No launch can run, a device is named twice, or the baseline is none of the devices.
    pub fn new(title: String, cases: &[Case], baseline: Option<&str>) -> Result<Self> {
        let found: Vec<_> = cases
            .par_iter()
            .map(|case| {
                case.analyse().map(|a| Found {
                    time_us: a.time.estimate.get() * 1e6,
                    bound: a.verdict.bound,
                    occupancy_pct: a.launch.occupancy.fraction() * 100.0,
                    waves: a.schedule.waves(),
                    tail_cost_pct: a.time.tail_cost * 100.0,
                })
            })
            .collect();
        if let (false, Some(Err(error))) = (found.iter().any(Result::is_ok), found.first()) {
            bail!("{error}");
        }
        let mut all = Self {
            title,
            devices: Vec::new(),
            kernels: Vec::new(),
            baseline: 0,
            notes: Vec::new(),
            errors: Vec::new(),
        };
        let mut device_places: BTreeMap<String, usize> = BTreeMap::new();
        let mut kernel_places: BTreeMap<String, usize> = BTreeMap::new();
        for (case, result) in cases.iter().zip(found) {
            let suffix = case.what_if.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
            let kernel = case.label.strip_suffix(&suffix).unwrap_or(&case.label);
            let device = Device::of(case);
            let column = *device_places.entry(device.name.clone()).or_insert(all.devices.len());
            if column == all.devices.len() {
                all.devices.push(device);
            }
            let row = *kernel_places.entry(kernel.to_owned()).or_insert(all.kernels.len());
            if row == all.kernels.len() {
                all.kernels.push(KernelRow { name: kernel.to_owned(), found: Vec::new() });
            }
            let cells = &mut all.kernels[row].found;
            if column < cells.len() {
                bail!(
                    "{} is named twice: name each GPU and what-if once, and give copies of a GPU file names of their own",
                    all.devices[column].name
                );
            }
            cells.resize_with(column, || None);
            match result {
                Ok(found) => cells.push(Some(found)),
                Err(error) => {
                    cells.push(None);
                    all.errors.push(format!("{kernel} on {}: {error}", all.devices[column].name));
                }
            }
            all.note(case);
        }
        let columns = all.devices.len();
        all.kernels.iter_mut().for_each(|kernel| kernel.found.resize_with(columns, || None));
        if let Some(name) = baseline {
            all.baseline = all.named(name)?;
        }
        let shared = all.shared().count();
        if shared < all.kernels.len() {
            let what = if shared == 0 { "no total is given".into() } else { format!("totals are of these {shared}") };
            all.notes.push(format!("{shared} of {} kernels run on every device: {what}", all.kernels.len()));
        }
        Ok(all)
    }

    fn note(&mut self, case: &Case) {
        let id = &case.gpu.id;
        let cpu = case
            .gpu
            .is_cpu()
            .then(|| format!("{id}: a datasheet roofline without caches and latency, no faster than this"));
        let name =
            case.what_if.as_ref().map_or_else(|| format!("what-if on {id}"), |name| format!("what-if {name} on {id}"));
        let changes = case.gpu.changes.iter().map(|c| format!("{name}: {c}"));
        for note in cpu.into_iter().chain(changes).chain(case.assumptions.iter().map(|a| format!("assumed: {a}"))) {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// The device that a name means: its full name, or the GPU or what-if where only one device has it.
    fn named(&self, name: &str) -> Result<usize> {
        let matches = |fits: &dyn Fn(&Device) -> bool| {
            let mut places = self.devices.iter().enumerate().filter(|(_, d)| fits(d)).map(|(index, _)| index);
            places.next().filter(|_| places.next().is_none())
        };
        let found = matches(&|d| d.name == name)
            .or_else(|| matches(&|d| d.id == name || d.product == name))
            .or_else(|| matches(&|d| d.what_if.as_deref() == Some(name)));
        found.ok_or_else(|| {
            let all: Vec<String> = self.devices.iter().map(|d| format!("`{}`", d.name)).collect();
            anyhow::anyhow!("--baseline `{name}` does not name one of the devices: take one of {}", all.join(", "))
        })
    }

    /// Time on the baseline / time on device `column`.
    pub fn speedup(&self, kernel: &KernelRow, column: usize) -> Option<f64> {
        let time = |place: usize| kernel.found.get(place)?.as_ref().map(|f| f.time_us);
        Some(time(self.baseline)? / time(column)?)
    }

    /// Kernels that run on every device.
    fn shared(&self) -> impl Iterator<Item = &KernelRow> {
        self.kernels.iter().filter(|k| k.found.iter().all(Option::is_some))
    }

    /// One row per kernel and device that can run, by kernel.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for kernel in &self.kernels {
            for (column, (device, found)) in self.devices.iter().zip(&kernel.found).enumerate() {
                let Some(found) = found else { continue };
                rows.push(Row {
                    kernel: kernel.name.clone(),
                    device: device.name.clone(),
                    time_us: found.time_us,
                    speedup: self.speedup(kernel, column),
                    bound: found.bound,
                    occupancy_pct: found.occupancy_pct,
                    waves: found.waves,
                    tail_cost_pct: found.tail_cost_pct,
                });
            }
        }
        rows
    }

    /// Total and geometric mean per device over the kernels that run everywhere; empty where none does.
    pub fn summary(&self) -> Vec<Summary> {
        let shared: Vec<&KernelRow> = self.shared().collect();
        if shared.is_empty() {
            return Vec::new();
        }
        let total = |column: usize| -> f64 {
            shared.iter().filter_map(|k| k.found.get(column)?.as_ref()).map(|f| f.time_us).sum()
        };
        let of = |(column, device): (usize, &Device)| {
            let logs = shared.iter().filter_map(|k| self.speedup(k, column)).map(libm::log);
            Summary {
                device: device.name.clone(),
                total_us: total(column),
                total_speedup: total(self.baseline) / total(column),
                geomean_speedup: libm::exp(logs.sum::<f64>() / shared.len() as f64),
            }
        };
        self.devices.iter().enumerate().map(of).collect()
    }
}

impl Device {
    fn of(case: &Case) -> Self {
        let name = match (&case.what_if, case.gpu.changes.is_empty()) {
            (Some(name), _) => format!("{}, {name}", case.gpu.id),
            (None, false) => format!("{}, --set", case.gpu.id),
            (None, true) => case.gpu.id.clone(),
        };
        Self { name, id: case.gpu.id.clone(), product: case.gpu.name.clone(), what_if: case.what_if.clone() }
    }
}
