//! `gpus limits`: what one block may use and what one SM holds, per compute capability and gfx target.

use anyhow::Result;

use crate::{
    cli::table::{Cell, Table},
    gpu::{Catalog, CuLimits, SmLimits},
};

fn kib(bytes: u32) -> Cell {
    (f64::from(bytes) / 1024.0).into()
}

fn nvidia(sm: &SmLimits) -> Vec<Cell> {
    vec![
        sm.compute_capability.to_string().into(),
        sm.max_threads_per_block.into(),
        sm.max_registers_per_thread.into(),
        kib(sm.max_shared_per_block_optin),
        sm.max_threads_per_sm.into(),
        sm.max_warps_per_sm.into(),
        sm.max_blocks_per_sm.into(),
        sm.registers_per_sm.into(),
        kib(sm.shared_per_sm),
    ]
}

/// A compute unit or, on RDNA, the pair of them that a workgroup must fit in by default.
fn amd(unit: &CuLimits) -> Vec<Cell> {
    vec![
        unit.gfx.as_str().into(),
        unit.max_threads_per_workgroup.into(),
        unit.addressable_vgprs.into(),
        kib(unit.max_lds_per_workgroup),
        (unit.max_waves() * unit.wave_size).into(),
        unit.max_waves().into(),
        (unit.max_workgroups_per_cu * unit.cus_per_unit()).into(),
        (unit.vector().vgprs * unit.wave_size * unit.simds()).into(),
        kib(unit.lds()),
    ]
}

/// The limits of the targets named, of all that are known where none is.
pub(super) fn table(catalog: &Catalog, targets: &[String]) -> Result<Table<'static>> {
    let mut rows = Vec::new();
    for target in targets {
        rows.push(match target.starts_with("gfx") {
            true => amd(&catalog.compute_unit(target)?),
            false => nvidia(&catalog.limits(target.parse()?)?),
        });
    }
    if targets.is_empty() {
        rows.extend(catalog.all_limits()?.iter().map(nvidia));
        rows.extend(catalog.all_compute_units().iter().map(amd));
    }
    Ok(Table {
        columns: vec![
            ("Target", "target"),
            ("Threads\nper block", "max_threads_per_block"),
            ("Regs per\nthread", "max_registers_per_thread"),
            ("KiB per\nblock", "max_shared_per_block_kib"),
            ("Threads\nper SM", "max_threads_per_sm"),
            ("Warps\nper SM", "max_warps_per_sm"),
            ("Blocks\nper SM", "max_blocks_per_sm"),
            ("Regs\nper SM", "registers_per_sm"),
            ("KiB\nper SM", "shared_per_sm_kib"),
        ],
        rows,
    })
}
