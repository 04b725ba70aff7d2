//! Described kernels: quick keys are set in the description, others in its table, which is then read again.

use toml::Table;

use super::{
    super::{
        evaluate::{Device, Model, Outcome},
        key::Place,
    },
    put,
};
use crate::{
    kernel::Kernel,
    launch::Launch,
    scenario::{KernelSpec, VaryKey},
    schedule::schedule,
    time::{Timing, outline},
};

/// A kernel with the values of a point.
pub struct Kernels {
    table: Table,
    /// Texts of quick keys, which are set once the table is read.
    quick: Vec<(VaryKey, String)>,
    /// A value that has no place in the table.
    refused: Option<String>,
    timing: Result<Timing, String>,
    /// The description as the table has it; absent where that changed.
    read: Option<Result<KernelSpec, String>>,
    /// The kernel with its grid; absent where a value changed, or where a launch took it and gave it not back.
    built: Option<(Kernel, u64)>,
}

impl Kernels {
    /// The kernel of a table.
    pub fn new(table: &Table) -> Self {
        let (table, quick) = (table.clone(), Vec::new());
        Self { table, quick, refused: None, timing: Ok(Timing::Device), read: None, built: None }
    }

    fn build(&mut self) -> Result<(Kernel, u64), String> {
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        let read = || self.table.clone().try_into::<KernelSpec>().map_err(|e| format!("kernel: {}", e.message()));
        let mut spec = self.read.get_or_insert_with(read).clone()?;
        for (key, text) in &self.quick {
            key.set_text(&mut spec, text).map_err(|rule| format!("{} = `{text}`: {rule}", key.name()))?;
        }
        let (kernel, blocks, _) = spec.build().map_err(|e| e.to_string())?;
        Ok((kernel, blocks))
    }
}

impl Model for Kernels {
    fn set(&mut self, place: &Place, value: &str) {
        self.built = None;
        match place {
            Place::Quick(key) => match self.quick.iter_mut().find(|(known, _)| known == key) {
                Some((_, text)) => {
                    text.clear();
                    text.push_str(value);
                }
                None => self.quick.push((*key, value.into())),
            },
            Place::Path(path) => {
                // A path that has no place has none for any value.
                self.refused = self.refused.take().or(put(&mut self.table, path, value).err());
                self.read = None;
            }
            Place::Timing => {
                self.timing = match value {
                    "device" => Ok(Timing::Device),
                    "launch" => Ok(Timing::Launch),
                    other => Err(format!("timing = `{other}` is neither device nor launch")),
                }
            }
            _ => {}
        }
    }

    fn answer<'d>(&'d mut self, device: &'d mut Device) -> Result<Outcome<'d>, String> {
        let timing = self.timing.clone()?;
        let (kernel, blocks) = match self.built.take() {
            Some(built) => built,
            None => self.build()?,
        };
        let gpu = &device.gpu;
        let launch = Launch::new(gpu, kernel, blocks).map_err(|e| e.to_string())?;
        let waves = schedule(launch.grid_blocks, gpu.units(), launch.occupancy.blocks_per_sm);
        let found = outline(gpu, &launch, &waves, timing);
        let kernel = &launch.kernel;
        let time = found.estimate.get();
        let math =
            kernel.operations.iter().filter_map(|(pipe, flops)| Some(*flops / gpu.peak(*pipe)?).map(|t| t.get()));
        let roof = math.fold((kernel.traffic.dram.moved() / gpu.memory.dram.bandwidth).get(), f64::max);
        let flop = kernel.flops().get();
        let answer = Outcome {
            time,
            low: found.low.get(),
            high: found.high.get(),
            math: found.math.get(),
            dram: found.dram.get(),
            l2: found.on_chip.get(),
            latency: found.latency.get(),
            launch: if timing == Timing::Launch { found.launch.get() } else { f64::NAN },
            bound: found.bound.word(),
            grid_blocks: Some(blocks),
            blocks_per_sm: Some(launch.occupancy.blocks_per_sm.into()),
            waves: waves.waves(),
            tail_cost_pct: 100.0 * found.tail_cost,
            occupancy_pct: 100.0 * launch.occupancy.fraction(),
            limiters: Some(launch.occupancy.limiters()),
            tflop_per_s: if flop > 0.0 { flop / time * 1e-12 } else { f64::NAN },
            percent_of_roof: 100.0 * roof / time,
            usd_per_million: device.usd_per_second * time * 1e6,
            gpu: &gpu.name,
            calibration: &device.calibration,
            ..Outcome::default()
        };
        self.built = Some((launch.kernel, blocks));
        Ok(answer)
    }
}
