//! What would help a profiled launch, gated by what held it back.

use super::{ObservedKernel, RuleKind, device::Device};
use crate::{
    occupancy::{Occupancy, Resources, advice::joint_step},
    schedule::Schedule,
    time::Bound,
    units::decimal,
};

/// One piece of advice.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// What to change and why.
    pub text: String,
    /// Speedup that the profiler itself estimated, percent.
    pub estimated_speedup_pct: Option<f64>,
}

pub(super) fn advice(
    observed: &ObservedKernel,
    device: &Device,
    resources: Option<&Resources>,
    found: Option<&Occupancy>,
    plan: Option<&Schedule>,
    bound: Option<Bound>,
    tail_cost: Option<f64>,
) -> Vec<Advice> {
    let mut all = Vec::new();
    let mut say = |text: String| all.push(Advice { text, estimated_speedup_pct: None });
    if let Some(plan) = plan {
        grid(plan, bound, tail_cost, &mut say);
    }
    // More blocks per SM only help a grid that has them.
    let grid_fills = plan.is_none_or(|p| p.waves() > 1.0);
    if let (Some(Bound::Latency), Some(resources), Some(found), Some(limits), true) =
        (bound, resources, found, &device.limits, grid_fills)
        && let Some(step) = joint_step(limits, resources, found)
    {
        say(step.sentence(found));
    }
    if bound == Some(Bound::Latency) {
        if let (Some(achieved), Some(found)) = (observed.achieved_occupancy_pct, found) {
            let theoretical = found.fraction() * 100.0;
            if achieved < theoretical * 0.8 && plan.is_none_or(|p| p.full_waves() > 0) {
                say(format!(
                    "achieved occupancy {} % is well below the theoretical {} %: blocks of unequal length or too few of them",
                    decimal(achieved, 1),
                    decimal(theoretical, 1)
                ));
            }
        }
        let worst = observed.stalls.iter().max_by(|a, b| a.cycles_per_instruction.total_cmp(&b.cycles_per_instruction));
        if let Some(stall) = worst {
            say(format!(
                "warps wait most for {} ({} cycles per instruction)",
                stall.name,
                decimal(stall.cycles_per_instruction, 1)
            ));
        }
    }
    if bound != Some(Bound::Math) {
        for (what, sectors) in
            [("load", observed.sectors_per_request_load), ("store", observed.sectors_per_request_store)]
        {
            // 16 sectors are 16 bytes from each of 32 threads, the widest coalesced access.
            if let Some(sectors) = sectors.filter(|s| *s > 16.5) {
                say(format!(
                    "a global {what} of a warp moves {} sectors of 32 B: threads of a warp should touch neighbouring addresses",
                    decimal(sectors, 1)
                ));
            }
        }
    }
    if let Some(requests) = observed.local_spill_requests.filter(|r| *r > 0.0) {
        say(format!("registers spill: {} local-memory requests", decimal(requests, 0)));
    }
    let mut rules: Vec<Advice> = observed
        .rules
        .iter()
        .filter(|r| r.kind == RuleKind::Optimization)
        .filter_map(|r| {
            let speedup = r.estimated_speedup_pct.filter(|s| *s >= 2.0)?;
            // A local estimate is about the unit that the rule looks at, not about the time of the kernel.
            (r.speedup_scope.as_deref() != Some("local")).then_some(())?;
            let text = match r.name.is_empty() {
                true => format!("the profiler's advice under \"{}\"", r.section),
                false => format!("the profiler's rule {}", r.name),
            };
            Some(Advice { text, estimated_speedup_pct: Some(speedup) })
        })
        .collect();
    rules.sort_by(|a, b| b.estimated_speedup_pct.unwrap_or(0.0).total_cmp(&a.estimated_speedup_pct.unwrap_or(0.0)));
    all.extend(rules.into_iter().take(3));
    all
}

/// Too few blocks always matters; a tail only where neither memory nor a long launch hides it.
fn grid(plan: &Schedule, bound: Option<Bound>, tail_cost: Option<f64>, say: &mut impl FnMut(String)) {
    if plan.full_waves() == 0 && plan.busy_sms() < plan.sms {
        say(format!(
            "more blocks: {} leave {} of {} SMs without work",
            plan.blocks,
            plan.sms - plan.busy_sms(),
            plan.sms
        ));
    } else if bound != Some(Bound::Memory)
        && plan.full_waves() > 0
        && plan.utilization() < 0.9
        && tail_cost.is_none_or(|cost| cost >= 0.02)
    {
        say(format!(
            "fill the last wave: {} waves are paid for {} (slots used {} %)",
            plan.whole_waves(),
            decimal(plan.waves(), 2),
            decimal(plan.utilization() * 100.0, 1)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gpu::Catalog, profile::ObservedDevice, profile::Rule};

    #[test]
    fn an_estimate_for_one_unit_is_not_one_for_the_kernel() {
        let rule = |name: &str, scope: &str| Rule {
            name: name.into(),
            section: String::new(),
            kind: RuleKind::Optimization,
            text: String::new(),
            speedup_scope: Some(scope.into()),
            estimated_speedup_pct: Some(40.0),
        };
        let observed =
            ObservedKernel { rules: vec![rule("Slots", "local"), rule("Stall", "global")], ..Default::default() };
        let device = super::super::device(&Catalog::embedded().unwrap(), &ObservedDevice::default(), None);
        let texts: Vec<String> =
            advice(&observed, &device, None, None, None, None, None).into_iter().map(|a| a.text).collect();
        assert_eq!(texts, ["the profiler's rule Stall"]);
    }
}
