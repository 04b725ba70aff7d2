//! Tables of AMD configurations, told by their column `gfx`.

use std::io::{Read, Write};

use super::{BatchError, BatchSummary, given, text, unwritten, whole};
use crate::{
    gpu::{CuLimits, WorkgroupMode},
    occupancy::{
        BlockLimits, Resources,
        amd::{Residency, residency},
    },
    units::significant,
};

/// Columns that a table must have.
pub const REQUIRED: [&str; 4] = ["gfx", "threads_per_workgroup", "vgprs", "lds_bytes"];

/// Columns that a table may have; without them the target's wavefront size, mode and trap handler, and 0 registers.
pub const OPTIONAL: [&str; 5] = ["wave_size", "wgp_mode", "agprs", "sgprs", "trap_handler"];

/// Columns that are added behind those of the input. The unit is a compute unit, in WGP mode a pair of them.
pub const RESULTS: [&str; 17] = [
    "waves_per_workgroup",
    "allocated_vgprs",
    "waves_per_simd_vgpr",
    "waves_per_simd_sgpr",
    "limit_waves",
    "limit_workgroups",
    "limit_vgprs",
    "limit_sgprs",
    "limit_lds",
    "workgroups_per_unit",
    "limiters",
    "active_waves",
    "max_waves_unit",
    "occupancy_pct",
    "hip_blocks",
    "llvm_waves_per_eu",
    "error",
];

/// Evaluates every row behind the header.
pub(super) fn rows(
    mut reader: csv::Reader<impl Read>,
    headers: &csv::ByteRecord,
    output: impl Write,
    units: &[CuLimits],
) -> Result<BatchSummary, BatchError> {
    let find = |name: &str| headers.iter().position(|h| h.trim_ascii() == name.as_bytes());
    let mut required = [0; REQUIRED.len()];
    for (place, name) in required.iter_mut().zip(REQUIRED) {
        *place = find(name).ok_or(BatchError::Column { missing: name, required: &REQUIRED, optional: &OPTIONAL })?;
    }
    let optional = OPTIONAL.map(find);
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(output);
    writer.write_record(headers.iter().chain(RESULTS.iter().map(|r| r.as_bytes()))).map_err(unwritten)?;
    let mut summary = BatchSummary::default();
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(BatchError::Read)? {
        summary.rows += 1;
        let mut row: Vec<Vec<u8>> =
            (0..headers.len()).map(|index| record.get(index).unwrap_or_default().to_vec()).collect();
        let result = evaluate(&record, &required, &optional, units);
        summary.errors += u64::from(result.is_err());
        row.extend(results(result).into_iter().map(String::into_bytes));
        writer.write_record(row).map_err(unwritten)?;
    }
    writer.flush().map_err(BatchError::Write)?;
    Ok(summary)
}

fn evaluate(
    record: &csv::ByteRecord,
    required: &[usize; REQUIRED.len()],
    optional: &[Option<usize>; OPTIONAL.len()],
    units: &[CuLimits],
) -> Result<Residency, String> {
    let gfx = text(record, required[0], REQUIRED[0])?;
    let known = || units.iter().map(|u| u.gfx.as_str()).collect::<Vec<_>>().join(" ");
    let unit = units.iter().find(|u| u.gfx == gfx);
    let unit = unit.ok_or_else(|| format!("no compute unit is known for target `{gfx}` (known: {})", known()))?;
    let optional = |place: usize| given(record, optional[place], OPTIONAL[place]);
    let yes = |place: usize| match optional(place)? {
        None => Ok(None),
        Some(0) => Ok(Some(false)),
        Some(1) => Ok(Some(true)),
        Some(other) => Err(format!("{} = {other} is not 0 or 1", OPTIONAL[place])),
    };
    let mode = yes(1)?.map(|wgp| if wgp { WorkgroupMode::Wgp } else { WorkgroupMode::Cu });
    let unit = CuLimits {
        wave_size: optional(0)?.unwrap_or(unit.wave_size),
        workgroup_mode: mode.unwrap_or(unit.workgroup_mode),
        trap_handler: yes(4)?.unwrap_or(unit.trap_handler),
        ..unit.clone()
    };
    let unit = unit.checked().map_err(|e| e.to_string())?;
    let number = |place: usize| whole(record, required[place], REQUIRED[place]);
    let threads_per_block = number(1)?;
    if threads_per_block == 0 {
        return Err("threads_per_workgroup = 0 must be at least 1".into());
    }
    let asked = Resources {
        threads_per_block,
        registers_per_thread: number(2)?,
        dynamic_shared: number(3)?,
        accumulation_registers: optional(2)?.unwrap_or(0),
        scalar_registers: optional(3)?.unwrap_or(0),
        ..Resources::default()
    };
    Ok(residency(&unit, &asked))
}

fn results(result: Result<Residency, String>) -> Vec<String> {
    let found = match result {
        Ok(found) => found,
        Err(reason) => {
            let value = |name: &&str| match *name {
                "limiters" => "-".into(),
                "error" => reason.clone(),
                _ => "0".to_owned(),
            };
            return RESULTS.iter().map(value).collect();
        }
    };
    let limit = |blocks: u32| if blocks == BlockLimits::UNLIMITED { "inf".into() } else { blocks.to_string() };
    let active = found.workgroups * found.waves_per_workgroup;
    vec![
        found.waves_per_workgroup.to_string(),
        found.allocated_vgprs.to_string(),
        found.waves_per_simd_vgpr.to_string(),
        found.waves_per_simd_sgpr.to_string(),
        limit(found.limit_waves),
        limit(found.limit_workgroups),
        limit(found.limit_vgprs),
        limit(found.limit_sgprs),
        limit(found.limit_lds),
        found.workgroups.to_string(),
        limiters(&found),
        active.to_string(),
        found.max_waves.to_string(),
        significant(f64::from(active) * 100.0 / f64::from(found.max_waves), 6),
        found.hip_blocks.to_string(),
        found.llvm_waves_per_simd.to_string(),
        String::new(),
    ]
}

/// The limits that attain the least, joined by `|`; `invalid` for a workgroup that cannot be launched at all.
fn limiters(found: &Residency) -> String {
    if !found.legal {
        return "invalid".into();
    }
    let limits = [
        ("waves", found.limit_waves),
        ("workgroups", found.limit_workgroups),
        ("vgprs", found.limit_vgprs),
        ("sgprs", found.limit_sgprs),
        ("lds", found.limit_lds),
    ];
    let attained: Vec<&str> =
        limits.into_iter().filter(|(_, l)| *l == found.workgroups).map(|(name, _)| name).collect();
    attained.join("|")
}
