//! Matrix products of any shape, type, grouping and split: the choice of kernel, the answer, and a sweep over one dimension.

#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use wavecast::{
    chart::{
        Theme,
        figures::{SweepRequest, sweep_figure},
    },
    gpu::{DataKind, DataType, TileSchedule},
    op::gemm::{Force, Over, Precision, Range, Request, Reuse, Shape, product, quantisation},
    report::{KernelReport, Report},
    time::Timing,
};
use wavecast_fuzz::{check_analysis, check_chart, check_report, gpu, said};

#[derive(Debug)]
struct Input {
    gpu: u8,
    sizes: [u64; 4],
    groups: Vec<u64>,
    data: DataType,
    sparse: bool,
    reuse: Reuse,
    held: DataKind,
    force: Force,
    schedule: Option<TileSchedule>,
    timing: Timing,
    over: Over,
    range: String,
}

fn size(u: &mut Unstructured) -> Result<u64> {
    match u.int_in_range(0..=7)? {
        0 => u.arbitrary(),
        1 => u.int_in_range(1..=1 << 32),
        2 => Ok([1, 1, 1 << 39, 1 << 40, u64::MAX][u.choose_index(5)?]),
        _ => u.int_in_range(1..=1 << 14),
    }
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let sizes = [size(u)?, size(u)?, size(u)?, size(u)?];
        let tiles = [None, None, Some((128, 128)), Some((256, 128)), Some((64, 64)), Some((0, 7))];
        let reuses = [Reuse::ColdWeights, Reuse::Cold, Reuse::Warm, Reuse::Rotated(u.arbitrary()?)];
        let (low, width) = (size(u)?, size(u)?);
        let step = if u.arbitrary()? { format!(":{}", size(u)?) } else { String::new() };
        Ok(Self {
            gpu: u.arbitrary()?,
            sizes,
            groups: if u.ratio(1, 4)? { vec![size(u)?, sizes[1], size(u)?] } else { Vec::new() },
            data: *u.choose(&DataType::ALL)?,
            sparse: u.arbitrary()?,
            reuse: *u.choose(&reuses)?,
            force: Force {
                tile: *u.choose(&tiles)?,
                splits: if u.ratio(1, 4)? { Some(u.arbitrary::<u8>()?.into()) } else { None },
            },
            held: *u.choose(&DataKind::ALL)?,
            schedule: *u.choose(&[None, Some(TileSchedule::Classic), Some(TileSchedule::Persistent)])?,
            timing: if u.arbitrary()? { Timing::Launch } else { Timing::Device },
            over: *u.choose(&[Over::M, Over::N, Over::K, Over::Batch, Over::Mn])?,
            range: format!("{low}:{}{step}", low.saturating_add(width)),
        })
    }
}

fuzz_target!(|input: Input| {
    let gpu = gpu(input.gpu);
    let [batch, m, n, k] = input.sizes;
    let shape = match Shape::new(batch, m, n, k) {
        Ok(shape) => shape,
        Err(error) => return drop(said(error)),
    };
    let Input { groups, sparse, reuse, held: data, force, schedule, timing, over, .. } = input;
    let request = Request { groups, input: input.data, shape, sparse, reuse, data, force, schedule, timing };
    match product(gpu, &request) {
        Ok(found) => {
            check_analysis(&found.analysis);
            match quantisation(gpu, &request, &found.precision) {
                Ok(Some(pass)) => check_analysis(&pass),
                Ok(None) => {}
                Err(error) => drop(said(error)),
            }
            assert!(found.plan.time.is_finite() && found.plan.time > 0.0, "{:?}", found.plan);
            assert!(!found.choices.is_empty());
            let mut row = KernelReport::from_analysis(&found.analysis);
            row.set_product(&found);
            let report = Report::new(vec![row]);
            check_report(&report, "");
        }
        Err(error) => drop(said(error)),
    }
    let range: Range = match input.range.parse() {
        Ok(range) => range,
        Err(error) => return drop(said(error)),
    };
    // A sweep plans two thousand products: every eighth input, as its size says.
    if let (true, Ok(precision)) = (k % 8 == 0, Precision::new(gpu, input.data, sparse)) {
        let request = SweepRequest { gpu, precision, shape, reuse, over, range, forces: &[force] };
        match sweep_figure(&request) {
            Ok(figure) => check_chart(&figure.draw(Theme::Light)),
            Err(error) => drop(said(error)),
        }
    }
});
