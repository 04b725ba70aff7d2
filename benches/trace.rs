//! Bytes per second of the readers of traces: `cargo bench --bench trace`.

use divan::{Bencher, counter::BytesCount};
use wavecast::profile::{Format, detect_trace, read_trace};

fn main() {
    divan::main();
}

/// Bytes of a trace.
const LENGTH: usize = 100 << 20;

/// A trace of PyTorch's profiler: of every six events one is a kernel, the others its call, its operator, the frames of
/// Python and an arrow, as with `with_stack=True`.
fn kineto() -> String {
    let mut text = String::from("{\"schemaVersion\": 1, \"deviceProperties\": [], \"traceEvents\": [\n");
    let mut step = 0u64;
    while text.len() < LENGTH {
        let (at, kernel, blocks) = (10 * step, step % 200, 64 + step % 7);
        let frame = |line: u64| {
            format!(
                "  {{\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"torch/nn/modules/module.py({line}): \
                 _call_impl\", \"pid\": 9, \"tid\": 9,\n    \"ts\": {at}.125, \"dur\": 9.5,\n    \"args\": {{\n      \
                 \"Python id\": {step}, \"Python parent id\": 1, \"Ev Idx\": {step}\n    }}\n  }},\n"
            )
        };
        text += &frame(1736);
        text += &frame(1747);
        text += &format!(
            "  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::linear\", \"pid\": 9, \"tid\": 9,\n    \"ts\": \
             {at}.250, \"dur\": 8.000,\n    \"args\": {{\n      \"External id\": {step}, \"Record function id\": 0, \"Input \
             Dims\": [[8, 512, 4096], [4096, 4096], []], \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\", \"\"]\n    \
             }}\n  }},\n  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 9, \"tid\": \
             9,\n    \"ts\": {at}.500, \"dur\": 4.25,\n    \"args\": {{\n      \"cbid\": 211, \"correlation\": {step}\n    }}\n  \
             }},\n  {{\n    \"ph\": \"s\", \"id\": {step}, \"pid\": 9, \"tid\": 9, \"ts\": {at}.500,\n    \"cat\": \"ac2g\", \
             \"name\": \"ac2g\"\n  }},\n  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void \
             cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x{kernel}_tn_align8>(cutlass_80_tensorop_\
             bf16_s16816gemm_relu_bf16_128x128_32x{kernel}_tn_align8::Params)\", \"pid\": 0, \"tid\": 7,\n    \"ts\": {at}.750, \
             \"dur\": 7.168,\n    \"args\": {{\n      \"External id\": {step}, \"queued\": 0, \"device\": 0, \"context\": 1, \
             \"stream\": 7, \"correlation\": {step}, \"registers per thread\": 230, \"shared memory\": 98304, \"blocks per \
             SM\": 0.484848, \"warps per SM\": 1.939394, \"grid\": [{blocks}, 1, 1], \"block\": [128, 1, 1], \"est. achieved \
             occupancy %\": 0\n    }}\n  }},\n"
        );
        step += 1;
    }
    text + "  {}], \"displayTimeUnit\": \"ms\"}\n"
}

#[divan::bench(sample_count = 5)]
fn pytorch_profiler(bencher: Bencher) {
    let text = kineto();
    assert_eq!(detect_trace(text.as_bytes()), Some(Format::Kineto));
    bencher.counter(BytesCount::new(text.len())).bench_local(|| {
        let trace = read_trace(Format::Kineto, &mut text.as_bytes()).unwrap();
        assert_eq!(trace.groups.len(), 1400);
        trace
    });
}
