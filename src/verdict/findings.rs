//! Observations on a launch that matter for its bound, what the model leaves out, and how sure it is.

use crate::{
    gpu::{ConstantsOf, Gpu, Limits, Pipe},
    kernel::Level,
    launch::Launch,
    occupancy::{
        advice,
        cluster::{clusters, most_active},
    },
    schedule::{Schedule, waves::FEW_BLOCKS},
    time::{Bound, Range, Resource, TimeEstimate},
    units::decimal,
};

fn percent(fraction: f64) -> String {
    decimal(fraction * 100.0, 1)
}

/// Findings in the order in which a reader needs them. Tail and occupancy are only mentioned where they cost time.
pub(super) fn findings(
    gpu: &Gpu,
    launch: &Launch,
    plan: &Schedule,
    time: &TimeEstimate,
    bound: Bound,
    chosen: bool,
) -> Vec<String> {
    let mut found = Vec::new();
    if plan.full_waves() == 0 && plan.busy_sms() < plan.sms {
        found.push(format!(
            "too few blocks: {} {} of {} SMs without work",
            if plan.blocks == 1 { "1 block leaves".into() } else { format!("{} blocks leave", plan.blocks) },
            plan.sms - plan.busy_sms(),
            plan.sms
        ));
    } else if time.tail_cost >= 0.02 {
        found.push(format!(
            "the tail costs {} % of the time: {} paid for {} waves of work ({} of {} SMs idle in the last)",
            percent(time.tail_cost),
            if plan.whole_waves() == 1 { "1 wave is".into() } else { format!("{} waves are", plan.whole_waves()) },
            decimal(plan.waves(), 2),
            plan.idle_sms_in_tail(),
            plan.sms
        ));
    }
    if plan.is_small() && plan.full_waves() > 0 && plan.tail_blocks() > 0 && bound != Bound::Memory {
        found.push(format!("fewer than {FEW_BLOCKS} blocks: examine the launch for tail effects"));
    }
    if !chosen {
        found.extend(occupancy_matters(gpu, launch, time));
    }
    if let Ok(clusters) = clusters(&gpu.limits, launch.kernel.resources.cluster_blocks)
        && clusters.blocks > 1
    {
        found.push(clusters.sentence(most_active(&gpu.sm, launch.occupancy.blocks_per_sm, clusters)));
    }
    if bound == Bound::Memory {
        let access = launch.kernel.l2_access();
        if access.efficiency() < 0.9 {
            found.push(format!(
                "only {} % of the bytes moved between L2 and the SMs are used",
                percent(access.efficiency())
            ));
        }
        if time.l2_hit > 0.5 {
            found.push("most of the traffic stays in L2 from the use before: cold data take longer".into());
        }
    }
    // An operation with a model of its own has its own share of the peak.
    if bound == Bound::Math && (!chosen || launch.kernel.tiled.is_some()) {
        let pipe = launch.kernel.operations.iter().map(|(p, _)| *p);
        let pipe = pipe.max_by_key(|p| matches!(p, Pipe::Tensor { .. })).unwrap_or(Pipe::Special);
        let product = launch.kernel.tiled.is_some();
        let of = &gpu.calibration;
        let sustained = if product { of.sustained_product(pipe) } else { of.sustained(pipe) };
        if sustained < 0.9 {
            found.push(format!(
                "the GPU sustains {} % of its datasheet peak (power and issue limits)",
                percent(sustained)
            ));
        }
    }
    if time.power_droop >= 0.01 {
        found.push(format!("power slows a tensor kernel of this length by {} %", percent(time.power_droop)));
    }
    if let (Bound::Latency, Some(Resource::Fixed)) = (bound, time.side(Bound::Latency).0) {
        found.push("the kernel is so short that launching, filling and draining the GPU is most of its time".into());
    }
    if time.of(Resource::Memory(Level::Shared)).get() > 0.0 && launch.kernel.traffic.shared.efficiency() < 0.9 {
        found.push(format!(
            "bank conflicts: {} % of the shared-memory cycles are used",
            percent(launch.kernel.traffic.shared.efficiency())
        ));
    }
    found
}

/// Whether more occupancy would help this kernel: only waiting that nothing else covers can be hidden.
fn occupancy_matters(gpu: &Gpu, launch: &Launch, time: &TimeEstimate) -> Option<String> {
    let now = &launch.occupancy;
    if now.active_warps() == now.max_warps {
        return None;
    }
    let active = launch.active_blocks(gpu);
    if active < u64::from(now.blocks_per_sm) {
        let blocks = if active == 1 { "1 block".into() } else { format!("{active} blocks") };
        return Some(format!("the grid gives an SM only {blocks} of the {} that it holds", now.blocks_per_sm));
    }
    let waiting = time.of(Resource::Chain).max(time.of(Resource::ArithmeticLatency));
    let other = time.side(Bound::Math).1.max(time.side(Bound::Memory).1).max(time.of(Resource::Fixed));
    if waiting.get() * 2.0 < other.get() {
        return Some("more occupancy would not help: latency is hidden already".into());
    }
    let steps = advice::next_steps(&gpu.limits, &launch.kernel.resources, now);
    Some(if steps.iter().any(|s| s.blocks_per_sm > now.blocks_per_sm) {
        "more occupancy would help to hide latency".into()
    } else {
        format!("more occupancy would help to hide latency, limited by {}", now.limiters().sentence())
    })
}

/// What the model leaves out for this launch.
pub(super) fn ignored(gpu: &Gpu, launch: &Launch, chosen: bool) -> Vec<String> {
    if gpu.is_cpu() {
        return vec![
            "caches: all traffic is taken from DRAM".into(),
            "everything but the roofline: threads, vectorisation, NUMA, the launch; \"no faster than\"".into(),
        ];
    }
    let mut ignored = vec![
        "differences between blocks, divergence inside warps, atomics, other kernels on the GPU".to_owned(),
        "TLB misses and DRAM page conflicts".into(),
    ];
    if gpu.mig.is_some() {
        ignored.push(
            "other MIG slices: they share nothing with this one but the board's power and clock, and what they draw of these is not modelled"
                .into(),
        );
    }
    if launch.kernel.tiled.is_some() {
        ignored.push("what a library would choose against the model: the fastest candidate is taken".into());
    }
    if chosen {
        return ignored;
    }
    let flops = launch.kernel.flops().get() > 0.0;
    if !flops {
        ignored.push("arithmetic: no operations were given".into());
    }
    if launch.kernel.traffic.dram.used().get() == 0.0 {
        ignored.push("DRAM traffic: none was given".into());
    }
    if launch.kernel.traffic.reuse_distance.is_none() && launch.kernel.traffic.dram.used() < gpu.memory.l2.capacity {
        ignored.push("data left in L2 by earlier kernels: all traffic is taken as cold".into());
    }
    if gpu.limits.cu().is_some() {
        ignored.push("instruction issue and the latency of dependent arithmetic, unknown for AMD GPUs".into());
    }
    if let Some(cache) = &gpu.memory.infinity_cache {
        ignored.push(format!("the Infinity Cache of {}: what it holds is taken from DRAM", cache.capacity));
    }
    if gpu.memory.l2.bandwidth.is_none() {
        ignored.push("the L2 bandwidth, which nobody published: the ports of the SMs stand for it".into());
    }
    if gpu.latency.as_ref().and_then(|l| l.dram).is_none() {
        ignored.push(format!(
            "the memory latency of this GPU, which nobody measured: {}, fitted on other GPUs, stands for it",
            gpu.dram_latency()
        ));
    }
    ignored
}

/// Whose constants, and what the range means.
pub fn confidence(gpu: &Gpu, launch: &Launch, range: Range) -> String {
    // Nothing was measured on a slice: its constants are those of the whole GPU.
    let (name, whole) = match &gpu.mig {
        Some(slice) => (&slice.gpu_name, ", not on a slice of it"),
        None => (&gpu.name, ""),
    };
    let pipe = launch.kernel.operations.first().filter(|_| launch.kernel.tiled.is_some()).map(|(pipe, _)| *pipe);
    let tensor = pipe.is_none_or(|pipe| matches!(pipe, Pipe::Tensor { .. }));
    let whose = match pipe.map_or(&gpu.calibration.of, |pipe| gpu.calibration.of_unit(pipe)) {
        ConstantsOf::Gpu => format!("constants measured on {name}{whole}"),
        ConstantsOf::Family(family) if gpu.calibration.by_power && tensor => {
            format!("constants of the {family} family, not of {name}; its tensor rate follows from the board's power")
        }
        ConstantsOf::Family(family) => format!("constants of the {family} family, not of {name}"),
        ConstantsOf::User => "constants set by the user".into(),
        ConstantsOf::Datasheet if gpu.is_cpu() => "the datasheet roofline of a CPU, nothing measured".into(),
        ConstantsOf::Datasheet => "datasheet rates, nothing measured".into(),
    };
    let whose = match gpu.limits {
        Limits::Cu(_) => format!("{whose}; latencies and fixed costs fitted on NVIDIA GPUs stand for those of AMD"),
        Limits::Sm(_) | Limits::Core => whose,
    };
    match range {
        Range::Overlap => format!("{whose}; range: perfect overlap at datasheet rates to no overlap"),
        Range::Band { unmeasured: None } => match pipe.and_then(|pipe| gpu.calibration.borrowed_band(pipe)) {
            Some(others) => format!("{whose}; band: that of {others}, not measured on {name}"),
            None => format!("{whose}; band: four of five measured products lie in it"),
        },
        Range::Band { unmeasured: Some(why) } => format!("{whose}; band: wide, {why}"),
    }
}
