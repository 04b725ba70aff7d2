//! Thread-block clusters: which sizes are legal, and a bound on how many can be active.

use crate::gpu::{Limits, Sm, SmLimits};

/// A cluster size that the device cannot launch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    /// The device knows no clusters.
    #[error("{target} has no thread-block clusters; they came with compute capability 9.0")]
    None {
        /// The device, as `Limits::named`.
        target: String,
    },
    /// No size, or one above every limit.
    #[error("a cluster of {blocks} blocks must have 1 to {most} on {target} ({note})")]
    Size {
        /// Blocks of the cluster.
        blocks: u32,
        /// The largest size.
        most: u32,
        /// The device, as `Limits::named`.
        target: String,
        /// Whether the largest size is portable.
        note: &'static str,
    },
}

/// What is known of a legal cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clusters {
    /// Blocks of one cluster.
    pub blocks: u32,
    /// Whether every GPU with clusters launches this size; larger ones must be opted in to
    /// (`cudaFuncAttributeNonPortableClusterSizeAllowed`).
    pub portable: bool,
}

/// Checks the size of a cluster; a size of 1 is legal everywhere.
///
/// # Errors
/// The device has no clusters, or none so large.
pub fn clusters(limits: &Limits, blocks: u32) -> Result<Clusters, ClusterError> {
    if blocks == 1 {
        return Ok(Clusters { blocks, portable: true });
    }
    let target = || limits.named();
    let sizes = limits.sm().and_then(|sm: &SmLimits| Some((sm.max_cluster_portable?, sm.max_cluster_nonportable)));
    let Some((portable, nonportable)) = sizes else { return Err(ClusterError::None { target: target() }) };
    let most = nonportable.unwrap_or(portable);
    if blocks == 0 || blocks > most {
        let note = if nonportable.is_some() {
            "above 8 with an opt-in to non-portable sizes"
        } else {
            "no larger non-portable size is confirmed"
        };
        return Err(ClusterError::Size { blocks, most, target: target(), note });
    }
    Ok(Clusters { blocks, portable: blocks <= portable })
}

/// At most so many clusters are active at once: all blocks of one lie in one GPC, so each of the GPCs holds whole
/// clusters, and all together no more than the slots. Products lose SMs unevenly, so that the device may hold fewer:
/// `cudaOccupancyMaxActiveClusters` tells on the device. Absent where the SMs of a full GPC are not known.
pub fn most_active(sm: &Sm, blocks_per_sm: u32, clusters: Clusters) -> Option<u64> {
    let (blocks, per_sm) = (u64::from(clusters.blocks), u64::from(blocks_per_sm));
    let of_gpc = u64::from(sm.max_per_gpc?) * per_sm / blocks;
    let by_slots = u64::from(sm.count) * per_sm / blocks;
    // Without the number of GPCs any number of them that the SMs could fill is thinkable.
    let by_gpcs = sm.gpc_count.map_or(u64::MAX, |gpcs| u64::from(gpcs).saturating_mul(of_gpc));
    Some(if of_gpc == 0 { 0 } else { by_slots.min(by_gpcs) })
}

impl Clusters {
    /// For people, with the bound of `most_active`.
    pub fn sentence(&self, most: Option<u64>) -> String {
        let size = if self.portable {
            format!("clusters of {} blocks are portable", self.blocks)
        } else {
            format!("clusters of {} blocks are not portable: the kernel must opt in to them", self.blocks)
        };
        match most {
            Some(most) => {
                format!("{size}; at most {most} are active at once (a bound: all blocks of one lie in one GPC)")
            }
            None => format!("{size}; how many can be active is open: the SMs per GPC are not known"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Catalog;

    #[test]
    fn sizes_are_legal_by_the_exact_capability() {
        let catalog = Catalog::embedded().unwrap();
        let of = |capability: &str| Limits::Sm(catalog.limits(capability.parse().unwrap()).unwrap());
        assert_eq!(clusters(&of("9.0"), 8), Ok(Clusters { blocks: 8, portable: true }));
        assert_eq!(clusters(&of("9.0"), 16), Ok(Clusters { blocks: 16, portable: false }));
        assert!(clusters(&of("9.0"), 17).unwrap_err().to_string().contains("1 to 16"));
        assert!(clusters(&of("9.0"), 0).is_err());
        assert!(clusters(&of("12.0"), 9).unwrap_err().to_string().contains("no larger non-portable"));
        assert!(clusters(&of("8.9"), 2).unwrap_err().to_string().contains("9.0"));
        assert!(clusters(&of("8.9"), 1).is_ok());
    }

    #[test]
    fn a_cluster_lies_in_one_gpc() {
        let h100 = Catalog::embedded().unwrap().find("h100-sxm5-80gb").unwrap().gpu.sm;
        let most = |per_sm, blocks| most_active(&h100, per_sm, Clusters { blocks, portable: true });
        // 132 SMs in 8 GPCs of at most 18: 66 pairs, but only 8 clusters of 12, for a GPC holds one.
        assert_eq!([most(1, 2), most(1, 12), most(1, 16), most(2, 12)], [Some(66), Some(8), Some(8), Some(22)]);
        let unknown = Sm { max_per_gpc: None, ..h100 };
        assert_eq!(most_active(&unknown, 1, Clusters { blocks: 2, portable: true }), None);
    }
}
