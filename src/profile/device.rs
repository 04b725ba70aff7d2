//! The GPU of a profile: from the catalog where the file names it, else from the file's own facts.

use super::ObservedDevice;
use crate::{
    gpu::{Catalog, ComputeCapability, Gpu, Limits},
    units::Hertz,
};

/// A GPU as far as a profile and the catalog know it.
#[derive(Clone, Debug)]
pub struct Device {
    /// For people.
    pub name: String,
    /// The catalog's product, where the file or the user names one.
    pub gpu: Option<Gpu>,
    /// Limits of an SM, by the exact compute capability.
    pub limits: Option<Limits>,
    /// SMs; the file's figure where it has one.
    pub sm_count: Option<u32>,
    /// Highest SM clock that the file states.
    pub max_clock: Option<Hertz>,
    /// What had to be assumed.
    pub assumptions: Vec<String>,
    /// Where the file contradicts the GPU that it or the user names.
    pub contradictions: Vec<String>,
    /// What neither the file nor the catalog says.
    pub missing: Vec<String>,
}

/// Products of one capability that a hint names.
const NAMED: usize = 3;

/// Resolves the device of a launch. `chosen` is the GPU that the user named; it wins over the file's name, and a
/// contradiction to the file's facts is reported.
pub fn device(catalog: &Catalog, observed: &ObservedDevice, chosen: Option<&Gpu>) -> Device {
    let mut assumptions = Vec::new();
    let mut contradictions = Vec::new();
    let mut missing = Vec::new();
    let named = observed.name.as_deref().and_then(|name| catalog.find(name).ok());
    let gpu = match (chosen, named) {
        (Some(gpu), _) => Some(gpu.clone()),
        (None, Some(found)) => {
            assumptions.extend(found.assumption);
            Some(found.gpu)
        }
        (None, None) => None,
    };
    let capability: Option<ComputeCapability> = observed.compute_capability.as_deref().and_then(|c| c.parse().ok());
    if let (Some(gpu), Some(capability)) = (&gpu, capability)
        && gpu.limits.capability() != Some(capability)
    {
        contradictions.push(format!(
            "the file says compute capability {capability}, {} has {}: limits are the file's, peaks and roofs those of a GPU that it did not run on",
            gpu.name,
            gpu.limits.target()
        ));
    }
    if let (Some(gpu), Some(count)) = (&gpu, observed.sm_count)
        && gpu.sm.count != count
    {
        contradictions
            .push(format!("the file says {count} SMs, {} has {}: waves use the file's", gpu.name, gpu.sm.count));
    }
    let own = gpu.as_ref().map(|g| g.limits.clone());
    let limits = match capability {
        Some(c) if gpu.as_ref().is_none_or(|g| g.limits.capability() != Some(c)) => {
            catalog.limits(c).ok().map(Limits::Sm).or(own)
        }
        _ => own,
    };
    let sm_count = observed.sm_count.or(gpu.as_ref().map(|g| g.sm.count));
    if gpu.is_none() {
        let fitting: Vec<&str> = catalog
            .gpus()
            .filter(|g| {
                capability.is_some()
                    && g.limits.capability() == capability
                    && (observed.sm_count.is_none() || sm_count == Some(g.sm.count))
            })
            .map(|g| g.id.as_str())
            .collect();
        let hint = if fitting.is_empty() {
            "--gpu NAME or FILE.toml adds them".to_owned()
        } else {
            let more = if fitting.len() > NAMED { " or another of `gpus list`" } else { "" };
            let some = fitting[..fitting.len().min(NAMED)].join(" or ");
            format!("--gpu FILE.toml adds them, or --gpu NAME if it ran on {some}{more}")
        };
        let name = observed
            .name
            .as_deref()
            .map_or("the file does not name its GPU".to_owned(), |n| format!("`{n}` is not in the catalog"));
        missing.push(format!("datasheet peaks and bandwidths ({name}; {hint})"));
    }
    if limits.is_none() {
        missing.push("compute capability (occupancy is the file's)".into());
    }
    if sm_count.is_none() {
        missing.push("number of SMs (waves are the file's)".into());
    }
    let name = match (&gpu, &observed.name) {
        (Some(gpu), _) => gpu.name.clone(),
        (None, Some(name)) => name.clone(),
        (None, None) => {
            let capability = observed.compute_capability.as_ref().map(|c| format!("compute capability {c}"));
            let facts: Vec<String> =
                capability.into_iter().chain(observed.sm_count.map(|n| format!("{n} SMs"))).collect();
            match facts.is_empty() {
                true => "a GPU that the file does not name".to_owned(),
                false => format!("GPU of {}", facts.join(", ")),
            }
        }
    };
    Device { name, gpu, limits, sm_count, max_clock: observed.max_sm_clock, assumptions, contradictions, missing }
}
