//! Laws of residency, waves and quantities that hold for every input.

use proptest::prelude::*;
use wavecast::{
    gpu::{Catalog, CuLimits, Limits, WorkgroupMode},
    occupancy::{BlockLimits, Carveout, Resource, Resources, advice, occupancy},
    schedule::schedule,
    units::{
        Bytes, BytesPerCycle, BytesPerSecond, Cycles, Flops, FlopsPerByte, FlopsPerSecond, Hertz, JoulesPerFlop,
        Seconds, UnitError, Watts,
    },
};

fn any_limits() -> impl Strategy<Value = Limits> {
    let catalog = Catalog::embedded().unwrap();
    let units = catalog.all_compute_units().iter().flat_map(|unit| {
        let sizes = [32, 64].into_iter().flat_map(|size| [WorkgroupMode::Cu, WorkgroupMode::Wgp].map(|m| (size, m)));
        sizes.map(|(wave_size, workgroup_mode)| CuLimits { wave_size, workgroup_mode, ..unit.clone() })
    });
    let units = units.filter_map(|unit| Some(Limits::Cu(unit.checked().ok()?)));
    let all: Vec<Limits> = catalog.all_limits().unwrap().into_iter().map(Limits::Sm).chain(units).collect();
    proptest::sample::select(all)
}

fn any_carveout() -> impl Strategy<Value = Carveout> {
    prop_oneof![
        3 => Just(Carveout::Largest),
        2 => (0u8..=100).prop_map(Carveout::Percent),
        1 => (1u32..=228).prop_map(|kib| Carveout::Bytes(kib * 1024)),
    ]
}

prop_compose! {
    fn any_resources()(
        threads_per_block in 1u32..=1100,
        registers_per_thread in 0u32..=260,
        static_shared in prop_oneof![Just(0u32), 0u32..=50_000],
        dynamic_shared in prop_oneof![Just(0u32), 0u32..=240_000],
        carveout in any_carveout(),
        opt_in in any::<bool>(),
        barriers in 0u32..=20,
        accumulation_registers in prop_oneof![3 => Just(0u32), 1 => 0u32..=260],
        scalar_registers in prop_oneof![Just(0u32), 0u32..=110],
    ) -> Resources {
        Resources {
            threads_per_block,
            registers_per_thread,
            static_shared,
            dynamic_shared,
            carveout,
            opt_in,
            barriers,
            accumulation_registers,
            scalar_registers,
            cluster_blocks: 1,
        }
    }
}

/// The resources with one figure replaced, as a next step names it.
fn with(asked: Resources, resource: Resource, value: u32) -> Resources {
    match resource {
        Resource::Warps => Resources { threads_per_block: value, ..asked },
        Resource::Registers => Resources { registers_per_thread: value, ..asked },
        Resource::Shared => Resources { static_shared: 0, dynamic_shared: value, ..asked },
        Resource::Barriers => Resources { barriers: value, ..asked },
        Resource::Scalars => Resources { scalar_registers: value, ..asked },
        Resource::Blocks => asked,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn blocks_per_sm_is_the_least_limit_and_limiters_attain_it(l in any_limits(), asked in any_resources()) {
        let found = occupancy(&l, &asked);
        let all = Resource::ALL.map(|r| found.limits.of(r));
        prop_assert_eq!(found.blocks_per_sm, *all.iter().min().unwrap());
        // NVIDIA's calculator finds the limiters without barriers, and then adds barriers where they allow no more.
        let others = Resource::ALL.into_iter().filter(|r| *r != Resource::Barriers);
        let without_barriers = others.map(|r| found.limits.of(r)).min().unwrap();
        for resource in Resource::ALL {
            let attains = match resource {
                Resource::Barriers => found.limits.of(resource) <= without_barriers,
                _ => found.limits.of(resource) == without_barriers,
            };
            prop_assert_eq!(found.limiters().contains(resource), attains, "{:?}", resource);
        }
        prop_assert!(found.limiters().iter().any(|r| found.limits.of(r) == found.blocks_per_sm));
        prop_assert!(found.active_warps() <= l.max_warps());
        prop_assert!(l.sm().is_none_or(|sm| found.blocks_per_sm <= sm.max_blocks_per_sm));
        prop_assert!((0.0..=1.0).contains(&found.fraction()));
    }

    #[test]
    fn what_is_resident_fits(l in any_limits(), asked in any_resources()) {
        let found = occupancy(&l, &asked);
        let blocks = u64::from(found.blocks_per_sm);
        prop_assert!(blocks * u64::from(asked.threads_per_block) <= u64::from(l.max_warps() * l.warp_size()));
        let registers = match &l {
            Limits::Sm(sm) => sm.registers_per_sm,
            Limits::Cu(cu) => cu.simds() * cu.vector().vgprs * cu.wave_size,
            Limits::Core => u32::MAX,
        };
        prop_assert!(blocks * u64::from(found.registers_per_block) <= u64::from(registers));
        prop_assert!(blocks * u64::from(found.shared_per_block) <= u64::from(found.shared_capacity));
        if blocks > 0 {
            prop_assert!(found.shared_per_block >= asked.shared() + l.reserved_shared());
            prop_assert!(found.registers_per_block >= asked.registers_per_thread * asked.threads_per_block);
        }
    }

    #[test]
    fn more_of_anything_never_gives_more_blocks(
        l in any_limits(), asked in any_resources(), registers in 0u32..=64, bytes in 0u32..=65_536,
        threads in 0u32..=256, barriers in 0u32..=8,
    ) {
        let now = occupancy(&l, &asked).blocks_per_sm;
        for more in [
            Resources { registers_per_thread: asked.registers_per_thread + registers, ..asked },
            Resources { dynamic_shared: asked.dynamic_shared + bytes, ..asked },
            Resources { static_shared: asked.static_shared + bytes, ..asked },
            Resources { threads_per_block: asked.threads_per_block + threads, ..asked },
            Resources { barriers: asked.barriers + barriers, ..asked },
        ] {
            // 0 registers or barriers mean "not used", which is no limit: that is less, not more.
            prop_assert!(occupancy(&l, &more).blocks_per_sm <= now, "{:?} after {:?}", more, asked);
        }
    }

    #[test]
    fn a_next_step_is_the_largest_value_that_gives_its_block(l in any_limits(), asked in any_resources()) {
        let now = occupancy(&l, &asked);
        for step in advice::next_steps(&l, &asked, &now) {
            let at = |value| occupancy(&l, &with(asked, step.resource, value));
            let reached = at(step.at_most);
            prop_assert!(reached.limits.of(step.resource) > now.blocks_per_sm, "{:?}: {:?}", step, reached);
            let over = at(step.at_most + 1);
            let end = step.resource == Resource::Registers && step.at_most == l.max_registers_per_thread();
            prop_assert!(end || over.limits.of(step.resource) <= now.blocks_per_sm, "{:?}: {:?}", step, over);
            prop_assert_eq!(step.blocks_per_sm, reached.blocks_per_sm, "{:?}", step);
            prop_assert!(step.blocks_per_sm >= now.blocks_per_sm);
        }
    }

    #[test]
    fn register_and_shared_budgets_are_tight(l in any_limits(), asked in any_resources(), blocks in 1u32..=8) {
        let by = |r: Resource, value| occupancy(&l, &with(asked, r, value)).limits.of(r);
        match advice::most_registers(&l, &asked, blocks) {
            Some(most) => {
                prop_assert!(by(Resource::Registers, most) >= blocks);
                prop_assert!(most == l.max_registers_per_thread() || by(Resource::Registers, most + 1) < blocks);
            }
            None => prop_assert!(by(Resource::Registers, 1) < blocks),
        }
        match advice::most_shared(&l, &asked, blocks) {
            Some(most) => {
                prop_assert!(by(Resource::Shared, most) >= blocks, "{} bytes", most);
                prop_assert!(by(Resource::Shared, most + 1) < blocks, "{} bytes", most);
            }
            None => prop_assert!(by(Resource::Shared, 0) < blocks),
        }
    }

    #[test]
    fn suggested_block_sizes_have_the_highest_occupancy(l in any_limits(), asked in any_resources()) {
        let best = advice::best_block_sizes(&l, &asked);
        let fraction = |threads| occupancy(&l, &Resources { threads_per_block: threads, ..asked }).fraction();
        let most = (1..=l.max_threads_per_block()).map(fraction).fold(0.0, f64::max);
        prop_assert_eq!(best.is_empty(), most == 0.0);
        for size in &best {
            prop_assert_eq!(size.fraction, most);
            prop_assert_eq!(fraction(size.threads), most);
        }
        let largest = advice::largest_block(&l, &asked);
        prop_assert_eq!(largest, (1..=l.max_threads_per_block()).rev().find(|t| fraction(*t) > 0.0));
    }

    #[test]
    fn launch_bounds_can_be_kept(l in any_limits(), asked in any_resources(), wanted in 1u32..=40) {
        let bounds = advice::launch_bounds(&l, &asked, wanted);
        prop_assert!(bounds.reachable_blocks < BlockLimits::UNLIMITED);
        if let Some(registers) = bounds.max_registers {
            let target = wanted.min(bounds.reachable_blocks);
            prop_assert!(occupancy(&l, &with(asked, Resource::Registers, registers)).blocks_per_sm >= target);
        }
    }

    #[test]
    fn waves_add_up(blocks in 1u64..=1 << 40, sms in 1u32..=200, blocks_per_sm in 1u32..=32) {
        let plan = schedule(blocks, sms, blocks_per_sm);
        prop_assert_eq!(plan.full_waves() * plan.wave_blocks() + plan.tail_blocks(), blocks);
        prop_assert!(plan.full_waves() <= plan.whole_waves() && plan.whole_waves() <= plan.full_waves() + 1);
        prop_assert_eq!(plan.whole_waves() == plan.full_waves(), plan.tail_blocks() == 0);
        prop_assert!(plan.utilization() > 0.0 && plan.utilization() <= 1.0);
        prop_assert!(plan.tail_fill() > 0.0 && plan.tail_fill() <= 1.0);
        prop_assert_eq!(plan.utilization() == 1.0, plan.tail_blocks() == 0);
        let filled = plan.full_waves() as f64 + if plan.tail_blocks() > 0 { plan.tail_fill() } else { 0.0 };
        prop_assert!((filled / plan.waves() - 1.0).abs() < 1e-12);
        prop_assert!((plan.waves() / plan.whole_waves() as f64 / plan.utilization() - 1.0).abs() < 1e-12);
        prop_assert!(plan.waves() <= plan.whole_waves() as f64 && (plan.waves() - plan.whole_waves() as f64) > -1.0);
        prop_assert!(plan.blocks_of_busiest_sm() * plan.sms >= blocks);
        prop_assert!((plan.blocks_of_busiest_sm() - 1) * plan.sms < blocks);
        prop_assert!(plan.busy_sms() >= 1 && plan.busy_sms() <= plan.sms && plan.idle_sms_in_tail() < plan.sms);
        prop_assert_eq!(schedule(plan.filled(), sms, blocks_per_sm).whole_waves(), plan.whole_waves());
        prop_assert_eq!(schedule(plan.filled() + 1, sms, blocks_per_sm).whole_waves(), plan.whole_waves() + 1);
    }

    #[test]
    fn quantities_print_and_parse_back(mantissa in 1.0f64..10.0, exponent in -15i32..=24) {
        let value = mantissa * libm::pow(10.0, f64::from(exponent));
        round_trip(value, Bytes::get)?;
        round_trip(value, Flops::get)?;
        round_trip(value, Seconds::get)?;
        round_trip(value, Cycles::get)?;
        round_trip(value, Hertz::get)?;
        round_trip(value, BytesPerSecond::get)?;
        round_trip(value, BytesPerCycle::get)?;
        round_trip(value, FlopsPerSecond::get)?;
        round_trip(value, FlopsPerByte::get)?;
        round_trip(value, Watts::get)?;
        round_trip(value, JoulesPerFlop::get)?;
    }

    #[test]
    fn whole_kibibytes_survive_print_and_parse(kib in 1u32..1000, steps in 0u32..3) {
        let bytes = f64::from(kib) * libm::pow(1024.0, f64::from(steps + 1));
        prop_assert_eq!(Bytes(bytes).to_string().parse::<Bytes>(), Ok(Bytes(bytes)));
    }
}

/// Four significant digits survive, and what was printed once keeps its value (perhaps in another unit: 492.8 kB is
/// 481.25 KiB).
fn round_trip<Q>(value: f64, get: fn(Q) -> f64) -> Result<(), TestCaseError>
where
    Q: std::str::FromStr<Err = UnitError> + std::fmt::Display + From64,
{
    let text = Q::from64(value).to_string();
    let back: Q = text.parse().map_err(|e: UnitError| TestCaseError::fail(e.to_string()))?;
    let again: Q = back.to_string().parse().map_err(|e: UnitError| TestCaseError::fail(e.to_string()))?;
    let (back, again) = (get(back), get(again));
    prop_assert!((again / back - 1.0).abs() < 1e-12, "{} becomes {} and then {}", value, back, again);
    prop_assert!((back / value - 1.0).abs() <= 5.001e-4, "{} is printed as {}", value, text);
    Ok(())
}

trait From64 {
    fn from64(value: f64) -> Self;
}

macro_rules! from64 {
    ($($name:ident),+) => { $(impl From64 for $name { fn from64(value: f64) -> Self { Self(value) } })+ };
}

from64!(
    Bytes,
    Flops,
    Seconds,
    Cycles,
    Hertz,
    BytesPerSecond,
    BytesPerCycle,
    FlopsPerSecond,
    FlopsPerByte,
    Watts,
    JoulesPerFlop
);

#[test]
fn zero_prints_and_parses_back() {
    for text in [Bytes(0.0).to_string(), Bytes(-0.0).to_string()] {
        assert_eq!(text.parse::<Bytes>(), Ok(Bytes(0.0)), "{text}");
    }
    assert_eq!(Seconds(0.0).to_string().parse::<Seconds>(), Ok(Seconds(0.0)));
    assert_eq!(JoulesPerFlop(0.0).to_string().parse::<JoulesPerFlop>(), Ok(JoulesPerFlop(0.0)));
}
