//! `compare`: one scenario on several GPUs side by side, or two profiles before and after.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use clap::Args as ClapArgs;
use rayon::prelude::*;

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{GpuArgs, OutputArgs},
    input::{self, Input},
    table::{Cell, Table},
    world,
};
use crate::{
    analysis::Analysis,
    launch::LaunchError,
    profile::{ObservedKernel, Profile, short_name},
    scenario::Case,
    units::{decimal, significant},
};

#[derive(ClapArgs)]
pub struct Args {
    /// One scenario, or two Nsight Compute CSVs: before and after
    #[arg(required = true, num_args = 1..=2, value_name = "FILE")]
    files: Vec<String>,
    #[command(flatten)]
    gpu: GpuArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub fn run(args: Args) -> Result<u8> {
    let mut inputs = args.files.iter().map(|f| input::read(f)).collect::<Result<Vec<_>>>()?.into_iter();
    match (inputs.next(), inputs.next()) {
        (Some(Input::Scenario(scenario)), None) => {
            let catalog = args.gpu.folder.catalog()?;
            let cases = input::cases(*scenario, &args.gpu, &catalog)?;
            let found: Vec<_> = cases.par_iter().map(|case| (case, case.analyse())).collect();
            if let (false, Some((_, Err(error)))) = (found.iter().any(|(_, r)| r.is_ok()), found.first()) {
                bail!("{error}");
            }
            args.output.emit(&devices(&found).render(args.output.format)?)?;
            notes(&found, args.output.quiet);
            Ok(if found.iter().all(|(_, result)| result.is_ok()) { EXIT_OK } else { EXIT_CHECK })
        }
        (Some(Input::Profile(before)), Some(Input::Profile(after))) => {
            args.output.emit(&profiles(&before, &after).render(args.output.format)?)?;
            Ok(EXIT_OK)
        }
        (Some(Input::Profile(_)), None) => {
            bail!("one profile was given: `compare` takes two, before and after (`analyze` takes one)")
        }
        _ => bail!("`compare` takes one scenario, or two profiles: not a mixture, and not two scenarios"),
    }
}

type Found<'a> = (&'a Case, Result<Analysis, LaunchError>);

/// What was changed and assumed, once each, and the launches that cannot run.
fn notes(found: &[Found], quiet: bool) {
    let mut said = BTreeSet::new();
    let mut in_order: Vec<String> = Vec::new();
    for (case, result) in found {
        let name = case.what_if.as_ref().map_or_else(|| "what-if".to_owned(), |name| format!("what-if {name}"));
        let changes = case.gpu.changes.iter().map(|c| format!("{name}: {c}"));
        for note in changes.chain(case.assumptions.iter().map(|a| format!("assumed: {a}"))) {
            if said.insert(note.clone()) {
                in_order.push(note);
            }
        }
        if let Err(error) = result {
            world::note(false, &format!("{} on {}: {error}", case.label, case.gpu.id));
        }
    }
    in_order.iter().for_each(|note| world::note(quiet, note));
}

/// One row per kernel and device; the speed-up is against the first device of the same kernel.
fn devices(found: &[Found]) -> Table {
    let mut first: BTreeMap<&str, f64> = BTreeMap::new();
    let rows = found.iter().filter_map(|(case, result)| Some((case, result.as_ref().ok()?))).map(|(case, a)| {
        let suffix = case.what_if.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
        let kernel = case.label.strip_suffix(&suffix).unwrap_or(&case.label);
        let device = match (&case.what_if, case.gpu.changes.is_empty()) {
            (Some(name), _) => format!("{}, {name}", case.gpu.id),
            (None, false) => format!("{}, --set", case.gpu.id),
            (None, true) => case.gpu.id.clone(),
        };
        let time = a.time.estimate.get() * 1e6;
        let base = *first.entry(kernel).or_insert(time);
        let places = |value: f64, places| decimal(value, places).parse::<f64>().ok();
        vec![
            kernel.into(),
            device.into(),
            significant(time, 4).parse::<f64>().ok().into(),
            places(base / time, 2).into(),
            a.verdict.bound.word().into(),
            places(a.launch.occupancy.fraction() * 100.0, 1).into(),
            significant(a.schedule.waves(), 4).parse::<f64>().ok().into(),
            places(a.time.tail_cost * 100.0, 1).into(),
        ]
    });
    let rows = rows.collect();
    Table {
        columns: vec![
            ("Kernel", "kernel"),
            ("Device", "device"),
            ("Time\nus", "time_us"),
            ("Speed-up", "speedup"),
            ("Bound", "bound"),
            ("Occ.\n%", "theoretical_occupancy_pct"),
            ("Waves", "waves"),
            ("Tail\n%", "tail_cost_pct"),
        ],
        rows,
    }
}

/// Kernels by name and by how often the name came before, so that repeated launches meet their partners.
fn keyed(profile: &Profile) -> Vec<((String, usize), &ObservedKernel)> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for kernel in &profile.kernels {
        let count = seen.entry(&kernel.name).or_default();
        all.push(((kernel.name.clone(), *count), kernel));
        *count += 1;
    }
    all
}

fn profiles(before: &Profile, after: &Profile) -> Table {
    let old = keyed(before);
    let new: BTreeMap<_, _> = keyed(after).into_iter().collect();
    let known: BTreeMap<_, _> = old.iter().cloned().collect();
    let us = |k: Option<&&ObservedKernel>| k.and_then(|k| k.duration).map(|d| d.get() * 1e6);
    let row = |key: &(String, usize), old: Option<&&ObservedKernel>, new: Option<&&ObservedKernel>| {
        let name = short_name(&key.0) + &if key.1 > 0 { format!(" #{}", key.1 + 1) } else { String::new() };
        let speedup = us(old).zip(us(new)).filter(|(_, n)| *n > 0.0).map(|(o, n)| o / n);
        let note = match (old, new) {
            (Some(_), None) => "only before",
            (None, Some(_)) => "only after",
            _ => "",
        };
        vec![
            name.into(),
            us(old).into(),
            us(new).into(),
            speedup.map(|s| (s * 1e3).round() / 1e3).into(),
            old.and_then(|k| k.theoretical_occupancy_pct).into(),
            new.and_then(|k| k.theoretical_occupancy_pct).into(),
            old.and_then(|k| k.registers_per_thread).into(),
            new.and_then(|k| k.registers_per_thread).into(),
            note.into(),
        ]
    };
    let mut rows: Vec<Vec<Cell>> = old.iter().map(|(key, kernel)| row(key, Some(kernel), new.get(key))).collect();
    rows.extend(
        new.iter().filter(|(key, _)| !known.contains_key(*key)).map(|(key, kernel)| row(key, None, Some(kernel))),
    );
    Table {
        columns: vec![
            ("Kernel", "kernel"),
            ("Before\nus", "before_us"),
            ("After\nus", "after_us"),
            ("Speed-up", "speedup"),
            ("Occ. %\nbefore", "before_occupancy_pct"),
            ("Occ. %\nafter", "after_occupancy_pct"),
            ("Regs\nbefore", "before_registers"),
            ("Regs\nafter", "after_registers"),
            ("", "note"),
        ],
        rows,
    }
}
