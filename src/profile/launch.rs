//! Launches as collected from a file: identity, metrics and advice as written, with the meaning of each metric.

use std::collections::HashMap;
use std::sync::Arc;

use super::fields::target;
use super::notation::Votes;
use super::observed::{Metric, MetricKey, Rule};

/// One launch as written.
#[derive(Default)]
pub(super) struct Launch {
    pub id: u64,
    pub process_id: Option<u64>,
    pub name: String,
    pub device: Option<String>,
    pub compute_capability: Option<String>,
    pub block: Option<String>,
    pub grid: Option<String>,
    pub metrics: Vec<Metric>,
    /// Each rule with its estimated speedup as written.
    pub rules: Vec<(Rule, String)>,
}

impl Launch {
    /// A launch from the identity columns of a row.
    pub fn new(id: u64, record: &csv::StringRecord, identity: &Identity) -> Self {
        let text = |column: Option<usize>| {
            let field = column.and_then(|c| record.get(c)).map(str::trim).unwrap_or_default();
            (!field.is_empty()).then(|| field.to_string())
        };
        Launch {
            id,
            process_id: text(identity.process).and_then(|t| t.parse().ok()),
            name: text(Some(identity.name)).unwrap_or_default(),
            device: text(identity.device),
            compute_capability: text(identity.compute_capability),
            block: text(identity.block),
            grid: text(identity.grid),
            metrics: Vec::new(),
            rules: Vec::new(),
        }
    }
}

/// What a page gives.
#[derive(Default)]
pub(super) struct Collected {
    pub launches: Vec<Launch>,
    pub votes: Votes,
}

/// Where the columns stand that both pages have.
pub(super) struct Identity {
    pub id: usize,
    pub name: usize,
    pub process: Option<usize>,
    pub host: Option<usize>,
    pub device: Option<usize>,
    pub compute_capability: Option<usize>,
    pub block: Option<usize>,
    pub grid: Option<usize>,
}

impl Identity {
    /// Finds them by name; `None` where the two required ones are not there.
    pub fn of<S: AsRef<str>>(columns: &[S]) -> Option<Self> {
        let at = |name: &str| position(columns, name);
        Some(Identity {
            id: at("ID")?,
            name: at("Kernel Name")?,
            process: at("Process ID"),
            host: at("Host Name"),
            device: at("Device"),
            compute_capability: at("CC"),
            block: at("Block Size"),
            grid: at("Grid Size"),
        })
    }
}

/// The first column of that name.
pub(super) fn position<S: AsRef<str>>(columns: &[S], name: &str) -> Option<usize> {
    columns.iter().position(|c| c.as_ref() == name)
}

/// Columns that identify a launch, on either page, in any version.
pub(super) const IDENTITY_COLUMNS: [&str; 12] = [
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Kernel Time",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
];

/// Metric keys, each stored once with its meaning.
#[derive(Default)]
pub(super) struct Keys {
    known: HashMap<String, Arc<MetricKey>>,
    joined: String,
}

impl Keys {
    /// The shared key of a metric.
    pub fn get(&mut self, section: &str, name: &str, unit: &str) -> Arc<MetricKey> {
        self.joined.clear();
        for part in [section, "\0", name, "\0", unit] {
            self.joined.push_str(part);
        }
        if let Some(found) = self.known.get(&self.joined) {
            return Arc::clone(found);
        }
        let key = Arc::new(MetricKey {
            section: section.to_string(),
            name: name.to_string(),
            unit: unit.to_string(),
            target: target(name, unit),
        });
        self.known.insert(self.joined.clone(), Arc::clone(&key));
        key
    }
}
