//! The occupancy calculator alone: a compute capability or gfx target, the resources of a block, every limit with its reason.

use super::{
    command::line,
    query::{Reader, Refusals, Writer},
    state::WORDS,
    view::{Number, View, capital},
};
use crate::{
    chart::{OccupancyPanels, figures::occupancy_figure},
    gpu::{Accumulation, Catalog, ComputeCapability, CuLimits, Limits, WorkgroupMode},
    occupancy::{BlockLimits, Carveout, Occupancy, Resource, Resources, advice, amd, occupancy},
    report::residency,
    units::{grouped, plural},
};

/// Most shared memory of a block that is read, in bytes.
const MOST_SHARED: u64 = 1 << 20;

/// What runs the block.
#[derive(Clone, Debug, PartialEq)]
pub enum Device {
    /// Any GPU of a compute capability.
    Capability(ComputeCapability),
    /// Any AMD GPU of a target.
    Gfx(String),
}

/// What the address of the calculator holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Calculator {
    /// What runs the block.
    pub device: Device,
    /// What a block asks.
    pub resources: Resources,
    /// Threads of a wavefront; that of the target without.
    pub wave: Option<u32>,
    /// What a workgroup must fit in; that of the target without.
    pub mode: Option<WorkgroupMode>,
    /// Whether a trap handler takes scalar registers.
    pub trap: bool,
}

/// The answer for a block.
#[derive(Clone, Debug)]
pub struct Residence {
    /// The limits with the options of the address.
    pub limits: Limits,
    /// What was found.
    pub found: Occupancy,
    /// What is said of it.
    pub view: View,
}

const MODES: [(&str, WorkgroupMode); 2] = [("cu", WorkgroupMode::Cu), ("wgp", WorkgroupMode::Wgp)];

impl Default for Calculator {
    fn default() -> Self {
        let resources = Resources { threads_per_block: 256, registers_per_thread: 32, ..Resources::default() };
        let device = Device::Capability(ComputeCapability { major: 9, minor: 0 });
        Self { device, resources, wave: None, mode: None, trap: true }
    }
}

impl Calculator {
    /// Reads the query of an address; options of the other vendor are notices.
    ///
    /// # Errors
    /// Every value that is not taken, with what would be.
    pub fn parse(query: &str) -> Result<(Self, Vec<String>), Refusals> {
        let mut reader = Reader::new(query)?;
        let mut device = Self::default().device;
        // The list of the page has targets of both vendors under one key.
        for key in ["cc", "gfx", "on"] {
            let Some(text) = reader.short(key, WORDS) else { continue };
            if key == "gfx" || (key == "on" && text.starts_with("gfx")) {
                device = Device::Gfx(text);
            } else {
                match text.parse() {
                    Ok(capability) => device = Device::Capability(capability),
                    Err(problem) => reader.refuse(key, &text, problem),
                }
            }
        }
        let usual = Self::default().resources;
        let mut count = |key, low, high: u64, usual: u32| reader.count(key, low..=high).map_or(usual, |n| n as u32);
        let mut resources = Resources {
            threads_per_block: count("threads", 1, 1024, usual.threads_per_block),
            registers_per_thread: count("regs", 0, 512, usual.registers_per_thread),
            static_shared: count("static", 0, MOST_SHARED, 0),
            dynamic_shared: count("dynamic", 0, MOST_SHARED, 0),
            ..usual
        };
        let (mut wave, mut mode, mut trap) = (None, None, true);
        if matches!(device, Device::Gfx(_)) {
            resources.accumulation_registers = reader.count("agprs", 0..=512).unwrap_or(0) as u32;
            resources.scalar_registers = reader.count("sgprs", 0..=512).unwrap_or(0) as u32;
            wave = reader.word("wave", &[("32", 32), ("64", 64)]);
            mode = reader.word("mode", &MODES);
            trap = reader.count("trap", 0..=1) != Some(0);
        } else {
            let percent = reader.count("carveout", 0..=100);
            resources.carveout = percent.map_or(Carveout::Largest, |percent| Carveout::Percent(percent as u8));
            resources.opt_in = reader.count("optin", 0..=1) != Some(0);
            resources.barriers = reader.count("barriers", 0..=16).unwrap_or(1) as u32;
        }
        Ok((Self { device, resources, wave, mode, trap }, reader.finish()?))
    }

    /// The query that [`Calculator::parse`] reads as this.
    pub fn query(&self) -> String {
        let mut writer = Writer::default();
        let r = &self.resources;
        match &self.device {
            Device::Capability(capability) => writer.add("cc", Some(capability)),
            Device::Gfx(gfx) => writer.add("gfx", Some(gfx)),
        }
        writer.add("threads", Some(r.threads_per_block));
        writer.add("regs", Some(r.registers_per_thread));
        writer.add("static", Some(r.static_shared));
        writer.add("dynamic", Some(r.dynamic_shared));
        match self.device {
            Device::Capability(_) => {
                writer.add("carveout", self.carveout());
                writer.add("optin", (!r.opt_in).then_some(0));
                writer.add("barriers", Some(r.barriers));
            }
            Device::Gfx(_) => {
                writer.add("agprs", Some(r.accumulation_registers));
                writer.add("sgprs", Some(r.scalar_registers));
                writer.add("wave", self.wave);
                writer.add("mode", self.mode.map(mode_word));
                writer.add("trap", (!self.trap).then_some(0));
            }
        }
        writer.finish()
    }

    /// The carve-out in percent, where one is asked for.
    pub fn carveout(&self) -> Option<u8> {
        if let Carveout::Percent(percent) = self.resources.carveout { Some(percent) } else { None }
    }

    /// The word of the mode in addresses and commands.
    pub(super) fn mode(&self) -> Option<&'static str> {
        self.mode.map(mode_word)
    }

    /// The same as a command line.
    pub fn command(&self) -> String {
        let r = &self.resources;
        let mut words = vec!["occupancy".to_owned()];
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        match &self.device {
            Device::Capability(capability) => add("--cc", capability.to_string()),
            Device::Gfx(gfx) => add("--gfx", gfx.clone()),
        }
        add("--block", r.threads_per_block.to_string());
        add("--regs", r.registers_per_thread.to_string());
        add("--static-smem", format!("{} B", r.static_shared));
        add("--dynamic-smem", format!("{} B", r.dynamic_shared));
        match self.device {
            Device::Capability(_) => {
                if let Some(percent) = self.carveout() {
                    add("--carveout", percent.to_string());
                }
                add("--barriers", r.barriers.to_string());
                words.extend((!r.opt_in).then(|| "--no-opt-in".to_owned()));
            }
            Device::Gfx(_) => {
                add("--agprs", r.accumulation_registers.to_string());
                add("--sgprs", r.scalar_registers.to_string());
                if let Some(wave) = self.wave {
                    add("--wave-size", wave.to_string());
                }
                if let Some(mode) = self.mode() {
                    add("--workgroup-mode", mode.into());
                }
                words.extend((!self.trap).then(|| "--no-trap-handler".to_owned()));
            }
        }
        line(&words)
    }

    /// The limits of the device with the options of the address.
    fn limits(&self, catalog: &Catalog) -> Result<Limits, Refusals> {
        match &self.device {
            Device::Capability(capability) => {
                let refuse = |error| Refusals::one("cc", &capability.to_string(), error);
                Ok(Limits::Sm(catalog.limits(*capability).map_err(refuse)?))
            }
            Device::Gfx(gfx) => {
                let refuse = |error| Refusals::one("gfx", gfx, error);
                let unit = catalog.compute_unit(gfx).map_err(refuse)?;
                if unit.accumulation == Accumulation::None && self.resources.accumulation_registers > 0 {
                    let asked = self.resources.accumulation_registers.to_string();
                    return Err(Refusals::one("agprs", &asked, format!("0: {gfx} has no accumulation registers")));
                }
                let unit = CuLimits {
                    wave_size: self.wave.unwrap_or(unit.wave_size),
                    workgroup_mode: self.mode.unwrap_or(unit.workgroup_mode),
                    trap_handler: unit.trap_handler && self.trap,
                    ..unit
                };
                Ok(Limits::Cu(unit.checked().map_err(refuse)?))
            }
        }
    }

    /// The answer.
    ///
    /// # Errors
    /// The device is unknown or lacks what is asked.
    pub fn answer(&self, catalog: &Catalog) -> Result<Residence, Refusals> {
        let limits = self.limits(catalog)?;
        let found = occupancy(&limits, &self.resources);
        let view = self.view(&limits, &found);
        Ok(Residence { limits, found, view })
    }

    /// The staircases.
    pub fn figure(&self, residence: &Residence) -> Option<OccupancyPanels> {
        occupancy_figure("Occupancy", &residence.limits.named(), &[], &residence.limits, &self.resources)
    }

    fn view(&self, limits: &Limits, found: &Occupancy) -> View {
        let (r, words) = (&self.resources, limits.words());
        let limiters = found.limiters();
        let refused = found.blocks_per_sm == 0;
        let head = if refused { String::new() } else { residency::residency(found) + ". " };
        let verdict = head + &residency::limit(limits, r, found);
        let rows = Resource::of(limits).iter().map(|&resource| {
            let value = match found.limits.of(resource) {
                BlockLimits::UNLIMITED => "no limit".to_owned(),
                blocks => plural(blocks.into(), "block"),
            };
            let mark = if limiters.contains(resource) { " (limiter)" } else { "" };
            let used = self.used(resource, limits, found);
            let name = capital(&words.say(resource.label()));
            Number { name: name + mark, value: words.say(&value), formula: words.say(&used) }
        });
        let mut helps: Vec<String> = advice::joint_step(limits, r, found).iter().map(|s| s.sentence(found)).collect();
        if refused {
            helps.extend(residency::largest_block(limits, r));
        }
        helps.extend(residency::registers_for_all(limits, r));
        let best = advice::best_block_sizes(limits, r);
        helps.extend(best.first().map(|first| {
            let (share, sizes) = (residency::occupancy_percent(first.fraction), residency::block_sizes(&best));
            format!("block sizes with the most occupancy ({share} %): {sizes}")
        }));
        View {
            title: limits.named(),
            verdict: words.say(&verdict),
            numbers: rows.collect(),
            helps: helps.iter().map(|help| words.say(help)).collect(),
            findings: limits.cu().map_or_else(Vec::new, |unit| conventions(unit, r)),
            assumptions: Vec::new(),
        }
    }

    /// What a block takes of a resource, and how much there is.
    fn used(&self, resource: Resource, limits: &Limits, found: &Occupancy) -> String {
        let r = &self.resources;
        let bytes = |bytes: u32| format!("{} B", grouped(bytes.into()));
        match resource {
            Resource::Warps => {
                let threads = plural(r.threads_per_block.into(), "thread");
                format!("{threads} = {} of {} warps", found.warps_per_block, found.max_warps)
            }
            Resource::Registers => {
                let threads = found.warps_per_block * limits.warp_size();
                let given = found.registers_per_block.checked_div(threads).unwrap_or(0);
                let asked = match r.accumulation_registers {
                    0 => r.registers_per_thread.to_string(),
                    more => format!("{} and {more} AGPRs", r.registers_per_thread),
                };
                let block = grouped(found.registers_per_block.into());
                format!("{asked} asked, {given} taken per thread x {threads} threads = {block} per block")
            }
            Resource::Shared => {
                let (taken, most) = (bytes(found.shared_per_block), bytes(found.shared_capacity));
                format!("{} asked, {taken} taken of {most}", bytes(r.shared()))
            }
            Resource::Blocks => "slots for blocks, whatever they take".into(),
            Resource::Barriers => format!("{} per block", plural(r.barriers.into(), "barrier")),
            Resource::Scalars => format!("{} per warp", r.scalar_registers),
        }
    }
}

fn mode_word(mode: WorkgroupMode) -> &'static str {
    MODES.iter().find(|(_, known)| *known == mode).map_or("", |(word, _)| word)
}

/// What other counts of the same say.
fn conventions(unit: &CuLimits, resources: &Resources) -> Vec<String> {
    let found = amd::residency(unit, resources);
    let (simds, slots, wave) = (unit.simds(), unit.max_waves_per_simd, unit.wave_size);
    vec![
        format!("{simds} SIMDs of {slots} wavefront slots, wavefronts of {wave} threads"),
        format!("LLVM prints Occupancy: {} (wavefronts per SIMD)", found.llvm_waves_per_simd),
        residency::hip_answers(found.hip_blocks),
    ]
}
