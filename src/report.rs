//! The answer as one flat, versioned value, and its forms for people and programs.
//!
//! A [`Report`] holds one [`KernelReport`] per launch, be it described by its user or observed by a profiler. Whatever
//! is not known is absent (`null` in JSON, empty in CSV), never 0. The columns are documented in `docs/report.md`.

mod asked;
mod build;
mod compact;
mod csv;
mod fields;
mod html;
mod json;
mod layout;
mod markdown;
mod network;
mod observed;
mod overview;
pub(crate) mod residency;
mod schema;
mod sentences;
mod simulation;
#[cfg(test)]
mod tests;
mod text;
mod trace;
mod traced;

pub use asked::asked_assumptions;
pub use compact::compact;
pub(crate) use compact::launch_groups;
pub use csv::{CsvError, csv};
pub use fields::{
    AskedReport, AskedTotal, ElsewhereReport, KernelReport, PointReport, Report, RowError, SharePart, TermReport,
    TraceReport, WhatIfReport,
};
pub use html::{PageCell, PageColumn, PageTable, Part, html, page};
pub use json::json;
pub(crate) use layout::{clean, fit};
pub use markdown::markdown;
pub(crate) use markdown::{code, escape};
pub use network::{NetworkReport, OpReport, PartReport, network_csv, network_json, network_markdown, network_text};
pub use schema::{Field, part_fields, report_fields, schema_fields, schema_markdown};
pub use simulation::{SimulationReport, simulation_csv, simulation_json, simulation_markdown, simulation_text};
pub use text::{Detail, TextOptions, text};
pub use trace::trace;

use serde::{Serialize, Serializer};

/// Name and version of the report's form. Fields may be added under one version, never renamed or given another
/// meaning.
pub const SCHEMA: &str = "wavecast.report/1";

/// `source` of a kernel that its user described.
pub const DESCRIBED: &str = "described";

/// `source` of a kernel that Nsight Compute observed.
pub const NSIGHT_COMPUTE: &str = "nsight-compute";

/// Blocks per SM that one resource allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockLimit {
    /// At most this many blocks.
    Blocks(u32),
    /// The resource is not used or not limited; `"inf"` in every form.
    Unlimited,
}

impl Serialize for BlockLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Blocks(blocks) => serializer.serialize_u32(*blocks),
            Self::Unlimited => serializer.serialize_str("inf"),
        }
    }
}

impl std::fmt::Display for BlockLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Blocks(blocks) => write!(f, "{blocks}"),
            Self::Unlimited => f.write_str("inf"),
        }
    }
}

impl Report {
    /// A report of these kernels, without title, assumptions, warnings and errors.
    pub fn new(kernels: Vec<KernelReport>) -> Self {
        Self { schema: SCHEMA.into(), version: env!("CARGO_PKG_VERSION").into(), kernels, ..Self::default() }
    }
}

impl KernelReport {
    /// Whether a profiler saw the kernel run: what is absent was then not in its file.
    pub fn is_observed(&self) -> bool {
        self.source != DESCRIBED
    }

    /// Whether the rate lies above the DRAM roofline, so that something was counted or chosen wrongly.
    pub fn is_above_dram_roof(&self) -> bool {
        self.points.iter().any(|p| p.level == "dram" && p.share_pct.is_none())
            || matches!((self.dram_gb_per_s, self.peak_dram_gb_per_s), (Some(rate), Some(peak)) if rate > peak)
    }
}
