//! Kernels and blocks with numbers of any size, as the options of the command line give them.

#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use wavecast::{
    chart::Theme,
    gpu::{Limits, Override, Pipe},
    kernel::Level,
    occupancy::{Carveout, Resources, advice, cluster, occupancy, warpgroups},
    report::{KernelReport, Report},
    scenario::{AccessSpec, ConcurrencySpec, Dims, KernelSpec, Per, SharedSpec, TrafficSpec, WorkSpec},
    time::Timing,
    units::{Bytes, Flops},
};
use wavecast_fuzz::{CATALOG, charts, check_analysis, check_chart, check_report, gpu, said};

#[derive(Debug)]
struct Input {
    gpu: u8,
    changes: Vec<Override>,
    draw: bool,
    timing: Timing,
    spec: KernelSpec,
    raw: Resources,
    wanted: u32,
    counts: Vec<u8>,
}

/// A number: mostly of a size that kernels have, sometimes any at all.
fn number(u: &mut Unstructured) -> Result<f64> {
    Ok(match u.int_in_range(0..=7)? {
        0 => u.arbitrary()?,
        1 => [f64::NAN, f64::INFINITY, -1.0, -0.0, f64::MAX, f64::MIN_POSITIVE, 1e24, 1e-12][u.choose_index(8)?],
        2 => f64::from(u.int_in_range(0..=32u8)?),
        3 => f64::from(u.arbitrary::<u16>()?) / 65_536.0,
        4..=5 => f64::from(u.arbitrary::<u32>()?),
        _ => u.arbitrary::<u64>()? as f64,
    })
}

/// Figures of a GPU with their units.
const FIGURES: [(&str, &str); 14] = [
    ("sm.count", ""),
    ("clocks.vector", " GHz"),
    ("clocks.tensor", " MHz"),
    ("memory.dram.bandwidth", " GB/s"),
    ("memory.dram.capacity", " GB"),
    ("memory.l2.capacity", " MB"),
    ("memory.l2.bandwidth", " TB/s"),
    ("memory.shared.bandwidth", " B/cycle"),
    ("rates.vector.fp32", ""),
    ("rates.special", ""),
    ("latency.dram", " cycles"),
    ("power", " W"),
    ("calibration.dram_efficiency", ""),
    ("calibration.power_droop", ""),
];

fn change(u: &mut Unstructured) -> Result<Override> {
    let (key, unit) = *u.choose(&FIGURES)?;
    let figure = if u.arbitrary()? { number(u)?.to_string() } else { format!("1e{}", u.int_in_range(-45..=45)?) };
    Ok(Override { key: key.into(), value: format!("{figure}{unit}") })
}

fn maybe(u: &mut Unstructured) -> Result<Option<f64>> {
    if u.ratio(1, 3)? { number(u).map(Some) } else { Ok(None) }
}

fn bytes(u: &mut Unstructured) -> Result<Bytes> {
    if u.arbitrary()? { number(u).map(Bytes) } else { Ok(Bytes::ZERO) }
}

fn count(u: &mut Unstructured, usual: u64) -> Result<u64> {
    if u.ratio(1, 16)? { u.arbitrary() } else { u.int_in_range(0..=usual) }
}

fn per(u: &mut Unstructured) -> Result<Per> {
    u.choose(&[Per::Launch, Per::Block, Per::Thread]).copied()
}

fn access(u: &mut Unstructured) -> Result<AccessSpec> {
    Ok(AccessSpec {
        read: bytes(u)?,
        write: bytes(u)?,
        read_efficiency: maybe(u)?,
        write_efficiency: maybe(u)?,
        read_sectors_per_request: maybe(u)?,
        write_sectors_per_request: maybe(u)?,
        bytes_per_access: maybe(u)?,
    })
}

fn pipe(u: &mut Unstructured) -> Result<Pipe> {
    let names =
        ["vector.fp32", "vector.fp64", "vector.fp16", "special", "tensor.bf16", "tensor.fp8.sparse", "tensor.tf32"];
    Ok(u.choose(&names)?.parse().expect("a pipe"))
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut operations = Vec::new();
        for _ in 0..u.int_in_range(0..=3)? {
            operations.push((pipe(u)?, Flops(number(u)?)));
        }
        let concurrency = ConcurrencySpec {
            bytes_in_flight: maybe(u)?,
            instructions_in_flight: maybe(u)?,
            dependent_accesses: maybe(u)?.unwrap_or(0.0),
            dependent_level: *u.choose(&[None, Some(Level::Dram), Some(Level::L2), Some(Level::Shared)])?,
        };
        let shared = SharedSpec {
            read: bytes(u)?,
            write: bytes(u)?,
            bank_conflict: maybe(u)?,
            read_bank_conflict: maybe(u)?,
            write_bank_conflict: maybe(u)?,
        };
        let traffic = TrafficSpec {
            per: per(u)?,
            dram: access(u)?,
            l2: if u.arbitrary()? { Some(access(u)?) } else { None },
            shared,
            reuse_distance: maybe(u)?.map(Bytes),
            spill_per_thread: bytes(u)?,
        };
        let spec = KernelSpec {
            name: "kernel".into(),
            grid: Dims([count(u, 1 << 24)?, count(u, 16)?.max(1), 1]),
            block: Dims([count(u, 1024)?, count(u, 4)?.max(1), 1]),
            registers_per_thread: count(u, 300)?,
            accumulation_registers: if u.arbitrary()? { 0 } else { count(u, 600)? },
            scalar_registers: if u.arbitrary()? { 0 } else { count(u, 120)? },
            cluster: Dims([if u.arbitrary()? { 1 } else { count(u, 20)? }, 1, 1]),
            static_shared: bytes(u)?,
            dynamic_shared: Bytes(count(u, 240_000)? as f64),
            carveout: if u.arbitrary()? { Some(count(u, 110)?) } else { None },
            opt_in: u.arbitrary()?,
            barriers: count(u, 20)?,
            expect: None,
            work: WorkSpec { per: per(u)?, operations, warp_instructions: maybe(u)? },
            traffic,
            concurrency,
        };
        let raw = Resources {
            threads_per_block: u.arbitrary()?,
            registers_per_thread: u.arbitrary()?,
            static_shared: u.arbitrary()?,
            dynamic_shared: u.arbitrary()?,
            carveout: match u.int_in_range(0..=2)? {
                0 => Carveout::Largest,
                1 => Carveout::Percent(u.arbitrary()?),
                _ => Carveout::Bytes(u.arbitrary()?),
            },
            opt_in: u.arbitrary()?,
            barriers: u.arbitrary()?,
            cluster_blocks: u.arbitrary()?,
            accumulation_registers: u.arbitrary()?,
            scalar_registers: u.arbitrary()?,
        };
        let timing = if u.arbitrary()? { Timing::Launch } else { Timing::Device };
        let mut changes = Vec::new();
        while changes.len() < 3 && u.ratio(1, 3)? {
            changes.push(change(u)?);
        }
        Ok(Self {
            gpu: u.arbitrary()?,
            changes,
            draw: u.ratio(1, 4)?,
            timing,
            spec,
            raw,
            wanted: u.arbitrary()?,
            counts: u.arbitrary()?,
        })
    }
}

fuzz_target!(|input: Input| {
    let built_in = gpu(input.gpu);
    let gpu = match CATALOG.find_with(&built_in.id, &input.changes) {
        Ok(found) => &found.gpu.clone(),
        Err(error) => {
            drop(said(error));
            built_in
        }
    };
    residency(&gpu.limits, &input.raw, input.wanted);
    let counts: Vec<u32> = input.counts.iter().map(|c| u32::from(*c) * 8).collect();
    match warpgroups::redistribution(&gpu.limits, &input.raw, &counts) {
        Ok(moved) => assert!(!moved.sentence().is_empty()),
        Err(error) => drop(said(error)),
    }
    match cluster::clusters(&gpu.limits, input.wanted) {
        Ok(legal) => drop(legal.sentence(cluster::most_active(&gpu.sm, input.raw.threads_per_block, legal))),
        Err(error) => drop(said(error)),
    }
    let (kernel, blocks, assumptions) = match input.spec.build() {
        Ok(built) => built,
        Err(error) => return drop(said(error)),
    };
    residency(&gpu.limits, &kernel.resources, input.wanted);
    match wavecast::analysis::analyse(gpu, kernel, blocks, input.timing) {
        Ok(analysis) => {
            check_analysis(&analysis);
            if input.draw {
                charts(std::slice::from_ref(&analysis), Theme::Light).iter().for_each(check_chart);
            }
            let kernels = vec![KernelReport::from_analysis(&analysis)];
            check_report(&Report { kernels, assumptions, ..Report::default() }, "");
        }
        Err(error) => drop(said(error)),
    }
});

/// Occupancy and everything that is said about it.
fn residency(limits: &Limits, asked: &Resources, wanted: u32) {
    let found = occupancy(limits, asked);
    assert!((0.0..=1.0).contains(&found.fraction()), "{found:?}");
    if let Some(step) = advice::joint_step(limits, asked, &found) {
        assert!(step.then.blocks_per_sm > found.blocks_per_sm);
        assert!(!step.sentence(&found).is_empty());
    }
    let _ = advice::largest_block(limits, asked);
    let _ = advice::best_block_sizes(limits, asked);
    let _ = advice::launch_bounds(limits, asked, wanted);
}
