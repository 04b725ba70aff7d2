//! `compare`: one scenario on several GPUs side by side, or two profiles before and after.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use clap::Args as ClapArgs;

use super::{
    EXIT_CHECK, EXIT_OK,
    args::{GpuArgs, OutputArgs},
    input::{self, Input},
    show::Outcome,
    table::{Cell, Table},
    world,
};
use crate::{
    profile::{ObservedKernel, Profile, short_name},
    units::significant,
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
            let mut outcome = Outcome::default();
            input::run_cases(&cases, args.output.quiet, &mut outcome);
            for error in &outcome.errors {
                world::note(false, &format!("{}: {}", error.kernel, error.message));
            }
            args.output.emit(&devices(&outcome).render(args.output.format)?)?;
            for line in outcome.analyses.iter().flat_map(|a| &a.gpu.changes).chain(&outcome.assumptions) {
                world::note(args.output.quiet, &format!("note: {line}"));
            }
            Ok(if outcome.errors.is_empty() { EXIT_OK } else { EXIT_CHECK })
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

/// One row per kernel and device; the ratio is against the first device of the same kernel.
fn devices(outcome: &Outcome) -> Table {
    let mut first: BTreeMap<String, f64> = BTreeMap::new();
    let rows = outcome.analyses.iter().map(|a| {
        // The what-if stands behind a case's label; kernels of one name are compared.
        let name = a.launch.kernel.name.split(" [").next().unwrap_or_default().to_owned();
        let time = a.time.estimate.get() * 1e6;
        let base = *first.entry(name).or_insert(time);
        let gpu = if a.gpu.changes.is_empty() { a.gpu.id.clone() } else { format!("{} *", a.gpu.id) };
        vec![
            a.launch.kernel.name.as_str().into(),
            gpu.into(),
            time.into(),
            (base / time).into(),
            a.verdict.bound.word().into(),
            (a.launch.occupancy.fraction() * 100.0).into(),
            a.schedule.waves().into(),
            (a.time.tail_cost * 100.0).into(),
        ]
    });
    let four = |cell: Cell| match cell {
        Cell::Number(n) => Cell::from(significant(n, 4).parse::<f64>().ok()),
        other => other,
    };
    Table {
        columns: vec![
            ("Kernel", "kernel"),
            ("GPU", "gpu"),
            ("Time\nus", "time_us"),
            ("Speed-up", "speedup"),
            ("Bound", "bound"),
            ("Occ.\n%", "theoretical_occupancy_pct"),
            ("Waves", "waves"),
            ("Tail\n%", "tail_cost_pct"),
        ],
        rows: rows.map(|row: Vec<Cell>| row.into_iter().map(four).collect()).collect(),
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
