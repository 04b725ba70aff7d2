//! Attention, convolutions, poolings, mixtures of experts, operations on elements and rows, and copies, of any shape and type.

#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use wavecast::{
    analysis::Analysis,
    gpu::{DataKind, DataType, Gpu},
    op::{
        attention::{self, Library, attention},
        conv::{self, Layout, Sides, convolution},
        gemm::Reuse,
        moe::{self, Routing, mixture},
        pool::{self, pooling},
        rowwise::{
            self, Caller, Kind, Operation, What,
            link::{Direction, copy},
        },
    },
    report::{KernelReport, Report},
};
use wavecast_fuzz::{check_analysis, check_numbers, check_report, gpu, said};

#[derive(Debug)]
enum Call {
    Attention(attention::Shape, attention::Request),
    Conv(conv::Request),
    Pool(pool::Shape, DataType),
    Moe(moe::Request),
    Rowwise(Operation, Option<&'static str>, Vec<Kind>),
    Copy(f64, Direction),
}

#[derive(Debug)]
struct Input {
    gpu: u8,
    call: Call,
}

/// A size: mostly one that occurs, at times one beyond any memory.
fn size(u: &mut Unstructured) -> Result<u64> {
    match u.int_in_range(0..=9)? {
        0 => u.arbitrary(),
        1 => u.int_in_range(1..=1 << 32),
        2 => Ok([0, 1, 1 << 31, 1 << 40, u64::MAX][u.choose_index(5)?]),
        3..=6 => u.int_in_range(1..=64),
        _ => u.int_in_range(1..=1 << 14),
    }
}

fn sides(u: &mut Unstructured) -> Result<Sides> {
    let height = size(u)?;
    Ok(Sides { height, width: if u.arbitrary()? { height } else { size(u)? } })
}

/// Steps, paddings and dilations are small where they fit at all.
fn step(u: &mut Unstructured, least: u64) -> Result<Sides> {
    if u.ratio(1, 8)? {
        return sides(u);
    }
    Ok(Sides { height: u.int_in_range(least..=4)?, width: u.int_in_range(least..=4)? })
}

fn attention_call(u: &mut Unstructured) -> Result<Call> {
    let heads_kv = size(u)?;
    let libraries = [None, None, Some(Library::Fa2), Some(Library::Fa3), Some(Library::FlashInfer)];
    let row = attention::Shape {
        batch: size(u)?,
        heads_q: if u.ratio(1, 8)? { size(u)? } else { heads_kv.saturating_mul(u.int_in_range(1..=8)?) },
        heads_kv,
        seq_q: if u.arbitrary()? { 1 } else { size(u)? },
        seq_kv: size(u)?,
        head_dim: if u.ratio(1, 8)? { size(u)? } else { 8 * u.int_in_range(1..=32)? },
        causal: u.arbitrary()?,
        window: if u.ratio(1, 4)? { Some(size(u)?) } else { None },
        phase: *u.choose(&[attention::Phase::Prefill, attention::Phase::Decode])?,
    };
    let input = *u.choose(&DataType::ALL)?;
    Ok(Call::Attention(row, attention::Request { input, library: *u.choose(&libraries)?, bare: u.arbitrary()? }))
}

fn conv_call(u: &mut Unstructured) -> Result<Call> {
    let groups = if u.arbitrary()? { 1 } else { size(u)? };
    let channels = |u: &mut Unstructured| -> Result<u64> {
        if u.ratio(1, 8)? { size(u) } else { Ok(groups.saturating_mul(u.int_in_range(1..=64)?)) }
    };
    let reuses = [Reuse::ColdWeights, Reuse::Cold, Reuse::Warm, Reuse::Rotated(u.arbitrary()?)];
    let shape = conv::Shape {
        batch: size(u)?,
        channels: channels(u)?,
        image: sides(u)?,
        filters: channels(u)?,
        filter: step(u, 1)?,
        stride: step(u, 1)?,
        pad: step(u, 0)?,
        dilation: step(u, 1)?,
        groups,
        layout: *u.choose(&[Layout::Nchw, Layout::Nhwc])?,
        phase: *u.choose(&conv::Phase::ALL)?,
    };
    let (input, data) = (*u.choose(&DataType::ALL)?, *u.choose(&DataKind::ALL)?);
    Ok(Call::Conv(conv::Request { shape, input, reuse: *u.choose(&reuses)?, data }))
}

fn pool_call(u: &mut Unstructured) -> Result<Call> {
    let shape = pool::Shape {
        batch: size(u)?,
        channels: size(u)?,
        image: sides(u)?,
        window: step(u, 1)?,
        stride: step(u, 1)?,
        pad: step(u, 0)?,
        kind: *u.choose(&[pool::Kind::Max, pool::Kind::Average])?,
        backward: u.arbitrary()?,
    };
    Ok(Call::Pool(shape, *u.choose(&DataType::ALL)?))
}

fn moe_call(u: &mut Unstructured) -> Result<Call> {
    let expert_parallel = if u.arbitrary()? { 1 } else { size(u)? };
    let shape = moe::Shape {
        tokens: size(u)?,
        experts: if u.ratio(1, 8)? { size(u)? } else { expert_parallel.saturating_mul(u.int_in_range(1..=32)?) },
        top_k: if u.ratio(1, 8)? { size(u)? } else { u.int_in_range(1..=8)? },
        hidden: size(u)?,
        inter: size(u)?,
        expert_parallel,
    };
    let routing = match u.int_in_range(0..=3)? {
        0 => Routing::Balanced,
        1 => Routing::Power(f64::from(u.int_in_range(0..=40)?) / 10.0),
        2 => Routing::Power(u.arbitrary()?),
        _ => {
            // Counts that add up where the last expert takes the rest.
            let routed = shape.tokens.saturating_mul(shape.top_k);
            let mut counts: Vec<u64> = Vec::new();
            for _ in 1..shape.experts.min(64) {
                counts.push(u.int_in_range(0..=shape.tokens.min(1 << 16))?);
            }
            let rest = routed.saturating_sub(counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count)));
            counts.push(rest);
            Routing::Counts(counts)
        }
    };
    Ok(Call::Moe(moe::Request { shape, routing, input: *u.choose(&DataType::ALL)? }))
}

fn rowwise_call(u: &mut Unstructured) -> Result<Call> {
    let kinds: Vec<Kind> = Kind::all().collect();
    let kind = *u.choose(&kinds)?;
    let loads = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let what = match u.int_in_range(0..=5)? {
        0 => What::Softmax,
        1 => What::LayerNorm,
        2 => What::RmsNorm,
        3 => What::Reduction { full: u.arbitrary()? },
        _ => What::Elementwise {
            kind,
            reads: u.int_in_range(0..=66)?,
            writes: u.int_in_range(0..=66)?,
            load: *u.choose(&loads)?,
        },
    };
    let input = *u.choose(&DataType::ALL)?;
    let operation = Operation {
        what,
        rows: size(u)?,
        cols: size(u)?,
        input,
        output: if u.ratio(1, 4)? { *u.choose(&DataType::ALL)? } else { input },
        warm: u.arbitrary()?,
    };
    let then = if u.ratio(1, 4)? { vec![kind, *u.choose(&kinds)?] } else { Vec::new() };
    Ok(Call::Rowwise(operation, *u.choose(&[None, Some("stream"), Some("neusight"), Some("llmcompass")])?, then))
}

fn copy_call(u: &mut Unstructured) -> Result<Call> {
    let bytes = if u.arbitrary()? { size(u)? as f64 } else { u.arbitrary()? };
    let ways = [Direction::HostToDevice, Direction::DeviceToHost, Direction::Peer];
    Ok(Call::Copy(bytes, *u.choose(&ways)?))
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let calls = [attention_call, conv_call, pool_call, moe_call, rowwise_call, copy_call];
        Ok(Self { gpu: u.arbitrary()?, call: u.choose(&calls)?(u)? })
    }
}

/// The row of the report of a call, or `None` where it is refused.
fn answer(gpu: &Gpu, call: &Call) -> Option<KernelReport> {
    let row = |analysis: &Analysis| {
        check_analysis(analysis);
        KernelReport::from_analysis(analysis)
    };
    match call {
        Call::Attention(shape, request) => {
            let shape = shape.checked().map_err(said).ok()?;
            let found = attention(gpu, &shape, request).map_err(said).ok()?;
            check_numbers(&found.parts, false);
            let mut report = row(&found.analysis);
            report.set_attention(&found);
            Some(report)
        }
        Call::Conv(request) => {
            let found = convolution(gpu, request).map_err(said).ok()?;
            assert!(!found.choices.is_empty());
            Some(KernelReport { choices: found.choices, ..row(&found.analysis) })
        }
        Call::Pool(shape, input) => pooling(gpu, shape, *input).map(|found| row(&found)).map_err(said).ok(),
        Call::Moe(request) => {
            let found = mixture(gpu, request).map_err(said).ok()?;
            assert!(found.experts.iter().all(|expert| (0.0..=1.0).contains(&expert.padding)), "{:?}", found.experts);
            Some(KernelReport { choices: found.choices, ..row(&found.analysis) })
        }
        Call::Rowwise(operation, caller, then) => {
            let operation = operation.checked().map_err(said).ok()?;
            let caller = match caller {
                None => None,
                Some("stream") => Some(Caller::Stream(gpu.calibration.constants.launch_overhead)),
                Some(source) => Some(Caller::of(source, gpu).map_err(said).ok()?),
            };
            let found = rowwise::analysis(gpu, &operation, caller, then).map_err(said).ok()?;
            Some(row(&found))
        }
        Call::Copy(bytes, way) => {
            let found = copy(gpu, *bytes, *way).map_err(said).ok()?;
            check_numbers(&found, false);
            assert!(found.start <= found.low && found.low <= found.time && found.time <= found.high, "{found:?}");
            None
        }
    }
}

fuzz_target!(|input: Input| {
    if let Some(row) = answer(gpu(input.gpu), &input.call) {
        check_report(&Report::new(vec![row]), "");
    }
});
