//! The GPUs of a trace: what the file says of them, and what follows from its launches.

use std::collections::BTreeMap;

use super::event::{Arguments, Properties};
use crate::{profile::ObservedDevice, units::Bytes};

/// Numbers of devices are below this; a process sees far fewer, and anything else is no number of a device.
const MOST: u32 = 1024;

/// What is known of the GPUs so far.
#[derive(Default)]
pub(super) struct Devices {
    described: BTreeMap<u32, ObservedDevice>,
    /// SMs by device, from its launches; 0 where they contradict each other.
    counted: BTreeMap<u32, u32>,
    /// Whether AMD's runtime or tracer wrote the file.
    amd: bool,
}

impl Devices {
    /// The number of the device of an event; the process number stands for it where the arguments lack one.
    pub fn number(arguments: &Arguments<'_>, process: Option<u32>) -> u32 {
        let device = arguments.device.small().filter(|number| *number < MOST);
        device.or(process.filter(|number| *number < MOST)).unwrap_or(0)
    }

    /// Takes notice of a sign of AMD's runtime or tracer.
    pub fn amd(&mut self) {
        self.amd = true;
    }

    /// Takes a description; the first of a number counts. False where it has no number.
    pub fn describe(&mut self, properties: &Properties<'_>) -> bool {
        let Some(index) = properties.id.small().filter(|number| *number < MOST) else { return false };
        let positive = |number: Option<u32>| number.filter(|n| *n > 0);
        let name = properties.name.trim();
        let lower = name.to_ascii_lowercase();
        // Compute capability 9.0 of an AMD GPU is gfx90x, not Hopper.
        self.amd |= ["amd", "radeon", "instinct", "gfx"].iter().any(|word| lower.contains(word));
        self.amd |= properties.warp_size.small() == Some(64);
        let capability = properties.major.small().zip(properties.minor.small());
        let warp = positive(properties.warp_size.small());
        let size = |bytes: Option<f64>| bytes.filter(|bytes| *bytes > 0.0).map(Bytes);
        self.described.entry(index).or_insert_with(|| ObservedDevice {
            index: Some(index),
            name: (!name.is_empty()).then(|| name.to_owned()),
            compute_capability: capability.map(|(major, minor)| format!("{major}.{minor}")),
            sm_count: positive(properties.sms.small()),
            memory_capacity: size(properties.memory.real()),
            max_warps_per_sm: positive(properties.threads_per_sm.small()).zip(warp).map(|(all, warp)| all / warp),
            registers_per_sm: positive(properties.registers_per_sm.small()),
            shared_per_sm: size(properties.shared_per_sm.real()),
            ..ObservedDevice::default()
        });
        true
    }

    /// Takes the SMs that follow from a launch: its blocks, divided by the stated blocks per SM.
    pub fn count(&mut self, device: u32, blocks: u64, blocks_per_sm: f64) {
        let count = (blocks as f64 / blocks_per_sm).round();
        // The quotient is printed with six decimals or eight digits.
        let fits = (1.0..1e6).contains(&count) && (blocks as f64 / count / blocks_per_sm - 1.0).abs() < 1e-4;
        let count = if fits { count as u32 } else { return };
        let known = self.counted.entry(device).or_insert(count);
        if *known != count {
            *known = 0;
        }
    }

    /// The devices, and a note for each that the file does not describe.
    pub fn finish(mut self) -> (Vec<(u32, ObservedDevice)>, Vec<String>) {
        let mut notes = Vec::new();
        if self.amd {
            for device in self.described.values_mut() {
                device.compute_capability = None;
            }
        }
        for (number, count) in self.counted {
            let device = self.described.entry(number).or_default();
            if count > 0 && device.sm_count.is_none() {
                device.index = Some(number);
                device.sm_count = Some(count);
                notes.push(format!(
                    "the file does not describe device {number}: its {count} SMs follow from the blocks and blocks per \
                     SM of its launches"
                ));
            }
        }
        (self.described.into_iter().collect(), notes)
    }
}
