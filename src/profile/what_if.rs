//! A measured launch with other registers, blocks or shared memory: what an SM then holds, and between which times it ends.
//!
//! With n blocks on S SMs that hold B blocks of w warps each, x = n / (S B) waves and X = ceil(x) whole waves, before
//! and (') after the change, the time is scaled by the least and the most of some factors:
//!
//! - latency-bound: 1; max(x', 1) / max(x, 1), which is Little's law, since more warps at once overlap more waiting;
//!   X' / X, the same with whole waves.
//! - math- or memory-bound: 1; (q' / n') / (q / n) with q = ceil(n / S), the blocks of the busiest SM, and with
//!   q = X B where a wave was filled, the slots that are paid for; and Little's factor where it is above 1, since
//!   with fewer warps latency may be no longer hidden.
//! - bound not known: all of these.
//!
//! Both ends are moved outwards by [`BAND`].

use super::Judged;
use crate::{
    gpu::Limits,
    launch::why_not,
    occupancy::{Carveout, Occupancy, Resource, Resources, occupancy},
    schedule::{Schedule, schedule},
    time::Bound,
};

pub use super::change::{ChangeError, LaunchChange};

/// The largest error of the model against bandwidth that was measured at five occupancies (`docs/accuracy.md`, H100 PCIe:
/// 7.8 %), rounded up; what-ifs themselves were never measured.
pub const BAND: f64 = 0.08;

/// A launch after a change.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedLaunch {
    /// What a block then asks of an SM.
    pub resources: Resources,
    /// What an SM then holds.
    pub occupancy: Occupancy,
    /// The waves of the grid; absent where the file says no grid or the SMs are not known.
    pub schedule: Option<Schedule>,
    /// Least and most time, as multiples of the time before; absent without waves.
    pub factors: Option<(f64, f64)>,
    /// Whether residency and waves leave the time as it is: no factor is other than 1.
    pub unmoved: bool,
    /// Whether the launch was like that before.
    pub same: bool,
}

/// Why there is no answer for a launch.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Obstacle {
    /// What would have to be known.
    #[error("the file does not say {0}")]
    Unsaid(&'static str),
    /// Not one block fits.
    #[error("cannot run: {reason}; {cure}")]
    CannotRun {
        /// The resource and the number asked for.
        reason: String,
        /// The largest legal value.
        cure: String,
    },
}

/// A launch after a change, judged as `bound`.
///
/// The threads of the grid stay in total, blocks are rounded up (to whole clusters). Registers per thread and dynamic
/// shared memory per thread stay unless they are given, static shared memory per block stays.
///
/// # Errors
/// The file lacks what residency needs, or no block fits after the change: with the largest legal value.
pub fn what_if(judged: &Judged, bound: Option<Bound>, change: &LaunchChange) -> Result<ChangedLaunch, Obstacle> {
    let observed = &judged.observed;
    observed.threads_per_block.filter(|t| *t > 0).ok_or(Obstacle::Unsaid("the threads of a block"))?;
    observed.registers_per_thread.ok_or(Obstacle::Unsaid("the registers of a thread"))?;
    let limits = judged.device.limits.as_ref().ok_or(Obstacle::Unsaid("on which GPU it ran (--gpu NAME)"))?;
    let (Some(before), Some(held)) = (&judged.resources, &judged.occupancy) else {
        return Err(Obstacle::Unsaid("what a block asks of an SM"));
    };
    let resources = changed(limits, before, held, change);
    if let Some((reason, cure)) = change.registers.and_then(|registers| too_many_registers(limits, registers)) {
        return Err(Obstacle::CannotRun { reason, cure });
    }
    let then = occupancy(limits, &resources);
    if then.blocks_per_sm == 0 {
        return Err(refused(limits, &resources, &then));
    }
    let plan = judged.schedule.as_ref();
    let schedule = plan.zip(judged.device.sm_count).map(|(plan, sms)| {
        let cluster = u64::from(observed.cluster_blocks.unwrap_or(1).max(1));
        let blocks = blocks(plan.blocks, before.threads_per_block, resources.threads_per_block, cluster);
        schedule(blocks, sms, then.blocks_per_sm)
    });
    let same = Resources { carveout: before.carveout, ..resources } == *before;
    let moved = plan.zip(schedule.as_ref()).map(|(old, new)| factors(bound, old, new));
    let factors = moved.map(|(low, high)| if same { (1.0, 1.0) } else { (low * (1.0 - BAND), high * (1.0 + BAND)) });
    Ok(ChangedLaunch { resources, occupancy: then, schedule, factors, unmoved: moved == Some((1.0, 1.0)), same })
}

/// Registers that no thread can have, and the most.
fn too_many_registers(limits: &Limits, registers: u32) -> Option<(String, String)> {
    let most = limits.max_registers_per_thread();
    (registers > most)
        .then(|| (format!("{registers} registers per thread"), format!("a thread holds at most {most} registers")))
}

impl Judged {
    /// Why the launch cannot have run on the GPU that is taken for its own, in words; absent where it can.
    pub fn excess(&self) -> Option<String> {
        let (limits, resources, found) =
            (self.device.limits.as_ref()?, self.resources.as_ref()?, self.occupancy.as_ref()?);
        let (reason, cure) = match found.blocks_per_sm {
            0 => why_not(limits, resources, found),
            _ => too_many_registers(limits, resources.registers_per_thread)?,
        };
        Some(limits.words().say(&format!("{reason}; {cure}")))
    }
}

fn refused(limits: &Limits, resources: &Resources, found: &Occupancy) -> Obstacle {
    let (reason, cure) = why_not(limits, resources, found);
    let words = limits.words();
    Obstacle::CannotRun { reason: words.say(&reason), cure: words.say(&cure) }
}

/// What a block asks of an SM after the change. The driver configures as much shared memory as the blocks need. A size
/// that kept blocks out was chosen by someone, and stays as long as a block fits.
fn changed(limits: &Limits, before: &Resources, held: &Occupancy, change: &LaunchChange) -> Resources {
    let threads = change.block.unwrap_or(before.threads_per_block);
    let static_shared = before.static_shared.min(change.shared.unwrap_or(u32::MAX));
    let scaled =
        (u64::from(before.dynamic_shared) * u64::from(threads)).div_ceil(before.threads_per_block.max(1).into());
    let dynamic_shared = match change.shared {
        Some(all) => all - static_shared,
        None => u32::try_from(scaled).unwrap_or(u32::MAX),
    };
    let chosen = Resources {
        threads_per_block: threads,
        registers_per_thread: change.registers.unwrap_or(before.registers_per_thread),
        static_shared,
        dynamic_shared,
        ..*before
    };
    let stays = held.limiters().iter().any(|limiter| limiter == Resource::Shared);
    let fits = occupancy(limits, &chosen).blocks_per_sm > 0;
    Resources { carveout: if stays && fits { before.carveout } else { Carveout::Largest }, ..chosen }
}

/// Blocks of `to` threads with all the threads of `blocks` blocks of `from`, in whole clusters.
fn blocks(blocks: u64, from: u32, to: u32, cluster: u64) -> u64 {
    let threads = u128::from(blocks) * u128::from(from);
    let needed = u64::try_from(threads.div_ceil(u128::from(to.max(1)))).unwrap_or(u64::MAX / cluster);
    needed.max(1).div_ceil(cluster) * cluster
}

/// Least and most time after the change as multiples of the time before.
fn factors(bound: Option<Bound>, before: &Schedule, after: &Schedule) -> (f64, f64) {
    let of = |figure: fn(&Schedule) -> f64| figure(after) / figure(before);
    let little = of(|plan| plan.waves().max(1.0));
    let latency = [1.0, little, of(|plan| plan.whole_waves() as f64)];
    let throughput = [
        1.0,
        of(|plan| busiest(plan) / plan.blocks as f64),
        of(|plan| paid(plan) / plan.blocks as f64),
        little.max(1.0),
    ];
    let span =
        |all: &[f64]| all.iter().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), f| (low.min(*f), high.max(*f)));
    match bound {
        Some(Bound::Latency) => span(&latency),
        Some(Bound::Math | Bound::Memory) => span(&throughput),
        None => span(&[&latency[..], &throughput[..]].concat()),
    }
}

/// Blocks of the busiest SM.
fn busiest(plan: &Schedule) -> f64 {
    plan.blocks_of_busiest_sm() as f64
}

/// Block slots of an SM that all waves take; of a grid that fills none, those of the busiest SM.
fn paid(plan: &Schedule) -> f64 {
    if plan.full_waves() == 0 { busiest(plan) } else { (plan.whole_waves() * plan.blocks_per_sm) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gpu::Catalog,
        profile::{Measured, ObservedKernel, device, judge},
        units::Bytes,
    };

    /// On 108 SMs of an A100: 64 warps, 65,536 registers, 164 KiB of shared memory, 1 KiB of it reserved per block.
    fn judged(blocks: u64, threads: u32, registers: u32, dynamic_kib: u32) -> Judged {
        let catalog = Catalog::embedded().unwrap();
        let gpu = catalog.find("a100-sxm4-80gb").unwrap().gpu;
        let size = |kib: u32| Some(Measured { value: Bytes(f64::from(kib) * 1024.0), half_width: Bytes::ZERO });
        let observed = ObservedKernel {
            grid_blocks: Some(blocks),
            threads_per_block: Some(threads),
            registers_per_thread: Some(registers),
            static_shared: size(0),
            dynamic_shared: size(dynamic_kib),
            ..ObservedKernel::default()
        };
        let device = device(&catalog, &observed.device, Some(&gpu));
        judge(observed, device)
    }

    fn after(judged: &Judged, bound: Option<Bound>, change: &str) -> ChangedLaunch {
        what_if(judged, bound, &change.parse().unwrap()).unwrap()
    }

    /// Factors without the band, in thousandths.
    fn span(judged: &Judged, bound: Option<Bound>, change: &str) -> (f64, f64) {
        let (low, high) = after(judged, bound, change).factors.unwrap();
        let round = |value: f64| (value * 1000.0).round() / 1000.0;
        (round(low / (1.0 - BAND)), round(high / (1.0 + BAND)))
    }

    #[test]
    fn fewer_registers_hold_more_blocks() {
        // 128 registers: 2 blocks of 256 threads; 1,080 blocks are 5 waves of 216. 64 registers: 4 blocks, 2.5 waves.
        let launch = judged(1080, 256, 128, 0);
        let found = after(&launch, None, "registers=64");
        assert_eq!((found.occupancy.blocks_per_sm, found.occupancy.active_warps()), (4, 32));
        assert_eq!(found.schedule.unwrap().waves(), 2.5);
        // Little: 2.5 of 5 waves; with whole waves 3 of 5; at most unchanged.
        assert_eq!(span(&launch, Some(Bound::Latency), "registers=64"), (0.5, 1.0));
        // Throughput: the busiest SM has 10 blocks before and after, but 3 waves of 4 slots are paid for instead of 5 of 2.
        assert_eq!(span(&launch, Some(Bound::Memory), "registers=64"), (1.0, 1.2));
        assert_eq!(span(&launch, Some(Bound::Math), "registers=64"), (1.0, 1.2));
        assert_eq!(span(&launch, None, "registers=64"), (0.5, 1.2));
    }

    #[test]
    fn more_registers_hold_fewer_blocks_and_may_uncover_latency() {
        // 255 registers: 1 block of 256 threads, 10 waves instead of 5.
        let launch = judged(1080, 256, 128, 0);
        assert_eq!(after(&launch, None, "registers=255").occupancy.blocks_per_sm, 1);
        assert_eq!(span(&launch, Some(Bound::Latency), "registers=255"), (1.0, 2.0));
        assert_eq!(span(&launch, Some(Bound::Memory), "registers=255"), (1.0, 2.0));
    }

    #[test]
    fn a_grid_of_less_than_a_wave_gains_nothing_by_residency() {
        let launch = judged(100, 256, 128, 0);
        for bound in [None, Some(Bound::Latency), Some(Bound::Memory)] {
            assert_eq!(span(&launch, bound, "registers=64"), (1.0, 1.0));
            assert!(after(&launch, bound, "registers=64").unmoved);
        }
        // 27 blocks of 1,024 threads are 108 of 256, one on each SM: a quarter of the work on the busiest one.
        let few = judged(27, 1024, 32, 0);
        assert_eq!(after(&few, None, "block=256").schedule.unwrap().blocks, 108);
        assert_eq!(span(&few, Some(Bound::Math), "block=256"), (0.25, 1.0));
        assert_eq!(span(&few, Some(Bound::Latency), "block=256"), (1.0, 1.0));
    }

    #[test]
    fn blocks_keep_threads_and_shared_memory_per_thread() {
        let launch = judged(1001, 192, 32, 24);
        let found = after(&launch, None, "block=256");
        // 1,001 x 192 threads are 750.75 blocks of 256; 24 KiB for 192 threads are 32 KiB for 256.
        assert_eq!((found.schedule.unwrap().blocks, found.resources.dynamic_shared), (751, 32 * 1024));
        assert_eq!(found.resources.registers_per_thread, 32);
        // 33 KiB with the reserved one: 4 of 164 KiB.
        assert_eq!(found.occupancy.blocks_per_sm, 4);
        let both = after(&launch, None, "block=256, shared=16 KiB");
        assert_eq!((both.resources.shared(), both.occupancy.blocks_per_sm), (16 * 1024, 8));
        assert_eq!(blocks(7, 128, 256, 4), 4);
        assert_eq!(blocks(u64::MAX / 2, 1024, 1, 1), u64::MAX);
    }

    #[test]
    fn a_configuration_that_kept_blocks_out_stays_while_it_fits() {
        // 64 KiB configured: 3 blocks of 20 KiB and the reserved one. With 15 KiB 4 of 16 fit, and one of 100 KiB does not.
        let mut observed = judged(1080, 256, 32, 20).observed;
        let size = |kib: f64| Some(Measured { value: Bytes(kib * 1024.0), half_width: Bytes::ZERO });
        observed.shared_configuration = size(64.0);
        observed.driver_shared = size(1.0);
        let launch = judge(observed, judged(1, 256, 32, 0).device);
        assert_eq!(launch.occupancy.unwrap().blocks_per_sm, 3);
        for (change, blocks) in [("shared=15 KiB", 4), ("registers=64", 3), ("shared=100 KiB", 1)] {
            assert_eq!(after(&launch, None, change).occupancy.blocks_per_sm, blocks, "{change}");
        }
        // Here registers keep blocks out: 2 of 256 threads with 128, then 7 of 20 KiB in the largest configuration.
        let mut observed = launch.observed.clone();
        observed.registers_per_thread = Some(128);
        observed.shared_configuration = size(64.0);
        let launch = judge(observed, launch.device);
        assert_eq!(after(&launch, None, "registers=32").occupancy.blocks_per_sm, 7);
    }

    #[test]
    fn what_does_not_change_or_cannot_run_is_said() {
        let launch = judged(1080, 256, 128, 0);
        let same = after(&launch, None, "registers=128");
        assert!(same.same && same.factors == Some((1.0, 1.0)));
        let refused = |change: &str| what_if(&launch, None, &change.parse().unwrap()).unwrap_err().to_string();
        assert!(
            refused("block=1024").contains("a block of 1024 threads may use 64 registers"),
            "{}",
            refused("block=1024")
        );
        assert!(refused("shared=200 KiB").contains("at most 166912 bytes"), "{}", refused("shared=200 KiB"));
        assert!(refused("block=2048").contains("the largest block is 1024 threads"));
        let unsaid = |edit: fn(&mut ObservedKernel)| {
            let mut observed = launch.observed.clone();
            edit(&mut observed);
            what_if(&judge(observed, launch.device.clone()), None, &"registers=64".parse().unwrap())
        };
        assert_eq!(unsaid(|k| k.registers_per_thread = None), Err(Obstacle::Unsaid("the registers of a thread")));
        assert_eq!(unsaid(|k| k.threads_per_block = None), Err(Obstacle::Unsaid("the threads of a block")));
        // Without a grid residency is known, waves and times are not.
        let no_grid = unsaid(|k| k.grid_blocks = None).unwrap();
        assert_eq!((no_grid.occupancy.blocks_per_sm, no_grid.schedule, no_grid.factors), (4, None, None));
    }

    #[test]
    fn the_band_moves_both_ends() {
        let (low, high) = after(&judged(1080, 256, 128, 0), Some(Bound::Latency), "registers=64").factors.unwrap();
        assert!((low - 0.46).abs() < 1e-12 && (high - 1.08).abs() < 1e-12, "{low} {high}");
    }
}
