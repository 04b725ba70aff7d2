//! The constants of mixtures of experts, and which of them a GPU gets.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::{
    gpu::{Band, ComputeCapability, ConstantsOf, Gpu},
    units::Seconds,
};

/// The constants of one library on one GPU.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stack {
    gpu: String,
    family: String,
    compute_capabilities: Vec<ComputeCapability>,
    stands_for: Vec<ComputeCapability>,
    l2_share: f64,
    fixed: Seconds,
    sustained: f64,
    dram: f64,
    tile_cost: Seconds,
    elementwise: f64,
    l2_gain: f64,
    tile_exponent: f64,
    sort: Seconds,
    droop: f64,
    mape: f64,
    band: Band,
    source: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "schema")]
    _schema: u32,
    other_gpu: f64,
    other_family: f64,
    other_type: f64,
    rows: Vec<u64>,
    columns: u64,
    stack: Vec<Stack>,
}

/// The file, read when first asked for. It is part of the program and read in its tests.
static FILE: LazyLock<File> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../gpus/operations/moe.toml")).expect("the embedded constants are valid")
});

/// The constants of mixtures of experts on one GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// Rows of a tile.
    pub rows: Vec<u64>,
    /// Columns of a tile.
    pub columns: u64,
    /// Share of L2 that holds weights.
    pub l2_share: f64,
    /// Launches, routing and set-up of the call.
    pub fixed: Seconds,
    /// Share of the tensor peak.
    pub sustained: f64,
    /// Share of the DRAM bandwidth.
    pub dram: f64,
    /// Time of a tile besides its arithmetic.
    pub tile_cost: Seconds,
    /// Factor on the traffic of activation, zero fill and sum.
    pub elementwise: f64,
    /// Rate of weights in L2 against those in DRAM.
    pub l2_gain: f64,
    /// Exponent of (rows of a tile / 128) on the tensor rate.
    pub tile_exponent: f64,
    /// Sorting of 10,000 routed rows.
    pub sort: Seconds,
    /// Loss of clock of long calls.
    pub droop: f64,
    /// Measured over predicted time.
    pub band: Band,
    /// Exponent on the band's ratios for types that nobody measured.
    pub other_type: f64,
    /// Mean error of the constants where they were measured, in percent.
    pub mape: f64,
    /// The library and the rows.
    pub source: String,
    /// Whose they are.
    pub of: ConstantsOf,
    /// Why nothing was measured on the GPU's family; absent where something was.
    pub unmeasured: Option<&'static str>,
}

impl Constants {
    /// The constants of a GPU: its own, its family's, or those of the family whose tensor cores are most alike. A slice
    /// has those of the whole GPU.
    pub fn of(gpu: &Gpu) -> Self {
        let file = &*FILE;
        let id = gpu.mig.as_ref().map_or(&gpu.id, |slice| &slice.gpu);
        let capability = gpu.limits.sm().map(|sm| sm.compute_capability);
        let has = |list: &[ComputeCapability]| capability.is_some_and(|c| list.contains(&c));
        let find = |keep: &dyn Fn(&&Stack) -> bool| file.stack.iter().find(keep);
        let own = find(&|s| s.gpu == *id).map(|s| (s, s.band, ConstantsOf::Gpu, None));
        let family = || {
            let found = find(&|s| has(&s.compute_capabilities))?;
            Some((found, found.band.widened(file.other_gpu), ConstantsOf::Family(found.family.clone()), None))
        };
        let alike = || {
            let found = find(&|s| has(&s.stands_for)).unwrap_or(&file.stack[0]);
            let why = "mixtures of experts were never measured on this family";
            (found, found.band.widened(file.other_family), ConstantsOf::Datasheet, Some(why))
        };
        let (stack, band, of, unmeasured) = own.or_else(family).unwrap_or_else(alike);
        Self {
            rows: file.rows.clone(),
            columns: file.columns,
            l2_share: stack.l2_share,
            fixed: stack.fixed,
            sustained: stack.sustained,
            dram: stack.dram,
            tile_cost: stack.tile_cost,
            elementwise: stack.elementwise,
            l2_gain: stack.l2_gain,
            tile_exponent: stack.tile_exponent,
            sort: stack.sort,
            droop: stack.droop,
            band,
            other_type: file.other_type,
            mape: stack.mape,
            source: stack.source.clone(),
            of,
            unmeasured,
        }
    }
}
