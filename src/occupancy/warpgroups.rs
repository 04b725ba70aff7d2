//! Warp-specialised kernels: `setmaxnreg` moves registers between warpgroups, the launch decides what is resident.

use super::Resources;
use crate::{gpu::Limits, units::grouped};

/// Threads of a warpgroup.
pub const WARPGROUP: u32 = 128;

/// Register counts per warpgroup that no kernel can ask for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WarpgroupError {
    /// The device has no `setmaxnreg`.
    #[error("{target} has no setmaxnreg; it came with compute capability 9.0")]
    None {
        /// The device, as `Limits::named`.
        target: String,
    },
    /// A count that the instruction does not take.
    #[error("setmaxnreg {count}: the count must be a multiple of 8 from 24 to 256")]
    Count {
        /// The count as given.
        count: u32,
    },
    /// Not one count per warpgroup.
    #[error("{counts} counts of setmaxnreg for a block of {threads} threads, which has {warpgroups} warpgroups of 128")]
    Warpgroups {
        /// Counts as given.
        counts: usize,
        /// Threads of the block.
        threads: u32,
        /// Warpgroups of the block.
        warpgroups: u32,
    },
}

/// What the counts of a warp-specialised kernel mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redistribution {
    /// Registers per thread with which the kernel is launched: what residency goes by.
    pub launched: u32,
    /// Registers of one block after every warpgroup has its count.
    pub asked: u64,
    /// Registers that the block was given at launch.
    pub given: u64,
}

/// Checks one `setmaxnreg` count per warpgroup. Registers of 0 are taken as the mean of the counts, rounded down to
/// a multiple of 8: the most that the compiler can launch such a kernel with and still hand out every count.
///
/// # Errors
/// The device lacks the instruction, a count is illegal, or there is not one per warpgroup.
pub fn redistribution(
    limits: &Limits,
    resources: &Resources,
    counts: &[u32],
) -> Result<Redistribution, WarpgroupError> {
    if limits.capability().is_none_or(|c| c.major < 9) {
        return Err(WarpgroupError::None { target: limits.named() });
    }
    if let Some(count) = counts.iter().find(|c| !(24..=256).contains(*c) || !c.is_multiple_of(8)) {
        return Err(WarpgroupError::Count { count: *count });
    }
    let warpgroups = resources.threads_per_block.div_ceil(WARPGROUP);
    if counts.is_empty()
        || counts.len() != warpgroups as usize
        || !resources.threads_per_block.is_multiple_of(WARPGROUP)
    {
        return Err(WarpgroupError::Warpgroups {
            counts: counts.len(),
            threads: resources.threads_per_block,
            warpgroups,
        });
    }
    let total: u32 = counts.iter().sum();
    let launched = match resources.registers_per_thread {
        0 => total / warpgroups / 8 * 8,
        given => given,
    };
    Ok(Redistribution {
        launched,
        asked: u64::from(total) * u64::from(WARPGROUP),
        given: u64::from(launched).next_multiple_of(8) * u64::from(resources.threads_per_block),
    })
}

impl Redistribution {
    /// For people.
    pub fn sentence(&self) -> String {
        let text = format!(
            "setmaxnreg only moves registers between warpgroups: the {} registers per thread of the launch decide what is resident",
            self.launched
        );
        if self.starves() {
            let (asked, given) = (grouped(self.asked), grouped(self.given));
            format!(
                "{text}; the counts ask for {asked} registers per block of {given}: the last setmaxnreg.inc waits for ever"
            )
        } else {
            text
        }
    }

    /// Whether the counts exceed what the block was given: a `setmaxnreg.inc` would then wait for ever.
    pub fn starves(&self) -> bool {
        self.asked > self.given
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Catalog;

    #[test]
    fn the_launch_count_governs() {
        let limits = |c: &str| Limits::Sm(Catalog::embedded().unwrap().limits(c.parse().unwrap()).unwrap());
        let block = |threads_per_block, registers_per_thread| Resources {
            threads_per_block,
            registers_per_thread,
            ..Resources::default()
        };
        let found = redistribution(&limits("9.0"), &block(384, 0), &[40, 232, 232]).unwrap();
        assert_eq!(found, Redistribution { launched: 168, asked: 64_512, given: 64_512 });
        assert!(!found.starves());
        assert!(redistribution(&limits("9.0"), &block(384, 160), &[40, 232, 232]).unwrap().starves());
        let error = |capability, threads, counts: &[u32]| {
            redistribution(&limits(capability), &block(threads, 0), counts).unwrap_err().to_string()
        };
        assert!(error("8.9", 384, &[40, 232, 232]).contains("9.0"));
        assert!(error("9.0", 384, &[40, 232]).contains("3 warpgroups"));
        assert!(error("9.0", 384, &[40, 232, 230]).contains("230"));
        assert!(error("9.0", 256, &[16, 232]).contains("16"));
    }
}
