//! MIG in `gpus show`: the profiles of a GPU, how many fit, what stays idle, and what one slice is.
//! All lines are comments, so that the output stays a GPU file.

use std::fmt::Write;

use anyhow::Result;

use crate::{
    gpu::{Catalog, Fraction, Gpu, MigSlice, MigTable},
    units::{Bytes, decimal},
};

/// Columns of a line of prose.
const WIDTH: usize = 100;

fn prose(out: &mut String, text: &str) {
    hanging(out, text, "# ");
}

fn hanging(out: &mut String, text: &str, next: &str) {
    for line in textwrap::wrap(text, textwrap::Options::new(WIDTH).initial_indent("# ").subsequent_indent(next)) {
        out.push_str(&line);
        out.push('\n');
    }
}

/// What a slice is cut from and what it gets; stands where other GPUs have their file.
pub fn slice(gpu: &Gpu, slice: &MigSlice) -> Result<String> {
    let mut out = String::new();
    let MigSlice { gpu: whole, profile, .. } = slice;
    prose(
        &mut out,
        &format!(
            "{}: a slice has no file of its own. It is cut from the whole GPU (wavecast gpus show {whole}) by its profile; \
             clocks, rates per SM, latencies and constants stay.",
            gpu.name
        ),
    );
    writeln!(out, "# SMs   {} of {}", gpu.sm.count, slice.gpu_sm_count)?;
    let dram = &gpu.memory.dram;
    writeln!(
        out,
        "# DRAM  {}, {} ({})",
        dram.capacity.map_or_else(|| "size unknown".into(), |c| gib(c) + " GiB"),
        dram.bandwidth,
        share(profile.mem_fraction)
    )?;
    let l2 = gpu.memory.l2.bandwidth.map_or(String::new(), |b| format!(", {b}"));
    writeln!(out, "# L2    {}{l2} ({})", gpu.memory.l2.capacity, share(profile.l2_fraction))?;
    prose(&mut out, &format!("source: {}", slice.source));
    trap(&mut out);
    Ok(out)
}

/// The profiles of a GPU and its full houses.
pub fn profiles(catalog: &Catalog, gpu: &Gpu, table: &MigTable) -> Result<String> {
    let mut out = String::from("\n");
    prose(
        &mut out,
        &format!(
            "MIG: --gpu {}:PROFILE is one slice (GPU instance). fit: how many of it go together; idle: what these leave \
             of {} SMs and of the memory.",
            gpu.id, table.sm_count
        ),
    );
    writeln!(out, "# {:<14}  SMs     GiB  DRAM    L2  fit  idle: SMs  memory", "profile")?;
    for profile in &table.profiles {
        let Some(house) = table.house_of(profile) else {
            let fit = profile.max_instances;
            writeln!(out, "# {:<36} {fit:>3}  refused: its SM count {}", profile.name, profile.refusal())?;
            continue;
        };
        let cut = catalog.slice(gpu.clone(), &profile.name, &[])?;
        writeln!(
            out,
            "# {:<14} {:>4}  {:>6}  {:>4}  {:>4}  {:>3}  {:>9}  {:>6}",
            profile.name,
            cut.sm.count,
            cut.memory.dram.capacity.map_or_else(String::new, gib),
            share(profile.mem_fraction),
            share(profile.l2_fraction),
            profile.max_instances,
            house.idle_sm,
            format!("{}/{}", house.idle_memory_slices, table.memory_slices),
        )?;
    }
    let groups = table.mixed_houses_by_idle();
    if !groups.is_empty() {
        writeln!(out, "# full houses of several profiles, with the SMs and the memory that they leave idle")?;
    }
    for ((sm, memory), houses) in groups {
        let names: Vec<String> = houses.iter().map(|h| h.to_string().replace(' ', "\u{a0}")).collect();
        let line = format!("{:>4}  {memory}/{}  {}", sm, table.memory_slices, names.join(", "));
        hanging(&mut out, &line, "#            ");
    }
    trap(&mut out);
    for disagreement in &table.disagreements {
        prose(&mut out, disagreement);
    }
    prose(&mut out, &format!("source: {}", table.source));
    Ok(out.replace('\u{a0}', " "))
}

fn share(fraction: Option<Fraction>) -> String {
    fraction.map_or_else(String::new, |f| f.to_string())
}

/// As drivers print the memory of a slice, whatever unit the file has.
fn gib(size: Bytes) -> String {
    decimal(size.get() / f64::from(1 << 30), 2)
}

fn trap(out: &mut String) {
    prose(
        out,
        "A compute instance may be smaller than its GPU instance. A kernel in it runs on its share of the slice's SMs alone, \
         and tools that watch the slice then read a busy kernel as that share: 50 % in 1 of 2 compute slices, 33 % in 1 of 3.",
    );
}
