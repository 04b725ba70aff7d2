//! The answer of `occupancy` for one configuration, as text, JSON, CSV and Markdown.

use std::fmt::Write;

use anyhow::Result;
use serde_json::json;

use crate::{
    cli::{
        args::Format,
        table::{Cell, Table},
        world::{self, counted},
    },
    gpu::{Accumulation, CuLimits, Limits, WorkgroupMode},
    occupancy::{
        BlockLimits, Occupancy, Resource, Resources,
        advice::{self, BlockSize},
        amd, occupancy,
    },
    report::{Part, page, residency},
};

/// One configuration with everything that is said about it.
pub(super) struct Answer {
    name: String,
    limits: Limits,
    notes: Vec<String>,
    resources: Resources,
    found: Occupancy,
    steps: Vec<String>,
    sizes: Vec<BlockSize>,
    bounds: Option<String>,
}

fn count(blocks: u32) -> String {
    counted(blocks.into(), "block")
}

/// Registers that a thread of an NVIDIA GPU is given: counts that round alike have the same residency.
fn rounded(limits: &Limits, resources: &Resources, found: &Occupancy) -> Option<u32> {
    let threads = found.warps_per_block * limits.sm()?.warp_size;
    (resources.registers_per_thread > 0).then(|| found.registers_per_block.checked_div(threads)).flatten()
}

impl Answer {
    pub fn new(name: String, notes: Vec<String>, limits: &Limits, resources: Resources, want: Option<u32>) -> Self {
        let found = occupancy(limits, &resources);
        let joint = advice::joint_step(limits, &resources, &found);
        let mut steps: Vec<String> = joint.iter().map(|s| s.sentence(&found)).collect();
        if found.blocks_per_sm == 0 {
            steps.extend(residency::largest_block(limits, &resources));
        } else if found.limiters().contains(Resource::Blocks) && found.active_warps() < found.max_warps {
            steps.push("all block slots are taken: larger blocks fill more warp slots".into());
        }
        steps.extend(residency::registers_for_all(limits, &resources));
        let words = limits.words();
        steps.iter_mut().for_each(|step| *step = words.say(step));
        let bounds = want.map(|wanted| {
            let b = advice::launch_bounds(limits, &resources, wanted);
            let budget =
                b.max_registers.map_or("no register count".to_owned(), |r| format!("at most {r} registers per thread"));
            // The second argument is blocks per SM in CUDA and wavefronts per SIMD in HIP.
            let second = match limits {
                Limits::Cu(cu) => wanted.saturating_mul(found.warps_per_block).div_ceil(cu.simds()),
                _ => wanted,
            };
            let asked = format!("__launch_bounds__({}, {second})", resources.threads_per_block);
            let sentence = if b.reachable_blocks < wanted {
                format!("cannot be met: at most {} of this size fit, with {budget}", count(b.reachable_blocks))
            } else {
                budget
            };
            let sentence = words.say(&sentence);
            let note = match limits {
                Limits::Cu(_) => words.say(&format!(" ({} per SM)", count(wanted))),
                _ => String::new(),
            };
            if b.reachable_blocks < wanted {
                format!("{asked}{note} {sentence}")
            } else {
                format!("{asked}{note}: {sentence}")
            }
        });
        let sizes = advice::best_block_sizes(limits, &resources);
        Self { name, limits: limits.clone(), notes, resources, found, steps, sizes, bounds }
    }

    fn table(&self) -> Table<'static> {
        let r = &self.resources;
        let used = |resource| match resource {
            Resource::Warps => format!(
                "{} = {}",
                counted(r.threads_per_block.into(), "thread"),
                counted(self.found.warps_per_block.into(), "warp")
            ),
            Resource::Registers => {
                let taken = match rounded(&self.limits, r, &self.found) {
                    Some(taken) if taken > r.registers_per_thread => format!(" -> {taken}"),
                    _ => String::new(),
                };
                let per_block = self.found.registers_per_block;
                match r.accumulation_registers {
                    0 => format!("{}{taken} per thread = {per_block} per block", r.registers_per_thread),
                    agprs => {
                        let threads = self.found.warps_per_block * self.limits.warp_size();
                        let given = per_block.checked_div(threads).unwrap_or(0);
                        let apart = self.limits.cu().is_some_and(|cu| cu.accumulation == Accumulation::Separate);
                        let and = if apart { "beside" } else { "+" };
                        let exact = apart || given == r.registers_per_thread.saturating_add(agprs);
                        let is = if exact { "=" } else { "->" };
                        let asked = format!("{} {and} {agprs} AGPRs", r.registers_per_thread);
                        format!("{asked} {is} {given} per thread = {per_block} per block")
                    }
                }
            }
            Resource::Shared => format!("{} B asked = {} B taken", r.shared(), self.found.shared_per_block),
            Resource::Blocks => String::new(),
            Resource::Barriers => r.barriers.to_string(),
            Resource::Scalars => format!("{} per warp", r.scalar_registers),
        };
        let words = self.limits.words();
        let limiters = self.found.limiters();
        let rows = Resource::of(&self.limits).iter().map(|&resource| {
            let blocks = match self.found.limits.of(resource) {
                BlockLimits::UNLIMITED => Cell::Number(f64::INFINITY),
                blocks => Cell::from(blocks),
            };
            let mark = if limiters.contains(resource) { "limiter" } else { "" };
            vec![words.say(resource.label()).into(), words.say(&used(resource)).into(), blocks, mark.into()]
        });
        let amd = self.limits.cu().is_some();
        let per_unit = match words.unit {
            "CU" => "Workgroups per CU",
            "WGP" => "Workgroups per WGP",
            _ => "Blocks per SM",
        };
        Table {
            columns: vec![
                ("Resource", "resource"),
                (if amd { "A workgroup takes" } else { "A block takes" }, "used"),
                (per_unit, "blocks_per_sm"),
                ("", "limiter"),
            ],
            rows: rows.collect(),
        }
    }

    /// Residency, and what limits it.
    fn summary(&self) -> [String; 2] {
        let words = self.limits.words();
        let limit = residency::limit(&self.limits, &self.resources, &self.found);
        [format!("{}: {}", self.name, words.say(&residency::residency(&self.found))), words.say(&limit)]
    }

    /// What follows the table: headings with their lines.
    fn lists(&self) -> Vec<(String, Vec<String>)> {
        let conventions = self.limits.cu().map_or_else(Vec::new, |unit| self.conventions(unit));
        let mut lists = vec![("Conventions".to_owned(), conventions), ("Next step".to_owned(), self.steps.clone())];
        lists.extend(self.bounds.iter().map(|bounds| ("Launch bounds".to_owned(), vec![bounds.clone()])));
        if let Some(best) = self.sizes.first() {
            let what = if self.limits.cu().is_some() { "Workgroup" } else { "Block" };
            let heading =
                format!("{what} sizes with the most occupancy ({} %)", residency::occupancy_percent(best.fraction));
            lists.push((heading, vec![residency::block_sizes(&self.sizes)]));
        }
        lists.retain(|(_, items)| !items.is_empty());
        lists
    }

    pub fn render(&self, format: Format) -> Result<String> {
        match format {
            Format::Json => Ok(serde_json::to_string_pretty(&self.json())? + "\n"),
            Format::Csv => self.table().render(Format::Csv),
            Format::Html => {
                let lists = self.lists().into_iter().map(|(heading, items)| Part::List { heading, items });
                let notes = self.notes.iter().map(|n| Part::Text(format!("Note: {n}")));
                let parts = self.summary().into_iter().map(Part::Text).chain([Part::Table(self.table().page())]);
                Ok(page(&format!("Occupancy on {}", self.name), &parts.chain(lists).chain(notes).collect::<Vec<_>>()))
            }
            Format::Text | Format::Markdown => {
                let width = if format == Format::Text { world::width() } else { usize::MAX };
                let mut text = self.summary().map(|line| textwrap::fill(&line, width)).join("\n") + "\n";
                write!(text, "\n{}", self.table().render(format)?)?;
                let options = textwrap::Options::new(world::width()).initial_indent("- ").subsequent_indent("  ");
                for (heading, items) in self.lists() {
                    write!(text, "\n{heading}\n")?;
                    items.iter().for_each(|item| text += &(textwrap::fill(item, &options) + "\n"));
                }
                let note = |note: &String| textwrap::fill(&format!("Note: {note}"), world::width());
                self.notes.iter().for_each(|n| text += &format!("\n{}\n", note(n)));
                Ok(text)
            }
        }
    }

    /// What the AMD figures mean, and what the two other conventions say.
    fn conventions(&self, unit: &CuLimits) -> Vec<String> {
        let found = amd::residency(unit, &self.resources);
        let (simds, most) = (unit.simds(), unit.max_waves_per_simd);
        let mode = match unit.workgroup_mode {
            WorkgroupMode::Cu => "a compute unit (CU mode)".to_owned(),
            WorkgroupMode::Wgp => "a pair of compute units (WGP mode)".into(),
        };
        let trap = match (unit.trap_handler, unit.trap_sgprs) {
            (true, Some(taken)) => format!(", {taken} SGPRs per wavefront for the trap handler"),
            _ => String::new(),
        };
        vec![
            format!(
                "{}: {mode} has {simds} SIMDs of {most} wavefront slots; wavefronts of {}{trap}",
                unit.gfx, unit.wave_size
            ),
            format!("LLVM prints `Occupancy: {}` (wavefronts per SIMD, rounded up)", found.llvm_waves_per_simd),
            residency::hip_answers(found.hip_blocks) + " (no barrier slots, no LDS granule)",
        ]
    }

    fn json(&self) -> serde_json::Value {
        let conventions = self.limits.cu().map(|unit| amd::residency(unit, &self.resources));
        let limit = |resource| match self.found.limits.of(resource) {
            BlockLimits::UNLIMITED => "inf".into(),
            blocks => serde_json::Value::from(blocks),
        };
        json!({
            "schema": "wavecast.occupancy/1",
            "version": env!("CARGO_PKG_VERSION"),
            "device": self.name,
            "notes": self.notes,
            "threads_per_block": self.resources.threads_per_block,
            "registers_per_thread": self.resources.registers_per_thread,
            "static_smem_bytes": self.resources.static_shared,
            "dynamic_smem_bytes": self.resources.dynamic_shared,
            "blocks_per_sm": self.found.blocks_per_sm,
            "limiters": self.found.limiters().iter().map(Resource::word).collect::<Vec<_>>(),
            "active_warps": self.found.active_warps(),
            "max_warps": self.found.max_warps,
            "theoretical_occupancy_pct": self.found.fraction() * 100.0,
            "limit_warps": limit(Resource::Warps),
            "limit_regs": limit(Resource::Registers),
            "limit_smem": limit(Resource::Shared),
            "limit_blocks": limit(Resource::Blocks),
            "limit_barriers": limit(Resource::Barriers),
            "alloc_regs_per_block": self.found.registers_per_block,
            "alloc_smem_per_block": self.found.shared_per_block,
            "unit": self.limits.words().unit,
            "limit_sgprs": conventions.map(|_| limit(Resource::Scalars)),
            "hip_blocks_per_cu": conventions.map(|c| c.hip_blocks),
            "llvm_waves_per_simd": conventions.map(|c| c.llvm_waves_per_simd),
            "next_steps": self.steps,
            "launch_bounds": self.bounds,
            "best_block_sizes": self.sizes.iter().map(|s| s.threads).collect::<Vec<_>>(),
        })
    }
}
